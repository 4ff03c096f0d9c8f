"""Figure of the bias of queries: a panel per topic, a row per query, a mark per model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from ..core.labels import sic
from ..core.phrases import query_labels
from ..tables.conclusions.headline import LONGEST_HEADLINE, headline
from ..tables.conclusions.overview import FILLED as FILLED_MARK
from ..tables.conclusions.overview import ZEROS, BiasPicture, Row, bias_pictures
from .figure import Drawing, Example, Figure, legend_height, page_name
from .frame import Frame, empty_page, styled
from .palette import GREY, model_looks, models_in_order, open_mark, series_mark
from .questions import BIAS
from .rows import from_tables, rows_where
from .text import (
    LONGEST,
    NORMAL,
    SMALL,
    fit_text,
    left_to_right,
    line_count,
    shorten,
    shorten_to_fit,
    text_width,
)
from .types.rows import LINE, width
from .visuals import few_ticks, legend_line, neutral_line, row_names, under_head, zebra

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..tables.planned import Planned

# Largest share of the width for the names of queries.
NAMES = 0.42
# With more models, rows are higher.
FEW_MODELS = 4
HEADING = "Bias of each query in each model"
READING = "Further right is more bias; the query with most bias on average is on top."
FILLED, OPEN = "filled: {}", "open: no clear evidence"
# Inches of a page for topics and the legend, and inches of a topic's head and axis.
ROOM, HEAD = 8.0, 0.48
# Approximate number of characters of a name in a line.
CHARACTERS = 52

# A criterion, and the first row and the end of the rows on a page.
Part = tuple[str, int, int]


@styled
def bias(
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    criteria: Sequence[str],
    metrics: Sequence[str],
    queries: Mapping[str, str],
    neutral: Sequence[tuple[str, str, float]],
    metric: str = "",
    only: Sequence[Part] = (),
) -> figure.Figure:
    """Draw the bias of every query in every model without debiasing, according to one metric.

    Parameters
    ----------
    scores
        scores.csv.
    labels
        Labels of the keys of models and metrics.
    criteria, metrics
        Keys, in their order.
    queries
        Names of queries by id.
    neutral
        (criterion, metric, its no-bias value).
    metric
        Its key; by default the first metric with values.
    only
        The rows of a page, if the figure is one of several.
    """
    models = models_in_order(scores["model"])
    topics = [*criteria, *(name for name in scores["criterion"].unique() if name not in criteria)]
    pictures = bias_pictures(scores, [metric] if metric else metrics, topics, models, neutral)
    picture = next(pictures, None)
    if picture is None:
        return empty_page("No score could be computed", "no metric has a value.")
    title, label = _title(scores, queries, picture.metric, labels), labels.get(picture.metric, picture.metric)
    page = Frame(title, left_to_right(f"Bias according to {label}"), [ZEROS[picture.axis], READING])
    parts = _parts(picture, only)
    names = {row.query: _name(row.label, NAMES * page.width) for _, rows, _ in parts for row in rows}
    drawn = [model for model in models if any(mark.model == model for mark in picture.marks)]
    high = {
        name: _row_height(len(drawn), max(line_count(names[row.query]) for row in rows))
        for name, rows, _ in parts
    }
    wide = width(names)
    panels = page.panels(
        {name: head for name, _, head in parts},
        {name: len(rows) * high[name] for name, rows, _ in parts},
        labels=wide,
        line=1,
    )
    looks = model_looks(scores["model"])
    shared = {topic.name: topic.shared for topic in picture.topics}
    room = page.inside - wide - 0.1
    low, top = picture.ends
    pad = 0.04 * (top - low) or 1.0
    for name, rows, _ in parts:
        axes = panels[name]
        zebra(axes, len(rows))
        row_names(axes, [names[row.query] for row in rows])
        neutral_line(axes, 0)
        axes.set_xlim(low - pad, top + pad)
        few_ticks(axes.xaxis, 6)
        if shared[name]:
            under_head(axes, fit_text(sic(shared[name]), room, SMALL))
        for place, model in enumerate(drawn):
            down = _lane(place, len(drawn)) / high[name]
            _draw_marks(axes, rows, model, down, looks[model])
        for y, row in enumerate(rows):
            if not row.marks:
                _say(axes, y, row.missing, room)
    axes.set_xlabel(fit_text(picture.axis, room, NORMAL), labelpad=2)
    return page.done(_legend(picture, drawn, labels, looks))


def _title(scores: pd.DataFrame, queries: Mapping[str, str], metric: str, labels: Mapping[str, str]) -> str:
    """Return the study's headline if this metric has the same finding; otherwise the metric's finding."""
    own, whole = rows_where(scores, metric=metric), headline(scores, queries)
    if headline(own, queries) == whole:
        return whole
    label = labels.get(metric, metric)
    found = headline(own, queries, LONGEST_HEADLINE - len(label.split()))
    return left_to_right(f"{label}: {found[0].lower()}{found[1:]}")


def _parts(picture: BiasPicture, only: Sequence[Part]) -> list[tuple[str, Sequence[Row], str]]:
    """Return the topics of a page: name, rows, and heading."""
    by_name = {topic.name: topic.rows for topic in picture.topics}
    parts: list[tuple[str, Sequence[Row], str]] = []
    for name, first, end in only or [(name, 0, len(rows)) for name, rows in by_name.items()]:
        of_topic = by_name.get(name, ())
        rows = of_topic[first:end]
        if rows:
            count = f": queries {first + 1} to {first + len(rows)} of {len(of_topic)}"
            parts.append((name, rows, shorten(name) + count * (len(rows) < len(of_topic))))
    return parts or [(name, rows, shorten(name)) for name, rows in by_name.items()]


def _name(label: str, inches: float) -> str:
    """Return the name of a row, in lines; the attribute sets begin a new line if one line is not enough."""
    text = sic(label)
    if text_width(text, SMALL) <= inches:
        return text
    halves = text.replace(": ", ":\n", 1).split("\n")
    return "\n".join(fit_text(shorten(half), inches, SMALL) for half in halves)


def _row_height(models: int, lines: int) -> float:
    """Return the height of a row in inches."""
    return max(0.19 if models <= FEW_MODELS else 0.1 + 0.035 * models, lines * LINE + 0.04)


def _lane(place: int, models: int) -> float:
    """Return the distance in inches of a model's mark below the middle of its row, so that equal values show."""
    return (place - (models - 1) / 2) * (0.025 if models <= FEW_MODELS else 0.035)


