"""Table of quality: models on word-similarity and analogy benchmarks, with coverage and ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BiasgridError, join_names
from ..evaluation.record import read_evaluation
from ..evaluation.similarity import rho
from ..models.not_downloaded import STATUS
from .keys import DEBIAS, MODEL
from .rankings import round_values
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


# A rho of this many pairs has a standard error of .1. A model with fewer pairs would make the common part of all
# models too small.
ENOUGH = 100
TOO_FEW = "too_few_to_compare"


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per model, debias method and benchmark, from evaluations with an outcome per pair or question.

    The columns are:

    - `value`: Spearman's rho of the cosines with people's ratings, -1 to 1 (group "similarity"), or the share of
      correctly answered questions, 0 to 1 ("analogy"). It is over the `n` of the benchmark's `total` pairs or
      questions that the model has; `coverage` is n/total, 0 to 1.
    - `rank`: the rank by value, 1 = best, ties averaged; empty without a value (`status` gives the reason).
    - `common_value`: the same measure on the `common_n` pairs or questions that every model with enough of them has.
      A model that lacks the rare words, which are hard, has an easier benchmark. Its value and rank are therefore not
      comparable; `common_rank` is. Enough means 100, or half of a benchmark with fewer than 200. A model with fewer
      has neither value, and its `status` ends with "too_few_to_compare".
    """
    import pandas as pd

    rows = []
    for record in map(read_evaluation, inputs["evaluations"]):
        for measure in record["measures"]:
            if items := _items(measure):
                unit = {name: record[name] for name in ("model", "debias")}
                fields = unit | {"benchmark": measure["measure"], "items": items}
                rows.append(measure | fields | {"coverage": measure["n"] / measure["total"]})
    table = pd.DataFrame(rows, columns=[*QUALITY.names, "items"]).sort_values(
        QUALITY.names[:4], ignore_index=True
    )
    table = table.astype({"value": "float64"})
    by_benchmark = ["group", "benchmark"]
    for (group, benchmark), part in table.groupby(by_benchmark):
        if len(totals := sorted(part["total"].unique())) > 1:
            raise BiasgridError(
                f"{benchmark}: the models' evaluations have {join_names(totals)} pairs or questions of it: they read "
                "different files; make them again"
            )
        outcomes = np.array([outcome for _, outcome in part["items"]])
        has_value = part["value"].notna()
        has_enough = part["n"] >= np.minimum(ENOUGH, part["total"] / 2)
        too_few = part.index[has_value & ~has_enough]
        table.loc[too_few, "status"] = [
            TOO_FEW if status == "ok" else f"{status};{TOO_FEW}" for status in table.loc[too_few, "status"]
        ]
        is_comparable = (has_value & has_enough).to_numpy()
        common = (
            ~np.isnan(outcomes[is_comparable]).any(axis=0)
            if is_comparable.any()
            else np.zeros(len(outcomes[0]), bool)
        )
        values = [
            _value(group, items, common) if comparable else math.nan
            for items, comparable in zip(part["items"], is_comparable, strict=True)
        ]
        table.loc[part.index, "common_value"] = values
        table.loc[part.index, "common_n"] = int(common.sum())
    for rank, value in (("rank", "value"), ("common_rank", "common_value")):
        values = round_values(table[value].astype("float64"))
        table[rank] = values.groupby([table[name] for name in by_benchmark]).rank(ascending=False)
    return QUALITY.typed(table[QUALITY.names])


def _items(measure: dict[str, Any]) -> tuple[np.ndarray | None, np.ndarray] | None:
    """Return the ratings, if any, and the model's outcome per pair or question (NaN: it lacks a word).

    Returns None for a part of a benchmark, which is not kept.
    """
    outcomes = measure.get("cosines", measure.get("right"))
    if outcomes is None:
        return None
    return measure.get("ratings"), np.array(outcomes, dtype=np.float64)


def _value(group: str, items: tuple[Any, np.ndarray], mask: np.ndarray) -> float:
    ratings, outcomes = items
    if group == "similarity":
        return rho(np.array(ratings)[mask], outcomes[mask])
    return float(outcomes[mask].mean()) if mask.any() else math.nan


def _inputs(study: Planned) -> dict[str, Any]:
    return {"evaluations": list(map(study.paths.evaluation_file, study.grid.quality.values()))}


def _absent(study: Planned) -> list[dict[str, str]]:
    """Return the rows of models and benchmarks that could not be downloaded."""
    return [
        {
            "model": evaluation.model,
            "debias": evaluation.debias,
            "group": group,
            "benchmark": benchmark,
            "model_label": study.config.models[evaluation.model].label,
        }
        for evaluation in study.planned.grid.quality.values()
        for group, key in (("similarity", "similarity"), ("analogy", "analogies"))
        for benchmark, file in (getattr(study.config.quality, key) or {}).items()
        if evaluation.model in study.absent or file.partition(":")[0] in study.absent
    ]


QUALITY = Table(
    "quality",
    "Quality of each model on benchmarks. One row per model, debias method and benchmark: value, coverage, and "
    "ranks on what all models have.",
    (
        MODEL,
        DEBIAS,
        Column("group", "kind of benchmark", values=("similarity", "analogy")),
        Column("benchmark", "name of the benchmark in the config"),
        Column.correlation("value", "Spearman's rho (-1 to 1), or share of correct answers (0 to 1)"),
        Column.count("n", "number of pairs or questions whose words the model has"),
        Column.count("total", "number of pairs or questions in the benchmark"),
        Column.share("coverage", "n / total"),
        Column.rank("rank", "rank by value; 1 is the best. Empty without a value"),
        Column.correlation(
            "common_value",
            "value on the pairs or questions that every model with enough of the benchmark has",
        ),
        Column.count("common_n", "number of these common pairs or questions"),
        Column.rank("common_rank", "rank by common_value"),
        Column(
            "status",
            '"ok", or why there is no value. "too_few_to_compare": the model has too few pairs or questions. '
            f'"{STATUS}": the model or the benchmark could not be downloaded',
        ),
    ),
    inputs=_inputs,
    make=make,
    absent=_absent,
    key=("model", "debias", "group", "benchmark"),
)
TABLES = (QUALITY,)
