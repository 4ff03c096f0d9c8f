"""Mitigation as files: a debias method fitted on a model, an evaluation of it, and the table of what it cost."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import BeforeValidator, ConfigDict, create_model, model_validator

from . import debias, evaluation
from .debias.transform import Transform
from .embeddings import EmbeddingStore
from .errors import BiasgridError
from .files import write_text
from .measure import dumps
from .study import UNTOUCHED
from .validation import Strict, checked

MITIGATION = ["criterion", "model", "debias", "group", "measure", "before", "after", "n", "status"]


class Measure(Strict):
    """A measure in a record (`evaluation.evaluate`)."""

    model_config = ConfigDict(extra="allow")

    group: str
    measure: str
    value: float | None
    n: int
    status: str
    total: int | None = None
    ratings: list[float] | None = None
    cosines: list[float | None] | None = None
    right: list[int | None] | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Measure:
        for items in (self.ratings, self.cosines, self.right):
            if items is not None and (not items or len(items) != self.total):
                raise BiasgridError(f"has {len(items)} of {self.total} pairs or questions")
        if (self.ratings is None) != (self.cosines is None):
            raise BiasgridError("has either ratings or cosines of pairs, and not both")
        return self


class Record(Strict):
    """The file of an evaluation; `_record` adds the entries of the registered ones."""

    model_config = ConfigDict(extra="allow")

    criterion: str | None = None
    model: str
    debias: str
    measures: list[Measure]


@lru_cache(maxsize=4)
def _record(names: tuple[str, ...]) -> type[Record]:
    """The model of a record with what the registered evaluations add."""
    # an evaluation that the spec does not name has empty entries
    empty = BeforeValidator(lambda entry: None if entry == {} else entry)
    entries = {
        name: (Annotated[kind | None, empty], None)
        for e in evaluation.evaluations()
        for name, kind in e.entries.items()
    }
    return create_model("Record", __base__=Record, **entries)


def fit(spec: Mapping[str, Any], store: Path | str, output: Path) -> Transform:
    """Fit a debias method and write its transform.

    Parameters
    ----------
    spec
        "method", "words", "params" and "seed".
    store
        The folder of the model's store.
    output
        The transform's file; the same store and spec give the same bytes.
    """
    method = debias.method(spec["method"])
    transform = method(EmbeddingStore.open(store), **spec["words"], **spec["params"], seed=spec["seed"])
    transform.save(output)
    return transform


def evaluate(spec: Mapping[str, Any], files: Mapping[str, Any], output: Path) -> None:
    """Measure what a debias method costs and hides, or a model's quality, and write it.

    Parameters
    ----------
    spec
        "criterion" (None: the quality of a model), "model" and "debias", which the record names; "seed"; and "spec",
        what to evaluate (`evaluation.Spec.of`).
    files
        "store", the folder of the model's store; "transform", the file of the transform that it is measured under,
        or None; "benchmarks", where the files lie that `spec` names, by their paths in it.
    output
        The record's file; the same files and spec give the same bytes.
    """
    transform = Transform.load(files["transform"]) if files["transform"] else None
    # the places of archives are not the spec's: results do not depend on where they lie
    what = evaluation.Spec.of(spec["spec"], files["benchmarks"])
    named = {key: spec[key] for key in ("criterion", "model", "debias", "seed")}
    record = evaluation.evaluate(EmbeddingStore.open(files["store"]), transform, what, spec["seed"])
    write_text(output, dumps(named | record, separators=(",", ":")) + "\n")


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
        place = (criterion, model, key)
        if (criterion, model, UNTOUCHED) not in states:
            raise BiasgridError(
                f"{criterion}: {model}: no evaluation of the untouched model, only under {key}"
            )
        untouched = {(m["group"], m["measure"]): m for m in states[criterion, model, UNTOUCHED]["measures"]}
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


def word_maps(evaluations: Iterable[Path]) -> list[tuple[str, str, dict[str, Any], float | None]]:
    """Model, debias key, map and 2-means accuracy of evaluations of hidden bias."""
    maps = []
    for path in evaluations:
        record = read_evaluation(path, "map")
        values = {m["measure"]: m["value"] for m in record["measures"] if m["group"] == "hidden"}
        maps.append((record["model"], record["debias"], record["map"], values.get("cluster_accuracy")))
    return maps


def read_evaluation(path: Path, *needed: str) -> dict[str, Any]:
    """An evaluation's record. Raises BiasgridError for a file that is none or lacks an entry that is needed."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        entries = checked(_record(tuple(evaluation.REGISTRY)), record)
    except (OSError, ValueError, RecursionError) as error:
        raise BiasgridError(f"{path}: not an evaluation file: {error}") from None
    for entry in needed:
        if getattr(entries, entry) is None:
            raise BiasgridError(f"{path}: the evaluation has no {entry!r}; make it again")
    return {"criterion": None} | record
