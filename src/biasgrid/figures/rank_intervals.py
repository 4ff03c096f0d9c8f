"""Figure of the models' ranks of raw values: a forest plot of ranks with their intervals, a column per metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..core.numbers import plain
from ..core.phrases import join_names, with_note
from ..measure.aggregation import OVERALL
from ..measure.ranks import most_resampled
from ..measure.statistics.shared import FEW_SHARED, NO_VALUE
from ..measure.statistics.two_models import MODELS
from ..tables.conclusions.least_biased import Answer, RankedState, answers
from .figure import Example, Figure, each_criterion
from .frame import Frame, empty_page, styled
from .palette import GREY, Look, in_order, model_looks, series_mark
from .questions import RANKS
from .rows import from_tables, rows_of, rows_where, units_of
from .text import DAGGER, metric_head, percent, topic, unit_label, wrap_text
from .types.rows import row_panels, rows
from .visuals import beside, few_ticks, legend_interval, legend_line, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

INTERVAL: Look = {"linewidth": 3, "alpha": 0.4}
# Largest number of clearly different pairs of models that the caption names.
MOST_PAIRS = 8
HEADING = "Ranks of the models by metric"


@styled
def rank_intervals(
    intervals: pd.DataFrame,
    rankings: pd.DataFrame,
    pairs: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str = OVERALL,
    level: float = 0.95,
) -> figure.Figure:
    """Draw the models' ranks under each metric with their intervals.

    The tables are rank_intervals.csv, rankings.csv and pairs.csv. There is one column per metric and one row per
    model, in the study's order. A mark is the rank, the line its interval over resamples of words and queries if the
    table has such, otherwise over words. The title tells how many pairs of models do not clearly differ, the caption
    which pairs do. A dagger marks a ranked model that lacks queries.

    Raises BiasgridError if a table lacks rows of the criterion.
    """
    import pandas as pd

    table = rows_of(intervals, "rank_intervals", criterion=criterion)
    if len(units_of(table)) < 2:
        return empty_page(HEADING, "one model has no rank among others.")
    table, resampled = most_resampled(table)
    # Rows have the names, so that debias methods do not need letters.
    models = model_looks(intervals["model"])
    metrics = sorted(table["metric"].unique())
    answers = {answer.metric: answer for answer in _answers(rankings, pairs, criterion, metrics, level)}
    units = in_order((s.model, s.debias) for answer in answers.values() for s in _states(answer))
    names = {unit: wrap_text(unit_label(unit, labels), 26) for unit in units}
    looks = {unit: _enlarge(models[unit[0]]) for unit in units}
    page = Frame(
        _finding(pairs, [*answers.values()], criterion, metrics),
        f"{topic(criterion)}: ranks by WEFE's raw values, rank 1 = least biased",
        _notes([*answers.values()], labels, level, resampled),
    )
    heads = {m: metric_head(labels.get(m, m)) for m in metrics}
    panels = row_panels(page, heads, names, least=0.6)
    ends = table.set_index(["metric", "model", "debias"])[["low", "high"]]
    for metric, axes in panels.items():
        marks = [(s, s.model, s.debias) for s in _states(answers[metric])]
        drawn = pd.DataFrame(
            [
                ((model, debias), (model, debias), state.rank, *ends.loc[metric, model, debias], _why(state))
                for state, model, debias in marks
            ],
            columns=["row", "series", "value", "low", "high", "says"],
        )
        drawn.loc[drawn["says"] != "", ["value", "low", "high"]] = float("nan")
        places = rows(axes, drawn, names, looks, interval=INTERVAL)
        for state, *unit in marks:
            if not state.reason and state.has_lost_queries:
                beside(axes, places[*(tuple(unit),) * 2], DAGGER)
        axes.set_xlim(0.5, len(units) + 0.5)
        axes.set_xlabel("rank", labelpad=1)
        few_ticks(axes.xaxis, 4, integer=True)
    legend = [
        ("rank", legend_line(**_enlarge(series_mark(0)) | {"color": GREY, "marker": "s"})),
        legend_interval(level, f"interval (bootstrap over {resampled})", **INTERVAL),
    ]
    if any(state.has_lost_queries for answer in answers.values() for state in answer.models):
        legend += [(f"{DAGGER} not measured on all queries", no_mark())]
    return page.done(legend)


def _states(answer: Answer) -> Sequence[RankedState]:
    return (*answer.models, *answer.not_ranked)


def _enlarge(look: Look) -> Look:
    """Enlarge a mark, so that it is visible on its interval."""
    return look | {"markersize": 1.35 * look["markersize"], "markeredgewidth": 0.6}


def _why(state: RankedState) -> str:
    """Return in a few words why a rank is missing; empty for a ranked model."""
    return state.reason if state.reason in ("", NO_VALUE) else "not ranked"


def _finding(pairs: pd.DataFrame, answers: Sequence[Answer], criterion: str, metrics: Sequence[str]) -> str:
    """Say in how many pairs the models do not clearly differ, over all metrics that compare them."""
    compared = rows_where(pairs, criterion=criterion, family=MODELS, reason="")
    total = int(compared["metric"].isin(metrics).sum())
    clear = sum(len(answer.decided_pairs) for answer in answers)
    if not total:
        return HEADING
    if clear == total:
        return (
            f"In all {total} pairs, the models clearly differ"
            if total > 1
            else "The two models clearly differ"
        )
    if not clear:
        return (
            f"None of {total} pairs of models clearly differs"
            if total > 1
            else "The two models do not clearly differ"
        )
    return f"In {total - clear} of {total} pairs, models do not clearly differ"


def _notes(answers: Sequence[Answer], labels: Mapping[str, str], level: float, resampled: str) -> list[str]:
    """Return how to read the figure, which models clearly differ, and which are not ranked and why."""
    lines = [
        f"A square is a model's rank among the models, the bar its {percent(level)} interval over "
        f"{resampled}. A pair "
        "is two models under one metric.",
        _different(answers, labels, level),
        "The ranks are on the queries that all ranked models have.",
    ]
    lost: dict[str, list[str]] = {}
    for answer in answers:
        for state in answer.not_ranked:
            if state.reason != NO_VALUE and state.has_lost_queries:
                name = with_note(
                    labels.get(state.model, state.model), f"{state.queries} of {state.queries_of} queries"
                )
                lost.setdefault(name, []).append(labels.get(answer.metric, answer.metric))
    of_all = len(answers)
    not_ranked = [
        name if len(metrics) == of_all else f"{name} under {', '.join(metrics)}"
        for name, metrics in lost.items()
    ]
    return [*lines, *([f"Not ranked: {'; '.join(not_ranked)}."] if not_ranked else [])]


def _answers(
    rankings: pd.DataFrame, pairs: pd.DataFrame, criterion: str, metrics: Sequence[str], level: float
) -> list[Answer]:
    """Return the metrics' comparisons of the models on a criterion."""
    return answers(
        rows_where(rankings, criterion=criterion), rows_where(pairs, criterion=criterion), metrics, level
    )


