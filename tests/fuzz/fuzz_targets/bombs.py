"""Small files that ask for much: declared sizes that nothing is behind, and content that expands.

The runner watches the memory. A limit on expansion is 16 MB or 50 times the file's size.
"""

from __future__ import annotations

import gzip
import io
import itertools
import json
import pickle
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import msgpack
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from plain_formats import murmurhash

from biasgrid.core.untrusted import read_npz

from .archives import sentences
from .damage import accepted
from .readers import tried

SIZES = [10**6, 10**9, 2**31 - 1, 2**31, 2**32 - 1, 10**12, 2**63 - 1, 2**64, 10**30]


def size(chance: random.Random) -> int:
    return chance.choice(SIZES) + chance.randint(-1, 1)


def squeezed(
    chance: random.Random, start: bytes = b"", end: bytes = b"", piece: bytes | None = None
) -> bytes:
    """A gzip of a few kilobytes to a hundred that expands a thousand times."""
    piece = piece or chance.choice(
        [b"\n", b"\0", b" ", b"a", b" \n", b"a 1 2\n", b"\r", b"1 ", b"[", b"\t", b"\n "]
    )
    compress = zlib.compressobj(9, wbits=31)
    parts = [compress.compress(start)]
    block = piece * ((1 << 20) // len(piece))
    parts += [compress.compress(block) for _ in range(chance.choice([5, 40, 100]))]
    return b"".join([*parts, compress.compress(end), compress.flush()])


def text(chance: random.Random) -> bytes:
    kind = chance.randrange(5)
    if kind == 0:
        return b"%d %d\n%s" % (chance.choice([2, size(chance)]), size(chance), b"a 1 2\nb 3 4\n")
    if kind == 1:
        return squeezed(chance, b"a 1 2\nb 3 4\n", b"c 1 2\n")
    if kind == 2:  # columns
        return (
            b"a" + b" 1" * chance.choice([10**4, 10**5, 5 * 10**5]) + b"\nb 1\n" * chance.choice([1, 10**4])
        )
    if kind == 3:  # lines that are parsed one by one
        return b"a\x0b 1 2\r\n" + b"\r\n" * 10**5 + b". . 1 2\n" * 10**4
    return b"a 1 2\n" + chance.choice([b"\n", b" ", b"\t", b"\r", b"x"]) * 10**6


def binary(chance: random.Random) -> bytes:
    if chance.random() < 0.5:
        return squeezed(chance, b"1000000000 %d\n" % chance.choice([1, 300, 4 << 20]))
    return b"%d %d\na 1234" % (size(chance), size(chance))


def wink(chance: random.Random) -> bytes:
    d = chance.choice([2, size(chance)])
    head = {"l2NormIndex": d, "wordIndex": d + 1, "size": chance.choice([1, size(chance)]), "dimensions": d}
    text = json.dumps(head)[:-1] + ', "vectors": {"a": [1, 2, 3, 0'
    if chance.random() < 0.3:
        return text.encode() + b"]}}"
    start = chance.choice(['{"', '{"words": ["', text, text[: text.index('"vectors')] + '"vectors": {"'])
    return squeezed(chance, start.encode(), b"]}}", chance.choice([None, b"1, ", b'a","', b"0,"]))


def pickled(chance: random.Random) -> bytes:
    number = min(size(chance), 2**64 - 1)
    four, eight = struct.pack("<I", number % 2**32), struct.pack("<Q", number)
    opcodes = [b"B" + four, b"X" + four, b"T" + four, b"\x8b" + four, b"\x8e" + eight, b"\x8d" + eight]
    opcodes += [
        b"\x96" + eight,
        b"\x95" + eight,
        b"Nr" + four,
        b"Np%d\n" % number,
        b"j" + four,
        b"Nr\xff\xff\xff\0",
    ]
    if chance.random() < 0.4:
        piece = chance.choice(
            [b"]", b"}", b"\x8f", b"N\x85", b"]\x94", b"(", b"N", b"\x8c\x02ab", b")", b"}\x94]\x94"]
        )
        return squeezed(chance, b"\x80\x04", b".", piece)
    array = np.lib.format.magic(1, 0)
    if chance.random() < 0.3:  # an array that says more than it holds
        table = np.zeros((3, 2), "<f4")
        whole = pickle.dumps({"vectors": table}, 4)
        shape = pickle.dumps((3, 2), 4)[11:-1].replace(b"\x94", b"")
        return whole.replace(shape, b"J" + four + b"J" + four + b"\x86") + array
    return b"\x80\x04" + b"N0" * chance.choice([0, 100]) + chance.choice(opcodes) + b"x" * 20 + b"."


def npy(chance: random.Random) -> bytes:
    shape = chance.choice(
        ["({0}, {1})", "({0}, 2)", "(2, {0})", "({0},)", "(0, {0})", "(-{0}, -2)", "({0}, 0)"]
    )
    header = (
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        + shape.format(size(chance), size(chance))
        + ", }\n"
    )
    length = chance.choice([len(header), min(size(chance), 2**32 - 1)])
    start = b"\x93NUMPY\x02\0" + struct.pack("<I", length)
    return start + header.encode() + b"\0" * 64


def parquet(chance: random.Random, rows: int) -> bytes:
    file = io.BytesIO()
    long = chance.choice(["x", "x" * 10**5])
    words = itertools.repeat(long, rows) if chance.random() < 0.5 else (f"{long}{i}" for i in range(rows))
    columns = {"word": pa.array(words)}
    options = {"compression": chance.choice(["zstd", "gzip", "snappy", "brotli"])}
    options["use_dictionary"] = chance.random() < 0.5
    if not options["use_dictionary"] and chance.random() < 0.5:
        options["column_encoding"] = {"word": "DELTA_BYTE_ARRAY"}
    pq.write_table(pa.table(columns), file, **options)
    return file.getvalue()


def a_folder(chance: random.Random, folder: Path) -> Path:
    source = folder / "model"
    source.mkdir()
    if chance.random() < 0.5:
        rows = chance.choice([10, 500])
        np.save(source / "v.npy", np.ones((rows if chance.random() < 0.8 else 3, 2), "f4"))
        (source / "w.parquet").write_bytes(parquet(chance, rows))
        if chance.random() < 0.4:
            (source / "v.npy").write_bytes(npy(chance))
        return source
    (source / "vectors").write_bytes(npy(chance))
    if chance.random() < 0.5:
        np.save(source / "v.npy", np.ones((3, 2), "f4"))
        (source / "v.npy").rename(source / "vectors")
    keys = {murmurhash(b"a"): chance.choice([0, 1.9, True, "0", [0], size(chance) % 2**63])}
    length = struct.pack(">I", size(chance) % 2**32)
    odd = [
        b"\xdf" + length,
        b"\xdd" + length,
        b"\xc6" + length,
        b"\x81" * 10**5,
        b"\xde\xff\xff" + b"\x90" * 131070,
    ]
    (source / "key2row").write_bytes(chance.choice([msgpack.packb(keys), chance.choice(odd)]))
    words = ['["a"]', "[" * 10**5, '["a", ' + "[]," * 10**5 + "1]"]
    (source / "strings.json").write_text(chance.choice(words))
    return source


def model(make: Callable[[random.Random], bytes]) -> Callable[[int, Path], None]:
    def target(seed: int, folder: Path) -> None:
        path = folder / "model"
        chance = random.Random(seed)
        path.write_bytes(make(chance))
        format = "gensim-kv" if make is pickled else None
        tried(path, folder, format)

    return target


def folder_model(seed: int, folder: Path) -> None:
    tried(a_folder(random.Random(seed), folder), folder)


def npz(seed: int, folder: Path) -> None:
    """Archives of arrays, and corpora: zip files whose members expand."""
    chance = random.Random(seed)
    file, content = folder / "model.npz", chance.choice([npy(chance), bytes(60 << 20)])
    method = chance.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("header.npy", content[: 1 << 20 if method == zipfile.ZIP_STORED else None])
    accepted(read_npz if chance.random() < 0.5 else sentences, file)


def corpus(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    path = folder / "corpus.gz"
    path.write_bytes(squeezed(chance, piece=chance.choice([b"a", b"a ", b" ", b"\n", b"\xc3\xa9"])))
    tokens = sum(map(len, accepted(sentences, path)))
    assert tokens == len(gzip.decompress(path.read_bytes()).split())


TARGETS = {make.__name__: model(make) for make in (text, binary, wink, pickled)}
TARGETS |= {"folder": folder_model, "npz": npz, "corpus": corpus}
