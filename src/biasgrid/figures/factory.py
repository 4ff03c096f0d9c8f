"""Figures of a factory: metrics against the bias that was planted, for sets and for words."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ..errors import BiasgridError
from .grid import GREY, MARGIN, MODEL_COLOURS, NORMAL, PAGE, SMALL, _axes, _page, _short, _styled, _width

# truth -> heading, x axis, what the colour is
BLOCKS = {
    "mean": ("Which way words lean on the whole: the mean share", "mean share", "sigma"),
    "sd": (
        "How much words differ: the standard deviation of the share",
        "standard deviation",
        "mu",
    ),
    "absolute": ("How far words are from one half: the mean distance", "mean distance from .5", "mu"),
}
COLOURS = {
    # dark in the middle, too
    "mu": ("planted mean", LinearSegmentedColormap.from_list("mu", ["#0072B2", "#AAAAAA", "#D55E00"])),
    "sigma": ("planted standard deviation", "viridis_r"),
}
COLUMNS = 5
LEVELS = {"signed": "share of the male pronoun", "absolute": "its distance from one half"}


@_styled
def against_truth(
    models: pd.DataFrame,
    recovered: pd.DataFrame,
    labels: Mapping[str, str],
    truths: Mapping[str, str],
    trainer: str,
) -> Figure:
    """Metric against truth: a panel a metric, a mark a model of the trainer, from factory.csv and recovery.csv.

    `truths`: metric -> mean, sd or absolute, what its value is taken for. A block of panels for each, the best
    recovery first. Raises BiasgridError where no metric has a value.
    """
    table = models[(models["trainer"] == trainer) & (models["level"] == "set")].dropna(subset="value")
    if table.empty:
        raise BiasgridError(f"factory: nothing to draw, no metric has a value under {trainer}")
    of_sets = recovered[(recovered["trainer"] == trainer) & (recovered["level"] == "set")]
    squares = of_sets[of_sets["what"] == "r_squared"].set_index(["metric", "truth"])["value"]
    blocks = {}
    for truth in BLOCKS:
        mine = [metric for metric in table["metric"].unique() if truths[metric] == truth]
        if mine:
            best = {metric: np.nan_to_num(squares.get((metric, truth), np.nan), nan=-1) for metric in mine}
            blocks[truth] = sorted(mine, key=lambda metric: (-best[metric], metric))
    count = table.groupby(["mu", "sigma", "replicate"]).ngroups
    note = (
        f"Each mark is one of {count} models ({labels.get(trainer, trainer)}), of a corpus in which every occupation "
        "stands beside a male pronoun in a known share of its sentences. Across: what that share is over all "
        "occupations. Up: the metric's value. R²: how much of the values' variation goes with that truth, by a "
        "straight line; small and grey: with the two other truths."
    )
    legend = [("a model, in the colour of what was planted", _dot(GREY))]
    left, gap, head, panel_head, foot = 0.38, 0.38, 0.24, 0.46, 0.36
    width = (PAGE[0] - 2 * MARGIN - COLUMNS * gap) / COLUMNS
    height = width * 0.78
    row = panel_head + height + 0.2
    down = sum(head + ceil(len(mine) / COLUMNS) * row + foot - 0.1 for mine in blocks.values())
    figure, top = _page("What metrics say, against what was planted", note, legend, PAGE[0], down)
    page = figure.get_size_inches()
    for truth, mine in blocks.items():
        heading, x_label, colour = BLOCKS[truth]
        place = {"x": MARGIN / page[0], "y": 1 - (top + 0.06) / page[1]}
        figure.text(s=heading, size=NORMAL + 0.5, weight="bold", color="#333333", va="top", **place)
        values = table[colour]
        norm = Normalize(values.min(), values.max() if values.nunique() > 1 else values.min() + 1)
        shades = ScalarMappable(norm, COLOURS[colour][1])
        _scale(figure, shades, COLOURS[colour][0], top + 0.07)
        for i, metric in enumerate(mine):
            down_by, across = divmod(i, COLUMNS)
            corner = MARGIN + left + across * (width + gap), top + head + down_by * row + panel_head
            axes = _axes(figure, *corner, width, height)
            part = table[(table["metric"] == metric) & (table["truth"] == truth)]
            # in an order that hides neither end of the colours
            part = part.sample(frac=1, random_state=0)
            axes.scatter(part["true"], part["value"], c=shades.to_rgba(part[colour]), s=5, linewidths=0)
            axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
            axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
            axes.margins(0.06)
            axes.spines["left"].set_visible(True)
            axes.tick_params(labelsize=6.5)
            axes.set_title(labels.get(metric, metric), loc="left", weight="bold", pad=22)
            found = {name: squares.get((metric, name), np.nan) for name in BLOCKS}
            line = {"transform": axes.transAxes, "va": "bottom"}
            axes.text(0, 1.15, f"R² {_short(found.pop(truth))}", size=SMALL + 0.5, **line)
            names = {"mean": "mean", "sd": "sd", "absolute": "distance"}
            others = "  ".join(f"{names[name]} {_short(value)}" for name, value in found.items())
            axes.text(0, 1.02, others, size=6, color=GREY, **line)
            # the lowest panel of each column names the axis
            if i + COLUMNS >= len(mine):
                axes.set_xlabel(x_label, labelpad=1.5, size=6.5)
        top += head + ceil(len(mine) / COLUMNS) * row + foot - 0.1
    return figure


@_styled
def word_level(models: pd.DataFrame, labels: Mapping[str, str]) -> Figure:
    """R² of words' scores with the truth, model by model, from factory.csv: a row a metric, a column a trainer.

    Raises BiasgridError where no metric has scores of words.
    """
    table = models[(models["level"] == "word") & (models["what"] == "r_squared")].dropna(subset="value")
    if table.empty:
        raise BiasgridError("factory: nothing to draw, no metric has scores of words")
    trainers = list(dict.fromkeys(table["trainer"]))
    best = table.groupby(["metric", "truth"])["value"].mean().groupby("metric").max()
    metrics = sorted(best.index, key=lambda metric: (-round(best[metric], 3), labels.get(metric, metric)))
    looks = dict(zip(LEVELS, MODEL_COLOURS, strict=False))
    legend = [
        (f"with the {name}" if truth == "signed" else f"with {name}", _dot(looks[truth]))
        for truth, name in LEVELS.items()
    ]
    legend.append(("mean over models", Line2D([], [], color="black", linewidth=1.4)))
    note = (
        "How much of the variation of occupations' scores goes with the share of the male pronoun in their "
        "sentences, by a straight line. Each dot is a model."
    )
    left = max(_width(labels.get(metric, metric), NORMAL) for metric in metrics) + 0.15
    row, head, foot, gap = 0.34, 0.24, 0.4, 0.2
    width = min(3.2, (PAGE[0] - 2 * MARGIN - left) / len(trainers) - gap)
    height = row * len(metrics)
    figure, top = _page("Do scores of words recover the truth?", note, legend, PAGE[0], head + height + foot)
    for column, trainer in enumerate(trainers):
        axes = _axes(figure, MARGIN + left + column * (width + gap), top + head, width, height)
        for i in range(0, len(metrics), 2):
            axes.axhspan(i - 0.5, i + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
        for i, metric in enumerate(metrics):
            for lane, truth in enumerate(LEVELS):
                chosen = (
                    (table["trainer"] == trainer) & (table["metric"] == metric) & (table["truth"] == truth)
                )
                values = table.loc[chosen, "value"].to_numpy()
                y = i + (lane - 0.5) * 0.4
                jitter = np.random.default_rng(0).uniform(-0.12, 0.12, len(values))
                axes.scatter(values, y + jitter, s=3.5, color=looks[truth], alpha=0.35, linewidths=0)
                if len(values):
                    axes.vlines(values.mean(), y - 0.18, y + 0.18, color="black", linewidth=1.4, zorder=3)
        axes.set(xlim=(-0.02, 1.02), ylim=(len(metrics) - 0.5, -0.5), xticks=[0, 0.25, 0.5, 0.75, 1])
        axes.set_xticklabels(["0", ".25", ".5", ".75", "1"])
        axes.set_xlabel("R²", labelpad=1)
        axes.set_yticks(
            range(len(metrics)), [labels.get(m, m) if column == 0 else "" for m in metrics], size=NORMAL
        )
        axes.tick_params(axis="y", length=0)
        axes.set_title(labels.get(trainer, trainer), loc="left", weight="bold", pad=4)
    return figure


def _dot(colour: str) -> Line2D:
    return Line2D([], [], linestyle="", marker="o", markersize=4, markeredgewidth=0, color=colour)


def _scale(figure: Figure, shades: ScalarMappable, name: str, top: float) -> None:
    """A scale of colours at the right edge, its upper edge `top` inches below the figure's."""
    width = figure.get_figwidth()
    axes = _axes(figure, width - MARGIN - 1.15, top, 0.85, 0.07)
    scale = figure.colorbar(shades, cax=axes, orientation="horizontal")
    scale.outline.set_visible(False)
    scale.set_ticks([])
    ends = [f"{value:.2f}".lstrip("0") for value in (shades.norm.vmin, shades.norm.vmax)]
    look = {"transform": axes.transAxes, "va": "center", "size": 6.5}
    axes.text(-0.04, 0.45, f"{name}  {ends[0]}", ha="right", **look)
    axes.text(1.04, 0.45, ends[1], ha="left", **look)
