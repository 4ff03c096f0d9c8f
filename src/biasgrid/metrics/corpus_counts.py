"""Counts that the metrics of corpora share: units (sentences, or windows) with words of several sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..models.corpus.cooccurrence import Cooccurrence
from ..models.corpus.corpus import Corpus

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BLOCK = 1 << 23  # patterns times samples in memory at a time
Z95 = 1.959963984540054  # half the width of a 95 % interval, in standard errors

# Function of four counts (samples,): units with the first group, units with the first group and the words, and the
# same two counts for the second group.
Value = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def of_model(
    model: Corpus, targets: Sequence[Any], attributes: Sequence[Any], *, window: int | None = None, **_: Any
) -> dict[str, Any]:
    """Return the co-occurrences of all words of a query. It is `Metric.of_model` of the metrics of corpora."""
    words = [key for word_set in (*targets, *attributes) for key in word_set.keys]
    return {"cooccurrence": model.cooccurrence(words, window)}


def counts(
    cooccurrence: Cooccurrence, targets: Sequence[np.ndarray], attributes: Sequence[np.ndarray]
) -> tuple[np.ndarray, ...]:
    """Count units with each group, and units with each group and the words.

    Parameters
    ----------
    cooccurrence
        Co-occurrences of the words of both groups, followed by the words of the other side.
    targets, attributes
        Weights (samples, words of the side) of two groups and of one set of words, in the format of
        `Metric.resampled`. A word is in a set if its weight is above 0. An array of one row is the same for all
        samples.

    Returns
    -------
    tuple of array, (samples,) each
        Units with the first group, units with the first group and the words, and the same two counts for the second
        group.
    """
    split = targets[0].shape[1]
    sides = cooccurrence.part(slice(split)), cooccurrence.part(slice(split, None))
    units = cooccurrence.units.astype(np.float64)
    samples = max(map(len, (*targets, *attributes)))
    rows = max(1, BLOCK // max(len(units), 1))
    blocks = []
    for start in range(0, samples, rows):
        first, second = (_has_word(w, sides[0], start, rows) for w in targets)
        words = _has_word(attributes[0], sides[1], start, rows)
        block = [units @ first, units @ (first & words), units @ second, units @ (second & words)]
        blocks.append(np.broadcast_arrays(*block))
    return tuple(map(np.concatenate, zip(*blocks, strict=True)))


def _has_word(weights: np.ndarray, patterns: csr_array, start: int, rows: int) -> np.ndarray:
    """Return whether each pattern contains a word of the set: bool (patterns, samples)."""
    block = weights if len(weights) == 1 else weights[start : start + rows]
    return patterns @ (block > 0).T.astype(np.float32) > 0


def scalars(numbers: Sequence[np.ndarray], cooccurrence: Cooccurrence) -> dict[str, float]:
    """Return the `counts` of one sample and the number of all units, as auxiliary statistics of a score."""
    names = ("units_first", "units_first_words", "units_second", "units_second_words")
    statistics = {name: float(number[0]) for name, number in zip(names, numbers, strict=True)}
    return statistics | {"units": float(cooccurrence.total)}


def sets_of(
    targets: Sequence[np.ndarray], attributes: Sequence[np.ndarray]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the weights of one sample, in which every word is in its own set. The sets' arrays have a row per
    word."""
    sides = []
    for side in (targets, attributes):
        sizes = [len(words) for words in side]
        ends = np.cumsum(sizes)
        weights = np.zeros((len(side), 1, int(ends[-1])))
        for place, (end, size) in enumerate(zip(ends, sizes, strict=True)):
            weights[place, 0, end - size : end] = 1.0
        sides.append(list(weights))
    return sides[0], sides[1]


def by_word(
    cooccurrence: Cooccurrence, targets: Sequence[np.ndarray], attributes: Sequence[np.ndarray], value: Value
) -> np.ndarray:
    """Compute the value of each word of the other side alone, (words,)."""
    groups, _ = sets_of(targets, attributes)
    single_words = np.eye(sum(len(words) for words in attributes))
    return value(*counts(cooccurrence, groups, [single_words]))


def joint(
    cooccurrence: Cooccurrence, targets: Sequence[np.ndarray], attributes: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Count the units by the sets of which they contain words.

    Returns
    -------
    kinds : array of bool, (8, 3)
        Whether units of this kind contain the first group, the second group, and the words.
    units : array, (8,)
        Number of units of each kind.
    """
    groups, words = sets_of(targets, attributes)
    split = groups[0].shape[1]
    sides = cooccurrence.part(slice(split)), cooccurrence.part(slice(split, None))
    presence = [_has_word(weights, sides[0], 0, 1)[:, 0] for weights in groups]
    presence.append(_has_word(words[0], sides[1], 0, 1)[:, 0])
    kinds = np.array([[bool(kind & 1), bool(kind & 2), bool(kind & 4)] for kind in range(8)])
    number = presence[0] * 1 + presence[1] * 2 + presence[2] * 4
    units = np.bincount(number, cooccurrence.units, minlength=8).astype(np.int64)
    units[0] += cooccurrence.total - units.sum()
    return kinds, units


def standard_error(kinds: np.ndarray, units: np.ndarray, slopes: np.ndarray) -> float:
    """Estimate the standard error of a value by the delta method over independently drawn units (sentences).

    Parameters
    ----------
    kinds, units
        The two arrays that `joint` returns.
    slopes
        (4,): derivatives of the value with respect to the four counts of `counts`.

    Returns
    -------
    float
        Units with both groups count in both, so the estimate includes the dependence between the two shares.
    """
    influences = influence(kinds) @ slopes
    mean = (units * influences).sum() / units.sum()
    return float(np.sqrt((units * (influences - mean) ** 2).sum()))


def influence(kinds: np.ndarray) -> np.ndarray:
    """Return the counts to which a unit of each kind contributes, 0 or 1: (kinds, 4)."""
    first, second, words = kinds.T
    return np.stack([first, first & words, second, second & words], axis=1).astype(np.float64)


def samples_of(value_of: Callable[..., Value]) -> dict[str, Any]:
    """Build the fields `of_model`, `resampled` and `redrawn_units` of a metric from a function of its parameters."""

    def resampled(
        words: np.ndarray,
        attributes: np.ndarray,
        *,
        cooccurrence: Cooccurrence,
        window: int | None = None,
        **parameters: Any,
    ) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
        value = value_of(**parameters)
        return lambda targets, attribute_weights: value(*counts(cooccurrence, targets, attribute_weights))

    def redrawn_units(
        targets: Sequence[np.ndarray],
        attributes: Sequence[np.ndarray],
        *,
        cooccurrence: Cooccurrence,
        window: int | None = None,
        **parameters: Any,
    ) -> Callable[[np.random.Generator, int], np.ndarray]:
        value, (kinds, units) = value_of(**parameters), joint(cooccurrence, targets, attributes)
        total = units.sum()

        def draw(rng: np.random.Generator, draws: int) -> np.ndarray:
            sample_counts = rng.multinomial(total, units / total, size=draws)
            values = value(*(sample_counts @ influence(kinds)).T)
            return np.where(np.isfinite(values), values, np.nan)

        return draw

    return {"of_model": of_model, "resampled": resampled, "redrawn_units": redrawn_units}
