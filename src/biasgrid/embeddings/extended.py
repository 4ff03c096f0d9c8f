"""A model with more entries than another one, which is the same in all else."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .model import Model

# rows that are of no vocabulary: of entries of several parts from here on, and of words made of n-grams
BEHIND, OF_NGRAMS = 1 << 40, 2 << 40


def row_behind(key: str, first: int) -> int:
    """A row of no vocabulary, from `first` on: the same wherever its key is looked up."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
    return first + int.from_bytes(digest[:5], "big")


class ExtendedModel(Model):
    """A model that also finds words that `base` lacks: a kind of it gives their `rows` and vectors. `len`, iteration
    and `vocabulary` are those of `base`."""

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
        """That of the vocabulary."""
        return int(self.base.row_count)

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """Those of the vocabulary's words."""
        counts: NDArray[np.int64] | None = self.base.counts
        return counts

    @property
    def fingerprint(self) -> str:
        return str(self.base.fingerprint)

    def words(self) -> list[str]:
        """Those of the vocabulary."""
        return list(self.base.words())

    def vocabulary(self, limit: int | None = None) -> tuple[list[str], NDArray[np.int64]]:
        entries, rows = self.base.vocabulary(limit)
        return entries, rows

    def read(self, rows: slice | NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of rows of the vocabulary: float32 (n, dimensions)."""
        vectors: NDArray[np.float32] = self.base.read(rows)
        return vectors

    def __len__(self) -> int:
        return len(self.base)
