"""Figure of the angles between directions in which two groups of words can be said to differ."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from ..errors import BiasgridError
from .grid import (
    BOLD,
    MARGIN,
    NORMAL,
    PAGE,
    SMALL,
    _axes,
    _figure,
    _fitted,
    _heading,
    _lines,
    _nothing,
    _styled,
    _unit_label,
    _width,
)

# what Direct Bias calls them -> above a column, and beside a row
DIRECTIONS = {
    "pca": ("PCA", "PCA: first principal component of the pairs"),
    "pair": ("one pair", "one pair: difference of the first pair"),
    "mean": ("means", "means: difference of the groups' means"),
    "sum": ("sums", "sums: difference of the groups' sums, each at unit length"),
}
NOTE = (
    "Angles between the directions in which two groups of words can be said to differ: 0° is the same direction, 90° "
    "has nothing in common with it."
)
CELL = (0.75, 0.34)  # inches


@_styled
def directions(table: pd.DataFrame, labels: Mapping[str, str], criterion: str) -> Figure:
    """Angles in degrees: a heatmap a query and model, from white (0°) to orange (90°), a cell two directions.

    `table` has the columns criterion, query, model, debias, direction_a, direction_b and angle. An angle that is
    NaN, of a direction that there is not, is a grey cell.
    Without rows of the criterion, as of words that no model has, the figure says so. Raises BiasgridError for a
    direction that is not known.
    """
    title = f"{criterion}: angles between directions"
    mine = table[table["criterion"] == criterion]
    if mine.empty:
        return _nothing(title, "no model has the groups' words.")
    unknown = sorted({*mine["direction_a"], *mine["direction_b"]} - DIRECTIONS.keys())
    if unknown:
        raise BiasgridError(f"directions: {unknown[0]!r} is not known; known are {', '.join(DIRECTIONS)}")
    panels = list(mine.groupby(["query", "model", "debias"], sort=True))
    names = [long for _, long in DIRECTIONS.values()]
    left = MARGIN + max(_width(name, SMALL) for name in names) + 0.08
    width, height = (size * len(DIRECTIONS) for size in CELL)
    across = max(left + width + MARGIN, PAGE[0])
    note = _fitted(
        NOTE,
        across - 2 * MARGIN,
        SMALL,
    )
    heads = [
        _fitted(f"{_unit_label(unit, labels)}: {query}", (across - 2 * MARGIN) / BOLD, NORMAL)
        for (query, *unit), _ in panels
    ]
    top = 0.3 + 0.125 * _lines(note) + 0.05
    downs = [0.15 + 0.14 * _lines(head) + 0.25 + height for head in heads]
    figure = _figure(across, top + sum(downs) + MARGIN)
    inches = figure.get_figheight()
    figure.text(MARGIN / across, 1 - MARGIN / inches, title, **_heading())
    figure.text(MARGIN / across, 1 - 0.3 / inches, note, va="top", size=SMALL, color="#333333")
    for (_, part), head, down in zip(panels, heads, downs, strict=True):
        figure.text(MARGIN / across, 1 - (top + 0.12) / inches, head, va="top", weight="bold")
        axes = _axes(figure, left, top + down - height, width, height)
        matrix = part.pivot(index="direction_a", columns="direction_b", values="angle").reindex(
            index=DIRECTIONS, columns=DIRECTIONS
        )
        angles = matrix.combine_first(matrix.T).reindex(index=DIRECTIONS, columns=DIRECTIONS).to_numpy()
        drawn = np.where(np.eye(len(angles), dtype=bool), 0.0, angles)
        axes.set_facecolor("#DDDDDD")
        sns.heatmap(
            drawn, vmin=0, vmax=90, cmap="Oranges", cbar=False, linewidths=0.6, linecolor="#BBBBBB", ax=axes
        )
        for (row, column), angle in np.ndenumerate(drawn):
            text = "" if row == column else "no angle" if np.isnan(angle) else f"{angle:.1f}°"
            axes.text(
                column + 0.5,
                row + 0.5,
                text,
                ha="center",
                va="center",
                size=SMALL,
                color="white" if angle > 60 else "black",
            )
        axes.set_xticks(np.arange(len(angles)) + 0.5, [short for short, _ in DIRECTIONS.values()], rotation=0)
        axes.set_yticks(np.arange(len(angles)) + 0.5, names, rotation=0)
        axes.tick_params(length=0, labeltop=True, labelbottom=False)
        top += down
    return figure
