"""Which of several units differ: all pairs of them tested together, and units in groups that are not told apart."""

from __future__ import annotations

import math
from itertools import combinations
from math import inf, nan
from typing import NamedTuple

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"
DRAWS = 9999
# numbers in memory at a time
BLOCK = 2**22


class Parts(NamedTuple):
    """A value that is a mean over queries, and how far queries and words move it.

    value    (...,); NaN is none
    queries  how far each query moves it, (..., queries); they add up to 0. NaN: it rests on no row of the query
    words    how far each query moves it with each resample of words, (..., queries, draws)
    """

    value: np.ndarray
    queries: np.ndarray
    words: np.ndarray


class Pairs(NamedTuple):
    """All pairs of units, each array (pairs,).

    difference  of the first's value less the second's; `low` and `high` are the ends of its simultaneous interval
    p_adjusted  that there is no difference, adjusted for the number of pairs
    """

    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_adjusted: np.ndarray


class Studentised(NamedTuple):
    """Differences of pairs in standard errors.

    t     without sign, (pairs,)
    error standard errors, (pairs,)
    null  t of pairs without a difference, (draws, pairs)
    """

    t: np.ndarray
    error: np.ndarray
    null: np.ndarray


def compare_pairs(
    first: Parts,
    second: Parts,
    words: float = inf,
    strata: np.ndarray | None = None,
    of_queries: np.ndarray | bool = True,
    sizes: np.ndarray | int = 1,
    level: float = 0.95,
    seed: int = 0,
) -> Pairs:
    """All pairs of units compared at once: is the one's mean over queries and words below the other's?

    The test is a step-down max-T: a pair is compared with the largest t that any of the pairs would have which are
    not decided before it, had none of them a difference. `studentise` says what t is.

    Parameters
    ----------
    first, second
        Of each pair's units, (pairs,), (pairs, queries) and (pairs, queries, draws), both on the same rows. Pairs may
        rest on different rows.
    words
        How many words a set has (the mean of the rows' smallest sets), at least 2: of few, resamples vary too little.
    strata
        The criterion of each query, (queries,), where they are of several.
    of_queries
        Of each pair, (pairs,), or of all: False, the claim is for these queries alone, and for other words.
    sizes
        Where what is sampled are clusters of queries, which stand in place of queries above: how many queries each
        has, (pairs, clusters). A cluster moves a mean over queries by as much as it has queries.
    level
        Of the intervals.
    seed
        Of the draws.

    Returns
    -------
    Pairs
        NaN where there is no difference, or no variance can be told (fewer than two queries). Of a pair that is not
        decided at the level, the interval's half-width is what a difference had to exceed, given the pairs that are.
        The interval of a decided pair has the width that holds for all pairs, and ends at 0 at the latest.

    References
    ----------
    Romano and Wolf. Exact and approximate stepdown methods for multiple hypothesis testing. JASA 100, 2005, algorithm
    4.1. Guilbaud. Simultaneous confidence regions corresponding to Holm's step-down procedure and other
    closed-testing procedures. Biometrical Journal 50, 2008 (intervals).
    """
    difference = first.value - second.value
    p_adjusted, low, high = (np.full(len(difference), nan) for _ in range(3))
    t, error, null = studentise(first, second, words, strata, of_queries, sizes, seed)
    testable = np.flatnonzero(~np.isnan(t))
    if not len(testable):
        return Pairs(difference, low, high, p_adjusted)
    p, critical = step_down(t[testable], null[:, testable], level)
    is_decided = p <= 1 - level
    reach = np.where(is_decided, critical.max(), critical[~is_decided].max(initial=0.0)) * error[testable]
    values = difference[testable]
    p_adjusted[testable] = p
    low[testable] = np.where(is_decided & (values > 0), np.maximum(values - reach, 0.0), values - reach)
    high[testable] = np.where(is_decided & (values < 0), np.minimum(values + reach, 0.0), values + reach)
    return Pairs(difference, low, high, p_adjusted)


