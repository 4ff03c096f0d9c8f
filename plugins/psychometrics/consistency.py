"""Internal consistency of tables of words by items: stratified alpha, and omega.

A table has a row per subject (word) and a column per item, one number per cell and none missing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from biasgrid.measure.statistics.internal_consistency import feldt
from biasgrid.measure.statistics.mean_squares import Estimate, mean_squares, ratio


def stratified_alpha(strata: Sequence[np.ndarray], signs: Sequence[float], level: float = 0.95) -> Estimate:
    """Estimate the reliability of a signed sum of means over lists of items that are not paired.

    1 - (sum over the lists of MS_residual / k) / variance of the sum. The interval is Feldt's with the sum of the
    lists' degrees of freedom, which is an approximation.

    Parameters
    ----------
    strata
        One table (n, k) per list of items, k at least 2, with the same subjects.
    signs
        Factor of each list's mean: 1 and -1 for a difference.

    Returns
    -------
    Estimate
        At most 1; NaN if the subjects do not differ.

    References
    ----------
    Cronbach, Schönemann, McKie. Alpha coefficients for stratified-parallel tests. Educational and Psychological
    Measurement 25, 1965.
    """
    total = sum(sign * table.mean(axis=-1) for sign, table in zip(signs, strata, strict=True))
    error = sum(
        sign**2 * mean_squares(table).residual / table.shape[-1]
        for sign, table in zip(signs, strata, strict=True)
    )
    value = 1 - ratio(np.asarray(error), np.asarray(total).var(axis=-1, ddof=1))
    n, items = strata[0].shape[-2], sum(table.shape[-1] - 1 for table in strata)
    return feldt(value, n - 1, (n - 1) * items, level)


def omega(covariance: np.ndarray) -> float:
    """Compute omega total of one factor, by maximum likelihood.

    (sum of loadings)^2 / ((sum of loadings)^2 + sum of unique variances). Unlike alpha, omega does not assume that
    all items have the same loading. With three items, the loadings are exact: loading_1^2 = s_12 s_13 / s_23.

    Parameters
    ----------
    covariance
        (k, k) for at least three items, with more subjects than items.

    Returns
    -------
    float
        0 to 1. NaN for fewer items, and if a unique variance would be negative or 0 (a Heywood case). In that case,
        one factor does not describe the items.

    References
    ----------
    McDonald. Test theory: a unified treatment. 1999.
    """
    k = len(covariance)
    variances = np.diagonal(covariance)
    if k < 3 or not (variances > 0).all():
        return math.nan
    if k == 3:
        (_, a, b), (_, _, c), _ = covariance
        if not a * b * c > 0:
            return math.nan
        loadings = np.sqrt([a * b / c, a * c / b, b * c / a]) * [1, np.sign(a), np.sign(b)]
    else:
        loadings = _one_factor(covariance)
    unique = variances - loadings**2
    if not (unique > 1e-6 * variances).all():
        return math.nan
    common = loadings.sum() ** 2
    return float(common / (common + unique.sum()))


def _one_factor(covariance: np.ndarray) -> np.ndarray:
    """Fit the loadings of one factor to correlations by maximum likelihood (Jöreskog 1967), and scale them back."""
    from scipy.optimize import minimize

    scale = np.sqrt(np.diagonal(covariance))
    correlation = covariance / np.outer(scale, scale)

    def misfit(logs: np.ndarray) -> tuple[float, np.ndarray]:
        # Given the unique variances, compute the loadings that fit best.
        roots = np.exp(logs / 2)
        values, vectors = np.linalg.eigh(correlation / np.outer(roots, roots))
        others = values[:-1]
        loadings = roots * vectors[:, -1] * np.sqrt(max(values[-1] - 1, 0.0))
        implied = np.outer(loadings, loadings) + np.diag(np.exp(logs))
        slope = (np.diagonal(implied) - np.diagonal(correlation)) / np.exp(logs)
        return float((others - np.log(others) - 1).sum()), slope

    if np.linalg.eigvalsh(correlation)[0] < 1e-10:
        return np.full(len(scale), math.nan)
    start = np.log(1 / np.diagonal(np.linalg.inv(correlation)))
    fit = minimize(misfit, start, jac=True, method="L-BFGS-B", bounds=[(math.log(1e-7), 0.0)] * len(scale))
    unique = np.exp(fit.x)
    values, vectors = np.linalg.eigh(correlation / np.sqrt(np.outer(unique, unique)))
    return np.asarray(scale * np.sqrt(unique) * vectors[:, -1] * np.sqrt(max(values[-1] - 1, 0.0)))
