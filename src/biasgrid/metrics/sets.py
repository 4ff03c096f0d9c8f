"""Sets of words in samples. A formula of sets is written once, for weighted words and for whole sets.

Values are (samples or 1, words), for all words of the sets; statistics of them are (samples,).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np

from ..core.geometry import weighted_sum

FLAT = 1e-12  # identical words give rounding noise, not a spread


@dataclass(frozen=True)
class WeightedSet:
    """Set with the count of each word in each sample, (samples or 1, words)."""

    weights: np.ndarray

    def __add__(self, other: WeightedSet) -> WeightedSet:
        return WeightedSet(self.weights + other.weights)

    @cached_property
    def count(self) -> np.ndarray:
        return self.weights.sum(axis=1)

    def sum(self, values: np.ndarray) -> np.ndarray:
        return weighted_sum(self.weights, values)


@dataclass(frozen=True)
class Whole:
    """Set whose words are the same columns of all rows of values. Sets that are added must be adjacent."""

    start: int
    end: int

    def __add__(self, other: Whole) -> Whole:
        return Whole(self.start, other.end)

    @property
    def count(self) -> int:
        return self.end - self.start

    def sum(self, values: np.ndarray) -> np.ndarray:
        return values[..., self.start : self.end].sum(axis=-1)


Words = TypeVar("Words", WeightedSet, Whole)


def whole_sets(sizes: Iterable[int]) -> list[Whole]:
    """Return consecutive sets of these sizes."""
    return [Whole(*ends) for ends in pairwise(accumulate(sizes, initial=0))]


def mean(words: Words, values: np.ndarray) -> np.ndarray:
    """Compute the mean of the values of a set's words, (samples,)."""
    return words.sum(values) / words.count


def std(words: Words, values: np.ndarray, ddof: int = 0) -> np.ndarray:
    """Compute the standard deviation of the values of a set's words, (samples,); NaN for at most `ddof` words."""
    variation = words.sum((values - mean(words, values)[..., None]) ** 2)
    return np.sqrt(variation / np.where(words.count > ddof, words.count - ddof, np.nan))


def effect_size(x: Words, y: Words, values: np.ndarray, ddof: int = 0, flat: float = FLAT) -> np.ndarray:
    """Divide the difference of two sets' means by the standard deviation of both sets; NaN if that is flat."""
    spread = std(x + y, values, ddof)
    return (mean(x, values) - mean(y, values)) / np.where(spread > flat, spread, np.nan)
