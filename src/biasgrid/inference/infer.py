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
from ..measure import as_finite, check_kind, look_up, subquery, undefined
from ..metrics.registry import Metric
from ..numbers import count
from ..options import complete_options
from ..query import Query
from ..words import FoundSet, WordOptions
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
    metric: Metric,
    query: Query,
    model: Any,
    parameters: Mapping[str, Any] | None = None,
    words: WordOptions | None = None,
    seed: int = 0,
    *,
    permutation: Mapping[str, Any] | None = None,
    random_groups: Mapping[str, Any] | None = None,
    frequency_bands: Mapping[str, Any] | None = None,
    control_words: Mapping[str, Any] | None = None,
    bootstrap: Mapping[str, Any] | None = None,
    sensitivity: Mapping[str, Any] | None = None,
    draw_seed: int = 0,
    values: Sequence[float] | None = None,
    nulls: dict[str, dict[str, np.ndarray]] | None = None,
    pool: Pool | None = None,
) -> tuple[list[dict[str, Any]], np.ndarray | None]:
    """What can be inferred of a metric on each sub-query of its template, and the values of the bootstrap resamples
    (sub-queries, draws), None without a bootstrap.

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
    seed         the metric's own, where it draws
    draw_seed    of permutations, samples and halves; what is drawn of a set (permutations: of sets) depends on it and
                 on the set's words, so that all queries, metrics and models that have the set draw alike
    values       the metric's, of each sub-query, where they are known; else they are measured
    nulls        takes the values, (draws,), that each test of a sub-query compares its value with, by the sub-query's
                 name and that of the test: "permutation", "random_groups", ...
    pool         of `random_groups` and `control_words`, if it is at hand

    A part is left out where it was not asked for. A record has `query`, `status` (as `measure` has it) and, where
    that is "ok", `value` and the parts; a permutation test that makes no sense is a `reason` in a sentence. NaN is
    None. Raises BiasgridError for an unknown option, or a value that is not allowed (`complete_options`).
    """
    words, parameters = words or WordOptions(), dict(parameters or {})
    metric = metric.under(parameters)
    check_kind(metric, model)
    requests = {"permutation": permutation, "random_groups": random_groups}
    requests |= {"frequency_bands": frequency_bands, "control_words": control_words}
    requests |= {"bootstrap": bootstrap, "sensitivity": sensitivity}
    permutation, random_groups, frequency_bands, control_words, bootstrap, sensitivity = (
        None if options is None else complete_options(part, options) for part, options in requests.items()
    )
    for options, bias in ((random_groups, DISTANCE), (control_words, metric.bias)):
        if options is not None:
            pool = pool or pool_of(model)
            if options["alternative"] == BIAS:
                options["alternative"] = bias
    found_sets = look_up(metric, query, model, words)
    parts = query.subqueries(metric.template)
    if bootstrap is not None:
        # the values, and a sorted copy
        check_memory(16 * len(parts) * bootstrap["draws"], f"bootstrap: {count(bootstrap['draws'])} draws")
    samples = None if bootstrap is None else np.full((len(parts), bootstrap["draws"]), math.nan)
    results = []
    for place, part in enumerate(parts):
        targets, attributes, status = subquery(metric, part, found_sets, words)
        record = {"query": part.name, "status": status}
        results.append(record)
        if status != "ok":
            continue
        with np.errstate(all="ignore"):
            value = values[place] if values else None
            resampler = Resampler.of(metric, part, targets, attributes, parameters, words, seed, value, model)
            if not math.isfinite(resampler.value):
                sizes = [[len(s.vectors) for s in side] for side in (targets, attributes)]
                record["status"] = undefined(metric, sizes, parameters)
                continue
            record["value"] = resampler.value
            if permutation is not None:
                test = query_permutation_test(resampler, seed=draw_seed, **permutation)
                facts = {} if isinstance(test, str) else {"test_of": metric.test_of}
                _keep("permutation", test, facts, record, nulls)
            query_arguments = metric, query, targets, attributes, parameters, words, model, pool
            if random_groups is not None:
                groups = (
                    groups_test(*query_arguments, seed=draw_seed, **random_groups) if pool else NO_VECTORS
                )
                test, facts = (groups, {}) if isinstance(groups, str) else (groups.test, groups.facts)
                _keep("random_groups", test, facts, record, nulls)
            if frequency_bands is not None:
                test, facts = banded_test(resampler, model, seed=draw_seed, **frequency_bands)
                _keep("frequency_bands", test, facts, record, nulls)
            if control_words is not None:
                controls = control_test(*query_arguments, seed=draw_seed, **control_words)
                test, facts = (controls, {}) if isinstance(controls, str) else (controls.test, controls.facts)
                _keep("control_words", test, facts, record, nulls)
            if bootstrap is not None:
                samples[place] = resampler.bootstrap(bootstrap["draws"], draw_seed)
                record["bootstrap"] = interval_record = intervals(
                    samples[place], resampler.value, resampler.by_set, bootstrap["level"]
                )
                # it is as long on both sides, wherever the metric's range ends
                low, high = resampler.range
                ends = min(low, resampler.value), max(high, resampler.value)
                interval_record["jackknife"] = np.clip(interval_record["jackknife"], *ends).tolist()
                if resampler.redrawn_units:
                    rng = np.random.default_rng([draw_seed, digest([s.name for s in targets + attributes])])
                    unit_values = resampler.redrawn_units(rng, bootstrap["draws"])
                    interval_record["units"] = interval_of_units(unit_values, bootstrap["level"])
            if sensitivity is not None:
                record["influence"] = resampler.influence()
                record["halves"] = resampler.halves(sensitivity["halves"], draw_seed)
    return as_finite(results), samples


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
    logarithms = [frequencies.logarithms(s.keys, model.rows(s.keys)) for s in sets]
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
