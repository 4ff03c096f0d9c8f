"""Figure of published numbers beside ours, of any study that names some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..comparison.verdict import AGREEING, NO_VALUE, NOT_ASKED, OTHER_QUERIES, OTHER_VECTORS, UNJUDGED
from ..numbers import plain, typographic
from .figure import Drawing, Example, Figure
from .frame import MARGIN, PAGE, empty_page, styled
from .layout import add_axes, page
from .palette import GREY, MISSING_MARK, MODEL_COLOURS, ZEBRA, Look, model_colours
from .rows import from_tables, rows_of
from .text import BOLD, NORMAL, SMALL, fit_text, line_count, published_label, text_width
from .visuals import few_ticks, legend_line, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from ..planned import Planned

PRINTED: Look = {"marker": "o", "markersize": 6.5, "markerfacecolor": "none", "markeredgecolor": "#333333"}
PRINTED |= {"markeredgewidth": 0.8, "linestyle": ""}
# of other code, a square
OTHER_CODE = PRINTED | {"marker": "s", "markersize": 6.0}
COMPUTED = "computed by other code"
# the verdicts of comparison.csv; ours fit into the printed number's ring
SHAPES = {
    "reproduced": ("o", 3.4),
    "compatible": ("s", 3.2),
    "explained": ("D", 4.0),
    "differs": ("X", 6.0),
    OTHER_VECTORS: ("^", 4.0),
    OTHER_QUERIES: (">", 4.0),
    NO_VALUE: ("v", 4.0),
    NOT_ASKED: ("<", 4.0),
}
MEANINGS = {
    "reproduced": "ours, reproduced",
    "compatible": "ours, compatible: a single random run was printed, 2 standard deviations of it or less from ours",
    "explained": "ours, explained: a test recomputes the printed number from the cause (see the table)",
    "differs": "ours, differs",
    OTHER_VECTORS: "ours, on other vectors (not judged)",
    OTHER_QUERIES: "ours, for other queries (not judged; the table says which)",
    NO_VALUE: "no value of ours (on the margin; the table has the reason)",
    NOT_ASKED: "left out by the study (on the margin)",
}
QUANTITIES = {
    "avg": "mean",
    "abs_avg": "mean of absolute scores",
    "sum": "sum",
    "abs_sum": "sum of absolute scores",
    "rank": "rank",
    "correlation": "rank correlation",
}
# groups of an evaluation's measures
MEASURES = {
    "direct": "direct bias",
    "hidden": "hidden bias",
    "similarity": "similarity benchmarks",
    "analogy": "analogies",
    "sembias": "SemBias",
    "displacement": "what debiasing changed",
}
LANE = 0.08  # inches between two models' marks in a row
P_VALUES = "p-values"  # a scale
HALVES = "change on half the words"  # another
RATINGS = "correlation with ratings by people"
ANGLES = "angles in degrees"
# how a quantity of a query begins that has a scale of its own
SCALES = {"p_": P_VALUES, "robustness_": HALVES, "rating_": RATINGS, "/scalars/angle_": ANGLES}
NAME = 0.38  # of a column's width, which labels of rows may take
COUNT = 0.58  # inches behind a panel
MOST = 3  # columns: with more, no page would hold the text in a readable size


@dataclass(frozen=True)
class _Panel:
    """Numbers of one metric and scale from one source; `rows` are label -> its numbers."""

    source: str
    title: str
    rows: dict[str, pd.DataFrame]
    heading: str  # of the source, above its first panel
    logarithmic: bool = False

    @property
    def heights(self) -> np.ndarray:
        """Inches of each row."""
        return np.array(
            [
                max((label.count("\n") + 1) * 0.122 + 0.06, part["model"].nunique() * LANE + 0.1)
                for label, part in self.rows.items()
            ]
        )

    @property
    def head(self) -> float:
        lines = self.heading.count("\n") + 1
        title_height = 0.07 + line_count(self.title) * 0.13
        return title_height + (lines * 0.15 + 0.03 if self.heading else 0)

    @property
    def height(self) -> float:
        return self.head + self.heights.sum() + 0.34


@styled
def comparison(
    comparison: pd.DataFrame,
    labels: Mapping[str, str],
    queries: Sequence[tuple[str, str]],
    metric: str | None = None,
) -> figure.Figure:
    """Every published number, a ring (a square: of other code), and ours, a filled mark whose shape is the verdict.

    A panel holds a source's numbers of one metric; a row, those of one printed result: its value and whatever was
    printed of its words; a line in the row, a model. Behind a row of several numbers that are judged stands how many
    of them are reproduced or compatible. Ours that is NaN is a grey mark on the panel's right margin. `queries`: ids
    and names of the queries, in the order of the rows. `metric`: the one whose numbers are drawn, "" for those of an
    evaluation; left out: all. Without a number of it the figure says so. Raises BiasgridError for an empty table.
    """
    table = rows_of(comparison, "comparison").copy()
    # by all of the study's, as in its other figures of this kind
    colours = model_colours({model.split(" ")[0] for model in table["model"]})
    subject = "Evaluations" if metric == "" else labels.get(metric, metric) if metric else "All metrics"
    title = f"{subject}: published numbers and ours"
    if metric is not None:
        table = table[table["metric"].str.partition("~")[0] == metric].copy()
    if table.empty:
        return empty_page(title, "the published files have no number of it for these models and queries.")
    models = sorted(table["model"].unique())
    colours = _state_colours(models, colours)
    other_code = table["origin"] == COMPUTED
    legend: list[tuple[str, Artist]] = []
    if not other_code.all():
        legend.append(("printed", legend_line(**PRINTED)))
    if other_code.any():
        legend.append((COMPUTED, legend_line(**OTHER_CODE)))
    for verdict in SHAPES:
        if (table["verdict"] == verdict).any():
            missing = MISSING_MARK if verdict in (NO_VALUE, NOT_ASKED) else {}
            legend.append((MEANINGS[verdict], legend_line(**_mark(verdict, GREY) | missing)))
    # a correlation between rankings is of no model
    legend += [
        (published_label(m, labels), legend_line(color=colours[m], marker="s", markersize=5, linestyle=""))
        for m in models
        if m
    ]
    # as few columns as let the panels go onto a page
    for n in range(1, MOST + 1):
        width = (PAGE[0] - MARGIN) / n - MARGIN
        panels = _panels(table, labels, dict(queries), width)
        columns = _columns(panels, n)
        height = max(sum(panel.height for panel in column) for column in columns)
        if height + len(legend) * 0.165 + 1.0 <= PAGE[1]:
            break
    if any(_count_judged(part) > 1 for panel in panels for part in panel.rows.values()):
        legend.append(
            ('"2 of 4" behind a row: 2 of its 4 judged numbers are reproduced or compatible', no_mark())
        )
    note = (
        "A row is a printed result, with all numbers that were printed of it. A ring or a square is a printed "
        "number, the mark in it or beside it ours; the mark's shape is the verdict."
    )
    figure, start = page(title, note, legend, PAGE[0], height)
    left = max(text_width(label, SMALL) for panel in panels for label in panel.rows) + 0.1
    for i, column in enumerate(columns):
        top, x = start, MARGIN + i * (width + MARGIN)
        for panel in column:
            if panel.heading:
                place = x / figure.get_figwidth(), 1 - top / figure.get_figheight()
                figure.text(*place, panel.heading, weight="bold", va="top", linespacing=1.1)
            panel_width = width - left - COUNT
            axes = add_axes(figure, x + left, top + panel.head, panel_width, panel.heights.sum())
            _draw_panel(axes, panel, colours, panel_width)
            top += panel.height
    return figure


def _state_colours(models: Sequence[str], colours: Mapping[str, str]) -> dict[str, str]:
    """Colours of models, each untouched or "under" a debias method: a debiased one has the next free one."""
    colours_in_use, state_colours = dict.fromkeys(colours.values()), {}
    for model in models:
        model_colour = colours[model.split(" ")[0]]
        start = MODEL_COLOURS.index(model_colour)
        free = [c for c in MODEL_COLOURS[start:] + MODEL_COLOURS[:start] if c not in colours_in_use]
        state_colours[model] = model_colour if " " not in model else (free or [model_colour])[0]
        colours_in_use[state_colours[model]] = None
    return state_colours


def _panels(
    table: pd.DataFrame, labels: Mapping[str, str], queries: Mapping[str, str], width: float
) -> list[_Panel]:
    import pandas as pd

    table["query"] = [q.split(": ", 1)[0] if ": " in q else "" for q in table["quantity"]]
    table["what"] = [q.split(": ", 1)[-1] for q in table["quantity"]]
    table["scale"] = [_scale(query, what) for query, what in zip(table["query"], table["what"], strict=True)]
    panels: list[_Panel] = []
    for (source, scale, metric), part in table.groupby(["source", "scale", "metric"], sort=True):
        rows: dict[str, pd.DataFrame] = {}
        by_criterion = part.loc[part["query"] == "", "criterion"].nunique() > 1
        # as the study has its queries, what is of several after them
        order = part["query"].map({query: i for i, query in enumerate(queries)}).fillna(len(queries))
        # what a row is not told from the others by is left out
        by_table = part["table"].nunique() > 1
        by_query = part.groupby("table")["query"].nunique().max() > 1
        quantities = part["what"].where(part["query"] == "", "")
        for (name, _, criterion, query, _), numbers in part.groupby(
            ["table", order, "criterion", "query", quantities], sort=True
        ):
            words = [name] if by_table or (query and not by_query) else []
            if query and by_query:
                words.append(queries.get(query, query))
            elif not query:
                words += [criterion] if by_criterion else []
                what = numbers["what"].iloc[0]
                words.append(QUANTITIES.get(what, what.rpartition("/")[2].replace("_", " ")))
            label = "\n".join(fit_text(text, NAME * width, SMALL) for text in dict.fromkeys(words))
            rows[label] = pd.concat([rows[label], numbers]) if label in rows else numbers
        # an evaluation's measures are of no metric
        title = " and ".join(labels.get(key, key) for key in metric.split("~")) or MEASURES.get(scale, scale)
        if scale in (P_VALUES, HALVES, RATINGS, ANGLES):
            title += f", {scale}"
        has_heading = source in {panel.source for panel in panels}
        heading = "" if has_heading else fit_text(source, width / BOLD, NORMAL)
        # in panels of a length that columns can be made of
        parts = np.array_split(np.array(list(rows), dtype=object), ceil(len(rows) / 30))
        for n, of_panel in enumerate(parts):
            panel_rows = {label: rows[label] for label in of_panel}
            name = fit_text(title, (1 - NAME) * width, NORMAL)
            panels.append(_Panel(source, name, panel_rows, "" if n else heading, scale == P_VALUES))
    return panels


def _scale(query: str, what: str) -> str:
    """What has an axis of its own beside a metric's scores: p-values, robustness, correlations with ratings, angles,
    ranks, rank correlations, an evaluation's group."""
    if query:
        return next((scale for beginning, scale in SCALES.items() if what.startswith(beginning)), "")
    return what if what in ("rank", "correlation") else what.rpartition("/")[0]


