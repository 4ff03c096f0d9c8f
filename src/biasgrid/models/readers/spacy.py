"""Reader of the vectors of a spaCy pipeline's vocab folder, without spaCy.

`key2row` maps the hash of a word to a row of `vectors`, so the words of pruned vectors share rows;
`strings.json` has the words. If `vectors.cfg` declares floret vectors, `vectors` has the rows of parts of
words, and every word of `strings.json` has a vector.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from ...core.errors import BiasgridError
from ...core.untrusted import parser_errors
from ..floret import Floret
from ..store_writer import StoreWriter
from ..subwords import LONGEST_NGRAM, vectors_of_words
from .files import load_array
from .reader import Reader

ORTH = 65  # spaCy's number of the attribute "text of a word", to which these vectors belong


def read(folder: Path, writer: StoreWriter) -> None:
    vectors = load_array(folder / "vectors")
    keys, rows = _key2row(folder / "key2row")
    with parser_errors(folder / "strings.json", "is not JSON"):
        words = json.loads((folder / "strings.json").read_text(encoding="utf-8"))
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BiasgridError(f"{folder / 'strings.json'}: expected a list of texts")
    words = [word for word in dict.fromkeys(words) if word]
    hashes = murmurhash64a([word.encode("utf-8", "surrogatepass") for word in words], seed=1)
    if floret := _floret_settings(folder / "vectors.cfg"):
        # strings.json is sorted alphabetically. Sort by hash, so that the first rows are arbitrary words.
        _add_floret([words[i] for i in np.argsort(hashes)], vectors, *floret, folder, writer)
        return
    if not len(rows):
        raise BiasgridError(
            f"{folder}: holds no vectors: key2row is empty; floret's vectors need the vectors.cfg, too"
        )
    if not 0 <= rows.min() <= rows.max() < len(vectors):
        raise BiasgridError(f"{folder}: key2row has rows that vectors, with {len(vectors)} rows, lacks")
    order = np.argsort(keys)
    keys, rows = keys[order], rows[order]
    if (keys[1:] == keys[:-1]).any():
        raise BiasgridError(f"{folder / 'key2row'}: has a hash twice")
    places = np.searchsorted(keys, hashes)
    matches = np.flatnonzero(keys[np.minimum(places, len(keys) - 1)] == hashes)
    # spaCy numbers the names of its own symbols (DATE, NOUN, ...) instead of hashing them.
    if nameless := len(keys) - len(np.unique(places[matches])):
        writer.warnings["keys_without_word"] += nameless
    writer.add([words[i] for i in matches], vectors, rows[places[matches]])


def _add_floret(
    words: list[str],
    vectors: np.ndarray,
    min_n: int,
    max_n: int,
    floret: Floret,
    folder: Path,
    writer: StoreWriter,
) -> None:
    if not len(vectors):
        raise BiasgridError(f"{folder}: holds no vectors")
    with np.errstate(over="ignore"):  # the writer refuses values that are too large
        ngrams = np.asarray(vectors, dtype="<f4")
    encoded_words = [word.encode("utf-8", "surrogatepass") for word in words]
    for part, block in vectors_of_words(encoded_words, None, ngrams, min_n, max_n, folder, floret=floret):
        if writer.is_full:
            break
        writer.add(words[part], block)
    writer.add_subwords(ngrams, min_n, max_n, floret)


def _floret_settings(path: Path) -> tuple[int, int, Floret] | None:
    """Return the smallest and largest length of floret's n-grams, and how they are hashed; None for other vectors."""
    if not path.is_file():
        return None
    try:
        settings: Any = json.loads(path.read_bytes())
        if settings["mode"] != "floret":
            return None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    keys = "minn", "maxn", "hash_count", "hash_seed"
    numbers = [settings.get(key) for key in keys]
    marks = [settings.get(key) for key in ("bow", "eow")]
    if any(type(number) is not int for number in numbers) or not all(
        isinstance(mark, str) and len(mark) <= LONGEST_NGRAM for mark in marks
    ):
        raise BiasgridError(f"{path}: expected whole numbers {', '.join(keys)}, and short texts bow, eow")
    min_n, max_n, hash_count, hash_seed = numbers
    if not (1 <= min_n <= max_n <= LONGEST_NGRAM and 1 <= hash_count <= 4 and 0 <= hash_seed < 1 << 32):
        raise BiasgridError(
            f"{path}: n-grams of {min_n} to {max_n} characters, hash_count {hash_count}, hash_seed {hash_seed}: "
            f"read are n-grams of 1 to {LONGEST_NGRAM}, hash_count 1 to 4, hash_seed 0 to {(1 << 32) - 1}"
        )
    if settings.get("attr", ORTH) != ORTH:
        raise BiasgridError(
            f"{path}: the vectors are of another attribute than the text of a word (attr {settings['attr']!r:.20}, "
            f"not {ORTH}): such as its lower case"
        )
    return min_n, max_n, Floret(hash_count, hash_seed, *marks)


