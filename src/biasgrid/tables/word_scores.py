"""Score of each single word by a metric, whose sign shows the nearer of two groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .planned import Planned

TAKEN: dict[str, Callable[[list[float]], float]] = {
    "mean": lambda values: sum(values) / len(values),
    "difference": lambda values: values[0] - values[1],
}


def spec_of(study: Planned) -> list[list[Any]]:
    """Return [criterion, metric, description of its number of a word].

    The description is None if the number does not tell the nearer group.
    """
    entries: list[list[Any]] = []
    for criterion in study.config.criteria:
        for key in study.metrics(criterion):
            metric = study.metric(criterion, key)
            detail, selection = metric.scored_by
            sign = 1 if metric.nearer == "first" else -1
            entry = {"detail": detail, "taken": selection, "sign": sign, "neutral": metric.word_neutral}
            entries.append([criterion, key, entry if metric.nearer and detail else None])
    return entries


def word_scores(result: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return each set's vocabulary entries with their number (`Metric.scored_by`) minus the no-bias value.

    The sign is such that higher means nearer to the first group.
    """
    take = TAKEN.get(entry["taken"], lambda values: values[0])
    sign, neutral = entry["sign"], entry["neutral"]

    def number_of(cell: Any) -> float:
        if isinstance(cell, dict):
            cell = take([math.nan if x is None else x for x in cell.values()])
        return sign * ((math.nan if cell is None else cell) - neutral)

    return {
        name: {word: number_of(cell) for word, cell in by_word.items()}
        for name, by_word in result["detail"].get(entry["detail"], {}).items()
    }
