"""Table of sensitivity: how much single words, and half of the words, change each score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..measure.results import KEYS, results
from .influence import largest_change
from .keys import CELL
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per score: its most influential word, and its change with half of the words.

    spec: "ranges", the ranges of values, as [criterion, metric, low, high].
    """
    ranges = {(criterion, metric): (low, high) for criterion, metric, low, high in spec["ranges"]}
    rows: dict[tuple, dict] = {}
    for key, _, result in results(inputs["inferences"]):
        # As in the scores, a sub-query of several queries belongs to the first.
        if key in rows:
            continue
        most = largest_change(result) or (None, None, None)
        row = dict(zip((*KEYS, "set", "word", "influence"), (*key, *most), strict=True))
        low, high = ranges[key[0], key[2]]
        for side in ("targets", "attributes"):
            distance = result.get("halves", {}).get(side)
            row[f"halves_{side}"] = distance
            comparable = distance is not None and math.isfinite(high - low)
            row[f"robustness_{side}"] = distance / (high - low) if comparable else None
        rows[key] = row
    return TABLE.finish(rows.values())


TABLE = Table(
    "sensitivity",
    "Each score's most influential word, and its change with half of the words. One row per score.",
    (
        *CELL,
        Column("set", "set of the most influential word"),
        Column("word", "the most influential word: without it, the score changes most"),
        Column.value("influence", "change of the score without that word"),
        Column.value(
            "halves_targets",
            "mean distance between the score and its value with half of the target words",
            least=0,
        ),
        Column.value("halves_attributes", "the same with half of the attribute words", least=0),
        Column.share("robustness_targets", "halves_targets as a share of the metric's range"),
        Column.share("robustness_attributes", "halves_attributes as a share of the metric's range"),
    ),
    reads=("inferences",),
    when="sensitivity",
    facts=("ranges",),
    make=make,
    key=tuple(KEYS),
)
TABLES = (TABLE,)
