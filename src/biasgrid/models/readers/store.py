"""Reader of stores: a study's model may be a store made by `biasgrid convert` or `model.save`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..store import MODEL, VECTORS, EmbeddingStore
from ..store_writer import StoreWriter
from ..vocabulary import VOCABULARY
from ..writers import words_by_row
from .files import blocks
from .reader import Reader


def read(path: Path, writer: StoreWriter) -> None:
    store = EmbeddingStore.open(path)
    start = 0
    for words, rows in words_by_row(store):
        # Words that share a row may be in two parts.
        vectors = store.read(slice(start, max(start, int(rows[-1]) + 1)))
        counts = None if store.counts is None else store.counts[start : start + len(vectors)]
        writer.add(words, vectors, rows - start, counts)
        start += len(vectors)
    # Copy rows without a word.
    for part in blocks(store.array[start:]):
        counts = None if store.counts is None else store.counts[start:][part]
        writer.add([], store.array[start:][part], np.array([], dtype=np.int64), counts)


def detect(content: list[str]) -> bool:
    return {MODEL, VECTORS, VOCABULARY} <= set(content)


READERS = (
    Reader(
        name="store",
        meaning="a folder that `biasgrid convert` has written",
        detect=detect,
        read=read,
        folder=True,
    ),
)
