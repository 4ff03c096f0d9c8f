"""Rows of scores.csv on which models are compared, by criterion and metric (`measure.statistics.shared`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..debias import UNTOUCHED
from ..measure.aggregation import groups
from ..measure.statistics.shared import COVERAGE, Shared, count_complete, shared_rows

if TYPE_CHECKING:
    import pandas as pd

# The keys of a model and of a debias method.
State = tuple[str, str]
# Criterion -> metric -> the sub-queries of each query, for metrics that divide queries.
Parts = Mapping[str, Mapping[str, Sequence[Sequence[str]]]]
# Metric -> criterion and name of the (sub-)queries of each cluster.
Clusters = Mapping[str, Sequence[Sequence[tuple[str, str]]]]
# Criterion -> metric -> (sub-)query -> the number of words in its smallest set.
SetSizes = Mapping[str, Mapping[str, Mapping[str, int]]]


@dataclass(frozen=True)
class Place:
    """Scores of a metric on a criterion, or on all criteria: rows by model variants.

    Attributes
    ----------
    criterion, metric
        Their keys.
    states
        The models and their debiased variants, in the order of their keys.
    names
        The (sub-)queries of the rows.
    places
        (rows, states) row number of a variant's score in the table of scores; -1 if it was not measured.
    has_value
        (rows, states) whether the score has a value.
    queries
        (queries, rows) mask of each query's rows.
    clusters
        (clusters, rows) mask of each cluster's rows; a cluster has queries that share attribute sets.
    shared
        The original models that are ranked, among all variants, and the rows on which they are ranked.
    """

    criterion: str
    metric: str
    states: tuple[State, ...]
    names: tuple[str, ...]
    places: np.ndarray
    has_value: np.ndarray
    queries: np.ndarray
    clusters: np.ndarray
    shared: Shared

    def column(self, state: State) -> int:
        """Return the position of a model variant among the states."""
        return self.states.index(state)

    def is_ranked(self, model: str) -> bool:
        """Return whether a model without debiasing is ranked."""
        state = (model, UNTOUCHED)
        return state in self.states and bool(self.shared.units[self.column(state)])

    def rows_of(self, state: State) -> np.ndarray:
        """Return the mask (rows,) of the rows on which a variant's value is compared with others.

        These are the rows that all ranked models have; a debiased variant has the rows of its original model. The
        mask is empty if the model is not ranked, or if the variant lacks a value in one of these rows.
        """
        is_compared = self.is_ranked(state[0]) and self.has_value[self.shared.rows, self.column(state)].all()
        return self.shared.rows & is_compared

    def count_queries(self, rows: np.ndarray) -> int:
        """Return the number of queries whose rows are all among these."""
        return count_complete(rows, self.queries)

    def count_clusters(self, rows: np.ndarray) -> int:
        """Return how many clusters have a query with all of its rows among these."""
        complete = self.queries[~(self.queries & ~rows).any(axis=1)]
        return int(self.clusters[:, complete.argmax(axis=1)].any(axis=1).sum()) if len(complete) else 0

    def words(self, scores: pd.DataFrame, sizes: SetSizes) -> np.ndarray:
        """Return the number of words in the smallest set of each row, (rows,)."""
        criteria = scores["criterion"].to_numpy()[self.places.max(axis=1)]
        return np.array(
            [
                sizes[criterion][self.metric].get(name, math.inf)
                for criterion, name in zip(criteria, self.names, strict=True)
            ]
        )


def places_of(
    scores: pd.DataFrame,
    criteria: Sequence[str],
    coverage: float = COVERAGE,
    parts: Parts | None = None,
    clusters: Clusters | None = None,
) -> Iterator[Place]:
    """Yield the rows on which models are compared, for each metric on each criterion and on all together.

    Parameters
    ----------
    scores
        The table.
    criteria
        The names of the ranked criteria.
    coverage
        As in `measure.statistics.shared.shared_rows`.
    parts
        The sub-queries of queries; a row outside all of them is a query of its own.
    clusters
        The (sub-)queries of queries that share attribute sets, also across criteria; a row outside all of them is a
        cluster of its own.
    """
    by_place: dict[tuple[str, str], dict[State, np.ndarray]] = {}
    for (criterion, metric, model, debias), places in groups(scores, criteria):
        by_place.setdefault((criterion, metric), {})[model, debias] = places
    has_value = scores["value"].notna().to_numpy()
    keys = list(zip(scores["criterion"], scores["query"], strict=True))
    for (criterion, metric), by_state in sorted(by_place.items()):
        states = tuple(sorted(by_state))
        # Keep the order of the scores, so that sums always have one order.
        in_order = np.sort(np.concatenate([by_state[state] for state in states]))
        rows = {key: row for row, key in enumerate(dict.fromkeys(keys[place] for place in in_order))}
        places = np.full((len(rows), len(states)), -1)
        for column, state in enumerate(states):
            for place in by_state[state]:
                places[rows[keys[place]], column] = place
        has_score = (places >= 0) & has_value[places]
        untouched = np.array([debias == UNTOUCHED for _, debias in states])
        shared = shared_rows(has_score & untouched, coverage)
        sub_queries = tuple(name for _, name in rows)
        of_queries = [
            [(of_criterion, name) for name in names]
            for of_criterion in dict.fromkeys(of_criterion for of_criterion, _ in rows)
            for names in (parts or {}).get(of_criterion, {}).get(metric, ())
        ]
        queries = _members(rows, of_queries)
        of_clusters = _members(rows, (clusters or {}).get(metric, ()))
        yield Place(criterion, metric, states, sub_queries, places, has_score, queries, of_clusters, shared)


def _members(rows: Mapping[tuple[str, str], int], groups: Iterable[Sequence[tuple[str, str]]]) -> np.ndarray:
    """Return the mask of each query's rows, or each cluster's, (queries, rows); other rows form one of their own."""
    members: dict[tuple[int, ...], None] = {}
    for keys in groups:
        if of_group := tuple(rows[key] for key in keys if key in rows):
            members[of_group] = None
    in_groups = {row for of_group in members for row in of_group}
    members |= {(row,): None for row in rows.values() if row not in in_groups}
    is_member = np.zeros((len(members), len(rows)), dtype=bool)
    for i, of_group in enumerate(members):
        is_member[i, list(of_group)] = True
    return is_member
