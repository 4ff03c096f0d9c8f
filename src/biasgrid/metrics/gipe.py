"""Bias in neighbourhoods: proximity and GIPE (Kumar, Bhotia, Kumar, Chakraborty, TACL 2020), and PMN, the
share of male neighbours (Gonen, Goldberg, NAACL 2019).

All three look at the nearest neighbours that words have in the state of the model that is measured, and ask
of these neighbours how they lie to the groups' direction in the untouched model: a debias method that takes
words off the direction and leaves them with the neighbours that they had has hidden the bias, and not taken
it away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import directions
from .. import neighbours as around
from ..embeddings.store import DebiasedModel
from ..errors import BiasgridError, not_allowed, unknown
from ..geometry import FLAT, unit, weighted_mean
from ..words import FoundSet
from .direct_bias import NO_TEST
from .registry import Detail, Metric, Score

NEIGHBOURS, THRESHOLD = 100, 0.05
UNTOUCHED, MEASURED = "untouched", "measured"
# marks of neighbours that are in memory at a time: 4 MB, of which arrays of float64 are made word by word
BLOCK = 2**22


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


def _around(
    model: Any,
    targets: Sequence[FoundSet],
    attributes: Sequence[FoundSet],
    *,
    neighbours: int = NEIGHBOURS,
    vocabulary: int = around.VOCABULARY,
    bias_of: str = UNTOUCHED,
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


def gipe(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    around: Neighbourhood,
    direction: str = directions.PCA,
    threshold: float = THRESHOLD,
    neighbours: int = NEIGHBOURS,
    vocabulary: int = around.VOCABULARY,
    bias_of: str = UNTOUCHED,
    legacy_weights: bool = False,
) -> Score:
    """GIPE, the Gender-based Illicit Proximity Estimate: the `proximity` of words, where those count for more
    that are themselves illicit neighbours of others of the words.

    In the graph that has an edge from each word to each of its neighbours, a word has the weight 1 + the
    share of its incoming edges that are illicit (1 where it has none): the value is the weighted mean of the
    words' proximities. Range [0, 1], neutral value 0. Parameters and NaN: as of `proximity`.

    legacy_weights  what the authors' code and FEE do: words that no other has among its neighbours do not
                    count at all; NaN where no word has

    Per word: its proximity and its weight.
    """
    own, nodes = _along_axis(around, direction)
    illicit = _illicit(around, own, nodes, threshold)
    eta = _shares(own, illicit)
    once = np.ones((1, len(around.words)))
    weights = _weights(around, illicit, once, legacy_weights)
    with np.errstate(invalid="ignore"):
        value = weighted_mean(weights, eta)[0]
    return Score(
        float(value),
        scalars={"proximity": float(eta.mean()), "neighbours": float(around.places.shape[1])},
        detail={
            "proximity": Detail("attribute", _split(eta[0], attributes)),
            "weight": Detail("attribute", _split(weights[0], attributes)),
        },
    )


def proximity(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    around: Neighbourhood,
    direction: str = directions.PCA,
    threshold: float = THRESHOLD,
    neighbours: int = NEIGHBOURS,
    vocabulary: int = around.VOCABULARY,
    bias_of: str = UNTOUCHED,
    legacy_itself: bool = False,
) -> Score:
    """How many of the words' nearest neighbours are near for the groups' sake: the mean over words w of the
    share (eta) of neighbours v with beta(w, v) > threshold, the share of their similarity that lies along the
    groups' direction (`indirect_bias`).

    Range [0, 1], neutral value 0. Undefined (NaN) for a zero vector, groups that do not differ, and a model
    of one word.

    direction      of the groups, the target sets: see biasgrid.directions. "pca" and "pair" take row i of both
                   sets as a pair
    threshold      the paper's theta_s: .03, .05 and .07 there
    neighbours     so many nearest neighbours, by cosine, in the state of the model that is measured ...
    vocabulary     ... among so many rows of the model, the first ones
    bias_of        "untouched": direction and beta are those of the model before debiasing, as in the paper
                   (under hard debias, beta would be 0 whatever the neighbours). "measured": of the state that is
                   measured
    legacy_itself  FEE counts a word among its own neighbours, in place of the last

    Per word: its share.
    """
    own, nodes = _along_axis(around, direction)
    eta = _shares(own, _illicit(around, own, nodes, threshold))
    return Score(
        float(eta.mean()),
        scalars={"neighbours": float(around.places.shape[1])},
        detail={"proximity": Detail("attribute", _split(eta[0], attributes))},
    )


def pmn(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    around: Neighbourhood,
    direction: str = directions.PCA,
    neighbours: int = NEIGHBOURS,
    vocabulary: int = around.VOCABULARY,
    bias_of: str = UNTOUCHED,
    correlation: bool = False,
    legacy_itself: bool = False,
) -> Score:
    """Percent male neighbours, for any two groups, as a share: the mean over words of how many of their
    nearest neighbours lean to the first group, cos(v, g) > 0.

    Range [0, 1], neutral value .5; words that lean opposite ways cancel. With `correlation` the value is what
    Gonen & Goldberg look at, which tells such words apart: Pearson's r, over the words, of their own cosine with
    g and their share. Range [-1, 1], neutral value 0; NaN of fewer than three words. Other parameters and NaN: as of
    `proximity`; "measured" is what FEE does.

    Per word: its share, and its own cosine with g.
    """
    own, nodes = _along_axis(around, direction)
    share = _shares(own, _leaning(around, own, nodes))
    values = {
        "share": float(share.mean()),
        "correlation": float(_correlations(own, share, np.ones_like(own))[0]),
    }
    return Score(
        values["correlation" if correlation else "share"],
        scalars=values | {"neighbours": float(around.places.shape[1])},
        detail={
            "share": Detail("attribute", _split(share[0], attributes)),
            "bias": Detail("attribute", _split(own[0], attributes)),
        },
    )


def _along_axis(around: Neighbourhood, direction: str) -> tuple[np.ndarray, np.ndarray]:
    """Cosines of words (1, m) and of nodes (1, u) with the groups' direction."""
    g = around.axis(direction)
    return (around.words @ g)[None], (around.nodes @ g)[None]


