"""Figure of the words that lie furthest towards two groups, in one cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..numbers import typeset
from ..tables.cells import poles, two_group_cells
from .figure import Drawing, Example, Figure, Files, state_label
from .frame import MARGIN, PAGE, empty_page, styled
from .layout import add_axes, page
from .palette import DASHED, LESS_LIGHT, MORE_LIGHT
from .questions import WORDS
from .rows import read_table
from .text import BOLD, LARGE, SMALL, fit_text, line_count, text_width
from .visuals import few_ticks, legend_area, legend_line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

MOST = 20  # words that are named of each side
ROW = 0.16  # inches of a bar and its word
NUMBER = 0.4  # inches of a bar's number


@styled
def projections(
    words: pd.DataFrame,
    poles: tuple[str, str],
    title: str,
    note: str,
    most: int = MOST,
    measure: str = "bias of the word",
) -> figure.Figure:
    """The words that lie furthest towards two poles, one bar each, over how all words are spread between them.

    Without any value the figure says so.

    Parameters
    ----------
    words
        One row per word, with the columns word and value: positive towards the first pole, negative towards the
        second. A value that is NaN is left out.
    poles
        What the two are called; the first is on the right.
    note
        What the values are, a sentence or two.
    most
        So many words of each side at most; a word is on the side that it leans to.
    measure
        What a value is called, beneath the scale.
    """
    values = words.dropna(subset="value").drop_duplicates("word").set_index("word")["value"]
    if values.empty:
        return empty_page(title, f"no word has a value. {note}")
    # the left panel has the second pole, as negative values are on the left
    values_by_pole = [(values[sign * values > 0] * sign).sort_values(ascending=False) for sign in (-1, 1)]
    sides = list(zip(poles[::-1], values_by_pole, (LESS_LIGHT, MORE_LIGHT), strict=True))
    rows = max(1, *(min(most, len(pole_values)) for pole_values in values_by_pole))
    gap, high, low, foot = 0.3, rows * ROW, 1.1, 0.42
    panel_width = (PAGE[0] - 2 * MARGIN - gap) / 2
    heads = [
        fit_text(f"towards {pole}: {len(pole_values)} of {len(values)} words", panel_width / BOLD, LARGE - 1)
        for pole, pole_values, _ in sides
    ]
    head = 0.35 + 0.16 * (max(map(line_count, heads)) - 1)
    legend = [
        (f"nearer to {poles[1]}", legend_area(facecolor=LESS_LIGHT)),
        (f"nearer to {poles[0]}", legend_area(facecolor=MORE_LIGHT)),
        ("no bias", legend_line(color=DASHED["color"], linewidth=0.9, linestyle=DASHED["linestyle"])),
        (
            "mean of all words, and one standard deviation to either side",
            legend_line(color="black", marker="|"),
        ),
    ]
    figure, top = page(title, note, legend, PAGE[0], head + high + 0.35 + low + foot)
    longest = (
        max(pole_values.iloc[0] for pole_values in values_by_pole if len(pole_values))
        if values.any()
        else 1.0
    )
    names = [
        [str(word).replace("_", " ") for word in pole_values.index[:most]] for pole_values in values_by_pole
    ]
    # one scale for both sides, whatever room their words take
    room = max((text_width(name, SMALL) for side in names for name in side), default=0) * BOLD + 0.1
    for i, (_, pole_values, colour) in enumerate(sides):
        top_values = pole_values.iloc[:most]
        axes = add_axes(figure, MARGIN + i * (panel_width + gap) + room, top + head, panel_width - room, high)
        axes.barh(range(len(top_values)), top_values, height=0.72, color=colour)
        axes.set(xlim=(0, longest * (1 + NUMBER / (panel_width - room - NUMBER))), xticks=[])
        axes.set_ylim(rows - 0.5, -0.5)
        axes.set_yticks(range(len(top_values)), names[i])
        for y, value in enumerate(top_values):
            axes.text(value + longest * 0.02, y, typeset(value), va="center", size=SMALL)
        if top_values.empty:
            axes.text(0, 0, "no word", va="center", size=SMALL)
        axes.tick_params(axis="y", length=0)
        axes.spines["bottom"].set_visible(False)
        axes.text(
            -room / (panel_width - room),
            1 + 0.12 / high,
            heads[i],
            va="bottom" if line_count(heads[i]) > 1 else "baseline",
            weight="bold",
            size=LARGE - 1,
            transform=axes.transAxes,
        )
    axes = add_axes(figure, MARGIN + 0.45, top + head + high + 0.35, 2 * panel_width + gap - 0.45, low)
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
    mean_y = counts.max() * 1.12
    mean, deviation = values.mean(), values.std(ddof=0)
    axes.plot([mean - deviation, mean + deviation], [mean_y, mean_y], color="black", linewidth=0.9)
    axes.plot(mean, mean_y, color="black", marker="|", markersize=7)
    end = max(end, abs(mean) + deviation)
    axes.set(xlim=(-end * 1.02, end * 1.02), ylim=(0, counts.max() * 1.25))
    few_ticks(axes.yaxis, 4, None, integer=True)
    axes.spines["left"].set_visible(True)


def _drawings(study: Planned) -> Iterator[Drawing]:
    for cell in two_group_cells(study):
        # imported late: most studies have no such table
        from ..tables.words import place_of

        metric = study.labels[cell.metric]
        ends = poles(study, cell)
        assert ends is not None  # of a cell of two groups
        spec = {
            "place": place_of(study, cell),
            "poles": list(ends),
            "title": f"{cell.criterion}: words between two groups, by {metric}",
            "note": f"{state_label(study, cell)}. Bars: the words furthest towards either group.",
            "measure": metric,
        }
        yield Drawing(f"projections/{cell.name}", spec=spec)


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    from ..tables.words import cell_words

    words = cell_words(read_table(inputs["words"]), spec["place"])
    return projections(words, **{key: spec[key] for key in ("poles", "title", "note", "measure")})


CELL = "bolukbasi-w2v-gnews-small/none/same/occupations"
PLACE = {
    "criterion": "Occupations",
    "query": "Male terms and Female terms wrt Occupations",
    "metric": "same",
    "model": "bolukbasi-w2v-gnews-small",
    "debias": "none",
    "detail": "bias",
}


def each_word_once(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Tables of words without those that stand in them twice."""
    return {name: t.drop_duplicates("word") if "word" in t else t for name, t in contents.items()}


FIGURES = (
    Figure(
        "projections",
        "The words that a metric finds furthest towards two groups, over how all words are spread between them.",
        _draw,
        question=WORDS,
        drawings=_drawings,
        reads=("words",),
        needs="a criterion with a table of words (word_table), two groups and a metric that says of each word "
        "which it is nearer to",
        reading="Bars are the words that lie furthest towards either group, blue towards the second target "
        "set and orange towards the first; how many words lean to which group stands above them. "
        "Below is how all words are spread: positive values lean to the first target set, and a black "
        "tick (the mean) away from the dashed line says that words lean to one side on the whole.",
        example=Example("same", f"projections/{CELL}", PLACE, each_word_once),
    ),
)
