"""Tables of a study, and the rules by which conclusions follow from them.

A file with `TABLES` is a table, which is discovered automatically; `REGISTRY` lists them by name. The other files
help them. `conclusions` decides what a study says, and `published` compares it with papers. No table opens a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.in_memory import File, InMemory, parts_of
from ..core.printable import check_texts
from ..core.registry import Registry
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["REGISTRY", "Column", "Table", "read", "write"]

GONE = {"inference": "table 'inference' is several now: tests (p-values), intervals, and sensitivity"}
REGISTRY: Registry[Table] = Registry(__name__, "TABLES", "table", gone=GONE)


def write(inputs: Files, spec: Mapping[str, Any], output: Path | str) -> int:
    """Compute the table that the spec names under "table", write it, and return its number of rows."""
    return REGISTRY[spec["table"]].write(inputs, spec, output)


def read(path: File, absent: bool = False) -> pd.DataFrame:
    """Read a table of a study from its file, whose name tells which table it is; see `Table.read`.

    Also raises BiasgridError for a hidden character (`printable.HIDDEN`).
    """
    table = REGISTRY.find(parts_of(path)[-1]).read(path, absent)
    if not isinstance(path, InMemory):
        check_texts(Path(path).read_text(encoding="utf-8"), str(path))
    return table
