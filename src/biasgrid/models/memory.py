"""Models in memory, from vectors that a program has; they give the same values as a store of these vectors."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BiasgridError, InputError, quote
from ..core.user_warnings import stacklevel
from .model import Model
from .store_writer import Rows, npy_header

BLOCK = 1 << 16  # rows that are copied at a time


def check_in_memory(**file_options: Any) -> None:
    """Raise InputError if an option that applies only to files was given for vectors in memory."""
    for option, value in file_options.items():
        if value is not None:
            raise InputError(f"{option} is for files, and this model is in memory: leave it out")


@dataclass(frozen=True, eq=False, repr=False)
class MemoryModel(Model):
    """Words and vectors in memory, made by `biasgrid.load`.

    Vectors are float32, as in a store. Values given in float64 are rounded, so that a model in memory and its
    file give the same values.

    Attributes
    ----------
    name
        The model's name.
    array
        The vectors, float32 (words, dimensions), read-only; a copy of the given ones.
    vocab_prefix
        The text that precedes every word in the vocabulary.
    metadata
        The model's name, and counts of the words that were dropped or repaired when the model was made.
    """

    name: str
    array: NDArray[np.float32]
    vocab_prefix: str
    metadata: Mapping[str, Any]
    _rows: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        words: Sequence[str],
        vectors: NDArray[Any],
        *,
        name: str,
        vocab_prefix: str = "",
        where: str | None = None,
    ) -> MemoryModel:
        """Make a model of words and their vectors.

        Parameters
        ----------
        words
            Word i has vector i. Of duplicates the first is kept, and a warning gives their number.
        vectors
            (words, dimensions), of any numeric type; rounded to float32.
        name
            The model's name.
        vocab_prefix
            The text that precedes every word in the vocabulary.
        where
            The name of the input in messages; None for `name`.

        Raises
        ------
        BiasgridError
            A word is not a string, a value is not finite, or the numbers of vectors and words differ.
        """
        where = where or name
        if getattr(vectors, "ndim", 0) != 2 or vectors.dtype.kind not in "fiu":
            summary = f"{getattr(vectors, 'dtype', type(vectors).__name__)} {np.shape(vectors)}"
            raise InputError(
                f"{where}: expected vectors as an array of numbers (words, dimensions), not {summary:.80}"
            )
        if len(words) != len(vectors):
            raise InputError(f"{where}: {len(words)} words, but {len(vectors)} vectors")
        for word in words:
            if not isinstance(word, str):
                hint = " (pandas reads 'nan' and 'null' so: keep_default_na=False)" if word != word else ""
                raise InputError(f"{where}: {quote(word)} is not a word{hint}: words are texts")
        array_rows = _ArrayRows(where, *vectors.shape)
        try:
            for start in range(0, len(words), BLOCK):
                part = slice(start, start + BLOCK)
                array_rows.add([str(word) for word in words[part]], vectors[part])
        except BiasgridError as error:
            raise InputError(str(error)) from None
        if not array_rows.vocabulary:
            raise InputError(f"{where}: holds no vectors")
        if vocab_prefix and not any(word.startswith(vocab_prefix) for word in array_rows.vocabulary):
            raise InputError(f"{where}: no word begins with vocab_prefix {quote(vocab_prefix)}")
        if array_rows.warnings:
            counts = ", ".join(f"{key} {count}" for key, count in array_rows.warnings.items())
            warnings.warn(f"{where}: {counts}", stacklevel=stacklevel())
        array = array_rows.array[: array_rows.rows]
        array.setflags(write=False)
        metadata = {"name": name, "label": name, "warnings": dict(array_rows.warnings)}
        return cls(name, array, vocab_prefix, metadata, array_rows.vocabulary)

    @property
    def dimensions(self) -> int:
        return int(self.array.shape[1])

    @property
    def row_count(self) -> int:
        return len(self.array)

    @cached_property
    def fingerprint(self) -> str:
        """Return the checksum (sha256) of the vectors, the same as for a store of these vectors."""
        digest = hashlib.sha256(npy_header("<f4", self.array.shape))
        for start in range(0, len(self.array), BLOCK):
            digest.update(np.ascontiguousarray(self.array[start : start + BLOCK], dtype="<f4").data)
        return digest.hexdigest()

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        if isinstance(words, str):
            raise InputError(f"{words!r}: expected a list of words, not one text")
        try:
            return np.array([self._rows.get(word, -1) for word in words], dtype=np.int64)
        except TypeError:  # not iterable, or not hashable
            raise InputError(f"{quote(words)}: expected a list of words") from None

    def words(self) -> list[str]:
        """Return all words in the order of their rows."""
        return list(self._rows)

    def vocabulary(self, limit: int | None = None) -> tuple[list[str], NDArray[np.int64]]:
        """Return the words of the first `limit` rows, and the rows (int64)."""
        words = self.words()[:limit]
        return words, np.arange(len(words), dtype=np.int64)

    def read(self, rows: slice | NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of rows, float32 (n, dimensions)."""
        return self.array[rows]

    def take(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.array[rows].astype(np.float64)

    def matrix(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return self.array[rows]

    def __len__(self) -> int:
        return len(self._rows)


class _ArrayRows(Rows):
    """A collector of vectors in an array of known size."""

    def __init__(self, where: str, rows: int, dimensions: int):
        super().__init__(where)
        if not dimensions:
            raise BiasgridError(f"{where}: its vectors have no dimensions")
        self.array = np.empty((rows, dimensions), dtype=np.float32)

    def _append(self, vectors: NDArray[np.float32]) -> None:
        self.array[self.rows : self.rows + len(vectors)] = vectors
