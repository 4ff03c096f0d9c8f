"""What can be inferred of a metric on a query: tests, intervals, sensitivity.

Written once, for every metric: a metric says how its value changes when words are permuted, resampled or left out
(`Metric.resampled`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..free_memory import check_memory
from ..numbers import count
from ..options import POOLED
from ..query import Query
from ..request import Request
from ..sample import Sample, look_up
from ..schema import as_finite
from ..words import FoundSet
from .bootstrap import digest, interval_of_units, intervals
from .control_words import control_test
from .frequency_bands import FEWEST, UNKNOWN, bands, frequency_of, pair_bands, summarise_logarithms
from .permutation import (
    DISTANCE,
    Permutation,
    permutation_test,
    permutations_of,
)
from .pool import Pool, pool_of
from .random_groups import groups_test
from .resampler import Resampler, rows_at_once

NO_VECTORS = "the model has no vectors, by which groups as coherent as the query's are found"
BIAS = "bias"  # the alternative that each metric's neutral value and range decide: `Metric.bias`


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

    permutation  draws (19999), stop (20), exact (20000), alternative ("bias", the metric's own): see
                 `permutation_test`. Each test has a `histogram` of the values that it compares the score with
                 (`permutation.histogram`)
    random_groups  draws (9999), stop (20), alternative ("bias": by distance), match ("between"): see
                   `random_groups.groups_test`
    frequency_bands  draws (19999), stop (20), exact (20000), alternative, width (4): see `banded_test`
    control_words  draws (999), nearest (50), alternative: see `control_words.control_test`
    bootstrap    draws (1000), level (0.95): see `bootstrap.intervals`
    sensitivity  halves (100): random halves of the sets. `influence` is how the value changes without each word,
                 `halves` the mean distance of the value of half the target words, and of half the attribute words,
                 to that of all (Schroeder et al., table 6; not yet divided by the length of the metric's range)

    What is drawn of a set (permutations: of sets) depends on the request's `draw_seed` and on the set's words, so
    that all queries, metrics and models that have the set draw alike.

    values       the metric's, of each sub-query, where they are known; else those of the samples' scores
    nulls        takes the values, (draws,), that each test of a sub-query compares its value with, by the sub-query's
                 name and that of the test: "permutation", "random_groups", ...
    pool         of `random_groups` and `control_words`, if it is at hand

    A record has `query`, `status` (as `Sample.result` has it) and, where that is "ok", `value` and the parts; a
    permutation test that makes no sense is a `reason` in a sentence. NaN is None.
    """
    request, model = samples[0].request, samples[0].model
    metric, seed, parts = request.metric, request.draw_seed, request.inference
    if POOLED & parts.keys():
        pool = pool or pool_of(model)
    results, resamples = [], None
    if "bootstrap" in parts:
        draws, level = parts["bootstrap"]["draws"], parts["bootstrap"]["level"]
        # the values, and a sorted copy
        check_memory(16 * len(samples) * draws, f"bootstrap: {count(draws)} draws")
        resamples = np.full((len(samples), draws), math.nan)
    for place, sample in enumerate(samples):
        record = {"query": sample.query.name, "status": sample.status}
        results.append(record)
        if sample.status != "ok":
            continue
        with np.errstate(all="ignore"):
            resampler = Resampler.of(sample, None if values is None else values[place])
            if not math.isfinite(resampler.value):
                record["status"] = sample.undefined
                continue
            record["value"] = resampler.value
            if (options := parts.get("permutation")) is not None:
                test = query_permutation_test(resampler, seed=seed, **options)
                facts = {} if isinstance(test, str) else {"test_of": metric.test_of}
                _keep("permutation", test, facts, record, nulls)
            if (options := parts.get("random_groups")) is not None:
                options = _with_alternative(options, DISTANCE)
                groups = groups_test(sample, pool, seed=seed, **options) if pool else NO_VECTORS
                test, facts = (groups, {}) if isinstance(groups, str) else (groups.test, groups.facts)
                _keep("random_groups", test, facts, record, nulls)
            if (options := parts.get("frequency_bands")) is not None:
                test, facts = banded_test(resampler, model, seed=seed, **options)
                _keep("frequency_bands", test, facts, record, nulls)
            if (options := parts.get("control_words")) is not None:
                controls = control_test(sample, pool, seed=seed, **_with_alternative(options, metric.bias))
                test, facts = (controls, {}) if isinstance(controls, str) else (controls.test, controls.facts)
                _keep("control_words", test, facts, record, nulls)
            if resamples is not None:
                resamples[place] = resampler.bootstrap(draws, seed)
                record["bootstrap"] = interval_record = intervals(
                    resamples[place], resampler.value, resampler.by_set, level
                )
                # it is as long on both sides, wherever the metric's range ends
                low, high = resampler.range
                ends = min(low, resampler.value), max(high, resampler.value)
                interval_record["jackknife"] = np.clip(interval_record["jackknife"], *ends).tolist()
                if resampler.redrawn_units:
                    names = [s.name for s in sample.targets + sample.attributes]
                    unit_values = resampler.redrawn_units(np.random.default_rng([seed, digest(names)]), draws)
                    interval_record["units"] = interval_of_units(unit_values, level)
            if (options := parts.get("sensitivity")) is not None:
                record["influence"] = resampler.influence()
                record["halves"] = resampler.halves(options["halves"], seed)
    return as_finite(results), resamples


