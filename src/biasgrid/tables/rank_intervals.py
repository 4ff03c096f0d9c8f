"""Table of rank intervals: a model's rank over bootstrap resamples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..debias import UNTOUCHED
from ..measure.ranks import RESAMPLED, rank_interval
from ..measure.statistics.two_models import FEWEST_CLUSTERS
from .keys import CRITERION, DEBIAS, METRIC, MODEL
from .rank_samples import read_ranks
from .rankings import RANKINGS
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd


def rank_intervals(rankings: pd.DataFrame, ranks: np.ndarray, level: float) -> pd.DataFrame:
    """Summarise the rank_shared of each original model over the resamples in which it has one, for each kind.

    With few clusters of queries, only words are resampled. `ranks` has the ranks by rank_shared, (RESAMPLED, rows of
    the rankings, draws). The rank is below `low` in at most (1 - level) / 2 of the resamples, and above `high` in at
    most the same share.
    """
    import pandas as pd

    rows = []
    for part, kinds in models_by_place(rankings, ranks):
        best = np.fmin.reduce(ranks[:, part.index], axis=1)
        for unit in part.itertuples():
            for kind in kinds:
                sample = ranks[kind, unit.Index].astype(np.float64)
                count = np.count_nonzero(~np.isnan(sample))
                key = unit.criterion, unit.metric, unit.model, unit.debias, RESAMPLED[kind], unit.rank_shared
                mean = np.nansum(sample) / count if count else math.nan
                first = np.count_nonzero(sample == best[kind]) / count if count else math.nan
                rows.append((*key, mean, *rank_interval(sample, level), first))
    return pd.DataFrame(rows, columns=RANK_INTERVALS.names)


def models_by_place(
    rankings: pd.DataFrame, ranks: np.ndarray
) -> Iterator[tuple[pd.DataFrame, tuple[int, ...]]]:
    """Yield the original models of each criterion and metric, and the kinds of resamples in which they have ranks."""
    models = rankings[rankings["debias"] == UNTOUCHED]
    for _, part in models.groupby(["criterion", "metric"]):
        has_ranks = ~np.isnan(ranks[:, part.index]).all(axis=(1, 2))
        # If no model is ranked, keep all kinds, with empty values.
        yield part, tuple(np.flatnonzero(has_ranks)) if has_ranks.any() else tuple(range(len(RESAMPLED)))


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    rankings = RANKINGS.read(inputs["rankings"])
    ranks = read_ranks(inputs["rank_samples"], len(rankings), spec["bootstrap"]["draws"])[1]
    return rank_intervals(rankings, ranks, spec["bootstrap"]["level"])


RANK_INTERVALS = Table(
    "rank_intervals",
    "Intervals of the models' ranks over resamples. One row per model (without debiasing), metric, criterion "
    "and kind of resamples: rank_shared over resamples.",
    (
        CRITERION,
        METRIC,
        MODEL,
        DEBIAS,
        Column(
            "resampled",
            f"what was resampled; only words if the queries form fewer than {FEWEST_CLUSTERS} clusters",
            values=RESAMPLED,
        ),
        Column.rank("rank", "rank_shared of rankings.csv"),
        Column.rank("mean", "mean rank over resamples"),
        Column.rank("low", "lower end of its 95 % percentile interval"),
        Column.rank("high", "upper end of the interval"),
        Column.share("first", "share of resamples in which no other model ranks better"),
    ),
    reads=("rankings", "rank_samples"),
    when="bootstrap",
    facts=("bootstrap",),
    make=make,
    key=("criterion", "metric", "model", "debias", "resampled"),
)
TABLES = (RANK_INTERVALS,)
