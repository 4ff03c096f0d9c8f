"""Section on queries by models: a heat map per metric, with marks of significance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.numbers import plain
from ...tables.conclusions.direction import directions
from ..marks import SIGNIFICANT, explained_by_frequency, legend
from ..score_records import anchor, anchor_of
from .section import ReportData, Section

if TYPE_CHECKING:
    import pandas as pd

# Number of shades on each side of no bias.
SHADES = 9
PLACE = ["criterion", "query", "metric"]


def make(material: ReportData) -> dict[str, Any]:
    scores, spec = material.tables["scores"], material.spec
    signed = directions(scores, spec["summary"]["sides"])
    return {
        "metrics": [
            _metric(metric, scores[scores["metric"] == metric], material)
            for metric in material.metrics_of(scores)
        ],
        "opposed": set(signed.loc[signed["is_opposed"], PLACE].itertuples(index=False, name=None)),
        "poles": {(q.criterion, q.query, q.metric): q.poles for q in material.cells.questions},
        "anchor": anchor,
        "anchor_of": anchor_of,
        "marks": legend()[:2],
        "SIGNIFICANT": SIGNIFICANT,
        "alpha": plain(1 - spec["level"]),
    }


def _metric(metric: str, scores: pd.DataFrame, material: ReportData) -> dict[str, Any]:
    """Return a metric's scores with their shades, by criterion and query."""
    spec = material.spec
    neutral = {(criterion, metric): value for criterion, metric, value in spec["neutrals"]}
    zero = np.array([neutral[criterion, metric] for criterion in scores["criterion"]])
    distances = (scores["value"] - zero).to_numpy(float)
    full, is_signed = (
        float(np.nanmax(np.abs(distances), initial=0.0)) or 1.0,
        spec["facts"][metric]["is_signed"],
    )
    sides = np.sign(distances) if is_signed else 1
    # Use a scale of square roots, on which small distances differ, and large ones as well.
    scores = scores.assign(shade=sides * np.ceil(np.sqrt(np.abs(distances) / full) * SHADES))
    rows: dict[str, dict[str, dict[tuple[str, str], Any]]] = {}
    for row in scores.itertuples():
        of_query = rows.setdefault(row.criterion, {}).setdefault(row.query, {})
        of_query[row.model, row.debias] = row
    return {
        "metric": metric,
        "states": material.states_of(scores),
        "criteria": {name: rows[name] for name in spec["criteria"] if name in rows},
        "missing": [
            (state, int(part["value"].isna().sum()), len(part))
            for state, part in ((s, _of(scores, s)) for s in material.states_of(scores))
            if part["value"].isna().any()
        ],
        "scores": len(scores),
        "shades": range(-SHADES if is_signed else 0, SHADES + 1),
        "full": full,
        "explained": explained_by_frequency(scores, spec["level"]),
        **spec["facts"][metric],
    }


def _of(scores: pd.DataFrame, state: tuple[str, str]) -> pd.DataFrame:
    return scores[(scores["model"] == state[0]) & (scores["debias"] == state[1])]


SECTIONS = (
    Section(
        "heatmap",
        "Queries by models",
        ("scores",),
        make,
        "heatmap.html",
        place=40,
        lead="heat map of all scores, one table per metric",
        nav="Heat map",
    ),
)
