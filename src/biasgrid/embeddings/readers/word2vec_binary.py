"""word2vec's binary format: a line "rows dimensions", then for each row a word, a space, float32 numbers.

word2vec.c ends each row with a line break, gensim does not. A word that word2vec.c cut off within a character is not
UTF-8; its broken bytes are replaced by U+FFFD and it is counted.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import IO

import numpy as np

from ...errors import BiasgridError
from ..store_writer import StoreWriter
from .files import BLOCK, most_bytes, open_content
from .reader import Reader
from .text import looks_like_text

HEADER = re.compile(rb"(\d{1,18}) (\d{1,18})\r?\n")
LONGEST_WORD = 1 << 16  # bytes


def read(path: Path, writer: StoreWriter) -> None:
    with open_content(path) as file:
        first = file.read(100)
        header = HEADER.match(first)
        if not header:
            raise BiasgridError(
                f"{path}: line 1: expected the numbers of rows and dimensions, as in '400000 300'"
            )
        rows, dimensions = int(header[1]), int(header[2])
        if not rows or not 0 < dimensions <= BLOCK:
            raise BiasgridError(f"{path}: line 1 says {rows} rows and {dimensions} dimensions")
        if rows * (4 * dimensions + 1) > (size_limit := most_bytes(path, file)):
            raise BiasgridError(
                f"{path}: cut off: line 1 says {rows} rows of {dimensions} dimensions, but {size_limit} bytes at most"
            )
        broken_words = _read_rows(path, file, first[header.end() :], writer, rows, dimensions)
    # with wrong dimensions or another encoding most words break, with word2vec.c few
    if broken_words > max(10, rows // 100):
        raise BiasgridError(
            f"{path}: {broken_words} of {rows} words are not UTF-8: another encoding, or not the {dimensions} "
            "dimensions that line 1 says"
        )
    if broken_words:
        writer.warnings["broken_words"] += broken_words


def _read_rows(
    path: Path, file: IO[bytes], buffer: bytes, writer: StoreWriter, rows: int, dimensions: int
) -> int:
    """Add the rows to the writer; `buffer` has the bytes of them that were read before. Returns how many words are
    not UTF-8."""
    header = f"line 1 says {rows} rows of {dimensions} dimensions"
    width = 4 * dimensions
    count = broken_words = 0
    while count < rows:
        block = file.read(max(BLOCK, width + LONGEST_WORD))
        buffer += block
        words: list[str] = []
        vectors, start = [], 0
        view = memoryview(buffer)
        while count + len(words) < rows:
            space = buffer.find(b" ", start, start + LONGEST_WORD)
            end = space + 1 + width
            if space < 0 or end > len(buffer):
                break
            word = buffer[start:space].lstrip(b"\n")
            try:
                words.append(word.decode())
            except UnicodeDecodeError:
                words.append(word.decode("utf-8", "replace"))
                broken_words += 1
            vectors.append(view[space + 1 : end])
            start = end
        if words:
            writer.add(words, np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(words), dimensions))
        elif not block:
            raise BiasgridError(f"{path}: cut off: {header}, but the file ends after {count} rows")
        elif len(buffer) > width + LONGEST_WORD:
            raise BiasgridError(f"{path}: {header}, but no word follows row {count}")
        count += len(words)
        vectors.clear()
        view.release()
        buffer = buffer[start:]
    excess = len((buffer + file.read(BLOCK)).strip(b"\r\n"))
    if excess:
        raise BiasgridError(f"{path}: {header}, but {excess} or more bytes follow them")
    return broken_words


def detect(sample: bytes) -> bool:
    """Whether this is word2vec's header, which its text format has too, and no text follows it."""
    return HEADER.match(sample) is not None and not looks_like_text(sample)


READERS = (
    Reader(
        name="word2vec-binary",
        meaning="word2vec's binary format",
        detect=detect,
        read=read,
        guesses=True,
    ),
)
