"""GloVe (Pennington, Socher and Manning 2014): word vectors from the co-occurrence of words.

X_ij is how often word j is near word i. It grows by 1/k each time that there are k - 1 words between them.
Pairs count up to a distance of `window`, on both sides, within a sentence (section 4.2). The training
minimises (equations 8 and 9)

    J = sum of f(X_ij) (w_i . c_j + b_i + d_j - log X_ij)^2 over all X_ij > 0
    f(x) = min(1, (x / x_max)^alpha)

over the vectors w of words, the vectors c of context words, and their biases b and d, by AdaGrad (Duchi et
al. 2011). AdaGrad divides each coordinate's steps by the root of the sum of its squared gradients. The paper
makes one step per pair. Here a step uses a batch of pairs, drawn once for all epochs, because sums over a
batch are products of sparse and dense matrices. A word's vector is w + c (section 4.2).

SciPy adds the numbers in one thread and in one order, so the same seed gives the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasgrid.core.errors import BiasgridError

from ..parameters import COUNT, LARGEST, SEED, Parameters
from ..vectors import Trained, algorithm_of_vectors

if TYPE_CHECKING:
    from scipy import sparse

VERSION = 1  # raise this number if a change of this module changes vectors
BATCHES = 64  # batches of pairs per epoch
TOKENS = 1 << 22  # tokens whose pairs are in memory at a time

PARAMETERS: Parameters = {
    "vector_size": COUNT,
    "window": COUNT,
    "min_count": COUNT,
    "epochs": COUNT,
    "seed": SEED,
    "x_max": (float, 0.001, LARGEST),
    "alpha": (float, 0, 10),
    "learning_rate": (float, 0, 10),
}


def vocabulary(sentences: Iterable[list[str]], min_count: int) -> tuple[list[str], NDArray[np.int64], int]:
    """Count words; return the words, their counts and the number of all tokens.

    The words occur at least `min_count` times; they are sorted by falling frequency and then alphabetically.
    The counts are int64 (words,).
    """
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence)
    words = sorted((w for w, n in counts.items() if n >= min_count), key=lambda w: (-counts[w], w))
    return words, np.array([counts[word] for word in words], dtype=np.int64), counts.total()


def cooccurrences(
    sentences: Iterable[list[str]], words: list[str], window: int, *, distance_weights: bool = True
) -> sparse.csr_array:
    """Compute how often words are near each other: X as defined above, float64 (words, words), symmetric.

    Tokens that are not among the words are left out first, as in word2vec. Without `distance_weights` each
    pair counts 1, at any distance.
    """
    from scipy import sparse  # import late, because a study's plan trains nothing

    shape = len(words), len(words)
    total = sparse.csr_array(shape)
    for ids in _blocks(sentences, words, window):
        for distance in range(1, window + 1):
            first, second = ids[:-distance], ids[distance:]
            is_pair = (first >= 0) & (second >= 0)
            weights = np.full(np.count_nonzero(is_pair), 1 / distance if distance_weights else 1.0)
            total = (
                total + sparse.coo_array((weights, (first[is_pair], second[is_pair])), shape=shape).tocsr()
            )
    return (total + total.T).tocsr()


def _blocks(sentences: Iterable[list[str]], words: list[str], window: int) -> Iterator[NDArray[np.int32]]:
    """Yield the numbers of the words in whole sentences, each sentence followed by `window` times -1."""
    row = {word: place for place, word in enumerate(words)}
    iterator = iter(sentences)
    while True:
        ids: list[int] = []
        for sentence in iterator:
            ids += [row[word] for word in sentence if word in row]
            ids += [-1] * window
            if len(ids) >= TOKENS:
                break
        if not ids:
            return
        yield np.array(ids, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of words with X_ij > 0, in the order of words.

    Attributes
    ----------
    rows, columns
        The words i and j, int32 (pairs,).
    starts
        The index at which the pairs of each word i begin, int32 (words + 1,).
    logs, weights
        log X_ij and f(X_ij), float (pairs,).
    """

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    starts: NDArray[np.int32]
    logs: NDArray[np.floating]
    weights: NDArray[np.floating]

    @classmethod
    def from_matrix(
        cls, matrix: sparse.csr_array, x_max: float, alpha: float, dtype: type[np.floating] = np.float64
    ) -> Pairs:
        """Return all pairs of X."""
        entries = matrix.tocoo()
        logs = np.log(entries.data).astype(dtype)
        weights = np.minimum(1, (entries.data / x_max) ** alpha).astype(dtype)
        rows, columns = entries.coords
        return cls._from_arrays(matrix.shape[0], rows, columns, logs, weights)

    @classmethod
    def _from_arrays(cls, words: int, rows, columns, logs, weights) -> Pairs:
        starts = np.searchsorted(rows, np.arange(words + 1)).astype(np.int32)
        return cls(rows.astype(np.int32), columns.astype(np.int32), starts, logs, weights)

    def split(self, parts: int, rng: np.random.Generator) -> list[Pairs]:
        """Divide the pairs at random into `parts` parts."""
        part_of_pair = rng.integers(parts, size=len(self.rows))
        words = len(self.starts) - 1
        places = (np.flatnonzero(part_of_pair == part) for part in range(parts))
        arrays = self.rows, self.columns, self.logs, self.weights
        return [self._from_arrays(words, *(array[indices] for array in arrays)) for indices in places]

    def errors(self, main: NDArray, context: NDArray) -> NDArray:
        """Compute w_i . c_j + b_i + d_j - log X_ij for each pair."""
        return np.einsum("ij,ij->i", main[self.rows], context[self.columns]) - self.logs


