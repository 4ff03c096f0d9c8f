"""Figure of scores, query by query."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BiasgridError, unknown
from ..files import slug
from .figure import Drawing, Figure, cells_of, labels, level, tables
from .layout import MARGIN, PAGE, Legend, add_axes, blank, few_ticks, heading, legend_line, styled
from .palette import GREY, MISSING_MARK, ZEBRA, Look, series_mark, unit_looks
from .rows import Unit, from_tables, rows_of, units_of
from .text import SMALL, fitted, line_count, text_width, unit_label, wrapped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

INTERVAL = {"linewidth": 0.8, "alpha": 0.75}
NEUTRAL = {"color": GREY, "linewidth": 0.9, "linestyle": (0, (4, 2))}
# the tests about the words of a query, in the tables' names
TESTS = {"permutation": "p_adjusted", "random_groups": "p_groups_adjusted"}
QUESTIONS = {
    "permutation": "Permutation: does it matter which set a word is in? Two sets that each have words of one kind "
    "mostly differ so, whatever they are about.",
    "random_groups": "Random groups: is the score more biased than with arbitrary groups of the model's words, as "
    "large and as coherent as the query's?",
}
BOTH, ONE, NOT, UNTESTED = "both", "one", "not", "untested"  # what tests say of a score: `_tested`


@styled
def scores(
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    neutral: Mapping[str, float],
    level: float = 0.95,
    tests: Mapping[str, Collection[str]] | None = None,
) -> figure.Figure:
    """Every score of a criterion: one panel per metric, one row per (sub-)query, one mark per model.

    Panels with the same queries stand side by side. The dashed line is the metric's neutral value (`neutral`, by
    metric key). A score that is NaN is its model's mark, open and grey, on the panel's right margin.
    Where the table has ci_low and ci_high, intervals of so much `level`, they are a thin line through the mark.

    `tests`: metric key -> which of TESTS the metric has about the words of a query; both, where it is not given. A
    mark is filled where all of them reject (adjusted p < .05), half-filled where one rejects and the other was not
    made, open where one does not reject, and pale where none was made.
    Raises BiasgridError where the table has no rows of the criterion or a metric has no neutral value.
    """
    table = rows_of(scores, "scores", criterion)
    # numbers that a table of a study without inference may lack
    table = table.reindex(columns=dict.fromkeys([*table, *TESTS.values(), "ci_low", "ci_high"]))
    # a test that is not about words, such as that of labels, fills no mark
    alone = [key for key in table["metric"].unique() if "permutation" not in (tests or {}).get(key, TESTS)]
    table["p_adjusted"] = table["p_adjusted"].where(~table["metric"].isin(alone))
    table["tested"] = _tested(table, alone)
    units = units_of(scores)
    drawn = [unit for unit in units if unit in set(units_of(table))]
    looks = unit_looks(units)
    metrics = sorted(table["metric"].unique())
    for metric in metrics:
        if metric not in neutral:
            raise BiasgridError(f"scores: no neutral value: {unknown('metric', metric, neutral)}")

    # blocks of at most four metrics that measure the same queries
    by_queries: dict[tuple[str, ...], list[str]] = {}
    for metric in metrics:
        queries = tuple(sorted(table.loc[table["metric"] == metric, "query"].unique()))
        by_queries.setdefault(queries, []).append(metric)
    blocks = [
        _Block(queries, list(part), len(drawn))
        for queries, group in sorted(by_queries.items(), key=lambda item: (len(item[0]), item))
        for part in np.array_split(group, ceil(len(group) / 4))
    ]

    statuses = sorted(table.loc[table["value"].isna(), "status"].str.split(":").str[0].unique())
    handles = [legend_line(**looks[unit]) for unit in drawn]
    names = [unit_label(unit, labels) for unit in drawn]
    handles += [legend_line(**NEUTRAL)]
    names += ["no bias (the metric's neutral value)"]
    if table["ci_low"].notna().any():
        handles += [legend_line(color=GREY, **INTERVAL)]
        names += [f"{level * 100:g} % confidence interval over words"]
    there = table.loc[table["value"].notna(), "tested"].unique()
    for tested, meaning in _meanings(table, alone).items():
        if tested in there:
            handles += [legend_line(**_marked(series_mark(0) | {"color": GREY}, tested))]
            names += [meaning]
    if statuses:
        handles += [legend_line(**series_mark(0) | MISSING_MARK)]
        names += [
            f"open {'grey ' * (NOT in there)}mark on the margin: no value "
            f"({' or '.join(statuses).replace('_', ' ')})"
        ]

    left = max(text_width(label, SMALL) for block in blocks for label in block.labels) + MARGIN + 0.08
    gap = 0.4 if statuses else 0.2
    across = max(PAGE[0] - left, max(len(block.metrics) for block in blocks) * (1.3 + gap))
    legend = Legend(handles, names, left + across - 2 * MARGIN)
    title, head, foot = 0.32, 0.2, 0.5
    heights = [head + len(block.queries) * block.row + foot for block in blocks]
    made = [name for name, column in TESTS.items() if table[column].notna().any()]
    note = "\n".join(fitted(QUESTIONS[name], legend.width, SMALL) for name in made)
    below = title + sum(heights) + legend.height
    figure = blank(legend.width + 2 * MARGIN, below + line_count(note) * 0.125 + MARGIN)
    w, h = figure.get_size_inches()
    figure.text(MARGIN / w, 1 - 0.1 / h, criterion, **heading())
    figure.text(MARGIN / w, 1 - below / h, note, va="top", size=SMALL, color="#333333")
    top = title
    for block, height in zip(blocks, heights, strict=True):
        width = across / len(block.metrics) - gap
        for i, metric in enumerate(block.metrics):
            place = left + i * (width + gap), top + head, width, len(block.queries) * block.row
            axes = add_axes(figure, *place)
            mine = table[table["metric"] == metric]
            untested = mine["value"].notna().any() and set(mine["tested"]) == {UNTESTED}
            one = metric in alone and len(made) == len(TESTS)
            note = ("no test" if untested else "one test" if one else "") if made else ""
            _score_panel(axes, mine, block, drawn, looks, neutral[metric], width, note)
            axes.set_title(wrapped(labels.get(metric, metric), 20), weight="bold", pad=3)
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
        # "A and B wrt C and D" breaks before "wrt"
        halves = [query.replace(" wrt ", "\nwrt ", 1).split("\n") for query in self.queries]
        return ["\n".join(wrapped(half, 42) for half in parts) for parts in halves]

    @property
    def lane(self) -> float:
        """Inches between two models' marks in a row."""
        return max(0.034, min(0.06, 0.3 / self.models))

    @property
    def row(self) -> float:
        lines = max(label.count("\n") + 1 for label in self.labels)
        return max(lines * 0.122 + 0.05, self.models * self.lane + 0.1)


