"""Mean squares of two-way tables with one number per cell, from which coefficients of reliability are computed.

A table has a row per subject (which is scored) and a column per item or rater (which scores it), with one number
per cell and no missing numbers. Leading axes are separate tables.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class MeanSquares(NamedTuple):
    """Mean squares of a two-way table with one number per cell."""

    rows: np.ndarray
    columns: np.ndarray
    residual: np.ndarray


class Estimate(NamedTuple):
    """Coefficient and the ends of its interval; NaN if undefined."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def mean_squares(table: np.ndarray) -> MeanSquares:
    """Compute the mean squares of rows, columns and residual.

    Parameters
    ----------
    table
        (..., n, k), with n and k of at least 2.

    Returns
    -------
    MeanSquares
        Each (...).
    """
    n, k = table.shape[-2:]
    centred = table - table.mean(axis=(-2, -1), keepdims=True)
    rows, columns = centred.mean(axis=-1), centred.mean(axis=-2)
    residual = centred - rows[..., None] - columns[..., None, :]
    return MeanSquares(
        k * (rows**2).sum(axis=-1) / (n - 1),
        n * (columns**2).sum(axis=-1) / (k - 1),
        (residual**2).sum(axis=(-2, -1)) / ((n - 1) * (k - 1)),
    )


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide, with NaN if the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(denominator) == 0, math.nan, np.asarray(numerator) / denominator)[()]


def f_quantiles(first: float, second: float, level: float) -> tuple[float, float]:
    """Return the lower and upper quantile of F that enclose a share of `level`."""
    # Import late, and only the special functions: scipy.stats takes a second.
    from scipy.special import fdtri

    tail = (1 - level) / 2
    return float(fdtri(first, second, tail)), float(fdtri(first, second, 1 - tail))
