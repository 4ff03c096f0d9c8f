"""How sure the ranks of the models are: intervals of each rank, and which of two models is the less biased.

In the style of Demsar's critical-difference diagrams (JMLR 7, 2006): bars join models whose order is undecided. What
is undecided is told by bootstrap samples instead of a post-hoc test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from ..statistics.aggregation import OVERALL
from .grid import (
    GREY,
    LESS_LIGHT,
    MARGIN,
    MORE_LIGHT,
    SMALL,
    _axes,
    _best_columns,
    _lines,
    _look,
    _page,
    _rows,
    _styled,
    _unit_label,
    _units,
    _width,
    _wrapped,
)

WORDS = {"linewidth": 2.2, "solid_capstyle": "butt", "zorder": 2}
QUERIES = {"color": GREY, "linewidth": 0.9, "solid_capstyle": "butt", "zorder": 2}
UNDECIDED = {"color": "black", "linewidth": 2.6, "solid_capstyle": "butt", "clip_on": False}
LANE = 0.085  # inches between bars of undecided models
DRAWN = {"both": "words and queries", "words": "words", "queries": "queries"}
Unit = tuple[str, str]


@_styled
def rank_intervals(
    intervals: pd.DataFrame,
    order: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str = OVERALL,
    level: float = 0.95,
) -> Figure:
    """The models' ranks under each metric with their intervals, from rank_intervals.csv and order.csv.

    A panel a metric, a row a model, the least biased on top. A mark is the rank, the thick line its interval over
    words, the thin one below it that over queries. Bars to the right join models that follow each other and of which
    no two are in one order in more than 1 - (1 - level) / 2 of the samples: as few bars as show all of them.
    Raises BiasgridError where a table has no rows of the criterion.
    """
    table = _rows(intervals, "rank_intervals", criterion)
    order, drawn = _sampled(_rows(order, "order", criterion))
    units = _units(intervals)
    looks = {unit: _look(i) for i, unit in enumerate(units)}
    metrics = sorted(table["metric"].unique())
    parts = {metric: table[table["metric"] == metric] for metric in metrics}
    rows = {metric: _by_rank(part) for metric, part in parts.items()}
    tail = (1 - level) / 2
    bars = {
        metric: cliques(
            [unit for unit, rank in rows[metric] if not np.isnan(rank)],
            _shares(order[order["metric"] == metric]),
            tail,
        )
        for metric in metrics
    }
    lanes = {metric: _lanes(found) for metric, found in bars.items()}
    names = {unit: _wrapped(_unit_label(unit, labels), 36) for unit in units}
    left = max(_width(name, SMALL) for name in names.values()) + 0.1
    row = max(0.2, max(map(_lines, names.values())) * 0.115 + 0.07)
    across = max(1.2, min(2.4, 0.14 * len(units) + 0.6))
    right = 0.1 + max((lane + 1 for found in lanes.values() for lane in found), default=0) * LANE
    head, foot, gap = 0.24, 0.42, 0.16
    down = {metric: head + len(rows[metric]) * row + foot for metric in metrics}
    tallest = max(down.values())

    def extent(columns: int) -> tuple[float, float]:
        columns = min(columns, len(metrics))
        return columns * (left + across + right + gap), ceil(len(metrics) / columns) * tallest

    columns = _best_columns(len(metrics), extent)
    legend = [
        ("rank", Line2D([], [], **_look(0) | {"color": GREY})),
        (f"{level * 100:g} % interval, had the words been others", Line2D([], [], color=GREY, **WORDS)),
    ]
    if (table.loc[table["resampled"] == "queries", "low"].notna()).any():
        legend += [(f"{level * 100:g} % interval, had the queries been others", Line2D([], [], **QUERIES))]
    if any(bars.values()):
        legend += [("joins models whose order is undecided", Line2D([], [], **UNDECIDED))]
    title = "How sure the ranks are" + (f": {criterion}" if criterion != OVERALL else "")
    note = (
        f"Ranks of the models in bootstrap resamples, 1 = least biased. Undecided: neither of two models is the less "
        f"biased one in more than {(1 - tail) * 100:g} % of the resamples of {drawn}."
    )
    figure, top = _page(title, note, legend, *extent(columns))
    for i, metric in enumerate(metrics):
        line, column = divmod(i, columns)
        corner = MARGIN + column * (left + across + right + gap) + left, top + line * tallest + head
        axes = _axes(figure, *corner, across, len(rows[metric]) * row)
        _rank_panel(axes, parts[metric], rows[metric], looks)
        places = {unit: y for y, (unit, _) in enumerate(rows[metric])}
        for found, lane in zip(bars[metric], lanes[metric], strict=True):
            x = 1 + (0.1 + lane * LANE) / across
            ends = [places[found[0]] - 0.28, places[found[-1]] + 0.28]
            axes.plot([x, x], ends, transform=axes.get_yaxis_transform(), **UNDECIDED)
        axes.set_title(labels.get(metric, metric), loc="left", weight="bold", pad=4)
        axes.set_yticks(range(len(rows[metric])), [names[unit] for unit, _ in rows[metric]])
        axes.set_xlim(0.6, len(units) + 0.4)
        axes.set_xlabel("rank", labelpad=1)
    return figure


@_styled
def order(
    order: pd.DataFrame, labels: Mapping[str, str], criterion: str = OVERALL, level: float = 0.95
) -> Figure:
    """How often the row's model is less biased than the column's in bootstrap resamples: a heatmap per metric, from
    order.csv.

    The numbers are percentages of resamples, bold where the order is decided (see `rank_intervals`). Models
    have one order in all panels, by how often they are the less biased over all metrics.
    Raises BiasgridError where the table has no rows of the criterion.
    """
    table, drawn = _sampled(_rows(order, "order", criterion))
    metrics = sorted(table["metric"].unique())
    matrices = {metric: _shares(table[table["metric"] == metric]) for metric in metrics}
    sums: dict[Unit, list[float]] = {}
    for found in matrices.values():
        for (unit, _), share in found.items():
            sums.setdefault(unit, []).append(share)
    means = {unit: np.nanmean(values) if not np.isnan(values).all() else 0 for unit, values in sums.items()}
    units = sorted(means, key=lambda unit: (-round(means[unit], 12), unit))
    names = [_wrapped(_unit_label(unit, labels), 34) for unit in units]
    cell = max(0.32, max(map(_lines, names)) * 0.115 + 0.06)
    numbers = [str(i + 1) for i in range(len(units))]
    left = max(_width(name, SMALL) for name in names) + 0.34
    head, foot, side, tail = 0.36, 0.16, len(units) * cell, (1 - level) / 2

    def extent(columns: int) -> tuple[float, float]:
        return left + columns * (side + 0.32), ceil(len(metrics) / columns) * (head + side + foot)

    columns = _best_columns(len(metrics), extent)
    title = "How sure the order of the models is" + (f": {criterion}" if criterion != OVERALL else "")
    note = (
        f"Percentage of bootstrap resamples of {drawn} in which the row's model is less biased than the column's; a "
        f"tie counts half. Bold: the order is decided (more than {(1 - tail) * 100:g} %, or less than "
        f"{tail * 100:g} %)."
    )
    shades = LinearSegmentedColormap.from_list("order", [MORE_LIGHT, "white", LESS_LIGHT])
    legend = [
        ("the row's model is less biased", Patch(facecolor=shades(1.0))),
        ("the column's model is less biased", Patch(facecolor=shades(0.0))),
    ]
    figure, top = _page(title, note, legend, *extent(columns))
    for i, metric in enumerate(metrics):
        line, column = divmod(i, columns)
        corner = MARGIN + left + column * (side + 0.32), top + line * (head + side + foot) + head
        axes = _axes(figure, *corner, side, side)
        values = np.array(
            [[matrices[metric].get((a, b), np.nan) if a != b else np.nan for b in units] for a in units]
        )
        known = np.ma.masked_invalid(values)
        axes.pcolormesh(known, vmin=0, vmax=1, cmap=shades, edgecolors="#DDDDDD", linewidth=0.4)
        for (y, x), value in np.ndenumerate(values):
            if x == y or np.isnan(value):
                text, look = ("" if x == y else "n/a"), {"color": GREY}
            else:
                text = _percent(value)
                look = {"weight": "bold"} if not tail <= value <= 1 - tail else {}
            axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", size=SMALL, **look)
        axes.set_title(labels.get(metric, metric), loc="left", weight="bold", pad=14)
        axes.set_xticks(np.arange(len(units)) + 0.5, numbers)
        axes.xaxis.tick_top()
        rows = [f"{n}. {name}" for n, name in zip(numbers, names, strict=True)] if column == 0 else numbers
        axes.set_yticks(np.arange(len(units)) + 0.5, rows)
        axes.tick_params(length=0, pad=2)
        axes.spines[:].set_visible(False)
        axes.set_ylim(len(units), 0)
    return figure


def cliques(
    units: Sequence[Unit], shares: Mapping[tuple[Unit, Unit], float], tail: float
) -> list[list[Unit]]:
    """The longest runs of two units and more of which all pairs are undecided: their share of resamples lies between
    `tail` and 1 - `tail`."""

    def undecided(a: Unit, b: Unit) -> bool:
        return tail <= shares.get((a, b), np.nan) <= 1 - tail

    found: list[list[Unit]] = []
    end = 0
    for start in range(len(units)):
        stop = start + 1
        while stop < len(units) and all(undecided(unit, units[stop]) for unit in units[start:stop]):
            stop += 1
        # one that ends where a longer one does is part of it
        if stop > max(end, start + 1):
            found.append(list(units[start:stop]))
            end = stop
    return found


def _lanes(runs: Sequence[Sequence[Unit]]) -> list[int]:
    """The first lane in which a run is free of those before it; runs begin and end later and later."""
    last: list[list[Unit]] = []
    lanes = []
    for run in runs:
        lane = next((i for i, before in enumerate(last) if not set(before) & set(run)), len(last))
        last[lane : lane + 1] = [list(run)]
        lanes.append(lane)
    return lanes


def _sampled(order: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The pairs' shares over what was drawn again, and what that is: both, where there is that."""
    there = set(order["resampled"])
    chosen = next((name for name in DRAWN if name in there), "words")
    return order[order["resampled"] == chosen], DRAWN[chosen]


