"""Table of shuffled text: how far a metric is from its no-bias value without associations of words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.measure.results import ACROSS_MODELS
from biasgrid.measure.statistics.adjustment import holm
from biasgrid.measure.statistics.means import mean_interval, ratio_interval
from biasgrid.measure.statistics.one_sample import t_test
from biasgrid.models import algorithms
from biasgrid.tables.keys import CRITERION, DEBIAS, METRIC, QUERY
from biasgrid.tables.scores import SCORES
from biasgrid.tables.table import Column, Files, Table

from ..sections import shuffled_of

if TYPE_CHECKING:
    import pandas as pd

    from biasgrid.tables.planned import Planned


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Compare models of real and of shuffled text, one row per (sub-)query, metric, training and corpus.

    spec: "shuffled", from `pairs`; "neutral", as [criterion, metric, value].
    """
    neutral = {(criterion, metric): value for criterion, metric, value in spec["neutral"]}
    scores = SCORES.read(inputs["scores"])
    rows = []
    for pair in spec["shuffled"]:
        pair_scores = scores[scores["model"].isin([*pair["real"], *pair["shuffled"]])]
        for key, part in pair_scores.groupby(ACROSS_MODELS, sort=True):
            place = dict(zip(ACROSS_MODELS, key, strict=True))
            names = {"training": pair["name"], "corpus": pair["corpus"]}
            values = {
                text: part.loc[part["model"].isin(pair[text]), "value"] for text in ("real", "shuffled")
            }
            numbers = _compare_texts(values, neutral[place["criterion"], place["metric"]], pair["exact"])
            rows.append(place | names | numbers)
    table = SHUFFLED.finish(rows)
    has_p_value = table["p_value"].notna()
    table.loc[has_p_value, "p_adjusted"] = holm(table.loc[has_p_value, "p_value"].to_numpy())
    return table


def _compare_texts(values: Mapping[str, pd.Series], neutral: float, exact: bool) -> dict[str, Any]:
    """Return the table's numbers for the values of real and of shuffled text."""
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
    """Return one entry for each corpus of each entry of a study's `shuffled`.

    An entry has its "name", "corpus", the keys of "real" and "shuffled" models, and "exact": whether the training of
    the real models does not depend on chance.
    """
    pairs_of_corpora: dict[tuple[str, str], dict[str, Any]] = {}
    for name, entry in shuffled_of(study).items():
        for text in ("real", "shuffled"):
            for model in (key for key in getattr(entry, text) if key in study.models):
                corpus = study.models[model]["source"].get("corpus", {}).get("name", model)
                pair = {"name": name, "corpus": corpus, "real": [], "shuffled": [], "exact": True}
                pair = pairs_of_corpora.setdefault((name, corpus), pair)
                pair[text].append(model)
                pair["exact"] &= text == "shuffled" or not _has_seed(study, model)
    # Leave out entries that lack one of both texts because of a failed download.
    return [pair for pair in pairs_of_corpora.values() if pair["real"] and pair["shuffled"]]


def _has_seed(study: Planned, model: str) -> bool:
    source = study.config.models[model].source
    algorithm = algorithms.REGISTRY.get(getattr(source, "algorithm", ""))
    return algorithm is not None and "seed" in algorithm.parameters


def shuffled_cells(study: Planned) -> Iterator[Any]:
    """Return the cells of the models of a study's `shuffled`."""
    models = {key for pair in pairs(study) for text in ("real", "shuffled") for key in pair[text]}
    return (cell for cell in study.grid.cells.values() if cell.model in models)


def _text_columns(text: str, models: str) -> tuple[Column, ...]:
    interval = f"95 % interval over {models} (Student's t); empty with fewer than two"
    return (
        Column.count(f"{text}_models", f"number of {models} with a value"),
        Column.count(f"{text}_lost", f"number of {models} without a value"),
        Column.value(f"{text}_mean", "mean of their values"),
        Column.value(f"{text}_mean_low", f"lower end of its {interval}"),
        Column.value(f"{text}_mean_high", "upper end of the interval"),
        Column.value(f"{text}_distance", "mean distance of their values from the no-bias value", least=0),
        Column.value(f"{text}_distance_low", f"lower end of its {interval}", least=0),
        Column.value(f"{text}_distance_high", "upper end of the interval", least=0),
    )


TRAINING = Column("training", "the name under `shuffled` in the config")
CORPUS = Column("corpus", "key of the corpus; the models of shuffled text come from the same corpus")
SHUFFLED = Table(
    "shuffled",
    "Scores on models of real text, and of the same text shuffled. One row per (sub-)query, metric, training "
    "and corpus. It has a metric's distance from the no-bias value on models of real text, and on models of the "
    "same text shuffled. In studies with `shuffled`.",
    (
        CRITERION,
        QUERY,
        METRIC,
        DEBIAS,
        TRAINING,
        CORPUS,
        Column.value("neutral", "the metric's no-bias value"),
        *_text_columns("real", "models of real text"),
        *_text_columns("shuffled", "models of shuffled text"),
        Column(
            "share",
            "shuffled_distance / real_distance; 1 means as much bias as in real text",
            "number",
            range=(0, inf),
        ),
        Column(
            "share_low",
            "lower end of its 95 % interval (Fieller's, with unequal variances). If the models of real text "
            "have no seed, their variance is 0. Empty with fewer than two models, or if real_distance does not "
            "differ from 0",
            "number",
            range=(0, inf),
            is_quotient=True,
        ),
        Column("share_high", "upper end of the interval", "number", range=(0, inf), is_quotient=True),
        Column.share(
            "p_value",
            "p-value of Student's t-test that the mean of shuffled text is the no-bias value; empty with fewer "
            "than two models",
        ),
        Column.share("p_adjusted", "p_value, adjusted for all rows of the table (Holm)"),
    ),
    reads=("scores",),
    facts=("neutral",),
    spec=lambda study: {"shuffled": pairs(study)},
    make=make,
    key=(*ACROSS_MODELS, "training", "corpus"),
    cells=shuffled_cells,
)
TABLES = (SHUFFLED,)
