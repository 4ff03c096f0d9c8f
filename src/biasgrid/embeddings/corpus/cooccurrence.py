"""In how many sentences (or windows) of a corpus which words stand together.

Sentences with the same words, of those that are asked for, count as one pattern. There are far fewer patterns than
sentences, and they say all that any grouping of the words needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """What a corpus says of words together.

    Attributes
    ----------
    patterns
        Bool (patterns, words): which of the words stand in a unit (a sentence, or a window) of the pattern. All are
        different, and each has a word.
    units
        Int64 (patterns,): how many units have exactly these of the words.
    total
        How many units the corpus has.
    """

    patterns: NDArray[np.bool_]
    units: NDArray[np.int64]
    total: int


def of_units(units: Sequence[NDArray[np.int64]], total: int) -> Cooccurrence:
    """From the distinct units in which each word stands, one array a word, and the number of all units."""
    words = len(units)
    whole = np.concatenate([*units, np.zeros(0, dtype=np.int64)])
    present, place = np.unique(whole, return_inverse=True)
    # a bit for each word: patterns are told apart by numbers of 64 bits
    masks = np.zeros((len(present), -(-words // 64)), dtype=np.uint64)
    ends = np.cumsum([len(of_word) for of_word in units])
    for word, (end, of_word) in enumerate(zip(ends, units, strict=True)):
        masks[place[end - len(of_word) : end], word // 64] |= np.uint64(1 << word % 64)
    distinct, counts = np.unique(masks, axis=0, return_counts=True)
    bits = distinct[:, np.arange(words) // 64] >> (np.arange(words) % 64).astype(np.uint64)
    return Cooccurrence((bits & np.uint64(1)).astype(bool), counts.astype(np.int64), total)