def _shares(order: pd.DataFrame) -> dict[tuple[Unit, Unit], float]:
    """That the first is less biased than the second, of pairs of units in both directions."""
    found = {}
    for row in order.itertuples():
        a, b = (row.model_a, row.debias_a), (row.model_b, row.debias_b)
        found[a, b] = row.share_of_resamples
        found.setdefault((b, a), 1 - row.share_of_resamples)
    return found


def _by_rank(part: pd.DataFrame) -> list[tuple[Unit, float]]:
    """Units and their ranks, the least biased first and those without a rank last."""
    ranks = part.groupby(["model", "debias"])["rank"].first()
    return sorted(
        ranks.items(), key=lambda item: (np.isnan(item[1]), item[1] if item[1] == item[1] else 0, item[0])
    )


def _rank_panel(axes: Axes, part: pd.DataFrame, rows: Sequence[tuple[Unit, float]], looks) -> None:
    for y in range(0, len(rows), 2):
        axes.axhspan(y - 0.5, y + 0.5, color="#F2F2F2", linewidth=0, zorder=0)
    for y, (unit, rank) in enumerate(rows):
        mine = part[(part["model"] == unit[0]) & (part["debias"] == unit[1])].set_index("resampled")
        if np.isnan(rank):
            axes.text(0.7, y, "no rank", va="center", size=SMALL, color=GREY)
            continue
        for name, offset, look in (
            ("words", 0.0, WORDS | {"color": looks[unit]["color"]}),
            ("queries", 0.27, QUERIES),
        ):
            if name in mine.index and not np.isnan(mine.loc[name, "low"]):
                axes.plot(mine.loc[name, ["low", "high"]].astype(float), [y + offset] * 2, **look)
        axes.plot([rank], [y], zorder=3, **looks[unit])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))


def _percent(share: float) -> str:
    """A whole number; 0 and 100 of nothing but samples of one kind."""
    if 0 < share < 0.005:
        return "<1"
    return ">99" if 0.995 <= share < 1 else f"{share * 100:.0f}"
