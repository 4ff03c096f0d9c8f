"""Figure of the rank correlations between metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from .figure import Drawing, Figure, cells_of, level, tables
from .layout import MARGIN, add_axes, add_box, best_columns, blank, styled
from .palette import MISSING_CELL
from .rows import criteria_of, from_tables, rows_of
from .text import SMALL, short, text_width, two_digits, wrapped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

NAMES = {"spearman": "Spearman's ρ", "kendall": "Kendall's τ", "pearson": "Pearson's r"}


@styled
def correlations(
    correlations: pd.DataFrame, labels: Mapping[str, str], method: str = "spearman", level: float = 0.95
) -> figure.Figure:
    """Rank correlations between metrics, one heatmap per criterion (Badilla et al., IJCAI 2020, figure 1).

    Colours run from -1 to 1 in all; a NaN is a hatched cell with "n/a" in it. Where the table has ci_low and ci_high,
    intervals of so much `level`, they stand under the coefficient; not under a metric's with itself.
    Raises BiasgridError where the table has no rows of the method (the table's `method`).
    """
    import seaborn
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    table = rows_of(correlations, "correlations", method, column="method")
    # a criterion with metrics of its own has a smaller matrix
    matrices = {
        criterion: part.pivot(index="metric_a", columns="metric_b", values="correlation")
        for criterion, part in table.groupby("criterion")
    }
    intervals = {
        (row.criterion, row.metric_a, row.metric_b): f"[{short(row.ci_low)}, {short(row.ci_high)}]"
        for row in table.itertuples()
        if row.metric_a != row.metric_b and not np.isnan(getattr(row, "ci_low", np.nan))
    }
    names = {key: wrapped(labels.get(key, key), 20) for key in sorted(table["metric_a"].unique())}
    widest = max(text_width(name, SMALL) for name in names.values())
    largest = max(map(len, matrices.values()))
    cell = max(0.38, min(0.62, 2.5 / largest))
    cell = max([cell, *(text_width(text, 6) + 0.06 for text in set(intervals.values()))])
    upright = widest > cell - 0.06
    digits = SMALL if cell > 0.4 else 6.5
    left, below, title, bar = widest + 0.14, (widest if upright else 0.14) + 0.12, 0.3, 0.88
    # the scale needs some height, whatever the grid has
    across, down = largest * cell + left, max(largest * cell + below + title, 2.5)

    def size(columns: int) -> tuple[float, float]:
        return columns * (across + 0.1) + bar + 0.14 * bool(intervals) + MARGIN, ceil(
            len(matrices) / columns
        ) * down + MARGIN

    columns = best_columns(len(matrices), size)
    figure = blank(*size(columns))
    for i, criterion in enumerate(criteria_of(table)):
        matrix = matrices[criterion]
        corner = i % columns * (across + 0.1) + left, i // columns * down + title
        axes = add_axes(figure, *corner, *(len(matrix) * cell,) * 2)
        look = {"linewidths": 0.6, "linecolor": "white", "cbar": False}
        seaborn.heatmap(matrix, vmin=-1, vmax=1, cmap="RdBu_r", ax=axes, **look)
        for (row, column), value in np.ndenumerate(matrix.to_numpy()):
            centre = {"x": column + 0.5, "y": row + 0.5, "ha": "center", "va": "center", "size": digits}
            if np.isnan(value):
                add_box(axes, (column + 0.03, row + 0.03), 0.94, 0.94, **MISSING_CELL)
                axes.text(s="n/a", bbox={"boxstyle": "square,pad=0.15", "fc": "#E8E8E8", "lw": 0}, **centre)
            else:
                look = centre | {"color": "white" if abs(value) > 0.7 else "black"}
                interval = intervals.get((criterion, matrix.index[row], matrix.columns[column]))
                if interval:
                    axes.text(s=interval, **look | {"y": row + 0.68, "size": 6})
                    look["y"] = row + 0.38
                axes.text(s=two_digits(value), **look)
        axes.set_title(criterion, loc="left", weight="bold", pad=5)
        axes.set(xlabel="", ylabel="")
        axes.set_xticklabels([names[key] for key in matrix.columns], rotation=90 if upright else 0)
        axes.set_yticklabels([names[key] for key in matrix.index], rotation=0)
        axes.tick_params(length=0)
    # no taller than a page's worth of grid: a longer scale is not a better one
    height = min(figure.get_figheight() - MARGIN - title - below, max(2.5 * largest * cell, 2.0))
    scale = figure.colorbar(
        ScalarMappable(Normalize(-1, 1), "RdBu_r"),
        cax=add_axes(figure, columns * (across + 0.1) + 0.1, title, 0.12, height),
        ticks=[-1, -0.5, 0, 0.5, 1],
    )
    scale.outline.set_visible(False)
    text = f"{NAMES.get(method, method)} between\nthe metrics' ranks of the models"
    text += f"\n[{level * 100:g} % interval, bootstrap over words]" if intervals else ""
    scale.set_label(text)
    return figure


def _drawings(grid: Any) -> Iterator[Drawing]:
    if grid.ranked:
        metrics = {cell.metric for cell in cells_of(grid, grid.ranked)}
        spec = {
            "labels": {key: grid.labels[key] for key in sorted(metrics)},
            "method": grid.config["correlations"][0],
            "level": level(grid),
        }
        yield Drawing("correlations", tables(grid, "correlations"), spec)


FIGURES = (
    Figure(
        "correlations",
        "Heatmaps of how the metrics' rankings of the models agree, overall and for each criterion.",
        _drawings,
        from_tables(correlations, "correlations"),
        reading="A cell is the rank correlation of two metrics over the models: 1 where they rank the models "
        "alike, -1 where one has the order of the other reversed. In brackets is the 95 % interval "
        "over words. With four or five models a coefficient has few possible values, so that an "
        "interval from -1 to 1 is no error. A hatched cell has no value.",
    ),
)
