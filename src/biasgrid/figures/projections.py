"""Figure of the words furthest towards two groups, in one cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.numbers import typeset
from ..tables.cells import poles, two_group_cells
from .figure import Drawing, Example, Figure, Files, state_label
from .frame import Frame, empty_page, styled
from .palette import ABOVE_LIGHT, BELOW_LIGHT
from .questions import WORDS
from .rows import read_table
from .text import LONGEST_HEAD, NORMAL, SMALL, fit_text, metric_head, shorten, shorten_to_fit, topic
from .visuals import few_ticks, legend_line, legend_neutral, neutral_line, under_head

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..tables.planned import Planned

# Largest number of named words of each side.
MOST = 20
# Inches of a bar and its word.
ROW = 0.15
# Smallest width of a panel in inches.
PANEL = 2.0
# Inches of a word, and of a line below the scale.
NAME, BELOW = 1.3, 1.1
EXACT = "A word has one value in a model: there is no interval."


@styled
def projections(
    words: pd.DataFrame,
    poles: tuple[str, str],
    title: str,
    note: str,
    most: int = MOST,
    measure: str = "bias of the word",
) -> figure.Figure:
    """Draw the words furthest towards two poles, one bar each, and the distribution of all words between them.

    Without any value the figure has a sentence instead.

    Parameters
    ----------
    words
        One row per word, with the columns word and value: positive towards the first pole, negative towards the
        second. NaN values are left out.
    poles
        The names of the poles; the first is on the right.
    title
        The content, with its topic and metric.
    note
        A sentence that names the model.
    most
        The largest number of words on each side. A word is on the side of the group that it is closer to.
    measure
        The name of a value, beneath the scale.
    """
    values = words.dropna(subset="value").drop_duplicates("word").set_index("word")["value"]
    if values.empty:
        return empty_page(title, f"no word has a value. {note}")
    # The left panel has the second pole, because negative values are on the left.
    by_pole = {
        pole: (values[sign * values > 0] * sign).sort_values(ascending=False)
        for pole, sign in ((1, -1), (0, 1))
    }
    heads = {
        i: f"{metric_head(f'closer to {poles[i]}')}:\n{len(of_pole)} of {len(values)} words"
        for i, of_pole in by_pole.items()
    }
    rows = max(1, *(min(most, len(of_pole)) for of_pole in by_pole.values()))
    more = max(by_pole, key=lambda pole: len(by_pole[pole]))
    count = len(by_pole[more])
    page = Frame(
        f"{count} of {len(values)} words are closer to {shorten(poles[more], LONGEST_HEAD)}",
        title,
        ["Bars are the words that lie furthest towards either group; on the right, all words.", note, EXACT],
    )
    high = max(1.2, rows * ROW)
    heights = dict.fromkeys(heads, high) | {"all": min(high, 1.6)}
    panels = page.panels(heads | {"all": "all words"}, heights, least=PANEL)
    longest = values.abs().max() or 1.0
    for i, colour in ((1, BELOW_LIGHT), (0, ABOVE_LIGHT)):
        word_bars(panels[i], [*by_pole[i].iloc[:most].items()], [colour] * most, rows, longest)
    _spread(panels["all"], values)
    texts = [f"{measure}:", f"← {poles[1]}", f"{poles[0]} →"]
    below = "\n".join(fit_text(text, BELOW, NORMAL) for text in texts)
    panels["all"].set(xlabel=below)
    under_head(panels["all"], "number of words")
    return page.done(
        [
            legend_neutral(),
            (
                "mean of all words ± one standard deviation",
                legend_line(color="black", marker="|"),
            ),
        ]
    )


def word_bars(
    axes: Axes, words: Sequence[tuple[str, float]], colours: Sequence[str], rows: int, longest: float
) -> None:
    """Draw a bar per word with its value, the first on top, in a panel with room for `rows` and the longest bar."""
    names = [shorten_to_fit(str(word).replace("_", " "), NAME, SMALL) for word, _ in words]
    axes.barh(range(len(words)), [value for _, value in words], height=0.72, color=colours[: len(words)])
    for y, (_, value) in enumerate(words):
        axes.text(value + longest * 0.03, y, typeset(value), va="center", size=SMALL)
    if not words:
        axes.text(0, 0, "no word", va="center", size=SMALL)
    axes.set(xlim=(0, longest * 1.5), ylim=(rows - 0.5, -0.5), xticks=[], yticks=range(len(names)))
    axes.set_yticklabels(names)
    axes.tick_params(axis="y", length=0)
    axes.spines["bottom"].set_visible(False)


def _spread(axes: Axes, values: pd.Series) -> None:
    """Draw the distribution of values."""
    end = float(values.abs().max()) or 1.0
    # Put an edge at 0, so that no bar mixes words of both sides.
    counts, edges = np.histogram(values, np.linspace(-end, end, 31))
    colours = [BELOW_LIGHT] * 15 + [ABOVE_LIGHT] * 15
    axes.bar(
        edges[:-1],
        counts,
        width=np.diff(edges),
        align="edge",
        color=colours,
        edgecolor="white",
        linewidth=0.3,
    )
    neutral_line(axes, 0)
    height = counts.max() * 1.08
    mean, deviation = values.mean(), values.std(ddof=0)
    axes.plot([mean - deviation, mean + deviation], [height, height], color="black", linewidth=0.9)
    axes.plot(mean, height, color="black", marker="|", markersize=7)
    end = max(end, abs(mean) + deviation)
    axes.set(xlim=(-end * 1.02, end * 1.02), ylim=(0, counts.max() * 1.15))
    few_ticks(axes.xaxis, 4)
    few_ticks(axes.yaxis, 4, None, integer=True)
    axes.spines["left"].set_visible(True)


def _drawings(study: Planned) -> Iterator[Drawing]:
    for cell in two_group_cells(study):
        # Import late: most studies lack this table.
        from ..tables.words import place_of

        metric = study.labels[cell.metric]
        ends = poles(study, cell)
        # A cell of two groups has poles.
        assert ends is not None
        spec = {
            "place": place_of(study, cell),
            "poles": list(ends),
            "title": f"{topic(cell.criterion)}, {metric}: words between two groups",
            "note": f"Model: {state_label(study, cell)}.",
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
    """Drop duplicates from tables of words."""
    return {name: t.drop_duplicates("word") if "word" in t else t for name, t in contents.items()}


FIGURES = (
    Figure(
        "projections",
        "The words that a metric finds most biased, and the spread of all words.",
        _draw,
        question=WORDS,
        heading="Words between two groups",
        asks="Which words are closer to which group?",
        learn="You learn which words make a metric report bias.",
        drawings=_drawings,
        reads=("words",),
        needs="a criterion with a table of words (word_table), two groups and a metric that says of each word "
        "which it is nearer to",
        reading="Left: the words furthest towards the second (orange) and the first group (blue). "
        "Right: all words; if the mean (black tick) is off the dashed line, words are closer "
        "to one group.",
        example=Example("same", f"projections/{CELL}", PLACE, each_word_once),
    ),
)
