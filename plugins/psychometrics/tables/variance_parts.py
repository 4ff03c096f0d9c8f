"""Table of variance parts: the share of the variance of scores that is between models, and other shares."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.debias import UNTOUCHED
from biasgrid.measure.bootstrap import MOST_UNDEFINED
from biasgrid.tables.inputs import sample_files
from biasgrid.tables.keys import CRITERION, METRIC
from biasgrid.tables.rank_samples import value_samples
from biasgrid.tables.scores import SCORES
from biasgrid.tables.table import Column, Files, Table

from ..generalisability import generalisability, rows_share, sampling_error, variance_parts

if TYPE_CHECKING:
    import pandas as pd

    from biasgrid.tables.planned import Planned

MODEL, QUERY, BOTH, ERROR = PARTS = ("model", "query", "model x query", "error")
# With fewer models, intervals of their variance are too long to be informative.
FEWEST_MODELS = 6
NEGATIVE = "negative: about 0"
UNSEPARATED = "the interaction has the sampling error in it: resamples have no value"
FEW_MODELS, FEW_QUERIES = "fewer than 2 models", "fewer than 2 queries that all models have"
FIXED = f"fewer than {FEWEST_MODELS} models: a description of these, not of others"


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Make four rows per criterion and metric, for original models and the (sub-)queries that all of them have.

    Parameters
    ----------
    inputs
        "scores", the table, and the files of bootstrap resamples.
    spec
        "draws", "seed" and "queries" of the resamples.
    """
    scores = SCORES.read(inputs["scores"])
    samples, _ = value_samples(scores, inputs, spec)
    untouched = scores[scores["debias"] == UNTOUCHED]
    rows = [
        {"criterion": criterion, "metric": metric} | row
        for (criterion, metric), part in untouched.groupby(["criterion", "metric"])
        for row in _parts(part, samples)
    ]
    table = TABLE.finish(rows)
    # Sort the parts in the order of the formula.
    order = table["part"].map(PARTS.index)
    return table.iloc[np.lexsort((order, table["metric"], table["criterion"]))].reset_index(drop=True)


def _parts(scores: pd.DataFrame, samples: np.ndarray) -> Iterator[dict[str, Any]]:
    values = scores.pivot(index="model", columns="query", values="value")
    whole = values.notna().all()
    sizes = {"models": len(values), "queries": int(whole.sum()), "queries_of": len(whole)}
    if min(sizes["models"], sizes["queries"]) < 2:
        note = FEW_MODELS if sizes["models"] < 2 else FEW_QUERIES
        yield from ({"part": part, **sizes, "note": note} for part in PARTS)
        return
    table = values.loc[:, whole].to_numpy()
    places = scores.assign(place=scores.index).pivot(index="model", columns="query", values="place")
    of_cells = samples[places.loc[:, whole].to_numpy()].transpose(2, 0, 1)
    defined = of_cells[np.isfinite(of_cells).all(axis=(1, 2))]
    is_separated = len(defined) >= (1 - MOST_UNDEFINED) * len(of_cells)
    parts = variance_parts(table, sampling_error(defined) if is_separated else None)
    cut = np.maximum(np.nan_to_num(np.array(parts)), 0)
    for name, variance, positive in zip(PARTS, parts, cut, strict=True):
        notes = [NEGATIVE] if variance < 0 else []
        row: dict[str, Any] = {"part": name, **sizes, "variance": float(variance)}
        row["share"] = positive / cut.sum() if np.isfinite(variance) and cut.sum() > 0 else math.nan
        if name in (BOTH, ERROR) and not is_separated:
            notes.append(UNSEPARATED)
        if name == MODEL:
            row["g"], row["phi"] = map(float, generalisability(parts, table.shape[1]))
            ratio = rows_share(table)
            row["ratio"] = float(ratio.value)
            if len(table) >= FEWEST_MODELS:
                row |= {"low": float(ratio.low), "high": float(ratio.high)}
            else:
                notes.append(FIXED)
        yield row | {"note": "; ".join(notes)}


def _spec(study: Planned) -> dict[str, Any]:
    return {"queries": {name: sorted(entry.queries) for name, entry in study.config.criteria.items()}}


TABLE = Table(
    "variance_parts",
    "One row per criterion, metric and part: how much of the differences between scores is between models, between "
    "queries, both together, and sampling error.",
    (
        CRITERION,
        METRIC,
        Column(
            "part",
            "`model`: models differ alike on all queries; `query`: queries differ alike on all models; `model x "
            "query`: some models differ on some queries; `error`: what of that other words would change, by the "
            "bootstrap resamples, less what they change alike in all models or all queries",
            values=PARTS,
        ),
        Column.value(
            "variance", "by moments (expected mean squares); may be negative", "the metric's, squared"
        ),
        Column.share("share", "of the four parts, negative ones taken for 0"),
        Column(
            "ratio",
            "of `model`: its variance as a multiple of that of `model x query` and `error` together",
            "number",
            range=(-1, inf),
        ),
        Column(
            "low",
            "lower end of its exact 95 % interval (F), of six models or more",
            "number",
            range=(-1, inf),
        ),
        Column("high", "its upper end", "number", range=(-1, inf)),
        Column.share(
            "g", "of `model`: how well means over so many queries order models (G; alpha of the grid)"
        ),
        Column.share("phi", "of `model`: how well they place them (Phi)"),
        Column.count("models", "models, as they are"),
        Column.count("queries", "(sub-)queries that all of them have"),
        Column.count("queries_of", "(sub-)queries"),
        Column("note", "why there is no number, or what limits it"),
    ),
    reads=("scores",),
    when="reliability and bootstrap",
    inputs=lambda study: sample_files(study, lambda cell: True),
    facts=("draws", "seed"),
    spec=_spec,
    make=make,
    key=("criterion", "metric", "part"),
)
TABLES = (TABLE,)
