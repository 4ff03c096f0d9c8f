"""Tables of the recovery of injected bias, and of a model's behaviour, by metrics.

The comparisons follow Schroeder et al. (2021), sections 5.2 and 5.3. The first kind of truth is the injected share of
male pronouns. A model that predicts masked words has two further kinds: its predictions on held-out templates
(unmasking bias), and the direction of its errors in a task (downstream errors).
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

from biasgrid.core.configs import read_json
from biasgrid.tables.table import ANY, Column, Table

from ..tables import REMEDY, write_frame
from .thresholds import GATE

SETTING = ["trainer", "mu", "sigma", "replicate"]
TRAINER = Column("trainer", "the trainer's key in the config")
OF_VALUE = (
    Column(
        "vectors",
        "which vectors are measured; of `behaviour` is what the model does",
        values=("word+context", "word", "contextual", "input", "sentences", "behaviour"),
    ),
    Column("metric", "the metric's name; empty of what is the model's alone"),
    Column(
        "level", "whether it is of each word, of the sets, or of the model", values=("word", "set", "model")
    ),
    Column(
        "against",
        "truth that a value is compared with: the injected share, or the model's unmasking bias or downstream errors",
        values=("planted", "unmasking", "errors", ""),
    ),
    Column(
        "truth",
        "what of that truth a value is compared with: its mean, sd, or absolute distance from its no-bias value; of "
        "words, signed or absolute, or unsigned: both sides as distances from their no-bias values",
        values=("mean", "sd", "absolute", "signed", "unsigned", ""),
    ),
)
JUDGED = Column(
    "judged",
    "no: a model whose unmasking bias does not follow what was injected (R² of .7 or less); means leave it out",
    values=("yes", "no"),
)


def _make_models(inputs: Mapping[str, Any], spec: Mapping[str, Any]) -> pd.DataFrame:
    """Make the table of models. `spec` has "neutral" and "lengths" of metrics."""
    return model_table(map(read_json, inputs["models"]), spec["neutral"], spec["lengths"])


def _make_recovery(inputs: Mapping[str, Any], spec: Mapping[str, Any]) -> pd.DataFrame:
    return recovery_table(MODELS.read(inputs["models"]))


def _scales(factory: Any) -> dict[str, Any]:
    """Return the no-bias values of metrics, and the lengths of their ranges (None if infinite), by key."""
    metrics_by_key = {key: entry.definition(key) for key, entry in factory.config.metrics.items()}
    lengths = {key: metric.range[1] - metric.range[0] for key, metric in metrics_by_key.items()}
    return {
        "neutral": {key: metric.neutral for key, metric in metrics_by_key.items()},
        "lengths": {key: length if math.isfinite(length) else None for key, length in lengths.items()},
    }


MODELS = Table(
    "factory",
    "One row per model of the injected-bias benchmark, vectors, metric and number.",
    (
        TRAINER,
        Column("mu", "mean of the injected shares", "number", range=(0, 1)),
        Column("sigma", "their standard deviation", "number", range=(0, math.inf)),
        Column("replicate", "which of the models of one mu and sigma", "count", range=(1, math.inf)),
        *OF_VALUE,
        Column("true", "the truth's value of this model, of the level set", "number", range=(-1, 1)),
        Column("what", "which number it is: validation/planted_bias/README.md has all"),
        Column("value", "the number", "number", "that of `what`", ANY),
        Column("status", '"ok", or why there is no value'),
        JUDGED,
    ),
    inputs=lambda factory: {"models": list(map(factory.paths.model_file, factory.cells))},
    make=_make_models,
    spec=_scales,
    remedy=REMEDY,
)
RECOVERY = Table(
    "recovery",
    "One row per trainer, vectors, metric and number over models: how well the metric recovers the injected bias.",
    (
        TRAINER,
        *OF_VALUE,
        Column("what", "which number it is: validation/planted_bias/README.md has all"),
        Column("value", "the number: a mean or a correlation over models", "number", "that of `what`", ANY),
        Column("sd", "its standard deviation over models", "number", "that of `what`", (0, math.inf)),
        Column(
            "p_value",
            "of a correlation; it takes models as independent: too small where models share a plan",
            "number",
            range=(0, 1),
        ),
        Column("models", "how many models it is of", "count"),
    ),
    inputs=lambda factory: {"models": factory.results / "factory.csv"},
    make=_make_recovery,
    remedy=REMEDY,
)
TABLES = (MODELS, RECOVERY)
# The behaviour of a model, and the metrics as which it is entered.
BEHAVIOUR = "behaviour"
ACTS = ("unmasking", "errors")
# Neutral values of the truths, and lengths of their ranges.
NEUTRAL = {"planted": 0.5, "unmasking": 0.5, "errors": 0.0}
LENGTHS = {"unmasking": 1.0, "errors": 2.0}
# Quantities that scores of words, or of sets, may recover: functions of the truth and its no-bias value.
OF_WORDS = {
    "signed": lambda truth, neutral: truth,
    "absolute": lambda truth, neutral: np.abs(neutral - truth),
}
OF_SETS = {
    "mean": lambda truth, neutral: float(np.mean(truth)),
    "sd": lambda truth, neutral: float(np.std(truth)),
    "absolute": lambda truth, neutral: float(np.mean(np.abs(neutral - truth))),
}


def write_figure_table(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the table of a figure (spec: "figure") from factory.csv (inputs: "models")."""
    write_frame(figure_tables(MODELS.read(inputs["models"]))[spec["figure"]], output, "%.6g")


