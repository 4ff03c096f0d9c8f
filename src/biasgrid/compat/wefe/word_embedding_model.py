"""WEFE's models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np

from ...api.load import load
from ...embeddings.model import Model
from ...embeddings.store import DebiasedModel
from ...errors import InputError, quote
from ...geometry import unit_or_zero


class WordEmbeddingModel:
    """A model, its name and its vocabulary's prefix.

    Parameters
    ----------
    wv
        gensim's KeyedVectors, or all else that `biasgrid.load` takes.
    name
        What results call it.
    vocab_prefix
        What stands before every word in the vocabulary, such as "/c/en/".
    """

    def __init__(self, wv: Any, name: str | None = None, vocab_prefix: str | None = None):
        self.name = "Unnamed model" if name is None else name
        self.vocab_prefix = vocab_prefix
        self.hold(wv)

    def hold(self, wv: Any) -> None:
        self.wv = wv
        model = wv if isinstance(wv, Model) else load(wv, name=self.name)
        self.model = with_prefix(model, self.vocab_prefix)

    def __eq__(self, model: object) -> bool:
        return isinstance(model, WordEmbeddingModel) and self.wv is model.wv and self.name == model.name

    __hash__ = object.__hash__

    def __getitem__(self, word: str) -> np.ndarray:
        return self.model[word]

    def __contains__(self, word: object) -> bool:
        return word in self.model

    def __len__(self) -> int:
        return len(self.model)

    def __repr__(self) -> str:
        prefix = f" and {self.vocab_prefix!r} as word prefix" if self.vocab_prefix else ""
        size = f"{len(self)} word embeddings of {self.model.dimensions} dims"
        return f"<WordEmbeddingModel named {self.name!r} with {size}{prefix}>"

    def get(self, word: str, default: Any = None) -> Any:
        return self.model[word] if word in self.model else default  # noqa: SIM401

    def normalize(self) -> None:
        self.hold(copy_of(self.model, unit_or_zero))

    def update(self, word: str, embedding: np.ndarray) -> None:
        self.batch_update([word], [embedding])

    def batch_update(self, words: Sequence[str], embeddings: Sequence[np.ndarray] | np.ndarray) -> None:
        self.model.vectors(words)  # raises for a word that is not there

        def change(vectors: np.ndarray) -> np.ndarray:
            place = {word: row for row, word in enumerate(self.model.words())}
            vectors[[place[word] for word in words]] = embeddings
            return vectors

        self.hold(copy_of(self.model, change))


def check_model(model: object) -> None:
    """Raise InputError for anything but a WordEmbeddingModel."""
    if not isinstance(model, WordEmbeddingModel):
        raise InputError(
            f"model: {quote(model)} is not a WordEmbeddingModel: WordEmbeddingModel(model, name) makes one"
        )


def copy_of(model: Model, change: Callable[[np.ndarray], np.ndarray] = lambda vectors: vectors) -> Model:
    """A model in memory of the vectors of another one, changed."""
    entries = model.words()
    vectors = change(np.array(model.matrix(entries, model.rows(entries))))
    return with_prefix(load((entries, vectors), name=model.name), model.vocab_prefix)


def with_prefix(model: Model, prefix: str | None) -> Model:
    """Return a model whose words are looked up behind a prefix, which no word need have, as in WEFE."""
    if not prefix or model.vocab_prefix == prefix or not is_dataclass(model):
        return model
    return replace(model, vocab_prefix=prefix)


def untransformed(model: WordEmbeddingModel) -> Model:
    """Return the model; one that is debiased already as vectors in memory, which can be debiased again."""
    check_model(model)
    return copy_of(model.model) if isinstance(model.model, DebiasedModel) else model.model
