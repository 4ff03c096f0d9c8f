"""Corpora from what a user has: a file of text, or sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..embeddings.corpus.corpus import MODEL, Corpus
from ..embeddings.corpus.counting import make_corpus
from ..embeddings.corpus.formats import DEFAULT, FORMATS
from ..embeddings.readers import check_sha256, suffixless
from ..errors import BiasgridError, InputError, quote, unknown_name
from .temporary import working_folder


def corpus_of(
    source: Path | Sequence[str],
    name: str | None = None,
    format: str | None = None,
    sha256: str | None = None,
) -> Corpus:
    """A corpus that is counted now, in a temporary folder that goes with it.

    Parameters
    ----------
    source
        A corpus' folder; a file of text, a sentence a line; or sentences.
    name
        What to call it; None for the file's name.
    format
        One of `FORMATS`; None for text.
    sha256
        Of a file, which must match.

    Raises
    ------
    BiasgridError
        What is no corpus: unreadable, without words, or not what `sha256` says.
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"format: {unknown_name('format', format, FORMATS)}")
    if isinstance(source, Path) and (source / MODEL).exists():
        return Corpus.open(source, name)
    with working_folder() as folder:
        if isinstance(source, Path):
            if not source.exists():
                raise BiasgridError(f"{source}: no such file")
            if sha256 is not None:
                check_sha256(source, sha256)
            archive, stem = source, suffixless(source)
        else:
            archive, stem = folder.path / "text", "corpus"
            archive.write_text("\n".join(map(_line, source)), encoding="utf-8")
        metadata = {"source": {"file": stem}, "licence": "not stated", "note": ""}
        model: dict[str, Any] = {"format": format or DEFAULT}
        make_corpus(archive, folder.path / "corpus", name=name or stem, model=model, metadata=metadata)
        return Corpus.open(folder.path / "corpus", keeper=folder)


def _line(sentence: Any) -> str:
    if not isinstance(sentence, str):
        raise InputError(f"a corpus is a list of sentences as text, and {quote(sentence)} is none")
    return " ".join(sentence.split())
