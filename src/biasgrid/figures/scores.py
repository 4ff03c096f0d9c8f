"""Figure of scores, query by query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BiasgridError, unknown_name
from ..files import slug
from ..numbers import typeset
from ..verdicts.evidence import ALL, GROUPS, MARKS, MEANINGS, NONE, OUT_OF_REACH, PERMUTATION, UNTESTED
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
from .palette import (
    GREY,
    MISSING_MARK,
    ZEBRA,
    Look,
    add_letters,
    method_letters,
    model_looks,
    series_mark,
    unit_looks,
)
from .rows import Unit, from_tables, rows_of, units_of
from .text import (
    LONGEST_HEAD,
    SMALL,
    fit_text,
    line_count,
    metric_head,
    query_label,
    shorten,
    text_width,
    unit_label,
)
from .visuals import few_ticks, heading, legend_line, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..planned import Planned

INTERVAL: Look = {"linewidth": 0.8, "alpha": 0.75}
NEUTRAL: Look = {"color": GREY, "linewidth": 0.9, "linestyle": (0, (4, 2))}
# what the tests ask, by the columns of their p-values
QUESTIONS = {
    "p_value": "Permutation: does it matter which set a word is in? Most pairs of sets "
    "of similar words differ in this way, whatever the topic.",
    "p_groups": "Random groups: is the score more biased than with random groups of the model's words, as large "
    "and as coherent as the query's, and as near to each other?",
}
MARK_NAMES = {
    "full": "filled mark",
    "half": "half-filled mark",
    "open": "open mark",
    "dot": "dot",
    "": "small open mark",
}
SIDES = {PERMUTATION: "left", GROUPS: "right"}  # which half is filled
DRAWN = (UNTESTED, OUT_OF_REACH, NONE, GROUPS, PERMUTATION, ALL)  # the last on top
COLUMNS = ("evidence", "tests", *QUESTIONS, "ci_low", "ci_high")
FAR = 4  # models that lie so many times further from the neutral value than all others are cut off
TINY = 5.5  # points
TITLE, HEAD, FOOT = 0.32, 0.2, 0.5  # inches


@styled
def scores(
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    neutral: Mapping[str, float],
    level: float = 0.95,
    signs: Mapping[str, str] | None = None,
    only: Mapping[str, Any] | None = None,
) -> figure.Figure:
    """Every score of a criterion: one panel per metric, one row per (sub-)query, one mark per model.

    Panels with the same queries stand side by side. The dashed line is the metric's neutral value (`neutral`, by
    metric key); `signs`: metric key -> what a sign says. A score that is NaN is its model's mark on the panel's right
    margin. Where the table has ci_low and ci_high, intervals of so much `level`, they are a thin line through the
    mark. Scores of a model so far out that the others could not be seen are cut off: an arrow with the value.

    A mark's fill says what its score is evidence for: the table's column `evidence`, by `verdicts.evidence.MARKS`; a
    table without the column has no tests. `only`: the "metrics" and the "queries" of
    one of several pages, and which "page" that is.
    Raises BiasgridError where the table has no rows of the criterion or a metric has no neutral value.
    """
    table = rows_of(scores, "scores", criterion)
    # of all pages
    limits = {key: _limits(part, neutral.get(key, 0)) for key, part in table.groupby("metric")}
    if only is not None:
        table = table[table["metric"].isin(only["metrics"]) & table["query"].isin(only["queries"])]
        table = rows_of(table, f"scores, page {only['page']}")
    # columns that a table of a study without inference, or of older code, may lack
    table = table.reindex(columns=dict.fromkeys([*table, *COLUMNS]))
    table["evidence"] = table["evidence"].where(table["evidence"].notna(), UNTESTED)
    units = units_of(table)
    # of all models of the table: no criterion decides what one of them looks like
    looks = unit_looks(units_of(scores))
    marks = {unit: look for unit, look in looks.items() if unit in set(units)}
    models = model_looks(model for model, _ in units_of(scores))
    letters = method_letters(units_of(scores))
    for metric in sorted(table["metric"].unique()):
        if metric not in neutral:
            raise BiasgridError(f"scores: no neutral value: {unknown_name('metric', metric, neutral)}")
    queries = {metric: part["query"].unique() for metric, part in table.groupby("metric")}
    blocks = _blocks(queries, len(units))

    statuses = sorted(table.loc[table["value"].isna(), "status"].str.split(":").str[0].unique())
    handles = [legend_line(**marks[unit]) for unit in units]
    names = [unit_label(unit, labels) for unit in units]
    handles += [legend_line(**NEUTRAL)]
    names += ["no bias (the metric's neutral value)"]
    if table["ci_low"].notna().any():
        handles += [legend_line(color=GREY, **INTERVAL)]
        names += [f"{level * 100:g} % confidence interval over words"]
    verdicts = set(table.loc[table["value"].notna(), "evidence"])
    for verdict in reversed(DRAWN):
        if verdict in verdicts:
            handles += [legend_line(**_mark_look(series_mark(0) | {"color": GREY}, verdict))]
            side = f" ({SIDES[verdict]})" if verdict in SIDES else ""
            names += [f"{MARK_NAMES[MARKS[verdict]]}{side}: {MEANINGS[verdict]}"]
    if any(limits[metric] is not None for metric in queries):
        handles += [no_mark()]
        names += [
            "arrow: beyond the axis; a score with its value (“to”: the furthest of several), or an interval's end"
        ]
    if statuses:
        handles += [legend_line(**series_mark(0) | MISSING_MARK)]
        names += [f"mark on the right margin: no value ({' or '.join(statuses).replace('_', ' ')})"]

    left = max(text_width(label, SMALL) for block in blocks for label in block.labels) + MARGIN + 0.08
    gap = 0.4 if statuses else 0.2
    content_width = max(PAGE[0] - left, max(len(block.metrics) for block in blocks) * (1.3 + gap))
    legend = Legend(handles, names, left + content_width - 2 * MARGIN)
    heights = [HEAD + len(block.queries) * block.row + FOOT for block in blocks]
    tests = [column for column in QUESTIONS if table[column].notna().any()]
    notes = [*sign_lines(signs or {}, queries, labels), *(QUESTIONS[column] for column in tests)]
    note = "\n".join(fit_text(text, legend.width, SMALL) for text in notes)
    note_top = TITLE + sum(heights) + legend.height
    figure = blank(legend.width + 2 * MARGIN, note_top + line_count(note) * 0.125 + MARGIN)
    w, h = figure.get_size_inches()
    title = shorten(criterion, LONGEST_HEAD) + ("" if only is None else f" (page {only['page']})")
    figure.text(MARGIN / w, 1 - 0.1 / h, title, **heading())
    figure.text(MARGIN / w, 1 - note_top / h, note, va="top", size=SMALL, color="#333333")
    top = TITLE
    for block, height in zip(blocks, heights, strict=True):
        width = content_width / len(block.metrics) - gap
        for i, metric in enumerate(block.metrics):
            place = left + i * (width + gap), top + HEAD, width, len(block.queries) * block.row
            axes = add_axes(figure, *place)
            metric_rows = table[table["metric"] == metric]
            has_no_test = metric_rows["value"].notna().any() and set(metric_rows["evidence"]) == {UNTESTED}
            has_one_test = len(tests) == len(QUESTIONS) and set(metric_rows["tests"]) == {1}
            note = ("no test" if has_no_test else "one test" if has_one_test else "") if tests else ""
            panel = _Panel(axes, width, neutral[metric], limits[metric])
            panel.draw(metric_rows[metric_rows["query"].isin(block.queries)], block, units, models, letters)
            axes.set_xlabel(f"score ({note})" if note else "score", labelpad=1)
            axes.set_title(metric_head(labels.get(metric, metric)), weight="bold", pad=3)
            axes.set_yticks(range(len(block.queries)), block.labels if i == 0 else [""] * len(block.queries))
        top += height
    legend.draw(figure, top)
    return figure


@dataclass(frozen=True)
class _Block:
    """Panels side by side: metrics of the same queries."""

    queries: tuple[str, ...]
    metrics: list[str]
    models: int

    @property
    def labels(self) -> list[str]:
        return [query_label(query) for query in self.queries]

    @property
    def lane(self) -> float:
        """Inches between two models' marks in a row."""
        return max(0.034, min(0.06, 0.25 / self.models))

    @property
    def row(self) -> float:
        lines = max(label.count("\n") + 1 for label in self.labels)
        return max(lines * 0.122 + 0.05, self.models * self.lane + 0.1)


