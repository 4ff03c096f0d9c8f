"""Figures of a simulation: the distribution of p-values under the null hypothesis, and the coverage of intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.core.errors import BiasgridError
from biasgrid.core.numbers import plain, share, typographic
from biasgrid.figures.frame import PAGE, Frame, styled
from biasgrid.figures.palette import DASHED, GREY, MODEL_COLOURS, ZEBRA, Look, colour_map
from biasgrid.figures.text import SMALL, sentences
from biasgrid.figures.types.rows import rows, width
from biasgrid.figures.visuals import few_ticks, is_leftmost, legend_area, legend_line, under_head

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
# (Test, kind) -> text in the legend, marker, whether the marker is filled.
SHARES = {
    ("random_groups", "random"): ("random groups, groups of random words", "o", True),
    ("random_groups", "coherent"): ("random groups, coherent groups", "D", True),
    ("permutation", "random"): ("permutation, groups of random words", "o", False),
    ("permutation", "coherent"): ("permutation, coherent groups", "D", False),
}
# Colours from few words to many.
SHADES = ["#7CC3EE", "#0072B2", "#081D33"]
SHARE: Look = {"linestyle": "", "marker": "o", "markersize": 3.4, "color": MODEL_COLOURS[0]}
SHARE |= {"markeredgecolor": MODEL_COLOURS[0], "markeredgewidth": 0.8}
# Ratio of a panel's height and width.
TALL = 0.66
SMALL_P, BOUND = 0.05, 0.08
ALLOWED = DASHED | {"linestyle": ":", "color": "black"}
# Lower shares are marked at the edge, because the relevant range is above.
LOWEST = 0.7


@styled
def p_values(
    uniform: Mapping[tuple[str, int, float], Sequence[float] | None], labels: Mapping[str, str]
) -> figure.Figure:
    """Draw the difference of the p-values' distribution from uniform under the null hypothesis, a panel per metric.

    `uniform` maps (metric, words, bias) to values that are uniform from 0 to 1 if the test is calibrated, or to None
    without a test. For calibrated tests, the band contains all curves of a panel in at least 95 % of simulations.
    It comes from Kolmogorov and Smirnov's test at level .05 divided by the number of curves. Raises BiasgridError if
    no metric has a test.
    """
    from scipy.stats import kstwo

    values_by_key = {key: np.sort(values) for key, values in uniform.items() if values is not None}
    if not values_by_key:
        raise BiasgridError("p-values: nothing to draw, no metric of the simulation has a test")
    metrics = list(dict.fromkeys(key[0] for key in values_by_key))
    metrics_without_test = list(dict.fromkeys(labels[key[0]] for key in uniform if key[0] not in metrics))
    sizes = sorted({key[1] for key in values_by_key})
    # More words have darker colours, also in greyscale.
    shade = colour_map("words", SHADES)
    colours = {words: shade(i / max(len(sizes) - 1, 1)) for i, words in enumerate(sizes)}
    note = (
        "Tests of sets between which nothing but chance differs. Up: the share of tests whose p-value is at most so "
        "large, minus the share that is expected (5 % are .05 or less). Above 0 a test finds too "
        "much, below 0 too little."
    )
    if metrics_without_test:
        note += f" Without a permutation test: {', '.join(metrics_without_test)}."
    legend = [(f"{words} words per set", legend_line(color=colours[words])) for words in sizes]
    black = {"color": "black", "linewidth": 1.0}
    if any(not bias for *_, bias in values_by_key):
        legend += [("new words, both sets from one population", legend_line(**black))]
    if any(bias for *_, bias in values_by_key):
        legend += [
            (
                "biased words whose labels were permuted at random",
                legend_line(linestyle=DRAWN_DASHED, **black),
            )
        ]
    legend += [("95 % band of curves, if p-values are calibrated", legend_area(**BAND))]
    page = Frame("p-values under the null hypothesis", notes=sentences(note))
    # Use the smallest number of columns with which the panels fit on a page.
    columns = max(3, ceil(len(metrics) / 4))
    room = page.inside / columns
    heads = {metric: labels[metric] for metric in metrics}
    panels = page.panels(heads, (room - 0.4) * TALL, least=room - 0.081, line=columns)
    band, farthest = {}, 0.0
    for metric in metrics:
        metric_values = [values for key, values in values_by_key.items() if key[0] == metric]
        band[metric] = max(kstwo.ppf(1 - 0.05 / len(metric_values), len(values)) for values in metric_values)
        farthest = max(farthest, *(_distance(values) for values in metric_values))
    # Use one scale for all panels.
    reach = 1.05 * max(farthest, *band.values())
    for metric, axes in panels.items():
        curves = {key[1:]: values for key, values in values_by_key.items() if key[0] == metric}
        x = np.linspace(0, 1, 201)
        edge = band[metric]
        axes.fill_between(x, np.maximum(-x, -edge), np.minimum(1 - x, edge), zorder=0, **BAND)
        axes.axhline(0, **DASHED)
        for (words, bias), values in curves.items():
            # For equal values, use the share that includes all of them.
            share = np.searchsorted(values, values, side="right") / len(values)
            axes.plot(
                [0, *values, 1],
                [0, *(share - values), 0],
                color=colours[words],
                linewidth=0.7,
                linestyle=DRAWN_DASHED if bias else "-",
            )
        axes.set(xlim=(0, 1), ylim=(-reach, reach), xticks=[0, 0.5, 1])
        few_ticks(axes.yaxis, 4)
        axes.yaxis.set_major_formatter(lambda x, _: typographic(plain(x)))
        axes.set_xlabel("p-value", labelpad=1)
        if is_leftmost(axes):
            under_head(axes, "share − p-value")
        axes.tick_params(labelleft=is_leftmost(axes))
        axes.spines["left"].set_visible(True)
    return page.done(legend)


def _distance(values: np.ndarray) -> float:
    """Compute the largest distance of the distribution of sorted values from the uniform distribution."""
    shares = np.arange(len(values) + 1) / len(values)
    return float(max(np.abs(shares[1:] - values).max(), np.abs(shares[:-1] - values).max()))


@styled
def coverage(results: pd.DataFrame, labels: Mapping[str, str], true: str, level: float) -> figure.Figure:
    """Draw the share of intervals in simulation.csv that contain the true value, "expected" or "all_words".

    There is a row of panels per metric and a column per kind of interval. In a panel, marks are ordered by bias and
    words per set, each with a 95 % interval from the number of repetitions. A share below LOWEST is an open mark at
    the edge with its number. Raises BiasgridError for a table without intervals.
    """
    ending = f"_covers_{true}"
    table = results[results["what"].str.endswith(ending)].dropna(subset="value")
    if table.empty:
        raise BiasgridError("coverage: nothing to draw, the simulation has no intervals")
    kinds = list(dict.fromkeys(table["what"].str.removesuffix(ending)))
    metrics = list(dict.fromkeys(table["metric"]))
    sizes, biases = sorted(table["words"].unique()), sorted(table["bias"].unique())
    low = table["value"].min() < LOWEST
    bottom = LOWEST if low else min(0.9, table["low"].min())
    note = (
        f"Share of intervals that hold {TRUE[true]}, by bias and words per set. Right intervals lie on the dashed "
        "line; below it they are too short, above it too long. Lines: what the number of repetitions leaves open."
    )
    legend = [
        ("share of intervals that hold it", legend_line(**SHARE)),
        (f"{100 * level:g} %: what is promised", legend_line(**DASHED)),
    ]
    if low:
        entry = f"below {100 * LOWEST:g} %, the number says how many %"
        legend.append((entry, legend_line(**SHARE | {"markerfacecolor": "white"})))
    page = Frame(f"Coverage of {100 * level:g} % intervals", notes=sentences(note))
    heads = {
        (metric, kind): KINDS.get(kind, kind) * (metric == metrics[0]) for metric in metrics for kind in kinds
    }
    height = min(0.5, (PAGE[1] - 2.4) / len(metrics) - 0.12)
    names = width({metric: labels[metric] for metric in metrics}) + 0.3
    panels = page.panels(heads, height, labels=names, least=1, line=len(kinds))
    for (metric, kind), axes in panels.items():
        part = table[(table["what"] == kind + ending) & (table["metric"] == metric)]
        _coverage_panel(axes, part, sizes, biases, bottom, level)
        axes.tick_params(labelleft=is_leftmost(axes), labelbottom=metric == metrics[-1])
        if is_leftmost(axes):
            axes.set_ylabel(labels[metric], rotation=0, ha="right", va="center")
        if metric == metrics[-1]:
            look = {"transform": axes.get_xaxis_transform(), "ha": "center", "va": "top", "size": SMALL}
            for i, bias in enumerate(biases):
                middle = i * (len(sizes) + 1) + (len(sizes) - 1) / 2
                axes.text(middle, -0.2 / height, f"bias {bias:g}" if bias else "no bias", **look)
            sizes_text = ", ".join(f"{size:g}" for size in sizes)
            axes.set_xlabel(f"words per set: {sizes_text}", labelpad=13, size=SMALL)
    return page.done(legend)


def _coverage_panel(
    axes: Axes,
    table: pd.DataFrame,
    sizes: Sequence[int],
    biases: Sequence[float],
    bottom: float,
    level: float,
) -> None:
    from matplotlib.ticker import PercentFormatter

    # Place the marks of one bias next to each other, with a gap before the next bias.
    step = len(sizes) + 1
    for i in range(0, len(biases), 2):
        axes.axvspan(i * step - 1, (i + 1) * step - 1, color=ZEBRA, linewidth=0, zorder=0)
    axes.axhline(level, **DASHED)
    x = np.searchsorted(biases, table["bias"]) * step + np.searchsorted(sizes, table["words"])
    value, low, high = (table[name].to_numpy() for name in ("value", "low", "high"))
    is_visible = value >= bottom
    axes.vlines(
        x[is_visible],
        np.maximum(low[is_visible], bottom),
        high[is_visible],
        color=SHARE["color"],
        linewidth=0.9,
        zorder=2,
    )
    axes.plot(x[is_visible], value[is_visible], zorder=3, clip_on=False, **SHARE)
    edge = SHARE | {"markerfacecolor": "white"}
    if not is_visible.all():
        axes.plot(x[~is_visible], np.full((~is_visible).sum(), bottom), clip_on=False, zorder=4, **edge)
    for place, low_value in zip(x[~is_visible], value[~is_visible], strict=True):
        text = {"textcoords": "offset points", "ha": "center", "va": "bottom", "size": SMALL, "zorder": 4}
        axes.annotate(share(low_value).removesuffix(" %"), (place, bottom), (0, 3), **text)
    places = [i * step + j for i in range(len(biases)) for j in range(len(sizes))]
    axes.set(xlim=(-1, len(biases) * step - 1), ylim=(bottom - 0.01, 1.01))
    # Label only the ends, because there is not enough room for all.
    ends = [f"{size:g}" if size in (sizes[0], sizes[-1]) else "" for size in sizes]
    axes.set_xticks(places, ends * len(biases))
    axes.set_yticks([tick for tick in (0.7, 0.8, 0.9, 1) if tick >= bottom][:: 2 if bottom < 0.8 else 1])
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    axes.tick_params(axis="x", length=0, pad=3)
    axes.tick_params(axis="y", length=2, labelsize=SMALL, color=GREY)
    axes.spines["left"].set_visible(True)


def share_mark(marker: str, colour: str, is_filled: bool) -> Look:
    """Return the mark of a share of p-values."""
    return {
        "linestyle": "",
        "marker": marker,
        "markersize": 3.6 if marker == "o" else 3.2,
        "color": colour,
        "markeredgecolor": colour,
        "markerfacecolor": colour if is_filled else "white",
        "markeredgewidth": 0.8,
    }


@styled
def shares(table: pd.DataFrame, labels: Mapping[str, str]) -> figure.Figure:
    """Draw the share of p <= .05 of both tests in calibration.csv, on real vectors under the null hypothesis.

    There is a column of panels per model and a row per metric. The axis has a square-root scale, so that small shares
    and 1 are both visible. Raises BiasgridError for a table without such kinds.
    """
    tests = table[[pair in SHARES for pair in zip(table["test"], table["kind"], strict=True)]]
    tests = tests.dropna(subset="rejected_0.05")
    if tests.empty:
        raise BiasgridError("calibration: nothing to draw, no test of queries of random words")
    metrics, models = (list(dict.fromkeys(tests[name])) for name in ("metric", "model"))
    looks = {
        pair: share_mark(marker, MODEL_COLOURS[not is_filled], is_filled)
        for pair, (_, marker, is_filled) in SHARES.items()
    }
    legend = [(text, legend_line(**looks[pair])) for pair, (text, *_) in SHARES.items()]
    legend += [
        (f"{SMALL_P:g}: the expected rate", legend_line(**DASHED)),
        (f"{BOUND:g}: what is allowed", legend_line(**ALLOWED)),
    ]
    note = (
        "Share of p ≤ .05 among queries of words that are drawn from a model at random: the null hypothesis is true. "
        "Groups are random words, or coherent: a random word and its nearest neighbours. Lines: 95 % intervals. "
        "Two coherent groups are not exchangeable: the permutation test finds that they differ, which is no bias."
    )
    # Drop text in brackets, unless two models differ only in it.
    names = [labels[model].partition(" (")[0] for model in models]
    page = Frame("False-positive rates on real vectors", notes=sentences(note))
    heads = {
        model: name if names.count(name) == 1 else labels[model]
        for name, model in zip(names, models, strict=True)
    }
    of_rows = {metric: labels[metric] for metric in metrics}
    height = min(0.21 * len(metrics), PAGE[1] - 2.4)
    marks = tests.assign(series=list(zip(tests["test"], tests["kind"], strict=True)))
    panels = page.panels(heads, height, labels=width(of_rows), least=0.8)
    for model, axes in panels.items():
        axes.axvline(BOUND, **ALLOWED)
        rejections(axes, marks[marks["model"] == model].assign(row=marks["metric"]), of_rows, looks)
    return page.done(legend)


def rejections(axes: Axes, table: pd.DataFrame, names: Mapping[str, str], looks: Mapping[Any, Look]) -> None:
    """Draw shares of p <= .05 by `row` and `series` on a scale that shows both small shares and 1."""
    rows(axes, table.assign(value=table["rejected_0.05"]), names, looks, neutral=SMALL_P)
    axes.set_xscale("function", functions=(np.sqrt, np.square))
    # Leave room for a mark at 1.
    axes.set(xlim=(0, 1.06), xticks=[0, 0.05, 0.2, 0.5, 1])
    # Leave out other labels, because there is not enough room.
    axes.set_xticklabels(["", ".05", "", ".5", "1"])
