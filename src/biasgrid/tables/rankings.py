"""Table of rankings: models ranked by each metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..debias import UNTOUCHED
from ..measure.aggregation import OVERALL, Aggregation, aggregator
from ..measure.ranks import rank_interval
from ..measure.results import ACROSS_QUERIES
from ..measure.statistics.shared import COVERAGE, FEW_QUERIES, FEW_SHARED, FEW_UNITS, NO_VALUE
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
    """Rank the models by each metric, 1 the least biased, for each of the `ranked` criteria and "Overall".

    Parameters
    ----------
    scores
        The table of scores.
    ranked
        Names of the ranked criteria.
    neutral
        The no-bias value of each metric.
    aggregation
        A name, or a function of an array.
    by
        "distance": scores are measured from the no-bias value before they are aggregated, and models are ranked by
        the absolute aggregate, where 0 means no bias under every metric. "value": WEFE's plain ascending rank of the
        aggregated scores, which ranks the least similar ECT (the most biased model) first. Both agree if the no-bias
        value is 0 and the aggregation absolute.
    ties
        As in pandas.Series.rank: "average" (as in the case study), "min", "max", "dense" or "first" (as in WEFE's
        create_ranking, by order of the models' keys).
    coverage, parts
        As in `tables.shared.places_of`.

    Returns
    -------
    pandas.DataFrame
        `value` and `rank` follow the case study: a debiased model is ranked among the models, and NaN cells are left
        out, so that models may be ranked on different queries. `value_shared` and `rank_shared` compare the original
        models on the rows that all of them have; `reason` tells why a model lacks such a rank. A NaN aggregate is not
        ranked. The ends of the ranks' intervals are NaN.
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
    """Aggregate a model's scores (n,), without NaN, into the number by which it is ranked; NaN without scores."""
    if not len(values):
        return math.nan
    value = float(aggregator(aggregation)(values - (neutral if by == "distance" else 0.0)))
    return abs(value) if by == "distance" else value


def _reason(place: Place, column: int) -> str:
    """Return why a model variant lacks a rank_shared; empty if it has one."""
    if place.states[column][1] != UNTOUCHED:
        return DEBIASED
    if not place.has_value[:, column].any():
        return NO_VALUE
    if place.shared.units[column]:
        return ""
    return place.shared.reason or FEW_QUERIES


def round_values(values: pd.Series) -> pd.Series:
    """Round values before ranking: values that agree to twelve digits are tied, despite rounding errors."""
    return values.map(lambda value: float(f"{value:.12g}"))


def fewer_scores(rankings: pd.DataFrame) -> pd.Series:
    """Return whether a model has fewer scores than others, so that its rank rests on fewer queries."""
    # A query that no model has a score for does not affect the comparison.
    fullest = rankings.groupby(["criterion", "metric"])["cells_nan"].transform("min")
    return rankings["cells_nan"] > fullest


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Compute `rankings`, with 95 % intervals of the ranks (bootstrap over words) if the study has a bootstrap."""
    table = rankings(read_ranked(inputs["scores"], spec["ranking"]), **spec["ranking"])
    if "bootstrap" in spec:
        ranks = read_ranks(inputs["rank_samples"], len(table), spec["bootstrap"]["draws"])
        # Put the low and high ends of both kinds of ranks next to each other.
        ends = [[rank_interval(row, spec["bootstrap"]["level"]) for row in ranks[kind, 0]] for kind in (0, 1)]
        # The array is empty if no criterion is ranked.
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