def _draw_marks(axes: Axes, rows: Sequence[Row], model: str, down: float, look: Mapping[str, Any]) -> None:
    """Draw a model's marks, filled if there is clear evidence."""
    for is_clear, shape in ((False, open_mark(dict(look), 0.9)), (True, dict(look))):
        places = [
            (mark.value, y + down)
            for y, row in enumerate(rows)
            for mark in row.marks
            if mark.model == model and mark.is_clear == is_clear
        ]
        if places:
            axes.plot(*zip(*places, strict=True), zorder=3 + is_clear, clip_on=False, **shape)


def _say(axes: Axes, y: float, text: str, room: float) -> None:
    """Write the reason for a row without marks on the wider side of 0."""
    low, high = axes.get_xlim()
    is_right = high >= -low
    inches = room * (high if is_right else -low) / (high - low) - 0.1
    axes.annotate(
        shorten_to_fit(text, inches, SMALL),
        (0, y),
        (4 if is_right else -4, 0),
        textcoords="offset points",
        ha="left" if is_right else "right",
        va="center",
        size=SMALL,
        color=GREY,
    )


def _legend(
    picture: BiasPicture, models: Sequence[str], labels: Mapping[str, str], looks: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    legend = [(labels.get(model, model), legend_line(**looks[model])) for model in models]
    grey = series_mark(0) | {"color": GREY}
    if any(mark.is_clear for mark in picture.marks):
        legend.append((FILLED.format(picture.filled), legend_line(**grey)))
    if picture.filled and not all(mark.is_clear for mark in picture.marks):
        legend.append((OPEN, legend_line(**open_mark(grey, 0.9))))
    return legend


def _drawings(study: Planned) -> Iterator[Drawing]:
    """Plan a figure of the study's first metric; `Grid.plot` draws the figures of other metrics."""
    # Import late: the tables import numpy and further modules.
    from ..tables.inputs import FACTS

    pages = _pages(study, FACTS["metrics"](study))
    for i, only in enumerate(pages):
        yield Drawing(page_name("bias", i), spec={"only": only} if len(pages) > 1 else {})


def _pages(study: Planned, metrics: Sequence[str]) -> list[list[list[Any]]]:
    """Return the rows of each page of the first metric, about as many as fit."""
    metric = metrics[0]
    queries: dict[str, dict[str, None]] = {}
    for cell in study.grid.cells.values():
        if cell.metric == metric:
            queries.setdefault(cell.criterion, {})[cell.query] = None
    models = dict.fromkeys(cell.model for cell in study.grid.cells.values())
    legend = legend_height((study.labels[key] for key in models), (FILLED.format(FILLED_MARK), OPEN))
    left = room = ROOM - legend
    pages: list[list[list[Any]]] = [[]]
    for criterion, of_criterion in queries.items():
        template = study.metric(criterion, metric).template
        names = {sub.name for key in of_criterion for sub in study.queries[key].subqueries(template)}
        _, labels = query_labels(sorted(names))
        high = _row_height(len(models), max(map(_line_count, labels.values())))
        first = 0
        while first < len(names):
            fit = int((left - HEAD) / high)
            if fit < min(3, len(names) - first) and pages[-1]:
                pages.append([])
                left = room
                continue
            end = min(first + max(fit, 3), len(names))
            pages[-1].append([criterion, first, end])
            left -= HEAD + (end - first) * high
            first = end
    return pages


def _line_count(label: str) -> int:
    """Estimate the number of lines into which `_name` breaks a label."""
    halves = [label] if len(label) <= CHARACTERS else label.split(": ", 1)
    return sum(ceil(min(len(half), LONGEST) / CHARACTERS) for half in halves)


FIGURES = (
    Figure(
        "bias",
        "What is biased: a row per query, a mark per model, on the common scale.",
        from_tables(bias),
        question=BIAS,
        heading=HEADING,
        asks="On which queries is which model biased?",
        learn="You learn which queries show bias, in which models, and where the evidence is clear.",
        drawings=_drawings,
        reads=("scores",),
        facts=("labels", "criteria", "metrics", "queries", "neutral"),
        pages=_pages,
        reading="Further right is more bias; at the dashed line, a model has as much bias as unrelated words of the "
        "same model. The query with most bias is on top. A filled mark is clear evidence of bias: every test of the "
        "metric is significant. Without a mark, the score or its baseline is missing. The first "
        "metric has the figure `bias`; others on the common scale have one each.",
        example=Example(
            "embedded",
            "bias",
            {"metric": "weat", "debias": "none"},
            shown={"scores": ["standardized"]},
        ),
    ),
)
