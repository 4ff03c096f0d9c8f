"""The table of rank intervals: a model's rank over bootstrap resamples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from ..statistics.ranks import RESAMPLED, rank_interval
from .correlations import ranks_inputs
from .keys import CRITERION, DEBIAS, METRIC, MODEL
from .rank_samples import read_ranks
from .rankings import RANKINGS, bootstrap_spec
from .table import Column, Files, Table


def rank_intervals(rankings: pd.DataFrame, ranks: np.ndarray, level: float) -> pd.DataFrame:
    """The rank of each row of the rankings over the resamples in which it has one, for each kind of resamples.

    `ranks` are (RESAMPLED, rows of the rankings, draws). In at most (1 - level) / 2 of the resamples the rank is
    below `low`, and in as many above `high`.
    """
    rows = []
    for _, part in rankings.groupby(["criterion", "metric"]):
        best = np.fmin.reduce(ranks[:, part.index], axis=1)
        for unit in part.itertuples():
            for kind, kind_name in enumerate(RESAMPLED):
                sample = ranks[kind, unit.Index].astype(np.float64)
                count = np.count_nonzero(~np.isnan(sample))
                key = unit.criterion, unit.metric, unit.model, unit.debias, kind_name, unit.rank
                mean = np.nansum(sample) / count if count else math.nan
                first = np.count_nonzero(sample == best[kind]) / count if count else math.nan
                rows.append((*key, mean, *rank_interval(sample, level), first))
    return pd.DataFrame(rows, columns=RANK_INTERVALS.names)


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    rankings = RANKINGS.read(inputs["rankings"])
    ranks = read_ranks(inputs["rank_samples"], len(rankings), spec["bootstrap"]["draws"])
    return rank_intervals(rankings, ranks, spec["bootstrap"]["level"])


def bootstrap_inputs(grid: Any) -> dict[str, Any]:
    """The rankings and the ranks of the study's resamples; nothing without a bootstrap."""
    return ranks_inputs(grid) if "bootstrap" in grid.config["inference"] else {}


RANK_INTERVALS = Table(
    "rank_intervals",
    "One row per ranked model, debias method, metric, criterion and kind of resamples: the rank over resamples.",
    (
        CRITERION,
        METRIC,
        MODEL,
        DEBIAS,
        Column("resampled", "what was drawn again", values=RESAMPLED),
        Column("rank", "the rank in the rankings", "number", range=(1, inf)),
        Column("mean", "its mean over resamples", "number", range=(1, inf)),
        Column("low", "lower end of its 95 % percentile interval", "number", range=(1, inf)),
        Column("high", "upper end", "number", range=(1, inf)),
        Column("first", "share of resamples in which no other model ranks better", "number", range=(0, 1)),
    ),
    inputs=bootstrap_inputs,
    spec=bootstrap_spec,
    make=make,
)
TABLES = (RANK_INTERVALS,)
