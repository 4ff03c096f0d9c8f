"""The embedding store: a folder that opens in under 1 ms and gives single rows without reading the others.

- vectors.npy: float32, C order, one row per vector; memory-mapped.
- vocabulary.sqlite: the words and their rows (`vocabulary`).
- counts.npy: int64, how often each row's word occurs in the corpus; only if this is known.
- ngrams.npy, .json: n-grams (`subwords`); only if they were requested.
- model.json: description and origin of the vectors. It is written last; a folder without it is not a store.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BiasgridError
from ..core.untrusted import read_npy
from .model import DebiasedModel as DebiasedModel
from .model import Model
from .vocabulary import VOCABULARY, Vocabulary

VECTORS, COUNTS, MODEL = "vectors.npy", "counts.npy", "model.json"
REMEDY = "convert the model again (in a study: snakemake stores)"


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingStore(Model):
    """An opened store, made by `open`.

    Attributes
    ----------
    path
        The store's folder.
    name
        The model's name.
    array
        The vectors, float32 (rows, dimensions), memory-mapped and read-only. Unlike the results of `take`,
        `matrix` and `read`, they are not checked for damage.
    vocab_prefix
        The text that precedes every word in the vocabulary (/c/en/ in ConceptNet Numberbatch).
    metadata
        The contents of model.json.
    word_table
        The words and their rows.
    counts
        How often each row's word occurs in the corpus, int64 (rows,), memory-mapped, read-only; None if this
        is not known. `metadata["tokens"]` is the number of tokens, if it is known.
    """

    path: Path
    name: str
    array: NDArray[np.float32]
    vocab_prefix: str
    metadata: dict[str, Any]
    word_table: Vocabulary
    _keeper: object = None
    counts: NDArray[np.int64] | None = None

    @classmethod
    def open(cls, path: Path | str, name: str | None = None, keeper: object = None) -> EmbeddingStore:
        """Open a store without reading its vectors or words (under 1 ms).

        Parameters
        ----------
        path
            The store's folder.
        name
            The name of the model; None for the name that is stored with it.
        keeper
            An object that must live as long as the store, such as its temporary folder.

        Raises
        ------
        BiasgridError
            The folder is not a complete store. The first look-up verifies the vocabulary's checksum (1 ms for
            50,000 words); vectors and counts are not verified.
        """
        path = Path(path)
        try:
            text, stamp = (path / MODEL).read_text(encoding="utf-8"), _stamp(path)
            metadata = json.loads(text)
            stored_name, vocab_prefix, shape = (metadata[key] for key in ("name", "vocab_prefix", "shape"))
            vectors = read_npy(path / VECTORS, memory_map=True)
            vocabulary = Vocabulary(path, len(vectors), metadata, REMEDY)
            hashes, words = metadata.get("sha256"), metadata.get("words")
            # A file that model.json does not name was left by a former store.
            has_counts = isinstance(hashes, dict) and COUNTS in hashes
            counts = read_npy(path / COUNTS, memory_map=True) if has_counts else None
            # A writer removes model.json before it moves the other files in. Two writers may have restored the same
            # model.json.
            is_changed = _stamp(path) != stamp or (path / MODEL).read_text(encoding="utf-8") != text
        except (FileNotFoundError, NotADirectoryError) as error:
            missing = Path(error.filename).name
            raise BiasgridError(
                f"{path}: not a store, or one that was not finished: it has no {missing}"
            ) from None
        except sqlite3.Error as error:
            raise BiasgridError(f"{path}: not a whole store: {VOCABULARY}: {error}; {REMEDY}") from None
        except BiasgridError as error:
            raise BiasgridError(f"{path}: not a whole store: {error}; {REMEDY}") from None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise BiasgridError(f"{path}: not a whole store: {error!r:.100}; {REMEDY}") from None
        if is_changed:
            raise BiasgridError(f"{path}: another process is writing this store")
        if vectors.dtype != np.float32 or not vectors.flags.c_contiguous or list(vectors.shape) != shape:
            raise BiasgridError(
                f"{path}: not a whole store: {VECTORS} is {vectors.dtype} {vectors.shape}, {MODEL} says "
                f"{str(shape)[:60]}; {REMEDY}"
            )
        if counts is not None and (counts.dtype != np.int64 or counts.shape != vectors.shape[:1]):
            raise BiasgridError(
                f"{path}: not a whole store: {COUNTS} is {counts.dtype} {counts.shape}, of {shape[0]} rows; {REMEDY}"
            )
        texts = (stored_name, vocab_prefix, hashes.get(VECTORS) if isinstance(hashes, dict) else None)
        whole = type(words) is int and words > 0 and all(isinstance(text, str) for text in texts)
        if not whole or vectors.ndim != 2 or not vectors.size:
            raise BiasgridError(
                f"{path}: not a whole store: {MODEL} lacks an entry, or has one that cannot be; {REMEDY}"
            )
        return cls(path, name or stored_name, vectors, vocab_prefix, metadata, vocabulary, keeper, counts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the store's path for pickling; unpickling opens the store again."""
        return _unpickle, (self.path.absolute(), self.name)

    @property
    def dimensions(self) -> int:
        return int(self.array.shape[1])

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the row of each word as int64, -1 for words that the vocabulary lacks; thread-safe.

        Words are looked up exactly as given: no case folding, no prefix.
        """
        return self.word_table.find(words)

    def words(self) -> list[str]:
        """Return all words in the order of their rows; words that share a row are ordered by code point."""
        return self.word_table.words()

    def vocabulary(self, limit: int | None = None) -> tuple[list[str], NDArray[np.int64]]:
        """Return one word for each of the first `limit` rows, and the rows (int64), without repeated vectors.

        Rows are in the order of the source file, which in most models is the order of frequency. If words
        share a row, the first one that is plain and lower-case represents it. A row without a word is left
        out.
        """
        word_of_row: dict[int, str] = {}
        for word, row in self.word_table.pairs(limit):
            if row not in word_of_row or (_plain(word) and not _plain(word_of_row[row])):
                word_of_row[self.word_table.checked_row(word, row)] = word
        rows = sorted(word_of_row)
        return [word_of_row[row] for row in rows], np.array(rows, dtype=np.int64)

    def _finite(self, vectors: NDArray[np.float32], name_of: Callable[[int], str]) -> NDArray[np.float32]:
        # One product without a copy is nearly always enough; it overflows only if a value is above 1e15.
        if not np.isfinite(np.vdot(vectors, vectors)) and not np.isfinite(vectors).all():
            name = name_of(int(np.argmin(np.isfinite(vectors).all(axis=1))))
            raise BiasgridError(
                f"{self.path / VECTORS} is damaged: {name:.60} has a value that is not finite; {REMEDY}"
            )
        return vectors

    def take(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the vectors of `words` at their `rows` (none is -1) as float64 (n, dimensions)."""
        return self._finite(self.array[rows], lambda place: repr(words[place])).astype(np.float64)

    def matrix(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of `words` at their `rows`, like `take`, as float32 (n, dimensions).

        It is meant for a large part of the vocabulary.
        """
        return self._finite(self.array[rows], lambda place: repr(words[place]))

    def read(self, rows: slice | NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of rows, whatever their words, as float32 (n, dimensions)."""
        return self._finite(self.array[rows], lambda place: f"row {np.arange(len(self.array))[rows][place]}")

    @property
    def row_count(self) -> int:
        return len(self.array)

    @property
    def fingerprint(self) -> str:
        """Return the checksum (sha256) that vectors.npy had when the store was made."""
        return str(self.metadata["sha256"][VECTORS])

    def __len__(self) -> int:
        """Return the number of words, which may be larger than the number of rows."""
        return int(self.metadata["words"])

    def _facts(self) -> dict[str, str]:
        return {"folder": str(self.path)}


def _stamp(path: Path) -> tuple[int, int]:
    """Return inode and time of model.json, which tell it apart from another file with the same content."""
    facts = (path / MODEL).stat()
    return facts.st_ino, facts.st_mtime_ns


def _unpickle(path: Path, name: str) -> EmbeddingStore:
    """Open the store of a pickled model."""
    if not (path / MODEL).exists():
        raise BiasgridError(
            f"{path}: the pickled model's store is gone; the store of a file lives as long as the model that `load` "
            "returned: save it as a store (model.save('folder')), and pickle that"
        )
    return EmbeddingStore.open(path, name)


def _plain(word: str) -> bool:
    return word.isalpha() and word.islower()
