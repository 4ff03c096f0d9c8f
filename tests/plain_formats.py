"""Formats of vectors as their definitions say, written and hashed plainly: what readers' tests and fuzzing share."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from biasgrid.models.readers import Reader


def example_files(reader: Reader) -> Mapping[str, bytes]:
    """Return the files of a reader's example: their contents by name."""
    return {"example": reader.example} if isinstance(reader.example, bytes) else reader.example


def write_example(reader: Reader, folder: Path) -> Path:
    """Write a reader's example into a folder, and return the source: a file, or the folder."""
    folder.mkdir(exist_ok=True)
    files = example_files(reader)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder if reader.folder else folder / next(iter(files))


def binary(words, vectors, end: bytes = b"", header: str | None = None) -> bytes:
    """word2vec.c ends a row with a line break (`end`), gensim does not."""
    header = f"{len(words)} {vectors.shape[1]}\n" if header is None else header
    rows = (
        (word if isinstance(word, bytes) else word.encode()) + b" " + row.astype("<f4").tobytes() + end
        for word, row in zip(words, vectors, strict=True)
    )
    return header.encode() + b"".join(rows)


def wink(words, rows, changes=(), **layout) -> str:
    """As JavaScript writes it: whole numbers come first among the keys of a mapping."""
    d = len(rows[0])
    table = {
        word: [*row, round(float(np.linalg.norm(row)), 6), i]
        for i, (word, row) in enumerate(zip(words, rows, strict=True))
    }
    first = {word: table[word] for word in sorted((w for w in words if w.isascii() and w.isdigit()), key=int)}
    content = {"precision": 8, "l2NormIndex": d, "wordIndex": d + 1, "size": len(words), "dimensions": d}
    content |= {"words": list(words), "vectors": first | table, "unkVector": [0] * d}
    return json.dumps(content | dict(changes), **layout)


def fasttext(
    words: list[bytes],
    own,
    ngrams,
    min_n: int,
    max_n: int,
    labels: int = 0,
    model: int = 1,
    version: int = 12,
) -> bytes:
    """As fastText's `saveModel` writes it."""
    d = own.shape[1]
    head = struct.pack(
        "<14id", 793712314, version, d, 5, 5, 5, 5, 1, 2, model, len(ngrams), min_n, max_n, 100, 1e-4
    )
    head += struct.pack("<3i2q", len(words) + labels, len(words), labels, 99, -1)
    entries = [word + b"\0" + struct.pack("<qb", 7, 0) for word in words]
    entries += [b"__label__%d\0" % label + struct.pack("<qb", 7, 1) for label in range(labels)]
    matrix = struct.pack("<?2q", False, len(own) + len(ngrams), d) + own.tobytes() + ngrams.tobytes()
    return head + b"".join(entries) + matrix + struct.pack("<?2q", False, 2, d) + bytes(8 * d)


def glove(vectors, contexts) -> bytes:
    """vectors.bin, as `glove -binary 1` writes all its parameters: a bias behind each vector."""
    parameters = [[*row, bias / 7] for part in (vectors, contexts) for bias, row in enumerate(part)]
    return np.array(parameters, dtype="<f8").tobytes()


def glove_vocabulary(words: list[bytes]) -> bytes:
    """vocab.txt of GloVe's `vocab_count`: counts fall."""
    return b"".join(b"%s %d\n" % (word, 1000 // (i + 1)) for i, word in enumerate(words))


def murmurhash(data: bytes) -> int:
    """MurmurHash64A with seed 1, as spaCy hashes its strings."""
    m, mask = 0xC6A4A7935BD1E995, (1 << 64) - 1
    h = 1 ^ (len(data) * m & mask)
    for start in range(0, len(data) // 8 * 8, 8):
        k = int.from_bytes(data[start : start + 8], "little") * m & mask
        h = (h ^ ((k ^ (k >> 47)) * m & mask)) * m & mask
    if len(data) % 8:
        h = (h ^ int.from_bytes(data[len(data) // 8 * 8 :], "little")) * m & mask
    h = (h ^ (h >> 47)) * m & mask
    return h ^ (h >> 47)