def objective(main: NDArray, context: NDArray, pairs: Pairs) -> float:
    """Compute J, equation 8.

    Parameters
    ----------
    main
        (words, dimensions + 2): w, b and a one.
    context
        (words, dimensions + 2): c, a one and d, so that a product of two rows is w . c + b + d.
    pairs
        The pairs of X.
    """
    return float(pairs.weights @ pairs.errors(main, context) ** 2)


def gradient(main: NDArray, context: NDArray, pairs: Pairs) -> tuple[NDArray, NDArray]:
    """Compute the derivatives of `objective` with respect to `main` and `context`; 0 for their constant ones."""
    from scipy import sparse

    weighted_errors = 2 * pairs.weights * pairs.errors(main, context)
    shape = len(main), len(context)
    matrix = sparse.csr_array((weighted_errors, pairs.columns, pairs.starts), shape=shape)
    main_gradient, context_gradient = matrix @ context, matrix.T @ main
    main_gradient[:, -1] = 0
    context_gradient[:, -2] = 0
    return main_gradient, context_gradient


def start(words: int, dimensions: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Draw `main` and `context` for the first step: uniform between -0.5 and 0.5, divided by the dimensions."""
    main, context = ((rng.random((words, dimensions + 2)) - 0.5) / dimensions for _ in range(2))
    main[:, -1] = context[:, -2] = 1
    return main, context


def fit(
    matrix: sparse.csr_array,
    *,
    vector_size: int,
    epochs: int,
    learning_rate: float,
    x_max: float,
    alpha: float,
    seed: int,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Fit `main` and `context` (see `objective`) to X; return them as float32 (words, dimensions + 2)."""
    rng = np.random.default_rng(seed)
    batches = Pairs.from_matrix(matrix, x_max, alpha, np.float32).split(BATCHES, rng)
    main, context = (array.astype(np.float32) for array in start(matrix.shape[0], vector_size, rng))
    arrays = main, context
    # Squares start at 1, so that the first step is not larger than the gradient.
    squares = [np.ones_like(array) for array in arrays]
    for _ in range(epochs):
        for place in rng.permutation(BATCHES):
            for array, square, step in zip(arrays, squares, gradient(*arrays, batches[place]), strict=True):
                square += step * step
                step /= np.sqrt(square)
                step *= learning_rate
                array -= step
    return arrays


def vectors(main: NDArray, context: NDArray) -> NDArray:
    """Return the words' vectors, w + c: (words, dimensions)."""
    return main[:, :-2] + context[:, :-2]


def train(
    sentences: Iterable[list[str]],
    where: Path | str,
    *,
    vector_size: int = 100,
    window: int = 10,
    min_count: int = 5,
    epochs: int = 25,
    learning_rate: float = 0.2,
    x_max: float = 100,
    alpha: float = 0.75,
    seed: int = 1,
) -> Trained:
    """Train GloVe. The defaults of `window`, `x_max` and `alpha` are the
    paper's. The paper makes one step per pair, this function one per batch: so the learning rate, .05 in the
    paper, is larger, and there are fewer epochs.

    Raise BiasgridError, with the corpus named `where`, if no word occurs `min_count` times.
    """
    words, counts, tokens = vocabulary(sentences, min_count)
    if not words:
        raise BiasgridError(f"{where}: no word occurs {min_count} times (min_count)")
    main, context = fit(
        cooccurrences(sentences, words, window),
        vector_size=vector_size,
        epochs=epochs,
        learning_rate=learning_rate,
        x_max=x_max,
        alpha=alpha,
        seed=seed,
    )
    return Trained(words, vectors(main, context), counts, {"tokens": tokens})


ALGORITHMS = (
    algorithm_of_vectors(
        "glove",
        "GloVe: vectors whose products are the logarithms of co-occurrences.",
        PARAMETERS,
        train,
        lambda: f"glove version {VERSION}",
    ),
)
