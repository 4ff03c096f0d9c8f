"""What tables and figures are made from, by name, when a study is planned: its files, what it must have, what else
counts; and which queries belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BiasgridError, unknown_name

if TYPE_CHECKING:
    from .shared import Clusters, Parts

When = str | Callable[[Any], object]  # names of WHEN, joined by " and ", or grid -> whether it holds


def cell_files(grid: Any, cells: Iterable[Any] | None = None) -> list[Path]:
    """The files of a study's cells, or of some of them."""
    return [grid.cell_file(cell) for cell in (grid.cells.values() if cells is None else cells)]


def sample_files(grid: Any, holds: Callable[[Any], bool]) -> dict[str, list[Path]]:
    """The values in resamples of the cells of which something holds, with those inferred beside them."""
    groups = [g for g in grid.inference_groups.values() if any(holds(inference.cell) for inference in g)]
    return {
        "inferences": [grid.inference_file(group[0]) for group in groups],
        "samples": [grid.samples_file(group[0]) for group in groups],
    }


# what is read that is no table -> its file, or files
SOURCES: dict[str, Callable[[Any], Any]] = {
    "cells": cell_files,
    "inferences": lambda grid: [grid.inference_file(group[0]) for group in grid.inference_groups.values()],
    # those whose words are tested
    "queries": lambda grid: [
        grid.query_file(query) for query in dict.fromkeys(i.cell.query for i in grid.inferences.values())
    ],
    "evaluations": lambda grid: [*map(grid.evaluation_file, grid.evaluations.values())],
    "frequencies": lambda grid: [*map(grid.frequency_file, grid.models_with_frequencies)],
    "rank_samples": lambda grid: grid.ranks_file,
    "aggregate_tests": lambda grid: [
        grid.aggregates_file(grid.inference_groups[name][0]) for name in sorted(grid.aggregate_criteria)
    ],
}
# what a study must have, by name
WHEN: dict[str, Callable[[Any], object]] = {
    "ranked": lambda grid: grid.ranked_criteria,
    "inference": lambda grid: grid.inferences,
    "bootstrap": lambda grid: "bootstrap" in grid.config["inference"],
    "sensitivity": lambda grid: "sensitivity" in grid.config["inference"],
    "query_ranks": lambda grid: grid.config.get("query_ranks"),
    "aggregate tests": lambda grid: grid.aggregate_criteria,
    "frequencies": lambda grid: grid.models_with_frequencies,
    "ratings": lambda grid: grid.rating_cells,
}
# what is left out of what is read where a study has no such thing -> what it must have for it
LEFT_OUT = {
    "frequency": "frequencies",
    "intervals": "bootstrap",
    "pairs": "ranked and bootstrap",
    "rank_samples": "bootstrap",
    "ratings": "ratings",
    "aggregate_tests": "aggregate tests",
}
# what many specs have besides, as JSON has it; None: the study has no such thing
FACTS: dict[str, Callable[[Any], Any]] = {
    "adjust": lambda grid: grid.config["inference"]["adjust"],
    "bootstrap": lambda grid: grid.config["inference"].get("bootstrap"),
    "draws": lambda grid: grid.config["inference"].get("bootstrap", {}).get("draws", 0),
    # without a bootstrap as `verdicts.evidence.LEVEL`, which imports more than figures should hang on
    "level": lambda grid: grid.config["inference"].get("bootstrap", {}).get("level", 0.95),
    # [criterion, metric, value] that means no bias, and the interval of values
    "neutral": lambda grid: sorted([*names, value] for names, value in grid.neutrals.items()),
    "ranges": lambda grid: sorted([*names, *ends] for names, ends in grid.ranges.items()),
    "ranked": lambda grid: sorted(grid.ranked_criteria),
    "ranking": lambda grid: grid.ranking,
    # of ranked criteria: the metrics whose values grow with the length of vectors
    "scaled": lambda grid: {name: sorted(keys) for name, keys in sorted(grid.scaled_metrics.items())},
    "seed": lambda grid: grid.config["seed"],
}


def _find(entries: Mapping[str, Callable[[Any], Any]], name: str, what: str) -> Callable[[Any], Any]:
    if name not in entries:
        raise BiasgridError(unknown_name(what, name, entries))
    return entries[name]


def holds(grid: Any, when: When) -> bool:
    """Whether a study has what is needed."""
    if not isinstance(when, str):
        return bool(when(grid))
    return all(_find(WHEN, name, "when")(grid) for name in when.split(" and ") if name)


def files_of(grid: Any, reads: Iterable[str]) -> dict[str, Any]:
    """The files of what is read, by name: what SOURCES has, and tables."""
    return {
        name: SOURCES[name](grid) if name in SOURCES else grid.table_file(name)
        for name in reads
        if holds(grid, LEFT_OUT.get(name, ""))
    }


def facts_of(grid: Any, facts: Iterable[str]) -> dict[str, Any]:
    """The part of a spec that FACTS has."""
    values = {name: _find(FACTS, name, "fact")(grid) for name in facts}
    return {name: value for name, value in values.items() if value is not None}


def parts_of(grid: Any) -> Parts:
    """The sub-queries of the ranked criteria's queries, by metric, where a metric divides some: what
    `tables.shared.places_of` takes."""
    parts: dict[str, dict[str, list[list[str]]]] = {}
    for criterion in sorted(grid.ranked_criteria):
        for key, queries in subqueries_of(grid, criterion).items():
            if any(len(of_query) > 1 for of_query in queries):
                names = [[part.name for part in of_query] for of_query in queries]
                parts.setdefault(criterion, {})[key] = names
    return parts


def clusters_of(grid: Any) -> Clusters:
    """The (sub-)queries of the ranked criteria's clusters of queries, by metric, where one has several: what
    `tables.shared.places_of` takes. Of a cluster are queries that have an attribute set with equal words in common,
    or a sub-query, directly or through others, also of several criteria."""
    queries: dict[str, list[tuple[str, Sequence[Any]]]] = {}
    for criterion in sorted(grid.ranked_criteria):
        for key, of_criterion in subqueries_of(grid, criterion).items():
            queries.setdefault(key, []).extend((criterion, parts) for parts in of_criterion)
    clusters = {key: [c for c in _clusters(of_metric) if len(c) > 1] for key, of_metric in queries.items()}
    return {key: of_metric for key, of_metric in clusters.items() if of_metric}


def _clusters(queries: Iterable[tuple[str, Sequence[Any]]]) -> list[list[tuple[str, str]]]:
    clusters: list[tuple[dict[tuple[str, str], None], set[frozenset[str]]]] = []
    for criterion, parts in queries:
        rows = {(criterion, part.name): None for part in parts}
        sets = {frozenset(s.words) for part in parts for s in part.attribute_sets}
        for other in [other for other in clusters if other[0].keys() & rows or other[1] & sets]:
            clusters.remove(other)
            rows, sets = other[0] | rows, other[1] | sets
        clusters.append((rows, sets))
    return [list(rows) for rows, _ in clusters]


def subqueries_of(grid: Any, criterion: str) -> dict[str, list[Sequence[Any]]]:
    """The queries of a criterion by metric, each as its sub-queries."""
    queries = [grid.queries[name] for name in sorted(grid.config["criteria"][criterion]["queries"])]
    by_template: dict[Any, list[Sequence[Any]]] = {}
    of_metric = {}
    for key in sorted(grid.metrics(criterion)):
        template = grid.metric(criterion, key).template
        if template not in by_template:
            by_template[template] = [query.subqueries(template) for query in queries if query.fits(template)]
        of_metric[key] = by_template[template]
    return of_metric
