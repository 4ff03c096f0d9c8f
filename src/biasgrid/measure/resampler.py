"""A metric on a query whose words can be permuted, resampled and left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.numbers import count
from ..metrics.registry import Metric, one_by_one
from ..models.words import WordVectors
from ..queries.query import Query
from ..queries.word_set import WordSet
from .bootstrap import digest, draw_counts, groups_of
from .free_memory import check_memory
from .metric_input import MetricInput
from .permutation import deal

# Limit the weights of samples in memory to 8 MB of float64 at a time.
BLOCK = 2**20
# In a set of more words, groups of words are left out instead of single words. The effect of resampling the set on
# the value is then computed to first order from these groups.
MOST_WORDS = 200
GROUPS = 50


@dataclass(frozen=True)
class Resampler:
    """A metric on a (sub-)query whose words can be permuted, resampled and left out.

    Attributes
    ----------
    value
        The metric's value; it differs from the statistic of the words without resampling if the metric draws at
        random.
    statistic
        Function of weights of target words and of attribute words that returns values; see `Metric.resampled`.
    units
        For each target set, then each attribute set: the word (or pair) to which each row belongs. For sentences,
        the words that they contain, except for a metric of pairs.
    places
        Indices of these words in the set as given (`words`).
    has_forms
        Whether a word was found in several forms.
    range
        Interval in which values lie, for sets of these sizes.
    redrawn_units
        Draws values of a corpus whose sentences are resampled (`Metric.redrawn_units`).
    pairs_won
        For a share of pairs, the number of pairs in which the first wins, and the number without a tie
        (`Metric.pairs_won`).
    """

    metric: Metric
    query: Query
    targets: list[WordVectors]
    attributes: list[WordVectors]
    value: float
    statistic: Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]
    units: list[np.ndarray]
    places: list[np.ndarray]
    has_forms: bool
    range: tuple[float, float]
    redrawn_units: Callable[[np.random.Generator, int], np.ndarray] | None = None
    pairs_won: tuple[int, int] | None = None

    @classmethod
    def of(cls, sample: MetricInput, value: float | None = None) -> Resampler:
        """Build a resampler from looked-up words; without `value`, the metric's value is the sample's score."""
        request, metric, vectors = sample.request, sample.request.metric, sample.vectors
        parameters = {**request.parameters, **sample.model_arguments}
        words, attributes = (np.concatenate(side) if side else np.empty((0, 1)) for side in vectors)
        if metric.resampled:
            statistic = metric.resampled(words, attributes, **parameters)
        else:
            statistic = one_by_one(metric, words, attributes, parameters, request.seed)
        found = (*sample.targets, *sample.attributes)
        slots = [s.slots // request.variants for s in found]
        sets = (*sample.query.target_sets, *sample.query.attribute_sets)
        places, units = zip(
            *(
                np.unique(_units_of(s)[of_set] if s.of and not metric.paired else of_set, return_inverse=True)
                for s, of_set in zip(sets, slots, strict=True)
            ),
            strict=True,
        )
        return cls(
            metric,
            sample.query,
            sample.targets,
            sample.attributes,
            sample.score.value if value is None else value,
            statistic,
            list(units),
            list(places),
            any(len(np.unique(of_set)) < len(of_set) for of_set in slots),
            metric.sized(*sample.sizes, **parameters) if metric.sized else metric.range,
            metric.redrawn_units(*vectors, **parameters) if metric.redrawn_units else None,
            metric.pairs_won(words, attributes, **parameters) if metric.pairs_won else None,
        )

    @property
    def words(self) -> list[Sequence[str]]:
        """Return the words of each set, as given; for sentences, the words that they contain."""
        sets = (*self.query.target_sets, *self.query.attribute_sets)
        return [s.words if self.metric.paired else s.units for s in sets]

    @cached_property
    def full_weights(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the weights of one sample with every word once in its set."""
        return self._weights([np.ones((1, len(places))) for places in self.places])

    @cached_property
    def observed(self) -> float:
        """Compute the statistic of the words without resampling."""
        return float(self.statistic(*self.full_weights)[0])

    def values(self, counts: Sequence[np.ndarray]) -> np.ndarray:
        """Compute the metric's value for samples.

        `counts` is how often each word is drawn, an array (samples, words) or (1, words) for each target set, then
        each attribute set. For a metric that draws at random, values are shifted by the difference between value
        and statistic, but not out of its range.
        """
        samples = max(map(len, counts))
        rows = rows_at_once(sum(map(len, self.units)))
        values = np.empty(samples)
        for start in range(0, samples, rows):
            block = [c[start : start + rows] if len(c) > 1 else c for c in counts]
            # The statistic returns one value if samples differ only in words that the metric ignores.
            values[start : start + rows] = self.statistic(*self._weights(block))
        shift = self.value - self.observed
        return np.clip(values + shift, *self.range) if self.metric.seeded else values

    def bootstrap(self, draws: int, seed: int) -> np.ndarray:
        """Compute the value of each bootstrap resample (draws,).

        For a set of more than 200 words, samples are not measured. Its groups are resampled, and the differences
        from the set are summed from the jackknife's (Efron & Tibshirani 1993, section 20.5).
        """
        sizes = list(map(len, self.words))
        # Check the memory for counts of all sets, int32, and for the drawn set, four arrays of int64.
        check_memory(
            draws * (4 * sum(sizes) + 32 * max(sizes)),
            f"bootstrap: {count(draws)} draws of {sum(sizes)} words",
        )
        counts: list[np.ndarray] = []
        linear = np.zeros(draws)
        jackknife = iter(self.by_set)
        for i, (words, places) in enumerate(zip(self.words, self.places, strict=True)):
            if self._follows(i):
                counts.append(counts[0])
                continue
            leave_one_out = next(jackknife)
            if len(places) <= MOST_WORDS:
                counts.append(draw_counts(words, places, draws, seed))
            else:
                counts.append(np.ones((1, len(places))))
                times = draw_counts(words, places, draws, seed, groups=GROUPS)
                linear += (1 - times) @ leave_one_out * (1 - 1 / len(leave_one_out))
        values = self.values(counts)
        return np.clip(values + linear, *self.range) if linear.any() else values + linear

    @cached_property
    def by_set(self) -> list[np.ndarray]:
        """Compute the value without each word in turn, an array per set; for pairs only for the first set.

        NaN for a set's only word. For a set of more than 200 words, it is the value without each of 50 groups of
        words, adjusted to groups of equal size.
        """
        whole_sets = [np.ones((1, len(places))) for places in self.places]
        values_by_set = []
        for i, places in enumerate(self.places):
            if self._follows(i):
                continue
            size = len(places)
            if size == 1:
                values_by_set.append(np.full(1, math.nan))
                continue
            group = np.arange(size)
            if size > MOST_WORDS:
                group = np.unique(groups_of(self.words[i], places, GROUPS), return_inverse=True)[1]
            group_weights = (np.arange(group.max() + 1)[:, None] != group).astype(np.float64)
            values = self.values(self._pair_counts([*whole_sets[:i], group_weights, *whole_sets[i + 1 :]]))
            if size > MOST_WORDS:
                # A group's part of the value grows with its size; the difference between its words and all words
                # counts.
                share = np.bincount(group) / size
                parts = (values - self.value) * (1 - share)
                values = self.value + (parts - share * parts.sum()) / (1 - 1 / len(share))
            values_by_set.append(values)
        return values_by_set

    def influence(self) -> dict[str, dict[str, float]]:
        """Return set -> word -> change of the value when the word (for pairs: the pair) is left out.

        Sets of more than 200 words, in which no word can matter much, are left out.
        """
        sets = [*self.targets, *self.attributes]
        set_numbers = [i for i in range(len(sets)) if not self._follows(i)]

        def name(i: int, place: int) -> str:
            word = self.words[i][place]
            # A word may be in several pairs.
            in_several_pairs = self.metric.paired and i == 0 and self.words[i].count(word) > 1
            return ", ".join(s.words[place] for s in self.query.target_sets) if in_several_pairs else word

        return {
            sets[i].name: {
                name(i, place): float(value - self.value)
                for place, value in zip(self.places[i], values, strict=True)
            }
            for i, values in zip(set_numbers, self.by_set, strict=True)
            if len(self.places[i]) <= MOST_WORDS
        }

    def halves(self, halves: int, seed: int) -> dict[str, float]:
        """Compute the mean distance to the value if each target set, and each attribute set, is halved at random.

        Halves are rounded down, to at least one word.
        """
        distances = {}
        whole_sets = [np.ones((1, len(places))) for places in self.places]
        for side, sets in (
            ("targets", range(len(self.targets))),
            ("attributes", range(len(self.targets), len(whole_sets))),
        ):
            if not sets:
                distances[side] = math.nan
                continue
            size = sum(len(self.places[i]) for i in sets)
            # Check the memory for counts of all words, float64, and labels of a set.
            check_memory(halves * (10 * size + 32), f"sensitivity: {count(halves)} halves of {size} words")
            counts = list(whole_sets)
            for i in sets:
                size = len(self.places[i])
                half = max(size // 2, 1)
                rng = np.random.default_rng([seed, digest(self.words[i]), 2])
                counts[i] = 1.0 - deal((half, size - half), halves, rng)
            distances[side] = float(np.abs(self.values(self._pair_counts(counts)) - self.value).mean())
        return distances

    def _follows(self, i: int) -> bool:
        """Return whether a set's words are drawn together with their partners in the first set."""
        return self.metric.paired and 0 < i < len(self.targets)

    def _pair_counts(self, counts: list[np.ndarray]) -> list[np.ndarray]:
        return [counts[0] if self._follows(i) else c for i, c in enumerate(counts)]

    def _weights(self, counts: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Convert counts of words to weights of rows, pooled over the sets of a side."""
        sides, first = [], 0
        for sets in (self.targets, self.attributes):
            ends = np.cumsum([len(s.keys) for s in sets], dtype=int)
            weights = []
            for i, (s, end) in enumerate(zip(sets, ends, strict=True), start=first):
                weight = np.zeros((len(counts[i]), ends[-1]))
                weight[:, end - len(s.keys) : end] = counts[i][:, self.units[i]]
                weights.append(weight)
            sides.append(weights)
            first += len(sets)
        return sides[0], sides[1]


def _units_of(sentences: WordSet) -> np.ndarray:
    """Return the index of the word that each sentence contains."""
    number = {word: place for place, word in enumerate(sentences.units)}
    return np.array([number[word] for word in sentences.of])


def rows_at_once(words: int) -> int:
    """Return how many samples of this number of words are processed at once.

    It is a power of two, so that queries of similar size process the same samples together.
    """
    return 2 ** max(int(math.log2(BLOCK / words)), 0)