def _columns(panels: list[_Panel], n: int) -> list[list[_Panel]]:
    """The panels in order in at most n columns, the longest as short as can be."""
    heights = [panel.height for panel in panels]
    low, high = max(heights), sum(heights)

    def fill_columns(limit: float) -> list[list[_Panel]]:
        columns: list[list[_Panel]] = [[]]
        length = 0.0
        for panel, height in zip(panels, heights, strict=True):
            if length + height > limit + 1e-9:
                columns.append([])
                length = 0.0
            columns[-1].append(panel)
            length += height
        return columns

    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if len(fill_columns(middle)) <= n else (middle, high)
    return fill_columns(high)


def _draw_panel(axes: Axes, panel: _Panel, colours: Mapping[str, str], panel_width: float) -> None:
    import pandas as pd

    ends = np.cumsum(panel.heights)
    middles = ends - panel.heights / 2
    numbers = pd.concat(panel.rows.values())[["published", "ours"]].to_numpy()
    for i, (middle, part) in enumerate(zip(middles, panel.rows.values(), strict=True)):
        if i % 2 == 0:
            axes.axhspan(ends[i] - panel.heights[i], ends[i], color=ZEBRA, linewidth=0, zorder=0)
        models = sorted(part["model"].unique())
        lines = middle + (np.arange(len(models)) - (len(models) - 1) / 2) * LANE
        look = OTHER_CODE if (part["origin"] == COMPUTED).all() else PRINTED
        # a number that stands beside several models is one number
        shared = len(models) > 1 and part["published"].nunique(dropna=False) == 1
        if shared:
            (x,) = part["published"].unique()
            axes.plot([x, x], lines[[0, -1]], color=PRINTED["markeredgecolor"], linewidth=0.6, zorder=1)
            axes.plot([x], [middle], zorder=2, **look)
        for y, model in zip(lines, models, strict=True):
            model_rows = part[part["model"] == model]
            if not shared:
                axes.plot(model_rows["published"], np.full(len(model_rows), y), zorder=2, **look)
            for verdict, verdict_rows in model_rows.groupby("verdict"):
                complete_rows = verdict_rows[verdict_rows["ours"].notna()]
                axes.plot(
                    complete_rows["ours"],
                    np.full(len(complete_rows), y),
                    zorder=3,
                    **_mark(verdict, colours[model]),
                )
                if len(complete_rows) < len(verdict_rows):
                    grey = _mark(verdict, GREY) | MISSING_MARK
                    grey |= {"clip_on": False, "transform": axes.get_yaxis_transform()}
                    axes.plot([1 + 0.07 / panel_width], [y], **grey)
        judged_count = _count_judged(part)
        if judged_count > 1:
            text = f"{part['verdict'].isin(AGREEING).sum()} of {judged_count}"
            place: Look = {"transform": axes.get_yaxis_transform(), "va": "center", "size": SMALL}
            axes.text(1 + 0.14 / panel_width, middle, text, **place)
    axes.set_ylim(ends[-1], 0)
    _set_scale(axes, numbers[np.isfinite(numbers)], panel.logarithmic)
    axes.set_yticks(middles, list(panel.rows))
    axes.tick_params(axis="y", length=0)
    axes.set_title(panel.title, loc="left", pad=3)


