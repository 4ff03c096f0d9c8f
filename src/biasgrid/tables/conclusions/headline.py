"""Headline of a study, and the line below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.phrases import capitalized, join_names, pluralize
from .bias_card import Average, evidence_phrase, models_with
from .card import MOST_NAMED, Card
from .findings import Findings, find_evidence
from .least_biased import Answer
from .models_card import NOT_RANKED, on_all_topics, winner

if TYPE_CHECKING:
    import pandas as pd

# In words.
LONGEST_HEADLINE = 10


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
    return headline_of(find_evidence(scores, queries), "", scores, longest=longest)


def headline_of(
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
    evidence = evidence_phrase(findings)
    if findings.clear:
        texts = _clear_headlines(findings)
    elif averages:
        of_topic = f"{averages[0].topic} bias" if len(averages) == 1 else "Bias"
        texts = [f"{bias} on average; no query shows {evidence}" for bias in (of_topic, "Bias")]
        models_with_bias = {model for average in averages for model in average.models}
        if len(models_with_bias) == 1:
            texts.insert(0, f"{models_with_bias.pop()}: {texts[0]}")
    elif findings.weak and not findings.is_weak_beside_groups:
        texts = ["Weak evidence of bias: there is no random-word baseline", "Weak evidence of bias"]
    elif findings.weak:
        texts = ["Weak evidence of bias: unrelated word groups differ as much", "Weak evidence of bias"]
    elif findings.is_out_of_reach:
        texts = ["Too few words to tell whether there is bias", "Too few words to tell"]
    else:
        texts = [f"No query shows {evidence} of bias", f"No {evidence} of bias"]
    return _first_short(texts, longest)


def _clear_headlines(findings: Findings) -> list[str]:
    """Return headlines on clear evidence, the longest first."""
    evidence = capitalized(evidence_phrase(findings))
    topics = findings.clear
    names = [topic.name for topic in topics]
    where = join_names(names) if len(names) < MOST_NAMED else f"{len(names)} of {len(findings.topics)} topics"
    texts = [f"{evidence} of bias on {where}", f"{evidence} of bias"]
    if len(topics) == 1 and topics[0].models_of > 1:
        texts.insert(0, f"{evidence} of {names[0]} bias in {models_with(topics[0])}")
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
    of_all = on_all_topics(answers, criteria)
    if not of_all:
        return ""
    compared = [answer for answer in of_all if answer.comparable]
    texts = [" ".join(winner(compared, labels))]
    winners = [answer.least_biased for answer in compared if answer.least_biased]
    if len(set(winners)) == 1:
        model, count = labels.get(winners[0], winners[0]), f"{len(winners)} of {len(compared)} metrics"
        verb = f"is clearly lowest in {count}" if len(compared) > 1 else "is clearly the least biased"
        texts += [f"{model} {verb}", f"One model {verb}"]
    return _first_short(texts)


def subtitle(scores: pd.DataFrame | None, models: Card | None, spec: Mapping[str, Any]) -> str:
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
