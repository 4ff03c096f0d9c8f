"""Figures of rankings: the models' ranks under each metric, stacked; overall, and for each criterion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ..numbers import plain
from ..tables.inputs import facts_of
from .figure import Drawing, Example, Figure, Files, cells_of, labels, pages
from .frame import MARGIN, PAGE, Legend, blank, styled
from .layout import add_axes, best_columns
from .palette import GREY, Look, metric_areas
from .rows import FEWER, OVERALL, Unit, by_rank, criteria_of, read_table, rows_of, units_of
from .text import (
    BOLD,
    DAGGER,
    LONGEST_HEAD,
    NORMAL,
    SMALL,
    fit_text,
    line_count,
    shorten,
    text_width,
    unit_label,
    wrap_text,
)
from .visuals import few_ticks, legend_area, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..planned import Planned

RULE: Look = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (1, 1.5))}


def rankings(
    rankings: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str = OVERALL,
    subtitle: Sequence[str] = (),
) -> figure.Figure:
    """The models' ranks under each metric, stacked (Badilla et al., IJCAI 2020, figure 2).

    One bar per model, one segment per metric, as long as the rank that is written in it; the sum stands at its end.
    The model with the smallest sum is on top. Models that miss a rank come last, under a line, by mean rank, because
    their sums cannot be compared: the sum is in brackets, and beside it stands in words which ranks have no value.
    A metric under which no model has a rank has no segment, and the legend says so. `subtitle`: lines above the bars.
    Raises BiasgridError where the table has no rows of the criterion.
    """
    rows_of(rankings, "rankings", criterion)
    return _stacked_bars(rankings, labels, [criterion], [criterion], subtitle)


def rankings_by_criterion(
    rankings: pd.DataFrame,
    labels: Mapping[str, str],
    only: Sequence[str] | None = None,
    subtitle: Sequence[str] = (),
) -> figure.Figure:
    """`rankings` for every criterion, or for some, one panel each; models have the order that they have overall.

    Raises BiasgridError for an empty table.
    """
    all_criteria = criteria_of(rows_of(rankings, "rankings"))
    criteria = [criterion for criterion in all_criteria if only is None or criterion in only] or all_criteria
    # in the order that they have overall, also on a page without that
    of_order = [OVERALL] if OVERALL in all_criteria else all_criteria
    return _stacked_bars(rankings, labels, criteria, of_order, subtitle)


@dataclass(frozen=True)
class _Panel:
    """The ranks of a criterion: of the models in the figure's order, under the metrics that some model has."""

    ranks: pd.DataFrame
    metrics_without_rank: list[str]  # metrics under which no model has a rank
    fewer: set[Unit]

    def ends(self, labels: Mapping[str, str]) -> list[tuple[str, str]]:
        """What stands at the ends of the bars: the sum, and in words what it lacks."""
        texts = []
        for unit, row in self.ranks.iterrows():
            lost = [labels.get(metric, metric) for metric in row.index[row.isna()]]
            dagger = DAGGER if unit in self.fewer else ""
            if len(lost) == len(row):
                texts.append(("", "no value"))
            elif lost:
                is_short = len(lost) < 4
                what = ", ".join(lost) if is_short else f"{len(lost)} of {len(row)} metrics"
                texts.append((f"({plain(row.sum())}){dagger}", f"no value: {what}"))
            else:
                texts.append((f"{plain(row.sum())}{dagger}", ""))
        return texts


def _panels(table: pd.DataFrame, order: Sequence[Unit]) -> dict[str, _Panel]:
    import pandas as pd

    from ..tables.rankings import fewer_scores

    index = pd.MultiIndex.from_tuples(order)
    panels = {}
    for criterion, part in table.groupby("criterion"):
        ranks = part.pivot(index=["model", "debias"], columns="metric", values="rank").reindex(index)
        empty = list(ranks.columns[ranks.isna().all()])
        ranks = ranks.drop(columns=empty)
        fewer = part[fewer_scores(part) & part["rank"].notna()]
        panels[criterion] = _Panel(ranks, empty, set(zip(fewer["model"], fewer["debias"], strict=True)))
    return panels


