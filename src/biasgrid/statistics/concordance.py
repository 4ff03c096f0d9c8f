"""Whether judges order units alike: Kendall's W, how often chance orders them as much alike, intervals over words."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

from .correlation import percentile_interval, places_in_order, weighted_ranks

DRAWS = 9999  # permutations of a test; all of them where there are no more
ROUNDING = 1e-9
MOST = 1 - 1e-4  # on Fisher's scale a correlation of 1 is infinite


def kendalls_w(values: np.ndarray) -> np.ndarray:
    """Kendall's coefficient of concordance, corrected for ties.

    Parameters
    ----------
    values
        (judges, units, samples); each judge orders the units of each sample by them.

    Returns
    -------
    numpy.ndarray
        (samples,), from 0 (no agreement) to 1 (one order); NaN where a value is missing, for fewer than two judges,
        and where a judge holds all units equal.

    References
    ----------
    Kendall, Babington Smith. The problem of m rankings. Annals of Mathematical Statistics 10, 1939.
    """
    # imported late: it takes half a second, which planning a study need not wait
    from scipy.stats import rankdata

    judges, units, samples = values.shape
    missing = np.isnan(values).any(axis=(0, 1))
    if judges < 2 or units < 2:
        return np.full(samples, math.nan)
    ranks = rankdata(np.where(missing, 0.0, values), axis=1) - (units + 1) / 2
    # the sum of squares that one order of all judges would have, of ranks with ties as they are
    squares = (ranks**2).sum(axis=1)
    most = judges * squares.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        w = (ranks.sum(axis=0) ** 2).sum(axis=0) / most
    return np.where(missing | (squares == 0).any(axis=0), math.nan, w.clip(0, 1))


def kendalls_w_over_units(
    values: np.ndarray, clusters: np.ndarray, seed: int, draws: int, level: float
) -> tuple[float, float]:
    """The interval of Kendall's W where clusters of units are drawn again, each with all of its units.

    Parameters
    ----------
    values
        (judges, units), without NaN.
    clusters
        (units,) which of the clusters each unit is of, from 0 on.
    seed, draws, level
        Of the bootstrap, and the share of resamples between the ends (percentiles).
    """
    count = int(clusters.max()) + 1
    cluster_draws = np.random.default_rng(seed).integers(count, size=(draws, count))
    times = np.stack([np.count_nonzero(cluster_draws == i, axis=1) for i in range(count)], axis=1)
    weights = times[:, clusters].astype(float)
    middle = weights.sum(axis=1, keepdims=True) / 2
    ranks = np.array([weighted_ranks(weights, *places_in_order(row)) - middle for row in values])
    # as in `kendalls_w`, each unit as often as it was drawn
    squares = (weights * ranks**2).sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        w = (weights * ranks.sum(axis=0) ** 2).sum(axis=1) / (len(values) * squares.sum(axis=0))
    return percentile_interval(np.where((squares == 0).any(axis=0), math.nan, w.clip(0, 1)), level)


def chance_of_w(values: np.ndarray, seed: int, draws: int = DRAWS) -> float:
    """How often judges who order the units at random agree at least as much: a p-value from 0 to 1.

    Parameters
    ----------
    values
        (judges, units).
    seed, draws
        Of the random orders, one per judge.
    """
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=1)
    observed = ((ranks.sum(axis=0) - ranks.sum() / ranks.shape[1]) ** 2).sum()
    rng = np.random.default_rng(seed)
    # one judge may keep the order
    sums = np.tile(ranks[0], (draws, 1))
    for of_judge in ranks[1:]:
        sums += rng.permuted(np.tile(of_judge, (draws, 1)), axis=1)
    spread = ((sums - sums.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return float((1 + np.count_nonzero(spread >= observed * (1 - ROUNDING))) / (1 + draws))


def chance_of_correlation(x: np.ndarray, y: np.ndarray, method: str, seed: int, draws: int = DRAWS) -> float:
    """How often a random order of y has a correlation with x that is at least as far from 0: a p-value.

    Parameters
    ----------
    x, y
        (n,) each.
    method
        "pearson" or "spearman".
    seed, draws
        Of the permutations; all of them are taken where there are no more.

    Returns
    -------
    float
        From 0 to 1; NaN where n is below 3, or one row's numbers are all alike.
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
    """The ends of the central share `level` of correlations of resamples, `samples` (resamples,), less their bias.

    A resample adds noise to values that have some already, so that its correlations lie nearer to 0 than the one of
    the values. By so much, their mean difference on Fisher's scale (artanh), the ends are moved (Efron & Tibshirani
    1993, section 10.6). Resamples that are NaN are left out, and where these are more than half, both ends are NaN.
    """
    z_values = np.arctanh(np.clip(samples, -MOST, MOST))
    if 2 * np.count_nonzero(~np.isnan(z_values)) < len(z_values):
        return math.nan, math.nan
    bias = np.nanmean(z_values) - np.arctanh(np.clip(observed, -MOST, MOST))
    low, high = np.tanh(np.array(percentile_interval(z_values, level)) - bias)
    return float(low), float(high)
