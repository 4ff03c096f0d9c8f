"""Section on the agreement of metrics: correlations of the ranks that they give the models, from correlations.csv."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from ...tables.conclusions.agreement import FEW_MODELS
from .. import sentences
from .section import ReportData, Section

if TYPE_CHECKING:
    import pandas as pd

# Correlations over fewer models are not shown.
FEW = 4


def make(material: ReportData) -> dict[str, Any]:
    tables = material.tables
    if "correlations" not in tables or "rankings" not in tables or tables["correlations"].empty:
        return {"criteria": []}
    # Use the method of the figure.
    method = material.spec["correlations"]
    table = tables["correlations"][tables["correlations"]["method"] == method]
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
        "finding": sentences.of_correlations(criteria[0], FEW_MODELS) if criteria else "",
        "shade": shade,
        "method": {"spearman": "Spearman", "kendall": "Kendall", "pearson": "Pearson"}[method],
        "FEW": FEW,
        "MATRIX": FEW_MODELS,
    }


def _models_of_both(rankings: pd.DataFrame, metrics: list[str]) -> dict[tuple[str, str], int]:
    """Count the models, original and debiased, that each two metrics rank."""
    ranked = rankings[rankings["rank"].notna()]
    models = {
        metric: {*rows[["model", "debias"]].itertuples(index=False, name=None)}
        for metric in metrics
        for rows in [ranked[ranked["metric"] == metric]]
    }
    return {(a, b): len(models[a] & models[b]) for i, a in enumerate(metrics) for b in metrics[:i]}


def shade(pair: Any) -> int:
    """Return a shade from -4 to 4, which is pale if the interval is wide."""
    width = 2.0 if isnan(pair.ci_low) else pair.ci_high - pair.ci_low
    return round(pair.correlation * 4 * max(0.25, 1 - width / 2))


SECTIONS = (
    Section(
        "agreement",
        "Do the metrics agree?",
        ("correlations", "rankings"),
        make,
        "agreement.html",
        place=60,
        lead="correlations between metrics, over all models, debiased ones included",
        nav="Metrics",
    ),
)
