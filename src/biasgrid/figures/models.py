"""Figure of the amount of bias of each model: a panel per metric, a row per topic, a mark per model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from ..measure.aggregation import OVERALL
from ..tables.conclusions.headline import models_headline
from ..tables.conclusions.least_biased import Answer, answers
from ..tables.conclusions.overview import (
    BASELINE,
    Mark,
    ModelsCell,
    coverage_text,
    how_to_read_models,
    models_axes,
    models_picture,
    topic_label,
)
from .figure import Drawing, Example, Figure, Files, legend_height, page_name
from .frame import Frame, empty_page, styled
from .palette import CLEAR, ZEBRA, Look, model_looks, models_in_order, open_mark
from .questions import RANKS
from .rows import read_table, rows_of
from .text import BOLD, SMALL, fit_text, left_to_right, line_count, metric_head, sentences, shorten
from .types.rows import LINE, width
from .visuals import ends_beyond, few_ticks, intervals, legend_of, neutral_line, row_names, under_head, zebra

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..tables.planned import Planned

HEADING = "Bias of each model on each topic"
# Inches between two models' marks.
LANE = 0.085
# Largest width of the names of topics in inches.
NAMES = 1.15
# Smallest width of a panel in inches.
LEAST = 1.25
# Largest number of characters of a comparison's result.
LONGEST_TEXT = 150
OWN_SCALE = "own scale"
# Line of a 50 % interval, in points.
THICK = 2.6
# Estimates for planning a page: inches for rows, inches above and below a row of panels, panels side by side, and
# characters of a line in a panel.
ROOM, HEAD = 8.0, 0.45
COLUMNS, CHARACTERS = 4, 24


@styled
def models(
    rankings: pd.DataFrame,
    aggregates: pd.DataFrame,
    pairs: pd.DataFrame | None,
    labels: Mapping[str, str],
    criteria: Sequence[str],
    ranked: Sequence[str],
    metrics: Sequence[str],
    aggregation: str,
    margin: float,
    level: float = 0.95,
    only: Mapping[str, Sequence[str]] | None = None,
) -> figure.Figure:
    """Draw each model's mean bias on each topic according to each metric, with the results of comparisons.

    Parameters
    ----------
    rankings, aggregates, pairs
        rankings.csv, aggregates.csv and, for a study with a bootstrap, pairs.csv.
    labels
        Labels of the keys of models and metrics.
    criteria, ranked, metrics
        All criteria and metrics in their order, and the criteria that are ranked.
    aggregation
        The aggregation by which models are ranked.
    margin
        Largest difference of two models that are alike, in standard deviations.
    level
        Level of the comparisons.
    only
        The "metrics" and "criteria" of a page, if the figure is one of several.
    """
    table = rows_of(rankings, "rankings")
    all_metrics = [*metrics, *(key for key in table["metric"].unique() if key not in metrics)]
    of_all = answers(table, pairs, all_metrics, level)
    shown = [answer for answer in of_all if answer.criterion != OVERALL or len(ranked) > 1]
    cells = models_picture(shown, aggregates, aggregation, labels, margin)
    title = left_to_right(models_headline(of_all, ranked, labels))
    if not cells:
        return empty_page(title or "No two models have values to compare", "models are not compared.")
    page = Frame(
        title or HEADING, "Mean bias by topic and metric", sentences(how_to_read_models(cells, level))
    )
    drawn = [key for key in models_in_order(rankings["model"]) if _has_mark(cells, key)]
    ends = models_axes(cells)
    found = dict.fromkeys(cell.criterion for cell in cells)
    topics = [
        name for name in (*criteria, *sorted({*found} - {*criteria, OVERALL}), OVERALL) if name in found
    ]
    if only:
        topics = [name for name in topics if name in only["criteria"]] or topics
        cells = [cell for cell in cells if cell.metric in only["metrics"]] or cells
    by_place = {(cell.metric, cell.criterion): cell for cell in cells}
    columns = [key for key in all_metrics if any(metric == key for metric, _ in by_place)]
    names = {name: _topic_name(name, shown, labels) for name in topics}
    wide = width(names)
    # Break the texts of a panel into lines that fit; rows are as high as the longest text needs.
    room = page.inside - wide
    line = _panels_of_line(room, len(columns))
    texts = {
        place: left_to_right(fit_text(shorten(cell.text, LONGEST_TEXT), (room / line - 0.15) / BOLD, SMALL))
        for place, cell in by_place.items()
        if place[1] in topics
    }
    strip, of_names = LANE * len(drawn) + 0.08, max(map(line_count, names.values())) * LINE + 0.08
    high: dict[str, float] = {}
    for first in range(0, len(columns), line):
        beside = columns[first : first + line]
        lines = max((line_count(text) for (key, _), text in texts.items() if key in beside), default=1)
        high |= dict.fromkeys(beside, max(strip + lines * LINE + 0.06, of_names))
    heads = {key: metric_head(labels.get(key, key)) for key in columns}
    heights = {key: len(topics) * high[key] for key in columns}
    panels = page.panels(heads, heights, labels=wide, least=LEAST)
    looks = model_looks(rankings["model"])
    is_mixed = len({cell.axis for cell in cells}) > 1
    for key, axes in panels.items():
        zebra(axes, len(topics))
        row_names(axes, [*names.values()])
        neutral_line(axes, 0)
        low, top = ends[key]
        pad = 0.05 * (top - low) or 1.0
        axes.set_xlim(low - pad, top + pad)
        few_ticks(axes.xaxis, 4)
        of_metric = {name: by_place[key, name] for name in topics if (key, name) in by_place}
        if is_mixed and any(cell.axis != BASELINE for cell in of_metric.values()):
            under_head(axes, OWN_SCALE)
        for y, name in enumerate(topics):
            if cell := of_metric.get(name):
                _draw_cell(axes, cell, y - 0.5, high[key], drawn, looks)
                _say(axes, texts[key, name], y - 0.5 + strip / high[key], bool(cell.clear), y % 2 == 0)
    return page.done(legend_of({key: looks[key] for key in drawn}, labels))


def _has_mark(cells: Sequence[ModelsCell], model: str) -> bool:
    return any(mark.model == model for cell in cells for mark in cell.marks)


def _topic_name(name: str, shown: Sequence[Answer], labels: Mapping[str, str]) -> str:
    """Return a topic with the number of its queries, in lines."""
    note = coverage_text([answer for answer in shown if answer.criterion == name], labels)
    parts = (shorten(topic_label(name)), *(shorten(part) for part in note.split(" · ")))
    return "\n".join(fit_text(part, NAMES, SMALL) for part in parts)


def _panels_of_line(room: float, panels: int) -> int:
    """Return how many panels `Frame.panels` puts side by side."""
    fit = max(1, int(room / (LEAST + 0.08)))
    return ceil(panels / ceil(panels / fit))


def _draw_cell(
    axes: Axes,
    cell: ModelsCell,
    top: float,
    high: float,
    models: Sequence[str],
    looks: Mapping[str, Look],
) -> None:
    """Draw the marks of a topic below each other, from `top` on, with a ring around a clearly lowest model.

    An arrow marks an interval that ends beyond the axis.
    """
    marks: dict[str, Mark] = {mark.model: mark for mark in cell.marks}
    for place, model in enumerate(models):
        if mark := marks.get(model):
            y = top + (0.05 + LANE * (place + 0.5)) / high
            intervals(axes, [mark.low], [mark.high], [y], looks[model])
            intervals(axes, [mark.half_low], [mark.half_high], [y], looks[model], linewidth=THICK)
            ends_beyond(axes, mark.low, mark.high, y, looks[model])
            look = looks[model] if mark.is_clear else open_mark(looks[model], 0.9)
            axes.plot([mark.value], [y], zorder=3, clip_on=False, **look)
            if cell.clear == model:
                ring: Look = {"markersize": 10, "markerfacecolor": "none", "markeredgecolor": CLEAR}
                axes.plot([mark.value], [y], "o", zorder=4, clip_on=False, markeredgewidth=1.4, **ring)


def _say(axes: Axes, text: str, y: float, is_clear: bool, is_grey: bool) -> None:
    """Write the result of a comparison below the marks, on the colour of the row."""
    look: Look = {"color": CLEAR, "weight": "bold"} if is_clear else {"color": "#333333"}
    place = axes.get_yaxis_transform()
    box = {"facecolor": ZEBRA if is_grey else "white", "edgecolor": "none", "pad": 0.5}
    axes.text(0.02, y, text, va="top", size=SMALL, transform=place, linespacing=1.1, bbox=box, **look)


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    tables = {name: read_table(file) for name, file in inputs.items()}
    return models(tables["rankings"], tables["aggregates"], tables.get("pairs"), **spec)


def _drawings(study: Planned) -> Iterator[Drawing]:
    """Plan pages with about as many topics and metrics as fit, if the study has several models."""
    # Import late: the tables import numpy and further modules.
    from ..tables.inputs import FACTS

    if len({cell.model for cell in study.grid.cells.values()}) < 2:
        return
    pages = _pages(study, FACTS["metrics"](study))
    for i, only in enumerate(pages):
        yield Drawing(page_name("models", i), spec={"only": only} if len(pages) > 1 else {})


def _pages(study: Planned, metrics: Sequence[str]) -> list[dict[str, list[str]]]:
    """Return the topics and metrics of each page, about as many as fit."""
    keys = {cell.model for cell in study.grid.cells.values()}
    longest = max(len(study.labels[key]) for key in keys)
    lines = min(ceil((longest + len(" is clearly lowest")) / CHARACTERS), 4)
    high = LANE * len(keys) + 0.14 + lines * LINE
    room = ROOM - legend_height(study.labels[key] for key in keys)
    topics = [*study.ranked_criteria, *[OVERALL] * (len(study.ranked_criteria) > 1)]
    metrics = [key for key in metrics if any(key in study.metrics(c) for c in topics[:-1] or topics)]
    rows = max(1, int((room - HEAD) / high))
    bands = max(1, int(room / (HEAD + high * min(rows, len(topics)))))
    return [
        {"criteria": of_topics, "metrics": of_metrics}
        for of_topics in _chunks(topics, rows)
        for of_metrics in _chunks(metrics, bands * COLUMNS)
    ]


def _chunks(names: Sequence[str], most: int) -> list[list[str]]:
    """Split names into lists of about the same length, with at most `most` names."""
    parts = ceil(len(names) / most)
    size = ceil(len(names) / parts)
    return [[*names[i : i + size]] for i in range(0, len(names), size)]


FIGURES = (
    Figure(
        "models",
        "How biased each model is by topic and metric, and if one is clearly lowest.",
        _draw,
        question=RANKS,
        heading=HEADING,
        asks="Which model is how biased, and is one clearly lowest?",
        learn="You learn how large the bias of each model is, and which models clearly differ.",
        drawings=_drawings,
        reads=("rankings", "pairs", "aggregates"),
        when="ranked",
        facts=("labels", "criteria", "ranked", "metrics", "aggregation", "margin", "level"),
        pages=_pages,
        reading="A mark is a model's mean bias over the queries of a topic, with its interval; further right is more "
        "bias. A ring marks a model that is clearly the lowest of those compared. Below stands what the comparisons "
        "say; “cannot tell” does not mean equal.",
        example=Example("embedded", "models", {"debias": "none", "aggregation": "abs_avg"}),
    ),
)
