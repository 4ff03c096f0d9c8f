"""Writing a store: into a folder inside its own, from which the files are moved when they are complete."""

from __future__ import annotations

import io
import sqlite3
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import BiasgridError
from ..core.files import hash_file, to_disk
from .floret import Floret
from .folder import finish_folder, write_folder
from .store import COUNTS, VECTORS
from .subwords import NGRAMS, SIZES, write_subwords
from .vocabulary import VOCABULARY, write_vocabulary

LONGEST_WORD = 1 << 16  # characters
LONGEST_TEXT = 32 << 20  # characters
# If a word is not UTF-8, either U+FFFD replaces its broken bytes, or the whole file is refused.
BROKEN = REPLACE, REFUSE = "replace", "refuse"


class Rows:
    """Words and vectors read from a file or an object: checked, rounded to float32, the first of duplicates kept.

    Subclasses store the vectors in `_append`.

    Parameters
    ----------
    where
        The name of the input in messages.
    subwords
        Whether to keep n-grams, if the input has them.
    limit
        The number of vectors to keep; None for all. Further vectors are ignored.
    broken_words
        One of `BROKEN`: how to treat a word that is not UTF-8.

    Attributes
    ----------
    warnings
        Counts of dropped and repaired words, such as `duplicate_words`; model.json keeps them.
    tokens
        The number of tokens in the corpus in which the words were counted; None if it is not known.
        model.json keeps it.
    """

    def __init__(
        self,
        where: Path | str,
        subwords: bool = False,
        limit: int | None = None,
        broken_words: str = REPLACE,
    ):
        self.where, self.wants_subwords = where, subwords
        self.limit, self.broken_words = limit, broken_words
        self.rows = 0
        self.added = 0  # number of vectors, including the vectors of duplicate words
        self.dimensions: int | None = None
        self.vocabulary: dict[str, int] = {}
        self.warnings: Counter[str] = Counter()
        self.counts: list[np.ndarray] = []
        self.tokens: int | None = None

    def add(
        self,
        words: list[str],
        vectors: np.ndarray,
        rows: np.ndarray | None = None,
        counts: np.ndarray | None = None,
    ) -> None:
        """Append vectors and their words.

        Parameters
        ----------
        words
            Word i has vector i, or vector `rows[i]` of these.
        vectors
            (n, dimensions), of any float type; they are rounded to float32.
        rows
            Integers (words,). Without them, a word that was added before is dropped with its vector: the
            first one counts, as in gensim.
        counts
            How often each vector's word occurs in the corpus, integers (n,); given for all vectors or for
            none.

        Raises
        ------
        BiasgridError
            A value is not finite, the vectors do not have dimensions, or a word has more than `LONGEST_WORD`
            characters.
        """
        if self.dimensions is None:
            self.dimensions = vectors.shape[1]
            if not self.dimensions:
                raise BiasgridError(f"{self.where}: its vectors have no dimensions")
        if self.limit is not None and self.added + len(vectors) > self.limit:
            words, vectors, rows, counts = self._first(self.limit - self.added, words, vectors, rows, counts)
        self.added += len(vectors)
        words = self._encodable(words)
        # Values too large for float32 become inf. The sum of finite float32 values is finite in float64.
        with np.errstate(over="ignore", invalid="ignore"):
            vectors = np.ascontiguousarray(vectors, dtype="<f4")
            finite = np.isfinite(vectors.sum(dtype=np.float64))
        if not finite:
            self._refuse(vectors, words if rows is None else None)
        if rows is None:
            new_places: list[int] = []
            for place, word in enumerate(words):
                if word not in self.vocabulary:
                    self.vocabulary[word] = self.rows + len(new_places)
                    new_places.append(place)
            if len(new_places) < len(words):
                self.warnings["duplicate_words"] += len(words) - len(new_places)
                vectors = vectors[new_places]
                counts = counts if counts is None else counts[new_places]
        else:
            self.vocabulary.update(zip(words, (rows + self.rows).tolist(), strict=True))
        self._append(vectors)
        self.rows += len(vectors)
        if counts is not None:
            self.counts.append(np.asarray(counts, dtype="<i8"))

    @property
    def is_full(self) -> bool:
        """Return whether `limit` vectors were added, so that no more are needed."""
        return self.limit is not None and self.added >= self.limit

    @staticmethod
    def _first(number: int, words: list[str], vectors: np.ndarray, rows: Any, counts: Any) -> tuple[Any, ...]:
        """Return the first vectors, and the words that have them."""
        if rows is None:
            words = words[:number]
        else:
            places = np.flatnonzero(rows < number)
            words, rows = [words[place] for place in places], rows[places]
        return words, vectors[:number], rows, None if counts is None else counts[:number]

    def decode(self, word: bytes, where: str) -> str:
        """Decode a word from UTF-8; repair and count a broken one. `where` is its position in the input.

        Raise BiasgridError for a broken word if `broken_words` is "refuse".
        """
        text, is_broken = decode_word(word, where, self.broken_words)
        if is_broken:
            self.warnings["broken_words"] += 1
        return text

    def check_broken_words(self) -> None:
        """Raise BiasgridError if so many words are broken that the input probably has another encoding."""
        broken = self.warnings["broken_words"]
        if broken > max(10, self.added // 100):
            raise BiasgridError(
                f"{self.where}: {broken} of {self.added} words are not UTF-8: another encoding, or damaged"
            )

    def add_subwords(self, ngrams: np.ndarray, min_n: int, max_n: int, floret: Floret | None = None) -> None:
        """Add the vectors of a model's n-grams, which serve words that it lacks; ignored by default.

        `floret` describes how floret hashes the n-grams; None means fastText's hash.
        """

    def _append(self, vectors: np.ndarray) -> None:
        """Store vectors: float32 (n, dimensions), contiguous."""
        raise NotImplementedError

    def _encodable(self, words: list[str]) -> list[str]:
        longest = max(map(len, words), default=0)
        if longest > LONGEST_WORD:
            word = next(word for word in words if len(word) > LONGEST_WORD)
            raise BiasgridError(
                f"{self.where}: the word {word[:40]!r}... has {len(word)} characters; at most {LONGEST_WORD} are "
                "allowed"
            )
        # The words may be one long word, many times.
        if longest * len(words) > LONGEST_TEXT and sum(map(len, words)) > LONGEST_TEXT:
            half = len(words) // 2
            return self._encodable(words[:half]) + self._encodable(words[half:])
        try:
            "".join(words).encode()
        except UnicodeEncodeError:  # a lone surrogate, from a pickle or a JSON file
            repaired_words = [w.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for w in words]
            broken = [w for w, repaired in zip(words, repaired_words, strict=True) if w != repaired]
            if self.broken_words == REFUSE:
                raise broken_word_error(str(self.where), broken[0], "it has half a surrogate pair") from None
            self.warnings["broken_words"] += len(broken)
            return repaired_words
        return words

    def _refuse(self, vectors: np.ndarray, words: list[str] | None) -> None:
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        value = vectors[row][~np.isfinite(vectors[row])][0]
        word = f", word {words[row]!r}," if words else ""
        raise BiasgridError(
            f"{self.where}: vector {self.rows + row + 1}{word} has a value {value}: only finite float32 are allowed"
        )


def decode_word(word: bytes, where: str, broken_words: str = REPLACE) -> tuple[str, bool]:
    """Decode a word from UTF-8, and return whether it was broken; U+FFFD then replaces its broken bytes.

    Raise BiasgridError for a broken word if `broken_words` is "refuse".
    """
    try:
        return word.decode(), False
    except UnicodeDecodeError as error:
        text = word.decode("utf-8", "replace")
        if broken_words == REFUSE:
            raise broken_word_error(where, text, error.reason) from None
        return text, True


def broken_word_error(where: str, word: str, reason: str) -> BiasgridError:
    """Return the error to raise for a word that is not UTF-8, if such words are refused."""
    return BiasgridError(
        f"{where}: the word {word[:30]!r} is not UTF-8: {reason}; broken_words: {REPLACE} reads it, with U+FFFD "
        "where it is broken"
    )


class StoreWriter(Rows):
    """A writer of a store, used as a context manager. It writes to a folder inside `output`.

        with StoreWriter(output, where) as writer:
            writer.add(words, vectors)
            writer.finish(metadata)

    `finish` moves the complete files into `output`. If the block ends before `finish`, a former store in
    `output` stays unchanged. The same words and vectors give the same bytes.

    Parameters
    ----------
    output
        The store's folder, which is created.
    where
        The name of the input in messages.
    options
        `subwords`, `limit` and `broken_words` of `Rows`. A model's n-grams are kept in files next to the
        store's own.
    """

    def __init__(self, output: Path, where: Path | str, **options: Any):
        super().__init__(where, **options)
        self.output = output
        self._has_subwords = False

    def __enter__(self) -> StoreWriter:
        with ExitStack() as stack:
            self._scratch = stack.enter_context(write_folder(self.output, "writing this store"))
            self._vectors = (self._scratch / VECTORS).open("wb")
            stack.callback(self._close)
            self._vectors.write(npy_header("<f4", (0, 0)))
            self._folder = stack.pop_all()
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._folder.__exit__(kind, error, trace)

    def _close(self) -> None:
        with suppress(OSError):  # a full disk cannot take the buffer, which is then discarded
            self._vectors.close()

    def _append(self, vectors: np.ndarray) -> None:
        self._vectors.write(vectors.data)

    def add_subwords(self, ngrams: np.ndarray, min_n: int, max_n: int, floret: Floret | None = None) -> None:
        if self.wants_subwords:
            write_subwords(self._scratch, ngrams, min_n, max_n, floret)
            self._has_subwords = True

    @property
    def has_subwords(self) -> bool:
        """Return whether n-grams were added."""
        return self._has_subwords

    def finish(self, metadata: Mapping[str, Any]) -> None:
        """Write vocabulary and model.json, and move the files into the store's folder.

        Parameters
        ----------
        metadata
            Entries of model.json: `name` and `vocab_prefix` at least.

        Raises
        ------
        BiasgridError
            There are no vectors, no word begins with the prefix, an entry is not UTF-8, or the vocabulary
            cannot be written.
        """
        prefix = metadata["vocab_prefix"]
        if not self.vocabulary:
            raise BiasgridError(f"{self.where}: holds no vectors")
        if prefix and not any(word.startswith(prefix) for word in self.vocabulary):
            raise BiasgridError(f"{self.where}: no word begins with vocab_prefix {prefix!r:.60}")
        counts = np.concatenate(self.counts) if self.counts else None
        if counts is not None and len(counts) != self.rows:
            raise TypeError(f"counts of {len(counts)} of {self.rows} vectors")
        assert self.dimensions is not None  # at least one vector was added
        self._vectors.seek(0)
        self._vectors.write(npy_header("<f4", (self.rows, self.dimensions)))
        to_disk(self._vectors)
        # Hashing releases the GIL, so the vocabulary is written at the same time.
        with ThreadPoolExecutor(1) as pool:
            vectors_hash = pool.submit(hash_file, self._scratch / VECTORS)
            self._write_vocabulary()
            if counts is not None:
                with (self._scratch / COUNTS).open("wb") as file:
                    np.save(file, counts)
                    to_disk(file)
            files = [VOCABULARY, *([] if counts is None else [COUNTS])]
            files += [NGRAMS, SIZES] if self._has_subwords else []
            hashes = {name: hash_file(self._scratch / name) for name in files}
            hashes[VECTORS] = vectors_hash.result()
        record = {
            **metadata,
            **({} if self.tokens is None else {"tokens": self.tokens}),
            "shape": [self.rows, self.dimensions],
            "dtype": "float32",
            "words": len(self.vocabulary),
            "warnings": dict(self.warnings),
            "sha256": hashes,
        }
        finish_folder(self._scratch, record)
        # Remove optional files that a former store left.
        for name in {COUNTS, NGRAMS, SIZES} - set(files):
            (self.output / name).unlink(missing_ok=True)

    def _write_vocabulary(self) -> None:
        path = self._scratch / VOCABULARY
        try:
            write_vocabulary(path, self.vocabulary)
        except sqlite3.Error as error:
            raise BiasgridError(f"{self.output}: cannot write its vocabulary: {error}") from None


def npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Return the header of an .npy file.

    Its length is the same for every number of rows, so it can be written again when the number is known.
    """
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()
