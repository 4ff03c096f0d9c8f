"""The cells of a study that tables and figures are made from."""

from __future__ import annotations

from typing import Any


def interval_agreement_cells(grid: Any) -> list[Any]:
    """The cells of agreement by an interval."""
    cells = []
    for cell in grid.cells.values():
        entry = grid.metrics(cell.criterion)[cell.metric]
        is_agreement = grid.metric(cell.criterion, cell.metric).name == "agreement"
        if is_agreement and (entry.params or {}).get("rule", "interval") == "interval":
            cells.append(cell)
    return cells
