"""The tests of all pairs of models that pairs.py compares: p-values (pairs,), and the ends of intervals.

words, queries, both     resamples of these, by the largest studentised difference of any pair (single-step max-T)
both, step-down          the same by Romano and Wolf's (2005) step-down
bootstrap t              the studentised bootstrap over queries: each resample of queries has the variance that it
                         tells; the noise of words that queries share is added to both
own, half, mixed         biasgrid's `studentise`: normal queries and shared words. A pair's variance is its own; the
                         mean of its own and of all pairs'; or that of all pairs, as a linear model of models and
                         queries has it. Step-down, where no more is said

Words' variances are of resamples, not of a jackknife: a study has resamples of words for all models alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from pair_samples import Sample

from biasgrid.statistics.pairs import Parts, step_down, studentise
from biasgrid.statistics.ranks import RESAMPLED, aggregates_of_resamples, query_parts

FORMER = "both"  # what biasgrid had
DRAWS, LEVEL = 999, 0.95
PER_SET = 3  # pairs of groups that share attribute sets
FIRST, SECOND = np.array(list(combinations(range(4), 2))).T
Test = tuple[str, np.ndarray, np.ndarray, np.ndarray]  # its name, p-values, and ends of intervals


def sides(of: Sample, queries: np.ndarray) -> tuple[Parts, Parts]:
    """The units of each pair, each row of a query or of a cluster of queries."""
    count = queries.max() + 1
    parts = [query_parts(v, r, queries, count, 0.0) for v, r in zip(of.values, of.resamples, strict=True)]
    units = Parts(*map(np.array, zip(*parts, strict=True)))
    return tuple(Parts(*(array[side] for array in units)) for side in (FIRST, SECOND))


def tests(of: Sample, words: int, seed: int) -> Iterator[Test]:
    """All tests of four units."""
    count = of.queries.max() + 1
    first, second = sides(of, of.queries)
    difference = first.value - second.value
    rng = np.random.default_rng(seed)
    drawn = rng.integers(count, size=(of.resamples.shape[2], count))
    times = np.array([np.count_nonzero(drawn == query, axis=1) for query in of.queries])
    units = len(of.values)
    resampled = aggregates_of_resamples(
        of.values.reshape(-1, 1),
        of.resamples.reshape(-1, of.resamples.shape[2]),
        np.tile(times, (units, 1)),
        [(np.arange(i, i + len(of.queries)), 0.0) for i in range(0, of.values.size, len(of.queries))],
    )
    for name, values in zip(RESAMPLED, resampled, strict=True):
        draws = values[FIRST] - values[SECOND] - difference[:, None]
        error = np.maximum(draws.std(axis=1, ddof=1), 1e-12)
        null = (np.abs(draws) / error[:, None]).T
        yield from maxima(name, difference, error, null, (True, False) if name == "both" else (True,))
    yield from maxima("bootstrap t", difference, *bootstrap_t(first, second, rng), (False,))
    for name, own in (("own", 1.0), ("half", 0.5), ("mixed", 0.0)):
        _, error, null = studentise(first, second, words, own_share=own, draws=DRAWS, seed=seed)
        yield from maxima(name, difference, error, null, (True, False) if name == "mixed" else (False,))


def claims(of: Sample, words: int, seed: int) -> Iterator[Test]:
    """biasgrid's test of four units whose queries share attribute sets, each asked of all pairs of groups: of these
    queries, where their own means over words are the truth; else of other queries, by clusters and by queries."""
    for name, cluster in (
        (("these", 1),) if of.means is not None else (("by clusters", PER_SET), ("by queries", 1))
    ):
        first, second = sides(of, of.queries // cluster)
        options = {"of_queries": of.means is None, "sizes": cluster, "draws": DRAWS, "seed": seed}
        _, error, null = studentise(first, second, words, **options)
        yield from maxima(name, first.value - second.value, error, null, (False,))


def maxima(
    name: str, difference: np.ndarray, error: np.ndarray, null: np.ndarray, steps: tuple[bool, ...]
) -> Iterator[Test]:
    """By the largest t of any pair, in one step (True) or down."""
    t = np.abs(difference) / error
    for single in steps:
        p, critical = step_down(t, null, LEVEL)
        if single:
            largest = null.max(axis=1)
            p = (1 + (largest[:, None] >= t).sum(axis=0)) / (1 + len(largest))
        decided = p <= 1 - LEVEL
        reach = np.where(decided | single, critical.max(), critical[~decided].max(initial=0.0)) * error
        cut = decided & ~np.array(single)
        low, high = difference - reach, difference + reach
        low = np.where(cut & (difference > 0), np.maximum(low, 0.0), low)
        high = np.where(cut & (difference < 0), np.minimum(high, 0.0), high)
        yield label(name, single), p, low, high


def label(name: str, single: bool) -> str:
    if name in RESAMPLED:
        return name if single else f"{name}, step-down"
    return f"{name}, single-step" if single else name


def bootstrap_t(first: Parts, second: Parts, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors (pairs,), and t of resampled queries (draws, pairs)."""
    queries, words = first.queries - second.queries, first.words - second.words
    count = queries.shape[1]
    factor = count / (count - 1)
    words = words - words.mean(axis=2, keepdims=True)
    total = words.sum(axis=1)
    shared = total @ total.T - np.einsum("pqd,rqd->pr", words, words, optimize=True)
    shared *= factor / (words.shape[2] - 1)
    squares, vectors = np.linalg.eigh(shared)
    moved = rng.normal(size=(DRAWS, len(queries))) @ (vectors * np.sqrt(squares.clip(min=0))).T
    of_words = shared.diagonal().clip(min=0)
    # a resample varies by less than the queries that it is of: both by the same factor
    times, queries = rng.multinomial(count, np.full(count, 1 / count), size=DRAWS), queries * np.sqrt(factor)
    drawn = times @ queries.T
    told = factor * (times @ (queries**2).T - drawn**2 / count)
    error = np.sqrt((queries**2).sum(axis=1) + of_words)
    return error, np.abs(drawn + moved) / np.sqrt(told.clip(min=0) + of_words + 1e-24)
