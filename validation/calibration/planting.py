"""Shuffled corpora with or without a planted bias: a corpus' words in random order, some of them put beside others.

Words keep their counts. In a random order no word is nearer to one word than to another, however frequent they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from biasgrid.embeddings.corpus.corpus import Corpus
from biasgrid.errors import BiasgridError

LONGEST = 10_000  # words of a sentence: gensim trains on no more of one
NEAREST = 20  # a word is drawn from as many that are nearest to the wanted frequency
Sets = list[NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Text:
    """A text as numbers of words.

    words   by falling frequency
    tokens  int32 (tokens,): the number of the word at each place
    starts  int64 (sentences,): where sentences start
    """

    words: Sequence[str]
    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]

    @classmethod
    def shuffle(cls, corpus: Corpus, rng: np.random.Generator) -> Text:
        """The words of a corpus in random order, in sentences as long as the corpus'."""
        tokens = np.repeat(np.arange(len(corpus), dtype=np.int32), corpus.counts)
        return cls(corpus.words(), rng.permutation(tokens), np.asarray(corpus.starts))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each word occurs."""
        return np.bincount(self.tokens, minlength=len(self.words))

    def __iter__(self) -> Iterator[list[str]]:
        """The sentences; long ones in several."""
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
        """The text with words of one set beside words of another.

        Parameters
        ----------
        pairs
            Two sets of words each, no word in two. Beside `share` of all occurrences of a word of the first, at
            random, the word before or after it changes places with an occurrence of a word of the second from
            elsewhere.
        fixed_words
            Words that do not give way, such as those of all pairs.
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
        """Where any of the words stands."""
        order, ends = self._places_by_word
        return np.concatenate([order[ends[word] - self.counts[word] : ends[word]] for word in words])

    @cached_property
    def _places_by_word(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.argsort(self.tokens, kind="stable"), np.cumsum(self.counts)


@dataclass(frozen=True)
class Frequencies:
    """How frequent the words of queries are.

    words        of each set
    occurrences  of a word in the middle: the geometric mean of the two sets of a side
    spread       how many times as frequent a word one standard deviation above its set's middle is
    least        occurrences that a word has at least
    """

    words: int
    occurrences: float
    spread: float
    least: int

    def draw(
        self, text: Text, ratios: tuple[float, float], free: NDArray[np.bool_], rng: np.random.Generator
    ) -> Sets:
        """Two target sets and two attribute sets of words that are `free`, which they are no more.

        The first target set is `ratios[0]` times as frequent as the second, in the middle, the first attribute set
        `ratios[1]` times. Words are numbers of the text's; they are letters alone.

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
        """The words that queries may have."""
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
