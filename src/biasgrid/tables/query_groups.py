"""Groups of queries that belong together when tables compare them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .planned import Planned
    from .shared import Clusters, Parts, SetSizes


def parts_of(study: Planned) -> Parts:
    """Return the sub-queries of the ranked criteria's queries, by metric, if a metric divides some.

    This is the argument `parts` of `tables.shared.places_of`.
    """
    parts: dict[str, dict[str, list[list[str]]]] = {}
    for criterion in sorted(study.ranked_criteria):
        for key, queries in subqueries_of(study, criterion).items():
            if any(len(of_query) > 1 for of_query in queries):
                names = [[part.name for part in of_query] for of_query in queries]
                parts.setdefault(criterion, {})[key] = names
    return parts


def clusters_of(study: Planned) -> Clusters:
    """Return the (sub-)queries of the ranked criteria's clusters of several queries, by metric.

    This is the argument `clusters` of `tables.shared.places_of`. Queries form a cluster if they share an attribute
    set with equal words, or a sub-query, directly or through other queries, also across criteria.
    """
    queries: dict[str, list[tuple[str, Sequence[Any]]]] = {}
    for criterion in sorted(study.ranked_criteria):
        for key, of_criterion in subqueries_of(study, criterion).items():
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


def set_sizes_of(study: Planned) -> SetSizes:
    """Return the number of words in the smallest set of each (sub-)query of the ranked criteria."""
    return {
        criterion: {
            key: {
                part.name: min(len(s.words) for s in (*part.target_sets, *part.attribute_sets))
                for parts in queries
                for part in parts
            }
            for key, queries in subqueries_of(study, criterion).items()
        }
        for criterion in sorted(study.ranked_criteria)
    }


def subqueries_of(study: Planned, criterion: str) -> dict[str, list[Sequence[Any]]]:
    """Return the queries of a criterion by metric, each as its sub-queries."""
    queries = [study.queries[name] for name in sorted(study.config.criteria[criterion].queries)]
    by_template: dict[Any, list[Sequence[Any]]] = {}
    of_metric = {}
    for key in sorted(study.metrics(criterion)):
        template = study.metric(criterion, key).template
        if template not in by_template:
            by_template[template] = [query.subqueries(template) for query in queries if query.fits(template)]
        of_metric[key] = by_template[template]
    return of_metric
