"""Thresholds of Schroeder et al. (2021), sections 3.1 and 5, for tables, claims and figures."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np

# Section 5.1: a model is included if R² of its unmasking bias and the injected share is above this.
GATE = 0.7
# Section 5.2.1, for R² of words: SAME recovers a bias if its R² is at least SEEN. Direct Bias is as good if its R²
# differs by less than ALIKE, and worse if it is lower by more than WORSE.
SEEN, ALIKE, WORSE = 0.6, 0.25, 0.4
# Section 3.1, the example: an effect size near 0 is below NEAR_0. Words are biased if their mean distance from one
# half is above BIASED.
NEAR_0, BIASED = 0.1, 0.1
# Numbers of words and sets of the example.
WORDS, SETS = 6, 2
DRAWS, SEED = 20_000, 2021


@cache
def near_0_by_chance() -> float:
    """Simulate how often the smallest of the example's ten effect sizes is below `NEAR_0` by chance.

    The six scores are independent and normal, as for vectors without information about the words. The draws have a
    fixed seed.
    """
    scores = np.random.default_rng(SEED).normal(size=(DRAWS, WORDS))
    scores = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True)
    size = WORDS // SETS
    # The scores sum to 0, so the mean of the other set is the negative mean of the first.
    ways = [(0, *pair) for pair in combinations(range(1, WORDS), size - 1)]
    sizes = np.abs([2 * scores[:, way].mean(axis=1) for way in ways])
    return float((sizes.min(axis=0) < NEAR_0).mean())
