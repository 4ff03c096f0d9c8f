"""What debias methods did to their own criterion and to others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..statistics.two_models import LENGTHS
from .least_biased import Answer
from .text import count_name, join_names

FEW_METHODS = 2  # of more, sentences would run on
# of how many comparisons a method lowers a criterion, and raises it, of how many
Counts = list[int]


def of_debias_methods(answers: Iterable[Answer], spec: Mapping[str, Any]) -> str:
    """Say by how many metrics a debias method lowers its own criterion, and others; and which metrics do not compare,
    because it changes the lengths of vectors."""
    own_criteria: Mapping[str, str] = spec["debias"]
    labels: Mapping[str, str] = spec["labels"]
    counts: dict[str, dict[str, Counts]] = {}  # method -> criterion ->
    of_length: dict[str, None] = {}
    models = set()
    for answer in answers:
        if answer.criterion not in spec["criteria"]:
            continue
        for state in answer.debiased:
            if state.reason == LENGTHS:
                of_length[labels.get(answer.metric, answer.metric)] = None
            if state.reason:
                continue
            models.add(state.model)
            cell = counts.setdefault(state.debias, {}).setdefault(answer.criterion, [0, 0, 0])
            for i, is_of in enumerate((state.direction == "less", state.direction == "more", True)):
                cell[i] += is_of
    unit = "metrics" if len(models) == 1 else "comparisons of a model by a metric"
    if len(counts) > FEW_METHODS:
        counts = {"": _pooled(counts, own_criteria)}
        labels = {"": f"{count_name(len(own_criteria)).capitalize()} debias methods together"}
        own_criteria = {"": "their own criterion"}
    sentences = [
        _of_method(labels.get(key, key), of_method, own_criteria.get(key, ""), unit)
        for key, of_method in counts.items()
    ]
    if of_length:
        do = "does" if len(of_length) == 1 else "do"
        sentences.append(
            f"{join_names(of_length)} {do} not compare, as debiasing changes the length of vectors"
        )
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in sentences)


def _pooled(counts: Mapping[str, Mapping[str, Counts]], own_criteria: Mapping[str, str]) -> dict[str, Counts]:
    """Return the counts of all methods, on their own criteria and on others."""
    pooled: dict[str, Counts] = {}
    for key, of_method in counts.items():
        for criterion, of_criterion in of_method.items():
            name = "their own criterion" if criterion == own_criteria.get(key) else "others"
            sums = pooled.get(name, [0, 0, 0])
            pooled[name] = [a + b for a, b in zip(sums, of_criterion, strict=True)]
    return pooled


def _of_method(label: str, by_criterion: Mapping[str, Counts], own_criterion: str, unit: str) -> str:
    """Say what a debias method lowers and raises, its own criterion first."""
    verdicts = []
    for i, name in enumerate(sorted(by_criterion, key=lambda name: name != own_criterion)):
        less, more, total = by_criterion[name]
        verdicts.append(
            f"{name} by {less} of {total}{f' {unit}' if i == 0 else ''}"
            + (f" (and raises it by {more})" if more else "")
        )
    return f"{label} lowers {join_names(verdicts)}"
