"""Saving of whole models as stores or files for other tools, original or debiased."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import BiasgridError, DiskError
from ..core.files import readable
from ..core.untrusted import read_npy
from ..core.validation import check_path
from . import writers
from .folder import check_folder
from .model import Model, Transform
from .store import VECTORS, DebiasedModel, EmbeddingStore
from .store_writer import StoreWriter
from .subwords import SubwordModel

# Limit the numbers that are processed at a time.
BLOCK = 1 << 18


def save(model: Model, output: Path | str) -> None:
    """Write a model, debiased or not: `Model.save`."""
    base, transform = (model.model, model.transform) if isinstance(model, DebiasedModel) else (model, None)
    try:
        write_model(base.base if isinstance(base, SubwordModel) else base, transform, output)
    except OSError as error:
        raise DiskError(f"{error.filename or output}: {error.strerror or error}") from None


def materialize(
    model: Model, transform: Transform, output: Path | str, block: int | None = None
) -> dict[str, Any]:
    """Write all of a debiased model.

    The vector of each word is the result of `model.under(transform).take`, rounded to float32, to the last bit.
    Memory is bounded by `block`, except for the words of a .kv and an .npz. `output` appears when it is complete.

    Parameters
    ----------
    model
        The model that the transform was fitted on.
    transform
        The fitted debias method.
    output
        A folder (no suffix, or an existing one) becomes a store. Words that share a row still share it if the
        transform treats them alike, and otherwise get new rows at the end. Its model.json is the model's, with the
        transform added to the list `debias`. .bin, .txt, .vec (these also .gz), .kv and .npz are the formats of
        biasgrid.models.writers; their words are in the order of the model's rows.
    block
        Number of vectors processed at a time. None: a megabyte of float32.

    Returns
    -------
    dict
        A record of the written file: its path, format, model, method, number of words and shape.

    Raises
    ------
    BiasgridError
        For another suffix; a transform that was fitted on other vectors; an `output` that is the model itself, or a
        folder of other things; a word that the format cannot hold; a value that is not finite in float32.
    """
    transform.check_model(model)
    return write_model(model, transform, output, block)


def write_model(
    model: Any, transform: Transform | None, output: Path | str, block: int | None = None
) -> dict[str, Any]:
    """Write a model, with a transform (`materialize`) or without."""
    output = Path(check_path(os.fspath(output) if isinstance(output, os.PathLike) else output))
    suffix = writers.format_of(output)
    is_store = isinstance(model, EmbeddingStore)
    if is_store and output.exists() and output.samefile(model.path):
        raise BiasgridError(f"{output}: is the model itself; give a different output")
    block = block or max(1, BLOCK // model.dimensions)
    dimensions = transform.output_dimensions if transform else model.dimensions
    if suffix == writers.STORE:
        check_folder(output)
        rows = (_copy_store if is_store else _write_store)(model, transform, output, block)
    else:
        rows = len(model)
        # A rejected word leaves the database open, and another thread may not close it.
        with closing(writers.words_by_row(model, block)) as parts:
            writers.write(output, (rows, dimensions), _transform_blocks(model, transform, parts, output))
    return {
        "output": str(output),
        "format": suffix,
        "model": model.name,
        "method": transform.method if transform else None,
        "words": len(model),
        "shape": [rows, dimensions],
    }


def _record(model: Any, transform: Transform | None, output: Path) -> dict[str, Any]:
    """Return the content of model.json for a written store."""
    record = {"source": "memory", "licence": "not stated", "note": "", **model.metadata}
    record |= {"name": readable(output.name), "vocab_prefix": model.vocab_prefix}
    if transform:
        record["label"] = f"{model.metadata.get('label', model.name)}, {transform.method}"
        record["debias"] = [*model.metadata.get("debias", []), transform.summary()]
    return record


def _write_store(model: Any, transform: Transform | None, output: Path, block: int) -> int:
    """Write a store of a model in memory, and return the number of rows."""
    with StoreWriter(output, model.name) as writer:
        for words, vectors in _transform_blocks(model, transform, writers.words_by_row(model, block), output):
            writer.add(words, vectors)
        writer.finish(_record(model, transform, output))
        return writer.rows


def _copy_store(model: EmbeddingStore, transform: Transform | None, output: Path, block: int) -> int:
    """Write a store with another store's vocabulary, and return the number of rows."""
    word_of, copied_rows, moved_words = _rows(model, transform) if transform else ({}, [], {})
    source = np.concatenate([np.arange(len(model.array)), np.array(copied_rows, dtype=np.int64)])
    parts = (
        (
            [word_of.get(row) for row in range(start, min(start + block, len(source)))],
            source[start : start + block],
        )
        for start in range(0, len(source), block)
    )
    with writers.StoreCopy(output, model, moved_words) as writer:
        for _, vectors in _transform_blocks(model, transform, parts, output):
            rows = source[writer.rows : writer.rows + len(vectors)]
            writer.add([], vectors, counts=None if model.counts is None else model.counts[rows])
        writer.finish(_record(model, transform, output))
    return len(source)


