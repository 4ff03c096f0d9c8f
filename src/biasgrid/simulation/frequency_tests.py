"""Tests of metrics on models of shuffled corpora: frequencies that differ and no bias, or a bias that is planted."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from .. import metrics
from ..embeddings.store import EmbeddingStore
from ..embeddings.training import PARAMETERS, train
from ..files import write_text
from ..inference import infer_query
from ..inference.pool import make_pool
from ..measure import as_finite, dumps
from ..query import Query
from .planting import Frequencies, Sets, Text

PLAIN, BANDS, CONTROLS = "permutation", "frequency_bands", "control_words"


def run(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the p-values of all tests on one model of one corpus.

    Parameters
    ----------
    inputs
        "store": a `StoreOf` of a corpus.
    spec
        "training", "corpora" and "number", what the file says first; "algorithm" and its "params"; "queries" of each of
        "kinds", [key, {"frequency": the two ratios, "share": of planted occurrences}]; the arguments of `Frequencies`,
        "of_words"; "metrics", [key, entry] each; "draws"; "seed", of the corpus and its queries.
    """
    text, drawn = corpus_of(inputs["store"].open(), spec)
    params = dict(spec["params"])
    if "seed" in PARAMETERS[spec["algorithm"]]:
        params["seed"] = spec["number"]
    # BLAS of several threads rounds otherwise
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        model = train(
            text,
            Path(folder) / "model",
            where=f"{spec['training']}/{spec['corpora']}/{spec['number']}",
            name=spec["training"],
            algorithm=spec["algorithm"],
            params=params,
            metadata={},
        )
        found = p_values(model, text, drawn, spec)
    record = {key: spec[key] for key in ("training", "corpora", "number")}
    write_text(output, dumps(as_finite(record | {"found": found})) + "\n")


def corpus_of(corpus: Any, spec: Mapping[str, Any]) -> tuple[Text, dict[str, list[Sets]]]:
    """A shuffled text, and the sets of its queries by their kind; a bias is planted in those that have one.

    Queries of one kind have no word in common; where a bias is planted, no two queries have one.
    """
    rng = np.random.default_rng(spec["seed"])
    text, how = Text.shuffled(corpus, rng), Frequencies(**spec["of_words"])
    drawn, kinds, planted = {}, dict(spec["kinds"]), any(kind["share"] for _, kind in spec["kinds"])
    free = how.free(text)
    for key, kind in kinds.items():
        if not planted:
            free = how.free(text)
        drawn[key] = [how.draw(text, tuple(kind["frequency"]), free, rng) for _ in range(spec["queries"])]
    kept = np.concatenate([words for queries in drawn.values() for sets in queries for words in sets])
    for key, kind in kinds.items():
        if kind["share"]:
            pairs = [pair for x, y, a, b in drawn[key] for pair in ((x, a), (y, b))]
            text = text.planted(pairs, kind["share"], kept, rng)
    return text, drawn


def p_values(
    model: EmbeddingStore, text: Text, drawn: Mapping[str, list[Sets]], spec: Mapping[str, Any]
) -> dict[str, Any]:
    """kind -> metric -> test -> `p_values`, one for each query, None where there is none; and `reasons`, why there is
    no test, by how often. A test within bands is named with their width: frequency_bands:4."""
    pool = make_pool(model)
    found: dict[str, Any] = {}
    for kind, queries in drawn.items():
        found[kind] = {key: {} for key, _ in spec["metrics"]}
        for number, sets in enumerate(queries):
            words = [[text.words[i] for i in of_set] for of_set in sets]
            for key, entry in spec["metrics"]:
                metric = metrics.metric(entry.get("metric", key))
                # the first attribute set, to which the bias is planted, where a metric takes any number
                attributes = words[2:] if metric.template[1] in (2, "k") else words[2:3]
                query = Query.of(words[:2], attributes)
                for test, tested in _tests(metric, query, model, pool, entry, spec["draws"], number):
                    _note(found[kind][key].setdefault(test, _nothing()), tested)
    return found


def _tests(
    metric: Any, query: Query, model: EmbeddingStore, pool: Any, entry: Mapping[str, Any], draws: int, seed: int
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each test by its name, that within bands with their width."""
    # few permutations are enumerated: there are 20 of them, or more
    options = {"draws": draws, "exact": 300}
    first, *widths = entry["widths"]
    (result, *_), _ = infer_query(
        metric,
        query,
        model,
        entry["params"],
        seed=seed,
        draw_seed=seed,
        permutation=options,
        frequency_bands=options | {"width": first},
        control_words={"draws": draws},
        pool=pool,
    )
    for test in (PLAIN, CONTROLS):
        yield test, result.get(test, {"reason": f"status: {result['status']}"})
    yield f"{BANDS}:{first:g}", result.get(BANDS, {"reason": f"status: {result['status']}"})
    for width in widths:
        bands = options | {"width": width}
        (result, *_), _ = infer_query(
            metric, query, model, entry["params"], seed=seed, draw_seed=seed, frequency_bands=bands
        )
        yield f"{BANDS}:{width:g}", result.get(BANDS, {"reason": f"status: {result['status']}"})


def _nothing() -> dict[str, Any]:
    return {"p_values": [], "reasons": {}}


def _note(found: dict[str, Any], tested: Mapping[str, Any]) -> None:
    p_value = tested.get("p_value")
    found["p_values"].append(p_value)
    if p_value is None:
        reason = tested.get("reason", "the metric has no value for some permutations")
        found["reasons"][reason] = found["reasons"].get(reason, 0) + 1
