"""Figure of the words on which the scores hang most: how a score changes when one word is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import slug
from .figure import Drawing, Figure, cells_of, labels, tables
from .layout import MARGIN, add_axes, best_columns, few_ticks, legend_line, page, styled
from .palette import DASHED, ZEBRA, unit_looks
from .rows import from_tables, rows_of, units_of
from .text import SMALL, fitted, line_count, text_width, unit_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

WORDS = 10  # of a panel
KEYS = ["query", "metric", "model", "debias"]
NAME = 2.3  # inches at most that a row's name takes


@styled
def influence(
    influence: pd.DataFrame, inference: pd.DataFrame, labels: Mapping[str, str], criterion: str
) -> figure.Figure:
    """The ten words of each metric on which the criterion's scores hang most, from influence.csv and inference.csv.

    One panel per metric, one row per word of a set in a (sub-)query, one mark per model: how far the score moves when
    the word is left out (of a metric of pairs: the pair), in bootstrap standard errors of that score, positive where
    the score becomes higher. Rows are sorted by their farthest mark. Raises BiasgridError where the table has no rows
    of the criterion.
    """
    import pandas as pd

    table = rows_of(influence, "influence", criterion)
    errors = inference.loc[inference["criterion"] == criterion, [*KEYS, "standard_error"]]
    table = table.merge(errors, on=KEYS, how="left")
    # where all resamples have one value there is no unit
    table["moved"] = table["influence"] / table["standard_error"].where(table["standard_error"] > 0)
    units = units_of(influence)
    looks = unit_looks(units)
    drawn = units_of(table)
    panels = {}
    for metric, part in table.groupby("metric"):
        part = part[np.isfinite(part["moved"])]
        farthest = part["moved"].abs().groupby([part[c] for c in ("query", "set", "word")]).max()
        top = farthest.reset_index().sort_values(
            ["moved", "query", "set", "word"], ascending=[False, True, True, True]
        )
        rows = list(top[["query", "set", "word"]].head(WORDS).itertuples(index=False, name=None))
        panels[metric] = part, rows
    names = {
        row: f"{row[2]} ({row[1]})\n{fitted(row[0], NAME, SMALL - 1)}"
        for _, rows in panels.values()
        for row in rows
    }
    left = max((text_width(name, SMALL) for name in names.values()), default=0.5) + 0.1
    line = max(map(line_count, names.values()), default=1) * 0.112 + 0.06
    across, head, foot, gap = 1.55, 0.24, 0.46, 0.2
    down = head + max(len(rows) for _, rows in panels.values()) * line + foot

    def extent(columns: int) -> tuple[float, float]:
        return columns * (left + across + gap), ceil(len(panels) / columns) * down

    columns = best_columns(len(panels), extent)
    legend = [(unit_label(unit, labels), legend_line(**looks[unit])) for unit in drawn]
    title = f"{criterion}: words on which the scores hang most"
    note = (
        f"How far a score moves when one word is left out (of pairs: with its partner), in standard errors of that "
        f"score (bootstrap over words); to the right, it rises. The {WORDS} farthest of each metric."
    )
    figure, top = page(title, note, legend, *extent(columns))
    for i, (metric, (part, rows)) in enumerate(panels.items()):
        row, column = divmod(i, columns)
        place = MARGIN + column * (left + across + gap) + left, top + row * down + head
        axes = add_axes(figure, *place, across, max(len(rows), 1) * line)
        for y in range(0, len(rows), 2):
            axes.axhspan(y - 0.5, y + 0.5, color=ZEBRA, linewidth=0, zorder=0)
        axes.axvline(0, **DASHED)
        at = {key: y for y, key in enumerate(rows)}
        y = pd.Series([at.get(key) for key in zip(part["query"], part["set"], part["word"], strict=True)])
        for unit in drawn:
            mine = (
                y.notna().to_numpy() & ((part["model"] == unit[0]) & (part["debias"] == unit[1])).to_numpy()
            )
            if mine.any():
                axes.plot(part["moved"].to_numpy()[mine], y.to_numpy()[mine].astype(float), **looks[unit])
        axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
        axes.margins(x=0.1)
        axes.set_yticks(range(len(rows)), [names[key] for key in rows])
        axes.tick_params(axis="y", length=0)
        few_ticks(axes.xaxis, 5)
        axes.set_xlabel("change in standard errors", labelpad=1)
        axes.set_title(labels.get(metric, metric), loc="left", weight="bold", pad=4)
    return figure


def _drawings(grid: Any) -> Iterator[Drawing]:
    if {"bootstrap", "sensitivity"} <= set(grid.config["inference"]):
        for criterion in grid.ranked:
            spec = {"labels": labels(grid, cells_of(grid, [criterion])), "criterion": criterion}
            yield Drawing(f"influence-{slug(criterion)}", tables(grid, "influence", "inference"), spec)


FIGURES = (
    Figure(
        "influence",
        "The words on which a criterion's scores hang most: how each score changes when a word is left out.",
        _drawings,
        from_tables(influence, "influence", "inference"),
        needs="inference with a bootstrap and sensitivity",
        reading="Rows are words in a query, marks are models: how far the score moves when this word is left "
        "out, in standard errors of the score. To the right, the score rises. A mark beyond 1 or -1 "
        "is a score that hangs on a single word.",
    ),
)