def _score_panel(
    axes: Axes,
    table: pd.DataFrame,
    block: _Block,
    units: Sequence[Unit],
    looks: Mapping[Unit, Look],
    neutral: float,
    width: float,
    tests: str,
) -> None:
    rows = len(block.queries)
    row_of = {query: row for row, query in enumerate(block.queries)}
    for row in range(0, rows, 2):
        axes.axhspan(row - 0.5, row + 0.5, color=ZEBRA, linewidth=0, zorder=0)
    axes.axvline(neutral, **NEUTRAL, zorder=1)
    for lane, unit in enumerate(units):
        mine = table[(table["model"] == unit[0]) & (table["debias"] == unit[1])]
        y = mine["query"].map(row_of).to_numpy() + (lane - (len(units) - 1) / 2) * block.lane / block.row
        known = mine["value"].notna().to_numpy()
        ends = mine[["ci_low", "ci_high"]].to_numpy(dtype=float)
        sure = np.isfinite(ends).all(axis=1)
        if sure.any():
            axes.hlines(y[sure], *ends[sure].T, colors=looks[unit]["color"], zorder=2, **INTERVAL)
        for tested in (UNTESTED, NOT, ONE, BOTH):
            chosen = known & (mine["tested"] == tested).to_numpy()
            if chosen.any():
                look = _marked(looks[unit], tested)
                axes.plot(mine["value"].to_numpy()[chosen], y[chosen], zorder=3, **look)
        if not known.all():
            # in turns on three lines, where neighbours do not hide each other
            margin = np.full((~known).sum(), 1 + (0.07 + lane % 3 * 0.08) / width)
            grey = looks[unit] | MISSING_MARK | {"clip_on": False, "transform": axes.get_yaxis_transform()}
            axes.plot(margin, y[~known], **grey)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.margins(x=0.08)
    axes.tick_params(axis="y", length=0)
    note = [tests] * bool(tests)
    few_ticks(axes.xaxis, 4)
    reach = table[["value", "ci_low", "ci_high"]].astype(float)
    longest = reach.abs().max(axis=1).groupby([table["model"], table["debias"]]).max()
    if neutral == 0 and longest.max() > 5 * longest.median() > 0:
        note += [_squeeze(axes, longest.median(), [reach.min(axis=None), reach.max(axis=None)])]
    axes.set_xlabel(f"score ({'; '.join(note)})" if note else "score", labelpad=1)


