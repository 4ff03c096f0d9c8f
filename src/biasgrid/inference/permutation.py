"""Permutation tests: how often do words that are dealt out to the sets at random score as high?

The null hypothesis is that it does not matter which set a word is in. A permutation deals all words out to sets of
the sizes that the sets have; no word is drawn twice. Of pairs, the null hypothesis is that it does not matter which
of its two words comes first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, combinations
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtr

from ..errors import BiasgridError, not_allowed, unknown_name

ALTERNATIVES = ("greater", "less", "two-sided")
# labels of permutations that are in memory at a time: 1 MB, of which a metric makes arrays of 8 MB of float64
BLOCK = 2**20
# bars of a histogram
BARS = 40


@dataclass(frozen=True)
class Permutation:
    """The outcome of a permutation test.

    p_value      share of permutations that are at least as extreme as the observed one, which counts as one of them:
                 never 0. NaN where the observed value, or a permutation's, is
    p_low        ends of the 95 % interval (Clopper & Pearson 1934) of the p-value that all permutations would give,
    p_high       from those that were drawn; of an exact test both are p_value
    p_normal     the tail beyond the observed value of a normal distribution that has the mean and the standard
                 deviation of the permutations' values; NaN where all permutations have one value
    p_lowest     the smallest p_value that this test can give
    method       "exact": of all permutations, each once; "monte_carlo": of permutations drawn independently at
                 random; "drawn": of values of another null hypothesis, which are no permutations
    partitions   how many there are; None where none are
    draws        how many values were computed
    observed     the statistic of the words as they are
    null_distribution  the statistic of every permutation (draws,)
    """

    p_value: float
    p_low: float
    p_high: float
    p_normal: float
    p_lowest: float
    alternative: str
    method: str
    partitions: int | None
    draws: int
    observed: float
    null_distribution: np.ndarray = field(repr=False, compare=False)

    @property
    def histogram(self) -> dict[str, Any] | None:
        """The null distribution as a reader sees it; None where nothing in it, or the observed value, is a number."""
        return histogram(self.null_distribution, self.observed)


def permutation_test(
    statistic: Callable[[np.ndarray], np.ndarray],
    sizes: Sequence[int],
    shared: Sequence[int] = (),
    *,
    pairs: bool = False,
    bands: Sequence[int] | None = None,
    draws: int = 100_000,
    exact: int = 20_000,
    alternative: str = "greater",
    seed: int | Sequence[int] = 0,
) -> Permutation:
    """Test a statistic of words in sets, as scipy.stats.permutation_test does.

    statistic    labels, int8 (permutations, words), the number of the set that a word is in -> values
                 (permutations,). The words are those of the first set, then those of the second, ... `sizes` of them
    shared       places of words that stand in several sets; they keep their labels, as no set has a word twice
    pairs        words i of both sets change places or do not (scipy's permutation_type "samples"); else words are
                 dealt out among all sets ("independent")
    bands        the band that each word is in: words are dealt out only among words of their own band, and two words
                 of a pair change places only within one. None: all are in one
    exact        all permutations are enumerated where there are at most so many; else `draws` are drawn, and
                 p_value is (k + 1) / (draws + 1)
    alternative  "greater": permutations whose value is at least the observed one are as extreme, "less": at most;
                 "two-sided": twice the smaller of both, at most 1

    Values that agree within rounding (100 units in the last place of the largest, or of 1) count as equal, so that
    the observed permutation is as extreme as itself. Raises BiasgridError for an argument that is not allowed.
    """
    check(draws, exact, alternative)
    labels = np.repeat(np.arange(len(sizes), dtype=np.int8), sizes)
    free, members, partitions = _exchangeable(labels, sizes, shared, pairs, bands)
    is_exact = partitions <= exact
    count = partitions if is_exact else draws
    # values of all, labels of a block: a million permutations of 50 words are 8 MB of values
    values = np.empty(count)
    rng = np.random.default_rng(seed)
    rows = max(1, BLOCK // len(labels))
    all_free = not pairs and len(free) == 1 and len(free[0]) == len(labels)
    for start in range(0, count, rows):
        stop = min(start + rows, count)
        if all_free:
            block_labels = (
                _permutations(members[0])[start:stop] if is_exact else deal(members[0], stop - start, rng)
            )
        else:
            block_labels = np.tile(labels, (stop - start, 1))
        if pairs:
            (places,) = free
            choices = np.arange(start, stop)[:, None] >> np.arange(len(places)) if is_exact else None
            swaps = choices & 1 if is_exact else rng.integers(2, size=(stop - start, len(places)))
            block_labels[:, places] = swaps
            block_labels[:, places + sizes[0]] = 1 - swaps
        elif not all_free:
            number = np.arange(start, stop)
            for places, of_band in zip(free, members, strict=True):
                if is_exact:
                    choices = _permutations(of_band)
                    number, place = np.divmod(number, len(choices))
                    block_labels[:, places] = choices[place]
                else:
                    block_labels[:, places] = deal(of_band, stop - start, rng)
        values[start:stop] = statistic(block_labels)
    # the first of all permutations is the observed one. Asked for again, a statistic that is found by iteration, as
    # RNSB's, may differ by more than rounding, and the observed permutation would be less extreme than itself
    observed = float(values[0] if is_exact else statistic(labels[None])[0])
    return _outcome(values, observed, alternative, "exact" if is_exact else "monte_carlo", partitions)


def permutations_of(
    sizes: Sequence[int],
    shared: Sequence[int] = (),
    *,
    pairs: bool = False,
    bands: Sequence[int] | None = None,
) -> int:
    """How many permutations there are: see `permutation_test`."""
    labels = np.repeat(np.arange(len(sizes), dtype=np.int8), sizes)
    return _exchangeable(labels, sizes, shared, pairs, bands)[2]


def _exchangeable(
    labels: np.ndarray,
    sizes: Sequence[int],
    shared: Sequence[int],
    pairs: bool,
    bands: Sequence[int] | None,
) -> tuple[list[np.ndarray], list[tuple[int, ...]], int]:
    """Of each band, the places of the words that are dealt out, and how many of them are in each set; and how many
    permutations there are. Of pairs the places in the first set, in one array."""
    free = np.setdiff1d(np.arange(len(labels)), np.array(shared, dtype=int))
    of_word = np.zeros(len(labels), dtype=int) if bands is None else np.asarray(bands)
    if pairs:
        free = free[free < sizes[0]]
        free = free[of_word[free] == of_word[free + sizes[0]]]
        return [free], [], 2 ** len(free)
    groups = [free[of_word[free] == band] for band in np.unique(of_word[free])] or [free]
    members = [tuple(np.bincount(labels[g], minlength=len(sizes)).tolist()) for g in groups]
    return (
        groups,
        members,
        math.prod(math.factorial(sum(m)) // math.prod(map(math.factorial, m)) for m in members),
    )


def drawn_test(values: np.ndarray, observed: float, alternative: str = "greater") -> Permutation:
    """Test an observed value against values (draws,) that were drawn from a null hypothesis that is not about
    permutations of words; p_value is (k + 1) / (draws + 1)."""
    check(len(values), 0, alternative)
    return _outcome(values, observed, alternative, "drawn", None)


def _outcome(
    values: np.ndarray, observed: float, alternative: str, method: str, partitions: int | None
) -> Permutation:
    is_sample = method != "exact"
    p_value = p_low = p_high = p_normal = math.nan
    # an infinite value, such as the logarithm of no sentences, is more extreme than any number
    if math.isfinite(observed) and not np.isnan(values).any():
        p_value, p_low, p_high = _share(values, observed, alternative, is_sample)
        p_normal = _tail(values, observed, alternative) if np.isfinite(values).all() else math.nan
    lowest = min((1 + (alternative == "two-sided")) / (len(values) + is_sample), 1.0)
    return Permutation(
        p_value,
        p_low,
        p_high,
        p_normal,
        lowest,
        alternative,
        method,
        partitions,
        len(values),
        observed,
        values,
    )


def deal(members: Sequence[int], draws: int, rng: np.random.Generator) -> np.ndarray:
    """Labels, int8 (draws, words): words dealt out at random to sets of `members` words."""
    words = sum(members)
    if len(members) != 2 or draws < 10 * words:
        return rng.permuted(
            np.tile(np.repeat(np.arange(len(members), dtype=np.int8), members), (draws, 1)), axis=1
        )
    # Floyd's sampling (Bentley & Floyd 1987) of the smaller set, all draws in step: a tenth of the random numbers
    # and a third of the time of shuffling
    smaller = int(members[1] <= members[0])
    in_smaller = np.zeros((words, draws), dtype=np.int8)
    cells, draw = in_smaller.reshape(-1), np.arange(draws)
    for last in range(words - members[smaller], words):
        place = rng.integers(0, last + 1, draws) * draws + draw
        place = np.where(cells[place], last * draws + draw, place)
        cells[place] = 1
    return in_smaller.T if smaller else 1 - in_smaller.T


@lru_cache(maxsize=4)
def _permutations(members: tuple[int, ...]) -> np.ndarray:
    """Labels, int8 (permutations, words), of every way to deal the words out; many cells share it."""
    words = sum(members)
    if len(members) == 1:
        return np.zeros((1, words), dtype=np.int8)
    first = members[0]
    count = math.comb(words, first)
    places = np.fromiter(chain.from_iterable(combinations(range(words), first)), np.intp, count * first)
    split_labels = np.ones((count, words), dtype=np.int8)
    np.put_along_axis(split_labels, places.reshape(count, first), 0, axis=1)
    if len(members) == 2:
        labels = split_labels
    else:
        rest = _permutations(members[1:]) + 1
        labels = np.repeat(split_labels[:, None], len(rest), axis=1)
        labels[labels == 1] = np.tile(rest.ravel(), count)
        labels = labels.reshape(-1, words)
    labels.setflags(write=False)
    return labels


def histogram(values: np.ndarray, observed: float) -> dict[str, Any] | None:
    """How many values (draws,) lie where: "low" and "high", the smallest and the largest of them and of the observed
    one, and "counts", of bars of equal width between the two: 40, or 1 where rounding leaves room for no more.

    A value that is undefined is in none. None where all are, or the observed one is.
    """
    finite = values[np.isfinite(values)]
    if not len(finite) or not math.isfinite(observed):
        return None
    low, high = min(float(finite.min()), observed), max(float(finite.max()), observed)
    edges = np.linspace(low, high, BARS + 1)
    has_width = high - low > _tolerance(finite, observed) and bool((np.diff(edges) > 0).all())
    counts = np.histogram(finite, BARS, (low, high))[0].tolist() if has_width else [len(finite)]
    return {"low": low, "high": high, "counts": counts}


def as_extreme(values: np.ndarray, observed: float) -> tuple[np.ndarray, np.ndarray]:
    """Which values (draws,) are at least as great as the observed one, and which at most; equal ones are both."""
    tolerance = _tolerance(values, observed)
    return values >= observed - tolerance, values <= observed + tolerance


def _share(
    values: np.ndarray, observed: float, alternative: str, is_sample: bool
) -> tuple[float, float, float]:
    """The p-value and the ends of its interval."""
    upper, lower = (int(np.count_nonzero(tail)) for tail in as_extreme(values, observed))
    extreme_count = {"greater": upper, "less": lower, "two-sided": min(upper, lower)}[alternative]
    n, sides = len(values), 2 if alternative == "two-sided" else 1
    p = low = high = extreme_count / n
    if is_sample:
        p = (extreme_count + 1) / (n + 1)
        # of Clopper & Pearson, as scipy.stats.binomtest has it after a search that takes longer than most tests
        low = betaincinv(extreme_count, n - extreme_count + 1, 0.025) if extreme_count else 0.0
        high = betaincinv(extreme_count + 1, n - extreme_count, 0.975) if extreme_count < n else 1.0
    return tuple(min(sides * float(share), 1.0) for share in (p, low, high))


def _tail(values: np.ndarray, observed: float, alternative: str) -> float:
    spread = values.std()
    if not spread > _tolerance(values, observed):
        return math.nan
    z = (observed - values.mean()) / spread
    tails = {"greater": ndtr(-z), "less": ndtr(z), "two-sided": 2 * ndtr(-abs(z))}
    return float(tails[alternative])


def _tolerance(values: np.ndarray, observed: float) -> float:
    # not of the observed value, as scipy has it: sums of numbers around 1 may cancel to one near 0
    finite = np.abs(values[np.isfinite(values)]).max(initial=1.0)
    return 100 * np.finfo(float).eps * max(finite, abs(observed))


def check(draws: int, exact: int, alternative: str) -> None:
    """Raises BiasgridError for an argument of a permutation test that is not allowed."""
    for name, value, least in (("draws", draws, 1), ("exact", exact, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise BiasgridError(not_allowed(name, value, f"whole numbers from {least} on"))
    if alternative not in ALTERNATIVES:
        raise BiasgridError(f"alternative: {unknown_name('value', alternative, ALTERNATIVES)}")
