"""Tests of whether values of several units have a given mean."""

from __future__ import annotations

import math

import numpy as np

DRAWS = 10_000  # sign flips: all of them, where there are no more than these


def z_test(values: np.ndarray, mean: float) -> tuple[float, float]:
    """The z-test of a mean, as Maddalozzo (2023, section 3.5) has it.

    Parameters
    ----------
    values
        Of the units, (n,).
    mean
        Under the null hypothesis.

    Returns
    -------
    tuple of float
        (mean of the values - `mean`) / (sd / sqrt(n)), with n - 1 degrees of freedom in sd, and its two-sided
        p-value. NaN with fewer than two values, or all alike. It takes sd for known, so with few values it rejects
        too often; and where values cannot be below `mean`, it rejects whatever they are.
    """
    z = _t_statistic(values, mean)
    return z, math.erfc(abs(z) / math.sqrt(2))


def t_test(values: np.ndarray, mean: float) -> float:
    """The two-sided p-value of Student's t-test of a mean; NaN as of `z_test`."""
    # imported late: it takes half a second, which a study without tests need not wait
    from scipy.stats import t

    return float(2 * t.sf(abs(_t_statistic(values, mean)), max(len(values) - 1, 1)))


def _t_statistic(values: np.ndarray, mean: float) -> float:
    values = np.asarray(values, dtype=float)
    if len(values) < 2 or not (sd := values.std(ddof=1)) > 0:
        return math.nan
    return float((values.mean() - mean) / (sd / math.sqrt(len(values))))


def sign_flips(values: np.ndarray, mean: float, seed: int = 0) -> float:
    """Permutation test of a mean: are the values' differences from it as likely positive as negative?

    Parameters
    ----------
    values
        Of the units, (n,).
    mean
        Under the null hypothesis.
    seed
        Of the flips, where there are more than `DRAWS`.

    Returns
    -------
    float
        The two-sided p-value: the share of all 2^n choices of signs whose mean difference is as large; of `DRAWS`
        random ones, (k + 1) / (DRAWS + 1). NaN without values. Valid where, under the null hypothesis, the units are
        independent of each other and each difference is symmetric around 0.

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
    # what is equal but for rounding is as large
    large = np.abs(signs @ differences) >= observed - 1e-12 * np.abs(differences).sum()
    return float(large.mean() if exact else (np.count_nonzero(large) + 1) / (DRAWS + 1))
