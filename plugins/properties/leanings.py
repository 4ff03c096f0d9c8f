"""Search for counterexamples among words, or pairs of sentences, each with a leaning to one of two groups.

The module of each kind of model defines its leanings; the questions are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from biasgrid.metrics.registry import Metric

from .numbers import number
from .questions import NO, NOT_REFUTED, OF_ONE_WORD, PROPERTIES, SET, WORD

CLEAR, EXACT = 1e-3, 1e-9
# Only vectors have a length.
QUESTIONS = {
    WORD: [name for name in OF_ONE_WORD if name != "length_free"],
    SET: [name for name in PROPERTIES if name != "length_free"],
}


def answers(
    metric: Metric,
    level: str,
    settings: Iterable[tuple[Any, np.ndarray, float]],
    describe: Callable[[Any], str],
    ranges: Mapping[Any, tuple[float, float]],
    compare: Callable[..., str],
    compared: int,
) -> dict[str, tuple[str, str, int]]:
    """Answer the questions about a metric: property -> answer, counterexample, number of settings tried.

    Parameters
    ----------
    settings
        Settings, each with its leanings (words,) and the metric's value.
    describe
        Function that returns a setting as text.
    ranges
        Size of a setting -> the smallest and the largest value of settings of this size.
    compare
        Function that returns two unequal ranges as text, each after its size.
    compared
        The number of settings in these ranges.
    """
    counterexamples: dict[str, str] = {}
    counts = dict.fromkeys(QUESTIONS[level], 0)
    for setting, leanings, value in settings:
        cases = {"defined": not math.isfinite(value)}
        if math.isfinite(value):
            neutral = abs(value - metric.neutral) < EXACT
            cases["trustworthy"] = neutral == (np.abs(leanings).max() > CLEAR)
            if abs(leanings.mean()) > CLEAR:
                cases["skew"] = neutral
            if np.ptp(leanings) > CLEAR:
                cases["stereotype"] = neutral
        for name in cases.keys() & counts.keys():
            counts[name] += 1
            if cases[name] and name not in counterexamples:
                counterexamples[name] = f"{_value_text(value, metric)} of {describe(setting)}"
    counts["comparable"] = compared
    first, *others = ranges.items()
    for other in others:
        if max(abs(a - b) for a, b in zip(first[1], other[1], strict=True)) > CLEAR:
            counterexamples.setdefault("comparable", compare(*first, *other))
    return {
        name: (NO if name in counterexamples else NOT_REFUTED, counterexamples.get(name, ""), counts[name])
        for name in counts
    }


def _value_text(value: float, metric: Metric) -> str:
    if not math.isfinite(value):
        return "no value"
    return f"{number(value)}, which is {'' if abs(value - metric.neutral) < EXACT else 'not '}neutral,"


def range_text(ends: tuple[float, float]) -> str:
    return f"{number(ends[0])} to {number(ends[1])}"
