"""Words and their nearest neighbours, in the form that the metrics of bias in neighbourhoods use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np

from ..core.geometry import FLAT, unit, weighted_mean
from ..models import directions
from ..models.store import DebiasedModel
from ..models.words import WordVectors
from . import neighbours as neighbour_search

NEIGHBOURS, THRESHOLD = 100, 0.05
UNTOUCHED: Final = "untouched"
MEASURED: Final = "measured"
BiasOf = Literal["untouched", "measured"]


@dataclass(frozen=True)
class Neighbourhood:
    """Words and their neighbours, with unit vectors for measuring bias; NaN for a zero vector.

    Attributes
    ----------
    groups
        (g, d), vectors of the target sets, one set after the other.
    first_size
        The number of words of the first target set.
    words
        (m, d), vectors of the words of all attribute sets.
    nodes
        (u, d), vectors of all neighbours.
    places
        (m, k), indices of a word's neighbours among the nodes, nearest first.
    word_ids
        (m,), a number for each word; a word that is in two sets has one number.
    edges
        (3, e), sorted by the last row: a word's index, the place of one of its neighbours that is also one of the
        words, and that neighbour's number (`word_ids`).
    """

    groups: np.ndarray
    first_size: int
    words: np.ndarray
    nodes: np.ndarray
    places: np.ndarray
    word_ids: np.ndarray
    edges: np.ndarray

    @cached_property
    def products(self) -> np.ndarray:
        """Compute the inner products of words and their neighbours, (m, k)."""
        return np.stack([self.nodes[p] @ w for w, p in zip(self.words, self.places, strict=True)])

    def axis(self, direction: str) -> np.ndarray:
        return directions.axis(self.groups[: self.first_size], self.groups[self.first_size :], direction)


def find_neighbourhood(
    model: Any,
    targets: Sequence[WordVectors],
    attributes: Sequence[WordVectors],
    *,
    neighbours: int = NEIGHBOURS,
    vocabulary: int = neighbour_search.VOCABULARY,
    bias_of: BiasOf = UNTOUCHED,
    legacy_itself: bool = False,
    **_: Any,
) -> dict[str, Any]:
    """Find the neighbourhood of the attribute sets' words; see `Neighbourhood`."""
    source = model.model if bias_of == UNTOUCHED and isinstance(model, DebiasedModel) else model
    groups = [key for s in targets for key in s.keys]
    keys = [key for s in attributes for key in s.keys]
    rows = model.rows(keys)
    places, entries, entry_rows = neighbour_search.nearest(
        model, keys, neighbours - legacy_itself, vocabulary
    )
    if legacy_itself:
        # Words beyond the first `vocabulary` rows also become their own neighbours.
        places = np.concatenate([len(entries) + np.arange(len(keys))[:, None], places], axis=1)
        entries, entry_rows = [*entries, *keys], np.concatenate([entry_rows, rows])
    distinct, inverse = np.unique(places, return_inverse=True)
    places, nodes = inverse.reshape(places.shape), entry_rows[distinct]
    words = unit(source.take(keys, rows))
    # A word whose measured vector is zero does not have neighbours.
    words[~(np.abs(np.concatenate([s.vectors for s in attributes])).sum(axis=1) > 0)] = np.nan
    distinct_rows, word_ids = np.unique(rows, return_inverse=True)
    positions = np.searchsorted(distinct_rows, nodes).clip(max=len(distinct_rows) - 1)
    is_word = distinct_rows[positions] == nodes
    word, place = np.nonzero(is_word[places])
    edges = np.stack([word, place, positions[places[word, place]]])
    edges = edges[:, np.argsort(edges[2], kind="stable")]
    node_vectors = unit(source.take([entries[i] for i in distinct], nodes))
    group_vectors = unit(source.take(groups, source.rows(groups)))
    return {
        "neighbourhood": Neighbourhood(
            group_vectors, len(targets[0].keys), words, node_vectors, places, word_ids, edges
        )
    }


def axis_cosines(neighbourhood: Neighbourhood, direction: str) -> tuple[np.ndarray, np.ndarray]:
    """Compute the cosines of words (1, m) and of nodes (1, u) with the groups' direction."""
    g = neighbourhood.axis(direction)
    return (neighbourhood.words @ g)[None], (neighbourhood.nodes @ g)[None]


