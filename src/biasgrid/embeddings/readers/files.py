"""What several readers need: opening a file that may be compressed, and an array that may be anything."""

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

from ...errors import BiasgridError
from ...untrusted import (
    UTF_16,
    LimitedFile,
    Recoded,
    check_fetched,
    decompressed,
    expansion_limit,
    read_npy,
)

BLOCK = 4 << 20  # bytes that are worked on at a time


@contextmanager
def open_content(path: Path) -> Iterator[io.BufferedReader]:
    """The file's content: decompressed if it is gzip, bzip2 or xz, and in UTF-8 if it is text in UTF-16.

    Raises BiasgridError for a Git LFS pointer, and a compressed file that is damaged, cut off, or expands too far.
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
    """The file's content, mapped; that of a compressed file from a temporary one. Closed with its last array."""
    with open_content(path) as file, tempfile.TemporaryFile() as copy:
        is_plain = isinstance(file.raw, io.FileIO)
        if not is_plain:
            shutil.copyfileobj(file, copy, BLOCK)
            copy.flush()
        return mmap.mmap((file if is_plain else copy).fileno(), 0, access=mmap.ACCESS_READ)


def most_bytes(path: Path, file: IO[bytes]) -> int:
    """The largest number of bytes that `open_content` can give of a file."""
    raw = getattr(file, "raw", None)
    return raw.limit if isinstance(raw, LimitedFile) else path.stat().st_size


def load_array(path: Path) -> np.ndarray:
    """A two-dimensional float array of an .npy file, memory-mapped."""
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
    """Counts of words as a file has them, int64 (words,), if they are counts; None if not.

    gensim gives the words of a word2vec file, which has no counts, the numbers n, n-1, n-2, ... in their place, which
    say no more than the order of the words. It gives 1 to all words of vectors that were put together by hand, and 0
    to a word that was added later.
    """
    if not isinstance(counts, np.ndarray) or counts.dtype.kind not in "iu" or counts.shape != (words,):
        return None
    counts = counts.astype(np.int64)
    stands_for_rank = words == 0 or (counts[0] >= words and (np.diff(counts) == -1).all())
    return None if stands_for_rank or counts.min() < 1 or (words > 1 and np.ptp(counts) == 0) else counts


def blocks(array: np.ndarray) -> Iterator[slice]:
    """Slices of rows that are about a BLOCK each."""
    step = max(1, BLOCK // max(1, array[:1].nbytes))
    for start in range(0, len(array), step):
        yield slice(start, start + step)
