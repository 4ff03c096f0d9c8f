"""Agreement of metrics on the order of a criterion's models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...core.phrases import count_name
from .least_biased import Answer

# With fewer models, a correlation of ranks tells little.
FEW_MODELS = 8


def of_few_models(models: int) -> str:
    """Say that this number of models is too small for correlations of metrics."""
    return f"{count_name(models).capitalize()} models are too few to say whether metrics agree"


@dataclass(frozen=True)
class Agreement:
    """Agreement of metrics on the order of a criterion's models.

    Attributes
    ----------
    order
        The models, the least biased first, if every pair clearly differs by some metric and no two metrics contradict
        each other; otherwise empty.
    against
        Pairs on which metrics contradict each other: a, b, the metrics by which a is clearly less biased, and the
        metrics by which b is.
    n_decided
        Number of pairs that clearly differ by some metric.
    pairs
        Number of pairs of models with a value.
    """

    order: tuple[str, ...]
    against: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...]
    n_decided: int
    pairs: int


def agreement(of_criterion: Iterable[Answer]) -> Agreement:
    """Compare the clear differences between original models that the metrics of a criterion find."""
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
        # Several metrics together may order the models in a circle.
        if sorted(better.values()) == list(range(len(models))):
            order = tuple(sorted(models, key=lambda model: -better[model]))
    return Agreement(order, against, n_decided, pairs)
