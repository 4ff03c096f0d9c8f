"""Queries without which another model would come first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...measure.aggregation import Aggregation, aggregator


def decisive_queries(
    places: Iterable[Any],
    values: np.ndarray,
    neutral: Mapping[str, float],
    aggregation: Aggregation = "abs_avg",
    by: str = "distance",
) -> dict[tuple[str, str], tuple[tuple[str, str], ...]]:
    """Return the (sub-)queries without which another model comes first, and that model, by criterion and metric.

    The criteria include "Overall". Only criteria and metrics with ranked models have an entry.

    Parameters
    ----------
    places
        From `tables.shared.places_of`, for scores of models without debiasing.
    values
        The values of these scores.
    neutral, aggregation, by
        As in `tables.rankings.rankings`.
    """
    by_place = {}
    for place in places:
        zero = neutral[place.metric] if by == "distance" else 0.0
        distances = np.where(place.has_value, values[place.places] - zero, np.nan)
        # Compare the ranked models on the rows that all of them have.
        columns, rows = np.flatnonzero(place.shared.units), np.flatnonzero(place.shared.rows)
        if not len(columns):
            continue
        shared_values = distances[np.ix_(rows, columns)]
        first = _first(shared_values, aggregation, by)
        decisive = []
        for i, row in enumerate(rows if len(rows) > 1 else ()):
            first_without = _first(np.delete(shared_values, i, axis=0), aggregation, by)
            if first_without != first:
                decisive.append((place.names[row], place.states[columns[first_without]][0]))
        by_place[place.criterion, place.metric] = tuple(decisive)
    return by_place


def _first(values: np.ndarray, aggregation: Aggregation, by: str) -> int:
    """Return the column with the lowest aggregate, of values (rows, columns) without NaN."""
    aggregate = aggregator(aggregation)
    aggregates = [float(aggregate(column)) for column in values.T]
    # Order models like ranks do: by the absolute aggregate, to twelve digits.
    return int(
        np.argmin([float(f"{abs(value) if by == 'distance' else value:.12g}") for value in aggregates])
    )
