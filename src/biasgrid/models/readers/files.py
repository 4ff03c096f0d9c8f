"""Shared helpers of readers: opening of files that may be compressed, and checks of arrays."""

from __future__ import annotations

import io
import mmap
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...core.errors import BiasgridError
from ...core.untrusted import (
    UTF_16,
    LimitedFile,
    Recoded,
    check_fetched,
    decompressed,
    expansion_limit,
    read_npy,
)

BLOCK = 4 << 20  # bytes that are processed at a time


@contextmanager
def open_content(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file's content: decompressed if it is gzip, bzip2 or xz, and in UTF-8 if it is text in UTF-16.

    Raise BiasgridError for a Git LFS pointer, and a compressed file that is damaged, cut off, or expands too
    far.
    """
    check_fetched(path)
    with path.open("rb") as file:
        content: io.BufferedReader = file
        source, packed_by = decompressed(file)
        if packed_by:
            content = _buffered(source, path, f"the {packed_by} is damaged or cut off")
        if content.peek(2)[:2] in UTF_16:
            content = _buffered(Recoded(content), path, "is not whole text in UTF-16")
        yield content


def _buffered(source: Any, path: Path, reason: str) -> io.BufferedReader:
    limit = expansion_limit(path.stat().st_size)
    return io.BufferedReader(LimitedFile(source, path, reason, limit), 1 << 16)


def map_content(path: Path) -> mmap.mmap:
    """Memory-map a file's content; a compressed file is first expanded to a temporary file.

    The map is closed when its last array is deleted.
    """
    with open_content(path) as file, tempfile.TemporaryFile() as copy:
        is_plain = isinstance(file.raw, io.FileIO)
        if not is_plain:
            shutil.copyfileobj(file, copy, BLOCK)
            copy.flush()
        return mmap.mmap((file if is_plain else copy).fileno(), 0, access=mmap.ACCESS_READ)


def most_bytes(path: Path, file: IO[bytes]) -> int:
    """Return the largest number of bytes that `open_content` can return for a file."""
    raw = getattr(file, "raw", None)
    return raw.limit if isinstance(raw, LimitedFile) else path.stat().st_size


def load_array(path: Path) -> np.ndarray:
    """Memory-map a two-dimensional float array in an .npy file."""
    try:
        array = read_npy(path, memory_map=True)
    except FileNotFoundError:
        raise BiasgridError(f"{path}: no such file, and the model needs it") from None
    except OSError as error:
        raise BiasgridError(f"{path}: {error.strerror or error}") from None
    return check_array(array, path)


def check_array(array: object, where: Path) -> np.ndarray:
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind != "f":
        summary = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise BiasgridError(f"{where}: expected a two-dimensional array of floats, found {summary}")
    return array


def whole_counts(counts: object, words: int) -> np.ndarray | None:
    """Return a file's counts of words as int64 (words,), or None if they are not real counts.

    A word2vec file does not have counts; gensim then writes n, n-1, n-2, ..., which only give the order of
    the words. It writes 1 for all words of vectors that were put together by hand, and 0 for a word that was
    added later.
    """
    if not isinstance(counts, np.ndarray) or counts.dtype.kind not in "iu" or counts.shape != (words,):
        return None
    counts = counts.astype(np.int64)
    stands_for_rank = words == 0 or (counts[0] >= words and (np.diff(counts) == -1).all())
    return None if stands_for_rank or counts.min() < 1 or (words > 1 and np.ptp(counts) == 0) else counts


def blocks(array: np.ndarray) -> Iterator[slice]:
    """Yield slices of rows of about one BLOCK each."""
    step = max(1, BLOCK // max(1, array[:1].nbytes))
    for start in range(0, len(array), step):
        yield slice(start, start + step)
