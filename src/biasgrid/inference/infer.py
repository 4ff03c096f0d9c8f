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
from ..words import FoundSet, WordOptions
from .bootstrap import digest, interval_of_units, intervals
from .control_words import control_test
from .frequency_bands import FEWEST, UNKNOWN, bands, frequency_of, of_sets, pair_bands
from .permutation import Permutation, drawn_test, permutation_test, permutations_of
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

    permutation  draws (10000), exact (20000), alternative ("bias", the metric's own): see `permutation_test`. Each
                 test has a `histogram` of the values that it compares the score with (`permutation.histogram`)
    random_groups  draws (999), alternative: see `random_groups.groups_test`
    frequency_bands  draws (10000), exact (20000), alternative, width (4): see `banded_test`
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
    None. Raises BiasgridError for an unknown option, or a value that is not allowed (`options.checked`).
    """
    words, parameters = words or WordOptions(), dict(parameters or {})
    metric = metric.under(parameters)
    check_kind(metric, model)
    wanted = {"permutation": permutation, "random_groups": random_groups}
    wanted |= {"frequency_bands": frequency_bands, "control_words": control_words}
    wanted |= {"bootstrap": bootstrap, "sensitivity": sensitivity}
    permutation, random_groups, frequency_bands, control_words, bootstrap, sensitivity = (
        None if options is None else checked_options(part, options) for part, options in wanted.items()
    )
    for options in (random_groups, control_words):
        if options is not None:
            pool = pool or pool_of(model)
            if options["alternative"] == BIAS:
                options["alternative"] = metric.bias
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
                facts = {} if isinstance(tested, str) else {"test_of": metric.test_of}
                _keep("permutation", tested, facts, record, nulls)
                if sampled.isotropic:
                    record["isotropic_directions"] = _as_record(_isotropic(sampled, draw_seed, **permutation))
            of_query = metric, query, targets, attributes, parameters, words, model, pool
            if random_groups is not None:
                groups = groups_test(*of_query, seed=draw_seed, **random_groups) if pool else NO_VECTORS
                tested, facts = (groups, {}) if isinstance(groups, str) else (groups.test, groups.facts)
                _keep("random_groups", tested, facts, record, nulls)
            if frequency_bands is not None:
                tested, facts = banded_test(sampled, model, seed=draw_seed, **frequency_bands)
                _keep("frequency_bands", tested, facts, record, nulls)
            if control_words is not None:
                controls = control_test(*of_query, seed=draw_seed, **control_words)
                tested, facts = (
                    (controls, {}) if isinstance(controls, str) else (controls.test, controls.facts)
                )
                _keep("control_words", tested, facts, record, nulls)
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
    sampled: Sampled,
    *,
    seed: int = 0,
    alternative: str = BIAS,
    of_words: np.ndarray | None = None,
    **options: int,
) -> Permutation | str:
    """The permutation test of a metric on a query, or why there is none.

    Which permutations are drawn depends on `seed` and on the words of the sets: queries that have the same sets draw
    alike. `of_words` is the band of each word of the exchanged sets, one set after the other, within which it is
    exchanged.
    """
    exchanged = _exchanged(sampled)
    if isinstance(exchanged, str):
        return exchanged
    metric, keys = sampled.metric, [key for s in exchanged for key in s.keys]

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
        *_dealt(sampled, exchanged),
        pairs=metric.exchanged == "pairs",
        bands=of_words,
        alternative=metric.bias if alternative == BIAS else alternative,
        seed=[seed, digest(keys)],
        **options,
    )


def banded_test(
    sampled: Sampled,
    model: Any,
    *,
    width: float,
    frequency: str = "own",
    language: str = "en",
    seed: int = 0,
    **options: Any,
) -> tuple[Permutation | str, dict[str, Any]]:
    """The permutation test of a metric on a query within bands of frequency, or why there is none; and more to know
    of it: by what frequencies are known ("frequency"), how many permutations there are, and mean and variance of the
    logarithms of frequency of the exchanged sets.

    A band has words of which none is more than `width` times as frequent as another (`frequency_bands.bands`); a word
    changes places only with words of its band. The words of a pair change places where neither is more than `width`
    times as frequent as the other.
    """
    exchanged = _exchanged(sampled)
    if isinstance(exchanged, str):
        return exchanged, {}
    known = frequency_of(model, frequency, language)
    if known is None:
        return UNKNOWN, {}
    logarithms = [known.logarithms(s.keys, model.rows(s.keys)) for s in exchanged]
    pairs = sampled.metric.exchanged == "pairs"
    of_words = pair_bands(*logarithms, width) if pairs else bands(np.concatenate(logarithms), width)
    sizes, shared = _dealt(sampled, exchanged)
    count = permutations_of(sizes, shared, pairs=pairs, bands=of_words)
    facts = {"frequency": known.source, "partitions": count} | of_sets(logarithms)
    if count < FEWEST:
        few = f"only {count} permutation{'s' * (count != 1)} of the words within bands of frequency"
        return f"there {'is' if count == 1 else 'are'} {few}: a test needs {FEWEST}", facts
    return exchange_test(sampled, seed=seed, of_words=of_words, **options), facts


def _exchanged(sampled: Sampled) -> list[FoundSet] | str:
    """The sets between which a permutation test exchanges words, or why there is no such test."""
    metric = sampled.metric
    if metric.no_test:
        return metric.no_test
    exchanged = sampled.attributes if metric.exchanged == "attributes" else sampled.targets
    if len(exchanged) < 2:
        return "there is one target set, and no other whose words it could exchange"
    if sampled.has_forms:
        return "forms of one word (strategy: all) are not independent of each other: it needs strategy: first"
    return exchanged


def _dealt(sampled: Sampled, exchanged: Sequence[FoundSet]) -> tuple[list[int], list[int]]:
    """The sizes of the sets, and the places of words that stand in several."""
    keys = [key for s in exchanged for key in s.keys]
    occurs = Counter(keys)
    pairs = sampled.metric.exchanged == "pairs"
    shared = [] if pairs else [i for i, key in enumerate(keys) if occurs[key] > 1]
    return [len(s.keys) for s in exchanged], shared


def _keep(
    name: str,
    tested: Permutation | str,
    facts: Mapping[str, Any],
    record: dict[str, Any],
    nulls: dict[str, dict[str, np.ndarray]] | None,
) -> None:
    """Put a test, or the reason why there is none, and further facts of it into a sub-query's record."""
    if isinstance(tested, str):
        record[name] = {"reason": tested, **facts}
        return
    record[name] = {**facts, **_as_record(tested)}
    if nulls is not None:
        nulls.setdefault(record["query"], {})[name] = tested.null_distribution


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
