"""Figures of rankings: the models' ranks under each metric, stacked; overall, and for each criterion."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.numbers import plain
from ..measure.aggregation import OVERALL
from .figure import Example, Figure, Files
from .frame import Frame, styled
from .palette import GREY, Look, metric_areas
from .questions import RANKS
from .rows import (
    FEWER,
    by_rank,
    criteria_of,
    keys_of,
    read_table,
    rows_of,
    rows_where,
    units_of,
)
from .text import DAGGER, SMALL, fit_text, text_width, topic, unit_label
from .types.bars import End, bars, inches_of_one
from .types.rows import height, width
from .visuals import legend_area

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

RULE: Look = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (1, 1.5))}
NOTES = (
    "A segment is a model's rank under one metric, 1 = least biased.",
    "Sums of ranks have no confidence intervals, and similar metrics are counted twice.",
    "They do not show which model is less biased.",
    "The form is figure 2 of Badilla et al. (IJCAI 2020).",
)


def rankings(
    rankings: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str = OVERALL,
    subtitle: Sequence[str] = (),
    undecided: Collection[str] = (),
) -> figure.Figure:
    """Draw the models' ranks under each metric, stacked (Badilla et al., IJCAI 2020, figure 2).

    There is one bar per model with one segment per metric, as long as the rank that is written in it, and the sum at
    its end. The model with the smallest sum is on top. Models without some ranks come last, under a line, by mean
    rank, because their sums are not comparable. The sum is in brackets, next to a text about the missing ranks. A
    metric under which no model has a rank lacks segments, and the caption names it.

    Parameters
    ----------
    rankings
        rankings.csv.
    labels
        Labels of the keys of models and metrics.
    criterion
        The criterion of the ranks.
    subtitle
        Further sentences of the caption.
    undecided
        Criteria without a clear order, which is noted next to their names.

    Raises
    ------
    BiasgridError
        If the table lacks rows of the criterion.
    """
    rows_of(rankings, "rankings", criterion=criterion)
    return _stacked_bars(rankings, labels, [criterion], [criterion], subtitle, undecided)


def rankings_by_criterion(
    rankings: pd.DataFrame,
    labels: Mapping[str, str],
    subtitle: Sequence[str] = (),
    undecided: Collection[str] = (),
) -> figure.Figure:
    """Draw `rankings` for every criterion, one panel each; models have their overall order.

    Raises BiasgridError for an empty table.
    """
    criteria = criteria_of(rows_of(rankings, "rankings"))
    of_order = [OVERALL] if OVERALL in criteria else criteria
    return _stacked_bars(rankings, labels, criteria, of_order, subtitle, undecided)


@styled
def _stacked_bars(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    criteria: Sequence[str],
    of_order: Sequence[str],
    subtitle: Sequence[str],
    undecided: Collection[str],
) -> figure.Figure:
    import pandas as pd

    from ..tables.rankings import fewer_scores

    keys = ["model", "debias"]
    whole = table[table["criterion"].isin(of_order)]
    # Ignore metrics that do not rank any model.
    whole = whole[whole["rank"].notna().groupby(whole["metric"]).transform("any")]
    table = table[table["criterion"].isin(criteria)]
    order = by_rank(whole, units_of(table))
    ranks = whole.pivot_table(index=keys, columns=["criterion", "metric"], values="rank")
    complete = int(ranks.notna().all(axis=1).sum())
    fewer = table[fewer_scores(table) & table["rank"].notna()]
    notes = [*NOTES[:2], *subtitle, *NOTES[2:]]
    if has_incomplete := 0 < complete < len(order):
        where = " overall" if len(criteria) > 1 else ""
        notes += [
            f"Below the dotted line: models without some ranks{where}; sums in brackets are not comparable."
        ]
    notes += [f"{FEWER}."] * bool(len(fewer))
    index = pd.MultiIndex.from_tuples(order)
    panels, without_rank = {}, {}
    for criterion, part in table.groupby("criterion"):
        ranks = part.pivot(index=keys, columns="metric", values="rank").reindex(index)
        panels[criterion] = ranks.dropna(axis=1, how="all")
        without_rank[criterion] = tuple(labels.get(m, m) for m in ranks if m not in panels[criterion])
    notes += [
        f"No model has a value of {', '.join(names)}: {', '.join(map(topic, where))}."
        for names, where in _alike(without_rank).items()
        if names
    ]
    where = f"{topic(criteria[0])}: " if len(criteria) == 1 else ""
    page = Frame(
        "Sum of ranks by model", f"{where}WEFE's ranks of raw values, added up over the metrics", notes
    )
    names = {unit: fit_text(unit_label(unit, labels), 0.33 * page.width, SMALL) for unit in order}
    inches = page.inside - width(names) - 0.1
    marked = set(keys_of(fewer, "criterion", "model", "debias"))
    ends = {
        criterion: [
            _end(row, labels, DAGGER * ((criterion, *unit) in marked), 0.4 * inches)
            for unit, row in ranks.iterrows()
        ]
        for criterion, ranks in panels.items()
    }
    one = inches_of_one([(panels[criterion], ends[criterion]) for criterion in panels], inches)
    looks = {
        key: look | {"label": labels.get(key, key)} for key, look in metric_areas(table["metric"]).items()
    }
    heads = {c: topic(c) + ": no clear order" * (c in undecided) for c in criteria}
    rows = [*names.values()]
    for criterion, axes in page.panels(heads, height(names, 2), line=1).items():
        bars(axes, panels[criterion], rows, looks, ends[criterion], inches=inches, one=one)
        if has_incomplete:
            axes.axhline(complete - 0.5, **RULE)
    axes.set_xlabel("sum of ranks")
    drawn = [look for metric, look in looks.items() if any(metric in ranks for ranks in panels.values())]
    return page.done([(look["label"], legend_area(**look)) for look in drawn])


def _end(ranks: pd.Series, labels: Mapping[str, str], mark: str, room: float) -> End:
    """Return the texts at the end of a bar: the sum, and the missing ranks in words if they fit in `room` inches."""
    lost = [labels.get(metric, metric) for metric in ranks.index[ranks.isna()]]
    if len(lost) == len(ranks):
        return [("no value", {"color": GREY})]
    total = plain(ranks.sum())
    if not lost:
        return [(total + mark, {"weight": "bold"})]
    what = f"no value: {', '.join(lost)}"
    if text_width(what, SMALL) > room:
        what = f"no value: {len(lost)} of {len(ranks)} metrics"
    return [(f"({total}){mark}", {}), (what, {"color": GREY})]


def _verdicts(inputs: Files, spec: Mapping[str, Any], criteria: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return lines on whether the order of the sums is clear, and the criteria in which it is not."""
    from ..tables.conclusions.agreement import agreement
    from ..tables.conclusions.least_biased import answers

    if "pairs" not in inputs:
        return ["Without a bootstrap, no test says whether the models differ."], []
    table = read_table(inputs["rankings"])
    all_answers = answers(table, read_table(inputs["pairs"]), sorted(set(table["metric"])), spec["level"])
    undecided = []
    for criterion in criteria:
        of_criterion = [answer for answer in all_answers if answer.criterion == criterion]
        sums = rows_where(table, criterion=criterion, debias="none").groupby("model")["rank"].sum()
        if agreement(of_criterion).order != tuple(sums.sort_values(kind="stable").index):
            undecided.append(criterion)
    return [f"The models have no clear order{_of(undecided, criteria)}."] * bool(undecided), undecided


