"""Figure of words' biases and ratings of the words by people, in one cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.numbers import coefficient, interval, typeset, typographic
from ..core.resources import find_file
from ..tables.cells import poles, rating_cells
from .figure import Drawing, Example, Figure, Files, state_label
from .frame import Frame, empty_page, styled
from .palette import COUNTED, DASHED, Look
from .projections import CELL, PLACE, each_word_once
from .questions import COMPANY
from .rows import read_table, rows_where
from .text import LONGEST_HEAD, NORMAL, SMALL, fit_text, shorten, topic
from .types.scatter import label_marks
from .visuals import legend_line, legend_neutral, under_head

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..tables.planned import Planned

HEADING = "Bias of words and people's ratings"
# Number of named words of each end of a cloud of points.
MOST_APART = 8
# Largest distance of a name from its word in inches.
REACH = 0.5
MARK: Look = {"marker": "o", "color": COUNTED, "alpha": 0.7}
LINE: Look = {"color": "black", "linewidth": 0.9}


@styled
def ratings(
    words: pd.DataFrame,
    poles: tuple[str, str],
    correlations: Mapping[str, Sequence[float]],
    title: str,
    note: str,
    rating: str,
    measure: str = "bias of the word",
) -> figure.Figure:
    """Draw words by how people rated them (x) and their bias (y), with labels of extreme words.

    Labels mark the words with the most extreme bias on either side, and the words furthest from the line of least
    squares. Without any word the figure has a sentence instead.

    Parameters
    ----------
    words
        One row per word, with the columns word, rating and value: positive towards the first pole.
    poles
        The names of the two groups.
    correlations
        "pearson" and "spearman" -> the coefficient and the ends of its interval.
    rating
        The name of the rating, and the meaning of its ends.
    """
    rows = words.dropna(subset=["rating", "value"]).drop_duplicates("word")
    if rows.empty:
        return empty_page(title, f"no word has a rating and a value. {note}")
    import seaborn

    points = rows[["rating", "value"]].to_numpy()
    names = [str(word).replace("_", " ") for word in rows["word"]]
    x, y = points.T
    slope, middle = 0.0, float(y.mean())
    if np.ptp(x) > 0:
        slope = float(np.cov(x, y, ddof=0)[0, 1] / x.var())
        middle -= slope * float(x.mean())
    by_bias, by_distance = np.argsort(y, kind="stable"), np.argsort(y - slope * x - middle, kind="stable")
    half = MOST_APART // 2
    extremes = dict.fromkeys(
        np.concatenate(
            [by_bias[:half], by_bias[::-1][:half], by_distance[:half], by_distance[::-1][:half]]
        ).tolist()
    )
    correlation_texts = [
        typographic(f"{text} {coefficient(value)} {interval(low, high, form=coefficient)}")
        for method, text in {"pearson": "Pearson's r", "spearman": "Spearman's ρ"}.items()
        if method in correlations
        for value, low, high in [correlations[method]]
    ]
    page = Frame(
        _finding(correlations, measure),
        title,
        [
            "A dot is a word; labels mark the most extreme words and those furthest from the line.",
            f"{', '.join(correlation_texts)} (95 % intervals, bootstrap over words)."
            if correlation_texts
            else "",
            note,
        ],
    )
    height = max(0.55 * page.width, 2.8)
    axes = page.panel(height)
    seaborn.scatterplot(rows, x="rating", y="value", ax=axes, s=11, linewidth=0, zorder=3, **MARK)
    ends = np.array([x.min(), x.max()])
    axes.plot(ends, slope * ends + middle, **LINE)
    axes.axhline(0, **DASHED)
    axes.axvline(0, **DASHED)
    axes.margins(0.06)
    axes.set_xlabel(fit_text(rating, page.width - 0.9, NORMAL))
    under_head(axes, fit_text(f"{measure}: ↓ {poles[1]}   |   {poles[0]} ↑", page.inside - 0.5, SMALL))
    axes.set_ylabel("")
    axes.spines["left"].set_visible(True)
    figure = page.done(
        [
            (f"a word ({len(rows)} with a rating)", legend_line(**MARK, markersize=3, linestyle="")),
            ("line of least squares", legend_line(**LINE)),
            legend_neutral("no bias; neutral rating"),
        ]
    )
    order = [*extremes, *(i for i in range(len(points)) if i not in extremes)]
    label_marks(axes, points[order], [names[i] for i in extremes], reach=REACH)
    return figure


def _finding(correlations: Mapping[str, Sequence[float]], measure: str) -> str:
    """Say how the values and the ratings are correlated (Pearson's r), if the interval excludes 0."""
    name = shorten(measure, LONGEST_HEAD)
    value, low, high = correlations.get("pearson", (np.nan,) * 3)
    if value != value:
        return HEADING
    if low <= 0 <= high:
        return f"{name} does not clearly correlate with people's ratings"
    return f"{name} correlates with people's ratings at {typeset(value, form=coefficient)}"


def _drawings(study: Planned) -> Iterator[Drawing]:
    for cell in rating_cells(study):
        # Import late: most studies lack ratings.
        from ..tables.words import place_of

        metric, of_criterion = study.labels[cell.metric], study.config.criteria[cell.criterion].ratings
        ends = poles(study, cell)
        # A cell of two groups has poles.
        assert ends is not None
        spec = {
            "place": place_of(study, cell),
            "query": study.queries[cell.query].name,
            "poles": list(ends),
            "title": f"{topic(cell.criterion)}, {metric}: bias of words and how people rated them",
            "note": f"Model: {state_label(study, cell)}.",
            "rating": of_criterion.label,
            "measure": metric,
        }
        yield Drawing(f"ratings/{cell.name}", {"rated": find_file(of_criterion.file)}, spec)


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    from ..tables.ratings import rated_words

    place, table = spec["place"], read_table(inputs["ratings"])
    of_cell = {name: place[name] for name in ("criterion", "metric", "model", "debias")}
    rows = rows_where(table, query=spec["query"], **of_cell)
    correlations = {row.method: (row.correlation, row.ci_low, row.ci_high) for row in rows.itertuples()}
    words = rated_words(read_table(inputs["words"]), place, inputs["rated"])
    arguments = {key: spec[key] for key in ("poles", "title", "note", "rating", "measure")}
    return ratings(words, correlations=correlations, **arguments)


FIGURES = (
    Figure(
        "ratings",
        "Words by human rating and by bias.",
        _draw,
        question=COMPANY,
        heading=HEADING,
        asks="Does the metric find what people say about words?",
        learn="You learn whether a metric agrees with people.",
        drawings=_drawings,
        reads=("words", "ratings"),
        needs="a criterion with ratings, two groups and a metric that says of each word which it is nearer to",
        reading="A dot is a word, by people's rating (across) and its bias (upwards: closer to the "
        "first target set). Labels mark the most extreme words and those furthest from the "
        "line.",
        example=Example("same", f"ratings/{CELL}", PLACE, each_word_once),
    ),
)
