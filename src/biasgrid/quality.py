"""The models' quality as a table: word-similarity and analogy benchmarks, with coverage and ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .errors import BiasgridError, listed
from .evaluation.similarity import rho
from .mitigation import read_evaluation
from .tables import rounded

COLUMNS = ["model", "debias", "group", "benchmark", "value", "n", "total", "coverage", "rank"]
COLUMNS += ["common_value", "common_n", "common_rank", "status"]
# a rho of so many pairs has a standard error of .1: a model with fewer would make everybody's common part as small
ENOUGH = 100
TOO_FEW = "too_few_to_compare"


def table(evaluations: Iterable[Path]) -> pd.DataFrame:
    """One row a model, debias method and benchmark, from evaluations that keep every pair's and question's outcome.

    value         Spearman's rho of the cosines with people's ratings, -1 to 1 (group "similarity"), or the share of
                  the questions answered rightly, 0 to 1 ("analogy"), over the `n` of the benchmark's `total` pairs or
                  questions that the model has; `coverage` is n/total, 0 to 1
    rank          by value, 1 = best, ties averaged; none where there is no value (`status` says why)
    common_value  the same measure on the `common_n` pairs or questions that every model with enough of them has: a
                  model that lacks the rare words, which are hard, has an easier benchmark, and its value and rank do
                  not compare with the others'; `common_rank` does. Enough are 100, or half of a benchmark that has
                  fewer than 200; a model with fewer has neither, and `status` ends with "too_few_to_compare"
    """
    rows = []
    for record in map(read_evaluation, evaluations):
        for measure in record["measures"]:
            if items := _items(measure):
                unit = {name: record[name] for name in ("model", "debias")}
                named = unit | {"benchmark": measure["measure"], "items": items}
                rows.append(measure | named | {"coverage": measure["n"] / measure["total"]})
    table = pd.DataFrame(rows, columns=[*COLUMNS, "items"]).sort_values(COLUMNS[:4], ignore_index=True)
    table = table.astype({"value": "float64"})
    by_benchmark = ["group", "benchmark"]
    for (group, benchmark), part in table.groupby(by_benchmark):
        if len(totals := sorted(part["total"].unique())) > 1:
            raise BiasgridError(
                f"{benchmark}: the models' evaluations have {listed(totals)} pairs or questions of it: they read "
                "different files; make them again"
            )
        outcomes = np.array([outcome for _, outcome in part["items"]])
        valued = part["value"].notna()
        enough = part["n"] >= np.minimum(ENOUGH, part["total"] / 2)
        few = part.index[valued & ~enough]
        table.loc[few, "status"] = [
            TOO_FEW if status == "ok" else f"{status};{TOO_FEW}" for status in table.loc[few, "status"]
        ]
        compared = (valued & enough).to_numpy()
        common = (
            ~np.isnan(outcomes[compared]).any(axis=0) if compared.any() else np.zeros(len(outcomes[0]), bool)
        )
        values = [
            _value(group, items, common) if known else math.nan
            for items, known in zip(part["items"], compared, strict=True)
        ]
        table.loc[part.index, "common_value"] = values
        table.loc[part.index, "common_n"] = int(common.sum())
    for rank, value in (("rank", "value"), ("common_rank", "common_value")):
        values = rounded(table[value].astype("float64"))
        table[rank] = values.groupby([table[name] for name in by_benchmark]).rank(ascending=False)
    numbers = dict.fromkeys(["coverage", "rank", "common_value", "common_rank"], "float64")
    return table[COLUMNS].astype(numbers | dict.fromkeys(["n", "total", "common_n"], "int64"))


def _items(measure: dict[str, Any]) -> tuple[np.ndarray | None, np.ndarray] | None:
    """Ratings, if any, and the model's outcome by pair or question (NaN: it lacks a word); None of a part of a
    benchmark, which is not kept."""
    outcomes = measure.get("cosines", measure.get("right"))
    if outcomes is None:
        return None
    return measure.get("ratings"), np.array(outcomes, dtype=np.float64)


def _value(group: str, items: tuple[Any, np.ndarray], kept: np.ndarray) -> float:
    ratings, outcomes = items
    if group == "similarity":
        return rho(np.array(ratings)[kept], outcomes[kept])
    return float(outcomes[kept].mean()) if kept.any() else math.nan
