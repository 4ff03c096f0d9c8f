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
from .figures.factory import VECTORS
from .files import write_text

SETTING = ["trainer", "mu", "sigma", "replicate"]
MODEL_COLUMNS = [*SETTING, "vectors", "metric", "level", "truth", "true", "what", "value", "status"]
COLUMNS = ["trainer", "vectors", "metric", "level", "truth", "what", "value", "sd", "p_value", "models"]
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


def markdown(recovered: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """recovery.csv as tables to read, those of docs/factory.md, in Markdown."""
    kinds = list(recovered[["trainer", "vectors"]].drop_duplicates().itertuples(index=False, name=None))
    names = [f"{labels.get(trainer, trainer)}, {VECTORS[kind]}" for trainer, kind in kinds]
    columns = ["trainer", "vectors", "level", "metric", "truth", "what", "value", "sd"]
    cells = {tuple(row[:6]): tuple(row[6:]) for row in recovered[columns].itertuples(index=False)}

    def cell(*key: str) -> tuple[float, float]:
        return cells.get(key, (np.nan, np.nan))

    def name_of(metric: str) -> str:
        return labels.get(metric, metric)

    words = recovered[(recovered["level"] == "word") & (recovered["what"] == "r_squared")]
    squares = words[words["truth"] == "signed"].groupby("metric")["value"].max()
    of_words = sorted(words["metric"].unique(), key=lambda m: (-squares.get(m, -1).round(2), name_of(m)))
    with_share, with_distance = [], []
    for metric in of_words:
        shares, distances, differences = [], [], []
        for kind in kinds:
            shares.append(_with_sd(*cell(*kind, "word", metric, "signed", "r_squared")))
            shares.append(_percent(cell(*kind, "word", metric, "signed", "positive")[0]))
            distances.append(_with_sd(*cell(*kind, "word", metric, "absolute", "r_squared")))
            differences.append(_percent(cell(*kind, "word", metric, "", "sd_difference")[0]))
        with_share.append([name_of(metric), *shares])
        with_distance.append([name_of(metric), *distances, *differences])
    of_sets = sorted(recovered.loc[recovered["level"] == "set", "metric"].unique(), key=name_of)
    texts = [
        "R² of words' scores with the share, mean over models (standard deviation), and models with r > 0:",
        _table(["metric", *(head for name in names for head in (f"{name}: R²", "r > 0"))], with_share),
        "R² with the share's distance from .5, and how much replicates differ:",
        _table(["metric", *names, *(f"replicates, {name}" for name in names)], with_distance),
    ]
    for trainer in dict.fromkeys(trainer for trainer, _ in kinds):
        mine = [kind for of, kind in kinds if of == trainer]
        rows = [
            [
                name_of(metric),
                *(
                    _bold(cell(trainer, kind, "set", metric, truth, "pearson")[0])
                    for truth in OF_SETS
                    for kind in mine
                ),
            ]
            for metric in of_sets
        ]
        truths = {"mean": "mean", "sd": "sd", "absolute": "distance"}
        heads = [f"{truths[truth]}, {VECTORS[kind]}" for truth in OF_SETS for kind in mine]
        texts.append(f"Pearson's r of sets' scores with the truth, {labels.get(trainer, trainer)}:")
        texts.append(_table(["metric", *heads], rows))
    return "\n\n".join(texts) + "\n"


def summarise(factory: Factory) -> list[str]:
    """Write the tables and the figures from the models' records, which must be there; returns the files' paths.

    Beside each figure is the table that it is drawn from.
    """
    # imported late: models need no matplotlib
    from .figures.factory import against_truth, word_level
    from .figures.layout import save

    models = of_models(factory)
    recovery = recovered(models)
    figures = figure_tables(models)
    texts = {"factory.csv": _csv(models), "recovery.csv": _csv(recovery)}
    texts["recovery.md"] = markdown(recovery, factory.labels)
    texts |= {f"figures/{name}.csv": _csv(table, "%.6g") for name, table in figures.items()}
    for name, text in texts.items():
        write_text(factory.results / name, text)
    written = [str(factory.results / name) for name in texts]
    truths = {key: entry["truth"] for key, entry in factory.config["metrics"].items()}
    for name, table in figures.items():
        is_words = name == "words"
        figure = (
            word_level(table, factory.labels) if is_words else against_truth(table, factory.labels, truths)
        )
        written += save(figure, factory.results / "figures" / name)
    return written


def _wide(rows: pd.DataFrame, index: list[str]) -> pd.DataFrame:
    """A column per metric; rows and metrics in the order that they come in."""
    table = rows.pivot(index=index, columns="metric", values="value")
    order = pd.MultiIndex.from_frame(rows[index].drop_duplicates())
    return table.reindex(order)[list(rows["metric"].unique())].reset_index().rename_axis(columns=None)


def _csv(table: pd.DataFrame, digits: str | None = None) -> str:
    return table.to_csv(index=False, lineterminator="\n", float_format=digits)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _two_digits(value: float) -> str:
    """As -.25; a dash for NaN."""
    if np.isnan(value):
        return "–"
    text = f"{abs(value):.2f}".removeprefix("0")
    return f"−{text}" if value < 0 and text != ".00" else text


def _with_sd(value: float, sd: float) -> str:
    return _two_digits(value) + (f" ({_two_digits(sd)})" if not np.isnan(value) else "")


def _bold(r: float) -> str:
    return f"**{_two_digits(r)}**" if abs(r) >= 0.8 else _two_digits(r)


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{share:.0%}".replace("%", " %")


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
