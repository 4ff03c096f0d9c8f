"""The table of auxiliary statistics: what metrics give besides their value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from .inputs import cell_files
from .results import CELL, results
from .table import Column, Files, Table


def scalars(cells: Iterable[Path]) -> pd.DataFrame:
    """What metrics give besides their value, one row per number, from the cells' files."""
    rows = [
        (*key, quantity, value)
        for key, _, result in results(cells)
        for quantity, value in result["scalars"].items()
    ]
    keys = SCALARS.names[:-1]
    table = pd.DataFrame(rows, columns=SCALARS.names).drop_duplicates(keys)
    return table.sort_values(keys, ignore_index=True).astype({"value": "float64"})


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    return scalars(inputs["cells"])


SCALARS = Table(
    "scalars",
    "One row per score and auxiliary statistic, such as what random directions give under Direct Bias.",
    (
        *CELL,
        Column("quantity", "the statistic's name"),
        Column("value", "its value", "number", "the statistic's"),
    ),
    inputs=lambda grid: {"cells": cell_files(grid)},
    make=make,
)
TABLES = (SCALARS,)
