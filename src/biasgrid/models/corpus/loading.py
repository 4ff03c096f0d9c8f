"""Corpora from a user's data: a text file, or sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...core.errors import BiasgridError, InputError, quote, unknown_name
from ..memory import check_in_memory
from ..readers import check_sha256, suffixless
from ..temporary import working_folder
from .corpus import Corpus
from .counting import make_corpus
from .formats import DEFAULT, FORMATS
from .text import blocks


def load(
    source: Path | Sequence[str],
    name: str | None = None,
    format: str | None = None,
    sha256: str | None = None,
) -> Corpus:
    """Count a corpus in a temporary folder, which is removed together with the corpus.

    Parameters
    ----------
    source
        A text file with one sentence per line, or a list of sentences.
    name
        The name of the corpus; None for the file's name.
    format
        One of `FORMATS`; None for text.
    sha256
        The checksum that a file must have.

    Raises
    ------
    BiasgridError
        The source is unreadable or does not contain words, or its checksum differs.
    """
    if not isinstance(source, (Path, list, tuple)):
        raise InputError(
            f"{quote(source)} is no corpus; allowed: a path, a corpus' name, a list of sentences"
        )
    if format is not None and format not in FORMATS:
        raise InputError(f"format: {unknown_name('format', format, FORMATS)}")
    with working_folder() as folder:
        if isinstance(source, Path):
            if sha256 is not None:
                check_sha256(source, sha256)
            archive, stem = source, suffixless(source)
        else:
            check_in_memory(sha256=sha256)
            archive, stem = folder.path / "text", "corpus"
            archive.write_text("\n".join(map(_line, source)), encoding="utf-8")
        metadata = {"source": {"file": stem}, "licence": "not stated", "note": ""}
        model: dict[str, Any] = {"format": format or DEFAULT}
        make_corpus(archive, folder.path / "corpus", name=name or stem, model=model, metadata=metadata)
        return Corpus.open(folder.path / "corpus", keeper=folder)


def examine(source: Path, format: str | None = None) -> str:
    """Return the name of a corpus' format.

    Raise BiasgridError if its beginning is not text or does not contain words.
    """
    if not source.exists():
        raise BiasgridError(f"{source}: no such file")
    words, _ = next(blocks(source, format or DEFAULT), ([], []))
    if not words:
        raise BiasgridError(f"{source}: has no words")
    return format or DEFAULT


def _line(sentence: Any) -> str:
    if not isinstance(sentence, str):
        raise InputError(f"a corpus is a list of sentences as text, and {quote(sentence)} is none")
    return " ".join(sentence.split())
