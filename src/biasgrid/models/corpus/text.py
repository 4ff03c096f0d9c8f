"""Reading of a corpus, block by block: its words in lower case, and the ends of its sentences."""

from __future__ import annotations

import io
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ...core.errors import BiasgridError, quote
from ...core.untrusted import expansion_limit, parser_errors, zip_member
from ..readers.files import open_content
from .formats import DEFAULT

BLOCK = 1 << 20  # characters read at a time
LONGEST = 8 << 20  # characters without white space
UNLIMITED = 1 << 40  # words of a sentence; in effect no limit

# Letters and digits, and signs between two of them: don't, u.s, well-known.
WORD = re.compile(r"\w+(?:[.'’\-]\w+)*")


def _strip_tags(text: str) -> list[str]:
    # A token without a tag is a word.
    return [token.rpartition("/")[0] or token for token in text.split()]


def _split_at_commas(text: str) -> list[str]:
    return text.replace(",", " ").split()


# Functions that split text, one for each of `FORMATS`.
WORDS: dict[str, Callable[[str], list[str]]] = {
    "text": WORD.findall,
    "tokens": str.split,
    "commas": _split_at_commas,
    "tagged": _strip_tags,
}


def blocks(archive: Path, format: str = DEFAULT) -> Iterator[tuple[list[str], list[int]]]:
    """Yield the words of a corpus in lower case, block by block, and the sentence ends in each block.

    An end is the number of the block's words before it.

    Parameters
    ----------
    archive
        UTF-8 text with one sentence per line: a file, plain, compressed, or alone in a .zip; or a folder of
        such files, which are read in the order of their names.
    format
        One of `formats.FORMATS`.

    Raises
    ------
    BiasgridError
        A file is damaged, is not UTF-8 text, or does not have white space in 8 million characters.
    """
    split = WORDS[format]
    files = (
        sorted(path for path in archive.iterdir() if path.name != "manifest.json" and path.name[0] != ".")
        if archive.is_dir()
        else [archive]
    )
    for path in files:
        open_words = 0  # words of a sentence that began in an earlier block
        for text in _texts(path):
            words: list[str] = []
            ends: list[int] = []
            *whole, last = text.lower().split("\n")
            for line in whole:
                words += split(line)
                # A line without words is not a sentence.
                if open_words + len(words) > (ends[-1] if ends else 0):
                    ends.append(len(words))
                    open_words = 0
            words += split(last)
            open_words += len(words) - (ends[-1] if ends else 0)
            yield words, ends
        if open_words:
            yield [], [0]


@dataclass(frozen=True)
class Sentences:
    """The sentences of a corpus as lists of words; sentences of more than `longest` words are split.

    Each iteration reads the corpus again.
    """

    archive: Path
    format: str = DEFAULT
    longest: int = UNLIMITED

    def __iter__(self) -> Iterator[list[str]]:
        rest: list[str] = []
        for words, ends in blocks(self.archive, self.format):
            start = 0
            for end in ends:
                rest += words[start:end]
                for first in range(0, len(rest), self.longest):
                    yield rest[first : first + self.longest]
                rest, start = [], end
            rest += words[start:]
            while len(rest) > self.longest:
                yield rest[: self.longest]
                rest = rest[self.longest :]


def _texts(path: Path) -> Iterator[str]:
    """Yield a file's text in parts that end in white space, except for the last one."""
    rest = ""
    with text_of(path) as file:
        while True:
            try:
                block = file.read(BLOCK)
            except UnicodeDecodeError as error:
                raise BiasgridError(f"{path}: is damaged, or no UTF-8 text: {error}") from None
            if not block:
                break
            rest += block
            cut = max(rest.rfind(" "), rest.rfind("\n"), rest.rfind("\t")) + 1
            if cut:
                yield rest[:cut]
                rest = rest[cut:]
            elif len(rest) > LONGEST:
                raise BiasgridError(f"{path}: has no white space in {LONGEST} characters: no corpus")
    if rest:
        yield rest


@contextmanager
def text_of(path: Path) -> Iterator[IO[str]]:
    """Open a corpus' file as text: plain, compressed, or alone in a .zip. Raise BiasgridError if it is damaged."""
    with path.open("rb") as file:
        if file.read(4) not in (b"PK\x03\x04", b"PK\x05\x06"):  # the second one marks a zip without files
            with open_content(path) as content:
                yield io.TextIOWrapper(content, encoding="utf-8-sig")
            return
        with parser_errors(path, "the zip archive is damaged"):
            archive = zipfile.ZipFile(file)
        members = [info for info in archive.infolist() if not info.is_dir()]
        if len(members) != 1:
            raise BiasgridError(f"{path}: holds {len(members)} files; a corpus is one")
        if stat.S_ISLNK(members[0].external_attr >> 16):
            raise BiasgridError(f"{path}: holds the link {quote(members[0].filename)}, and no text")
        member = zip_member(archive, members[0], path, expansion_limit(path.stat().st_size))
        yield io.TextIOWrapper(io.BufferedReader(member), encoding="utf-8-sig")