def _set_scale(axes: Axes, numbers: np.ndarray, logarithmic: bool) -> None:
    if not numbers.size:
        axes.set_xticks([])
        return
    low, high = numbers.min(), numbers.max()
    if logarithmic:
        # whole powers of ten; what is printed as 0 stands left of the smallest other number
        positive = numbers[numbers > 0]
        first = 10.0 ** np.floor(np.log10(positive.min())) if positive.size else 0.1
        last = max(10.0 ** np.ceil(np.log10(high)) if high > 0 else 1.0, first * 10)
        if low <= 0:
            # room for its ring, and for both ticks' text
            axes.set_xscale("symlog", linthresh=first, linscale=max(1.0, np.log10(last / first) / 6))
            axes.set_xlim(-0.5 * first, last * 1.5)
        else:
            axes.set_xscale("log")
            axes.set_xlim(first / 1.5, last * 1.5)
        powers = np.arange(round(np.log10(first)), round(np.log10(last)) + 1)
        powers = powers[:: ceil(len(powers) / 4)]
        axes.set_xticks([0.0] * int(low <= 0) + [10.0**power for power in powers])
        axes.minorticks_off()
        axes.xaxis.set_major_formatter(lambda x, _: typographic(plain(x)))
        return
    # no finer than a difference that matters
    room = max(0.06 * (high - low), 0.05 * max(abs(low), abs(high)), 1e-6)
    axes.set_xlim(low - room, high + room)
    few_ticks(axes.xaxis, 4)


