"""Generalisability theory: variance components of a crossed grid, and reliability of means over columns.

A table has a row per scored subject and a column per item or rater, with one number per cell and none missing.
Leading axes hold several tables.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from biasgrid.measure.statistics.mean_squares import Estimate, f_quantiles, mean_squares, ratio


class Parts(NamedTuple):
    """Variance components of a crossed grid; a negative one is an estimate of a component of about 0."""

    rows: np.ndarray
    columns: np.ndarray
    interaction: np.ndarray
    error: np.ndarray


def variance_parts(table: np.ndarray, error: np.ndarray | float | None = None) -> Parts:
    """Estimate the variance components of a crossed grid with one number per cell, by moments.

    rows (MS_rows - MS_residual) / k, columns (MS_columns - MS_residual) / n, and the residual, which is the
    interaction and sampling error.

    Parameters
    ----------
    table
        (..., n, k), such as models by queries.
    error
        (...) the sampling error in the residual: the mean square of the cells' standard errors if these are
        independent, otherwise `sampling_error`. If it is left out, `interaction` includes the error, and `error` is
        NaN.

    Returns
    -------
    Parts
        Each (...); negative estimates are kept.

    References
    ----------
    Brennan. Generalizability theory. 2001.
    """
    ms, (n, k) = mean_squares(table), table.shape[-2:]
    parts = (ms.rows - ms.residual) / k, (ms.columns - ms.residual) / n
    if error is None:
        return Parts(*parts, ms.residual, np.full(ms.residual.shape, math.nan))
    return Parts(*parts, ms.residual - error, np.broadcast_to(error, ms.residual.shape))


def sampling_error(resamples: np.ndarray) -> float:
    """Estimate the sampling error in the residual of a grid whose cells are resampled together.

    All models have the same words, so a change that another list causes equally in all models is not an error of
    their differences. The estimate uses the distance of each resample from the mean of all resamples. It is the mean
    square of the part that is common neither to a row nor to a column.

    Parameters
    ----------
    resamples
        (draws, n, k); each draw has the same words in all cells.
    """
    draws = len(resamples)
    return float(mean_squares(resamples - resamples.mean(axis=0)).residual.mean() * draws / (draws - 1))


def rows_share(table: np.ndarray, level: float = 0.95) -> Estimate:
    """Estimate the variance of rows as a multiple of the residual's, with its exact F interval.

    With 3 or 4 rows, the interval is too long to be useful: describe such rows, but do not infer from them.
    """
    ms, (n, k) = mean_squares(table), table.shape[-2:]
    observed_f = ratio(ms.rows, ms.residual)
    low, high = f_quantiles(n - 1, (n - 1) * (k - 1), level)
    return Estimate(*((x - 1) / k for x in (observed_f, observed_f / high, observed_f / low)))


def generalisability(parts: Parts, columns: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute how well means over `columns` columns order rows (G) and place them (Phi); negative parts count as 0.

    G = rows / (rows + residual / columns), Phi = rows / (rows + (columns' part + residual) / columns). For a D-study,
    pass another number of columns.

    References
    ----------
    Brennan. Generalizability theory. 2001.
    """
    rows, of_columns = np.maximum(parts.rows, 0), np.maximum(parts.columns, 0)
    residual = np.maximum(parts.interaction + np.nan_to_num(parts.error), 0)
    return (
        ratio(rows, rows + residual / columns),
        ratio(rows, rows + (of_columns + residual) / columns),
    )
