"""Apply a transform to a whole model in memory, in float32: the fast way."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits

from ..errors import BiasgridError
from ..geometry import unit_or_zero
from .transform import Transform

BLOCK = 3 << 18  # numbers: with smaller blocks threads wait for the interpreter, larger ones leave the cache
# float32 has 24 bits: a difference that is less than this share of its terms is computed in float64
CANCELLED = 0.3


def apply_to(vectors: np.ndarray, words: Sequence[str], transform: Transform) -> None:
    """Change `vectors` (n, d) float32 in place; row i is that of words[i]. For a gensim model: apply_to(kv.vectors,
    kv.index_to_key, transform).

    Each block of rows is read once and written once, on all cores. The words that the transform names (left alone,
    the only ones mapped, with a vector of their own) get what `Transform.apply` gives, rounded to float32. All others
    are computed in float32: what rounding does to them is within 2e-6 of their length, and of that of their vector
    before where nothing is scaled. `materialize` computes everything in float64. The number of cores changes nothing.

    Raises BiasgridError for vectors that are not float32, of other dimensions, or not one for each word.
    """
    if vectors.dtype != np.float32 or vectors.shape != (len(words), transform.dimensions):
        raise BiasgridError(
            f"vectors: {vectors.dtype} {vectors.shape} is not allowed; allowed is float32 of the shape "
            f"{(len(words), transform.dimensions)}, words by dimensions of the transform"
        )
    named_words = transform.leave if transform.only is None else transform.only
    named_words = frozenset([*named_words, *transform.override_words])
    places = np.flatnonzero(np.fromiter(map(named_words.__contains__, words), bool, len(words)))
    step = _step(transform)
    block = max(1, BLOCK // transform.dimensions)
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    def work(worker: int) -> None:
        scratch = np.empty((block, transform.dimensions), dtype=np.float32)
        for start in range(worker * block, len(vectors), workers * block):
            part = vectors[start : start + block]
            rows = places[slice(*np.searchsorted(places, (start, start + block)))]
            exact = transform.apply(vectors[rows], [words[place] for place in rows]) if len(rows) else 0
            step(part, scratch[: len(part)])
            vectors[rows] = exact

    with threadpool_limits(1, "blas"), ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))


def _step(transform: Transform) -> Callable[[np.ndarray, np.ndarray], None]:
    """What is done to words that the transform does not name: a function of a block and scratch of its shape."""
    if transform.only is not None:
        return _normalize if transform.normalize else lambda x, scratch: None
    left = None if transform.left is None else _float32(transform.left.T)
    right, matrix, shift = map(_float32, (transform.right, transform.matrix, transform.shift))
    normalize, renormalize = transform.normalize, transform.renormalize
    # without a shift the map of unit(x) has the direction of the map of x
    scale = normalize and (shift is not None or not renormalize)
    reach = 1 if right is None else np.linalg.norm(right, 2)

    # rows that overflow or divide by 0 in float32 are computed in float64
    @np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore")
    def step(x: np.ndarray, output: np.ndarray) -> None:
        if matrix is not None:
            np.matmul(x, matrix, out=output)
        elif left is not None:
            coefficients = np.vecdot(x[:, None], left)
            (np.multiply if len(left) == 1 else np.matmul)(coefficients, right, out=output)
            np.subtract(x, output, out=output)
        else:
            output[:] = x
        doubtful = np.zeros(len(x), dtype=bool)
        # the length of the terms that may have cancelled out
        terms = reach * _lengths(x if left is None else coefficients) if renormalize else 0
        if scale:
            lengths = _lengths(x)
            doubtful |= _is_out_of_range(lengths, 0)
            output /= lengths[:, None]
            terms /= lengths
        if shift is not None:
            output += shift
            terms += _lengths(shift)
        if renormalize:
            lengths = _lengths(output)
            doubtful |= _is_out_of_range(lengths, CANCELLED * terms)
        doubtful = np.flatnonzero(doubtful)
        exact = x[doubtful].astype(np.float64)
        if renormalize:
            np.divide(output, lengths[:, None], out=x)
        else:
            x[:] = output
        x[doubtful] = transform.map(unit_or_zero(exact) if normalize else exact)

    return step


def _is_out_of_range(lengths: np.ndarray, minimum: np.ndarray | float) -> np.ndarray:
    """Which lengths are too small, or have a square that float32 cannot hold."""
    return ~((lengths > minimum) & (lengths > 1e-15) & (lengths < 1e15))


def _normalize(x: np.ndarray, scratch: np.ndarray) -> None:
    x[:] = unit_or_zero(x.astype(np.float64))


def _lengths(x: np.ndarray) -> np.ndarray:
    return np.sqrt(np.vecdot(x, x))


def _float32(array: np.ndarray | None) -> np.ndarray | None:
    return None if array is None else np.ascontiguousarray(array, dtype=np.float32)
