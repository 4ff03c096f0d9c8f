"""Thresholds of Schroeder et al. (2021), sections 3.1 and 5, for tables, claims and figures."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np

# section 5.1: a model is judged where R² of its unmasking bias and the planted share is above this
GATE = 0.7
# section 5.2.1, of words' R²: SAME sees a bias from SEEN on; Direct Bias is as good where it is less than ALIKE below
# or above, and worse where it is more than WORSE below
SEEN, ALIKE, WORSE = 0.6, 0.25, 0.4
# section 3.1, the example: an effect size near 0 is below the first, and words are biased above the second (the mean
# distance from one half)
NEAR_0, BIASED = 0.1, 0.1
# the example has as many words, and sets
WORDS, SETS = 6, 2
DRAWS, SEED = 20_000, 2021


@cache
def near_0_by_chance() -> float:
    """The share of draws of six independent normal scores in which the smallest size of the ten effect sizes is below
    `NEAR_0`: what the example's share is where vectors know nothing of the words. Seeded."""
    scores = np.random.default_rng(SEED).normal(size=(DRAWS, WORDS))
    scores = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True)
    size = WORDS // SETS
    # the scores sum to 0: the other set's mean is the first one's with the other sign
    ways = [(0, *pair) for pair in combinations(range(1, WORDS), size - 1)]
    sizes = np.abs([2 * scores[:, way].mean(axis=1) for way in ways])
    return float((sizes.min(axis=0) < NEAR_0).mean())
