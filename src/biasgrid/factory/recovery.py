"""How well metrics recover what was planted, as tables.

The comparisons are those of Schroeder et al. (2021), sections 5.2 and 5.3, with realised frequencies as the truth.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..configs import read_json
from ..frames import read_frame, write_frame
from ..tables.table import ANY, Column

SETTING = ["trainer", "mu", "sigma", "replicate"]
TRAINER = Column("trainer", "the trainer's key in the config")
OF_VALUE = (
    Column("vectors", "which vectors are measured", values=("word+context", "word")),
    Column("metric", "the metric's name; empty of what is the model's alone"),
    Column(
        "level", "whether it is of each word, of the sets, or of the model", values=("word", "set", "model")
    ),
    Column(
        "truth",
        "what of the planted shares a value is held against: their mean, sd, or absolute distance from .5; of words, "
        "signed or absolute",
        values=("mean", "sd", "absolute", "signed", ""),
    ),
)
MODELS = (
    TRAINER,
    Column("mu", "mean of the planted shares", "number", range=(0, 1)),
    Column("sigma", "their standard deviation", "number", range=(0, math.inf)),
    Column("replicate", "which of the models of one mu and sigma", "count", range=(1, math.inf)),
    *OF_VALUE,
    Column("true", "the truth's value in the model's corpus, of the level set", "number", range=(0, 1)),
    Column("what", "which number it is: docs/factory.md has all"),
    Column("value", "the number", "number", "that of `what`", ANY),
    Column("status", '"ok", or why there is no value'),
)
RECOVERY = (
    TRAINER,
    *OF_VALUE,
    Column("what", "which number it is: docs/factory.md has all"),
    Column("value", "the number: a mean or a correlation over models", "number", "that of `what`", ANY),
    Column("sd", "its standard deviation over models", "number", "that of `what`", (0, math.inf)),
    Column("p_value", "of a correlation", "number", range=(0, 1)),
    Column("models", "how many models it is of", "count"),
)
MODEL_COLUMNS, COLUMNS = ([column.name for column in columns] for columns in (MODELS, RECOVERY))
# columns of both that are no numbers
TEXTS = ("trainer", "vectors", "metric", "level", "truth", "what", "status")
# what a word's score may recover, and a set's: functions of the shares of male pronouns
OF_WORDS = {"signed": lambda truth: truth, "absolute": lambda truth: np.abs(0.5 - truth)}
OF_SETS = {
    "mean": lambda truth: float(np.mean(truth)),
    "sd": lambda truth: float(np.std(truth)),
    "absolute": lambda truth: float(np.mean(np.abs(0.5 - truth))),
}


def write_models(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write factory.csv, from the models' records (inputs: "models")."""
    write_frame(of_models(map(read_json, inputs["models"])), output)


