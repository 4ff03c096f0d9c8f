"""Pairs of words of a vocabulary that differ like a given pair (Bolukbasi et al., NeurIPS 2016, section 4)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

# Squared distance below which float32 cannot distinguish unit vectors.
SAME = 1e-5
# Number of words per block, whose products with all words are in memory at once.
ROWS = 128
# Number of pairs per question that are kept at first; more if repeated words leave too few of them.
POOL = 20_000

# Cosines, x, y.
Candidates = tuple[np.ndarray, np.ndarray, np.ndarray]


def pairs_alike(
    vectors: np.ndarray, offsets: np.ndarray, is_barred: np.ndarray, threshold: float, best: int
) -> list[list[tuple[int, int, float]]]:
    """Find the pairs of words (x, y) whose difference x - y is most similar to an offset.

    They are taken in descending order of their cosines, and a pair with a word of an earlier one is left out.

    Parameters
    ----------
    vectors : (words, d)
        Unit vectors; a word without a direction must be barred.
    offsets : (questions, d)
        Differences a - b, not zero.
    is_barred : (questions, words)
        Words that may not be in any pair of a question.
    threshold
        The largest distance of x and y: 1 is an angle of 60 degrees. Words with the same vector are not a pair.
    best
        Largest number of pairs for each question.

    Returns
    -------
    list of list of tuple
        For each question its pairs as (x, y, cos(x - y, offset)), the highest cosine first, all above 0.

    Notes
    -----
    The paper states that no x occurs twice. The 25 pairs that it prints for (she, he) follow the rule above: with
    the rule for x alone, *softball* would have *football*, which *volleyball* already has, and not *baseball*.
    """
    directions = offsets / np.linalg.norm(offsets, axis=1, keepdims=True)
    pairs: list[list[tuple[int, int, float]]] = [[] for _ in directions]
    open_questions, size = list(range(len(directions))), max(POOL, 50 * best)
    while open_questions:
        pools = _most_alike(vectors, directions[open_questions], is_barred[open_questions], threshold, size)
        for q, (pool, _) in zip(open_questions, pools, strict=True):
            pairs[q] = _each_word_once(pool, best)
        # The best pairs of a pool are the best of all if the pool contains enough of them.
        open_questions = [
            q
            for q, (_, whole) in zip(open_questions, pools, strict=True)
            if not whole and len(pairs[q]) < best
        ]
        size *= 8
    return pairs


def _most_alike(
    vectors: np.ndarray, directions: np.ndarray, is_barred: np.ndarray, threshold: float, size: int
) -> list[tuple[Candidates, bool]]:
    """Return each question's `size` pairs with the highest cosines above 0, and whether these are all such pairs."""
    projections = (vectors @ directions.T.astype(vectors.dtype)).T
    pools: list[list[Candidates]] = [[] for _ in directions]
    whole = [True] * len(directions)
    for first, second, length in _near(vectors, threshold):
        for q, row in enumerate(is_barred):
            is_allowed = ~(row[first] | row[second])
            x, y = first[is_allowed], second[is_allowed]
            cosines = (projections[q, x] - projections[q, y]) / length[is_allowed]
            # The reversed pair has the opposite sign.
            x, y = np.where(cosines > 0, x, y), np.where(cosines > 0, y, x)
            part = np.abs(cosines), x, y
            pools[q].append(tuple(column[part[0] > 0] for column in part))
            if sum(len(entry[0]) for entry in pools[q]) > 4 * size:
                pools[q], whole[q] = [_highest(pools[q], size)], False
    candidates = [_highest(pool, size) for pool in pools]
    sizes = [sum(len(entry[0]) for entry in pool) for pool in pools]
    return [(c, w and h <= size) for c, w, h in zip(candidates, whole, sizes, strict=True)]


def _near(vectors: np.ndarray, threshold: float) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the pairs of words that are at most `threshold` apart, once each, and their distances; block by block."""
    # With a lower cosine, float32 does not have a pair either.
    lowest = 1 - (threshold**2 + SAME) / 2 - SAME
    for start in range(0, len(vectors), ROWS):
        cosines = vectors[start : start + ROWS] @ vectors[start:].T
        # Few pairs are near: the rest of the work is done with these.
        first, second = np.divmod(np.flatnonzero(cosines >= lowest), cosines.shape[1])
        square = 2 - 2 * cosines[first, second]
        is_pair = (square <= threshold**2 + SAME) & (square > SAME) & (first < second)
        first, second = first[is_pair], second[is_pair]
        yield first + start, second + start, np.sqrt(square[is_pair])


def _highest(pool: list[Candidates], size: int) -> Candidates:
    if not pool:
        return np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    cosines, x, y = (np.concatenate(column) for column in zip(*pool, strict=True))
    order = np.lexsort((y, x, -cosines))[:size]
    return cosines[order], x[order], y[order]


def _each_word_once(pool: Candidates, best: int) -> list[tuple[int, int, float]]:
    pair_words: set[int] = set()
    pairs: list[tuple[int, int, float]] = []
    for cosine, x, y in zip(*(column.tolist() for column in pool), strict=True):
        if len(pairs) == best:
            break
        if x not in pair_words and y not in pair_words:
            pair_words |= {x, y}
            pairs.append((x, y, cosine))
    return pairs
