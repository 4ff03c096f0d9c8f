"""What debias methods did to their own criterion and to others: a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .comparability import Incomparable
from .least_biased import Answer
from .text import count_name, join_names

FEW_METHODS = 2  # of more, sentences would run on


def of_debias_methods(
    answers: Iterable[Answer], lengths: Mapping[tuple[str, str], Incomparable], spec: Mapping[str, Any]
) -> str:
    """By how many metrics a debias method lowers its own criterion, and others; metrics that depend on the length of
    vectors, which it changes, apart."""
    own_criteria: Mapping[str, str] = spec["debias"]
    # method -> criterion -> (less, more, of so many verdicts), of metrics that compare, and of the others
    counts: dict[str, dict[str, list[list[int]]]] = {}
    models = set()
    for answer in answers:
        if answer.criterion not in spec["criteria"] or not answer.has_test:
            continue
        entry = lengths.get((answer.criterion, answer.metric))
        for state in answer.debiased:
            models.add(state.model)
            by_criterion = counts.setdefault(state.debias, {})
            cell = by_criterion.setdefault(answer.criterion, [[0, 0, 0], [0, 0, 0]])[
                entry is not None and (state.model, state.debias) in entry.states
            ]
            for i, is_of in enumerate((state.direction == "less", state.direction == "more", True)):
                cell[i] += is_of
    if not counts:
        return ""
    unit = "metrics" if len(models) == 1 else "comparisons of a model by a metric"
    if len(counts) > FEW_METHODS:
        counts = {"": _pooled(counts, own_criteria)}
        labels = {"": f"{count_name(len(own_criteria)).capitalize()} debias methods together"}
        return f"{_of_method('', counts[''], 'their own criterion', labels, unit)}."
    parts = [
        _of_method(key, of_method, own_criteria.get(key, ""), spec["labels"], unit)
        for key, of_method in counts.items()
    ]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _pooled(
    counts: Mapping[str, Mapping[str, list[list[int]]]], own_criteria: Mapping[str, str]
) -> dict[str, list[list[int]]]:
    """The counts of all methods, on their own criteria and on others."""
    pooled: dict[str, list[list[int]]] = {}
    for key, of_method in counts.items():
        for criterion, groups in of_method.items():
            name = "their own criterion" if criterion == own_criteria.get(key) else "others"
            sums = pooled.setdefault(name, [[0, 0, 0], [0, 0, 0]])
            pooled[name] = [
                [a + b for a, b in zip(*pair, strict=True)] for pair in zip(sums, groups, strict=True)
            ]
    return pooled


def _of_method(
    key: str,
    by_criterion: Mapping[str, list[list[int]]],
    own_criterion: str,
    labels: Mapping[str, str],
    unit: str,
) -> str:
    """What a debias method lowers and raises, its own criterion first."""
    criteria = sorted(by_criterion, key=lambda name: name != own_criterion)
    verdicts = []
    for i, name in enumerate(criteria):
        less, more_text, of_all = by_criterion[name][0]
        verdicts.append(
            f"{name} by {less} of {of_all}{f' {unit}' if i == 0 else ''}"
            + (f" (and raises it by {more_text})" if more_text else "")
        )
    apart = [
        (name, by_criterion[name][1][0], by_criterion[name][1][2])
        for name in criteria
        if by_criterion[name][1][2]
    ]
    text = f"{labels.get(key, key)} lowers {join_names(verdicts)}"
    if apart:
        text += (
            "; by metrics that grow with vector length, which debiasing changes, "
            f"{join_names(f'{name} by {less} of {of_all}' for name, less, of_all in apart)}"
        )
    return text
