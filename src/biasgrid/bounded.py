"""Reading files from elsewhere without allocating more memory than their content needs.

The sizes that a file declares are compared with its actual size before memory is allocated, and compressed content is
read in blocks, up to a limit on how much it may expand. Whatever is wrong with a file is a BiasgridError of one line
that names it.
"""

from __future__ import annotations

import errno
import io
import math
import os
import re
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from .errors import BiasgridError

EXPANSION = "BIASGRID_EXPANSION"
# a gzipped text model expands 2 to 4 times; one of few distinct numbers, such as zeros and ones, up to 1,000 times
FACTOR = 50
FREE = 16 << 20  # bytes that content may expand to, however small the file
BLOCK = 1 << 20
Order = Literal["C", "F"]

NPY_HEADER = 10_000  # bytes; NumPy's own limit
NPY_ENTRY = re.compile(
    rb"""\s*(['"])(?P<key>descr|fortran_order|shape)\1\s*:\s*"""
    rb"""(?:(['"])(?P<descr>[<>=|]?(?:[biuf]\d{1,2}|O))\3|(?P<order>True|False)|\((?P<shape>[\dL,\s]*)\))\s*(?:,|(?=\}))"""
)


def expansion_limit(size: int) -> int:
    """Bytes that compressed content of `size` bytes may expand to: BIASGRID_EXPANSION (50) times as many."""
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
    """Turns whatever a parser raises into a BiasgridError; an error of the disk (one with a number) stays one.

    For calls of a parser only: around other code it would hide that code's own errors.
    """
    try:
        yield
    except BiasgridError:
        raise
    except Exception as error:
        # what a damaged file says where to read is an invalid argument
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        reason = (str(error).strip().splitlines() or [""])[0][:200] or type(error).__name__
        raise BiasgridError(f"{where}: {what}: {reason}") from None


class LimitedFile(io.RawIOBase):
    """What a decompressor's file object gives, up to `limit` bytes; more is a BiasgridError, as is damage."""

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


def read_all(file: IO[bytes]) -> bytes:
    """The whole content, read in blocks: memory grows with what is read, not with a size that a file declares."""
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
    """A member's content. Raises BiasgridError for compression other than deflate: Python sets it no limit."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BiasgridError(
            f"{where}: {info.filename[:100]!r} is compressed by method {info.compress_type} "
            f"({zipfile.compressor_names.get(info.compress_type, 'unknown')}); stored and deflated members are read"  # type: ignore[attr-defined]
        )
    with parser_errors(where, what):
        return LimitedFile(archive.open(info), where, what, limit)


def read_npy(path: Path | str, memory_map: bool = False) -> np.ndarray:
    """An array of numbers from an .npy file.

    Parameters
    ----------
    path : Path or str
    memory_map : bool
        Map the file (read-only) in place of reading it.

    Returns
    -------
    numpy.ndarray
        Of any shape; its dtype is of kind b, i, u or f.

    Raises
    ------
    BiasgridError
        The file is no .npy file, holds something else than numbers, or more or fewer bytes than its header says.
    OSError
        It cannot be opened.
    """
    path = Path(path)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        dtype, shape, order, start = _npy_header(file, size, path)
        file.seek(start)
        if memory_map and size > start:
            return np.memmap(file, dtype, "r", start, shape, order)
        return np.fromfile(file, dtype).reshape(shape, order=order)


def read_npz(path: Path | str) -> dict[str, np.ndarray]:
    """The arrays of an .npz file, by name; as `read_npy`."""
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
            dtype, shape, order, start = _npy_header(io.BytesIO(content), len(content), where)
            values = np.frombuffer(content, dtype, offset=start).copy()
            arrays[info.filename.removesuffix(".npy")] = values.reshape(shape, order=order)
    return arrays


def _npy_header(
    file: IO[bytes], size: int, where: Path | str
) -> tuple[np.dtype, tuple[int, ...], Order, int]:
    """dtype, shape, order (C or F), and the byte at which the numbers begin. `size` is the file's in bytes."""
    start = file.read(12)
    if not start.startswith(b"\x93NUMPY"):
        raise BiasgridError(f"{where}: is no NumPy file (.npy)")
    if start[6:8] not in (b"\x01\0", b"\x02\0", b"\x03\0"):
        raise BiasgridError(f"{where}: is a NumPy file of an unknown version, or damaged")
    header_start = 10 if start[6] == 1 else 12
    if len(start) < header_start:
        raise BiasgridError(f"{where}: is not a whole NumPy file: cut off in its header")
    (length,) = struct.unpack("<H" if header_start == 10 else "<I", start[8:header_start])
    if length > min(NPY_HEADER, size - header_start):
        raise BiasgridError(f"{where}: is not a whole NumPy file: a header of {length} bytes")
    file.seek(header_start)
    header = file.read(length)
    entries = _npy_entries(header)
    if not entries:
        raise BiasgridError(f"{where}: the NumPy file's header is damaged, or not one of an array of numbers")
    dtype, order, shape = entries
    if dtype.hasobject:
        raise BiasgridError(f"{where}: is a NumPy file of Python objects, and not of numbers")
    expected, bytes_present = math.prod(shape) * dtype.itemsize, size - header_start - length
    # an array with a dimension of 0 has no bytes: its other dimensions must fit what NumPy can address
    if expected != bytes_present or math.prod(max(n, 1) for n in shape) * dtype.itemsize >= 1 << 62:
        raise BiasgridError(
            f"{where}: is not a whole NumPy file: its header says {dtype} {_cut(shape)}, which is {_cut(expected)} "
            f"bytes, and {bytes_present} bytes follow it"
        )
    return dtype, shape, order, header_start + length


def _npy_entries(header: bytes) -> tuple[np.dtype, Order, tuple[int, ...]] | None:
    """dtype, order and shape; None where the header is not what NumPy writes for an array of numbers.

    NumPy's own parser evaluates the header as Python, and raises whatever Python's does.
    """
    text = header.strip(b" \n")
    entries, place = {}, 1
    while match := NPY_ENTRY.match(text, place):
        if match["key"] in entries:
            return None
        entries[match["key"]], place = match, match.end()
    if text[:1] != b"{" or text[place:].strip() != b"}" or len(entries) != 3:
        return None
    descr, order, shape = (
        entries[b"descr"]["descr"],
        entries[b"fortran_order"]["order"],
        entries[b"shape"]["shape"],
    )
    if descr is None or order is None or shape is None:
        return None
    sizes = re.fullmatch(rb"\s*|(\s*\d{1,18}L?\s*,)+(\s*\d{1,18}L?\s*)?", shape)
    try:
        dtype = np.dtype(descr.decode())
    except TypeError:
        return None
    if not sizes:
        return None
    numbers = tuple(int(number) for number in re.findall(rb"\d+", shape))
    return (dtype, "F" if order == b"True" else "C", numbers) if len(numbers) <= 32 else None


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) < 60 else f"{text[:60]}..."
