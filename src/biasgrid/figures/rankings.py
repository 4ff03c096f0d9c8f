"""Figures of rankings: the models' ranks under each metric, stacked; overall, and for each criterion."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..numbers import plain
from .figure import Example, Figure, Files
from .frame import MARGIN, Frame, styled
from .palette import GREY, Look, metric_areas
from .rows import FEWER, OVERALL, Unit, by_rank, criteria_of, read_table, rows_of, units_of
from .text import DAGGER, LONGEST_HEAD, NORMAL, SMALL, fit_text, shorten, text_width, unit_label
from .types.bars import End, bars, inches_of_one
from .types.rows import height, width
from .visuals import legend_area

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

RULE: Look = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (1, 1.5))}
NOTE = (
    "The form of Badilla et al. (IJCAI 2020, figure 2). A sum of ranks has no interval, and metrics that measure "
    "alike count twice in it."
)


def rankings(
    rankings: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str = OVERALL,
    subtitle: Sequence[str] = (),
    undecided: Collection[str] = (),
) -> figure.Figure:
    """The models' ranks under each metric, stacked (Badilla et al., IJCAI 2020, figure 2).

    One bar per model, one segment per metric, as long as the rank that is written in it; the sum stands at its end.
    The model with the smallest sum is on top. Models that miss a rank come last, under a line, by mean rank, because
    their sums cannot be compared: the sum is in brackets, and beside it stands in words which ranks have no value.
    A metric under which no model has a rank has no segment, and the note says so. `subtitle`: further lines of the
    note. `undecided`: criteria in which the order of the sums is undecided, which stands beside their names.
    Raises BiasgridError where the table has no rows of the criterion.
    """
    rows_of(rankings, "rankings", criterion)
    return _stacked_bars(rankings, labels, [criterion], [criterion], subtitle, undecided)


def rankings_by_criterion(
    rankings: pd.DataFrame,
    labels: Mapping[str, str],
    subtitle: Sequence[str] = (),
    undecided: Collection[str] = (),
) -> figure.Figure:
    """`rankings` for every criterion, one panel each; models have the order that they have overall.

    Raises BiasgridError for an empty table.
    """
    criteria = criteria_of(rows_of(rankings, "rankings"))
    of_order = [OVERALL] if OVERALL in criteria else criteria
    return _stacked_bars(rankings, labels, criteria, of_order, subtitle, undecided)


@dataclass(frozen=True)
class _Panel:
    """The ranks of a criterion: of the models in the figure's order, under the metrics that some model has."""

    ranks: pd.DataFrame
    metrics_without_rank: list[str]  # metrics under which no model has a rank
    fewer: set[Unit]

    def ends(self, labels: Mapping[str, str], room: float) -> list[End]:
        """What stands at the ends of the bars: the sum, and in words what it lacks, if they have so many inches."""
        ends: list[End] = []
        for unit, row in self.ranks.iterrows():
            lost = [labels.get(metric, metric) for metric in row.index[row.isna()]]
            total = f"{plain(row.sum())}"
            total = (f"({total})" if lost else total) + DAGGER * (unit in self.fewer)
            what = f"no value: {', '.join(lost)}"
            if text_width(what, SMALL) > room:
                what = f"no value: {len(lost)} of {len(row)} metrics"
            if len(lost) == len(row):
                ends.append([("no value", {"color": GREY})])
            elif lost:
                ends.append([(total, {}), (what, {"color": GREY})])
            else:
                ends.append([(total, {"weight": "bold"})])
        return ends


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
    undecided: Collection[str],
) -> figure.Figure:
    whole = table[table["criterion"].isin(of_order)]
    # a metric that ranks no model takes nothing from one
    whole = whole[whole["rank"].notna().groupby(whole["metric"]).transform("any")]
    table = table[table["criterion"].isin(criteria)]
    order = by_rank(whole, units_of(table))
    complete = len(_complete(whole).intersection(order))
    has_incomplete = 0 < complete < len(order)
    panels = _panels(table, order)
    looks = {
        key: look | {"label": labels.get(key, key)} for key, look in metric_areas(table["metric"]).items()
    }
    page = Frame("Which model's ranks add up to the least?")
    names = {unit: fit_text(unit_label(unit, labels), 0.33 * page.width, SMALL) for unit in order}
    page.note = "\n".join([NOTE, *subtitle, *_notes(panels, labels, has_incomplete)])
    heads = {c: shorten(c, LONGEST_HEAD) + ": order undecided" * (c in undecided) for c in criteria}
    inches = page.width - 2 * MARGIN - width(names) - 0.1
    ends = {criterion: panel.ends(labels, 0.4 * inches) for criterion, panel in panels.items()}
    one = inches_of_one([(panel.ranks, ends[criterion]) for criterion, panel in panels.items()], inches)
    for criterion, axes in page.panels(heads, height(names, 2), line=1).items():
        bars(
            axes,
            panels[criterion].ranks,
            [*names.values()],
            looks,
            ends[criterion],
            inches=inches,
            one=one,
        )
        if has_incomplete:
            axes.axhline(complete - 0.5, **RULE)
    axes.set_xlabel(fit_text("Accumulated rank over the metrics (lower = less biased)", inches, NORMAL))
    metrics = [metric for metric in looks if any(metric in panel.ranks for panel in panels.values())]
    legend = [(looks[metric]["label"], legend_area(**looks[metric])) for metric in metrics]
    return page.done(legend)


