"""A metric on a query whose words can be permuted, resampled and left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..metrics.registry import Metric, one_by_one
from ..numbers import count
from ..query import Query
from ..sample import Sample
from ..word_set import WordSet
from ..words import FoundSet
from .bootstrap import digest, draw_counts, groups_of
from .free_memory import check_memory
from .permutation import deal

# weights of samples that are in memory at a time: 8 MB of float64
BLOCK = 2**20
# a set of more words is left out group by group, and no word of it alone, and what its samples add to the value is
# taken to first order from that
MOST_WORDS = 200
GROUPS = 50


@dataclass(frozen=True)
class Resampler:
    """A metric on a (sub-)query whose words can be permuted, resampled and left out.

    value      the metric's; the statistic of the words as they are differs from it where the metric draws at random
    statistic  weights of target words and of attribute words -> values, as `Metric.resampled` says
    units      for each target set, then each attribute set: which of its words (or pairs) a row belongs to; of
               sentences, the words that they are made of, but for a metric of pairs
    places     and where these words stand in the set as given (`words`)
    has_forms  whether a word was found in several forms
    range      the interval that values lie in, of sets of so many words
    redrawn_units  draws values of a corpus whose sentences are drawn again (`Metric.redrawn_units`)
    pairs_won  of a share of pairs, in how many the first wins, and how many are no ties (`Metric.pairs_won`)
    """

    metric: Metric
    query: Query
    targets: list[FoundSet]
    attributes: list[FoundSet]
    value: float
    statistic: Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]
    units: list[np.ndarray]
    places: list[np.ndarray]
    has_forms: bool
    range: tuple[float, float]
    redrawn_units: Callable[[np.random.Generator, int], np.ndarray] | None = None
    pairs_won: tuple[int, int] | None = None

    @classmethod
    def of(cls, sample: Sample, value: float | None = None) -> Resampler:
        """Of what was looked up; the metric's value is that of the sample's score where it is not given."""
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
        """The words of each set, as given; of sentences, the words that they are made of."""
        sets = (*self.query.target_sets, *self.query.attribute_sets)
        return [s.words if self.metric.paired else s.units for s in sets]

    @cached_property
    def full_weights(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Weights of one sample: every word once in its set."""
        return self._weights([np.ones((1, len(places))) for places in self.places])

    @cached_property
    def observed(self) -> float:
        """The statistic of the words as they are."""
        return float(self.statistic(*self.full_weights)[0])

    def values(self, counts: Sequence[np.ndarray]) -> np.ndarray:
        """The metric's value for samples: how often each word is drawn, an array (samples, words) or (1, words) for
        each target set, then each attribute set. Those of a metric that draws at
        random are moved by what value and statistic differ in, but not out of its range."""
        samples = max(map(len, counts))
        rows = rows_at_once(sum(map(len, self.units)))
        values = np.empty(samples)
        for start in range(0, samples, rows):
            block = [c[start : start + rows] if len(c) > 1 else c for c in counts]
            # one value for all where they differ in words that the metric does not look at
            values[start : start + rows] = self.statistic(*self._weights(block))
        shift = self.value - self.observed
        return np.clip(values + shift, *self.range) if self.metric.seeded else values

    def bootstrap(self, draws: int, seed: int) -> np.ndarray:
        """The value of each bootstrap resample (draws,).

        Of a set of more than 200 words, samples are not measured: its groups are drawn again, and the differences to
        the set are summed up from the jackknife's (Efron & Tibshirani 1993, section 20.5).
        """
        sizes = list(map(len, self.words))
        # counts of all sets, int32; of the set that is drawn, four arrays of int64
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
        """The value without each word in turn, an array per set; of pairs the first set's alone. NaN for a set's only
        word. Of a set of more than 200 words, the value without each of 50 groups of words; without as many, where
        groups differ in size."""
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
                # a group's part of the value grows with it; what its words differ in from all counts
                share = np.bincount(group) / size
                parts = (values - self.value) * (1 - share)
                values = self.value + (parts - share * parts.sum()) / (1 - 1 / len(share))
            values_by_set.append(values)
        return values_by_set

    def influence(self) -> dict[str, dict[str, float]]:
        """Set -> word -> how the value changes when the word (of pairs: the pair) is left out. Sets of more than 200
        words, of which none can matter much, are not in it."""
        sets = [*self.targets, *self.attributes]
        set_numbers = [i for i in range(len(sets)) if not self._follows(i)]

        def name(i: int, place: int) -> str:
            word = self.words[i][place]
            # a word may stand in several pairs
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
        """Mean distance to the value when each target set, and when each attribute set, is a random half of itself
        (rounded down, at least one word)."""
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
            # counts of all words, float64, and labels of a set
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
        """Whether a set's words go where their partners in the first set go."""
        return self.metric.paired and 0 < i < len(self.targets)

    def _pair_counts(self, counts: list[np.ndarray]) -> list[np.ndarray]:
        return [counts[0] if self._follows(i) else c for i, c in enumerate(counts)]

    def _weights(self, counts: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Weights of rows, pooled over the sets of a side, from counts of words."""
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
    """Which of the words that sentences are made of each is made of."""
    number = {word: place for place, word in enumerate(sentences.units)}
    return np.array([number[word] for word in sentences.of])


def rows_at_once(words: int) -> int:
    """How many samples of so many words are worked on at once: a power of two, so that queries of about as many words
    work on the same ones."""
    return 2 ** max(int(math.log2(BLOCK / words)), 0)
