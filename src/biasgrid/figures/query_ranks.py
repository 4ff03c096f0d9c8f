"""Figure of whether models and metrics order the same queries alike: ranks with intervals, and their correlations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import slug
from ..labels import sic
from ..numbers import coefficient, interval, p_value, typeset, typographic
from .figure import Drawing, Example, Figure, labels, page_name, pages
from .frame import MARGIN, PAGE, empty_page, styled
from .layout import add_axes, add_box, page
from .palette import GREY, MISSING_CELL, ZEBRA, Look, model_looks
from .questions import AGREEMENT
from .rank_intervals import INTERVAL
from .rows import from_tables, rows_of
from .text import BOLD, NORMAL, SMALL, fit_text, line_count, text_width, unit_label
from .visuals import legend_line, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

Column = tuple[str, str, str]  # a metric, a model and a debias method, which order the queries
UNIT = ["metric", "model", "debias"]
MOST_COLUMNS = 8  # on a page
NAMES = 2.1  # inches of a query's or a column's name at most
MEAN: Look = {"color": "#888888", "linewidth": 0.8, "zorder": 1.5}
HEAD, FOOT, GAP = 0.2, 0.24, 0.1  # inches above and below strips, and between them
ROW, TEXT_LINE = 0.16, 0.115  # inches of a query, and of each line of its name
LINE, ABOVE = 0.33, 0.62  # inches of a row of the matrix, and above it
AROUND = 1.15  # inches of title, note and legend
LETTERS = 40  # of a query's name on a line
TINY = 5.6


@styled
def query_ranks(
    ranks: pd.DataFrame,
    correlations: pd.DataFrame,
    agreement: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    template: str,
    columns: Sequence[Sequence[str]],
    level: float = 0.95,
    part: Sequence[int] = (0, 1),
) -> figure.Figure:
    """A row per query, the one that ranks highest on top, a strip per metric and model, and below them the matrix of
    Spearman's correlations of these columns. If no column ranks two queries, the figure has a sentence instead.

    Parameters
    ----------
    ranks, correlations, agreement
        query_ranks.csv, query_correlations.csv and query_agreement.csv.
    labels
        What is printed for the keys of metrics, models and debias methods.
    criterion, template
        Of the queries.
    columns
        Metric, model and debias method of each strip.
    level
        Of the intervals.
    part
        Which of how many pages of rows this is; the first has the matrix.

    Raises
    ------
    BiasgridError
        Where a table has no rows of the criterion.
    """
    title = f"Do they order the queries alike? {criterion}"
    table = rows_of(ranks, "query_ranks", criterion)
    table = table[(table["template"] == template) & table["rank"].notna()]
    if table.empty or table["queries"].max() < 2:
        return empty_page(title, "no metric ranks two queries on a model.")
    column_keys = [(metric, model, debias) for metric, model, debias in columns]
    intervals = {
        ((row.metric, row.model, row.debias), row.query): (row.rank, row.rank_low, row.rank_high)
        for row in table.itertuples()
    }
    means = table.groupby("query")["rank"].mean()
    order = sorted(means.index, key=lambda query: (means[query], query))
    number = len(order)
    order = order[number * part[0] // part[1] : number * (part[0] + 1) // part[1]]
    first = part[0] == 0
    names = {column: f"{ascii_uppercase[i]}  {_name(column, labels)}" for i, column in enumerate(column_keys)}
    texts = {query: fit_text(sic(query), NAMES, SMALL) for query in order}
    column_texts = {column: fit_text(name, NAMES, SMALL) for column, name in names.items()}
    left = 0.1 + max(
        text_width(text, SMALL) for text in [*texts.values(), *(column_texts.values() if first else ())]
    )
    strip = min(1.1, max(0.45, (PAGE[0] - 2 * MARGIN - left) / len(column_keys) - GAP))
    sizes = [_row(line_count(texts[query])) for query in order]
    matrix = first and len(column_keys) > 1
    line = (
        max(LINE, *(TEXT_LINE * line_count(text) + 0.06 for text in column_texts.values())) if matrix else 0.0
    )
    content_height = HEAD + sum(sizes) + FOOT + (ABOVE + len(column_keys) * line if matrix else 0.0)
    looks = _looks(column_keys)
    legend = [
        ("rank", legend_line(**looks[column_keys[0]] | {"color": GREY})),
        (f"{level * 100:g} % interval (bootstrap over words)", legend_line(color=GREY, **INTERVAL)),
        ("mean rank", legend_line(**MEAN)),
    ]
    if not matrix:
        legend += [(name, no_mark()) for name in names.values()]
    figure, top = page(
        title,
        _note(agreement, criterion, template, level),
        legend,
        left + len(column_keys) * (strip + GAP) + 2 * MARGIN,
        content_height,
    )
    top += HEAD
    ends = np.cumsum(sizes)
    middles = ends - np.array(sizes) / 2
    for i, column in enumerate(column_keys):
        axes = add_axes(figure, MARGIN + left + i * (strip + GAP), top, strip, ends[-1])
        for start, size in list(zip(ends - sizes, sizes, strict=True))[::2]:
            axes.axhspan(start, start + size, color=ZEBRA, linewidth=0, zorder=0)
        axes.plot([means[query] for query in order], middles, **MEAN)
        for query, middle in zip(order, middles, strict=True):
            if (column, query) in intervals:
                rank, low, high = intervals[column, query]
                axes.plot([low, high], [middle, middle], color=looks[column]["color"], **INTERVAL)
                axes.plot(rank, middle, **looks[column], zorder=3)
            else:
                axes.text(
                    (number + 1) / 2, middle, "no value", ha="center", va="center", size=TINY, color=GREY
                )
        pad = max(0.6, 0.07 * number)
        axes.set(xlim=(1 - pad, number + pad), ylim=(ends[-1], 0))
        axes.set_title(ascii_uppercase[i], size=NORMAL, weight="bold", pad=3)
        axes.set_xticks([1, number])
        axes.tick_params(axis="y", length=0)
        axes.set_yticks(middles, [texts[query] for query in order] if i == 0 else [])
    if matrix:
        _matrix(
            figure,
            rows_of(correlations, "query_correlations", criterion),
            template,
            column_texts,
            (MARGIN + left, top + ends[-1] + FOOT + 0.54, strip + GAP, line),
        )
    return figure


def _matrix(
    figure: figure.Figure,
    table: pd.DataFrame,
    template: str,
    names: Mapping[Column, str],
    place: tuple[float, float, float, float],
) -> None:
    """Spearman's correlations, with intervals over words below the diagonal and over queries above. `place`: inches
    from the left and the top, and of a cell."""
    import matplotlib

    left, top, width, line = place
    table = table[(table["template"] == template) & (table["method"] == "spearman")]
    pairs = {}
    for row in table.itertuples():
        a, b = (row.metric_a, row.model_a, row.debias_a), (row.metric_b, row.model_b, row.debias_b)
        pairs[a, b] = pairs[b, a] = row
    axes = add_axes(figure, left, top, len(names) * width, len(names) * line)
    colours = matplotlib.colormaps["RdBu_r"]
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if a == b:
                continue
            row = pairs.get((a, b))
            if row is None or np.isnan(row.correlation):
                add_box(axes, (j + 0.02, i + 0.03), 0.96, 0.94, **MISSING_CELL)
                axes.text(j + 0.5, i + 0.5, "n/a", ha="center", va="center", size=SMALL)
                continue
            ends = (row.words_low, row.words_high) if i > j else (row.queries_low, row.queries_high)
            strength = 1.0 if np.isnan(ends[0]) else strength_of(ends)
            colour = colours((row.correlation + 1) / 2)
            add_box(axes, (j + 0.02, i + 0.03), 0.96, 0.94, facecolor=colour, alpha=strength, linewidth=0)
            look: Look = {"ha": "center", "va": "center", "color": readable_on(row.correlation, strength)}
            if np.isnan(ends[0]):
                axes.text(j + 0.5, i + 0.5, typeset(row.correlation, form=coefficient), size=SMALL, **look)
            else:
                axes.text(j + 0.5, i + 0.35, typeset(row.correlation, form=coefficient), size=SMALL, **look)
                axes.text(j + 0.5, i + 0.7, typographic(interval(*ends, form=coefficient)), size=TINY, **look)
    axes.set(xlim=(0, len(names)), ylim=(len(names), 0))
    axes.spines["bottom"].set_visible(False)
    axes.set_yticks(np.arange(len(names)) + 0.5, list(names.values()))
    axes.xaxis.tick_top()
    axes.set_xticks(np.arange(len(names)) + 0.5, list(ascii_uppercase[: len(names)]), weight="bold")
    axes.tick_params(length=0)
    head = "Spearman's ρ of the queries' ranks. Below the diagonal: interval over words; above: over queries"
    width, height = figure.get_size_inches()
    text = fit_text(head, (width - 2 * MARGIN) / BOLD, NORMAL)
    figure.text(MARGIN / width, 1 - (top - 0.2) / height, text, va="bottom", size=NORMAL, weight="bold")


def _looks(columns: Sequence[Column]) -> dict[Column, Look]:
    """A model's mark, where it has one column; others have marks of their own."""
    models = [model for _, model, _ in columns]
    keys = {c: c[1] if models.count(c[1]) == 1 else "/".join(c) for c in columns}
    looks = model_looks(keys.values())
    return {column: looks[key] for column, key in keys.items()}


