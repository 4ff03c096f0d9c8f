"""A store as a source: a study's model may be a store that `biasgrid convert` or `model.save` made."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..store import MODEL, VECTORS, EmbeddingStore
from ..store_writer import StoreWriter
from ..vocabulary import VOCABULARY
from ..writers import by_row
from .files import blocks
from .reader import Reader


def read(path: Path, writer: StoreWriter) -> None:
    store = EmbeddingStore.open(path)
    done = 0
    for words, rows in by_row(store):
        # words that share a row may come in two parts
        vectors = store.read(slice(done, max(done, int(rows[-1]) + 1)))
        counts = None if store.counts is None else store.counts[done : done + len(vectors)]
        writer.add(words, vectors, rows - done, counts)
        done += len(vectors)
    # rows of no word
    for part in blocks(store.array[done:]):
        counts = None if store.counts is None else store.counts[done:][part]
        writer.add([], store.array[done:][part], np.array([], dtype=np.int64), counts)


def detect(content: list[str]) -> bool:
    return {MODEL, VECTORS, VOCABULARY} <= set(content)


READERS = (
    Reader(
        name="store", meaning="a store: what `biasgrid convert` makes", detect=detect, read=read, folder=True
    ),
)
