"""Correlations of many bootstrap resamples at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

# Methods of `with_interval` and `over_units`.
METHODS = ("pearson", "spearman")
# Limit the numbers of resamples in memory at a time.
BLOCK = 2**17


def correlate_columns(a: np.ndarray, b: np.ndarray, method: str) -> np.ndarray:
    """Correlate two arrays over the first axis, column by column, where both have values.

    Parameters
    ----------
    a, b
        (units, resamples), NaN for a unit without a value.
    method
        "spearman", "kendall" (tau-b) or "pearson", as in pandas.DataFrame.corr.

    Returns
    -------
    numpy.ndarray
        (resamples,), from -1 to 1; 0 means no relation. NaN if fewer than two values are left, or all are equal.
    """
    missing = np.isnan(a) | np.isnan(b)
    number = np.count_nonzero(~missing, axis=0)
    first, second = np.triu_indices(len(a), 1)

    def to_deviations(x: np.ndarray) -> np.ndarray:
        if method == "kendall":
            x = np.where(missing, math.nan, x)
            return np.nan_to_num(np.sign(x[first] - x[second]))
        if method == "spearman":
            # Rank with pandas, which tables already import: scipy.stats would take half a second and 20 MB more.
            import pandas as pd

            x = pd.DataFrame(np.where(missing, math.inf, x)).rank().to_numpy()
        return np.where(missing, 0.0, x - np.where(missing, 0.0, x).sum(axis=0) / number)

    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = to_deviations(a), to_deviations(b)
        return ((a * b).sum(axis=0) / np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))).clip(-1, 1)


def percentile_interval(samples: np.ndarray, level: float) -> tuple[float, float]:
    """Return the ends of the central share `level` of values of resamples, `samples` (resamples,).

    NaN resamples are left out; if more than half are NaN, both ends are NaN.
    """
    finite = samples[~np.isnan(samples)]
    if 2 * len(finite) < len(samples):
        return math.nan, math.nan
    tail = (1 - level) / 2
    low, high = np.quantile(finite, [tail, 1 - tail])
    return float(low), float(high)


def with_interval(
    x: np.ndarray, y: np.ndarray, method: str, seed: int = 0, draws: int = 2000, level: float = 0.95
) -> tuple[float, float, float]:
    """Compute the correlation of two rows of numbers, and its bootstrap interval.

    Parameters
    ----------
    x, y
        (n,) each.
    method
        "pearson" or "spearman".
    seed, draws
        Seed and number of resamples of the bootstrap over the n numbers.
    level
        Share of resamples between the ends (percentiles).

    Returns
    -------
    tuple of float
        Value, low, high, from -1 to 1; 0 means no relation. NaN if n is below 3, or if all numbers of one row are
        equal.
    """
    pair = np.array([x, y], dtype=float)
    n = pair.shape[1]
    if n < 3 or not np.ptp(pair, axis=1).all():
        return math.nan, math.nan, math.nan
    places = np.random.default_rng(seed).integers(n, size=(draws, n))
    # A resample that draws one number alone divides 0 by 0.
    with np.errstate(invalid="ignore"):
        samples = _correlate_rows(*pair[:, places], method=method)
    (value,) = _correlate_rows(*pair[:, None], method=method)
    return float(value), *np.nanquantile(samples, [(1 - level) / 2, (1 + level) / 2]).tolist()


def by_methods(x: np.ndarray, y: np.ndarray, seed: int = 0) -> list[tuple[Any, ...]]:
    """Return (method, n, value, low, high) of two rows of numbers for each of METHODS; see `with_interval`."""
    return [(method, len(x), *with_interval(x, y, method, seed)) for method in METHODS]


def _correlate_rows(x: np.ndarray, y: np.ndarray, *, method: str) -> np.ndarray:
    """Correlate two arrays (resamples, n) row by row."""
    if method == "spearman":
        from scipy.stats import rankdata

        x, y = rankdata(x, axis=1), rankdata(y, axis=1)
    x, y = (v - v.mean(axis=1, keepdims=True) for v in (x, y))
    # Rounding can take a correlation beyond 1.
    return np.clip(np.vecdot(x, y) / np.sqrt(np.vecdot(x, x) * np.vecdot(y, y)), -1, 1)


def over_units(
    numbers: np.ndarray | Sequence[Sequence[float]] | Sequence[np.ndarray],
    units: Sequence[int] | np.ndarray,
    method: str,
    seed: int = 0,
    draws: int = 2000,
    level: float = 0.95,
) -> tuple[float, float, float]:
    """Compute the correlation of two rows of numbers, and its interval, if several numbers belong to one unit.

    Parameters
    ----------
    numbers
        (2, n), or (3, n): the latter gives the partial correlation of the first two rows given the third.
    units
        (n,) number of each number's unit, from 0 on. The bootstrap draws units, each with all its numbers.
    method
        "pearson", or "spearman", which correlates ranks and ranks again in each resample.
    seed, draws
        Seed and number of resamples of the bootstrap.
    level
        Share of resamples between the ends (percentiles).

    Returns
    -------
    tuple of float
        Value, low, high, from -1 to 1; 0 means no relation. NaN if all numbers of one row are equal, or the third
        row explains all of another. Both ends are NaN if more than half of the resamples are undefined.
    """
    rows = np.array(numbers, dtype=float)
    rows -= rows.mean(axis=1, keepdims=True)
    units = np.asarray(units)
    count = int(units.max()) + 1
    pairs = [(i, j) for i in range(len(rows)) for j in range(i + 1)]
    places = [places_in_order(row) for row in rows]
    # Compute for each unit the sums of its numbers and of their products.
    sums = [np.ones(len(units)), *rows, *(rows[i] * rows[j] for i, j in pairs)]
    of_units = np.stack([np.bincount(units, terms, count) for terms in sums], axis=1)
    # Variances below `least` are rounding of equal numbers, and count as 0.
    spread = (rows * rows).mean(axis=1) if method == "pearson" else np.full(len(rows), len(units) ** 2.0)
    least = 1e-14 * spread

    def coefficients(times: np.ndarray) -> np.ndarray:
        if method == "pearson":
            total, *moments = (times @ of_units).T
        else:
            # `take` keeps rows contiguous in memory, unlike indexing.
            weights = times.take(units, axis=1)
            total = weights.sum(axis=1)
            ranks = [weighted_ranks(weights, *of_row) for of_row in places]
            weighted_rows = [weights * x for x in ranks]
            moments = [x.sum(axis=1) for x in weighted_rows]
            # Avoid BLAS, which divides long rows among threads and then rounds differently.
            moments += [np.einsum("ij,ij->i", weighted_rows[i], ranks[j]) for i, j in pairs]
        means = [x / total for x in moments[: len(rows)]]
        products = dict(zip(pairs, moments[len(rows) :], strict=True))
        covariances = {(i, j): x / total - means[i] * means[j] for (i, j), x in products.items()}
        squares = [
            np.where(covariances[i, i] > low, covariances[i, i], np.nan) for i, low in enumerate(least)
        ]
        first, *with_third = (
            (covariances[i, j] / np.sqrt(squares[i] * squares[j])).clip(-1, 1) for i, j in pairs if i > j
        )
        if not with_third:
            return first
        x, y = with_third
        remaining_variance = (1 - x * x) * (1 - y * y)
        return (
            (first - x * y) / np.sqrt(np.where(remaining_variance > 1e-12, remaining_variance, np.nan))
        ).clip(-1, 1)

    (value,) = coefficients(np.ones((1, count)))
    if np.isnan(value):
        return math.nan, math.nan, math.nan
    parts = np.array_split(_resamples(count, seed, draws), max(1, draws * len(units) // BLOCK))
    samples = [coefficients(times.astype(float)) for times in parts]
    return float(value), *percentile_interval(np.concatenate(samples), level)


# Tables request each method for the same units.
@lru_cache(maxsize=1)
def _resamples(count: int, seed: int, draws: int) -> np.ndarray:
    """Draw resamples of units and return how often each unit occurs in each resample, (draws, count)."""
    unit_draws = np.random.default_rng(seed).integers(count, size=(draws, count), dtype=np.int32)
    times = np.array([np.bincount(drawn, minlength=count) for drawn in unit_draws], dtype=np.int32)
    times.flags.writeable = False
    return times


def places_in_order(row: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the order of a row of numbers, where in it each distinct value begins, and each number's distinct
    value."""
    order = np.argsort(row, kind="stable")
    is_new = np.concatenate([[True], np.diff(row[order]) > 0])
    value_numbers = np.empty(len(row), dtype=np.int64)
    value_numbers[order] = np.cumsum(is_new) - 1
    return order, np.flatnonzero(is_new), value_numbers


def weighted_ranks(
    weights: np.ndarray, order: np.ndarray, starts: np.ndarray, value_numbers: np.ndarray
) -> np.ndarray:
    """Rank numbers that occur `weights` times in each resample, (resamples, n); equal numbers share their mean
    rank."""
    times = weights.take(order, axis=1)
    # Without equal numbers, each number is its own value.
    if len(starts) < len(order):
        times = np.add.reduceat(times, starts, axis=1)
    return (np.cumsum(times, axis=1) - times / 2).take(value_numbers, axis=1)
