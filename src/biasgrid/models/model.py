"""The base class of models of word vectors, whether the vectors are in files or in memory."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.errors import BiasgridError, InputError, WordError, not_allowed, quote
from ..core.letters import lookalikes
from ..core.wefe_names import MODEL, no_attribute
from .kinds.kind import VECTORS

BLOCK = 8192  # rows that are in memory at a time


class Transform(Protocol):
    """The part of a debias method's transform (`debias.transform.Transform`) that models use."""

    @property
    def method(self) -> str: ...

    @property
    def output_dimensions(self) -> int: ...

    @property
    def only(self) -> tuple[str, ...] | None: ...

    @property
    def leave(self) -> tuple[str, ...]: ...

    @property
    def override_words(self) -> tuple[str, ...]: ...

    @property
    def override_rows(self) -> NDArray[Any] | None: ...

    def apply(self, vectors: NDArray[Any], words: Sequence[str]) -> NDArray[np.float64]: ...

    def check_model(self, model: Model) -> None: ...

    def summary(self) -> dict[str, Any]: ...


class Model(ABC):
    """Words and their vectors: an `EmbeddingStore`, a `MemoryModel`, or one of them with a debias transform applied.

    A subclass defines `rows` (words to row numbers), `take`, `matrix` and `read` (rows to vectors), `words`,
    `vocabulary` and `row_count`, and the attributes below. All other methods, and metrics, debias methods and
    inference, use only these. Words are looked up exactly as given, without case folding; a vocabulary prefix
    is part of the word. (Metrics look words up with preprocessors, and add the prefix.)

    Attributes
    ----------
    name : str
        The model's name, printed in tables.
    dimensions : int
        The length of each vector.
    vocab_prefix : str
        The text that precedes every word in the vocabulary (/c/en/ in ConceptNet Numberbatch); "" in most
        models.
    metadata : mapping
        Further facts about the model, with the keys of a store's model.json, such as `sorted` (whether the
        words are in order of frequency). It may be empty.

    Examples
    --------
    >>> import biasgrid
    >>> model = biasgrid.load({"he": [1.0, 0.0], "she": [0.0, 1.0], "him": [1.0, 0.5]}, name="tiny")
    >>> model
    MemoryModel('tiny': 3 words, 2 dimensions)
    >>> model["he"]
    array([1., 0.], dtype=float32)
    >>> "they" in model, len(model), list(model)
    (False, 3, ['he', 'she', 'him'])
    >>> model.vectors(["he", "she"]).shape
    (2, 2)
    >>> model.most_similar("he", topn=1)[0][0]
    'him'
    """

    kind = VECTORS
    if TYPE_CHECKING:
        # Some kinds of models have these as fields, others compute them.
        @property
        def name(self) -> str: ...

        @property
        def vocab_prefix(self) -> str: ...

        @property
        def metadata(self) -> Mapping[str, Any]: ...

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """Return how often each row's word occurs in the model's training corpus, int64 (rows,).

        None if this is not known, as in most models.
        """
        return None

    @property
    @abstractmethod
    def dimensions(self) -> int: ...

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Return the checksum (sha256) of the vectors in a store's format; transforms are fitted on it."""

    @abstractmethod
    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the row of each of the `words` as int64, -1 for words that the vocabulary lacks;
        thread-safe."""

    @abstractmethod
    def take(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the vectors of `words` at their `rows` (none is -1) as float64 (n, dimensions)."""

    @abstractmethod
    def matrix(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of `words` at their `rows`, like `take`, as float32 (n, dimensions).

        It is meant for a large part of the vocabulary.
        """

    @property
    @abstractmethod
    def row_count(self) -> int:
        """Return the number of rows, which may be smaller than the number of words."""

    @abstractmethod
    def read(self, rows: slice | NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of `rows`, whatever their words, as float32 (n, dimensions).

        Debias methods are fitted on these vectors.
        """

    @abstractmethod
    def words(self) -> list[str]:
        """Return all words in the order of their rows; words that share a row are ordered by code point."""

    @abstractmethod
    def vocabulary(self, limit: int | None = None) -> tuple[list[str], NDArray[np.int64]]:
        """Return one word for each of the first `limit` rows, and the rows (int64), without repeated vectors."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of words, which may be larger than the number of rows."""

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.rows([word])[0] >= 0)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words())

    def __getitem__(self, word: str) -> NDArray[np.float32]:
        """Return the vector of one word, float32 (dimensions,). Raise WordError, a KeyError, if it is
        missing."""
        if not isinstance(word, str):
            raise InputError(
                f"{self.name}: expected one word, not {quote(word)}; several: model.vectors(['he', 'she'])"
            )
        vector: NDArray[np.float32] = self.vectors([word])[0]
        return vector

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of words.

        Parameters
        ----------
        words
            Words, looked up exactly as given.

        Returns
        -------
        numpy.ndarray
            float32 (words, dimensions). A debiased model gives the same vectors as a file saved from it.

        Raises
        ------
        WordError
            The model lacks a word. It is a BiasgridError and a KeyError.
        """
        words = list(words) if isinstance(words, Iterable) and not isinstance(words, str) else words
        rows = self.rows(words)
        if (rows < 0).any():
            word = words[int(np.argmin(rows))]
            close = [form for form in _forms(word, self.vocab_prefix) if form in self]
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise WordError(f"{self.name} has no word {quote(word)}{hint}")
        return self.take(words, rows).astype(np.float32)

    def most_similar(
        self,
        positive: str | ArrayLike | Sequence[str | ArrayLike] = (),
        negative: str | ArrayLike | Sequence[str | ArrayLike] = (),
        topn: int = 10,
        restrict_vocab: int | None = None,
    ) -> list[tuple[str, float]]:
        """Find the words whose vectors are nearest, by cosine, to a word, a vector, or a sum of several.

        Parameters
        ----------
        positive, negative
            A word, a vector (dimensions,), or a list of these. Their unit vectors are added and subtracted.
        topn
            The number of words to return.
        restrict_vocab
            Search only this many first rows; in most models these are the most frequent words.

        Returns
        -------
        list of (str, float)
            Words and their cosines (-1 to 1), the nearest first, without the given words. If words share a
            vector, only one of them is returned.

        Raises
        ------
        BiasgridError
            The model lacks a word, or the given vectors add up to zero.

        Examples
        --------
        >>> model.most_similar(positive=["king", "woman"], negative=["man"], topn=3)  # doctest: +SKIP
        """
        for name, value in (("topn", topn), ("restrict_vocab", restrict_vocab)):
            if value is not None and (type(value) is not int or value < 1):
                raise InputError(not_allowed(name, value, "whole numbers from 1 on"))
        direction = np.zeros(self.dimensions)
        words: list[str] = []
        for sign, side in ((1, positive), (-1, negative)):
            for part in _parts(side):
                if isinstance(part, str):
                    words.append(part)
                    part = self[part]
                vector = np.asarray(part, dtype=np.float64)
                if vector.shape != (self.dimensions,):
                    raise InputError(
                        f"most_similar: a vector of shape {vector.shape} is not allowed; allowed: words, and vectors "
                        f"of shape ({self.dimensions},)"
                    )
                length = np.linalg.norm(vector)
                direction += sign * vector / length if length > 0 else 0
        length = np.linalg.norm(direction)
        if not length > 0:
            raise InputError("most_similar: what was given adds up to no direction; give a word or a vector")
        entries, rows = self.vocabulary(restrict_vocab)
        cosines = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            vectors = self.matrix(entries[part], rows[part])
            lengths = np.linalg.norm(vectors, axis=1)
            # A zero vector does not have a direction, so it is never a neighbour.
            products = vectors @ (direction / length).astype(np.float32)
            cosines[part] = np.where(lengths > 0, products / np.where(lengths > 0, lengths, 1), -np.inf)
        cosines[np.isin(rows, self.rows(words))] = -np.inf
        topn = min(topn, int((cosines > -np.inf).sum()))
        best = np.argpartition(-cosines, topn - 1)[:topn] if topn else np.array([], dtype=np.int64)
        best = best[np.lexsort((best, -cosines[best]))]
        return [(entries[place], float(cosines[place])) for place in best]

    def under(self, transform: Transform, name: str | None = None) -> DebiasedModel:
        """Apply a debias method's transform to this model; vectors change when they are looked up.

        Parameters
        ----------
        transform
            A fitted transform, as `debias.hard` and the other methods return it.
        name
            The debiased model's name. None joins the model's name, the method's name and "debiased" with "_".

        Raises
        ------
        BiasgridError
            The transform was fitted on other vectors, or the argument is not a transform.
        """
        if name is not None and not isinstance(name, str):
            raise InputError(f"{self.name}.under: name: expected a text, not {quote(name)}")
        if not hasattr(transform, "check_model"):
            raise InputError(
                f"{self.name}.under: expected a transform, as debias.hard(model, ...) returns, not {quote(transform)}"
            )
        transform.check_model(self)
        return DebiasedModel(self, transform, name)

    def save(self, path: Path | str) -> None:
        """Write the words of the vocabulary and their float32 vectors to a file or folder.

        Parameters
        ----------
        path
            .bin, .txt and .vec are word2vec's formats (also .gz), .kv is gensim's, .npz holds `words` and
            `vectors`; a name without suffix becomes a store's folder. An existing file is replaced.

        Raises
        ------
        BiasgridError
            The suffix is unknown, the format cannot hold a word, or the folder contains other things.
        DiskError
            The file cannot be written.
        """
        # Imported late: `saving` imports this module.
        from .saving import save

        save(self, path)

    # Type checkers do not see this method, so that they report unknown attributes.
    if not TYPE_CHECKING:

        def __getattr__(self, attribute: str) -> Any:
            raise AttributeError(
                no_attribute(type(self).__name__, attribute, MODEL), name=attribute, obj=self
            )

    def __repr__(self) -> str:
        facts = [f"{len(self):,} words", f"{self.dimensions} dimensions", *self._facts().values()]
        return f"{type(self).__name__}({self.name!r}: {', '.join(facts)})"

    def _repr_html_(self) -> str:
        facts = {
            "model": self.name,
            "words": f"{len(self):,}",
            "dimensions": str(self.dimensions),
            **self._facts(),
        }
        cells = "".join(
            f"<tr><th>{html.escape(key)}</th><td>{html.escape(value)}</td></tr>"
            for key, value in facts.items()
        )
        return f"<table>{cells}</table>"

    def _facts(self) -> dict[str, str]:
        """Return further facts for the reprs, in addition to name and sizes."""
        return {}


@dataclass(frozen=True, eq=False, repr=False)
class DebiasedModel(Model):
    """A model with a transform applied, made by `model.under(transform)`; it has the original model's words."""

    model: Model
    transform: Transform
    given_name: str | None = None

    @property
    def name(self) -> str:
        """Return the given name, or else the model's name, the method's name and "debiased", joined with "_"."""
        return self.given_name or f"{self.model.name}_{self.transform.method}_debiased"

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """Return the original model's counts."""
        return self.model.counts

    @property
    def dimensions(self) -> int:
        """Return the length of the transformed vectors."""
        return self.transform.output_dimensions

    @property
    def vocab_prefix(self) -> str:
        return self.model.vocab_prefix

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return rows of the original model."""
        return self.model.rows(words)

    def words(self) -> list[str]:
        """Return the words of the original model."""
        return self.model.words()

    def vocabulary(self, limit: int | None = None) -> tuple[list[str], NDArray[np.int64]]:
        """Return the vocabulary of the original model."""
        return self.model.vocabulary(limit)

    def take(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return each word's transformed vector as float64 (n, dimensions), rounded to float32's precision.

        A file of the debiased model holds the same vectors, so measuring either gives the same numbers.
        """
        vectors = self.transform.apply(self.model.take(words, rows), words)
        return vectors.astype(np.float32).astype(np.float64)

    def matrix(
        self, words: Sequence[str], rows: NDArray[np.int64], block: int = BLOCK
    ) -> NDArray[np.float32]:
        """Return the vectors of `words` at their `rows`, like `take`, block by block, as float32 (n, dimensions)."""
        vectors = np.empty((len(rows), self.dimensions), dtype=np.float32)
        for start in range(0, len(rows), block):
            part = slice(start, start + block)
            vectors[part] = self.take(words[part], rows[part])
        return vectors

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return the original model's metadata."""
        return self.model.metadata

    @property
    def row_count(self) -> int:
        return self.model.row_count

    def read(self, rows: slice | NDArray[np.int64]) -> NDArray[np.float32]:
        """Raise an error, as words that share a row may have different debiased vectors."""
        raise self._transform_error()

    def under(self, transform: Transform, name: str | None = None) -> DebiasedModel:
        raise self._transform_error()

    @property
    def fingerprint(self) -> str:
        """Raise an error: a transform can only be fitted on a whole, original model."""
        raise self._transform_error()

    def _transform_error(self) -> BiasgridError:
        return InputError(
            f"{self.name}: is under {self.transform.method} already: to debias it again, save it and load the file"
        )

    def __len__(self) -> int:
        return len(self.model)

    def _facts(self) -> dict[str, str]:
        return {"debiased": f"{self.model.name} under {self.transform.method}"}


def _parts(side: Any) -> list[Any]:
    """Return a word, a vector, or a list of these as a list."""
    if isinstance(side, str):
        return [side]
    try:
        side = list(side)
    except TypeError:
        raise InputError(
            f"most_similar: {quote(side)} is not allowed; allowed: a word, a vector, or a list of these"
        ) from None
    return (
        [np.asarray(side)]
        if side and all(np.ndim(part) == 0 and not isinstance(part, str) for part in side)
        else side
    )


def _forms(word: object, prefix: str) -> list[str]:
    """Return other spellings under which a word may be in a vocabulary."""
    if not isinstance(word, str):
        return []
    return [
        form
        for prefix in dict.fromkeys(["", prefix])
        for form in (prefix + f for f in [word, *lookalikes(word)])
    ]
