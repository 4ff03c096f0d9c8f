"""Entries of several words: the mean of their parts' vectors, under a key such as "la + tragédie"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.geometry import unit
from .appended_vectors import BEHIND, OF_NGRAMS, ExtendedModel, row_behind
from .model import Model

RAW, UNIT = "raw", "unit"
WAYS = {RAW: " + ", UNIT: " ⊕ "}  # the vectors that are averaged -> the sign between the parts of a key


def parts_of(key: str) -> list[str]:
    """Return the parts of a key of several words; an empty list for another key."""
    return next((key.split(sign) for sign in WAYS.values() if sign in key), [])


def rows_in_parts(model: Model, keys: Sequence[str]) -> NDArray[np.int64]:
    """Return the row of each key: the model's row, a row beyond the vocabulary for a key of several words, or -1.

    A key of several words has a row only if the model has all of its parts; -1 marks missing keys.
    """
    rows = model.rows(keys)
    for place in np.flatnonzero((rows < 0) | (rows >= BEHIND)).tolist():
        if parts := _keys(model, keys[place]):
            # A vector from n-grams of the key itself would be meaningless, because the key contains a sign.
            is_whole = (model.rows(parts) >= 0).all()
            rows[place] = row_behind(keys[place], BEHIND) if is_whole else -1
    return rows


def are_in_parts(rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows belong to entries of several words."""
    return (rows >= BEHIND) & (rows < OF_NGRAMS)


def _keys(model: Model, key: str) -> list[str]:
    prefix = model.vocab_prefix
    return [prefix + part for part in parts_of(key.removeprefix(prefix))]


class InParts(ExtendedModel):
    """A model that also has entries of several words, and otherwise equals the base model."""

    @classmethod
    def of(cls, model: Model) -> InParts:
        """Return the extended model of a model, always the same object, so that cached results are computed
        once."""
        in_parts: InParts = vars(model).setdefault("_in_parts", cls(model))
        return in_parts

    def __reduce__(self) -> tuple[Any, ...]:
        return InParts, (self.base,)

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        return rows_in_parts(self.base, words)

    def take(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        vectors = np.empty((len(rows), self.dimensions))
        is_whole = ~are_in_parts(rows)
        whole = np.flatnonzero(is_whole)
        vectors[whole] = self.base.take([words[place] for place in whole.tolist()], rows[whole])
        for place in np.flatnonzero(~is_whole).tolist():
            parts = _keys(self.base, words[place])
            of_parts = self.base.take(parts, self.base.rows(parts))
            vectors[place] = (unit(of_parts) if WAYS[UNIT] in words[place] else of_parts).mean(axis=0)
        return vectors

    def matrix(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        # `take` would need twice the memory, as it returns float64.
        if not are_in_parts(rows).any():
            of_base: NDArray[np.float32] = self.base.matrix(words, rows)
            return of_base
        return self.take(words, rows).astype(np.float32)

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self.base, attribute)
