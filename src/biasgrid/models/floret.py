"""floret's n-grams: a word's vector is the mean of rows of one table, chosen by hashing the parts of the word.

The parts are the padded word ("<word>") and its n-grams of `min_n` to `max_n` characters. Each is hashed
once, with MurmurHash3 (x64, 128 bits), whose four 32-bit numbers select up to four rows. As in spaCy, "<" and
">" alone count as n-grams; in floret they do not. This matters only if `min_n` is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

C1, C2 = np.uint64(0x87C37B91114253D5), np.uint64(0x4CF5AD432745937F)
MIX = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
BLOCK = 16  # bytes that the hash processes at a time


@dataclass(frozen=True)
class Floret:
    """Parameters of floret's hashing of n-grams.

    Attributes
    ----------
    hash_count
        The number of rows per n-gram.
    hash_seed
        The seed of the hash function.
    bow, eow
        The texts that are put before and after each word.
    """

    hash_count: int
    hash_seed: int
    bow: str
    eow: str


def floret_rows(
    words: Sequence[bytes], min_n: int, max_n: int, buckets: int, floret: Floret
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of words, with the parameters and results of `subwords.ngram_rows`.

    A word's rows are ordered as in spaCy: first the whole word, then its n-grams by length and position. The
    empty word does not have rows.
    """
    bow, eow = (mark.encode("utf-8", "surrogatepass") for mark in (floret.bow, floret.eow))
    padded = [bow + word + eow if word else b"" for word in words]
    text = np.frombuffer(b"".join(padded), dtype=np.uint8)
    lengths = np.array([len(word) for word in padded], dtype=np.int64)
    word_ends = np.cumsum(lengths)
    # A character begins at each byte that does not continue one.
    begins = np.flatnonzero((text & 0xC0) != 0x80)
    ends = np.append(begins[1:], len(text))
    owner = np.repeat(np.arange(len(words)), lengths)[begins]
    last = np.searchsorted(owner, owner, side="right")  # the character after the word's last
    place = np.arange(len(begins))
    has_rows = np.flatnonzero(lengths)
    owners = [has_rows]
    hashes = [_hashes(text, (word_ends - lengths)[has_rows], word_ends[has_rows], floret)]
    for n in range(min_n, min(max_n, int((last - place).max(initial=0))) + 1):
        starts = np.flatnonzero(place + n <= last)
        owners.append(owner[starts])
        hashes.append(_hashes(text, begins[starts], ends[starts + n - 1], floret))
    of_words = np.concatenate(owners)
    rows = np.concatenate(hashes)[np.argsort(of_words, kind="stable")] % np.uint32(buckets)
    counts = np.bincount(of_words, minlength=len(words)) * floret.hash_count
    return rows.ravel().astype(np.int64), counts.astype(np.int64)


def _hashes(
    text: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64], floret: Floret
) -> NDArray[np.uint32]:
    """Return the hashes of parts of a text, uint32 (parts, hash_count)."""
    lengths = ends - begins
    hashes = np.empty((len(begins), 2), dtype="<u8")
    for length in np.unique(lengths).tolist():  # parts of the same length are hashed together
        places = np.flatnonzero(lengths == length)
        table = np.zeros((len(places), -(-length // BLOCK) * BLOCK), dtype=np.uint8)
        table[:, :length] = text[begins[places, None] + np.arange(length)]
        hashes[places] = _murmurhash3(table.view("<u8"), length, floret.hash_seed)
    return hashes.view("<u4")[:, : floret.hash_count]


def _murmurhash3(numbers: NDArray[np.uint64], length: int, seed: int) -> NDArray[np.uint64]:
    """Compute MurmurHash3_x64_128 (Austin Appleby): uint64 (n, 2).

    `numbers` is uint64 (n, 2 per block); the last block is padded with zero bytes.
    """
    h1 = np.full(len(numbers), seed, dtype=np.uint64)
    h2 = h1.copy()
    whole = length // BLOCK
    for block in range(numbers.shape[1] // 2):
        # Zero bytes do not change the hash.
        h1 ^= _rotate(numbers[:, 2 * block] * C1, 31) * C2
        if block < whole:
            h1 = (_rotate(h1, 27) + h2) * np.uint64(5) + np.uint64(0x52DCE729)
        h2 ^= _rotate(numbers[:, 2 * block + 1] * C2, 33) * C1
        if block < whole:
            h2 = (_rotate(h2, 31) + h1) * np.uint64(5) + np.uint64(0x38495AB5)
    h1 ^= np.uint64(length)
    h2 ^= np.uint64(length)
    h1 += h2
    h2 += h1
    h1, h2 = _mixed(h1), _mixed(h2)
    h1 += h2
    return np.column_stack([h1, h2 + h1])


def _rotate(numbers: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    return (numbers << np.uint64(bits)) | (numbers >> np.uint64(64 - bits))


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    for factor in MIX:
        numbers = (numbers ^ (numbers >> np.uint64(33))) * factor
    return numbers ^ (numbers >> np.uint64(33))