@styled
def _stacked_bars(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    criteria: Sequence[str],
    of_order: Sequence[str],
    subtitle: Sequence[str],
) -> figure.Figure:
    import pandas as pd

    whole = table[table["criterion"].isin(of_order)]
    # a metric that ranks no model takes nothing from one
    whole = whole[whole["rank"].notna().groupby(whole["metric"]).transform("any")]
    table = table[table["criterion"].isin(criteria)]
    order = by_rank(whole, units_of(table))
    complete = [unit for unit in order if unit in _complete(whole)]
    panels = _panels(table, order)
    looks = metric_areas(table["metric"])
    ends = {criterion: panel.ends(labels) for criterion, panel in panels.items()}
    metrics = [metric for metric in looks if any(metric in panel.ranks for panel in panels.values())]
    handles = [legend_area(**looks[metric]) for metric in metrics]
    entries = [labels.get(metric, metric) for metric in metrics]
    names = [wrap_text(unit_label(unit, labels), 36) for unit in order]
    size = NORMAL if len(criteria) == 1 else SMALL
    bars = len(order) * max(0.26, max(map(line_count, names)) * size * 0.0165 + 0.05)
    if bars > PAGE[1] - 1.5:
        # more models than a page has room for in lines of two
        names, size = [fit_text(unit_label(unit, labels), 3.4, SMALL) for unit in order], SMALL
        bars = len(order) * max(0.15, max(map(line_count, names)) * 0.115 + 0.03)
    left = max(text_width(name, size) for name in names) + MARGIN + 0.08
    sums = np.concatenate([panel.ranks.sum(axis=1) for panel in panels.values()])
    # inches behind a bar
    text_widths = np.array(
        [
            0.1 + sum(text_width(t, SMALL) * BOLD + 0.05 for t in texts if t)
            for part in ends.values()
            for texts in part
        ]
    )
    # inches per rank: as many as the narrowest segment needs for its number, where the page has them
    rank_values = pd.unique(np.concatenate([panel.ranks.to_numpy().ravel() for panel in panels.values()]))
    need = max(((text_width(plain(r), 6.5) + 0.04) / r for r in rank_values if not np.isnan(r)), default=0.1)
    need = min(need, np.min((max(PAGE[0] - left - MARGIN, 3.0) - 0.1 - text_widths) / np.maximum(sums, 1)))
    head, gap, foot = 0.26, 0.26, 0.38

    def inches(columns: int) -> float:
        room = (PAGE[0] - left - MARGIN) / columns - 0.1 - text_widths
        return max(need, np.min(room / np.maximum(sums, 1)))

    def panel_width(columns: int) -> float:
        return max(np.max(sums * inches(columns) + text_widths) + 0.1, 3.6 if len(criteria) == 1 else 1.2)

    def extent(columns: int) -> tuple[float, float]:
        rows = ceil(len(criteria) / columns)
        return left + columns * panel_width(columns) + MARGIN, rows * (head + bars + gap) - gap + foot

    columns = best_columns(len(criteria), extent)
    width, height = extent(columns)
    legend = Legend(handles or [no_mark()], entries or [""], width - 2 * MARGIN)
    title_lines = [fit_text(line, legend.width, SMALL) for line in subtitle]
    top = sum(map(line_count, title_lines)) * 0.13 + 0.1 * bool(title_lines)
    height += top
    has_incomplete = 0 < len(complete) < len(order)
    notes = [fit_text(note, legend.width, SMALL) for note in _notes(panels, labels, has_incomplete)]
    note_top = height + legend.height + MARGIN
    figure = blank(legend.width + 2 * MARGIN, note_top + sum(map(line_count, notes)) * 0.13 + MARGIN)
    for i, criterion in enumerate(criteria):
        row, column = divmod(i, columns)
        corner = left + column * panel_width(columns), top + head + row * (head + bars + gap)
        axes = add_axes(figure, *corner, panel_width(columns) - 0.1, bars)
        _bar_panel(axes, panels[criterion], ends[criterion], looks, labels, inches(columns))
        if has_incomplete:
            axes.axhline(len(complete) - 0.5, **RULE)
        axes.set_title(shorten(criterion, LONGEST_HEAD), loc="left", weight="bold", pad=4)
        axes.set_yticks(range(len(order)), names if column == 0 else [""] * len(order), size=size)
    text = "Accumulated rank over the metrics (lower = less biased)"
    middle = (left + width - MARGIN) / 2 / figure.get_figwidth()
    figure.text(middle, 1 - (height - 0.17) / figure.get_figheight(), text, ha="center", va="top")
    if handles:
        legend.draw(figure, height + MARGIN)
    title_place = MARGIN / figure.get_figwidth(), 1 - MARGIN / 2 / figure.get_figheight()
    figure.text(*title_place, "\n".join(title_lines), va="top", size=SMALL)
    note_place = MARGIN / figure.get_figwidth(), 1 - note_top / figure.get_figheight()
    figure.text(*note_place, "\n".join(notes), va="top", size=SMALL, color="#333333")
    return figure


