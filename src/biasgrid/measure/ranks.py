"""Ranks of units by a value, in every bootstrap resample.

No absolute value of a resample is taken. Near the no-bias value, a score's resamples lie on both sides of it, so
that their distances from it are larger than the score's. This inflation is largest for the least biased models,
which would lose ranks. Instead, the distance of a resample on the other side of neutral than the score counts as
negative. Resamples may also differ from the original on average (ECT is lower if words repeat). This mean
difference is subtracted from a unit's aggregates, so that their mean is the aggregate of its scores (bootstrap bias
correction, Efron & Tibshirani 1993, section 10.6). benchmarks/ranks.py measures the effect on intervals and shares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .aggregation import Aggregation

if TYPE_CHECKING:
    import pandas as pd

# Resampled items: words; queries of each criterion; both.
RESAMPLED = ("words", "queries", "both")
# Texts that are shown; the first is preferred if several kinds exist.
RESAMPLED_TEXTS = {"both": "words and queries", "words": "words", "queries": "queries"}


def aggregates_of_resamples(
    observed: np.ndarray,
    samples: np.ndarray,
    counts: np.ndarray,
    units: Iterable[tuple[np.ndarray, float]],
    aggregation: Aggregation = "abs_avg",
    by: str = "distance",
) -> np.ndarray:
    """Aggregate each unit's scores in every resample, without the inflation of absolute values.

    Parameters
    ----------
    observed
        Observed scores, (scores, 1).
    samples
        Their values with each draw of words, (scores, draws), NaN where undefined.
    counts
        How often a score's query is in each draw of queries, (scores, draws).
    units
        Ranked units: the row numbers of the unit's scores, and the metric's no-bias value.
    aggregation, by
        As in the table of rankings.

    Returns
    -------
    numpy.ndarray
        (RESAMPLED, units, draws); smaller is less biased, NaN is undefined.
    """
    units, ones = list(units), np.ones((len(observed), 1), dtype=np.int32)
    kinds = [(samples, ones), (observed, counts), (samples, counts)]
    values = np.empty((len(kinds), len(units), samples.shape[1]))
    aggregates = np.empty((len(units), 1))
    absolute = isinstance(aggregation, str) and aggregation.startswith("abs_")
    for row, (places, neutral) in enumerate(units):
        zero = neutral if by == "distance" else 0.0
        sides = _sides(observed[places] - zero, samples[places] - zero) if absolute else 1.0
        for kind, (cells, times) in enumerate(kinds):
            values[kind, row] = _aggregate((cells[places] - zero) * sides, times[places], aggregation)
        aggregates[row] = _aggregate((observed[places] - zero) * sides, ones[places], aggregation)
    if by == "distance" and not absolute:
        sides = _sides(aggregates, values[0])
        values, aggregates = values * sides, aggregates * sides
    # A unit may have no value in any resample.
    with np.errstate(invalid="ignore"):
        means = np.nansum(values, axis=2) / np.count_nonzero(~np.isnan(values), axis=2)
    # Round each term by itself: in their difference, many digits may be noise.
    return _round(values) + (_round(aggregates) - _round(means)[..., None])


def ranks_of_resamples(
    values: np.ndarray, groups: Iterable[Sequence[int]], ties: str = "average"
) -> np.ndarray:
    """Rank the units of each group in every resample; 1 is the smallest value.

    Parameters
    ----------
    values
        (kinds, units, draws), NaN for a unit without a value.
    groups
        Row numbers of the units that are ranked together.
    ties
        "average", "min", "max", "dense", or "first": by the order of rows.

    Returns
    -------
    numpy.ndarray
        float32, in the shape of `values`; NaN for a unit without a value.
    """
    # Import scipy late: the import takes half a second, which a study without a bootstrap saves.
    from scipy.stats import rankdata

    ranks = np.empty(values.shape, dtype=np.float32)
    for rows in groups:
        # Rank missing values last, which leaves the other ranks unchanged.
        last = np.where(np.isnan(values[:, rows]), math.inf, values[:, rows])
        ranks[:, rows] = rankdata(last, "ordinal" if ties == "first" else ties, axis=1)
    ranks[np.isnan(values)] = math.nan
    return ranks


def rank_interval(ranks: np.ndarray, level: float) -> tuple[float, float]:
    """Return the percentile interval of a unit's ranks in resamples (draws,); NaN without any rank.

    Both ends are ranks that occur. In at most (1 - level) / 2 of the resamples the rank is below the first, and in
    at most the same share above the second.
    """
    ranks = np.sort(ranks[~np.isnan(ranks)])
    if not len(ranks):
        return math.nan, math.nan
    # Count the whole resamples to cut off at each end; the rounding of 1 - .95 does not cut off one more.
    cut = math.floor(round(len(ranks) * (1 - level) / 2, 9))
    return float(ranks[cut]), float(ranks[-1 - cut])


def _sides(observed: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Return the side of 0 of each row's observed value (rows, 1), 1 or -1; if it is 0, the side of its resamples."""
    return np.sign(np.where(observed == 0, np.nansum(samples, axis=1, keepdims=True), observed))


def _aggregate(cells: np.ndarray, times: np.ndarray, aggregation: Aggregation) -> np.ndarray:
    """Aggregate over the first axis (mean, sum or a user's function), counting each cell `times` times.

    NaN cells are left out; NaN if none is left.
    """
    has_value = ~np.isnan(cells)
    if callable(aggregation):
        cells, times, has_value = np.broadcast_arrays(cells, times, has_value)
        repeats = (np.repeat(c[k], t[k]) for c, t, k in zip(cells.T, times.T, has_value.T, strict=True))
        return np.array([float(aggregation(values)) if len(values) else math.nan for values in repeats])
    is_mean = aggregation.endswith("avg")
    number = (has_value * times).sum(axis=0)
    total = (np.where(has_value, cells, 0.0) * times).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return total / number if is_mean else np.where(number, total, math.nan)


def _round(values: np.ndarray) -> np.ndarray:
    """Round to twelve digits, like `tables.rankings.round_values`, but fast for millions of values."""
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = 11 - np.floor(np.log10(np.abs(values)))
    # Limit the scale for 0 and for numbers close to 0.
    scale = 10.0 ** np.clip(np.nan_to_num(digits), -250, 250)
    return np.round(values * scale) / scale


def most_resampled(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Select for each metric the rows of order.csv or rank_intervals.csv with the most resampled.

    These are resamples of words and queries, otherwise of words, otherwise of queries. Return the rows and a text
    that names the choice.
    """
    choice = {
        metric: next((name for name in RESAMPLED_TEXTS if name in set(part)), "words")
        for metric, part in table.groupby("metric")["resampled"]
    }
    names = set(choice.values())
    text = RESAMPLED_TEXTS[names.pop()] if len(names) == 1 else "words and queries; of few queries, of words"
    return table[table["resampled"] == table["metric"].map(choice)], text
