"""Figure of the agreement of models and metrics on the order of queries: ranks with intervals, and correlations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.files import slug
from ..core.labels import sic
from ..core.numbers import coefficient, interval, p_value
from .figure import Drawing, Example, Figure, cells_of, page_name
from .frame import Frame, empty_page, styled
from .palette import GREY, Look, model_looks
from .questions import AGREEMENT
from .rank_intervals import INTERVAL
from .rows import from_tables, rows_of, rows_where
from .text import (
    BOLD,
    LONGEST_ROW,
    NORMAL,
    SMALL,
    count_noun,
    fit_text,
    letters,
    line_count,
    percent,
    shared_half,
    shorten,
    text_width,
    topic,
    unit_label,
)
from .types.heat import coefficient_text, heat
from .types.rows import height, rows, width
from .visuals import above_names, is_leftmost, legend_interval, legend_line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..tables.planned import Planned

# A metric, a model and a debias method, which order the queries.
Column = tuple[str, str, str]
UNIT = ["metric", "model", "debias"]
# Largest share of the width for the names of queries and of columns.
NAMES = 0.29
HEADING = "Ranks of the queries"
# Limits of Kendall's W.
ALIKE, PARTLY = 0.7, 0.3
# Rows are closer together than elsewhere, so that 30 queries and a matrix fit on a page.
DENSE = 0.93
# Smallest width of a column in inches.
STRIP = 0.52
# Smallest gap between the texts of two cells of the matrix in inches.
GAP = 0.03
MEAN: Look = {"marker": "|", "linestyle": "", "color": "#444444", "markersize": 7, "markeredgewidth": 1}


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
) -> figure.Figure:
    """Draw a row per query, the highest rank on top, and a strip per metric and model.

    Below is the matrix of Spearman's correlations of these columns. If no column ranks two queries, the figure has a
    sentence instead.

    Parameters
    ----------
    ranks, correlations, agreement
        query_ranks.csv, query_correlations.csv and query_agreement.csv.
    labels
        Labels of the keys of metrics, models and debias methods.
    criterion, template
        Criterion and template of the queries.
    columns
        Metric, model and debias method of each strip.
    level
        Level of the intervals.

    Raises
    ------
    BiasgridError
        If a table lacks rows of the criterion.
    """
    table = rows_where(rows_of(ranks, "query_ranks", criterion=criterion), template=template).dropna(
        subset="rank"
    )
    if table.empty or table["queries"].max() < 2:
        return empty_page(HEADING, "no metric ranks two queries on a model.")
    means = table.groupby("query")["rank"].mean()
    order = sorted(means.index, key=lambda query: (means[query], query))
    keys: list[Column] = [(metric, model, debias) for metric, model, debias in columns]
    agreement = rows_where(agreement, criterion=criterion, template=template)
    page = Frame(
        _finding(agreement),
        f"{topic(criterion)}: ranks of {count_noun(len(order), 'query')} by metric and model",
        _notes(agreement, level),
    )
    inches = NAMES * page.width
    half, names = shared_half(order)
    head = f"{half} …" if half else ""
    head_width = text_width(head, NORMAL) * BOLD + 0.1
    if head_width > inches + 0.2:
        head, head_width, names = "", 0.0, [*map(sic, order)]
    names = [fit_text(shorten(name), inches, SMALL) for name in names]
    of_queries = dict(zip(order, names, strict=True))
    of_columns = {
        key: f"{letter}  {fit_text(_name(key, labels), inches - 0.15, SMALL)}"
        for key, letter in zip(keys, letters(len(keys)), strict=True)
    }
    wide = max(head_width, width(of_queries), width(of_columns))
    heads: dict[Any, str] = {
        key: f"{letter}\n{_name(key, labels)}" for key, letter in zip(keys, letters(len(keys)), strict=True)
    }
    heights: dict[Any, float] = dict.fromkeys(keys, DENSE * height(of_queries))
    if len(keys) > 1:
        correlations = rows_of(correlations, "query_correlations", criterion=criterion)
        correlations = rows_where(correlations, template=template, method="spearman")
        lines = _lines(correlations, (page.inside - wide) / len(keys))
        heads[None] = ""
        heights[None] = len(keys) * max(2, lines, *map(line_count, of_columns.values())) * 0.13
    panels = page.panels(heads, heights, labels=wide, least=STRIP, line=len(keys), bold=False)
    if len(keys) > 1:
        _matrix(panels.pop(None), correlations, of_columns, lines)
    looks, of_units = _looks(keys), dict(list(table.groupby(UNIT)))
    for key, axes in panels.items():
        _strip(axes, of_units.get(key, table.iloc[:0]), of_queries, looks[key], means)
        if head and is_leftmost(axes):
            above_names(axes, head, wide)
    legend = [
        ("rank", legend_line(**looks[keys[0]] | {"color": GREY})),
        legend_interval(level, "interval (bootstrap over words)", **INTERVAL),
        ("mean rank of all columns", legend_line(**MEAN)),
    ]
    return page.done(legend)


def _strip(
    axes: Axes, ranks: pd.DataFrame, names: Mapping[str, str], look: Look, means: Mapping[str, float]
) -> None:
    """Draw the ranks of one column."""
    marks = ranks.set_index("query").reindex([*names])[["rank", "rank_low", "rank_high"]]
    marks = marks.set_axis(["value", "low", "high"], axis=1).assign(row=[*names], series="", says="no value")
    rows(axes, marks, names, {"": look}, interval=INTERVAL)
    axes.plot([means[query] for query in names], range(len(names)), zorder=2.5, **MEAN)
    pad = max(0.6, 0.07 * len(names))
    axes.set_xlim(1 - pad, len(names) + pad)
    axes.set_xticks(sorted({1, len(names)}))


def _lines(correlations: pd.DataFrame, cell: float) -> int:
    """Return the number of lines of a coefficient's text that fits in cells of this width in inches.

    It is two or three with the intervals, one without them, and 0 if even a number does not fit.
    """
    rows: Any = correlations.dropna(subset="correlation")
    for lines in (2, 3, 1):
        texts = {
            coefficient_text(row.correlation, low, high, lines)
            for row in rows.itertuples()
            for low, high in ((row.words_low, row.words_high), (row.queries_low, row.queries_high))
        }
        if max((text_width(text, SMALL) for text in texts), default=0.0) + GAP <= cell:
            return lines
    return 0


def _matrix(axes: Axes, table: pd.DataFrame, names: Mapping[Column, str], lines: int) -> None:
    """Draw Spearman's correlations: with 0 lines as shades only, with two or more lines with their intervals.

    Intervals below the diagonal are over words, above it over queries.
    """
    import pandas as pd

    place: Any = axes.get_subplotspec()
    axes.set_subplotspec(place.get_gridspec()[place.rowspan.start, :])
    keys = list(names)
    values = pd.DataFrame(np.nan, index=range(len(keys)), columns=range(len(keys)))
    texts = values.astype(object).fillna("n/a" if lines else "")
    for row in table.itertuples():
        a, b = (row.metric_a, row.model_a, row.debias_a), (row.metric_b, row.model_b, row.debias_b)
        if not {a, b} <= names.keys() or np.isnan(row.correlation):
            continue
        below, above = sorted((keys.index(a), keys.index(b)), reverse=True)
        for i, j, low, high in (
            (below, above, row.words_low, row.words_high),
            (above, below, row.queries_low, row.queries_high),
        ):
            values.iat[i, j] = row.correlation
            texts.iat[i, j] = coefficient_text(row.correlation, low, high, lines) if lines else ""
    heat(
        axes,
        values,
        texts,
        ends=(-1, 1),
        names=([*names.values()], letters(len(names))),
        hidden=np.eye(len(keys), dtype=bool),
        on_top=True,
    )
    head = "Spearman's ρ of the queries' ranks"
    if lines > 1:
        head += ". In brackets its interval: below the diagonal over words, above it over queries"
    if not lines:
        head += ": blue 1, orange −1; numbers in query_correlations.csv"
    figure: Any = axes.get_figure(root=True)
    inches = (1 - NAMES) * figure.get_figwidth() - 0.4
    axes.set_title(fit_text(head, inches / BOLD, NORMAL), loc="left", weight="bold", pad=14)


def _looks(columns: Sequence[Column]) -> dict[Column, Look]:
    """Return a model's mark for its only column; columns of a model with several have marks of their own."""
    models = [model for _, model, _ in columns]
    keys = {c: c[1] if models.count(c[1]) == 1 else "/".join(c) for c in columns}
    looks = model_looks(keys.values())
    return {column: looks[key] for column, key in keys.items()}


