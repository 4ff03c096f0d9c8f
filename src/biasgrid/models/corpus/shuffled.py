"""Corpora with shuffled tokens: words are as frequent as before, and co-occur by chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Shuffled:
    """The sentences of a corpus with all its tokens in a random order, across sentences.

    Sentences keep their lengths. Each iteration gives the same sentences.

    Attributes
    ----------
    sentences
        Lists of tokens, read once.
    seed
        The seed of the random order; each number gives a different shuffled corpus.
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
        """Return the words, the number of the word at each position (4 bytes per token), and ends of
        sentences."""
        numbers: dict[str, int] = {}
        tokens, ends = [], []
        for sentence in self.sentences:
            sentence_numbers = [numbers.setdefault(word, len(numbers)) for word in sentence]
            tokens.append(np.array(sentence_numbers, dtype=np.int32))
            ends.append(len(sentence_numbers))
        all_tokens = np.concatenate(tokens) if tokens else np.empty(0, dtype=np.int32)
        return list(numbers), shuffle_tokens(all_tokens, self.seed), np.cumsum(ends).tolist()


def shuffle_tokens(tokens: NDArray[Any], seed: int) -> NDArray[Any]:
    """Return tokens (tokens,) in the random order of a seed; texts of the same length get the same order."""
    return np.random.default_rng(seed).permutation(tokens)
