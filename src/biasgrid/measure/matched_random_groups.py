"""Groups of a model's words that are as coherent as a query's group, and as near to earlier groups of the draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .candidate_words import NEAREST, WIDTHS, Pool, bands_of

# Largest difference between a random group's mean cosine and the query's group, and between the mean cosine of two
# groups and the query's. A group within this share of both limits is not drawn again.
NEAR, NEAR_BETWEEN, NEAR_ENOUGH = 0.03, 0.04, 0.25
# Largest number of seeds from which groups start; number of halvings that determine the width of a seed's
# neighbourhood, and of groups that are drawn for each.
MOST_SEEDS, HALVINGS, GROUPS_PER_HALVING = 5000, 6, 2
# If groups of any words are as coherent as the query's in this share of attempts, random groups consist of any
# words. A narrow neighbourhood that is as coherent by chance would be one topic, which the query's group need not
# be.
OFTEN = 0.1
# Number of attempts at a first group, at a further one, and at a group of any words, few of which may be as
# coherent.
ATTEMPTS, ATTEMPTS_BESIDE, ATTEMPTS_OF_ANY = 6, 12, 60
# Standard deviations of the widths of further attempts and of the cosines by which seeds are chosen. The last
# number is the share of an error in the mean cosine of two groups by which the next seed is nearer or further.
WIDTH_SCATTER, SEED_SCATTER, STEP = 0.06, 0.03, 0.7


@dataclass(frozen=True, eq=False)
class Shape:
    """Properties that random groups share with the query's group that they replace.

    Attributes
    ----------
    bands, counts
        Bands of rows of its different words, and number of words in each.
    copies
        For each of its words, the index among the different words in the order of rows.
    cosine
        Mean cosine of its different words with each other; NaN for one word.
    seeds, widths
        Seeds of the pool from which such a group may start, in random order, and the width of each one's
        neighbourhood: 0 (the nearest words) to 1 (any words).
    free
        Whether each word of the pool may be in it (n,).
    """

    bands: np.ndarray
    counts: np.ndarray
    copies: np.ndarray
    cosine: float
    seeds: np.ndarray
    widths: np.ndarray
    free: np.ndarray

    @property
    def is_of_any_words(self) -> bool:
        return bool((self.widths == 1).all())


def sum_vectors(vectors: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Compute the sums (groups, dimensions) of the vectors of groups (groups, words)."""
    total = vectors.take(groups[:, 0], axis=0)
    # Add word by word: an array of all words' vectors would take a hundred megabytes.
    for places in groups.T[1:]:
        total += vectors.take(places, axis=0)
    return total


def mean_cosines(sums: np.ndarray, words: int) -> np.ndarray:
    """Compute the mean cosine of `words` words with each other from the sums of their unit vectors (groups,
    dimensions).

    NaN for one word.
    """
    if words == 1:
        return np.full(len(sums), math.nan)
    return (np.vecdot(sums, sums) - words) / (words * (words - 1))


