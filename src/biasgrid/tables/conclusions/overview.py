"""Data of a study's first two pictures: the bias of each query in each model, and of each model on each topic.

The report and the figures `bias` and `models` draw the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

from ...core.numbers import plain
from ...core.phrases import capitalized, join_names, pluralize, query_labels
from ...debias import UNTOUCHED
from ...measure.aggregation import OVERALL
from ...measure.evidence import ALL, LEVEL, UNTESTED
from ...measure.statistics.scale import NO_BASELINE, NO_COMMON_ZERO
from ...measure.statistics.shared import NO_VALUE
from .least_biased import Answer

if TYPE_CHECKING:
    import pandas as pd

BASELINE = "standard deviations above the random-word baseline"
DISTANCE = "distance from the no-bias value, on the metric's own scale"
# Meaning of 0 on such an axis.
ZEROS = {BASELINE: "0: as much bias as unrelated words of the same model.", DISTANCE: "0: no bias."}
# Meaning of a missing mark in a row.
NO_MARKS = {
    BASELINE: "No mark: the score or its baseline is missing.",
    DISTANCE: "No mark: the score is missing.",
}
FILLED = "clear evidence, significant in every test"
MISSING_WORDS = "not computed: too many words are missing"
NOT_COMPARED = {NO_BASELINE: "not compared: no baseline", NO_COMMON_ZERO: "not comparable across models"}
TOO_FEW_SHARED = "not compared: too few shared queries"
NO_WINNER, CANNOT_TELL = "no clear winner", "cannot tell"


@dataclass(frozen=True)
class Mark:
    """Value of a model in a row.

    Parameters
    ----------
    model
        Its key.
    value, low, high
        Value and ends of its interval on the scale of the picture; the ends are NaN without an interval.
    evidence
        One of `evidence.VERDICTS`.
    tests
        Number of tests of words that the metric can have.
    half_low, half_high
        Ends of the 50 % interval; NaN without one.
    """

    model: str
    value: float
    low: float = nan
    high: float = nan
    evidence: str = UNTESTED
    tests: int = 2
    half_low: float = nan
    half_high: float = nan

    @property
    def is_clear(self) -> bool:
        """Return whether every test that the metric can have is significant."""
        return self.evidence == ALL


@dataclass(frozen=True)
class Row:
    """Row of a query: its name, its label next to the topic's, its marks, and why it lacks marks."""

    query: str
    label: str
    marks: tuple[Mark, ...]
    missing: str = ""


@dataclass(frozen=True)
class Topic:
    """Topic: its name, the common start of its queries' names, and one row per query, most bias first."""

    name: str
    shared: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class BiasPicture:
    """Bias of queries in models, according to one metric.

    Parameters
    ----------
    metric
        Its key.
    axis
        Unit of the values: `BASELINE`, which all metrics share, or `DISTANCE`.
    topics
        The topics, in the order of the study.
    """

    metric: str
    axis: str
    topics: tuple[Topic, ...]

    @property
    def marks(self) -> list[Mark]:
        """Return all marks."""
        return [mark for topic in self.topics for row in topic.rows for mark in row.marks]

    @property
    def ends(self) -> tuple[float, float]:
        """Return the ends of the axis, which includes all values and 0."""
        values = [0.0, *(mark.value for mark in self.marks)]
        return min(values), max(values)

    @property
    def filled(self) -> str:
        """Return the meaning of a filled mark; empty if no score was tested."""
        marks = self.marks
        if all(mark.evidence == UNTESTED for mark in marks):
            return ""
        if all(mark.tests < 2 for mark in marks):
            return "significant in the only test of this metric"
        return FILLED


@dataclass(frozen=True)
class ModelsCell:
    """Comparison of the models on one topic according to one metric.

    Parameters
    ----------
    criterion, metric
        Their keys.
    axis
        As in `BiasPicture`.
    marks
        Marks of the models that are ranked on the topic.
    clear
        The model that is clearly the least biased, if there is one.
    text
        Result of the comparison in a few words.
    """

    criterion: str
    metric: str
    axis: str
    marks: tuple[Mark, ...]
    clear: str | None
    text: str


def bias_pictures(
    scores: pd.DataFrame,
    metrics: Iterable[str],
    criteria: Sequence[str],
    models: Sequence[str],
    neutrals: Iterable[tuple[str, str, float]],
) -> Iterator[BiasPicture]:
    """Yield the bias of queries in models, for each metric with marks.

    Parameters
    ----------
    scores
        scores.csv.
    metrics, criteria, models
        Keys, in their order.
    neutrals
        (criterion, metric, its no-bias value).
    """
    neutral: dict[str, dict[str, float]] = {}
    for criterion, metric, value in neutrals:
        neutral.setdefault(metric, {})[criterion] = value
    for metric in metrics:
        picture = bias_picture(scores, metric, criteria, models, neutral.get(metric, 0))
        if picture and picture.marks:
            yield picture


