"""Random groups of a model's words that replace a query's groups, by number.

Draw number b of a query's groups is made in these steps:

1. The first group starts from a seed. All words of the pool that may start such a group are taken in random order,
   one after the other. The other words are drawn at random from the seed's neighbourhood. The neighbourhood is wide
   enough that its words are on average as near to each other as the words of the query's group.
2. Each next group starts from a seed whose cosine with the mean of each earlier group is about the mean cosine of
   the query's two groups. Its words are drawn in the same way. If the two groups are too near to each other, or too
   far apart, a further, or a nearer, seed is tried.
3. Words come from the same bands of rows as the words of the query's group. None is a word of the query's groups,
   and none is in a draw twice.
4. A draw fails if, after several attempts, the mean cosine of a group differs from the query's group by more than
   `matched_random_groups.NEAR`, or the mean cosine of two groups by more than `matched_random_groups.NEAR_BETWEEN`.
   In each `BLOCK` of draws, the draws whose groups differ most also fail, until the mean cosine of two groups is on
   average within `NEAR_ON_AVERAGE`. A draw of the same groups as an earlier one fails.

If the query compares its groups with lexicons, the words of the lexicons are not in any draw either.

Draw b depends on the seed of the draws, on b, on the words of the query's groups and on the model. All metrics, and
all queries with the same groups, therefore have the same draws, on any number of cores. The first group of a draw
depends only on the query's first group: queries that share it share these draws.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from ..core.files import hold_lock, write_bytes
from ..core.geometry import unit
from ..core.numbers import decimal
from ..core.processes import RANDOM_GROUPS
from ..models.cache_per_model import remember
from ..models.model import Model
from .bootstrap import digest
from .candidate_words import NEAREST, Pool
from .matched_random_groups import Shape, draw_around, draw_beside, make_shape, mean_cosines
from .statistics.scale import TOO_FEW_TOPICS

T = TypeVar("T")
# Values of the option `match`: the cosines that random groups have in common with the query's.
BETWEEN, WITHIN = "between", "within"
# Largest difference between the average mean cosine of two groups and the query's.
NEAR_ON_AVERAGE = 0.01
# Number of draws that are made at once.
BLOCK = 256
# Smallest number of seeds for the first group, and for each next one.
FEWEST, FEWEST_BESIDE = 99, 30


@dataclass(frozen=True, eq=False)
class Block:
    """Draws of a block that did not fail.

    Attributes
    ----------
    numbers
        (draws,), counted over all blocks.
    seeds
        (draws,), the seed from which the first group started.
    places
        For each group, the indices of its words in the pool: (draws, words of the query's group).
    cosines
        Mean cosine of the words of each group with each other, (draws, groups); NaN for one word.
    between
        Mean cosine of each pair of groups, (draws, pairs).
    """

    numbers: np.ndarray
    seeds: np.ndarray
    places: list[np.ndarray]
    cosines: np.ndarray
    between: np.ndarray


@dataclass(eq=False)
class GroupDraws:
    """Random groups in place of a query's groups, drawn block by block when needed.

    Attributes
    ----------
    groups
        Vocabulary entries of each of the query's groups.
    shapes
        Shape of each group.
    first
        Shape of the first group without lexicons, which determines the seed from which each draw starts.
    between
        Mean cosine of the words of each pair of groups.
    match
        "between"; or "within", with which the nearness of groups to each other is left to chance.
    path
        File in which processes of a run share the draws; None: they do not share them.
    """

    groups: tuple[tuple[str, ...], ...]
    shapes: list[Shape]
    first: Shape
    between: np.ndarray
    match: str
    seed: int
    path: Path | None
    blocks: list[Block] = field(default_factory=list)

    @property
    def cosines(self) -> list[float]:
        """Return the mean cosine of the words of each of the query's groups with each other; NaN for one word."""
        return [shape.cosine for shape in self.shapes]

    def most_seeds(self, draws: int) -> int:
        """Return the largest number of different seeds from which this number of draws may start."""
        return min(draws, len(self.shapes[0].seeds))

    def block(self, model: Model, pool: Pool, number: int) -> Block:
        """Return a block of draws of a model variant."""
        while len(self.blocks) <= number:
            path = self.path and self.path.with_name(f"{self.path.name}-{len(self.blocks)}")
            self.blocks.append(_share(path, lambda: self._draw(model, pool, len(self.blocks))))
        return self.blocks[number]

    def _draw(self, model: Model, pool: Pool, number: int) -> Block:
        vectors = unit_vectors(model, pool)
        numbers = np.arange(number * BLOCK, (number + 1) * BLOCK)
        seeds = self._first_seeds(pool, numbers)
        groups: list[np.ndarray] = []
        sums: list[np.ndarray] = []
        is_good = np.ones(BLOCK, dtype=bool)
        for i, shape in enumerate(self.shapes):
            rng = np.random.default_rng([self.seed, number, *map(digest, self.groups[: i + 1])])
            earlier = np.concatenate(groups, axis=1) if groups else np.empty((BLOCK, 0), dtype=np.int64)
            if i and self.match == BETWEEN:
                # Select the pairs of this group and each earlier one.
                targets = self.between[np.array([pair[1] == i for pair in _pairs(self.shapes)])]
                means = [total / group.shape[1] for total, group in zip(sums, groups, strict=True)]
                draw = draw_beside(pool, vectors, shape, earlier, means, targets, rng)
            else:
                starts = rng.choice(shape.seeds, BLOCK) if i else seeds
                draw = draw_around(pool, vectors, shape, starts, earlier, rng)
            places, total, is_near = draw
            is_good &= is_near
            # Order words by band, like the query's words, so that a word replaces an equally frequent one, also
            # within pairs.
            order = np.argsort(pool.bands[places] + rng.random(places.shape), axis=1)
            groups.append(np.take_along_axis(places, order, axis=1))
            sums.append(total)
        between = _between(groups, sums)
        # The first group may contain words of the query's other groups.
        is_good &= self.shapes[-1].free[np.concatenate(groups, axis=1)].all(axis=1)
        if self.match == BETWEEN:
            _drop_furthest(between - self.between, is_good)
        is_good &= self._is_new(groups, is_good)
        kept_rows = np.flatnonzero(is_good)
        cosines = np.stack(
            [mean_cosines(s[kept_rows], g.shape[1]) for s, g in zip(sums, groups, strict=True)], axis=1
        )
        # A word that is in a group twice is also twice in its random groups.
        kept_places = [
            group[kept_rows][:, shape.copies].astype(np.int32)
            for group, shape in zip(groups, self.shapes, strict=True)
        ]
        return Block(
            numbers[kept_rows], seeds[kept_rows].astype(np.int32), kept_places, cosines, between[kept_rows]
        )

    def _first_seeds(self, pool: Pool, numbers: np.ndarray) -> np.ndarray:
        """Choose a seed for each draw.

        Seeds come from the bands of the group's words, in proportion to the words in each band that has seeds. No
        seed repeats before all seeds of its band were used.
        """
        shape = self.first
        seed_bands = pool.bands[pool.seeds[shape.seeds]]
        words = np.repeat(shape.bands, shape.counts)
        words = np.random.default_rng([self.seed, digest(self.groups[0])]).permutation(
            words[np.isin(words, seed_bands)]
        )
        turn, word = np.divmod(numbers, len(words))
        seeds = np.empty(len(numbers), dtype=np.int64)
        for place, band in enumerate(words):
            of_band = shape.seeds[seed_bands == band]
            rows = word == place
            count = turn[rows] * np.count_nonzero(words == band) + np.count_nonzero(words[:place] == band)
            seeds[rows] = of_band[count % len(of_band)]
        return seeds

    def _is_new(self, groups: Sequence[np.ndarray], is_good: np.ndarray) -> np.ndarray:
        """Return which draws consist of other groups than all draws before them."""
        first = [np.unique(shape.copies, return_index=True)[1] for shape in self.shapes]
        before = {
            key
            for block in self.blocks
            for key in _keys([places[:, f] for places, f in zip(block.places, first, strict=True)])
        }
        is_new = np.zeros(len(is_good), dtype=bool)
        for place, key in enumerate(_keys(groups)):
            is_new[place] = key not in before
            if is_good[place]:
                before.add(key)
        return is_new


# Cache the draws of each query's groups and model; the blocks of each take megabytes.
@remember(64)
def draws_of(
    model: Model,
    pool: Pool,
    groups: tuple[tuple[str, ...], ...],
    seed: int,
    match: str,
    left_out: tuple[int, ...] = (),
) -> GroupDraws | str:
    """Prepare random groups in place of a query's, or return the reason why this is impossible, in a sentence.

    Parameters
    ----------
    groups
        Vocabulary entries of each of the query's groups.
    seed
        Seed of the draws.
    match
        "between": random groups are as coherent as the query's, and as near to each other. "within": they are only
        as coherent.
    left_out
        Rows of further words that are not in any draw. They do not change the seed from which draw b starts.
    """
    rows, vectors = [], []
    for keys in groups:
        group_rows, places = np.unique(model.rows(keys), return_index=True)
        group_vectors = unit(model.take([keys[i] for i in places], group_rows))
        if not (np.isfinite(group_vectors).all() and group_vectors.any(axis=1).all()):
            return "a word of the groups has no direction: its vector is zero"
        if len(group_rows) > NEAREST:
            return f"a group has more than {NEAREST} words, and so many neighbours of a word are not known"
        rows.append(group_rows)
        vectors.append(group_vectors)
    without_lexicons = draws_of(model, pool, groups, seed, match) if left_out else None
    if isinstance(without_lexicons, str):
        return without_lexicons
    folder = os.environ.get(RANDOM_GROUPS)
    arguments = _digest(model, pool), groups, seed, match, left_out
    path = Path(folder, hashlib.sha256(repr(arguments).encode()).hexdigest()) if folder else None

    def make_shapes() -> list[Shape] | str:
        shapes = []
        for i, (keys, group_rows) in enumerate(zip(groups, rows, strict=True)):
            copies = np.searchsorted(group_rows, model.rows(keys))
            taken_rows = np.concatenate([*(rows if i else rows[:1]), np.array(left_out, dtype=np.int64)])
            sums = vectors[i].sum(axis=0, keepdims=True)
            cosine = float(mean_cosines(sums, len(group_rows))[0])
            rng = np.random.default_rng([seed, digest(keys)])
            free = ~np.isin(pool.rows, taken_rows)
            shape = make_shape(pool, unit_vectors(model, pool), group_rows, copies, cosine, free, rng)
            if len(shape.seeds) < (fewest := FEWEST_BESIDE if i else FEWEST):
                return (
                    f"{TOO_FEW_TOPICS}: only {len(shape.seeds)} words of the model have neighbours as near to each "
                    f"other as the words of a group are (mean cosine {decimal(cosine)}); a test needs {fewest}"
                )
            shapes.append(shape)
        return shapes

    shapes = _share(path, make_shapes)
    if isinstance(shapes, str):
        return shapes
    first = without_lexicons.first if without_lexicons else shapes[0]
    means = [group_vectors.mean(axis=0) for group_vectors in vectors]
    between = np.array([means[a] @ means[b] for a, b in _pairs(shapes)])
    return GroupDraws(groups, shapes, first, between, match, seed, path)


def _share(path: Path | None, make: Callable[[], T]) -> T:
    """Return the result of `make`, computed once by all processes of a run that share a folder."""
    # Without a folder, or if the processes that shared it have ended, compute the result here.
    if path is None or not _is_own(path.parent):
        # BLAS rounds differently with several threads.
        with threadpool_limits(1):
            return make()
    with hold_lock(path.with_suffix(".lock")):
        if not path.is_file():
            with threadpool_limits(1):
                write_bytes(path, pickle.dumps(make()))
    return pickle.loads(path.read_bytes())


def _is_own(folder: Path) -> bool:
    """Return whether a folder exists and belongs to this user.

    Its files are unpickled, and another user may have taken the name of a removed folder.
    """
    try:
        return folder.stat().st_uid == getattr(os, "geteuid", int)()
    except OSError:
        return False


@remember(8)
def _digest(model: Model, pool: Pool) -> str:
    """Return a digest of the vectors and neighbours with which random groups of a model variant are drawn."""
    hasher = hashlib.sha256(unit_vectors(model, pool).data)
    for part in (pool.rows, pool.bands, pool.seeds, pool.near):
        hasher.update(np.ascontiguousarray(part).data)
    return hasher.hexdigest()


@remember(8)
def unit_vectors(model: Model, pool: Pool) -> np.ndarray:
    """Return the unit vectors of the pool's words in this model variant: float32 (n, dimensions)."""
    vectors = model.matrix(list(pool.entries), pool.rows)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def _pairs(groups: Sequence[Any]) -> list[tuple[int, int]]:
    return list(combinations(range(len(groups)), 2))


def _keys(groups: Sequence[np.ndarray]) -> list[bytes]:
    """Return a key for each draw, which is equal for draws of the same groups."""
    in_order = np.concatenate([np.sort(group, axis=1) for group in groups], axis=1).astype(np.int32)
    return [row.tobytes() for row in in_order]


def _between(groups: Sequence[np.ndarray], sums: Sequence[np.ndarray]) -> np.ndarray:
    """Compute the mean cosines of each pair of groups: (draws, pairs)."""
    pairs = [
        np.vecdot(sums[a], sums[b]) / (groups[a].shape[1] * groups[b].shape[1]) for a, b in _pairs(groups)
    ]
    return np.stack(pairs, axis=1) if pairs else np.empty((len(groups[0]), 0))


def _drop_furthest(errors: np.ndarray, is_good: np.ndarray) -> None:
    """Remove from `is_good` (draws,) the draws that differ most, until their mean error is small enough.

    Draws are removed on the side of the mean of `errors` (draws, pairs).
    """
    for pair_errors in errors.T:
        places = np.flatnonzero(is_good)
        mean = pair_errors[places].mean() if len(places) else 0.0
        order = places[np.argsort(-pair_errors[places] * np.sign(mean), kind="stable")]
        for place in order:
            if abs(mean) <= NEAR_ON_AVERAGE:
                break
            is_good[place] = False
            left = np.flatnonzero(is_good)
            mean = pair_errors[left].mean() if len(left) else 0.0