def _illicit(around: Neighbourhood, own: np.ndarray, nodes: np.ndarray, threshold: float) -> np.ndarray:
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


def _leaning(around: Neighbourhood, own: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Which neighbours lean to the first group: bool (m, k, samples)."""
    return np.ascontiguousarray(nodes.T > 0)[around.places]


def _shares(own: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """The share of each word's neighbours that have a mark: (samples, m), NaN for a word without a vector."""
    count = marks.shape[1] or np.nan
    return np.where(np.isfinite(own), marks.sum(axis=1).T / count, np.nan)


def _weights(around: Neighbourhood, illicit: np.ndarray, times: np.ndarray, legacy: bool) -> np.ndarray:
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


def _correlations(own: np.ndarray, share: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Pearson's r (samples,) of own (samples or 1, m) and share (samples, m) of words that stand in the samples
    `times` (samples or 1, m); NaN where one of them is the same for all, and of fewer than three words."""
    own, share = (x - weighted_mean(times, x)[:, None] for x in (own, share))
    products = [weighted_mean(times, x) for x in (own * share, own**2, share**2)]
    with np.errstate(divide="ignore", invalid="ignore"):
        r = products[0] / np.sqrt(products[1] * products[2])
    flat = (products[1] > FLAT**2) & (products[2] > FLAT**2) & ((times > 0).sum(axis=1) > 2)
    return np.where(flat, np.clip(r, -1.0, 1.0), np.nan)


def _split(values: np.ndarray, sets: Sequence[np.ndarray]) -> list[np.ndarray]:
    return np.split(values, np.cumsum([len(s) for s in sets])[:-1])


def _values(
    name: str,
    around: Neighbourhood,
    *,
    threshold: float = THRESHOLD,
    correlation: bool = False,
    legacy_weights: bool = False,
    **others: Any,
) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """(own, nodes, times) -> the metric's values (samples,), for cosines with directions (samples or 1, words
    or nodes) and how often each word stands in the sample (samples or 1, m)."""

    def values(own: np.ndarray, nodes: np.ndarray, times: np.ndarray) -> np.ndarray:
        samples = max(len(own), len(times))
        found = np.empty(samples)
        block = max(1, BLOCK // max(around.places.size, 1))
        for start in range(0, samples, block):
            part = slice(start, start + block)
            p, q, weights = (array[part] if len(array) > 1 else array for array in (own, nodes, times))
            marks = _leaning(around, p, q) if name == "pmn" else _illicit(around, p, q, threshold)
            shares = _shares(p, marks)
            if correlation:
                found[part] = _correlations(p, shares, weights)
                continue
            if name == "gipe":
                weights = weights * _weights(around, marks, weights, legacy_weights)
            with np.errstate(invalid="ignore"):
                found[part] = weighted_mean(weights, shares)
        return found

    return values


def _resampled(name: str) -> Callable:
    """`Metric.resampled`. The neighbours stay what they are: they are the model's, and no sample of words."""

    def resampled(
        words: np.ndarray,
        attributes: np.ndarray,
        *,
        around: Neighbourhood,
        direction: str = directions.PCA,
        **parameters: Any,
    ) -> Callable:
        along = directions.along(around.groups, direction)
        values = _values(name, around, **parameters)

        def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
            own, nodes = (cosines[:, 0] for cosines in along(targets, [around.words, around.nodes]))
            return values(own, nodes, sum(attribute_weights))

        return statistic

    return resampled


def _redrawn(name: str) -> Callable:
    """`Metric.redrawn`: the direction is that of random groups, the words and their neighbours are as they are."""

    def redrawn(
        pool: np.ndarray,
        places: Sequence[np.ndarray],
        attributes: Sequence[np.ndarray],
        *,
        around: Neighbourhood,
        direction: str = directions.PCA,
        **parameters: Any,
    ) -> np.ndarray:
        axes = directions.redrawn(around.groups, places, direction)[:, 0]
        return _along(name, around, axes, parameters)

    return redrawn


def _along(name: str, around: Neighbourhood, axes: np.ndarray, parameters: dict[str, Any]) -> np.ndarray:
    """The value (draws,) along each of the axes (draws, d)."""
    values, once = _values(name, around, **parameters), np.ones((1, len(around.words)))
    block = max(1, BLOCK // sum(around.nodes.shape))
    return np.concatenate(
        [
            values(part @ around.words.T, part @ around.nodes.T, once)
            for part in (axes[start : start + block] for start in range(0, len(axes), block))
        ]
    )


def _isotropic(name: str) -> Callable:
    """`Metric.isotropic`: the value on random directions, in the place of the groups'."""

    def isotropic(
        targets: list[np.ndarray], attributes: list[np.ndarray], *, around: Neighbourhood, **parameters: Any
    ) -> Callable[[np.random.Generator, int], np.ndarray]:
        def draw(rng: np.random.Generator, draws: int) -> np.ndarray:
            axes = unit(rng.standard_normal((draws, around.nodes.shape[1])))
            return _along(name, around, axes, parameters)

        return draw

    return isotropic


def _check(
    *,
    direction: str,
    neighbours: int,
    vocabulary: int,
    bias_of: str,
    threshold: float = THRESHOLD,
    correlation: bool = False,
    legacy_weights: bool = False,
    legacy_itself: bool = False,
) -> None:
    directions.check(direction)
    around.check(neighbours, vocabulary)
    if bias_of not in (UNTOUCHED, MEASURED):
        raise BiasgridError(f"bias_of: {unknown('value', bias_of, (UNTOUCHED, MEASURED))}")
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold < 1:
        raise BiasgridError(not_allowed("threshold", threshold, "numbers from 0 on, below 1"))
    for name, value in (
        ("correlation", correlation),
        ("legacy_weights", legacy_weights),
        ("legacy_itself", legacy_itself),
    ):
        if type(value) is not bool:
            raise BiasgridError(not_allowed(name, value, "true, false"))


def _variant(*, direction: str, correlation: bool = False, **others: Any) -> dict[str, Any]:
    of_words = {"range": (-1.0, 1.0), "neutral": 0.0} if correlation else {}
    return {"paired": direction in directions.PAIRED} | of_words


RAN = "Kumar, Bhotia, Kumar, Chakraborty. Nurse is closer to woman than surgeon? TACL 8, 2020"
METRICS = tuple(
    Metric(
        name=function.__name__,
        label=label,
        function=function,
        template=(2, "n"),
        range=(0.0, 1.0),
        neutral=neutral,
        reference=reference,
        paired=True,
        resampled=_resampled(function.__name__),
        redrawn=_redrawn(function.__name__),
        isotropic=_isotropic(function.__name__),
        no_test=NO_TEST,
        of_model=_around,
        variant=_variant,
        check=_check,
    )
    for function, label, neutral, reference in (
        (gipe, "GIPE", 0.0, RAN),
        (proximity, "Proximity", 0.0, RAN),
        (pmn, "PMN", 0.5, "Gonen, Goldberg. Lipstick on a pig. NAACL 2019, section 4"),
    )
)