def _name(column: Column, labels: Mapping[str, str]) -> str:
    metric, model, debias = column
    return shorten(f"{labels.get(metric, metric)}, {unit_label((model, debias), labels)}", LONGEST_ROW)


def _finding(agreement: pd.DataFrame) -> str:
    """Say how far the columns agree on the order of the queries: Kendall's W."""
    known = agreement["kendalls_w"].dropna()
    if known.empty:
        return HEADING
    w = float(known.iloc[0])
    says = "order" if w >= ALIKE else "partly order" if w >= PARTLY else "hardly order"
    return f"Models {says} the queries alike (W = {coefficient(w)})"


def _notes(agreement: pd.DataFrame, level: float) -> list[str]:
    """Return how to read the figure, and Kendall's W with its intervals."""
    notes = [
        "Rank 1 is the strongest association in the metric's positive direction; a line is an interval over words, a "
        "stroke the query's mean rank.",
        "In the matrix, intervals below the diagonal are over words, those above it over queries.",
    ]
    for row in agreement.itertuples():
        if not np.isnan(row.kendalls_w):
            note = f"Kendall's W of all {row.columns} columns over {row.n} queries: {coefficient(row.kendalls_w)}"
            for source, low, high in (
                ("words", row.words_low, row.words_high),
                ("queries", row.queries_low, row.queries_high),
            ):
                note += "" if np.isnan(low) else f", {interval(low, high, form=coefficient)} over {source}"
            note += f" ({percent(level)} intervals; {p_value(row.p_value)}; 0 is no agreement, 1 one order)."
            notes.append(note)
    return notes


