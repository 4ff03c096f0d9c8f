"""Effects of debias methods on their own topic and on others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isnan

from ...measure.statistics.two_models import LENGTHS
from .least_biased import Answer


@dataclass
class Counts:
    """Numbers of comparisons of a model before and after debiasing that find less bias, and more, and of all."""

    less: int = 0
    more: int = 0
    total: int = 0


@dataclass
class Effect:
    """Effect of a debias method.

    Parameters
    ----------
    method, topic
        Its key, and its own topic.
    counts
        Counts by topic.
    models
        The models that it debiased.
    by_length
        Metrics that cannot compare models before and after debiasing, because debiasing changes the length of
        vectors.
    left
        Metric -> remaining share of the bias on its own topic, if one model was debiased.
    """

    method: str
    topic: str
    counts: dict[str, Counts] = field(default_factory=dict)
    models: set[str] = field(default_factory=set)
    by_length: list[str] = field(default_factory=list)
    left: dict[str, float] = field(default_factory=dict)


def effects(answers: Iterable[Answer], topics: Mapping[str, str], criteria: Iterable[str]) -> list[Effect]:
    """Count the effects of each debias method, for models that can be compared before and after it.

    Parameters
    ----------
    answers
        Each metric's comparison of the models.
    topics
        Each method's own topic.
    criteria
        The topics that count.
    """
    by_method: dict[str, Effect] = {}
    criteria = set(criteria)
    for answer in answers:
        for state in answer.debiased if answer.criterion in criteria else ():
            effect = by_method.setdefault(state.debias, Effect(state.debias, topics.get(state.debias, "")))
            if state.reason:
                if state.reason == LENGTHS and answer.metric not in effect.by_length:
                    effect.by_length.append(answer.metric)
                continue
            effect.models.add(state.model)
            counts = effect.counts.setdefault(answer.criterion, Counts())
            counts.less += state.direction == "less"
            counts.more += state.direction == "more"
            counts.total += 1
            if answer.criterion == effect.topic and not isnan(state.share_left):
                effect.left[answer.metric] = state.share_left
    for effect in by_method.values():
        if len(effect.models) > 1:
            effect.left.clear()
    return [effect for effect in by_method.values() if effect.counts or effect.by_length]


def pooled(of_methods: Iterable[Effect], is_own: bool) -> Counts:
    """Return the counts of several methods together, on their own topics or on all others."""
    together = Counts()
    for effect in of_methods:
        for topic, counts in effect.counts.items():
            if (topic == effect.topic) == is_own:
                together.less += counts.less
                together.more += counts.more
                together.total += counts.total
    return together


def metrics_by_length(of_methods: Iterable[Effect]) -> list[str]:
    """Return the metrics that cannot compare models before and after debiasing, in order."""
    return list(dict.fromkeys(metric for effect in of_methods for metric in effect.by_length))
