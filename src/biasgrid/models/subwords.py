"""n-grams of fastText and floret, which give words vectors computed from the parts of their spelling.

fastText's n-grams of a word are the runs of `min_n` to `max_n` characters of "<word>" (Bojanowski et al.
2017, section 3.2). Each is hashed (FNV-1a) into one of `buckets` rows. The vector of a word in the vocabulary
is the mean of its own row and the rows of its n-grams. The vector of another word is the mean of the rows of
its n-grams. All sums are float32 in the order of the n-grams, as in fastText and gensim, so that the values
are equal to the last bit.

floret hashes n-grams differently (`floret`), and does not have rows of words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BiasgridError
from ..core.untrusted import read_npy
from .appended_vectors import BEHIND, OF_NGRAMS, ExtendedModel, row_behind
from .floret import Floret, floret_rows

NGRAMS, SIZES = "ngrams.npy", "ngrams.json"  # next to a store's own files
BLOCK = 4 << 20  # bytes
LONGEST_NGRAM = 100  # characters; no model has longer ones
MANY_NGRAMS = 1000  # n-grams of a word
# Adding an n-gram costs as much as its `dimensions` numbers plus OF_NGRAM. A model of 300 dimensions whose words have
# 30 n-grams each costs 10 per byte.
OF_NGRAM, MOST_WORK, FREE = 40, 200, 10_000_000
END_OF_SENTENCE = b"</s>"  # fastText's own word, which does not have n-grams
OFFSET, PRIME = np.uint32(2166136261), np.uint32(16777619)


def ngram_rows(
    words: Sequence[bytes], min_n: int, max_n: int, buckets: int, own_words: bool = True
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the n-grams of words.

    Parameters
    ----------
    words
        Words in UTF-8.
    min_n, max_n
        The smallest and the largest number of characters of an n-gram.
    buckets
        The number of rows into which n-grams are hashed.
    own_words
        Whether fastText's own word </s> is without n-grams, as in fastText but not in gensim.

    Returns
    -------
    rows
        int64 (n-grams,): the row of each n-gram, word after word; within a word sorted by start, then by
        length.
    counts
        int64 (words,): the number of n-grams of each word.
    """
    no_ngrams = np.zeros(len(words), dtype=np.int64)
    if not buckets or max_n < 1 or not words:
        return np.array([], dtype=np.int64), no_ngrams
    text = np.frombuffer(b"".join(b"<%b>" % word for word in words), dtype=np.uint8)
    lengths = np.array([len(word) + 2 for word in words])
    # A character begins at each byte that does not continue one, and always at "<".
    begins = np.flatnonzero((text & 0xC0) != 0x80)
    ends = np.append(begins[1:], len(text))
    owner = np.repeat(np.arange(len(words)), lengths)[begins]
    last = np.searchsorted(owner, owner, side="right")  # the character after the word's last
    first = np.searchsorted(owner, owner, side="left")
    place = np.arange(len(begins))
    # fastText uses signed bytes, so bytes of non-ASCII characters are sign-extended.
    signed_bytes = text.astype(np.int8).astype(np.int32).view(np.uint32)
    hashes = np.full(len(begins), OFFSET)
    longest = int((last - first).max())
    ngrams = np.full((len(begins), max(0, min(max_n, longest) - min_n + 1)), -1, dtype=np.int64)
    for n in range(1, min(max_n, longest) + 1):
        starts = np.flatnonzero(place + n <= last)
        tails = starts + n - 1
        for byte in range(int((ends - begins).max())):
            has_byte = begins[tails] + byte < ends[tails]
            longer = starts[has_byte]
            hashes[longer] = (hashes[longer] ^ signed_bytes[begins[tails[has_byte]] + byte]) * PRIME
        # "<" and ">" alone do not count as n-grams.
        if n >= min_n and n == 1:
            starts = starts[(place[starts] > first[starts]) & (place[starts] < last[starts] - 1)]
        if n >= min_n:
            ngrams[starts, n - min_n] = hashes[starts] % np.uint32(buckets)
    if own_words:
        ngrams[np.array([word == END_OF_SENTENCE for word in words])[owner]] = -1
    is_ngram = ngrams >= 0
    return ngrams[is_ngram], np.bincount(owner, is_ngram.sum(axis=1), minlength=len(words)).astype(np.int64)


