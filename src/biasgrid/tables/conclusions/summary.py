"""Conclusions of a study, by rule: a headline, answers to four questions, and notes on missing results.

The report, `Grid.summary`, the end of a run and README show the same `Conclusion`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.numbers import number, plain, share
from ...debias import UNTOUCHED
from ...measure.aggregation import OVERALL
from ...measure.evidence import ALL, UNTESTED
from ...measure.reliability_in_words import HOLDS, THRESHOLDS, of_sign
from ...measure.results import KEYS
from ...measure.statistics.scale import NO_BASELINE, NO_COMMON_ZERO, TOO_FEW_TOPICS
from ...measure.statistics.shared import FEW_SHARED
from ...measure.statistics.two_models import ALIKE, CANNOT_TELL, DIFFERENT, MODELS, STANDARDIZED
from ..published.verdict import UNJUDGED, VERDICTS
from ..published.wholes import counted
from .debias_effect import Effect, effects, metrics_by_length, pooled
from .direction import directions, of_directions
from .findings import Findings, TopicFindings, Untestable, find_evidence, find_untestable
from .least_biased import Answer
from .overview import ModelsCell, models_picture
from .text import capitalized, count_name, join_names, number_of, pluralize, with_note

if TYPE_CHECKING:
    import pandas as pd

# The tables that this module reads, in addition to the tables of `least_biased.answers`.
READ = ("scores", "aggregates", "pairs", "comparison", "reliability")
# In words.
LONGEST_HEADLINE = 10
# More metrics are counted.
FEW_METRICS = 2
# Largest number of named queries of a topic, and of named topics.
MOST_NAMED = 3
# Number of a card's sentences that are visible at first.
MOST_SENTENCES = 2
# If there are more debias methods, their counts are added up.
FEW_METHODS = 2
BIAS, MODELS_TOPIC, OTHER_WORDS, DEBIASING = "Bias", "Models", "Other words", "Debiasing"
# Reasons for missing scores.
REASONS = {
    "lost_words": "models lack too many of the words",
    "degenerate": "the metric is not defined for these vectors",
}
# The end of a headline about models that are not compared.
# Why a score has no baseline, in words that need no definition.
NO_BASELINES = {TOO_FEW_TOPICS: "too few comparable word groups"}
NOT_RANKED = "can be called the least biased"
NO_BOOTSTRAP = "Models are not compared, because the study has no bootstrap."
NO_GROUPS = (
    "Models are not compared, because the study has no random-word baseline. To get one, add random_groups to its "
    "inference."
)
WHY_NOT_COMPARED = {
    NO_BASELINE: "without a random-word baseline (random_groups)",
    NO_COMMON_ZERO: "because models also differ on random words",
}
FEW_IN_COMMON = "No two models can be compared: they have too few queries in common."
ONE_SCORE = (
    "A score is of one metric, query and model, debiased models included. A metric that takes fewer word sets than "
    "the query has gives it several scores."
)
ONE_COMPARISON = (
    "A comparison is of one pair of models, by one metric, on one topic or on all topics together."
)


@dataclass(frozen=True)
class Card:
    """Answer to one of a study's questions.

    Parameters
    ----------
    topic
        Heading in the summary, a word or two.
    question
        The question.
    figure, unit
        The answer's number or name, and its unit; together they are a sentence.
    sentences
        Further sentences, most important first.
    bars
        Labels and shares of 1 that show the answer, if there are any.
    visible
        Number of sentences that are visible at first.
    """

    topic: str
    question: str
    figure: str
    unit: str
    sentences: tuple[str, ...] = ()
    bars: tuple[tuple[str, float], ...] = ()
    visible: int = MOST_SENTENCES

    @property
    def first(self) -> tuple[str, ...]:
        """Return the sentences that are visible at first; the report folds the others."""
        return self.sentences[: self.visible]

    @property
    def text(self) -> str:
        """Return the answer and the sentences that are visible at first."""
        return " ".join([f"{self.figure} {self.unit}".strip() + ".", *self.first])


@dataclass(frozen=True)
class Conclusion:
    """Conclusions of a study.

    Parameters
    ----------
    title
        The study's title.
    headline
        The finding in at most ten words.
    subtitle
        What was measured, and the result about the models.
    cards
        Answers to: is there bias, which model has least, would other words change that, does debiasing help? A card
        is left out if the study does not ask its question.
    notes
        Topic -> sentences on missing scores, on limits of the tests, and on reproduced numbers.
    """

    title: str
    headline: str
    subtitle: str
    cards: tuple[Card, ...]
    notes: Mapping[str, tuple[str, ...]]

    @property
    def topics(self) -> dict[str, str]:
        """Return topic -> the text that is visible at first, in order; for a note, its first sentence."""
        notes = {topic: sentences[0] for topic, sentences in self.notes.items()}
        return {card.topic: card.text for card in self.cards} | notes


def conclude(
    answers: Sequence[Answer], tables: Mapping[str, pd.DataFrame], spec: Mapping[str, Any]
) -> Conclusion:
    """Draw the conclusions of a study.

    Parameters
    ----------
    answers
        Each metric's comparison of the models.
    tables
        The tables of `READ` that the study has, by name.
    spec
        From `tables.read_conclusions.summary_spec`. "title"; "topics", all criteria, and "criteria", the ranked ones;
        "metrics", in their order; "labels"; "queries", names by id; "models", their number; "absent", labels of
        models that could not be downloaded; "debias", the topic of each method; "recovery", whether the study
        measures how much bias can be recovered; "sides", the argument of `direction.directions`; "aggregation", by
        which models are ranked; "margin", within which two models are alike; "adjust" and "level", the adjustment and
        the level of the p-values; "draws" of the tests of words.
    """
    scores, labels = tables.get("scores"), spec["labels"]
    findings = find_evidence(scores, spec["queries"])
    averages = _averages(findings, tables.get("aggregates"), spec)
    untestable = find_untestable(scores, spec)
    cells = models_picture(answers, tables.get("aggregates"), spec["aggregation"], labels, spec["margin"])
    models = _models_card(answers, cells, tables.get("pairs"), spec)
    cards = (
        _bias_card(findings, averages, tables, spec),
        models,
        _words_card(tables.get("reliability"), scores, labels),
        _debias_card(effects(answers, spec["debias"], spec["criteria"]), spec),
    )
    absent, published = of_absent(spec.get("absent", ())), reproduced(tables.get("comparison"))
    notes = {
        "Not measured": [absent] * bool(absent),
        "Missing": _missing(scores, answers, labels),
        "Cannot tell": _cannot_tell(untestable),
        "Not compared": _not_compared(answers, spec),
        "Published": [f"{published}."] * bool(published),
    }
    return Conclusion(
        spec["title"],
        _headline(findings, models_headline(answers, spec["criteria"], labels), scores, averages),
        _subtitle(scores, models, spec),
        tuple(card for card in cards if card),
        {topic: tuple(sentences) for topic, sentences in notes.items() if sentences},
    )


def lines(conclusion: Conclusion, width: int) -> list[str]:
    """Return the conclusions in lines of at most `width` characters: the headline, then a list of topics."""
    topics = conclusion.topics
    room = max(map(len, topics), default=0) + 2

    def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
        return textwrap.wrap(
            text,
            width,
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )

    said = [
        *wrapped(conclusion.title),
        *wrapped(f"{conclusion.headline}."),
        *wrapped(conclusion.subtitle),
        *[""] * bool(topics),
    ]
    for topic, text in topics.items():
        said += wrapped(text, f"  {topic:<{room}}", " " * (room + 2))
    return said


def headline(scores: pd.DataFrame, queries: Mapping[str, str], longest: int = LONGEST_HEADLINE) -> str:
    """Return the findings of the tests of scores as a headline with a limited number of words.

    Parameters
    ----------
    scores
        scores.csv.
    queries
        Names of queries by id.
    longest
        Largest number of words.
    """
    return _headline(find_evidence(scores, queries), "", scores, longest=longest)


def _headline(
    findings: Findings | None,
    models: str,
    scores: pd.DataFrame | None,
    averages: Sequence[Average] = (),
    longest: int = LONGEST_HEADLINE,
) -> str:
    """Return the finding as a short headline; without tests, `models`, the headline on the models."""
    if findings is None:
        if models and not models.endswith(NOT_RANKED):
            return models
        values = 0 if scores is None else int(scores["value"].notna().sum())
        return (
            f"{pluralize(values, 'score')} measured, none tested" if values else "No score could be computed"
        )
    evidence = _evidence(findings)
    if findings.clear:
        texts = _clear_headlines(findings)
    elif averages:
        of_topic = f"{averages[0].topic} bias" if len(averages) == 1 else "Bias"
        texts = [
            f"{of_topic} on average; no query shows {evidence}",
            f"Bias on average; no query shows {evidence}",
        ]
    elif findings.weak and not findings.is_weak_beside_groups:
        texts = ["Weak evidence of bias: there is no random-word baseline", "Weak evidence of bias"]
    elif findings.weak:
        texts = ["Weak evidence of bias: unrelated word groups differ as much", "Weak evidence of bias"]
    elif findings.is_out_of_reach:
        texts = ["Too few words to tell whether there is bias", "Too few words to tell"]
    else:
        texts = [f"No query shows {evidence} of bias", f"No {evidence} of bias"]
    return _first_short(texts, longest)


def _evidence(findings: Findings) -> str:
    return "clear evidence" if findings.has_two_tests else "evidence"


def _clear_headlines(findings: Findings) -> list[str]:
    """Return headlines on clear evidence, the longest first."""
    evidence = capitalized(_evidence(findings))
    topics = findings.clear
    names = [topic.name for topic in topics]
    where = join_names(names) if len(names) < MOST_NAMED else f"{len(names)} of {len(findings.topics)} topics"
    texts = [f"{evidence} of bias on {where}", f"{evidence} of bias"]
    if len(topics) == 1 and topics[0].models_of > 1:
        texts.insert(0, f"{evidence} of {names[0]} bias in {_models_with(topics[0])}")
    return texts


def _first_short(texts: Sequence[str], longest: int = LONGEST_HEADLINE) -> str:
    """Return the first text with at most `longest` words, or the last text."""
    return next((text for text in texts if len(text.split()) <= longest), texts[-1])


def models_headline(answers: Sequence[Answer], criteria: Sequence[str], labels: Mapping[str, str]) -> str:
    """Say which model is clearly the least biased in at most `LONGEST_HEADLINE` words; empty without two models.

    Parameters
    ----------
    answers
        Each metric's comparison of the models.
    criteria
        The ranked criteria.
    labels
        Labels of models and metrics.
    """
    of_all = _on_all_topics(answers, criteria)
    if not of_all:
        return ""
    compared = [answer for answer in of_all if answer.comparable]
    texts = [" ".join(_winner(compared, labels))]
    winners = [answer.least_biased for answer in compared if answer.least_biased]
    if len(set(winners)) == 1:
        model, count = labels.get(winners[0], winners[0]), f"{len(winners)} of {len(compared)} metrics"
        verb = f"is clearly lowest in {count}" if len(compared) > 1 else "is clearly the least biased"
        texts += [f"{model} {verb}", f"One model {verb}"]
    return _first_short(texts)


def _on_all_topics(answers: Sequence[Answer], criteria: Sequence[str]) -> list[Answer]:
    """Return the comparisons on all topics together, or on the only topic, by metrics with values of two models."""
    together = criteria[0] if len(criteria) == 1 else OVERALL
    return [
        answer for answer in answers if answer.criterion == together and len(answer.models_with_value) > 1
    ]


def _models_with(topic: TopicFindings) -> str:
    """Say in how many models a topic has evidence: "all 4 models", "2 of 4 models"."""
    return _of_models(len(topic.models), topic.models_of)


def _of_models(count: int, total: int) -> str:
    if count == total == 2:
        return "both models"
    return f"all {total} models" if count == total > 1 else f"{count} of {pluralize(total, 'model')}"


def _subtitle(scores: pd.DataFrame | None, models: Card | None, spec: Mapping[str, Any]) -> str:
    """Say how much was measured, and the result about the models."""
    if scores is None or scores.empty:
        return ""
    measured_topics = {*scores["criterion"].astype(str)}
    topics = sorted(measured_topics, key=lambda name: (*spec["topics"], name).index(name))
    metrics = scores["metric"].nunique()
    on = f" on {join_names(topics)}" if len(topics) <= MOST_NAMED else f" on {len(topics)} topics"
    queries = pluralize(len(spec["queries"]), "query", "queries")
    measured = f"{pluralize(spec['models'], 'model')}, {pluralize(metrics, 'metric')}, {queries}{on}."
    return f"{measured} {models.figure} {models.unit}".rstrip() + "." if models else measured


def _bias_card(
    findings: Findings | None,
    averages: Iterable[Average],
    tables: Mapping[str, pd.DataFrame],
    spec: Mapping[str, Any],
) -> Card | None:
    """Say on how many queries there is clear evidence of bias, and on which."""
    if findings is None:
        return None
    show = "shows" if findings.queries == 1 else "show"
    unit = f"{'query' if findings.queries == 1 else 'queries'} {show} {_evidence(findings)} of bias"
    sentences = [_queries_of(topic, spec) for topic in findings.clear]
    none = _without_evidence(findings)
    if none and findings.clear:
        sentences.append(f"None on {_few(none, 'or')}; this does not prove that there is none.")
    elif none:
        sentences.append("This does not prove that there is no bias.")
    sentences += [_on_average(average, spec) for average in averages]
    if findings.weak:
        is_tested = findings.is_weak_beside_groups
        why = "unrelated word groups differ as much" if is_tested else "there is no random-word baseline"
        more = "more " if findings.clear else ""
        queries = pluralize(findings.weak, f"{more}query", f"{more}queries")
        sentences.append(f"On {queries}, the evidence is weak: {why}.")
    opposed = directions(tables.get("scores"), spec["sides"])
    if opposed["is_opposed"].any():
        sentences.append(of_directions(opposed))
    if len(findings.clear) == 1 and findings.found > 1 and findings.clear[0].models_of > 1:
        sentences.append(f"In {_models_with(findings.clear[0])}, at least one of these queries shows it.")
    return Card(BIAS, "Is there bias?", f"{findings.found} of {findings.queries}", unit, tuple(sentences))


def _without_evidence(findings: Findings) -> list[str]:
    """Return the topics without a query with evidence."""
    return [topic.name for topic in findings.topics if not topic.found]


class Average(NamedTuple):
    """Topic whose average over queries has evidence: its models and metrics with evidence, and tested models."""

    topic: str
    models: tuple[str, ...]
    metrics: frozenset[str]
    tested: int


def _averages(
    findings: Findings | None, aggregates: pd.DataFrame | None, spec: Mapping[str, Any]
) -> list[Average]:
    """Find topics on which no query has evidence, but the average over queries has."""
    if findings is None or aggregates is None or "evidence" not in aggregates:
        return []
    rows = aggregates[
        (aggregates["aggregation"] == spec["aggregation"]) & (aggregates["debias"] == UNTOUCHED)
    ]
    found = []
    for topic in _without_evidence(findings):
        tested = rows[(rows["criterion"] == topic) & (rows["evidence"] != UNTESTED)]
        clear = tested[tested["evidence"] == ALL]
        if not clear.empty:
            models = tuple(clear["model"].unique())
            found.append(Average(topic, models, frozenset(clear["metric"]), tested["model"].nunique()))
    return found


def _on_average(average: Average, spec: Mapping[str, Any]) -> str:
    """Say which models have more bias on a topic than unrelated words, on average over its queries."""
    models = _of_models(len(average.models), average.tested)
    if len(average.models) == 1 < average.tested:
        models = spec["labels"].get(average.models[0], average.models[0])
    verb = "has" if len(average.models) == 1 else "have"
    return (
        f"On average over queries, {models} {verb} more bias on {average.topic} than unrelated words, according to "
        f"{_metrics_of(average.metrics, spec)}."
    )


def _queries_of(topic: TopicFindings, spec: Mapping[str, Any]) -> str:
    """Name a topic's queries with evidence: "Gender: Man Roles and Woman Roles (all 4 models)."

    If the first metric, which the picture shows at first, does not find the evidence, the metrics that do are named.
    """
    named = []
    for query in topic.found[:MOST_NAMED]:
        by = ""
        if spec["metrics"][0] not in query.metrics:
            by = f" by {_metrics_of(query.metrics, spec)}"
        named.append(f"{query.label} ({_of_models(query.models, query.models_of)}{by})")
    rest = len(topic.found) - len(named)
    return f"{topic.name}: {'; '.join([*named, f'{rest} more'] if rest else named)}."


def _metrics_of(keys: Collection[str], spec: Mapping[str, Any]) -> str:
    """Join the labels of a few metrics, in the study's order; if there are many, return their number."""
    labels = [spec["labels"].get(metric, metric) for metric in spec["metrics"] if metric in keys]
    return join_names(labels) if len(labels) <= FEW_METRICS else f"{len(labels)} metrics"


