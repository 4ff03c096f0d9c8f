"""The nearest neighbours of words in a model's vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from ..core.geometry import unit
from ..models.cache_per_model import remember
from ..models.model import Model

BLOCK = 8192  # rows of the vocabulary that are in memory at a time
VOCABULARY = 50_000


def nearest(
    model: Model, words: Sequence[str], count: int, vocabulary: int = VOCABULARY
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Find the `count` nearest neighbours, by cosine, of words among the first `vocabulary` rows of a model.

    A word is not its own neighbour, and a vector of zeros is nobody's neighbour. Among equally near neighbours, the
    first in the model comes first. The result is the same for any number of cores.

    Returns
    -------
    places : array, (words, `count` or fewer)
        Indices of each word's neighbours in `entries`, nearest first.
    entries : list of str
        The vocabulary entries that were searched.
    rows : array of int64
        The entries' rows in the store.
    """
    return _nearest(model, tuple(words), count, vocabulary)


# Metrics of neighbours, and their tests, request the neighbours of the same words one after the other.
@remember(4)
def _nearest(
    model: Model, words: tuple[str, ...], count: int, vocabulary: int
) -> tuple[np.ndarray, list[str], np.ndarray]:
    entries, rows = model.vocabulary(vocabulary)
    word_rows = model.rows(words)
    # BLAS rounds differently with several threads.
    with threadpool_limits(1):
        word_vectors = unit(model.take(words, word_rows)).astype(np.float32)
        # This is one more than any word may have if not all words are in the vocabulary.
        count = min(count, len(rows) - 1)
        cosines = np.full((len(words), count), -np.inf, dtype=np.float32)
        places = np.zeros((len(words), count), dtype=np.int64)
        for start in range(0, len(rows) if count > 0 else 0, BLOCK):
            part = slice(start, start + BLOCK)
            vectors = model.matrix(entries[part], rows[part])
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            with np.errstate(invalid="ignore"):
                block_cosines = word_vectors @ (vectors / np.where(lengths > 0, lengths, np.nan)).T
            block_cosines[np.isnan(block_cosines) | (word_rows[:, None] == rows[part])] = -np.inf
            # Take strictly nearer words only: among equally near ones, the first stays.
            for word, is_nearer in enumerate(block_cosines > cosines[:, -1:]):
                new = np.flatnonzero(is_nearer)
                if len(new) > count:
                    threshold = np.partition(block_cosines[word, new], -count)[-count]
                    new = new[block_cosines[word, new] >= threshold]
                if len(new):
                    values = np.concatenate([cosines[word], block_cosines[word, new]])
                    order = np.argsort(-values, kind="stable")[:count]
                    cosines[word] = values[order]
                    places[word] = np.concatenate([places[word], new + start])[order]
    # Vectors of zeros are nobody's neighbours, and words with such a vector lack neighbours: ignore their places.
    has_vector = np.isfinite(word_vectors).all(axis=1)
    fewest = int((cosines[has_vector] > -np.inf).sum(axis=1).min(initial=count))
    return places[:, :fewest], entries, rows
