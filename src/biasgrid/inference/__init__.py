"""How sure a cell's value is: a permutation test, bootstrap intervals, and how much it hangs on single words.

Written once, for every metric: a metric says how its value changes when words are exchanged, drawn again or left out
(`Metric.resampled`).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from .. import metrics
from ..bounded import read_npy, read_npz
from ..cell import head, model_of, query_of
from ..embeddings import study_store
from ..errors import BiasgridError
from ..files import locked, write_bytes, write_text
from ..measure import as_finite, dumps, look_up, subquery, variants
from ..metrics.registry import Metric, one_by_one
from ..query import Query
from ..study import UNTOUCHED, Inference, Study
from ..words import FoundSet, WordOptions
from .bootstrap import digest, drawn_counts, groups_of, intervals
from .options import checked
from .permutation import ALTERNATIVES, Permutation, deal, drawn_test, permutation_test
from .pool import Pool, make_pool, pool_of, stored_pool
from .random_groups import groups_test

__all__ = [
    "ALTERNATIVES",
    "BIAS",
    "Permutation",
    "Sampled",
    "exchange_test",
    "infer_cells",
    "infer_query",
    "intervals",
    "permutation_test",
]

BIAS = "bias"  # the alternative that each metric's neutral value and range decide: `Metric.bias`
# weights of samples that are in memory at a time: 8 MB of float64
BLOCK = 2**20
# a set of more words is left out group by group, and no word of it alone, and what its samples add to the value is
# taken to first order from that
MOST_WORDS = 200
GROUPS = 50


def infer_cells(study: Study, inferences: Sequence[Inference]) -> list[dict[str, Any]]:
    """Write the file of what is inferred of cells of one model, debias method and metric, and that of their bootstrap
    samples: pure functions of what the cells are of, and of the cells' files, which have their values.

    What is in the file already and is of the same is kept: an edited query costs its own cell. Returns what the file
    has of each cell.
    """
    path, samples_path = study.inference_file(inferences[0]), study.samples_file(inferences[0])
    pool = stored_pool(study.pool_file(inferences[0].cell.model))
    kept = _kept(path, samples_path)
    records, samples = [], []
    for inference in inferences:
        cell, spec = inference.cell, json.loads(inference.spec)
        made_of = _made_of(study, inference)
        if made_of not in kept:
            metric = metrics.metric(spec["metric"])
            results, values = infer_query(
                metric,
                query_of(study, cell),
                model_of(study, cell),
                spec["params"],
                WordOptions(**spec["words"]),
                spec["seed"],
                **spec["inference"],
                values=_measured(study.cell_file(cell)) if metric.seeded else None,
                pool=pool,
            )
            made = {"made_of": made_of, "inference": spec["inference"], "results": results}
            kept[made_of] = head(cell, spec) | made, values
        record, values = kept[made_of]
        records.append(record)
        samples.append(values)
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.with_name(f".{path.name}.lock")):
        # killed between the two, the next run finds no record that says which samples are whose
        path.unlink(missing_ok=True)
        if samples[0] is not None:
            file = BytesIO()
            np.save(file, np.concatenate(samples))
            write_bytes(samples_path, file.getvalue())
        write_text(path, dumps({"cells": records}, separators=(",", ":")) + "\n")
    return records


def write_pool(study: Study, model: str) -> None:
    """Make the pool of a study's model, and write it where the study has it."""
    store = study_store(study.embeddings, model, study.models[model])
    make_pool(store).save(study.pool_file(model))


def _measured(cell: Path) -> list[float]:
    """The values in a cell's file: of a metric that draws, reading them is faster than measuring."""
    results = json.loads(cell.read_text(encoding="utf-8"))["results"]
    return [math.nan if result["value"] is None else result["value"] for result in results]


