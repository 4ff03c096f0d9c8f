"""Figures of a study, drawn from its tables: ranking bars, correlation heatmaps, scores query by query.

Every function takes a table (see tables.py) and `labels`, what to print for a model's or metric's key (the key
itself where it has none), and returns a matplotlib Figure that pyplot does not know of. Sizes are inches at which
text is 7 to 9 points high; they grow with the content and are laid out from the measured width of the text, so that
nothing is clipped or overlaps. Colours and markers go by sorted key of a table's models or metrics, so that they
mean the same in all figures of a study.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Collection, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from math import ceil
from pathlib import Path

import matplotlib.style
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedLocator, MaxNLocator

from ..errors import BiasgridError
from ..files import write_bytes
from ..statistics.aggregation import OVERALL

SMALL, NORMAL, LARGE = 7.0, 8.0, 9.5  # font sizes in points
PAGE = (7.0, 9.5)  # the text block of a journal's page in inches: what layouts try to fit
MARGIN = 0.1
STYLE = {
    # named, not "sans-serif": generic families are looked up again when a figure is saved
    "font.family": "DejaVu Sans",
    "font.size": NORMAL,
    "axes.titlesize": NORMAL,
    "axes.labelsize": NORMAL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "xtick.major.pad": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "hatch.linewidth": 0.6,
    # a label is text, whatever dollar signs it has
    "text.parse_math": False,
    # text of a PDF stays text; an SVG looks the same where the font is missing
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "biasgrid",
}

# Models are marks on white: Okabe and Ito's and Paul Tol's colour-blind safe colours, dark enough for that. One
# marker more than colours, so that the pair stays distinct when there are more models than either.
MODEL_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#332288"]
MODEL_COLOURS += ["#56B4E9", "#882255", "#999933", "#000000", "#44AA99", "#AA4499"]
MARKERS = "osD^vPX<>ph*d"
# Metrics are areas with black numbers in them: Tol's light scheme and six of the same lightness. Where there are more
# metrics than colours, the others are hatched.
METRIC_COLOURS = ["#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#99DDFF", "#44BB99"]
METRIC_COLOURS += ["#BBCC33", "#C7A6E0", "#D9B38C", "#AAAA00", "#B8C4CE", "#E08FC0"]
HATCHED = r"\\\\\\"
GREY = "#666666"
NO_FILL = "#BBBBBB"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LESS, MORE = MODEL_COLOURS[:2]
# as areas with black numbers in them
LESS_LIGHT, MORE_LIGHT = "#99C3EA", "#F4A582"
BOLD = 1.15  # times the width of normal text, at most
DASHED = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (4, 2)), "zorder": 1}
_NO_CORRELATION = {"facecolor": "#E8E8E8", "edgecolor": "#BBBBBB", "hatch": "////", "linewidth": 0}
MISSING_LOOK = {"markerfacecolor": "white", "markeredgecolor": GREY, "markeredgewidth": 0.7}
INTERVAL = {"linewidth": 0.8, "alpha": 0.75}
# the tests about the words of a query, in the tables' names
TESTS = {"permutation": "p_adjusted", "random_groups": "p_groups_adjusted"}
QUESTIONS = {
    "permutation": "Permutation: does it matter which set a word is in? Two sets that each have words of one kind "
    "mostly differ so, whatever they are about.",
    "random_groups": "Random groups: is the score more biased than with arbitrary groups of the model's words, as "
    "large and as coherent as the query's?",
}
BOTH, ONE, NOT, UNTESTED = "both", "one", "not", "untested"  # what tests say of a score: `_tested`
CORRELATION_NAMES = {"spearman": "Spearman's ρ", "kendall": "Kendall's τ", "pearson": "Pearson's r"}


@contextmanager
def _style():
    # from matplotlib's defaults, so that a user's matplotlibrc does not change a study's figures
    with matplotlib.style.context(["default", STYLE]):
        yield


def _styled(draw):
    @wraps(draw)
    def styled(*args, **kwargs):
        with _style():
            return draw(*args, **kwargs)

    return styled


def rankings(rankings: pd.DataFrame, labels: Mapping[str, str], criterion: str = OVERALL) -> Figure:
    """The models' ranks under each metric, stacked (Badilla et al., IJCAI 2020, figure 2).

    A bar a model, a segment a metric, as long as the rank that is written in it; the sum stands at its end. The
    model with the smallest sum is on top. A rank that is NaN is a hatched box of fixed size behind the bar; models
    that have one come last, by mean rank, because their sums cannot be compared.
    Raises BiasgridError where the table has no rows of the criterion.
    """
    _rows(rankings, "rankings", criterion)
    return _stacked_bars(rankings, labels, [criterion])


def rankings_by_criterion(rankings: pd.DataFrame, labels: Mapping[str, str]) -> Figure:
    """`rankings` for every criterion, a panel each, with the models in the order that they have overall.

    Raises BiasgridError for an empty table.
    """
    return _stacked_bars(rankings, labels, _criteria(_rows(rankings, "rankings")))


@_styled
def correlations(
    correlations: pd.DataFrame, labels: Mapping[str, str], method: str = "spearman", level: float = 0.95
) -> Figure:
    """Rank correlations between metrics, a heatmap a criterion (Badilla et al., IJCAI 2020, figure 1).

    Colours run from -1 to 1 in all; a NaN is a hatched cell with "n/a" in it. Where the table has ci_low and ci_high,
    intervals of so much `level`, they stand under the coefficient; not under a metric's with itself.
    Raises BiasgridError where the table has no rows of the method (the table's `method`).
    """
    table = _rows(correlations, "correlations", method, column="method")
    # a criterion with metrics of its own has a smaller matrix
    matrices = {
        criterion: part.pivot(index="metric_a", columns="metric_b", values="correlation")
        for criterion, part in table.groupby("criterion")
    }
    intervals = {
        (row.criterion, row.metric_a, row.metric_b): f"[{_short(row.ci_low)}, {_short(row.ci_high)}]"
        for row in table.itertuples()
        if row.metric_a != row.metric_b and not np.isnan(getattr(row, "ci_low", np.nan))
    }
    names = {key: _wrapped(labels.get(key, key), 20) for key in sorted(table["metric_a"].unique())}
    widest = max(_width(name, SMALL) for name in names.values())
    largest = max(map(len, matrices.values()))
    cell = max(0.38, min(0.62, 2.5 / largest))
    cell = max([cell, *(_width(text, 6) + 0.06 for text in set(intervals.values()))])
    upright = widest > cell - 0.06
    digits = SMALL if cell > 0.4 else 6.5
    left, below, title, bar = widest + 0.14, (widest if upright else 0.14) + 0.12, 0.3, 0.88
    # the scale needs some height, whatever the grid has
    across, down = largest * cell + left, max(largest * cell + below + title, 2.5)

    def size(columns: int) -> tuple[float, float]:
        return columns * (across + 0.1) + bar + 0.14 * bool(intervals) + MARGIN, ceil(
            len(matrices) / columns
        ) * down + MARGIN

    columns = _best_columns(len(matrices), size)
    figure = _figure(*size(columns))
    for i, criterion in enumerate(_criteria(table)):
        matrix = matrices[criterion]
        corner = i % columns * (across + 0.1) + left, i // columns * down + title
        axes = _axes(figure, *corner, *(len(matrix) * cell,) * 2)
        look = {"linewidths": 0.6, "linecolor": "white", "cbar": False}
        sns.heatmap(matrix, vmin=-1, vmax=1, cmap="RdBu_r", ax=axes, **look)
        for (row, column), value in np.ndenumerate(matrix.to_numpy()):
            centre = {"x": column + 0.5, "y": row + 0.5, "ha": "center", "va": "center", "size": digits}
            if np.isnan(value):
                axes.add_patch(Rectangle((column + 0.03, row + 0.03), 0.94, 0.94, **_NO_CORRELATION))
                axes.text(s="n/a", bbox={"boxstyle": "square,pad=0.15", "fc": "#E8E8E8", "lw": 0}, **centre)
            else:
                look = centre | {"color": "white" if abs(value) > 0.7 else "black"}
                interval = intervals.get((criterion, matrix.index[row], matrix.columns[column]))
                if interval:
                    axes.text(s=interval, **look | {"y": row + 0.68, "size": 6})
                    look["y"] = row + 0.38
                axes.text(s=_two_digits(value), **look)
        axes.set_title(criterion, loc="left", weight="bold", pad=5)
        axes.set(xlabel="", ylabel="")
        axes.set_xticklabels([names[key] for key in matrix.columns], rotation=90 if upright else 0)
        axes.set_yticklabels([names[key] for key in matrix.index], rotation=0)
        axes.tick_params(length=0)
    # no taller than a page's worth of grid: a longer scale is not a better one
    height = min(figure.get_figheight() - MARGIN - title - below, max(2.5 * largest * cell, 2.0))
    scale = figure.colorbar(
        ScalarMappable(Normalize(-1, 1), "RdBu_r"),
        cax=_axes(figure, columns * (across + 0.1) + 0.1, title, 0.12, height),
        ticks=[-1, -0.5, 0, 0.5, 1],
    )
    scale.outline.set_visible(False)
    text = f"{CORRELATION_NAMES.get(method, method)} between\nthe metrics' ranks of the models"
    text += f"\n[{level * 100:g} % interval, bootstrap over words]" if intervals else ""
    scale.set_label(text)
    return figure


@_styled
def scores(
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    neutral: Mapping[str, float],
    level: float = 0.95,
    tests: Mapping[str, Collection[str]] | None = None,
) -> Figure:
    """Every score of a criterion: one panel per metric, one row per (sub-)query, one mark per model.

    Panels with the same queries stand side by side. The dashed line is the metric's neutral value (`neutral`, by
    metric key). A score that is NaN is its model's mark, open and grey, on the panel's right margin.
    Where the table has ci_low and ci_high, intervals of so much `level`, they are a thin line through the mark.

    `tests`: metric key -> which of TESTS the metric has about the words of a query; both, where it is not given. A
    mark is filled where all of them reject (adjusted p < .05), half-filled where one rejects and the other was not
    made, open where one does not reject, and pale where none was made.
    Raises BiasgridError where the table has no rows of the criterion or a metric has no neutral value.
    """
    table = _rows(scores, "scores", criterion)
    # numbers that a table of a study without inference may lack
    table = table.reindex(columns=dict.fromkeys([*table, *TESTS.values(), "ci_low", "ci_high"]))
    # a test that is not about words, such as that of labels, fills no mark
    alone = [key for key in table["metric"].unique() if "permutation" not in (tests or {}).get(key, TESTS)]
    table["p_adjusted"] = table["p_adjusted"].where(~table["metric"].isin(alone))
    table["tested"] = _tested(table, alone)
    units = _units(scores)
    drawn = [unit for unit in units if unit in set(_units(table))]
    looks = {unit: _look(i) for i, unit in enumerate(units)}
    metrics = sorted(table["metric"].unique())
    unknown = [metric for metric in metrics if metric not in neutral]
    if unknown:
        raise BiasgridError(
            f"scores: metric {unknown[0]!r} has no neutral value; known are {_listed(neutral)}"
        )

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
    handles = [Line2D([], [], **looks[unit]) for unit in drawn]
    names = [_unit_label(unit, labels) for unit in drawn]
    handles += [Line2D([], [], color=GREY, linewidth=0.9, linestyle=(0, (4, 2)))]
    names += ["no bias (the metric's neutral value)"]
    if table["ci_low"].notna().any():
        handles += [Line2D([], [], color=GREY, **INTERVAL)]
        names += [f"{level * 100:g} % confidence interval over words"]
    there = table.loc[table["value"].notna(), "tested"].unique()
    for tested, meaning in _meanings(table, alone).items():
        if tested in there:
            handles += [Line2D([], [], **_marked(_look(0) | {"color": GREY}, tested))]
            names += [meaning]
    if statuses:
        handles += [Line2D([], [], **_look(0) | MISSING_LOOK)]
        names += [
            f"open {'grey ' * (NOT in there)}mark on the margin: no value "
            f"({' or '.join(statuses).replace('_', ' ')})"
        ]

    left = max(_width(label, SMALL) for block in blocks for label in block.labels) + MARGIN + 0.08
    gap = 0.4 if statuses else 0.2
    across = max(PAGE[0] - left, max(len(block.metrics) for block in blocks) * (1.3 + gap))
    legend = _Legend(handles, names, left + across - 2 * MARGIN)
    title, head, foot = 0.32, 0.2, 0.5
    heights = [head + len(block.queries) * block.row + foot for block in blocks]
    made = [name for name, column in TESTS.items() if table[column].notna().any()]
    note = "\n".join(_fitted(QUESTIONS[name], legend.width, SMALL) for name in made)
    below = title + sum(heights) + legend.height
    figure = _figure(legend.width + 2 * MARGIN, below + _lines(note) * 0.125 + MARGIN)
    w, h = figure.get_size_inches()
    figure.text(MARGIN / w, 1 - 0.1 / h, criterion, **_heading())
    figure.text(MARGIN / w, 1 - below / h, note, va="top", size=SMALL, color="#333333")
    top = title
    for block, height in zip(blocks, heights, strict=True):
        width = across / len(block.metrics) - gap
        for i, metric in enumerate(block.metrics):
            place = left + i * (width + gap), top + head, width, len(block.queries) * block.row
            axes = _axes(figure, *place)
            mine = table[table["metric"] == metric]
            untested = mine["value"].notna().any() and set(mine["tested"]) == {UNTESTED}
            one = metric in alone and len(made) == len(TESTS)
            note = ("no test" if untested else "one test" if one else "") if made else ""
            _score_panel(axes, mine, block, drawn, looks, neutral[metric], width, note)
            axes.set_title(_wrapped(labels.get(metric, metric), 20), weight="bold", pad=3)
            axes.set_yticks(range(len(block.queries)), block.labels if i == 0 else [""] * len(block.queries))
        top += height
    legend.draw(figure, top)
    return figure


def save(figure: Figure, stem: Path | str, extensions: Collection[str] = ("pdf", "svg", "png")) -> None:
    """Write stem.pdf, stem.svg and stem.png (220 dpi), each whole or not at all, and the same bytes every time."""
    stem = Path(stem)
    metadata = {
        "pdf": {"Creator": "biasgrid", "CreationDate": None},
        "svg": {"Creator": "biasgrid", "Date": None},
        "png": {"Software": "biasgrid"},
    }
    for extension in extensions:
        # not with_suffix: a stem may have a dot in it
        path = stem.with_name(f"{stem.name}.{extension}")
        drawn = io.BytesIO()
        with _style():
            figure.savefig(drawn, format=extension, dpi=220, metadata=metadata[extension])
        write_bytes(path, drawn.getvalue())


@_styled
def _stacked_bars(table: pd.DataFrame, labels: Mapping[str, str], criteria: Sequence[str]) -> Figure:
    colours = _cycled(sorted(table["metric"].unique()), METRIC_COLOURS)
    hatched = set(list(colours)[len(METRIC_COLOURS) :])
    table = table[table["criterion"].isin(criteria)]
    whole = table[table["criterion"] == OVERALL] if OVERALL in criteria else table
    order = _by_rank(whole, _units(table))
    index = pd.MultiIndex.from_tuples(order)
    ranks = {
        criterion: part.pivot(index=["model", "debias"], columns="metric", values="rank").reindex(index)
        for criterion, part in table.groupby("criterion")
    }
    names = [_wrapped(_unit_label(unit, labels), 36) for unit in order]
    metrics = sorted(table["metric"].unique())
    handles = [_area(colours[metric], metric in hatched) for metric in metrics]
    entries = [labels.get(metric, metric) for metric in metrics]
    if any(part.isna().any(axis=None) for part in ranks.values()):
        handles += [Patch(**_no_rank("white"))]
        entries += ["no value (in brackets: the sum of the other ranks)"]
    fewer = table[_fewer(table)]
    short = {
        c: set(zip(part["model"], part["debias"], strict=True)) for c, part in fewer.groupby("criterion")
    }
    if short:
        handles += [Patch(fill=False, linewidth=0)]
        entries += [FEWER]

    size = NORMAL if len(criteria) == 1 else SMALL
    left = max(_width(name, size) for name in names) + MARGIN + 0.08
    bars = len(order) * max(0.26, max(name.count("\n") + 1 for name in names) * size * 0.0165 + 0.05)
    sums = np.concatenate([part.sum(axis=1) for part in ranks.values()])
    # inches behind a bar: its boxes and its sum
    behind = np.concatenate([part.isna().sum(axis=1) for part in ranks.values()]) * BOX + 0.5
    # inches a rank: at least as many as the narrowest segment needs for its number
    known = pd.unique(np.concatenate([part.to_numpy().ravel() for part in ranks.values()]))
    need = max(((_width(f"{r:g}", 6.5) + 0.04) / r for r in known if not np.isnan(r)), default=0.1)
    head, between, foot = 0.26, 0.26, 0.38

    def inches(columns: int) -> float:
        room = (PAGE[0] - left - MARGIN) / columns - 0.1 - behind
        return max(need, np.min(room / np.maximum(sums, 1)))

    def panel(columns: int) -> float:
        return np.max(sums * inches(columns) + behind) + 0.1

    def extent(columns: int) -> tuple[float, float]:
        rows = ceil(len(criteria) / columns)
        return left + columns * panel(columns) + MARGIN, rows * (head + bars + between) - between + foot

    columns = _best_columns(len(criteria), extent)
    width, height = extent(columns)
    legend = _Legend(handles, entries, width - 2 * MARGIN)
    figure = _figure(legend.width + 2 * MARGIN, height + legend.height + 2 * MARGIN)
    for i, criterion in enumerate(criteria):
        down, across = divmod(i, columns)
        corner = left + across * panel(columns), head + down * (head + bars + between)
        axes = _axes(figure, *corner, panel(columns) - 0.1, bars)
        _bar_panel(
            axes, ranks[criterion], short.get(criterion, set()), colours, hatched, labels, inches(columns)
        )
        axes.set_title(criterion, loc="left", weight="bold", pad=4)
        axes.set_yticks(range(len(order)), names if across == 0 else [""] * len(order), size=size)
    text = "Accumulated rank over the metrics (lower = less biased)"
    middle = (left + width - MARGIN) / 2 / figure.get_figwidth()
    figure.text(middle, 1 - (height - 0.17) / figure.get_figheight(), text, ha="center", va="top")
    legend.draw(figure, height + MARGIN)
    return figure


BOX = 0.13  # inches of a "no value" box
DAGGER = "\N{DAGGER}"
FEWER = f"{DAGGER} ranked without some scores that other models have (lost words)"


def _by_rank(rankings: pd.DataFrame, units: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The least biased first; those that miss a rank last."""
    # a mean orders complete models as their sums do, and is fair to those that miss a rank
    keys = [rankings["model"], rankings["debias"]]
    mean, incomplete = rankings["rank"].groupby(keys).mean(), rankings["rank"].isna().groupby(keys).any()
    place = {unit: (incomplete[unit], np.nan_to_num(mean[unit], nan=np.inf)) for unit in mean.index}
    return sorted(units, key=lambda unit: (place.get(unit, (True, np.inf)), unit))


