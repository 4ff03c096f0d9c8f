"""Tables of experiments, declared like tables of studies with their columns, input files and functions."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from biasgrid.core.files import write_text
from biasgrid.tables.table import Table

REMEDY = "make it again"


def write(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the table that the spec names ("module" and "table")."""
    table: Table = next(t for t in import_module(spec["module"]).TABLES if t.name == spec["table"])
    write_frame(table.make(inputs, spec), output)


def write_frame(frame: pd.DataFrame, path: Path, digits: str | None = None) -> None:
    """Write a table. `digits` is the format of numbers; by default, all digits are written."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n", float_format=digits))
