"""Reading of files from elsewhere without allocating more memory than their content needs.

The sizes that a file declares are compared with its actual size before memory is allocated. Compressed
content is read in blocks, up to a limit of expansion. Every error of a file becomes a BiasgridError of one
line with its name.
"""

from __future__ import annotations

import bz2
import codecs
import errno
import gzip
import io
import lzma
import math
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from .errors import BiasgridError

EXPANSION = "BIASGRID_EXPANSION"
# A gzipped text model expands 2 to 4 times, but up to 1,000 times if it has few distinct numbers (zeros and ones).
FACTOR = 50
FREE = 16 << 20  # bytes that the content of even the smallest file may expand to
BLOCK = 1 << 20
Order = Literal["C", "F"]

# A header of version 3 differs only in names of fields in UTF-8, which arrays of numbers and texts lack. NumPy does
# not have a public reader for it.
NPY_VERSIONS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,
}


def expansion_limit(size: int) -> int:
    """Return the bytes that `size` compressed bytes may expand to: BIASGRID_EXPANSION (default 50) times as many."""
    text = os.environ.get(EXPANSION) or str(FACTOR)
    if not re.fullmatch(r"[1-9]\d{0,8}", text, re.ASCII):
        raise BiasgridError(
            f"{EXPANSION}: must be a whole number from 1 on, such as {FACTOR}, not {text[:40]!r}"
        )
    return max(FREE, size * int(text))


def too_large(where: Path | str, limit: int) -> BiasgridError:
    factor = os.environ.get(EXPANSION) or FACTOR
    return BiasgridError(
        f"{where}: expands to more than {limit} bytes ({factor} times its size, or {FREE}): damaged, or made to fill "
        f"the memory; if it is right, raise the limit: set the environment variable {EXPANSION} to more than {factor}"
    )


@contextmanager
def parser_errors(where: Path | str, what: str) -> Iterator[None]:
    """Convert all errors of a parser to BiasgridError, except errors of the disk (with a number).

    Use it only around calls of a parser: around other code, it would hide that code's own errors.
    """
    try:
        yield
    except BiasgridError:
        raise
    except Exception as error:
        # A wrong offset in a damaged file becomes an invalid argument (EINVAL).
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        reason = (str(error).strip().splitlines() or [""])[0][:200] or type(error).__name__
        raise BiasgridError(f"{where}: {what}: {reason}") from None


class LimitedFile(io.RawIOBase):
    """The content of a decompressor's file object, up to `limit` bytes; more content or damage is a BiasgridError."""

    def __init__(self, file: Any, where: Path | str, what: str, limit: int):
        self.file, self.where, self.what, self.limit = file, where, what, limit
        self.done = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        with parser_errors(self.where, self.what):
            content = self.file.read(min(len(buffer), BLOCK))
        self.done += len(content)
        if self.done > self.limit:
            raise too_large(self.where, self.limit)
        buffer[: len(content)] = content
        return len(content)


COMPRESSED = ".gz", ".bz2", ".xz"  # suffixes of files that `decompressed` can open


def decompressed(file: IO[bytes]) -> tuple[Any, str]:
    """Return an object that reads the content of a file, and its compression: "gzip", "bzip2" or "xz".

    For any other file, these are the file itself and an empty text.
    """
    start = file.read(10)
    file.seek(0)
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file), "gzip"
    if re.match(rb"BZh[1-9]1AY&SY", start):
        return _Streams(file, bz2.BZ2Decompressor), "bzip2"
    if start.startswith(b"\xfd7zXZ\0"):
        return _Streams(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)), "xz"
    return file, ""


XZ_MEMORY = 256 << 20  # bytes; a file may request 4 GB, and files of `xz -9` need 65 MB


class _Streams:
    """The content of consecutive compressed streams, up to the end of a file.

    Python's own classes ignore everything after the first stream that they cannot decompress, and give xz all
    the memory that it requests.
    """

    def __init__(self, file: IO[bytes], new_decompressor: Callable[[], Any]):
        self.file, self.new_decompressor = file, new_decompressor
        self.stream = new_decompressor()

    def read(self, size: int) -> bytes:
        while True:
            block = b""
            if self.stream.eof:
                block = self.stream.unused_data.lstrip(b"\0")  # zeros may pad a stream of xz
                while not block:
                    if not (block := self.file.read(BLOCK)):
                        return b""
                    block = block.lstrip(b"\0")
                self.stream = self.new_decompressor()
            elif self.stream.needs_input and not (block := self.file.read(1 << 16)):
                raise EOFError("the compressed data is cut off")
            content: bytes = self.stream.decompress(block, size)
            if content:
                return content


# The first bytes of a text in UTF-16; other files never begin with them.
UTF_16 = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE


