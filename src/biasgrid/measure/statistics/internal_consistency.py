"""Internal consistency: the extent to which other items would order the subjects alike.

A table has a row per subject (which is scored) and a column per item or rater (which scores it), with one number
per cell and no missing numbers. Leading axes are separate tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from .mean_squares import Estimate, f_quantiles, mean_squares, ratio

UNCORRELATED = "none: the scores by halves of the items do not correlate"


def alpha(table: np.ndarray, level: float = 0.95) -> Estimate:
    """Compute coefficient alpha of the items' sum, with Feldt's interval.

    1 - MS_residual / MS_rows, which is k / (k - 1) (1 - sum of the items' variances / variance of their sum). It
    measures how similarly another list of k such items would order the subjects; it may be negative. It does not
    show that the items measure one thing: two clusters of items that have nothing in common can have .8 (Sijtsma
    2009).

    Parameters
    ----------
    table
        (..., n, k).
    level
        Confidence level of the interval: 1 - (1 - alpha) F, with quantiles of F with n - 1 and (n - 1)(k - 1)
        degrees of freedom.

    Returns
    -------
    Estimate
        At most 1; NaN if the subjects do not differ.

    References
    ----------
    Cronbach. Coefficient alpha and the internal structure of tests. Psychometrika 16, 1951. Feldt, Woodruff, Salih.
    Statistical inference for coefficient alpha. Applied Psychological Measurement 11, 1987, equations 6 and 7.
    """
    ms = mean_squares(table)
    n, k = table.shape[-2:]
    value = 1 - ratio(ms.residual, ms.rows)
    return feldt(value, n - 1, (n - 1) * (k - 1), level)


def spearman_brown(reliability: np.ndarray | float, times: float = 2) -> np.ndarray:
    """Predict the reliability of a list that is `times` as long: m r / (1 + (m - 1) r).

    References
    ----------
    Spearman. Correlation calculated from faulty data. British Journal of Psychology 3, 1910; Brown, same volume.
    """
    r = np.asarray(reliability, dtype=float)
    return ratio(times * r, 1 + (times - 1) * r)


def times_for(reliability: np.ndarray | float, goal: float = 0.8) -> np.ndarray:
    """Compute how many times as long a list must be for the reliability `goal`, by Spearman and Brown.

    NaN if the reliability is not positive, as no length is then enough.
    """
    r = np.asarray(reliability, dtype=float)
    return np.where(r > 0, ratio(goal * (1 - r), r * (1 - goal)), math.nan)


# The positions of both halves, for each list of items.
Split = tuple[tuple[np.ndarray, np.ndarray], ...]


def count_splits(sizes: Sequence[int]) -> int:
    """Count the splits of lists of items into halves; of an odd number of items, one is left out."""
    return math.prod(math.comb(k, k // 2) * math.comb(k - k // 2, k // 2) for k in sizes) // 2


def all_splits(sizes: Sequence[int]) -> list[Split]:
    """Return all splits of lists of items into halves, once each: it does not matter which half is the first."""
    of_lists = [
        [
            (first, second)
            for first in combinations(range(k), k // 2)
            for second in combinations(sorted({*range(k)} - {*first}), k // 2)
        ]
        for k in sizes
    ]
    splits = (split for split in product(*of_lists) if split[0][0] < split[0][1])
    return [tuple((np.array(first), np.array(second)) for first, second in split) for split in splits]


def random_split(sizes: Sequence[int], rngs: Sequence[np.random.Generator]) -> Split:
    """Draw a split of lists of items into halves, each list's with its own generator."""
    orders = [rng.permutation(k) for k, rng in zip(sizes, rngs, strict=True)]
    return tuple((np.sort(x[: len(x) // 2]), np.sort(x[len(x) // 2 :][: len(x) // 2])) for x in orders)


class SplitHalf(NamedTuple):
    """Split-half reliability, the ends of its interval, its Monte Carlo error, and the mean correlation of halves."""

    value: float
    low: float
    high: float
    mc_error: float
    correlation: float


def split_half(
    first: np.ndarray, second: np.ndarray, items: int, are_all: bool, level: float = 0.95
) -> SplitHalf:
    """Estimate the reliability of a score from scores by halves of the items.

    It is the mean correlation of the halves over the splits, stepped up by Spearman and Brown. The interval is
    Feldt's for this number of items. It covers like alpha's interval for a sum over items, and is an approximation
    for other scores.

    Parameters
    ----------
    first, second
        (splits, n): the subjects' scores by one half of the items, and by the other.
    items
        Number of items of both halves.
    are_all
        Whether these are all splits. Otherwise they are random ones, and the Monte Carlo error is the standard
        error of the value that is due to the draws.
    level
        Confidence level of the interval.

    Returns
    -------
    SplitHalf
        The value and its interval are NaN if the mean correlation is 0 or less, as it cannot then be stepped up.
        All are NaN if one half's scores do not vary.
    """
    n = first.shape[-1]
    by_split = correlations(first, second)
    mean = float(by_split.mean())
    if not mean > 0:
        return SplitHalf(math.nan, math.nan, math.nan, math.nan, mean)
    error = 0.0 if are_all else by_split.std(ddof=1) / math.sqrt(len(by_split)) * 2 / (1 + mean) ** 2
    value, low, high = map(float, feldt(spearman_brown(mean), n - 1, (n - 1) * (items - 1), level))
    return SplitHalf(value, low, high, float(error), mean)


def correlations(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Compute Pearson's correlation along the last axis; NaN if one array does not vary."""
    a, b = (x - x.mean(axis=-1, keepdims=True) for x in (first, second))
    return ratio((a * b).sum(axis=-1), np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1)))


def feldt(value: np.ndarray, first: float, second: float, level: float) -> Estimate:
    """Add Feldt's interval to a coefficient, from the degrees of freedom of the subjects and of the residual."""
    high, low = f_quantiles(first, second, level)
    return Estimate(value, 1 - (1 - value) * low, 1 - (1 - value) * high)
