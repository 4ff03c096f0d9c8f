"""The mean of the static vectors of a text's words, the plainest encoder: what others are compared with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import BiasgridError, InputError
from ..loading import load
from ..readers import detect
from .encoder import SENTENCE, WORD
from .templates import PlacedWord

WORDS = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def is_vectors(archive: Path) -> bool:
    """Whether a file, or a folder, has static vectors of words."""
    try:
        return bool(detect(archive))
    except BiasgridError:
        return False


class AverageEncoder:
    """Means of the vectors in a file, or a folder. A word is looked up as it stands, then in small letters."""

    def __init__(self, archive: Path) -> None:
        self.name, self.model = archive.name, load(archive)

    def encode(
        self, sentences: Sequence[PlacedWord], pool: str = SENTENCE, layer: int = -1
    ) -> NDArray[np.float64]:
        """The vector of each word in its sentence (sentences, dimensions): the mean over the sentence's words, or
        with pool "word" over its own. NaN of one that the vectors lack, though they may have the sentence's others.
        Raises InputError for another pool or layer."""
        if pool not in (SENTENCE, WORD) or layer != -1:
            raise InputError(f"{self.name}: has means of words: pool is 'sentence' or 'word', and layer -1")
        return np.array([self._vector(sentence, pool) for sentence in sentences])

    def _vector(self, sentence: PlacedWord, pool: str) -> NDArray[np.float64]:
        own = self._found(sentence.text[sentence.start : sentence.end])
        vectors = own if pool == WORD or not len(own) else self._found(sentence.text)
        return vectors.mean(axis=0) if len(vectors) else np.full(self.model.dimensions, np.nan)

    def _found(self, text: str) -> NDArray[np.float64]:
        words = WORDS.findall(text)
        is_known = self.model.rows(words) >= 0
        forms = [word if known else word.lower() for word, known in zip(words, is_known, strict=True)]
        rows = self.model.rows(forms)
        known = [form for form, row in zip(forms, rows, strict=True) if row >= 0]
        return np.asarray(self.model.take(known, rows[rows >= 0]), dtype=np.float64)
