"""The mean of the static vectors of a text's words: the simplest encoder, a baseline for others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BiasgridError, InputError
from ..load_vectors import load
from ..readers import detect
from .encoder import SENTENCE, WORD
from .templates import PlacedWord

WORDS = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def is_vectors(archive: Path) -> bool:
    """Return whether a file or folder contains static word vectors."""
    try:
        return bool(detect(archive))
    except BiasgridError:
        return False


class AverageEncoder:
    """An encoder that averages the vectors in a file or folder. A word is looked up unchanged, then in lower case."""

    def __init__(self, archive: Path) -> None:
        self.name, self.model = archive.name, load(archive)

    def encode(
        self, sentences: Sequence[PlacedWord], pool: str = SENTENCE, layer: int = -1
    ) -> NDArray[np.float64]:
        """Return the vector of each word in its sentence (sentences, dimensions).

        This is the mean over the words of the sentence, or over the words of the placed phrase if pool is
        "word". It is NaN if the model lacks the placed words, even if it has other words of the sentence.
        Raise InputError for another pool or layer.
        """
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
