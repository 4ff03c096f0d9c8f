"""Properties of metrics of corpora, with small texts as counterexamples.

The leaning of a word to a group is its share of the group's sentences minus its share of the other group's. A word
is biased if the shares differ. A set has skew if they differ on average, and stereotype if the words' leanings
differ. The questions are the same as for vectors, except for the length of vectors, which texts do not have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from biasgrid.metrics.registry import Metric
from biasgrid.models.corpus.cooccurrence import Cooccurrence

from .leanings import answers, range_text
from .questions import SET, WORD

SEED, DRAWN, MOST = 5, 1000, 4
# Numbers of the groups' sentences in texts whose extreme values are compared.
SIZES = ((2, 2), (2, 4), (4, 2), (4, 4))
# Whether a sentence contains "he", "she", "doctor" and "nurse": one of the groups, and any of the words.
SENTENCES = [(he, 1 - he, doctor, nurse) for he, doctor, nurse in product((1, 0), (0, 1), (0, 1))]
NAMES = ("he", "she", "doctor", "nurse")

# Count of each of the sentences in a text.
Text = tuple[int, ...]


def verdicts(metric: Metric, parameters: Mapping[str, Any]) -> dict[str, dict[str, tuple[str, str, int]]]:
    """Examine a metric: level -> property -> answer, the text that refutes it, and the number of texts tried."""
    compared = sum((he + 1) * (she + 1) for he, she in SIZES)
    return {
        level: answers(
            metric,
            level,
            _with_values(metric, parameters, level),
            _describe,
            {sizes: _value_range(metric, parameters, sizes, level) for sizes in SIZES},
            _compare,
            compared,
        )
        for level in (WORD, SET)
    }


def _with_values(
    metric: Metric, parameters: Mapping[str, Any], level: str
) -> Iterator[tuple[Text, np.ndarray, float]]:
    for text in texts():
        # For one word, use texts without the other.
        if level == SET or not any(n for n, sentence in zip(text, SENTENCES, strict=True) if sentence[3]):
            yield text, _leanings(text, level), _value(metric, parameters, text, level)


def _compare(
    sizes: tuple[int, int],
    ends: tuple[float, float],
    others: tuple[int, int],
    other_ends: tuple[float, float],
) -> str:
    return (
        f"it is {range_text(ends)} where the groups have {sizes[0]} and {sizes[1]} sentences, and "
        f"{range_text(other_ends)} where they have {others[0]} and {others[1]}"
    )


@cache
def texts() -> tuple[Text, ...]:
    """Return texts in which both groups occur, the shortest first."""
    rng = np.random.default_rng(SEED)
    candidates = {tuple(row) for row in rng.binomial(MOST, 0.3, size=(DRAWN, len(SENTENCES))).tolist()}
    # Add all small texts of one word.
    small_counts = [range(3) if not sentence[3] else (0,) for sentence in SENTENCES]
    candidates |= set(product(*small_counts))
    half = len(SENTENCES) // 2
    return tuple(
        sorted((t for t in candidates if sum(t[:half]) and sum(t[half:])), key=lambda t: (sum(t), t[::-1]))
    )


def _value_range(
    metric: Metric, parameters: Mapping[str, Any], sizes: tuple[int, int], level: str
) -> tuple[float, float]:
    """Return the smallest and the largest value if the groups have these numbers of sentences, any with all words."""
    all_words, no_words = ((1, level == SET), (0, 0))
    values = []
    for he, she in product(*(range(size + 1) for size in sizes)):
        text: dict[tuple[int, ...], int] = dict.fromkeys(SENTENCES, 0)
        for group, size, of_words in ((1, sizes[0], he), (0, sizes[1], she)):
            text[group, 1 - group, *map(int, all_words)] += of_words
            text[group, 1 - group, *no_words] += size - of_words
        value = _value(metric, parameters, tuple(text.values()), level)
        values += [value] * math.isfinite(value)
    return min(values), max(values)


def _leanings(text: Text, level: str) -> np.ndarray:
    """Compute each word's leaning: its share of the first group's sentences minus its share of the second's."""
    table = np.array(SENTENCES)[:, : 4 if level == SET else 3]
    counts = np.array(text)
    sizes = [int(counts @ table[:, group]) for group in (0, 1)]
    shares = [(counts * table[:, group]) @ table[:, 2:] / sizes[group] for group in (0, 1)]
    return shares[0] - shares[1]


def _value(metric: Metric, parameters: Mapping[str, Any], text: Text, level: str) -> float:
    words = 4 if level == SET else 3
    together = Cooccurrence(_patterns(words), np.array(text, dtype=np.int64), sum(text))
    one = np.ones((1, 1))
    with np.errstate(all="ignore"):
        return metric.function(
            [one, one], [np.ones((words - 2, 1))], cooccurrence=together, **parameters
        ).value


@cache
def _patterns(words: int) -> csr_array:
    return csr_array(np.array(SENTENCES, dtype=np.float32)[:, :words])


def _describe(text: Text) -> str:
    return "; ".join(_sentences(text))


def _sentences(text: Text) -> Iterator[str]:
    for count, sentence in zip(text, SENTENCES, strict=True):
        if count:
            words = " ".join(name for name, is_present in zip(NAMES, sentence, strict=True) if is_present)
            yield f"{count} x “{words}”" if count > 1 else f"“{words}”"
