"""Pool of a model: the words from which random groups are drawn, and their nearest neighbours.

A random group as coherent as a query's group consists of a random word, the seed, and words from its neighbourhood.
The wider the neighbourhood, the less coherent is the group. The pool therefore has, for some of its words,
neighbours from neighbourhoods of every width: the nearest ones among all words of the pool, among a fourth of them,
a sixteenth, and so on.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from threadpoolctl import threadpool_limits

from ..core.errors import BiasgridError
from ..core.files import write_bytes
from ..models.model import DebiasedModel, Model

# Number of words of each band of rows, and of words with neighbours. Most words of queries are in the first two
# bands: with fewer words there, too few would be as coherent as the most coherent groups.
WORDS_OF_BAND, SEEDS_OF_BAND = 6_000, (1024, 3072, 5000, 2500, 600)
# Rows of the first band; each further band reaches four times as far, and the last one to the end of the model.
BAND, BANDS = 1024, 5
# Number of known neighbours of a seed for each width of neighbourhood, and number of widths: all words of a band, a
# fourth of them, ...
NEAREST, WIDTHS = 64, 5
BLOCK = 256


@dataclass(frozen=True, eq=False)
class Pool:
    """Words of a model from which random groups are drawn.

    Attributes
    ----------
    rows
        (n,), the words' rows in the store, in random order.
    entries
        The words' vocabulary entries.
    bands
        (n,), the band of rows of each word; see `bands_of`.
    seeds
        (s,), indices of the words with neighbours here.
    near
        (s, bands, WIDTHS, NEAREST), indices of the words of each band that are nearest to a seed, nearest first:
        among all words of the band, a fourth of them, ...; -1 marks missing neighbours.
    """

    rows: np.ndarray
    entries: tuple[str, ...]
    bands: np.ndarray
    seeds: np.ndarray
    near: np.ndarray

    def save(self, path: Path) -> None:
        """Write the pool; the same pool gives the same bytes."""
        file = BytesIO()
        arrays = {name: getattr(self, name) for name in ("rows", "bands", "seeds", "near")}
        np.savez(file, entries=np.array(self.entries), **arrays)
        write_bytes(path, file.getvalue())

    @classmethod
    def load(cls, path: Path) -> Pool:
        """Read the file that `save` wrote. Raises BiasgridError for a file that is not a pool."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in ("rows", "bands", "seeds", "near")}
                return cls(entries=tuple(file["entries"].tolist()), **arrays)
        except (OSError, ValueError, KeyError, EOFError, BadZipFile, SyntaxError, OverflowError) as error:
            raise BiasgridError(
                f"{path}: no pool of random groups ({error}); delete it, and run again"
            ) from None


def stored_pool(path: Path) -> Pool | None:
    """Read the pool in a file, once. Return None for a missing or damaged file; it is then made when needed."""
    try:
        return _read_pool(path, path.stat().st_mtime_ns) if path.is_file() else None
    except BiasgridError:
        return None


@lru_cache(maxsize=16)
def _read_pool(path: Path, time: int) -> Pool:
    return Pool.load(path)


def bands_of(rows: np.ndarray) -> np.ndarray:
    """Return the band of rows: 0 for the first 1,024, 1 for the next 3,072, then 12,288 and 49,152, 4 for all
    others."""
    return np.ceil(np.log2(np.maximum((rows + 1) / BAND, 1)) / 2).clip(max=BANDS - 1).astype(np.int64)


