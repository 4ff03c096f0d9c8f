"""One cell of a study as a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from . import metrics
from .debias.transform import Transform
from .embeddings import study_store
from .embeddings.store import DebiasedModel, EmbeddingStore
from .files import write_text
from .measure import as_json, dumps, measure
from .query import Query
from .study import UNTOUCHED, Cell, Study
from .words import WordOptions


def compute_cell(study: Study, cell: Cell) -> None:
    """Measure a cell and write its file: a pure function of query, store, transform and `cell.spec`, to the byte."""
    spec = json.loads(cell.spec)
    model = model_of(study, cell)
    results = measure(
        metrics.metric(spec["metric"]),
        query_of(study, cell),
        model,
        spec["params"],
        WordOptions(**spec["words"]),
        spec["seed"],
    )
    record = head(cell, spec) | {"results": [as_json(result) for result in results]}
    write_text(study.cell_file(cell), dumps(record, separators=(",", ":")) + "\n")


def head(cell: Cell, spec: Mapping[str, Any]) -> dict[str, Any]:
    """What the file of a cell, and that of its p-values, says before its results: what they are of."""
    return {
        "criterion": cell.criterion,
        "query": cell.query,
        # the study's key; `function` is the registered metric behind it
        "metric": cell.metric,
        "model": cell.model,
        "debias": cell.debias,
        "function": spec["metric"],
        "params": spec["params"],
        "words": spec["words"],
        "seed": spec["seed"],
    }


def query_of(study: Study, cell: Cell) -> Query:
    """The query that a cell is measured on, from its file; read once for all cells of this process."""
    path = study.query_file(cell.query)
    return _read(str(path), path.read_bytes() if path.is_file() else b"")


@lru_cache(maxsize=64)
def _read(path: str, content: bytes) -> Query:
    return Query.read(path)


def model_of(study: Study, cell: Cell) -> EmbeddingStore | DebiasedModel:
    """The model that a cell is measured on, under its transform, if any."""
    made = study.embeddings / cell.model / "model.json"
    stamp = made.read_bytes() if made.is_file() else b""
    model = _opened(str(study.embeddings), cell.model, json.dumps(study.models[cell.model]), stamp)
    if cell.debias == UNTOUCHED:
        return model
    path = study.transform_file(cell.model, cell.debias)
    return _under(model, path, path.stat().st_mtime_ns if path.is_file() else 0)


# one object for all cells of a debiased model: what is known of it is known once
@lru_cache(maxsize=16)
def _under(model: EmbeddingStore, path: Path, time: int) -> DebiasedModel:
    return model.under(Transform.load(path))


@lru_cache(maxsize=16)
def _opened(folder: str, name: str, model: str, stamp: bytes) -> EmbeddingStore:
    """A study's store, opened once for all cells that this process measures on it; `stamp` is another when it is
    made anew."""
    return study_store(folder, name, json.loads(model))
