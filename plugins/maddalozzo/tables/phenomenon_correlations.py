"""Table of correlations of metrics' values with frequency and corpora's own bias, over many sets of neutral words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from biasgrid.core.seeds import seed_of
from biasgrid.measure.statistics.correlation import by_methods
from biasgrid.tables.correlation_columns import correlation_columns
from biasgrid.tables.keys import CRITERION, DEBIAS, METRIC, MODEL
from biasgrid.tables.scores import SCORES
from biasgrid.tables.table import Column, Files, Table

from .phenomena import spec_of, values_of_phenomena

if TYPE_CHECKING:
    from biasgrid.tables.planned import Planned


# Column of frequency.csv -> name of the quantity.
FREQUENCIES = {"mean": "frequency", "variance": "frequency_variance"}


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Correlate values and quantities over phenomena: one row per metric, model, debias method, quantity and method.

    Parameters
    ----------
    inputs
        The table "scores", and the table "frequency" if the study has it.
    spec
        "phenomena": criterion -> query id -> phenomenon. "corpus_metrics": criterion -> the metrics of corpora.
        "corpora": the models that are corpora. "seed": the seed of the study.
    """
    values = values_of_phenomena(SCORES.read(inputs["scores"]), spec["phenomena"]).dropna(subset="value")
    quantities = quantities_of_phenomena(inputs, values, spec)
    points = join_quantities(values, quantities, spec["corpora"])
    seed = seed_of(spec["seed"], "phenomenon correlations")
    rows = [
        (*key, *correlation)
        for key, part in points.groupby(PHENOMENON_CORRELATIONS.names[:6])
        for correlation in by_methods(part["value"], part["number"], seed)
    ]
    return PHENOMENON_CORRELATIONS.finish(rows)


def join_quantities(values: pd.DataFrame, quantities: pd.DataFrame, corpora: Sequence[str]) -> pd.DataFrame:
    """Join each value of a phenomenon with each of its quantities.

    Parameters
    ----------
    values, quantities
        The results of `values_of_phenomena` and `quantities_of_phenomena`.
    corpora
        The models whose frequencies are used for models without frequencies.

    Returns
    -------
    pandas.DataFrame
        Columns criterion, query_id, phenomenon, metric, model, debias, value, quantity, of, number.
    """
    columns = ["criterion", "query_id", "phenomenon", "metric", "model", "debias", "value"]
    points = values[columns].merge(quantities, on=["criterion", "query_id"])
    points = points[points["quantity"] != points["metric"]]
    frequency_sources = set(quantities[["criterion", "quantity", "of"]].itertuples(index=False, name=None))

    def counts(criterion: str, quantity: str, source: str, model: str) -> bool:
        if quantity not in FREQUENCIES.values() or source == model:
            return True
        return source in corpora and (criterion, quantity, model) not in frequency_sources

    rows = points[["criterion", "quantity", "of", "model"]].itertuples(index=False, name=None)
    return points.loc[[counts(*row) for row in rows]]


def quantities_of_phenomena(inputs: Files, values: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return the quantities with which values are correlated, one row per number of a phenomenon.

    The columns are criterion, query_id, quantity, of (a model) and number. `values` is the result of
    `values_of_phenomena`.
    """
    parts = []
    columns = ["criterion", "query_id", "quantity", "of", "number"]
    for criterion, metrics in spec["corpus_metrics"].items():
        part = values[(values["criterion"] == criterion) & values["metric"].isin(metrics)]
        parts.append(part[["criterion", "query_id", "metric", "model", "value"]].set_axis(columns, axis=1))
    if "frequency" in inputs:
        from biasgrid.tables import read

        frequency = read(inputs["frequency"])
        names = [
            spec["phenomena"].get(criterion, {}).get(query)
            for criterion, query in zip(frequency["criterion"], frequency["query_id"], strict=True)
        ]
        frequency = frequency[frequency["set"] == names]
        for column, quantity in FREQUENCIES.items():
            part = frequency[["criterion", "query_id", "model", column]].assign(quantity=quantity)
            parts.append(
                part[["criterion", "query_id", "quantity", "model", column]].set_axis(columns, axis=1)
            )
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat(parts).astype({"number": "float64"}).dropna(subset="number").drop_duplicates(columns[:4])


def corpus_metrics(study: Planned, criterion: str) -> list[str]:
    """Return the metrics of a criterion that are measured on corpora."""
    return sorted(key for key in study.metrics(criterion) if study.metric(criterion, key).needs == "corpus")


def quantities_spec(study: Planned) -> dict[str, Any]:
    """Return the spec of `quantities_of_phenomena`: its dependencies except its tables."""
    spec = spec_of(study)
    return {
        **spec,
        "corpus_metrics": {name: corpus_metrics(study, name) for name in sorted(spec["phenomena"])},
        "corpora": sorted(key for key in study.models if study.kind(key).name == "corpus"),
    }


def _has_quantities(study: Planned) -> bool:
    phenomena = spec_of(study)["phenomena"]
    return any(study.grid.models_with_frequencies or corpus_metrics(study, name) for name in phenomena)


PHENOMENON_CORRELATIONS = Table(
    "phenomenon_correlations",
    "One row per criterion with phenomena, metric, model, debias method, quantity and method: how the metric's "
    "values go with the quantity, over the phenomena.",
    (
        CRITERION,
        METRIC,
        MODEL,
        DEBIAS,
        Column(
            "quantity",
            "frequency: mean occurrences of the phenomenon's words; frequency_variance: their variance; else the key "
            "of a metric of corpora",
        ),
        Column(
            "of", "the model that the quantity is of: the model itself where it has counts, else a corpus"
        ),
        *correlation_columns("values and quantity", "phenomena with both", "phenomena"),
    ),
    reads=("scores", "frequency"),
    when=_has_quantities,
    facts=("seed",),
    spec=quantities_spec,
    make=make,
    key=("criterion", "metric", "model", "debias", "quantity", "of", "method"),
)
TABLES = (PHENOMENON_CORRELATIONS,)
