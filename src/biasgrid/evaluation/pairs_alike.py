"""Pairs of words of a vocabulary that differ as a given pair does (Bolukbasi et al., NeurIPS 2016, section 4)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

SAME = 1e-5  # squared distance of unit vectors below which float32 cannot tell them apart
ROWS = 128  # words per block: their products with all words are in memory at once
POOL = 20_000  # pairs per question that are kept at first; more where repeated words leave too few of them

Candidates = tuple[np.ndarray, np.ndarray, np.ndarray]  # cosines, x, y


def pairs_alike(
    vectors: np.ndarray, offsets: np.ndarray, is_barred: np.ndarray, threshold: float, best: int
) -> list[list[tuple[int, int, float]]]:
    """The pairs of words (x, y) whose difference x - y points most nearly where an offset does.

    They are taken in falling order of their cosines, and a pair that has a word of an earlier one is left out.

    Parameters
    ----------
    vectors : (words, d)
        Unit vectors; a word without a direction must be barred.
    offsets : (questions, d)
        Differences a - b, not zero.
    is_barred : (questions, words)
        The words that may be in no pair of a question.
    threshold
        The largest distance of x and y: 1 is an angle of 60 degrees. Words of one vector are no pair.
    best
        So many pairs of each question at most.

    Returns
    -------
    list of list of tuple
        For each question its pairs as (x, y, cos(x - y, offset)), the highest cosine first, all above 0.

    Notes
    -----
    The paper says that no x comes twice; the 25 pairs that it prints of (she, he) are those of the rule above: with
    the rule for x alone, *softball* has *football*, which *volleyball* has already, and not *baseball*.
    """
    directions = offsets / np.linalg.norm(offsets, axis=1, keepdims=True)
    pairs: list[list[tuple[int, int, float]]] = [[] for _ in directions]
    open_questions, size = list(range(len(directions))), max(POOL, 50 * best)
    while open_questions:
        pools = _most_alike(vectors, directions[open_questions], is_barred[open_questions], threshold, size)
        for q, (pool, _) in zip(open_questions, pools, strict=True):
            pairs[q] = _each_word_once(pool, best)
        # the best pairs of a pool are the best of all, as long as the pool yields enough of them
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
    """Each question's `size` pairs of the highest cosines above 0, and whether these are all that there are."""
    projections = (vectors @ directions.T.astype(vectors.dtype)).T
    pools: list[list[Candidates]] = [[] for _ in directions]
    whole = [True] * len(directions)
    for first, second, length in _near(vectors, threshold):
        for q, row in enumerate(is_barred):
            is_allowed = ~(row[first] | row[second])
            x, y = first[is_allowed], second[is_allowed]
            cosines = (projections[q, x] - projections[q, y]) / length[is_allowed]
            # a pair's other order has the other sign
            x, y = np.where(cosines > 0, x, y), np.where(cosines > 0, y, x)
            part = np.abs(cosines), x, y
            pools[q].append(tuple(column[part[0] > 0] for column in part))
            if sum(len(entry[0]) for entry in pools[q]) > 4 * size:
                pools[q], whole[q] = [_highest(pools[q], size)], False
    candidates = [_highest(pool, size) for pool in pools]
    sizes = [sum(len(entry[0]) for entry in pool) for pool in pools]
    return [(c, w and h <= size) for c, w, h in zip(candidates, whole, sizes, strict=True)]


def _near(vectors: np.ndarray, threshold: float) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The pairs of words that are at most `threshold` apart, each once, and their distances; block by block."""
    lowest = 1 - (threshold**2 + SAME) / 2 - SAME  # a cosine below which float32 has no pair either
    for start in range(0, len(vectors), ROWS):
        cosines = vectors[start : start + ROWS] @ vectors[start:].T
        # few are near: all else is done with these
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