def _squeeze(axes: Axes, linear: float, extremes: Sequence[float]) -> str:
    """A scale for where one model's long vectors would dwarf all others' scores (RND, RIPA).

    Linear up to `linear`, rounded up to 1, 2 or 5 (the ticks without a number), and logarithmic beyond it. Returns
    what says so.
    """
    from matplotlib.ticker import FixedLocator

    linear = next(step * _power(linear) for step in (1, 2, 5, 10) if step * _power(linear) >= linear)
    # the extremes to one digit
    outer = [np.trunc(x / _power(abs(x))) * _power(abs(x)) for x in extremes if abs(x) > linear]
    axes.set_xscale("symlog", linthresh=linear)
    axes.xaxis.set_major_locator(FixedLocator([0, *outer]))
    axes.xaxis.set_minor_locator(FixedLocator([-linear, linear]))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}".replace("-", "−"))
    return f"log beyond ±{linear:g}"


def _power(x: float) -> float:
    return 10.0 ** np.floor(np.log10(x))


def _open(colour: str) -> Look:
    return {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 0.9}


def _pale(colour: str) -> Look:
    from matplotlib.colors import to_rgb

    shade = tuple(0.6 + 0.4 * part for part in to_rgb(colour))
    return {"markerfacecolor": shade, "markeredgewidth": 0}


def _marked(look: Look, tested: str) -> Look:
    """How a mark looks by what the tests say of its score."""
    colour = look["color"]
    half = _open(colour) | {"fillstyle": "left", "markerfacecolor": colour, "markerfacecoloralt": "white"}
    return look | {BOTH: {}, ONE: half, NOT: _open(colour), UNTESTED: _pale(colour)}[tested]


def _tested(scores: pd.DataFrame, alone: Collection[str]) -> np.ndarray:
    """What the tests about words say of each score: BOTH reject (of metrics `alone`, which have random groups alone,
    that one), ONE does and the other was not made, one does NOT, or none was made (UNTESTED)."""
    p = scores[list(TESTS.values())].to_numpy(dtype=float)
    made = (~np.isnan(p)).sum(axis=1)
    rejected = (p < 0.05).sum(axis=1)
    needed = np.where(scores["metric"].isin(alone), 1, len(TESTS))
    cases = [made == 0, rejected < made, rejected < needed]
    return np.select(cases, [UNTESTED, NOT, ONE], BOTH)


def _meanings(scores: pd.DataFrame, alone: Collection[str]) -> dict[str, str]:
    """What marks mean in a figure of these scores; `alone` are metrics that have random groups alone."""
    both, not_ = "both tests reject", "a test does not reject"
    one = "one test rejects, adjusted p < .05; the other could not be made"
    if scores["p_groups_adjusted"].isna().all():
        both, not_ = "permutation rejects", "permutation does not reject"
        one = f"{both}, adjusted p < .05; there is no test of random groups"
    elif scores["p_adjusted"].isna().all():
        both, not_ = "random groups reject", "random groups do not reject"
        one, both = (
            f"{both}, adjusted p < .05; there is no permutation test",
            f"{both} (the metric's only test)",
        )
    elif alone:
        both += " (“one test”: random groups)"
    return {
        BOTH: f"filled mark: {both}, adjusted p < .05",
        ONE: f"half-filled mark: {one}",
        NOT: f"open mark: {not_}, adjusted p \N{GREATER-THAN OR EQUAL TO} .05",
        UNTESTED: "pale mark: no test",
    }


def _drawings(grid: Any) -> Iterator[Drawing]:
    for criterion in grid.ranked:
        metrics = {key: grid.metric(criterion, key) for key in grid.metrics(criterion)}
        spec = {
            "labels": labels(grid, cells_of(grid, [criterion])),
            "criterion": criterion,
            "neutral": {key: metric.neutral for key, metric in metrics.items()},
            "level": level(grid),
            # a test of labels is not about words
            "tests": {
                key: ["permutation"] * (not metric.no_test and metric.test_of == "words") + ["random_groups"]
                for key, metric in metrics.items()
            },
        }
        yield Drawing(f"scores-{slug(criterion)}", tables(grid, "scores"), spec)


FIGURES = (
    Figure(
        "scores",
        "Every score of a criterion: one panel per metric, one row per query, one mark per model.",
        _drawings,
        from_tables(scores, "scores"),
        reading="A mark is a score, its colour and shape the model, its thin line the 95 % interval over "
        "words; the dashed line is the metric's neutral value. A filled mark: both tests reject "
        "(adjusted p < .05). Half-filled: one rejects and the other was not made. Open: a test does "
        "not reject. Pale: there is no test. An open mark on the right margin has no value. A mark to "
        "the right of the dashed line is a score above neutral: with WEAT, the first target set is "
        "nearer to the first attribute set. Metrics have scales of their own.",
    ),
)
