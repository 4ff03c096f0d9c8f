"""What a reader is: a format of vectors, how it is told from others, and the function that reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..store_writer import StoreWriter


@dataclass(frozen=True)
class Reader:
    """A format of vectors.

    A reader is one file in this package (or of a plugin) with a tuple `READERS`. Its `detect` is called for each
    source whose format is not given, so that it must be quick, and False for other formats.

    Parameters
    ----------
    name
        As in a config, such as "gensim-kv".
    meaning
        What is in such a file or folder, in a phrase.
    detect
        Whether this may be the format of a source: function of the first megabyte of a file, decompressed, or of the
        names in a folder.
    read
        Adds the words and vectors of a source (a path) to a `StoreWriter`, as long as it is not full (`is_full`). The
        writer decodes words (`decode`). It raises BiasgridError for a source that is damaged, naming it and the place
        in it.
    folder
        Whether a source is a folder.
    guesses
        Whether `detect` may be wrong. A format whose `detect` is sure goes first.
    pickled
        Whether such a file can hold code, so that its checksum, or the user, must vouch for it.
    beside
        The names of files beside a source that are read with it, as a pattern in which {} is the source's name: a
        checksum covers them.
    counts
        Whether every such source says how often each word occurs in its corpus; another may say it, too.
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
