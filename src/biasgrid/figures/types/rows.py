"""Rows of marks with their intervals: a forest plot."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..palette import Look
from ..text import SMALL, line_count, text_width
from ..visuals import in_place_of_mark, intervals, neutral_line, row_names, zebra

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LANE = 0.085  # inches between two marks of a row
LINE = 0.115  # inches of a line of a row's name


def height(names: Mapping[Any, str], lanes: int = 1) -> float:
    """Inches of rows of these names, with so many marks one below the other in each."""
    lines = max(map(line_count, names.values()))
    return len(names) * max(lines * LINE + 0.07, lanes * LANE + 0.08)


def width(names: Mapping[Any, str]) -> float:
    """Inches of the rows' names."""
    return max(text_width(name, SMALL) for name in names.values()) + 0.1


def rows(
    axes: Axes,
    table: pd.DataFrame,
    names: Mapping[Any, str],
    looks: Mapping[Any, Look],
    *,
    neutral: float | None = None,
    interval: Mapping[str, Any] | None = None,
) -> dict[tuple[Hashable, Hashable], float]:
    """Draw rows, the first on top.

    Parameters
    ----------
    table
        A row per mark: `row`, one of `names`; `series`, one of `looks`; its `value`; the ends of its interval, `low`
        and `high`, if it has one; `look`, what its mark has besides, and `says`, what stands in place of one without
        a value, if any.
    names
        Row -> what it is called.
    looks
        Series -> its mark.
    neutral
        Where a dashed line stands.
    interval
        How lines of intervals look, if not as they mostly do.

    Returns
    -------
    dict
        (row, series) -> how far down the mark stands.
    """
    zebra(axes, len(names))
    row_names(axes, [*names.values()])
    if neutral is not None:
        neutral_line(axes, neutral)
    place = {key: y for y, key in enumerate(names)}
    # marks of a row stand below each other, in the order of their series
    table = table.reindex(columns=dict.fromkeys([*table, "low", "high", "look", "says"]))
    lane = {key: i for i, key in enumerate(looks)}
    most = max((part["series"].nunique() for _, part in table.groupby("row")), default=1)
    of_row = table.groupby("row")["series"].transform(lambda s: s.map(lane).rank(method="dense") - 1)
    count = table.groupby("row")["series"].transform("nunique")
    y = table["row"].map(place) + (of_row - (count - 1) / 2) * (0.8 / most if most > 1 else 0)
    for series, part in table.assign(y=y).groupby("series", sort=False):
        look = looks[series]
        intervals(axes, part["low"], part["high"], part["y"], look, **interval or {})
        for mark in part.itertuples():
            if np.isfinite(mark.value):
                axes.plot(
                    [mark.value],
                    [mark.y],
                    zorder=3,
                    **look | (mark.look if isinstance(mark.look, dict) else {}),
                )
            elif isinstance(mark.says, str):
                in_place_of_mark(axes, mark.y, mark.says)
    return dict(zip(zip(table["row"], table["series"], strict=True), y, strict=True))
