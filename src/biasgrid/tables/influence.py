"""Table of influence: how each score changes without each of its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..measure.results import results
from .keys import CELL
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return the change of each score without each of its words in turn.

    Sets of more than 200 words are left out (`measure.resampler.Resampler.influence`).
    """
    import pandas as pd

    rows: dict[tuple, list] = {}
    for key, _, result in results(inputs["inferences"]):
        rows.setdefault(key, [(*key, *change) for change in changes(result)])
    in_order = [row for key in sorted(rows) for row in rows[key]]
    return INFLUENCE.typed(pd.DataFrame(in_order, columns=INFLUENCE.names))


def changes(result: Mapping) -> Iterable[tuple[str, str, float | None]]:
    """Yield set, word, and the change of a cell's value without the word; None if the cell then lacks a value."""
    for name, words in result.get("influence", {}).items():
        for word, change in words.items():
            yield name, word, change


def largest_change(result: Mapping) -> tuple[str, str, float] | None:
    """Return set, word and change of the most influential word; None if no word's change is known.

    It is the first of words whose influence differs only by rounding.
    """
    known = [(name, word, change) for name, word, change in changes(result) if change is not None]
    return max(known, key=lambda entry: float(f"{abs(entry[2]):.9g}"), default=None)


INFLUENCE = Table(
    "influence",
    "The change in each score when one word is left out. One row per score and word of its query: the score "
    "without the word, minus the score (leave-one-out).",
    (
        *CELL,
        Column("set", "name of the word's set"),
        Column("word", "the word as written in the set"),
        Column.value(
            "influence", "change of the score without the word; empty if the score then has no value"
        ),
    ),
    reads=("inferences",),
    when="sensitivity",
    make=make,
)
TABLES = (INFLUENCE,)
