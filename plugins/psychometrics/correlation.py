"""Correlation matrices with intervals, and correlations corrected for unreliability."""

from __future__ import annotations

import math

import numpy as np

# Below this reliability, a corrected correlation would mostly reflect the correction.
LEAST_TO_CORRECT = 0.5


def correlation_matrix(rows: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute Pearson's correlations of rows (variables, n), and the ends of their intervals; each row must vary.

    The interval is Fisher's: tanh(atanh(r) -+ z s / sqrt(n - 3)). The factor s is 1, or more if the fourth moments
    require it (the delta method), because heavy tails make the interval longer. The ends are NaN if n is below 4.
    """
    from scipy.special import ndtri

    n = rows.shape[1]
    x = rows - rows.mean(axis=1, keepdims=True)
    x /= x.std(axis=1, keepdims=True)
    # Round the result, because its last digits depend on the number of threads.
    r = (x @ x.T / n).round(12).clip(-1, 1)
    both, one = (x * x) @ (x * x).T / n, x**3 @ x.T / n
    fourth = both.diagonal()
    variance = both - r * (one + one.T) + r * r / 4 * (fourth[:, None] + fourth + 2 * both)
    # Divide by the derivative of atanh. A correlation of 1 does not have an interval.
    with np.errstate(invalid="ignore", divide="ignore"):
        s = np.maximum(np.sqrt(variance.clip(0)) / (1 - r * r), 1)
        reach = float(ndtri((1 + level) / 2)) * s / math.sqrt(n - 3) if n > 3 else np.full_like(r, math.nan)
        low, high = (np.tanh(np.arctanh(r) + side * reach).round(12) for side in (-1, 1))
    return r, low, high


def disattenuated(r: float, first: float, second: float = 1.0) -> float:
    """Correct a correlation for unreliability: divide it by the square root of the product of both reliabilities.

    A result above 1 is kept; it means that a reliability is too low, or that the errors correlate. The result is NaN
    if a reliability is below .5.

    References
    ----------
    Spearman. The proof and measurement of association between two things. American Journal of Psychology 15, 1904.
    """
    if not min(first, second) >= LEAST_TO_CORRECT:
        return math.nan
    return r / math.sqrt(first * second)
