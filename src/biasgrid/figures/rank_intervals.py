"""Figure of how sure the models' ranks are: an interval of each rank.

In the style of Demsar's critical-difference diagrams (JMLR 7, 2006): bars join models whose order is undecided
(`verdicts.least_biased`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from ..files import slug
from ..labels import LENGTH_MARK
from ..numbers import plain
from ..statistics.ranks import most_resampled
from ..statistics.shared import NO_VALUE
from ..verdicts.least_biased import RankedState
from .figure import Drawing, Example, Figure, Files, cells_of, labels, pages
from .layout import (
    MARGIN,
    PAGE,
    add_axes,
    best_columns,
    empty_page,
    few_ticks,
    legend_line,
    no_mark,
    page,
    styled,
)
from .order import answers_on, for_these
from .palette import GREY, ZEBRA, Look, model_looks, series_mark
from .rows import OVERALL, Unit, read_table, rows_of, units_of
from .text import DAGGER, LONGEST_HEAD, SMALL, line_count, shorten, text_width, unit_label, wrap_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..planned import Planned

INTERVAL: Look = {"linewidth": 3, "alpha": 0.4, "solid_capstyle": "butt", "zorder": 2}
UNDECIDED: Look = {"color": "black", "linewidth": 2.6, "solid_capstyle": "butt", "clip_on": False}
LANE = 0.085  # inches between bars of undecided models


@styled
def rank_intervals(
    intervals: pd.DataFrame,
    rankings: pd.DataFrame,
    pairs: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str = OVERALL,
    level: float = 0.95,
    only: Sequence[str] | None = None,
    by_length: Collection[str] = (),
) -> figure.Figure:
    """The models' ranks under each metric with their intervals, from rank_intervals.csv, rankings.csv and pairs.csv.

    One panel per metric, one row per model, the least biased on top and those that are not ranked last, with the
    number of their queries. A mark is the rank, the line its interval over resamples of words and queries, where the
    table has such, else of words. Bars to the right join models that follow each other and of which no two are
    decided to differ: as few bars as show all of them. A dagger marks a ranked model that lost queries. `only`: the
    metrics of one of several pages. `by_length`: the metrics by which the models do not compare
    (`verdicts.comparability`), which are marked.
    Raises BiasgridError where a table has no rows of the criterion.
    """
    table = rows_of(intervals, "rank_intervals", criterion)
    if only is not None:
        table = rows_of(table[table["metric"].isin(only)], f"rank_intervals, page of {', '.join(only)}")
    title = f"How sure the ranks are: {criterion}"
    if len(units_of(table)) < 2:
        return empty_page(title, "one model has no rank among others.")
    parts_of, resampled_units = most_resampled(table)
    units = units_of(intervals)
    # the rows have the names: no letter for a debias method
    models = model_looks(model for model, _ in units)
    looks = {unit: _enlarge(models[unit[0]]) for unit in units}
    metrics = sorted(table["metric"].unique())
    parts = {metric: parts_of[parts_of["metric"] == metric] for metric in metrics}
    of_metrics = answers_on(rankings, pairs, criterion, metrics, level)
    by_metric = {answer.metric: answer for answer in of_metrics}
    rows = {metric: [*by_metric[metric].models, *by_metric[metric].not_ranked] for metric in metrics}
    bars = {
        metric: cliques([(state.model, state.debias) for state in answer.models], answer.decided_pairs)
        for metric, answer in by_metric.items()
    }
    lanes = {metric: _lanes(runs) for metric, runs in bars.items()}
    names = {unit: wrap_text(unit_label(unit, labels), 36) for unit in units}
    left = max(text_width(f"{name}{DAGGER}", SMALL) for name in names.values()) + 0.1
    row = max(0.2, max(map(line_count, names.values())) * 0.115 + 0.07)
    notes = [_why_not_ranked(state) for states in rows.values() for state in states]
    panel_width = max(1.2, min(2.4, 0.14 * len(units) + 0.6), max(text_width(n, SMALL) for n in notes) + 0.1)
    right = 0.1 + max((lane + 1 for panel_lanes in lanes.values() for lane in panel_lanes), default=0) * LANE
    head, foot, gap = 0.24, 0.37, 0.16
    panel_heights = {metric: head + len(rows[metric]) * row + foot for metric in metrics}
    tallest = max(panel_heights.values())

    def extent(columns: int) -> tuple[float, float]:
        columns = min(columns, len(metrics))
        return columns * (left + panel_width + right + gap), ceil(len(metrics) / columns) * tallest

    columns = best_columns(len(metrics), extent)
    legend = [
        ("rank", legend_line(**_enlarge(series_mark(0)) | {"color": GREY})),
        (
            f"{level * 100:g} % interval (bootstrap over {resampled_units})",
            legend_line(color=GREY, **INTERVAL),
        ),
    ]
    if any(state.has_lost_queries for states in rows.values() for state in states if not state.reason):
        legend += [(f"{DAGGER} lost some of the queries", no_mark())]
    if any(bars.values()):
        legend += [("joins models whose order is undecided", legend_line(**UNDECIDED))]
    if set(metrics) & set(by_length):
        legend += [(f"{LENGTH_MARK} grows with vector length, which differs: does not compare", no_mark())]
    note = (
        f"Ranks of the models on the queries that all ranked models have, 1 = least biased. Undecided"
        f"{for_these(of_metrics, labels)}: the difference of the two has an adjusted p above {plain(1 - level)} "
        "(over all pairs of models)."
    )
    figure, top = page(title, note, legend, *extent(columns))
    for i, metric in enumerate(metrics):
        line, column = divmod(i, columns)
        corner = MARGIN + column * (left + panel_width + right + gap) + left, top + line * tallest + head
        axes = add_axes(figure, *corner, panel_width, len(rows[metric]) * row)
        _rank_panel(axes, parts[metric], rows[metric], looks)
        places = {(state.model, state.debias): y for y, state in enumerate(rows[metric])}
        for run, lane in zip(bars[metric], lanes[metric], strict=True):
            x = 1 + (0.1 + lane * LANE) / panel_width
            ends = [places[run[0]] - 0.28, places[run[-1]] + 0.28]
            axes.plot([x, x], ends, transform=axes.get_yaxis_transform(), **UNDECIDED)
        mark = LENGTH_MARK * (metric in by_length)
        axes.set_title(
            shorten(labels.get(metric, metric), LONGEST_HEAD) + mark, loc="left", weight="bold", pad=4
        )
        axes.set_yticks(range(len(rows[metric])), [_name(state, names) for state in rows[metric]])
        axes.set_xlim(0.6, len(units) + 0.4)
        axes.set_xlabel("rank", labelpad=1)
    return figure


def cliques(units: Sequence[Unit], decided_pairs: Collection[tuple[Unit, Unit]]) -> list[list[Unit]]:
    """The longest runs of two units and more of which no pair is decided, in either direction."""

    def is_undecided(a: Unit, b: Unit) -> bool:
        return (a, b) not in decided_pairs and (b, a) not in decided_pairs

    runs: list[list[Unit]] = []
    end = 0
    for start in range(len(units)):
        stop = start + 1
        while stop < len(units) and all(is_undecided(unit, units[stop]) for unit in units[start:stop]):
            stop += 1
        # one that ends where a longer one does is part of it
        if stop > max(end, start + 1):
            runs.append(list(units[start:stop]))
            end = stop
    return runs


def _lanes(runs: Sequence[Sequence[Unit]]) -> list[int]:
    """The first lane in which a run is free of those before it; runs begin and end later and later."""
    last: list[list[Unit]] = []
    lanes = []
    for run in runs:
        lane = next((i for i, run_before in enumerate(last) if not set(run_before) & set(run)), len(last))
        last[lane : lane + 1] = [list(run)]
        lanes.append(lane)
    return lanes


def _enlarge(look: Look) -> Look:
    """A mark that is seen on its interval."""
    return look | {"markersize": 1.35 * look["markersize"], "markeredgewidth": 0.6}


def _name(state: RankedState, names: Mapping[Unit, str]) -> str:
    return names[state.model, state.debias] + DAGGER * (state.has_lost_queries and not state.reason)


def _why_not_ranked(state: RankedState) -> str:
    """In few words; empty for a ranked model."""
    if state.reason in ("", NO_VALUE):
        return state.reason
    return "not ranked" + f": {state.queries} of {state.queries_of} queries" * state.has_lost_queries


def _rank_panel(
    axes: Axes, part: pd.DataFrame, rows: Sequence[RankedState], looks: Mapping[Unit, Look]
) -> None:
    for y in range(0, len(rows), 2):
        axes.axhspan(y - 0.5, y + 0.5, color=ZEBRA, linewidth=0, zorder=0)
    for y, state in enumerate(rows):
        if state.reason:
            axes.text(0.7, y, _why_not_ranked(state), va="center", size=SMALL, color=GREY)
            continue
        unit = state.model, state.debias
        ends = part.loc[(part["model"] == unit[0]) & (part["debias"] == unit[1]), ["low", "high"]]
        axes.plot(ends.to_numpy(dtype=float)[0], [y, y], color=looks[unit]["color"], **INTERVAL)
        axes.plot([state.rank], [y], zorder=3, **looks[unit])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    few_ticks(axes.xaxis, 6, integer=True)


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    from ..verdicts.comparability import metrics_by_length

    parts = [read_table(inputs[name]) for name in ("rank_intervals", "rankings", "pairs")]
    by_length = metrics_by_length(read_table(inputs["scalars"]), spec["scaled"]).get(spec["criterion"], [])
    rest = {name: value for name, value in spec.items() if name != "scaled"}
    return rank_intervals(*parts, by_length=by_length, **rest)


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in (OVERALL, *study.ranked_criteria):
        cells = cells_of(study, study.ranked_criteria if criterion == OVERALL else [criterion])
        spec = {"labels": labels(study, cells), "criterion": criterion}
        # two panels side by side, with names of two lines
        panel = 0.62 + 0.3 * len({cell.model for cell in cells})
        metrics = sorted({cell.metric for cell in cells})
        name = "rank-intervals" + (f"-{slug(criterion)}" if criterion != OVERALL else "")
        for drawing_name, part in pages(name, metrics, 2 * max(1, int((PAGE[1] - 0.95) / panel))):
            only = {"only": part} if len(part) < len(metrics) else {}
            yield Drawing(drawing_name, spec={**spec, **only})


FIGURES = (
    Figure(
        "rank-intervals",
        "The models' ranks under each metric with bootstrap intervals, and which models' order is undecided.",
        _drawings,
        _draw,
        reads=("rank_intervals", "rankings", "pairs", "scalars"),
        when="ranked and bootstrap",
        facts=("level", "scaled"),
        reading="rank-intervals is of all criteria together, rank-intervals-gender and so on of one. A mark is a "
        "model's rank on the queries that all ranked models have (1 is least biased), the line its 95 % interval "
        "over resamples of words and queries. A vertical bar on the right joins models whose order is undecided: the "
        "adjusted p-value of their difference, over all pairs of models, is above 5 %. Intervals of two models may "
        "overlap and their order be decided all the same: the two move together from resample to resample. A model "
        "with values on too few queries is not ranked; a dagger marks a ranked model that lost some. By a metric "
        "with a double dagger models do not compare: its values grow with the length of vectors, which differs.",
        example=Example("embedded", "rank-intervals", {"criterion": OVERALL}),
    ),
)
