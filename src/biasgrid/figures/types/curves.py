"""Curves: numbers along a scale, a line per series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..palette import Look
from ..visuals import few_ticks

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# In inches.
HEIGHT = 1.6


def curves(axes: Axes, table: pd.DataFrame, x: str, y: str, looks: Mapping[str, Look], **options) -> None:
    """Draw column `y` of a table along its column `x`: a line per `series`, with its look.

    Lines have marks, unless `options` has a linestyle.
    """
    import seaborn

    marked: Look = {
        "style": "series",
        "markers": {key: look["marker"] for key, look in looks.items()},
        "dashes": False,
        "markersize": 4.5,
    }
    seaborn.lineplot(
        table,
        x=x,
        y=y,
        hue="series",
        palette={key: look["color"] for key, look in looks.items()},
        estimator=None,
        legend=False,
        ax=axes,
        **{"linewidth": 1.1} | ({} if "linestyle" in options else marked) | options,
    )
    few_ticks(axes.xaxis, 5)
    few_ticks(axes.yaxis, 5)
    axes.spines["left"].set_visible(True)
