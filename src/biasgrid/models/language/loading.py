"""Language models from a user's data: files, or measured scores."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import InputError, quote, unknown_name
from ..memory import check_in_memory
from ..readers import check_sha256, suffixless
from ..temporary import working_folder
from .building import make_language_model
from .formats import FORMATS, FORMER, SCORES
from .model import LanguageModel
from .sentence import check_log_likelihood, check_text


def load(
    source: Path | Mapping[str, float],
    name: str | None = None,
    format: str | None = None,
    sha256: str | None = None,
) -> LanguageModel:
    """Load a language model from a user's files, which are not copied, or from scores.

    Its folder is temporary and is removed together with the model.

    Parameters
    ----------
    source
        A .gguf file; a folder with config.json, model.safetensors and a tokenizer's files, or one of these
        files; a table of measured scores, with `format`; or a mapping sentence -> log-likelihood or
        pseudo-log-likelihood.
    name
        The name of the model; None for the file's name.
    format
        The format of a file, one of `FORMATS`; None to detect it.
    sha256
        The checksum that a file must have.

    Raises
    ------
    BiasgridError
        The source is unreadable, its format is unknown, or its checksum differs; or a score is not a finite
        number, is above 0, or does not belong to a text.
    """
    if isinstance(source, Mapping):
        check_in_memory(format=format, sha256=sha256)
        return _load_scores(source, name or "measured")
    if not isinstance(source, Path):
        raise InputError(
            f"{quote(source)} is no language model; allowed: a path, a language model's name, a mapping sentence -> "
            "score"
        )
    format = FORMER.get(format, format) if format else None
    if format is not None and format not in FORMATS:
        raise InputError(f"format: {unknown_name('format', format, FORMATS)}")
    if sha256 is not None:
        if source.is_dir():
            raise InputError("sha256: is for a file, and this model is a folder; leave it out")
        check_sha256(source, sha256)
    stem = suffixless(source)
    model: dict[str, Any] = {"format": format}
    metadata = {"source": {"file": stem}, "licence": "not stated"}
    with working_folder() as folder:
        make_language_model(
            source, folder.path / "model", name=name or stem, model=model, metadata=metadata, keep=False
        )
        return LanguageModel.open(folder.path / "model", keeper=folder)


def _load_scores(scores: Mapping[str, float], name: str) -> LanguageModel:
    for text, score in scores.items():
        check_text(text)
        where = f"{name}: score of {quote(text)}"
        try:
            value = float("nan") if isinstance(score, bool) else float(score)
        except (TypeError, ValueError):
            raise InputError(f"{where}: {quote(score)} is not a number") from None
        check_log_likelihood(value, where, finite=True, error=InputError)
    with working_folder() as folder:
        table = folder.path / "scores.csv"
        with table.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "score"), *scores.items()])
        model: dict[str, Any] = {"format": SCORES, "source": {"type": "file"}}
        make_language_model(table, folder.path / "model", name=name, model=model, metadata={})
        return LanguageModel.open(folder.path / "model", keeper=folder)
