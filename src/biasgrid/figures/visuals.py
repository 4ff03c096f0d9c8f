"""What figures draw into panels: one function per mark, all kinds use the same ones."""

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
    """Every second of some rows is grey, the first on top."""
    from matplotlib.collections import PolyCollection

    stripes = [[(0, y - 0.5), (1, y - 0.5), (1, y + 0.5), (0, y + 0.5)] for y in range(0, rows, 2)]
    across = axes.get_yaxis_transform()
    axes.add_collection(
        PolyCollection(stripes, color=ZEBRA, linewidth=0, zorder=0, transform=across), autolim=False
    )
    axes.set_ylim(rows - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def hatch_rows(axes: Axes, rows: Sequence[int]) -> None:
    """Hatch rows that have no value."""
    from matplotlib.collections import PolyCollection

    if rows:
        boxes = [[(0, y - 0.38), (1, y - 0.38), (1, y + 0.38), (0, y + 0.38)] for y in rows]
        across = axes.get_yaxis_transform()
        look = MISSING_CELL | {"zorder": 0.5, "transform": across}
        axes.add_collection(PolyCollection(boxes, **look), autolim=False)


def row_names(axes: Axes, names: Sequence[str]) -> None:
    """What rows are called, beside the leftmost of panels that stand side by side."""
    is_first = is_leftmost(axes)
    axes.set_yticks(range(len(names)) if is_first else [], names if is_first else [])


def is_leftmost(axes: Axes) -> bool:
    """Whether a panel is the first of those that stand side by side."""
    place = axes.get_subplotspec()
    return place is None or place.is_first_col()


def above_names(axes: Axes, head: str, inches: float) -> None:
    """A bold head above the names of rows, which take so many inches."""
    axes.annotate(
        head, (0, 1), (-72 * inches, 4), "axes fraction", "offset points", weight="bold", size=NORMAL
    )


def under_head(axes: Axes, text: str) -> None:
    """Lines between a panel and its head, such as what its y axis is of: no text is turned."""
    axes.annotate(text, (0, 1), (0, 4), "axes fraction", "offset points", size=SMALL)
    axes.set_title(axes.get_title("left"), loc="left", weight="bold", pad=4 + 9.5 * line_count(text))


def neutral_line(axes: Axes, x: float) -> None:
    """Where there is no bias, or no change."""
    axes.axvline(x, **DASHED)


def intervals(axes: Axes, low: Any, high: Any, y: Any, look: Look, **options: Any) -> None:
    """Lines from low to high, in the colour of a mark; none where an end is NaN."""
    low, high, y = (np.asarray(x, dtype=float) for x in (low, high, y))
    known = np.isfinite(low) & np.isfinite(high)
    if known.any():
        axes.hlines(y[known], low[known], high[known], color=look["color"], zorder=2, **INTERVAL | options)


def in_place_of_mark(axes: Axes, y: float, text: str, color: str = GREY) -> None:
    """Why a row has no mark, in words; of several marks of a row in the colour of the one."""
    look: Look = {"va": "center", "size": SMALL, "color": color, "transform": axes.get_yaxis_transform()}
    look["bbox"] = {"boxstyle": "square,pad=0.1", "facecolor": "white", "linewidth": 0}
    axes.text(0.03, y, text, **look)


def beside(axes: Axes, y: float, text: str, **options: Any) -> None:
    """A text on the right margin of a panel, such as a standard deviation."""
    look: Look = {"va": "center", "size": SMALL, "transform": axes.get_yaxis_transform()}
    axes.text(1.0, y, f" {text}", **look | options)


def few_ticks(
    axis: Axis, most: int, steps: Sequence[float] | None = (1, 2, 5, 10), integer: bool = False
) -> None:
    """At most so many intervals between the ticks of an axis, at multiples of `steps` times a power of ten."""
    from matplotlib.ticker import MaxNLocator

    from .types.ticks import Numbers

    axis.set_major_locator(MaxNLocator(most, steps=steps, integer=integer))
    axis.set_major_formatter(Numbers())


def legend_line(**look) -> Artist:
    """A line or a mark for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)


def legend_mark(**look) -> Artist:
    """A mark for a legend."""
    return legend_line(linestyle="", **look)


def legend_of(looks: Mapping[Any, Look], names: Mapping[Any, str] | None = None) -> list[tuple[str, Artist]]:
    """A legend's entries for the marks of series; `names` are what series are called, if not as their keys."""
    return [((names or {}).get(key, key), legend_line(**look)) for key, look in looks.items()]


def legend_neutral(text: str = "no bias") -> tuple[str, Artist]:
    """A legend's entry for a `neutral_line`."""
    return text, legend_line(**DASHED)


def legend_interval(level: float, text: str, **look: Any) -> tuple[str, Artist]:
    """A legend's entry for `intervals` of so much `level`; `text` goes on after the level."""
    return f"{percent(level)} {text}", legend_line(color=GREY, **INTERVAL | look)


def legend_area(**look) -> Artist:
    """An area for a legend."""
    from matplotlib.patches import Patch

    return Patch(**look)


def no_mark() -> Artist:
    """For a legend's entry that has text alone."""
    return legend_area(fill=False, linewidth=0)
