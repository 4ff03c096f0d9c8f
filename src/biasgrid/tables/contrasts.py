"""Table of contrasts: one group against another, or against all others together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..measure.results import KEYS, results
from .keys import CELL
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Cell, Planned


OTHERS, ALL = "(others)", "(all)"


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    rows = [
        (*key, contrast["first"], contrast["second"] or OTHERS, contrast["words"] or ALL, quantity, value)
        for key, _, result in results(inputs["cells"])
        for contrast in result.get("contrasts", [])
        for quantity, value in contrast["values"].items()
    ]
    return CONTRASTS.finish(rows, first=True)


def _cells(study: Planned) -> list[Cell]:
    return [cell for cell in study.grid.cells.values() if study.metric(cell.criterion, cell.metric).contrasts]


CONTRASTS = Table(
    "contrasts",
    "Numbers of one group against another, such as those of SAME. One row per number, in studies with metrics "
    "that contrast groups.",
    (
        *CELL,
        Column("first", "set of a group"),
        Column("second", f'set of another group; "{OTHERS}": all others together'),
        Column("words", f'the set of words that is measured; "{ALL}": all sets together'),
        Column("quantity", "name of the number"),
        Column.value("value", "value of the number", "the quantity's"),
    ),
    reads=("cells",),
    make=make,
    key=(*KEYS, "first", "second", "words", "quantity"),
    cells=_cells,
)
TABLES = (CONTRASTS,)
