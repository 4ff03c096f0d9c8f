"""Random groups: does a metric say more of the query's groups than of arbitrary groups of words of this model?

The null hypothesis is that the query's groups are groups as any others. Only the groups are drawn anew; the words
that they are compared with, and the neighbours of these, stay. A random group has as many words as the query's, is
as coherent (the mean cosine of its words with each other is the same to within `NEAR`), has none of the query's
words, and its words are from the same bands of rows, which in most models are bands of frequency.
"""

from __future__ import annotations

import hashlib
import math
import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..embeddings.model import remember
from ..embeddings.store import DebiasedModel, EmbeddingStore
from ..files import hold_lock, write_bytes
from ..geometry import unit
from ..metrics.registry import Metric
from ..processes import RANDOM_GROUPS
from ..query import Query
from ..words import FoundSet, WordOptions, rows_of
from .bootstrap import digest
from .permutation import Permutation, drawn_test
from .pool import NEAREST, WIDTHS, Pool, bands_of

# how far a random group's mean cosine may be from that of the query's group
NEAR = 0.03
# groups that are drawn for each that is wanted: some are not near enough, or share a word
SPARE = 1.5
# with fewer groups, or fewer seeds whose neighbours are as near to each other as the group's words, there is no test
FEWEST, FEWEST_SEEDS = 99, 30
# of the seeds whose neighbours are near enough to each other, this share has random groups, and no fewer than there
# are groups: those whose neighbours are hardly nearer to each other than the group's words
LEAST = 1 / 3
# attempts at groups that are as coherent as they should be; attempts with any words, of which few may be
ROUNDS, ROUNDS_OF_ANY = 9, 60
# where groups of any words are as coherent as the query's in this share of attempts, random groups are of any words
OFTEN = 0.1
# of more random groups than this share of which the metric has no value, those that have one are no fair sample
MOST_UNDEFINED = 0.05


@dataclass(frozen=True)
class GroupsTest:
    """The outcome of a test against random groups.

    test            its p-value and null distribution; `observed` is the metric's value, but for RNSB's, whose random
                    splits are left out here
    cosines         mean cosine of the words of each of the query's groups with each other; NaN of one word
    random_cosines  the mean of that over the random groups
    """

    test: Permutation
    cosines: list[float]
    random_cosines: list[float]

    @property
    def facts(self) -> dict[str, Any]:
        """What is said of the groups beside the test."""
        return {"cosines": self.cosines, "matched": self.random_cosines}


def groups_test(
    metric: Metric,
    query: Query,
    targets: Sequence[FoundSet],
    attributes: Sequence[FoundSet],
    parameters: Mapping[str, Any],
    options: WordOptions,
    model: EmbeddingStore | DebiasedModel,
    pool: Pool,
    *,
    draws: int,
    alternative: str,
    seed: int,
) -> GroupsTest | str:
    """Test a metric's value of a query against that of random groups; or why that cannot be done, in a sentence.

    `targets` and `attributes` are what `measure.subquery` gives, `metric` and `parameters` as `Metric.under` has
    them, `alternative` is "greater", "less" or "two-sided". A p-value is (k + 1) / (draws + 1), k the number of
    random groups of which the value is as extreme.
    """
    groups, words = (targets, attributes) if metric.regrouped == "targets" else (attributes, targets)
    random_groups = draw_groups(pool, model, groups, query, options, draws, seed)
    if isinstance(random_groups, str):
        return random_groups
    # the query's own groups come first, so that they are measured as the random ones are
    all_groups, ends = _concatenate([*groups, random_groups.words])
    places = [
        np.concatenate([np.arange(end - len(group.keys), end)[None], ends[-2] + random])
        for group, end, random in zip(groups, ends, random_groups.places, strict=False)
    ]
    values = _values(metric, all_groups, places, words, parameters, model)
    observed, values = float(values[0]), values[1:]
    finite = np.isfinite(values)
    if not np.isfinite(observed) or np.count_nonzero(~finite) > MOST_UNDEFINED * len(values):
        return f"the metric has no value for {np.count_nonzero(~finite)} of {len(values)} random groups"
    test = drawn_test(values[finite], observed, alternative)
    return GroupsTest(test, random_groups.cosines, random_groups.random_cosines)