def bias_picture(
    scores: pd.DataFrame,
    metric: str,
    criteria: Iterable[str],
    models: Sequence[str],
    neutral: Mapping[str, float] | float,
) -> BiasPicture | None:
    """Return the bias of queries in models without debiasing, for a metric; None without values.

    Parameters
    ----------
    scores
        scores.csv.
    metric
        Its key.
    criteria, models
        Keys, in their order.
    neutral
        The no-bias value of the metric, or by criterion.
    """
    rows = scores[(scores["metric"] == metric) & (scores["debias"] == UNTOUCHED)]
    if rows["value"].isna().all():
        return None
    rows = rows.reindex(columns=dict.fromkeys([*rows, *_COLUMNS]))
    is_scaled = bool(rows["standardized"].notna().any())
    if not is_scaled:
        zero = rows["criterion"].map(neutral) if isinstance(neutral, Mapping) else neutral
        rows = _as_distance(rows, zero)
    topics = [_topic(str(name), rows[rows["criterion"] == name], models, is_scaled) for name in criteria]
    return BiasPicture(
        metric, BASELINE if is_scaled else DISTANCE, tuple(topic for topic in topics if topic.rows)
    )


_COLUMNS = (
    *("standardized", "standardized_low", "standardized_high"),
    *("ci_low", "ci_high", "evidence", "tests"),
)


def _as_distance(rows: pd.DataFrame, zero: Any) -> pd.DataFrame:
    """Return rows with the raw distance from no bias and its interval, in the columns of standardised bias."""
    distance, low, high = ((rows[name].astype(float) - zero) for name in ("value", "ci_low", "ci_high"))
    below = distance < 0
    low, high = low.where(~below, -high), high.where(~below, -low)
    return rows.assign(standardized=distance.abs(), standardized_low=low, standardized_high=high)


def _topic(name: str, rows: pd.DataFrame, models: Sequence[str], is_scaled: bool) -> Topic:
    shared, labels = query_labels(dict.fromkeys(map(str, rows["query"])))
    made = []
    for query, of_query in rows.groupby("query", sort=False):
        by_model = {row.model: row for row in of_query.itertuples()}
        marks = tuple(
            Mark(
                *(model, row.standardized, row.standardized_low, row.standardized_high),
                row.evidence if isinstance(row.evidence, str) else UNTESTED,
                int(row.tests) if row.tests == row.tests else 0,
            )
            for model in models
            if (row := by_model.get(model)) is not None and not isnan(row.standardized)
        )
        missing = "" if marks else _why_missing(of_query, is_scaled)
        made.append(Row(str(query), labels[str(query)], marks, missing))
    # Put rows without marks last.
    made.sort(key=lambda row: -_mean(row.marks) if row.marks else float("inf"))
    return Topic(name, shared, tuple(made))


def _mean(marks: Sequence[Mark]) -> float:
    return sum(mark.value for mark in marks) / len(marks)


def _why_missing(rows: pd.DataFrame, is_scaled: bool) -> str:
    if rows["value"].isna().all():
        return MISSING_WORDS
    return NO_BASELINE if is_scaled else NO_VALUE


def models_picture(
    answers: Iterable[Answer],
    aggregates: pd.DataFrame | None,
    aggregation: str,
    labels: Mapping[str, str],
    margin: float,
) -> list[ModelsCell]:
    """Return each metric's comparison of the models on each topic, if at least two models have values.

    Parameters
    ----------
    answers
        Each metric's comparison of the models.
    aggregates
        aggregates.csv, if the study has it.
    aggregation
        The aggregation by which models are ranked.
    labels
        Labels of models.
    margin
        Largest difference of two models that are alike, in standard deviations.
    """
    of_place = _aggregates(aggregates, aggregation)
    scaled = {metric for (_, metric, _), row in of_place.items() if not isnan(row.standardized)}
    cells = []
    for answer in answers:
        if len(answer.models_with_value) < 2:
            continue
        is_scaled = answer.metric in scaled
        marks = []
        for state in answer.models:
            row = of_place.get((answer.criterion, answer.metric, state.model))
            if not is_scaled:
                marks.append(Mark(state.model, state.value))
            elif row is not None and not isnan(row.standardized):
                value = row.standardized, row.standardized_low, row.standardized_high
                half = row.standardized_half_low, row.standardized_half_high
                marks.append(Mark(state.model, *value, row.evidence, int(row.tests), *half))
        cells.append(
            ModelsCell(
                *(answer.criterion, answer.metric, BASELINE if is_scaled else DISTANCE, tuple(marks)),
                *(answer.least_biased, comparison_text(answer, labels, margin)),
            )
        )
    return cells


