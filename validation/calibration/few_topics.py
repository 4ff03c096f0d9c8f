"""Is a p-value reported whatever it is? The test against random groups where few topics are as coherent as a query's.

    python -m validation.calibration.few_topics [--model glove-6b-50d] [--criterion Ethnicity]

Of each score of the criterion in the embedded study, and of each metric's mean distance from no bias over the
queries, one of the random groups is taken for the query, at random: the null hypothesis is then true. It is tested
against the others, but for those around its own words, which are the same topic. Two rules say whether the p-value is
reported:

until the stop  what was done in version 0.1: at least 99 topics among the draws up to the one that decides the test.
                That are 199 draws where p is large, and up to thousands where it is small
first 999       at least 99 topics among the first 999 draws, whatever the value

Printed are, of each rule, how many p-values are reported, and the share of these that is at most .05, with its
standard error. Models are those that `make study` downloads.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import numpy as np

from biasgrid import load
from biasgrid.config import load as configs
from biasgrid.inference.group_draws import BETWEEN, FEWEST
from biasgrid.inference.pool import pool_of
from biasgrid.inference.sequential import count_up
from biasgrid.inference.significance.random_groups import SCALE, draws_in_place, group_values
from biasgrid.plan.study import Study
from biasgrid.request import Request
from biasgrid.sample import look_up

ROOT = Path(__file__).resolve().parents[2]
METRICS = ("weat", "weat_es", "rnsb", "mac", "rnd", "ripa")
DRAWS, STOP, LEVEL = 4999, 20, 0.05
THEN, NOW = RULES = ("until the stop", "first 999")


class Null(NamedTuple):
    """A metric's distances from no bias of the random groups of a query, or of several: the number of each draw, and
    the words that it starts from. Of one query also its name, and the score's own distance."""

    metric: str
    distances: np.ndarray
    numbers: np.ndarray
    topics: np.ndarray
    query: str = ""
    observed: float = math.nan


def nulls(
    model_name: str, metrics: tuple[str, ...], draws: int, criterion: str | None = None
) -> Iterator[Null]:
    """Yield them of each score of the criterion (None: of all) that has random groups."""
    config = ROOT / "config" / "embedded.yaml"
    study = Study.of(configs.read(config), str(config), ROOT)
    model = load(Path(os.environ.get("BIASGRID_EMBEDDINGS", ROOT / "data" / "embeddings")) / model_name)
    pool = pool_of(model)
    for cell in study.grid.cells.values():
        if (cell.model, cell.debias) != (model_name, "none") or cell.metric not in metrics:
            continue
        if criterion not in (None, cell.criterion):
            continue
        for sample in look_up(Request.of_cell(cell.spec), study.queries[cell.query], model):
            group_draws = draws_in_place(sample, pool, 0, BETWEEN) if sample.status == "ok" else ""
            if isinstance(group_draws, str):
                continue
            with np.errstate(all="ignore"):
                values = group_values(sample, pool, group_draws)(0, draws)
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
            )


def aggregates(scores: Sequence[Null]) -> Iterator[Null]:
    """Yield the mean distances of each metric's scores, of those with enough topics in the first 999 draws."""
    for metric in dict.fromkeys(score.metric for score in scores):
        rows = [score for score in scores if score.metric == metric and count(score.topics[:SCALE]) >= FEWEST]
        numbers = reduce(np.intersect1d, [row.numbers for row in rows]) if rows else np.empty(0)
        if len(numbers) > FEWEST:
            places = [np.searchsorted(row.numbers, numbers) for row in rows]
            distances = np.mean([row.distances[p] for row, p in zip(rows, places, strict=True)], axis=0)
            topics = np.hstack([row.topics[p] for row, p in zip(rows, places, strict=True)])
            yield Null(metric, distances, numbers, topics)


def count(topics: np.ndarray) -> int:
    """Return how many different topics there are, or different sets of topics."""
    return len(np.unique(topics, axis=0))


def run(null: Null, rng: np.random.Generator) -> tuple[float, dict[str, bool]]:
    """Return the p-value of a random group among the others, and by which rules it is reported."""
    place = rng.integers(len(null.distances))
    others = (null.topics != null.topics[place]).any(axis=1)
    distances, of_others = null.distances[others], null.topics[others]
    tally = count_up(distances >= null.distances[place], STOP, is_end=True)
    assert tally is not None
    topics = {THEN: count(of_others[: tally.draws]), NOW: count(of_others[:SCALE])}
    reported = {rule: number >= FEWEST for rule, number in topics.items()}
    return max(tally.p_value, 1 / (topics[THEN] + 1)), reported


def table(found: list[Null], runs: int, seed: int) -> dict[str, tuple[int, float, float]]:
    """Return of each rule how many of the p-values are reported, the share of these that is at most `LEVEL`, and the
    standard error of the share over the scores."""
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
    scores = list(nulls(options.model, METRICS, options.draws, options.criterion))
    for name, found in {"scores": scores, "means over queries": list(aggregates(scores))}.items():
        print(
            f"{options.model}, {options.criterion}: {len(found)} {name} with random groups, {options.runs} runs"
        )
        for rule, (number, share, error) in table(found, options.runs, options.seed).items() if found else ():
            print(
                f"  {rule:15} {number:5} reported, {share:.3f} of them <= {LEVEL} (standard error {error:.3f})"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
