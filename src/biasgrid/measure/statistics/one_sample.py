"""Tests of the mean of several units' values."""

from __future__ import annotations

import math

import numpy as np

# Number of random sign flips; all flips are used if they are at most this number.
DRAWS = 10_000


def z_test(values: np.ndarray, mean: float) -> tuple[float, float]:
    """Test a mean with the z-test of Maddalozzo (2023, section 3.5).

    Parameters
    ----------
    values
        Values of the units, (n,).
    mean
        Mean under the null hypothesis.

    Returns
    -------
    tuple of float
        (mean of the values - `mean`) / (sd / sqrt(n)), with n - 1 degrees of freedom in sd, and its two-sided
        p-value. NaN with fewer than two values, or if all are equal. The test treats sd as known, so that it
        rejects too often with few values. If values cannot be below `mean`, it rejects whatever they are.
    """
    z = _t_statistic(values, mean)
    return z, math.erfc(abs(z) / math.sqrt(2))


def t_test(values: np.ndarray, mean: float) -> float:
    """Return the two-sided p-value of Student's t-test of a mean; NaN in the same cases as `z_test`."""
    # Import scipy late: the import takes half a second, which a study without tests saves.
    from scipy.stats import t

    return float(2 * t.sf(abs(_t_statistic(values, mean)), max(len(values) - 1, 1)))


def _t_statistic(values: np.ndarray, mean: float) -> float:
    values = np.asarray(values, dtype=float)
    if len(values) < 2 or not (sd := values.std(ddof=1)) > 0:
        return math.nan
    return float((values.mean() - mean) / (sd / math.sqrt(len(values))))


def sign_flips(values: np.ndarray, mean: float, seed: int = 0) -> float:
    """Test a mean by sign flips: whether differences from it are equally likely positive and negative.

    Parameters
    ----------
    values
        Values of the units, (n,).
    mean
        Mean under the null hypothesis.
    seed
        Seed of the flips, if there are more than `DRAWS`.

    Returns
    -------
    float
        The two-sided p-value: the share of all 2^n choices of signs whose mean difference is as large; for `DRAWS`
        random choices, (k + 1) / (DRAWS + 1). NaN without values. It is valid if, under the null hypothesis, the
        units are independent of each other and each difference is symmetric around 0.

    References
    ----------
    Fisher. The design of experiments. 1935, section 21.
    """
    differences = np.asarray(values, dtype=float) - mean
    n = len(differences)
    if not n:
        return math.nan
    exact = 2**n <= DRAWS
    if exact:
        signs = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    else:
        signs = 1 - 2 * np.random.default_rng(seed).integers(2, size=(DRAWS, n))
    observed = abs(differences.sum())
    # Differences that are equal up to rounding count as equally large.
    large = np.abs(signs @ differences) >= observed - 1e-12 * np.abs(differences).sum()
    return float(large.mean() if exact else (np.count_nonzero(large) + 1) / (DRAWS + 1))
