"""Which query drives a metric's answer: on which models are furthest from no bias, and which decides the winner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..debias import UNTOUCHED
from ..statistics.aggregation import Aggregation, aggregator
from ..statistics.shared import COVERAGE, Shared
from ..tables.shared import Parts, places_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Drivers:
    """What drives a metric's answer on a criterion.

    first              the untouched model that comes first, and the (sub-)query on which it is furthest from no bias
    query              the (sub-)query on which most untouched models are
    models             how many these are
    models_with_value  how many untouched models have a value
    decisive_queries   (sub-)queries without which another model comes first, and that model
    queries            how many (sub-)queries there are
    """

    first: tuple[str, str]
    query: str
    models: int
    models_with_value: int
    decisive_queries: tuple[tuple[str, str], ...]
    queries: int


def drivers(
    scores: pd.DataFrame,
    ranked: Sequence[str],
    neutral: Mapping[str, float],
    aggregation: Aggregation = "abs_avg",
    by: str = "distance",
    ties: str = "average",
    coverage: float = COVERAGE,
    parts: Parts | None = None,
) -> dict[tuple[str, str], Drivers]:
    """`Drivers` by criterion and metric, "Overall" included, where models are ranked; parameters as of
    `tables.rankings.rankings`."""
    by_place = {}
    scores = scores[(scores["debias"] == UNTOUCHED) & scores["criterion"].isin(ranked)].reset_index(drop=True)
    values = scores["value"].to_numpy()
    for place in places_of(scores, ranked, coverage, parts):
        zero = neutral[place.metric] if by == "distance" else 0.0
        distances = np.where(place.has_value, values[place.places] - zero, np.nan)
        if place.shared.units.any():
            models = [model for model, _ in place.states]
            by_place[place.criterion, place.metric] = _drivers(
                distances, place.names, models, place.shared, aggregation, by
            )
    return by_place


def _drivers(
    values: np.ndarray,
    queries: Sequence[str],
    models: Sequence[str],
    shared: Shared,
    aggregation: Aggregation,
    by: str,
) -> Drivers:
    has_value = ~np.isnan(values).all(axis=0)
    furthest = {
        column: queries[np.nanargmax(np.abs(values[:, column]))] for column in np.flatnonzero(has_value)
    }
    query, n_models = Counter(furthest.values()).most_common(1)[0]
    # which model comes first: of the ranked ones, on the rows that all of them have
    columns, rows = np.flatnonzero(shared.units), np.flatnonzero(shared.rows)
    shared_values = values[np.ix_(rows, columns)]
    first = columns[_first(shared_values, aggregation, by)]
    decisive_queries = []
    for i, row in enumerate(rows if len(rows) > 1 else ()):
        first_without = columns[_first(np.delete(shared_values, i, axis=0), aggregation, by)]
        if first_without != first:
            decisive_queries.append((queries[row], models[first_without]))
    of_first = models[first], furthest[first]
    return Drivers(of_first, query, n_models, int(has_value.sum()), tuple(decisive_queries), len(queries))


def _first(values: np.ndarray, aggregation: Aggregation, by: str) -> int:
    """The column with the lowest aggregate, of values (rows, columns) without NaN."""
    aggregate = aggregator(aggregation)
    aggregates = [float(aggregate(column)) for column in values.T]
    # as ranks are taken: by the absolute aggregate, to twelve digits
    return int(
        np.argmin([float(f"{abs(value) if by == 'distance' else value:.12g}") for value in aggregates])
    )
