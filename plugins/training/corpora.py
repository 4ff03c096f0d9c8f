"""Corpora as lists of tokens that algorithms train on: running text, and text with shuffled tokens.

In a shuffled text, words are as frequent as before, and co-occur by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biasgrid.core.errors import BiasgridError
from biasgrid.models.corpus.counting import shuffle_tokens
from biasgrid.models.corpus.text import text_of

SENTENCE = 10_000  # tokens, as in gensim's Text8Corpus; gensim trains on at most this many at once
BLOCK = 1 << 20
LONGEST = 8 << 20  # characters of a token


@dataclass(frozen=True)
class RunningText:
    """The tokens of a corpus in lists of `SENTENCE`; each iteration reads the file again.

    An iteration raises BiasgridError if the corpus cannot be read.

    Attributes
    ----------
    corpus
        A UTF-8 text, plain, compressed, or alone in a .zip. It is split at white space, including line ends,
        and not changed otherwise.
    """

    corpus: Path

    def __iter__(self) -> Iterator[list[str]]:
        try:
            yield from self._parts()
        except UnicodeDecodeError as error:
            raise BiasgridError(f"{self.corpus}: is damaged, or no UTF-8 text: {error}") from None

    def _parts(self) -> Iterator[list[str]]:
        tokens: list[str] = []
        rest = ""
        with text_of(self.corpus) as file:
            while block := file.read(BLOCK):
                block = rest + block
                if len(rest) > LONGEST:
                    raise BiasgridError(
                        f"{self.corpus}: has no white space in {LONGEST} characters: no corpus"
                    )
                block_tokens = block.split()
                rest = "" if block[-1].isspace() else block_tokens.pop()
                tokens += block_tokens
                while len(tokens) >= SENTENCE:
                    yield tokens[:SENTENCE]
                    tokens = tokens[SENTENCE:]
        tokens += [rest] * bool(rest)
        if tokens:
            yield tokens


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