def model_table(
    records: Iterable[Mapping[str, Any]], neutral: Mapping[str, float], lengths: Mapping[str, float | None]
) -> pd.DataFrame:
    """Make factory.csv from the models' records.

    Parameters
    ----------
    records
        The records that `model.make` writes.
    neutral
        Metric -> the no-bias value of a word or a set.
    lengths
        Metric -> the length of its range; None if it is infinite.
    """
    rows = []
    # Models of one plan -> (row of the retest, whether the model is included, scores of words).
    replicates: dict[tuple, list[tuple[int, bool, np.ndarray]]] = {}
    for record in records:
        setting = [record[name] for name in SETTING]
        acts = record.get(BEHAVIOUR)
        truths = {"planted": np.array(record["truth"])}
        truths |= {name: np.array(acts[name], dtype=float) for name in ACTS} if acts else {}
        gate = _correlation(truths["planted"], truths["unmasking"])["r_squared"] if acts else np.nan
        is_judged = not acts or gate > GATE
        parts = {kind: _of_vectors(record, kind, truths, neutral, lengths) for kind in record["measured"]}
        if acts:
            parts[BEHAVIOUR] = _of_behaviour(acts, gate, truths)
        for kind, part in parts.items():
            for *row, scores in part:
                if scores is not None:
                    key = (*setting[:3], kind, row[0])
                    replicates.setdefault(key, []).append((len(rows), is_judged, scores))
                rows.append([*setting, kind, *row, "yes" if is_judged else "no"])
    table = pd.DataFrame(rows, columns=MODELS.names)
    values = table["value"].to_numpy(dtype=float, copy=True)
    for models in replicates.values():
        places, is_judged, scores = zip(*models, strict=True)
        values[list(places)] = retest(np.array(scores), np.array(is_judged))
    return table.assign(value=values)


def retest(scores: np.ndarray, is_judged: np.ndarray) -> np.ndarray:
    """Correlate each replicate's scores (replicates, words) with the other included replicates, and average.

    The mean is NaN if there is no other replicate, or no variance.
    """
    r = np.full((len(scores), len(scores)), np.nan)
    for i, j in combinations(range(len(scores)), 2):
        # Use the words that have both scores.
        x, y = scores[[i, j]][:, np.isfinite(scores[[i, j]]).all(axis=0)]
        if len(x) > 2 and np.ptp(x) and np.ptp(y):
            r[i, j] = r[j, i] = np.corrcoef(x, y)[0, 1]
    usable = np.isfinite(r) & is_judged
    with np.errstate(invalid="ignore"):
        return np.where(usable, r, 0.0).sum(axis=1) / usable.sum(axis=1)


def recovery_table(models: pd.DataFrame) -> pd.DataFrame:
    """Make recovery.csv from factory.csv."""
    models = models[models["value"].notna()]
    gates = models[models["what"] == "gate"]
    models = models[models["judged"] == "yes"]
    rows = []
    for (*key, metric), part in models.groupby(["trainer", "vectors", "metric"], sort=False):
        statistics = [*_of_words(part[part["level"] == "word"]), *_of_sets(part[part["level"] == "set"])]
        rows += [(*key, metric, *row) for row in statistics]
    for key, part in models.groupby(["trainer", "vectors"], sort=False):
        rows += [(*key, *row) for row in _of_directions(part)]
        rows += [
            (*key, *row) for row in _of_scalars(part[(part["level"] == "model") & (part["what"] != "angle")])
        ]
    # Use all models, because this number decides which models are included.
    for key, part in gates.groupby(["trainer", "vectors"], sort=False):
        value, n = part["value"], len(part)
        columns = (*key, "", "model", "planted", "")
        rows.append((*columns, "gate", value.mean(), value.std(ddof=0), np.nan, n))
        rows.append((*columns, "gate_passed", (value > GATE).mean(), np.nan, np.nan, n))
    return pd.DataFrame(rows, columns=RECOVERY.names)


