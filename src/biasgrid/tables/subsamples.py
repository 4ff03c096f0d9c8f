"""Table of subsamples: how WEAT's effect size depends on the choice of target words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.seeds import seed_of
from ..core.validation import to_record
from ..measure.results import results
from ..measure.statistics.subsamples import subsample_effect_size
from .cells import ddof_of, effect_size_cells
from .keys import CELL
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


LEVEL = 0.05


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per cell of WEAT's effect size, in criteria with `subsamples`.

    Parameters
    ----------
    inputs
        "cells": their files.
    spec
        "subsamples": criterion -> "words" and "draws"; "ddof": a list of [criterion, metric, ddof]; "seed": the
        study's seed.
    """
    seed = seed_of(spec["seed"], "subsamples")
    ddof = {(criterion, metric): number for criterion, metric, number in spec["ddof"]}
    rows = []
    for key, _, result in results(inputs["cells"]):
        entry, associations = (
            spec["subsamples"][key[0]],
            list(result["detail"].get("association", {}).values()),
        )
        first, second = (
            ([*association.values()] for association in associations) if len(associations) == 2 else ([], [])
        )
        words = min(entry["words"], len(first), len(second))
        if result["value"] is None or words < 2:
            continue
        draws = subsample_effect_size(
            first, second, words, entry["draws"], ddof=ddof[key[0], key[2]], seed=seed
        )
        rows.append((*key, result["value"], words, entry["draws"], *_summary(draws.values, draws.p_values)))
    return SUBSAMPLES.finish(rows)


def _summary(values: np.ndarray, p_values: np.ndarray) -> tuple[float, ...]:
    ends = [0.025, 0.975]
    return (
        *(
            float(np.nanmean(values)),
            float(np.nanstd(values, ddof=1)),
            *np.nanquantile(values, ends).tolist(),
        ),
        *np.nanquantile(p_values, ends).tolist(),
        float(np.mean(p_values < LEVEL)),
    )


_cells = partial(effect_size_cells, asked="subsamples")


def _spec(study: Planned) -> dict[str, Any]:
    criteria = study.config.criteria
    options = {name: to_record(entry.subsamples) for name, entry in criteria.items() if entry.subsamples}
    return {"subsamples": options, "ddof": ddof_of(study, _cells(study))}


SUBSAMPLES = Table(
    "subsamples",
    "How WEAT's effect size varies over random subsets of target words. One row per score of WEAT's effect size "
    "in criteria with `subsamples`.",
    (
        *CELL,
        Column.value("value", "the effect size with all words", "standard deviations"),
        Column.count("words", "number of words drawn from each target set"),
        Column.count("draws", "number of random subsets"),
        Column.value("mean", "mean effect size of the subsets", "standard deviations"),
        Column.value("sd", "standard deviation of the effect sizes", "standard deviations", 0),
        Column.value("low", "2.5 % quantile of the effect sizes", "standard deviations"),
        Column.value("high", "97.5 % quantile of the effect sizes", "standard deviations"),
        Column.share("p_low", "2.5 % quantile of the one-sided p-values (alternative: a larger effect size)"),
        Column.share("p_high", "97.5 % quantile of the one-sided p-values"),
        Column.share("rejects", f"share of the p-values below {LEVEL}"),
    ),
    reads=("cells",),
    facts=("seed",),
    spec=_spec,
    make=make,
    cells=_cells,
)
TABLES = (SUBSAMPLES,)
