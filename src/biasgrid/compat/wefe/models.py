"""WEFE's models and queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import query as queries
from ...api.load import load
from ...embeddings.model import Model
from ...embeddings.store import DebiasedModel
from ...geometry import unit_or_zero


class WordEmbeddingModel:
    """A model, its name and its vocabulary's prefix.

    Parameters
    ----------
    wv
        gensim's KeyedVectors, or all else that `biasgrid.load` takes.
    """

    def __init__(self, wv: Any, name: str | None = None, vocab_prefix: str | None = None):
        self.name = "Unnamed model" if name is None else name
        self.vocab_prefix = vocab_prefix
        self.hold(wv)

    def hold(self, wv: Any) -> None:
        self.wv = wv
        self.model = (
            wv if isinstance(wv, Model) else load(wv, name=self.name, vocab_prefix=self.vocab_prefix or "")
        )

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


def copy_of(model: Model, change: Callable[[np.ndarray], np.ndarray] = lambda vectors: vectors) -> Model:
    """A model in memory of the vectors of another one, changed."""
    entries = model.words()
    vectors = change(np.array(model.matrix(entries, model.rows(entries))))
    return load((entries, vectors), name=model.name, vocab_prefix=model.vocab_prefix)


class Query(queries.Query):
    """Target sets and attribute sets of words, with their names."""

    @property
    def query_name(self) -> str:
        return self.name

    def dict(self) -> dict[str, Any]:
        return {
            "target_sets": [list(s) for s in self.target_sets],
            "attribute_sets": [list(s) for s in self.attribute_sets],
            "target_sets_names": self.target_sets_names,
            "attribute_sets_names": self.attribute_sets_names,
            "query_name": self.name,
            "template": self.template,
        }

    def get_subqueries(self, new_template: tuple[Any, Any]) -> list[Query]:
        return [Query.from_dict(query.to_dict()) for query in self.subqueries(new_template)]

    def __repr__(self) -> str:
        targets, attributes = ([list(s) for s in sets] for sets in (self.target_sets, self.attribute_sets))
        return f"<Query: {self.name}\n- Target sets: {targets}\n- Attribute sets:{attributes}>"


def untransformed(model: WordEmbeddingModel) -> Model:
    """The model; one that is debiased already as vectors in memory, which can be debiased again."""
    return copy_of(model.model) if isinstance(model.model, DebiasedModel) else model.model
