"""A model of bare vectors, and bootstrap resamples of its words, for tests of statistics."""

from __future__ import annotations

import numpy as np


def pooled(counts):
    """The sets' weights, over the words of all sets of a side, from counts (samples, words) of each set."""
    ends = np.cumsum([c.shape[1] for c in counts])
    weights = [np.zeros((len(c), ends[-1])) for c in counts]
    for weight, c, end in zip(weights, counts, ends, strict=True):
        weight[:, end - c.shape[1] : end] = c
    return weights


def drawn(rng, size, samples):
    """Counts of bootstrap samples; in the first the last word is all there is, in the second each stands once."""
    counts = rng.multinomial(size, np.full(size, 1 / size), size=samples)
    counts[0], counts[1] = 0, 1
    counts[0, -1] = size
    return counts


class Vectors:
    """A model whose words are the numbers of its vectors."""

    vocab_prefix = ""

    def __init__(self, sets):
        self.vectors = np.concatenate(sets)

    def rows(self, keys):
        return np.array([int(key) for key in keys])

    def take(self, keys, rows):
        return self.vectors[rows]
