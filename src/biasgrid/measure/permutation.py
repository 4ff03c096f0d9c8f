"""Permutation tests: how often do words that are randomly assigned to the sets have a value at least as extreme?

The null hypothesis is that it does not matter which set a word is in. A permutation assigns all words to sets of
the original sizes; no word is drawn twice. For pairs, the null hypothesis is that the order of the two words does
not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, combinations, pairwise
from typing import Any

import numpy as np

from ..core.errors import BiasgridError, not_allowed, unknown_name
from ..core.numbers import count
from .free_memory import check_memory
from .sequential import FIRST, SequentialTest, count_up, stretches

ALTERNATIVES = ("greater", "less", "two-sided")
# For tests against random groups: values at least as far from the no-bias value as the observed one are extreme.
DISTANCE = "distance"
# Limit the labels of permutations in memory to 1 MB at a time, of which a metric makes 8 MB of float64.
BLOCK = 2**20
# Number of bars of a histogram.
BARS = 40


@dataclass(frozen=True)
class Permutation:
    """Result of a permutation test, or of another test that compares a statistic with random draws.

    Attributes
    ----------
    p_value
        Share of permutations that are at least as extreme as the observed one. The observed one is counted, so that
        the share is never 0. NaN if the observed value, or a permutation's value, is NaN. For drawn permutations
        see `sequential.count_up`.
    p_low, p_high
        Ends of the 95 % interval of the p-value of all permutations, estimated from the drawn ones; for an exact
        test both equal p_value.
    p_normal
        Tail beyond the observed value of a normal distribution with the mean and the standard deviation of the
        permutations' values; NaN if all permutations have the same value.
    p_lowest
        Smallest p_value that this test can have.
    method
        "exact": all permutations, once each. "binomial": all permutations of pairs, see `binomial_test`.
        "monte_carlo": permutations drawn independently at random. "drawn": values under another null hypothesis,
        which are not permutations.
    partitions
        Number of all permutations; None without permutations.
    draws
        Number of values behind the p-value.
    observed
        Statistic of the words without permutation.
    null_distribution
        The values that the observed one is compared with, (draws,).
    neutral
        For the alternative "distance", the value from which distances are measured; otherwise None.
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
    neutral: float | None = None

    @property
    def histogram(self) -> dict[str, Any] | None:
        """Return a histogram of the null distribution; None if it, or the observed value, contains no finite
        number."""
        return histogram(self.null_distribution, self.observed)


