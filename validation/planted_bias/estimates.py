"""Statistics of models under weights, and their 95 % intervals over plans (mu, sigma).

Replicates of a plan are a cluster: they share the injected bias, and are left out or drawn together. A mean, a
difference or a distance has a t-interval whose degrees of freedom are the number of plans minus one. Its standard
error is Cameron and Miller's cluster-robust one (2015, sections VI.B to VI.D), which leaves out one plan at a time
(CV3, the jackknife). For plans of equal size, this is the t-interval of the plans' means. Otherwise, value and
interval are for the mean over models. Correlations, and differences of R² over models, have a percentile bootstrap
over plans, from `FEWEST_RESAMPLED` plans on. With fewer plans, it is too often significant by chance.

References
----------
Cameron, A. C. and Miller, D. L. (2015). A practitioner's guide to cluster-robust inference. Journal of Human
Resources 50(2), 317-372.
Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics 24(4), 295-300.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

RESAMPLES, SEED = 2000, 2021
LEVEL = 0.95
FEWEST_PLANS, FEWEST_RESAMPLED = 3, 20
# If a share is 0 or 1 in all plans, its standard error of 0 does not reflect its precision. By chance, six plans are
# on the same side of one half in 2 / 2 ** 6 = .03 of all cases, and five plans in more than .05.
FEWEST_ALIKE = 6


class Estimate(NamedTuple):
    """A statistic of models, its interval over plans (NaN for too few plans), and the numbers of models and plans."""

    value: float
    low: float
    high: float
    models: int
    plans: int


def estimate(
    plans: np.ndarray,
    columns: Sequence[np.ndarray],
    statistic: Callable[..., np.ndarray],
    level: float = LEVEL,
    groups: Sequence[np.ndarray] = (),
) -> Estimate:
    """Compute a statistic of models, and its interval over plans.

    Parameters
    ----------
    plans
        (n,): the plan of each model.
    columns
        Each (n,): the arguments of the statistic. Models with a missing number are left out.
    statistic
        Function of weights (draws, n) and the columns that returns (draws,).
    level
        Level of the interval.
    groups
        For a statistic that compares groups of models, each (n,): 1 for a model in the group. Each group must have
        enough plans. The smallest group determines the degrees of freedom, so that the interval is conservative.
    """
    table = np.stack(columns)
    whole = np.isfinite(table).all(axis=0)
    table, (unique, place) = table[:, whole], np.unique(plans[whole], return_inverse=True)
    if not len(unique):
        return Estimate(np.nan, np.nan, np.nan, 0, 0)
    fewest = min([len(unique), *(len(np.unique(place[group[whole] > 0])) for group in groups)])
    interval = _bootstrap if statistic in CORRELATIONS else _jackknife
    with np.errstate(divide="ignore", invalid="ignore"):
        (value,) = statistic(np.ones((1, table.shape[1])), *table)
        low = high = np.nan
        if np.isfinite(value):
            low, high = interval(value, place, table, statistic, level, fewest)
    return Estimate(float(value), float(low), float(high), int(whole.sum()), len(unique))


def against_each(
    plans: np.ndarray,
    columns: Sequence[np.ndarray],
    rivals: Sequence[np.ndarray],
    statistic: Callable[..., np.ndarray],
    below: bool = False,
) -> Estimate:
    """Estimate by how much a metric exceeds all of its rivals (Berger 1982, intersection-union test).

    The statistic is computed from `columns` and each of `rivals`. The value is the smallest of the statistics, and
    low is the smallest of their lower ends: it is above 0 only if all of them are. A single rival that is clearly
    better refutes the claim, so high is the smallest of the upper ends. Its level is 1 - .05 / k for k rivals
    (Bonferroni), because any of k may be the smallest by chance. With `below`, the value is the largest statistic,
    and low and high change places.
    """
    # Use the same models for all pairs: the models that have all numbers.
    whole = np.isfinite(np.stack([*columns, *rivals])).all(axis=0)
    plans = plans[whole]
    strict = 1 - (1 - LEVEL) / len(rivals)
    pairs = [[*(column[whole] for column in columns), rival[whole]] for rival in rivals]
    estimates = [estimate(plans, pair, statistic) for pair in pairs]
    strict_estimates = [estimate(plans, pair, statistic, strict) for pair in pairs]
    value, low, high = (
        (np.max([pair.value for pair in estimates]), np.max([pair.low for pair in strict_estimates]),
         np.max([pair.high for pair in estimates]))
        if below
        else (np.min([pair.value for pair in estimates]), np.min([pair.low for pair in estimates]),
              np.min([pair.high for pair in strict_estimates]))
    )  # fmt: skip
    return Estimate(float(value), float(low), float(high), estimates[0].models, estimates[0].plans)


def _jackknife(
    value: float,
    place: np.ndarray,
    table: np.ndarray,
    statistic: Callable[..., np.ndarray],
    level: float,
    fewest: int,
) -> tuple[float, float]:
    """Compute the ends of a t-interval, whose standard error leaves out one plan at a time."""
    from scipy.stats import t

    if fewest < FEWEST_PLANS:
        return np.nan, np.nan
    plans = place.max() + 1
    jackknife_values = statistic((np.arange(plans)[:, None] != place).astype(float), *table)
    if statistic is share and value in (0, 1) and plans < FEWEST_ALIKE:
        return np.nan, np.nan
    error = np.sqrt((plans - 1) / plans * ((jackknife_values - value) ** 2).sum())
    half = t.ppf((1 + level) / 2, fewest - 1) * error
    # Clip the interval of a share to 0 and 1.
    ends = (0.0, 1.0) if statistic is share else (-np.inf, np.inf)
    return max(value - half, ends[0]), min(value + half, ends[1])


def _bootstrap(
    value: float,
    place: np.ndarray,
    table: np.ndarray,
    statistic: Callable[..., np.ndarray],
    level: float,
    fewest: int,
) -> tuple[float, float]:
    """Compute the ends of a percentile bootstrap over plans."""
    if fewest < FEWEST_RESAMPLED:
        return np.nan, np.nan
    plans = place.max() + 1
    draws = np.random.default_rng(SEED).multinomial(plans, np.full(plans, 1 / plans), RESAMPLES)
    values = statistic(draws[:, place].astype(float), *table)
    # Drop resamples without a value, in which all models have the same number.
    values = values[np.isfinite(values)]
    ends = 50 * (1 - level), 50 * (1 + level)
    low, high = np.percentile(values, ends) if len(values) else (np.nan, np.nan)
    return low, high


def mean(weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Compute weighted means, one per row of the weights."""
    return (weights * x).sum(axis=1) / weights.sum(axis=1)


