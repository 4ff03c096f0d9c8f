"""Queries of words drawn from a real model, in kinds for which the null hypothesis is true, or is not.

A query has two or four groups, its target sets, and two attribute sets. Its kind determines how they are drawn. See
validation/calibration/README.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from biasgrid.core.geometry import unit
from biasgrid.models.store import EmbeddingStore
from biasgrid.queries.query import Query

Places = list[np.ndarray]


class Words:
    """Words for queries: the words of a model's first `vocabulary` rows that have a direction."""

    def __init__(self, model: EmbeddingStore, vocabulary: int):
        entries, rows = model.vocabulary(vocabulary)
        vectors = unit(model.take(entries, rows))
        has_direction = np.isfinite(vectors).all(axis=1)
        prefix = len(model.vocab_prefix)
        self.words = np.array([entry[prefix:] for entry in entries], dtype=object)[has_direction]
        self.vectors = vectors[has_direction]

    def at_random(self, rng: np.random.Generator, free: np.ndarray, size: int) -> np.ndarray:
        """Draw `size` of the words that are `free`, and mark them as no longer free."""
        places = rng.choice(np.flatnonzero(free), size, replace=False)
        free[places] = False
        return places

    def nearest(self, vector: np.ndarray, free: np.ndarray, size: int) -> np.ndarray:
        """Return the `size` free words with the largest cosine with a vector, and mark them as no longer free."""
        closeness = np.where(free, self.vectors @ vector, -np.inf)
        places = np.argsort(-closeness, kind="stable")[:size]
        free[places] = False
        return places


def _random_groups(
    words: Words, rng: np.random.Generator, free: np.ndarray, size: int, groups: int = 2
) -> Places:
    return [words.at_random(rng, free, size) for _ in range(groups)]


def _coherent_groups(
    words: Words, rng: np.random.Generator, free: np.ndarray, size: int, number: int
) -> Places:
    """Draw `number` groups, each with a random word and the words nearest to it."""
    groups = []
    for _ in range(number):
        seed = words.at_random(rng, free, 1)
        groups.append(np.concatenate([seed, words.nearest(words.vectors[seed[0]], free, size - 1)]))
    return groups


def _random_words(words, rng, free, size, groups) -> Places:
    return _random_groups(words, rng, free, size)


def _near_each(words, rng, free, size, groups) -> Places:
    """Return the words nearest to the first group, and the words nearest to the second."""
    return [words.nearest(words.vectors[group].mean(axis=0), free, size) for group in groups]


def _near_first(words, rng, free, size, groups) -> Places:
    """Return two sets of words near the first group."""
    near = words.nearest(words.vectors[groups[0]].mean(axis=0), free, 2 * size)
    return np.split(rng.permutation(near), 2)


def _half_near_each(words, rng, free, size, groups) -> Places:
    """Return two sets, each with half of its words near the first group and half near the second."""
    first, second = (rng.permutation(near) for near in _near_each(words, rng, free, size, groups))
    half = size // 2
    return [np.concatenate([first[:half], second[half:]]), np.concatenate([first[half:], second[:half]])]


# Kind -> functions that draw its groups and its attribute sets. The null hypothesis is true for the first two kinds.
KINDS: dict[str, tuple[Callable, Callable]] = {
    "random": (_random_groups, _random_words),
    "coherent": (_coherent_groups, _random_words),
    "apart": (_coherent_groups, _near_each),
    "leaning": (_coherent_groups, _near_first),
    "mixed": (_coherent_groups, _half_near_each),
}


def draw_query(kind: str, words: Words, size: int, rng: np.random.Generator, groups: int = 2) -> Query:
    """Draw a query of target sets, the groups, and two attribute sets, `size` words each, without common words."""
    of_groups, of_words = KINDS[kind]
    free = np.ones(len(words.words), dtype=bool)
    group_places = of_groups(words, rng, free, size, groups)
    sets = of_words(words, rng, free, size, group_places[:2])
    return Query(*([words.words[places].tolist() for places in side] for side in (group_places, sets)))
