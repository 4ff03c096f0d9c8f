"""The properties of metrics of language models, which a few scores refute.

A pair of sentences leans by how much larger the score of its first sentence is than that of its second; a word, by
how much larger its log-probability is beside the first group than beside the second. So it is biased where the two
differ; a set has skew where they differ on average, and stereotype where pairs, or words, lean differently: the same
questions as of vectors, but for the length of vectors, which scores do not have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from ..metrics.registry import Metric
from .leanings import CLEAR, refuted
from .numbers import number
from .questions import NO, NOT_REFUTED, SET, WORD

SCORES = (-1.0, -2.0, -4.0)
SIZES = {WORD: (1,), SET: (2, 3)}  # pairs, or words, of the settings that are tried
COMPARED = (2, 3, 4)  # and of those whose extreme values are compared

Scored = tuple[tuple[float, float], ...]  # of each pair of sentences, or word, its score on either side


def examined(metric: Metric) -> bool:
    """Whether these questions can be asked of a metric: it compares two sides, pair by pair or word by word."""
    return metric.template in ((2, 0), (2, 1), (1, 2))


def verdicts(metric: Metric, parameters: Mapping[str, Any], level: str) -> dict[str, tuple[str, str, int]]:
    """Property -> whether it holds, the scores that refute it, and how many settings were tried."""
    settings = (
        (scored, np.array([first - second for first, second in scored]), _value(metric, parameters, scored))
        for scored in _settings(SIZES[level])
    )
    found, tried = refuted(metric, level, settings, _written)
    reached = {size: _reached(metric, parameters, size) for size in COMPARED}
    tried["comparable"] = sum(1 for _ in _settings(COMPARED))
    first = reached[COMPARED[0]]
    for size, other in reached.items():
        if max(abs(a - b) for a, b in zip(first, other, strict=True)) > CLEAR and "comparable" not in found:
            found["comparable"] = (
                f"of the same scores it is {number(first[0])} to {number(first[1])} where there are {COMPARED[0]}, "
                f"and {number(other[0])} to {number(other[1])} where there are {size}"
            )
    return {name: (NO if name in found else NOT_REFUTED, found.get(name, ""), tried[name]) for name in tried}


def _settings(sizes: tuple[int, ...]) -> Iterator[Scored]:
    for size in sizes:
        # in whichever order pairs, or words, stand
        each = list(product(SCORES, SCORES))
        yield from (
            tuple(row) for row in product(each, repeat=size) if list(row) == sorted(row, reverse=True)
        )


def _reached(metric: Metric, parameters: Mapping[str, Any], size: int) -> tuple[float, float]:
    """The smallest and the largest value of so many pairs, or words."""
    values = [v for scored in _settings((size,)) if math.isfinite(v := _value(metric, parameters, scored))]
    return min(values, default=math.nan), max(values, default=math.nan)


def _value(metric: Metric, parameters: Mapping[str, Any], scored: Scored) -> float:
    rows = np.array(scored)
    words, one = np.ones((len(rows), 1)), np.ones((1, 1))
    if metric.template == (2, 0):
        sets, further = ([words, words], []), {"scores": rows.T.ravel()}
    elif metric.template == (2, 1):
        sets, further = ([one, one], [words]), {"associations": rows.T[None]}
    else:
        sets, further = ([words], [one, one]), {"completions": rows[None]}
    with np.errstate(all="ignore"):
        return metric.function(*sets, **further, **parameters).value


def _written(scored: Scored) -> str:
    return "; ".join(f"{number(first)} and {number(second)}" for first, second in scored)
