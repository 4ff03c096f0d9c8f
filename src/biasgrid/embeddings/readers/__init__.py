"""Foreign formats into stores: `convert`, and `open_model` for whatever a user points at."""

from __future__ import annotations

import hashlib
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import BiasgridError
from ..store import MODEL, EmbeddingStore, StoreWriter
from . import gensim_kv, npy_parquet, spacy, text, wink_json, word2vec_binary
from .files import opened

READERS = {
    "word2vec-binary": word2vec_binary.read,
    "text": text.read,
    "gensim-kv": gensim_kv.read,
    "spacy": spacy.read,
    "npy-parquet": npy_parquet.read,
    "wink-json": wink_json.read,
}
FORMATS = tuple(READERS)
FOLDERS = ("spacy", "npy-parquet")
SAMPLE = 1 << 20  # bytes that a file's format is told from


def convert(
    source: Path | str,
    output: Path | str,
    *,
    name: str,
    format: str | None = None,
    sha256: str | None = None,
    trust_pickle: bool = False,
    vocab_prefix: str = "",
    metadata: Mapping[str, Any] | None = None,
) -> EmbeddingStore:
    """Convert an embedding into the store `output`, replacing one that is there.

    The store appears when it is whole. Of a word that is there twice the first vector counts. What was put up with
    (such words, blank lines, ...) is counted under `warnings` in model.json and told in one Python warning.

    Args:
        source: a file, or the folder of a format of several files:
            word2vec-binary  word2vec's binary format, gzipped or not
            text             a word and its numbers a line, with word2vec's header or without, gzipped or not
            gensim-kv        KeyedVectors.save of gensim 3 or 4, with the arrays that it left beside the file
            spacy            folder of `vectors`, `key2row`, `strings.json` (a spaCy pipeline's vocab)
            npy-parquet      folder of one .npy, a row a word, and one .parquet with one column of words
            wink-json        the JSON file of the npm packages wink-embeddings-sg-*
        format: one of these, None to tell it from the content.
        sha256: of the source file, which must match.
        trust_pickle: read a .kv without sha256. Either way only gensim's KeyedVectors and plain NumPy arrays are
            taken out of the pickle, and none of its code runs.
        vocab_prefix: what stands before every word in the vocabulary.
        metadata: further entries of model.json (label, source, licence, note).

    Raises:
        BiasgridError: the source is missing, damaged, of no known format, or not what sha256 says; names the line,
            or the word, where there is one.
    """
    source, output = Path(source), Path(output)
    if not source.exists():
        raise BiasgridError(f"{source}: no such file")
    if output.exists() and output.samefile(source):
        raise BiasgridError(f"{output}: a store cannot be written into the folder that it is made from")
    if format is None:
        format = detect(source)
    elif format not in READERS:
        raise BiasgridError(f"format: {format!r} is not known; allowed are {', '.join(FORMATS)}")
    elif source.is_dir() != (format in FOLDERS):
        raise BiasgridError(f"{source}: {format} is a {'folder' if format in FOLDERS else 'file'}")
    elif source.is_file():
        _reject(source, _sample(source))
    if sha256 is not None:
        _check(source, sha256)
    elif format == "gensim-kv" and not trust_pickle:
        raise BiasgridError(
            f"{source}: is a pickle, a format that can hold code: pin its sha256 (in a study, in the model's "
            "source), or say trust_pickle (--trust-pickle)"
        )
    facts = {"file": source.name} | ({"sha256": sha256} if sha256 else {})
    record = {"label": name, "source": facts, "licence": "not stated", "note": ""} | dict(metadata or {})
    with StoreWriter(output, source) as writer:
        READERS[format](source, writer)
        writer.finish(record | {"name": name, "format": format, "vocab_prefix": vocab_prefix})
    if writer.warnings:
        counts = ", ".join(f"{key} {count}" for key, count in writer.warnings.items())
        warnings.warn(f"{source}: {counts}", stacklevel=2)
    return EmbeddingStore.open(output)


@contextmanager
def open_model(
    path: Path | str, *, sha256: str | None = None, trust_pickle: bool = False, vocab_prefix: str = ""
) -> Iterator[EmbeddingStore]:
    """A store as it is; anything else that `convert` takes as a temporary store, removed at exit.

    The temporary store lies where Python's tempfile puts it (TMPDIR) and takes 4 bytes a number.
    """
    path = Path(path)
    if (path / MODEL).exists():
        if sha256 is not None:
            raise BiasgridError(f"{path}: sha256 is for a file, and this is a store")
        if vocab_prefix:
            raise BiasgridError(
                f"{path}: vocab_prefix is for a file; a store has the one it was converted with"
            )
        yield EmbeddingStore.open(path)
        return
    with tempfile.TemporaryDirectory(prefix="biasgrid-") as folder:
        name = path.resolve().name
        if path.is_file():
            name = Path(name.removesuffix(".gz")).stem
        options = {"sha256": sha256, "trust_pickle": trust_pickle, "vocab_prefix": vocab_prefix}
        yield convert(path, Path(folder) / "store", name=name, **options)


def detect(source: Path) -> str:
    """The format, from the content. Raises BiasgridError where it is none of FORMATS."""
    if source.is_dir():
        names = sorted(path.name for path in source.iterdir())
        if {"vectors", "key2row", "strings.json"} <= set(names):
            return "spacy"
        if [sum(name.endswith(e) for name in names) for e in (".npy", ".parquet")] == [1, 1]:
            return "npy-parquet"
        raise BiasgridError(
            f"{source}: is neither a store (no {MODEL}), nor spaCy vectors (vectors, key2row, strings.json), nor one "
            f".npy with one .parquet; it has {', '.join(names[:8]) or 'no files'}"
        )
    sample = _sample(source)
    _reject(source, sample)
    if re.match(rb"\x80[\x02-\x05]", sample):
        return "gensim-kv"
    if re.match(rb'\s*\{\s*"', sample):
        return "wink-json"
    if text.looks_like_text(sample):
        return "text"
    if word2vec_binary.HEADER.match(sample):
        return "word2vec-binary"
    raise BiasgridError(f"{source}: is of no known format; {', '.join(FORMATS)} are")


def _reject(source: Path, sample: bytes) -> None:
    """What is certainly not a model, and often served as one."""
    if not sample:
        raise BiasgridError(f"{source}: is empty")
    start = sample.lstrip(b"\xef\xbb\xbf \t\r\n")[:100].lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head>")):
        raise BiasgridError(f"{source}: is a web page, not a model: the download went wrong")
    if sample.startswith(b"PK\x03\x04"):
        raise BiasgridError(f"{source}: is a zip archive (or a wheel): unpack it and give the file inside")
    if sample[257:262] == b"ustar":
        raise BiasgridError(f"{source}: is a tar archive: unpack it and give the file inside")
    if sample.startswith((b"\x93NUMPY", b"PAR1")):
        raise BiasgridError(f"{source}: is one part of npy-parquet: give the folder that holds both files")


def _sample(source: Path) -> bytes:
    with opened(source) as file:
        return file.read(SAMPLE)


def _check(source: Path, sha256: str) -> None:
    if source.is_dir():
        raise BiasgridError(f"{source}: sha256 is for a file, and this is a folder")
    with source.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256.lower():
        raise BiasgridError(f"{source}: expected sha256 {sha256}, got {found}")