def percentage_difference(values: Sequence[float]) -> float:
    """Average |a - b| / ((a + b) / 2) over all pairs; NaN for fewer than two values, or if all are 0."""
    pairs = [abs(a - b) / ((a + b) / 2) for a, b in combinations(values, 2) if a + b > 0]
    return float(np.mean(pairs)) if pairs else np.nan


def figure_tables(models: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the table of each figure from factory.csv, by the figure's name.

    Parameters
    ----------
    models
        factory.csv.

    Returns
    -------
    dict
        ``words`` (injected bias), ``words-unmasking``, ``words-errors``: Pearson's r of words' scores with that
        truth, one row per model, kind of vectors and truth, one column per metric. The model's behaviour also has
        columns, with the same numbers for all kinds of vectors. ``truth-<trainer>`` (injected bias),
        ``truth-<trainer>-unmasking``: the metrics' values, one row per model and kind of vectors, one column per
        metric, and ``true_mean``, ``true_sd`` and ``true_absolute``. ``directions``: the angle between the first
        principal component and the difference of means, with R² of SAME and of Direct Bias. ``example``: the effect
        sizes of six words for each division into sets. ``gate``: R² of unmasking bias and injected share. Missing
        values are NaN.
    """
    setting = [*SETTING, "vectors", "judged"]
    tables = {}
    of_words = (models["level"] == "word") & (models["what"] == "pearson") & models["truth"].isin(OF_WORDS)
    sets = models[(models["level"] == "set") & (models["what"] == "score") & (models["vectors"] != BEHAVIOUR)]
    for against in NEUTRAL:
        suffix = "" if against == "planted" else f"-{against}"
        rows = models[of_words & (models["against"] == against)]
        if len(rows):
            tables[f"words{suffix}"] = _with_behaviour(rows, [*SETTING, "vectors", "truth", "judged"])
        for trainer, of_trainer in sets[sets["against"] == against].groupby("trainer", sort=False):
            tables[f"truth-{trainer}{suffix}"] = _with_truths(of_trainer, setting)
    of_model = models[(models["level"] == "model") & (models["metric"] == "")]
    is_square = (
        (models["what"] == "r_squared") & (models["truth"] == "signed") & (models["against"] == "planted")
    )
    squares = models[is_square & models["metric"].isin(("same", "direct_bias")) & (models["level"] == "word")]
    directions = pd.concat([of_model[of_model["what"] == "angle"].assign(metric="angle"), squares])
    tables["directions"] = _wide(directions, setting)
    example = of_model[of_model["what"].str.startswith("example_")]
    tables["example"] = _wide(example.assign(metric=example["what"]), setting)
    gate = of_model[of_model["what"] == "gate"]
    tables["gate"] = _wide(gate.assign(metric=gate["what"]), setting)
    return tables


def _wide(rows: pd.DataFrame, index: list[str]) -> pd.DataFrame:
    """Pivot to a column per metric; rows and metrics keep their order."""
    if rows.empty:
        return pd.DataFrame(columns=index)
    table = rows.pivot(index=index, columns="metric", values="value")
    order = pd.MultiIndex.from_frame(rows[index].drop_duplicates())
    return table.reindex(order)[list(rows["metric"].unique())].reset_index().rename_axis(columns=None)


def _with_behaviour(rows: pd.DataFrame, index: list[str]) -> pd.DataFrame:
    """Pivot to a column per metric and per behaviour, which has the same number for all kinds of vectors."""
    acts = rows["vectors"] == BEHAVIOUR
    table = _wide(rows[~acts], index)
    if acts.any():
        shared = [name for name in index if name != "vectors"]
        table = table.merge(_wide(rows[acts], shared), "left", shared)
    return table


def _with_truths(rows: pd.DataFrame, setting: list[str]) -> pd.DataFrame:
    """Pivot to a column per truth, followed by a column per metric."""
    first = rows[rows["metric"] == rows["metric"].iloc[0]]
    true = first.pivot(index=setting, columns="truth", values="true")[list(OF_SETS)].add_prefix("true_")
    table = _wide(rows[rows["truth"] == "mean"], setting).join(true, on=setting)
    return table[[*setting, *true, *table.columns[len(setting) : -len(true.columns)]]]


def _of_vectors(
    record: Mapping[str, Any],
    kind: str,
    truths: Mapping[str, np.ndarray],
    neutral: Mapping[str, float],
    lengths: Mapping[str, float | None],
) -> Iterator[tuple]:
    """Yield the rows of a kind of vectors, with the words' scores if the value is their retest."""
    by_vectors = record["measured"][kind]
    yield "", "model", "", "", np.nan, "angle", by_vectors["angle"], "ok", None
    if by_vectors.get("example"):
        yield from _of_example(by_vectors["example"], record["occupations"], truths)
    for metric, measurement in by_vectors["metrics"].items():
        value, status = measurement["value"], measurement["status"]
        for against, truth in truths.items():
            for name, function in OF_SETS.items():
                true = function(truth, NEUTRAL[against])
                yield metric, "set", against, name, true, "score", value, status, None
        if measurement.get("halves") is not None and lengths.get(metric):
            halves = measurement["halves"] / lengths[metric]
            yield metric, "set", "", "", np.nan, "halves", halves, status, None
        if measurement["words"] is not None:
            scores = np.array(measurement["words"], dtype=float)
            yield from _of_scores(metric, scores, truths, neutral.get(metric, 0.0), status)
            if metric == "weat" and by_vectors["metrics"].get("same", {}).get("words"):
                # Use the same words for SAME, so that the two are comparable.
                same_scores = np.array(by_vectors["metrics"]["same"]["words"], dtype=float)
                has_score = np.isfinite(scores)
                for against, truth in truths.items():
                    r_squared = _correlation(truth[has_score], same_scores[has_score])["r_squared"]
                    yield metric, "word", against, "signed", np.nan, "same_r_squared", r_squared, status, None


def _of_example(
    example: Mapping[str, Any], occupations: Sequence[str], truths: Mapping[str, np.ndarray]
) -> Iterator[tuple]:
    """Yield the numbers of Schroeder et al.'s figure 2: effect sizes of the same words for each division."""
    sizes = np.abs(np.array(example["effect_sizes"], dtype=float))
    against = "unmasking" if "unmasking" in truths else "planted"
    places = [occupations.index(word) for word in example["words"]]
    bias = float(np.mean(np.abs(truths[against][places] - NEUTRAL[against])))
    numbers = {f"example_{i}": size for i, size in enumerate(sizes, 1)}
    if np.isfinite(sizes).any():
        numbers |= {"example_largest": np.nanmax(sizes), "example_smallest": np.nanmin(sizes)}
    for what, value in (numbers | {"example_same": example["same"], "example_bias": bias}).items():
        yield "", "model", against if what == "example_bias" else "", "", np.nan, what, value, "ok", None


def _of_behaviour(acts: Mapping[str, Any], gate: float, truths: Mapping[str, np.ndarray]) -> Iterator[tuple]:
    """Yield the rows of a model's behaviour, entered as metrics.

    The value of a set is the same function (mean, sd, absolute) of the behaviour as of the truth.
    """
    yield "", "model", "planted", "", np.nan, "gate", gate, "ok", None
    for name, value in acts["scalars"].items():
        yield "", "model", "", "", np.nan, name, value, "ok", None
    for metric in ACTS:
        scores, neutral = truths[metric], NEUTRAL[metric]
        other_truths = {against: truth for against, truth in truths.items() if against != metric}
        for against, truth in other_truths.items():
            for name, function in OF_SETS.items():
                true, value = function(truth, NEUTRAL[against]), function(scores, neutral)
                yield metric, "set", against, name, true, "score", value, "ok", None
        halves = (acts.get("halves") or {}).get(metric)
        if halves is not None:
            yield metric, "set", "", "", np.nan, "halves", halves / LENGTHS[metric], "ok", None
        yield from _of_scores(metric, scores, other_truths, neutral, "ok")


def _of_scores(
    metric: str, scores: np.ndarray, truths: Mapping[str, np.ndarray], neutral: float, status: str
) -> Iterator[tuple]:
    # A metric of two sets does not score a word with a share of one half, which is not in either set.
    has_score = np.isfinite(scores)
    yield (
        metric,
        "word",
        "",
        "",
        np.nan,
        "sd",
        scores[has_score].std() if has_score.any() else np.nan,
        status,
        None,
    )
    yield metric, "word", "", "", np.nan, "retest", np.nan, status, scores
    for against, truth in truths.items():
        pairs = {name: (function(truth, NEUTRAL[against]), scores) for name, function in OF_WORDS.items()}
        pairs["unsigned"] = pairs["absolute"][0], np.abs(scores - neutral)
        for name, (true, values) in pairs.items():
            for what, value in _correlation(true[has_score], values[has_score]).items():
                if what != "p_value":
                    yield metric, "word", against, name, np.nan, what, value, status, None


def _of_words(rows: pd.DataFrame) -> Iterator[tuple]:
    comparisons = rows[rows["what"] != "sd"]
    for (against, truth, what), part in comparisons.groupby(["against", "truth", "what"], sort=False):
        columns = ("word", against, truth)
        yield *columns, what, part["value"].mean(), part["value"].std(ddof=0), np.nan, len(part)
        if what == "pearson":
            yield *columns, "positive", (part["value"] > 0).mean(), np.nan, np.nan, len(part)
    deviations = rows[rows["what"] == "sd"].groupby(["mu", "sigma"])["value"]
    differences = deviations.agg(lambda values: percentage_difference(list(values))).dropna()
    if len(differences):
        mean, sd = differences.mean(), differences.std(ddof=0)
        yield "word", "", "", "sd_difference", mean, sd, np.nan, len(differences)


def _of_sets(rows: pd.DataFrame) -> Iterator[tuple]:
    comparisons = rows[rows["what"] == "score"]
    for (against, truth), part in comparisons.groupby(["against", "truth"], sort=False):
        correlation = _correlation(part["true"].to_numpy(), part["value"].to_numpy())
        p_value = correlation.pop("p_value")
        for what, value in correlation.items():
            p = p_value if what != "spearman" else np.nan
            yield "set", against, truth, what, value, np.nan, p, len(part)
    halves = rows.loc[rows["what"] == "halves", "value"]
    if len(halves):
        yield "set", "", "", "halves", halves.mean(), halves.std(ddof=0), np.nan, len(halves)


def _of_directions(rows: pd.DataFrame) -> Iterator[tuple]:
    """Yield the angle between the directions of Direct Bias (principal component) and SAME (difference of means).

    Also yield its rank correlation with the difference of the two metrics' R² of words.
    """
    of_angles = rows[rows["what"] == "angle"].set_index(SETTING)["value"]
    if of_angles.empty:
        return
    yield "", "model", "", "", "angle", of_angles.mean(), of_angles.std(ddof=0), np.nan, len(of_angles)
    words = rows[(rows["level"] == "word") & (rows["truth"] == "signed") & (rows["what"] == "r_squared")]
    for against, part in words.groupby("against", sort=False):
        by_metric = part.pivot(index=SETTING, columns="metric", values="value")
        if {"same", "direct_bias"} <= set(by_metric):
            losses = (by_metric["same"] - by_metric["direct_bias"]).dropna()
            correlation = _correlation(of_angles[losses.index].to_numpy(), losses.to_numpy())["spearman"]
            yield (
                "direct_bias",
                "model",
                against,
                "",
                "angle_spearman",
                correlation,
                np.nan,
                np.nan,
                len(losses),
            )


def _of_scalars(rows: pd.DataFrame) -> Iterator[tuple]:
    """Yield means of the models' own numbers, except the inclusion criterion, whose mean is over all models."""
    for (against, what), part in rows[rows["what"] != "gate"].groupby(["against", "what"], sort=False):
        yield (
            "",
            "model",
            against,
            "",
            what,
            part["value"].mean(),
            part["value"].std(ddof=0),
            np.nan,
            len(part),
        )


def _correlation(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Compute pearson, its square, its p-value, and spearman; NaN for a constant side, or fewer than 3 values."""
    from scipy.stats import pearsonr, spearmanr

    if len(x) < 3 or not np.isfinite(y).all():
        return dict.fromkeys(("r_squared", "pearson", "spearman", "p_value"), np.nan)
    with warnings.catch_warnings():
        # Ignore warnings about constant values, whose correlation is NaN.
        warnings.simplefilter("ignore")
        pearson, spearman = pearsonr(x, y), spearmanr(x, y)
    return {
        "r_squared": float(pearson.statistic**2),
        "pearson": float(pearson.statistic),
        "spearman": float(spearman.statistic),
        "p_value": float(pearson.pvalue),
    }
