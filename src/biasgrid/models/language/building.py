"""Making of a language model's folder from fetched files, which are kept unchanged."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...core.errors import BiasgridError, unknown_name
from ...core.files import hash_file, hold_lock, new_folder
from ...core.resources import cache_folder
from ...core.untrusted import check_fetched
from ..folder import finish_folder, write_folder
from ..temporary import reference, working_folder
from . import answers
from .architectures import ENCODER, MASKED, read_kind
from .files import CONFIG, FILES, INDEX, TOKENIZERS, WEIGHTS
from .formats import ANSWERS, FORMATS, FORMER, GGUF, SCORES, TRANSFORMERS
from .gguf import MAGIC, convert
from .model import KIND, MEASURED, MODEL, NO_SCORES, LanguageModel
from .scores import COLUMNS, TABLE, is_table, read_table

# sha256 of weights whose head does not predict masked words -> the reason why they cannot score texts.
NO_LANGUAGE_MODELS = {
    "96e1dd8dbbc82439cf50677a15bcb9141172b289d20b41c9c28b621a0451a02a": "was tuned to retrieve documents and is no "
    "language model any more (perplexity 5771 on the Brown corpus); it can be an encoder, or be trained on",
}

Files = dict[str, Path]


def make_language_model(
    archive: Path,
    folder: Path,
    *,
    name: str,
    model: Mapping[str, Any],
    metadata: Mapping[str, Any],
    keep: bool = True,
) -> LanguageModel:
    """Make the folder of a language model, or of an encoder, from its files.

    Parameters
    ----------
    archive
        A .gguf file, or model.safetensors with config.json and a tokenizer's files next to it. Or a folder
        with these, or a language model's folder, whose entries of model.json are kept.
    folder
        The model's folder. A former one is replaced when this one is complete.
    name
        The model's name.
    model
        The model's entry in a config. Its `format` is used; without it, the files' names determine the
        format.
    metadata
        Further entries of model.json.
    keep
        Whether the folder keeps the files: as hard links to fetched files, or as copies. If not, it has
        symbolic links to the original files.

    Raises
    ------
    BiasgridError
        The files are not a language model in a known format.
    """
    old_record = LanguageModel.open(archive).metadata if (archive / MODEL).is_file() else {}
    found, source = _files(archive), model.get("source", {})
    said: Any = ANSWERS if source.get("type") == ANSWERS else model.get("format") or old_record.get("format")
    format = FORMER.get(said, said) or _format(archive, found)
    if format not in (*FORMATS, ANSWERS):
        raise BiasgridError(f"format: {unknown_name('format', format, FORMATS)}")
    # The user's own files are copied, not linked, as they may be overwritten.
    put = shutil.copyfile if "path" in source or source.get("type") in (None, "file") else _link
    with write_folder(folder, "making this model") as scratch:
        if format == GGUF:
            gguf_file = _gguf(archive, found)
            put, format = _link, TRANSFORMERS
            found = _files(convert(gguf_file, scratch / "converted") if keep else _converted(gguf_file))
            old_record |= {"converted_from": {"format": GGUF, "sha256": hash_file(gguf_file)}}
        files, facts = READ[format](archive, found)
        for file, path in files.items():
            (put if keep else reference)(path.resolve(), scratch / file)
        record = {
            **{key: value for key, value in old_record.items() if key != NO_SCORES},
            **metadata,
            "name": name,
            "kind": KIND,
            "format": format,
            **facts,
            **({"masked": source.get("masked", False)} if format == ANSWERS else {}),
            "sha256": {file: hash_file(scratch / file) for file in files},
        }
        if reason := NO_LANGUAGE_MODELS.get(record["sha256"].get(WEIGHTS, "")):
            record[NO_SCORES] = reason
        finish_folder(scratch, record)
    return LanguageModel.open(folder)


def examine(archive: Path, format: str | None = None) -> str:
    """Return the name of the format of a language model's file or folder, without reading weights.

    Raise BiasgridError, like `make_language_model`, if it is not a language model, and for an encoder.
    """
    if (archive / MODEL).is_file():
        record = LanguageModel.open(archive).metadata
        found_format, facts = str(record["format"]), dict(record)
    else:
        found = _files(archive)
        found_format = FORMER.get(format or "", format) or _format(archive, found)
        if found_format == GGUF:
            _gguf(archive, found)
            return GGUF
        facts = READ[found_format](archive, found)[1]
    if NO_SCORES in facts:
        raise BiasgridError(f"{archive}: {facts[NO_SCORES]}")
    return found_format


def _files(archive: Path) -> Files:
    """Return the files by name: the files of a folder, or one file with related files next to it."""
    try:
        if archive.is_dir() or archive.suffix == ".safetensors" or archive.name == CONFIG:
            parent = archive if archive.is_dir() else archive.parent
            files = {
                path.name: path for path in sorted(parent.iterdir()) if path.is_file() and path.name != MODEL
            }
            if archive.suffix == ".safetensors":  # with any name
                files = {name: path for name, path in files.items() if path.suffix != ".safetensors"}
                files[WEIGHTS] = archive
            return files
        if not archive.is_file():
            raise BiasgridError(f"{archive}: no such file or folder")
        return {archive.name: archive}
    except OSError as error:
        raise BiasgridError(f"{archive}: {error.strerror or error}") from None


def _format(archive: Path, files: Files) -> str:
    """Detect the format from the names of the files, or from the first bytes of a single file."""
    if any(name.endswith(".gguf") for name in files):
        return GGUF
    if {WEIGHTS, INDEX, CONFIG} & files.keys():
        return TRANSFORMERS
    if len(files) == 1:
        file = archive if archive.is_file() else next(iter(files.values()))
        if _beginning(file) == MAGIC:
            return GGUF
        if is_table(file):
            return SCORES
    raise BiasgridError(
        f"{archive}: no language model: expected a .gguf file, {WEIGHTS} with {CONFIG} and {TOKENIZERS[0]}, or a "
        f"table of scores, a CSV file with the columns {' or '.join(', '.join(names) for names in COLUMNS)}"
    )


def _gguf(archive: Path, files: Files) -> Path:
    paths = [path for name, path in files.items() if name.endswith(".gguf")] or list(files.values())
    if len(paths) != 1:
        raise BiasgridError(f"{archive}: has {len(paths)} .gguf files, and a model is one of them")
    path = paths[0].resolve()  # so that errors name the user's original file
    check_fetched(path)
    return path


def _converted(file: Path) -> Path:
    """Return the folder into which a user's .gguf file was converted; its name is the file's hash."""
    folder = cache_folder() / "converted" / hash_file(file)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder.parent / f".{folder.name}.lock"):
        if not folder.is_dir():
            with new_folder(folder) as part:
                convert(file, part)
    return folder


def _transformers(archive: Path, files: Files) -> tuple[Files, dict[str, Any]]:
    names = [name for name in (*FILES, INDEX) if name in files]
    names += sorted(name for name in files if name.endswith(".safetensors"))
    # A file may have another name than transformers expects, so links with the right names are made.
    with working_folder() as folder:
        for name in names:
            check_fetched(files[name])
            reference(files[name].resolve(), folder.path / name)
        try:
            kind = read_kind(folder.path)
        except BiasgridError as error:
            raise BiasgridError(str(error).replace(str(folder.path), str(archive))) from None
    facts: dict[str, Any] = {"masked": kind == MASKED}
    if kind == ENCODER:
        facts[NO_SCORES] = "has no head for masked words: it is an encoder, and no language model"
    return {name: files[name] for name in names}, facts


def _scores(archive: Path, files: Files) -> tuple[Files, dict[str, Any]]:
    if len(files) != 1:
        raise BiasgridError(f"{archive}: has {len(files)} files, and measured scores are one")
    (table,) = files.values()
    read_table(table)
    # A text that is not in the table does not have a score.
    return {TABLE: table}, {"masked": True, MEASURED: True}


def _answers(archive: Path, files: Files) -> tuple[Files, dict[str, Any]]:
    (file,) = files.values()
    return {answers.FILE: file}, {"answered_by": answers.answered_by(file)}


# Format -> function that returns the model's files by their names in its folder, and entries of model.json.
READ = {TRANSFORMERS: _transformers, SCORES: _scores, ANSWERS: _answers}


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(MAGIC))


def _link(source: Path, target: Path) -> None:
    with suppress(OSError):  # fails on another file system, or on one without hard links
        os.link(source, target)
        return
    shutil.copyfile(source, target)
