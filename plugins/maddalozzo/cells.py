"""Selection of the cells and queries of a study from which tables and figures are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgrid.tables.planned import phenomenon_id

if TYPE_CHECKING:
    from biasgrid.tables.planned import Planned


def interval_agreement_cells(study: Planned) -> list[Any]:
    """Return the cells of the metric `agreement` with the rule "interval"."""
    cells = []
    for cell in study.grid.cells.values():
        entry = study.metrics(cell.criterion)[cell.metric]
        is_agreement = study.metric(cell.criterion, cell.metric).name == "agreement"
        if is_agreement and (entry.params or {}).get("rule", "interval") == "interval":
            cells.append(cell)
    return cells


def phenomena_of(study: Planned) -> dict[str, dict[str, str]]:
    """Return the phenomena of each criterion that has any: criterion -> query id -> name of the phenomenon."""
    return {
        criterion: {phenomenon_id(criterion, name): name for name in entry.phenomena.sets}
        for criterion, entry in study.config.criteria.items()
        if entry.phenomena
    }
