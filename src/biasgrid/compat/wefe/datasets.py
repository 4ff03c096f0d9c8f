"""WEFE's word sets, its test model, and words looked up as it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import preprocessing, words
from ...api.load import load
from ...api.word_sets import word_sets
from ...preprocessing import AS_WRITTEN
from .models import WordEmbeddingModel


def load_weat() -> dict[str, Any]:
    return word_sets("weat")


def load_bingliu() -> dict[str, Any]:
    return word_sets("bingliu")


def fetch_eds(
    occupations_year: int = 2015, top_n_race_occupations: int = 10, n_retries: int = 3
) -> dict[str, Any]:
    years = {"occupations_year": occupations_year, "top_n_race_occupations": top_n_race_occupations}
    return word_sets("eds", **years)


def fetch_debiaswe(n_retries: int = 3) -> dict[str, Any]:
    """`male_terms` and `female_terms` are each under its own name, which are swapped in WEFE."""
    return word_sets("debiaswe")


def fetch_debias_multiclass(n_retries: int = 3) -> dict[str, Any]:
    return word_sets("multiclass")


def fetch_gn_glove(n_retries: int = 3) -> dict[str, Any]:
    return word_sets("gn_glove")


def load_test_model() -> WordEmbeddingModel:
    return WordEmbeddingModel(load("word2vec-google-news-300-subset"), "test_w2v")


def preprocess_word(word: str, options: dict[str, Any] | None = None, vocab_prefix: str | None = None) -> str:
    return preprocessing.variant(word, options or {}, vocab_prefix or "")


def get_embeddings_from_set(
    model: WordEmbeddingModel,
    word_set: Sequence[str],
    preprocessors: Sequence[Any] = AS_WRITTEN,
    strategy: str = "first",
    normalize: bool = False,
    verbose: bool = False,
) -> tuple[list[str], dict[str, np.ndarray]]:
    """The words that are lost, and the vectors of those that are found, by vocabulary entry."""
    options = words.WordOptions(preprocessors, strategy, normalize)
    entries = words.find("set", tuple(word_set), model.model, options)
    return list(entries.lost), dict(zip(entries.keys, entries.vectors.astype(np.float32), strict=True))
