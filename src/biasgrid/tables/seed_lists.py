"""The table of seed lists: how a score spreads over lists of words for one concept, of which a study takes one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from .inference import INFERENCE
from .keys import CRITERION, DEBIAS, METRIC, MODEL
from .scores import SCORES
from .table import ANY, Column, Files, Table


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """The scores of each concept's lists, one row per metric and model.

    spec: "concepts", as `concepts` gives them; "neutral", as [criterion, metric, value].
    """
    neutral = {(criterion, metric): value for criterion, metric, value in spec["neutral"]}
    values = spread(SCORES.read(inputs["scores"]), spec["concepts"])
    if "inference" in inputs:
        keys = ["criterion", "query", "metric", "model", "debias"]
        errors = INFERENCE.read(inputs["inference"])[[*keys, "standard_error"]].drop_duplicates(keys)
        values = values.merge(errors, on=keys, how="left")
    else:
        values["standard_error"] = math.nan
    rows = []
    keys = SEED_LISTS.names[:6]
    for place, part in values.groupby(keys, sort=True):
        place = dict(zip(keys, place, strict=True))
        rows.append(place | _summary(part, neutral[place["criterion"], place["metric"]]))
    table = pd.DataFrame(rows, columns=SEED_LISTS.names)
    numbers = [column.name for column in SEED_LISTS.columns if column.dtype == "number"]
    return table.astype(dict.fromkeys(numbers, "float64"))


def _summary(part: pd.DataFrame, neutral: float) -> dict[str, Any]:
    known = part.dropna(subset="value").sort_values("value", kind="stable")
    values = known["value"].to_numpy()
    n = len(values)
    found: dict[str, Any] = {"lists": n, "lists_lost": len(part) - n, "other_side": 0}
    if n:
        mean = values.mean()
        side = np.sign(mean - neutral)
        found |= {"mean": mean, "min": values[0], "max": values[-1]}
        found |= {"lowest": known["list"].iloc[0], "highest": known["list"].iloc[-1]}
        found["other_side"] = int((np.sign(values - neutral) == -side).sum()) if side else 0
    if n > 1:
        found["sd"] = values.std(ddof=1)
        errors = known["standard_error"].to_numpy()
        if np.isfinite(errors).all():
            found["standard_error"] = math.sqrt((errors**2).mean())
            if found["standard_error"] > 0:
                found["ratio"] = found["sd"] / found["standard_error"]
    return found


def spread(scores: pd.DataFrame, concepts: list[list[Any]]) -> pd.DataFrame:
    """The scores of concepts' lists, one row per list: with the columns concept, part and list besides."""
    lists = [
        (criterion, concept, part, metric, name, query)
        for criterion, concept, part, metric, queries in concepts
        for name, query in queries
    ]
    named = pd.DataFrame(lists, columns=["criterion", "concept", "part", "metric", "list", "query"])
    return named.merge(scores, on=["criterion", "metric", "query"], how="inner")


def concepts(grid: Any) -> Iterator[list[Any]]:
    """Criterion, concept, part, metric and [list, (sub-)query] of every concept of a study.

    A metric may divide a query into sub-queries. Then each of them is compared with its like in the other lists; a
    part is named by the sets that all lists have.
    """
    for criterion, entry in grid.config["criteria"].items():
        for concept, lists in (entry.get("seed_lists") or {}).items():
            queries = [grid.queries[key] for key in lists.values()]
            names = [{s.name for s in (*q.target_sets, *q.attribute_sets)} for q in queries]
            common = set.intersection(*names)
            for metric in grid.metrics(criterion):
                template = grid.metric(criterion, metric).template
                if not all(query.fits(template) for query in queries):
                    continue
                for alike in zip(*(query.subqueries(template) for query in queries), strict=True):
                    sets = (*alike[0].target_sets, *alike[0].attribute_sets)
                    part = ", ".join(s.name for s in sets if s.name in common)
                    yield [
                        criterion,
                        concept,
                        part,
                        metric,
                        [[name, query.name] for name, query in zip(lists, alike, strict=True)],
                    ]


def _inputs(grid: Any) -> dict[str, Any]:
    if not any(concepts(grid)):
        return {}
    files = {"scores": grid.table_file("scores")}
    if "bootstrap" in grid.config["inference"]:
        files["inference"] = grid.table_file("inference")
    return files


def _spec(grid: Any) -> dict[str, Any]:
    return {
        "concepts": list(concepts(grid)),
        "neutral": sorted([*names, value] for names, value in grid.neutrals.items()),
    }


AS_VALUE: dict[str, Any] = {"dtype": "number", "unit": "the metric's"}
SEED_LISTS = Table(
    "seed_lists",
    "One row per concept, metric and model: how the value spreads over lists of words for the concept.",
    (
        CRITERION,
        Column("concept", "the concept's name in the config"),
        Column("part", "the sets that all lists are measured with"),
        METRIC,
        MODEL,
        DEBIAS,
        Column("lists", "how many lists have a value", "count"),
        Column("lists_lost", "how many have none", "count"),
        Column("mean", "mean of the lists' values", range=ANY, **AS_VALUE),
        Column("sd", "their standard deviation (n - 1)", range=(0, inf), **AS_VALUE),
        Column("min", "the smallest", range=ANY, **AS_VALUE),
        Column("max", "the largest", range=ANY, **AS_VALUE),
        Column("lowest", "the list that has the smallest"),
        Column("highest", "the list that has the largest"),
        Column(
            "other_side", "lists whose value is on the other side of the neutral value than the mean", "count"
        ),
        Column(
            "standard_error",
            "of the value of one list, by the bootstrap over words: root mean square over the lists",
            range=(0, inf),
            **AS_VALUE,
        ),
        Column(
            "ratio",
            "sd in standard errors: above 1, lists differ more than draws of words for one list would",
            "number",
            range=(0, inf),
        ),
    ),
    inputs=_inputs,
    spec=_spec,
    make=make,
    cells=lambda grid: [],
)
TABLES = (SEED_LISTS,)