def make_shape(
    pool: Pool,
    vectors: np.ndarray,
    rows: np.ndarray,
    copies: np.ndarray,
    cosine: float,
    free: np.ndarray,
    rng: np.random.Generator,
) -> Shape:
    """Build the shape of a query's group of words in these rows of the model, in ascending order.

    The other arguments are fields of the shape; `vectors` are the unit vectors of the pool's words (n, dimensions).
    """
    bands, counts = np.unique(bands_of(rows), return_counts=True)
    if bands[-1] >= pool.near.shape[1]:
        bands_known = np.empty(0, dtype=np.int64)
        return Shape(bands, counts, copies, cosine, bands_known, np.empty(0), free)
    seeds = rng.permutation(np.flatnonzero(free[pool.seeds] & np.isin(pool.bands[pool.seeds], bands)))
    shape = Shape(bands, counts, copies, cosine, seeds, np.zeros(len(seeds)), free)
    if len(rows) == 1 or not len(seeds):
        return shape

    def cosines(widths: np.ndarray, *luck: np.ndarray) -> list[np.ndarray]:
        """Compute the mean cosines of random groups from neighbourhoods of these widths, for each array of luck."""
        taken_words = np.empty((len(seeds), 0), dtype=np.int64)
        neighbourhoods = _neighbourhoods(pool, shape, seeds, widths, taken_words)
        values = []
        for group_luck in luck:
            groups = _groups_around(pool, shape, seeds, neighbourhoods, group_luck)
            is_whole = (groups >= 0).all(axis=1)
            values.append(np.where(is_whole, mean_cosines(sum_vectors(vectors, groups), len(rows)), -1.0))
        return values

    def luck() -> np.ndarray:
        return rng.random((len(seeds), len(bands), NEAREST), dtype=np.float32)

    # Keep seeds whose nearest words are at least as near to each other.
    (tightest,) = cosines(shape.widths, np.zeros((len(seeds), len(bands), 1), np.float32))
    is_tight = tightest >= cosine - NEAR / 2
    seeds = seeds[is_tight][:MOST_SEEDS]
    if not len(seeds):
        return Shape(bands, counts, copies, cosine, seeds, np.empty(0), free)
    (widest,) = cosines(np.ones(len(seeds)), luck())
    if (np.abs(widest - cosine) <= NEAR).mean() >= OFTEN or np.median(widest) >= cosine:
        return Shape(bands, counts, copies, cosine, seeds, np.ones(len(seeds)), free)
    low, high = np.zeros(len(seeds)), np.ones(len(seeds))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_nearer = np.mean(cosines(middle, *(luck() for _ in range(GROUPS_PER_HALVING))), axis=0) > cosine
        low, high = np.where(is_nearer, middle, low), np.where(is_nearer, high, middle)
    return Shape(bands, counts, copies, cosine, seeds, (low + high) / 2, free)


