"""Is a p-value reported whatever it is? The test against random groups where few topics are as coherent as a query's.

    python -m validation.calibration.few_topics [--model glove-6b-50d] [--criterion Ethnicity]

Of each score of the criterion in the embedded study, and of each metric's mean distance from no bias over the
queries, one of the random groups is taken for the query, at random: the null hypothesis is then true. It is tested
against the others, but for those around its own words, which are the same topic. Two rules decide whether the p-value
is reported:

until the stop  the rule of version 0.1: at least 99 topics among the draws up to the one that decides the test. These
                are 199 draws if p is large, and up to thousands if it is small
first 999       the rule of today: at least 99 topics among the first 999 draws, which are like at least ten draws
                without a word in common, whatever the value

A mean over queries takes the scores that have a test: by the first rule, those with 99 topics among the first 999
draws; by the second, those whose draws are ten apart, too. It needs a test of at least half of the scores.

The program prints how many p-values each rule reports. It also prints the share of these that is at most .05, with
its standard error. Models are those that `make study` downloads.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import numpy as np

from biasgrid import load
from biasgrid.measure.aggregation import covers_enough
from biasgrid.measure.candidate_words import pool_of
from biasgrid.measure.group_draws import BETWEEN, FEWEST
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.measure.metric_input import look_up
from biasgrid.measure.sequential import count_up
from biasgrid.measure.significance.random_groups import (
    FEWEST_APART,
    SCALE,
    batches_for,
    draws_in_place,
    effective_topics,
    group_values,
)
from biasgrid.study.config import load as configs
from biasgrid.study.study import Study

ROOT = Path(__file__).resolve().parents[2]
METRICS = ("weat", "weat_es", "rnsb", "mac", "rnd", "ripa")
DRAWS, STOP, LEVEL = 4999, 20, 0.05
THEN, NOW = RULES = ("until the stop", "first 999")


class Null(NamedTuple):
    """A metric's distances from no bias of the random groups of a query, or of several.

    Attributes
    ----------
    distances, numbers, topics
        The distance and the number of each draw, (draws,), and the words that it starts from, (draws, queries).
    query, observed
        Name of the query, and the distance of its score.
    words
        All words of each draw, (draws, words); None for several queries, because each query has its own test.
    """

    metric: str
    distances: np.ndarray
    numbers: np.ndarray
    topics: np.ndarray
    query: str = ""
    observed: float = math.nan
    words: np.ndarray | None = None


def nulls(
    model_name: str,
    metrics: tuple[str, ...],
    draws: int,
    criterion: str | None = None,
    scored: Counter[str] | None = None,
    seed: int = 0,
) -> Iterator[Null]:
    """Yield the null distribution of each score of the criterion (None: of all criteria) that has random groups.

    `scored` counts all scores of each metric, including scores without random groups. `seed` is the seed of the
    draws.
    """
    config = ROOT / "config" / "embedded.yaml"
    study = Study.of(configs.read(config), str(config), ROOT)
    model = load(Path(os.environ.get("BIASGRID_EMBEDDINGS", ROOT / "data" / "embeddings")) / model_name)
    pool = pool_of(model)
    for cell in study.grid.cells.values():
        if (cell.model, cell.debias) != (model_name, "none") or cell.metric not in metrics:
            continue
        if criterion not in (None, cell.criterion):
            continue
        for sample in look_up(MeasurementSpec.of_cell(cell.spec), study.queries[cell.query], model):
            if sample.status == "ok" and scored is not None:
                scored[cell.metric] += 1
            group_draws = draws_in_place(sample, pool, seed, BETWEEN) if sample.status == "ok" else ""
            if isinstance(group_draws, str):
                continue
            with np.errstate(all="ignore"):
                values = group_values(sample, pool, group_draws)(0, draws)
            batch, is_kept = batches_for(sample, pool, group_draws)(0, draws)
            words = batch.pool_places[np.concatenate(batch.places, axis=1)[is_kept]]
            there = np.isfinite(values.values)
            neutral = sample.request.metric.neutral
            distances, observed = np.abs(values.values - neutral)[there], abs(values.observed - neutral)
            yield Null(
                cell.metric,
                distances,
                values.numbers[there],
                values.seeds[there, None],
                f"{cell.criterion}: {sample.query.name}",
                observed,
                words[there],
            )


def aggregates(scores: Sequence[Null], rule: str = NOW, scored: Counter[str] | None = None) -> Iterator[Null]:
    """Yield the mean distances of each metric's scores that have a test.

    `scored` has the number of scores of each metric; by default, the scores in `scores` are counted.
    """
    scored = Counter(score.metric for score in scores) if scored is None else scored
    for metric in dict.fromkeys(score.metric for score in scores):
        rows = [
            score for score in scores if score.metric == metric and has_test(score.topics, score.words, rule)
        ]
        if not covers_enough(len(rows), scored[metric]):
            continue
        numbers = reduce(np.intersect1d, [row.numbers for row in rows])
        if len(numbers) > FEWEST:
            places = [np.searchsorted(row.numbers, numbers) for row in rows]
            distances = np.mean([row.distances[p] for row, p in zip(rows, places, strict=True)], axis=0)
            topics = np.hstack([row.topics[p] for row, p in zip(rows, places, strict=True)])
            yield Null(metric, distances, numbers, topics)


def has_test(topics: np.ndarray, words: np.ndarray | None, rule: str = NOW) -> bool:
    """Return whether the first random groups are enough for a test, regardless of their values."""
    if rule == NOW and words is not None and effective_topics(words[:SCALE]) < FEWEST_APART:
        return False
    return count(topics[:SCALE]) >= FEWEST


def count(topics: np.ndarray) -> int:
    """Count the different topics, or the different sets of topics."""
    return len(np.unique(topics, axis=0))


def run(null: Null, rng: np.random.Generator) -> tuple[float, dict[str, bool]]:
    """Return the p-value of a random group among the others, and whether each rule reports it."""
    place = rng.integers(len(null.distances))
    others = (null.topics != null.topics[place]).any(axis=1)
    distances, of_others = null.distances[others], null.topics[others]
    tally = count_up(distances >= null.distances[place], STOP, is_end=True)
    assert tally is not None
    topics = count(of_others[: tally.draws])
    reported = {
        THEN: topics >= FEWEST,
        NOW: has_test(of_others, null.words if null.words is None else null.words[others]),
    }
    return max(tally.p_value, 1 / (topics + 1)), reported


def table(found: list[Null], runs: int, seed: int) -> dict[str, tuple[int, float, float]]:
    """Compute for each rule the number of reported p-values, the share that is at most `LEVEL`, and its error.

    The error is the standard error of the share over the scores.
    """
    rng = np.random.default_rng(seed)
    rows: dict[str, list[tuple[int, bool]]] = {rule: [] for rule in RULES}
    for number in range(runs):
        place = number % len(found)
        p_value, reported = run(found[place], rng)
        for rule in RULES:
            if reported[rule]:
                rows[rule].append((place, p_value <= LEVEL))
    result = {}
    for rule, of_rule in rows.items():
        small = np.array([is_small for _, is_small in of_rule], dtype=float)
        share = float(small.mean()) if len(small) else math.nan
        result[rule] = (
            len(small),
            share,
            math.sqrt(share * (1 - share) / len(small)) if len(small) else math.nan,
        )
    return result


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="glove-6b-50d")
    parser.add_argument("--criterion", default="Ethnicity")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    scored: Counter[str] = Counter()
    scores = list(nulls(options.model, METRICS, options.draws, options.criterion, scored))
    means = {rule: list(aggregates(scores, rule, scored)) for rule in RULES}
    for name, found in {"scores": dict.fromkeys(RULES, scores), "means over queries": means}.items():
        print(f"{options.model}, {options.criterion}: {name}, {options.runs} runs")
        for rule, of_rule in found.items():
            print(f"  {rule:15} {describe(of_rule, rule, options.runs, options.seed)}")


def describe(found: list[Null], rule: str, runs: int, seed: int) -> str:
    """Describe the result of a rule on these null p-values in words."""
    if not found:
        return "none has a test"
    number, share, error = table(found, runs, seed)[rule]
    tested = f"of {len(found)} with random groups, {number} p-values reported"
    return tested + (f", {share:.3f} of them <= {LEVEL} (standard error {error:.3f})" if number else "")


if __name__ == "__main__":
    main(sys.argv[1:])
