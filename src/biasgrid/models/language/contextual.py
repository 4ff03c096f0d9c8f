"""Vectors of words in contexts: one vector for each word in each template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BiasgridError, InputError
from ..memory import MemoryModel
from ..model import Model
from ..store import EmbeddingStore

KIND = "contextual_vectors"
CONTEXTS = "contexts"  # entry of model.json: the number of contexts of each word


@dataclass(frozen=True, eq=False, repr=False)
class ContextualVectors:
    """An opened model of words in contexts, made by `open`.

    Attributes
    ----------
    store
        The vectors; each word's vectors are concatenated.
    contexts
        The number of contexts, the same for all words.
    """

    store: Model
    contexts: int

    kind = KIND

    @classmethod
    def open(cls, path: Path | str, name: str | None = None) -> ContextualVectors:
        """Open a model's folder without reading its vectors. Raise BiasgridError if it is not such a model."""
        store = EmbeddingStore.open(path, name)
        contexts = store.metadata.get(CONTEXTS)
        if type(contexts) is not int or contexts < 1 or store.dimensions % contexts:
            raise BiasgridError(f"{path}: not a model of words in contexts: {CONTEXTS} is {contexts!r:.40}")
        return cls(store, contexts)

    @classmethod
    def of(cls, words: Sequence[str], vectors: NDArray[Any], *, name: str) -> ContextualVectors:
        """Make a model in memory of words and their vectors (words, contexts, dimensions).

        Raise InputError for vectors of another shape.
        """
        if getattr(vectors, "ndim", 0) != 3 or vectors.dtype.kind not in "fiu" or not vectors.size:
            summary = f"{getattr(vectors, 'dtype', type(vectors).__name__)} {np.shape(vectors)}"
            raise InputError(
                f"{name}: expected vectors as an array of numbers (words, contexts, dimensions), not {summary:.80}"
            )
        flat = vectors.reshape(len(vectors), -1)
        return cls(MemoryModel.of(words, flat, name=name), vectors.shape[1])

    @property
    def path(self) -> Path:
        """Return the model's folder, if it has one."""
        return self.store.path  # type: ignore[attr-defined]

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self.store.name

    @property
    def vocab_prefix(self) -> str:
        """Return the text that precedes every word in the vocabulary, which is empty."""
        return self.store.vocab_prefix

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return model.json, or other facts about the model."""
        return self.store.metadata

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the row of each word as int64, -1 for words that the model lacks."""
        return self.store.rows(words)

    def take(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the vectors of `words` at their `rows` (none is -1) as float64 (n, contexts, dimensions)."""
        return self.store.take(words, rows).reshape(len(rows), self.contexts, -1)

    def under(self, transform: object) -> Any:
        """Raise InputError, as a debias method changes one vector per word."""
        raise InputError(f"{self.name}: has a vector per context; a debias method changes vectors of words")

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.store)

    def __contains__(self, word: object) -> bool:
        return word in self.store

    def __repr__(self) -> str:
        return f"ContextualVectors({self.name!r}: {len(self):,} words in {self.contexts} contexts)"
