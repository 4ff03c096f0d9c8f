"""The table of rankings: models ranked by each metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from ..statistics.aggregation import OVERALL, Aggregation, aggregator, groups
from ..statistics.ranks import rank_interval
from .keys import CRITERION, DEBIAS, METRIC, MODEL
from .rank_samples import read_ranks
from .scores import read_ranked
from .table import ANY, Column, Files, Table


def rankings(
    scores: pd.DataFrame,
    ranked: Sequence[str],
    neutral: Mapping[str, float],
    aggregation: Aggregation = "abs_avg",
    by: str = "distance",
    ties: str = "average",
) -> pd.DataFrame:
    """Models ranked by a metric, 1 the least biased, for each of the `ranked` criteria and "Overall".

    by "distance": scores are measured from the metric's neutral value before they are aggregated, and a model
    is ranked by the absolute aggregate: 0 is unbiased under every metric. by "value": WEFE's plain ascending
    rank of the aggregated scores, which takes the least similar ECT (the most biased model) for the best.
    Where the neutral value is 0 and the aggregation absolute, both are the same. `aggregation`: a name, or a
    function of an array. `ties` as pandas.Series.rank has them: "average" (the case study's), "min", "max", "dense"
    or "first" (WEFE's create_ranking, by order of the models' keys). A model under a transform ranks beside the
    models. A NaN aggregate has no rank. NaN cells are left out, as in the case study; where `cells_nan` is not 0, a
    model was ranked by fewer queries than the others. rank_low and rank_high are NaN.
    """
    aggregate, rows = aggregator(aggregation), []
    all_values = scores["value"].to_numpy()
    for (criterion, metric, model, debias), places in groups(scores, ranked):
        values = all_values[places]
        if criterion != OVERALL and criterion not in ranked:
            continue
        finite = values[~np.isnan(values)] - (neutral[metric] if by == "distance" else 0.0)
        value = float(aggregate(finite)) if len(finite) else math.nan
        value = abs(value) if by == "distance" else value
        rows.append((criterion, metric, model, debias, value, len(values), len(values) - len(finite)))
    columns = ["criterion", "metric", "model", "debias", "value", "cells", "cells_nan"]
    table = pd.DataFrame(rows, columns=columns).sort_values(columns[:4], ignore_index=True)
    by_metric = [table["criterion"], table["metric"]]
    table.insert(5, "rank", round_values(table["value"]).groupby(by_metric).rank(method=ties))
    table.insert(6, "rank_low", math.nan)
    table.insert(7, "rank_high", math.nan)
    return table


def round_values(values: pd.Series) -> pd.Series:
    """Values to rank: those that agree to twelve digits are a tie, not an order made by rounding."""
    return values.map(lambda value: float(f"{value:.12g}"))


def fewer_scores(rankings: pd.DataFrame) -> pd.Series:
    """Whether a model was ranked by fewer scores than others were."""
    # a query that no model has a score of takes nothing from the comparison
    fullest = rankings.groupby(["criterion", "metric"])["cells_nan"].transform("min")
    return rankings["cells_nan"] > fullest


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """`rankings`, with 95 % intervals of the ranks (bootstrap over words) where the study has a bootstrap."""
    table = rankings(read_ranked(inputs["scores"], spec["ranking"]), **spec["ranking"])
    if "bootstrap" in spec:
        ranks = read_ranks(inputs["rank_samples"], len(table), spec["bootstrap"]["draws"])[0]
        ends = [rank_interval(sample, spec["bootstrap"]["level"]) for sample in ranks]
        # where no criterion is ranked there are none
        table[["rank_low", "rank_high"]] = np.reshape(ends, (-1, 2))
    return table


def _inputs(grid: Any) -> dict[str, Any]:
    ranks = {"rank_samples": grid.ranks_file} if "bootstrap" in grid.config["inference"] else {}
    return {"scores": grid.table_file("scores"), **ranks}


def bootstrap_spec(grid: Any) -> dict[str, Any]:
    """What a table of ranks depends on of the study's bootstrap, where it has one."""
    bootstrap = grid.config["inference"].get("bootstrap")
    return {"bootstrap": bootstrap} if bootstrap else {}


RANKINGS = Table(
    "rankings",
    "One row per ranked criterion (and all together), metric, model and debias method: the model's rank.",
    (
        CRITERION,
        METRIC,
        MODEL,
        DEBIAS,
        Column("value", "what it is ranked by: the aggregate of its scores", "number", "the metric's", ANY),
        Column("rank", "1 is the least biased; empty where there is no value", "number", range=(1, inf)),
        Column(
            "rank_low",
            "lower end of the 95 % interval of the rank (bootstrap over words)",
            "number",
            range=(1, inf),
        ),
        Column("rank_high", "its upper end", "number", range=(1, inf)),
        Column("cells", "how many scores there are", "count"),
        Column("cells_nan", "how many of them have no value, and are left out", "count"),
    ),
    inputs=_inputs,
    spec=lambda grid: {"ranking": grid.ranking, **bootstrap_spec(grid)},
    make=make,
    key=("criterion", "metric", "model", "debias"),
)
TABLES = (RANKINGS,)
