"""Figures of a simulation: whether p-values are uniform where there is nothing to find, and what intervals cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from ..errors import BiasgridError
from .layout import MARGIN, PAGE, add_axes, legend_area, legend_line, page, styled
from .palette import DASHED, GREY, MODEL_COLOURS, Look, series_mark
from .text import NORMAL, SMALL

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

BAND = {"facecolor": "#E4E4E4", "linewidth": 0}
DRAWN_DASHED = (0, (3, 1.5))
KINDS = {"percentile": "bootstrap, percentile", "bca": "bootstrap, BCa"}
TRUE = {
    "expected": "the mean score of sets of that many words",
    "all_words": "the score of the whole populations that the words come from",
}
# test, kind -> what a mark says
SHARES = {
    ("random_groups", "random"): ("random groups, groups of random words", "o", True),
    ("random_groups", "coherent"): ("random groups, coherent groups", "D", True),
    ("permutation", "random"): ("permutation, groups of random words", "o", False),
    ("permutation", "coherent"): ("permutation, coherent groups", "D", False),
}
SMALL_P, BOUND = 0.05, 0.08
LOWEST = 0.7  # lower shares are marked at the edge: what matters lies above


@styled
def p_values(
    uniform: Mapping[tuple[str, int, float], Sequence[float] | None], labels: Mapping[str, str]
) -> figure.Figure:
    """The distribution of p-values where the null hypothesis is true, one panel per metric, against the diagonal.

    `uniform`: (metric, words, bias) -> values that are uniform from 0 to 1 if the test is right, None without a test.
    The band holds all curves of a panel in 95 of 100 simulations of right tests, at least (Kolmogorov and Smirnov's
    test at level .05 divided by the number of curves). Raises BiasgridError where no metric has a test.
    """
    from scipy.stats import kstwo

    tested = {key: np.sort(values) for key, values in uniform.items() if values is not None}
    if not tested:
        raise BiasgridError("p-values: nothing to draw, no metric of the simulation has a test")
    metrics = list(dict.fromkeys(key[0] for key in tested))
    untested = list(dict.fromkeys(labels[key[0]] for key in uniform if key[0] not in metrics))
    sizes = sorted({key[1] for key in tested})
    colours = {words: MODEL_COLOURS[i % len(MODEL_COLOURS)] for i, words in enumerate(sizes)}
    note = (
        "Share of tests whose p-value is at most so large, among tests of sets between which nothing but chance "
        "differs. Right p-values follow the diagonal: one in twenty is .05 or less."
    )
    if untested:
        note += f" Without a permutation test: {', '.join(untested)}."
    legend = [(f"{words} words per set", legend_line(color=colours[words])) for words in sizes]
    black = {"color": "black", "linewidth": 1.0}
    if any(not bias for *_, bias in tested):
        legend += [("new words, both sets from one population", legend_line(**black))]
    if any(bias for *_, bias in tested):
        legend += [
            (
                "biased words whose labels were permuted at random",
                legend_line(linestyle=DRAWN_DASHED, **black),
            )
        ]
    legend += [("where a panel's curves stay, 95 times in 100, if p-values are right", legend_area(**BAND))]
    columns = min(len(metrics), 3)
    head, foot, left = 0.24, 0.42, 0.42
    panel = (PAGE[0] - MARGIN) / max(columns, 2)
    width = panel - left - 0.12
    down = head + width + foot
    figure, top = page(
        "p-values where there is nothing to find", note, legend, PAGE[0], ceil(len(metrics) / columns) * down
    )
    for i, metric in enumerate(metrics):
        row, column = divmod(i, columns)
        place = MARGIN + left + column * panel, top + row * down + head
        axes = add_axes(figure, *place, width, width)
        curves = {key[1:]: values for key, values in tested.items() if key[0] == metric}
        x = np.linspace(0, 1, 201)
        band = max(kstwo.ppf(1 - 0.05 / len(curves), len(values)) for values in curves.values())
        axes.fill_between(x, np.clip(x - band, 0, 1), np.clip(x + band, 0, 1), zorder=0, **BAND)
        axes.plot([0, 1], [0, 1], **DASHED)
        for (words, bias), values in curves.items():
            shares = np.arange(len(values) + 1) / len(values)
            axes.step(
                [0, *values, 1],
                [*shares, 1],
                where="post",
                color=colours[words],
                linewidth=0.7,
                linestyle=DRAWN_DASHED if bias else "-",
            )
        axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        axes.set_xlabel("p-value", labelpad=1)
        if column == 0:
            axes.set_ylabel("share of tests", labelpad=2)
        axes.set_title(labels[metric], loc="left", weight="bold", pad=3)
        axes.spines["left"].set_visible(True)
    return figure


@styled
def coverage(results: pd.DataFrame, labels: Mapping[str, str], true: str, level: float) -> figure.Figure:
    """Share of intervals that hold the true value (`true`: "expected" or "all_words"), of simulation.csv.

    One column of panels per kind of interval, one row per bias; marks are metrics, with the 95 % interval that the
    number of repetitions leaves. Raises BiasgridError for a table without intervals.
    """
    ending = f"_covers_{true}"
    table = results[results["what"].str.endswith(ending)].dropna(subset="value")
    if table.empty:
        raise BiasgridError("coverage: nothing to draw, the simulation has no intervals")
    kinds = list(dict.fromkeys(table["what"].str.removesuffix(ending)))
    metrics = list(dict.fromkeys(table["metric"]))
    sizes, biases = sorted(table["words"].unique()), sorted(table["bias"].unique())
    looks = {metric: series_mark(i) for i, metric in enumerate(metrics)}
    low = table["value"].min() < LOWEST
    note = f"Share of intervals that hold {TRUE[true]}. Lines: what the number of repetitions leaves open."
    legend = [(labels[metric], legend_line(**looks[metric])) for metric in metrics]
    legend += [(f"{100 * level:g} %", legend_line(**DASHED))]
    if low:
        note += f" Open marks at the edge: below {100 * LOWEST:g} %."
    left, gap = 0.85, 0.18
    width, height, head, foot = (PAGE[0] - MARGIN - left) / len(kinds) - gap, 1.25, 0.24, 0.38
    down = head + len(biases) * (height + 0.16) + foot
    figure, top = page(f"Coverage of {100 * level:g} % intervals", note, legend, PAGE[0], down)
    bottom = LOWEST - 0.01 if low else min(0.9, table["low"].min()) - 0.01
    for column, kind in enumerate(kinds):
        for row, bias in enumerate(biases):
            place = MARGIN + left + column * (width + gap), top + head + row * (height + 0.16)
            axes = add_axes(figure, *place, width, height)
            part = table[(table["what"] == kind + ending) & (table["bias"] == bias)]
            _coverage_panel(axes, part, metrics, sizes, looks, bottom, level)
            if row == 0:
                axes.set_title(KINDS.get(kind, kind), weight="bold", pad=4)
            if row < len(biases) - 1:
                axes.tick_params(labelbottom=False)
            else:
                axes.set_xlabel("words per set", labelpad=1)
            if column:
                axes.tick_params(labelleft=False)
            else:
                name = f"bias {bias:g}" if bias else "no bias"
                axes.set_ylabel(name, rotation=0, ha="right", va="center", size=NORMAL, labelpad=4)
    return figure


def _coverage_panel(
    axes: Axes,
    table: pd.DataFrame,
    metrics: Sequence[str],
    sizes: Sequence[int],
    looks: Mapping[str, Look],
    bottom: float,
    level: float,
) -> None:
    from matplotlib.ticker import MultipleLocator, PercentFormatter

    places = np.arange(len(sizes))
    for place in places[::2]:
        axes.axvspan(place - 0.5, place + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
    axes.axhline(level, **DASHED)
    for i, metric in enumerate(metrics):
        mine = table[table["metric"] == metric]
        x = np.searchsorted(sizes, mine["words"]) + (i - (len(metrics) - 1) / 2) * 0.84 / len(metrics)
        value, low, high = (mine[name].to_numpy() for name in ("value", "low", "high"))
        there = value >= bottom
        colour = looks[metric]["color"]
        axes.vlines(x[there], low[there], high[there], color=colour, linewidth=0.9, zorder=2)
        axes.plot(x[there], value[there], zorder=3, **looks[metric])
        edge = looks[metric] | {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 0.8}
        axes.plot(x[~there], np.full((~there).sum(), bottom), clip_on=False, zorder=4, **edge)
    axes.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(bottom, 1.012), xticks=places, xticklabels=sizes)
    axes.yaxis.set_major_locator(MultipleLocator(0.05 if bottom > 0.75 else 0.1))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    axes.tick_params(axis="x", length=0, pad=5)
    axes.tick_params(axis="y", labelsize=SMALL, color=GREY)
    axes.spines["left"].set_visible(True)


@styled
def shares(table: pd.DataFrame, labels: Mapping[str, str]) -> figure.Figure:
    """Share of p <= .05 of both tests on real vectors where there is nothing to find, of calibration.csv.

    A column of panels per model, a row per metric; the axis is the square root's, so that small shares and 1 are both
    seen. Raises BiasgridError for a table without such kinds.
    """
    drawn = table[[pair in SHARES for pair in zip(table["test"], table["kind"], strict=True)]]
    drawn = drawn.dropna(subset="rejected_0.05")
    if drawn.empty:
        raise BiasgridError("calibration: nothing to draw, no test of queries of random words")
    metrics, models = (list(dict.fromkeys(drawn[name])) for name in ("metric", "model"))
    looks = {
        pair: {
            "linestyle": "",
            "marker": marker,
            "markersize": 3.6 if marker == "o" else 3.2,
            "color": MODEL_COLOURS[not filled],
            "markeredgecolor": MODEL_COLOURS[not filled],
            "markerfacecolor": MODEL_COLOURS[not filled] if filled else "white",
            "markeredgewidth": 0.8,
        }
        for pair, (_, marker, filled) in SHARES.items()
    }
    legend = [(text, legend_line(**looks[pair])) for pair, (text, *_) in SHARES.items()]
    legend += [
        (f"{SMALL_P:g}: as many as a right test gives", legend_line(**DASHED)),
        (f"{BOUND:g}: what is allowed", legend_line(**DASHED | {"linestyle": ":", "color": "black"})),
    ]
    note = (
        "Share of p ≤ .05 among queries of words that are drawn from a model at random: nothing is to be found. "
        "Groups are random words, or coherent: a random word and its nearest neighbours. Lines: 95 % intervals. "
        "Two coherent groups are not exchangeable: the permutation test finds that they differ, which is no bias."
    )
    # without what is in brackets, but where two models differ in that alone
    names = [labels[model].partition(" (")[0] for model in models]
    left, gap, down, head, foot = 1.25, 0.1, 0.21, 0.55, 0.36
    width = (PAGE[0] - MARGIN - left) / len(models) - gap
    height = down * len(metrics)
    figure, top = page("Tests on real vectors, nothing to find", note, legend, PAGE[0], head + height + foot)
    for column, model in enumerate(models):
        axes = add_axes(figure, MARGIN + left + column * (width + gap), top + head, width, height)
        for place in range(0, len(metrics), 2):
            axes.axhspan(place - 0.5, place + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
        axes.axvline(SMALL_P, **DASHED)
        axes.axvline(BOUND, **DASHED | {"linestyle": ":", "color": "black"})
        for i, pair in enumerate(SHARES):
            part = drawn[(drawn["model"] == model) & (drawn["test"] == pair[0]) & (drawn["kind"] == pair[1])]
            y = [metrics.index(metric) + (i - (len(SHARES) - 1) / 2) * 0.2 for metric in part["metric"]]
            colour = looks[pair]["color"]
            axes.hlines(y, part["low"], part["high"], color=colour, linewidth=0.7, zorder=2)
            axes.plot(part["rejected_0.05"], y, zorder=3, clip_on=False, **looks[pair])
        axes.set_xscale("function", functions=(np.sqrt, np.square))
        axes.set(xlim=(0, 1), ylim=(len(metrics) - 0.5, -0.5), xticks=[0, 0.05, 0.2, 0.5, 1])
        axes.set_xticklabels(["0", ".05", ".2", ".5", "1"])
        axes.set_yticks(
            range(len(metrics)), [labels[m] for m in metrics] if column == 0 else [""] * len(metrics)
        )
        axes.tick_params(axis="y", length=0)
        short = names.count(names[column]) == 1
        axes.set_title(fill(names[column] if short else labels[model], 18), weight="bold", size=6.5, pad=4)
    return figure