def _alike(metrics: Mapping[str, tuple[str, ...]]) -> dict[tuple[str, ...], list[str]]:
    """Return, for each group of metrics, the criteria that have it."""
    criteria: dict[tuple[str, ...], list[str]] = {}
    for criterion, names in metrics.items():
        criteria.setdefault(names, []).append(criterion)
    return criteria


def _of(part: Sequence[str], criteria: Sequence[str]) -> str:
    """Return the criteria that a line is about; empty if it is about all criteria of the figure."""
    return "" if len(part) == len(criteria) else f": {', '.join(map(topic, part))}"


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    verdicts = _verdicts(inputs, spec, [OVERALL])
    return rankings(read_table(inputs["rankings"]), spec["labels"], OVERALL, *verdicts)


def _draw_by_criterion(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    table = read_table(inputs["rankings"])
    return rankings_by_criterion(table, spec["labels"], *_verdicts(inputs, spec, criteria_of(table)))


READS: dict[str, Any] = {
    "reads": ("rankings", "pairs"),
    "when": "ranked",
    "facts": ("labels", "level"),
}
FIGURES = (
    Figure(
        "rankings",
        "Sum of the models' ranks over all criteria, by metric (WEFE's ranking).",
        _draw,
        question=RANKS,
        heading="Sum of ranks by model",
        asks="Which model has the lowest ranks, as WEFE adds them up?",
        learn="You learn how WEFE would order the models; it does not show which differ.",
        **READS,
        reading="A segment is WEFE's rank under one metric, the number at the end their sum; models "
        "below the dotted line lack a rank. Sums of ranks have no confidence intervals: see "
        "[the models' ranks with intervals](#ranks-of-the-models-by-metric).",
        example=Example("embedded", "rankings", {"criterion": OVERALL}, shown={"rankings": ["rank"]}),
    ),
    Figure(
        "rankings-by-criterion",
        "The models' ranks of raw values for each criterion.",
        _draw_by_criterion,
        question=RANKS,
        heading="Sum of ranks by model and topic",
        asks="Does that order depend on the topic?",
        learn="You learn how WEFE would order the models on each topic.",
        **READS,
        reading="As in the sum of ranks, with one panel per topic; the models keep their order over "
        "all topics.",
        example=Example("embedded", "rankings-by-criterion", shown={"rankings": ["rank"]}),
    ),
)
