"""The pool of a model: the words that random groups are made of, and which of them are near to which.

A random group that is to be as coherent as a query's is a random word, the seed, and words from its neighbourhood:
the wider that is, the less coherent the group. So the pool has, for some of its words, neighbours from neighbourhoods
of every width: the nearest ones among all words of the pool, among a fourth of them, a sixteenth, and so on.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from threadpoolctl import threadpool_limits

from ..embeddings.store import DebiasedModel, EmbeddingStore
from ..errors import BiasgridError
from ..files import write_bytes

# of a model whose order is not that of frequency
WORDS, SEEDS = 20_000, 1_000
# of others, in each band
WORDS_OF_BAND, SEEDS_OF_BAND = 6_000, 400
# rows of the first band; each further one reaches four times as far, and the last one to the end of the model
BAND, BANDS = 1024, 5
# neighbours of a seed that are known for each width of neighbourhood, and how many widths there are: all words of a
# band, a fourth of them, ...
NEAREST, WIDTHS = 64, 5
BLOCK = 256


@dataclass(frozen=True, eq=False)
class Pool:
    """Words of a model that random groups are made of.

    rows     (n,) the words' rows in the store, in random order
    entries  the words, as the vocabulary has them
    bands    (n,) the band of rows that each is in, see `bands_of`
    seeds    (s,) which of the words have neighbours here
    near     (s, bands, WIDTHS, NEAREST) which of the words of each band are nearest to a seed, nearest first: among
             all words of the band, a fourth of them, ...; -1 where there are no more
    banded   whether there is more than one band: not where the model's order is said not to be that of frequency
    """

    rows: np.ndarray
    entries: tuple[str, ...]
    bands: np.ndarray
    seeds: np.ndarray
    near: np.ndarray
    banded: bool

    def save(self, path: Path) -> None:
        """Write the pool; the same bytes for the same pool."""
        file = BytesIO()
        arrays = {name: getattr(self, name) for name in ("rows", "bands", "seeds", "near")}
        np.savez(file, entries=np.array(self.entries), banded=self.banded, **arrays)
        write_bytes(path, file.getvalue())

    @classmethod
    def load(cls, path: Path) -> Pool:
        """Read what `save` wrote. Raises BiasgridError for a file that is no pool."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in ("rows", "bands", "seeds", "near")}
                return cls(entries=tuple(file["entries"].tolist()), banded=bool(file["banded"]), **arrays)
        except (OSError, ValueError, KeyError, EOFError, BadZipFile, SyntaxError, OverflowError) as error:
            raise BiasgridError(
                f"{path}: no pool of random groups ({error}); delete it, and run again"
            ) from None


def bands_of(rows: np.ndarray, banded: bool) -> np.ndarray:
    """The band of rows: 0 for the first 1,024, 1 for the next 3,072, then 12,288 and 49,152, 4 for all others; 0
    for all where they are not `banded`."""
    if not banded:
        return np.zeros(len(rows), dtype=np.int64)
    return np.ceil(np.log2(np.maximum((rows + 1) / BAND, 1)) / 2).clip(max=BANDS - 1).astype(np.int64)


def declared_order(model: EmbeddingStore | DebiasedModel, order: bool | None = None) -> bool | None:
    """Whether the model's rows are in the order of frequency: `order` where it is given, else what the store's
    record says (`sorted`); None where nothing does."""
    store = model.model if isinstance(model, DebiasedModel) else model
    return getattr(store, "metadata", {}).get("sorted") if order is None else order


def make_pool(model: EmbeddingStore | DebiasedModel, order: bool | None = None) -> Pool:
    """The pool of a model, that of an untouched model also for it under a debias method: the same for any number of
    cores, and drawn with one seed for all models.

    `order` says whether the model's rows are in the order of frequency (None: what `declared_order` knows). If so,
    words are drawn from each band of rows, so that random groups can be of words as frequent as the query's; and if
    it is not known, too: most files are in that order, and where one is not, a band of thousands of rows is as good
    as any other. Of a model that is said not to be, they are drawn from all rows.
    """
    store = model.model if isinstance(model, DebiasedModel) else model
    order = declared_order(store, order)
    rng = np.random.default_rng(0)
    banded = order is not False
    # the last band's words from the first million rows: more are slow to read, and hardly words
    entries, rows = store.vocabulary(BAND * 4**BANDS if banded else None)
    bands = bands_of(rows, banded)
    drawn = rng.permutation(len(rows))
    most, seeds_of_band = (WORDS_OF_BAND, SEEDS_OF_BAND) if banded else (WORDS, SEEDS)
    drawn = np.concatenate([drawn[bands[drawn] == band][:most] for band in np.unique(bands)])
    vectors = store.matrix([entries[i] for i in drawn], rows[drawn])
    lengths = np.linalg.norm(vectors, axis=1)
    there = lengths > 0
    drawn, vectors = drawn[there], vectors[there] / lengths[there, None]
    rows, bands = rows[drawn], bands[drawn]
    number = int(bands.max(initial=0)) + 1
    seeds = [rng.permutation(np.flatnonzero(bands == band))[:seeds_of_band] for band in range(number)]
    seeds = np.concatenate(seeds).astype(np.int64)
    near = np.full((len(seeds), number, WIDTHS, NEAREST), -1, dtype=np.int32)
    # BLAS of several threads rounds otherwise
    with threadpool_limits(1):
        for band in range(number):
            members = np.flatnonzero(bands == band)
            if len(members):
                _find_nearest(vectors, members, seeds, near[:, band])
    return Pool(rows, tuple(entries[i] for i in drawn), bands, seeds, near, banded)


def _find_nearest(vectors: np.ndarray, members: np.ndarray, seeds: np.ndarray, near: np.ndarray) -> None:
    """Fill `near` (seeds, WIDTHS, NEAREST) with the nearest of `members`, which are in random order."""
    others = vectors[members].T
    for start in range(0, len(seeds), BLOCK):
        block = seeds[start : start + BLOCK]
        similar = vectors[block] @ others
        similar[block[:, None] == members] = -np.inf
        for width in range(WIDTHS):
            # at least as many words as neighbours are wanted, and one that may be the seed itself
            size = min(max(len(members) // 4**width, NEAREST + 1), len(members))
            # members are in random order: so many in a row, from another place for each seed
            among = (np.arange(size) + size * np.arange(start, start + len(block))[:, None]) % len(members)
            closeness = np.take_along_axis(similar, among, axis=1) if width else similar
            most = min(NEAREST, size - 1)
            if not most:
                break
            nearest = np.argpartition(closeness, size - most, axis=1)[:, -most:]
            order = np.argsort(-np.take_along_axis(closeness, nearest, axis=1), axis=1, kind="stable")
            nearest = np.take_along_axis(nearest, order, axis=1)
            nearest = np.take_along_axis(among, nearest, axis=1) if width else nearest
            near[start : start + BLOCK, width, :most] = members[nearest]


# pools of models that are measured without a study, as long as the models are there
_POOLS: weakref.WeakKeyDictionary[EmbeddingStore, dict[Any, Pool]] = weakref.WeakKeyDictionary()


def pool_of(model: EmbeddingStore | DebiasedModel, order: bool | None = None) -> Pool:
    """`make_pool`, made once for a model that is open."""
    store = model.model if isinstance(model, DebiasedModel) else model
    pools = _POOLS.setdefault(store, {})
    order = declared_order(store, order)
    if order not in pools:
        pools[order] = make_pool(store, order)
    return pools[order]
