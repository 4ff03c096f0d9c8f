"""The table of shuffled text: how far from neutral a metric is where no word is nearer to one than to another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..embeddings.training import PARAMETERS
from ..statistics.adjustment import holm
from ..statistics.means import mean_interval, ratio_interval
from ..statistics.one_sample import t_test
from . import spreads
from .keys import CRITERION, DEBIAS, METRIC, QUERY
from .scores import SCORES
from .table import ANY, Column, Files, Table

if TYPE_CHECKING:
    from ..planned import Planned


PLACE = ["criterion", "query", "metric", "debias"]


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Values of models of real and of shuffled text, one row per (sub-)query, metric, training and corpus.

    spec: "shuffled", as `pairs` gives it; "neutral", as [criterion, metric, value].
    """
    neutral = {(criterion, metric): value for criterion, metric, value in spec["neutral"]}
    scores = SCORES.read(inputs["scores"])
    rows = []
    for pair in spec["shuffled"]:
        pair_scores = scores[scores["model"].isin([*pair["real"], *pair["shuffled"]])]
        for key, part in pair_scores.groupby(PLACE, sort=True):
            place = dict(zip(PLACE, key, strict=True))
            names = {"training": pair["name"], "corpus": pair["corpus"]}
            values = {
                text: part.loc[part["model"].isin(pair[text]), "value"] for text in ("real", "shuffled")
            }
            numbers = _compare_texts(values, neutral[place["criterion"], place["metric"]], pair["exact"])
            rows.append(place | names | numbers)
    table = pd.DataFrame(rows, columns=SHUFFLED.names)
    has_p_value = table["p_value"].notna()
    table.loc[has_p_value, "p_adjusted"] = holm(table.loc[has_p_value, "p_value"].to_numpy(dtype=float))
    table = table.sort_values([*PLACE, "training", "corpus"], kind="stable", ignore_index=True)
    return spreads.as_numbers(table, SHUFFLED.columns)


def _compare_texts(values: Mapping[str, pd.Series], neutral: float, exact: bool) -> dict[str, Any]:
    """What the table says of the values of real and of shuffled text."""
    numbers: dict[str, Any] = {"neutral": neutral}
    distances = {}
    for text, text_values in values.items():
        finite = text_values.dropna().to_numpy()
        distance = distances[text] = np.abs(finite - neutral)
        numbers |= {f"{text}_models": len(finite), f"{text}_lost": len(text_values) - len(finite)}
        if len(finite):
            numbers |= {f"{text}_mean": finite.mean(), f"{text}_distance": distance.mean()}
            numbers |= _ends(f"{text}_mean", mean_interval(finite))
            numbers |= _ends(f"{text}_distance", mean_interval(distance), least=0)
    if all(map(len, distances.values())) and numbers["real_distance"] > 0:
        numbers["share"] = numbers["shuffled_distance"] / numbers["real_distance"]
        exact = exact and len(distances["real"]) == 1
        ends = ratio_interval(distances["shuffled"], distances["real"], exact=exact)
        numbers |= _ends("share", ends, least=0)
    numbers["p_value"] = t_test(values["shuffled"].dropna().to_numpy(), neutral)
    return numbers


def _ends(name: str, interval: tuple[float, float], least: float = -inf) -> dict[str, float]:
    low, high = interval
    return {f"{name}_low": low if math.isnan(low) else max(low, least), f"{name}_high": high}


def pairs(study: Planned) -> list[dict[str, Any]]:
    """Of each entry of a study's `shuffled` and each corpus: its "name", "corpus", keys of "real" and "shuffled"
    models; "exact" where nothing is drawn at random for the real ones."""
    pairs_of_corpora: dict[tuple[str, str], dict[str, Any]] = {}
    for name, entry in study.config.get("shuffled", {}).items():
        for text in ("real", "shuffled"):
            for model in (key for key in entry[text] if key in study.models):
                corpus = study.models[model]["source"].get("corpus", {}).get("name", model)
                pair = {"name": name, "corpus": corpus, "real": [], "shuffled": [], "exact": True}
                pair = pairs_of_corpora.setdefault((name, corpus), pair)
                pair[text].append(model)
                pair["exact"] &= text == "shuffled" or not _has_seed(study, model)
    # without one of both where it could not be downloaded
    return [pair for pair in pairs_of_corpora.values() if pair["real"] and pair["shuffled"]]


