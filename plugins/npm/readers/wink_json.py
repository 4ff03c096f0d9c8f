"""Reader of the JSON file of the npm packages wink-embeddings-sg-*.

The file has a header and then "vectors", a mapping from words to numbers. A vector's d numbers are followed by its
norm and its index. JavaScript moves words that are whole numbers to the front of a mapping; the index restores the
order of the model. The vectors are read in blocks, because all of them at once would take gigabytes. Nevertheless,
the whole file must be valid JSON.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from biasgrid.core.errors import BiasgridError
from biasgrid.core.untrusted import parser_errors
from biasgrid.models.readers.files import BLOCK, blocks, open_content
from biasgrid.models.readers.reader import Reader
from biasgrid.models.readers.text import MOST_COLUMNS, parse_csv
from biasgrid.models.store_writer import StoreWriter

SPACE = rb"[ \t\r\n]*+"
# Match a word as a JSON string, then numbers up to the next bracket.
ENTRY = rb'"((?:[^"\\]|\\.)*+)"%b:%b\[([^\]]*+)\]%b' % (SPACE, SPACE, SPACE)
FIRST, NEXT = re.compile(SPACE + ENTRY), re.compile(rb"%b,%b%b" % (SPACE, SPACE, ENTRY))
VECTORS = re.compile(rb'"vectors"%b:%b\{' % (SPACE, SPACE))
# Limit the bytes before the vectors. Most of them are a list of all words.
HEADER = 32 << 20


def read(path: Path, writer: StoreWriter) -> None:
    words, parts = [], []
    with open_content(path) as file:
        header, buffer = _until_vectors(path, file)
        size, dimensions = (_number(path, header, key) for key in ("size", "dimensions"))
        norm, index = (_number(path, header, key) for key in ("l2NormIndex", "wordIndex"))
        if norm != dimensions or index != dimensions + 1 or not 0 < dimensions < MOST_COLUMNS:
            raise BiasgridError(f"{path}: expected norm and index after the {dimensions} numbers of a vector")
        entry = FIRST
        while True:
            matches, end = [], 0
            while match := entry.match(buffer, end):
                matches.append(match)
                end, entry = match.end(), NEXT
            if matches:
                with parser_errors(path, f"after {len(words)} words"):
                    parts.append(_vectors([match[2] for match in matches], dimensions + 2))
                    words += _strings([match[1] for match in matches])
                buffer = buffer[end:]
            if buffer.lstrip(b" \t\r\n")[:1] == b"}":
                break
            block = file.read(BLOCK)
            if not block or len(buffer) > 4 * BLOCK:
                raise BiasgridError(f"{path}: is cut off or damaged after {len(words)} of {size} words")
            buffer += block
        _check_rest(path, buffer, file)
    if len(words) != size:
        raise BiasgridError(f"{path}: says {size} words, but has {len(words)}")
    table = np.concatenate(parts) if parts else np.empty((0, dimensions + 2), dtype=np.float32)
    del parts
    places = table[:, index]
    order = np.argsort(places, kind="stable")
    # float32 represents whole numbers exactly only up to 2 ** 24.
    if size < 1 << 24 and (places[order] != np.arange(size)).any():
        raise BiasgridError(f"{path}: its vectors' wordIndex does not count from 0 to {size - 1}")
    if isinstance(header.get("words"), list) and header["words"] != [words[row] for row in order]:
        raise BiasgridError(f'{path}: the words of its "vectors" differ from its "words"')
    for part in blocks(table):
        rows = order[part]
        writer.add([words[row] for row in rows], table[rows, :dimensions])


def _vectors(texts: list[bytes], columns: int) -> np.ndarray:
    """Parse the numbers of each text as float32 (texts, columns). Raises ValueError if they are not JSON."""
    # Check the number of columns before memory is allocated.
    if (count := texts[0].count(b",") + 1) != columns:
        raise ValueError(f"a vector has {count} numbers, norm and index included, and not {columns}")
    numbers = b"\n".join(texts)
    if b"\r" in numbers or numbers.count(b"\n") >= len(texts):
        # Remove line breaks inside vectors, because Arrow reads them as ends of rows.
        numbers = b"\n".join([text.replace(b"\n", b" ").replace(b"\r", b" ") for text in texts])
    vectors = parse_csv(numbers, columns, b",", words=False)[1]
    if len(vectors) != len(texts):
        raise ValueError("a vector has no numbers")
    _check_numbers(numbers)
    return vectors


def _check_numbers(numbers: bytes) -> None:
    """Raise ValueError for numbers that Arrow accepts but JSON does not: 0882, +1, .5, 5., nan."""
    text = np.frombuffer(b"\n" + numbers + b"\n", dtype=np.uint8)
    digit = (text - np.uint8(48)) < 10
    points = text[1:-1] == ord(".")
    points &= ~(digit[:-2] & digit[2:])
    letters, plus = np.flatnonzero(text > ord("9")), np.flatnonzero(text == ord("+"))
    wrong = [
        np.flatnonzero(points) + 1,
        # Letters outside of exponents are from nan or inf.
        letters[~_exponent(text[letters])],
        plus[~_exponent(text[plus - 1])],
    ]
    # Find zeros before a digit that have neither a digit nor a point before them.
    in_number = digit | (text == ord("."))
    zeros = np.flatnonzero((text[1:-1] == ord("0")) & digit[2:] & ~in_number[:-2]) + 1
    # Leading zeros are allowed after the sign of an exponent.
    has_sign = (text[zeros - 1] == ord("-")) | (text[zeros - 1] == ord("+"))
    previous = np.where(has_sign, text[np.maximum(zeros - 2, 0)], text[zeros - 1])
    wrong.append(zeros[~_exponent(previous)])
    if len(errors := np.concatenate(wrong)):
        place = int(errors.min()) - 1
        start = max(numbers.rfind(b",", 0, place), numbers.rfind(b"\n", 0, place)) + 1
        number = re.match(rb"[^,\n]{0,40}", numbers[start:])[0].strip().decode("latin1")
        raise ValueError(f"{number!r} is no JSON number")


def _exponent(signs: np.ndarray) -> np.ndarray:
    return (signs == ord("e")) | (signs == ord("E"))


def _strings(texts: list[bytes]) -> list[str]:
    return json.loads((b'["' + b'","'.join(texts) + b'"]').decode())


def _until_vectors(path: Path, file) -> tuple[dict[str, Any], bytes]:
    """Return the mapping before "vectors", and the first bytes of the vectors."""
    buffer, start = b"", 0
    while len(buffer) < HEADER and (block := file.read(BLOCK)):
        buffer += block
        # The list of words before it may also contain "vectors", but without a colon after it.
        if match := VECTORS.search(buffer, start):
            header = _json(path, buffer[: match.start()] + b'"vectors":{}}')
            return header, buffer[match.end() :]
        start = max(0, len(buffer) - 100)
    raise BiasgridError(f'{path}: is JSON without "vectors"')


def _check_rest(path: Path, rest: bytes, file) -> None:
    """Raise BiasgridError unless the bytes after the vectors, from their last bracket on, complete the JSON."""
    while len(rest) < BLOCK and (block := file.read(BLOCK)):
        rest += block
    if len(rest) >= BLOCK:
        raise BiasgridError(f"{path}: has more than {BLOCK} bytes after its vectors")
    _json(path, b'{"vectors":{' + rest.lstrip())


def _json(path: Path, content: bytes) -> dict[str, Any]:
    with parser_errors(path, "is not JSON"):
        return json.loads(content.decode(), parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _number(path: Path, header: dict[str, Any], key: str) -> int:
    value = header.get(key)
    if type(value) is not int or not 0 <= value < 1 << 40:
        raise BiasgridError(f'{path}: has no "{key}", a whole number, before its "vectors"')
    return value


def detect(sample: bytes) -> bool:
    """Return whether a sample begins like a JSON mapping."""
    return re.match(rb'\s*\{\s*"', sample) is not None


READERS = (
    Reader(
        name="wink-json",
        meaning="the JSON file of the npm packages wink-embeddings-sg-*",
        detect=detect,
        read=read,
    ),
)
