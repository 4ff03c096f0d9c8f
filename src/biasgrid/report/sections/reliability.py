"""Section on the stability of scores: changes of a score's sign, or of the order of its words, with other words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.numbers import coefficient
from ...core.numbers import share as percentage
from ...measure.reliability_in_words import MAY_TURN, NONE, POOR, SIGN, of_scores, of_word_orders
from ..score_records import anchor
from .section import ReportData, Section

if TYPE_CHECKING:
    import pandas as pd

SHADES = 9


def make(material: ReportData) -> dict[str, Any]:
    if "reliability" not in material.tables:
        return {"metrics": []}
    card, spec = material.tables["reliability"], material.spec
    scores, orders = of_scores(card), of_word_orders(card)
    metrics = material.metrics_of(card)
    return {
        "metrics": metrics,
        "bars": [_bar(metric, scores[scores["metric"] == metric]) for metric in material.metrics_of(scores)],
        "criteria": {
            name: [
                _query(key, part, orders[orders["query_id"] == key], material)
                for key in spec["sets"][name]
                if not (part := scores[(scores["criterion"] == name) & (scores["query_id"] == key)]).empty
            ]
            for name in material.criteria_of(card)
        },
        "has_orders": not orders.empty,
        "acceptable": coefficient(spec["thresholds"]["acceptable"]),
        "limit": percentage(1 - spec["thresholds"]["holds"]),
    }


def _bar(metric: str, scores: pd.DataFrame) -> dict[str, Any]:
    """Count a metric's unstable scores."""
    unstable = scores["verdict"] == MAY_TURN
    return {
        "metric": metric,
        "changes": "sign" if scores["coefficient"].iloc[0] == SIGN else "order of the models",
        "unstable": int(unstable.sum()),
        "of": len(scores),
        "share": float(unstable.mean()),
        "percent": percentage(float(unstable.mean())),
    }


def _query(key: str, scores: pd.DataFrame, orders: pd.DataFrame, material: ReportData) -> dict[str, Any]:
    """Return a query's cell of each metric, and its least stable score."""
    cells = {}
    for metric, part in scores.groupby("metric"):
        turns, words = part["verdict"] == MAY_TURN, orders.loc[orders["metric"] == metric, "verdict"]
        cells[metric] = {
            "turn": int(turns.sum()),
            "of": len(part),
            "poor": int(words.isin([POOR, NONE]).sum()),
            "of_words": len(words),
            "shade": round(SHADES * turns.mean()),
            "shade_words": round(SHADES * words.isin([POOR, NONE]).mean()) if len(words) else 0,
            "anchor": anchor(part["criterion"].iloc[0], part["query"].iloc[0], metric),
        }
    least = scores.loc[scores["value"].idxmin()]
    names = material.names
    return {
        "name": material.queries[key].name,
        "cells": cells,
        "least": f"{names.label(least['metric'])} on {names.state(least['model'], least['debias'])}",
        "changes": percentage(1 - least["value"]),
        "what": "sign" if least["coefficient"] == SIGN else "order",
    }


SECTIONS = (
    Section(
        "reliability",
        "Which scores are unstable",
        ("reliability",),
        make,
        "reliability.html",
        place=45,
        lead="would another word list of the same size reverse a score?",
        nav="Stability",
    ),
)