def _different(answers: Sequence[Answer], labels: Mapping[str, str], level: float) -> str:
    """Say which models clearly differ, the less biased first; if there are many pairs, how many."""
    compared = [answer for answer in answers if answer.comparable]
    if not compared:
        reasons = dict.fromkeys(answer.not_compared for answer in answers if answer.not_compared)
        return f"No two models can be compared: {join_names(reasons) or FEW_SHARED}."
    limit = f"(adjusted p at most {plain(1 - level)})"
    pairs = [(answer.metric, a, b) for answer in compared for (a, _), (b, _) in sorted(answer.decided_pairs)]
    if not pairs:
        return f"No two models clearly differ {limit}."
    if len(pairs) > MOST_PAIRS:
        return f"Models clearly differ in {len(pairs)} comparisons {limit}."
    others: dict[tuple[str, str], list[str]] = {}
    for metric, a, b in pairs:
        others.setdefault((metric, a), []).append(labels.get(b, b))
    texts = [
        f"{labels.get(a, a)} from {join_names(names)} according to {labels.get(metric, metric)}"
        for (metric, a), names in others.items()
    ]
    return f"Clearly different, the less biased first {limit}: {'; '.join(texts)}."


FIGURES = (
    Figure(
        "rank-intervals",
        "The models' ranks under each metric, with bootstrap intervals.",
        from_tables(rank_intervals),
        question=RANKS,
        heading=HEADING,
        asks="Which models differ, and how certain are their ranks?",
        learn="You learn which pairs of models a metric can tell apart.",
        drawings=each_criterion("rank-intervals", overall=True),
        reads=("rank_intervals", "rankings", "pairs"),
        when="ranked and bootstrap",
        facts=("labels", "level"),
        reading="A square is WEFE's rank of a model's raw values, the bar its 95 % interval over "
        "words and queries. The title counts the pairs that do not clearly differ (adjusted p "
        "above .05); the caption names the others. † was not measured on all queries.",
        example=Example("embedded", "rank-intervals", {"criterion": OVERALL}),
    ),
)
