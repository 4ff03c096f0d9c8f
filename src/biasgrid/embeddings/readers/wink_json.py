"""The JSON file of the npm packages wink-embeddings-sg-*: a header, then "vectors", a mapping from word to numbers.

After a vector's d numbers stand its norm and its index. JavaScript moves words that are whole numbers to the front
of a mapping; the index gives the model's own order back. The file is read in blocks: whole it would take gigabytes.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from ...errors import BiasgridError
from ..store import StoreWriter
from .files import BLOCK, blocks, opened
from .text import parse_csv

# a word as JSON writes it, then numbers up to the next bracket
ENTRY = re.compile(rb'\s*,?\s*"((?:[^"\\]|\\.)*+)"\s*:\s*\[([^\]]*+)\]')


def read(path: Path, writer: StoreWriter) -> None:
    import pyarrow as pa

    words, parts = [], []
    with opened(path) as file:
        start, buffer = _until_vectors(path, file)
        size, dimensions, norm, index = (
            _number(path, start, key) for key in ("size", "dimensions", "l2NormIndex", "wordIndex")
        )
        if norm != dimensions or index != dimensions + 1:
            raise BiasgridError(f"{path}: expected norm and index after the {dimensions} numbers of a vector")
        while True:
            found, end = [], 0
            while match := ENTRY.match(buffer, end):
                found.append(match)
                end = match.end()
            if found:
                numbers = b"\n".join(match[2].replace(b"\n", b"") for match in found)
                try:
                    words += [json.loads(b'"%b"' % match[1]) for match in found]
                    parts.append(parse_csv(numbers, dimensions + 2, b",", words=False)[1])
                except (ValueError, pa.ArrowInvalid) as error:
                    reason = str(error).splitlines()[0]
                    raise BiasgridError(f"{path}: after {len(words)} words: {reason}") from None
                buffer = buffer[end:]
            if buffer.lstrip().startswith(b"}"):
                break
            more = file.read(BLOCK)
            if not more or len(buffer) > 4 * BLOCK:
                raise BiasgridError(f"{path}: is cut off or damaged after {len(words)} of {size} words")
            buffer += more
    if len(words) != size:
        raise BiasgridError(f"{path}: says {size} words, but has {len(words)}")
    table = np.concatenate(parts) if parts else np.empty((0, dimensions + 2), dtype=np.float32)
    del parts
    order = np.argsort(table[:, index], kind="stable")
    for part in blocks(table):
        rows = order[part]
        writer.add([words[row] for row in rows], table[rows, :dimensions])


def _until_vectors(path: Path, file) -> tuple[bytes, bytes]:
    """What stands before the vectors, and the first bytes of them."""
    buffer = b""
    while more := file.read(BLOCK):
        buffer += more
        # a word of the list before it can be "vectors", but no colon follows it there
        if match := re.search(rb'"vectors"\s*:\s*\{', buffer):
            return buffer[: match.start()], buffer[match.end() :]
    raise BiasgridError(f'{path}: is JSON without "vectors"')


def _number(path: Path, start: bytes, key: str) -> int:
    match = re.search(rb'"%b"\s*:\s*(\d+)' % key.encode(), start)
    if not match:
        raise BiasgridError(f'{path}: has no "{key}" before its "vectors"')
    return int(match[1])
