"""Reader of text with a word and its numbers per line: word2vec, GloVe, fastText .vec, Numberbatch, LexVec.

Arrow's CSV reader parses blocks of lines on all cores. A block that it refuses, or that has values which are
not finite, is parsed line by line. This accepts unusual but unambiguous lines, and errors name the line. Both
round each number to the nearest float64 and that to float32, like NumPy and gensim.

A row is a word, followed by d numbers. The text before the last d numbers is the word, so words may be
numbers or contain spaces (GloVe 840B has ". . ."). A word may end in whole numbers after a space ("covid 19")
if most numbers of its row are not whole. Any other number there is one too many, and the line is refused.
"""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from ...core.errors import BiasgridError
from ...core.extras import has
from ..store_writer import REPLACE, StoreWriter, decode_word
from .files import BLOCK, open_content
from .reader import Reader

HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*(?:\n|$)")
NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
WHOLE = re.compile(rb"\d+")
NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
# Characters that do not occur in numbers, although `float` accepts some of them.
NOT_PLAIN = re.compile(rb"[^0-9.eE+\- ]")
BOM = b"\xef\xbb\xbf"
SAMPLE_LINES = 100
# The content of a line, from its first character that is not white space.
CONTENT = re.compile(rb"[^ \t\r\n][^\n]*+")
# A word in quotes, as R writes it; a quote inside is doubled or follows a backslash.
QUOTED, ESCAPED = re.compile(rb'"(?:\\"|""|[^"])+"'), re.compile(rb'\\"|""')
# The line of column names above such rows.
R_HEADER = re.compile(rb'"[^"\n]*"(?:[ \t]+"[^"\n]*")*[ \t\r]*\n')
# Sparse rows, in which an index precedes each number that is not 0; and rows with their numbers in brackets.
SPARSE = re.compile(rb"\S+(?:[ \t]+\d+:[-+.\deE]+)+[ \t\r]*")
LIST = re.compile(rb"[^\[\]]+[\[(][ ]*[-+.\deE]+(?:(?:,[ \t]*|[ \t]+)[-+.\deE]+)+[ ]*[\])][ \t\r]*")
# floret's header: buckets, dimensions, and parameters of the n-grams and their hashes.
FLORET = re.compile(rb"(?:\d+ ){6}\S+ \S+[ \t\r]*\n")
OF_FLORET = (
    "floret's vectors are of parts of words, and this file has no list of words: give the .vec that floret writes, "
    "or the folder vocab of a spaCy pipeline that has these vectors"
)
# With more columns, Arrow needs more memory for the columns than for their contents.
MOST_COLUMNS = 1 << 14


@dataclass(frozen=True)
class Layout:
    """The layout of a file's rows, determined from its first lines.

    Attributes
    ----------
    header
        The header's (rows, dimensions), or None.
    dimensions
        The number of numbers per row.
    tabs
        Whether tabs separate the numbers; otherwise a tab is part of a word.
    offset
        The position of the first row.
    first_line
        The line number of the first row.
    quoted
        Whether all words are in quotes.
    broken_words
        How to treat words that are not UTF-8.
    """

    header: tuple[int, int] | None
    dimensions: int
    tabs: bool
    offset: int
    first_line: int
    quoted: bool = False
    broken_words: str = REPLACE


@dataclass(frozen=True)
class Rows:
    words: list[str]
    vectors: np.ndarray
    warnings: Counter


def read(path: Path, writer: StoreWriter) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = min(cores, 8)
    lines = rows = 0
    with open_content(path) as file, ThreadPoolExecutor(workers) as pool:
        first = file.read(BLOCK)
        layout = replace(_layout(path, first), broken_words=writer.broken_words)
        queue: deque[Future[Rows]] = deque()

        def take() -> int:
            block_rows = queue.popleft().result()
            writer.warnings.update(block_rows.warnings)
            writer.add(block_rows.words, block_rows.vectors)
            return len(block_rows.words)

        lines = layout.first_line - 1
        try:
            blocks = _whole_lines(path, file, first[layout.offset :])
            for block in blocks if writer.limit is None else _first_rows(blocks, writer.limit):
                queue.append(pool.submit(_parse, path, block, lines + 1, layout))
                lines += block.count(b"\n")
                if len(queue) > workers:  # limits the blocks in memory
                    rows += take()
            while queue:
                rows += take()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if layout.header and rows != layout.header[0] and not writer.is_full:
        raise BiasgridError(
            f"{path}: line 1 says {layout.header[0]} rows, but there are {rows}, up to line {lines}"
        )


