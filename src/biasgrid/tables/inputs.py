"""What tables are made from, when a study is planned: its files, and which queries belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Parts = dict[
    str, dict[str, list[list[str]]]
]  # criterion -> metric -> names of (sub-)queries that belong together


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


def parts_of(grid: Any) -> Parts:
    """The sub-queries of the ranked criteria's queries, by metric, where a metric divides some: what
    `tables.shared.places_of` takes."""
    return _by_metric(grid, lambda queries: [[part.name for part in parts] for parts in queries])


def clusters_of(grid: Any) -> Parts:
    """The (sub-)queries of the ranked criteria's clusters of queries, by metric, where one has several: what
    `tables.shared.places_of` takes. Of a cluster are queries that have an attribute set with equal words in common,
    or a sub-query, directly or through others."""
    return _by_metric(grid, _clusters)


def _clusters(queries: Iterable[Sequence[Any]]) -> list[list[str]]:
    clusters: list[tuple[dict[str, None], set[frozenset[str]]]] = []
    for parts in queries:
        names = {part.name: None for part in parts}
        sets = {frozenset(s.words) for part in parts for s in part.attribute_sets}
        for other in [other for other in clusters if other[0].keys() & names or other[1] & sets]:
            clusters.remove(other)
            names, sets = other[0] | names, other[1] | sets
        clusters.append((names, sets))
    return [list(names) for names, _ in clusters]


def _by_metric(grid: Any, members: Callable[[list[Sequence[Any]]], list[list[str]]]) -> Parts:
    """What `members` says of the queries of a criterion, each as its sub-queries, where some have several."""
    parts: Parts = {}
    for criterion in sorted(grid.ranked_criteria):
        queries = [grid.queries[name] for name in sorted(grid.config["criteria"][criterion]["queries"])]
        by_template: dict[Any, list[list[str]]] = {}
        for key in sorted(grid.metrics(criterion)):
            template = grid.metric(criterion, key).template
            if template not in by_template:
                by_template[template] = members(
                    [query.subqueries(template) for query in queries if query.fits(template)]
                )
            if any(len(names) > 1 for names in by_template[template]):
                parts.setdefault(criterion, {})[key] = by_template[template]
    return parts