def permutation_test(
    statistic: Callable[[np.ndarray], np.ndarray],
    sizes: Sequence[int],
    shared: Sequence[int] = (),
    *,
    pairs: bool = False,
    bands: Sequence[int] | np.ndarray | None = None,
    draws: int = 100_000,
    exact: int = 20_000,
    alternative: str = "greater",
    stop: int | None = None,
    seed: int | Sequence[int] = 0,
) -> Permutation:
    """Test a statistic of words in sets, like scipy.stats.permutation_test.

    Values that agree within rounding (100 units in the last place of the largest, or of 1) count as equal, so that
    the observed permutation is as extreme as itself. Raises BiasgridError for an argument that is not allowed.

    Parameters
    ----------
    statistic
        Function of labels, int8 (permutations, words), the number of each word's set, that returns values
        (permutations,). The words are the `sizes[0]` words of the first set, then the words of the second, and so
        on.
    shared
        Indices of words in several sets; they keep their labels, as no set has a word twice.
    pairs
        Whether words i of both sets are exchanged or not (scipy's permutation_type "samples"); otherwise words are
        reassigned among all sets ("independent").
    bands
        Band of each word: words are reassigned only among words of their own band, and two words of a pair are
        exchanged only within one band. None: all words are in one band.
    exact
        Largest number of permutations that are all enumerated; if there are more, they are drawn.
    draws, stop
        Largest number of drawn permutations, and the number of permutations as extreme as the observed one that
        ends the test earlier (None: it never ends earlier); see `sequential.count_up`.
    alternative
        "greater": permutations whose value is at least the observed one are as extreme. "less": at most.
        "two-sided": twice the smaller of both, at most 1; each tail is counted, and stopped, separately.
    """
    check(draws, exact, alternative)
    labels = np.repeat(np.arange(len(sizes), dtype=np.int8), sizes)
    free, members, partitions = _exchangeable(labels, sizes, shared, pairs, bands)
    is_exact = partitions <= exact
    rng = np.random.default_rng(seed)
    rows = max(1, BLOCK // len(labels))
    all_free = not pairs and len(free) == 1 and len(free[0]) == len(labels)

    def labels_of(start: int, end: int) -> np.ndarray:
        if all_free:
            return _permutations(members[0])[start:end] if is_exact else deal(members[0], end - start, rng)
        block_labels = np.tile(labels, (end - start, 1))
        if pairs:
            (places,) = free
            if is_exact:
                swaps = np.arange(start, end)[:, None] >> np.arange(len(places)) & 1
            else:
                swaps = rng.integers(2, size=(end - start, len(places)))
            block_labels[:, places] = swaps
            block_labels[:, places + sizes[0]] = 1 - swaps
            return block_labels
        number = np.arange(start, end)
        for places, of_band in zip(free, members, strict=True):
            if is_exact:
                choices = _permutations(of_band)
                number, place = np.divmod(number, len(choices))
                block_labels[:, places] = choices[place]
            else:
                block_labels[:, places] = deal(of_band, end - start, rng)
        return block_labels

    def values_of(start: int, end: int) -> np.ndarray:
        # Compute the values block by block: a million permutations of 50 words are 8 MB of values.
        ends = [*range(start, end, rows), end]
        return np.concatenate([statistic(labels_of(*block)) for block in pairwise(ends)])

    if is_exact:
        values = values_of(0, partitions)
        # The first permutation is the observed one. If it were computed again, an iterative statistic, such as
        # RNSB's, could differ by more than rounding, and the observed permutation would be less extreme than
        # itself.
        return _exact_test(values, float(values[0]), alternative, partitions)
    observed = float(statistic(labels[None])[0])
    test = monte_carlo_test(values_of, observed, alternative, stretches(draws), stop)
    return replace(test, method="monte_carlo", partitions=partitions)


def binomial_test(test: Permutation, won: int, pairs: int) -> Permutation:
    """Return a test of permuted pairs with the p-values of all its permutations, by the binomial distribution.

    Parameters
    ----------
    test
        A test of the share of pairs in which the first wins. Its drawn permutations are kept to show the null
        distribution.
    won, pairs
        Number of pairs in which the first wins, and number of pairs without a tie: swapping a tie changes nothing.
    """
    # Import scipy late: the import takes a second, which a plan saves.
    from scipy.stats import binom

    tails = {"greater": binom.sf(won - 1, pairs, 0.5), "less": binom.cdf(won, pairs, 0.5)}
    sides = {"two-sided": 2}.get(test.alternative, 1)
    p_value = min(1.0, 2 * min(tails.values())) if sides == 2 else tails[test.alternative]
    lowest = min(1.0, sides * 0.5**pairs)
    p_value = float(p_value)
    return replace(test, p_value=p_value, p_low=p_value, p_high=p_value, p_lowest=lowest, method="binomial")


def permutations_of(
    sizes: Sequence[int],
    shared: Sequence[int] = (),
    *,
    pairs: bool = False,
    bands: Sequence[int] | np.ndarray | None = None,
) -> int:
    """Count all permutations; arguments as in `permutation_test`."""
    labels = np.repeat(np.arange(len(sizes), dtype=np.int8), sizes)
    return _exchangeable(labels, sizes, shared, pairs, bands)[2]


def _exchangeable(
    labels: np.ndarray,
    sizes: Sequence[int],
    shared: Sequence[int],
    pairs: bool,
    bands: Sequence[int] | np.ndarray | None,
) -> tuple[list[np.ndarray], list[tuple[int, ...]], int]:
    """Return the indices of each band's exchangeable words, their numbers per set, and the number of permutations.

    For pairs, one array has the indices in the first set.
    """
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
    """Test an observed value against values (draws,) under a null hypothesis that is not about permutations of
    words.

    p_value is (k + 1) / (draws + 1), with k extreme values.
    """
    check(len(values), 0, alternative)
    return monte_carlo_test(lambda *_: values, observed, alternative, [0, len(values)], None)


def monte_carlo_test(
    values_of: Callable[[int, int], np.ndarray],
    observed: float,
    alternative: str,
    ends: Sequence[int],
    stop: int | None,
    *,
    neutral: float | None = None,
) -> Permutation:
    """Test an observed value against values that are drawn until the test is decided.

    Parameters
    ----------
    values_of
        (start, end) -> values of these draws, in order; fewer if some are undefined.
    alternative
        See `permutation_test`, or "distance": values at least as far from `neutral`.
    ends
        Ends of the stretches that are drawn at once, from 0 on.
    stop
        Number of extreme values that decides the test before all are drawn; see `sequential.count_up`.
    """
    values = np.empty(0)
    tally, count, sides = SequentialTest(math.nan, math.nan, math.nan, 0), 0, 1 + (alternative == "two-sided")
    for start, end in pairwise(ends):
        values = np.concatenate([values, values_of(start, end)])
        count, is_end = len(values), end == ends[-1]
        # The tolerance must not depend on the number of values drawn beyond the counted ones.
        tolerance = _tolerance(values[:FIRST], observed)
        tails = extreme_tails(values, observed, alternative, neutral, tolerance)
        tallies = [t for tail in tails if (t := count_up(tail, stop, is_end))]
        if len(tallies) == len(tails):
            tally, count = min(tallies), max(tally.draws for tally in tallies)
            break
        if np.isnan(values).any():
            break
    values = values[:count]
    p_value = p_low = p_high = p_normal = math.nan
    # An infinite value, such as the logarithm of no sentences, is more extreme than any number.
    if count and math.isfinite(observed) and not np.isnan(values).any():
        p_value, p_low, p_high = (min(sides * share, 1.0) for share in tally[:3])
        p_normal = _tail(values, observed, alternative, neutral) if np.isfinite(values).all() else math.nan
    lowest = min(sides / (ends[-1] + 1), 1.0)
    shares = p_value, p_low, p_high, p_normal, lowest
    return Permutation(*shares, alternative, "drawn", None, count, observed, values, neutral)


def _exact_test(values: np.ndarray, observed: float, alternative: str, partitions: int) -> Permutation:
    p_value = p_normal = math.nan
    sides = 1 + (alternative == "two-sided")
    if math.isfinite(observed) and not np.isnan(values).any():
        p_value = share_as_extreme(values, observed, alternative)
        p_normal = _tail(values, observed, alternative) if np.isfinite(values).all() else math.nan
    shares = p_value, p_value, p_value, p_normal, min(sides / partitions, 1.0)
    return Permutation(*shares, alternative, "exact", partitions, partitions, observed, values)


def deal(members: Sequence[int], draws: int, rng: np.random.Generator) -> np.ndarray:
    """Assign words at random to sets of `members` words and return labels, int8 (draws, words)."""
    words = sum(members)
    # Check the memory for labels and their copy, and the positions of Floyd's sampling.
    check_memory(draws * (2 * words + 32), f"{count(draws)} draws of {words} words")
    if len(members) != 2 or draws < 10 * words:
        return rng.permuted(
            np.tile(np.repeat(np.arange(len(members), dtype=np.int8), members), (draws, 1)), axis=1
        )
    # Use Floyd's sampling (Bentley & Floyd 1987) of the smaller set, with all draws in step. It needs a tenth of
    # the random numbers and a third of the time of shuffling.
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
    """Return labels, int8 (permutations, words), for every assignment of the words; many cells share the array."""
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
    """Count values (draws,) in bars of equal width.

    "low" and "high" are the smallest and the largest of the values and the observed one; "counts" are the counts of
    40 bars between them, or of 1 if rounding leaves no room for more. Undefined values are not counted. None if all
    values, or the observed one, are undefined.
    """
    finite = values[np.isfinite(values)]
    if not len(finite) or not math.isfinite(observed):
        return None
    low, high = min(float(finite.min()), observed), max(float(finite.max()), observed)
    edges = np.linspace(low, high, BARS + 1)
    has_width = high - low > _tolerance(finite, observed) and bool((np.diff(edges) > 0).all())
    counts = np.histogram(finite, BARS, (low, high))[0].tolist() if has_width else [len(finite)]
    return {"low": low, "high": high, "counts": counts}


def extreme_tails(
    values: np.ndarray,
    observed: float,
    alternative: str,
    neutral: float | None = None,
    tolerance: float | None = None,
) -> list[np.ndarray]:
    """Return which values (draws,) are at least as extreme as the observed one.

    For "two-sided" there are two arrays, one per direction; values equal to the observed one are in both.
    """
    tolerance = _tolerance(values, observed) if tolerance is None else tolerance
    if alternative == DISTANCE and neutral is not None:
        return [np.abs(values - neutral) >= abs(observed - neutral) - tolerance]
    upper, lower = values >= observed - tolerance, values <= observed + tolerance
    return {"greater": [upper], "less": [lower], "two-sided": [upper, lower]}[alternative]


def share_as_extreme(
    values: np.ndarray, observed: float, alternative: str, neutral: float | None = None
) -> float:
    """Return the p-value if the values (draws,) are all possible values."""
    tails = extreme_tails(values, observed, alternative, neutral)
    return min(len(tails) * min(float(np.count_nonzero(tail)) for tail in tails) / len(values), 1.0)


def _tail(values: np.ndarray, observed: float, alternative: str, neutral: float | None = None) -> float:
    # Import scipy late: the import takes a fifth of a second, which a plan saves.
    from scipy.special import ndtr

    spread = values.std()
    if not spread > _tolerance(values, observed):
        return math.nan
    z = (observed - values.mean()) / spread
    if alternative == DISTANCE and neutral is not None:
        opposite = (2 * neutral - observed - values.mean()) / spread
        return float(ndtr(min(z, opposite)) + ndtr(-max(z, opposite)))
    tails = {"greater": ndtr(-z), "less": ndtr(z), "two-sided": 2 * ndtr(-abs(z))}
    return float(tails[alternative])


def _tolerance(values: np.ndarray, observed: float) -> float:
    # Do not use the observed value alone, as scipy does: sums of numbers around 1 may cancel to one near 0.
    finite = np.abs(values[np.isfinite(values)]).max(initial=1.0)
    return 100 * np.finfo(float).eps * max(finite, abs(observed))


def check(draws: int, exact: int, alternative: str) -> None:
    """Raise BiasgridError for an argument of a permutation test that is not allowed."""
    for name, value, least in (("draws", draws, 1), ("exact", exact, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise BiasgridError(not_allowed(name, value, f"whole numbers from {least} on"))
    if alternative not in ALTERNATIVES:
        raise BiasgridError(f"alternative: {unknown_name('value', alternative, ALTERNATIVES)}")