def _kept(path: Path, samples_path: Path) -> dict[str, tuple[dict[str, Any], np.ndarray | None]]:
    """Records and samples of cells that were inferred before, by what they are of."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sampled = any("bootstrap" in record["inference"] for record in records)
        samples = read_npy(samples_path) if sampled else None
        ends = np.cumsum([len(record["results"]) for record in records])
        if sampled and (samples.ndim != 2 or samples.dtype != np.float64 or len(samples) != ends[-1]):
            return {}
        parts = np.split(samples, ends[:-1]) if sampled else [None] * len(records)
        return {record["made_of"]: (record, part) for record, part in zip(records, parts, strict=True)}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}  # not there, half there, of another version: made anew


def _made_of(study: Study, inference: Inference) -> str:
    """A digest of all that a cell's inference depends on: spec, query, cell, model, transform, code."""
    cell, spec = inference.cell, json.loads(inference.spec)
    files = [study.query_file(cell.query), study.cell_file(cell), study.model_file(cell.model)]
    whole = hashlib.sha256(f"{cell.name} {inference.spec} {_code(spec['metric'])}".encode())
    for file in files:
        whole.update(hashlib.sha256(file.read_bytes() if file.is_file() else b"").digest())
    if cell.debias != UNTOUCHED:
        # its arrays: the archive around them is another with another Python
        for array in read_npz(study.transform_file(cell.model, cell.debias)).values():
            whole.update(array.tobytes())
    return whole.hexdigest()