def _notes(panels: Mapping[str, _Panel], labels: Mapping[str, str], has_incomplete: bool) -> list[str]:
    """What models and metrics lack."""
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


def _verdicts(inputs: Files, spec: Mapping[str, Any], criteria: Sequence[str]) -> tuple[list[str], list[str]]:
    """Which metrics do not compare, as lines, and in which criteria the order of the sums is undecided."""
    from ..verdicts.agreement import agreement
    from ..verdicts.comparability import metrics_by_length
    from ..verdicts.least_biased import answers

    by_length = metrics_by_length(read_table(inputs["scalars"]), spec["scaled"])
    lines = []
    for names, where in _alike({c: tuple(by_length.get(c, ())) for c in criteria}).items():
        if names:
            grow, do = ("grows", "does") if len(names) == 1 else ("grow", "do")
            metrics = ", ".join(spec["labels"].get(name, name) for name in names)
            lines.append(f"{metrics} {grow} with vector length and {do} not compare{_of(where, criteria)}")
    if "pairs" not in inputs:
        return [*lines, "Whether the order of the sums is decided was not tested (no bootstrap)"], []
    table = read_table(inputs["rankings"])
    all_answers = answers(
        table, read_table(inputs["pairs"]), sorted(set(table["metric"])), spec["level"], spec["draws"]
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
    return lines, undecided


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
    verdicts = _verdicts(inputs, spec, [OVERALL])
    return rankings(read_table(inputs["rankings"]), spec["labels"], OVERALL, *verdicts)


def _draw_by_criterion(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    table = read_table(inputs["rankings"])
    return rankings_by_criterion(table, spec["labels"], *_verdicts(inputs, spec, criteria_of(table)))


READS: dict[str, Any] = {
    "reads": ("rankings", "scalars", "pairs"),
    "when": "ranked",
    "facts": ("labels", "scaled", "level", "draws"),
}
FIGURES = (
    Figure(
        "rankings",
        "The models' ranks over all criteria, stacked metric by metric: the shortest bar is the least biased model.",
        None,
        _draw,
        **READS,
        reading="A segment is a model's rank under a metric, the number at the end their sum; the shortest "
        "bar is the least biased model. Models under the dotted line miss a rank; which, is said in words, "
        "and their sums, in brackets, compare with no other. A dagger marks a model that was ranked without "
        "some scores that others have. This is WEFE's form: a sum has no interval, and metrics that measure alike "
        "count twice in it. Where 'order undecided' stands, the order of the sums is no basis to call one model less "
        "biased than the next; rank-intervals says more. The note says which metrics do not compare across these "
        "models.",
        example=Example("embedded", "rankings", {"criterion": OVERALL}, shown={"rankings": ["rank"]}),
    ),
    Figure(
        "rankings-by-criterion",
        "The models' ranks for each criterion.",
        None,
        _draw_by_criterion,
        **READS,
        reading="As rankings, one panel per criterion, the models in the order that they have overall: a "
        "model that is least biased in one criterion need not be in another.",
        example=Example("embedded", "rankings-by-criterion", shown={"rankings": ["rank"]}),
    ),
)
