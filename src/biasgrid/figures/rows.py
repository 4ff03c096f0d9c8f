"""Selections of rows from a study's tables for figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BiasgridError, join_names
from ..measure.aggregation import OVERALL
from .palette import Unit
from .text import DAGGER

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..core.in_memory import File
    from .figure import Files

# Short reasons, by status.
REASONS = {"lost_words": "missing words", "degenerate": "undefined"}
# Note on models that `fewer_scores` finds.
FEWER = f"{DAGGER} ranked without some scores that other models have (missing words)"


def read_table(path: File) -> pd.DataFrame:
    """Read a table of a study from its file."""
    # Import late: a plan does not read tables, and pandas takes half a second.
    from .. import tables

    return tables.read(path)


def from_tables(draw: Callable[..., figure.Figure]) -> Callable[..., figure.Figure]:
    """Return a `Figure.draw` that calls `draw` with the figure's tables, in their order, and then with the spec."""

    def draw_inputs(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
        return draw(*map(read_table, inputs.values()), **spec)

    return draw_inputs


def rows_where(table: pd.DataFrame, /, **values: Any) -> pd.DataFrame:
    """Return the rows of a table that have these values in these columns."""
    for column, value in values.items():
        table = table[table[column] == value]
    return table


def rows_of(table: pd.DataFrame, name: str, /, **values: str) -> pd.DataFrame:
    """Return the rows like `rows_where`, but require that there are some.

    Raises BiasgridError, beginning with `name`, without such rows, or if a table of older code lacks a column.
    """
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
    """Return a column of a table. Raises BiasgridError, beginning with `name`, if a table of older code lacks it."""
    if column not in table:
        raise BiasgridError(f"{name}: the table has no column {column!r}; make it again")
    return table[column]


def keys_of(table: pd.DataFrame, *columns: str) -> list[Any]:
    """Return the rows' values in these columns, by default their model and debias method, as tuples."""
    return list(table[[*columns] or ["model", "debias"]].itertuples(index=False, name=None))


def why(statuses: pd.Series) -> pd.Series:
    """Return the reasons for missing values, in words."""
    reasons = statuses.str.split(":").str[0]
    return reasons.map(REASONS).fillna(reasons.str.replace("_", " "))


def reasons(statuses: pd.Series) -> str:
    """Join the reasons for missing values, in words."""
    return " or ".join(sorted(set(why(statuses))))


def criteria_of(table: pd.DataFrame) -> list[str]:
    """Return the criteria of a table in alphabetical order, "Overall" last."""
    return sorted(table["criterion"].unique(), key=lambda criterion: (criterion == OVERALL, criterion))


def units_of(table: pd.DataFrame) -> list[Unit]:
    """Return the units with bars and marks: models, each original one followed by its debiased variants."""
    return sorted(set(keys_of(table)), key=lambda unit: (unit[0], unit[1] != "none", unit[1]))


def by_rank(rankings: pd.DataFrame, units: Sequence[Unit]) -> list[Unit]:
    """Sort units by rank, the least biased first; units without some ranks come last."""
    # Use the mean: it orders complete models like their sums, and is fair to models without some ranks.
    keys = [rankings["model"], rankings["debias"]]
    mean, incomplete = rankings["rank"].groupby(keys).mean(), rankings["rank"].isna().groupby(keys).any()
    place = {unit: (incomplete[unit], np.nan_to_num(mean[unit], nan=np.inf)) for unit in mean.index}
    return sorted(units, key=lambda unit: (place.get(unit, (True, np.inf)), unit))