def studentise(
    first: Parts,
    second: Parts,
    words: float = inf,
    strata: np.ndarray | None = None,
    of_queries: np.ndarray | bool = True,
    sizes: np.ndarray | int = 1,
    seed: int = 0,
    own_share: float = 0.0,
    draws: int = DRAWS,
) -> Studentised:
    """Differences in standard errors, for other queries and other words.

    Queries are a sample of those that might be asked, and words a sample of those that might stand for a group. What
    queries differ by has the noise of the words that each has for itself. What it lacks is the noise of words that
    queries share, by which they err together: the covariances of different queries over resamples of words. The
    variance of a mean over queries is the sum of both, without bias. (Resamples of words and queries together count
    the words that are not shared twice, and resamples of queries alone leave the shared ones out.)

    A few queries and words say little of a variance. So all pairs have the mean of theirs, as in a linear model of
    units and queries, and t under no difference is drawn: normal queries and shared words with the covariances of
    these, each draw with the variance that it would have told. Pairs that vary more than others, or together, do so
    in the draws. `benchmarks/pairs.py` compares this test with others.

    Parameters as of `compare_pairs`; `own_share` is how much a pair's own variance counts beside the mean of all.

    References
    ----------
    Davison and Hinkley. Bootstrap methods and their application. Cambridge, 1997, section 3.8; Owen. The pigeonhole
    bootstrap. AOAS 1, 2007 (samples of two kinds).
    """
    pairs = Parts(*(a - b for a, b in zip(first, second, strict=True)))
    has_query = ~np.isnan(pairs.queries)
    count = has_query.sum(axis=1)
    is_of_queries = np.broadcast_to(of_queries, len(count))
    testable = ~np.isnan(pairs.value) & (count > is_of_queries)
    t, error, null = np.full(len(count), nan), np.full(len(count), nan), np.full((draws, len(count)), nan)
    if not testable.any():
        return Studentised(t, error, null)
    has_query, count, is_of_queries = has_query[testable], count[testable], is_of_queries[testable]
    cluster_sizes = np.broadcast_to(sizes, pairs.queries.shape)[testable] * has_query
    # clusters of one size that would vary as much
    count = cluster_sizes.sum(axis=1) ** 2 / (cluster_sizes**2).sum(axis=1)
    rng, words = np.random.default_rng(seed), max(words, 2.0)
    shared = _covariances(np.where(has_query[..., None], pairs.words[testable], 0.0), count, is_of_queries)
    shared /= 1 - 1 / words
    of_words = shared.diagonal().clip(min=0)
    for alike in (is_of_queries, ~is_of_queries):
        of_words[alike] = own_share * of_words[alike] + (1 - own_share) * of_words[alike].sum() / max(
            alike.sum(), 1
        )
    # of so few words, the variance is uncertain, too
    told_share = rng.chisquare(words - 1, size=(draws, 1)) / (words - 1) if np.isfinite(words) else 1.0
    drawn_sums, between = _normal(shared, draws, rng), np.zeros((1 + draws, len(count)))
    is_sampled = has_query & is_of_queries[:, None]
    queries = np.where(is_sampled, pairs.queries[testable], 0.0)
    for stratum in _strata(strata, is_sampled):
        moves, variances = _draw_queries(
            queries[:, stratum], (cluster_sizes * is_sampled)[:, stratum], draws, rng
        )
        drawn_sums += moves
        between += variances
    if is_of_queries.any():
        # the mean of all pairs is one of a query's variance
        of_query = (between * count)[:, is_of_queries].mean(axis=1, keepdims=True)
        between = np.where(is_of_queries, own_share * between + (1 - own_share) * of_query / count, 0.0)
    variance = between[0] + of_words
    scale = np.fmax(np.abs(first.value), np.abs(second.value))[testable]
    # what differs by rounding alone does not vary
    variance[np.sqrt(variance) <= 1e-12 * scale] = 0.0
    error[testable] = np.sqrt(variance)
    t[testable] = _ratios(pairs.value[testable], error[testable])
    null[:, testable] = _ratios(
        np.where(variance > 0, drawn_sums, 0.0), np.sqrt(between[1:] + of_words * told_share) * (variance > 0)
    )
    return Studentised(t, error, null)


