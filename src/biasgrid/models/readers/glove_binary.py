"""Reader of GloVe's own vectors.bin, which its program `glove` writes with `-binary 1` or 2: numbers without words.

Little-endian float64: for each word of the vocabulary a vector and a bias, then the same for each word as a
context. The words are in the vocabulary that GloVe was trained with, vocab.txt next to the file: a word and
its count per line, in the same order. The vector of a word is the sum of its two vectors, without biases, as
`glove` writes it to text by default (`-model 2`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...core.errors import BiasgridError, quote
from ..store_writer import StoreWriter
from .files import blocks, map_content, open_content, whole_counts
from .reader import Reader

VOCABULARY = "vocab.txt"
LONGEST_LINE = 1 << 17  # bytes
# The parameters of a trained model are between these, or 0.
SMALLEST, LARGEST = 1e-12, 1e4


def read(path: Path, writer: StoreWriter) -> None:
    vocabulary = path.with_name(VOCABULARY)
    words, counts = _read_vocabulary(vocabulary, writer)
    content = map_content(path)
    parameters = np.frombuffer(content, "<f8", len(content) // 8)
    width, rest = divmod(len(parameters), 2 * max(1, len(words)))
    if not words or rest or width < 2 or len(content) % 8:
        raise BiasgridError(
            f"{path}: has {len(content)} bytes, and {vocabulary} {len(words)} words: they are not of one "
            "training, which gives each word two vectors and two biases (float64)"
        )
    vectors, contexts = parameters.reshape(2, len(words), width)
    if (vectors[:100] >= 1).all():
        raise BiasgridError(f"{path}: has GloVe's squared gradients, not its vectors: give vectors.bin")
    for part in blocks(vectors):
        if writer.is_full:
            break
        block = vectors[part, :-1] + contexts[part, :-1]
        writer.add(words[part], block, counts=None if counts is None else counts[part])


def _read_vocabulary(path: Path, writer: StoreWriter) -> tuple[list[str], np.ndarray | None]:
    if not path.is_file():
        raise BiasgridError(f"{path}: no such file; GloVe's vectors.bin has no words, and is read with it")
    words: list[str] = []
    counts: list[int] = []
    with open_content(path) as file:
        while line := file.readline(LONGEST_LINE):
            where = f"{path}: line {len(words) + 1}"
            word, _, count = line.rstrip(b"\r\n").rpartition(b" ")
            text = line.decode("utf-8", "replace").strip()
            if not word or not count.isdigit() or len(count) > 18:
                raise BiasgridError(f"{where}: expected a word and its count, found {quote(text)}")
            words.append(writer.decode(word, where))
            counts.append(int(count))
    return words, whole_counts(np.array(counts, dtype=np.int64), len(words))


def detect(sample: bytes) -> bool:
    """Return whether a file contains float64 numbers of the size of a model's parameters."""
    if len(sample) < 32 or len(sample) % 8:
        return False
    sizes = np.abs(np.frombuffer(sample, "<f8"))
    return bool((((sizes >= SMALLEST) & (sizes <= LARGEST)) | (sizes == 0)).all() and sizes.any())


READERS = (
    Reader(
        name="glove-binary",
        meaning="GloVe's own vectors.bin, with its vocab.txt beside it",
        detect=detect,
        read=read,
        guesses=True,
        beside=VOCABULARY,
        counts=True,
    ),
)
