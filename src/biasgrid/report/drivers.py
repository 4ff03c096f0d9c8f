"""Which query drives a metric's answer: on which models are furthest from no bias, and which decides the winner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..debias import UNTOUCHED
from ..statistics.aggregation import OVERALL, Aggregation, aggregator

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
) -> dict[tuple[str, str], Drivers]:
    """`Drivers` by criterion and metric, "Overall" included; parameters as of `tables.rankings.rankings`."""
    by_place = {}
    untouched_scores = scores[(scores["debias"] == UNTOUCHED) & scores["criterion"].isin(ranked)]
    for metric, of_metric in untouched_scores.groupby("metric"):
        zero = neutral[metric] if by == "distance" else 0.0
        parts = [*of_metric.groupby("criterion"), (OVERALL, of_metric)]
        for criterion, part in parts:
            wide = part.pivot(index=["criterion", "query"], columns="model", values="value") - zero
            if (drives := _drivers(wide, aggregation, by)) is not None:
                by_place[criterion, metric] = drives
    return by_place


def _drivers(wide: pd.DataFrame, aggregation: Aggregation, by: str) -> Drivers | None:
    values, queries = wide.to_numpy(), [query for _, query in wide.index]
    has_value = ~np.isnan(values).all(axis=0)
    if not has_value.any():
        return None
    furthest = {
        column: queries[np.nanargmax(np.abs(values[:, column]))] for column in np.flatnonzero(has_value)
    }
    query, models = Counter(furthest.values()).most_common(1)[0]
    first = _first(values, aggregation, by)
    decisive_queries = []
    for row in range(len(queries)) if len(queries) > 1 else ():
        first_without = _first(np.delete(values, row, axis=0), aggregation, by)
        if first_without is not None and first_without != first:
            decisive_queries.append((queries[row], wide.columns[first_without]))
    of_first = wide.columns[first], furthest[first]
    return Drivers(of_first, query, models, int(has_value.sum()), tuple(decisive_queries), len(queries))


def _first(values: np.ndarray, aggregation: Aggregation, by: str) -> int | None:
    """The column with the lowest aggregate."""
    aggregate = aggregator(aggregation)
    aggregates = [
        float(aggregate(column[~np.isnan(column)])) if not np.isnan(column).all() else np.nan
        for column in values.T
    ]
    # as ranks are taken: by the absolute aggregate, to twelve digits
    numbers = [float(f"{abs(value) if by == 'distance' else value:.12g}") for value in aggregates]
    return None if np.isnan(numbers).all() else int(np.nanargmin(numbers))
