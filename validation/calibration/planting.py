"""Shuffled corpora with or without an injected bias: words in random order, some of them moved next to others.

Words keep their counts. In a random order, a word is not nearer to one word than to another, whatever their
frequencies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from biasgrid.core.errors import BiasgridError
from biasgrid.models.corpus.corpus import Corpus

# Limit the words of a sentence: gensim does not use more of one sentence in training.
LONGEST = 10_000
# Draw a word from this number of words that are nearest to the wanted frequency.
NEAREST = 20
Sets = list[NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Text:
    """A text as numbers of words.

    Parameters
    ----------
    words
        The words, by descending frequency.
    tokens
        int32 (tokens,): the number of the word at each position.
    starts
        int64 (sentences,): the positions at which sentences start.
    """

    words: Sequence[str]
    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]

    @classmethod
    def shuffle(cls, corpus: Corpus, rng: np.random.Generator) -> Text:
        """Shuffle the words of a corpus; sentences keep their lengths."""
        tokens = np.repeat(np.arange(len(corpus), dtype=np.int32), corpus.counts)
        return cls(corpus.words(), rng.permutation(tokens), np.asarray(corpus.starts))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Return the number of occurrences of each word."""
        return np.bincount(self.tokens, minlength=len(self.words))

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the sentences; long ones are split."""
        for start, end in zip(self.starts, [*self.starts[1:], len(self.tokens)], strict=True):
            for first in range(start, end, LONGEST):
                yield [self.words[i] for i in self.tokens[first : min(first + LONGEST, end)].tolist()]

    def plant(
        self,
        pairs: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
        share: float,
        fixed_words: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Text:
        """Return the text with words of one set moved next to words of another.

        Parameters
        ----------
        pairs
            Pairs of word sets without common words. A random `share` of all occurrences of words of the first set is
            chosen. The word before or after each of them changes places with an occurrence of a word of the second
            set from elsewhere.
        fixed_words
            Words that are not moved away, such as the words of all pairs.
        """
        tokens, is_fixed = self.tokens.copy(), np.zeros(len(self.words), dtype=bool)
        is_fixed[fixed_words] = True
        starts_sentence = np.zeros(len(tokens) + 1, dtype=bool)
        starts_sentence[self.starts] = starts_sentence[-1] = True
        for words, partners in pairs:
            places = self._places(words)
            places = places[rng.random(len(places)) < share]
            is_before = rng.integers(2, size=len(places)).astype(bool)
            in_sentence = ~starts_sentence[places + ~is_before]
            neighbours = np.unique(np.where(is_before, places - 1, places + 1)[in_sentence])
            neighbours = neighbours[~is_fixed[tokens[neighbours]]]
            origins = rng.permutation(self._places(partners))[: len(neighbours)]
            neighbours = rng.permutation(neighbours)[: len(origins)]
            tokens[neighbours], tokens[origins] = tokens[origins], tokens[neighbours]
        return replace(self, tokens=tokens)

    def _places(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of all occurrences of the words."""
        order, ends = self._places_by_word
        return np.concatenate([order[ends[word] - self.counts[word] : ends[word]] for word in words])

    @cached_property
    def _places_by_word(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.argsort(self.tokens, kind="stable"), np.cumsum(self.counts)


@dataclass(frozen=True)
class Frequencies:
    """Frequencies of the words of queries.

    Parameters
    ----------
    words
        Number of words of each set.
    occurrences
        Occurrences of a typical word: the geometric mean of the middles of the two sets of a side.
    spread
        Ratio of the frequencies of a word one standard deviation above its set's middle and of the middle.
    least
        Minimum number of occurrences of a word.
    """

    words: int
    occurrences: float
    spread: float
    least: int

    def draw(
        self, text: Text, ratios: tuple[float, float], free: NDArray[np.bool_], rng: np.random.Generator
    ) -> Sets:
        """Draw two target sets and two attribute sets from the `free` words, and mark them as no longer free.

        At their middles, the first target set is `ratios[0]` times as frequent as the second, and the first attribute
        set `ratios[1]` times. Words are given by their numbers in the text.

        Raises
        ------
        BiasgridError
            Too few words are free.
        """
        logs = np.log(np.maximum(text.counts, 1))
        sets = []
        for ratio in ratios:
            for sign in (1, -1):
                middle = np.log(self.occurrences) + sign * np.log(ratio) / 2
                target_logs = rng.normal(middle, np.log(self.spread), self.words)
                sets.append(np.array([self._nearest(logs, log, free, rng) for log in target_logs]))
        return sets

    def free(self, text: Text) -> NDArray[np.bool_]:
        """Return which words queries may contain: words of letters that are frequent enough."""
        letters = np.array([word.isalpha() for word in text.words])
        return letters & (text.counts >= self.least)

    def _nearest(
        self, logs: NDArray[np.float64], log: float, free: NDArray[np.bool_], rng: np.random.Generator
    ) -> int:
        places = np.flatnonzero(free)
        if len(places) < NEAREST:
            raise BiasgridError(
                f"the corpus has too few words that occur {self.least} times for so many queries; draw fewer"
            )
        nearest = places[np.argpartition(np.abs(logs[places] - log), NEAREST - 1)[:NEAREST]]
        word = int(rng.choice(nearest))
        free[word] = False
        return word
