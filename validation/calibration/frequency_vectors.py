"""Vectors of shuffled corpora, with or without an injected bias, and the queries that measure it."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from biasgrid.core.files import write_bytes
from biasgrid.models.algorithms import REGISTRY as ALGORITHMS

from .planting import Frequencies, Sets, Text


def vectors(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the vectors that are trained on a shuffled corpus, and its queries.

    Parameters
    ----------
    inputs
        "store": a `StoreOf` of a corpus.
    spec
        "algorithm" and its "params"; "number", its seed; and the options of `corpus_of`.
    output
        Arrays: "words" by descending frequency, their "vectors" and "counts", and "tokens" of the corpus. For each
        kind of query, an array has its words, (queries, 4, words): target sets, attribute sets.
    """
    text, by_kind = corpus_of(inputs["store"].open(), spec)
    params = dict(spec["params"])
    algorithm = ALGORITHMS[spec["algorithm"]]
    if "seed" in algorithm.parameters:
        params["seed"] = spec["number"]
    # Use one BLAS thread, because several threads round differently.
    with threadpool_limits(1):
        words, vectors, counts, _ = algorithm.train(text, "a shuffled corpus", **params)
    arrays = {"vectors": vectors, "counts": np.asarray(counts, dtype=np.int64)}
    spellings = np.array(text.words)
    arrays |= {f"query/{kind}": spellings[np.array(queries)] for kind, queries in by_kind.items()}
    file = BytesIO()
    np.savez(file, words=np.array(words), tokens=len(text.tokens), **arrays)
    write_bytes(output, file.getvalue())


def corpus_of(corpus: Any, spec: Mapping[str, Any]) -> tuple[Text, dict[str, list[Sets]]]:
    """Return a shuffled text and the sets of its queries by kind. A bias is injected for kinds that have one.

    Queries of the same kind do not share words. If a bias is injected, queries of different kinds do not either.
    """
    rng = np.random.default_rng(spec["seed"])
    text, frequencies = Text.shuffle(corpus, rng), Frequencies(**spec["of_words"])
    by_kind, kinds, planted = {}, dict(spec["kinds"]), any(kind["share"] for _, kind in spec["kinds"])
    free = frequencies.free(text)
    for key, kind in kinds.items():
        if not planted:
            free = frequencies.free(text)
        by_kind[key] = [
            frequencies.draw(text, tuple(kind["frequency"]), free, rng) for _ in range(spec["queries"])
        ]
    query_words = np.concatenate(
        [words for queries in by_kind.values() for sets in queries for words in sets]
    )
    for key, kind in kinds.items():
        if kind["share"]:
            pairs = [pair for x, y, a, b in by_kind[key] for pair in ((x, a), (y, b))]
            text = text.plant(pairs, kind["share"], query_words, rng)
    return text, by_kind
