"""What can be inferred of a metric on a query: tests, intervals, sensitivity.

Written once, for every metric: a metric says how its value changes when words are permuted, resampled or left out
(`Metric.resampled`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..metrics.registry import Metric
from ..numbers import count
from ..options import BIAS
from ..query import Query
from ..request import Request
from ..sample import Sample, look_up
from ..schema import as_finite
from . import significance
from .bootstrap import digest, interval_of_units, intervals
from .free_memory import check_memory
from .permutation import Permutation
from .pool import Pool, pool_of
from .reliability import word_order
from .resampler import Resampler


def infer_query(
    request: Request,
    query: Query,
    model: Any,
    *,
    values: Sequence[float] | None = None,
    nulls: dict[str, dict[str, np.ndarray]] | None = None,
    pool: Pool | None = None,
) -> tuple[list[dict[str, Any]], np.ndarray | None]:
    """`infer` of a query whose words are looked up here: where nothing but inference is wanted."""
    return infer(look_up(request, query, model), values=values, nulls=nulls, pool=pool)


def infer(
    samples: Sequence[Sample],
    *,
    values: Sequence[float] | None = None,
    nulls: dict[str, dict[str, np.ndarray]] | None = None,
    pool: Pool | None = None,
) -> tuple[list[dict[str, Any]], np.ndarray | None]:
    """What can be inferred of a metric on each sub-query of its template (`sample.look_up`), and the values of the
    bootstrap resamples (sub-queries, draws), None without a bootstrap. Parts of the request's `inference`:

    its tests    of `significance`: see the options of each. A test has a `histogram` of the values that it compares
                 the score with (`permutation.histogram`)
    bootstrap    draws (1000), level (0.95): see `bootstrap.intervals`
    sensitivity  halves (100): random halves of the sets. `influence` is how the value changes without each word,
                 `halves` the mean distance of the value of half the target words, and of half the attribute words,
                 to that of all (Schroeder et al., table 6; not yet divided by the length of the metric's range)
    reliability  splits (200), random_groups (0): how reliably words are ordered, see `reliability.word_order`

    What is drawn of a set (permutations: of sets) depends on the request's `draw_seed` and on the set's words, so
    that all queries, metrics and models that have the set draw alike.

    values       the metric's, of each sub-query, where they are known; else those of the samples' scores
    nulls        takes the values, (draws,), that each test of a sub-query compares its value with, by the sub-query's
                 name and that of the test: "permutation", "random_groups", ...
    pool         of what draws words from it (`significance.needs_pool`), if it is at hand

    A record has `query`, `status` (as `Sample.result` has it) and, where that is "ok", `value` and the parts; a
    permutation test that makes no sense is a `reason` in a sentence. NaN is None.
    """
    request, model = samples[0].request, samples[0].model
    metric, seed, parts = request.metric, request.draw_seed, significance.complete(request.inference)
    tests = [test for test in significance.tests() if test.name in parts]
    if significance.needs_pool(parts):
        pool = pool or pool_of(model)
    results, resamples = [], None
    if "bootstrap" in parts:
        draws, level = parts["bootstrap"]["draws"], parts["bootstrap"]["level"]
        # the values, and a sorted copy
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
                # it is as long on both sides, wherever the metric's range ends
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
    """Return how many standard errors a score is away from the neutral value; NaN where its sign is no direction."""
    error = interval_record["standard_error"]
    is_known = metric.is_directed and error > 0
    return {"z": (value - metric.neutral) / error if is_known else math.nan}


def _keep(
    name: str,
    outcome: significance.Outcome,
    record: dict[str, Any],
    nulls: dict[str, dict[str, np.ndarray]] | None,
) -> None:
    """Put a test, or the reason why there is none, and further facts of it into a sub-query's record."""
    test, facts = outcome
    if isinstance(test, str):
        record[name] = {"reason": test, **facts}
        return
    record[name] = {**facts, **_as_record(test)}
    if nulls is not None:
        nulls.setdefault(record["query"], {})[name] = test.null_distribution


def _as_record(test: Permutation) -> dict[str, Any]:
    values = {f.name: getattr(test, f.name) for f in fields(test)}
    # Python writes no numbers of thousands of digits
    is_long = test.partitions is None or test.partitions.bit_length() > 1000
    values["partitions"] = None if is_long else test.partitions
    values["histogram"] = test.histogram
    del values["null_distribution"]
    if test.neutral is None:
        del values["neutral"]
    return values