def _blocks(queries: Mapping[str, Iterable[str]], models: int) -> list[_Block]:
    """Blocks of at most four metrics that measure the same queries."""
    return [_Block(names, metrics, models) for names, metrics in metric_groups(queries)]


def _limits(table: pd.DataFrame, neutral: float) -> tuple[float, float] | None:
    """The axis without models that would dwarf all others' scores (of long vectors: RND, RIPA); None: it has all."""
    reach = table.reindex(columns=["value", "ci_low", "ci_high"]).astype(float)
    units = _units(table)
    longest = (reach - neutral).abs().max(axis=1).groupby(units).max().dropna().sort_values(ascending=False)
    # the widest gap among the models that are further out than half of all
    steps = (longest.to_numpy()[:-1] / np.maximum(longest.to_numpy()[1:], 1e-12))[: len(longest) // 2]
    if not len(steps) or steps.max() < FAR:
        return None
    near = reach[~units.isin(longest.index[: steps.argmax() + 1])]
    low, high = min(near.min(axis=None), neutral), max(near.max(axis=None), neutral)
    pad = 0.08 * (high - low)
    return low - pad, high + pad


@dataclass(frozen=True)
class _Panel:
    """The axes of a metric, so many inches wide. `limits`: where scores are cut off, if anywhere."""

    axes: Axes
    width: float
    neutral: float
    limits: tuple[float, float] | None

    def draw(
        self,
        table: pd.DataFrame,
        block: _Block,
        units: Sequence[Unit],
        models: Mapping[str, Look],
        letters: Mapping[str, str],
    ) -> None:
        """One lane per model in each row: marks, intervals, margin."""
        axes, rows = self.axes, len(block.queries)
        row_of = {query: row for row, query in enumerate(block.queries)}
        for row in range(0, rows, 2):
            axes.axhspan(row - 0.5, row + 0.5, color=ZEBRA, linewidth=0, zorder=0)
        axes.axvline(self.neutral, **NEUTRAL, zorder=1)
        lanes = {
            unit: (lane - (len(units) - 1) / 2) * block.lane / block.row for lane, unit in enumerate(units)
        }
        of_units = _units(table)
        y = table["query"].map(row_of).to_numpy() + of_units.map(lanes).to_numpy(dtype=float)
        positions, limits_of_ends = self._cut(table, y, row_of)
        table = table.assign(y=y, at=positions)
        for lane, unit in enumerate(units):
            unit_rows, look = table[of_units == unit], models[unit[0]]
            y, has_value = unit_rows["y"].to_numpy(), unit_rows["value"].notna().to_numpy()
            ends = unit_rows[["ci_low", "ci_high"]].to_numpy(dtype=float)
            has_interval = np.isfinite(ends).all(axis=1)
            clipped_ends = np.clip(ends, *limits_of_ends)
            if has_interval.any():
                low, high = clipped_ends[has_interval].T
                axes.hlines(y[has_interval], low, high, colors=look["color"], zorder=2, **INTERVAL)
            for side, marker in enumerate("<>"):
                # not beside a score that lies there itself
                cut = (
                    has_interval
                    & (ends != clipped_ends)[:, side]
                    & (unit_rows["at"] != limits_of_ends[side]).to_numpy()
                )
                if cut.any():
                    cut_x = clipped_ends[cut, side]
                    axes.scatter(
                        cut_x, y[cut], 5, look["color"], marker=marker, linewidth=0, clip_on=False, zorder=2
                    )
            for verdict in DRAWN:
                mask = has_value & (unit_rows["evidence"] == verdict).to_numpy()
                if mask.any():
                    axes.plot(
                        unit_rows["at"].to_numpy()[mask], y[mask], zorder=3, **_mark_look(look, verdict)
                    )
            # in turns on three lines, where neighbours do not hide each other
            margin = np.full((~has_value).sum(), 1 + (0.07 + lane % 3 * 0.08) / self.width)
            of_rows = {"clip_on": False, "transform": axes.get_yaxis_transform()}
            if not has_value.all():
                open_look = MISSING_MARK | {"markeredgecolor": look["color"]}
                axes.plot(margin, y[~has_value], **look | open_look | of_rows)
            if letter := letters.get(unit[1]):
                add_letters(axes, unit_rows["at"].to_numpy()[has_value], y[has_value], look, letter, zorder=4)
                add_letters(axes, margin, y[~has_value], look, letter, zorder=4, **of_rows)
        axes.set_ylim(rows - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        if self.limits is None:
            axes.margins(x=0.08)
            few_ticks(axes.xaxis, 4)

    def _cut(
        self, table: pd.DataFrame, y: np.ndarray, row_of: Mapping[str, int]
    ) -> tuple[np.ndarray, tuple[float, float]]:
        """Where scores have their marks, and between what intervals are drawn.

        Marks beyond the limits stand behind them, beside an arrow and the value.
        """
        positions = table["value"].to_numpy(dtype=float).copy()
        if self.limits is None:
            return positions, (-np.inf, np.inf)
        from matplotlib.ticker import MaxNLocator

        low, high = self.limits
        cuts = {"←": positions < low, "→": positions > high}
        texts = {}
        for arrow, cut in cuts.items():
            # one text for all of a row
            for query, row in row_of.items():
                is_cut = cut & (table["query"] == query).to_numpy()
                if is_cut.any():
                    values = _value_text(positions[is_cut])
                    text = f"{arrow} {values}" if arrow == "←" else f"{values} {arrow}"
                    texts[arrow, row] = text, y[is_cut].mean()
        # inches behind the limits: a mark and a text
        zones = [
            max(
                (
                    text_width(text, TINY) + 0.14 + 0.07 * (table["debias"] != "none").any()
                    for (a, _), (text, _) in texts.items()
                    if a == arrow
                ),
                default=0.0,
            )
            for arrow in cuts
        ]
        inch = (high - low) / max(self.width - sum(zones), 0.4)
        edges = low - zones[0] * inch, high + zones[1] * inch
        for (arrow, _), (text, height) in texts.items():
            edge, side = (edges[0], "left") if arrow == "←" else (edges[1], "right")
            self.axes.text(edge, height, text, ha=side, va="center", size=TINY, color="#333333", zorder=5)
        for limit, edge in zip(self.limits, edges, strict=True):
            if limit != edge:
                self.axes.axvline(limit, color=GREY, linewidth=0.5, linestyle=(0, (1, 2)), zorder=1)
        self.axes.set_xlim(*edges)
        # as many as their numbers have room for
        most = int((high - low) / inch * 2.5)
        ticks = (
            MaxNLocator(min(4, most), steps=(1, 2, 5, 10)).tick_values(low, high)
            if most > 1
            else [self.neutral]
        )
        self.axes.set_xticks([tick for tick in ticks if low <= tick <= high])
        ends = low - 0.05 * inch * (zones[0] > 0), high + 0.05 * inch * (zones[1] > 0)
        positions[cuts["←"]], positions[cuts["→"]] = ends
        return positions, ends


def _value_text(values: np.ndarray) -> str:
    """A value; of several, how far they reach."""
    furthest = values[np.abs(values).argmax()]
    return "to " * (len(values) > 1) + typeset(furthest, 2)


def _units(table: pd.DataFrame) -> pd.Series:
    """Each row's model and debias method."""
    import pandas as pd

    return pd.Series(list(zip(table["model"], table["debias"], strict=True)), index=table.index, dtype=object)


def _open(colour: str) -> Look:
    return {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 0.9}


def _mark_look(look: Look, verdict: str) -> Look:
    """How a mark looks by what its score is evidence for."""
    colour, size = look["color"], 0.55 * look["markersize"]
    side = {"fillstyle": SIDES.get(verdict, "full"), "markerfacecoloralt": "white"}
    looks: dict[str, Look] = {
        "full": {},
        "half": _open(colour) | side | {"markerfacecolor": colour},
        "open": _open(colour),
        "dot": {"markersize": size, "markeredgewidth": 0},
        "": _open(colour) | {"markersize": size, "markeredgewidth": 0.6},
    }
    return look | looks[MARKS[verdict]]


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.ranked_criteria:
        metrics = {key: study.metric(criterion, key) for key in study.metrics(criterion)}
        cells = cells_of(study, [criterion])
        spec = {
            "labels": labels(study, cells),
            "criterion": criterion,
            "neutral": {key: metric.neutral for key, metric in metrics.items()},
            "signs": {key: metric.sign for key, metric in metrics.items()},
        }
        units = {(cell.model, cell.debias) for cell in cells}
        blocks = _blocks(queries_of(study, criterion), len(units))
        # a legend of columns as wide as letters mostly are, and notes
        columns = max(
            1, int(PAGE[0] / (max(len(unit_label(unit, study.labels)) for unit in units) * 0.062 + 0.42))
        )
        footer_height = ceil((len(units) + 7) / columns) * 0.165 + 0.06 + 0.125 * 7 + MARGIN
        parts = parts_of_pages(
            ((block.metrics, block.queries, block.row) for block in blocks),
            PAGE[1] - TITLE - footer_height,
            HEAD + FOOT,
        )
        name = f"scores-{slug(criterion)}"
        for i, (page_metrics, rows) in enumerate(parts):
            only = {"metrics": page_metrics, "queries": rows, "page": f"{i + 1} of {len(parts)}"}
            selection = {"only": only} if len(parts) > 1 else {}
            yield Drawing(page_name(name, i), spec={**spec, **selection})


FIGURES = (
    Figure(
        "scores",
        "Every score of a criterion: one panel per metric, one row per query, one mark per model.",
        _drawings,
        from_tables(scores),
        reads=("scores",),
        facts=("level",),
        reading="A mark is a score, its colour and shape the model, its thin line the 95 % interval over "
        "words; the dashed line is the metric's neutral value. A filled mark: every test of words that the "
        "metric has is significant after adjustment (column `evidence`). Half-filled: one of the two, left "
        "permutation, right random groups. Open: none. A dot: not significant, and out of reach with these words "
        "and draws. A small open mark: there is no test. A letter beside a mark is a debias method. A mark on the "
        "right margin has no value. An arrow is a score of a model whose scores lie so far out that the "
        "others could not be seen; its value is written. What a sign says stands below, metric by metric. "
        "Metrics have scales of their own. A criterion that needs several pages goes on in scores-...-2 and so on.",
        example=Example(
            "embedded",
            "scores-gender",
            {"criterion": "Gender", "metric": ["mac", "weat", "weat_es"]},
            shown={"scores": ["value"]},
        ),
    ),
)
