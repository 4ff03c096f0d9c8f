"""Reader of gensim's KeyedVectors, and of saved models that contain them (Word2Vec, FastText)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import BiasgridError, quote
from ...core.untrusted import parser_errors
from ..store_writer import StoreWriter
from ..subwords import LONGEST_NGRAM, vectors_of_words
from .files import blocks, check_array, load_array, whole_counts
from .gensim_pickle import INTEGERS, Array, Attributes, unpickle
from .reader import Reader

# Attributes in gensim 4, 3, 2 and 1, in this order.
WORDS = ("index_to_key", "index2word", "index2entity")
VECTORS = ("vectors", "syn0")


def read(path: Path, writer: StoreWriter) -> None:
    model = unpickle(path)
    state, name = vars(model) if isinstance(model, Attributes) else {}, path.name
    tokens = state.get("corpus_total_words")
    if isinstance(state.get("wv"), Attributes):
        # This is a full model: continue with its vectors, and the name that gensim gives their files.
        state, name = vars(state["wv"]), f"{path.name}.wv"
    names = {*state, *_beside(state)}
    words = next((state[key] for key in WORDS if isinstance(state.get(key), list)), None)
    attribute = next((key for key in VECTORS if key in names), None)
    if words is None or (attribute is None and "vectors_vocab" not in names):
        raise BiasgridError(f"{path}: holds no KeyedVectors")
    for word in words:
        if not isinstance(word, str):
            # The repr of deeply nested tuples could take forever.
            key = (
                quote(word)
                if isinstance(word, int | float | bytes | None)
                else f"of type {type(word).__name__}"
            )
            raise BiasgridError(f"{path}: key {key} is not a word")
    # gensim 4 does not save fastText's vectors, but computes them from the vectors of words and n-grams.
    vectors = _array(path, state, attribute or "vectors_vocab", name)
    if len(vectors) != len(words):
        raise BiasgridError(f"{path}: {len(words)} words, but {len(vectors)} vectors")
    counts = _counts(state, words)
    if counts is not None and type(tokens) is int and tokens > 0:
        writer.tokens = tokens
    ngrams: Any = None
    if attribute is None or (writer.wants_subwords and "vectors_ngrams" in names):
        ngrams = _ngrams(path, state, name, vectors.shape[1])
        sizes = state["min_n"], state["max_n"]
    if attribute is not None:
        for part in blocks(vectors):
            if writer.is_full:
                break
            writer.add(words[part], vectors[part], counts=None if counts is None else counts[part])
    else:
        encoded_words = [word.encode("utf-8", "surrogatepass") for word in words]
        for part, block in vectors_of_words(encoded_words, vectors, ngrams, *sizes, path, own_words=False):
            if writer.is_full:
                break
            writer.add(words[part], block, counts=None if counts is None else counts[part])
    if ngrams is not None and len(ngrams):
        writer.add_subwords(ngrams, *sizes)


def _beside(state: dict[str, Any]) -> list[str]:
    """Return the names of the arrays that gensim has saved in files next to the pickle."""
    names = state.get("__numpys")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _counts(state: dict[str, Any], words: list[str]) -> np.ndarray | None:
    """Return how often each word occurs in the corpus; None if the pickle does not contain counts.

    gensim 4 has an array of counts, gensim 3 the entries of its vocabulary.
    """
    expandos, entries = state.get("expandos"), state.get("vocab")
    counts: Any = None
    try:
        if isinstance(expandos, dict) and isinstance(expandos.get("count"), Array):
            counts = expandos["count"].array(INTEGERS)
        elif isinstance(entries, dict) and len(entries) == len(words):
            counts = np.array([entries[word].count for word in words], dtype=np.int64)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None
    return whole_counts(counts, len(words))


def _array(path: Path, state: dict[str, Any], key: str, name: str) -> np.ndarray:
    """Read an array of floats, which gensim saves next to the pickle if it is large."""
    if key in _beside(state):
        return load_array(path.with_name(f"{name}.{key}.npy"))
    array = state.get(key)
    with parser_errors(path, f"its {key} are not a whole array of floats"):
        array = array.array() if isinstance(array, Array) else array
    return check_array(array, path)


def _ngrams(path: Path, state: dict[str, Any], name: str, dimensions: int) -> np.ndarray:
    """Read the vectors of a fastText model's n-grams, one per bucket."""
    ngrams = _array(path, state, "vectors_ngrams", name)
    numbers: list[Any] = [state.get(key) for key in ("min_n", "max_n", "bucket")]
    min_n, max_n, buckets = numbers
    whole = all(type(number) is int for number in numbers)
    if not whole or ngrams.shape != (buckets, dimensions) or min_n < 1 or max_n > LONGEST_NGRAM:
        raise BiasgridError(
            f"{path}: its n-grams are {ngrams.shape}, and it says {buckets!r:.20} buckets of {dimensions} "
            f"dimensions, {min_n!r:.20} to {max_n!r:.20} characters: damaged, or saved by gensim 3: load it in "
            "gensim 4, and save it there"
        )
    return ngrams


def detect(sample: bytes) -> bool:
    """Return whether a file begins like a pickle of protocol 2 or later."""
    return re.match(rb"\x80[\x02-\x05]", sample) is not None


READERS = (
    Reader(
        name="gensim-kv",
        meaning="gensim's KeyedVectors, Word2Vec or FastText, saved with its arrays",
        detect=detect,
        read=read,
        pickled=True,
        beside="{}.*.npy",
    ),
)