def step_down(t: np.ndarray, null: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Adjusted p-values of t (pairs,), and the t that each had to exceed, given the pairs with a larger one."""
    p, critical = np.empty(len(t)), np.empty(len(t))
    largest, order = np.zeros(len(null)), np.argsort(t, kind="stable")
    # of the quantile, the upper value where it lies between two
    place = math.ceil(round(level * (len(null) - 1), 9))
    for pair in order:
        largest = np.maximum(largest, null[:, pair])
        p[pair] = (1 + np.count_nonzero(largest >= t[pair])) / (1 + len(largest))
        critical[pair] = np.partition(largest, place)[place]
    p[order[::-1]] = np.maximum.accumulate(p[order[::-1]])
    return p, critical


def _covariances(moves: np.ndarray, count: np.ndarray, of_queries: np.ndarray) -> np.ndarray:
    """Of pairs over resamples of words, (pairs, pairs), from (pairs, queries, draws); of pairs `of_queries`, the
    covariances of different queries alone."""
    moves = moves - moves.mean(axis=2, keepdims=True)
    total = moves.sum(axis=1)
    covariances = total @ total.T
    moves *= of_queries[:, None, None]
    for query in moves.swapaxes(0, 1):
        covariances -= query @ query.T
    # as many pairs of different queries as of any
    factor = np.sqrt(count / np.where(of_queries, count - 1, count))
    return covariances * factor * factor[:, None] / max(moves.shape[2] - 1, 1)


def _normal(covariances: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Normal draws (draws, pairs), of no variance where that is negative, or rounding, whose root is none."""
    squares, vectors = np.linalg.eigh(covariances)
    squares = np.where(squares > 1e-12 * squares.max(initial=0.0), squares, 0.0)
    return rng.normal(size=(draws, len(squares))) @ (vectors * np.sqrt(squares)).T


def _strata(strata: np.ndarray | None, has_query: np.ndarray) -> list[np.ndarray]:
    """Which queries are a sample of one kind: those of a criterion, if each pair has two of each or none."""
    parts = [] if strata is None else [strata == stratum for stratum in np.unique(strata)]
    if any((has_query[:, part].sum(axis=1) == 1).any() for part in parts) or not parts:
        return [np.ones(has_query.shape[1], dtype=bool)]
    return parts


def _draw_queries(
    queries: np.ndarray, sizes: np.ndarray, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of normal queries with the covariances of `queries` (pairs, queries), (draws, pairs), and the variances of
    the sum that the queries, first, and those of each draw tell, (1 + draws, pairs). A query moves the sum by its
    deviation from their mean times its size (pairs, queries), which is 0 where a pair lacks it."""
    count = np.count_nonzero(sizes, axis=1)
    total, squared, cubed = ((sizes**power).sum(axis=1).astype(float) for power in (1, 2, 3))
    # deviations from a mean that varies with them vary by less: by so much, if all queries vary alike; of one size,
    # by n - 1 of n (to the last digit, as these are whole numbers)
    kept = total**2 * squared + squared**2 - 2 * total * cubed
    of_several = kept > 0
    factor = np.where(of_several, total**2 * squared, 0.0) / np.where(of_several, kept, 1.0)
    scale = np.where(of_several, count**2 * kept, 1.0) / np.where(of_several, total**4, 1.0)
    count = np.maximum(count, 1)
    shares = sizes * count[:, None] / np.maximum(total, 1)[:, None]
    queries = queries - shares * (queries.sum(axis=1) / count)[:, None]
    moves, variances = np.empty((draws, len(count))), np.empty((1 + draws, len(count)))
    variances[0] = factor * (queries**2).sum(axis=1)
    # as many normal numbers per query as pairs are independent: few, as a pair is the difference of two others
    vectors, lengths, _ = np.linalg.svd(queries / np.sqrt(scale)[:, None], full_matrices=False)
    is_needed = lengths > 1e-12 * lengths.max(initial=0.0)
    weights = vectors[:, is_needed] * lengths[is_needed]
    block = max(1, BLOCK // queries.size)
    for start in range(0, draws, block):
        stop = min(start + block, draws)
        drawn_sums = rng.normal(size=(stop - start, queries.shape[1], weights.shape[1])) @ weights.T
        drawn_sums *= shares.T
        moved = moves[start:stop] = drawn_sums.sum(axis=1)
        of_mean = 2 * (drawn_sums * shares.T).sum(axis=1) - moved * ((shares**2).sum(axis=1) / count)
        squares = (drawn_sums**2).sum(axis=1) - moved * of_mean / count
        variances[1 + start : 1 + stop] = factor * squares
    return moves, variances


def _ratios(differences: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Absolute differences in standard errors; of an error of 0, 0 or infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.abs(differences) / errors
    return np.where(errors == 0, np.where(np.abs(differences) > 1e-12, inf, 0.0), ratios)


def letters(differs: np.ndarray) -> list[str]:
    """Units in groups that are not told apart, as letters: two units have a letter in common if, and only if, they do
    not differ. A unit may be in several groups: that a is like b, and b like c, does not say that a is like c.

    Parameters
    ----------
    differs
        Whether two units differ, symmetric, (units, units); units in the order in which groups are lettered.

    Returns
    -------
    list of str
        A text of letters per unit; after z come letters with a number.

    References
    ----------
    Piepho. An algorithm for a letter-based representation of all-pairwise comparisons. JCGS 13, 2004 (insert and
    absorb).
    """
    groups = [frozenset(range(len(differs)))]
    for pair in combinations(range(len(differs)), 2):
        if differs[pair]:
            parts = [g - {member} if set(pair) <= g else g for g in groups for member in pair]
            groups = [g for g in set(parts) if not any(g < larger for larger in parts)]
    groups.sort(key=sorted)
    names = [LETTERS[i % 26] + (str(i // 26) if i >= 26 else "") for i in range(len(groups))]
    return [
        "".join(name for name, group in zip(names, groups, strict=True) if unit in group)
        for unit in range(len(differs))
    ]
