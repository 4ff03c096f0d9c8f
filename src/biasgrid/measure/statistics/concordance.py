"""Agreement of judges on an order of units: Kendall's W, its p-value, and intervals over words."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

from .correlation import percentile_interval, places_in_order, weighted_ranks

# Number of random permutations of a test; all permutations are used if they are at most this number.
DRAWS = 9999
ROUNDING = 1e-9
# On Fisher's scale a correlation of 1 is infinite: clip to this value.
MOST = 1 - 1e-4


def kendalls_w(values: np.ndarray) -> np.ndarray:
    """Compute Kendall's coefficient of concordance, corrected for ties.

    Parameters
    ----------
    values
        (judges, units, samples): in each sample, each judge orders the units by these values.

    Returns
    -------
    numpy.ndarray
        (samples,), from 0 (no agreement) to 1 (one order). NaN if a value is missing, for fewer than two judges,
        and if a judge rates all units equal.

    References
    ----------
    Kendall, Babington Smith. The problem of m rankings. Annals of Mathematical Statistics 10, 1939.
    """
    # Import scipy late: the import takes half a second, which planning a study saves.
    from scipy.stats import rankdata

    judges, units, samples = values.shape
    missing = np.isnan(values).any(axis=(0, 1))
    if judges < 2 or units < 2:
        return np.full(samples, math.nan)
    ranks = rankdata(np.where(missing, 0.0, values), axis=1) - (units + 1) / 2
    # Compute the sum of squares if all judges had one order, given the ties in their ranks.
    squares = (ranks**2).sum(axis=1)
    most = judges * squares.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        w = (ranks.sum(axis=0) ** 2).sum(axis=0) / most
    return np.where(missing | (squares == 0).any(axis=0), math.nan, w.clip(0, 1))


def kendalls_w_over_units(
    values: np.ndarray, clusters: np.ndarray, seed: int, draws: int, level: float
) -> tuple[float, float]:
    """Compute a bootstrap interval of Kendall's W by resampling clusters of units, each with all of its units.

    Parameters
    ----------
    values
        (judges, units), without NaN.
    clusters
        (units,) number of each unit's cluster, from 0 on.
    seed, draws
        Seed and number of resamples of the bootstrap.
    level
        Share of resamples between the ends (percentiles).
    """
    count = int(clusters.max()) + 1
    cluster_draws = np.random.default_rng(seed).integers(count, size=(draws, count))
    times = np.stack([np.count_nonzero(cluster_draws == i, axis=1) for i in range(count)], axis=1)
    weights = times[:, clusters].astype(float)
    middle = weights.sum(axis=1, keepdims=True) / 2
    ranks = np.array([weighted_ranks(weights, *places_in_order(row)) - middle for row in values])
    # Compute W as in `kendalls_w`, counting each unit as often as it was drawn.
    squares = (weights * ranks**2).sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        w = (weights * ranks.sum(axis=0) ** 2).sum(axis=1) / (len(values) * squares.sum(axis=0))
    return percentile_interval(np.where((squares == 0).any(axis=0), math.nan, w.clip(0, 1)), level)


def chance_of_w(values: np.ndarray, seed: int, draws: int = DRAWS) -> float:
    """Return the p-value of agreement: the share of random orders with at least as much agreement, 0 to 1.

    Parameters
    ----------
    values
        (judges, units).
    seed, draws
        Seed and number of the random orders, one per judge.
    """
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=1)
    observed = ((ranks.sum(axis=0) - ranks.sum() / ranks.shape[1]) ** 2).sum()
    rng = np.random.default_rng(seed)
    # One judge may keep the order.
    sums = np.tile(ranks[0], (draws, 1))
    for of_judge in ranks[1:]:
        sums += rng.permuted(np.tile(of_judge, (draws, 1)), axis=1)
    spread = ((sums - sums.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return float((1 + np.count_nonzero(spread >= observed * (1 - ROUNDING))) / (1 + draws))


def chance_of_correlation(x: np.ndarray, y: np.ndarray, method: str, seed: int, draws: int = DRAWS) -> float:
    """Return the p-value of a correlation: the share of random orders of y whose correlation is as far from 0.

    Parameters
    ----------
    x, y
        (n,) each.
    method
        "pearson" or "spearman".
    seed, draws
        Seed and number of permutations; all permutations are used if they are at most `draws`.

    Returns
    -------
    float
        From 0 to 1; NaN if n is below 3, or if all numbers of one row are equal.
    """
    from scipy.stats import rankdata

    if method == "spearman":
        x, y = rankdata(x), rankdata(y)
    x, y = x - np.mean(x), y - np.mean(y)
    scale = math.sqrt((x @ x) * (y @ y))
    n = len(x)
    if n < 3 or not scale > 0:
        return math.nan
    least = abs(x @ y) / scale - ROUNDING
    if math.factorial(n) <= draws:
        orders = np.array(list(permutations(range(n))))
        return float(np.mean(np.abs(y[orders] @ x) / scale >= least))
    rng = np.random.default_rng(seed)
    shuffles = rng.permuted(np.tile(y, (draws, 1)), axis=1)
    return float((1 + np.count_nonzero(np.abs(shuffles @ x) / scale >= least)) / (1 + draws))


def corrected_interval(samples: np.ndarray, observed: float, level: float) -> tuple[float, float]:
    """Compute the central `level` interval of correlations of resamples, `samples` (resamples,), corrected for
    bias.

    A resample adds noise to values that already have some, so that its correlations are nearer to 0 than the
    correlation of the values. The ends are shifted by the mean difference on Fisher's scale (artanh) (Efron &
    Tibshirani 1993, section 10.6). NaN resamples are left out; if more than half are NaN, both ends are NaN.
    """
    z_values = np.arctanh(np.clip(samples, -MOST, MOST))
    if 2 * np.count_nonzero(~np.isnan(z_values)) < len(z_values):
        return math.nan, math.nan
    bias = np.nanmean(z_values) - np.arctanh(np.clip(observed, -MOST, MOST))
    low, high = np.tanh(np.array(percentile_interval(z_values, level)) - bias)
    return float(low), float(high)