def _has_seed(study: Planned, model: str) -> bool:
    source = study.config["models"][model]["source"]
    return "seed" in PARAMETERS.get(source.get("algorithm"), ())


def shuffled_cells(study: Planned) -> Iterator[Any]:
    """The cells of the models of a study's `shuffled`."""
    models = {key for pair in pairs(study) for text in ("real", "shuffled") for key in pair[text]}
    return (cell for cell in study.grid.cells.values() if cell.model in models)


def _inputs(study: Planned) -> dict[str, Any]:
    return {"scores": study.paths.table_file("scores")} if any(shuffled_cells(study)) else {}


def _spec(study: Planned) -> dict[str, Any]:
    return {"shuffled": pairs(study), "neutral": spreads.neutrals(study)}


def _text_columns(text: str, models: str) -> tuple[Column, ...]:
    interval = f"95 % interval over {models} (Student's t); empty with fewer than two"
    return (
        Column(f"{text}_models", f"{models} that have a value", "count"),
        Column(f"{text}_lost", f"{models} that have none", "count"),
        Column(f"{text}_mean", "mean of their values", range=ANY, **spreads.AS_VALUE),
        Column(f"{text}_mean_low", f"lower end of its {interval}", range=ANY, **spreads.AS_VALUE),
        Column(f"{text}_mean_high", "upper end", range=ANY, **spreads.AS_VALUE),
        Column(
            f"{text}_distance",
            "mean of their values' distances from the neutral value",
            range=(0, inf),
            **spreads.AS_VALUE,
        ),
        Column(f"{text}_distance_low", f"lower end of its {interval}", range=(0, inf), **spreads.AS_VALUE),
        Column(f"{text}_distance_high", "upper end", range=(0, inf), **spreads.AS_VALUE),
    )


TRAINING = Column("training", "the name under `shuffled` in the config")
CORPUS = Column("corpus", "the corpus, which the models of shuffled text are of, too")
SHUFFLED = Table(
    "shuffled",
    "One row per (sub-)query, metric, training and corpus: how far from the neutral value a metric is on models of "
    "real text, and on models of the same text shuffled. In studies with `shuffled`.",
    (
        CRITERION,
        QUERY,
        METRIC,
        DEBIAS,
        TRAINING,
        CORPUS,
        Column("neutral", "the metric's neutral value", range=ANY, **spreads.AS_VALUE),
        *_text_columns("real", "models of real text"),
        *_text_columns("shuffled", "models of shuffled text"),
        Column(
            "share", "shuffled_distance / real_distance: 1 is as much as real text", "number", range=(0, inf)
        ),
        Column(
            "share_low",
            "lower end of its 95 % interval (Fieller's, with unequal variances; real text whose models have no seed "
            "has no variance); empty with fewer than two models, or where real_distance does not differ from 0",
            "number",
            range=(0, inf),
        ),
        Column("share_high", "upper end", "number", range=(0, inf)),
        Column(
            "p_value",
            "of Student's t-test that values of shuffled text have the neutral value as their mean; empty with fewer "
            "than two models",
            "number",
            range=(0, 1),
        ),
        Column("p_adjusted", "adjusted for all rows of the table (Holm)", "number", range=(0, 1)),
    ),
    inputs=_inputs,
    spec=_spec,
    make=make,
    key=("criterion", "query", "metric", "debias", "training", "corpus"),
    cells=lambda study: list(shuffled_cells(study)),
)
TABLES = (SHUFFLED,)
