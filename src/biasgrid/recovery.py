"""How well metrics recover what a factory planted: see docs/factory.md.

The comparisons are those of Schroeder et al. (2021), sections 5.2 and 5.3, with realised frequencies as the truth.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from .configs import read_json
from .factory import Factory
from .files import write_text

SETTING = ["trainer", "mu", "sigma", "replicate"]
MODEL_COLUMNS = [*SETTING, "metric", "level", "truth", "true", "what", "value", "status"]
COLUMNS = ["trainer", "metric", "level", "truth", "what", "value", "sd", "p_value", "models"]
# what a word's score may recover, and a set's: functions of the shares of male pronouns
OF_WORDS = {"signed": lambda truth: truth, "absolute": lambda truth: np.abs(0.5 - truth)}
OF_SETS = {
    "mean": lambda truth: float(np.mean(truth)),
    "sd": lambda truth: float(np.std(truth)),
    "absolute": lambda truth: float(np.mean(np.abs(0.5 - truth))),
}


def of_models(factory: Factory) -> pd.DataFrame:
    """factory.csv. Raises BiasgridError for a model whose record is not there."""
    rows = []
    for model in factory.models.values():
        record = read_json(factory.model_file(model))
        setting = [record[name] for name in SETTING]
        rows += [(*setting, *row) for row in _of_model(record)]
    return pd.DataFrame(rows, columns=MODEL_COLUMNS)


def recovered(models: pd.DataFrame) -> pd.DataFrame:
    """recovery.csv, from factory.csv."""
    models = models[models["value"].notna()]
    rows = []
    for (trainer, metric), mine in models.groupby(["trainer", "metric"], sort=False):
        found = [*_of_words(mine[mine["level"] == "word"]), *_of_sets(mine[mine["level"] == "set"])]
        rows += [(trainer, metric, *row) for row in found]
    for trainer, mine in models.groupby("trainer", sort=False):
        rows += [(trainer, *row) for row in _of_directions(mine)]
    return pd.DataFrame(rows, columns=COLUMNS)


def percentage_difference(values: Sequence[float]) -> float:
    """Mean over all pairs of |a - b| / ((a + b) / 2); NaN for fewer than two values, or where all are 0."""
    pairs = [abs(a - b) / ((a + b) / 2) for a, b in combinations(values, 2) if a + b > 0]
    return float(np.mean(pairs)) if pairs else np.nan


def summarise(factory: Factory) -> list[str]:
    """Write the tables and the figures from the models' records, which must be there; returns the files' paths."""
    # imported late: models need no matplotlib
    from .figures.factory import against_truth, word_level
    from .figures.grid import save

    models = of_models(factory)
    tables = {"factory": models, "recovery": recovered(models)}
    written = []
    for name, table in tables.items():
        written.append(factory.results / f"{name}.csv")
        write_text(written[-1], table.to_csv(index=False, lineterminator="\n"))
    truths = {key: entry["truth"] for key, entry in factory.config["metrics"].items()}
    figures = {"words": word_level(models, factory.labels)}
    for trainer in factory.config["trainers"]:
        figures[f"truth-{trainer}"] = against_truth(
            models, tables["recovery"], factory.labels, truths, trainer
        )
    for name, figure in figures.items():
        stem = factory.results / "figures" / name
        save(figure, stem)
        written += [f"{stem}.{extension}" for extension in ("pdf", "svg", "png")]
    return list(map(str, written))


def _of_model(record: Mapping[str, Any]) -> Iterator[tuple]:
    truth = np.array(record["truth"])
    yield "", "model", "", np.nan, "angle", record["angle"], "ok"
    for metric, measured in record["measured"].items():
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
