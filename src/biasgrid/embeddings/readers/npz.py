"""NumPy's archive of two arrays: `words`, texts, and `vectors`, a row for each; what `model.save("x.npz")` writes."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np

from ...errors import BiasgridError
from ...untrusted import expansion_limit, npy_header, parser_errors, read_all, zip_member
from ..store_writer import StoreWriter
from .files import BLOCK
from .reader import Reader

MEMBERS = ("words.npy", "vectors.npy")


def read(path: Path, writer: StoreWriter) -> None:
    limit = expansion_limit(path.stat().st_size)
    with parser_errors(path, "a damaged .npz"), zipfile.ZipFile(path) as archive:
        infos = {info.filename: info for info in archive.infolist()}
    if missing := [name for name in MEMBERS if name not in infos]:
        raise BiasgridError(
            f"{path}: has no array {missing[0].removesuffix('.npy')!r}; needed are words and vectors"
        )
    with zipfile.ZipFile(path) as archive:
        with io.BufferedReader(zip_member(archive, infos["words.npy"], path, limit)) as file:
            words = _words(read_all(file), path)
        with io.BufferedReader(zip_member(archive, infos["vectors.npy"], path, limit)) as file:
            dtype, shape, order = npy_header(file, path)
            if order == "F" and len(shape) > 1:
                raise BiasgridError(
                    f"{path}: vectors' order is Fortran's; save np.ascontiguousarray(vectors)"
                )
            if dtype.kind != "f" or len(shape) != 2 or shape[0] != len(words) or not 0 < shape[1] <= BLOCK:
                raise BiasgridError(
                    f"{path}: vectors are {dtype} {shape!s:.60}, and there are {len(words)} words"
                )
            width = dtype.itemsize * shape[1]
            step = max(1, BLOCK // width)
            for start in range(0, len(words), step):
                part = words[start : start + step]
                content = file.read(width * len(part))
                if len(content) < width * len(part):
                    raise BiasgridError(f"{path}: cut off: vectors end before those of {len(words)} words")
                writer.add(part, np.frombuffer(content, dtype).reshape(len(part), shape[1]))


def _words(content: bytes, path: Path) -> list[str]:
    file = io.BytesIO(content)
    dtype, shape, _ = npy_header(file, path)
    start = file.tell()
    if dtype.kind != "U" or len(shape) != 1 or len(content) - start != dtype.itemsize * shape[0]:
        raise BiasgridError(f"{path}: words are {dtype} {shape!s:.60}, not a whole array of texts")
    with parser_errors(path, "words are not text"):
        words: list[str] = np.frombuffer(content, dtype, offset=start).tolist() if shape[0] else []
    return words


def detect(sample: bytes) -> bool:
    """Whether the first member of a zip archive is one of the two."""
    return sample.startswith(b"PK\x03\x04") and sample[30:].startswith(
        tuple(name.encode() for name in MEMBERS)
    )


READERS = (
    Reader(
        name="npz", meaning="NumPy's archive of the arrays `words` and `vectors`", detect=detect, read=read
    ),
)
