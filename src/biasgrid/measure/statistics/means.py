"""Intervals of a mean, of the ratio of two means, and of a share, for a few values."""

from __future__ import annotations

import math

import numpy as np

LEVEL = 0.95


def mean_interval(values: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """Compute Student's interval of a mean: m -+ t s / sqrt(n), with n - 1 degrees of freedom.

    Parameters
    ----------
    values
        (n,), normal and independent.
    level
        Confidence level.

    Returns
    -------
    tuple of float
        Lower and upper end; NaN with fewer than two values.
    """
    n = len(values)
    if n < 2:
        return math.nan, math.nan
    reach = _t(level, n - 1) * float(np.std(values, ddof=1)) / math.sqrt(n)
    mean = float(np.mean(values))
    return mean - reach, mean + reach


def ratio_interval(
    numerator: np.ndarray, denominator: np.ndarray, *, exact: bool = False, level: float = LEVEL
) -> tuple[float, float]:
    """Compute Fieller's interval of the ratio of two independent means with unequal variances.

    Parameters
    ----------
    numerator, denominator
        (n,) and (m,), normal.
    exact
        Whether the denominator has one value, which is known: its variance is 0.

    Returns
    -------
    tuple of float
        The ratios r for which a t-test does not find mean(numerator) - r mean(denominator) to differ from 0, with
        Satterthwaite's degrees of freedom at the estimated ratio. NaN if one mean has fewer than two values, or if
        the denominator's mean does not differ from 0, as any large ratio is then possible.

    References
    ----------
    Fieller. Some problems in interval estimation. JRSS B 16, 1954. Hasler, Vonk, Hothorn. Assessing non-inferiority
    of a new treatment in a three-arm trial in the presence of heteroscedasticity. Statistics in Medicine 27, 2008.
    """
    n, m = len(numerator), len(denominator)
    if n < 2 or m < (1 if exact else 2):
        return math.nan, math.nan
    numerator_mean, denominator_mean = float(np.mean(numerator)), float(np.mean(denominator))
    numerator_variance = float(np.var(numerator, ddof=1)) / n
    denominator_variance = 0.0 if exact else float(np.var(denominator, ddof=1)) / m
    if denominator_mean == 0:
        return math.nan, math.nan
    share = (numerator_mean / denominator_mean) ** 2 * denominator_variance
    if numerator_variance + share == 0:
        return numerator_mean / denominator_mean, numerator_mean / denominator_mean
    freedom = (numerator_variance + share) ** 2 / (
        numerator_variance**2 / (n - 1) + (share**2 / (m - 1) if share else 0.0)
    )
    t = _t(level, freedom) ** 2
    leading_coefficient = denominator_mean**2 - t * denominator_variance
    if leading_coefficient <= 0:
        return math.nan, math.nan
    middle = numerator_mean * denominator_mean
    root = math.sqrt(max(middle**2 - leading_coefficient * (numerator_mean**2 - t * numerator_variance), 0.0))
    return (middle - root) / leading_coefficient, (middle + root) / leading_coefficient


def share_interval(hits: np.ndarray, n: int, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
    """Compute Wilson's interval (1927) of shares: `hits` (shares,) of n."""
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    middle = (hits + z * z / 2) / (n + z * z)
    reach = z / (n + z * z) * np.sqrt(hits * (n - hits) / n + z * z / 4)
    return middle - reach, middle + reach


def _t(level: float, freedom: float) -> float:
    # Import scipy late: the import takes a third of a second.
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, freedom))