def _concatenate(sets: Sequence[FoundSet]) -> tuple[FoundSet, np.ndarray]:
    """The rows of all sets as one, and where each set ends."""
    words, keys = (tuple(chain.from_iterable(getattr(s, name) for s in sets)) for name in ("words", "keys"))
    vectors = np.concatenate([s.vectors for s in sets])
    all_groups = FoundSet("groups", words, keys, np.arange(len(keys)), vectors, {}, ())
    return all_groups, np.cumsum([len(s.keys) for s in sets])


def _values(
    metric: Metric,
    all_groups: FoundSet,
    places: Sequence[np.ndarray],
    words: Sequence[FoundSet],
    parameters: Mapping[str, Any],
    model: EmbeddingStore | DebiasedModel,
) -> np.ndarray:
    """The metric's value of each draw of groups."""

    def sides(of_groups: Sequence, of_words: Sequence) -> tuple[Sequence, Sequence]:
        return (of_groups, of_words) if metric.regrouped == "targets" else (of_words, of_groups)

    def model_parameters(groups: Sequence[FoundSet]) -> Mapping[str, Any]:
        return metric.of_model(model, *sides(groups, words), **parameters) if metric.of_model else {}

    word_vectors = [s.vectors for s in words]
    if metric.redrawn:
        return metric.redrawn(
            all_groups.vectors, places, word_vectors, **parameters, **model_parameters([all_groups])
        )
    values = []
    for draw in zip(*places, strict=True):
        groups = [all_groups.take(rows) for rows in draw]
        vectors = sides([group.vectors for group in groups], word_vectors)
        values.append(metric.function(*vectors, **parameters, **model_parameters(groups)).value)
    return np.array(values)


@dataclass(frozen=True)
class RandomGroups:
    """Random groups in place of a query's.

    words           all that are in them, as if they were one set that was looked up
    places          for each group of the query, which of these words are in each random one: (draws, words of the
                    group)
    cosines         mean cosine of the words of each of the query's groups with each other; NaN of one word
    random_cosines  the mean of that over the random groups
    """

    words: FoundSet
    places: list[np.ndarray]
    cosines: list[float]
    random_cosines: list[float]


def draw_groups(
    pool: Pool,
    model: EmbeddingStore | DebiasedModel,
    groups: Sequence[FoundSet],
    query: Query,
    options: WordOptions,
    draws: int,
    seed: int,
) -> RandomGroups | str:
    """Random groups in place of `groups`, sets of the query as they were looked up; or why there are none.

    What is drawn depends on `seed`, the words of each group, the query's words and the model, so that all metrics
    draw alike. Groups of one draw have no word in common.
    """
    sets = (*query.target_sets, *query.attribute_sets)
    left_out = np.unique(np.concatenate([rows_of(s.words, model, options) for s in sets]))
    arguments = (model, pool, tuple(g.keys for g in groups), tuple(left_out.tolist()), draws, seed)
    return _look_up(*arguments, options.normalize)


# vectors of the groups' words take megabytes, places in the pool do not: these are kept for many queries
@remember(2)
def _look_up(
    model: EmbeddingStore | DebiasedModel,
    pool: Pool,
    groups: tuple[tuple[str, ...], ...],
    left_out: tuple[int, ...],
    draws: int,
    seed: int,
    normalize: bool,
) -> RandomGroups | str:
    outcome = _draw_once(model, pool, groups, left_out, draws, seed)
    if isinstance(outcome, str):
        return outcome
    places, cosines, random_cosines = outcome
    pool_places, compact = np.unique(np.concatenate([p.ravel() for p in places]), return_inverse=True)
    parts = np.split(compact, np.cumsum([p.size for p in places])[:-1])
    entries = tuple(map(pool.entries.__getitem__, pool_places.tolist()))
    vectors = model.take(entries, pool.rows[pool_places])
    vectors = unit(vectors) if normalize else vectors
    words = FoundSet("random groups", entries, entries, np.arange(len(pool_places)), vectors, {}, ())
    return RandomGroups(
        words, [part.reshape(p.shape) for part, p in zip(parts, places, strict=True)], cosines, random_cosines
    )


