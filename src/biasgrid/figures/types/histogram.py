"""Histograms: numbers of values in bins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..palette import DASHED, PLAIN, Look
from ..visuals import few_ticks, legend_area, legend_line

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# In inches.
HEIGHT = 1.2
BAR: Look = {"facecolor": PLAIN, "edgecolor": "white", "linewidth": 0.6}
MEAN: Look = {"color": "black", "linewidth": 1.4}


def histogram(axes: Axes, values: np.ndarray, bins: int, *, named: str, neutral: float | None = None) -> None:
    """Draw values.

    Parameters
    ----------
    bins
        Number of bars.
    named
        The name of the values; the legend has the name of the counted items (`legend_histogram`).
    neutral
        Position of a dashed line, drawn with a solid line at the values' mean; both are left out if it is None.
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
    """Return the legend's entries; `neutral` is the meaning of the dashed line, if there is one."""
    bars = [(f"number of {of}", legend_area(**BAR))]
    lines = [("their mean", legend_line(**MEAN)), (neutral, legend_line(**DASHED))]
    return bars + lines * bool(neutral)
