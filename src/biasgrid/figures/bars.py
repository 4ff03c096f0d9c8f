"""Simple bars of scores, one panel per metric: by query, a bar per model, or by model, a bar per query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BiasgridError, unknown
from ..files import slug
from .figure import Drawing, Figure, cells_of, labels, tables
from .layout import (
    MARGIN,
    PAGE,
    Legend,
    add_axes,
    blank,
    few_ticks,
    heading,
    legend_area,
    legend_line,
    legend_mark,
    styled,
)
from .palette import DASHED, GREY, HATCHES, MODEL_COLOURS, ZEBRA, Look, unit_areas
from .rows import Unit, from_tables, rows_of, units_of
from .text import BOLD, LARGE, SMALL, fitted, line_count, text_width, unit_label, wrapped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

PANEL = 1.3  # inches that a panel is wide at least
MISSING: Look = {"marker": "x", "markersize": 3.5, "color": GREY, "markeredgewidth": 0.8}


@dataclass(frozen=True)
class _Bars:
    """What has rows of bars, with the rows' names, and what has a bar in each."""

    row_column: str
    bar_column: str
    rows: Mapping[Any, str]
    bars: Mapping[Any, str]

    @property
    def bar(self) -> float:
        """Inches across a bar."""
        return max(0.05, min(0.085, 0.45 / len(self.bars)))

    @property
    def height(self) -> float:
        """Inches of its panels."""
        lines = max(map(line_count, self.rows.values()))
        return len(self.rows) * max(lines * 0.122 + 0.05, len(self.bars) * self.bar + 0.1)


@styled
def bars(
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    neutral: Mapping[str, float],
    by: str = "query",
) -> figure.Figure:
    """Every score of a criterion as a bar that begins at the metric's neutral value (`neutral`, by metric key).

    One panel per metric. by "query": one row per (sub-)query, one bar per model in it; by "model": one row per model,
    one bar per query. Metrics that measure the same queries stand side by side. A score without a value is a cross.
    Raises BiasgridError where the table has no rows of the criterion or a metric has no neutral value.
    """
    table = rows_of(scores, "bars", criterion)
    table = table.assign(unit=list(zip(table["model"], table["debias"], strict=True)))
    metrics = sorted(table["metric"].unique())
    for metric in metrics:
        if metric not in neutral:
            raise BiasgridError(f"bars: no neutral value: {unknown('metric', metric, neutral)}")
    queries: dict[tuple[str, ...], list[str]] = {}
    for metric in metrics:
        queries.setdefault(tuple(sorted(table.loc[table["metric"] == metric, "query"].unique())), []).append(
            metric
        )
    units = [unit for unit in units_of(scores) if unit in set(table["unit"])]
    blocks = [
        (_bars_of(by, units, names, labels), list(part))
        for names, group in sorted(queries.items(), key=lambda item: (len(item[0]), item))
        for part in np.array_split(group, ceil(len(group) / 4))
    ]
    every = list(dict.fromkeys(bar for block, _ in blocks for bar in block.bars))
    looks = unit_areas(every) if by == "query" else {bar: _look(place) for place, bar in enumerate(every)}
    names = {bar: name for block, _ in blocks for bar, name in block.bars.items()}

    left = (
        max(text_width(label, SMALL) for block, _ in blocks for label in block.rows.values()) + MARGIN + 0.08
    )
    gap = 0.3
    across = max(PAGE[0] - left, max(len(group) for _, group in blocks) * (PANEL + gap))
    handles = [legend_area(**looks[bar]) for bar in every] + [legend_line(**DASHED)]
    texts = [names[bar] for bar in every]
    texts += ["no bias (the metric's neutral value)"]
    if statuses := sorted(table.loc[table["value"].isna(), "status"].str.split(":").str[0].unique()):
        handles += [legend_mark(**MISSING)]
        texts += [f"no value ({' or '.join(statuses).replace('_', ' ')})"]
    legend = Legend(handles, texts, left + across - 2 * MARGIN)
    title = fitted(criterion, legend.width / BOLD, LARGE)
    top, foot = line_count(title) * 0.17 + 0.14, 0.5
    heads = [max(line_count(_head(metric, labels)) for metric in group) * 0.14 + 0.06 for _, group in blocks]
    heights = [head + block.height + foot for head, (block, _) in zip(heads, blocks, strict=True)]
    figure = blank(legend.width + 2 * MARGIN, top + sum(heights) + legend.height + MARGIN)
    w, h = figure.get_size_inches()
    figure.text(MARGIN / w, 1 - 0.1 / h, title, **heading())
    for (block, group), head, height in zip(blocks, heads, heights, strict=True):
        width = across / len(group) - gap
        for place, metric in enumerate(group):
            axes = add_axes(figure, left + place * (width + gap), top + head, width, block.height)
            _panel(axes, table[table["metric"] == metric], block, looks, neutral[metric])
            axes.set_title(_head(metric, labels), weight="bold", pad=3)
            axes.set_yticks(
                range(len(block.rows)), list(block.rows.values()) if place == 0 else [""] * len(block.rows)
            )
        top += height
    legend.draw(figure, top)
    return figure