# queries times models whose groups are known; a study's metrics ask for the same ones
@remember(512)
def _draw_once(
    model: EmbeddingStore | DebiasedModel, pool: Pool, *arguments: Any
) -> tuple[list[np.ndarray], list[float], list[float]] | str:
    """What `_draw` gives, drawn once by all processes of a run that share a folder."""
    folder = os.environ.get(RANDOM_GROUPS)
    if not folder:
        return _draw(pool, model, *arguments)
    path = Path(folder) / hashlib.sha256(repr((_digest(model, pool), *arguments)).encode()).hexdigest()
    with hold_lock(path.with_suffix(".lock")):
        if not path.is_file():
            write_bytes(path, pickle.dumps(_draw(pool, model, *arguments)))
    return pickle.loads(path.read_bytes())


@remember(8)
def _digest(model: EmbeddingStore | DebiasedModel, pool: Pool) -> str:
    """Changes when the vectors or the neighbours do that random groups of a state of a model are drawn by."""
    hasher = hashlib.sha256(_unit_vectors(model, pool))
    for part in (pool.rows, pool.bands, pool.seeds, pool.near):
        hasher.update(np.ascontiguousarray(part))
    return hasher.hexdigest()


def _draw(
    pool: Pool,
    model: EmbeddingStore | DebiasedModel,
    groups: tuple[tuple[str, ...], ...],
    left_out: tuple[int, ...],
    draws: int,
    seed: int,
) -> tuple[list[np.ndarray], list[float], list[float]] | str:
    """Places in the pool, one array (draws, words) for each group, and mean cosines of the groups and of these."""
    vectors = _unit_vectors(model, pool)
    free = ~np.isin(pool.rows, left_out)
    random_groups, cosines = [], []
    for keys in groups:
        rows, first, copies = np.unique(model.rows(keys), return_index=True, return_inverse=True)
        group_vectors = unit(model.take([keys[i] for i in first], rows))
        if not (np.isfinite(group_vectors).all() and group_vectors.any(axis=1).all()):
            return "a word of the groups has no direction: its vector is zero"
        cosines.append(float(_mean_cosines(group_vectors, np.arange(len(group_vectors))[None])[0]))
        if len(rows) > NEAREST:
            return f"a group has more than {NEAREST} words, and so many neighbours of a word are not known"
        rng = np.random.default_rng([seed, digest(keys)])
        places = _draw_coherent(
            pool, vectors, bands_of(rows), cosines[-1], free, math.ceil(SPARE * draws), rng
        )
        if places is None:
            return (
                "too few words of the model have neighbours as near to each other as the words of a group are "
                f"(mean cosine {cosines[-1]:.2f})"
            )
        # as `rows` are, by band, so that a word takes the place, and the part in a pair, of one as frequent
        order = np.argsort(pool.bands[places] + rng.random(places.shape), axis=1)
        random_groups.append((np.take_along_axis(places, order, axis=1), copies))
    most = min(len(places) for places, _ in random_groups)
    all_places = np.sort(np.concatenate([places[:most] for places, _ in random_groups], axis=1), axis=1)
    disjoint = np.flatnonzero((np.diff(all_places, axis=1) > 0).all(axis=1))[:draws]
    if len(disjoint) < min(FEWEST, draws):
        return f"only {len(disjoint)} random groups are as coherent as the query's; a test needs {FEWEST}"
    random_cosines = [float(_mean_cosines(vectors, places[disjoint]).mean()) for places, _ in random_groups]
    # a word that stands in a group twice does so in random groups
    return [places[disjoint][:, copies] for places, copies in random_groups], cosines, random_cosines


