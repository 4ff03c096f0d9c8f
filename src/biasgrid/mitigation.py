"""Mitigation as files: a debias method fitted on a model, an evaluation of it, and the table of what it cost."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from . import debias
from .debias.transform import Transform
from .embeddings import EmbeddingStore, study_store
from .errors import BiasgridError
from .files import write_text
from .measure import dumps
from .study import UNTOUCHED, Evaluation, Fit, Study

MITIGATION = ["criterion", "model", "debias", "group", "measure", "before", "after", "n", "status"]


def fit(study: Study, fit: Fit) -> Transform:
    """Fit a debias method and write its transform: a pure function of store and `fit.spec`, to the last byte."""
    spec = json.loads(fit.spec)
    transform = debias.method(spec["method"])(
        _store(study, fit.model), **spec["words"], **spec["params"], seed=spec["seed"]
    )
    transform.save(study.transform_file(fit.model, fit.debias))
    return transform


def evaluate(study: Study, evaluation: Evaluation) -> None:
    """Measure what a debias method costs and hides, or a model's quality, and write it: a pure function of store,
    transform and spec."""
    # imported late: cells import this package and evaluate nothing
    from .evaluation import evaluate as measured

    transform = None
    if evaluation.debias != UNTOUCHED:
        transform = Transform.load(study.transform_file(evaluation.model, evaluation.debias))
    spec = json.loads(evaluation.spec)
    # the places of archives are not the spec's: results do not depend on where they lie
    located = {kind: study.located(spec["spec"][kind]) for kind in ("similarity", "analogies")}
    record = {
        "criterion": evaluation.criterion,
        "model": evaluation.model,
        "debias": evaluation.debias,
        "seed": spec["seed"],
        **measured(_store(study, evaluation.model), transform, spec["spec"] | located, spec["seed"]),
    }
    write_text(study.evaluation_file(evaluation), dumps(record, separators=(",", ":")) + "\n")


def table(
    scores: pd.DataFrame, evaluations: Iterable[Path], neutral: Mapping[tuple[str, str], float]
) -> pd.DataFrame:
    """One row a criterion, model, debias method and measure, before and after.

    group "metric": the mean distance of the criterion's scores from the metric's neutral value (`neutral` has it by
    criterion and metric), over the cells that have a value both before and after (`n` of them); of every criterion
    that an evaluated method is measured on. Else what the evaluation files hold, of the method's own criterion; `n`
    is how many words, pairs or questions the measure after rests on.
    """
    records = map(read_evaluation, evaluations)
    states = {(r["criterion"], r["model"], r["debias"]): r for r in records}
    rows = []
    for (criterion, model, key), record in states.items():
        if key == UNTOUCHED:
            continue
        untouched = {(m["group"], m["measure"]): m for m in states[criterion, model, UNTOUCHED]["measures"]}
        place = (criterion, model, key)
        for after in record["measures"]:
            named = (after["group"], after["measure"])
            # a displacement is from the untouched model
            before = untouched.get(named, {"value": 0.0, "status": "ok"})
            status = before["status"] if before["status"] != "ok" else after["status"]
            rows.append((*place, *named, before["value"], after["value"], after["n"], status))
        under = (scores["model"] == model) & (scores["debias"] == key)
        for measured in scores.loc[under, "criterion"].unique():
            found = _of_metrics(scores, measured, model, key, neutral)
            rows += [(measured, model, key, "metric", *row) for row in found]
    table = pd.DataFrame(rows, columns=MITIGATION).sort_values(MITIGATION[:5], ignore_index=True)
    return table.astype({"before": "float64", "after": "float64", "n": "int64"})


def _of_metrics(
    scores: pd.DataFrame, criterion: str, model: str, key: str, neutral: Mapping[tuple[str, str], float]
) -> Iterable[tuple]:
    mine = scores[(scores["criterion"] == criterion) & (scores["model"] == model)]
    states = mine.pivot(index=["metric", "query"], columns="debias", values="value")
    for metric, part in states[[UNTOUCHED, key]].groupby("metric"):
        values = part.to_numpy()
        values = np.abs(values[np.isfinite(values).all(axis=1)] - neutral[criterion, metric])
        n = len(values)
        before, after = values.mean(axis=0).tolist() if n else (math.nan, math.nan)
        yield metric, before, after, n, "ok" if n else "no query has a value before and after"


def _store(study: Study, model: str) -> EmbeddingStore:
    return study_store(study.embeddings, model, study.models[model])


def word_maps(evaluations: Iterable[Path]) -> list[tuple[str, str, dict[str, Any], float | None]]:
    """Model, debias key, map and 2-means accuracy of evaluations of hidden bias."""
    maps = []
    for record in map(read_evaluation, evaluations):
        values = {m["measure"]: m["value"] for m in record["measures"] if m["group"] == "hidden"}
        maps.append((record["model"], record["debias"], record["map"], values.get("cluster_accuracy")))
    return maps


def read_evaluation(path: Path) -> dict[str, Any]:
    """An evaluation's record. Raises BiasgridError for a file that is none."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BiasgridError(f"{path}: not an evaluation file: {error}") from None
