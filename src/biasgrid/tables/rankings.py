"""The table of rankings: models ranked by each metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..debias import UNTOUCHED
from ..results import ACROSS_QUERIES
from ..statistics.aggregation import OVERALL, Aggregation, aggregator
from ..statistics.ranks import rank_interval
from ..statistics.shared import COVERAGE, FEW_QUERIES, FEW_SHARED, FEW_UNITS, NO_VALUE
from .keys import CRITERION, DEBIAS, METRIC, MODEL
from .rank_samples import read_ranks
from .scores import read_ranked
from .shared import Parts, Place, places_of
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

INTERVALS = ["rank_low", "rank_high", "rank_shared_low", "rank_shared_high"]
DEBIASED = "debiased"


def rankings(
    scores: pd.DataFrame,
    ranked: Sequence[str],
    neutral: Mapping[str, float],
    aggregation: Aggregation = "abs_avg",
    by: str = "distance",
    ties: str = "average",
    coverage: float = COVERAGE,
    parts: Parts | None = None,
) -> pd.DataFrame:
    """Models ranked by a metric, 1 the least biased, for each of the `ranked` criteria and "Overall".

    by "distance": scores are measured from the metric's neutral value before they are aggregated, and a model
    is ranked by the absolute aggregate: 0 is unbiased under every metric. by "value": WEFE's plain ascending
    rank of the aggregated scores, which takes the least similar ECT (the most biased model) for the best.
    Where the neutral value is 0 and the aggregation absolute, both are the same. `aggregation`: a name, or a
    function of an array. `ties` as pandas.Series.rank has them: "average" (the case study's), "min", "max", "dense"
    or "first" (WEFE's create_ranking, by order of the models' keys).

    `value` and `rank` are the case study's: a model under a transform ranks beside the models, and NaN cells are left
    out, so that a model may be ranked by other queries than the others. `value_shared` and `rank_shared` compare like
    with like (`tables.shared`, which says what `coverage` and `parts` are): the untouched models on the rows that all
    of them have; `reason` says why a model has no such rank. A NaN aggregate has no rank. The ends of the ranks'
    intervals are NaN.
    """
    import pandas as pd

    all_values = scores["value"].to_numpy()

    def aggregate(metric: str, places: np.ndarray) -> float:
        return aggregate_scores(all_values[places], neutral[metric], aggregation, by)

    rows = []
    for place in places_of(scores, ranked, coverage, parts):
        if place.criterion != OVERALL and place.criterion not in ranked:
            continue
        for column, (model, debias) in enumerate(place.states):
            places, has_value = place.places[:, column], place.has_value[:, column]
            shared = place.rows_of((model, debias))
            cells = int((places >= 0).sum())
            rows.append(
                (
                    *(place.criterion, place.metric, model, debias),
                    aggregate(place.metric, places[has_value]),
                    *(cells, cells - int(has_value.sum())),
                    aggregate(place.metric, places[shared]),
                    *(place.count_queries(has_value), len(place.queries)),
                    _reason(place, column),
                )
            )
    of_each = ["value", "cells", "cells_nan", "value_shared", "queries", "queries_of", "reason"]
    table = pd.DataFrame(rows, columns=[*ACROSS_QUERIES, *of_each])
    table = table.sort_values(ACROSS_QUERIES, ignore_index=True)
    groups = [table["criterion"], table["metric"]]
    table["rank"] = round_values(table["value"]).groupby(groups).rank(method=ties)
    untouched_values = table["value_shared"].where(table["debias"] == UNTOUCHED)
    table["rank_shared"] = round_values(untouched_values).groupby(groups).rank(method=ties)
    table[INTERVALS] = math.nan
    return table[RANKINGS.names]


def aggregate_scores(values: np.ndarray, neutral: float, aggregation: Aggregation, by: str) -> float:
    """What a model is ranked by: its scores (n,), without NaN, in one number; NaN of none."""
    if not len(values):
        return math.nan
    value = float(aggregator(aggregation)(values - (neutral if by == "distance" else 0.0)))
    return abs(value) if by == "distance" else value


def _reason(place: Place, column: int) -> str:
    """Why a state has no rank among those that compare; empty where it has one."""
    if place.states[column][1] != UNTOUCHED:
        return DEBIASED
    if not place.has_value[:, column].any():
        return NO_VALUE
    if place.shared.units[column]:
        return ""
    return place.shared.reason or FEW_QUERIES


def round_values(values: pd.Series) -> pd.Series:
    """Values to rank: those that agree to twelve digits are a tie, not an order made by rounding."""
    return values.map(lambda value: float(f"{value:.12g}"))


def fewer_scores(rankings: pd.DataFrame) -> pd.Series:
    """Whether a model lost queries that others have: its rank is of other questions than theirs."""
    # a query that no model has a score of takes nothing from the comparison
    fullest = rankings.groupby(["criterion", "metric"])["cells_nan"].transform("min")
    return rankings["cells_nan"] > fullest


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """`rankings`, with 95 % intervals of the ranks (bootstrap over words) where the study has a bootstrap."""
    table = rankings(read_ranked(inputs["scores"], spec["ranking"]), **spec["ranking"])
    if "bootstrap" in spec:
        ranks = read_ranks(inputs["rank_samples"], len(table), spec["bootstrap"]["draws"])
        # of both kinds of ranks, low and high, side by side
        ends = [[rank_interval(row, spec["bootstrap"]["level"]) for row in ranks[kind, 0]] for kind in (0, 1)]
        # where no criterion is ranked there are none
        table[INTERVALS] = np.concatenate([np.reshape(part, (-1, 2)) for part in ends], axis=1)
    return table


RANKINGS = Table(
    "rankings",
    "The models' ranks, by metric and criterion. One row per ranked criterion (and all together), metric, model "
    "and debias method.",
    (
        CRITERION,
        METRIC,
        MODEL,
        DEBIAS,
        Column.value("value", "the value that is ranked: the model's average (or sum of) scores"),
        Column.rank("rank", "rank; 1 is the least biased. Empty without a value"),
        Column.rank("rank_low", "lower end of the 95 % interval of the rank (bootstrap over words)"),
        Column.rank("rank_high", "upper end of the same interval"),
        Column.count("cells", "number of scores"),
        Column.count("cells_nan", "number of scores without a value; they are left out"),
        Column.value(
            "value_shared",
            "the value that rank_shared ranks: the average over the queries and sub-queries that all ranked "
            "models have. For a debiased variant, over those of its original model",
        ),
        Column.rank(
            "rank_shared",
            "rank among the original models, on the queries and sub-queries that all ranked models have; 1 is "
            "the least biased",
        ),
        Column.rank(
            "rank_shared_low", "lower end of the 95 % interval of rank_shared (bootstrap over words)"
        ),
        Column.rank("rank_shared_high", "upper end of the same interval"),
        Column.count("queries", "number of queries on which the model has all values"),
        Column.count("queries_of", "number of queries in the criterion"),
        Column(
            "reason",
            "why there is no rank_shared: the model has no value, or values on too few queries (`ranking: "
            "coverage`); fewer than two models have enough values; these models share fewer than half of the "
            "queries; or the model is debiased",
            values=("", NO_VALUE, FEW_QUERIES, FEW_UNITS, FEW_SHARED, DEBIASED),
        ),
    ),
    reads=("scores", "rank_samples"),
    facts=("ranking", "bootstrap"),
    make=make,
    key=("criterion", "metric", "model", "debias"),
)
TABLES = (RANKINGS,)
