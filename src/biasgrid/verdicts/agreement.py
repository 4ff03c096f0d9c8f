"""Do metrics agree in what they decide of the models of a criterion?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .least_biased import Answer
from .text import count_name

FEW_MODELS = 8  # of fewer, a correlation of ranks says little


def of_few_models(models: int) -> str:
    """Say that so many models are too few for correlations of metrics."""
    return f"{count_name(models).capitalize()} models are too few to say whether metrics agree"


@dataclass(frozen=True)
class Agreement:
    """Whether metrics order the models alike on a criterion.

    order      the models, the least biased first, if every pair is decided by some metric and no two metrics decide a
               pair in opposite ways; else empty
    against    pairs that are decided in opposite ways: a, b, the metrics by which a is the less biased, and those by
               which b is
    n_decided  how many pairs some metric decides
    pairs      how many pairs there are of models that have a value
    """

    order: tuple[str, ...]
    against: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...]
    n_decided: int
    pairs: int


def agreement(of_criterion: Iterable[Answer]) -> Agreement:
    """Whether the metrics of a criterion agree in what they decide of its untouched models."""
    by_pair: dict[tuple[str, str], list[str]] = {}
    models: dict[str, None] = {}
    for answer in of_criterion:
        models |= dict.fromkeys(answer.models_with_value)
        for (a, _), (b, _) in answer.decided_pairs:
            by_pair.setdefault((a, b), []).append(answer.metric)
    against = tuple(
        (a, b, tuple(metrics), tuple(by_pair[b, a]))
        for (a, b), metrics in sorted(by_pair.items())
        if (b, a) in by_pair and a < b
    )
    n_decided = len({frozenset(pair) for pair in by_pair})
    pairs = len(models) * (len(models) - 1) // 2
    order: tuple[str, ...] = ()
    if pairs and n_decided == pairs and not against:
        better = {model: sum(pair[0] == model for pair in by_pair) for model in models}
        # decisions may be circular
        if sorted(better.values()) == list(range(len(models))):
            order = tuple(sorted(models, key=lambda model: -better[model]))
    return Agreement(order, against, n_decided, pairs)
