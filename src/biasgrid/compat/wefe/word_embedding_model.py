"""WEFE's models."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import ArgumentTypeError, InputError, WordError, did_you_mean, quote
from ...core.extras import require
from ...core.geometry import unit_or_zero
from ...models.load import load
from ...models.memory import MemoryModel
from ...models.model import Model
from ...models.store import DebiasedModel

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

# Among the objects that `load` takes, only gensim's vectors have these attributes.
GENSIM = ("index_to_key", "key_to_index", "vectors")


class WordEmbeddingModel:
    """A model, its name and its vocabulary's prefix.

    Parameters
    ----------
    wv
        gensim's KeyedVectors, or any other object that `biasgrid.load` takes.
    name
        Its name in results.
    vocab_prefix
        The text that precedes every word in the vocabulary, such as "/c/en/".

    Raises
    ------
    ArgumentTypeError
        An argument is of the wrong type. It is a TypeError, as in WEFE.
    """

    def __init__(self, wv: Any, name: str | None = None, vocab_prefix: str | None = None):
        for argument, value in {"name": name, "vocab_prefix": vocab_prefix}.items():
            if value is not None and not isinstance(value, str):
                raise ArgumentTypeError(f"{argument}: expected a text or None, not {quote(value)}")
        if wv is None or isinstance(wv, (bool, int, float)):
            raise ArgumentTypeError(f"wv: expected gensim's KeyedVectors, not {quote(wv)}")
        self.name = "Unnamed model" if name is None else name
        self.vocab_prefix = vocab_prefix
        self.hold(wv)

    def hold(self, wv: Any) -> None:
        """Replace the vectors."""
        self._given = wv
        self._wv: KeyedVectors | None = wv if all(hasattr(wv, name) for name in GENSIM) else None
        self._model = self._read(wv)

    def _read(self, wv: Any) -> Model:
        """Return this library's model of the vectors. For gensim's float32 vectors, it is a view of them."""
        model = wv if isinstance(wv, Model) else load(wv, name=self.name)
        shown = self._wv is not None and self._wv is wv
        if shown and isinstance(model, MemoryModel) and _is_same(model.array, wv.vectors):
            view = wv.vectors.view()
            view.setflags(write=False)
            model = replace(model, array=view)
        return with_prefix(model, self.vocab_prefix)

    @property
    def wv(self) -> KeyedVectors:
        """Return gensim's vectors. Changes of them change the measurements, as in WEFE."""
        if self._wv is None:
            require("gensim", "the attribute wv of a WordEmbeddingModel")
            from gensim.models import KeyedVectors

            words = self._model.words()
            self._wv = KeyedVectors(self._model.dimensions)
            self._wv.add_vectors(words, np.array(self._model.matrix(words, self._model.rows(words))))
            self._model = self._read(self._wv)
        return self._wv

    @property
    def model(self) -> Model:
        """Return this library's model of the current vectors."""
        if self._wv is None:
            return self._model
        model = self._model
        if not (isinstance(model, MemoryModel) and np.may_share_memory(model.array, self._wv.vectors)):
            self._model = model = self._read(self._wv)
        # Return a new object, as a model keeps the checksum of its vectors, which may have changed since.
        return replace(model) if isinstance(model, MemoryModel) else model

    @property
    def vocab(self) -> dict[str, int]:
        """Return the row of each word."""
        rows: dict[str, int] = self.wv.key_to_index
        return rows

    @property
    def model_name(self) -> str:
        """Return the name, under the attribute's name in WEFE's documentation."""
        return self.name

    def __eq__(self, model: object) -> bool:
        return (
            isinstance(model, WordEmbeddingModel)
            and self._given is model._given
            and (self.name, self.vocab_prefix) == (model.name, model.vocab_prefix)
        )

    __hash__ = object.__hash__

    def __deepcopy__(self, memo: dict[int, Any]) -> WordEmbeddingModel:
        vectors = self._model if self._wv is None else copy.deepcopy(self._wv, memo)
        return WordEmbeddingModel(vectors, self.name, self.vocab_prefix)

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
        """Divide each vector by its length, in `wv`."""
        vectors = self.wv.vectors
        self.wv.vectors = unit_or_zero(vectors.astype(np.float64)).astype(vectors.dtype)
        self.wv.norms = None  # so that gensim computes them again

    def update(self, word: str, embedding: np.ndarray) -> None:
        """Replace the vector of a word, in `wv`."""
        if not isinstance(word, str):
            raise ArgumentTypeError(f"word: expected a text, not {quote(word)}")
        self.batch_update([word], [embedding])

    def batch_update(self, words: Sequence[str], embeddings: Sequence[np.ndarray] | np.ndarray) -> None:
        """Replace the vectors of words in `wv`; after an error, none is replaced.

        Raises
        ------
        ArgumentTypeError
            The words are not a list of texts, or the vectors are not arrays.
        InputError
            The numbers of vectors and words differ, or a vector has another length or number type.
        WordError
            The model lacks a word.
        """
        for argument, values in {"words": words, "embeddings": embeddings}.items():
            if not isinstance(values, (list, tuple, np.ndarray)):
                raise ArgumentTypeError(f"{argument}: expected a list, not {quote(values)}")
        if len(words) != len(embeddings):
            raise InputError(f"embeddings: {len(embeddings)} vectors, but {len(words)} words")
        vectors, rows = self.wv.vectors, []
        for word, embedding in zip(words, embeddings, strict=True):
            if not isinstance(word, str):
                raise ArgumentTypeError(f"words: {quote(word)} is not a text")
            if word not in self.vocab:
                raise WordError(f"{self.name} has no word {quote(word)}; {did_you_mean(word, self.vocab)}")
            if not isinstance(embedding, np.ndarray):
                raise ArgumentTypeError(
                    f"embeddings: the vector of {quote(word)} must be a NumPy array, not {quote(embedding)}"
                )
            if embedding.shape != vectors.shape[1:]:
                raise InputError(
                    f"embeddings: the vector of {quote(word)} has shape {embedding.shape}; the model's have "
                    f"{vectors.shape[1:]}"
                )
            if not np.can_cast(embedding.dtype, vectors.dtype):
                raise InputError(
                    f"embeddings: the vector of {quote(word)} is {embedding.dtype}, and the model's are "
                    f"{vectors.dtype}; say embedding.astype({str(vectors.dtype)!r})"
                )
            rows.append(self.vocab[word])
        for row, embedding in zip(rows, embeddings, strict=True):
            vectors[row] = embedding
        self.wv.norms = None


