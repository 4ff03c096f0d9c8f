"""Simple bars of scores, one panel per metric: by query, a bar per model, or by model, a bar per query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BiasgridError, unknown_name
from ..files import slug
from ..labels import sic
from .figure import (
    Drawing,
    Example,
    Figure,
    cells_of,
    labels,
    metric_groups,
    page_name,
    parts_of_pages,
    queries_of,
    sign_lines,
)
from .frame import MARGIN, PAGE, Legend, blank, styled
from .layout import add_axes
from .palette import DASHED, GREY, HATCHES, MODEL_COLOURS, ZEBRA, Look, unit_areas
from .rows import Unit, from_tables, rows_of, units_of
from .text import (
    BOLD,
    LARGE,
    LONGEST_HALF,
    SMALL,
    fit_text,
    line_count,
    metric_head,
    query_label,
    shorten,
    text_width,
    unit_label,
    wrap_text,
)
from .visuals import few_ticks, heading, legend_area, legend_line, legend_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..planned import Planned

PANEL = 1.3  # inches that a panel is wide at least
MISSING: Look = {"marker": "x", "markersize": 3.5, "color": GREY, "markeredgewidth": 0.8}


@dataclass(frozen=True)
class _Bars:
    """The rows of bars with their names, and the bars of each row."""

    row_column: str
    bar_column: str
    rows: Mapping[Any, str]
    bars: Mapping[Any, str]

    @property
    def bar(self) -> float:
        """Inches across a bar."""
        return max(0.05, min(0.085, 0.45 / len(self.bars)))

    @property
    def height(self) -> float:
        """Inches of its panels."""
        lines = max(map(line_count, self.rows.values()))
        return len(self.rows) * max(lines * 0.122 + 0.05, len(self.bars) * self.bar + 0.1)


@styled
def bars(
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    neutral: Mapping[str, float],
    by: str = "query",
    signs: Mapping[str, str] | None = None,
    only: Mapping[str, Any] | None = None,
) -> figure.Figure:
    """Every score of a criterion as a bar that begins at the metric's neutral value (`neutral`, by metric key).

    One panel per metric. by "query": one row per (sub-)query, one bar per model in it; by "model": one row per model,
    one bar per query. Metrics that measure the same queries stand side by side. A score without a value is a cross on
    the right margin. `signs`: metric key -> what a sign says. `only`: "metrics" and "rows" (queries, or models
    and debias methods) of one of several pages, and which "page" that is.
    Raises BiasgridError where the table has no rows of the criterion or a metric has no neutral value.
    """
    table = rows_of(scores, "bars", criterion)
    table = table.assign(unit=list(zip(table["model"], table["debias"], strict=True)))
    if only is not None:
        rows = [row if by == "query" else tuple(row) for row in only["rows"]]
        is_on_page = table["metric"].isin(only["metrics"]) & table["query" if by == "query" else "unit"].isin(
            rows
        )
        table = rows_of(table[is_on_page], f"bars, page {only['page']}")
    for metric in sorted(table["metric"].unique()):
        if metric not in neutral:
            raise BiasgridError(f"bars: no neutral value: {unknown_name('metric', metric, neutral)}")
    queries = {metric: part["query"].unique() for metric, part in table.groupby("metric")}
    units = [unit for unit in units_of(scores) if unit in set(table["unit"])]
    blocks = _blocks(by, units, queries, labels)
    # of all pages
    query_names = sorted(scores.loc[scores["criterion"] == criterion, "query"].unique())
    bar_keys = list(dict.fromkeys(bar for block, _ in blocks for bar in block.bars))
    looks = (
        unit_areas(bar_keys) if by == "query" else {bar: _look(query_names.index(bar)) for bar in bar_keys}
    )
    names = {bar: name for block, _ in blocks for bar, name in block.bars.items()}

    left = (
        max(text_width(label, SMALL) for block, _ in blocks for label in block.rows.values()) + MARGIN + 0.08
    )
    gap = 0.3
    content_width = max(PAGE[0] - left, max(len(group) for _, group in blocks) * (PANEL + gap))
    handles = [legend_area(**looks[bar]) for bar in bar_keys] + [legend_line(**DASHED)]
    texts = [names[bar] for bar in bar_keys]
    texts += ["no bias (the metric's neutral value)"]
    if statuses := sorted(table.loc[table["value"].isna(), "status"].str.split(":").str[0].unique()):
        handles += [legend_mark(**MISSING)]
        texts += [f"on the right margin: no value ({' or '.join(statuses).replace('_', ' ')})"]
    legend = Legend(handles, texts, left + content_width - 2 * MARGIN)
    page_note = f" (page {only['page']})" if only is not None else ""
    title = fit_text(f"{criterion}{page_note}", legend.width / BOLD, LARGE)
    top, foot = line_count(title) * 0.17 + 0.14, 0.5
    heads = [max(line_count(_head(metric, labels)) for metric in group) * 0.14 + 0.06 for _, group in blocks]
    heights = [head + block.height + foot for head, (block, _) in zip(heads, blocks, strict=True)]
    note_top = top + sum(heights) + legend.height
    note = "\n".join(fit_text(text, legend.width, SMALL) for text in sign_lines(signs or {}, queries, labels))
    figure = blank(legend.width + 2 * MARGIN, note_top + line_count(note) * 0.125 + MARGIN)
    w, h = figure.get_size_inches()
    figure.text(MARGIN / w, 1 - note_top / h, note, va="top", size=SMALL, color="#333333")
    figure.text(MARGIN / w, 1 - 0.1 / h, title, **heading())
    for (block, group), head, height in zip(blocks, heads, heights, strict=True):
        width = content_width / len(group) - gap
        for place, metric in enumerate(group):
            axes = add_axes(figure, left + place * (width + gap), top + head, width, block.height)
            _panel(axes, table[table["metric"] == metric], block, looks, neutral[metric])
            axes.set_title(_head(metric, labels), weight="bold", pad=3)
            axes.set_yticks(
                range(len(block.rows)), list(block.rows.values()) if place == 0 else [""] * len(block.rows)
            )
        top += height
    legend.draw(figure, top)
    return figure


def _blocks(
    by: str, units: Sequence[Unit], queries: Mapping[str, Iterable[str]], labels: Mapping[str, str]
) -> list[tuple[_Bars, list[str]]]:
    """Bars and metrics of panels side by side: at most four metrics that measure the same queries."""
    return [(_bars_of(by, units, names, labels), metrics) for names, metrics in metric_groups(queries)]


def _bars_of(by: str, units: Sequence[Unit], queries: Sequence[str], labels: Mapping[str, str]) -> _Bars:
    models = {unit: unit_label(unit, labels) for unit in units}
    if by == "query":
        return _Bars("query", "unit", {query: query_label(query) for query in queries}, models)
    rows = {unit: wrap_text(name, 34) for unit, name in models.items()}
    return _Bars("unit", "query", rows, {query: shorten(sic(query), LONGEST_HALF) for query in queries})


def _head(metric: str, labels: Mapping[str, str]) -> str:
    return metric_head(labels.get(metric, metric))


def _look(place: int) -> Look:
    """The look of the bars of the i-th query: where colours begin anew, they are hatched."""
    rounds, colour = divmod(place, len(MODEL_COLOURS))
    look = {"facecolor": MODEL_COLOURS[colour], "hatch": HATCHES[rounds % len(HATCHES)]}
    return look | {"linewidth": 0.0, "edgecolor": "white"}


def _panel(axes: Axes, table: pd.DataFrame, block: _Bars, looks: Mapping[Any, Look], neutral: float) -> None:
    row_of = {row: place for place, row in enumerate(block.rows)}
    for row in range(0, len(row_of), 2):
        axes.axhspan(row - 0.5, row + 0.5, color=ZEBRA, linewidth=0, zorder=0)
    axes.axvline(neutral, **DASHED | {"zorder": 3})
    thickness = block.bar / (block.height / len(row_of))
    for lane, bar in enumerate(block.bars):
        bar_rows = table[table[block.bar_column] == bar]
        y = bar_rows[block.row_column].map(row_of).to_numpy(dtype=float)
        y += (lane - (len(block.bars) - 1) / 2) * thickness
        values = bar_rows["value"].to_numpy()
        has_value = ~np.isnan(values)
        axes.barh(
            y[has_value], values[has_value] - neutral, 0.9 * thickness, left=neutral, zorder=2, **looks[bar]
        )
        of_rows: Look = {"clip_on": False, "transform": axes.get_yaxis_transform()}
        axes.plot(np.full((~has_value).sum(), 1.05), y[~has_value], linestyle="", **MISSING, **of_rows)
    axes.set_ylim(len(row_of) - 0.5, -0.5)
    axes.use_sticky_edges = False
    axes.margins(x=0.06)
    if table["value"].isna().all():
        axes.set_xlim(neutral - 1, neutral + 1)
    axes.tick_params(axis="y", length=0)
    few_ticks(axes.xaxis, 4)
    axes.set_xlabel("score", labelpad=1)


def _drawings(by: str, study: Planned) -> Iterator[Drawing]:
    for criterion in study.ranked_criteria:
        metrics = {key: study.metric(criterion, key) for key in study.metrics(criterion)}
        cells = cells_of(study, [criterion])
        spec = {
            "labels": labels(study, cells),
            "criterion": criterion,
            "neutral": {key: metric.neutral for key, metric in metrics.items()},
            "by": by,
            "signs": {key: metric.sign for key, metric in metrics.items()},
        }
        units = sorted({(cell.model, cell.debias) for cell in cells})
        blocks = _blocks(by, units, queries_of(study, criterion), study.labels)
        # a legend of columns as wide as letters mostly are, and notes
        entries = {name for block, _ in blocks for name in block.bars.values()}
        columns = max(1, int(PAGE[0] / (max(map(len, entries)) * 0.062 + 0.42)))
        footer_height = ceil((len(entries) + 2) / columns) * 0.165 + 0.06 + 0.125 * 6 + MARGIN
        parts = parts_of_pages(
            (
                (block_metrics, list(block.rows), block.height / len(block.rows))
                for block, block_metrics in blocks
            ),
            PAGE[1] - 0.35 - footer_height,
            0.9,
        )
        name = f"bars-by-{by}-{slug(criterion)}"
        for i, (page_metrics, rows) in enumerate(parts):
            row_keys = [row if by == "query" else list(row) for row in rows]
            only = {"metrics": page_metrics, "rows": row_keys, "page": f"{i + 1} of {len(parts)}"}
            selection = {"only": only} if len(parts) > 1 else {}
            yield Drawing(page_name(name, i), spec={**spec, **selection})


FIGURES = (
    Figure(
        "bars-by-query",
        "Every score of a criterion as a bar: one panel per metric, one group per query, one bar per model.",
        partial(_drawings, "query"),
        from_tables(bars),
        reads=("scores",),
        reading="A bar is a score and begins at the metric's neutral value (dashed); its colour and hatch are "
        "the model; a white bar with an edge is the model under a debias method. What a bar to the right says "
        "stands below, metric by metric. A cross on the right margin is a score that has no value. Lengths "
        "compare within a panel only. A criterion that needs several pages goes on in files -2 and so on.",
        example=Example(
            "embedded",
            "bars-by-query-gender",
            {"criterion": "Gender", "metric": ["weat", "weat_es"]},
            shown={"scores": ["value"]},
        ),
    ),
    Figure(
        "bars-by-model",
        "Every score of a criterion as a bar: one panel per metric, one group per model, one bar per query.",
        partial(_drawings, "model"),
        from_tables(bars),
        reads=("scores",),
        reading="As bars-by-query, turned round: one group of bars per model, and a colour is a query. It "
        "shows whether one query drives a model's bias.",
        example=Example(
            "embedded",
            "bars-by-model-gender",
            {"criterion": "Gender", "metric": ["weat", "weat_es"]},
            shown={"scores": ["value"]},
        ),
    ),
)
