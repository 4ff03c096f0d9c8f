"""The table of words: what metrics say of each word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..results import results
from .cells import word_cells
from .keys import CELL
from .table import Column, Files, Table

if TYPE_CHECKING:
    from ..planned import Cell, Planned


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    rows = [
        (*key, of_set, word, detail, column, value)
        for key, _, result in results(inputs["cells"])
        for detail, sets in result["detail"].items()
        for of_set, by_word in sets.items()
        for word, values in by_word.items()
        for column, value in (values if isinstance(values, dict) else {"": values}).items()
    ]
    return WORDS.finish(rows, first=True)


def cell_words(words: pd.DataFrame, place: Mapping[str, Any]) -> pd.DataFrame:
    """Of a table of words, what a cell says of each: which of two groups it is nearer to (word, value).

    `place` says which cell: see `place_of`.
    """
    rows = words["query"].isin(place["queries"])
    for name in ("criterion", "metric", "model", "debias", "detail"):
        rows &= words[name] == place[name]
    # a word of several sets has one value: it is of the word and the groups
    return words.loc[rows, ["word", "value"]].drop_duplicates("word", ignore_index=True)


def place_of(study: Planned, cell: Cell) -> dict[str, Any]:
    """Which rows of the table are a cell's: its columns, with the names of all its (sub-)queries."""
    metric = study.metric(cell.criterion, cell.metric)
    return {
        "criterion": cell.criterion,
        "queries": [query.name for query in study.queries[cell.query].subqueries(metric.template)],
        "metric": cell.metric,
        "model": cell.model,
        "debias": cell.debias,
        "detail": metric.word_bias,
    }


WORDS = Table(
    "words",
    "One row per word and number that a metric gives of it, of criteria with `word_table: true` or `ratings:`.",
    (
        *CELL,
        Column("set", "the set that the word is in"),
        Column("word", "as the model has it"),
        Column("detail", "what the number is"),
        Column("column", "which of several numbers of that name; empty where there is one"),
        Column.value("value", "the number"),
    ),
    reads=("cells",),
    make=make,
    cells=word_cells,
)
TABLES = (WORDS,)
