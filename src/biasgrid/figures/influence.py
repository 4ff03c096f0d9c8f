"""Figure of the words on which the scores hang most: how a score changes when one word is left out."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .grid import (
    DASHED,
    MARGIN,
    SMALL,
    _axes,
    _best_columns,
    _fitted,
    _lines,
    _look,
    _page,
    _rows,
    _styled,
    _unit_label,
    _units,
    _width,
)

WORDS = 10  # of a panel
KEYS = ["query", "metric", "model", "debias"]
NAME = 2.3  # inches at most that a row's name takes


@_styled
def influence(
    influence: pd.DataFrame, inference: pd.DataFrame, labels: Mapping[str, str], criterion: str
) -> Figure:
    """The ten words of each metric on which the criterion's scores hang most, from influence.csv and inference.csv.

    A panel a metric, a row a word of a set in a (sub-)query, a mark a model: how far the score moves when the word is
    left out (of a metric of pairs: the pair), in bootstrap standard errors of that score, positive where the score
    becomes higher. Rows are sorted by their farthest mark. Raises BiasgridError where the table has no rows of the
    criterion.
    """
    table = _rows(influence, "influence", criterion)
    errors = inference.loc[inference["criterion"] == criterion, [*KEYS, "standard_error"]]
    table = table.merge(errors, on=KEYS, how="left")
    # where all samples have one value there is no unit
    table["moved"] = table["influence"] / table["standard_error"].where(table["standard_error"] > 0)
    units = _units(influence)
    looks = {unit: _look(i) for i, unit in enumerate(units)}
    drawn = _units(table)
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
        row: f"{row[2]} ({row[1]})\n{_fitted(row[0], NAME, SMALL - 1)}"
        for _, rows in panels.values()
        for row in rows
    }
    left = max((_width(name, SMALL) for name in names.values()), default=0.5) + 0.1
    line = max(map(_lines, names.values()), default=1) * 0.112 + 0.06
    across, head, foot, gap = 1.55, 0.24, 0.46, 0.2
    down = head + max(len(rows) for _, rows in panels.values()) * line + foot

    def extent(columns: int) -> tuple[float, float]:
        return columns * (left + across + gap), ceil(len(panels) / columns) * down

    columns = _best_columns(len(panels), extent)
    legend = [(_unit_label(unit, labels), Line2D([], [], **looks[unit])) for unit in drawn]
    title = f"{criterion}: words on which the scores hang most"
    note = (
        f"How far a score moves when one word is left out (of pairs: with its partner), in standard errors of that "
        f"score (bootstrap over words); to the right, it rises. The {WORDS} farthest of each metric."
    )
    figure, top = _page(title, note, legend, *extent(columns))
    for i, (metric, (part, rows)) in enumerate(panels.items()):
        row, column = divmod(i, columns)
        place = MARGIN + column * (left + across + gap) + left, top + row * down + head
        axes = _axes(figure, *place, across, max(len(rows), 1) * line)
        for y in range(0, len(rows), 2):
            axes.axhspan(y - 0.5, y + 0.5, color="#F2F2F2", linewidth=0, zorder=0)
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
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axes.set_xlabel("change in standard errors", labelpad=1)
        axes.set_title(labels.get(metric, metric), loc="left", weight="bold", pad=4)
    return figure
