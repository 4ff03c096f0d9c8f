"""Figures of rankings: the models' ranks under each metric, stacked; overall, and for each criterion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from .figure import Drawing, Figure, cells_of, labels, tables
from .layout import (
    MARGIN,
    PAGE,
    Legend,
    add_axes,
    add_box,
    best_columns,
    blank,
    few_ticks,
    legend_area,
    no_mark,
    styled,
)
from .palette import GREY, Look, metric_areas
from .rows import FEWER, OVERALL, Unit, by_rank, criteria_of, fewer_scores, from_tables, rows_of, units_of
from .text import DAGGER, NORMAL, SMALL, text_width, unit_label, wrapped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

BOX = 0.13  # inches of a "no value" box


def rankings(rankings: pd.DataFrame, labels: Mapping[str, str], criterion: str = OVERALL) -> figure.Figure:
    """The models' ranks under each metric, stacked (Badilla et al., IJCAI 2020, figure 2).

    One bar per model, one segment per metric, as long as the rank that is written in it; the sum stands at its end.
    The model with the smallest sum is on top. A rank that is NaN is a hatched box of fixed size behind the bar;
    models that have one come last, by mean rank, because their sums cannot be compared.
    Raises BiasgridError where the table has no rows of the criterion.
    """
    rows_of(rankings, "rankings", criterion)
    return _stacked_bars(rankings, labels, [criterion])


def rankings_by_criterion(rankings: pd.DataFrame, labels: Mapping[str, str]) -> figure.Figure:
    """`rankings` for every criterion, one panel each, with the models in the order that they have overall.

    Raises BiasgridError for an empty table.
    """
    return _stacked_bars(rankings, labels, criteria_of(rows_of(rankings, "rankings")))


@styled
def _stacked_bars(table: pd.DataFrame, labels: Mapping[str, str], criteria: Sequence[str]) -> figure.Figure:
    import pandas as pd

    looks = metric_areas(table["metric"])
    table = table[table["criterion"].isin(criteria)]
    whole = table[table["criterion"] == OVERALL] if OVERALL in criteria else table
    order = by_rank(whole, units_of(table))
    index = pd.MultiIndex.from_tuples(order)
    ranks = {
        criterion: part.pivot(index=["model", "debias"], columns="metric", values="rank").reindex(index)
        for criterion, part in table.groupby("criterion")
    }
    names = [wrapped(unit_label(unit, labels), 36) for unit in order]
    metrics = sorted(table["metric"].unique())
    handles = [legend_area(**looks[metric]) for metric in metrics]
    entries = [labels.get(metric, metric) for metric in metrics]
    if any(part.isna().any(axis=None) for part in ranks.values()):
        handles += [legend_area(**_no_rank("white"))]
        entries += ["no value (in brackets: the sum of the other ranks)"]
    fewer = table[fewer_scores(table)]
    short = {
        c: set(zip(part["model"], part["debias"], strict=True)) for c, part in fewer.groupby("criterion")
    }
    if short:
        handles += [no_mark()]
        entries += [FEWER]

    size = NORMAL if len(criteria) == 1 else SMALL
    left = max(text_width(name, size) for name in names) + MARGIN + 0.08
    bars = len(order) * max(0.26, max(name.count("\n") + 1 for name in names) * size * 0.0165 + 0.05)
    sums = np.concatenate([part.sum(axis=1) for part in ranks.values()])
    # inches behind a bar: its boxes and its sum
    behind = np.concatenate([part.isna().sum(axis=1) for part in ranks.values()]) * BOX + 0.5
    # inches per rank: at least as many as the narrowest segment needs for its number
    known = pd.unique(np.concatenate([part.to_numpy().ravel() for part in ranks.values()]))
    need = max(((text_width(f"{r:g}", 6.5) + 0.04) / r for r in known if not np.isnan(r)), default=0.1)
    head, between, foot = 0.26, 0.26, 0.38

    def inches(columns: int) -> float:
        room = (PAGE[0] - left - MARGIN) / columns - 0.1 - behind
        return max(need, np.min(room / np.maximum(sums, 1)))

    def panel(columns: int) -> float:
        return np.max(sums * inches(columns) + behind) + 0.1

    def extent(columns: int) -> tuple[float, float]:
        rows = ceil(len(criteria) / columns)
        return left + columns * panel(columns) + MARGIN, rows * (head + bars + between) - between + foot

    columns = best_columns(len(criteria), extent)
    width, height = extent(columns)
    legend = Legend(handles, entries, width - 2 * MARGIN)
    figure = blank(legend.width + 2 * MARGIN, height + legend.height + 2 * MARGIN)
    for i, criterion in enumerate(criteria):
        down, across = divmod(i, columns)
        corner = left + across * panel(columns), head + down * (head + bars + between)
        axes = add_axes(figure, *corner, panel(columns) - 0.1, bars)
        _bar_panel(axes, ranks[criterion], short.get(criterion, set()), looks, labels, inches(columns))
        axes.set_title(criterion, loc="left", weight="bold", pad=4)
        axes.set_yticks(range(len(order)), names if across == 0 else [""] * len(order), size=size)
    text = "Accumulated rank over the metrics (lower = less biased)"
    middle = (left + width - MARGIN) / 2 / figure.get_figwidth()
    figure.text(middle, 1 - (height - 0.17) / figure.get_figheight(), text, ha="center", va="top")
    legend.draw(figure, height + MARGIN)
    return figure


def _no_rank(colour: str) -> Look:
    return {"facecolor": colour, "edgecolor": GREY, "hatch": "/////", "linewidth": 0.6}


def _bar_panel(
    axes: Axes,
    ranks: pd.DataFrame,
    short: set[Unit],
    looks: Mapping[str, Look],
    labels: Mapping[str, str],
    inches: float,
) -> None:
    y, ends = np.arange(len(ranks)), np.zeros(len(ranks))
    for metric in ranks:
        values = ranks[metric].to_numpy()
        known = ~np.isnan(values)
        bars = axes.barh(
            y[known],
            values[known],
            left=ends[known],
            height=0.76,
            **looks[metric],
            label=labels.get(metric, metric),
        )
        axes.bar_label(bars, [f"{value:g}" for value in values[known]], label_type="center", size=6.5)
        ends[known] += values[known]
    for row, (unit, values) in enumerate(ranks.iterrows()):
        x = ends[row]
        missing = [metric for metric in ranks if np.isnan(values[metric])]
        for metric in missing:
            x += 0.03 / inches
            add_box(
                axes, (x, row - 0.38), (BOX - 0.03) / inches, 0.76, **_no_rank(looks[metric]["facecolor"])
            )
            x += (BOX - 0.03) / inches
        if len(missing) < len(values):
            text, weight = (f"({ends[row]:g})", "normal") if missing else (f"{ends[row]:g}", "bold")
            text += DAGGER if unit in short else ""
            axes.text(x + 0.05 / inches, row, text, va="center", size=SMALL, weight=weight)
    axes.set_xlim(0, axes.get_position().width * axes.figure.get_figwidth() / inches)
    axes.set_ylim(len(ranks) - 0.45, -0.55)
    few_ticks(axes.xaxis, 6, integer=True)
    axes.tick_params(axis="y", length=0)


def _drawings(name: str, grid: Any) -> Iterator[Drawing]:
    if grid.ranked:
        yield Drawing(name, tables(grid, "rankings"), {"labels": labels(grid, cells_of(grid, grid.ranked))})


FIGURES = (
    Figure(
        "rankings",
        "The models' ranks over all criteria, stacked metric by metric: the shortest bar is the least biased model.",
        partial(_drawings, "rankings"),
        from_tables(rankings, "rankings"),
        reading="A segment is a model's rank under a metric, the number at the end their sum; the shortest "
        "bar is the least biased model. A dagger marks a model that was ranked without some scores "
        "that others have, a hatched box a rank that is missing. A sum hides how sure its ranks are: "
        "look at rank-intervals.",
    ),
    Figure(
        "rankings-by-criterion",
        "The models' ranks for each criterion.",
        partial(_drawings, "rankings-by-criterion"),
        from_tables(rankings_by_criterion, "rankings"),
        reading="As rankings, one panel per criterion, the models in the order that they have overall: a "
        "model that is least biased in one criterion need not be in another.",
    ),
)