def _fewer(rankings: pd.DataFrame) -> pd.Series:
    """Whether a model was ranked by fewer scores than others were."""
    # a query that no model has a score of takes nothing from the comparison
    fullest = rankings.groupby(["criterion", "metric"])["cells_nan"].transform("min")
    return rankings["cells_nan"] > fullest


def _area(colour: str, hatched: bool) -> Patch:
    return Patch(facecolor=colour, **({"edgecolor": "white", "hatch": HATCHED} if hatched else {}))


def _bar_panel(
    axes: Axes,
    ranks: pd.DataFrame,
    short: set[tuple[str, str]],
    colours: Mapping[str, str],
    hatched: set[str],
    labels: Mapping[str, str],
    inches: float,
):
    y, ends = np.arange(len(ranks)), np.zeros(len(ranks))
    for metric in ranks:
        values = ranks[metric].to_numpy()
        known = ~np.isnan(values)
        bars = axes.barh(
            y[known],
            values[known],
            left=ends[known],
            height=0.76,
            color=colours[metric],
            edgecolor="white",
            hatch=HATCHED if metric in hatched else None,
            linewidth=0.6,
            label=labels.get(metric, metric),
        )
        axes.bar_label(bars, [f"{value:g}" for value in values[known]], label_type="center", size=6.5)
        ends[known] += values[known]
    for row, (unit, values) in enumerate(ranks.iterrows()):
        x = ends[row]
        missing = [metric for metric in ranks if np.isnan(values[metric])]
        for metric in missing:
            x += 0.03 / inches
            axes.add_patch(
                Rectangle((x, row - 0.38), (BOX - 0.03) / inches, 0.76, **_no_rank(colours[metric]))
            )
            x += (BOX - 0.03) / inches
        if len(missing) < len(values):
            text, weight = (f"({ends[row]:g})", "normal") if missing else (f"{ends[row]:g}", "bold")
            text += DAGGER if unit in short else ""
            axes.text(x + 0.05 / inches, row, text, va="center", size=SMALL, weight=weight)
    axes.set_xlim(0, axes.get_position().width * axes.figure.get_figwidth() / inches)
    axes.set_ylim(len(ranks) - 0.45, -0.55)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    axes.tick_params(axis="y", length=0)


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
        return ["\n".join(_wrapped(half, 42) for half in parts) for parts in halves]

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
    units,
    looks,
    neutral: float,
    width: float,
    tests: str,
):
    rows = len(block.queries)
    row_of = {query: row for row, query in enumerate(block.queries)}
    for row in range(0, rows, 2):
        axes.axhspan(row - 0.5, row + 0.5, color="#F2F2F2", linewidth=0, zorder=0)
    axes.axvline(neutral, color=GREY, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
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
            grey = looks[unit] | MISSING_LOOK | {"clip_on": False, "transform": axes.get_yaxis_transform()}
            axes.plot(margin, y[~known], **grey)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.margins(x=0.08)
    axes.tick_params(axis="y", length=0)
    note = [tests] * bool(tests)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
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


class _Legend:
    """A legend in as few rows as fit into a width; no box, as wide as the width or its widest entry."""

    def __init__(self, handles: Sequence[Artist], labels: Sequence[str], width: float):
        self.handles, self.labels = handles, labels
        widths = [_width(label, NORMAL) + 0.27 for label in labels]
        for rows in range(1, len(labels) + 1):
            self.columns = ceil(len(labels) / rows)
            # as matplotlib deals entries out to columns
            needed = sum(max(column) + 0.15 for column in np.array_split(widths, self.columns))
            if needed <= width:
                break
        self.width, self.height = max(width, needed), rows * 0.165 + 0.06

    def draw(self, figure: Figure, top: float) -> None:
        """Place it, its upper edge `top` inches below the figure's."""
        width, height = figure.get_size_inches()
        figure.legend(
            self.handles,
            self.labels,
            ncols=self.columns,
            loc="upper left",
            bbox_to_anchor=(MARGIN / width, 1 - top / height),
            frameon=False,
            borderpad=0,
            borderaxespad=0,
            handlelength=1.6,
            handletextpad=0.6,
            columnspacing=1.2,
            labelspacing=0.45,
        )


def _rows(
    table: pd.DataFrame, name: str, value: str | None = None, column: str = "criterion"
) -> pd.DataFrame:
    if table.empty:
        raise BiasgridError(f"{name}: nothing to draw, the table is empty")
    rows = table if value is None else table[table[column] == value]
    if rows.empty:
        raise BiasgridError(
            f"{name}: no rows of {column} {value!r}; the table has {_listed(table[column].unique())}"
        )
    return rows


def _listed(names) -> str:
    return ", ".join(sorted(names)) or "none"


def _criteria(table: pd.DataFrame) -> list[str]:
    return sorted(table["criterion"].unique(), key=lambda criterion: (criterion == OVERALL, criterion))


def _units(table: pd.DataFrame) -> list[tuple[str, str]]:
    """What has bars and marks: models, each untouched or under a debias method."""
    return sorted(set(zip(table["model"], table["debias"], strict=True)))


def _unit_label(unit: tuple[str, str], labels: Mapping[str, str]) -> str:
    model, debias = (labels.get(key, key) for key in unit)
    return model if unit[1] == "none" else f"{model} + {debias}"


def _published_label(model: str, labels: Mapping[str, str]) -> str:
    """What a model is called whose key, in comparison.csv, may be "<model> under <debias method>"."""
    model, _, debias = model.partition(" under ")
    return _unit_label((model, debias or "none"), labels)


def _cycled(keys: Sequence[str], values: Sequence[str]) -> dict[str, str]:
    return {key: values[i % len(values)] for i, key in enumerate(keys)}


def _look(i: int) -> dict:
    colour = MODEL_COLOURS[i % len(MODEL_COLOURS)]
    marker = MARKERS[i % len(MARKERS)]
    # these look smaller than they are
    size = 5.8 if marker in "PX*d" else 4.5
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.3}
    return {"linestyle": "", "color": colour, "marker": marker, "markersize": size, **edge}


