"""Co-occurrences: the number of sentences (or windows) of a corpus that contain given words together.

Sentences that contain the same subset of the given words are counted as one pattern. There are far fewer
patterns than sentences, and they suffice for any grouping of the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """The number of sentences (or windows) of a corpus that contain words together.

    Attributes
    ----------
    patterns
        Sparse float32 (patterns, words), 1 if a unit (a sentence or a window) of the pattern contains the
        word. Each pattern contains at least one word.
    units
        int64 (patterns,): the number of units that contain exactly these words.
    total
        The number of units of the corpus.
    """

    patterns: csr_array
    units: NDArray[np.int64]
    total: int
    _parts: dict[tuple[int | None, int | None, int | None], csr_array] = field(
        default_factory=dict, init=False, repr=False
    )

    def part(self, words: slice) -> csr_array:
        """Return the patterns of some of the words alone, cached, as a metric needs them several times."""
        key = (words.start, words.stop, words.step)
        if key not in self._parts:
            self._parts[key] = self.patterns[:, words]
        return self._parts[key]


def group_units(units: Sequence[NDArray[np.integer]], total: int) -> Cooccurrence:
    """Group the distinct units in which words occur, one array per word; `total` is the number of all units.

    Memory holds these arrays, a few numbers for each unit that contains a word, and the patterns.
    """
    from scipy.sparse import csc_array  # imported late, as planning a study does not count words

    whole = np.concatenate(units)
    if len(whole) > total // 4:  # there are so many that sorting would be slower
        is_present = np.zeros(total, dtype=bool)
        is_present[whole] = True
        number = np.cumsum(is_present, dtype=np.int32) - 1
        rows, count = [number[word_units] for word_units in units], int(is_present.sum())
    else:
        unit_numbers = np.unique(whole)
        rows, count = [np.searchsorted(unit_numbers, word_units) for word_units in units], len(unit_numbers)
    del whole
    # Give each word two random 64-bit numbers. Units have the same two sums only if they contain the same words.
    numbers = np.random.default_rng(0).integers(2**63, size=(2, len(units)), dtype=np.uint64)
    sums = np.zeros((2, count), dtype=np.uint64)
    for word, word_units in enumerate(rows):
        sums[:, word_units] += numbers[:, [word]]
    order = np.lexsort(sums)
    is_new = (np.diff(sums[:, order], axis=1) != 0).any(axis=0)
    starts = np.concatenate([[0], np.flatnonzero(is_new) + 1]) if count else np.zeros(0, dtype=np.int64)
    counts = np.diff(starts, append=count)
    # The first unit of each pattern gives the pattern's words.
    pattern = np.full(count, -1, dtype=np.int64)
    pattern[order[starts]] = np.arange(len(starts))
    columns = [word_units[word_units >= 0] for word_units in (pattern[word_units] for word_units in rows)]
    ends = np.cumsum([0, *map(len, columns)])
    indices = np.concatenate(columns)
    entries = np.ones(len(indices), dtype=np.float32), indices, ends
    return Cooccurrence(
        csc_array(entries, shape=(len(starts), len(units))).tocsr(), counts.astype(np.int64), total
    )
