"""Scales on which scores of several models could be compared, each made from the same random groups."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

# Function of distances from no bias and of the distances of random groups that returns the former on a scale.
Reading = Callable[[np.ndarray, np.ndarray], np.ndarray]


def standardized(distances: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Subtract the mean, and divide by the standard deviation: standardised bias."""
    return (distances - baseline.mean()) / baseline.std()


def normal(distances: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Return normal scores of the percentile. They are bounded: at most 3.3 with 999 random groups."""
    ordered = np.sort(baseline)
    below, above = (np.searchsorted(ordered, distances, side) for side in ("left", "right"))
    return special.ndtri(((below + above) / 2 + 0.5) / (len(ordered) + 1))


def root(distances: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Standardise square roots."""
    return standardized(np.sqrt(distances), np.sqrt(baseline))


def log(distances: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Standardise logarithms. Smaller distances are raised to the smallest distance of random groups above 0."""
    least = baseline[baseline > 0].min()
    return standardized(np.log(np.maximum(distances, least)), np.log(np.maximum(baseline, least)))


def robust(distances: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Subtract the median, and divide by the median absolute deviation, times 1.48 as in a normal distribution."""
    middle = np.median(baseline)
    return (distances - middle) / (1.4826 * np.median(np.abs(baseline - middle)))


def ratio(distances: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Divide by the mean. 0 means no bias, 1 as much as random groups."""
    return distances / baseline.mean()


def raw(distances: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Return the distances as they are."""
    return distances


SCALES: dict[str, Reading] = {
    "distance": raw,
    "standardized": standardized,
    "normal": normal,
    "root": root,
    "log": log,
    "robust": robust,
    "ratio": ratio,
}
