"""Words and their nearest neighbours, as the metrics of bias in neighbourhoods see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .. import directions
from .. import neighbours as around
from ..embeddings.store import DebiasedModel
from ..geometry import FLAT, unit, weighted_mean
from ..words import FoundSet

NEIGHBOURS, THRESHOLD = 100, 0.05
UNTOUCHED, MEASURED = "untouched", "measured"
BiasOf = Literal["untouched", "measured"]


@dataclass(frozen=True)
class Neighbourhood:
    """Words and their neighbours, with the vectors that bias is taken from: unit vectors, NaN where there is
    none.

    groups   of the target sets, one set after the other (g, d), and the size of the first
    words    of all attribute sets (m, d)
    nodes    of all neighbours (u, d)
    places   (m, k), which of the nodes are a word's neighbours, nearest first
    itself   (m,), which of the words are one word
    edges    (3, e): a word, which of its neighbours, and which of the words (`itself`) that is, sorted by the latter
    """

    groups: np.ndarray
    first: int
    words: np.ndarray
    nodes: np.ndarray
    places: np.ndarray
    itself: np.ndarray
    edges: np.ndarray

    @cached_property
    def products(self) -> np.ndarray:
        """Inner products of words and their neighbours, (m, k)."""
        return np.stack([self.nodes[p] @ w for w, p in zip(self.words, self.places, strict=True)])

    def axis(self, direction: str) -> np.ndarray:
        return directions.axis(self.groups[: self.first], self.groups[self.first :], direction)


def neighbourhood(
    model: Any,
    targets: Sequence[FoundSet],
    attributes: Sequence[FoundSet],
    *,
    neighbours: int = NEIGHBOURS,
    vocabulary: int = around.VOCABULARY,
    bias_of: BiasOf = UNTOUCHED,
    legacy_itself: bool = False,
    **others: Any,
) -> dict[str, Any]:
    """The neighbourhood of the attribute sets' words; see `Neighbourhood`."""
    source = model.model if bias_of == UNTOUCHED and isinstance(model, DebiasedModel) else model
    groups = [key for s in targets for key in s.keys]
    keys = [key for s in attributes for key in s.keys]
    rows = model.rows(keys)
    places, entries, of_entries = around.nearest(model, keys, neighbours - legacy_itself, vocabulary)
    if legacy_itself:
        # words that are in no vocabulary of so many rows are their own neighbours, too
        places = np.concatenate([len(entries) + np.arange(len(keys))[:, None], places], axis=1)
        entries, of_entries = [*entries, *keys], np.concatenate([of_entries, rows])
    distinct, inverse = np.unique(places, return_inverse=True)
    places, nodes = inverse.reshape(places.shape), of_entries[distinct]
    words = unit(source.take(keys, rows))
    # a word that lost its vector has no neighbours
    words[~(np.abs(np.concatenate([s.vectors for s in attributes])).sum(axis=1) > 0)] = np.nan
    present, itself = np.unique(rows, return_inverse=True)
    found = np.searchsorted(present, nodes).clip(max=len(present) - 1)
    is_word = present[found] == nodes
    word, place = np.nonzero(is_word[places])
    edges = np.stack([word, place, found[places[word, place]]])
    edges = edges[:, np.argsort(edges[2], kind="stable")]
    unbiased = unit(source.take([entries[i] for i in distinct], nodes))
    vectors = unit(source.take(groups, source.rows(groups)))
    return {"around": Neighbourhood(vectors, len(targets[0].keys), words, unbiased, places, itself, edges)}


def along_axis(around: Neighbourhood, direction: str) -> tuple[np.ndarray, np.ndarray]:
    """Cosines of words (1, m) and of nodes (1, u) with the groups' direction."""
    g = around.axis(direction)
    return (around.words @ g)[None], (around.nodes @ g)[None]


def illicit_marks(around: Neighbourhood, own: np.ndarray, nodes: np.ndarray, threshold: float) -> np.ndarray:
    """Which neighbours are illicit: bool (m, k, samples), for cosines with directions, own (samples, m) and
    nodes (samples, u).

    beta > threshold, without its division: |w v| - (+-) p q < (1 - threshold) |w v| |w'| |v'|.
    """
    p, q = own.T, np.ascontiguousarray(nodes.T)
    a, b = np.sqrt(1 - p**2), np.sqrt(1 - q**2)
    marks = np.empty((*around.places.shape, len(own)), dtype=bool)
    for i, (places, products) in enumerate(zip(around.places, around.products[:, :, None], strict=True)):
        size = np.abs(products)
        left = size - np.sign(products) * q[places] * p[i]
        np.less(left, (1 - threshold) * size * b[places] * a[i], out=marks[i])
    return marks


def leaning_marks(around: Neighbourhood, own: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Which neighbours lean to the first group: bool (m, k, samples)."""
    return np.ascontiguousarray(nodes.T > 0)[around.places]


def marked_shares(own: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """The share of each word's neighbours that have a mark: (samples, m), NaN for a word without a vector."""
    count = marks.shape[1] or np.nan
    return np.where(np.isfinite(own), marks.sum(axis=1).T / count, np.nan)


def word_weights(around: Neighbourhood, illicit: np.ndarray, times: np.ndarray, legacy: bool) -> np.ndarray:
    """GIPE's weights (samples, m) of words that stand in the samples `times` (samples or 1, m)."""
    word, place, to = around.edges
    without = 0.0 if legacy else 1.0
    samples = max(illicit.shape[2], len(times))
    weights = np.full((samples, around.itself.max(initial=0) + 1), without)
    if len(to):
        there, first = np.unique(to, return_index=True)
        edges = times.T[word]
        every = np.add.reduceat(edges, first)
        bad = np.add.reduceat(edges * illicit[word, place], first)
        with np.errstate(divide="ignore", invalid="ignore"):
            weights[:, there] = np.where(every > 0, 1 + bad / every, without).T
    return weights[:, around.itself]


def correlations(own: np.ndarray, share: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Pearson's r (samples,) of own (samples or 1, m) and share (samples, m) of words that stand in the samples
    `times` (samples or 1, m); NaN where one of them is the same for all, and of fewer than three words."""
    own, share = (x - weighted_mean(times, x)[:, None] for x in (own, share))
    products = [weighted_mean(times, x) for x in (own * share, own**2, share**2)]
    with np.errstate(divide="ignore", invalid="ignore"):
        r = products[0] / np.sqrt(products[1] * products[2])
    flat = (products[1] > FLAT**2) & (products[2] > FLAT**2) & ((times > 0).sum(axis=1) > 2)
    return np.where(flat, np.clip(r, -1.0, 1.0), np.nan)


def by_set(values: np.ndarray, sets: Sequence[np.ndarray]) -> list[np.ndarray]:
    return np.split(values, np.cumsum([len(s) for s in sets])[:-1])


# what the metrics say of themselves (`Metric.asks` and so on), by name; and PMN of correlations
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
        "asks": "How many of the nearest neighbours of the words of {A} lean to {T1} rather than to {T2}?",
        "above": "most neighbours lean to {T1}",
        "below": "most neighbours lean to {T2}",
        "details": {"share": "share of its nearest neighbours that lean to {T1}"},
        "nearer": "first",
    },
}
CORRELATED = {
    "asks": "Do words of {A} that lean to {T1} have more nearest neighbours that lean to {T1}?",
    "above": "words of {A} that lean to {T1} have more neighbours that do, too",
    "below": "words of {A} that lean to {T1} have fewer neighbours that do, too",
    "nearer": "",  # of a set's value
}
