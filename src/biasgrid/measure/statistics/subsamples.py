"""Variation of an effect size and its test over random subsets of the words, drawn like word sets of one size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Limit the numbers in memory at a time.
BLOCK = 2**22


@dataclass(frozen=True)
class Subsamples:
    """Random subsets of two sets of words.

    Attributes
    ----------
    values
        Effect size of each pair of subsets (draws,); NaN if all words are equal.
    p_values
        p-values of its permutation test (draws,), one-sided: as large or larger.
    """

    values: np.ndarray
    p_values: np.ndarray


def subsample_effect_size(
    first: np.ndarray | Sequence[float],
    second: np.ndarray | Sequence[float],
    words: int,
    draws: int = 1000,
    permutations: int = 999,
    ddof: int = 0,
    seed: int = 0,
) -> Subsamples:
    """Compute effect sizes, and p-values, of random subsets of equal size from two sets.

    Parameters
    ----------
    first, second
        Associations of the words of either set, (n,) and (m,).
    words
        Number of words drawn from each set, without replacement; at most the size of the smaller set.
    draws
        Number of pairs of subsets.
    permutations
        Number of permutations of each test. p is (k + 1) / (permutations + 1), where k counts the random divisions
        of the words of both subsets whose effect size is as large.
    ddof
        Divisor of the standard deviation over the words of both subsets: their number minus `ddof`.
    seed
        Seed of subsets and permutations.

    Returns
    -------
    Subsamples
        Effect sizes and one-sided p-values.
    """
    rng = np.random.default_rng(seed)
    subsets = [np.asarray(x)[rng.random((draws, len(x))).argsort(axis=1)[:, :words]] for x in (first, second)]
    union = np.concatenate(subsets, axis=1)
    spread = union.std(axis=1, ddof=ddof)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (subsets[0].mean(axis=1) - subsets[1].mean(axis=1)) / spread
    # Within one union of words, the sum of the first subset orders divisions like the effect size.
    observed = subsets[0].sum(axis=1)
    tolerance = 1e-12 * np.abs(union).sum(axis=1)
    p_values = np.empty(draws)
    block = max(1, BLOCK // (permutations * 2 * words))
    for start in range(0, draws, block):
        part = union[start : start + block, None]
        order = rng.random((len(part), permutations, 2 * words)).argpartition(words - 1, axis=2)[..., :words]
        sums = np.take_along_axis(part, order, axis=2).sum(axis=2)
        stop = start + len(part)
        large = sums >= (observed - tolerance)[start:stop, None]
        p_values[start:stop] = (large.sum(axis=1) + 1) / (permutations + 1)
    return Subsamples(np.where(spread > 0, values, np.nan), np.where(spread > 0, p_values, np.nan))
