"""The table of the order of models: how often each ranks before each other over bootstrap resamples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..statistics.ranks import RESAMPLED
from .keys import CRITERION, METRIC
from .rank_intervals import bootstrap_inputs
from .rank_samples import read_ranks
from .rankings import RANKINGS
from .table import Column, Files, Table


def order(rankings: pd.DataFrame, ranks: np.ndarray) -> pd.DataFrame:
    """For each two models (under their debias methods) that a metric ranks, the share of resamples in which the first
    ranks as less biased than the second, a tie counting half; of the resamples in which both have a rank."""
    rows = []
    for (criterion, metric), part in rankings.groupby(["criterion", "metric"]):
        units = list(part[["model", "debias"]].itertuples(index=False, name=None))
        for kind, ranks_of_kind in zip(RESAMPLED, ranks[:, part.index], strict=True):
            for i, unit in enumerate(units):
                differences = ranks_of_kind[i] - ranks_of_kind[i + 1 :]
                wins = (
                    np.count_nonzero(differences < 0, axis=1) + np.count_nonzero(differences == 0, axis=1) / 2
                )
                with np.errstate(invalid="ignore"):
                    shares = wins / np.count_nonzero(~np.isnan(differences), axis=1)
                key = criterion, metric, kind, *unit
                rows += [
                    (*key, *second_unit, s)
                    for second_unit, s in zip(units[i + 1 :], shares.tolist(), strict=True)
                ]
    return pd.DataFrame(rows, columns=ORDER.names)


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    rankings = RANKINGS.read(inputs["rankings"])
    return order(rankings, read_ranks(inputs["rank_samples"], len(rankings), spec["draws"]))


ORDER = Table(
    "order",
    "One row per ranked criterion, metric, kind of resamples and pair of models: how often the first ranks better.",
    (
        CRITERION,
        METRIC,
        Column("resampled", "what was drawn again", values=RESAMPLED),
        Column("model_a", "a model's key"),
        Column("debias_a", "its debias method"),
        Column("model_b", "another's"),
        Column("debias_b", "its debias method"),
        Column(
            "share_of_resamples",
            "in which model_a ranks as less biased than model_b, a tie counting half; it is no probability",
            "number",
            range=(0, 1),
        ),
    ),
    inputs=bootstrap_inputs,
    spec=lambda grid: {"draws": grid.config["inference"]["bootstrap"]["draws"]},
    make=make,
)
TABLES = (ORDER,)
