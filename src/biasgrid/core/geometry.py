"""Vector arithmetic that several metrics share, in float64."""

import math
from collections.abc import Callable

import numpy as np

# Shorter differences of unit vectors are rounding noise, in absolute terms or relative to the longest difference.
FLAT = 1e-7
# Numbers that are in memory at a time: 8 MB of float64.
BLOCK = 2**20


def in_blocks(
    value: Callable[..., np.ndarray], width: int, *arrays: np.ndarray, size: int = BLOCK
) -> np.ndarray:
    """Compute `value` (samples, ...) in blocks of samples, so that only `size` numbers are in memory at a time.

    The arrays have a row for each sample, or one row for all. A sample needs `width` numbers.
    """
    rows = max(1, size // max(width, 1))
    starts = range(0, max(1, *map(len, arrays)), rows)
    parts = ([a[start : start + rows] if len(a) > 1 else a for a in arrays] for start in starts)
    return np.concatenate([value(*part) for part in parts])


def unit(vectors: np.ndarray) -> np.ndarray:
    """Divide rows by their Euclidean norm; a zero row, which has no direction, becomes NaN."""
    if vectors.dtype.kind != "f":
        vectors = vectors.astype(np.float64)
    # np.linalg.norm computes the same, but takes twice as long for few words.
    norms = np.sqrt(np.add.reduce(vectors * vectors, axis=-1, keepdims=True))
    return vectors / np.where(norms > 0, norms, np.nan)


def unit_or_zero(vectors: np.ndarray, norms: np.ndarray | None = None) -> np.ndarray:
    """Scale rows to unit length, as debias methods do with a whole model; a zero row stays zero.

    A row of unit length (within 1e-6, the precision of float32) is returned unchanged to the last bit. `norms` are
    the rows' `lengths`, if they are known.
    """
    norms = lengths(vectors) if norms is None else norms
    return vectors / np.where((norms == 0) | (np.abs(norms - 1) < 1e-6), 1, norms)


def lengths(vectors: np.ndarray) -> np.ndarray:
    """Return the lengths of rows, (n, 1): of float32 in one pass, otherwise as NumPy rounds norms."""
    if vectors.dtype == np.float32:
        return np.sqrt(np.vecdot(vectors, vectors))[..., None]
    return np.linalg.norm(vectors, axis=-1, keepdims=True)


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the cosine of every row of `a` (n, d) with every row of `b` (m, d): (n, m), within [-1, 1]."""
    return np.clip(unit(a) @ unit(b).T, -1.0, 1.0)


def mean_cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the mean cosine of every row of `a` (n, d) with the rows of `b` (m, d): (n,), within [-1, 1].

    It is the product with the mean of unit vectors, so that the single cosines are not in memory.
    """
    return np.clip(unit(a) @ unit(b).mean(axis=0), -1.0, 1.0)


def weighted_products(a: np.ndarray, b: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function of weights (samples, n) that computes `weights @ a @ b.T`, (samples, m).

    It keeps the inner products of `a` (n, d) and `b` (m, d) if they are fewer numbers than the vectors, and
    otherwise the vectors. A sample takes as many multiplications as numbers are kept.
    """
    if len(a) * len(b) > a.size + b.size:
        return lambda weights: weights @ a @ b.T
    products = a @ b.T
    return lambda weights: weights @ products


def mean_products(a: np.ndarray, b: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function of weights (samples, n) that computes `mean_of_rows(weights, a @ b.T)`, (samples, m).

    It keeps what `weighted_products` keeps.
    """
    products = weighted_products(a, b)
    return lambda weights: products(weights) / weights.sum(axis=1, keepdims=True)


def weighted_sum(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return, for each sample, the weighted sum of values: (samples,).

    Both arrays are (samples, n), or (1, n) for all samples.
    """
    if len(values) == 1:
        return weights @ values[0]
    return values @ weights[0] if len(weights) == 1 else np.vecdot(weights, values)


def weighted_mean(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the `weighted_sum`, divided by the sum of a row's weights."""
    return weighted_sum(weights, values) / weights.sum(axis=1)


def mean_of_rows(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the mean of the rows of `values` (n, k), weighted (samples, n): (samples, k)."""
    return weights @ values / weights.sum(axis=1, keepdims=True)


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the Euclidean distance of every row of `a` (n, d) to every row of `b` (m, d): (n, m)."""
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)
    squared_distances = squares - 2 * (a @ b.T)
    # The distance of a row to itself is 0, without rounding errors.
    return np.sqrt(np.where(squared_distances < 1e-14 * squares, 0.0, squared_distances))


def means_of_groups(pool: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the means (draws, d) of groups (draws, words) of the rows of `pool` (n, d)."""
    return in_blocks(lambda part: pool[part].mean(axis=1), places.shape[1] * pool.shape[1], places)


def projections(differences: np.ndarray, group_cosines: np.ndarray, word_cosines: np.ndarray) -> np.ndarray:
    """Return the lengths (samples, words) of words' projections on the span of differences of means.

    They are computed without a vector in the span. `differences` are weights (samples, differences, n) of n
    unit vectors. `group_cosines` (n, n) are these vectors' cosines with each other, and `word_cosines` (n,
    words) their cosines with the words. NaN if all differences of a sample are zero.
    """
    products = differences @ word_cosines
    if differences.shape[1] == 1:
        squares = np.vecdot(differences[:, 0] @ group_cosines, differences[:, 0])
        length = np.sqrt(np.maximum(squares, 0.0))
        return np.abs(products[:, 0]) / np.where(length > FLAT, length, np.nan)[:, None]
    gram = differences @ group_cosines @ differences.swapaxes(1, 2)
    longest = np.sqrt(np.diagonal(gram, axis1=1, axis2=2).max(axis=1).clip(min=0))
    # Cosines of up to 1 determine the rounding error, however short the differences are.
    flat = (FLAT / longest.clip(FLAT, 1.0)) ** 2
    inverse = np.linalg.pinv(gram, rcond=flat, hermitian=True)
    squares = np.einsum("sgw,sgh,shw->sw", products, inverse, products, optimize=True)
    return np.sqrt(squares.clip(min=0)) / np.where(longest > FLAT, 1.0, np.nan)[:, None]


def effect_size_range(first: int, second: int, *, ddof: int) -> tuple[float, float]:
    """Return the range of a difference of two means divided by the standard deviation of all values.

    `first` and `second` are the numbers of values. The ends are reached if all values of the first group are
    equal, and all values of the second group are equal.
    """
    size = first + second
    end = math.sqrt(size * (size - ddof) / (first * second))
    return -end, end
