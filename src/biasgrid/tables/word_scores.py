"""The one number that a metric gives of a word: what says to which of two groups it is nearer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..planned import Planned


def spec_of(study: Planned) -> list[list[Any]]:
    """[criterion, metric, what its number of a word is]; None where that does not say which group a word is near."""
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
    """Set -> vocabulary entry -> its number (`Metric.scored_by`) less the neutral one, turned so that more is nearer
    to the first group."""
    return {
        name: {word: _number(cell, entry) for word, cell in by_word.items()}
        for name, by_word in result["detail"].get(entry["detail"], {}).items()
    }


def _number(cell: Any, entry: Mapping[str, Any]) -> float:
    values = [math.nan if x is None else x for x in (cell.values() if isinstance(cell, dict) else [cell])]
    number = {
        "mean": lambda: sum(values) / len(values),
        "difference": lambda: values[0] - values[1],
    }.get(entry["taken"], lambda: values[0])()
    return entry["sign"] * (number - entry["neutral"])