def _bars_of(by: str, units: Sequence[Unit], queries: Sequence[str], labels: Mapping[str, str]) -> _Bars:
    models = {unit: unit_label(unit, labels) for unit in units}
    if by == "query":
        # "A and B wrt C and D" breaks before "wrt"
        halves = {query: query.replace(" wrt ", "\nwrt ", 1).split("\n") for query in queries}
        rows = {query: "\n".join(wrapped(half, 42) for half in parts) for query, parts in halves.items()}
        return _Bars("query", "unit", rows, models)
    rows = {unit: wrapped(name, 34) for unit, name in models.items()}
    return _Bars("unit", "query", rows, {query: query for query in queries})


def _head(metric: str, labels: Mapping[str, str]) -> str:
    return wrapped(labels.get(metric, metric), 20)


def _look(place: int) -> Look:
    """The look of the bars of the i-th query: where colours begin anew, they are hatched."""
    rounds, colour = divmod(place, len(MODEL_COLOURS))
    look = {"facecolor": MODEL_COLOURS[colour], "hatch": HATCHES[rounds % len(HATCHES)]}
    return look | {"linewidth": 0.0, "edgecolor": "white"}


def _panel(axes: Axes, table: pd.DataFrame, block: _Bars, looks: Mapping[Any, Look], neutral: float) -> None:
    row_of = {row: place for place, row in enumerate(block.rows)}
    for row in range(0, len(row_of), 2):
        axes.axhspan(row - 0.5, row + 0.5, color=ZEBRA, linewidth=0, zorder=0)
    axes.axvline(neutral, **DASHED | {"zorder": 3})
    thickness = block.bar / (block.height / len(row_of))
    for lane, bar in enumerate(block.bars):
        mine = table[table[block.bar_column] == bar]
        y = mine[block.row_column].map(row_of).to_numpy(dtype=float)
        y += (lane - (len(block.bars) - 1) / 2) * thickness
        values = mine["value"].to_numpy()
        known = ~np.isnan(values)
        axes.barh(y[known], values[known] - neutral, 0.9 * thickness, left=neutral, zorder=2, **looks[bar])
        axes.plot(np.full((~known).sum(), neutral), y[~known], linestyle="", zorder=4, **MISSING)
    axes.set_ylim(len(row_of) - 0.5, -0.5)
    axes.use_sticky_edges = False  # room on the side of the neutral value, too, for crosses
    axes.margins(x=0.06)
    if table["value"].isna().all():
        axes.set_xlim(neutral - 1, neutral + 1)
    axes.tick_params(axis="y", length=0)
    few_ticks(axes.xaxis, 4)
    axes.set_xlabel("score", labelpad=1)


def _drawings(by: str, grid: Any) -> Iterator[Drawing]:
    for criterion in grid.ranked:
        spec = {
            "labels": labels(grid, cells_of(grid, [criterion])),
            "criterion": criterion,
            "neutral": {key: grid.metric(criterion, key).neutral for key in grid.metrics(criterion)},
            "by": by,
        }
        yield Drawing(f"bars-by-{by}-{slug(criterion)}", tables(grid, "scores"), spec)


FIGURES = (
    Figure(
        "bars-by-query",
        "Every score of a criterion as a bar: one panel per metric, one group per query, one bar per model.",
        partial(_drawings, "query"),
        from_tables(bars, "scores"),
        reading="A bar is a score and begins at the metric's neutral value (dashed); its colour is the model. "
        "A bar to the right is a score above the neutral value: with WEAT, the first target set is "
        "nearer to the first attribute set. A cross is a score that has no value. Lengths compare "
        "within a panel only.",
    ),
    Figure(
        "bars-by-model",
        "Every score of a criterion as a bar: one panel per metric, one group per model, one bar per query.",
        partial(_drawings, "model"),
        from_tables(bars, "scores"),
        reading="As bars-by-query, turned round: one group of bars per model, and a colour is a query. It "
        "shows whether one query drives a model's bias.",
    ),
)
