"""Stand-ins of the case study's six archives: their formats, sizes and oddities, with random vectors.

A row is put together from runs of ten numbers that are drawn from a pool of 8,192, formatted once: rows differ in all
their numbers, while a gigabyte is written in seconds. Real are only the 13,013 vectors of word2vec that WEFE ships,
which hold the case study's words; the rest of word2vec, and all other models, are random.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

RUN, POOL = 10, 8192
# words that a reader may take for the end of a line, for a missing value or for a quoted field
ODD = ["\x85", "\u2028", "\xa0", "a\xa0b", "nan", "NaN", "null", "#NA", '"', "naïve", "日本語", "</s>"]


@dataclass(frozen=True)
class Archive:
    """`scale`: standard deviation of a number; `decimals`: None for word2vec's binary format."""

    rows: int
    dimensions: int
    scale: float
    decimals: int | None = 5
    lower: bool = False
    by_alphabet: bool = False
    line_end: bytes = b"\n"
    duplicates: int = 0


ARCHIVES = {
    "conceptnet-numberbatch-19.08-en": Archive(516_782, 300, 0.058, 4, lower=True, by_alphabet=True),
    "fasttext-wiki-news-subwords-300": Archive(999_999, 300, 0.03),
    "glove-twitter-200": Archive(1_193_514, 200, 0.4, lower=True),
    "glove-wiki-gigaword-300": Archive(400_000, 300, 0.4, lower=True),
    "lexvec-commoncrawl-300": Archive(2_000_000, 300, 0.3, 6, line_end=b" \n", duplicates=2),
    "word2vec-google-news-300": Archive(3_000_000, 300, 0.17, None),
}


@dataclass(frozen=True)
class Written:
    """What lies in a file: `vectors` are the study's words', as a reader should read them, (dimensions,) each."""

    md5: str
    bytes: int
    unpacked: int
    vectors: Mapping[str, np.ndarray]


def write(path: Path, name: str, rows: int, words: list[str], real: Mapping[str, np.ndarray]) -> Written:
    """The gzipped archive of a model: `rows` words, among them `words`, those of `real` with their real vectors."""
    archive, draw = ARCHIVES[name], np.random.default_rng(sorted(ARCHIVES).index(name))
    vocabulary, wanted = _vocabulary(archive, rows, words, draw)
    numbers = (archive.scale * draw.standard_normal((POOL, RUN))).astype(np.float32)
    if archive.decimals is None:
        # as Google's file, whose vectors were rounded: half of the bits are zero
        numbers = (numbers.view(np.uint32) & 0xFFFF0000).view(np.float32)
        runs = [run.tobytes() for run in numbers]
        joined, end = b"", b""
    else:
        texts = [[f"{x:.{archive.decimals}f}" for x in run] for run in numbers]
        numbers, runs = np.array(texts, dtype=np.float32), [" ".join(run).encode() for run in texts]
        joined, end = b" ", archive.line_end
    vectors, unpacked, seen = {}, 0, set()
    with gzip.GzipFile(path, "wb", compresslevel=1, mtime=0) as file:
        unpacked += file.write(f"{len(vocabulary)} {archive.dimensions}\n".encode())
        for start in range(0, len(vocabulary), 10_000):
            block = vocabulary[start : start + 10_000]
            places = draw.integers(POOL, size=(len(block), archive.dimensions // RUN))
            lines = []
            for word, row in zip(block, places.tolist(), strict=True):
                content = joined.join([runs[i] for i in row])
                if word in wanted and word not in seen:
                    seen.add(word)
                    vector = numbers[row].ravel()
                    if word in real:
                        vector = real[word]
                        content = vector.tobytes()
                    vectors[word] = vector
                lines.append(word.encode() + b" " + content + end)
            unpacked += file.write(b"".join(lines))
    with path.open("rb") as file:
        md5 = hashlib.file_digest(file, "md5").hexdigest()
    return Written(md5, path.stat().st_size, unpacked, vectors)


def _vocabulary(
    archive: Archive, rows: int, words: list[str], draw: np.random.Generator
) -> tuple[list[str], set[str]]:
    """The words of a file in order, and those of them that the study may ask for."""
    wanted = dict.fromkeys(word.lower() if archive.lower else word for word in words)
    fixed = [*wanted, *(word for word in ODD if word not in wanted)]
    filler = [f"word_{i:07}" for i in range(rows - len(fixed) - archive.duplicates)]
    vocabulary = [*fixed, *filler]
    if archive.by_alphabet:
        vocabulary.sort()
    else:
        vocabulary = [vocabulary[i] for i in draw.permutation(len(vocabulary))]
    # again, with other vectors: the first of each counts
    return [*vocabulary, *fixed[: archive.duplicates]], set(wanted)
