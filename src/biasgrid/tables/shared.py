"""The rows of scores.csv on which models are compared, by criterion and metric (`statistics.shared`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..debias import UNTOUCHED
from ..statistics.aggregation import groups
from ..statistics.shared import COVERAGE, Shared, count_complete, shared_rows

if TYPE_CHECKING:
    import pandas as pd

State = tuple[str, str]  # a model's key and a debias method's
# criterion -> metric -> the sub-queries of each query, of metrics that divide queries
Parts = Mapping[str, Mapping[str, Sequence[Sequence[str]]]]
# metric -> criterion and name of the (sub-)queries of each cluster
Clusters = Mapping[str, Sequence[Sequence[tuple[str, str]]]]
# criterion -> metric -> (sub-)query -> the number of words in its smallest set
SetSizes = Mapping[str, Mapping[str, Mapping[str, int]]]


@dataclass(frozen=True)
class Place:
    """What a metric says on a criterion, or on all: rows by states.

    criterion, metric  their keys
    states     the models and their debiased states, in the order of their keys
    names      the (sub-)queries of the rows
    places     (rows, states) where a state's score stands in the table of scores; -1 where it was not measured
    has_value  (rows, states)
    queries    (queries, rows) which rows a query has
    clusters   (clusters, rows) which rows a cluster has, of queries that share attribute sets
    shared     the untouched models that are ranked, of all states, and the rows on which
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
        """Where a state stands among the states."""
        return self.states.index(state)

    def is_ranked(self, model: str) -> bool:
        """Whether a model is ranked, as it is without debiasing."""
        state = (model, UNTOUCHED)
        return state in self.states and bool(self.shared.units[self.column(state)])

    def rows_of(self, state: State) -> np.ndarray:
        """The rows (rows,) on which a state's value compares with others': those that all ranked models have. Of a
        debiased state, its model's. None where the model is not ranked, or the state lost one of them."""
        is_compared = self.is_ranked(state[0]) and self.has_value[self.shared.rows, self.column(state)].all()
        return self.shared.rows & is_compared

    def count_queries(self, rows: np.ndarray) -> int:
        """How many queries have all of their rows among these."""
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
    """The rows on which models are compared, for each metric on each criterion and on all together.

    Parameters
    ----------
    scores
        The table.
    criteria
        The names of those that are ranked.
    coverage
        As `statistics.shared.shared_rows` takes it.
    parts
        The sub-queries of queries; a row that stands in none is a query of its own.
    clusters
        The (sub-)queries of queries that share attribute sets, also of several criteria; a row that stands in none is
        a cluster of its own.
    """
    by_place: dict[tuple[str, str], dict[State, np.ndarray]] = {}
    for (criterion, metric, model, debias), places in groups(scores, criteria):
        by_place.setdefault((criterion, metric), {})[model, debias] = places
    has_value = scores["value"].notna().to_numpy()
    keys = list(zip(scores["criterion"], scores["query"], strict=True))
    for (criterion, metric), by_state in sorted(by_place.items()):
        states = tuple(sorted(by_state))
        # in the order of the scores, so that sums have one order
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
    """Which rows each query has, or each cluster, (queries, rows); a row of none is one of its own."""
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
