"""Writers of vectors in the formats of other tools, and of stores that share a vocabulary; block by block.

- .bin: word2vec's binary format, a line "rows dimensions", then each word, a space and its float32 numbers.
- .txt, .vec: word2vec's text format, the same line, then one line per word. Each number is the shortest
  decimal that reads back as the same float32.
- .kv: KeyedVectors.save of gensim 4. Large vectors go into <name>.vectors.npy next to it, as in gensim.
- .npz: NumPy's archive of two arrays, `words` (text) and `vectors` (float32); not compressed.

.bin, .txt and .vec may end in .gz. A file appears only when it is complete.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from ..core.errors import BiasgridError
from ..core.extras import require
from ..core.files import hold_lock, open_to_write, refuse_link, replace_file, to_disk
from .model import Model
from .store import EmbeddingStore
from .store_writer import StoreWriter, npy_header
from .vocabulary import VOCABULARY

Blocks = Iterable[tuple[list[str], np.ndarray]]

STORE = "store"
KV, NPZ = ".kv", ".npz"
LONGEST_NPZ = 1 << 31  # bytes of an .npz file's words, each of which is stored with the length of the longest
LARGE = 10 << 20  # numbers; gensim saves an array of this size or more next to the pickle
FETCH = 10_000  # words
# This is the only float32 whose shortest decimal, 7.038531e-26, read as float64, rounds to its neighbour.
ODD = np.float32(7.038530691851209e-26)


def format_of(output: Path) -> str:
    """Return STORE for a folder, or else the suffix. Raise BiasgridError for a suffix that is not in FORMATS."""
    if output.is_dir() or not output.suffix:
        return STORE
    suffix = "".join(output.suffixes[-2:]) if output.suffix == ".gz" else output.suffix
    if suffix not in FORMATS:
        raise BiasgridError(
            f"{output}: cannot write {suffix!r}; allowed are {', '.join(FORMATS)}, and a folder, whose name has no "
            "suffix, for a store"
        )
    return suffix


def write(output: Path, shape: tuple[int, int], blocks: Blocks) -> None:
    """Write words and their vectors, (n, dimensions) float32 per block, in the format of the suffix of
    `output`.

    `shape` is (words, dimensions) of all blocks together. Raise BiasgridError for a word that the format
    cannot hold.
    """
    suffix = format_of(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    if suffix == KV:
        _write_keyed_vectors(output, shape, blocks)
        return
    if suffix == NPZ:
        _write_npz(output, shape, blocks)
        return
    lines = _ROWS[suffix.removesuffix(".gz")]
    with open_to_write(output, sync=True) as raw, _compress(raw, suffix) as file:
        file.write(b"%d %d\n" % shape)
        for words, vectors in blocks:
            _check_words(words, output)
            file.write(lines(words, vectors))


def words_by_row(store: Model, size: int = FETCH) -> Generator[tuple[list[str], np.ndarray]]:
    """Yield all words and their rows, `size` at a time, in the order of `Model.words`.

    A store is read without holding all words in memory.
    """
    if not isinstance(store, EmbeddingStore):
        words = store.words()
        for start in range(0, len(words), size):
            part = words[start : start + size]
            yield part, store.rows(part)
        return
    with _vocabulary(store) as database:
        cursor = database.execute("SELECT word, row FROM vocabulary ORDER BY row, word")
        count = 0
        while pairs := cursor.fetchmany(size):
            count += len(pairs)
            rows = np.array([store.word_table.checked_row(*pair) for pair in pairs], dtype=np.int64)
            yield [word for word, _ in pairs], rows
        store.word_table.check_count(count)


def word_counts(store: EmbeddingStore) -> np.ndarray:
    """Return the number of words of each row of the store: int64 (rows,)."""
    with _vocabulary(store) as database:
        pairs = database.execute("SELECT word, row FROM vocabulary")
        rows = (store.word_table.checked_row(*pair) for pair in pairs)
        return np.bincount(np.fromiter(rows, np.int64), minlength=len(store.array))


class StoreCopy(StoreWriter):
    """A writer of a store with the vocabulary of another, except for `moved_words`: word -> its new row.

    Vectors are added without words. The vocabulary is copied as a file and never held in memory.
    """

    def __init__(self, output: Path, model: EmbeddingStore, moved_words: dict[str, int]):
        super().__init__(output, model.path)
        self.model, self.moved_words = model, moved_words
        self.vocabulary = _Words(model)  # type: ignore[assignment]

    def _write_vocabulary(self) -> None:
        path = self._scratch / VOCABULARY
        shutil.copyfile(self.model.path / VOCABULARY, path)
        if self.moved_words:
            updates = [(row, word) for word, row in self.moved_words.items()]
            try:
                with closing(sqlite3.connect(path, isolation_level=None)) as database:
                    for setting in ("journal_mode = OFF", "synchronous = OFF"):
                        database.execute(f"PRAGMA {setting}")
                    database.execute("BEGIN")
                    database.executemany("UPDATE vocabulary SET row = ? WHERE word = ?", updates)
                    database.execute("COMMIT")
            except sqlite3.Error as error:
                raise BiasgridError(f"{self.output}: cannot write its vocabulary: {error}") from None
        with path.open("rb+") as file:
            to_disk(file)


class _Words:
    """The part of a vocabulary that a StoreWriter uses."""

    def __init__(self, model: EmbeddingStore):
        self.model = model

    def __len__(self) -> int:
        return len(self.model)

    def __iter__(self) -> Iterator[str]:
        return (word for words, _ in words_by_row(self.model) for word in words)


def _binary_rows(words: list[str], vectors: np.ndarray) -> bytes:
    width, data = 4 * vectors.shape[1], np.ascontiguousarray(vectors, dtype="<f4").tobytes()
    rows = (data[start : start + width] for start in range(0, len(data), width))
    return b"".join(
        part for word, row in zip(words, rows, strict=True) for part in (word.encode(), b" ", row)
    )


def _text_rows(words: list[str], vectors: np.ndarray) -> bytes:
    require("pyarrow", "writing vectors as text, unlike as .bin,")
    import pyarrow as pa
    from pyarrow import compute

    numbers = compute.cast(pa.array(vectors.ravel()), pa.string())
    if (np.abs(vectors) == ODD).any():
        numbers = compute.replace_substring(numbers, "7.038531e-26", repr(float(ODD)))
    fields = pa.ListArray.from_arrays(np.arange(len(words) + 1, dtype=np.int32) * vectors.shape[1], numbers)
    lines = compute.binary_join_element_wise(pa.array(words), compute.binary_join(fields, " "), " ")
    return "\n".join([*lines.to_pylist(), ""]).encode()


_ROWS: dict[str, Callable[[list[str], np.ndarray], bytes]] = {
    ".bin": _binary_rows,
    ".txt": _text_rows,
    ".vec": _text_rows,
}
FORMATS = (*_ROWS, *(f"{suffix}.gz" for suffix in _ROWS), KV, NPZ)


def _write_array(file: IO[bytes], shape: tuple[int, int], blocks: Blocks) -> list[str]:
    """Write the vectors of all blocks as one .npy array, and return their words."""
    words: list[str] = []
    file.write(npy_header("<f4", shape))
    for block_words, vectors in blocks:
        words += block_words
        file.write(np.ascontiguousarray(vectors, dtype="<f4").data)
    return words


def _write_npz(output: Path, shape: tuple[int, int], blocks: Blocks) -> None:
    with open_to_write(output, sync=True) as raw, zipfile.ZipFile(raw, "w") as archive:
        # ZipInfo's default date is constant, so the same vectors give the same bytes.
        with archive.open(zipfile.ZipInfo("vectors.npy"), "w", force_zip64=True) as file:
            words = _write_array(file, shape, blocks)
        longest = max(map(len, words))
        if 4 * longest * len(words) > LONGEST_NPZ:
            raise BiasgridError(
                f"{output}: .npz cannot hold words as long as {longest} characters; write .kv or .bin"
            )
        if word := next((word for word in words if word.endswith("\0")), None):
            raise BiasgridError(
                f"{output}: .npz cannot hold the word {word!r}: it ends in NUL; write .kv or a store"
            )
        with archive.open(zipfile.ZipInfo("words.npy"), "w", force_zip64=True) as file:
            np.lib.format.write_array(file, np.array(words, dtype=f"<U{max(1, longest)}"), allow_pickle=False)


def _write_keyed_vectors(output: Path, shape: tuple[int, int], blocks: Blocks) -> None:
    require("gensim", f"{output}: .kv, unlike .bin and a store,")
    from gensim.models import KeyedVectors

    refuse_link(output)
    array_file = output.with_name(f"{output.name}.vectors.npy")
    is_large = shape[0] * shape[1] >= LARGE
    # Two files belong together, so another writer of them waits.
    with (
        hold_lock(output.with_name(f".{output.name}.lock")),
        replace_file(output) as part,
        ExitStack() as stack,
    ):
        # No other writer uses names that begin with this part's name. Gensim writes the second file.
        rows, placeholder = (part.with_name(f"{part.name}.{name}") for name in ("rows", "vectors.npy"))
        for path in (rows, placeholder):
            stack.callback(path.unlink, missing_ok=True)
        with rows.open("wb") as file:
            words = _write_array(file, shape, blocks)
            to_disk(file)
        model = KeyedVectors(shape[1])
        model.index_to_key, model.next_index = words, shape[0]
        model.key_to_index = {word: place for place, word in enumerate(words)}
        # Otherwise gensim would log the time.
        model.lifecycle_events = None
        if not is_large:
            model.vectors = np.load(rows)
        # Large vectors are on the disk already. Gensim gets an empty array and writes an empty file, replaced below.
        model.save(str(part), separately=["vectors"] if is_large else [])
        with part.open("rb+") as file:
            to_disk(file)
        # Remove the former model's main file before its other file changes.
        output.unlink(missing_ok=True)
        if is_large:
            os.replace(rows, array_file)
        else:
            array_file.unlink(missing_ok=True)


@contextmanager
def _compress(file: IO[bytes], suffix: str) -> Iterator[IO[bytes] | gzip.GzipFile]:
    if not suffix.endswith(".gz"):
        yield file
        return
    # The header has neither name nor time, so the same vectors give the same bytes.
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as gzip_file:
        yield gzip_file


def _check_words(words: list[str], output: Path) -> None:
    text = "".join(words)
    if " " in text or "\n" in text or "" in words:
        word = next(word for word in words if not word or " " in word or "\n" in word)
        raise BiasgridError(
            f"{output}: word2vec's formats cannot hold the word {word!r}: no space, no line break, and not empty is "
            "allowed; write a store or .kv"
        )


@contextmanager
def _vocabulary(store: EmbeddingStore) -> Iterator[sqlite3.Connection]:
    """Yield a separate connection, as all threads share the store's own one."""
    address = f"{(store.path / VOCABULARY).resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            yield database
    except (sqlite3.Error, OverflowError) as error:
        raise store.word_table.damage_error(str(error)) from None
