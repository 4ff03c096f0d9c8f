"""Table of words: the numbers that metrics compute for each word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..measure.results import KEYS, cells, key_of
from ..models.preprocessing import form_of, recorded_forms
from .cells import word_cells
from .keys import CELL
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Cell, Planned


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    rows = [
        (*key_of(cell, result), of_set, word, detail, column, value, *_found(cell, result, of_set, word))
        for cell, of_cell in cells(inputs["cells"])
        for result in of_cell
        for detail, sets in result["detail"].items()
        for of_set, by_word in sets.items()
        for word, values in by_word.items()
        for column, value in (values if isinstance(values, dict) else {"": values}).items()
    ]
    return WORDS.finish(rows, first=True)


def _found(
    cell: Mapping[str, Any], result: Mapping[str, Any], of_set: str, entry: str
) -> tuple[str, str, str]:
    """Return the words of a set that were found as an entry, their forms, and other words with the same vector."""
    listed = [word for word, entries in result["found"].get(of_set, {}).items() if entry in entries]
    first = form_of(recorded_forms(cell["words"])[0])
    forms = [result.get("forms", {}).get(of_set, {}).get(word, first) for word in listed]
    alike = [words for words in result.get("same_vector", {}).get(of_set, ()) if set(words) & set(listed)]
    others = [word for words in alike for word in words if word not in listed]
    return ", ".join(listed), ", ".join(dict.fromkeys(forms)), ", ".join(others)


def cell_words(words: pd.DataFrame, place: Mapping[str, Any]) -> pd.DataFrame:
    """Return a cell's value of each word, from a table of words: the nearer of two groups (word, value).

    `place` describes the cell: see `place_of`.
    """
    rows = words["query"].isin(place["queries"])
    for name in ("criterion", "metric", "model", "debias", "detail"):
        rows &= words[name] == place[name]
    # A word in several sets has one value, which depends only on the word and the groups.
    return words.loc[rows, ["word", "value"]].drop_duplicates("word")


def place_of(study: Planned, cell: Cell) -> dict[str, Any]:
    """Return a description of a cell's rows in the table: their columns, with the names of all its (sub-)queries."""
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
    "The value of each word, by metric. One row per word and number that a metric gives it, in criteria with "
    "`word_table: true` or `ratings:`.",
    (
        *CELL,
        Column("set", "name of the word's set"),
        Column("word", "the word as written in the model"),
        Column("detail", "name of the number"),
        Column("column", "which number, if several have that name; empty if there is only one"),
        Column.value("value", "value of the number"),
        Column("listed", "the word or words of the set that were found in this form"),
        Column("form", "spelling under which they were found"),
        Column("same_vector", "other words of the set with the same vector in this model"),
    ),
    reads=("cells",),
    make=make,
    key=(*KEYS, "set", "word", "detail", "column"),
    cells=word_cells,
)
TABLES = (WORDS,)
