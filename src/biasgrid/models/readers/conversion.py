"""Conversion of other formats into stores."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import BiasgridError, InputError, join_names, quote, unknown_name
from ...core.files import readable
from ...core.untrusted import COMPRESSED, check_fetched
from ..store import MODEL, EmbeddingStore
from ..store_writer import BROKEN, REPLACE, StoreWriter
from .files import open_content
from .pins import check_sha256, files_of
from .reader import Reader
from .registry import REGISTRY
from .text import check_dense

SAMPLE = 1 << 20  # bytes of a file from which its format is detected
HINT = "biasgrid list formats"
READING = "subwords", "limit", "broken_words"
# A line of a word and numbers, separated by commas, at the beginning or after a line of column names.
CSV = re.compile(rb"([^\n]*\n)??[^,\n]*(?:,-?\d*\.?\d+(?:[eE][+-]?\d+)?){2,}\r?(?:\n|\Z)")


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
    subwords: bool = False,
    limit: int | None = None,
    broken_words: str = REPLACE,
) -> EmbeddingStore:
    """Convert an embedding into a store; replace an existing one.

    The store appears when it is complete. If a word occurs twice, its first vector is kept. Such words, blank
    lines and other irregularities are counted under `warnings` in model.json and in one Python warning.

    Parameters
    ----------
    source
        A file, uncompressed or compressed by gzip, bzip2 or xz, or the folder of a format of several files.
    output
        The store's folder.
    name
        The model's name.
    format
        The name of one of `REGISTRY` (`biasgrid list formats`); None to detect it from the content.
    sha256
        The required checksum of the source file and the files that are read with it (docs/data.md).
    trust_pickle
        Read a pickle (.kv, .model) without sha256. In any case, only gensim's vectors and models and plain
        NumPy arrays are taken from it, and its code is never run.
    vocab_prefix
        The text that precedes every word in the vocabulary.
    metadata
        Further entries of model.json (label, source, licence, note).
    subwords
        Keep the n-grams of a model of fastText or floret for `Subwords.open`.
    limit
        Read only the first `limit` rows. In a file that is sorted by frequency, like the files of word2vec,
        GloVe and fastText, these are the most frequent words. The rest of the file is ignored.
    broken_words
        "replace" puts U+FFFD in place of bytes that are not UTF-8, and counts the word; "refuse" raises an
        error.

    Returns
    -------
    EmbeddingStore
        The opened store.

    Raises
    ------
    BiasgridError
        The source is missing or damaged, its format is unknown, or its checksum differs from sha256. The
        message names the line or the word, if there is one.
    """
    check_options(limit, broken_words)
    source, output = Path(source), Path(output)
    for argument, text in {"name": name, "vocab_prefix": vocab_prefix, "sha256": sha256 or ""}.items():
        if not isinstance(text, str):
            raise BiasgridError(f"{argument} must be a text, not {text!r:.60}")
    if not source.exists():
        raise BiasgridError(f"{source}: no such file")
    if output.exists() and output.samefile(source):
        raise BiasgridError(f"{output}: a store cannot be written into the folder that it is made from")
    for file in [] if source.is_dir() else files_of(source):
        check_fetched(file)
    reader = detect(source) if format is None else _find_reader(format, source)
    if sha256 is not None:
        check_sha256(source, sha256)
    elif reader.pickled and not trust_pickle:
        raise BiasgridError(
            f"{source}: is a pickle, a format that can hold code: pin its sha256 (in a study, in the model's "
            "source), or say trust_pickle=True (--trust-pickle); no code is run either way"
        )
    facts = {"file": readable(source.name)} | ({"sha256": sha256} if sha256 else {})
    record = {"label": name, "source": facts, "licence": "not stated", "note": ""} | dict(metadata or {})
    if (source / MODEL).exists():
        _check_prefix(source, vocab_prefix)
    if limit is not None:
        record["limit"] = limit
    options = {"subwords": subwords, "limit": limit, "broken_words": broken_words}
    with StoreWriter(output, source, **options) as writer:
        try:
            reader.read(source, writer)
        except BiasgridError:
            if source.is_dir():  # files that no reader opens are not checked
                check_fetched(source)
            raise
        writer.check_broken_words()
        if subwords and not writer.has_subwords:
            raise BiasgridError(
                f"{source}: {reader.name} has no n-grams: subwords are of fastText's .bin, of gensim's FastText "
                "and of spaCy's floret vectors"
            )
        writer.finish(record | {"name": name, "format": reader.name, "vocab_prefix": vocab_prefix})
    if writer.warnings:
        counts = ", ".join(f"{key} {count}" for key, count in writer.warnings.items())
        warnings.warn(f"{source}: {counts}", stacklevel=2)
    return EmbeddingStore.open(output)


def reading_options(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return those options of `convert` in a model's entry in a config that change the words read from a file."""
    return {key: model[key] for key in READING if model.get(key) not in (None, False, REPLACE)}


