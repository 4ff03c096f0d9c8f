"""Models that find words which another model lacks, for example by n-grams."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .model import Model

# Row numbers beyond any vocabulary: entries of several parts start at BEHIND, words made of n-grams at OF_NGRAMS.
BEHIND, OF_NGRAMS = 1 << 40, 2 << 40


def row_behind(key: str, first: int) -> int:
    """Return a row number beyond any vocabulary, from `first` on; it depends only on the key."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
    return first + int.from_bytes(digest[:5], "big")


class ExtendedModel(Model):
    """A model that also finds words that `base` lacks; subclasses define their `rows` and vectors.

    `len`, iteration and `vocabulary` cover only the entries of `base`.
    """

    def __init__(self, base: Any) -> None:
        self.base = base

    @property
    def name(self) -> str:
        return str(self.base.name)

    @property
    def vocab_prefix(self) -> str:
        return str(self.base.vocab_prefix)

    @property
    def metadata(self) -> Mapping[str, Any]:
        return dict(self.base.metadata)

    @property
    def dimensions(self) -> int:
        return int(self.base.dimensions)

    @property
    def row_count(self) -> int:
        """Return the number of rows of the vocabulary."""
        return int(self.base.row_count)

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """Return the counts of the vocabulary's words."""
        counts: NDArray[np.int64] | None = self.base.counts
        return counts

    @property
    def fingerprint(self) -> str:
        return str(self.base.fingerprint)

    def words(self) -> list[str]:
        """Return the words of the vocabulary."""
        return list(self.base.words())

    def vocabulary(self, limit: int | None = None) -> tuple[list[str], NDArray[np.int64]]:
        entries, rows = self.base.vocabulary(limit)
        return entries, rows

    def read(self, rows: slice | NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of rows of the vocabulary: float32 (n, dimensions)."""
        vectors: NDArray[np.float32] = self.base.read(rows)
        return vectors

    def __len__(self) -> int:
        return len(self.base)
