"""What stands in memory in place of a file of results, so that tables and figures are made of either."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class InMemory:
    """What would be read from a file of results.

    parts    of the path that the file would have, without suffix: they say what it is of, such as model, debias
             method, metric and query of a cell
    content  as who reads the file has it: a record, a table, an array. It is shared, and not to be changed
    """

    parts: tuple[str, ...]
    content: Any


File = Path | str | InMemory


def parts_of(file: File) -> tuple[str, ...]:
    """The parts of a file's path, without suffix."""
    return file.parts if isinstance(file, InMemory) else Path(file).with_suffix("").parts
