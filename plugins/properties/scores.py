"""Properties of metrics of language models, with small tables of scores as counterexamples.

The leaning of a pair of sentences is the score of its first sentence minus the score of its second; the leaning of
a word is its log-probability next to the first group minus next to the second. A pair or word is biased if the two
differ. A set has skew if they differ on average, and stereotype if the leanings of its pairs, or words, differ. The
questions are the same as for vectors, except for the length of vectors, which scores do not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

from biasgrid.metrics.registry import Metric

from .leanings import CLEAR, find_counterexamples
from .numbers import number
from .questions import NO, NOT_REFUTED, SET, WORD

SCORES = (-1.0, -2.0, -4.0)
# Numbers of pairs, or words, of the settings that are tried.
SIZES = {WORD: (1,), SET: (2, 3)}
# Numbers of pairs, or words, of the settings whose extreme values are compared.
COMPARED = (2, 3, 4)

# Scores of each pair of sentences, or word, on either side.
PairScores = tuple[tuple[float, float], ...]
Value = Callable[[PairScores], float]


def can_be_examined(metric: Metric) -> bool:
    """Return whether these questions apply to a metric: it compares two sides, pair by pair or word by word."""
    return metric.template in ((2, 0), (2, 1), (1, 2))


def verdicts(metric: Metric, parameters: Mapping[str, Any]) -> dict[str, dict[str, tuple[str, str, int]]]:
    """Examine a metric: level -> property -> answer, the scores that refute it, and the number of settings tried."""
    # Settings of both levels, and settings whose extreme values are compared, are the same ones: cache their
    # values.
    value = cache(partial(_value, metric, parameters))
    ranges = {size: _value_range(value, size) for size in COMPARED}
    return {level: _verdicts_of_level(metric, value, ranges, level) for level in SIZES}


def _verdicts_of_level(
    metric: Metric, value: Value, ranges: Mapping[int, tuple[float, float]], level: str
) -> dict[str, tuple[str, str, int]]:
    settings = (
        (pair_scores, np.array([first - second for first, second in pair_scores]), value(pair_scores))
        for pair_scores in _settings(SIZES[level])
    )
    counterexamples, counts = find_counterexamples(metric, level, settings, _describe)
    counts["comparable"] = sum(1 for _ in _settings(COMPARED))
    first = ranges[COMPARED[0]]
    for size, ends in ranges.items():
        if (
            max(abs(a - b) for a, b in zip(first, ends, strict=True)) > CLEAR
            and "comparable" not in counterexamples
        ):
            counterexamples["comparable"] = (
                f"of the same scores it is {number(first[0])} to {number(first[1])} where there are {COMPARED[0]}, "
                f"and {number(ends[0])} to {number(ends[1])} where there are {size}"
            )
    return {
        name: (NO if name in counterexamples else NOT_REFUTED, counterexamples.get(name, ""), counts[name])
        for name in counts
    }


def _settings(sizes: tuple[int, ...]) -> Iterator[PairScores]:
    for size in sizes:
        # The order of pairs, or words, does not matter.
        pairs = list(product(SCORES, SCORES))
        yield from (
            tuple(row) for row in product(pairs, repeat=size) if list(row) == sorted(row, reverse=True)
        )


def _value_range(value: Value, size: int) -> tuple[float, float]:
    """Return the smallest and the largest value for this number of pairs, or words."""
    values = [v for pair_scores in _settings((size,)) if math.isfinite(v := value(pair_scores))]
    return min(values, default=math.nan), max(values, default=math.nan)


def _value(metric: Metric, parameters: Mapping[str, Any], pair_scores: PairScores) -> float:
    rows = np.array(pair_scores)
    words, one = np.ones((len(rows), 1)), np.ones((1, 1))
    sets: tuple[list[np.ndarray], list[np.ndarray]]
    if metric.template == (2, 0):
        sets, further = ([words, words], []), {"scores": rows.T.ravel()}
    elif metric.template == (2, 1):
        sets, further = ([one, one], [words]), {"associations": rows.T[None]}
    else:
        sets, further = ([words], [one, one]), {"completions": rows[None]}
    with np.errstate(all="ignore"):
        return metric.function(*sets, **further, **parameters).value


def _describe(pair_scores: PairScores) -> str:
    return "; ".join(f"{number(first)} and {number(second)}" for first, second in pair_scores)