def looks_like_text(sample: bytes) -> bool:
    """Return whether the first rows, after a header if there is one, look like vectors.

    Most of them must be a word and numbers, usually of the same number, which is two at least. (A single
    number could be a count.)
    """
    sample = sample.removeprefix(BOM)
    header = HEADER.match(sample) or R_HEADER.match(sample)
    lines = [line for line in _lines(sample[header.end() if header else 0 :]) if line.strip()]
    if any(b"\0" in line for line in lines):
        return False
    counts = Counter(map(_numbers_at_end, lines))
    return 2 * sum(count for numbers, count in counts.items() if numbers > 0) > len(lines) and any(
        numbers > 1 and 2 * count >= len(lines) for numbers, count in counts.items()
    )


def check_dense(path: Path, sample: bytes) -> None:
    """Raise BiasgridError for rows of words and numbers in a notation that this format does not have."""
    if FLORET.match(sample):
        raise BiasgridError(f"{path}: {OF_FLORET}")
    lines = [line for line in _lines(sample)[1:] or _lines(sample) if line.strip()]
    for pattern, problem in {
        SPARSE: "has sparse vectors (index:value): write every number of each row, zeros too, separated by spaces",
        LIST: "has its numbers in brackets, as in 'he [0.1, 0.2]': write each row as 'he 0.1 0.2'",
    }.items():
        if lines and 2 * sum(bool(pattern.fullmatch(line)) for line in lines) > len(lines):
            raise BiasgridError(f"{path}: {problem}")


def _layout(path: Path, sample: bytes) -> Layout:
    start = len(BOM) if sample.startswith(BOM) else 0
    match = HEADER.match(sample, start)
    header = (int(match[1]), int(match[2])) if match else None
    match = match or R_HEADER.match(sample, start)
    if header and not header[1]:
        raise BiasgridError(f"{path}: line 1 says {header[0]} rows of no dimensions")
    offset = match.end() if match else start
    lines = [(line, n) for line in _lines(sample[offset:]) if (n := _numbers_at_end(line))]
    if not lines:
        raise BiasgridError(f"{path}: line {1 + bool(match)}: expected a word and numbers")
    # Take the most common number, as single lines may be damaged or have a number as their word.
    usual = Counter(n for _, n in lines).most_common(1)[0][0]
    dimensions = header[1] if header else usual
    separators = re.findall(rb"[ \t]+", lines[0][0].rstrip(b" \t\r"))[-min(dimensions, 1000) :]
    # A tab next to a space is the end of a word.
    tabs = any(not separator.strip(b"\t") for separator in separators)
    quoted = len(lines) > 1 and all(QUOTED.match(line) for line, _ in lines)
    layout = Layout(header, dimensions, tabs, offset, 1 + bool(match), quoted)
    # Refuse too many dimensions before memory for these numbers is allocated.
    if header and dimensions > max(n for _, n in lines):
        content = CONTENT.search(sample, offset)
        assert content  # `lines` is not empty, so there is a line with content
        number = layout.first_line + sample.count(b"\n", offset, content.start())
        _parse_line(f"{path}: line {number}", content[0].replace(b"\t", b" ").rstrip(b" \r"), layout)
        raise BiasgridError(f"{path}: line 1 says {dimensions} dimensions, but the rows have {usual} numbers")
    return layout


def _lines(sample: bytes) -> list[bytes]:
    lines = sample.split(b"\n", SAMPLE_LINES)
    # The last line may be cut off, or is the rest of the sample.
    return lines[:-1] if len(lines) > 1 else lines


def _numbers_at_end(line: bytes) -> int:
    """Count the numbers at the end of a line; its first field always counts as a word."""
    fields = re.split(rb"[ \t]+", line.rstrip(b" \t\r"))[1:]
    count = 0
    for field in reversed(fields):
        if not (NUMBER.fullmatch(field) or NOT_FINITE.fullmatch(field)):
            break
        count += 1
    return count