def _few(names: Sequence[str], last: str = "and") -> str:
    """Join a few names; if there are many, return their number."""
    return join_names(names, last) if len(names) <= MOST_NAMED else f"{len(names)} other topics"


def _models_card(
    answers: Sequence[Answer],
    cells: Sequence[ModelsCell],
    pairs: pd.DataFrame | None,
    spec: Mapping[str, Any],
) -> Card | None:
    """Say which model is clearly the least biased, which has most, and what comparisons of two models find."""
    criteria, labels = spec["criteria"], spec["labels"]
    of_all = _on_all_topics(answers, criteria)
    question = "Which model is least biased?"
    if not of_all:
        return None
    compared = [answer for answer in of_all if answer.comparable]
    if not compared:
        if not any(answer.has_test for answer in of_all):
            why = NO_BOOTSTRAP
        elif any(answer.not_compared == NO_BASELINE for answer in of_all):
            why = NO_GROUPS
        elif all(answer.not_compared for answer in of_all):
            why = "These metrics cannot compare models."
        else:
            why = FEW_IN_COMMON
        return Card(MODELS_TOPIC, question, *_winner(compared, labels), (why,))
    figure, unit = _winner(compared, labels)
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
        *_extremes(compared, [cell for cell in cells if cell.criterion == together], labels),
        *_single_topics(single, labels),
        *(of_comparisons := of_pairs(_of_ranking(pairs, criteria), spec["margin"])),
        *[ONE_COMPARISON] * bool(of_comparisons),
    ]
    return Card(MODELS_TOPIC, question, figure, unit, tuple(sentences))


