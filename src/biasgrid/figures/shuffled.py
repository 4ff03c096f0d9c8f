"""Figure of how much of a metric's value shuffled text gives, by metric and way of training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import slug
from .figure import Drawing, Example, Figure, distinct_sets
from .frame import MARGIN, PAGE, empty_page, styled
from .layout import add_panels
from .palette import DASHED, ZEBRA, model_looks
from .questions import COMPANY
from .rows import from_tables, rows_of
from .text import LONGEST_HEAD, LONGEST_ROW, SMALL, shorten, text_width
from .visuals import legend_line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

ROW = 0.165  # inches
GAP = 0.18  # inches between panels side by side
ACROSS = 3  # panels side by side
ENDS = 0.03, 30.0  # of the axis: shares beyond are marked at the edge
HALF = 0.2  # of a row: from its middle to the marks of the first and the last corpus


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
    """One panel per training, one row per metric and (sub-)query, one mark per corpus.

    If there is no share, the figure has a sentence in place of panels.

    Parameters
    ----------
    table
        shuffled.csv.
    labels
        What is printed for the keys of metrics and of corpora.
    criterion, query_id, title
        Whose rows, and what the figure is called.
    trainings, metrics
        In the order in which they are drawn.
    parts
        (Sub-)query -> what tells it from the query's others.

    Raises
    ------
    BiasgridError
        Where the table has no rows of the criterion.
    """
    query_rows = rows_of(table, "shuffled", criterion)
    query_rows = query_rows[(query_rows["query_id"] == query_id) & (query_rows["debias"] == "none")]
    if query_rows["share"].isna().all():
        return empty_page(title, "no share is known.")
    corpora = list(dict.fromkeys(query_rows["corpus"]))
    looks = model_looks(corpora)
    query_rows = query_rows.sort_values("metric", key=lambda keys: keys.map(metrics.index), kind="stable")
    rows = {
        training: list(dict.fromkeys(zip(part["metric"], part["query"], strict=True)))
        for training in trainings
        if len(part := query_rows[query_rows["training"] == training])
    }
    # the rows that are named on the left; panels with others name theirs themselves
    shared = max(rows.values(), key=len)
    rows = dict(sorted(rows.items(), key=lambda item: item[1] != shared))
    names = _names(shared, labels, parts)
    label_width = max(text_width(name, SMALL) for name in names) + 0.08
    columns = min(ACROSS, len(rows))
    width = (PAGE[0] - 2 * MARGIN - label_width - (columns - 1) * GAP) / columns
    figure, panels, _ = add_panels(
        title,
        "How far from the neutral value a metric is on models of shuffled text, in distances on models of the same "
        "text in order. Shuffled text says nothing of any word: at 1 (dashed), a metric is as far from neutral there "
        "as in real text. A line is the 95 % interval over models; an open mark has none: there is one model, or the "
        "value of real text does not differ from the neutral one. A mark at an edge is beyond it.",
        {training: (shorten(training, LONGEST_HEAD), "") for training in rows},
        columns,
        np.array([min(width, 2.4), len(shared) * ROW]),
        [(labels.get(corpus, corpus), legend_line(**_mark(looks[corpus], False))) for corpus in corpora]
        + [("as much as real text", legend_line(**DASHED))],
        gap=GAP,
        label_width=label_width,
        foot=0.3,
    )
    offsets = dict(
        zip(corpora, np.linspace(-HALF, HALF, len(corpora)) if len(corpora) > 1 else [0.0], strict=True)
    )
    shares = query_rows.set_index(["training", "metric", "query", "corpus"])[
        ["share", "share_low", "share_high"]
    ]
    for i, (training, axes) in enumerate(panels.items()):
        panel_rows = rows[training]
        has_shared_rows = panel_rows == shared
        for index, ((metric, query), name) in enumerate(
            zip(panel_rows, _names(panel_rows, labels, parts), strict=True)
        ):
            y = index if has_shared_rows else 2 * index + 1
            if index % 2 == 0 and has_shared_rows:
                axes.axhspan(y - 0.5, y + 0.5, color=ZEBRA, linewidth=0, zorder=0)
            if not has_shared_rows:
                axes.text(ENDS[0], y - 1, name, size=SMALL, va="center")
            for corpus in corpora:
                if (training, metric, query, corpus) in shares.index:
                    share, low, high = shares.loc[(training, metric, query, corpus)]
                    _draw(axes, y + offsets[corpus], share, low, high, looks[corpus])
        axes.axvline(1, **DASHED)
        axes.set(xscale="log", xlim=ENDS, ylim=(len(shared) - 0.5, -0.5))
        axes.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
        axes.minorticks_off()
        axes.set_yticks(range(len(shared)), names if i % columns == 0 else [""] * len(shared))
        axes.tick_params(axis="y", length=0)
    return figure


def _draw(axes: Any, y: float, share: float, low: float, high: float, look: Mapping[str, Any]) -> None:
    if not np.isfinite(share):
        return
    has_interval = np.isfinite(low)
    if has_interval:
        axes.plot(np.clip([low, high], *ENDS), [y, y], color=look["color"], linewidth=1.0, zorder=2)
    axes.plot(np.clip(share, *ENDS), y, **_mark(look, not has_interval), clip_on=False, zorder=3)


def _mark(look: Mapping[str, Any], is_open: bool) -> dict[str, Any]:
    faces = {"markerfacecolor": "white", "markeredgecolor": look["color"], "markeredgewidth": 0.8}
    return {
        **look,
        "linestyle": "",
        "markersize": 4.2,
        "markeredgewidth": 0.3,
        "markeredgecolor": "white",
    } | (faces if is_open else {})


def _names(rows: Sequence[tuple[str, str]], labels: Mapping[str, str], parts: Mapping[str, str]) -> list[str]:
    """What rows are called: the metric, and of a metric with several the part of the query."""
    metrics = [metric for metric, _ in rows]
    has_parts = [metrics.count(metric) > 1 and bool(parts.get(query)) for metric, query in rows]
    names = [
        f"{labels.get(metric, metric)}: {parts[query]}" if of_part else labels.get(metric, metric)
        for (metric, query), of_part in zip(rows, has_parts, strict=True)
    ]
    return [shorten(name, LONGEST_ROW) for name in names]


def _drawings(study: Planned) -> Iterator[Drawing]:
    # imported late: most studies have no such table
    from ..tables.shuffled import pairs, shuffled_cells

    cells_by_query: dict[tuple[str, str], list[Any]] = {}
    for cell in shuffled_cells(study):
        cells_by_query.setdefault((cell.criterion, cell.query), []).append(cell)
    corpora = {pair["corpus"] for pair in pairs(study)}
    for (criterion, key), cells in cells_by_query.items():
        query = study.queries[key]
        keys = {cell.metric for cell in cells} | corpora
        parts: dict[str, str] = {}
        for metric in dict.fromkeys(cell.metric for cell in cells):
            parts |= distinct_sets(list(query.subqueries(study.metric(criterion, metric).template)))
        spec = {
            "labels": {name: study.labels.get(name, name) for name in sorted(keys)},
            "criterion": criterion,
            "query_id": key,
            "title": f"{criterion}: {query.name}, in shuffled text",
            "trainings": list(study.config.shuffled),
            "metrics": list(dict.fromkeys(cell.metric for cell in cells)),
            "parts": parts,
        }
        yield Drawing(f"shuffled-{slug(criterion)}-{slug(key)}", spec=spec)


FIGURES = (
    Figure(
        "shuffled",
        "How much of a metric's value models of shuffled text give.",
        from_tables(shuffled_text),
        question=COMPANY,
        drawings=_drawings,
        reads=("shuffled",),
        needs="shuffled",
        reading="One panel per way of training, one row per metric, one mark per corpus. A mark says how far from "
        "the neutral value the metric is on models of shuffled text, in distances on models of the same text in "
        "order; the axis is logarithmic. At the dashed line shuffled text, in which no word is nearer to one than "
        "to another, gives as much as real text. A line is a 95 % interval over models. Marks without an interval "
        "are open: there is one model, or the value of real text does not differ from the neutral one. There is no "
        "mark where the value of real text is exactly neutral, as nothing can be a share of 0.",
        example=Example("frequency", "shuffled-gender-career", {"query_id": "career"}),
    ),
)
