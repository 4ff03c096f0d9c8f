"""Heat maps: a matrix of numbers, shaded and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...numbers import coefficient, interval, typeset, typographic
from ..palette import MISSING_CELL, SIGNED, Look, colour_map
from ..text import SMALL, line_count

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SIDE = 5  # points of a marked corner
LONGEST, THICK = 2.4, 0.1  # inches of a scale
TICK = 0.4  # of it, that the text of a tick needs


def heat(
    axes: Axes,
    matrix: pd.DataFrame,
    texts: pd.DataFrame,
    *,
    ends: tuple[float, float],
    shades: Any = SIGNED,
    names: tuple[Sequence[str], Sequence[str]] | None = None,
    hidden: np.ndarray | None = None,
    corners: np.ndarray | None = None,
    on_top: bool = False,
    is_triangle: bool = False,
    looks: Mapping[tuple[int, int], Look] | None = None,
) -> None:
    """Draw a matrix.

    Parameters
    ----------
    matrix
        The numbers, which cells are shaded by; a NaN is a hatched cell.
    texts
        What is written in each cell, of the same shape.
    ends
        The numbers of the first and the last shade.
    shades
        A colour map, or the colours of one.
    names
        What rows and columns are called, if not as the matrix calls them.
    hidden
        (rows, columns): which cells are not drawn.
    corners
        (rows, columns): which cells have a marked corner: those on one side of the middle shade, as in greyscale
        both sides look alike. The figure says what it means.
    on_top
        Whether the columns' names stand above the matrix.
    is_triangle
        Whether what lies above the diagonal is not drawn: each column's name stands above its first cell, where there
        is room for a long one.
    looks
        (row, column) -> how its text looks, if not as others do.
    """
    import seaborn
    from matplotlib.backend_bases import FigureCanvasBase

    if hidden is None:
        hidden = (
            np.triu(np.ones(matrix.shape, dtype=bool), 1)
            if is_triangle
            else np.zeros(matrix.shape, dtype=bool)
        )
    look: Look = {"linewidths": 0.6, "linecolor": "white"}
    unlabelled: Look = {"cbar": False, "xticklabels": False, "yticklabels": False}
    low, high = ends
    figure: Any = axes.get_figure(root=True)
    canvas = figure.canvas
    # seaborn draws the whole figure, to see whether labels overlap: on this canvas that is nothing
    FigureCanvasBase(figure)
    mask = hidden | matrix.isna()
    seaborn.heatmap(
        matrix, vmin=low, vmax=high, cmap=_colours(shades), ax=axes, mask=mask, **look, **unlabelled
    )
    figure.set_canvas(canvas)
    marked = []
    for (row, column), value in np.ndenumerate(matrix.to_numpy(dtype=float)):
        if hidden[row, column]:
            continue
        if np.isnan(value):
            missing_cell(axes, row, column)
        colour = "black" if np.isnan(value) else readable_on(axes, (value - low) / (high - low))
        box: Look = (
            {"bbox": {"boxstyle": "square,pad=0.15", "fc": "#E8E8E8", "lw": 0}} if np.isnan(value) else {}
        )
        of_cell: Look = {"ha": "center", "va": "center", "size": SMALL, "color": colour, **box}
        # inside of the panel: no matter of the layout, which would measure each
        of_cell |= {"x": column + 0.5, "y": row + 0.5, "s": texts.iat[row, column], "in_layout": False}
        axes.text(**of_cell | dict((looks or {}).get((row, column), {})))
        if corners is not None and corners[row, column]:
            marked.append((column + 0.02, row + 0.02, colour))
    if marked:
        x, y, colours = zip(*marked, strict=True)
        shape: Any = [(0, 0), (1, 0), (0, -1), (0, 0)]
        axes.scatter(x, y, (2 * SIDE) ** 2, c=colours, marker=shape, linewidth=0, zorder=2)
    rows, columns = names or ([*map(str, matrix.index)], [*map(str, matrix.columns)])
    axes.set(xlabel="", ylabel="")
    axes.set_yticks(np.arange(len(rows)) + 0.5, rows, rotation=0)
    axes.set_xticks([] if is_triangle else np.arange(len(columns)) + 0.5, [] if is_triangle else columns)
    for place, name in enumerate(columns if is_triangle else ()):
        axes.annotate(name, (place, place), (2, 2), textcoords="offset points", size=SMALL)
    if is_triangle and len(columns):
        axes.set_title(
            axes.get_title("left"), loc="left", weight="bold", pad=6 + 9.5 * line_count(columns[0])
        )
    if on_top:
        axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def coefficient_text(value: float, low: float = np.nan, high: float = np.nan, lines: int = 3) -> str:
    """Return what is written in a cell of coefficients: under one its interval, if it has both ends and the cell has
    two lines or more for both."""
    if np.isnan(value):
        return "n/a"
    text = typeset(value, form=coefficient)
    if np.isnan(low) or np.isnan(high) or lines < 2:
        return text
    ends = typographic(interval(low, high, form=coefficient))
    return f"{text}\n" + (ends if lines == 2 else ends.replace(", ", ",\n"))


def missing_cell(axes: Axes, row: int, column: int) -> None:
    """A hatched cell."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((column + 0.03, row + 0.03), 0.94, 0.94, **MISSING_CELL))


def readable_on(axes: Axes, place: float) -> str:
    """The colour of a text on a shade, which is so far (0 to 1) from the first one to the last."""
    mesh = axes.collections[0]
    red, green, blue, _ = mesh.get_cmap()(place)
    light = sum(
        weight * part**2.2 for weight, part in zip((0.2126, 0.7152, 0.0722), (red, green, blue), strict=True)
    )
    return "white" if light < 0.18 else "black"


def _colours(shades: Any) -> Any:
    return colour_map("shades", shades) if isinstance(shades, tuple) else shades


def scale(
    axes: Sequence[Axes], ends: tuple[float, float], shades: Any, text: str, ticks: Sequence[float]
) -> None:
    """What shades mean, below panels."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    figure: Any = axes[0].get_figure(root=True)
    inches = figure.get_figwidth()
    length = min(0.8 * inches, LONGEST)
    if length < TICK * len(ticks):
        ticks = [ticks[0], ticks[-1]]
    bar = figure.colorbar(
        ScalarMappable(Normalize(*ends), _colours(shades)),
        ax=axes,
        ticks=ticks,
        location="bottom",
        anchor=(0.0, 1.0),
        shrink=length / inches,
        aspect=length / THICK,
        pad=0.02,
    )
    bar.outline.set_visible(False)
    bar.set_label(text)