class Recoded:
    """A text file in UTF-16, read as UTF-8."""

    def __init__(self, file: IO[bytes]):
        self.file, self.decoder = file, codecs.getincrementaldecoder("utf-16")()

    def read(self, size: int) -> bytes:
        while True:
            block = self.file.read(max(2, size // 4))
            content = self.decoder.decode(block, final=not block).encode()
            if content or not block:
                return content


POINTER = b"version https://git-lfs.github.com/spec/"


def check_fetched(path: Path) -> None:
    """Raise BiasgridError if a file, or a file in a folder, is only a pointer that Git LFS left."""
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        if file.is_file() and file.stat().st_size < 1024:
            with file.open("rb") as opened:
                if opened.read(len(POINTER)) == POINTER:
                    raise BiasgridError(
                        f"{file}: this is a Git LFS pointer, not the file: run `git lfs pull` in its repository"
                    )


def read_all(file: IO[bytes]) -> bytes:
    """Read the whole content in blocks, so that memory grows with the content and not with a declared size."""
    buffer = io.BytesIO()
    while block := file.read(BLOCK):
        buffer.write(block)
    return buffer.getvalue()


def zip_member(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    where: Path | str,
    limit: int,
    what: str = "a damaged zip archive",
) -> LimitedFile:
    """Open a member of an archive.

    Raises BiasgridError for compression other than deflate, which Python does not limit.
    """
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BiasgridError(
            f"{where}: {info.filename[:100]!r} is compressed by method {info.compress_type} "
            f"({zipfile.compressor_names.get(info.compress_type, 'unknown')}); stored and deflated members are read"  # type: ignore[attr-defined]
        )
    with parser_errors(where, what):
        return LimitedFile(archive.open(info), where, what, limit)


def read_npy(path: Path | str, memory_map: bool = False) -> np.ndarray:
    """Read an array of numbers from an .npy file.

    Parameters
    ----------
    path : Path or str
    memory_map : bool
        Map the file (read-only) instead of reading it.

    Returns
    -------
    numpy.ndarray
        An array of any shape; its dtype is of kind b, i, u or f.

    Raises
    ------
    BiasgridError
        The file is not an .npy file, contains something other than numbers, or does not have the size in its
        header.
    OSError
        The file cannot be opened.
    """
    path = Path(path)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        dtype, shape, order, start = _header_of_numbers(file, size, path)
        file.seek(start)
        if memory_map and size > start:
            return np.memmap(file, dtype, "r", start, shape, order)
        return np.fromfile(file, dtype).reshape(shape, order=order)


def read_npz(path: Path | str) -> dict[str, np.ndarray]:
    """Read the arrays of an .npz file, by name, with the checks of `read_npy`."""
    path = Path(path)
    arrays = {}
    with path.open("rb") as file:
        limit = expansion_limit(os.fstat(file.fileno()).st_size)
        if file.read(4) != b"PK\x03\x04":
            raise BiasgridError(f"{path}: is no archive of NumPy files (.npz)")
        with parser_errors(path, "a damaged zip archive"):
            archive = zipfile.ZipFile(file)
        for info in archive.infolist():
            member = zip_member(archive, info, path, limit)
            content = read_all(io.BufferedReader(member, BLOCK))
            limit -= len(content)
            where = f"{path}: {info.filename[:100]}"
            dtype, shape, order, start = _header_of_numbers(io.BytesIO(content), len(content), where)
            values = np.frombuffer(content, dtype, offset=start).copy()
            arrays[info.filename.removesuffix(".npy")] = values.reshape(shape, order=order)
    return arrays


def npy_header(file: IO[bytes], where: Path | str) -> tuple[np.dtype, tuple[int, ...], Order]:
    """Read the header of an array; return its dtype, shape and order (C or F). Its elements come next in the file.

    Raises BiasgridError if the file does not contain such an array, or contains Python objects.
    """
    with parser_errors(where, "is not a whole NumPy file (.npy)"):
        version = np.lib.format.read_magic(file)
        if version not in NPY_VERSIONS:
            raise BiasgridError(
                f"{where}: is a NumPy file (.npy) of version {version[0]}.{version[1]}; allowed: "
                f"{', '.join(f'{major}.{minor}' for major, minor in NPY_VERSIONS)} (numpy.save writes 1.0)"
            )
        shape, fortran_order, dtype = NPY_VERSIONS[version](file)
        if dtype.hasobject:
            raise ValueError("of Python objects")
        if len(shape) > 32 or not all(type(n) is int and 0 <= n < 1 << 60 for n in shape):
            raise ValueError(f"of the shape {_shorten(shape)}")
    return dtype, shape, "F" if fortran_order else "C"


def _header_of_numbers(
    file: IO[bytes], size: int, where: Path | str
) -> tuple[np.dtype, tuple[int, ...], Order, int]:
    """Return `npy_header` and the position of the numbers in a file of `size` bytes that contains exactly them."""
    dtype, shape, order = npy_header(file, where)
    if dtype.kind not in "biuf":
        raise BiasgridError(f"{where}: is a NumPy file of {_shorten(dtype)}, and not of numbers")
    start = file.tell()
    expected, bytes_present = math.prod(shape) * dtype.itemsize, size - start
    # An array with a dimension of 0 is empty, but NumPy must be able to address its other dimensions.
    if expected != bytes_present or math.prod(max(n, 1) for n in shape) * dtype.itemsize >= 1 << 62:
        raise BiasgridError(
            f"{where}: is not a whole NumPy file: its header says {dtype} {_shorten(shape)}, which is "
            f"{_shorten(expected)} bytes, and {bytes_present} bytes follow it"
        )
    return dtype, shape, order, start


def _shorten(value: object) -> str:
    text = str(value)
    return text if len(text) < 60 else f"{text[:60]}..."