def _whole_lines(path: Path, file: IO[bytes], rest: bytes) -> Iterator[bytes]:
    """Yield blocks of whole lines; only the last one may lack its line break."""
    while True:
        if cut := rest.rfind(b"\n") + 1:
            yield rest[:cut]
            rest = rest[cut:]
        elif len(rest) > 8 * BLOCK:
            raise BiasgridError(
                f"{path}: has a line of more than {8 * BLOCK} bytes: this is not word2vec text"
            )
        block = file.read(BLOCK)
        if not block:
            break
        rest += block
    if rest:
        yield rest


def _first_rows(blocks: Iterator[bytes], number: int) -> Iterator[bytes]:
    """Yield the blocks up to the end of the row of this number."""
    for block in blocks:
        ends = [match.end() for match in islice(CONTENT.finditer(block), number)]
        number -= len(ends)
        if not number:
            yield block[: ends[-1]]
            return
        yield block


def _parse(path: Path, block: bytes, first_line: int, layout: Layout) -> Rows:
    if not CONTENT.search(block):
        return Rows(
            [], np.empty((0, layout.dimensions), np.float32), Counter(blank_lines=_count_lines(block))
        )
    clean = block.replace(b"\r\n", b"\n") if b"\r" in block else block
    if layout.tabs:
        clean = clean.replace(b"\t", b" ")
    if b" \n" in clean:  # word2vec, fastText and LexVec end their lines with a space
        clean = clean.replace(b" \n", b"\n")
    # Arrow treats a lone \r as a line break, and drops a byte order mark.
    is_plain = b"\r" not in clean and not clean.startswith(BOM) and not layout.quoted
    if is_plain and layout.dimensions < MOST_COLUMNS:
        parse = partial(parse_csv, delimiter=b" ", words=True) if has("pyarrow") else _parse_plain
        try:
            words, vectors = parse(clean, layout.dimensions)
        except ValueError:  # pyarrow.ArrowInvalid is one
            pass
        else:
            if np.isfinite(vectors).all():
                blank = clean.count(b"\n") + (not clean.endswith(b"\n")) - len(words)
                return Rows(words, vectors, Counter(blank_lines=blank) if blank else Counter())
    return _parse_lines(path, block, first_line, layout)


def _parse_plain(block: bytes, columns: int) -> tuple[list[str], np.ndarray]:
    """Parse lines of a word and numbers like `parse_csv`, but without Arrow, and several times slower.

    Raise ValueError for lines that it refuses.
    """
    lines = [line.partition(b" ")[::2] for line in block.split(b"\n") if line]
    numbers = [rest for _, rest in lines]
    if any(rest.count(b" ") != columns - 1 or NOT_PLAIN.search(rest) for rest in numbers):
        raise ValueError("not a word and numbers per line, with one space between")
    values = np.array([float(number) for rest in numbers for number in rest.split(b" ")])
    with np.errstate(over="ignore"):  # checked by the caller
        return [word.decode() for word, _ in lines], values.astype(np.float32).reshape(len(lines), columns)


def parse_csv(block: bytes, columns: int, delimiter: bytes, words: bool) -> tuple[list[str], np.ndarray]:
    """Parse lines of a word, if `words`, and numbers: (words, float32 (lines, columns)). Empty lines are left out.

    Raise pyarrow.ArrowInvalid if a line has more or fewer fields, a field is not a number, or a word is not
    UTF-8.
    """
    import pyarrow as pa
    from pyarrow import csv

    names, parse, convert = _csv_options(columns, delimiter, words)
    # Read one chunk, as blocks are already parsed in parallel.
    read = csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names)
    table = csv.read_csv(pa.py_buffer(block), read, parse, convert)
    numbers = table.select(names[int(words) :]).combine_chunks().to_batches()
    if not numbers:
        return [], np.empty((0, columns), dtype=np.float32)
    with np.errstate(over="ignore"):  # checked by the caller
        vectors = numbers[0].to_tensor(row_major=True).to_numpy().astype(np.float32)
    return table.column(0).to_pylist() if words else [], vectors


@cache
def _csv_options(columns: int, delimiter: bytes, words: bool):
    import pyarrow as pa
    from pyarrow import csv

    types = {str(i): pa.float64() for i in range(columns)}
    if words:
        types = {"word": pa.string()} | types
    parse = csv.ParseOptions(
        delimiter=delimiter.decode(), quote_char=False, double_quote=False, escape_char=False
    )
    # With an empty list of null values, NA and null are words, and an empty number is an error.
    return (
        list(types),
        parse,
        csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
    )


