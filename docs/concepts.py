"""The drawing of docs/concepts.md: how word sets and models become scores, tables and figures."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from biasgrid.core.numbers import interval, p_number, typeset, typographic
from biasgrid.figures.frame import blank, styled

WIDTH, HEIGHT = 4.6, 6.98  # inches: 11 points are 11 pixels on a phone
INK, SOFT, BLUE, ORANGE, LIGHT = "#222222", "#666666", "#1F6F9F", "#C4571B", "#F3F5F7"
SHORT = {
    "glove-6b-50d": "GloVe 6B",
    "glove-840b-300d-filtered": "GloVe 840B",
    "spacy-en-core-web-md-3.7.1": "spaCy",
    "word2vec-google-news-300-subset": "word2vec",
}


@styled
def flow(scores: pd.DataFrame) -> Figure:
    """The steps from words to a figure, with the real scores of one query and metric, a row per model."""
    figure = blank(WIDTH, HEIGHT)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    axes.set_axis_off()

    def box(x: float, y: float, width: float, height: float, title: str, lines: str = "", colour=INK) -> None:
        look = {"facecolor": LIGHT, "edgecolor": colour, "linewidth": 1.2}
        axes.add_patch(FancyBboxPatch((x, y), width, height, "round,pad=0,rounding_size=0.07", **look))
        axes.text(x + 0.1, y + 0.09, title, va="top", weight="bold", size=11, color=colour)
        axes.text(x + 0.1, y + 0.33, lines, va="top", size=10, color=INK, linespacing=1.35)

    def arrow(*points: tuple[float, float]) -> None:
        axes.add_patch(
            FancyArrowPatch(*points, arrowstyle="-|>", mutation_scale=13, color=SOFT, linewidth=1.3)
        )

    words = "Male terms: he, son, his, ...\nFemale terms: she, her, ...\n"
    words += "Career: office, salary, ...\nFamily: home, parents, ..."
    variants = "GloVe 6B, word2vec, ...\noriginal, or after a\ndebias method"
    box(0.1, 0.1, 2.3, 1.2, "Word sets", words, BLUE)
    box(2.65, 0.1, 1.85, 1.2, "Models", variants, ORANGE)
    arrow((1.25, 1.32), (1.25, 1.63))
    box(0.1, 1.65, 2.3, 0.84, "Query", "target sets Male, Female\nattribute sets Career, Family", BLUE)
    box(2.65, 1.65, 1.55, 0.84, "Metric", "WEAT: two and two\nsets; no bias is 0")
    arrow((1.25, 2.51), (1.7, 2.86))
    arrow((3.4, 2.51), (2.9, 2.86))
    arrow((4.36, 1.32), (4.36, 2.86))

    box(0.1, 2.88, 4.4, 1.2, "Scores: every metric, query, model")
    _grid(axes, 0.35, 3.2)
    score = typeset(scores["value"].iloc[0])
    axes.text(2.3, 3.25, f"one score: {score},\nwith the missing words,\nor why it has no value",
              va="top", size=10, color=INK, linespacing=1.35)  # fmt: skip
    arrow((2.3, 4.1), (2.3, 4.34))

    box(0.1, 4.36, 4.4, 1.25, "Table: scores.csv")
    for x, align, name in ((0.25, "left", "model"), (1.75, "right", "score"), (3.05, "right", "95 % interval"),
                           (4.35, "right", "permutation p")):  # fmt: skip
        axes.text(x, 4.77, name, va="center", ha=align, size=9, color=SOFT)
    for row, entry in enumerate(scores.itertuples()):
        y = 4.95 + 0.17 * row
        cells = [
            (0.25, "left", SHORT[entry.model]),
            (1.75, "right", typeset(entry.value)),
            (3.05, "right", typographic(interval(entry.ci_low, entry.ci_high))),
            (4.35, "right", p_number(entry.p_value)),
        ]
        for x, align, text in cells:
            axes.text(x, y, text, va="center", ha=align, size=10, color=INK)
    arrow((2.3, 5.63), (2.3, 5.87))

    box(0.1, 5.89, 4.4, 1.0, "Figure")
    inner = figure.add_axes((1.35 / WIDTH, 0.27 / HEIGHT, 3.0 / WIDTH, 0.62 / HEIGHT), facecolor="none")
    y = range(len(scores))
    inner.hlines(y, scores["ci_low"], scores["ci_high"], color=ORANGE, linewidth=1.2)
    inner.plot(scores["value"], y, "o", color=ORANGE, markersize=4.5)
    inner.axvline(0, color=SOFT, linestyle="--", linewidth=0.9)
    inner.set_yticks(list(y), [SHORT[model] for model in scores["model"]])
    inner.set_ylim(len(scores) - 0.4, -0.6)
    inner.tick_params(labelsize=8, length=2, pad=1.5)
    inner.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _grid(axes, x: float, y: float) -> None:
    """Three sheets, one per metric, of small squares; one of them filled."""
    side = 0.19
    for sheet in (2, 1, 0):
        left, top = x + 0.09 * sheet, y + 0.06 * (2 - sheet)
        for row in range(3):
            for column in range(6):
                chosen = (sheet, row, column) == (0, 1, 2)
                look = {"facecolor": ORANGE if chosen else "white", "edgecolor": SOFT, "linewidth": 0.7}
                place = (left + column * side * 1.25, top + row * side)
                axes.add_patch(FancyBboxPatch(place, side * 1.25, side, "square,pad=0", **look))
