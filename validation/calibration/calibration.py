"""P-values of both tests of metrics on queries that are drawn from a real model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from biasgrid import metrics
from biasgrid.core.errors import BiasgridError
from biasgrid.core.files import write_text
from biasgrid.core.schema import as_finite, dumps
from biasgrid.measure.candidate_words import Pool
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.models.store import EmbeddingStore

from .queries import Words, draw_query

TESTS = ("permutation", "random_groups")


def calibrate(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the p-values of a kind of query from a real model.

    Parameters
    ----------
    inputs
        "store": a `StoreOf`. "pool": the file of the words from which random groups are drawn.
    spec
        "model" and "kind", which the file repeats; "metrics", a list of [key, entry]; and the other arguments of
        `p_values`.
    """
    entries = dict(spec["metrics"])
    settings = {name: spec[name] for name in ("words", "vocabulary", "draws", "queries", "seed")}
    tests = p_values(inputs["store"].open(), Pool.load(inputs["pool"]), spec["kind"], entries, **settings)
    record = {"model": spec["model"], "kind": spec["kind"], **settings, "metrics": entries, "found": tests}
    write_text(output, dumps(as_finite(record)) + "\n")


def p_values(
    model: EmbeddingStore,
    pool: Pool,
    kind: str,
    entries: Mapping[str, Mapping[str, Any]],
    *,
    seed: int,
    words: int,
    vocabulary: int,
    queries: int,
    draws: int,
) -> dict[str, dict[str, dict[str, Any]]]:
    """Run both tests of metrics on queries of a kind that are drawn from a model's first `vocabulary` rows.

    Parameters
    ----------
    entries
        Metrics in the format of a config: key -> `metric`, `params`. A metric with one attribute set is measured on
        the first set. A metric with four groups is measured on its own queries.

    Returns
    -------
    dict
        Metric -> test -> the outcome. `p_values` has a p-value for each query, None without a test. `lowest` is the
        lowest possible p-value. `reasons` counts the reasons for missing tests.

    Raises
    ------
    BiasgridError
        If the model has too few words.
    """
    source = Words(model, vocabulary)
    if len(source.words) < 4 * words:
        raise BiasgridError(
            f"{model.name}: {len(source.words)} of its first {vocabulary} rows are words with a direction; a query "
            f"needs {4 * words}"
        )
    metrics_by_key = {key: metrics.metric(entry.get("metric", key)) for key, entry in entries.items()}
    outcomes = {
        key: {test: {"p_values": [], "lowest": None, "reasons": {}} for test in TESTS} for key in entries
    }
    # Use one BLAS thread, because several threads round differently.
    with threadpool_limits(1):
        for i in range(queries):
            rng = np.random.default_rng([seed, i])
            queries_by_groups = {2: draw_query(kind, source, words, rng)}
            seeds = rng.integers(2**32, size=2).tolist()
            for key, metric in metrics_by_key.items():
                groups = 4 if metric.template[0] == 4 else 2
                if groups not in queries_by_groups:
                    other_rng = np.random.default_rng([seed, i, groups])
                    query = draw_query(kind, source, words, other_rng, groups)
                    queries_by_groups[groups] = query.subqueries(metric.template)[0]
                (result, *_), _ = infer_query(
                    MeasurementSpec(
                        metric,
                        entries[key]["params"],
                        seed=seeds[0],
                        inference={
                            # Draw permutations, and never enumerate them.
                            "permutation": {"draws": draws, "exact": 0},
                            "random_groups": {"draws": draws},
                        },
                        draw_seed=seeds[1],
                    ),
                    queries_by_groups[groups],
                    model,
                    pool=pool,
                )
                for name in TESTS:
                    outcome = outcomes[key][name]
                    test = result.get(name, {"reason": f"status: {result['status']}"})
                    add_p_value(outcome, test)
                    if test.get("p_value") is not None:
                        outcome["lowest"] = max(outcome["lowest"] or 0.0, test["p_lowest"])
    return outcomes


def add_p_value(outcome: dict[str, Any], test: Mapping[str, Any]) -> None:
    """Add the p-value of a test to `p_values`; if there is none, count the reason in `reasons`."""
    p_value = test.get("p_value")
    outcome["p_values"].append(p_value)
    if p_value is None:
        reason = test.get("reason", "the metric has no value for some permutations")
        outcome["reasons"][reason] = outcome["reasons"].get(reason, 0) + 1
