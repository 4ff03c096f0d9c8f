"""What tables are made from, when a study is planned: its files, and the sub-queries of its queries."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any


def inference_files(grid: Any) -> dict[str, list[Path]]:
    """The files of a study's inference, and those of the queries that say what each test is of."""
    files = [grid.inference_file(group[0]) for group in grid.inference_groups.values()]
    queries = dict.fromkeys(inference.cell.query for inference in grid.inferences.values())
    return {"inferences": files, "queries": [grid.query_file(query) for query in queries]}


def cell_files(grid: Any, cells: Iterable[Any] | None = None) -> list[Path]:
    """The files of a study's cells, or of some of them."""
    return [grid.cell_file(cell) for cell in (grid.cells.values() if cells is None else cells)]


def interval_agreement_cells(grid: Any) -> list[Any]:
    """The cells of agreement by an interval."""
    cells = []
    for cell in grid.cells.values():
        entry = grid.metrics(cell.criterion)[cell.metric]
        is_agreement = grid.metric(cell.criterion, cell.metric).name == "agreement"
        if is_agreement and entry.get("params", {}).get("rule", "interval") == "interval":
            cells.append(cell)
    return cells


def parts_of(grid: Any) -> dict[str, dict[str, list[list[str]]]]:
    """The sub-queries of the ranked criteria's queries, by metric, where a metric divides some: what
    `tables.shared.places_of` takes."""
    parts: dict[str, dict[str, list[list[str]]]] = {}
    for criterion in sorted(grid.ranked_criteria):
        by_template: dict[Any, list[list[str]]] = {}
        for key in sorted(grid.metrics(criterion)):
            template = grid.metric(criterion, key).template
            if template not in by_template:
                queries = [
                    grid.queries[name] for name in sorted(grid.config["criteria"][criterion]["queries"])
                ]
                by_template[template] = [
                    [part.name for part in query.subqueries(template)]
                    for query in queries
                    if query.fits(template)
                ]
            if any(len(names) > 1 for names in by_template[template]):
                parts.setdefault(criterion, {})[key] = by_template[template]
    return parts
