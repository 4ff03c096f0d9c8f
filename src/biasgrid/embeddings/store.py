"""The embedding store: a folder that a cell opens in no time and reads only the rows it needs from.

- vectors.npy        float32, C order, one row per vector; memory-mapped
- vocabulary.sqlite  table vocabulary(word TEXT PRIMARY KEY, row INTEGER NOT NULL) WITHOUT ROWID; words may share
                     a row
- model.json         what the vectors are and where they come from; written last: without it a folder is no store
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..bounded import read_npy
from ..errors import BiasgridError

if TYPE_CHECKING:
    from ..debias.transform import Transform

VECTORS, VOCABULARY, MODEL = "vectors.npy", "vocabulary.sqlite", "model.json"
AGAIN = "convert the model again (in a study: snakemake stores)"


@dataclass(frozen=True, eq=False)
class EmbeddingStore:
    """An opened store; `open` makes it.

    Attributes
    ----------
    path
        The store's folder.
    name
        The model's name.
    vectors
        float32 (rows, dimensions), memory-mapped, read-only, and not checked: `take`, `matrix` and `read` are.
    vocab_prefix
        What stands before every word in the vocabulary (/c/en/ in ConceptNet Numberbatch).
    metadata
        model.json.
    """

    path: Path
    name: str
    vectors: np.ndarray
    vocab_prefix: str
    metadata: dict[str, Any]
    _vocabulary: sqlite3.Connection = field(repr=False)
    _unverified: BinaryIO = field(repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def open(cls, path: Path | str) -> EmbeddingStore:
        """Open a store without reading its vectors or words (under 1 ms).

        Raises BiasgridError if the folder is not a whole store. The vocabulary is held against its checksum at the
        first look-up (1 ms for 50,000 words), the vectors are not.
        """
        path = Path(path)
        try:
            text = (path / MODEL).read_text(encoding="utf-8")
            metadata = json.loads(text)
            name, vocab_prefix, shape = (metadata[key] for key in ("name", "vocab_prefix", "shape"))
            vectors = read_npy(path / VECTORS, mapped=True)
            # immutable: no locks and no look for changes, as nobody writes into a store
            address = f"{(path / VOCABULARY).resolve().as_uri()}?mode=ro&immutable=1"
            vocabulary = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
            vocabulary.execute("SELECT word, row FROM vocabulary LIMIT 0")
            file = (path / VOCABULARY).open("rb")
            # a writer removes it before it moves the other two in
            changed = (path / MODEL).read_text(encoding="utf-8") != text
        except (FileNotFoundError, NotADirectoryError) as error:
            missing = Path(error.filename).name
            raise BiasgridError(
                f"{path}: not a store, or one that was not finished: it has no {missing}"
            ) from None
        except sqlite3.Error as error:
            raise BiasgridError(f"{path}: not a whole store: {VOCABULARY}: {error}; {AGAIN}") from None
        except BiasgridError as error:
            raise BiasgridError(f"{path}: not a whole store: {error}; {AGAIN}") from None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise BiasgridError(f"{path}: not a whole store: {error!r:.100}; {AGAIN}") from None
        if changed:
            raise BiasgridError(f"{path}: another process is writing this store")
        if vectors.dtype != np.float32 or not vectors.flags.c_contiguous or list(vectors.shape) != shape:
            raise BiasgridError(
                f"{path}: not a whole store: {VECTORS} is {vectors.dtype} {vectors.shape}, {MODEL} says "
                f"{str(shape)[:60]}; {AGAIN}"
            )
        hashes, words = metadata.get("sha256"), metadata.get("words")
        texts = (name, vocab_prefix, hashes.get(VECTORS) if isinstance(hashes, dict) else None)
        whole = type(words) is int and words > 0 and all(isinstance(text, str) for text in texts)
        if not whole or vectors.ndim != 2 or not vectors.size:
            raise BiasgridError(
                f"{path}: not a whole store: {MODEL} lacks an entry, or has one that cannot be; {AGAIN}"
            )
        store = cls(path, name, vectors, vocab_prefix, metadata, vocabulary, file)
        weakref.finalize(store, vocabulary.close)
        weakref.finalize(store, file.close)
        return store

    @property
    def dimensions(self) -> int:
        return self.vectors.shape[1]

    def rows(self, words: Sequence[str]) -> np.ndarray:
        """The row of each word as int64, -1 where the vocabulary lacks it; any thread may ask.

        Words are looked up exactly as given: no case folding, no prefix.
        """
        if isinstance(words, str):
            raise BiasgridError(f"{words!r}: expected a list of words, not one text")
        found = np.full(len(words), -1, dtype=np.int64)
        with self._asked() as ask:
            for place, word in enumerate(words):
                try:
                    row = ask("SELECT row FROM vocabulary WHERE word = ?", (word,)).fetchone()
                except UnicodeEncodeError:  # half a surrogate pair is in no vocabulary
                    continue
                if row:
                    found[place] = self.checked_row(word, row[0])
        return found

    def words(self) -> list[str]:
        """Every word, by row; words that share a row by code point."""
        with self._asked() as ask:
            pairs = ask("SELECT word, row FROM vocabulary ORDER BY word").fetchall()
        self.check_count(len(pairs))
        rows = np.fromiter((self.checked_row(*pair) for pair in pairs), np.int64, len(pairs))
        order = np.argsort(rows, kind="stable")
        return [pairs[place][0] for place in order]

    def vocabulary(self, limit: int | None = None) -> tuple[list[str], np.ndarray]:
        """One word for each of the first `limit` rows, and the rows (int64): no vector twice.

        Rows are in the order of the source file, in most models that of frequency. Where words share a row, the
        first plain lower-case one stands for it. A row without a word is left out.
        """
        with self._asked() as ask:
            first = ("", ()) if limit is None else ("WHERE row < ?", (limit,))
            pairs = ask(f"SELECT word, row FROM vocabulary {first[0]} ORDER BY word", first[1]).fetchall()
        chosen: dict[int, str] = {}
        for word, row in pairs:
            if row not in chosen or (_plain(word) and not _plain(chosen[row])):
                chosen[self.checked_row(word, row)] = word
        rows = sorted(chosen)
        return [chosen[row] for row in rows], np.array(rows, dtype=np.int64)

    @contextmanager
    def _asked(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        """One thread at a time, as the connection is one."""
        with self._lock:
            # once: in a damaged tree some words are not found, and others are found elsewhere
            if not self._unverified.closed:
                self._unverified.seek(0)
                digest = hashlib.file_digest(self._unverified, "sha256").hexdigest()
                if digest != self.metadata["sha256"].get(VOCABULARY):
                    raise self.damaged(f"its checksum is not the one in {MODEL}")
                self._unverified.close()
            try:
                yield self._vocabulary.execute
            # what is not UTF-8 is an OperationalError
            except (sqlite3.Error, OverflowError) as error:
                raise self.damaged(str(error)) from None

    def checked_row(self, word: object, row: object) -> int:
        """`row`, if it can be that of a word; else raises BiasgridError."""
        if type(row) is not int or not 0 <= row < len(self.vectors) or type(word) is not str:
            raise self.damaged(f"{word!r:.60} has the row {row!r:.40} of {len(self.vectors)}")
        return row

    def check_count(self, words: int) -> None:
        """Raises BiasgridError unless the vocabulary has so many words."""
        if words != len(self):
            raise self.damaged(f"it has {words} words, and {MODEL} says {len(self)}")

    def damaged(self, why: str) -> BiasgridError:
        """What to raise where the vocabulary cannot be right."""
        return BiasgridError(f"{self.path / VOCABULARY} is damaged: {why}; {AGAIN}")

    def _finite(self, vectors: np.ndarray, name_of: Callable[[int], str]) -> np.ndarray:
        # nearly always one product without a copy: it overflows only where a value is above 1e15
        if not np.isfinite(np.vdot(vectors, vectors)) and not np.isfinite(vectors).all():
            name = name_of(int(np.argmin(np.isfinite(vectors).all(axis=1))))
            raise BiasgridError(
                f"{self.path / VECTORS} is damaged: {name:.60} has a value that is not finite; {AGAIN}"
            )
        return vectors

    def take(self, words: Sequence[str], rows: np.ndarray) -> np.ndarray:
        """The vectors of words that were looked up (`rows`, none -1) as float64 (n, dimensions)."""
        return self._finite(self.vectors[rows], lambda place: repr(words[place])).astype(np.float64)

    def matrix(self, words: Sequence[str], rows: np.ndarray) -> np.ndarray:
        """`take` for a large part of the vocabulary: float32 (n, dimensions)."""
        return self._finite(self.vectors[rows], lambda place: repr(words[place]))

    def read(self, rows: slice | np.ndarray) -> np.ndarray:
        """The vectors of rows, whatever their words: float32 (n, dimensions)."""
        return self._finite(
            self.vectors[rows], lambda place: f"row {np.arange(len(self.vectors))[rows][place]}"
        )

    @property
    def fingerprint(self) -> str:
        """The checksum (sha256) of vectors.npy, as it was when the store was made."""
        return self.metadata["sha256"][VECTORS]

    def under(self, transform: Transform) -> DebiasedModel:
        """This model under a debias method's transform: vectors change when they are looked up.

        Raises BiasgridError if the transform was fitted on other vectors.
        """
        transform.check_model(self)
        return DebiasedModel(self, transform)

    def __len__(self) -> int:
        """Number of words, which may be more than rows."""
        return self.metadata["words"]

    def __contains__(self, word: str) -> bool:
        return bool(self.rows([word])[0] >= 0)


@dataclass(frozen=True, eq=False)
class DebiasedModel:
    """A model under a transform; `EmbeddingStore.under` makes it. It is looked up in like a store."""

    model: EmbeddingStore
    transform: Transform

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def dimensions(self) -> int:
        return self.model.dimensions

    @property
    def vocab_prefix(self) -> str:
        return self.model.vocab_prefix

    def rows(self, words: Sequence[str]) -> np.ndarray:
        """As `EmbeddingStore.rows`."""
        return self.model.rows(words)

    def words(self) -> list[str]:
        """As `EmbeddingStore.words`."""
        return self.model.words()

    def vocabulary(self, limit: int | None = None) -> tuple[list[str], np.ndarray]:
        """As `EmbeddingStore.vocabulary`."""
        return self.model.vocabulary(limit)

    def take(self, words: Sequence[str], rows: np.ndarray) -> np.ndarray:
        """As `EmbeddingStore.take`, each word's vector as the transform leaves it, to float32's precision.

        So it is what a file of the debiased model holds, and measuring either gives the same numbers.
        """
        return self.transform.apply(self.model.take(words, rows), words).astype(np.float32).astype(np.float64)

    def matrix(self, words: Sequence[str], rows: np.ndarray, block: int = 8192) -> np.ndarray:
        """As `EmbeddingStore.matrix`, transformed block by block."""
        vectors = np.empty((len(rows), self.dimensions), dtype=np.float32)
        for start in range(0, len(rows), block):
            part = slice(start, start + block)
            vectors[part] = self.take(words[part], rows[part])
        return vectors

    def __len__(self) -> int:
        return len(self.model)

    def __contains__(self, word: str) -> bool:
        return word in self.model


def _plain(word: str) -> bool:
    return word.isalpha() and word.islower()
