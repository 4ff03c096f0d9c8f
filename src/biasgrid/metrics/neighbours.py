"""The nearest neighbours of words in a model's vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from ..embeddings.model import Model
from ..embeddings.remember import remember
from ..geometry import unit

BLOCK = 8192  # rows of the vocabulary that are in memory at a time
VOCABULARY = 50_000


def nearest(
    model: Model, words: Sequence[str], count: int, vocabulary: int = VOCABULARY
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """The `count` nearest neighbours, by cosine, of vocabulary entries among the first `vocabulary` rows of
    the model.

    Returns places (words, count or as many as there are), nearest first; the entries that they are places in;
    and those entries' rows in the store (int64). A word is not its own neighbour, nor is a vector of zeros
    anybody's. Of equally near ones the first in the model comes first. The same for any number of cores.
    """
    return _nearest(model, tuple(words), count, vocabulary)


# metrics of neighbours, and their tests, ask for those of the same words one after the other
@remember(4)
def _nearest(
    model: Model, words: tuple[str, ...], count: int, vocabulary: int
) -> tuple[np.ndarray, list[str], np.ndarray]:
    entries, rows = model.vocabulary(vocabulary)
    word_rows = model.rows(words)
    # BLAS of several threads rounds otherwise
    with threadpool_limits(1):
        word_vectors = unit(model.take(words, word_rows)).astype(np.float32)
        # one more than any word may have, where not all of them are in the vocabulary
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
            # strictly nearer than the last of those that were found: of equally near ones the first stays
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
    # vectors of zeros are nobody's neighbours, and a word that has one has none: its places mean nothing
    has_vector = np.isfinite(word_vectors).all(axis=1)
    fewest = int((cosines[has_vector] > -np.inf).sum(axis=1).min(initial=count))
    return places[:, :fewest], entries, rows