def _with_alternative(options: Mapping[str, Any], bias: str) -> dict[str, Any]:
    """The options of a test whose alternative "bias" is this one."""
    return {**options, "alternative": bias if options["alternative"] == BIAS else options["alternative"]}


def query_permutation_test(
    resampler: Resampler,
    *,
    seed: int = 0,
    alternative: str = BIAS,
    of_words: np.ndarray | None = None,
    **options: int,
) -> Permutation | str:
    """The permutation test of a metric on a query, or why there is none.

    Which permutations are drawn depends on `seed` and on the words of the sets: queries that have the same sets draw
    alike. `of_words` is the band of each word of the permuted sets, one set after the other, within which it is
    permuted.
    """
    sets = _exchangeable_sets(resampler)
    if isinstance(sets, str):
        return sets
    metric, keys = resampler.metric, [key for s in sets for key in s.keys]

    def statistic(labels: np.ndarray) -> np.ndarray:
        weights = [(labels == i).astype(np.float64) for i in range(len(sets))]
        targets, attributes = resampler.full_weights
        if metric.exchanged == "attributes":
            return resampler.statistic(targets, weights)
        return resampler.statistic(weights, attributes)

    # a metric's arrays are as long as all sets, and not only as those that are exchanged
    block = rows_at_once(sum(map(len, resampler.units)))
    return permutation_test(
        lambda labels: np.concatenate(
            [statistic(labels[i : i + block]) for i in range(0, len(labels), block)]
        ),
        *_sizes_and_shared(resampler, sets),
        pairs=metric.exchanged == "pairs",
        bands=of_words,
        alternative=metric.bias if alternative == BIAS else alternative,
        seed=[seed, digest(keys)],
        **options,
    )


def banded_test(
    resampler: Resampler,
    model: Any,
    *,
    width: float,
    frequency: str = "own",
    language: str = "en",
    seed: int = 0,
    **options: Any,
) -> tuple[Permutation | str, dict[str, Any]]:
    """The permutation test of a metric on a query within bands of frequency, or why there is none; and facts about
    it: where frequencies come from ("frequency"), how many permutations there are, and mean and variance of the
    logarithms of frequency of the permuted sets.

    A band has words of which none is more than `width` times as frequent as another (`frequency_bands.bands`); a word
    changes places only with words of its band. The words of a pair change places where neither is more than `width`
    times as frequent as the other.
    """
    sets = _exchangeable_sets(resampler)
    if isinstance(sets, str):
        return sets, {}
    frequencies = frequency_of(model, frequency, language)
    if frequencies is None:
        return UNKNOWN, {}
    logarithms = [frequencies.logarithms(s.keys, s.rows) for s in sets]
    pairs = resampler.metric.exchanged == "pairs"
    of_words = pair_bands(*logarithms, width) if pairs else bands(np.concatenate(logarithms), width)
    sizes, shared = _sizes_and_shared(resampler, sets)
    count = permutations_of(sizes, shared, pairs=pairs, bands=of_words)
    facts = {"frequency": frequencies.source, "partitions": count} | summarise_logarithms(logarithms)
    if count < FEWEST:
        number_text = f"only {count} permutation{'s' * (count != 1)} of the words within bands of frequency"
        return f"there {'is' if count == 1 else 'are'} {number_text}: a test needs {FEWEST}", facts
    return query_permutation_test(resampler, seed=seed, of_words=of_words, **options), facts


def _exchangeable_sets(resampler: Resampler) -> list[FoundSet] | str:
    """The sets whose words a permutation test permutes, or why there is no such test."""
    metric = resampler.metric
    if metric.no_test:
        return metric.no_test
    sets = resampler.attributes if metric.exchanged == "attributes" else resampler.targets
    if len(sets) < 2:
        return "there is one target set, and no other whose words it could exchange"
    if resampler.has_forms:
        return "forms of one word (strategy: all) are not independent of each other: it needs strategy: first"
    return sets


def _sizes_and_shared(resampler: Resampler, sets: Sequence[FoundSet]) -> tuple[list[int], list[int]]:
    """The sizes of the sets, and the places of words that are in several sets."""
    keys = [key for s in sets for key in s.keys]
    occurrences = Counter(keys)
    pairs = resampler.metric.exchanged == "pairs"
    shared = [] if pairs else [i for i, key in enumerate(keys) if occurrences[key] > 1]
    return [len(s.keys) for s in sets], shared


def _keep(
    name: str,
    test: Permutation | str,
    facts: Mapping[str, Any],
    record: dict[str, Any],
    nulls: dict[str, dict[str, np.ndarray]] | None,
) -> None:
    """Put a test, or the reason why there is none, and further facts of it into a sub-query's record."""
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
