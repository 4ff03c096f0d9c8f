"""Table of the order of models: how often each ranks before each other one over bootstrap resamples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..measure.ranks import RESAMPLED
from ..measure.statistics.two_models import FEWEST_CLUSTERS
from .keys import CRITERION, METRIC
from .rank_intervals import models_by_place
from .rank_samples import read_ranks
from .rankings import RANKINGS
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd


def order(rankings: pd.DataFrame, ranks: np.ndarray) -> pd.DataFrame:
    """Return, for each two original models, the share of resamples in which the first ranks as less biased.

    The share is by rank_shared, a tie counts half, and only resamples in which both models have a rank count. `ranks`
    has the ranks by rank_shared, (RESAMPLED, rows of the rankings, draws).
    """
    import pandas as pd

    rows = []
    for part, kinds in models_by_place(rankings, ranks):
        place = tuple(part[["criterion", "metric"]].iloc[0])
        units = list(part[["model", "debias"]].itertuples(index=False, name=None))
        for kind in kinds:
            ranks_of_kind = ranks[kind, part.index]
            for i, unit in enumerate(units):
                differences = ranks_of_kind[i] - ranks_of_kind[i + 1 :]
                wins = (
                    np.count_nonzero(differences < 0, axis=1) + np.count_nonzero(differences == 0, axis=1) / 2
                )
                with np.errstate(invalid="ignore"):
                    shares = wins / np.count_nonzero(~np.isnan(differences), axis=1)
                rows += [
                    (*place, RESAMPLED[kind], *unit, *second_unit, share)
                    for second_unit, share in zip(units[i + 1 :], shares.tolist(), strict=True)
                ]
    return pd.DataFrame(rows, columns=ORDER.names)


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    rankings = RANKINGS.read(inputs["rankings"])
    return order(rankings, read_ranks(inputs["rank_samples"], len(rankings), spec["draws"])[1])


ORDER = Table(
    "order",
    "How often one model ranks before another in resamples. One row per ranked criterion, metric, kind of "
    "resamples and pair of models (without debiasing): how often the first has the better rank_shared.",
    (
        CRITERION,
        METRIC,
        Column(
            "resampled",
            f"what was resampled; only words if the queries form fewer than {FEWEST_CLUSTERS} clusters",
            values=RESAMPLED,
        ),
        Column("model_a", "key of the first model", key="model"),
        Column("debias_a", "its debias method", key="debias"),
        Column("model_b", "key of the second model", key="model"),
        Column("debias_b", "its debias method", key="debias"),
        Column.share(
            "share_of_resamples",
            "share of resamples in which model_a ranks as less biased than model_b; a tie counts as half. It is "
            "not a probability",
        ),
    ),
    reads=("rankings", "rank_samples"),
    when="bootstrap",
    facts=("draws",),
    make=make,
    key=("criterion", "metric", "resampled", "model_a", "debias_a", "model_b", "debias_b"),
)
TABLES = (ORDER,)
