"""Statistics of models under weights, and their intervals over plans: replicates of one plan are drawn together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

RESAMPLES, SEED = 2000, 2021
FEWEST_PLANS = 3


def estimate(
    plans: np.ndarray, columns: Sequence[np.ndarray], statistic: Callable[..., np.ndarray]
) -> tuple[float, float, float, int, int]:
    """A statistic of models, the ends of its interval over plans (NaN of fewer than three), models, and plans.

    Models that lack a number of `columns` are left out.
    """
    table = np.stack(columns)
    whole = np.isfinite(table).all(axis=0)
    table, (unique, place) = table[:, whole], np.unique(plans[whole], return_inverse=True)
    if not len(unique):
        return np.nan, np.nan, np.nan, 0, 0
    with np.errstate(divide="ignore", invalid="ignore"):
        (value,) = statistic(np.ones((1, table.shape[1])), *table)
        low = high = np.nan
        if len(unique) >= FEWEST_PLANS and np.isfinite(value):
            rng = np.random.default_rng(SEED)
            drawn = rng.multinomial(len(unique), np.full(len(unique), 1 / len(unique)), RESAMPLES)
            values = statistic(drawn[:, place].astype(float), *table)
            # a resample may lack what is compared, or all of its models may have one value
            values = values[np.isfinite(values)]
            low, high = np.percentile(values, [2.5, 97.5]) if len(values) else (np.nan, np.nan)
    return float(value), float(low), float(high), int(whole.sum()), len(unique)


def mean(weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Weighted means, one per row of the weights."""
    return (weights * x).sum(axis=1) / weights.sum(axis=1)


def pearson(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weighted correlations, one per row of the weights; NaN where one side is constant."""
    x, y = (part - mean(weights, part)[:, None] for part in (x, y))
    spread = mean(weights, x**2) * mean(weights, y**2)
    return np.where(spread > 1e-24, mean(weights, x * y) / np.sqrt(spread), np.nan)


def spearman(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weighted rank correlations: those of samples in which model i is weights[i] times."""
    return pearson(weights, _ranks(weights, x), _ranks(weights, y))


def _ranks(weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    unique, place = np.unique(x, return_inverse=True)
    ties = weights @ np.eye(len(unique))[place]
    return (np.cumsum(ties, axis=1) - ties / 2)[:, place]


def squared(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weighted R²."""
    return pearson(weights, x, y) ** 2


def difference(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weighted mean of x - y."""
    return mean(weights, x - y)


def distance(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weighted mean of |x - y|."""
    return mean(weights, np.abs(x - y))


def over_largest(weights: np.ndarray, x: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """By how much the mean of x is above the largest of the others' means."""
    return mean(weights, x) - np.max([mean(weights, other) for other in others], axis=0)


def over_smallest(weights: np.ndarray, x: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """By how much the mean of x is above the smallest of the others' means."""
    return mean(weights, x) - np.min([mean(weights, other) for other in others], axis=0)


def squared_over_largest(
    weights: np.ndarray, truth: np.ndarray, x: np.ndarray, *others: np.ndarray
) -> np.ndarray:
    """By how much R² of x with the truth is above the largest of the others' R²."""
    return squared(weights, truth, x) - np.max([squared(weights, truth, other) for other in others], axis=0)