def _key2row(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read hashes (uint64) and their rows (int64); only a map of whole numbers is accepted."""
    with parser_errors(path, "is not a map from hash to row"):
        pairs = msgpack.unpackb(
            path.read_bytes(),
            strict_map_key=False,
            object_pairs_hook=tuple,
            # Other types must not take memory, at any depth.
            use_list=False,
            max_array_len=0,
            max_str_len=0,
            max_bin_len=0,
            max_ext_len=0,
        )
        kinds = (
            {type(value) for pair in pairs for value in pair} if isinstance(pairs, tuple) else {type(pairs)}
        )
        if not kinds <= {int}:
            raise TypeError(f"it holds {', '.join(sorted(kind.__name__ for kind in kinds - {int}))}")
        keys = np.fromiter((key for key, _ in pairs), dtype=np.uint64, count=len(pairs))
        rows = np.fromiter((row for _, row in pairs), dtype=np.int64, count=len(pairs))
    return keys, rows


def murmurhash64a(texts: list[bytes], seed: int) -> np.ndarray:
    """Compute MurmurHash64A (Austin Appleby, MurmurHash2, 64-bit version) of each text, as uint64."""
    hashes = np.empty(len(texts), dtype=np.uint64)
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    for length in np.unique(lengths):  # texts of the same length are hashed together
        places = np.flatnonzero(lengths == length)
        table = np.zeros((len(places), -(-length // 8) * 8), dtype=np.uint8)
        content = b"".join([texts[i] for i in places])
        table[:, :length] = np.frombuffer(content, dtype=np.uint8).reshape(len(places), length)
        hashes[places] = _hash(table.view("<u8"), int(length), seed)
    return hashes


def _hash(words: np.ndarray, length: int, seed: int) -> np.ndarray:
    """Hash `words`: (n, ceil(length / 8)) uint64, the last one padded with zero bytes."""
    m, r = np.uint64(0xC6A4A7935BD1E995), np.uint64(47)
    start = (seed ^ (length * int(m))) & 0xFFFFFFFFFFFFFFFF
    h = np.full(len(words), start, dtype=np.uint64)
    whole = length // 8
    for k in words[:, :whole].T:
        k = k * m
        k ^= k >> r
        h = (h ^ (k * m)) * m
    if length % 8:
        h = (h ^ words[:, whole]) * m
    h = (h ^ (h >> r)) * m
    return h ^ (h >> r)


def detect(names: list[str]) -> bool:
    """Return whether a folder has the files of a vocab."""
    return {"vectors", "key2row", "strings.json"} <= set(names)


READERS = (
    Reader(
        name="spacy",
        meaning="vocab of a spaCy or floret pipeline: `vectors`, `key2row`, `strings.json`",
        detect=detect,
        read=read,
        folder=True,
    ),
)
