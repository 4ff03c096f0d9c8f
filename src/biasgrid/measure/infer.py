"""Inference about a metric on a query: tests, intervals, sensitivity.

The code is the same for every metric: `Metric.resampled` computes a metric's value if words are permuted, resampled
or left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..core.numbers import count
from ..core.schema import as_finite
from ..metrics.registry import Metric
from ..queries.query import Query
from . import significance
from .bootstrap import digest, interval_of_units, intervals
from .candidate_words import Pool, pool_of
from .free_memory import check_memory
from .measurement_spec import MeasurementSpec
from .metric_input import MetricInput, look_up
from .options import BIAS
from .permutation import Permutation
from .resampler import Resampler
from .word_order import word_order


def infer_query(
    request: MeasurementSpec,
    query: Query,
    model: Any,
    *,
    values: Sequence[float] | None = None,
    nulls: dict[str, dict[str, np.ndarray]] | None = None,
    pool: Pool | None = None,
) -> tuple[list[dict[str, Any]], np.ndarray | None]:
    """Look up a query's words and call `infer`, for callers that need only inference."""
    return infer(look_up(request, query, model), values=values, nulls=nulls, pool=pool)


def infer(
    samples: Sequence[MetricInput],
    *,
    values: Sequence[float] | None = None,
    nulls: dict[str, dict[str, np.ndarray]] | None = None,
    pool: Pool | None = None,
) -> tuple[list[dict[str, Any]], np.ndarray | None]:
    """Run inference for a metric on each sub-query of its template (`metric_input.look_up`).

    The draws from a set (for permutations: from several sets) depend on the request's `draw_seed` and on the set's
    words. All queries, metrics and models with the set therefore have the same draws. The request's `inference` has
    these parts:

    - tests of `significance`; see the options of each. A test has a `histogram` of the values with which it
      compares the score (`permutation.histogram`).
    - "bootstrap": draws (1000), level (0.95); see `bootstrap.intervals`.
    - "sensitivity": halves (100), random halves of the sets. `influence` is the change of the value without each
      word. `halves` is the mean distance between the value of half the target words, or half the attribute words,
      and the value of all words (Schroeder et al., table 6; not yet divided by the length of the metric's range).
    - "reliability": splits (200), random_groups (0), the reliability of the order of words; see
      `word_order.word_order`.

    Parameters
    ----------
    samples
        Sub-queries with their words looked up.
    values
        The metric's value for each sub-query, if known; otherwise the samples' scores are used.
    nulls
        Receives the values, (draws,), with which each test of a sub-query compares its value, by the sub-query's
        name and the test's name: "permutation", "random_groups", ...
    pool
        Pool of the tests that draw words from it (`significance.needs_pool`), if available.

    Returns
    -------
    records : list of dict
        `query`, `status` (see `MetricInput.result`) and, if that is "ok", `value` and the parts. A permutation test
        that does not make sense is a `reason` in a sentence. NaN is None.
    resamples : array or None
        Values of the bootstrap resamples (sub-queries, draws), None without a bootstrap.
    """
    request, model = samples[0].request, samples[0].model
    metric, seed, parts = request.metric, request.draw_seed, significance.complete(request.inference)
    tests = [test for test in significance.tests() if test.name in parts]
    if significance.needs_pool(parts):
        pool = pool or pool_of(model)
    results, resamples = [], None
    if "bootstrap" in parts:
        draws, level = parts["bootstrap"]["draws"], parts["bootstrap"]["level"]
        # Check the memory for the values, and a sorted copy.
        check_memory(16 * len(samples) * draws, f"bootstrap: {count(draws)} draws")
        resamples = np.full((len(samples), draws), math.nan)
    for place, sample in enumerate(samples):
        record: dict[str, Any] = {"query": sample.query.name, "status": sample.status}
        results.append(record)
        if sample.status != "ok":
            continue
        with np.errstate(all="ignore"):
            resampler = Resampler.of(sample, None if values is None else values[place])
            if not math.isfinite(resampler.value):
                record["status"] = sample.undefined
                continue
            record["value"] = resampler.value
            for test in tests:
                options = dict(parts[test.name])
                if options.get("alternative") == BIAS:
                    options["alternative"] = test.bias(metric)
                outcome = test.run(sample, resampler, pool, seed, **options)
                _keep(test.name, outcome, record, nulls)
            if resamples is not None:
                resamples[place] = resampler.bootstrap(draws, seed)
                record["bootstrap"] = interval_record = {
                    "level": level,
                    **intervals(resamples[place], resampler.value, resampler.by_set, level),
                }
                # The jackknife is symmetric, and may exceed the metric's range: clip it.
                low, high = resampler.range
                ends = min(low, resampler.value), max(high, resampler.value)
                interval_record["jackknife"] = np.clip(interval_record["jackknife"], *ends).tolist()
                interval_record |= _beside_neutral(metric, resampler.value, interval_record)
                if resampler.redrawn_units:
                    names = [s.name for s in sample.targets + sample.attributes]
                    unit_values = resampler.redrawn_units(np.random.default_rng([seed, digest(names)]), draws)
                    interval_record["units"] = interval_of_units(unit_values, level)
            if (sensitivity := parts.get("sensitivity")) is not None:
                record["influence"] = resampler.influence()
                record["halves"] = resampler.halves(sensitivity["halves"], seed)
            if (reliability := parts.get("reliability")) is not None:
                record["reliability"] = word_order(sample, seed, pool, **reliability)
    return as_finite(results), resamples


def _beside_neutral(metric: Metric, value: float, interval_record: dict[str, Any]) -> dict[str, float]:
    """Return how many standard errors a score is away from the no-bias value; NaN if its sign is not a direction."""
    error = interval_record["standard_error"]
    is_known = metric.is_directed and error > 0
    return {"z": (value - metric.neutral) / error if is_known else math.nan}


def _keep(
    name: str,
    outcome: significance.Outcome,
    record: dict[str, Any],
    nulls: dict[str, dict[str, np.ndarray]] | None,
) -> None:
    """Put a test, or the reason for its absence, and further facts about it into a sub-query's record."""
    test, facts = outcome
    if isinstance(test, str):
        record[name] = {"reason": test, **facts}
        return
    record[name] = {**facts, **_as_record(test)}
    if nulls is not None:
        nulls.setdefault(record["query"], {})[name] = test.null_distribution


def _as_record(test: Permutation) -> dict[str, Any]:
    values = {f.name: getattr(test, f.name) for f in fields(test)}
    # Python refuses to write numbers of thousands of digits.
    is_long = test.partitions is None or test.partitions.bit_length() > 1000
    values["partitions"] = None if is_long else test.partitions
    values["histogram"] = test.histogram
    del values["null_distribution"]
    if test.neutral is None:
        del values["neutral"]
    return values