def draw_around(
    pool: Pool,
    vectors: np.ndarray,
    shape: Shape,
    starts: np.ndarray,
    earlier: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw groups around seeds (draws,), without the words that each draw already has, `earlier` (draws, words).

    Return their places (draws, words), the sums of their vectors, and whether they are as coherent as the query's.
    """
    place = np.full(len(pool.seeds), -1)
    place[shape.seeds] = np.arange(len(shape.seeds))
    widths, may_start = shape.widths[place[starts]], place[starts] >= 0
    best = _Best(len(starts), int(shape.counts.sum()), vectors.shape[1])
    is_of_any = shape.is_of_any_words
    for attempt in range(ATTEMPTS_OF_ANY if is_of_any else ATTEMPTS):
        rows = best.rows_to_draw
        if not len(rows):
            break
        scatter = WIDTH_SCATTER * rng.normal(size=len(rows)) * (attempt > 0 and not is_of_any)
        best.draw(pool, vectors, shape, rows, starts[rows], (widths[rows] + scatter).clip(0, 1), earlier, rng)
    return best.groups, best.sums, (best.distances <= 1) & may_start


def draw_beside(
    pool: Pool,
    vectors: np.ndarray,
    shape: Shape,
    earlier: np.ndarray,
    means: Sequence[np.ndarray],
    targets: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw groups like `draw_around`, near to earlier groups.

    Seeds are chosen so that mean cosines with groups of these `means`, (draws, dimensions) each, are near to
    `targets` (groups,).
    """
    seed_words = pool.seeds[shape.seeds]
    near = [group_means @ vectors[seed_words].T for group_means in means]
    place = np.full(len(pool.rows), -1)
    place[seed_words] = np.arange(len(seed_words))
    rows, columns = np.nonzero(place[earlier] >= 0)
    near[0][rows, place[earlier[rows, columns]]] = np.inf
    aims = targets[:, None] + SEED_SCATTER * rng.normal(size=(len(targets), len(earlier)))
    best = _Best(len(earlier), int(shape.counts.sum()), vectors.shape[1])
    for _ in range(ATTEMPTS_OF_ANY if shape.is_of_any_words else ATTEMPTS_BESIDE):
        rows = best.rows_to_draw
        if not len(rows):
            break
        misses = [
            (cosines[rows] - aim[rows, None].astype(np.float32)) ** 2
            for cosines, aim in zip(near, aims, strict=True)
        ]
        choice = sum(misses).argmin(axis=1)
        sums = best.draw(
            pool,
            vectors,
            shape,
            rows,
            shape.seeds[choice],
            shape.widths[choice],
            earlier,
            rng,
            [(group_means[rows], target) for group_means, target in zip(means, targets, strict=True)],
        )
        for aim, group_means, target in zip(aims, means, targets, strict=True):
            error = target - np.vecdot(group_means[rows], sums) / best.groups.shape[1]
            aim[rows] += STEP * error + SEED_SCATTER / 2 * rng.normal(size=len(rows))
    return best.groups, best.sums, best.distances <= 1


class _Best:
    """Best groups of several attempts: places (draws, words), sums of vectors, and errors relative to the limits."""

    def __init__(self, draws: int, words: int, dimensions: int):
        self.groups = np.zeros((draws, words), dtype=np.int64)
        self.sums = np.zeros((draws, dimensions), dtype=np.float32)
        self.distances = np.full(draws, np.inf)

    @property
    def rows_to_draw(self) -> np.ndarray:
        """Return the draws that are not near enough yet."""
        return np.flatnonzero(self.distances > NEAR_ENOUGH)

    def draw(
        self,
        pool: Pool,
        vectors: np.ndarray,
        shape: Shape,
        rows: np.ndarray,
        starts: np.ndarray,
        widths: np.ndarray,
        earlier: np.ndarray,
        rng: np.random.Generator,
        beside: Sequence[tuple[np.ndarray, float]] = (),
    ) -> np.ndarray:
        """Draw groups for these draws, keep the groups that are nearer than before, and return the sums of their
        vectors.

        `beside` are means of earlier groups, and the wanted mean cosines with them.
        """
        luck = rng.random((len(rows), len(shape.bands), NEAREST), dtype=np.float32)
        neighbourhoods = _neighbourhoods(pool, shape, starts, widths, earlier[rows])
        groups = _groups_around(pool, shape, starts, neighbourhoods, luck)
        sums = sum_vectors(vectors, groups)
        words = groups.shape[1]
        distances = (
            np.zeros(len(rows)) if words == 1 else np.abs(mean_cosines(sums, words) - shape.cosine) / NEAR
        )
        for means, target in beside:
            errors = np.abs(np.vecdot(means, sums) / words - target) / NEAR_BETWEEN
            distances = np.maximum(distances, errors)
        is_taken = (earlier[rows] == groups[:, :1]).any(axis=1)
        distances[is_taken | (groups < 0).any(axis=1)] = np.inf
        is_nearer = distances < self.distances[rows]
        nearer = rows[is_nearer]
        self.groups[nearer], self.sums[nearer] = groups[is_nearer], sums[is_nearer]
        self.distances[nearer] = distances[is_nearer]
        return sums


class _Neighbourhood(NamedTuple):
    """Words of a band in the neighbourhoods of seeds (draws,).

    Attributes
    ----------
    vacancies
        Number of words of the band that a group needs besides its seed (draws,).
    neighbours
        Nearest known words, indices in the pool (draws, NEAREST).
    is_free
        Whether each of these may be in a group.
    rank
        Number of free ones up to each.
    in_reach
        Whether each is in the neighbourhood, if all were free.
    """

    vacancies: np.ndarray
    neighbours: np.ndarray
    is_free: np.ndarray
    rank: np.ndarray
    in_reach: np.ndarray


def _neighbourhoods(
    pool: Pool, shape: Shape, starts: np.ndarray, widths: np.ndarray, taken_words: np.ndarray
) -> list[_Neighbourhood | None]:
    """Return the neighbourhoods of seeds (draws,), of these widths (draws,), band by band of the shape.

    `taken_words` (draws, words) are left out. A neighbourhood is None if no group needs a word of the band.
    """
    seed_bands = pool.bands[pool.seeds[starts]]
    near = pool.near.reshape(-1, NEAREST)
    neighbourhoods: list[_Neighbourhood | None] = []
    for band, count in zip(shape.bands, shape.counts, strict=True):
        vacancies = count - (seed_bands == band)
        if not vacancies.max():
            neighbourhoods.append(None)
            continue
        # Compute the number of the band's words in the neighbourhood; in wide ones every fourth, sixteenth, ... is
        # known.
        size = np.maximum(vacancies, 1) * np.exp(
            widths * np.log(NEAREST * 4.0 ** (WIDTHS - 1) / np.maximum(vacancies, 1))
        )
        level = np.ceil(np.log(size / NEAREST) / np.log(4)).clip(0, WIDTHS - 1).astype(np.int64)
        neighbours = near.take((starts * pool.near.shape[1] + band) * WIDTHS + level, axis=0)
        # -1 marks a missing neighbour, and would index from the end.
        is_free = (neighbours >= 0) & shape.free.take(neighbours, mode="wrap")
        for words in taken_words.T:
            is_free &= neighbours != words[:, None]
        # The rank is at most NEAREST, which fits a byte.
        rank = np.cumsum(is_free, axis=1, dtype=np.int8)
        reach = np.maximum(size / 4.0**level, vacancies).clip(max=NEAREST).astype(np.int8)
        neighbourhoods.append(_Neighbourhood(vacancies, neighbours, is_free, rank, rank <= reach[:, None]))
    return neighbourhoods


def _groups_around(
    pool: Pool,
    shape: Shape,
    starts: np.ndarray,
    neighbourhoods: Sequence[_Neighbourhood | None],
    luck: np.ndarray,
) -> np.ndarray:
    """Draw groups (draws, words), as indices in the pool, of seeds (draws,) and random neighbours.

    Each band has as many words as in the shape, including the seed. `luck` is random, (draws, bands, NEAREST). -1
    marks missing words.
    """
    groups = np.full((len(starts), int(shape.counts.sum())), -1, dtype=np.int64)
    groups[:, 0] = pool.seeds[starts]
    next_column = np.ones(len(starts), dtype=np.int64)
    for place, neighbourhood in enumerate(neighbourhoods):
        if neighbourhood is None:
            continue
        vacancies, neighbours, is_free, rank, in_reach = neighbourhood
        most = int(vacancies.max())
        # Draw at random from the neighbourhood. If it is too small, take words beyond it, nearest first.
        key = np.where(in_reach, luck[:, place], rank)
        key[~is_free] = np.inf
        order = smallest(key, most)
        picks = np.where(
            np.take_along_axis(is_free, order, axis=1), np.take_along_axis(neighbours, order, axis=1), -1
        )
        rows, columns = np.nonzero(np.arange(most) < vacancies[:, None])
        groups[rows, next_column[rows] + columns] = picks[rows, columns]
        next_column += vacancies
    return groups


def smallest(key: np.ndarray, most: int) -> np.ndarray:
    """Return the columns of the smallest numbers of each row, smallest first: (rows, most). `key` is float32, from
    0 on."""
    # Such numbers have the order of their bits. Sort them together with their columns, in a third of the time.
    columns = key.shape[1]
    bits = key.view(np.int32).astype(np.int64) * columns + np.arange(columns)
    bits.sort(axis=1)
    numbers, order = np.divmod(bits[:, : most + 1], columns)
    order = order[:, :most]
    # For equal numbers, use argpartition, whose choice differs from the sort's and determines the draws.
    is_tied = (numbers[:, 1:] == numbers[:, :-1]).any(axis=1)
    tied = key[is_tied].astype(np.float64)
    first = np.argpartition(tied, most - 1, axis=1)[:, :most]
    in_order = np.argsort(np.take_along_axis(tied, first, axis=1), axis=1)
    order[is_tied] = np.take_along_axis(first, in_order, axis=1)
    return order
