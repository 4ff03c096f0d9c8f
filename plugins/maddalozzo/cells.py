"""The cells of a study that tables and figures are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biasgrid.planned import Planned


def interval_agreement_cells(study: Planned) -> list[Any]:
    """The cells of agreement by an interval."""
    cells = []
    for cell in study.grid.cells.values():
        entry = study.metrics(cell.criterion)[cell.metric]
        is_agreement = study.metric(cell.criterion, cell.metric).name == "agreement"
        if is_agreement and entry.get("params", {}).get("rule", "interval") == "interval":
            cells.append(cell)
    return cells
