"""Reader of word2vec's binary format: a line "rows dimensions", then per row a word, a space and float32.

word2vec.c ends each row with a line break, gensim does not. word2vec.c cuts off long words, perhaps within a
character: such a word is broken at its end, and is counted. gensim also writes words that contain spaces, and
the format does not mark the end of such a word. A row is therefore read up to the first space, and checked:
its word and the next row's word must be text, and its numbers must be of a plausible size. If they are not,
the word may end at a later space. If exactly one such reading passes the checks, it is used; otherwise the
file is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BiasgridError
from ..store_writer import StoreWriter
from .files import BLOCK, most_bytes, open_content
from .reader import Reader
from .text import looks_like_text

HEADER = re.compile(rb"(\d{1,18}) (\d{1,18})\r?\n")
LONGEST_WORD = 1 << 16  # bytes
# Numbers of vectors are between these, or 0. Other bytes seldom are: four letters give numbers above 1e20, letters
# before a space about 1e-19, and random bytes any number.
SMALLEST, LARGEST = 1e-15, 1e15
CONTROL, CONTROLS = re.compile(rb"[\x00-\x1f\x7f]"), "control characters"
MOST_READINGS = 50  # readings of one row
FEW = 8  # dimensions; fewer numbers may be plausible by chance, so all readings of each row are compared
ADVICE = (
    "damaged, or its words have spaces, and this format does not mark their ends: save the model in another format, "
    "such as gensim's own (.kv) or text"
)


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
        _Rows(path, file, first[header.end() :], rows, dimensions).add_to(writer)


@dataclass(frozen=True)
class _Reading:
    """One way to read a row: its word and numbers, the start of the next row, and the checks that it passes."""

    word: bytes
    numbers: NDArray[np.float32]
    end: int
    is_text: bool
    is_followed: bool  # a row that begins with a word follows, or, for the last row, the end of the file
    is_vector: bool

    @property
    def is_sound(self) -> bool:
        return self.is_text and self.is_followed and self.is_vector


class _Rows:
    """The rows of a file, read in batches. A batch ends before a row that fails a check, which is then read alone."""

    def __init__(self, path: Path, file: IO[bytes], buffer: bytes, rows: int, dimensions: int):
        self.path, self.file, self.buffer, self.rows = path, file, buffer, rows
        self.width = 4 * dimensions
        self.header = f"line 1 says {rows} rows of {dimensions} dimensions"
        self.place = self.done = 0
        self.is_at_end = False

    def add_to(self, writer: StoreWriter) -> None:
        """Add as many rows to the writer as it needs."""
        wanted = batch = min(self.rows, self.rows if writer.limit is None else writer.limit)
        while self.done < wanted:
            self._fill(max(BLOCK, 2 * (LONGEST_WORD + 1 + self.width)))
            words, vectors = self._batch(0 if self.width < 4 * FEW else min(batch, wanted - self.done))
            batch = 2 * len(words) or 1  # after a row that failed a check, start again with small batches
            if not words:
                words, vectors = self._single(writer)
            rows = enumerate(words, self.done + 1)
            writer.add([writer.decode(word, f"{self.path}: row {row}") for row, word in rows], vectors)
            self.done += len(words)
        if wanted < self.rows:
            return
        self._fill(BLOCK)
        if excess := len(self.buffer[self.place :].strip(b"\r\n")):
            raise BiasgridError(f"{self.path}: {self.header}, but {excess} or more bytes follow them")

    def _fill(self, size: int) -> None:
        """Read until this many bytes are in the buffer, or the file ends."""
        while len(self.buffer) - self.place < size and not self.is_at_end:
            block = self.file.read(size)
            self.buffer, self.place = self.buffer[self.place :] + block, 0
            self.is_at_end = not block

    def _batch(self, limit: int) -> tuple[list[bytes], NDArray[np.float32]]:
        """Read the next rows up to one that fails a check, if they and the next word are in the buffer."""
        ends = [self.place]
        words: list[bytes] = []
        vectors = []
        view = memoryview(self.buffer)
        while len(words) < limit:
            space = self.buffer.find(b" ", ends[-1], ends[-1] + LONGEST_WORD)
            end = space + 1 + self.width
            if space < 0 or end > len(self.buffer):
                break
            words.append(self.buffer[ends[-1] : space].lstrip(b"\n"))
            vectors.append(view[space + 1 : end])
            ends.append(end)
        numbers = _numbers(b"".join(vectors), self.width)
        is_sound = _are_vectors(numbers)
        # If a word is not text, the row before it is doubtful as well, as it may have ended elsewhere.
        flaws = [i for i, word in enumerate(words) if not _is_text(word)]
        is_sound[flaws] = False
        is_sound[[i - 1 for i in flaws if i]] = False
        if words:
            is_sound[-1] &= self._is_followed(ends[-1], self.done + len(words))
        count = len(words) if is_sound.all() else int(np.argmin(is_sound))
        self.place = ends[count]
        return words[:count], numbers[:count]

    def _single(self, writer: StoreWriter) -> tuple[list[bytes], NDArray[np.float32]]:
        """Read the next row, whose word may contain spaces. Raise BiasgridError if the reading is ambiguous."""
        readings = list(self._readings())
        if not readings:
            if self.is_at_end:
                raise BiasgridError(
                    f"{self.path}: cut off: {self.header}, but the file ends after {self.done} rows"
                )
            raise BiasgridError(f"{self.path}: {self.header}, but no word follows row {self.done}")
        first, *others = readings
        possible = [reading for reading in others if reading.is_followed]
        sound = [reading for reading in possible if reading.is_vector]
        chosen = first
        if first.is_sound:
            if sound:
                raise self._error(first, possible)
        elif len(sound) == 1:
            (chosen,) = sound
            writer.warnings["words_with_spaces"] += 1
        elif possible or not self._is_odd_only(first):
            raise self._error(first, possible)
        if CONTROL.search(chosen.word):  # the words of batches never have control characters
            writer.warnings["words_with_control_characters"] += 1
        self.place = chosen.end
        return [chosen.word], chosen.numbers

    def _readings(self) -> Iterator[_Reading]:
        """Yield the ways to read the next row: its word may end at any space, if all before it is text."""
        start, space = self.place, self.place - 1
        for number in range(MOST_READINGS):
            space = self.buffer.find(b" ", space + 1, start + LONGEST_WORD)
            end = space + 1 + self.width
            if space < 0 or end > len(self.buffer):
                return
            word = self.buffer[start:space].lstrip(b"\n")
            is_text = _is_text(word)
            if number and not is_text:
                return
            numbers = _numbers(self.buffer[space + 1 : end], self.width)
            is_followed = self._is_followed(end, self.done + 1)
            yield _Reading(word, numbers, end, is_text, is_followed, bool(_are_vectors(numbers)[0]))

    def _is_followed(self, end: int, rows: int) -> bool:
        """Return whether a word follows row number `rows`; for the last row, whether the file ends."""
        if rows == self.rows:
            return self.is_at_end and not self.buffer[end:].strip(b"\r\n")
        space = self.buffer.find(b" ", end, end + LONGEST_WORD)
        # If the file was cut off, reading the next row raises the error.
        return _is_text(self.buffer[end:space].lstrip(b"\n")) if space >= 0 else self.is_at_end

    def _is_odd_only(self, reading: _Reading) -> bool:
        """Return whether to accept a row that fails a check and that can be read in only one way."""
        if reading.is_vector:
            # Control characters in the word are counted. The next row's word is checked with that row.
            return _flaw(reading.word) in ("", CONTROLS)
        # Very small numbers are harmless. The writer refuses numbers that are not finite, and names row and word.
        too_large = np.isfinite(reading.numbers) & (np.abs(reading.numbers) > LARGEST)
        return reading.is_text and reading.is_followed and not too_large.any()

    def _error(self, reading: _Reading, others: list[_Reading]) -> BiasgridError:
        word = reading.word.decode("utf-8", "backslashreplace")
        row = f"row {self.done + 1}"
        if not reading.is_text:
            problem = f"the word {word!r:.60} of {row} has {_flaw(reading.word)}"
        elif others:
            longest = others[-1].word.decode("utf-8", "replace")
            problem = f"it cannot be told where the word of {row} ends, {word!r:.60} or {longest!r:.60}"
        else:
            value = reading.numbers[~_are_usual(reading.numbers)][0]
            problem = f"{row}, word {word!r:.60}, has a value {value:.3g}"
        return BiasgridError(f"{self.path}: {self.header}, but {problem}: {ADVICE}")


def _numbers(content: bytes, width: int) -> NDArray[np.float32]:
    """Return the numbers of whole rows: float32 (rows, dimensions)."""
    return np.frombuffer(content, dtype="<f4").reshape(-1, width // 4)


def _are_vectors(numbers: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which rows have only numbers of a plausible size: bool (rows,)."""
    return np.asarray(_are_usual(numbers).all(axis=1))


def _are_usual(numbers: NDArray[np.float32]) -> NDArray[np.bool_]:
    sizes = np.abs(numbers)
    return (sizes <= LARGEST) & ((sizes >= SMALLEST) | (sizes == 0))


def _is_text(word: bytes) -> bool:
    return not _flaw(word)


def _flaw(word: bytes) -> str:
    """Describe the flaw of a word, if any; a character that is cut off at its end does not count."""
    try:
        word.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return "bytes that are not UTF-8"
    if b"\n" in word:
        return "a line break"
    return CONTROLS if CONTROL.search(word) else ""


def detect(sample: bytes) -> bool:
    """Return whether a file has word2vec's header, which its text format also has, and does not continue as text."""
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
