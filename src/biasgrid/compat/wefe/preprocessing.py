"""WEFE's look-up of words: its spelling variants, and the vectors of sets, tuples and queries."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.errors import BiasgridError
from ...core.user_warnings import stacklevel
from ...measure.value_warnings import LostWordsWarning
from ...models.preprocessing import AS_WRITTEN, NFKD, check_preprocessor, variant
from ...models.words import WordOptions, WordVectors, find
from .query import Query, check_query
from .word_embedding_model import WordEmbeddingModel, check_model

Embeddings = dict[str, np.ndarray]


def preprocess_word(word: str, options: dict[str, Any] | None = None, vocab_prefix: str | None = None) -> str:
    return variant(word, wefe_form(options or {}), vocab_prefix or "")


def get_embeddings_from_set(
    model: WordEmbeddingModel,
    word_set: Sequence[str],
    preprocessors: Sequence[Any] = AS_WRITTEN,
    strategy: str = "first",
    normalize: bool = False,
    verbose: bool = False,
) -> tuple[list[str], Embeddings]:
    """Return the words that the model lacks, and the vectors of the others by vocabulary entry."""
    found = _find("set", word_set, model, WordOptions(wefe_forms(preprocessors), strategy, normalize))
    return list(found.lost), _embeddings(found)


def get_embeddings_from_tuples(
    model: WordEmbeddingModel,
    sets: Sequence[Sequence[str]],
    sets_name: str | None = None,
    preprocessors: Sequence[Any] = AS_WRITTEN,
    strategy: str = "first",
    normalize: bool = False,
    discard_incomplete_sets: bool = True,
    warn_lost_sets: bool = True,
    verbose: bool = False,
) -> list[Embeddings]:
    """Return the vectors of each set, such as a pair, by vocabulary entry. Sets that lack a word are left out.

    Raise BiasgridError if no set is left.
    """
    name = sets_name or "sets"
    options = WordOptions(wefe_forms(preprocessors), strategy, normalize)
    embeddings = []
    for words in sets:
        found = _find(name, words, model, options)
        if found.lost and warn_lost_sets:
            _warn(f"{name}: {model.name} lacks {list(found.lost)} of {list(words)}")
        if not (found.lost and discard_incomplete_sets):
            embeddings.append(_embeddings(found))
    if not embeddings:
        raise BiasgridError(f"{name}: {model.name} has no set with all its words")
    return embeddings


get_embeddings_from_sets = get_embeddings_from_tuples  # its name in WEFE's guide to debias methods


def get_embeddings_from_query(
    model: WordEmbeddingModel,
    query: Query,
    lost_vocabulary_threshold: float = 0.2,
    preprocessors: Sequence[Any] = AS_WRITTEN,
    strategy: str = "first",
    normalize: bool = False,
    warn_not_found_words: bool = False,
    verbose: bool = False,
) -> tuple[dict[str, Embeddings], dict[str, Embeddings]] | None:
    """Return the vectors of the target sets and of the attribute sets, by set and vocabulary entry.

    Return None if the model lacks too many words of a set.
    """
    check_query(query)
    options = WordOptions(wefe_forms(preprocessors), strategy, normalize, lost_vocabulary_threshold)
    sides = [
        [_find(s.name, s.words, model, options) for s in side]
        for side in (query.target_sets, query.attribute_sets)
    ]
    found = [found for side in sides for found in side]
    if warn_not_found_words and any(s.lost for s in found):
        _warn(f"{query.name}: {model.name} lacks { {s.name: list(s.lost) for s in found if s.lost} }")
    if any(s.lost_share > lost_vocabulary_threshold for s in found):
        return None
    targets, attributes = ({s.name: _embeddings(s) for s in side} for side in sides)
    return targets, attributes


def wefe_forms(preprocessors: Any) -> Any:
    """Return preprocessors of this library that give the same forms as WEFE's."""
    return list(map(wefe_form, preprocessors)) if isinstance(preprocessors, (list, tuple)) else preprocessors


def wefe_form(options: Any) -> Any:
    """Return a preprocessor that strips accents like scikit-learn, and writes title case like Python's strings."""
    if not isinstance(options, Mapping):
        return options
    check_preprocessor(options)
    accents = options.get("strip_accents")
    form = {**options, "strip_accents": NFKD} if accents in (True, "unicode") else options
    if not options.get("titlecase"):
        return form
    others = {**form, "titlecase": False}

    def title(word: str) -> str:
        return variant(word.title(), others)

    return title


def _find(name: str, words: Sequence[str], model: WordEmbeddingModel, options: WordOptions) -> WordVectors:
    check_model(model)
    return find(name, tuple(words), model.model, options)


def _embeddings(found: WordVectors) -> Embeddings:
    return dict(zip(found.keys, found.vectors.astype(np.float32), strict=True))


def _warn(text: str) -> None:
    warnings.warn(text, LostWordsWarning, stacklevel=stacklevel())