def draw_words(
    model: Model, rng: np.random.Generator
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray]:
    """Draw words of every band of rows from a model, in random order.

    Words are drawn from each band of rows, so that random groups can have words as frequent as the query's: most
    files are in the order of frequency. In other files, a band of thousands of rows is as good as any other.

    Parameters
    ----------
    model
        Model of the vectors: possibly a debiased one, in which other words may have length 0.
    rng
        Random generator for the words.

    Returns
    -------
    tuple
        The words, their rows, their bands of rows, and their unit vectors (words, d). Zero vectors are left out.
    """
    # Take the last band's words from the first million rows: further ones are slow to read, and hardly words.
    entries, rows = model.vocabulary(BAND * 4**BANDS)
    bands = bands_of(rows)
    order = rng.permutation(len(rows))
    order = np.concatenate([order[bands[order] == band][:WORDS_OF_BAND] for band in np.unique(bands)])
    vectors = model.matrix([entries[i] for i in order], rows[order])
    lengths = np.linalg.norm(vectors, axis=1)
    has_length = lengths > 0
    order, vectors = order[has_length], vectors[has_length] / lengths[has_length, None]
    return tuple(entries[i] for i in order), rows[order], bands[order], vectors


def make_pool(model: Model) -> Pool:
    """Make the pool of a model.

    A debiased model has the pool of its original model. The pool is the same for any number of cores, and drawn
    with one seed for all models.
    """
    store = model.model if isinstance(model, DebiasedModel) else model
    rng = np.random.default_rng(0)
    entries, rows, bands, vectors = draw_words(store, rng)
    number = int(bands.max(initial=0)) + 1
    picks = [rng.permutation(np.flatnonzero(bands == band))[: SEEDS_OF_BAND[band]] for band in range(number)]
    seeds = np.concatenate(picks).astype(np.int64)
    near = np.full((len(seeds), number, WIDTHS, NEAREST), -1, dtype=np.int16)
    # BLAS rounds differently with several threads.
    with threadpool_limits(1):
        for band in range(number):
            members = np.flatnonzero(bands == band)
            if len(members):
                _find_nearest(vectors, members, seeds, near[:, band])
    return Pool(rows, entries, bands, seeds, near)


def _find_nearest(vectors: np.ndarray, members: np.ndarray, seeds: np.ndarray, near: np.ndarray) -> None:
    """Fill `near` (seeds, WIDTHS, NEAREST) with the nearest of `members`, which are in random order."""
    member_vectors = vectors[members].T
    for start in range(0, len(seeds), BLOCK):
        block = seeds[start : start + BLOCK]
        similar = vectors[block] @ member_vectors
        similar[block[:, None] == members] = -np.inf
        for width in range(WIDTHS):
            # Take at least the number of neighbours, and one more, which may be the seed itself.
            size = min(max(len(members) // 4**width, NEAREST + 1), len(members))
            most = min(NEAREST, size - 1)
            if not most:
                break
            closeness = similar
            if width:
                # Members are in random order: take `size` consecutive ones, from another start for each seed.
                first = size * np.arange(start, start + len(block)) % len(members)
                subset = np.arange(size) + first[:, None]
                subset -= len(members) * (subset >= len(members))
                closeness = np.take_along_axis(similar, subset, axis=1)
            nearest = np.argpartition(closeness, size - most, axis=1)[:, -most:]
            order = np.argsort(-np.take_along_axis(closeness, nearest, axis=1), axis=1, kind="stable")
            nearest = np.take_along_axis(nearest, order, axis=1)
            nearest = np.take_along_axis(subset, nearest, axis=1) if width else nearest
            near[start : start + BLOCK, width, :most] = members[nearest]


# Keep the pools of models that are measured without a study while the models exist.
_POOLS: weakref.WeakKeyDictionary[Any, Pool] = weakref.WeakKeyDictionary()


def pool_of(model: Any) -> Pool | None:
    """Return `make_pool` of an open model, computed once; None for a model of a kind without vectors."""
    store = model.model if isinstance(model, DebiasedModel) else model
    if not isinstance(store, Model) and not hasattr(store, "array"):
        return None
    if store not in _POOLS:
        _POOLS[store] = make_pool(store)
    return _POOLS[store]


def write_pool(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the words from which random groups of a model are drawn (inputs: "store", a `StoreOf`)."""
    make_pool(inputs["store"].open()).save(output)
