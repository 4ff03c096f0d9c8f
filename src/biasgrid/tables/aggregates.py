"""The table of aggregates: averages and sums of scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .results import CRITERION, DEBIAS, METRIC, MODEL
from .scores import SCORES
from .table import Column, Files, Table

UNTOUCHED = "none"  # the debias key of a model as it is
OVERALL = "Overall"
AGGREGATIONS = {
    "avg": np.mean,
    "abs_avg": lambda values: np.mean(np.abs(values)),
    "sum": np.sum,
    "abs_sum": lambda values: np.sum(np.abs(values)),
}


def aggregates(scores: pd.DataFrame, ranked: Sequence[str]) -> pd.DataFrame:
    """Every aggregation of every criterion's scores, and of the `ranked` criteria together as "Overall".

    The overall value is taken over all cells of the criteria, not over the criteria's values (as the case study
    does); a model under a debias method that is not measured on all of them has none. NaN cells are left out and
    counted; an aggregate of nothing but NaN is NaN.
    """
    rows = []
    all_values = scores["value"].to_numpy()
    for (criterion, metric, model, debias), places in groups(scores, ranked):
        values = all_values[places]
        known = values[~np.isnan(values)]
        for name, aggregate in AGGREGATIONS.items():
            value = float(aggregate(known)) if len(known) else math.nan
            rows.append(
                (criterion, metric, model, debias, name, value, len(values), len(values) - len(known))
            )
    return pd.DataFrame(rows, columns=AGGREGATES.names).sort_values(AGGREGATES.names[:5], ignore_index=True)


def groups(scores: pd.DataFrame, ranked: Sequence[str]) -> Iterable[tuple[tuple[str, ...], np.ndarray]]:
    """What is aggregated together: (criterion, metric, model, debias) -> places of its rows in the scores."""
    keys = ["metric", "model", "debias"]
    scores = scores.reset_index(drop=True)
    for (criterion, *rest), part in scores.groupby(["criterion", *keys], sort=True):
        yield (criterion, *rest), part.index.to_numpy()
    of_ranked = scores[scores["criterion"].isin(ranked)]
    criteria = of_ranked.groupby("metric")["criterion"].nunique()
    for (metric, model, debias), part in of_ranked.groupby(keys, sort=True):
        # what is measured on some of the criteria only has no place in a ranking over all
        if debias == UNTOUCHED or part["criterion"].nunique() == criteria[metric]:
            yield (OVERALL, metric, model, debias), part.index.to_numpy()


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    return aggregates(SCORES.read(inputs["scores"]), spec["ranked"])


AGGREGATES = Table(
    "aggregates",
    "One row per criterion (and all ranked ones together), metric, model, debias method and way to aggregate.",
    (
        CRITERION,
        METRIC,
        MODEL,
        DEBIAS,
        Column("aggregation", "avg, abs_avg, sum or abs_sum: average or sum, plain or of absolute values"),
        Column("value", "the aggregate; empty where no score has a value", "number", "the metric's"),
        Column("cells", "how many scores there are", "count"),
        Column("cells_nan", "how many of them have no value, and are left out", "count"),
    ),
    inputs=lambda grid: {"scores": grid.table_file("scores")},
    spec=lambda grid: {"ranked": sorted(grid.ranked)},
    make=make,
)
TABLES = (AGGREGATES,)
