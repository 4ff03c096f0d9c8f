"""Models of word vectors from a user's data: a file of any supported format, or vectors in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError, quote
from .memory import MemoryModel, check_in_memory
from .model import Model
from .readers import convert, suffixless
from .store import EmbeddingStore
from .store_writer import REPLACE
from .subwords import SubwordModel, Subwords
from .temporary import working_folder

LISTED = "a path, a model's name, gensim's or Flair's vectors, a DataFrame, a mapping word -> vector, (words, array)"


def load(
    source: Any,
    name: str | None = None,
    format: str | None = None,
    sha256: str | None = None,
    trust_pickle: bool = False,
    vocab_prefix: str = "",
    subwords: bool = False,
    limit: int | None = None,
    broken_words: str = REPLACE,
) -> Model:
    """Load a model of word vectors, with the options of `biasgrid.load`.

    A file or folder (`Path`) becomes a temporary store, which is removed together with the model. All other
    sources become a model in memory.
    """
    if not isinstance(source, Path):
        broken = None if broken_words == REPLACE else broken_words
        check_in_memory(format=format, sha256=sha256, limit=limit, broken_words=broken)
        return _of_object(source, name, vocab_prefix, subwords)
    options: dict[str, Any] = {"format": format, "sha256": sha256, "trust_pickle": trust_pickle}
    options |= {"vocab_prefix": vocab_prefix, "subwords": subwords}
    options |= {"limit": limit, "broken_words": broken_words}
    with working_folder(" (set TMPDIR to use a different folder)") as folder:
        convert(source, folder.path / "store", name=name or suffixless(source), **options)
        store = EmbeddingStore.open(folder.path / "store", keeper=folder)
        return SubwordModel(store, Subwords.open(store.path)) if subwords else store


def with_words(source: Any, words: Iterable[str], name: str | None = None) -> tuple[list[str], Any]:
    """Return the pair (words, array) for a torch.nn.Embedding or an array, and the words of its rows in order.

    Raise InputError for another source, and if the numbers of words and rows differ.
    """
    weight = getattr(source, "weight", source)
    if hasattr(weight, "detach"):
        weight = weight.detach().cpu().float().numpy()
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise InputError(f"words: expected a list of words, not {quote(words)}")
    names = list(words)
    if not isinstance(weight, np.ndarray) or weight.ndim != 2:
        raise InputError(
            f"words: is for a torch.nn.Embedding, or an array (words, dimensions), not {quote(type(source).__name__)}"
        )
    if len(names) != len(weight):
        raise InputError(
            f"words: has {len(names)} words, and {name or type(source).__name__} {len(weight)} rows"
        )
    return names, weight


def _of_object(source: Any, name: str | None, prefix: str, subwords: bool) -> Model:
    if hasattr(source, "check_model"):
        raise InputError("a transform is no model: put it over one with model.under(transform)")
    # WEFE's model, like gensim's full models, has gensim's vectors in `wv`.
    name = name or _text(getattr(source, "name", None))
    prefix = prefix or _text(getattr(source, "vocab_prefix", None)) or ""
    vectors = getattr(source, "wv", None)
    if vectors is None:  # Flair's fastText vectors, and its vectors before version 0.12
        vectors = getattr(source, "precomputed_word_embeddings", source)
    name = name or type(source).__name__
    words = next(
        (getattr(vectors, key) for key in ("index_to_key", "index2word") if hasattr(vectors, key)), None
    )
    ngrams = getattr(vectors, "vectors_ngrams", None)
    if subwords and ngrams is None:
        raise InputError(f"{name}: has no n-grams: subwords=True is for fastText models")
    if words is not None and hasattr(vectors, "vectors"):
        model = MemoryModel.of(words, np.asarray(vectors.vectors), name=name, vocab_prefix=prefix)
        if not subwords:
            return model
        return SubwordModel(model, Subwords(np.array(ngrams, dtype=np.float32), vectors.min_n, vectors.max_n))
    for kind, read in READ.items():
        if kind(source):
            words, array = read(source)
            name = (
                "model"
                if isinstance(source, (Mapping, tuple, list)) and name == type(source).__name__
                else name
            )
            return MemoryModel.of(words, array, name=name, vocab_prefix=prefix)
    if isinstance(source, np.ndarray):
        raise InputError("an array has no words: give load(array, words=[...])")
    raise InputError(f"cannot load {type(source).__name__} {quote(source):.60}; allowed: {LISTED}")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _is_frame(source: Any) -> bool:
    return all(hasattr(source, attribute) for attribute in ("index", "columns", "to_numpy"))


def _is_flair(source: Any) -> bool:
    return isinstance(getattr(source, "vocab", None), Mapping) and hasattr(
        getattr(source, "embedding", None), "weight"
    )


def is_pair(source: Any) -> bool:
    return isinstance(source, (tuple, list)) and len(source) == 2 and not isinstance(source[0], str)


def _read_frame(frame: Any) -> tuple[Sequence[str], NDArray[Any]]:
    try:
        # Columns of pandas' own types, of objects and of mixed types are converted to float64.
        plain = len(set(map(str, frame.dtypes))) == 1 and isinstance(frame.dtypes.iloc[0], np.dtype)
        return list(frame.index), _array(frame.to_numpy(dtype=None if plain else np.float64))
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"the DataFrame has a column that is not of numbers: {error!s:.100}") from None


def _read_flair(embeddings: Any) -> tuple[Sequence[str], NDArray[Any]]:
    # The last row, after the rows of the words, is for unknown words.
    rows = embeddings.embedding.weight.detach().cpu().numpy()
    return list(embeddings.vocab), rows[list(embeddings.vocab.values())]


def _read_mapping(vectors: Mapping[str, Any]) -> tuple[Sequence[str], NDArray[Any]]:
    if not vectors:
        raise InputError("the mapping is empty: expected word -> vector")
    first = np.asarray(next(iter(vectors.values())))
    for word, vector in vectors.items():
        shape = np.shape(vector)
        if len(shape) != 1 or shape != first.shape:
            raise InputError(
                f"the vector of {quote(word)} has shape {shape}: expected numbers, as many as the first word's "
                f"{first.shape}"
            )
    return list(vectors), _array(list(vectors.values()))


def read_pair(pair: Sequence[Any]) -> tuple[Sequence[str], NDArray[Any]]:
    try:
        words = list(pair[0])
    except TypeError:
        raise InputError(f"a pair is (words, array), and {quote(pair[0])} is no list of words") from None
    return words, _array(pair[1])


def _array(vectors: Any) -> NDArray[Any]:
    try:
        array = np.asarray(vectors)
        if array.dtype.kind == "c":
            raise TypeError("complex numbers")
        return array if array.dtype.kind in "fiu" else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"vectors: expected numbers, (words, dimensions): {error!s:.100}") from None


READ: dict[Callable[[Any], bool], Callable[[Any], tuple[Sequence[str], NDArray[Any]]]] = {
    _is_frame: _read_frame,
    _is_flair: _read_flair,
    lambda source: isinstance(source, Mapping): _read_mapping,
    is_pair: read_pair,
}
