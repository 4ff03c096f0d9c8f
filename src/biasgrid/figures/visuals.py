"""Marks and legends of figures: one function per mark, shared by all kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .palette import DASHED, GREY, MISSING_CELL, ZEBRA, Look
from .text import NORMAL, SMALL, line_count, percent

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

INTERVAL: Look = {"linewidth": 0.9, "alpha": 0.75}


def zebra(axes: Axes, rows: int) -> None:
    """Draw a grey background for every second row, the first on top."""
    from matplotlib.collections import PolyCollection

    stripes = [[(0, y - 0.5), (1, y - 0.5), (1, y + 0.5), (0, y + 0.5)] for y in range(0, rows, 2)]
    across = axes.get_yaxis_transform()
    axes.add_collection(
        PolyCollection(stripes, color=ZEBRA, linewidth=0, zorder=0, transform=across), autolim=False
    )
    axes.set_ylim(rows - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def hatch_rows(axes: Axes, rows: Sequence[int]) -> None:
    """Hatch rows without a value."""
    from matplotlib.collections import PolyCollection

    if rows:
        boxes = [[(0, y - 0.38), (1, y - 0.38), (1, y + 0.38), (0, y + 0.38)] for y in rows]
        across = axes.get_yaxis_transform()
        look = MISSING_CELL | {"zorder": 0.5, "transform": across}
        axes.add_collection(PolyCollection(boxes, **look), autolim=False)


def row_names(axes: Axes, names: Sequence[str]) -> None:
    """Write the names of rows next to the leftmost panel of a line."""
    is_first = is_leftmost(axes)
    axes.set_yticks(range(len(names)) if is_first else [], names if is_first else [])


def is_leftmost(axes: Axes) -> bool:
    """Return whether a panel is the leftmost of its line."""
    place = axes.get_subplotspec()
    return place is None or place.is_first_col()


def above_names(axes: Axes, head: str, inches: float) -> None:
    """Write a bold head above the names of rows, which are `inches` wide."""
    axes.annotate(
        head, (0, 1), (-72 * inches, 4), "axes fraction", "offset points", weight="bold", size=NORMAL
    )


def under_head(axes: Axes, text: str) -> None:
    """Write lines between a panel and its head, such as the name of its y axis, so that text is never rotated."""
    axes.annotate(text, (0, 1), (0, 4), "axes fraction", "offset points", size=SMALL)
    axes.set_title(axes.get_title("left"), loc="left", weight="bold", pad=4 + 9.5 * line_count(text))


def neutral_line(axes: Axes, x: float) -> None:
    """Draw the line of no bias, or of no change."""
    axes.axvline(x, **DASHED)


def intervals(axes: Axes, low: Any, high: Any, y: Any, look: Look, **options: Any) -> None:
    """Draw lines from low to high, in the colour of a mark; skip lines with a NaN end."""
    low, high, y = (np.asarray(x, dtype=float) for x in (low, high, y))
    known = np.isfinite(low) & np.isfinite(high)
    if known.any():
        axes.hlines(y[known], low[known], high[known], color=look["color"], zorder=2, **INTERVAL | options)


def ends_beyond(axes: Axes, low: float, high: float, y: float, look: Look) -> None:
    """Draw an arrow at each end of the axis that an interval goes beyond, in the colour of its mark."""
    from matplotlib.markers import CARETLEFT, CARETRIGHT

    first, last = axes.get_xlim()
    for end, arrow, is_beyond in ((first, CARETLEFT, low < first), (last, CARETRIGHT, high > last)):
        if is_beyond:
            axes.plot([end], [y], marker=arrow, color=look["color"], markersize=4, clip_on=False)


def in_place_of_mark(axes: Axes, y: float, text: str, color: str = GREY) -> None:
    """Write in words why a row lacks a mark; in the colour of the mark if the row has several."""
    look: Look = {"va": "center", "size": SMALL, "color": color, "transform": axes.get_yaxis_transform()}
    look["bbox"] = {"boxstyle": "square,pad=0.1", "facecolor": "white", "linewidth": 0}
    axes.text(0.03, y, text, **look)


def beside(axes: Axes, y: float, text: str, **options: Any) -> None:
    """Write a text on the right margin of a panel, such as a standard deviation."""
    look: Look = {"va": "center", "size": SMALL, "transform": axes.get_yaxis_transform()}
    axes.text(1.0, y, f" {text}", **look | options)


def few_ticks(
    axis: Axis, most: int, steps: Sequence[float] | None = (1, 2, 5, 10), integer: bool = False
) -> None:
    """Set at most `most` intervals between the ticks of an axis, at multiples of `steps` times a power of ten."""
    from matplotlib.ticker import MaxNLocator

    from .types.ticks import Numbers

    axis.set_major_locator(MaxNLocator(most, steps=steps, integer=integer))
    axis.set_major_formatter(Numbers())


def legend_line(**look) -> Artist:
    """Create a line or a mark for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)


def legend_mark(**look) -> Artist:
    """Create a mark for a legend."""
    return legend_line(linestyle="", **look)


def legend_of(looks: Mapping[Any, Look], names: Mapping[Any, str] | None = None) -> list[tuple[str, Artist]]:
    """Return a legend's entries for the marks of series; `names` are the names of series, by default their keys."""
    return [((names or {}).get(key, key), legend_line(**look)) for key, look in looks.items()]


def legend_neutral(text: str = "no bias") -> tuple[str, Artist]:
    """Return a legend's entry for a `neutral_line`."""
    return text, legend_line(**DASHED)


def legend_interval(level: float, text: str, **look: Any) -> tuple[str, Artist]:
    """Return a legend's entry for `intervals` at `level`; `text` follows the level."""
    return f"{percent(level)} {text}", legend_line(color=GREY, **INTERVAL | look)


def legend_area(**look) -> Artist:
    """Create an area for a legend."""
    from matplotlib.patches import Patch

    return Patch(**look)


def no_mark() -> Artist:
    """Create an invisible mark for a legend's entry with text only."""
    return legend_area(fill=False, linewidth=0)