def _parse_lines(path: Path, block: bytes, first_line: int, layout: Layout) -> Rows:
    # Limit the rows to the number that the block can contain, at two bytes per number.
    limit = min(len(block) // (2 * layout.dimensions), block.count(b"\n")) + 1
    words: list[str] = []
    warnings: Counter[str] = Counter()
    vectors = np.empty((limit, layout.dimensions), np.float32)
    number, place = first_line, 0
    for match in CONTENT.finditer(block):
        start = block.rfind(b"\n", 0, match.start()) + 1
        number += block.count(b"\n", place, start)
        place = start
        line = block[start : match.end()].removesuffix(b"\r")
        if layout.tabs:
            line = line.replace(b"\t", b" ")
        where = f"{path}: line {number}"
        head, vectors[len(words)] = _parse_line(where, line.rstrip(b" "), layout)
        if layout.quoted:
            head = _unquoted(where, head)
        word, is_broken = decode_word(head, where, layout.broken_words)
        warnings["quoted_words"] += layout.quoted
        warnings["broken_words"] += is_broken
        warnings["words_with_spaces"] += " " in word
        words.append(word)
    warnings["blank_lines"] = _count_lines(block) - len(words)
    return Rows(words, vectors[: len(words)], +warnings)


def _count_lines(block: bytes) -> int:
    """Count lines; the text after the last line break is a line if it is not empty."""
    return block.count(b"\n") + (not block.endswith(b"\n"))


def _parse_line(where: str, line: bytes, layout: Layout) -> tuple[bytes, np.ndarray]:
    """Parse a line; return its word, as bytes of the file, and its numbers."""
    d = layout.dimensions
    fields = re.sub(rb" +", b" ", line).rsplit(b" ", d)
    head = fields[0].strip(b" ") if len(fields) > d else line
    numbers = fields[1:] if len(fields) > d else []
    for field in numbers:
        if NOT_FINITE.fullmatch(field):
            raise BiasgridError(
                f"{where}: {_show(head)} has a value {_show(field)}: only finite numbers are allowed"
            )
    in_head = [part for part in head.split(b" ")[1:] if NUMBER.fullmatch(part)]
    is_word = not in_head or (all(map(WHOLE.fullmatch, in_head)) and 2 * sum(map(_is_whole, numbers)) < d)
    if not numbers or not is_word or not all(NUMBER.fullmatch(field) for field in numbers):
        raise BiasgridError(f"{where}: expected a word and {d} numbers, {_describe(line, layout)}")
    if not head:  # the word consists of spaces, before the space that ends it
        head = b" " * (len(line) - len(line.lstrip(b" ")) - 1)
    with np.errstate(over="ignore"):
        values = np.array([float(field) for field in numbers]).astype(np.float32)
    if not np.isfinite(values).all():
        value = numbers[int(np.flatnonzero(~np.isfinite(values))[0])]
        raise BiasgridError(f"{where}: {_show(head)} has a value {_show(value)}: too large for float32")
    return head, values


def _is_whole(number: bytes) -> bool:
    return WHOLE.fullmatch(number.lstrip(b"+-")) is not None


def _unquoted(where: str, head: bytes) -> bytes:
    """Return a word without R's quotes."""
    if not QUOTED.fullmatch(head):
        raise BiasgridError(
            f"{where}: {_show(head)} is not in quotes, as the words of the first lines are: with R write them "
            "without (quote = FALSE)"
        )
    return ESCAPED.sub(b'"', head[1:-1])


def _describe(line: bytes, layout: Layout) -> str:
    """Describe the problem of a line, for its error message."""
    fields = [field for field in line.split(b" ") if field][1:]
    count = sum(bool(NUMBER.fullmatch(field)) for field in fields)
    bad_field = next((field for field in fields if not NUMBER.fullmatch(field)), None)
    source = "as line 1 says" if layout.header else "as most lines before it have"
    return f"{source}, found {count}" + (f" and {_show(bad_field)}" if bad_field else "")


def _show(field: bytes) -> str:
    return repr(field[:60].decode("utf-8", "replace"))


READERS = (
    Reader(
        name="text",
        meaning="a word and its numbers per line, with word2vec's header or without",
        detect=looks_like_text,
        read=read,
        guesses=True,
        example=b"he 0.1 -0.2 0.3\nshe 0.2 0.1 -0.3\n",
    ),
)
