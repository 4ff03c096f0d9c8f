"""Counting of a corpus: every word's positions in the text, in one pass, cached as the model's folder.

The text is read as a stream, and counts are written block by block. Memory holds the vocabulary and a block;
for a shuffled corpus it also holds 8 bytes per token.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BiasgridError
from ...core.files import hash_file, to_disk
from ..folder import finish_folder, write_folder
from ..store_writer import npy_header
from ..vocabulary import VOCABULARY, write_vocabulary
from .corpus import COUNTS, PLACES, STARTS, Corpus
from .formats import DEFAULT
from .text import blocks

BLOCK = 1 << 20  # words that are sorted at a time


def make_corpus(
    archive: Path, folder: Path, *, name: str, model: Mapping[str, Any], metadata: Mapping[str, Any]
) -> Corpus:
    """Count a corpus, and write the counts as the folder of a model of kind `corpus` (`Kind.make`).

    Parameters
    ----------
    archive
        A file or folder, as in `text.blocks`.
    folder
        The model's folder. A former one is replaced when this one is complete.
    name
        The model's name.
    model
        The model's entry in a config, of which `format` and `window`, and the seed of a source `shuffled`,
        are used.
    metadata
        Further entries of model.json.

    Raises
    ------
    BiasgridError
        The corpus cannot be read, or does not contain words.
    """
    # Number the words in the order of their first occurrence.
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    with write_folder(folder, "counting this corpus") as scratch:
        text = scratch / "text"
        with text.open("wb") as words_file, (scratch / STARTS).open("wb") as starts_file:
            tokens, sentences = _number(
                blocks(archive, model.get("format", DEFAULT)), numbers, words_file, starts_file
            )
            if not tokens:
                raise BiasgridError(f"{archive}: has no words: no corpus")
            to_disk(starts_file)
        source = model.get("source", {})
        if source.get("type") == "shuffled":
            shuffle_tokens(np.fromfile(text, np.uint32), source["seed"]).tofile(text)
        _finish_npy(scratch / STARTS, "<i8", sentences)
        counts, rows = _rank(text, len(numbers))
        _place(text, counts, rows, tokens, scratch / PLACES)
        text.unlink()
        np.save(scratch / COUNTS, counts)
        write_vocabulary(scratch / VOCABULARY, dict(zip(numbers, rows.tolist(), strict=True)))
        record = {
            **metadata,
            "name": name,
            "kind": "corpus",
            "format": model.get("format", DEFAULT),
            "window": model.get("window"),
            "words": len(numbers),
            "tokens": tokens,
            "sentences": sentences,
            "sha256": {file: hash_file(scratch / file) for file in (VOCABULARY, COUNTS, PLACES, STARTS)},
        }
        finish_folder(scratch, record)
    return Corpus.open(folder)


def shuffle_tokens(tokens: NDArray[Any], seed: int) -> NDArray[Any]:
    """Return tokens (tokens,) in the random order of a seed; texts of the same length get the same order."""
    return np.random.default_rng(seed).permutation(tokens)


def _number(
    text: Iterable[tuple[list[str], list[int]]],
    numbers: defaultdict[str, int],
    words_file: Any,
    starts_file: Any,
) -> tuple[int, int]:
    """Write each word of a text as its number, and the starts of sentences; return how many there are of
    both."""
    starts_file.write(npy_header("<i8", (0,)))
    tokens = sentences = 0
    start = 0  # start of the sentence that has not ended
    for words, ends in text:
        words_file.write(np.fromiter(map(numbers.__getitem__, words), np.uint32, len(words)).data)
        if ends:
            starts = np.array([start, *(tokens + end for end in ends[:-1])], dtype="<i8")
            starts_file.write(starts.data)
            sentences += len(starts)
            start = tokens + ends[-1]
        tokens += len(words)
    return tokens, sentences


def _rank(text: Path, words: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each word occurs, by falling frequency, and the row of each word's number in this order.

    Words of equal frequency are sorted by first occurrence.
    """
    counts = np.zeros(words, dtype=np.int64)
    for block in _blocks(text):
        counts += np.bincount(block, minlength=words)
    order = np.argsort(-counts, kind="stable")
    rows = np.empty(words, dtype=np.int64)
    rows[order] = np.arange(words)
    return counts[order], rows


def _place(text: Path, counts: np.ndarray, rows: np.ndarray, tokens: int, output: Path) -> None:
    """Write the positions of all words, row after row, in rising order for each word."""
    dtype = np.uint32 if tokens < 2**32 else np.uint64
    places = np.lib.format.open_memmap(output, "w+", dtype, (tokens,))
    next_places = np.cumsum(counts) - counts  # where each row's next place belongs
    offset = 0
    for block in _blocks(text):
        block_rows = rows[block]
        order = np.argsort(block_rows, kind="stable")
        block_rows = block_rows[order]
        first = np.flatnonzero(np.diff(block_rows, prepend=-1))
        lengths = np.diff(first, append=len(block_rows))
        ranks = np.arange(len(block_rows)) - np.repeat(first, lengths)
        places[next_places[block_rows] + ranks] = order + offset
        next_places[block_rows[first]] += lengths
        offset += len(block)
    places.flush()


def _blocks(text: Path) -> Iterable[np.ndarray]:
    with text.open("rb") as file:
        while len(block := np.fromfile(file, np.uint32, BLOCK)):
            yield block


def _finish_npy(path: Path, dtype: str, length: int) -> None:
    with path.open("rb+") as file:
        file.write(npy_header(dtype, (length,)))
        to_disk(file)
