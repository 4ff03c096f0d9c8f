"""Positive pointwise mutual information, reduced by an SVD (Levy, Goldberg, Dagan 2015): a count-based method.

X_ij is how many times word j occurs at most `window` words from word i, on either side and within a sentence.
n_i is the sum of row i, and T the sum of all rows (section 2.2, equation 3, and 3.2). Then

    PPMI_ij = max(0, log((X_ij / T) / (n_i / T) / P(j)) - log k)
    P(j) = n_j^alpha / sum of n_c^alpha over all c

A word's vector is its row of U S^eig, where U S V' are the largest singular values of PPMI and their vectors
(section 3.3). The paper recommends alpha = .75, k = 1 with an SVD, and eig below 1 ("do not use SVD
correctly": .5 or 0, section 7.1).

Nothing is drawn at random. ARPACK always starts from the same vector, and the sign of each dimension is
chosen so that its largest entry is positive.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasgrid.core.errors import BiasgridError

from ..parameters import COUNT, LARGEST, Parameters
from ..vectors import Trained, algorithm_of_vectors
from .glove import cooccurrences, vocabulary

if TYPE_CHECKING:
    from scipy import sparse

VERSION = 1  # raise this number if a change of this module changes vectors

PARAMETERS: Parameters = {
    "vector_size": COUNT,
    "window": COUNT,
    "min_count": COUNT,
    "alpha": (float, 0, 1),
    "shift": (float, 1, LARGEST),
    "eig": (float, 0, 1),
}


def positive_pmi(matrix: sparse.csr_array, *, alpha: float = 0.75, shift: float = 1) -> sparse.csr_array:
    """Compute PPMI of X, float64 (words, words).

    Parameters
    ----------
    matrix
        X, without negative entries.
    alpha
        The power of a context's count: 1 is PMI; below 1, rare contexts weigh less.
    shift
        k, whose logarithm is subtracted: 1 is PPMI.
    """
    from scipy import sparse  # import late, because a study's plan trains nothing

    entries = matrix.tocoo()
    rows, columns = entries.coords
    word_counts, context_weights = matrix.sum(axis=1), matrix.sum(axis=0) ** alpha
    with np.errstate(divide="ignore"):  # a word may not co-occur with any other
        logs = (
            np.log(entries.data)
            - np.log(word_counts)[rows]
            - np.log(context_weights / context_weights.sum())[columns]
        )
    values = np.maximum(0, logs - np.log(shift))
    pmi = sparse.coo_array((values, (rows, columns)), shape=matrix.shape).tocsr()
    pmi.eliminate_zeros()
    return pmi


def vectors(matrix: sparse.csr_array, dimensions: int, eig: float = 0.5) -> NDArray[np.float64]:
    """Compute U S^eig of a matrix: (words, dimensions), the largest singular value first; zeros for zero
    ones."""
    from scipy.sparse.linalg import svds

    start = np.random.default_rng(0).random(matrix.shape[0])
    left_vectors, values, _ = svds(matrix, dimensions, v0=start, return_singular_vectors="u")
    order = np.argsort(-values, kind="stable")
    left_vectors, values = left_vectors[:, order], values[order]
    nonzero = values > 1e-9 * max(values[0], 1e-300)  # smaller values are rounding errors of 0
    left_vectors = left_vectors * np.sign(
        left_vectors[np.abs(left_vectors).argmax(axis=0), np.arange(dimensions)]
    )
    return np.where(nonzero, left_vectors * np.where(nonzero, values, 1) ** eig, 0)


def train(
    sentences: Iterable[list[str]],
    where: Path | str,
    *,
    vector_size: int = 100,
    window: int = 5,
    min_count: int = 5,
    alpha: float = 0.75,
    shift: float = 1,
    eig: float = 0.5,
) -> Trained:
    """Train PPMI vectors.

    Raises
    ------
    BiasgridError
        At most `vector_size` words occur `min_count` times, or no two of them co-occur more often than by
        chance. The message names the corpus `where`.
    """
    words, counts, tokens = vocabulary(sentences, min_count)
    if len(words) <= vector_size:
        raise BiasgridError(
            f"{where}: {len(words)} words occur {min_count} times (min_count): too few for {vector_size} dimensions "
            "(vector_size), of which there must be fewer than words"
        )
    matrix = cooccurrences(sentences, words, window, distance_weights=False)
    association = positive_pmi(matrix, alpha=alpha, shift=shift)
    if not association.nnz:
        raise BiasgridError(
            f"{where}: no two words stand together more often than by chance (shift: {shift})"
        )
    reduced = vectors(association, vector_size, eig).astype(np.float32)
    return Trained(words, reduced, counts, {"tokens": tokens})


ALGORITHMS = (
    algorithm_of_vectors(
        "ppmi",
        "Positive pointwise mutual information, reduced by an SVD.",
        PARAMETERS,
        train,
        lambda: f"ppmi version {VERSION}",
    ),
)
