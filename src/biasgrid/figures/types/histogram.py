"""Histograms: how many of some values lie where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..palette import DASHED, PLAIN, Look
from ..visuals import few_ticks, legend_area, legend_line

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

HEIGHT = 1.2  # inches
BAR: Look = {"facecolor": PLAIN, "edgecolor": "white", "linewidth": 0.6}
MEAN: Look = {"color": "black", "linewidth": 1.4}


def histogram(axes: Axes, values: np.ndarray, bins: int, *, named: str, neutral: float | None = None) -> None:
    """Draw values.

    Parameters
    ----------
    bins
        How many bars there are.
    named
        What the values are; the legend says what is counted (`legend_histogram`).
    neutral
        Where a dashed line stands, and a solid one at the values' mean; None: there are neither.
    """
    import seaborn

    seaborn.histplot(x=values, bins=bins, ax=axes, alpha=1, zorder=2, **BAR)
    if neutral is not None:
        axes.axvline(neutral, **DASHED | {"zorder": 3})
        axes.axvline(values.mean(), zorder=4, **MEAN)
    axes.set(xlabel=named, ylabel="")
    few_ticks(axes.xaxis, 4)
    few_ticks(axes.yaxis, 4, integer=True)
    axes.spines["left"].set_visible(True)


def legend_histogram(of: str, neutral: str = "") -> list[tuple[str, Artist]]:
    """What stands for what; `neutral`: what the dashed line is, if there is one."""
    bars = [(f"number of {of}", legend_area(**BAR))]
    lines = [("their mean", legend_line(**MEAN)), (neutral, legend_line(**DASHED))]
    return bars + lines * bool(neutral)
