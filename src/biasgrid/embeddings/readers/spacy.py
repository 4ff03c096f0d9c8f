"""The vectors of a spaCy pipeline's vocab folder, read without spaCy.

`key2row` maps the hash of a word to a row of `vectors`, so that the words of pruned vectors share rows;
`strings.json` has the words.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgpack
import numpy as np

from ...errors import BiasgridError
from ...untrusted import parser_errors
from ..store_writer import StoreWriter
from .files import load_array
from .reader import Reader
from .text import OF_FLORET


def read(folder: Path, writer: StoreWriter) -> None:
    vectors = load_array(folder / "vectors")
    keys, rows = _key2row(folder / "key2row")
    with parser_errors(folder / "strings.json", "is not JSON"):
        words = json.loads((folder / "strings.json").read_text(encoding="utf-8"))
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BiasgridError(f"{folder / 'strings.json'}: expected a list of texts")
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(vectors):
        raise BiasgridError(f"{folder}: key2row has rows that vectors, with {len(vectors)} rows, lacks")

    if not len(keys) and _is_floret(folder / "vectors.cfg"):
        raise BiasgridError(f"{folder}: {OF_FLORET}")
    order = np.argsort(keys)
    keys, rows = keys[order], rows[order]
    if (keys[1:] == keys[:-1]).any():
        raise BiasgridError(f"{folder / 'key2row'}: has a hash twice")
    words = [word for word in dict.fromkeys(words) if word]
    hashes = murmurhash64a([word.encode("utf-8", "surrogatepass") for word in words], seed=1)
    places = np.searchsorted(keys, hashes)
    matches = np.flatnonzero(keys[np.minimum(places, len(keys) - 1)] == hashes) if len(keys) else places[:0]
    # spaCy numbers the names of its own symbols (DATE, NOUN, ...) instead of hashing them
    if nameless := len(keys) - len(np.unique(places[matches])):
        writer.warnings["keys_without_word"] += nameless
    writer.add([words[i] for i in matches], vectors, rows[places[matches]])


def _is_floret(path: Path) -> bool:
    """Whether the settings of vectors say that they are floret's."""
    try:
        return bool(json.loads(path.read_bytes())["mode"] == "floret")
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False


def _key2row(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Hashes (uint64) and their rows (int64): a map of whole numbers and nothing else."""
    with parser_errors(path, "is not a map from hash to row"):
        pairs = msgpack.unpackb(
            path.read_bytes(),
            strict_map_key=False,
            object_pairs_hook=tuple,
            # nothing else takes memory, however deep it lies
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
    """MurmurHash64A (Austin Appleby, MurmurHash2, 64-bit version) of each text, as uint64."""
    hashes = np.empty(len(texts), dtype=np.uint64)
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    for length in np.unique(lengths):  # texts of one length take the same steps
        places = np.flatnonzero(lengths == length)
        table = np.zeros((len(places), -(-length // 8) * 8), dtype=np.uint8)
        content = b"".join([texts[i] for i in places])
        table[:, :length] = np.frombuffer(content, dtype=np.uint8).reshape(len(places), length)
        hashes[places] = _hash(table.view("<u8"), int(length), seed)
    return hashes


def _hash(words: np.ndarray, length: int, seed: int) -> np.ndarray:
    """`words`: (n, ceil(length / 8)) uint64, the last one filled up with zero bytes."""
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
    """Whether a folder has the files of a vocab."""
    return {"vectors", "key2row", "strings.json"} <= set(names)


READERS = (
    Reader(
        name="spacy",
        meaning="a folder of `vectors`, `key2row` and `strings.json`, the vocab of a spaCy pipeline",
        detect=detect,
        read=read,
        folder=True,
    ),
)
