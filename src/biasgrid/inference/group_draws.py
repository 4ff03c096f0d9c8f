"""Random groups of a model's words that may stand for a query's groups, by number.

Draw number b of a query's groups is made in these steps:

1. The first group starts from a seed. All words of the pool that may start such a group are taken in random order,
   one after the other. The other words are drawn at random from the seed's neighbourhood, which is as wide as it has
   to be for words in it to be as near to each other, on average, as those of the query's group.
2. Each next group starts from a seed whose cosine with the mean of each earlier group is about as large as the mean
   cosine of the query's two groups. Its words are drawn as those of the first group. Where the two groups come out
   too near to each other, or too far apart, a seed that is further, or nearer, is tried.
3. Words come from the bands of rows that the words of the query's group are in. None is one of the query's groups'
   words, and none is in a draw twice.
4. A draw fails if the mean cosine of a group, after so many attempts, is not within `siblings.NEAR` of that of the
   query's group, or the mean cosine of two groups not within `siblings.NEAR_BETWEEN` of the query's. In each `BLOCK`
   of draws, those whose groups are furthest off fail as well, until the mean cosine of two groups is on average
   within `NEAR_ON_AVERAGE`. A draw of the same groups as an earlier one fails.

Where the query compares its groups with lexicons, these words stand in no draw either.

Draw b depends on the seed of the draws, on b, on the words of the query's groups and on the model. So all metrics,
and all queries that have the same groups, draw alike, on any number of cores. Its first group depends on the query's
first group alone: queries that share it draw alike there.
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

from ..embeddings.model import Model
from ..embeddings.remember import remember
from ..files import hold_lock, write_bytes
from ..geometry import unit
from ..processes import RANDOM_GROUPS
from ..statistics.scale import TOO_FEW_TOPICS
from .bootstrap import digest
from .pool import NEAREST, Pool
from .siblings import Shape, draw_around, draw_beside, make_shape, mean_cosines

T = TypeVar("T")
# what random groups have in common with the query's
BETWEEN, WITHIN = "between", "within"
NEAR_ON_AVERAGE = 0.01  # how far from the query's the mean cosine of two groups may be on average
BLOCK = 256  # draws that are made at once
FEWEST, FEWEST_BESIDE = 99, 30  # seeds that there have to be, of the first group and of each next one


@dataclass(frozen=True, eq=False)
class Block:
    """The draws of a block that did not fail.

    numbers  (draws,), counted over all blocks
    seeds    (draws,) the seed that the first group started from
    places   for each group, which words of the pool it has: (draws, words of the query's group)
    cosines  mean cosine of the words of each group with each other, (draws, groups); NaN of one word
    between  mean cosine of each pair of groups, (draws, pairs)
    """

    numbers: np.ndarray
    seeds: np.ndarray
    places: list[np.ndarray]
    cosines: np.ndarray
    between: np.ndarray


@dataclass(eq=False)
class GroupDraws:
    """Random groups in place of a query's groups, drawn block by block as they are needed.

    groups   the vocabulary entries of each of the query's groups
    shapes   of each group
    first    the first group's, without lexicons: it says which seed each draw starts from
    between  mean cosine of the words of each pair of groups
    match    "between"; or "within": how near groups are to each other is left to chance
    path     the file in which processes of a run share them; None: they do not
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
        """Mean cosine of the words of each of the query's groups with each other; NaN of one word."""
        return [shape.cosine for shape in self.shapes]

    def most_seeds(self, draws: int) -> int:
        """How many different seeds so many draws may start from."""
        return min(draws, len(self.shapes[0].seeds))

    def block(self, model: Model, pool: Pool, number: int) -> Block:
        """A block of draws of a state of the model."""
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
                # places of the pairs of this group and each earlier one
                targets = self.between[np.array([pair[1] == i for pair in _pairs(self.shapes)])]
                means = [total / group.shape[1] for total, group in zip(sums, groups, strict=True)]
                draw = draw_beside(pool, vectors, shape, earlier, means, targets, rng)
            else:
                starts = rng.choice(shape.seeds, BLOCK) if i else seeds
                draw = draw_around(pool, vectors, shape, starts, earlier, rng)
            places, total, is_near = draw
            is_good &= is_near
            # as the query's words are, by band, so that a word takes the place, and the part in a pair, of one as
            # frequent
            order = np.argsort(pool.bands[places] + rng.random(places.shape), axis=1)
            groups.append(np.take_along_axis(places, order, axis=1))
            sums.append(total)
        between = _between(groups, sums)
        # the first group may have words of the query's other groups
        is_good &= self.shapes[-1].free[np.concatenate(groups, axis=1)].all(axis=1)
        if self.match == BETWEEN:
            _drop_furthest(between - self.between, is_good)
        is_good &= self._is_new(groups, is_good)
        kept_rows = np.flatnonzero(is_good)
        cosines = np.stack(
            [mean_cosines(s[kept_rows], g.shape[1]) for s, g in zip(sums, groups, strict=True)], axis=1
        )
        # a word that is in a group twice is so in random groups
        kept_places = [
            group[kept_rows][:, shape.copies].astype(np.int32)
            for group, shape in zip(groups, self.shapes, strict=True)
        ]
        return Block(
            numbers[kept_rows], seeds[kept_rows].astype(np.int32), kept_places, cosines, between[kept_rows]
        )

    def _first_seeds(self, pool: Pool, numbers: np.ndarray) -> np.ndarray:
        """A seed for each draw, so that each word of the group is the seed as often as any other, of a band that has
        seeds; none twice before all of its band were."""
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
        """Which draws are of other groups than all draws before them."""
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


# one for each query's groups and model; the blocks of each take megabytes
@remember(64)
def draws_of(
    model: Model,
    pool: Pool,
    groups: tuple[tuple[str, ...], ...],
    seed: int,
    match: str,
    left_out: tuple[int, ...] = (),
) -> GroupDraws | str:
    """Random groups in place of a query's, or why there are none, in a sentence.

    Parameters
    ----------
    groups
        The vocabulary entries of each of the query's groups.
    seed
        What draws depend on besides.
    match
        "between": random groups are as coherent as the query's, and as near to each other. "within": they are as
        coherent.
    left_out
        Rows of further words that are in no draw. Draw b starts from the seed that it starts from without them.
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
                    f"other as the words of a group are (mean cosine {cosine:.2f}); a test needs {fewest}"
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
    """What `make` gives, made once by all processes of a run that share a folder."""
    if path is None or not _is_own(path.parent):  # or those that shared it have ended
        # BLAS of several threads rounds otherwise
        with threadpool_limits(1):
            return make()
    with hold_lock(path.with_suffix(".lock")):
        if not path.is_file():
            with threadpool_limits(1):
                write_bytes(path, pickle.dumps(make()))
    return pickle.loads(path.read_bytes())


def _is_own(folder: Path) -> bool:
    """Whether a folder is there and this user's: what is in it is unpickled, and the name of one that is gone may be
    taken by another user."""
    try:
        return folder.stat().st_uid == getattr(os, "geteuid", int)()
    except OSError:
        return False


@remember(8)
def _digest(model: Model, pool: Pool) -> str:
    """Changes when the vectors or the neighbours do that random groups of a state of a model are drawn by."""
    hasher = hashlib.sha256(unit_vectors(model, pool).data)
    for part in (pool.rows, pool.bands, pool.seeds, pool.near):
        hasher.update(np.ascontiguousarray(part).data)
    return hasher.hexdigest()


@remember(8)
def unit_vectors(model: Model, pool: Pool) -> np.ndarray:
    """Unit vectors of the pool's words in this state of the model: float32 (n, dimensions)."""
    vectors = model.matrix(list(pool.entries), pool.rows)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def _pairs(groups: Sequence[Any]) -> list[tuple[int, int]]:
    return list(combinations(range(len(groups)), 2))


def _keys(groups: Sequence[np.ndarray]) -> list[bytes]:
    """What two draws of the same groups have in common."""
    in_order = np.concatenate([np.sort(group, axis=1) for group in groups], axis=1).astype(np.int32)
    return [row.tobytes() for row in in_order]


def _between(groups: Sequence[np.ndarray], sums: Sequence[np.ndarray]) -> np.ndarray:
    """Mean cosines of each pair of groups: (draws, pairs)."""
    pairs = [
        np.vecdot(sums[a], sums[b]) / (groups[a].shape[1] * groups[b].shape[1]) for a, b in _pairs(groups)
    ]
    return np.stack(pairs, axis=1) if pairs else np.empty((len(groups[0]), 0))


def _drop_furthest(errors: np.ndarray, is_good: np.ndarray) -> None:
    """Take the draws out of `is_good` (draws,) that are furthest off on the side to which `errors` (draws, pairs)
    lean, until their mean is near enough."""
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
