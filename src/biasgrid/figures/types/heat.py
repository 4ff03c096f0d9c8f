"""Heat maps: a matrix of numbers, as shades and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.numbers import coefficient, interval, typeset, typographic
from ..palette import MISSING_CELL, SIGNED, Look, colour_map
from ..text import SMALL, line_count

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Size of a marked corner in points.
SIDE = 5
# Inches of a scale.
LONGEST, THICK = 2.4, 0.1
# Inches of the scale that the text of a tick needs.
TICK = 0.4


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
        The numbers that determine the shades; NaN is a hatched cell.
    texts
        Texts of the cells, of the same shape.
    ends
        The numbers of the first and the last shade.
    shades
        A colour map, or the colours of one.
    names
        Names of rows and columns; by default the matrix's index and columns.
    hidden
        (rows, columns): mask of cells that are not drawn.
    corners
        (rows, columns): mask of cells with a marked corner: the cells on one side of the middle shade, because both
        sides look alike in greyscale. The figure explains the corner.
    on_top
        Whether the columns' names are above the matrix.
    is_triangle
        Whether the part above the diagonal is left out. Each column's name is then above its first cell, with room
        for a long name.
    looks
        (row, column) -> the look of its text, if it differs from the others.
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
    # seaborn draws the whole figure to check whether labels overlap: on this canvas that costs nothing.
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
        # Exclude the text from the layout, which would measure it: it is inside the panel.
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
    """Return the text of a coefficient's cell, with its interval below it.

    The interval is left out if one end is missing, or if the cell has fewer than two lines.
    """
    if np.isnan(value):
        return "n/a"
    text = typeset(value, form=coefficient)
    if np.isnan(low) or np.isnan(high) or lines < 2:
        return text
    ends = typographic(interval(low, high, form=coefficient))
    return f"{text}\n" + (ends if lines == 2 else ends.replace(", ", ",\n"))


def missing_cell(axes: Axes, row: int, column: int) -> None:
    """Draw a hatched cell."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((column + 0.03, row + 0.03), 0.94, 0.94, **MISSING_CELL))


def readable_on(axes: Axes, place: float) -> str:
    """Return the colour of text on a shade at a position from 0 (first shade) to 1 (last shade)."""
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
    """Draw the scale of the shades below panels."""
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