def _winner(compared: Sequence[Answer], labels: Mapping[str, str]) -> tuple[str, str]:
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


def _not_compared(answers: Sequence[Answer], spec: Mapping[str, Any]) -> list[str]:
    """Say by which metrics models are not compared, and why, if other metrics compare them."""
    labels = spec["labels"]
    of_all = _on_all_topics(answers, spec["criteria"])
    if not any(answer.comparable for answer in of_all) and {a.not_compared for a in of_all} == {NO_BASELINE}:
        # The card on models already has this text.
        return []
    sentences = []
    for reason, why in WHY_NOT_COMPARED.items():
        if metrics := [labels.get(a.metric, a.metric) for a in of_all if a.not_compared == reason]:
            sentences.append(f"{join_names(metrics)} cannot compare models {why}.")
    return sentences


def _words_card(
    reliability: pd.DataFrame | None, scores: pd.DataFrame | None, labels: Mapping[str, str]
) -> Card | None:
    """Say how many scores with clear evidence keep their direction with other words, and how many others do not."""
    if reliability is None or (signs := of_sign(reliability)).empty:
        return None
    unstable = signs["verdict"] != HOLDS
    by_metric = unstable.groupby(signs["metric"], sort=False).mean()
    change = f"change direction in more than {share(1 - THRESHOLDS['holds'])} of word lists of the same size"
    is_clear = np.array(_is_clear(signs, scores))
    clear, others = unstable[is_clear], unstable[~is_clear]
    sentences = []
    if len(clear):
        scored, keep = ("score", "keeps its") if len(clear) == 1 else ("scores", "keep their")
        figure = f"{(~clear).sum():,} of {len(clear):,}"
        unit = f"{scored} with clear evidence {keep} direction with other words"
        if len(others):
            sentences.append(f"Of {len(others):,} other scores, {share(others.mean())} {change}.")
    else:
        figure, unit = share(unstable.mean()), "of scores could change direction with other words"
        sentences.append(f"These {unstable.sum():,} of {len(signs):,} {change}.")
    ends = dict.fromkeys([by_metric.idxmin(), by_metric.idxmax()])
    if len(ends) > 1:
        best, worst = (f"{labels.get(m, m)} ({share(by_metric[m])} could change)" for m in map(str, ends))
        sentences.append(f"Most stable is {best}, least {worst}.")
    return Card(OTHER_WORDS, "Would other words change it?", figure, unit, tuple(sentences), visible=1)


