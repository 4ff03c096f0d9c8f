"""Readers: a format of vectors, how it is detected, and the function that reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..store_writer import StoreWriter


@dataclass(frozen=True)
class Reader:
    """A format of vectors.

    A reader is one file in this package (or of a plugin) with a tuple `READERS`. Its `detect` is called for
    each source whose format is not given, so it must be fast, and False for other formats.

    Parameters
    ----------
    name
        Its name in a config, such as "gensim-kv".
    meaning
        A phrase that describes such a file or folder.
    detect
        A function that returns whether a source may be of this format. It takes the first megabyte of a file,
        decompressed, or the names in a folder.
    read
        A function that adds the words and vectors of a source (a path) to a `StoreWriter`, until it is full
        (`is_full`). The writer decodes words (`decode`). It raises BiasgridError for a damaged source; the
        message names the source and the position in it.
    folder
        Whether a source is a folder.
    guesses
        Whether `detect` may be wrong. Formats whose `detect` is certain are tried first.
    pickled
        Whether such a file can contain code, so that a checksum or the user's consent is required.
    beside
        The names of files in the same folder that are read with a source, as a pattern in which {} is the
        source's name. A checksum covers them.
    counts
        Whether every such source contains the counts of words in its corpus; in other formats they are
        optional.
    example
        A small whole source of this format, for tests: the content of a file, or the contents of several files by
        name. The first of these is the source, or all of them if a source is a folder. Formats whose files tests
        write with other programs do not need it.
    """

    name: str
    meaning: str
    detect: Callable[[Any], bool]
    read: Callable[[Path, StoreWriter], None]
    folder: bool = False
    guesses: bool = False
    pickled: bool = False
    beside: str = ""
    counts: bool = False
    example: bytes | Mapping[str, bytes] = b""
