"""Table of rank correlations between metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from ..measure.aggregation import name_of, number_of
from ..measure.statistics.correlation import correlate_columns, percentile_interval
from .keys import CRITERION
from .rank_samples import read_ranks
from .rankings import RANKINGS
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("spearman", "kendall", "pearson")


def correlations(
    rankings: pd.DataFrame, methods: Sequence[str | Callable[[np.ndarray, np.ndarray], float]] = METHODS
) -> pd.DataFrame:
    """Correlate the ranks that each two metrics give the models, per criterion.

    Parameters
    ----------
    rankings
        The table of rankings.
    methods
        As in pandas.DataFrame.corr: names, or functions of two arrays of ranks (n,).

    Returns
    -------
    pandas.DataFrame
        One row for every ordered pair of metrics. The correlation is NaN if both metrics rank fewer than two models,
        or if one metric gives all models the same rank. ci_low and ci_high are NaN. `queries` is the smallest number
        of queries behind a rank.
    """
    import pandas as pd

    methods_by_name = {method if isinstance(method, str) else name_of(method): method for method in methods}
    rows = []
    for criterion, part in rankings.groupby("criterion", sort=True):
        ranks = part.pivot(index=["model", "debias"], columns="metric", values="rank")
        for name, method in sorted(methods_by_name.items()):
            matrix = ranks.corr(method=_numeric_method(method) if callable(method) else method)
            rows += [(criterion, name, a, b, matrix.loc[a, b]) for a in matrix for b in matrix]
    columns = ["criterion", "method", "metric_a", "metric_b", "correlation"]
    table = pd.DataFrame(rows, columns=columns).assign(ci_low=math.nan, ci_high=math.nan)
    queries = _fewest_queries(rankings)
    places = table[["criterion", "metric_a", "metric_b"]].itertuples(index=False, name=None)
    return table.assign(queries=[queries[place] for place in places])


def _fewest_queries(rankings: pd.DataFrame) -> dict[tuple[str, str, str], int]:
    """Return the smallest number of queries behind a rank, by criterion and two metrics.

    Only models that both metrics rank count; the number is 0 without such models.
    """
    fewest = {}
    for criterion, part in rankings.groupby("criterion"):
        queries = part["queries"].where(part["rank"].notna())
        by_metric = part.assign(queries=queries).pivot(
            index=["model", "debias"], columns="metric", values="queries"
        )
        for a in by_metric:
            for b in by_metric:
                numbers = np.minimum(by_metric[a], by_metric[b])
                fewest[criterion, a, b] = int(np.nan_to_num(numbers.min()))
    return fewest


def _numeric_method(
    method: Callable[[np.ndarray, np.ndarray], float],
) -> Callable[[np.ndarray, np.ndarray], float]:
    return lambda a, b: number_of(method, "method", a, b)


def intervals(
    rankings: pd.DataFrame, ranks: np.ndarray, methods: Sequence[str], level: float
) -> dict[tuple[str, str, str, str], tuple[float, float]]:
    """Compute percentile intervals of `correlations`: criterion, method and two metrics -> low, high.

    `ranks` (rows, draws) has the ranks of each row of the rankings in each resample. Resamples without a correlation
    are left out; if more than half lack one, the interval is NaN.
    """
    ends = {}
    for criterion, part in rankings.groupby("criterion"):
        states = part.groupby(["model", "debias"]).ngroup().to_numpy()
        by_metric = {}
        for metric, places in part.reset_index(drop=True).groupby("metric").groups.items():
            by_metric[metric] = np.full((states.max() + 1, ranks.shape[1]), math.nan)
            by_metric[metric][states[places]] = ranks[part.index[places]]
        for method in methods:
            for a, b in combinations_with_replacement(by_metric, 2):
                interval = percentile_interval(correlate_columns(by_metric[a], by_metric[b], method), level)
                ends[criterion, method, a, b] = ends[criterion, method, b, a] = interval
    return ends


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return `correlations`, with 95 % intervals (bootstrap over words) if the study has a bootstrap."""
    rankings = RANKINGS.read(inputs["rankings"])
    table = correlations(rankings, spec["methods"])
    if "rank_samples" in inputs:
        ranks = read_ranks(inputs["rank_samples"], len(rankings), spec["bootstrap"]["draws"])[0, 0]
        ends = intervals(rankings, ranks, spec["methods"], spec["bootstrap"]["level"])
        keys = table[["criterion", "method", "metric_a", "metric_b"]].itertuples(index=False, name=None)
        table[["ci_low", "ci_high"]] = np.reshape([ends[key] for key in keys], (-1, 2))
    return table


CORRELATIONS = Table(
    "correlations",
    "Correlations of the ranks that two metrics give the models. One row per ranked criterion (and all "
    "together), method and ordered pair of metrics.",
    (
        CRITERION,
        Column("method", "type of correlation; Kendall's is tau-b", values=METHODS),
        Column("metric_a", "key of the first metric", key="metric"),
        Column("metric_b", "key of the second, which may be the same", key="metric"),
        Column.correlation("correlation", "the correlation; 0 means no relation. Empty if it is undefined"),
        Column.correlation("ci_low", "lower end of the 95 % interval (bootstrap over words)"),
        Column.correlation("ci_high", "upper end of the same interval"),
        Column.count(
            "queries",
            "the smallest number of queries behind one of these ranks. A model without a value on some queries "
            "is ranked on fewer queries than the others",
        ),
    ),
    reads=("rankings", "rank_samples"),
    facts=("bootstrap",),
    spec=lambda study: {"methods": study.config.correlations},
    make=make,
    key=("criterion", "method", "metric_a", "metric_b"),
)
TABLES = (CORRELATIONS,)