def _rows(model: EmbeddingStore, transform: Transform) -> tuple[dict[int, str], list[int], dict[str, int]]:
    """Compare the rows of a new store with the model's.

    Return row -> word for each row whose treatment a named word determines, the model's row that each additional
    row copies, and word -> new row for words that move. A row stays with its words that the transform does not
    name. Without such words, its first named word keeps it.
    """
    word_list = transform.leave if transform.only is None else transform.only
    words = list(dict.fromkeys([*word_list, *transform.override_words]))
    rows = model.rows(words)
    if (rows < 0).all():
        return {}, [], {}
    named_counts = np.bincount(rows[rows >= 0], minlength=len(model.array))
    free = set(np.flatnonzero((named_counts > 0) & (named_counts == writers.word_counts(model))).tolist())
    numbers = transform.override_rows
    override_rows = range(len(transform.override_words)) if numbers is None else numbers.tolist()
    override_row = dict(zip(transform.override_words, override_rows, strict=True))
    word_of: dict[int, str] = {}
    copied_rows: list[int] = []
    moved_words: dict[str, int] = {}
    places: dict[tuple[int, int | None], int] = {}
    for row, word in sorted(zip(rows.tolist(), words, strict=True)):
        if row < 0:
            continue
        # All named words of a row are treated alike, except for words that get another vector.
        treatment = (row, override_row.get(word))
        if treatment not in places:
            if row in free:
                free.remove(row)
                places[treatment] = row
            else:
                places[treatment] = len(model.array) + len(copied_rows)
                copied_rows.append(row)
            word_of[places[treatment]] = word
        if places[treatment] != row:
            moved_words[word] = places[treatment]
    return word_of, copied_rows, moved_words


def _transform_blocks(
    model: Any,
    transform: Transform | None,
    parts: Iterable[tuple[list[Any], np.ndarray]],
    output: Path,
) -> Iterator[tuple[list[Any], np.ndarray]]:
    """Yield words and their float32 vectors, transformed if there is a transform, from words and rows."""
    for words, rows in parts:
        if isinstance(model, EmbeddingStore):
            # Map the file anew for each block. Otherwise, everything that was read would count as this process's
            # memory.
            vectors = read_npy(model.path / VECTORS, memory_map=True)[rows]
        else:
            vectors = model.read(rows)
        if transform:
            with np.errstate(over="ignore", invalid="ignore"):
                # In float64, as a look-up: the file has the same vectors, to the last bit.
                vectors = transform.apply(vectors.astype(np.float64), words).astype(np.float32)
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            place = int(np.argmin(finite))
            word = f"word {words[place]!r}" if words[place] is not None else f"row {rows[place] + 1}"
            suffix = f" after {transform.method}" if transform else ""
            raise BiasgridError(
                f"{output}: {word} of {model.name} has a value that is not a finite float32{suffix}"
            )
        yield words, vectors