def illicit_marks(
    neighbourhood: Neighbourhood, word_cosines: np.ndarray, node_cosines: np.ndarray, threshold: float
) -> np.ndarray:
    """Return which neighbours are illicit: bool (m, k, samples).

    Cosines of words (samples, m) and of nodes (samples, u) are with the samples' directions. The condition is beta
    > threshold without the division: |w v| - (+-) p q < (1 - threshold) |w v| |w'| |v'|.
    """
    p, q = word_cosines.T, np.ascontiguousarray(node_cosines.T)
    a, b = np.sqrt(1 - p**2), np.sqrt(1 - q**2)
    marks = np.empty((*neighbourhood.places.shape, len(word_cosines)), dtype=bool)
    for i, (places, products) in enumerate(
        zip(neighbourhood.places, neighbourhood.products[:, :, None], strict=True)
    ):
        size = np.abs(products)
        remainders = size - np.sign(products) * q[places] * p[i]
        np.less(remainders, (1 - threshold) * size * b[places] * a[i], out=marks[i])
    return marks


def leaning_marks(neighbourhood: Neighbourhood, node_cosines: np.ndarray) -> np.ndarray:
    """Return which neighbours are nearer to the first group: bool (m, k, samples)."""
    return np.ascontiguousarray(node_cosines.T > 0)[neighbourhood.places]


def marked_shares(word_cosines: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Compute the share of each word's neighbours that are marked: (samples, m), NaN for a word without a vector."""
    count = marks.shape[1] or np.nan
    return np.where(np.isfinite(word_cosines), marks.sum(axis=1).T / count, np.nan)


def word_weights(
    neighbourhood: Neighbourhood, illicit: np.ndarray, counts: np.ndarray, legacy: bool
) -> np.ndarray:
    """Compute GIPE's weights (samples, m) of words that occur `counts` (samples or 1, m) times in the samples."""
    word, place, word_ids = neighbourhood.edges
    base_weight = 0.0 if legacy else 1.0
    samples = max(illicit.shape[2], len(counts))
    weights = np.full((samples, neighbourhood.word_ids.max(initial=0) + 1), base_weight)
    if len(word_ids):
        distinct_ids, first = np.unique(word_ids, return_index=True)
        edges = counts.T[word]
        edge_counts = np.add.reduceat(edges, first)
        illicit_counts = np.add.reduceat(edges * illicit[word, place], first)
        with np.errstate(divide="ignore", invalid="ignore"):
            weights[:, distinct_ids] = np.where(
                edge_counts > 0, 1 + illicit_counts / edge_counts, base_weight
            ).T
    return weights[:, neighbourhood.word_ids]


def correlations(word_cosines: np.ndarray, share: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute Pearson's r (samples,) of cosines (samples or 1, m) and shares (samples, m).

    Words occur `counts` (samples or 1, m) times. NaN if cosines or shares are the same for all words, and for fewer
    than three words.
    """
    word_cosines, share = (x - weighted_mean(counts, x)[:, None] for x in (word_cosines, share))
    products = [weighted_mean(counts, x) for x in (word_cosines * share, word_cosines**2, share**2)]
    with np.errstate(divide="ignore", invalid="ignore"):
        r = products[0] / np.sqrt(products[1] * products[2])
    is_defined = (products[1] > FLAT**2) & (products[2] > FLAT**2) & ((counts > 0).sum(axis=1) > 2)
    return np.where(is_defined, np.clip(r, -1.0, 1.0), np.nan)


def by_set(values: np.ndarray, sets: Sequence[np.ndarray]) -> list[np.ndarray]:
    return np.split(values, np.cumsum([len(s) for s in sets])[:-1])


# Texts of the metrics (`Metric.asks` and so on), by name. CORRELATION_FIELDS belong to PMN with `correlation`.
NEAR = "of the nearest neighbours of the words of {A} are near because of the direction in which {T1} and {T2} differ"
SENTENCES: dict[str, dict[str, Any]] = {
    "gipe": {
        "asks": f"How many {NEAR}, weighted?",
        "above": f"some {NEAR}",
        "details": {"proximity": "share of its nearest neighbours that are near because of the direction"},
    },
    "proximity": {
        "asks": f"How many {NEAR}?",
        "above": f"some {NEAR}",
        "details": {"proximity": "share of its nearest neighbours that are near because of the direction"},
    },
    "pmn": {
        "asks": "How many of the nearest neighbours of the words of {A} are closer to {T1} than to {T2}?",
        "above": "most neighbours are closer to {T1}",
        "below": "most neighbours are closer to {T2}",
        "details": {"share": "share of its nearest neighbours that are closer to {T1}"},
        "nearer": "first",
    },
}
CORRELATION_FIELDS = {
    "asks": "Do words of {A} that are closer to {T1} have more nearest neighbours that are, too?",
    "above": "words of {A} that are closer to {T1} have more neighbours that are, too",
    "below": "words of {A} that are closer to {T1} have fewer neighbours that are, too",
    "nearer": "",
}
