"""A language model's folder, made of the files that a source fetched: they are kept as they are."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...errors import BiasgridError, unknown_name
from ...files import hash_file
from ..aside import write_aside
from .bert_network import CONFIG, HEAD, WEIGHTS
from .byte_pairs import check
from .formats import BERT, LLAMA, SCORES
from .gguf_file import MAGIC, GgufFile
from .llama_sizes import Sizes
from .model import KIND, MEASURED, MODEL, NO_SCORES, LanguageModel
from .scores import TABLE, read_table
from .word_pieces import SETTINGS, TOKENIZER, VOCABULARY

GGUF = "model.gguf"
HEADER = 100 << 20  # bytes of a .safetensors file's header, which names its tensors: no more are allowed
# sha256 of weights whose head predicts no masked words -> why they cannot score texts
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
        A file: .gguf, or model.safetensors with config.json and tokenizer.json beside it. Or a folder with these, or
        that of a language model, whose entries of model.json are kept.
    folder
        The model's; a former one is replaced when this one is whole.
    name, model
        The model's, and its entry in a config: of that, `format`; without one the files' names say it.
    metadata
        Further entries of model.json.
    keep
        Whether the folder keeps the files: as hard links of what a source fetched, or as copies. If not, they are
        links to the files where they are.

    Raises
    ------
    BiasgridError
        The files are no language model of a known format.
    """
    old_record = LanguageModel.open(archive).metadata if (archive / MODEL).is_file() else {}
    source_files = _files(archive)
    format = model.get("format") or old_record.get("format") or _format(archive, source_files)
    if format not in READ:
        raise BiasgridError(f"format: {unknown_name('format', format, READ)}")
    files, facts = READ[format](archive, source_files)
    # the user's own files are copied, and not linked: they may be overwritten
    source = model.get("source", {})
    put = shutil.copyfile if "path" in source or source.get("type") in (None, "file") else _link
    with write_aside(folder, "making this model") as scratch:
        for file, path in files.items():
            (put if keep else _reference)(path.resolve(), scratch / file)
        record = {
            **{key: value for key, value in old_record.items() if key != NO_SCORES},
            **metadata,
            "name": name,
            "kind": KIND,
            "format": format,
            **facts,
            "sha256": {file: hash_file(scratch / file) for file in files},
        }
        if reason := NO_LANGUAGE_MODELS.get(record["sha256"].get(WEIGHTS, "")):
            record[NO_SCORES] = reason
        text = json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        (scratch / MODEL).write_text(text, "utf-8")
        # a former one stops being whole before the first of its files changes
        (folder / MODEL).unlink(missing_ok=True)
        for file in (*files, MODEL):
            os.replace(scratch / file, folder / file)
    return LanguageModel.open(folder)


def _files(archive: Path) -> Files:
    """The files by their names: those of a folder, or a file and what lies beside it if its format has several."""
    try:
        if archive.is_dir() or archive.suffix == ".safetensors":
            parent = archive if archive.is_dir() else archive.parent
            files = {
                path.name: path for path in sorted(parent.iterdir()) if path.is_file() and path.name != MODEL
            }
            if not archive.is_dir():  # whatever its name is
                files = {name: path for name, path in files.items() if path.suffix != ".safetensors"}
                files[WEIGHTS] = archive
            return files
        if not archive.is_file():
            raise BiasgridError(f"{archive}: no such file or folder")
        return {archive.name: archive}
    except OSError as error:
        raise BiasgridError(f"{archive}: {error.strerror or error}") from None


def _format(archive: Path, files: Files) -> str:
    """The format that the names of the files, or a single one's first bytes, say."""
    if any(name.endswith(".gguf") for name in files):
        return LLAMA
    if WEIGHTS in files:
        return BERT
    if len(files) == 1 and _beginning(archive if archive.is_file() else next(iter(files.values()))) == MAGIC:
        return LLAMA
    raise BiasgridError(
        f"{archive}: no language model: expected a .gguf file, or {WEIGHTS} with {CONFIG} and {TOKENIZER}"
    )


def _llama(archive: Path, files: Files) -> tuple[Files, dict[str, Any]]:
    paths = [path for name, path in files.items() if name.endswith(".gguf")] or list(files.values())
    if len(paths) != 1:
        raise BiasgridError(f"{archive}: has {len(paths)} .gguf files, and a model is one of them")
    file = GgufFile.open(paths[0])
    check(file.path, file.fields)
    Sizes.from_file(file)
    return {GGUF: paths[0]}, {"masked": False}


def _bert(archive: Path, files: Files) -> tuple[Files, dict[str, Any]]:
    # vocab.txt serves in place of tokenizer.json, with tokenizer_config.json if it is there
    tokenizer_files = [TOKENIZER] if TOKENIZER in files or VOCABULARY not in files else [VOCABULARY]
    for name in (WEIGHTS, CONFIG, *tokenizer_files):
        if name not in files:
            raise BiasgridError(f"{archive}: has no {name}; a BERT is {WEIGHTS}, {CONFIG} and {TOKENIZER}")
    if VOCABULARY in tokenizer_files and SETTINGS in files:
        tokenizer_files.append(SETTINGS)
    try:
        config = json.loads(files[CONFIG].read_bytes())
        kind = config["model_type"]
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise BiasgridError(f"{files[CONFIG]}: not the config of a model: {error!r:.200}") from None
    if kind != "bert":
        raise BiasgridError(f"{files[CONFIG]}: model_type: {unknown_name('value', kind, ['bert'])}")
    masked = any(tensor.startswith(HEAD) for tensor in _tensors(files[WEIGHTS]))
    facts: dict[str, Any] = {"masked": masked}
    if not masked:
        facts[NO_SCORES] = "has no head for masked words: it is an encoder, and no language model"
    return {name: files[name] for name in (WEIGHTS, CONFIG, *tokenizer_files)}, facts


def _scores(archive: Path, files: Files) -> tuple[Files, dict[str, Any]]:
    if len(files) != 1:
        raise BiasgridError(f"{archive}: has {len(files)} files, and measured scores are one")
    (table,) = files.values()
    read_table(table)
    # of a text that the table lacks nothing is known
    return {TABLE: table}, {"masked": True, MEASURED: True}


# format -> the model's files by their names in its folder, and entries of model.json
READ: dict[str, Callable[[Path, Files], tuple[Files, dict[str, Any]]]] = {
    LLAMA: _llama,
    BERT: _bert,
    SCORES: _scores,
}


def _tensors(path: Path) -> list[str]:
    """The names of the tensors of a .safetensors file."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > min(HEADER, path.stat().st_size):
                raise ValueError("the header is longer than the file")
            return list(dict(json.loads(file.read(length))))
    except (ValueError, TypeError, RecursionError) as error:
        raise BiasgridError(f"{path}: not a safetensors file: {error!r:.200}") from None


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(MAGIC))


def _link(source: Path, target: Path) -> None:
    with suppress(OSError):  # another file system, or one without hard links
        os.link(source, target)
        return
    shutil.copyfile(source, target)


def _reference(source: Path, target: Path) -> None:
    try:
        target.symlink_to(source)
    except OSError:  # Windows allows it to few
        shutil.copyfile(source, target)
