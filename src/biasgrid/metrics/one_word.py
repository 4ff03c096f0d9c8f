"""Values that sets of one word each fix by construction.

A difference of two numbers, divided by their own standard deviation, is 2 or -2 (divisor n) or 1.41 or -1.41
(divisor n - 1), whatever the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import Final, Literal

import numpy as np

from .sets import Words

OneWord = Literal["nan", "keep"]
NAN: Final = "nan"
KEEP: Final = "keep"


def is_undefined(sets: Iterable[Sized], one_word: str) -> bool:
    """Return whether a metric is undefined for these sets, because each of them has one word."""
    return one_word != KEEP and all(len(words) == 1 for words in sets)


def undefined_samples(first: Words, second: Words, one_word: str) -> np.ndarray:
    """Return whether a metric is undefined for samples of two sets."""
    return np.logical_and(first.count == 1, second.count == 1) & (one_word != KEEP)
