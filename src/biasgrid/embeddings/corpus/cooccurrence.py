"""In how many sentences (or windows) of a corpus which words stand together.

Sentences with the same words, of those that are asked for, count as one pattern. There are far fewer patterns than
sentences, and they say all that any grouping of the words needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """What a corpus says of words together.

    Attributes
    ----------
    patterns
        Sparse float32 (patterns, words), 1 where a unit (a sentence, or a window) of the pattern has the word. Each
        pattern has a word.
    units
        Int64 (patterns,): how many units have exactly these of the words.
    total
        How many units the corpus has.
    """

    patterns: csr_array
    units: NDArray[np.int64]
    total: int

    def part(self, words: slice) -> csr_array:
        """The patterns of some of the words alone."""
        return self.patterns[:, words]


def of_units(units: Sequence[NDArray[np.int64]], total: int) -> Cooccurrence:
    """From the distinct units in which each word stands, one array a word, and the number of all units."""
    from scipy.sparse import csr_array  # imported late: a plan counts nothing

    sizes = [len(of_word) for of_word in units]
    present, rows = np.unique(np.concatenate(units), return_inverse=True)
    words = np.repeat(np.arange(len(units)), sizes)
    shape = len(present), len(units)
    whole = csr_array((np.ones(len(rows), dtype=np.float32), (rows, words)), shape=shape)
    whole.sort_indices()
    # units with the same words have the same sum of the words' random numbers
    numbers = np.random.default_rng(0).integers(2**63, size=len(units), dtype=np.uint64)
    sums = np.add.reduceat(numbers[whole.indices], whole.indptr[:-1])
    _, first, pattern, counts = np.unique(sums, return_index=True, return_inverse=True, return_counts=True)
    # and others, if chance wills it, of which each unit is its own pattern then
    same = np.diff(whole.indptr) == np.diff(whole.indptr)[first[pattern]]
    if not same.all() or (whole[first[pattern]].indices != whole.indices).any():
        return Cooccurrence(whole, np.ones(len(present), dtype=np.int64), total)
    return Cooccurrence(whole[first], counts.astype(np.int64), total)