def write_recovery(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write recovery.csv, from factory.csv (inputs: "models")."""
    write_frame(recovered(read_frame(inputs["models"], TEXTS)), output)


def write_figure_table(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the table that a figure (spec: "figure") is drawn from, from factory.csv (inputs: "models")."""
    write_frame(figure_tables(read_frame(inputs["models"], TEXTS))[spec["figure"]], output, "%.6g")


def of_models(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """factory.csv, from the models' records."""
    rows = []
    for record in records:
        setting = [record[name] for name in SETTING]
        for kind, measured in record["measured"].items():
            rows += [(*setting, kind, *row) for row in _of_model(measured, np.array(record["truth"]))]
    return pd.DataFrame(rows, columns=MODEL_COLUMNS)


def recovered(models: pd.DataFrame) -> pd.DataFrame:
    """recovery.csv, from factory.csv."""
    models = models[models["value"].notna()]
    rows = []
    for (*key, metric), mine in models.groupby(["trainer", "vectors", "metric"], sort=False):
        found = [*_of_words(mine[mine["level"] == "word"]), *_of_sets(mine[mine["level"] == "set"])]
        rows += [(*key, metric, *row) for row in found]
    for key, mine in models.groupby(["trainer", "vectors"], sort=False):
        rows += [(*key, *row) for row in _of_directions(mine)]
    return pd.DataFrame(rows, columns=COLUMNS)


def percentage_difference(values: Sequence[float]) -> float:
    """Mean over all pairs of |a - b| / ((a + b) / 2); NaN for fewer than two values, or where all are 0."""
    pairs = [abs(a - b) / ((a + b) / 2) for a, b in combinations(values, 2) if a + b > 0]
    return float(np.mean(pairs)) if pairs else np.nan


def figure_tables(models: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The table that each figure is drawn from, by the figure's name, from factory.csv.

    Parameters
    ----------
    models
        factory.csv.

    Returns
    -------
    dict
        ``words``: Pearson's r of words' scores with the truth, one row per model, kind of vectors and truth, one
        column per metric. ``truth-<trainer>``: the metrics' values, one row per model and kind of vectors, one column
        per metric, beside ``true_mean``, ``true_sd`` and ``true_absolute``. NaN where a metric has none.
    """
    setting = [*SETTING, "vectors"]
    words = models[(models["level"] == "word") & (models["what"] == "pearson")]
    tables = {"words": _wide(words, [*setting, "truth"])}
    sets = models[models["level"] == "set"]
    for trainer, rows in sets.groupby("trainer", sort=False):
        true = rows[rows["metric"] == rows["metric"].iloc[0]].pivot(
            index=setting, columns="truth", values="true"
        )[list(OF_SETS)]
        true = true.add_prefix("true_")
        table = _wide(rows[rows["truth"] == "mean"], setting).join(true, on=setting)
        tables[f"truth-{trainer}"] = table[
            [*setting, *true, *table.columns[len(setting) : -len(true.columns)]]
        ]
    return tables


def _wide(rows: pd.DataFrame, index: list[str]) -> pd.DataFrame:
    """A column per metric; rows and metrics in the order that they come in."""
    table = rows.pivot(index=index, columns="metric", values="value")
    order = pd.MultiIndex.from_frame(rows[index].drop_duplicates())
    return table.reindex(order)[list(rows["metric"].unique())].reset_index().rename_axis(columns=None)


def _of_model(by_vectors: Mapping[str, Any], truth: np.ndarray) -> Iterator[tuple]:
    yield "", "model", "", np.nan, "angle", by_vectors["angle"], "ok"
    for metric, measured in by_vectors["metrics"].items():
        for name, function in OF_SETS.items():
            yield metric, "set", name, function(truth), "score", measured["value"], measured["status"]
        if measured["words"] is None:
            continue
        scores = np.array(measured["words"], dtype=float)
        yield metric, "word", "", np.nan, "sd", scores.std(), measured["status"]
        for name, function in OF_WORDS.items():
            for what, value in _correlation(function(truth), scores).items():
                if what != "p_value":
                    yield metric, "word", name, np.nan, what, value, measured["status"]


def _of_words(rows: pd.DataFrame) -> Iterator[tuple]:
    for (truth, what), part in rows[rows["what"] != "sd"].groupby(["truth", "what"], sort=False):
        yield "word", truth, what, part["value"].mean(), part["value"].std(ddof=0), np.nan, len(part)
        if what == "pearson":
            yield "word", truth, "positive", (part["value"] > 0).mean(), np.nan, np.nan, len(part)
    deviations = rows[rows["what"] == "sd"].groupby(["mu", "sigma"])["value"]
    differences = deviations.agg(lambda values: percentage_difference(list(values))).dropna()
    if len(differences):
        mean, sd = differences.mean(), differences.std(ddof=0)
        yield "word", "", "sd_difference", mean, sd, np.nan, len(differences)


def _of_sets(rows: pd.DataFrame) -> Iterator[tuple]:
    for truth, part in rows.groupby("truth", sort=False):
        found = _correlation(part["true"].to_numpy(), part["value"].to_numpy())
        p_value = found.pop("p_value")
        for what, value in found.items():
            yield "set", truth, what, value, np.nan, p_value if what != "spearman" else np.nan, len(part)


def _of_directions(rows: pd.DataFrame) -> Iterator[tuple]:
    """The angle of the principal component to the difference of means, and how far it goes with what Direct Bias
    loses to SAME by taking the one and not the other: rank correlation with the difference of their words' R²."""
    of_angles = rows[rows["what"] == "angle"].set_index(SETTING)["value"]
    yield "", "model", "", "angle", of_angles.mean(), of_angles.std(ddof=0), np.nan, len(of_angles)
    words = rows[(rows["level"] == "word") & (rows["truth"] == "signed") & (rows["what"] == "r_squared")]
    by_metric = words.pivot(index=SETTING, columns="metric", values="value")
    if {"same", "direct_bias"} <= set(by_metric):
        lost = (by_metric["same"] - by_metric["direct_bias"]).dropna()
        found = _correlation(of_angles[lost.index].to_numpy(), lost.to_numpy())
        yield "direct_bias", "model", "", "angle_spearman", found["spearman"], np.nan, np.nan, len(lost)


def _correlation(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """pearson, its square, its p-value, and spearman; NaN where one side is constant, or has fewer than 3 values."""
    from scipy.stats import pearsonr, spearmanr

    if len(x) < 3 or not np.isfinite(y).all():
        return dict.fromkeys(("r_squared", "pearson", "spearman", "p_value"), np.nan)
    with warnings.catch_warnings():
        # of constant values, whose correlation is NaN
        warnings.simplefilter("ignore")
        pearson, spearman = pearsonr(x, y), spearmanr(x, y)
    return {
        "r_squared": float(pearson.statistic**2),
        "pearson": float(pearson.statistic),
        "spearman": float(spearman.statistic),
        "p_value": float(pearson.pvalue),
    }