def vectors_of_words(
    words: Sequence[bytes],
    own: NDArray[np.float32] | None,
    ngrams: NDArray[np.float32],
    min_n: int,
    max_n: int,
    where: Path,
    own_words: bool = True,
    floret: Floret | None = None,
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield the vectors of a model's words, part by part: a slice of the words, and float32 (n, d).

    Parameters
    ----------
    words, min_n, max_n, own_words
        See `ngram_rows`.
    own
        The words' own rows (words or more, d); None for floret, which does not have them.
    ngrams
        The rows of the n-grams (buckets, d).
    where
        The name of the model in messages.
    floret
        Parameters of floret's hashing; None for fastText's.

    Raises
    ------
    BiasgridError
        The words have far more n-grams than the model has bytes.
    """
    dimensions = ngrams.shape[1]
    size = sum(map(len, words)) + 4 * dimensions * len(words) + ngrams.nbytes
    work = 0
    for part in parts(words, dimensions, max_n - min_n + 1):
        if floret is None:
            rows, counts = ngram_rows(words[part], min_n, max_n, len(ngrams), own_words)
        else:
            rows, counts = floret_rows(words[part], min_n, max_n, len(ngrams), floret)
        work += len(rows) * (dimensions + OF_NGRAM)
        if work > MOST_WORK * size + FREE:
            raise BiasgridError(
                f"{where}: its words have far more n-grams ({min_n} to {max_n} characters) than a model of its size: "
                "damaged, or made to take hours"
            )
        yield (
            part,
            _means(ngrams, rows, counts) if own is None else full_words(own[part], ngrams, rows, counts),
        )


def full_words(
    word_vectors: NDArray[np.float32],
    ngrams: NDArray[np.float32],
    rows: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Compute the mean of each word's own row (n, d) and the rows of its n-grams (`ngram_rows`): float32 (n, d)."""
    total = _add_ngrams(np.array(word_vectors, dtype=np.float32), ngrams, rows, counts)
    total /= (counts + 1).astype(np.float32)[:, None]
    return total


def _means(
    ngrams: NDArray[np.float32], rows: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Compute the mean of the rows of each word's n-grams alone: float32 (n, d), zeros for a word without n-grams."""
    zeros = np.zeros((len(counts), ngrams.shape[1]), dtype=np.float32)
    total = _add_ngrams(zeros, ngrams, rows, counts)
    total /= np.maximum(counts, 1).astype(np.float32)[:, None]
    return total


def _add_ngrams(
    total: NDArray[np.float32],
    ngrams: NDArray[np.float32],
    rows: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Add each word's n-grams one after the other, as float32 sums depend on their order."""
    starts = np.cumsum(counts) - counts
    # Sort the words by their number of n-grams, so that the words with an n-th n-gram come first.
    order = np.argsort(-counts, kind="stable")
    negative_counts = -counts[order]
    for n in range(min(MANY_NGRAMS, int(counts.max(initial=0)))):
        words = order[: np.searchsorted(negative_counts, -n, side="left")]
        total[words] += ngrams[rows[starts[words] + n]]
    for word in np.flatnonzero(counts > MANY_NGRAMS):  # not a word of any language
        word_rows = rows[starts[word] + MANY_NGRAMS : starts[word] + counts[word]]
        for start in range(0, len(word_rows), step(total.shape[1])):
            block = ngrams[word_rows[start : start + step(total.shape[1])]]
            block[0] += total[word]
            total[word] = np.add.accumulate(block, axis=0, out=block)[-1]  # adds in order, unlike `sum`
    return total


def parts(words: Sequence[bytes], dimensions: int, lengths: int) -> Iterator[slice]:
    """Yield slices of words so small that their vectors and n-grams (`lengths` lengths) take little memory."""
    limit = step(dimensions)
    start = size = 0
    for place, word in enumerate(words):
        size += (len(word) + 2) * (2 + max(0, lengths))
        if place + 1 - start == limit or size > BLOCK // 8:
            yield slice(start, place + 1)
            start, size = place + 1, 0
    if start < len(words):
        yield slice(start, len(words))


def step(dimensions: int) -> int:
    """Return the number of vectors to process at a time."""
    return max(1, min(8192, BLOCK // (4 * dimensions)))


@dataclass(frozen=True, eq=False)
class Subwords:
    """The n-grams of a model.

    Attributes
    ----------
    ngrams
        Their vectors, float32 (buckets, dimensions).
    min_n, max_n
        The smallest and the largest number of characters.
    folder
        The folder from which the vectors are memory-mapped, if any; a pickle then contains only the path.
    floret
        Parameters of floret's hashing; None for fastText's.
    """

    ngrams: NDArray[np.float32]
    min_n: int
    max_n: int
    folder: Path | None = None
    floret: Floret | None = None

    @classmethod
    def open(cls, folder: Path) -> Subwords:
        """Open the n-grams in a store's folder. Raise BiasgridError if there are none."""
        try:
            sizes = json.loads((folder / SIZES).read_text(encoding="utf-8"))
            floret = Floret(**sizes["floret"]) if "floret" in sizes else None
            ngrams = read_npy(folder / NGRAMS, memory_map=True)
            return cls(ngrams, sizes["min_n"], sizes["max_n"], folder, floret)
        except FileNotFoundError:
            raise BiasgridError(
                f"{folder}: has no vectors of n-grams: load the fastText file itself"
            ) from None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise BiasgridError(f"{folder}: its n-grams are damaged: {error!r:.100}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        if self.folder is not None:
            return Subwords.open, (self.folder,)
        return Subwords, (self.ngrams, self.min_n, self.max_n, None, self.floret)

    def have_ngrams(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return which words have n-grams: bool (words,)."""
        return self._rows(words)[1] > 0

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Compute vectors of words from their n-grams alone: float32 (words, dimensions)."""
        return _means(self.ngrams, *self._rows(words))

    def _rows(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        encoded_words = [word.encode("utf-8", "surrogatepass") for word in words]
        if self.floret is None:
            return ngram_rows(encoded_words, self.min_n, self.max_n, len(self.ngrams))
        return floret_rows(encoded_words, self.min_n, self.max_n, len(self.ngrams), self.floret)


def write_subwords(
    folder: Path, ngrams: NDArray[np.float32], min_n: int, max_n: int, floret: Floret | None = None
) -> None:
    """Write the files that `Subwords.open` reads, block by block."""
    target = np.lib.format.open_memmap(folder / NGRAMS, "w+", np.dtype("<f4"), ngrams.shape)
    for start in range(0, len(ngrams), step(ngrams.shape[1])):
        part = slice(start, start + step(ngrams.shape[1]))
        target[part] = ngrams[part]
        if not np.isfinite(target[part]).all():
            raise BiasgridError("the vectors of its n-grams have values that are not finite")
    target.flush()
    sizes = {"min_n": min_n, "max_n": max_n} | ({} if floret is None else {"floret": asdict(floret)})
    (folder / SIZES).write_text(json.dumps(sizes), encoding="utf-8")


class SubwordModel(ExtendedModel):
    """A model of fastText or floret that has a vector for nearly every word.

    A word outside its vocabulary has the vector of its n-grams, and a row number beyond the vocabulary's
    rows.
    """

    def __init__(self, base: Any, subwords: Subwords):
        super().__init__(base)
        self.subwords = subwords
        self._words: dict[int, str] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return SubwordModel, (self.base, self.subwords)

    @property
    def path(self) -> Path:
        """Return the store's folder, if the vectors are in a store."""
        return Path(self.base.path)

    @property
    def array(self) -> NDArray[np.float32]:
        """Return the vectors of the vocabulary: float32 (rows, dimensions)."""
        array: NDArray[np.float32] = self.base.array
        return array

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the row of each word, -1 for a word that is not in the vocabulary and does not have n-grams."""
        rows: NDArray[np.int64] = self.base.rows(words)
        lost = np.flatnonzero(rows < 0)
        lost = lost[self.subwords.have_ngrams([words[place] for place in lost.tolist()])]
        for place in lost.tolist():
            rows[place] = row_behind(words[place], OF_NGRAMS)
            self._words[int(rows[place])] = words[place]
        return rows

    def read(self, rows: slice | NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of rows, including words that were looked up before: float32 (n, dimensions)."""
        if isinstance(rows, slice):
            return super().read(rows)
        return self.matrix([self._words[row] if row >= BEHIND else "" for row in rows.tolist()], rows)

    def take(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.matrix(words, rows).astype(np.float64)

    def matrix(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        vectors = np.empty((len(rows), self.dimensions), dtype=np.float32)
        is_known = rows < OF_NGRAMS
        vectors[is_known] = self.base.read(rows[is_known])
        others = np.flatnonzero(~is_known).tolist()
        vectors[~is_known] = self.subwords.vectors([words[place] for place in others])
        return vectors

    def _facts(self) -> dict[str, str]:
        sizes = f"{self.subwords.min_n} to {self.subwords.max_n} characters"
        return {"other words": f"other words from n-grams of {sizes}"}