def strength_of(ends: tuple[float, float] | None) -> float:
    """How strong a colour is: full without an interval or for a narrow one, faint for one from -1 to 1."""
    return 1.0 if ends is None else max(0.12, 1 - (ends[1] - ends[0]) / 2)


def readable_on(value: float, strength: float) -> str:
    """The colour of a number in its cell: black or white, whichever has the more contrast."""
    import matplotlib

    red, green, blue, _ = matplotlib.colormaps["RdBu_r"]((value + 1) / 2)
    # each part as it is on white
    parts = (1 - strength * (1 - part) for part in (red, green, blue))
    light = sum(weight * part**2.2 for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
    return "white" if light < 0.18 else "black"


def _row(lines: int) -> float:
    """Inches of a query whose name has so many lines."""
    return max(ROW, TEXT_LINE * lines + 0.045)


def _name(column: Column, labels: Mapping[str, str]) -> str:
    metric, model, debias = column
    return f"{labels.get(metric, metric)}, {unit_label((model, debias), labels)}"


def _note(agreement: pd.DataFrame, criterion: str, template: str, level: float) -> str:
    rows = agreement[(agreement["criterion"] == criterion) & (agreement["template"] == template)]
    note = "Rank 1 is the strongest association in the metric's positive direction: of the first set with the first."
    for row in rows.itertuples():
        if not np.isnan(row.kendalls_w):
            note += (
                f" All {row.columns} columns over {row.n} queries: Kendall's W {coefficient(row.kendalls_w)}"
            )
            for source, low, high in (
                ("words", row.words_low, row.words_high),
                ("queries", row.queries_low, row.queries_high),
            ):
                note += "" if np.isnan(low) else f", {interval(low, high, form=coefficient)} over {source}"
            note += f" ({level * 100:g} % intervals; {p_value(row.p_value)}; 0 is no agreement, 1 one order)."
    return note


def _drawings(study: Planned) -> Iterator[Drawing]:
    # imported late: most studies have no such table
    from ..tables.query_ranks import metrics_with_direction

    models = list(study.models)
    of_criteria: dict[str, dict[str, list[str]]] = {}
    for criterion, metric, template, *_ in metrics_with_direction(study):
        of_criteria.setdefault(criterion, {}).setdefault(template, []).append(metric)
    for criterion, templates in of_criteria.items():
        parts: list[tuple[dict[str, Any], list[Any]]] = []
        for template, metrics in templates.items():
            cells = [c for c in study.grid.cells.values() if c.criterion == criterion and c.metric in metrics]
            # as the config has the models
            columns = sorted(
                {(c.metric, c.model, c.debias) for c in cells},
                key=lambda column: (models.index(column[1]), column[2] != "none", column),
            )
            queries = {
                part.name
                for query, metric in {(c.query, c.metric) for c in cells}
                for part in study.queries[query].subqueries(study.metric(criterion, metric).template)
            }
            for _, page_columns in pages("", columns, MOST_COLUMNS):
                room = PAGE[1] - AROUND - HEAD - FOOT - ABOVE - len(page_columns) * LINE
                page_count = ceil(sum(_row(ceil(len(name) / LETTERS)) for name in queries) / room)
                spec = {
                    "template": template,
                    "columns": list(map(list, page_columns)),
                    "labels": labels(study, cells),
                }
                parts += [(spec | {"part": [i, page_count]}, cells) for i in range(page_count)]
        for i, (spec, _) in enumerate(parts):
            name = page_name(f"query-ranks-{slug(criterion)}", i)
            spec = spec | {"criterion": criterion}
            yield Drawing(name, spec=spec)


FIGURES = (
    Figure(
        "query-ranks",
        "Whether models of all kinds order the same queries alike: ranks with intervals, and their correlations.",
        from_tables(query_ranks),
        question=AGREEMENT,
        drawings=_drawings,
        reads=("query_ranks", "query_correlations", "query_agreement"),
        when="query_ranks",
        facts=("level",),
        needs="query_ranks: true",
        reading="One row per query, the one with the highest mean rank on top, and one strip per metric on a model, "
        "whose letter the matrix explains. A mark is the query's rank there, 1 the strongest association in the "
        "positive direction, and the line its 95 % interval over words. Where all strips agree, marks follow the "
        "grey line, the mean rank, from the upper left to the lower right. In the matrix is Spearman's correlation "
        "of two strips: below the diagonal with its interval over words, above it with that over queries; the "
        "wider the interval, the paler the cell. Both count: other words, and other queries. With ten queries, a "
        "correlation below .65 is not significant. A metric whose sign has no direction has no strip. Where a "
        "criterion has several templates, or too many queries or models for a page, there are query-ranks-gender-2 "
        "and so on.",
        example=Example("kinds", "query-ranks-gender", {"criterion": "Gender", "method": "spearman"}),
    ),
)
