"""Training of word vectors on a corpus, and the store that has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from biasgrid.models.algorithms import Algorithm
from biasgrid.models.corpus.text import Sentences
from biasgrid.models.store_writer import StoreWriter

from .corpora import SENTENCE, RunningText, Shuffled
from .parameters import Parameters
from .parameters import check as check_parameters

if TYPE_CHECKING:
    import numpy as np


class Trained(NamedTuple):
    """What a training gives: words by falling frequency, their vectors and counts, and facts for model.json.

    The vectors are float32 (words, vector_size), the counts int64 (words,). The facts have the number of `tokens` in
    the corpus.
    """

    words: list[str]
    vectors: np.ndarray
    counts: np.ndarray
    facts: dict[str, Any]


# (sentences, where, **params): `where` is the name of the corpus in messages.
Train = Callable[..., Trained]


@dataclass(frozen=True, kw_only=True)
class VectorAlgorithm(Algorithm):
    """An algorithm that trains vectors, also on sentences in memory: lists of tokens, which are read several times.

    A context window does not cross the end of a sentence.
    """

    train: Train


def algorithm_of_vectors(
    name: str,
    meaning: str,
    parameters: Parameters,
    train: Train,
    version: Callable[[], str],
    check: Callable[[Mapping[str, Any]], None] | None = None,
    needs: str = "",
) -> VectorAlgorithm:
    """Return an algorithm that trains vectors with the function `train`; see `Algorithm`."""
    return VectorAlgorithm(
        name,
        meaning,
        kind="vectors",
        parameters=parameters,
        check=check or partial(check_parameters, name, parameters),
        version=version,
        make=partial(make_store, train),
        needs=needs,
        train=train,
    )


def make_store(
    train: Train,
    archive: Path,
    folder: Path,
    *,
    name: str,
    model: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> None:
    """Train a model of a study and write its store, words by falling frequency (`Algorithm.make`).

    The store has the words' counts, and its model.json the number of `tokens` in the corpus.

    Raises BiasgridError if the corpus is damaged or has too few words.
    """
    source = model["source"]
    corpus = source["corpus"]
    text: Iterable[list[str]] = (
        Sentences(archive, corpus["format"], SENTENCE) if "format" in corpus else RunningText(archive)
    )
    if "shuffle" in corpus:
        text = Shuffled(text, corpus["shuffle"])
    words, vectors, counts, facts = train(text, archive, **source["params"])
    with StoreWriter(folder, archive) as writer:
        writer.add(words, vectors, counts=counts)
        record = {"label": name, "note": ""} | dict(metadata)
        writer.finish(
            record | facts | {"name": name, "format": "trained", "vocab_prefix": "", "sorted": True}
        )