def _drawings(study: Planned) -> Iterator[Drawing]:
    # Import late: most studies lack this table.
    from ..tables.query_ranks import metrics_with_direction

    models = list(study.models)
    of_criteria: dict[str, dict[str, list[str]]] = {}
    for criterion, metric, template, *_ in metrics_with_direction(study):
        of_criteria.setdefault(criterion, {}).setdefault(template, []).append(metric)
    for criterion, templates in of_criteria.items():
        for i, (template, metrics) in enumerate(templates.items()):
            cells = cells_of(study, [criterion])
            # Keep the config's order of models.
            columns = sorted(
                {(c.metric, c.model, c.debias) for c in cells if c.metric in metrics},
                key=lambda column: (models.index(column[1]), column[2] != "none", column),
            )
            spec = {"criterion": criterion, "template": template, "columns": list(map(list, columns))}
            yield Drawing(page_name(f"query-ranks-{slug(criterion)}", i), spec=spec)


FIGURES = (
    Figure(
        "query-ranks",
        "Whether all models order the queries alike: ranks and correlations.",
        from_tables(query_ranks),
        question=AGREEMENT,
        heading=HEADING,
        asks="Do models of all kinds order the queries alike?",
        learn="You learn whether models agree on where bias is strongest.",
        drawings=_drawings,
        reads=("query_ranks", "query_correlations", "query_agreement"),
        when="query_ranks",
        facts=("labels", "level"),
        needs="query_ranks: true",
        reading="A mark is a query's rank in a column (1: strongest association) with its 95 % "
        "interval over words, the stroke its mean rank. The matrix has Spearman's "
        "correlations: intervals over words below the diagonal, over queries above it.",
        example=Example("kinds", "query-ranks-gender", {"criterion": "Gender", "method": "spearman"}),
    ),
)
