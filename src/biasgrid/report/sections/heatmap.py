"""Queries by models: per metric, each value, its distance from no bias and its side, what it is evidence for, and why
it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...numbers import plain
from ...results import KEYS
from ...verdicts.direction import directions
from ...verdicts.reliability import MAY_TURN, of_scores
from ..marks import TURNS, explained_by_frequency, legend
from ..score_records import anchor, anchor_of
from .section import Material, Section

if TYPE_CHECKING:
    import pandas as pd

SHADES = 9  # on each side of no bias
PLACE = ["criterion", "query", "metric"]


def make(material: Material) -> dict[str, Any]:
    scores, spec = material.tables["scores"], material.spec
    signed = directions(scores, spec["summary"]["sides"])
    turns: dict[tuple, str] = {}
    if (card := material.tables.get("reliability")) is not None:
        rows = of_scores(card)
        turning = rows[rows["verdict"] == MAY_TURN].set_index(KEYS)["coefficient"]
        turns = turning.map(TURNS).to_dict()
    return {
        "metrics": [
            _metric(metric, scores[scores["metric"] == metric], material)
            for metric in material.metrics_of(scores)
        ],
        "opposed": set(signed.loc[signed["is_opposed"], PLACE].itertuples(index=False, name=None)),
        "poles": {(q.criterion, q.query, q.metric): q.poles for q in material.cells.questions},
        "turns": turns,
        "anchor": anchor,
        "anchor_of": anchor_of,
        # the grid has it, where there is one
        "marks": [] if spec["summary"]["criteria"] else legend(),
        "alpha": plain(1 - spec["level"]),
    }


def _metric(metric: str, scores: pd.DataFrame, material: Material) -> dict[str, Any]:
    """A metric's scores with their shades, by criterion and query."""
    spec = material.spec
    neutral = {(criterion, metric): value for criterion, metric, value in spec["neutrals"]}
    zero = np.array([neutral[criterion, metric] for criterion in scores["criterion"]])
    distances = (scores["value"] - zero).to_numpy(float)
    full, is_signed = _full_shade(np.abs(distances)), spec["facts"][metric]["is_signed"]
    sides = np.sign(distances) if is_signed else 1
    scores = scores.assign(shade=sides * np.ceil(np.minimum(np.abs(distances) / full, 1) * SHADES))
    rows: dict[str, dict[str, dict[tuple[str, str], Any]]] = {}
    for row in scores.itertuples():
        of_query = rows.setdefault(row.criterion, {}).setdefault(row.query, {})
        of_query[row.model, row.debias] = row
    return {
        "metric": metric,
        "states": material.states_of(scores),
        "criteria": {name: rows[name] for name in spec["criteria"] if name in rows},
        "missing": int(scores["value"].isna().sum()),
        "scores": len(scores),
        "shades": range(-SHADES if is_signed else 0, SHADES + 1),
        "full": full,
        "largest": float(np.nanmax(np.abs(distances), initial=0.0)),
        "explained": explained_by_frequency(scores, spec["level"]),
        **spec["facts"][metric],
    }


def _full_shade(distances: np.ndarray) -> float:
    """The distance from no bias with the full shade: the largest that is no outlier by Tukey's rule (1.5 times the
    interquartile range above the third quartile), so that a few outliers leave all others not white."""
    distances = distances[~np.isnan(distances)]
    if not len(distances):
        return 1.0
    low, high = np.quantile(distances, [0.25, 0.75])
    return float(distances[distances <= high + 1.5 * (high - low)].max()) or float(distances.max()) or 1.0


SECTIONS = (
    Section(
        "heatmap",
        "Queries by models",
        ("scores", "reliability"),
        make,
        "heatmap.html",
        place=40,
        lead="each value, its distance from no bias, and what it is evidence for",
    ),
)