def _aggregates(aggregates: pd.DataFrame | None, aggregation: str) -> dict[tuple[str, str, str], Any]:
    if aggregates is None or "standardized" not in aggregates:
        return {}
    rows = aggregates[(aggregates["aggregation"] == aggregation) & (aggregates["debias"] == UNTOUCHED)]
    return {(row.criterion, row.metric, row.model): row for row in rows.itertuples()}


def models_axes(cells: Iterable[ModelsCell]) -> dict[str, tuple[float, float]]:
    """Return the ends of each metric's axis: a common axis for standardised bias, and an own axis for other metrics.

    Intervals may be far wider than the range of the marks. They are cut off at half of that range beyond the marks.
    """
    groups: dict[str, list[ModelsCell]] = {}
    for cell in cells:
        groups.setdefault(BASELINE if cell.axis == BASELINE else cell.metric, []).append(cell)
    axes: dict[str, tuple[float, float]] = {}
    for of_axis in groups.values():
        marks = [mark for cell in of_axis for mark in cell.marks]
        values = [0.0, *(mark.value for mark in marks if isfinite(mark.value))]
        reach = (max(values) - min(values)) or 1
        low, high = min(values) - reach / 2, max(values) + reach / 2
        ends = [end for mark in marks for end in (mark.low, mark.high) if isfinite(end)]
        values += [min(max(end, low), high) for end in ends]
        axes |= {cell.metric: (min(values), max(values)) for cell in of_axis}
    return axes


def how_to_read_models(cells: Iterable[ModelsCell], level: float = LEVEL) -> str:
    """Return how to read the picture of models."""
    cells = list(cells)
    if any(cell.axis == BASELINE for cell in cells):
        unit = (
            f"{capitalized(BASELINE)}, averaged over queries; further right is more bias. {ZEROS[BASELINE]}"
        )
    else:
        unit = "Average distance from no bias, on each metric's own scale; further right is more bias."
    ring = " Ring: clearly lowest." if any(cell.clear for cell in cells) else ""
    return (
        f"{unit} Lines: 50 % and {level * 100:g} % intervals for other words. Filled: significant mean.{ring} "
        "\N{LEFT DOUBLE QUOTATION MARK}Cannot tell\N{RIGHT DOUBLE QUOTATION MARK} does not mean equal."
    )


def coverage_text(answers: Sequence[Answer], labels: Mapping[str, str]) -> str:
    """Say how many queries the models of a topic share, and which models are left out."""
    queries = max((answer.queries for answer in answers), default=0)
    queries_of = max((answer.queries_of for answer in answers), default=0)
    left_out = dict.fromkeys(state.model for answer in answers for state in answer.not_ranked)
    ranked = {state.model for answer in answers for state in answer.models}
    counted = pluralize(queries_of, "query", "queries")
    texts = [f"{queries} of {counted}" if 0 < queries < queries_of else counted]
    texts += [f"{labels.get(model, model)} left out" for model in left_out if model not in ranked]
    return " · ".join(texts)


def comparison_text(answer: Answer, labels: Mapping[str, str], margin: float) -> str:
    """Say in a few words what a metric's comparison of the models on a topic finds."""
    if answer.not_compared:
        return NOT_COMPARED[answer.not_compared]
    if not answer.has_test:
        return "not compared: no bootstrap"
    if not answer.comparable:
        return TOO_FEW_SHARED
    if answer.least_biased:
        return f"{labels.get(answer.least_biased, answer.least_biased)} is clearly lowest"
    decided = sorted(answer.decided_pairs)
    if len(decided) == 1:
        [((low, _), (high, _))] = decided
        return f"{labels.get(high, high)} is clearly above {labels.get(low, low)}"
    if decided:
        lows, highs = ({labels.get(pair[i][0], pair[i][0]) for pair in decided} for i in (0, 1))
        if len(lows) == 1 or len(highs) == 1:
            verb = "are" if len(highs) > 1 else "is"
            return f"{join_names(sorted(highs))} {verb} clearly above {join_names(sorted(lows))}"
        return f"{len(decided)} of {answer.compared_pairs} pairs clearly differ"
    if answer.alike_pairs == answer.compared_pairs:
        return f"alike within {plain(margin)} SD"
    return NO_WINNER if answer.alike_pairs else CANNOT_TELL


def topic_label(criterion: str) -> str:
    """Return the name of a topic: "All topics" in place of `OVERALL`."""
    return "All topics" if criterion == OVERALL else criterion
