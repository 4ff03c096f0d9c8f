"""Table of trainings: how a score varies over hyper-parameters of training, and over training seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.measure.results import ACROSS_MODELS
from biasgrid.tables import spreads
from biasgrid.tables.keys import CRITERION, DEBIAS, METRIC, QUERY
from biasgrid.tables.scores import SCORES
from biasgrid.tables.table import Column, Files, Table

from ..sections import trainings_of

if TYPE_CHECKING:
    import pandas as pd

    from biasgrid.tables.planned import Planned


# The parameter whose models differ only by chance.
SEED = "seed"
# Level of the prediction interval for another seed.
LEVEL = 0.95


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Summarise the scores of the models of each training, one row per (sub-)query, metric and parameter.

    spec: "trainings", as [name, parameter, models]; "neutral", as [criterion, metric, value].
    """
    neutral = {(criterion, metric): value for criterion, metric, value in spec["neutral"]}
    scores = spreads.with_errors(SCORES.read(inputs["scores"]), inputs)
    rows = []
    for name, parameter, models in spec["trainings"]:
        model_scores = scores[scores["model"].isin(models)].assign(name=scores["model"])
        for place, part in model_scores.groupby(ACROSS_MODELS, sort=True):
            place = dict(zip(ACROSS_MODELS, place, strict=True))
            summary = spreads.summary(part, "models", neutral[place["criterion"], place["metric"]])
            values = part["value"].to_numpy()
            rows.append(place | {"training": name, "parameter": parameter, "values": values} | summary)
    table = _beside_seeds(rows)
    table = table.sort_values([*ACROSS_MODELS, "training"], kind="stable", ignore_index=True)
    return TRAININGS.typed(table).astype({"beyond_seeds": "Int64"})


def _beside_seeds(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the rows with the numbers that need the values of the same training over seeds."""
    import pandas as pd

    keys = [*ACROSS_MODELS, "training"]
    seeds = {tuple(row[key] for key in keys): row for row in rows if row["parameter"] == SEED}
    for row in rows:
        chance = seeds.get(tuple(row[key] for key in keys))
        if chance is None or "sd" not in chance:
            continue
        row["sd_seeds"] = chance["sd"]
        row["seeds_low"], row["seeds_high"] = low, high = interval(chance["values"])
        if row is not chance:
            row["beyond_seeds"] = int(((row["values"] < low) | (row["values"] > high)).sum())
            if chance["sd"] > 0 and "sd" in row:
                row["ratio"] = row["sd"] / chance["sd"]
    return pd.DataFrame(rows, columns=TRAININGS.names)


def interval(values: np.ndarray) -> tuple[float, float]:
    """Compute the prediction interval for one more seed, at the level `LEVEL`, if values are normal.

    It is m -+ t s sqrt(1 + 1/n), with Student's t with n - 1 degrees of freedom. NaN values do not count.
    """
    # Import late: the import takes a third of a second.
    from scipy.stats import t

    values = values[np.isfinite(values)]
    n = len(values)
    if n < 2:
        return math.nan, math.nan
    reach = t.ppf((1 + LEVEL) / 2, n - 1) * values.std(ddof=1) * math.sqrt(1 + 1 / n)
    # Include all seeds in the interval, also if they are equal and their mean is rounded.
    return min(values.mean() - reach, values.min()), max(values.mean() + reach, values.max())


def trainings(study: Planned) -> list[list[Any]]:
    """Return name, parameter and [model, its value of the parameter] of a study's trainings, the base first."""
    return [
        [
            name,
            parameter,
            [[key, _value(study, key, parameter)] for key in (training.base, *keys) if key in study.models],
        ]
        for name, training in trainings_of(study).items()
        for parameter, keys in training.vary.items()
    ]


def _value(study: Planned, model: str, parameter: str) -> str:
    source = study.config.models[model].source
    if parameter == "algorithm":
        return str(source.algorithm)
    return str(source.params.get(parameter, "default"))


def training_cells(study: Planned) -> Iterator[Any]:
    """Return the cells of the models of a study's trainings."""
    models = {model for *_, entries in trainings(study) for model, _ in entries}
    return (cell for cell in study.grid.cells.values() if cell.model in models)


def _spec(study: Planned) -> dict[str, Any]:
    entries = [
        [name, parameter, [model for model, _ in models]] for name, parameter, models in trainings(study)
    ]
    return {"trainings": entries}


TRAININGS = Table(
    "trainings",
    "How scores vary over models trained with different parameters. One row per (sub-)query, metric and "
    "parameter of training.",
    (
        CRITERION,
        QUERY,
        METRIC,
        DEBIAS,
        Column(
            "training",
            "name of the set of training runs in the config: a base model, and models that differ from it",
        ),
        Column(
            "parameter",
            "the setting in which the models differ; the base is one of them. `seed`: they differ only by "
            "chance",
        ),
        *spreads.columns("model", "models"),
        Column.value("sd_seeds", "standard deviation over the seeds", least=0),
        Column(
            "ratio",
            "sd divided by sd_seeds; imprecise with few models and seeds",
            "number",
            range=(0, inf),
        ),
        Column.value(
            "seeds_low",
            "lower end of the 95 % prediction interval for the value of one more seed (normal distribution)",
        ),
        Column.value("seeds_high", "upper end of the same interval"),
        Column(
            "beyond_seeds",
            "number of models with a value outside that interval: they differ from the base by more than a seed "
            "does. Empty in rows of `seed`",
            "optional count",
        ),
    ),
    reads=("scores", "intervals"),
    facts=("neutral",),
    spec=_spec,
    make=make,
    key=(*ACROSS_MODELS, "training", "parameter"),
    cells=training_cells,
)
TABLES = (TRAININGS,)
