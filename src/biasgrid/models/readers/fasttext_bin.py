"""Reader of Facebook's fastText .bin: parameters, dictionary, one matrix for words and n-grams, and another
one.

The second matrix, for the output, is not needed. The vector of a word is the mean of its row and its n-grams'
rows, as in fastText.

Little-endian: magic number, version; 12 int32 of parameters and a double; the dictionary's sizes, and for
each entry its bytes up to a NUL, an int64 count and a type; whether the matrix is quantized; its rows and
columns (int64); float32.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

import numpy as np

from ...core.errors import BiasgridError
from ...core.untrusted import parser_errors
from ..store_writer import LONGEST_WORD, StoreWriter
from ..subwords import LONGEST_NGRAM, vectors_of_words
from .files import BLOCK, map_content, whole_counts
from .reader import Reader

MAGIC = struct.pack("<i", 793712314)
VERSIONS = (11, 12)
SUPERVISED = 3
HEADER, DICTIONARY, ENTRY, MATRIX = (struct.Struct(f"<{form}") for form in ("14id", "3i2q", "qb", "?2q"))


def read(path: Path, writer: StoreWriter) -> None:
    data = map_content(path)
    with parser_errors(path, "not a whole fastText file (of floret give the .vec)"):
        words, counts, tokens, matrix, buckets, min_n, max_n = _parse(data, path)
    writer.tokens = tokens if counts is not None and tokens > 0 else None
    # The rows of n-grams follow the rows of words. A classifier has further rows, for pairs of words.
    ngrams = matrix[len(words) : len(words) + buckets]
    for part, vectors in vectors_of_words(words, matrix, ngrams, min_n, max_n, path):
        if writer.is_full:
            break
        texts = [writer.decode(word, str(path)) for word in words[part]]
        writer.add(texts, vectors, counts=None if counts is None else counts[part])
    if buckets:
        writer.add_subwords(ngrams, min_n, max_n)


def _parse(
    data: mmap.mmap, path: Path
) -> tuple[list[bytes], np.ndarray | None, int, np.ndarray, int, int, int]:
    """Parse a file.

    Return the words, their counts, the number of tokens, all rows, the number of buckets, and the smallest
    and largest number of characters of n-grams. Raise ValueError or struct.error for an invalid file.
    """
    _, version, dimensions, *_, model, buckets, min_n, max_n, _, _ = HEADER.unpack_from(data)
    if version not in VERSIONS:
        raise ValueError(f"it is of version {version}; 11 and 12 are read")
    if version == 11 and model == SUPERVISED:
        max_n = 0  # like fastText
    if not 0 < dimensions <= BLOCK or buckets < 0 or max_n > LONGEST_NGRAM:
        raise ValueError(f"it says {dimensions} dimensions, {buckets} buckets, n-grams of {min_n} to {max_n}")
    words, counts, tokens, place, kept_ngrams = _dictionary(data)
    is_quantized, rows, columns = MATRIX.unpack_from(data, place)
    place += MATRIX.size
    if is_quantized or kept_ngrams > 0:
        raise BiasgridError(
            f"{path}: is quantized (.ftz): it has approximations of its vectors only; give the .bin itself"
        )
    buckets = buckets if max_n > 0 and kept_ngrams != 0 else 0
    if columns != dimensions or rows < len(words) + buckets:
        raise ValueError(
            f"it says {rows} rows of {columns} for {len(words)} words and {buckets} buckets of {dimensions}"
        )
    end = place + 4 * rows * columns
    if end > len(data):
        raise ValueError(f"it says {rows} rows of {columns} numbers, and {len(data) - place} bytes follow")
    output_quantized, outputs, width = MATRIX.unpack_from(data, end)
    if not output_quantized and (
        min(outputs, width) < 0 or end + MATRIX.size + 4 * outputs * width > len(data)
    ):
        raise ValueError("it ends within its output matrix")
    matrix = np.frombuffer(data, "<f4", rows * columns, place).reshape(rows, columns)
    return words, counts, tokens, matrix, buckets, max(1, min_n), max_n


def _dictionary(data: mmap.mmap) -> tuple[list[bytes], np.ndarray | None, int, int, int]:
    """Parse the dictionary.

    Return the words, without labels, their counts, the corpus' number of tokens, the start of the matrix, and
    the number of n-grams kept by pruning, or -1.
    """
    place = HEADER.size
    size, number, labels, tokens, kept_ngrams = DICTIONARY.unpack_from(data, place)
    place += DICTIONARY.size
    if min(number, labels) < 0 or size != number + labels or size * (1 + ENTRY.size) > len(data):
        raise ValueError(f"it says {size} entries, {number} words and {labels} labels")
    words, counts = [], np.zeros(number, dtype=np.int64)
    for entry in range(size):
        end = data.find(b"\0", place, place + 4 * LONGEST_WORD)
        if end < 0:
            raise ValueError(f"no word ends after entry {entry}")
        count, kind = ENTRY.unpack_from(data, end + 1)
        if kind != (entry >= number):
            raise ValueError(f"entry {entry + 1} is of type {kind}")
        if entry < number:
            words.append(data[place:end])
            counts[entry] = count
        place = end + 1 + ENTRY.size
    return words, whole_counts(counts, number), tokens, place + 8 * max(0, kept_ngrams), kept_ngrams


def detect(sample: bytes) -> bool:
    return sample.startswith(MAGIC)


READERS = (
    Reader(
        name="fasttext-bin",
        meaning="Facebook's fastText .bin, with or without subwords; not quantized",
        detect=detect,
        read=read,
        counts=True,
    ),
)
