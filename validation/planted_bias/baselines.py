"""Distributions of random groups on each scale, over the scores of the embedded study.

    python -m validation.planted_bias.baselines [--output FILE]

Writes numbers/baselines.csv, in about five minutes of one core. It takes the four models that `make study`
downloads, before debiasing, from data/embeddings or `BIASGRID_EMBEDDINGS`. The random groups of each score are also
split into two halves that start from different words, so that they have no topic in common. The table has a row for
each metric and scale (`scales.SCALES`):

scores          scores that have random groups
at_bound        share of scores that are further from no bias than all of the first 999 random groups
error           Monte Carlo error of a score: root mean square of the differences between its readings on the two
                halves, divided by the square root of 2
error_share     the same, divided by the standard deviation of the scores
reversed        of all pairs of models, on one query, the share in another order than by standardised bias
reversed_halves the share of pairs in another order on the second half than on the first

Further columns show whether random topics look alike in all models: the random groups of one half are read against
those of the other. Queries are those that have random groups in all models.

queries         how many these are
*_low, *_high   the smallest and the largest of the four models' means (`mean`), standard deviations (`sd`),
                skewnesses (`skew`) and quantiles (`q05`, `q50`, `q95`)
*_error         Monte Carlo error of these numbers for one model, from the two halves
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from threadpoolctl import threadpool_limits

from biasgrid.measure.group_draws import FEWEST
from biasgrid.measure.significance.random_groups import SCALE

from ..calibration.few_topics import Null, count, nulls
from .scale import MODELS
from .scales import SCALES, Reading

METRICS = ("weat", "weat_es", "rnd", "rnsb", "mac", "ect", "ripa")
DRAWS = 4096
SHAPE = ("mean", "sd", "skew", "q05", "q50", "q95")
# For each model, query -> its random groups.
OfModels = Mapping[str, Mapping[str, Null]]


def halves(null: Null) -> list[np.ndarray]:
    """Return the distances of two halves of the random groups, at most `SCALE` each.

    Words are numbered in random order, so even and odd numbers are random halves of the topics.
    """
    is_even = null.topics[:, 0] % 2 == 0
    return [null.distances[half][:SCALE] for half in (is_even, ~is_even)]


def shape(values: np.ndarray) -> np.ndarray:
    """Return the numbers named in `SHAPE`."""
    return np.array(
        [values.mean(), values.std(), stats.skew(values), *np.quantile(values, (0.05, 0.5, 0.95))]
    )


def shapes(of_models: OfModels, scale: Reading) -> dict[str, float]:
    """Return the columns on random topics: each half of each query on the scale of the other half."""
    shared = set.intersection(*map(set, of_models.values()))
    both = []
    for found in of_models.values():
        parts = [halves(found[query]) for query in sorted(shared)]
        both.append(
            [shape(np.concatenate([scale(part[read], part[1 - read]) for part in parts])) for read in (0, 1)]
        )
    # The shape is (models, halves, numbers).
    numbers = np.array(both)
    means, errors = numbers.mean(axis=1), np.abs(np.diff(numbers, axis=1)[:, 0]) / 2
    row: dict[str, float] = {"queries": len(shared)}
    for name, mean, error in zip(SHAPE, means.T, errors.T, strict=True):
        row |= {
            f"{name}_low": mean.min(),
            f"{name}_high": mean.max(),
            f"{name}_error": math.sqrt((error**2).mean()),
        }
    return row


def readings(of_models: OfModels, scale: Reading) -> pd.DataFrame:
    """Return the scores on a scale: columns whole (from the first random groups), first and second (halves)."""
    rows = {}
    for model, found in of_models.items():
        for query, null in found.items():
            baselines = [null.distances[:SCALE], *halves(null)]
            rows[query, model] = [scale(np.array([null.observed]), baseline)[0] for baseline in baselines]
    index = pd.MultiIndex.from_tuples(rows, names=["query", "model"])
    return pd.DataFrame(list(rows.values()), index, columns=["whole", "first", "second"])


def reversed_pairs(first: pd.Series, second: pd.Series) -> float:
    """Return the share of pairs of models, on one query, that two scales order differently."""
    orders = []
    for _, of_query in pd.DataFrame({"first": first, "second": second}).groupby(level="query"):
        orders += [np.prod(np.sign(a - b)) for a, b in combinations(of_query.to_numpy(), 2)]
    return float(np.mean(np.array(orders) < 0))


def summary(of_models: OfModels) -> list[dict[str, float | str]]:
    """Return the rows of a metric in the table, one for each scale."""
    every = [null for found in of_models.values() for null in found.values()]
    at_bound = np.mean([null.observed > null.distances[:SCALE].max() for null in every])
    rows: list[dict[str, float | str]] = []
    standardized = readings(of_models, SCALES["standardized"])["whole"]
    for name, scale in SCALES.items():
        scores = readings(of_models, scale)
        error = math.sqrt(((scores["first"] - scores["second"]) ** 2).mean() / 2)
        rows.append(
            {
                "scale": name,
                "scores": len(every),
                "at_bound": at_bound,
                "error": error,
                "error_share": error / scores["whole"].std(ddof=0),
                "reversed": reversed_pairs(scores["whole"], standardized),
                "reversed_halves": reversed_pairs(scores["first"], scores["second"]),
                **shapes(of_models, scale),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "numbers" / "baselines.csv")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        found = {
            model: [null for null in nulls(model, METRICS, DRAWS) if count(null.topics[:SCALE]) >= FEWEST]
            for model in MODELS
        }
    rows = []
    for metric in METRICS:
        of_models = {
            model: {null.query: null for null in of_model if null.metric == metric}
            for model, of_model in found.items()
        }
        rows += [{"metric": metric, **row} for row in summary(of_models)]
    pd.DataFrame(rows).to_csv(given.output, index=False, lineterminator="\n", float_format="%.3f")


if __name__ == "__main__":
    main()