def share(weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Compute weighted shares of models for which x is 1, and not 0."""
    return mean(weights, x)


def pearson(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute weighted correlations, one per row of the weights; NaN if one side is constant."""
    x, y = (part - mean(weights, part)[:, None] for part in (x, y))
    spread = mean(weights, x**2) * mean(weights, y**2)
    return np.where(spread > 1e-24, mean(weights, x * y) / np.sqrt(spread), np.nan)


def spearman(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute weighted rank correlations, as for samples that contain model i weights[i] times."""
    return pearson(weights, _ranks(weights, x), _ranks(weights, y))


def _ranks(weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    unique, place = np.unique(x, return_inverse=True)
    ties = weights @ np.eye(len(unique))[place]
    return (np.cumsum(ties, axis=1) - ties / 2)[:, place]


def r_squared(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute weighted R²."""
    return pearson(weights, x, y) ** 2


def difference(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute the weighted mean of x - y."""
    return mean(weights, x - y)


def distance(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute the weighted mean of |x - y|."""
    return mean(weights, np.abs(x - y))


def gap(weights: np.ndarray, x: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Compute the weighted mean of x in a group minus the mean in another; 1 marks the models of a group."""
    return mean(weights * first, x) - mean(weights * second, x)


def r_squared_difference(weights: np.ndarray, truth: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute R² of x with the truth minus R² of y with the truth."""
    return r_squared(weights, truth, x) - r_squared(weights, truth, y)


# These statistics are not means over models.
CORRELATIONS = (pearson, spearman, r_squared, r_squared_difference)
