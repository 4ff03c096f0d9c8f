"""Rows of marks with their intervals: a forest plot."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..palette import Look
from ..text import SMALL, line_count, text_width
from ..visuals import hatch_rows, in_place_of_mark, intervals, neutral_line, row_names, zebra

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ..frame import Frame

# Inches between two marks of a row.
LANE = 0.07
# Inches of a line of a row's name.
LINE = 0.115


def height(names: Mapping[Any, str], lanes: float = 1) -> float:
    """Return the height in inches of rows with these names, with `lanes` marks below each other in each."""
    lines = max(map(line_count, names.values()))
    return len(names) * max(lines * LINE + 0.05, lanes * LANE + 0.05)


def width(names: Mapping[Any, str]) -> float:
    """Return the width in inches of the rows' names."""
    return max(text_width(name, SMALL) for name in names.values()) + 0.1


def row_panels(
    page: Frame, heads: Mapping[Any, str], names: Mapping[Any, str], lanes: float = 1, **options: Any
) -> dict[Any, Axes]:
    """Create panels by key, each with its head, and all with rows of these names.

    `lanes` is as in `height`, `options` as in `Frame.panels`.
    """
    return page.panels(heads, height(names, lanes), labels=width(names), **options)


def _places(table: pd.DataFrame, rows: list[Any], series: list[Any]) -> np.ndarray:
    """Return the vertical positions of marks: marks of a row are below each other, in the order of their series."""
    row = np.array([rows.index(key) for key in table["row"]], dtype=int)
    code = row * len(series) + np.array([series.index(key) for key in table["series"]], dtype=int)
    codes = np.unique(code)
    first, end = np.searchsorted(codes, row * len(series)), np.searchsorted(codes, (row + 1) * len(series))
    lane, lanes = np.searchsorted(codes, code) - first, end - first
    return row + (lane - (lanes - 1) / 2) * 0.8 / max(lanes, default=1)


def rows(
    axes: Axes,
    table: pd.DataFrame,
    names: Mapping[Any, str],
    looks: Mapping[Any, Look],
    *,
    neutral: float | None = None,
    interval: Mapping[str, Any] | None = None,
    empty: str = "",
) -> dict[tuple[Hashable, Hashable], float]:
    """Draw rows, the first on top.

    Parameters
    ----------
    table
        A row per mark: `row`, one of `names`; `series`, one of `looks`; its `value`; the ends of its interval, `low`
        and `high` (by default `ci_low` and `ci_high`), if it has one; and `says`, the text in place of a mark without
        a value.
    names
        Row -> its name.
    looks
        Series -> its mark.
    neutral
        Position of a dashed line.
    interval
        Look of the lines of intervals, if it differs from the usual one.
    empty
        Text in a row without a mark in the table.

    Returns
    -------
    dict
        (row, series) -> the vertical position of the mark.
    """
    zebra(axes, len(names))
    row_names(axes, [*names.values()])
    if neutral is not None:
        neutral_line(axes, neutral)
    if "low" not in table:
        table = table.rename(columns={"ci_low": "low", "ci_high": "high"})
    table = table.reindex(columns=dict.fromkeys([*table, "low", "high"]))
    table["says"] = table["says"].fillna("") if "says" in table else ""
    y = _places(table, [*names], [*looks])
    for series, part in table.assign(y=y).groupby("series", sort=False):
        look = looks[series]
        intervals(axes, part["low"], part["high"], part["y"], look, **interval or {})
        known = part["value"].notna()
        if known.any():
            axes.plot(part.loc[known, "value"], part.loc[known, "y"], zorder=3, **look)
    # A row has room for one text.
    missing = table.assign(y=y)[table["value"].isna() & (table["says"] != "")]
    for _, part in missing.groupby([[*names].index(key) for key in missing["row"]]):
        in_place_of_mark(axes, part["y"].mean(), ", ".join(dict.fromkeys(part["says"])))
    has_value = set(table.loc[table["value"].notna(), "row"])
    hatch_rows(axes, [row for row, key in enumerate(names) if key in {*missing["row"]} - has_value])
    with_mark = set(table["row"])
    for row, key in enumerate(names if empty else ()):
        if key not in with_mark:
            in_place_of_mark(axes, row, empty)
    return dict(zip(zip(table["row"], table["series"], strict=True), y, strict=True))