@lru_cache
def _code(metric: str) -> str:
    """A digest of the modules that are at work in a metric's inference."""
    package = Path(__file__).parents[1]
    names = [
        "cell",
        "directions",
        "geometry",
        "measure",
        "neighbours",
        "orientation",
        "query",
        "words",
        "embeddings/store",
        "metrics/registry",
    ]
    files = [package / f"{name}.py" for name in (*names, "debias/transform")]
    files += [*sorted(Path(__file__).parent.glob("*.py")), metrics.REGISTRY.file(metric)]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


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
    """What can be inferred of a metric on each sub-query of its template, and the values of the bootstrap samples
    (sub-queries, draws), None without a bootstrap.

    permutation  draws (10000), exact (20000), alternative ("bias", the metric's own): see `permutation_test`
    random_groups  draws (999), alternative: see `random_groups.groups_test`
    bootstrap    draws (1000), level (0.95): see `bootstrap.intervals`
    sensitivity  halves (100): random halves of the sets. `influence` is how the value changes without each word,
                 `halves` the mean distance of the value of half the target words, and of half the attribute words,
                 to that of all (Schroeder et al., table 6; not yet divided by the length of the metric's range)
    seed         the metric's own, where it draws
    draw_seed    of partitions, samples and halves; what is drawn of a set (partitions: of sets) depends on it and on
                 the set's words, so that all queries, metrics and models that have the set draw alike
    values       the metric's, of each sub-query, where they are known; else they are measured
    nulls        takes the values, (draws,), that each test of a sub-query compares its value with, by the sub-query's
                 name and that of the test: "permutation", "random_groups"
    pool         of `random_groups`, if it is at hand

    A part is left out where it was not asked for. A record has `query`, `status` (as `measure` has it) and, where
    that is "ok", `value` and the parts; a permutation test that makes no sense is a `reason` in a sentence. NaN is
    None. Raises BiasgridError for an option that there is not, or a value that is not allowed (`options.checked`).
    """
    words, parameters = words or WordOptions(), dict(parameters or {})
    metric = metric.under(parameters)
    wanted = {"permutation": permutation, "random_groups": random_groups}
    wanted |= {"bootstrap": bootstrap, "sensitivity": sensitivity}
    permutation, random_groups, bootstrap, sensitivity = (
        None if options is None else checked(part, options) for part, options in wanted.items()
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
                tested = groups_test(
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
            if sensitivity is not None:
                record["influence"] = sampled.influence()
                record["halves"] = sampled.halves(sensitivity["halves"], draw_seed)
    return as_finite(results), samples


def exchange_test(
    sampled: Sampled, *, seed: int = 0, alternative: str = BIAS, **options: int
) -> Permutation | str:
    """The permutation test of a metric on a query, or why there is none.

    Which partitions are drawn depends on `seed` and on the words of the sets: queries that have the sets draw alike.
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
    block = _rows(sum(map(len, sampled.units)))
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


@dataclass(frozen=True)
class Sampled:
    """A metric on a (sub-)query whose words can be exchanged, drawn again and left out.

    value      the metric's; the statistic of the words as they are differs from it where the metric draws at random
    statistic  weights of target words and of attribute words -> values, as `Metric.resampled` says
    units      for each target set, then each attribute set: which of its words (or pairs) a row belongs to
    places     and where these words stand in the set as given
    range      the interval that values lie in, of sets of so many words
    isotropic  draws values on isotropic directions, where the metric looks along one (`Metric.isotropic`)
    """

    metric: Metric
    query: Query
    targets: list[FoundSet]
    attributes: list[FoundSet]
    value: float
    statistic: Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]
    units: list[np.ndarray]
    places: list[np.ndarray]
    range: tuple[float, float]
    isotropic: Callable[[np.random.Generator, int], np.ndarray] | None = None

    @classmethod
    def of(
        cls,
        metric: Metric,
        query: Query,
        targets: list[FoundSet],
        attributes: list[FoundSet],
        parameters: Mapping[str, Any],
        words: WordOptions,
        seed: int,
        value: float | None = None,
        model: Any = None,
    ) -> Sampled:
        """Of the sets that `measure.subquery` gives; the metric's value is measured where it is not given. `model` is
        for metrics that need more of it than the words' vectors."""
        vectors = [[s.vectors for s in side] for side in (targets, attributes)]
        if metric.of_model:
            parameters = {**parameters, **metric.of_model(model, targets, attributes, **parameters)}
        if value is None:
            value = metric.function(*vectors, **parameters, **({"seed": seed} if metric.seeded else {})).value
        pooled = map(np.concatenate, vectors)
        if metric.resampled:
            statistic = metric.resampled(*pooled, **parameters)
        else:
            statistic = one_by_one(metric, *pooled, parameters, seed)
        places, units = zip(
            *(np.unique(s.slots // variants(words), return_inverse=True) for s in (*targets, *attributes)),
            strict=True,
        )
        sizes = [[len(s.vectors) for s in side] for side in (targets, attributes)]
        ends = metric.sized(*sizes, **parameters) if metric.sized else metric.range
        isotropic = metric.isotropic(*vectors, **parameters) if metric.isotropic else None
        return cls(
            metric, query, targets, attributes, value, statistic, list(units), list(places), ends, isotropic
        )

    @property
    def words(self) -> list[Sequence[str]]:
        """The words of each set, as given."""
        return [s.words for s in (*self.query.target_sets, *self.query.attribute_sets)]

    @property
    def has_forms(self) -> bool:
        """Whether a word was found in several forms."""
        return any(len(unit) > len(place) for unit, place in zip(self.units, self.places, strict=True))

    @cached_property
    def as_they_are(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Weights of one sample: every word once in its set."""
        return self._weights([np.ones((1, len(places))) for places in self.places])

    @cached_property
    def observed(self) -> float:
        """The statistic of the words as they are."""
        return float(self.statistic(*self.as_they_are)[0])

    def values(self, counts: Sequence[np.ndarray]) -> np.ndarray:
        """The metric's value for samples: how often each word is drawn, an array (samples, words) or (1, words) for
        each target set, then each attribute set. Those of a metric that draws at
        random are moved by what value and statistic differ in, but not out of its range."""
        samples = max(map(len, counts))
        rows = _rows(sum(map(len, self.units)))
        values = np.empty(samples)
        for start in range(0, samples, rows):
            block = [c[start : start + rows] if len(c) > 1 else c for c in counts]
            # one value for all where they differ in words that the metric does not look at
            values[start : start + rows] = self.statistic(*self._weights(block))
        shift = self.value - self.observed
        return np.clip(values + shift, *self.range) if self.metric.seeded else values

    def bootstrap(self, draws: int, seed: int) -> np.ndarray:
        """The value of each bootstrap sample (draws,).

        Of a set of more than 200 words, samples are not measured: its groups are drawn again, and the differences to
        the set are summed up from the jackknife's (Efron & Tibshirani 1993, section 20.5).
        """
        whole, linear = [], np.zeros(draws)
        jackknife = iter(self.by_set)
        for i, (words, places) in enumerate(zip(self.words, self.places, strict=True)):
            if self._follows(i):
                whole.append(whole[0])
                continue
            without = next(jackknife)
            if len(places) <= MOST_WORDS:
                whole.append(drawn_counts(words, places, draws, seed))
            else:
                whole.append(np.ones((1, len(places))))
                times = drawn_counts(words, places, draws, seed, groups=GROUPS)
                linear += (1 - times) @ without * (1 - 1 / len(without))
        values = self.values(whole)
        return np.clip(values + linear, *self.range) if linear.any() else values + linear

    @cached_property
    def by_set(self) -> list[np.ndarray]:
        """The value without each word in turn, an array a set; of pairs the first set's alone. NaN for a set's only
        word. Of a set of more than 200 words, the value without each of 50 groups of words; without as many, where
        groups differ in size."""
        whole = [np.ones((1, len(places))) for places in self.places]
        found = []
        for i, places in enumerate(self.places):
            if self._follows(i):
                continue
            size = len(places)
            if size == 1:
                found.append(np.full(1, math.nan))
                continue
            group = np.arange(size)
            if size > MOST_WORDS:
                group = np.unique(groups_of(self.words[i], places, GROUPS), return_inverse=True)[1]
            without = (np.arange(group.max() + 1)[:, None] != group).astype(np.float64)
            values = self.values(self._paired([*whole[:i], without, *whole[i + 1 :]]))
            if size > MOST_WORDS:
                # a group's part of the value grows with it; what its words differ in from all counts
                share = np.bincount(group) / size
                parts = (values - self.value) * (1 - share)
                values = self.value + (parts - share * parts.sum()) / (1 - 1 / len(share))
            found.append(values)
        return found

    def influence(self) -> dict[str, dict[str, float]]:
        """Set -> word -> how the value changes when the word (of pairs: the pair) is left out. Sets of more than 200
        words, of which none can matter much, are not in it."""
        sets = [*self.targets, *self.attributes]
        kept = [i for i in range(len(sets)) if not self._follows(i)]

        def name(i: int, place: int) -> str:
            word = self.words[i][place]
            # a word may stand in several pairs
            several = self.metric.paired and i == 0 and self.words[i].count(word) > 1
            return ", ".join(s.words[place] for s in self.query.target_sets) if several else word

        return {
            sets[i].name: {
                name(i, place): float(value - self.value)
                for place, value in zip(self.places[i], values, strict=True)
            }
            for i, values in zip(kept, self.by_set, strict=True)
            if len(self.places[i]) <= MOST_WORDS
        }

    def halves(self, halves: int, seed: int) -> dict[str, float]:
        """Mean distance to the value when each target set, and when each attribute set, is a random half of itself
        (rounded down, at least one word)."""
        found = {}
        whole = [np.ones((1, len(places))) for places in self.places]
        for side, sets in (
            ("targets", range(len(self.targets))),
            ("attributes", range(len(self.targets), len(whole))),
        ):
            counts = list(whole)
            for i in sets:
                size = len(self.places[i])
                half = max(size // 2, 1)
                rng = np.random.default_rng([seed, digest(self.words[i]), 2])
                counts[i] = 1.0 - deal((half, size - half), halves, rng)
            found[side] = float(np.abs(self.values(self._paired(counts)) - self.value).mean())
        return found

    def _follows(self, i: int) -> bool:
        """Whether a set's words go where their partners in the first set go."""
        return self.metric.paired and 0 < i < len(self.targets)

    def _paired(self, counts: list[np.ndarray]) -> list[np.ndarray]:
        return [counts[0] if self._follows(i) else c for i, c in enumerate(counts)]

    def _weights(self, counts: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Weights of rows, pooled over the sets of a side, from counts of words."""
        sides, first = [], 0
        for sets in (self.targets, self.attributes):
            ends = np.cumsum([len(s.keys) for s in sets])
            weights = []
            for i, (s, end) in enumerate(zip(sets, ends, strict=True), start=first):
                weight = np.zeros((len(counts[i]), ends[-1]))
                weight[:, end - len(s.keys) : end] = counts[i][:, self.units[i]]
                weights.append(weight)
            sides.append(weights)
            first += len(sets)
        return sides[0], sides[1]


def _rows(words: int) -> int:
    """How many samples of so many words are worked on at once: a power of two, so that queries of about as many words
    work on the same ones."""
    return 2 ** max(int(math.log2(BLOCK / words)), 0)


def _as_record(tested: Permutation) -> dict[str, Any]:
    values = {f.name: getattr(tested, f.name) for f in fields(tested)}
    # Python writes no numbers of thousands of digits
    many = tested.partitions is None or tested.partitions.bit_length() > 1000
    values["partitions"] = None if many else tested.partitions
    return {name: value for name, value in values.items() if name != "null_distribution"}
