"""Do the metrics agree? Correlations of the ranks that they give the original models."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from ...debias import UNTOUCHED
from ...tables import correlations
from .. import sentences
from .section import Material, Section

if TYPE_CHECKING:
    import pandas as pd

FEW = 4  # correlations over fewer models are not shown
MATRIX = (
    8  # models from which on a matrix of coefficients is shown; of fewer, each coefficient with its interval
)


def make(material: Material) -> dict[str, Any]:
    tables, spec = material.tables, material.spec
    if "rankings" not in tables or tables["rankings"].empty:
        return {"criteria": []}
    table = correlations.make(material.inputs, spec["correlations"], debiased=False)
    parts = [
        (name, material.metrics_of(part := table[table["criterion"] == name], "metric_a"), part)
        for name in material.criteria_of(table)
    ]
    criteria = [
        {
            "name": name,
            "metrics": metrics,
            "pairs": {(row.metric_a, row.metric_b): row for row in part.itertuples()},
            "n": _models_of_both(tables["rankings"].query("criterion == @name"), metrics),
        }
        for name, metrics, part in parts
        if len(metrics) > 1
    ]
    return {
        "criteria": criteria,
        "finding": sentences.of_correlations(criteria[0], MATRIX) if criteria else "",
        "shade": shade,
        "FEW": FEW,
        "MATRIX": MATRIX,
    }


def _models_of_both(rankings: pd.DataFrame, metrics: list[str]) -> dict[tuple[str, str], int]:
    """Return how many original models each two metrics rank."""
    ranked = rankings[rankings["rank"].notna() & (rankings["debias"] == UNTOUCHED)]
    models = {metric: set(ranked.loc[ranked["metric"] == metric, "model"]) for metric in metrics}
    return {(a, b): len(models[a] & models[b]) for i, a in enumerate(metrics) for b in metrics[:i]}


def shade(pair: Any) -> int:
    """Return -4 to 4: pale if the interval is wide."""
    width = 2.0 if isnan(pair.ci_low) else pair.ci_high - pair.ci_low
    return round(pair.correlation * 4 * max(0.25, 1 - width / 2))


SECTIONS = (
    Section(
        "agreement",
        "Do the metrics agree?",
        ("rankings",),
        make,
        "agreement.html",
        place=60,
        lead="correlations between metrics, over the original models",
        nav="Metrics",
    ),
)