@remember(8)
def _unit_vectors(model: EmbeddingStore | DebiasedModel, pool: Pool) -> np.ndarray:
    """Unit vectors of the pool's words in this state of the model: float32 (n, dimensions)."""
    vectors = model.matrix(list(pool.entries), pool.rows)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def _mean_cosines(vectors: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Mean cosine with each other of the words of groups, places (groups, words) in unit vectors (n, dimensions); NaN
    of one word."""
    words = groups.shape[1]
    if words == 1:
        return np.full(len(groups), math.nan)
    total = vectors.take(groups[:, 0], axis=0)
    # word by word: an array of all words' vectors would take a hundred megabytes
    for places in groups.T[1:]:
        total += vectors.take(places, axis=0)
    return (np.vecdot(total, total) - words) / (words * (words - 1))


def _draw_coherent(
    pool: Pool,
    vectors: np.ndarray,
    bands: np.ndarray,
    cosine: float,
    free: np.ndarray,
    draws: int,
    rng: np.random.Generator,
) -> np.ndarray | None:
    """Random groups, places in the pool (at most `draws`, words), of words in these bands, whose mean cosine is near
    `cosine`; None where too few seeds have so coherent neighbours, or so many. Only words that are `free` are in
    them."""
    members, counts = np.unique(bands, return_counts=True)
    if members[-1] >= pool.near.shape[1]:
        return None
    seeds = _tight_seeds(pool, vectors, members, counts, cosine, free)
    if len(seeds) < FEWEST_SEEDS:
        return None
    chosen_seeds = _choose(pool, seeds, members, counts, draws, rng)
    if len(bands) == 1:
        return pool.seeds[chosen_seeds][:, None]

    def attempt(chosen_seeds: np.ndarray, width: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        luck = rng.random((len(chosen_seeds), len(members), NEAREST))
        groups = _groups_around(pool, chosen_seeds, counts, members, free, width, luck)
        return groups, np.where((groups >= 0).all(axis=1), _mean_cosines(vectors, groups), np.inf)

    # any words first. Where these are often as coherent, random groups are of any words: a narrow neighbourhood that
    # is as coherent by chance would be of one topic, which the query's group need not be
    groups, group_cosines = attempt(chosen_seeds, np.ones(draws))
    distances = np.abs(group_cosines - cosine)
    if (distances <= NEAR).mean() >= OFTEN or np.median(group_cosines) >= cosine:
        return _nearest(attempt, chosen_seeds, groups, distances, cosine, ROUNDS_OF_ANY, halve=False)
    # a seed whose nearest words are much nearer to each other has a wide neighbourhood that is as coherent, which is
    # of more general words than the query's group is where that is of one topic
    chosen_seeds = _choose(
        pool, seeds[: max(draws, math.ceil(LEAST * len(seeds)))], members, counts, draws, rng
    )
    return _nearest(attempt, chosen_seeds, groups, np.full(draws, np.inf), cosine, ROUNDS, halve=True)


def _tight_seeds(
    pool: Pool, vectors: np.ndarray, members: np.ndarray, counts: np.ndarray, cosine: float, free: np.ndarray
) -> np.ndarray:
    """Seeds that may stand in a group of `counts` words of each band of `members`, and whose nearest words are at
    least as near to each other as `cosine`: those whose words are least so come first."""
    seeds = np.flatnonzero(free[pool.seeds] & np.isin(pool.bands[pool.seeds], members))
    if counts.sum() == 1:
        return seeds
    zeros = np.zeros((len(seeds), len(members), 1))
    nearest = _groups_around(pool, seeds, counts, members, free, zeros[:, 0, 0], zeros)
    tightness = _mean_cosines(vectors, nearest)
    eligible = np.flatnonzero((tightness >= cosine - NEAR / 2) & (nearest >= 0).all(axis=1))
    return seeds[eligible[np.argsort(tightness[eligible], kind="stable")]]


def _choose(
    pool: Pool,
    seeds: np.ndarray,
    members: np.ndarray,
    counts: np.ndarray,
    draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """A seed for each draw, so that each word of the group is the seed as often as any other, of a band that has
    seeds; none twice, if there are as many."""
    bands = pool.bands[pool.seeds[seeds]]
    has_seeds = np.isin(members, bands)
    seed_bands = rng.choice(members[has_seeds], size=draws, p=counts[has_seeds] / counts[has_seeds].sum())
    chosen_seeds = np.empty(draws, dtype=np.int64)
    for band in members[has_seeds]:
        of_band = rng.permutation(seeds[bands == band])
        chosen_seeds[seed_bands == band] = np.resize(of_band, np.count_nonzero(seed_bands == band))
    return chosen_seeds


def _nearest(
    attempt: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    chosen_seeds: np.ndarray,
    groups: np.ndarray,
    distances: np.ndarray,
    cosine: float,
    rounds: int,
    *,
    halve: bool,
) -> np.ndarray:
    """The groups around the chosen seeds whose mean cosine is within `NEAR` of `cosine`, after so many attempts at
    each that is not yet within a fourth of that; `groups`, whose cosines are `distances` from it, are a first
    attempt. They are of any words or, with `halve`, of a neighbourhood whose width is found by halving."""
    low, high = np.zeros(len(chosen_seeds)), np.ones(len(chosen_seeds))
    for _ in range(rounds):
        retries = np.flatnonzero(distances > NEAR / 4)
        if not len(retries):
            break
        width = (low[retries] + high[retries]) / 2 if halve else high[retries]
        new_groups, new_cosines = attempt(chosen_seeds[retries], width)
        low[retries] = np.where(halve & (new_cosines > cosine), width, low[retries])
        high[retries] = np.where(halve & (new_cosines <= cosine), width, high[retries])
        new_distances = np.abs(new_cosines - cosine)
        better = new_distances < distances[retries]
        groups[retries[better]], distances[retries[better]] = new_groups[better], new_distances[better]
    return groups[distances <= NEAR]


def _groups_around(
    pool: Pool,
    seeds: np.ndarray,
    counts: np.ndarray,
    members: np.ndarray,
    free: np.ndarray,
    width: np.ndarray,
    luck: np.ndarray,
) -> np.ndarray:
    """Groups (seeds, words), places in the pool, of seeds and neighbours of theirs: `counts` words of each band of
    `members`, the seed among them, at random from neighbourhoods of `width` (seeds,), 0 (the nearest words) to 1 (any
    words). -1 where there are too few."""
    groups = np.full((len(seeds), counts.sum()), -1, dtype=np.int64)
    groups[:, 0] = pool.seeds[seeds]
    next_column = np.ones(len(seeds), dtype=np.int64)
    for place, (band, count) in enumerate(zip(members, counts, strict=True)):
        vacancies = count - (pool.bands[groups[:, 0]] == band)
        most = int(vacancies.max())
        if not most:
            continue
        # so many words of the band are in the neighbourhood; of wide ones every fourth, sixteenth, ... is known
        size = np.maximum(vacancies, 1) * np.exp(
            width * np.log(NEAREST * 4.0 ** (WIDTHS - 1) / np.maximum(vacancies, 1))
        )
        level = np.ceil(np.log(size / NEAREST) / np.log(4)).clip(0, WIDTHS - 1).astype(np.int64)
        neighbours = pool.near[seeds, band, level]
        is_free = (neighbours >= 0) & free[neighbours]
        rank = np.cumsum(is_free, axis=1)
        in_reach = rank <= np.maximum(size / 4.0**level, vacancies)[:, None]
        # at random from the neighbourhood; nothing from without, nearest first, but where it is too small
        key = np.where(in_reach, luck[:, place], rank)
        key[~is_free] = np.inf
        order = np.argpartition(key, most - 1, axis=1)[:, :most]
        order = np.take_along_axis(order, np.argsort(np.take_along_axis(key, order, axis=1), axis=1), axis=1)
        picks = np.take_along_axis(np.where(is_free, neighbours, -1), order, axis=1)
        rows, columns = np.nonzero(np.arange(most) < vacancies[:, None])
        groups[rows, next_column[rows] + columns] = picks[rows, columns]
        next_column += vacancies
    return groups
