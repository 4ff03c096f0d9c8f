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

from .leanings import answers, range_text
from .numbers import number
from .questions import SET, WORD

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
    compared = sum(1 for _ in _settings(COMPARED))
    return {
        level: answers(metric, level, _with_values(value, sizes), _describe, ranges, _compare, compared)
        for level, sizes in SIZES.items()
    }


def _with_values(value: Value, sizes: tuple[int, ...]) -> Iterator[tuple[PairScores, np.ndarray, float]]:
    for pair_scores in _settings(sizes):
        yield pair_scores, np.array([first - second for first, second in pair_scores]), value(pair_scores)


def _compare(size: int, ends: tuple[float, float], other: int, other_ends: tuple[float, float]) -> str:
    return (
        f"of the same scores it is {range_text(ends)} where there are {size}, and {range_text(other_ends)} "
        f"where there are {other}"
    )


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
