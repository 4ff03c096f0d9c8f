"""Reader of NumPy's archive of two arrays, `words` and `vectors` (one row each), as `model.save` writes it.

The arrays may have other names, if one of them is the only array of texts, and one the only array of equally
many vectors.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np

from ...core.errors import BiasgridError, join_names
from ...core.untrusted import expansion_limit, npy_header, parser_errors, read_all, zip_member
from ..store_writer import StoreWriter
from .files import BLOCK
from .reader import Reader

WORDS, VECTORS = "words.npy", "vectors.npy"


def read(path: Path, writer: StoreWriter) -> None:
    limit = expansion_limit(path.stat().st_size)
    with parser_errors(path, "a damaged .npz"), zipfile.ZipFile(path) as archive:
        infos = {info.filename: info for info in archive.infolist()}
    with zipfile.ZipFile(path) as archive:
        names = _names(archive, infos, path, limit)
        with io.BufferedReader(zip_member(archive, infos[names[0]], path, limit)) as file:
            words = _words(read_all(file), path)
        with io.BufferedReader(zip_member(archive, infos[names[1]], path, limit)) as file:
            dtype, shape, order = npy_header(file, path)
            if dtype.kind != "f" or len(shape) != 2 or shape[0] != len(words) or not 0 < shape[1] <= BLOCK:
                raise BiasgridError(
                    f"{path}: vectors are {dtype} {shape!s:.60}, and there are {len(words)} words"
                )
            width = dtype.itemsize * shape[1]
            # In Fortran order the columns are stored one after the other, so all rows are read at once.
            step = max(1, BLOCK // width if order == "C" else len(words))
            for start in range(0, len(words), step):
                if writer.is_full:
                    break
                part = words[start : start + step]
                content = file.read(width * len(part)) if order == "C" else read_all(file)
                if len(content) < width * len(part):
                    raise BiasgridError(f"{path}: cut off: vectors end before those of {len(words)} words")
                is_last = start + step >= len(words)
                if len(content) > width * len(part) or (is_last and file.read(1)):
                    raise BiasgridError(f"{path}: more bytes follow the vectors of {len(words)} words")
                vectors = np.frombuffer(content, dtype).reshape(len(part), shape[1], order=order)
                writer.add(part, vectors)


def _names(
    archive: zipfile.ZipFile, infos: dict[str, zipfile.ZipInfo], path: Path, limit: int
) -> tuple[str, str]:
    """Return the names of the array of words and of the array of vectors."""
    if {WORDS, VECTORS} <= infos.keys():
        return WORDS, VECTORS
    headers, found = {}, []
    for name, info in infos.items():
        try:
            with io.BufferedReader(zip_member(archive, info, path, limit)) as file:
                headers[name] = npy_header(file, path)[:2]
            found.append(f"{name.removesuffix('.npy'):.40} {headers[name][0]} {headers[name][1]!s:.40}")
        except BiasgridError as error:  # such as an array of Python objects
            found.append(f"{name.removesuffix('.npy'):.40} ({str(error).rpartition(': ')[2]:.60})")
    words = [name for name, (dtype, shape) in headers.items() if dtype.kind == "U" and len(shape) == 1]
    vectors = [
        name
        for name, (dtype, shape) in headers.items()
        if dtype.kind == "f" and len(shape) == 2 and any(headers[other][1] == shape[:1] for other in words)
    ]
    if len(words) != 1 or len(vectors) != 1:
        raise BiasgridError(
            f"{path}: needed are the arrays words (texts, dtype str) and vectors (a row of floats for each); found "
            f"{join_names(found) if found else 'none'}"
        )
    return words[0], vectors[0]


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
    """Return whether the first member of a zip archive is an array."""
    if not sample.startswith(b"PK\x03\x04"):
        return False
    length = int.from_bytes(sample[26:28], "little")
    return sample[30 : 30 + length].endswith(b".npy")


READERS = (
    Reader(
        name="npz",
        meaning="NumPy's archive of an array of words and one of vectors",
        detect=detect,
        read=read,
    ),
)