def _notes(panels: Mapping[str, _Panel], labels: Mapping[str, str], has_incomplete: bool) -> list[str]:
    """What stands below the legend."""
    notes = []
    if has_incomplete:
        where = " overall" if len(panels) > 1 else ""
        notes += [
            f"Below the dotted line: models without some ranks{where}. Sums in brackets do not compare."
        ]
    if any(panel.fewer for panel in panels.values()):
        notes += [FEWER]
    criteria_by_metrics: dict[str, list[str]] = {}
    for criterion, panel in panels.items():
        if panel.metrics_without_rank:
            what = ", ".join(labels.get(metric, metric) for metric in panel.metrics_without_rank)
            criteria_by_metrics.setdefault(what, []).append(criterion)
    return notes + [
        f"No model has a value of {what}: {', '.join(criteria)}"
        for what, criteria in criteria_by_metrics.items()
    ]


def _complete(rankings: pd.DataFrame) -> set[Unit]:
    """The models that have a rank under every metric that some model has one under."""
    ranks = rankings.pivot_table(index=["model", "debias"], columns=["criterion", "metric"], values="rank")
    return set(ranks.index[ranks.notna().all(axis=1)])


def _bar_panel(
    axes: Axes,
    panel: _Panel,
    texts: Sequence[tuple[str, str]],
    looks: Mapping[str, Look],
    labels: Mapping[str, str],
    inches: float,
) -> None:
    ranks = panel.ranks
    y, ends = np.arange(len(ranks)), np.zeros(len(ranks))
    for metric in ranks:
        values = ranks[metric].to_numpy()
        has_rank = ~np.isnan(values)
        look = looks[metric] | {"label": labels.get(metric, metric)}
        axes.barh(y[has_rank], values[has_rank], left=ends[has_rank], height=0.76, **look)
        # the hatch ends before the number; one that is wider than its segment is left out
        clear = {"boxstyle": "square,pad=0.05", "facecolor": look["facecolor"], "linewidth": 0}
        for row, value in zip(y[has_rank], values[has_rank], strict=True):
            if text_width(plain(value), 6.5) < value * inches:
                middle = ends[row] + value / 2
                axes.text(middle, row, plain(value), ha="center", va="center", size=6.5, bbox=clear)
        ends[has_rank] += values[has_rank]
    for row, (total, lost) in enumerate(texts):
        x = ends[row] + 0.05 / inches
        if total:
            axes.text(x, row, total, va="center", size=SMALL, weight="normal" if lost else "bold")
            x += (text_width(total, SMALL) + 0.05) / inches
        if lost:
            axes.text(x, row, lost, va="center", size=SMALL, color=GREY)
    axes.set_xlim(0, axes.get_position().width * axes.figure.get_figure(root=True).get_figwidth() / inches)
    axes.set_ylim(len(ranks) - 0.45, -0.55)
    if ranks.empty:
        axes.set_xticks([])
    else:
        few_ticks(axes.xaxis, 6, integer=True)
    axes.tick_params(axis="y", length=0)


def _subtitle(
    inputs: Files, labels: Mapping[str, str], criteria: Sequence[str], verdicts: Mapping[str, Any]
) -> list[str]:
    """Which metrics do not compare, and where the order of the sums is undecided."""
    from ..verdicts.agreement import agreement
    from ..verdicts.comparability import metrics_by_length
    from ..verdicts.least_biased import answers

    by_length = metrics_by_length(read_table(inputs["scalars"]), verdicts["scaled"])
    lines = []
    for names, where in _alike({c: tuple(by_length.get(c, ())) for c in criteria}).items():
        if names:
            grow, do = ("grows", "does") if len(names) == 1 else ("grow", "do")
            metrics = ", ".join(labels.get(name, name) for name in names)
            lines.append(f"{metrics} {grow} with vector length and {do} not compare{_of(where, criteria)}")
    if "pairs" not in inputs:
        return [*lines, "Whether the order of the sums is decided was not tested (no bootstrap)"]
    table = read_table(inputs["rankings"])
    all_answers = answers(
        table, read_table(inputs["pairs"]), sorted(set(table["metric"])), verdicts["level"], verdicts["draws"]
    )
    undecided = []
    for criterion in criteria:
        of_criterion = [answer for answer in all_answers if answer.criterion == criterion]
        comparable = [a for a in of_criterion if a.metric not in by_length.get(criterion, ())]
        sums = (
            table[(table["criterion"] == criterion) & (table["debias"] == "none")]
            .groupby("model")["rank"]
            .sum()
        )
        if agreement(comparable).order != tuple(sums.sort_values(kind="stable").index):
            undecided.append(criterion)
    if undecided:
        lines.append(f"The order of the models is undecided{_of(undecided, criteria)}")
    return lines


