"""Table of mitigation: bias removed, quality lost, and bias that is still recoverable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BiasgridError
from ..debias import UNTOUCHED
from ..evaluation.record import read_evaluation
from .keys import CRITERION, DEBIAS, MODEL
from .scores import SCORES
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per criterion, model, debias method and measure, with values before and after debiasing.

    In the group "metric", the value is the mean distance of the criterion's scores from the metric's no-bias value
    (spec: "neutral", as [criterion, metric, value]). The mean is over the `n` cells with a value both before and
    after, in every criterion on which an evaluated method is measured. Other groups come from the evaluation files of
    the method's own criterion; `n` is the number of words, pairs or questions behind the measure after debiasing.
    """
    scores = SCORES.read(inputs["scores"])
    neutral = {(criterion, metric): value for criterion, metric, value in spec["neutral"]}
    records = map(read_evaluation, inputs["evaluations"])
    states = {(r["criterion"], r["model"], r["debias"]): r for r in records}
    rows = []
    for (criterion, model, key), record in states.items():
        if key == UNTOUCHED:
            continue
        if (criterion, model, UNTOUCHED) not in states:
            raise BiasgridError(f"{criterion}: {model}: there is no evaluation of the original model")
        untouched_measures = {
            (m["group"], m["measure"]): m for m in states[criterion, model, UNTOUCHED]["measures"]
        }
        place = (criterion, model, key)
        for after in record["measures"]:
            measure_key = (after["group"], after["measure"])
            # A displacement is a distance from the original model.
            before = untouched_measures.get(measure_key, {"value": 0.0, "status": "ok"})
            status = before["status"] if before["status"] != "ok" else after["status"]
            rows.append((*place, *measure_key, before["value"], after["value"], after["n"], status))
        state_rows = (scores["model"] == model) & (scores["debias"] == key)
        for scores_criterion in scores.loc[state_rows, "criterion"].unique():
            distances = _mean_distances(scores, scores_criterion, model, key, neutral)
            rows += [(scores_criterion, model, key, "metric", *row) for row in distances]
    return MITIGATION.finish(rows)


def _mean_distances(
    scores: pd.DataFrame, criterion: str, model: str, key: str, neutral: Mapping[tuple[str, str], float]
) -> Iterable[tuple]:
    part = scores[(scores["criterion"] == criterion) & (scores["model"] == model)]
    states = part.pivot(index=["metric", "query"], columns="debias", values="value")
    for metric, metric_values in states[[UNTOUCHED, key]].groupby("metric"):
        values = metric_values.to_numpy()
        values = np.abs(values[np.isfinite(values).all(axis=1)] - neutral[criterion, metric])
        n = len(values)
        before, after = values.mean(axis=0).tolist() if n else (math.nan, math.nan)
        yield metric, before, after, n, "ok" if n else "no query has a value before and after"


MITIGATION = Table(
    "mitigation",
    "Bias removed, quality lost, and bias still recoverable after debiasing. One row per criterion, model, "
    "debias method and measure.",
    (
        CRITERION,
        MODEL,
        DEBIAS,
        Column("group", 'kind of measure: "metric", or the kind of evaluation'),
        Column("measure", "the metric's key, or the name of the measure"),
        Column.value("before", "value for the original model", "the measure's"),
        Column.value("after", "value after debiasing", "the measure's"),
        Column.count("n", "number of scores, words, pairs or questions behind the value"),
        Column("status", '"ok", or why there is no value'),
    ),
    reads=("scores", "evaluations"),
    when=lambda study: any(evaluation.debias != UNTOUCHED for evaluation in study.grid.evaluations.values()),
    facts=("neutral",),
    make=make,
)
TABLES = (MITIGATION,)
