"""Horizontal bars, as stacks of segments, with their sums at the ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.numbers import plain
from ..palette import Look
from ..text import BOLD, SMALL, text_width
from ..visuals import few_ticks, row_names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Texts one after the other at the end of a bar, with their looks.
End = Sequence[tuple[str, Look]]
# Inches before such a text.
GAP = 0.05


def inches_of_one(parts: Iterable[tuple[pd.DataFrame, Sequence[End]]], inches: float) -> float:
    """Return the inches of a bar of length 1 in panels of one scale, so that every bar has room for its end."""
    room = [
        (inches - sum(_width(text) for text, _ in end)) / length
        for values, ends in parts
        for length, end in zip(values.sum(axis=1), ends, strict=True)
        if length
    ]
    return max(min(room, default=1.0), 0.01)


def bars(
    axes: Axes,
    values: pd.DataFrame,
    names: Sequence[str],
    looks: Mapping[Any, Look],
    ends: Sequence[End],
    *,
    inches: float,
    one: float,
) -> None:
    """Draw bars, the first on top.

    Parameters
    ----------
    values
        Rows x series: lengths of the segments; NaN for a missing segment.
    names
        The names of the rows.
    looks
        Series -> its area; with a `label`, the segments are found by it.
    ends
        The texts after each bar.
    inches
        Width of the panel.
    one
        Length of a bar of length 1 in inches (`inches_of_one`): a number that is wider than its segment is left out.
    """
    y, left = np.arange(len(values)), np.zeros(len(values))
    for series in values:
        lengths, look = values[series].to_numpy(), looks[series]
        known = ~np.isnan(lengths)
        axes.barh(y[known], lengths[known], left=left[known], height=0.76, **look)
        # End the hatch before the number.
        clear = {"boxstyle": "square,pad=0.05", "facecolor": look["facecolor"], "linewidth": 0}
        for row in y[known]:
            text = plain(lengths[row])
            if text_width(text, SMALL) + 0.01 < lengths[row] * one:
                middle = left[row] + lengths[row] / 2
                axes.text(
                    middle, row, text, ha="center", va="center", size=SMALL, bbox=clear, in_layout=False
                )
        left[known] += lengths[known]
    for row, end in enumerate(ends):
        x = left[row]
        for text, look in end:
            axes.text(x + GAP / one, row, text, va="center", size=SMALL, in_layout=False, **look)
            x += _width(text) / one
    axes.set_xlim(0, inches / one)
    axes.set_ylim(len(values) - 0.45, -0.55)
    few_ticks(axes.xaxis, 6, integer=True)
    row_names(axes, names)
    axes.tick_params(axis="y", length=0)


def _width(text: str) -> float:
    return GAP + text_width(text, SMALL) * BOLD
