"""Language models from a user's files."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..embeddings.language.building import make_language_model
from ..embeddings.language.formats import FORMATS, SCORES
from ..embeddings.language.model import MODEL, LanguageModel
from ..embeddings.language.sentence import check_text
from ..embeddings.readers import check_sha256, suffixless
from ..errors import BiasgridError, InputError, unknown_name
from .temporary import working_folder


def language_model_of(
    path: Path, name: str | None = None, format: str | None = None, sha256: str | None = None
) -> LanguageModel:
    """A language model of a user's files, which stay where they are; its folder is temporary and goes with it.

    Parameters
    ----------
    path
        A model's folder; a .gguf file; a folder with model.safetensors, config.json and tokenizer.json, or the first
        of these; or a table of measured scores, with `format`.
    name
        What to call it; None for the file's name.
    format
        One of `FORMATS`; None to tell it from the files.
    sha256
        Of a file, which must match.

    Raises
    ------
    BiasgridError
        What is no language model: unreadable, of no known format, or not what `sha256` says.
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"format: {unknown_name('format', format, FORMATS)}")
    if (path / MODEL).exists():
        return LanguageModel.open(path, name)
    if not path.exists():
        raise BiasgridError(f"{path}: no such file or folder")
    if sha256 is not None:
        if path.is_dir():
            raise InputError("sha256: is for a file, and this model is a folder; leave it out")
        check_sha256(path, sha256)
    stem = suffixless(path)
    model: dict[str, Any] = {"format": format}
    with working_folder() as folder:
        make_language_model(
            path,
            folder.path / "model",
            name=name or stem,
            model=model,
            metadata={"source": {"file": stem}, "licence": "not stated"},
            keep=False,
        )
        return LanguageModel.open(folder.path / "model", keeper=folder)


def model_of_scores(scores: Mapping[str, float], name: str) -> LanguageModel:
    """A language model whose scores somebody measured.

    Parameters
    ----------
    scores
        Sentence -> log-likelihood, or pseudo-log-likelihood.
    name
        What to call it.

    Raises
    ------
    BiasgridError
        For what is no text, and a score that is no finite number.
    """
    for text in scores:
        check_text(text)
    with working_folder() as folder:
        table = folder.path / "scores.csv"
        with table.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "score"), *scores.items()])
        model: dict[str, Any] = {"format": SCORES, "source": {"type": "file"}}
        make_language_model(table, folder.path / "model", name=name, model=model, metadata={})
        return LanguageModel.open(folder.path / "model", keeper=folder)
