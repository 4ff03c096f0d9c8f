"""Figure of the share of a metric's value in shuffled text, by metric and training method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.core.files import slug
from biasgrid.core.numbers import plain, share
from biasgrid.figures.figure import Drawing, Example, Figure, distinct_sets
from biasgrid.figures.frame import Frame, empty_page, styled
from biasgrid.figures.palette import Look, model_looks, open_mark
from biasgrid.figures.questions import COMPANY
from biasgrid.figures.rows import from_tables, keys_of, rows_of, rows_where
from biasgrid.figures.text import LONGEST_HEAD, part_label, row_label, shorten, topic
from biasgrid.figures.types.rows import height, rows, width
from biasgrid.figures.visuals import legend_neutral, legend_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from biasgrid.tables.planned import Planned

HEADING = "Bias in shuffled text"


@styled
def shuffled_text(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    query_id: str,
    title: str,
    trainings: Sequence[str],
    metrics: Sequence[str],
    parts: Mapping[str, str],
) -> figure.Figure:
    """Draw one panel per training, one row per metric and (sub-)query, one mark per corpus.

    Without any share, the figure has a sentence in place of panels.

    Parameters
    ----------
    table
        shuffled.csv.
    labels
        Labels of the keys of metrics and of corpora.
    criterion, query_id, title
        Criterion and query of the rows, and the figure's title.
    trainings, metrics
        Names and keys, in the order in which they are drawn.
    parts
        (Sub-)query -> label that distinguishes it from the query's other sub-queries.

    Raises
    ------
    BiasgridError
        If the table lacks rows of the criterion, or of the query.
    """
    drawn = rows_of(table, "shuffled", criterion=criterion, query_id=query_id)
    drawn = rows_where(drawn, debias="none")
    if drawn["share"].isna().all():
        return empty_page(HEADING, "no share is known.")
    filled = model_looks(drawn["corpus"])
    looks: dict[tuple[str, bool], Look] = {}
    for corpus in sorted(filled):
        looks |= {(corpus, True): filled[corpus], (corpus, False): open_mark(filled[corpus])}
    known = drawn["share"].dropna()
    drawn = drawn.sort_values("metric", key=lambda keys: keys.map(metrics.index), kind="stable")
    drawn = drawn.assign(
        row=keys_of(drawn, "metric", "query"),
        series=list(zip(drawn["corpus"], np.isfinite(drawn["share_low"]), strict=True)),
    ).rename(columns={"share": "value", "share_low": "low", "share_high": "high"})
    rows_by_training = {
        training: tuple(dict.fromkeys(part["row"]))
        for training in trainings
        if len(part := rows_where(drawn, training=training))
    }
    # Put panels with the same rows side by side, the largest group first.
    alike = list(rows_by_training.values())
    order = sorted(
        rows_by_training, key=lambda key: (-alike.count(rows_by_training[key]), rows_by_training[key])
    )
    names = {panel_rows: _names(panel_rows, labels, parts) for panel_rows in alike}
    page = Frame(
        f"Shuffled text keeps {share(known.median())} of the bias (median)",
        title,
        [
            "A mark is the bias in models of shuffled text, as a multiple of the bias in models of the same text in "
            "order; even from 0 to 1, logarithmic beyond.",
            "Shuffled text says nothing about any word: at 1 (dashed), a metric finds as much there as in real text.",
            "A line is the 95 % interval over models.",
            "An open mark has none: there is one model, or the value of real text does not differ from the no-bias "
            "value.",
        ],
    )
    panels = page.panels(
        {training: shorten(training, LONGEST_HEAD) for training in order},
        {training: height(names[rows_by_training[training]], len(filled)) for training in order},
        labels=max(map(width, names.values())),
        least=0.8,
        line=max(map(alike.count, alike)),
    )
    end = 1.15 * max(drawn[["value", "high"]].max(axis=None), 1)
    # Leave out ticks that would overlap on a long axis.
    ticks = (0, 1, 10, 100) if end < 1e4 else (0, 1, 10.0 ** int(np.log10(end)))
    before = None
    for training, axes in panels.items():
        part = rows_where(drawn, training=training)[["row", "series", "value", "low", "high"]]
        of_rows = rows_by_training[training]
        rows(axes, part, names[of_rows], looks, neutral=1)
        if of_rows != before:
            axes.set_yticks(range(len(of_rows)), [*names[of_rows].values()])
        before = of_rows
        axes.set_xscale("symlog", linthresh=1, linscale=1.5)
        axes.set_xlim(-0.12, end)
        axes.set_xticks([tick for tick in ticks if tick < end], minor=False)
        axes.set_xticklabels([plain(tick) for tick in axes.get_xticks()])
        axes.minorticks_off()
    return page.done([*legend_of(filled, labels), legend_neutral("as much as real text")])


def _names(
    keys: Sequence[tuple[str, str]], labels: Mapping[str, str], parts: Mapping[str, str]
) -> dict[tuple[str, str], str]:
    """Return the names of rows: the metric and, for a metric with several rows, the part of the query."""
    metrics = [metric for metric, _ in keys]
    return {
        (metric, query): row_label(
            part_label(labels.get(metric, metric), parts.get(query) if metrics.count(metric) > 1 else "")
        )
        for metric, query in keys
    }


def _drawings(study: Planned) -> Iterator[Drawing]:
    # Import late: most studies lack this table.
    from ..tables.shuffled import shuffled_cells

    cells_by_query: dict[tuple[str, str], list[Any]] = {}
    for cell in shuffled_cells(study):
        cells_by_query.setdefault((cell.criterion, cell.query), []).append(cell)
    for (criterion, key), cells in cells_by_query.items():
        query = study.queries[key]
        parts: dict[str, str] = {}
        for metric in dict.fromkeys(cell.metric for cell in cells):
            parts |= distinct_sets(list(query.subqueries(study.metric(criterion, metric).template)))
        spec = {
            "criterion": criterion,
            "query_id": key,
            "title": f"{topic(criterion)}: {query.name}, in shuffled text",
            "trainings": list(study.config.shuffled),
            "metrics": list(dict.fromkeys(cell.metric for cell in cells)),
            "parts": parts,
        }
        yield Drawing(f"shuffled-{slug(criterion)}-{slug(key)}", spec=spec)


FIGURES = (
    Figure(
        "shuffled",
        "How much of a metric's value remains on models of shuffled text.",
        from_tables(shuffled_text),
        question=COMPANY,
        heading=HEADING,
        asks="How much of a score would text without meaning give?",
        learn="You learn how much of a score is due to word frequency alone.",
        drawings=_drawings,
        reads=("shuffled",),
        facts=("labels",),
        needs="shuffled",
        reading="A mark is the bias in shuffled text as a share of that in the same text in order, "
        "with a 95 % interval over models. At the dashed line both are alike; an open mark "
        "has no interval, and there is none where real text has exactly no bias.",
        example=Example(
            "frequency",
            "shuffled-gender-career",
            {"query_id": "career"},
            shown={"shuffled": ["share", "share_low", "share_high"]},
        ),
    ),
)