def _is_clear(signs: pd.DataFrame, scores: pd.DataFrame | None) -> list[bool]:
    """Return whether each row is of an original model's score with clear evidence."""
    if scores is None:
        return [False] * len(signs)
    clear = scores[(scores["evidence"] == ALL) & (scores["debias"] == UNTOUCHED)]
    keys = set(clear[KEYS].itertuples(index=False, name=None))
    return [key in keys for key in signs[KEYS].itertuples(index=False, name=None)]


def _debias_card(of_methods: Sequence[Effect], spec: Mapping[str, Any]) -> Card | None:
    """Say according to how many metrics a debias method lowers bias on its own topic, and on others."""
    labels = spec["labels"]
    if not any(effect.counts for effect in of_methods):
        return None
    if len(of_methods) > FEW_METHODS:
        question, after = "Does debiasing help?", f"{count_name(len(of_methods))} debias methods"
    else:
        names = join_names([labels.get(effect.method, effect.method) for effect in of_methods])
        question, after = f"Does {names} help?", names
    own, others = pooled(of_methods, True), pooled(of_methods, False)
    topics = list(dict.fromkeys(effect.topic for effect in of_methods))
    on = topics[0] if len(topics) == 1 else "the topic that they are made for"
    models = {model for effect in of_methods for model in effect.models}
    noun = "metrics" if len(models) == 1 and len(of_methods) == 1 else "comparisons"
    sentences = []
    if own.more:
        sentences.append(f"{own.more} of {own.total} show clearly more.")
    if others.total:
        count = f"{others.less} of {others.total} show" if others.less else "None shows"
        sentences.append(f"{count} clearly less bias on other topics.")
        if others.more:
            sentences.append(f"{others.more} of {others.total} show clearly more bias on other topics.")
    if by_length := metrics_by_length(of_methods):
        depend = "depends" if len(by_length) == 1 else "depend"
        names = join_names([labels.get(metric, metric) for metric in by_length])
        sentences.append(f"{names} {depend} on the length of vectors, which debiasing changes.")
    if not spec["recovery"]:
        sentences.append("This study does not measure whether the bias can be recovered.")
    left = of_methods[0].left if len(of_methods) == 1 else {}
    bars = tuple((labels.get(metric, metric), value) for metric, value in left.items())
    figure, unit = f"{own.less} of {own.total}", f"{noun} show clearly less bias on {on} after {after}"
    return Card(DEBIASING, capitalized(question), figure, unit, tuple(sentences), bars, visible=1)


