"""Figures of single words between two groups: those that lie furthest towards either, and what people say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from .grid import (
    BOLD,
    DASHED,
    GREY,
    LARGE,
    LESS_LIGHT,
    MARGIN,
    MODEL_COLOURS,
    MORE_LIGHT,
    PAGE,
    SMALL,
    _axes,
    _free_places,
    _nothing,
    _page,
    _styled,
    _two_digits,
    _width,
)

MOST = 20  # words that are named of each side
ROW = 0.16  # inches of a bar and its word
NUMBER = 0.4  # inches of a bar's number
MOST_APART = 8  # words that are named of each end of a cloud of points


@_styled
def projections(
    words: pd.DataFrame,
    poles: tuple[str, str],
    title: str,
    note: str,
    most: int = MOST,
    measure: str = "bias of the word",
) -> Figure:
    """The words that lie furthest towards two poles, a bar each, over how all words are spread between them.

    words    a row a word, with the columns word and value: positive towards the first pole, negative towards the
             second. A value that is NaN is left out
    poles    what the two are called; the first is on the right
    note     what the values are, a sentence or two
    most     so many words of each side at most; a word is on the side that it leans to
    measure  what a value is called, beneath the scale

    Without any value the figure says so.
    """
    values = words.dropna(subset="value").drop_duplicates("word").set_index("word")["value"]
    if values.empty:
        return _nothing(title, f"no word has a value. {note}")
    # the left panel has the second pole, as negative values are on the left
    towards = [(values[sign * values > 0] * sign).sort_values(ascending=False) for sign in (-1, 1)]
    sides = list(zip(poles[::-1], towards, (LESS_LIGHT, MORE_LIGHT), strict=True))
    rows = max(1, *(min(most, len(found)) for found in towards))
    between, head, high, low, foot = 0.3, 0.35, rows * ROW, 1.1, 0.42
    legend = [
        (f"nearer to {poles[1]}", Patch(facecolor=LESS_LIGHT)),
        (f"nearer to {poles[0]}", Patch(facecolor=MORE_LIGHT)),
        ("no bias", Line2D([], [], color=DASHED["color"], linewidth=0.9, linestyle=DASHED["linestyle"])),
        (
            "mean of all words, and one standard deviation to either side",
            Line2D([], [], color="black", marker="|"),
        ),
    ]
    figure, top = _page(title, note, legend, PAGE[0], head + high + head + low + foot)
    across = (figure.get_figwidth() - 2 * MARGIN - between) / 2
    longest = max(found.iloc[0] for found in towards if len(found)) if values.any() else 1.0
    names = [[str(word).replace("_", " ") for word in found.index[:most]] for found in towards]
    # one scale for both sides, whatever room their words take
    room = max((_width(name, SMALL) for side in names for name in side), default=0) * BOLD + 0.1
    for i, (pole, found, colour) in enumerate(sides):
        shown = found.iloc[:most]
        axes = _axes(figure, MARGIN + i * (across + between) + room, top + head, across - room, high)
        axes.barh(range(len(shown)), shown, height=0.72, color=colour)
        axes.set(xlim=(0, longest * (1 + NUMBER / (across - room - NUMBER))), xticks=[])
        axes.set_ylim(rows - 0.5, -0.5)
        axes.set_yticks(range(len(shown)), names[i])
        for y, value in enumerate(shown):
            axes.text(value + longest * 0.02, y, _two_digits(value), va="center", size=SMALL)
        if shown.empty:
            axes.text(0, 0, "no word", va="center", size=SMALL)
        axes.tick_params(axis="y", length=0)
        axes.spines["bottom"].set_visible(False)
        count = f"{len(found)} of {len(values)} words"
        axes.text(
            -room / (across - room),
            1 + 0.12 / high,
            f"towards {pole}: {count}",
            weight="bold",
            size=LARGE - 1,
            transform=axes.transAxes,
        )
    axes = _axes(figure, MARGIN + 0.45, top + head + high + head, 2 * across + between - 0.45, low)
    _spread(axes, values)
    axes.set(xlabel=f"{measure}: ← {poles[1]}   |   {poles[0]} →", ylabel="number of words")
    return figure


def _spread(axes, values: pd.Series) -> None:
    """How many words have which value."""
    end = max(float(values.abs().max()), 1e-9)
    # an edge at 0: no bar has words of both sides
    edges = np.linspace(-end, end, 41)
    counts, _ = np.histogram(values, edges)
    colours = [LESS_LIGHT] * 20 + [MORE_LIGHT] * 20
    axes.bar(
        edges[:-1],
        counts,
        width=np.diff(edges),
        align="edge",
        color=colours,
        edgecolor="white",
        linewidth=0.3,
    )
    axes.axvline(0, **DASHED)
    over = counts.max() * 1.12
    mean, deviation = values.mean(), values.std(ddof=0)
    axes.plot([mean - deviation, mean + deviation], [over, over], color="black", linewidth=0.9)
    axes.plot(mean, over, color="black", marker="|", markersize=7)
    end = max(end, abs(mean) + deviation)
    axes.set(xlim=(-end * 1.02, end * 1.02), ylim=(0, counts.max() * 1.25))
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.spines["left"].set_visible(True)


@_styled
def rated(
    words: pd.DataFrame,
    poles: tuple[str, str],
    correlations: Mapping[str, Sequence[float]],
    title: str,
    note: str,
    rating: str,
    measure: str = "bias of the word",
) -> Figure:
    """Words by how people rated them (x) and their bias (y), with those named that lie furthest from the others.

    words         a row a word, with the columns word, rating and value: positive towards the first pole
    poles         what the two groups are called
    correlations  "pearson" and "spearman" -> the coefficient and the ends of its interval
    rating        what is rated, and what its ends mean

    Named are the most extreme in bias on either side, and those that lie furthest from the line of least squares.
    Without any word the figure says so.
    """
    known = words.dropna(subset=["rating", "value"]).drop_duplicates("word")
    if known.empty:
        return _nothing(title, f"no word has a rating and a value. {note}")
    points = known[["rating", "value"]].to_numpy()
    names = [str(word).replace("_", " ") for word in known["word"]]
    x, y = points.T
    slope, middle = 0.0, float(y.mean())
    if np.ptp(x) > 0:
        slope = float(np.cov(x, y, ddof=0)[0, 1] / x.var())
        middle -= slope * float(x.mean())
    by_bias, by_distance = np.argsort(y, kind="stable"), np.argsort(y - slope * x - middle, kind="stable")
    half = MOST_APART // 2
    named = dict.fromkeys(
        np.concatenate(
            [by_bias[:half], by_bias[::-1][:half], by_distance[:half], by_distance[::-1][:half]]
        ).tolist()
    )
    said = [
        f"{text} {_two_digits(value)} [{_two_digits(low)}, {_two_digits(high)}]"
        for text, (value, low, high) in zip(
            ("Pearson's r", "Spearman's ρ"), correlations.values(), strict=True
        )
    ]
    legend = [
        (f"a word ({len(known)} with a rating)", Line2D([], [], **_MARK, linestyle="")),
        ("line of least squares", Line2D([], [], color="black", linewidth=0.9)),
        (
            "no bias; rated neither way",
            Line2D([], [], color=GREY, linewidth=0.9, linestyle=DASHED["linestyle"]),
        ),
    ]
    left, high, foot = MARGIN + 0.55, 4.2, 0.45
    figure, top = _page(
        title,
        f"{note} {', '.join(said)} (95 % intervals, bootstrap over words).",
        legend,
        PAGE[0],
        high + foot,
    )
    size = np.array([figure.get_figwidth() - left - MARGIN, high])
    axes = _axes(figure, left, top, *size)
    low, end = points.min(axis=0), points.max(axis=0)
    room = np.where(end > low, 0.06 * (end - low), 0.5)
    low, end = low - room, end + room
    axes.axhline(0, **DASHED)
    axes.axvline(0, **DASHED)
    axes.plot(x, y, linestyle="", zorder=3, **_MARK)
    axes.plot(
        x := np.array([points[:, 0].min(), points[:, 0].max()]),
        slope * x + middle,
        color="black",
        linewidth=0.9,
    )
    axes.set(xlim=(low[0], end[0]), ylim=(low[1], end[1]), xlabel=rating)
    axes.set_ylabel(f"{measure}: ← {poles[1]}   |   {poles[0]} →")
    axes.spines["left"].set_visible(True)
    order = [*named, *(i for i in range(len(points)) if i not in named)]
    marks = (points[order] - low) / (end - low) * size
    texts = [names[i] for i in named]
    for text, at, place in zip(texts, marks, _free_places(marks, texts, size), strict=False):
        line = np.stack([at, place]) / size
        axes.plot(*line.T, color=GREY, linewidth=0.5, zorder=4, transform=axes.transAxes)
        look = {"ha": "center", "va": "center", "size": SMALL, "zorder": 6}
        look["bbox"] = {"boxstyle": "square,pad=0.05", "facecolor": "white", "linewidth": 0}
        axes.text(*line[1], text, transform=axes.transAxes, **look)
    return figure


_MARK = {"marker": "o", "markersize": 3, "color": MODEL_COLOURS[0], "alpha": 0.7, "markeredgewidth": 0}
