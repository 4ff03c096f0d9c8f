"""Tables: rows of text below heads, with line breaks in the first column."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import TYPE_CHECKING

from ..palette import ZEBRA
from ..text import BOLD, SMALL, fit_text, line_count, text_width

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Inches of a line, and between columns.
LINE, GAP = 0.115, 0.12
HEAD = 0.2


def column_ends(texts: pd.DataFrame, inches: float) -> dict[str, float]:
    """Return the end of each column in inches from the left; the first column has the remaining room."""
    widths = [
        max(text_width(column, SMALL) * BOLD, *(text_width(text, SMALL) for text in texts[column])) + GAP
        for column in texts.columns[:0:-1]
    ]
    ends = [inches - width for width in accumulate([0.0, *widths])]
    return dict(zip(texts, reversed(ends), strict=True))


def fitted(texts: pd.DataFrame, ends: Mapping[str, float]) -> pd.DataFrame:
    """Wrap the texts of the first column."""
    first = texts.columns[0]
    return texts.assign(**{first: [fit_text(text, ends[first], SMALL) for text in texts[first]]})


def height(texts: pd.DataFrame) -> float:
    """Return the height in inches of a table of `fitted` texts."""
    return HEAD + sum(map(_height, texts.iloc[:, 0]))


def _height(text: str) -> float:
    return max(line_count(text), 1) * LINE + 0.06


def table(
    axes: Axes, texts: pd.DataFrame, ends: Mapping[str, float], shades: Mapping[tuple[int, str], str]
) -> None:
    """Draw a table, the first row on top.

    Parameters
    ----------
    texts
        `fitted` texts; the columns are the heads.
    ends
        `column_ends` of this table, or of several in one figure.
    shades
        (row, column) -> the colour behind a text.
    """
    from matplotlib.patches import Rectangle

    [*_, (_, inches)] = ends.items()
    axes.set(xlim=(0, inches), ylim=(height(texts), 0))
    axes.axis("off")
    first = texts.columns[0]
    starts = dict(zip(texts, [0.0, *ends.values()], strict=False))
    for column, end in ends.items():
        x, side = (0.0, "left") if column == first else (end, "right")
        axes.text(x, HEAD / 2, column, ha=side, va="center", size=SMALL, weight="bold")
        top = HEAD
        for row, (name, text) in enumerate(zip(texts[first], texts[column], strict=True)):
            tall = _height(name)
            if column == first and row % 2 == 0:
                axes.axhspan(top, top + tall, color=ZEBRA, linewidth=0, zorder=0)
            if (row, column) in shades:
                corner, width = (starts[column] + 0.05, top), end - starts[column]
                axes.add_patch(Rectangle(corner, width, tall, facecolor=shades[row, column], linewidth=0))
            axes.text(x, top + tall / 2, text, ha=side, va="center", size=SMALL, in_layout=False)
            top += tall