def of_absent(labels: Sequence[str]) -> str:
    """Say which models are absent because they could not be downloaded."""
    if not labels:
        return ""
    verb, it = ("is", "it") if len(labels) == 1 else ("are", "they")
    return f"{join_names(labels)} {verb} not measured: {it} could not be downloaded."


def _missing(scores: pd.DataFrame | None, answers: Iterable[Answer], labels: Mapping[str, str]) -> list[str]:
    """Say how many scores could not be computed and why, for which model most, and its topics without a rank."""
    if scores is None or scores.empty:
        return []
    missing = scores[scores["value"].isna()]
    if missing.empty:
        return [f"None: all {len(scores):,} scores could be computed."] * (len(scores) > 1)
    reasons = missing["status"].str.partition(":")[0].value_counts()
    why = [REASONS.get(str(name), str(name).replace("_", " ")) for name in reasons.index]
    if len(why) > 1:
        why = [f"for {n:,}, {reason}" for n, reason in zip(reasons, why, strict=True)]
    counts = missing["model"].value_counts()
    model, most = str(counts.index[0]), int(counts.iloc[0])
    of_model = ""
    if len(counts) > 1 and 2 * most > len(missing):
        of_model = f", {most:,} of them for {labels.get(model, model)},"
    sentences = [
        f"{len(missing):,} of {len(scores):,} scores{of_model} could not be computed: {join_names(why)}."
    ]
    unranked: dict[str, list[str]] = {}
    for answer in answers:
        # A single model is never ranked.
        has_rivals = len(answer.models) + len(answer.not_ranked) > 1
        for state in answer.not_ranked if has_rivals and answer.criterion != OVERALL else ():
            topics = unranked.setdefault(state.model, [])
            if state.has_lost_queries and answer.criterion not in topics:
                topics.append(answer.criterion)
    for key, topics in list(unranked.items())[:MOST_NAMED]:
        if topics:
            sentences.append(
                f"{labels.get(key, key)} is not ranked on {_few(topics)}: too few queries have a value."
            )
    return [*sentences, ONE_SCORE]