def _count_judged(part: pd.DataFrame) -> int:
    return int((~part["verdict"].isin(UNJUDGED)).sum())


def _mark(verdict: str, colour: str) -> dict:
    marker, size = SHAPES[verdict]
    return {"marker": marker, "markersize": size, "color": colour, "linestyle": "", "markeredgewidth": 0}


def _drawings(study: Planned) -> Iterator[Drawing]:
    if study.config.published or study.config.computed:
        # a figure per metric, as one of all would be taller than a page; and one of what is of no metric
        metrics = dict.fromkeys(cell.metric for cell in study.grid.cells.values())
        for metric in [*metrics, *([""] if study.grid.evaluations else [])]:
            spec = {
                "labels": study.labels,
                "queries": [[key, query.name] for key, query in study.queries.items()],
            }
            name = f"comparison-{metric or 'evaluations'}"
            yield Drawing(name, spec=spec | {"metric": metric})


FIGURES = (
    Figure(
        "comparison",
        "Every published number of a metric and ours, with the verdict on whether they agree.",
        _drawings,
        from_tables(comparison),
        reads=("comparison",),
        needs="numbers to compare with (published, computed)",
        reading="One figure per metric, and one of evaluations. A ring is a printed number (a square: of other "
        "code), a filled mark is ours, and its colour the model. The mark's shape is the verdict, as the legend "
        "has it; a grey mark on the right margin has no value. Behind a row of several numbers stands how many of "
        "those that are judged are reproduced or compatible.",
        example=Example("same", "comparison-same", {"metric": "same"}, shown={"comparison": ["ours"]}),
    ),
)
