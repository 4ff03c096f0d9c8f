"""Vectors of words in contexts: one of each word in each template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BiasgridError, InputError
from ..memory import MemoryModel
from ..model import Model
from ..store import EmbeddingStore

KIND = "contextual_vectors"
CONTEXTS = "contexts"  # of model.json: how many contexts each word has


@dataclass(frozen=True, eq=False, repr=False)
class ContextualVectors:
    """An opened model of words in contexts; `open` makes it.

    Attributes
    ----------
    store
        The vectors: of each word those of its contexts, one after the other.
    contexts
        How many contexts each word has; the same for all words.
    """

    store: Model
    contexts: int

    kind = KIND

    @classmethod
    def open(cls, path: Path | str, name: str | None = None) -> ContextualVectors:
        """Open a model's folder without reading its vectors. Raises BiasgridError for one that is no such model."""
        store = EmbeddingStore.open(path, name)
        contexts = store.metadata.get(CONTEXTS)
        if type(contexts) is not int or contexts < 1 or store.dimensions % contexts:
            raise BiasgridError(f"{path}: not a model of words in contexts: {CONTEXTS} is {contexts!r:.40}")
        return cls(store, contexts)

    @classmethod
    def of(cls, words: Sequence[str], vectors: NDArray[Any], *, name: str) -> ContextualVectors:
        """A model in memory of words and their vectors (words, contexts, dimensions). Raises InputError for vectors
        of another shape."""
        if getattr(vectors, "ndim", 0) != 3 or vectors.dtype.kind not in "fiu" or not vectors.size:
            summary = f"{getattr(vectors, 'dtype', type(vectors).__name__)} {np.shape(vectors)}"
            raise InputError(
                f"{name}: expected vectors as an array of numbers (words, contexts, dimensions), not {summary:.80}"
            )
        flat = vectors.reshape(len(vectors), -1)
        return cls(MemoryModel.of(words, flat, name=name), vectors.shape[1])

    @property
    def path(self) -> Path:
        """The folder of a model that is in one."""
        return self.store.path  # type: ignore[attr-defined]

    @property
    def name(self) -> str:
        """The model's name."""
        return self.store.name

    @property
    def vocab_prefix(self) -> str:
        """What stands before every word: nothing."""
        return self.store.vocab_prefix

    @property
    def metadata(self) -> Mapping[str, Any]:
        """model.json, or what else is known of the model."""
        return self.store.metadata

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The row of each word as int64, -1 where the model lacks it."""
        return self.store.rows(words)

    def take(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The vectors of words that were looked up (`rows`, none -1) as float64 (n, contexts, dimensions)."""
        return self.store.take(words, rows).reshape(len(rows), self.contexts, -1)

    def under(self, transform: object) -> Any:
        """A debias method changes one vector per word. Raises InputError."""
        raise InputError(f"{self.name}: has a vector per context; a debias method changes vectors of words")

    def __len__(self) -> int:
        """Number of words."""
        return len(self.store)

    def __contains__(self, word: object) -> bool:
        return word in self.store

    def __repr__(self) -> str:
        return f"ContextualVectors({self.name!r}: {len(self):,} words in {self.contexts} contexts)"
