"""Search for counterexamples among words, or pairs of sentences, each with a leaning to one of two groups.

The module of each kind of model defines its leanings; the questions are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from biasgrid.metrics.registry import Metric

from .numbers import number
from .questions import OF_ONE_WORD, PROPERTIES, SET, WORD

CLEAR, EXACT = 1e-3, 1e-9
# Only vectors have a length.
QUESTIONS = {
    WORD: [name for name in OF_ONE_WORD if name != "length_free"],
    SET: [name for name in PROPERTIES if name != "length_free"],
}


def find_counterexamples(
    metric: Metric,
    level: str,
    settings: Iterable[tuple[Any, np.ndarray, float]],
    describe: Callable[[Any], str],
) -> tuple[dict[str, str], dict[str, int]]:
    """Find counterexamples among settings, each with its leanings (words,) and the metric's value.

    Returns property -> the first setting that refutes it, as text of `describe`; and property -> the number of
    settings in which it was examined.
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
    return counterexamples, counts


def _value_text(value: float, metric: Metric) -> str:
    if not math.isfinite(value):
        return "no value"
    return f"{number(value)}, which is {'' if abs(value - metric.neutral) < EXACT else 'not '}neutral,"
