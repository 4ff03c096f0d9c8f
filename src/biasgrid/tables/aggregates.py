"""The table of aggregates: averages and sums of scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..statistics.aggregation import AGGREGATIONS, Aggregation, aggregation_name, aggregator, groups
from .keys import CRITERION, DEBIAS, METRIC, MODEL
from .scores import SCORES
from .table import ANY, Column, Files, Table


def aggregates(
    scores: pd.DataFrame,
    ranked_criteria: Sequence[str],
    aggregations: Iterable[Aggregation] = tuple(AGGREGATIONS),
) -> pd.DataFrame:
    """Every aggregation (a name, or a function of an array) of every criterion's scores, and of the ranked criteria
    together as "Overall".

    The overall value is taken over all cells of the criteria, not over the criteria's values (as the case study
    does); a model under a debias method that is not measured on all of them has none. NaN cells are left out and
    counted; an aggregate of nothing but NaN is NaN.
    """
    functions = {aggregation_name(aggregation): aggregator(aggregation) for aggregation in aggregations}
    rows = []
    all_values = scores["value"].to_numpy()
    for (criterion, metric, model, debias), places in groups(scores, ranked_criteria):
        values = all_values[places]
        finite = values[~np.isnan(values)]
        for name, aggregate in functions.items():
            value = float(aggregate(finite)) if len(finite) else math.nan
            rows.append(
                (criterion, metric, model, debias, name, value, len(values), len(values) - len(finite))
            )
    return pd.DataFrame(rows, columns=AGGREGATES.names).sort_values(AGGREGATES.names[:5], ignore_index=True)


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
        Column(
            "aggregation",
            "average or sum of the scores, plain or of absolute values",
            values=tuple(AGGREGATIONS),
        ),
        Column("value", "the aggregate; empty where no score has a value", "number", "the metric's", ANY),
        Column("cells", "how many scores there are", "count"),
        Column("cells_nan", "how many of them have no value, and are left out", "count"),
    ),
    inputs=lambda grid: {"scores": grid.table_file("scores")},
    spec=lambda grid: {"ranked": sorted(grid.ranked_criteria)},
    make=make,
)
TABLES = (AGGREGATES,)
