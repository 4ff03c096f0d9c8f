"""A corpus whose tokens are shuffled: words are as frequent as before, and stand together by chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Shuffled:
    """The sentences of a corpus with all its tokens in a random order, whichever sentence they were in; sentences are
    as long as they were. Each loop gives the same.

    Attributes
    ----------
    sentences
        Lists of tokens, read once.
    seed
        Of the random order: each number gives another shuffled corpus.
    """

    sentences: Iterable[list[str]]
    seed: int

    def __iter__(self) -> Iterator[list[str]]:
        words, tokens, ends = self._shuffle
        start = 0
        for end in ends:
            yield [words[i] for i in tokens[start:end].tolist()]
            start = end

    @cached_property
    def _shuffle(self) -> tuple[list[str], NDArray[np.int32], list[int]]:
        """The words, the number of the word at each place (4 bytes per token), and where sentences end."""
        numbers: dict[str, int] = {}
        tokens, ends = [], []
        for sentence in self.sentences:
            sentence_numbers = [numbers.setdefault(word, len(numbers)) for word in sentence]
            tokens.append(np.array(sentence_numbers, dtype=np.int32))
            ends.append(len(sentence_numbers))
        all_tokens = np.concatenate(tokens) if tokens else np.empty(0, dtype=np.int32)
        return list(numbers), shuffle_tokens(all_tokens, self.seed), np.cumsum(ends).tolist()


def shuffle_tokens(tokens: NDArray[Any], seed: int) -> NDArray[Any]:
    """Tokens (tokens,) in the random order of a seed; texts of the same length get the same order."""
    return np.random.default_rng(seed).permutation(tokens)
