"""The words of a model's folder, in a database: single words are looked up without reading the others.

vocabulary.sqlite: table vocabulary(word TEXT PRIMARY KEY, row INTEGER NOT NULL) WITHOUT ROWID; words may
share a row.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BiasgridError, InputError
from ..core.files import to_disk

VOCABULARY = "vocabulary.sqlite"


class Vocabulary:
    """An opened vocabulary. Words are looked up exactly as given: no case folding, no prefix.

    The first look-up verifies the checksum (1 ms for 50,000 words).

    Parameters
    ----------
    folder
        The model's folder.
    rows
        The number of rows of the model.
    metadata
        The contents of model.json: the number of `words`, and the `sha256` of files.
    remedy
        The advice that messages give if the vocabulary is damaged.

    Raises
    ------
    sqlite3.Error
        The file is not such a database.
    OSError
        The file cannot be read.
    """

    def __init__(self, folder: Path, rows: int, metadata: Mapping[str, Any], remedy: str):
        self.path, self.rows, self.metadata, self.remedy = folder / VOCABULARY, rows, metadata, remedy
        # Nobody writes into a store, so SQLite needs neither locks nor checks for changes.
        address = f"{self.path.resolve().as_uri()}?mode=ro&immutable=1"
        self._database = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
        self._database.execute("SELECT word, row FROM vocabulary LIMIT 0")
        self._unverified_file = self.path.open("rb")
        self._lock = threading.Lock()
        weakref.finalize(self, self._database.close)
        weakref.finalize(self, self._unverified_file.close)

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the row of each word as int64, -1 for words that the vocabulary lacks; thread-safe."""
        if isinstance(words, str):
            raise InputError(f"{words!r}: expected a list of words, not one text")
        rows = np.full(len(words), -1, dtype=np.int64)
        with self._query() as execute:
            for place, word in enumerate(words):
                try:
                    row = execute("SELECT row FROM vocabulary WHERE word = ?", (word,)).fetchone()
                except UnicodeEncodeError:  # no vocabulary contains a lone surrogate
                    continue
                if row:
                    # Words in a NumPy array are of NumPy's class, so they are converted.
                    rows[place] = self.checked_row(str(word), row[0])
        return rows

    def words(self) -> list[str]:
        """Return all words in the order of their rows; words that share a row are ordered by code point."""
        pairs = self.pairs()
        self.check_count(len(pairs))
        rows = np.fromiter((self.checked_row(*pair) for pair in pairs), np.int64, len(pairs))
        order = np.argsort(rows, kind="stable")
        return [pairs[place][0] for place in order]

    def pairs(self, limit: int | None = None) -> list[tuple[str, int]]:
        """Return words by code point with their unchecked rows, for all rows or only the first `limit`."""
        with self._query() as execute:
            condition = ("", ()) if limit is None else ("WHERE row < ?", (limit,))
            return execute(
                f"SELECT word, row FROM vocabulary {condition[0]} ORDER BY word", condition[1]
            ).fetchall()

    @contextmanager
    def _query(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        """Yield the connection's `execute`, to one thread at a time."""
        with self._lock:
            # Verify the checksum once, as a damaged database may give a word a wrong row, or none.
            if not self._unverified_file.closed:
                self._unverified_file.seek(0)
                digest = hashlib.file_digest(self._unverified_file, "sha256").hexdigest()
                if digest != self.metadata["sha256"].get(VOCABULARY):
                    raise self.damage_error("its checksum is not the one in model.json")
                self._unverified_file.close()
            try:
                yield self._database.execute
            # Text that is not UTF-8 raises OperationalError.
            except (sqlite3.Error, OverflowError) as error:
                raise self.damage_error(str(error)) from None

    def checked_row(self, word: object, row: object) -> int:
        """Return `row` if it is a possible row of a word, or else raise BiasgridError."""
        if type(row) is not int or not 0 <= row < self.rows or type(word) is not str:
            raise self.damage_error(f"{word!r:.60} has the row {row!r:.40} of {self.rows}")
        return row

    def check_count(self, words: int) -> None:
        """Raise BiasgridError unless the vocabulary has this number of words."""
        if words != self.metadata["words"]:
            raise self.damage_error(f"it has {words} words, and model.json says {self.metadata['words']}")

    def damage_error(self, reason: str) -> BiasgridError:
        """Return the error to raise if the vocabulary is damaged."""
        return BiasgridError(f"{self.path} is damaged: {reason}; {self.remedy}")


def write_vocabulary(path: Path, rows: Mapping[str, int]) -> None:
    """Write a vocabulary, word -> row. Raise sqlite3.Error if it cannot be written."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for setting in ("page_size = 4096", "journal_mode = OFF", "synchronous = OFF"):
            database.execute(f"PRAGMA {setting}")
        database.execute("CREATE TABLE vocabulary(word TEXT PRIMARY KEY, row INTEGER NOT NULL) WITHOUT ROWID")
        database.execute("BEGIN")
        # Insert in the table's own order: pages are full, and the bytes do not depend on the order of the words.
        database.executemany("INSERT INTO vocabulary VALUES (?, ?)", sorted(rows.items()))
        database.execute("COMMIT")
    with path.open("rb+") as file:
        to_disk(file)