def _alike(metrics: Mapping[str, tuple[str, ...]]) -> dict[tuple[str, ...], list[str]]:
    """Metrics -> the criteria that have these."""
    criteria: dict[tuple[str, ...], list[str]] = {}
    for criterion, names in metrics.items():
        criteria.setdefault(names, []).append(criterion)
    return criteria


def _of(part: Sequence[str], criteria: Sequence[str]) -> str:
    """Which criteria a line is about, where it is not about all of the figure's."""
    return "" if len(part) == len(criteria) else f": {', '.join(part)}"


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    rest = {name: value for name, value in spec.items() if name != "verdicts"}
    subtitle = _subtitle(inputs, spec["labels"], [OVERALL], spec["verdicts"])
    return rankings(read_table(inputs["rankings"]), **rest, subtitle=subtitle)


def _draw_by_criterion(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    table = read_table(inputs["rankings"])
    rest = {name: value for name, value in spec.items() if name != "verdicts"}
    criteria = [name for name in criteria_of(table) if name in spec.get("only", [name])]
    subtitle = _subtitle(inputs, spec["labels"], criteria, spec["verdicts"])
    return rankings_by_criterion(table, **rest, subtitle=subtitle)


def _spec(study: Planned) -> dict[str, Any]:
    """The labels, and what the subtitle depends on besides the tables."""
    verdicts = facts_of(study, ("scaled", "level", "draws"))
    return {"labels": labels(study, cells_of(study, study.ranked_criteria)), "verdicts": verdicts}


def _drawings(study: Planned) -> Iterator[Drawing]:
    yield Drawing("rankings", spec=_spec(study))


def _drawings_by_criterion(study: Planned) -> Iterator[Drawing]:
    # as many panels as a page has room for, below each other
    panel = len({(cell.model, cell.debias) for cell in cells_of(study, study.ranked_criteria)}) * 0.28 + 0.52
    criteria = [*sorted(study.ranked_criteria), OVERALL]
    for name, part in pages("rankings-by-criterion", criteria, max(1, int((PAGE[1] - 1.2) / panel))):
        only = {"only": part} if len(part) < len(criteria) else {}
        yield Drawing(name, spec=_spec(study) | only)


READS: dict[str, Any] = {"reads": ("rankings", "scalars", "pairs"), "when": "ranked"}
FIGURES = (
    Figure(
        "rankings",
        "The models' ranks over all criteria, stacked metric by metric: the shortest bar is the least biased model.",
        _drawings,
        _draw,
        **READS,
        reading="A segment is a model's rank under a metric, the number at the end their sum; the shortest "
        "bar is the least biased model. Models under the dotted line miss a rank; which, is said in words, "
        "and their sums, in brackets, compare with no other. A dagger marks a model that was ranked without "
        "some scores that others have. A sum hides how sure its ranks are: look at rank-intervals. The subtitle says "
        "which metrics do not compare across these models, and whether their order is undecided.",
        example=Example("embedded", "rankings", {"criterion": OVERALL}, shown={"rankings": ["rank"]}),
    ),
    Figure(
        "rankings-by-criterion",
        "The models' ranks for each criterion.",
        _drawings_by_criterion,
        _draw_by_criterion,
        **READS,
        reading="As rankings, one panel per criterion, the models in the order that they have overall: a "
        "model that is least biased in one criterion need not be in another. Where a page has no room for all "
        "criteria, the others are in rankings-by-criterion-2 and so on.",
        example=Example("embedded", "rankings-by-criterion", shown={"rankings": ["rank"]}),
    ),
)
