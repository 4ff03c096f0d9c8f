"""Ranks of units by a value, in every bootstrap resample.

No absolute value of a resample is taken. Where a score is near the neutral value, its resamples lie on both sides of
it, and their distances from it are larger than the score's: most so for the least biased models, which would lose
ranks. A resample on the other side of neutral than the score counts as less than no bias instead, by so much. What
resamples still differ by on average from what they are resamples of (ECT is lower where words repeat) is taken off a
unit's aggregates, so that their mean is the aggregate of its scores (bootstrap bias correction, Efron & Tibshirani
1993, section 10.6). benchmarks/ranks.py measures what that does to intervals and shares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .aggregation import Aggregation

if TYPE_CHECKING:
    import pandas as pd

# what is drawn again: words; queries of each criterion; both
RESAMPLED = ("words", "queries", "both")
# what is shown, the first where there are several
RESAMPLED_TEXTS = {"both": "words and queries", "words": "words", "queries": "queries"}


def aggregates_of_resamples(
    observed: np.ndarray,
    samples: np.ndarray,
    counts: np.ndarray,
    units: Iterable[tuple[np.ndarray, float]],
    aggregation: Aggregation = "abs_avg",
    by: str = "distance",
) -> np.ndarray:
    """Each unit's aggregate of its scores in every resample, without the inflation of absolute values.

    Parameters
    ----------
    observed
        The scores, (scores, 1).
    samples
        Their values with each draw of words, (scores, draws), NaN where undefined.
    counts
        How often a score's query is in each draw of queries, (scores, draws).
    units
        What is ranked: the places of its scores, and the metric's neutral value.
    aggregation, by
        As in the table of rankings.

    Returns
    -------
    numpy.ndarray
        (RESAMPLED, units, draws); smaller is less biased, NaN is no value.
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
    with np.errstate(invalid="ignore"):  # of a unit without a value in any resample
        means = np.nansum(values, axis=2) / np.count_nonzero(~np.isnan(values), axis=2)
    # each rounded by itself: of their difference, as many digits may be noise
    return _round(values) + (_round(aggregates) - _round(means)[..., None])


def ranks_of_resamples(
    values: np.ndarray, groups: Iterable[Sequence[int]], ties: str = "average"
) -> np.ndarray:
    """Ranks among the units that are ranked beside each other, 1 the smallest value.

    Parameters
    ----------
    values
        (kinds, units, draws), NaN where a unit has none.
    groups
        The rows of the units that are ranked beside each other.
    ties
        "average", "min", "max", "dense", or "first": by the order of rows.

    Returns
    -------
    numpy.ndarray
        float32, shaped as `values`; NaN where a unit has no value.
    """
    # imported late: it takes half a second, which a study without a bootstrap need not wait
    from scipy.stats import rankdata

    ranks = np.empty(values.shape, dtype=np.float32)
    for rows in groups:
        # what has no value comes last, and leaves the others' ranks alone
        last = np.where(np.isnan(values[:, rows]), math.inf, values[:, rows])
        ranks[:, rows] = rankdata(last, "ordinal" if ties == "first" else ties, axis=1)
    ranks[np.isnan(values)] = math.nan
    return ranks


def rank_interval(ranks: np.ndarray, level: float) -> tuple[float, float]:
    """The percentile interval of a unit's ranks (draws,): ranks that it has in resamples, in at most
    (1 - level) / 2 of which it is below the first, and in as many above the second; NaN without any rank."""
    ranks = np.sort(ranks[~np.isnan(ranks)])
    if not len(ranks):
        return math.nan, math.nan
    # whole resamples that may be cut off at an end; the rounding of 1 - .95 cuts off none
    cut = math.floor(round(len(ranks) * (1 - level) / 2, 9))
    return float(ranks[cut]), float(ranks[-1 - cut])


def _sides(observed: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Which side of 0 each row's observed value (rows, 1) lies on, 1 or -1; of 0 itself, where its resamples do."""
    return np.sign(np.where(observed == 0, np.nansum(samples, axis=1, keepdims=True), observed))


def _aggregate(cells: np.ndarray, times: np.ndarray, aggregation: Aggregation) -> np.ndarray:
    """Mean or sum (or a user's function) over the first axis, each cell so many times and without NaN; NaN where none
    is left."""
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
    """To twelve digits, as `tables.rankings.round_values`, for millions of values."""
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = 11 - np.floor(np.log10(np.abs(values)))
    # of 0, and of what is as good as 0
    scale = 10.0 ** np.clip(np.nan_to_num(digits), -250, 250)
    return np.round(values * scale) / scale


def most_resampled(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows of order.csv or rank_intervals.csv over resamples of words and queries, else of words or of queries,
    for each metric; and which it is."""
    choice = {
        metric: next((name for name in RESAMPLED_TEXTS if name in set(part)), "words")
        for metric, part in table.groupby("metric")["resampled"]
    }
    names = set(choice.values())
    text = RESAMPLED_TEXTS[names.pop()] if len(names) == 1 else "words and queries; of few queries, of words"
    return table[table["resampled"] == table["metric"].map(choice)], text
