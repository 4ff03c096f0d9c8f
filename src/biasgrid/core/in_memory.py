"""Objects in memory that replace files of results, so that tables and figures can be made from both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class InMemory:
    """The content of a file of results that exists only in memory.

    Attributes
    ----------
    parts
        The parts of the path that the file would have, without suffix: for example model, debias method,
        metric and query of a cell.
    content
        The content in the form in which readers return it: a record, a table, an array. It is shared and must
        not be changed.
    """

    parts: tuple[str, ...]
    content: Any


File = Path | str | InMemory


def parts_of(file: File) -> tuple[str, ...]:
    """Return the parts of a file's path, without suffix."""
    return file.parts if isinstance(file, InMemory) else Path(file).with_suffix("").parts
