"""What can be inferred of a metric on a query: tests, intervals, sensitivity.

Written once, for every metric: a metric says how its value changes when words are exchanged, drawn again or left out
(`Metric.resampled`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..measure import as_finite, check_kind, look_up, subquery
from ..metrics.registry import Metric
from ..options import checked_options
from ..query import Query
from ..words import WordOptions
from .bootstrap import digest, interval_of_units, intervals
from .permutation import Permutation, drawn_test, permutation_test
from .pool import Pool, pool_of
from .random_groups import groups_test
from .sampled import Sampled, rows_at_once

NO_VECTORS = "the model has no vectors, by which groups as coherent as the query's are found"
BIAS = "bias"  # the alternative that each metric's neutral value and range decide: `Metric.bias`


def infer_query(
    metric: Metric,
    query: Query,
    model: Any,
    parameters: Mapping[str, Any] | None = None,
    words: WordOptions | None = None,
    seed: int = 0,
    *,
    permutation: Mapping[str, Any] | None = None,
    random_groups: Mapping[str, Any] | None = None,
    bootstrap: Mapping[str, Any] | None = None,
    sensitivity: Mapping[str, Any] | None = None,
    draw_seed: int = 0,
    values: Sequence[float] | None = None,
    nulls: dict[str, dict[str, np.ndarray]] | None = None,
    pool: Pool | None = None,
) -> tuple[list[dict[str, Any]], np.ndarray | None]:
    """What can be inferred of a metric on each sub-query of its template, and the values of the bootstrap resamples
    (sub-queries, draws), None without a bootstrap.

    permutation  draws (10000), exact (20000), alternative ("bias", the metric's own): see `permutation_test`. Each
                 test has a `histogram` of the values that it compares the score with (`permutation.histogram`)
    random_groups  draws (999), alternative: see `random_groups.groups_test`
    bootstrap    draws (1000), level (0.95): see `bootstrap.intervals`
    sensitivity  halves (100): random halves of the sets. `influence` is how the value changes without each word,
                 `halves` the mean distance of the value of half the target words, and of half the attribute words,
                 to that of all (Schroeder et al., table 6; not yet divided by the length of the metric's range)
    seed         the metric's own, where it draws
    draw_seed    of permutations, samples and halves; what is drawn of a set (permutations: of sets) depends on it and
                 on the set's words, so that all queries, metrics and models that have the set draw alike
    values       the metric's, of each sub-query, where they are known; else they are measured
    nulls        takes the values, (draws,), that each test of a sub-query compares its value with, by the sub-query's
                 name and that of the test: "permutation", "random_groups"
    pool         of `random_groups`, if it is at hand

    A part is left out where it was not asked for. A record has `query`, `status` (as `measure` has it) and, where
    that is "ok", `value` and the parts; a permutation test that makes no sense is a `reason` in a sentence. NaN is
    None. Raises BiasgridError for an unknown option, or a value that is not allowed (`options.checked`).
    """
    words, parameters = words or WordOptions(), dict(parameters or {})
    metric = metric.under(parameters)
    check_kind(metric, model)
    wanted = {"permutation": permutation, "random_groups": random_groups}
    wanted |= {"bootstrap": bootstrap, "sensitivity": sensitivity}
    permutation, random_groups, bootstrap, sensitivity = (
        None if options is None else checked_options(part, options) for part, options in wanted.items()
    )
    if random_groups is not None:
        pool = pool or pool_of(model)
        if random_groups["alternative"] == BIAS:
            random_groups["alternative"] = metric.bias
    found = look_up(metric, query, model, words)
    parts = query.subqueries(metric.template)
    samples = None if bootstrap is None else np.full((len(parts), bootstrap["draws"]), math.nan)
    results = []
    for place, part in enumerate(parts):
        targets, attributes, status = subquery(metric, part, found, words)
        record = {"query": part.name, "status": status}
        results.append(record)
        if status != "ok":
            continue
        with np.errstate(all="ignore"):
            value = values[place] if values else None
            sampled = Sampled.of(metric, part, targets, attributes, parameters, words, seed, value, model)
            if not math.isfinite(sampled.value):
                record["status"] = "degenerate"
                continue
            record["value"] = sampled.value
            if permutation is not None:
                tested = exchange_test(sampled, seed=draw_seed, **permutation)
                of = {"test_of": metric.test_of}
                record["permutation"] = (
                    {"reason": tested} if isinstance(tested, str) else of | _as_record(tested)
                )
                if nulls is not None and not isinstance(tested, str):
                    nulls.setdefault(part.name, {})["permutation"] = tested.null_distribution
                if sampled.isotropic:
                    record["isotropic_directions"] = _as_record(_isotropic(sampled, draw_seed, **permutation))
            if random_groups is not None:
                tested = (
                    NO_VECTORS
                    if pool is None
                    else groups_test(
                        metric,
                        query,
                        targets,
                        attributes,
                        parameters,
                        words,
                        model,
                        pool,
                        seed=draw_seed,
                        **random_groups,
                    )
                )
                if isinstance(tested, str):
                    record["random_groups"] = {"reason": tested}
                else:
                    coherence = {
                        "cosines": tested.cosines,
                        "matched": tested.matched,
                    }
                    record["random_groups"] = _as_record(tested.test) | coherence
                    if nulls is not None:
                        nulls.setdefault(part.name, {})["random_groups"] = tested.test.null_distribution
            if bootstrap is not None:
                samples[place] = sampled.bootstrap(bootstrap["draws"], draw_seed)
                record["bootstrap"] = found_intervals = intervals(
                    samples[place], sampled.value, sampled.by_set, bootstrap["level"]
                )
                # it is as long on both sides, wherever the metric's range ends
                low, high = sampled.range
                ends = min(low, sampled.value), max(high, sampled.value)
                found_intervals["jackknife"] = np.clip(found_intervals["jackknife"], *ends).tolist()
                if sampled.redrawn_units:
                    rng = np.random.default_rng([draw_seed, digest([s.name for s in targets + attributes])])
                    of_units = sampled.redrawn_units(rng, bootstrap["draws"])
                    found_intervals["units"] = interval_of_units(of_units, bootstrap["level"])
            if sensitivity is not None:
                record["influence"] = sampled.influence()
                record["halves"] = sampled.halves(sensitivity["halves"], draw_seed)
    return as_finite(results), samples


def exchange_test(
    sampled: Sampled, *, seed: int = 0, alternative: str = BIAS, **options: int
) -> Permutation | str:
    """The permutation test of a metric on a query, or why there is none.

    Which permutations are drawn depends on `seed` and on the words of the sets: queries that have the same sets draw
    alike.
    """
    metric = sampled.metric
    alternative = metric.bias if alternative == BIAS else alternative
    if metric.no_test:
        return metric.no_test
    exchanged = sampled.attributes if metric.exchanged == "attributes" else sampled.targets
    if len(exchanged) < 2:
        return "there is one target set, and no other whose words it could exchange"
    if sampled.has_forms:
        return "forms of one word (strategy: all) are not independent of each other: it needs strategy: first"
    keys = [key for s in exchanged for key in s.keys]
    occurs = Counter(keys)
    shared = [] if metric.exchanged == "pairs" else [i for i, key in enumerate(keys) if occurs[key] > 1]

    def statistic(labels: np.ndarray) -> np.ndarray:
        dealt = [(labels == i).astype(np.float64) for i in range(len(exchanged))]
        targets, attributes = sampled.as_they_are
        if metric.exchanged == "attributes":
            return sampled.statistic(targets, dealt)
        return sampled.statistic(dealt, attributes)

    # a metric's arrays are as long as all sets, and not only as those that are exchanged
    block = rows_at_once(sum(map(len, sampled.units)))
    return permutation_test(
        lambda labels: np.concatenate(
            [statistic(labels[i : i + block]) for i in range(0, len(labels), block)]
        ),
        [len(s.keys) for s in exchanged],
        shared,
        pairs=metric.exchanged == "pairs",
        alternative=alternative,
        seed=[seed, digest(keys)],
        **options,
    )


def _isotropic(sampled: Sampled, seed: int, *, draws: int, alternative: str, **options: int) -> Permutation:
    """The metric's value beside that on directions that are as likely one as another: no test, as the groups'
    direction is made of real words (`Metric.isotropic`)."""
    words = [key for s in (*sampled.targets, *sampled.attributes) for key in s.keys]
    values = sampled.isotropic(np.random.default_rng([seed, digest(words)]), draws)
    return drawn_test(values, sampled.value, sampled.metric.bias if alternative == BIAS else alternative)


def _as_record(tested: Permutation) -> dict[str, Any]:
    values = {f.name: getattr(tested, f.name) for f in fields(tested)}
    # Python writes no numbers of thousands of digits
    many = tested.partitions is None or tested.partitions.bit_length() > 1000
    values["partitions"] = None if many else tested.partitions
    values["histogram"] = tested.histogram
    del values["null_distribution"]
    return values
