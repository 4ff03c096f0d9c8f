"""Which metrics to distrust on which query, and why: what other words would turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...verdicts.reliability import MAY_TURN, NONE, POOR, meanings, of_scores, of_word_orders
from ..marks import TURNS, WORDS
from ..score_records import anchor
from .section import Material, Section

if TYPE_CHECKING:
    import pandas as pd

SHADES = 9


def make(material: Material) -> dict[str, Any]:
    if "reliability" not in material.tables:
        return {"metrics": []}
    card, spec = material.tables["reliability"], material.spec
    scores, orders = of_scores(card), of_word_orders(card)
    metrics = material.metrics_of(card)
    return {
        "metrics": metrics,
        "criteria": {
            name: [
                _query(key, part, orders[orders["query_id"] == key], material)
                for key in spec["sets"][name]
                if not (part := scores[(scores["criterion"] == name) & (scores["query_id"] == key)]).empty
            ]
            for name in material.criteria_of(card)
        },
        "marks": [*TURNS.values(), WORDS],
        "meanings": meanings(spec["thresholds"]),
    }


def _query(key: str, scores: pd.DataFrame, orders: pd.DataFrame, material: Material) -> dict[str, Any]:
    """A query's cell of each metric, and the score that is the least sure."""
    cells = {}
    for metric, part in scores.groupby("metric"):
        turns, words = part["verdict"] == MAY_TURN, orders.loc[orders["metric"] == metric, "verdict"]
        cells[metric] = {
            "mark": TURNS[part["coefficient"].iloc[0]],
            "turn": int(turns.sum()),
            "of": len(part),
            "poor": int(words.isin([POOR, NONE]).sum()),
            "of_words": len(words),
            "shade": round(SHADES * turns.mean()),
            "anchor": anchor(part["criterion"].iloc[0], part["query"].iloc[0], metric),
        }
    least = scores.loc[scores["value"].idxmin()]
    names = material.names
    return {
        "id": key,
        "name": material.queries[key].name,
        "cells": cells,
        "least": f"{names.label(least['metric'])} on {names.state(least['model'], least['debias'])}",
        "says": least["says"],
    }


SECTIONS = (
    Section(
        "reliability",
        "Which scores to distrust, and why",
        ("reliability",),
        make,
        "reliability.html",
        place=45,
        lead="would another list of words turn the sign, or the order of the words?",
    ),
)