def check_options(limit: object, broken_words: object) -> None:
    """Raise InputError for a `limit` or `broken_words` that `convert` does not accept."""
    if limit is not None and (type(limit) is not int or limit < 1):
        raise InputError(f"limit: must be a whole number of rows from 1 on, not {quote(limit)}")
    if broken_words not in BROKEN:
        raise InputError(f"broken_words: {unknown_name('value', broken_words, BROKEN)}")


def suffixless(path: Path) -> str:
    """Return the name of a file or folder without its suffix, as a model's name."""
    name = readable(path.resolve().name)
    if not path.is_file():
        return name
    return Path(name.removesuffix(next(filter(name.endswith, COMPRESSED), ""))).stem


def examine(source: Path, format: str | None = None) -> str:
    """Return the name of the format of a file or folder of vectors; only the beginning is read.

    Raise BiasgridError, like `convert`, if the source is missing or not of the format.
    """
    if not source.exists():
        raise BiasgridError(f"{source}: no such file")
    return (detect(source) if format is None else _find_reader(format, source)).name


def detect(source: Path) -> Reader:
    """Detect the reader of a file or folder from its content.

    Raise BiasgridError if the source matches no format, or several.
    """
    is_folder = source.is_dir()
    content: Any = sorted(path.name for path in source.iterdir()) if is_folder else _sample(source)
    readers = [reader for reader in REGISTRY.values() if reader.folder == is_folder]
    candidates = [reader for reader in readers if not reader.guesses and reader.detect(content)]
    if not candidates:
        if not is_folder:
            _reject(source, content)
        candidates = [reader for reader in readers if reader.guesses and reader.detect(content)]
    if len(candidates) == 1:
        return candidates[0]
    formats = join_names(reader.name for reader in candidates or readers)
    if candidates:
        raise BiasgridError(f"{source}: could be of several formats; name one of them: {formats}")
    if is_folder:
        raise BiasgridError(
            f"{source}: is neither a store (no {MODEL}) nor of a format that is a folder: {formats} ({HINT}); it has "
            f"{join_names(content) if content else 'no files'}"
        )
    advice = "; plugins that come with biasgrid may read it: biasgrid list plugins"
    if table := CSV.match(content):
        options = f"index_col=0, {'' if table[1] else 'header=None, '}keep_default_na=False"
        advice = f"; pandas reads a CSV table: bg.load(pd.read_csv({source.name!r}, {options}))"
    raise BiasgridError(f"{source}: is of no known format: {formats} ({HINT}){advice}")


def _check_prefix(store: Path, vocab_prefix: str) -> None:
    store_prefix = EmbeddingStore.open(store).vocab_prefix
    if store_prefix != vocab_prefix:
        raise BiasgridError(
            f"{store}: is a store of vocab_prefix {store_prefix!r}, not {vocab_prefix!r}: give that one"
        )


def _find_reader(name: str, source: Path) -> Reader:
    """Return the reader of this name, after a check that the source may be of its format."""
    reader = REGISTRY.find(name)
    if source.is_dir() != reader.folder:
        raise BiasgridError(f"{source}: {reader.name} is a {'folder' if reader.folder else 'file'}")
    if not reader.folder:
        sample = _sample(source)
        if reader.guesses or not reader.detect(sample):
            _reject(source, sample)
    return reader


def _reject(source: Path, sample: bytes) -> None:
    """Raise BiasgridError for a file that is certainly not a model, but is often mistaken for one."""
    start = sample.lstrip(b"\xef\xbb\xbf \t\r\n")[:100].lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head>")):
        raise BiasgridError(f"{source}: is a web page, not a model: the download went wrong")
    if sample.startswith(b"PK\x03\x04"):
        raise BiasgridError(f"{source}: is a zip archive (or a wheel): unpack it and give the file inside")
    if sample[257:262] == b"ustar":
        raise BiasgridError(f"{source}: is a tar archive: unpack it and give the file inside")
    check_dense(source, sample)
    if sample.startswith((b"\x93NUMPY", b"PAR1")):
        raise BiasgridError(f"{source}: is one part of npy-parquet: give the folder that holds both files")


def _sample(source: Path) -> bytes:
    with open_content(source) as file:
        sample = file.read(SAMPLE)
    if not sample:
        raise BiasgridError(f"{source}: is empty")
    return sample