def _open(colour: str) -> dict:
    return {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 0.9}


def _pale(colour: str) -> dict:
    shade = tuple(0.6 + 0.4 * part for part in to_rgb(colour))
    return {"markerfacecolor": shade, "markeredgewidth": 0}


def _marked(look: dict, tested: str) -> dict:
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


def _no_rank(colour: str) -> dict:
    return {"facecolor": colour, "edgecolor": GREY, "hatch": "/////", "linewidth": 0.6}


def _heading() -> dict:
    return {"size": LARGE, "weight": "bold", "va": "top"}


def _two_digits(value: float) -> str:
    # a minus sign, not a hyphen, and none before a zero
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def _short(value: float) -> str:
    """As `_two_digits`, without the zero before the point."""
    return _two_digits(value).replace("0.", ".", 1) if abs(value) < 0.995 else _two_digits(value)[:-3]


def _wrapped(text: str, width: int) -> str:
    """Text in as few lines of at most `width` characters as it needs, and those of even length."""
    # broken at hyphens, or anywhere, only where a word is longer than a line
    breaks = any(len(word) > width for word in text.split())
    lines = textwrap.wrap(text, width, break_on_hyphens=breaks)
    for narrower in range(max(len(text) // max(len(lines), 1), 1), width):
        even = textwrap.wrap(text, narrower, break_on_hyphens=breaks, break_long_words=False)
        if len(even) == len(lines) and max(map(len, even), default=0) <= narrower:
            return "\n".join(even)
    return "\n".join(lines)


def _width(text: str, size: float) -> float:
    """Inches that the widest line of a text takes."""
    font = FontProperties(size=size)
    widths = (
        text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in text.split("\n")
    )
    return max(widths) / 72


def _lines(text: str) -> int:
    return text.count("\n") + bool(text)


def _fitted(text: str, inches: float, size: float) -> str:
    """Text in lines of at most so many inches."""
    characters = len(text)
    while _width(lines := _wrapped(text, characters), size) > inches and characters > 1:
        characters = int(characters * 0.97)
    return lines


def _best_columns(panels: int, size) -> int:
    """How many columns let `size(columns)`, (width, height), go onto a page with the least shrinking."""

    def merit(columns: int):
        width, height = size(columns)
        shrink = min(1.0, PAGE[0] / width, PAGE[1] / height)
        return round(shrink, 2), -(-panels % columns), columns

    return max(range(1, panels + 1), key=merit)


def _free_places(
    marks: np.ndarray, texts: Sequence[str], size: np.ndarray, reach: float | np.ndarray = np.inf
) -> list[np.ndarray | None]:
    """Where texts have room beside their marks in a panel: their centres, all in inches; None where a text has none
    within its `reach` of the mark.

    One after the other, those that reach furthest first, and of the most crowded marks first, they go to the nearest
    place that is free of texts and marks, and preferably nearer to their own mark than to another. Marks beyond the
    texts have none.
    """
    radius = 0.05
    apart = np.hypot(*(marks[:, None] - marks).transpose(2, 0, 1)) + 1e9 * np.eye(len(marks))
    taken = [(*(mark - radius), *(mark + radius)) for mark in marks]
    places: list[np.ndarray | None] = [None] * len(texts)
    reach = np.broadcast_to(reach, len(texts))
    for i in np.lexsort((apart.min(axis=1)[: len(texts)], -reach)):
        half = np.array([_width(texts[i], SMALL) * BOLD + 0.02, 0.12]) / 2
        axes = [np.arange(part + 0.02, end - part, 0.02) for part, end in zip(half, size, strict=True)]
        axes = [x[np.abs(x - at) < reach[i] + part] for x, at, part in zip(axes, marks[i], half, strict=True)]
        centres = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 1, 2)
        # only what is near can be in the way: all is, within no reach
        far = np.hypot(*(reach[i] + half))
        others = np.delete(marks, i, axis=0)
        others = others[np.hypot(*(others - marks[i]).T) < 2 * far + 0.02]
        boxes = np.array(taken)
        within = (boxes[:, :2] < marks[i] + far + half) & (boxes[:, 2:] > marks[i] - far - half)
        boxes = boxes[within.all(axis=1)]
        over = (centres + half > boxes[:, :2]) & (centres - half < boxes[:, 2:])
        centres = centres[~over.all(axis=2).any(axis=1)]
        if not len(centres):
            continue
        length = np.linalg.norm(centres[:, 0] - marks[i], axis=1)
        to_others = np.linalg.norm(centres - others, axis=2).min(axis=1, initial=np.inf)
        places[i] = centres[np.argmin(length + 0.15 * (to_others < length + 0.02)), 0]
        taken.append((*(places[i] - half), *(places[i] + half)))
    return places


def _page(
    title: str, note: str, legend: Sequence[tuple[str, Artist]], across: float, down: float
) -> tuple[Figure, float]:
    """A figure of a title, a note, a space of so many inches, and a legend; with the top of that space."""
    texts, handles = zip(*legend, strict=True)
    entries = _Legend(handles, texts, max(across, 5.0) - 2 * MARGIN)
    title = _fitted(title, entries.width / BOLD, LARGE)
    note = _fitted(note, entries.width, SMALL)
    under = MARGIN + _lines(title) * 0.17 + 0.03
    top = under + _lines(note) * 0.125 + 0.1
    figure = _figure(entries.width + 2 * MARGIN, top + down + entries.height + MARGIN)
    width, height = figure.get_size_inches()
    figure.text(MARGIN / width, 1 - MARGIN / height, title, **_heading())
    figure.text(MARGIN / width, 1 - under / height, note, va="top", size=SMALL, color="#333333")
    entries.draw(figure, top + down)
    return figure, top


def _nothing(title: str, why: str) -> Figure:
    """In place of a figure: why there is none. What one model lacks does not end a study of several."""
    figure, _ = _page(title, f"Nothing to draw: {why}", [("", Patch(fill=False, linewidth=0))], PAGE[0], 0.0)
    return figure


def _figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def _axes(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes placed in inches from the figure's upper left corner."""
    w, h = figure.get_size_inches()
    return figure.add_axes((left / w, 1 - (top + height) / h, width / w, height / h))
