"""Card on models: which is clearly the least biased, and what comparisons of two models find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.numbers import number, plain
from ...core.phrases import join_names, number_of, pluralize, with_note
from ...measure.aggregation import OVERALL
from ...measure.statistics.scale import NO_BASELINE, NO_COMMON_ZERO
from ...measure.statistics.shared import FEW_SHARED
from ...measure.statistics.two_models import ALIKE, CANNOT_TELL, DIFFERENT, MODELS, STANDARDIZED
from .card import MOST_NAMED, Card
from .least_biased import Answer
from .overview import ModelsCell

if TYPE_CHECKING:
    import pandas as pd

# The end of a headline about models that are not compared.
NOT_RANKED = "can be called the least biased"
NO_BOOTSTRAP = "Models are not compared, because the study has no bootstrap."
NO_GROUPS = (
    "Models are not compared, because the study has no random-word baseline. To get one, add random_groups to its "
    "inference."
)
WITHOUT_BASELINE = "Models are not compared, because their scores have no random-word baseline."
WHY_NOT_COMPARED = {
    NO_BASELINE: "without a random-word baseline (random_groups)",
    NO_COMMON_ZERO: "because models also differ on random words",
}
FEW_IN_COMMON = "No two models can be compared: they have too few queries in common."
ONE_COMPARISON = (
    "A comparison is of one pair of models, by one metric, on one topic or on all topics together."
)

ONE_QUERY = "This is the answer for one query, and another query may have another answer."


def models_card(
    answers: Sequence[Answer],
    cells: Sequence[ModelsCell],
    pairs: pd.DataFrame | None,
    spec: Mapping[str, Any],
) -> Card | None:
    """Say which model is clearly the least biased, which has most, and what comparisons of two models find."""
    criteria, labels = spec["criteria"], spec["labels"]
    of_all = on_all_topics(answers, criteria)
    question = "Which model is least biased?"
    if not of_all:
        return None
    compared = [answer for answer in of_all if answer.comparable]
    if not compared:
        if not any(answer.has_test for answer in of_all):
            why = NO_BOOTSTRAP
        elif any(answer.not_compared == NO_BASELINE for answer in of_all):
            why = WITHOUT_BASELINE if spec["random_groups"] else NO_GROUPS
        elif all(answer.not_compared for answer in of_all):
            why = "These metrics cannot compare models."
        else:
            why = FEW_IN_COMMON
        return Card("Models", question, *winner(compared, labels), (why,))
    figure, unit = winner(compared, labels)
    together = of_all[0].criterion
    single = [
        answer
        for answer in answers
        if answer.criterion in criteria
        and answer.criterion != together
        and len(answer.models_with_value) > 1
        and answer.comparable
    ]
    winners = {answer.least_biased for answer in compared} - {None}
    sentences = [
        *(_not_compared_with(compared, labels) if len(winners) == 1 else ()),
        *[ONE_QUERY] * (len(winners) == 1 and len(spec["queries"]) == 1),
        *_extremes(compared, [cell for cell in cells if cell.criterion == together], labels),
        *_single_topics(single, labels),
        *(of_comparisons := of_pairs(_of_ranking(pairs, criteria), spec["margin"])),
        *[ONE_COMPARISON] * bool(of_comparisons),
    ]
    return Card("Models", question, figure, unit, tuple(sentences))


def on_all_topics(answers: Sequence[Answer], criteria: Sequence[str]) -> list[Answer]:
    """Return the comparisons on all topics together, or on the only topic, by metrics with values of two models."""
    together = criteria[0] if len(criteria) == 1 else OVERALL
    return [
        answer for answer in answers if answer.criterion == together and len(answer.models_with_value) > 1
    ]


def winner(compared: Sequence[Answer], labels: Mapping[str, str]) -> tuple[str, str]:
    """Return which model is clearly the least biased, and according to how many of these comparisons."""
    if not compared:
        return "No model", NOT_RANKED
    metrics: dict[str, list[Answer]] = {}
    for answer in compared:
        if answer.least_biased is not None:
            metrics.setdefault(answer.least_biased, []).append(answer)
    if not metrics:
        return "No model", "is clearly the least biased"
    if len(metrics) > 1:
        return "Metrics disagree", "on which model is clearly the least biased"
    [(model, decisive)] = metrics.items()
    by = f"{number_of(len(decisive), len(compared))} metrics"
    if len(compared) == 1 or (len(decisive) < len(compared) and len(decisive) == 1):
        by = labels.get(decisive[0].metric, decisive[0].metric)
    return labels.get(model, model), f"is clearly the least biased according to {by}"


def _not_compared_with(answers: Iterable[Answer], labels: Mapping[str, str]) -> list[str]:
    """Say with which models the clearly least biased model was not compared, and why."""
    rivals = dict.fromkeys(rival for answer in answers if answer.is_decided for rival in answer.incomparable)
    names = [
        with_note(
            labels.get(rival.model, rival.model),
            f"{rival.queries} of {rival.queries_of} queries" if rival.reason == FEW_SHARED else rival.reason,
        )
        for rival in rivals
    ]
    return [f"It was not compared with {join_names(names)}."] if names else []


def _extremes(
    compared: Sequence[Answer], cells: Sequence[ModelsCell], labels: Mapping[str, str]
) -> list[str]:
    """Say which model has most bias and which least by the first metric, and whether these clearly differ."""
    by_metric = {cell.metric: cell for cell in cells}
    for answer in compared:
        marks = by_metric[answer.metric].marks if answer.metric in by_metric else ()
        if len(marks) > 1:
            ordered = sorted(marks, key=lambda mark: mark.value)
            low, high = (labels.get(mark.model, mark.model) for mark in (ordered[0], ordered[-1]))
            pair = tuple((mark.model, "none") for mark in (ordered[0], ordered[-1]))
            differ = "clearly differ" if pair in answer.decided_pairs else "do not clearly differ"
            by = labels.get(answer.metric, answer.metric)
            left_out = answer.not_ranked
            among = f" among {len(marks)} ranked models" if len(left_out) > MOST_NAMED else ""
            sentence = (
                f"According to {by}, {high} has the most bias and {low} the least{among}; they {differ}."
            )
            if 0 < len(left_out) <= MOST_NAMED:
                verb = "is" if len(left_out) == 1 else "are"
                names = join_names([labels.get(state.model, state.model) for state in left_out])
                has_too_few = all(state.has_lost_queries for state in left_out)
                why = ": too few queries have a value" if has_too_few else ""
                sentence += f" {names} {verb} not ranked{why}."
            return [sentence]
    return []


def _single_topics(answers: Sequence[Answer], labels: Mapping[str, str]) -> list[str]:
    """Say on which single topics a model is clearly the least biased, according to which metrics."""
    decided = [answer for answer in answers if answer.least_biased is not None]
    if not decided:
        return []
    winners: dict[tuple[str, str], list[str]] = {}
    for answer in decided:
        place = answer.criterion, labels.get(str(answer.least_biased), str(answer.least_biased))
        winners.setdefault(place, []).append(labels.get(answer.metric, answer.metric))
    if len(winners) > MOST_NAMED:
        return [
            f"On single topics, one model is clearly lowest in {len(decided)} of {len(answers)} rankings."
        ]
    sentences = []
    for (topic, model), metrics in winners.items():
        sentences.append(f"On {topic}, {model} is clearly lowest according to {join_names(metrics)}.")
        sentences += _not_compared_with([a for a in decided if a.criterion == topic], labels)
    return sentences


def _of_ranking(pairs: pd.DataFrame | None, criteria: Sequence[str]) -> pd.DataFrame | None:
    """Leave out "all topics" of a study of one topic, which repeat its comparisons."""
    return pairs[pairs["criterion"] != OVERALL] if pairs is not None and len(criteria) == 1 else pairs


def of_pairs(pairs: pd.DataFrame | None, margin: float) -> list[str]:
    """Say how many comparisons of two models find them different or alike, and what the others could have found."""
    if pairs is None or not {"answer", "scale"} <= {*pairs}:
        return []
    rows = pairs[(pairs["family"] == MODELS) & pairs["answer"].isin([DIFFERENT, ALIKE, CANNOT_TELL])]
    if rows.empty:
        return []
    different, alike, unclear = (
        int((rows["answer"] == name).sum()) for name in (DIFFERENT, ALIKE, CANNOT_TELL)
    )
    is_scaled = rows["scale"] == STANDARDIZED
    if len(rows) == 1:
        finds = "finds a clear difference" if different else f"finds both alike within {plain(margin)} SD"
        finds = "cannot tell them apart" if unclear else finds
        return [f"The one comparison of two models {finds}.", *_could_find(rows)]
    if unclear == len(rows):
        return [
            f"None of {pluralize(unclear, 'comparison')} of two models can tell them apart.",
            *_could_find(rows),
        ]
    parts = [f"{different:,} {'finds' if different == 1 else 'find'} a clear difference"]
    # Count alike pairs only on the common scale: raw distances have other units for each metric.
    if is_scaled.any():
        parts.append(f"{alike:,} {'finds' if alike == 1 else 'find'} both alike within {plain(margin)} SD")
    if unclear:
        parts.append(f"{unclear:,} cannot tell")
    sentences = [f"Of {pluralize(len(rows), 'comparison')} of two models, {join_names(parts)}."]
    sentences += _could_find(rows)
    if "other_answer" in pairs:
        other = pairs.loc[pairs["family"] == MODELS, "other_answer"]
        if total := int(other.isin([DIFFERENT, ALIKE, CANNOT_TELL]).sum()):
            found = int((other == DIFFERENT).sum())
            find = "find" if found > 1 else "finds"
            sentences.append(
                f"For other queries like these, {found or 'none'} of {total:,} {find} a clear difference."
            )
    return sentences


def _could_find(rows: pd.DataFrame) -> list[str]:
    """Say which difference half of the inconclusive comparisons would have found."""
    is_unclear = (rows["answer"] == CANNOT_TELL) & (rows["scale"] == STANDARDIZED)
    smallest = rows.loc[is_unclear, "smallest_difference"]
    if smallest.empty:
        return []
    difference = number(float(smallest.median()), 2)
    those = "It" if len(rows) == 1 else "Half of those that cannot tell"
    return [f"{those} would find a difference of {difference} SD with 80 % power."]


def not_compared(answers: Sequence[Answer], spec: Mapping[str, Any]) -> list[str]:
    """Say by which metrics models are not compared, and why, if other metrics compare them."""
    labels = spec["labels"]
    of_all = on_all_topics(answers, spec["criteria"])
    if not any(answer.comparable for answer in of_all) and {a.not_compared for a in of_all} == {NO_BASELINE}:
        # The card on models already has this text.
        return []
    sentences = []
    for reason, why in WHY_NOT_COMPARED.items():
        if metrics := [labels.get(a.metric, a.metric) for a in of_all if a.not_compared == reason]:
            sentences.append(f"{join_names(metrics)} cannot compare models {why}.")
    return sentences
