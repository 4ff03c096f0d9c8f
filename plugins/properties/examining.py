"""Examination of metrics: a verdict on each property of each metric."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from biasgrid.metrics import REGISTRY
from biasgrid.metrics.registry import Metric
from biasgrid.models.kinds import are_models

from . import scores, texts
from .questions import (
    ARGUMENTS,
    NOT_EXAMINED,
    NOT_REFUTED,
    OTHER_MODELS,
    OTHER_QUESTIONS,
    PAPER,
    SET,
    UNDEFINED,
    VARIANTS,
    WORD,
    WORD_VALUES,
    YES,
)
from .search import Search, sides
from .verdicts import Example, Verdict

# Kind of model -> function that selects its metrics with examples other than vectors, and the examination of them.
WITHOUT_VECTORS: dict[str, tuple[Callable[[Metric], bool], Callable[..., Any]]] = {
    "corpus": (lambda metric: True, texts.verdicts),
    "language_model": (scores.can_be_examined, scores.verdicts),
}


def examine_metrics(registry: Mapping[str, Metric] = REGISTRY) -> list[Verdict]:
    """Examine the properties of metrics, by default of all, for one word before sets of words."""
    return [
        verdict
        for metric in registry.values()
        for parameters in VARIANTS.get(metric.name, [{}])
        for verdict in examine_metric(metric, parameters)
    ]


def examine_metric(metric: Metric, parameters: Mapping[str, Any] | None = None) -> list[Verdict]:
    """Examine the properties of one metric, with these parameters.

    The first counterexample that is found is kept. The catalogue's settings come first, then small whole numbers
    drawn at random, then the results of a descent to the no-bias value.
    """
    parameters = dict(parameters or {})
    variant = ", ".join(f"{key}: {json.dumps(value).strip(chr(34))}" for key, value in parameters.items())
    label = metric.label + (f" ({variant})" if variant else "")
    metric = metric.under(parameters)

    is_of_paper = parameters in VARIANTS.get(metric.name, [{}])[:1]

    def verdict(
        level: str,
        name: str,
        condition: str,
        holds: str,
        note: str,
        tried: int,
        example: Example | None = None,
    ) -> Verdict:
        question = condition or name
        paper = PAPER.get((metric.name, level), {}).get(question, "") if is_of_paper else ""
        scopes = [ARGUMENTS.get((metric.name, variant, scope), {}) for scope in (level, None)]
        why = scopes[0].get(question) or scopes[1].get(question, "")
        holds = YES if holds == NOT_REFUTED and why else holds
        return Verdict(
            metric.name,
            label,
            level,
            name,
            condition,
            holds,
            paper,
            tried,
            note or why,
            metric.neutral,
            example,
        )

    if metric.needs in WITHOUT_VECTORS:
        can_be_examined, verdicts_by_level = WITHOUT_VECTORS[metric.needs]
        if can_be_examined(metric):
            return [
                verdict(level, name, "", *answer)
                for level, answers in verdicts_by_level(metric, parameters).items()
                for name, answer in answers.items()
            ]
    if reason := _why_not_examined(metric):
        return [verdict("", "", "", NOT_EXAMINED, reason, 0)]
    verdicts = []
    for level in (WORD, SET):
        if level == WORD and sides(metric)[1] == 2 and metric.name not in WORD_VALUES:
            continue
        for (name, condition), (holds, example, tried) in Search(metric, parameters, level).run().items():
            note = example.statement if example else "it has no value" if holds == UNDEFINED else ""
            verdicts.append(verdict(level, name, condition, holds, note, tried, example))
    return verdicts


def _why_not_examined(metric: Metric) -> str:
    groups, words = sides(metric)
    if metric.name in OTHER_QUESTIONS:
        return OTHER_QUESTIONS[metric.name]
    if metric.needs in OTHER_MODELS:
        return OTHER_MODELS[metric.needs].format(metric.template)
    if not are_models(metric.needs):
        return f"it is of models of kind {metric.needs}, of which there are no examples"
    if metric.of_model:
        return "it is of more than its words' vectors: it needs a whole model"
    if groups not in (2, "n", "k") or words > 2:
        return f"the properties are of words that are nearer to one of two groups; it takes {metric.template}"
    return ""