def check_model(model: object) -> None:
    """Raise ArgumentTypeError unless the argument is a WordEmbeddingModel."""
    if not isinstance(model, WordEmbeddingModel):
        raise ArgumentTypeError(
            f"model: {quote(model)} is not a WordEmbeddingModel: WordEmbeddingModel(model, name) makes one"
        )


def with_prefix(model: Model, prefix: str | None) -> Model:
    """Return a model that adds a prefix to words before the look-up; as in WEFE, the vocabulary may lack it."""
    if not prefix or model.vocab_prefix == prefix or not is_dataclass(model):
        return model
    return replace(model, vocab_prefix=prefix)


def untransformed(model: WordEmbeddingModel) -> Model:
    """Return the model; a debiased one is returned as vectors in memory, which can be debiased again."""
    check_model(model)
    if not isinstance(model.model, DebiasedModel):
        return model.model
    words = model.model.words()
    vectors = model.model.matrix(words, model.model.rows(words))
    return with_prefix(load((words, vectors), name=model.name), model.vocab_prefix)


def _is_same(array: np.ndarray, vectors: Any) -> bool:
    """Return whether a view can replace the copy of gensim's vectors: all rows are there, and no number was
    rounded."""
    return isinstance(vectors, np.ndarray) and (vectors.dtype, vectors.shape) == (array.dtype, array.shape)
