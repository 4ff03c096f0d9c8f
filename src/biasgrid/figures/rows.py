"""What figures take out of a study's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BiasgridError, join_names
from ..statistics.aggregation import OVERALL
from .palette import Unit
from .text import DAGGER

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..in_memory import File
    from .figure import Files

REASONS = {"lost_words": "missing words", "degenerate": "undefined"}  # by status
FEWER = f"{DAGGER} ranked without some scores that other models have (missing words)"  # `fewer_scores`


def read_table(path: File) -> pd.DataFrame:
    """A table of a study from its file."""
    # imported late: a plan reads no table, and pandas takes half a second
    from .. import tables

    return tables.read(path)


def from_tables(draw: Callable[..., figure.Figure]) -> Callable[..., figure.Figure]:
    """A `Figure.draw` that calls `draw` with the tables that it reads, in their order, then with the spec."""

    def draw_inputs(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
        return draw(*map(read_table, inputs.values()), **spec)

    return draw_inputs


def rows_where(table: pd.DataFrame, /, **values: Any) -> pd.DataFrame:
    """The rows of a table that have these values in these columns."""
    for column, value in values.items():
        table = table[table[column] == value]
    return table


def rows_of(table: pd.DataFrame, name: str, /, **values: str) -> pd.DataFrame:
    """As `rows_where`. Raises BiasgridError, which begins with `name`, where there is no row, and where a table of
    older code lacks a column."""
    if table.empty:
        raise BiasgridError(f"{name}: nothing to draw, the table is empty")
    for column, value in values.items():
        rows = table[column_of(table, name, column) == value]
        if rows.empty:
            others = join_names(sorted(table[column].unique()))
            raise BiasgridError(f"{name}: no rows of {column} {value!r}; the table has {others}")
        table = rows
    return table


def column_of(table: pd.DataFrame, name: str, column: str) -> pd.Series:
    """A column of a table. Raises BiasgridError, which begins with `name`, where a table of older code lacks it."""
    if column not in table:
        raise BiasgridError(f"{name}: the table has no column {column!r}; make it again")
    return table[column]


def keys_of(table: pd.DataFrame, *columns: str) -> list[Any]:
    """What rows have in these columns, a tuple each; without columns, their model and debias method."""
    return list(table[[*columns] or ["model", "debias"]].itertuples(index=False, name=None))


def why(statuses: pd.Series) -> pd.Series:
    """Why there is no value, in words."""
    reasons = statuses.str.split(":").str[0]
    return reasons.map(REASONS).fillna(reasons.str.replace("_", " "))


def reasons(statuses: pd.Series) -> str:
    """Why there are no values, in words."""
    return " or ".join(sorted(set(why(statuses))))


def criteria_of(table: pd.DataFrame) -> list[str]:
    """The criteria of a table in alphabetical order, "Overall" last."""
    return sorted(table["criterion"].unique(), key=lambda criterion: (criterion == OVERALL, criterion))


def units_of(table: pd.DataFrame) -> list[Unit]:
    """What has bars and marks: models, each the original, then with its debias methods."""
    return sorted(set(keys_of(table)), key=lambda unit: (unit[0], unit[1] != "none", unit[1]))


def by_rank(rankings: pd.DataFrame, units: Sequence[Unit]) -> list[Unit]:
    """The least biased first; those that miss a rank last."""
    # a mean orders complete models as their sums do, and is fair to those that miss a rank
    keys = [rankings["model"], rankings["debias"]]
    mean, incomplete = rankings["rank"].groupby(keys).mean(), rankings["rank"].isna().groupby(keys).any()
    place = {unit: (incomplete[unit], np.nan_to_num(mean[unit], nan=np.inf)) for unit in mean.index}
    return sorted(units, key=lambda unit: (place.get(unit, (True, np.inf)), unit))
