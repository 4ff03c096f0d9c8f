"""The table of contrasts: one group against another, or against all others together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..results import results
from .inputs import cell_files
from .keys import CELL
from .table import ANY, Column, Files, Table

if TYPE_CHECKING:
    from ..planned import Cell, Planned


OTHERS, ALL = "(others)", "(all)"


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    rows = [
        (*key, contrast["first"], contrast["second"] or OTHERS, contrast["words"] or ALL, quantity, value)
        for key, _, result in results(inputs["cells"])
        for contrast in result.get("contrasts", [])
        for quantity, value in contrast["values"].items()
    ]
    keys = CONTRASTS.names[:-1]
    table = pd.DataFrame(rows, columns=CONTRASTS.names).drop_duplicates(keys)
    return table.sort_values(keys, ignore_index=True).astype({"value": "float64"})


def _cells(study: Planned) -> list[Cell]:
    return [cell for cell in study.grid.cells.values() if study.metric(cell.criterion, cell.metric).contrasts]


def _inputs(study: Planned) -> dict[str, Any]:
    return {"cells": cell_files(study, cells)} if (cells := _cells(study)) else {}


CONTRASTS = Table(
    "contrasts",
    "One row per number of one group against another, in studies with metrics that contrast groups (SAME).",
    (
        *CELL,
        Column("first", "a group: the set's name"),
        Column("second", f'another group; "{OTHERS}": all others together'),
        Column("words", f'the set of words that it is of; "{ALL}": all together'),
        Column("quantity", "the number's name"),
        Column("value", "the number", "number", "the quantity's", ANY),
    ),
    inputs=_inputs,
    make=make,
    cells=_cells,
)
TABLES = (CONTRASTS,)
