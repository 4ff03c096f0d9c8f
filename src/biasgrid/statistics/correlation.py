"""Correlations of many bootstrap resamples at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

METHODS = ("pearson", "spearman")  # of `with_interval`


def of_columns(a: np.ndarray, b: np.ndarray, method: str) -> np.ndarray:
    """Correlation over the first axis of what both have, column by column.

    Parameters
    ----------
    a, b
        (units, resamples), NaN where a unit has no value.
    method
        "spearman", "kendall" (tau-b) or "pearson", as pandas.DataFrame.corr.

    Returns
    -------
    numpy.ndarray
        (resamples,), from -1 to 1; 0 is no relation. NaN where one has fewer than two values, or all alike.
    """
    lacking = np.isnan(a) | np.isnan(b)
    number = np.count_nonzero(~lacking, axis=0)
    first, second = np.triu_indices(len(a), 1)

    def scored(x: np.ndarray) -> np.ndarray:
        if method == "kendall":
            x = np.where(lacking, math.nan, x)
            return np.nan_to_num(np.sign(x[first] - x[second]))
        if method == "spearman":
            # imported late: it takes half a second, which a study without a bootstrap need not wait
            from scipy.stats import rankdata

            x = rankdata(np.where(lacking, math.inf, x), axis=0)
        return np.where(lacking, 0.0, x - np.where(lacking, 0.0, x).sum(axis=0) / number)

    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = scored(a), scored(b)
        return ((a * b).sum(axis=0) / np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))).clip(-1, 1)


def percentile_interval(resampled: np.ndarray, level: float) -> tuple[float, float]:
    """The ends of the central share `level` of resampled values (resamples,); those that are NaN are left out, and
    where these are more than half, both ends are NaN."""
    known = resampled[~np.isnan(resampled)]
    if 2 * len(known) < len(resampled):
        return math.nan, math.nan
    tail = (1 - level) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(low), float(high)


def with_interval(
    x: Sequence[float], y: Sequence[float], method: str, seed: int = 0, draws: int = 2000, level: float = 0.95
) -> tuple[float, float, float]:
    """The correlation of two rows of numbers, and the ends of its interval.

    Parameters
    ----------
    x, y
        (n,) each.
    method
        "pearson" or "spearman".
    seed, draws
        Of the bootstrap over the n.
    level
        The share of resamples between the ends (percentiles).

    Returns
    -------
    tuple of float
        Value, low, high, from -1 to 1; 0 is no relation. NaN where n is below 3, or one row's numbers are all alike.
    """
    pair = np.array([x, y], dtype=float)
    n = pair.shape[1]
    if n < 3 or not np.ptp(pair, axis=1).all():
        return math.nan, math.nan, math.nan
    drawn = np.random.default_rng(seed).integers(n, size=(draws, n))
    with np.errstate(invalid="ignore"):  # a resample of one word alone
        resampled = _of_rows(*pair[:, drawn], method)
    (value,) = _of_rows(*pair[:, None], method)
    return float(value), *np.nanquantile(resampled, [(1 - level) / 2, (1 + level) / 2]).tolist()


def _of_rows(x: np.ndarray, y: np.ndarray, method: str) -> np.ndarray:
    """Correlations row by row of two arrays (resamples, n)."""
    if method == "spearman":
        from scipy.stats import rankdata

        x, y = rankdata(x, axis=1), rankdata(y, axis=1)
    x, y = (v - v.mean(axis=1, keepdims=True) for v in (x, y))
    # rounding can take a correlation beyond 1
    return np.clip(np.vecdot(x, y) / np.sqrt(np.vecdot(x, x) * np.vecdot(y, y)), -1, 1)
