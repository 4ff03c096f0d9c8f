"""Figures of single words: a word's neighbours, and one model's projections against another's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..core.numbers import coefficient, share, typeset
from ..debias import UNTOUCHED
from ..figures.frame import Frame, empty_page, styled
from ..figures.palette import ABOVE, BELOW_LIGHT, DASHED, Look
from ..figures.text import (
    LONGEST_HEAD,
    NORMAL,
    SMALL,
    fit_text,
    share_range,
    shorten,
    shorten_to_fit,
    text_width,
)
from ..figures.visuals import few_ticks, legend_mark, neutral_line, under_head

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

# Number of words that are named in a panel.
LABELLED = 16
# Largest width of a name, in inches.
NAME = 0.9
HEIGHT = 3.0
FIRST: Look = {"color": ABOVE, "marker": "o"}
SECOND: Look = {"color": BELOW_LIGHT, "marker": "^"}


@styled
def neighbours(rows: pd.DataFrame, word: str, groups: tuple[str, str], model: str) -> figure.Figure:
    """Draw the nearest neighbours of a word: similarity by projection, a panel for each debias method.

    Parameters
    ----------
    rows
        One row per debias method and neighbour, the nearest first: debias, neighbour, similarity, projection.
    word, model
        Names of the word and the model.
    groups
        The two groups' names; words with positive projections are closer to the first.
    """
    title = f"Nearest neighbours of {word}"
    known = rows.dropna(subset=["similarity", "projection"])
    if known.empty:
        return empty_page(title, "the word has no neighbour")
    towards = [float((part["projection"] > 0).mean()) for _, part in known.groupby("debias", sort=False)]
    page = Frame(
        f"{share_range(towards)} of the neighbours are closer to {shorten(groups[0], LONGEST_HEAD)}",
        f"{title}, {model}",
        [
            "Across: cosine of a neighbour with the direction between the groups, in the original model.",
            "Up: its cosine with the word. Labels mark the nearest.",
        ],
    )
    parts = {debias: part for debias, part in known.groupby("debias", sort=False)}
    heads = {
        debias: f"{'original' if debias == UNTOUCHED else debias}:\n"
        f"{share(float((part['projection'] > 0).mean()))} closer to {groups[0]}"
        for debias, part in parts.items()
    }
    panels = page.panels(heads, HEIGHT, least=2.2)
    end = float(known["projection"].abs().max()) * 1.25 or 1.0
    for debias, part in parts.items():
        axes = panels[debias]
        for look, leaning in ((SECOND, part["projection"] <= 0), (FIRST, part["projection"] > 0)):
            axes.scatter(
                part.loc[leaning, "projection"],
                part.loc[leaning, "similarity"],
                s=9,
                linewidth=0,
                alpha=0.8,
                **look,
            )
        neutral_line(axes, 0)
        axes.set_xlim(-end, end)
        nearest = part.head(2 * LABELLED)[["neighbour", "projection", "similarity"]]
        _name(axes, nearest.itertuples(index=False, name=None), page.inside / len(parts) - 0.6)
        _scales(axes, f"← {groups[1]}     {groups[0]} →", "similarity")
    return page.done(
        [
            (f"closer to {name}", legend_mark(**look))
            for name, look in zip(groups, (FIRST, SECOND), strict=True)
        ]
    )


@styled
def two_models(values: pd.DataFrame, groups: tuple[str, str], models: tuple[str, str]) -> figure.Figure:
    """Draw the projections of words in one model against their projections in another.

    Parameters
    ----------
    values
        Words by the two models: projections, NaN if a model lacks the word.
    groups
        The two groups' names; words with positive projections are closer to the first.
    models
        The models' names, for the horizontal and the vertical axis.
    """
    a, b = models
    both = values.dropna()
    title = f"Projections of {len(both)} words in two models"
    if both.empty:
        return empty_page(title, "no word is in both models")
    x, y = both[a].to_numpy(), both[b].to_numpy()
    r = (
        typeset(float(np.corrcoef(x, y)[0, 1]), form=coefficient)
        if len(both) > 2 and np.ptp(x) and np.ptp(y)
        else ""
    )
    page = Frame(
        f"Projections in two models correlate at {r}" if r else title,
        f"{len(both)} words that both models have",
        [
            f"Cosine of each word with the direction between {groups[0]} (positive) and {groups[1]} (negative).",
            "Words far from the line are associated differently in the two models.",
        ],
    )
    axes = page.panel(HEIGHT)
    for look, leaning in ((SECOND, x <= 0), (FIRST, x > 0)):
        axes.scatter(x[leaning], y[leaning], s=9, linewidth=0, alpha=0.8, **look)
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    axes.plot([low, high], [low, high], **DASHED)
    # Label the most extreme words, and the words whose projections differ most.
    scaled = [(values - values.mean()) / (values.std() or 1.0) for values in (x, y)]
    far = np.argsort(-np.maximum(np.abs(scaled[0] - scaled[1]), np.hypot(*scaled) / 2), kind="stable")
    points = [(str(both.index[i]), x[i], y[i]) for i in far]
    _name(axes, points, page.inside - 0.6)
    _scales(axes, f"projection in {a}", f"projection in {b}")
    return page.done(
        [
            (f"closer to {name} in {a}", legend_mark(**look))
            for name, look in zip(groups, (FIRST, SECOND), strict=True)
        ]
    )


def _name(axes: Axes, points: Iterable[tuple[str, float, float]], width: float) -> None:
    """Write words next to their marks while there is room: a name that would cover another is left out.

    `width` is about the panel's width, in inches; its height is `HEIGHT`.
    """
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    # Boxes are the left and right end and the baseline, in inches.
    boxes: list[tuple[float, float, float]] = []
    for word, across, up in points:
        if len(boxes) == LABELLED:
            return
        text = shorten_to_fit(word.replace("_", " "), NAME, SMALL)
        x, y = (across - left) / (right - left) * width, (up - bottom) / (top - bottom) * HEIGHT
        size = text_width(text, SMALL) + 0.06
        # Write a name that would leave the panel on the other side of its mark.
        is_left = x + size > width
        start = x - size if is_left else x
        if all(abs(y - other) > 0.11 or start > end or start + size < begin for begin, end, other in boxes):
            boxes.append((start, start + size, y))
            axes.annotate(
                text,
                (across, up),
                (-2.5 if is_left else 2.5, 1.5),
                textcoords="offset points",
                size=SMALL,
                ha="right" if is_left else "left",
            )


def _scales(axes: Axes, across: str, up: str) -> None:
    axes.set(xlabel=fit_text(across, 3.0, NORMAL), ylabel="")
    under_head(axes, fit_text(f"↑ {up}", 3.0, SMALL))
    few_ticks(axes.xaxis, 5)
    few_ticks(axes.yaxis, 5)
    axes.spines["left"].set_visible(True)
