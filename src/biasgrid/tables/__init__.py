"""The tables of a study. Each is one file of this package, discovered automatically: `REGISTRY` has them by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..in_memory import File, InMemory, parts_of
from ..printable import check_texts
from ..registry import Registry
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["REGISTRY", "Column", "Table", "read", "write"]

GONE = {"inference": "table 'inference' is several now: tests (p-values), intervals, and sensitivity"}
REGISTRY: Registry[Table] = Registry(__name__, "TABLES", "table", gone=GONE)


def write(inputs: Files, spec: Mapping[str, Any], output: Path | str) -> int:
    """Make the table that the spec names under "table", and write it; returns its number of rows."""
    return REGISTRY[spec["table"]].write(inputs, spec, output)


def read(path: File, absent: bool = False) -> pd.DataFrame:
    """A table of a study from its file, whose name says which it is, for whoever shows it; see `Table.read`.

    Raises BiasgridError for a hidden character (`printable.HIDDEN`), too.
    """
    table = REGISTRY.find(parts_of(path)[-1]).read(path, absent)
    if not isinstance(path, InMemory):
        check_texts(Path(path).read_text(encoding="utf-8"), str(path))
    return table