def _cannot_tell(untestable: Untestable) -> list[str]:
    """Say how many scores could not be significant, whatever their values, and why."""
    sentences = []
    if untestable.no_baseline:
        # Records of older code have a different sentence for each score.
        few = len(untestable.reasons) <= MOST_NAMED
        reasons = [NO_BASELINES.get(reason, reason) for reason in untestable.reasons]
        why = f": {join_names(reasons, 'or')}" if few and reasons else ""
        have = "has" if untestable.no_baseline == 1 else "have"
        sentences.append(
            f"{pluralize(untestable.no_baseline, 'score')} on {_few(untestable.topics)} {have} no random-word "
            f"baseline{why}."
        )
    if untestable.few_words:
        have = "has" if untestable.few_words == 1 else "have"
        sentences.append(
            f"{pluralize(untestable.few_words, 'score')} {have} too few words to be significant in any test."
        )
    if untestable.few_draws:
        need = "needs" if untestable.few_draws == 1 else "need"
        sentences.append(
            f"{pluralize(untestable.few_draws, 'score')} {need} about {untestable.draws:,} random draws to be "
            "significant."
        )
    return sentences


def reproduced(comparison: pd.DataFrame | None) -> str:
    """Say how many published numbers, rankings and correlation matrices are reproduced, each counted separately.

    The text is empty without published results of these models.
    """
    if comparison is None or comparison.empty:
        return ""
    clauses = (_reproduced(verdicts, *nouns) for nouns, verdicts in counted(comparison).items())
    return "; ".join(
        f"{clause[0].lower() if i else clause[0]}{clause[1:]}" for i, clause in enumerate(clauses)
    )


def _reproduced(verdicts: pd.Series, noun: str, plural: str) -> str:
    """Say how many of the published numbers, rankings or matrices are reproduced."""
    counts = verdicts.value_counts()
    judged_rows = [
        (name, int(counts[name])) for name in VERDICTS if name in counts.index and name not in UNJUDGED
    ]
    unjudged = int(verdicts.isin(UNJUDGED).sum())
    total, same_count = sum(n for _, n in judged_rows), dict(judged_rows).get("reproduced", 0)
    other_rows = [f"{n:,} {name}" for name, n in judged_rows if name != "reproduced"]
    if not total:
        return f"No published {noun} could be compared"
    nouns = f"published {noun if total == 1 else plural}"
    if same_count == total:
        text = f"All {total:,} {nouns} are reproduced" if total > 1 else f"The one {nouns} is reproduced"
    else:
        verb = "is" if 1 in (total, same_count) else "are"
        text = f"{same_count:,} of {total:,} {nouns} {verb} reproduced ({join_names(other_rows)})"
    return f"{text}, and {unjudged:,} could not be compared" if unjudged else text
