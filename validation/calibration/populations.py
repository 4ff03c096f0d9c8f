"""Populations of simulated words: Gaussian vectors around means, drawn as sets or as a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biasgrid.metrics.registry import Metric
from biasgrid.queries.query import Query

# Words per set, and draws, whose mean is the value of the whole populations.
ALL_WORDS, ALL_WORDS_DRAWS = 1000, 20

Vectors = list[np.ndarray]


@dataclass(frozen=True)
class Population:
    """A population from which a query's words are drawn.

    A word is the mean of its set plus its own part, a Gaussian vector of length 1 on average (root mean square). The
    means lie along two orthogonal directions, the direction of the bias and the direction of the topic. The `bias` of
    `draw` moves the first of the sets whose words are exchanged (`Metric.exchanged`) along the direction of the bias.
    With a bias of 0, both sets come from one population.

    Parameters
    ----------
    dimensions
        Number of dimensions of a vector.
    lean
        Shift along the direction of the bias of the first set of the other side: attributes, or targets if attributes
        are exchanged.
    topic
        Shift of all target words along the direction of the topic.
    shared
        For a metric of pairs, the share of variance of a word's own part that its pair has in common.
    """

    dimensions: int
    lean: float
    topic: float
    shared: float

    def draw(
        self, metric: Metric, words: int, bias: float, rng: np.random.Generator
    ) -> tuple[Vectors, Vectors]:
        """Draw target and attribute sets, (words, dimensions): the number that the metric takes, or two each."""
        targets, attributes = (
            [self._draw_own_parts(words, rng) for _ in range(2 if sets in ("n", "k") else sets)]
            for sets in metric.template
        )
        if metric.paired:
            pair = math.sqrt(self.shared) * self._draw_own_parts(words, rng)
            targets = [pair + math.sqrt(1 - self.shared) * own_part for own_part in targets]
        exchange_side, other_side = targets, attributes
        if metric.exchanged == "attributes":
            exchange_side, other_side = attributes, targets
        exchange_side[0][:, 0] += bias
        other_side[0][:, 0] += self.lean
        for vectors in targets:
            vectors[:, 1] += self.topic
        return targets, attributes

    def _draw_own_parts(self, words: int, rng: np.random.Generator) -> np.ndarray:
        return rng.normal(size=(words, self.dimensions)) / math.sqrt(self.dimensions)


def exchange_labels(
    metric: Metric, targets: Vectors, attributes: Vectors, rng: np.random.Generator
) -> tuple[Vectors, Vectors]:
    """Permute the labels of the words at random, as under the metric's null hypothesis."""
    if metric.exchanged == "pairs":
        first, second = targets
        swap = rng.integers(2, size=(len(first), 1)).astype(bool)
        return [np.where(swap, second, first), np.where(swap, first, second)], attributes

    def deal_out(side: Vectors) -> Vectors:
        return np.split(rng.permutation(np.concatenate(side)), np.cumsum([len(s) for s in side])[:-1])

    if metric.exchanged == "attributes":
        return targets, deal_out(attributes)
    return deal_out(targets), attributes


def as_query(targets: Vectors, attributes: Vectors) -> tuple[Query, SimulatedModel]:
    """Return a query with the words t0_0, t0_1, ... and a model that has them."""
    sides = [
        [[f"{side}{i}_{word}" for word in range(len(vectors))] for i, vectors in enumerate(sets)]
        for side, sets in (("t", targets), ("a", attributes))
    ]
    words = [word for side in sides for words in side for word in words]
    return Query(*sides), SimulatedModel(words, np.concatenate(targets + attributes))


class SimulatedModel:
    """A model of simulated words."""

    vocab_prefix = ""

    def __init__(self, words: Sequence[str], vectors: np.ndarray):
        self.places, self.vectors = {word: i for i, word in enumerate(words)}, vectors

    def rows(self, words: Sequence[str]) -> np.ndarray:
        return np.array([self.places[word] for word in words])

    def take(self, words: Sequence[str], rows: np.ndarray) -> np.ndarray:
        return self.vectors[rows]
