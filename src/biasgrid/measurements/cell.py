"""One cell of the grid as a file: one metric on one query on one model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..debias.transform import Transform
from ..embeddings.store import DebiasedModel, EmbeddingStore
from ..embeddings.store_of import StoreOf
from ..files import write_text
from ..query import Query
from ..request import Request
from ..result import as_json
from ..sample import look_up
from ..schema import dumps, with_version
from ..versions import versions


def compute_cell(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Measure a cell and write its file: a pure function of query, store, transform and spec, to the byte, within
    the versions that the file says.

    Parameters
    ----------
    inputs
        "query": the query's file; "store": a `StoreOf`; "transform": the file of a fitted debias method, if any.
    spec
        What the file says before its results: the cell's place ("criterion", "query", "metric", "model", "debias"),
        the registered metric ("function"), its "params", how "words" are looked up, and its "seed".
    """
    model = model_of(inputs["store"], inputs.get("transform"))
    samples = look_up(Request.of_cell(spec), query_of(inputs["query"]), model)
    # of a language model, which no debias method takes, what scored its sentences
    scored_by = {} if isinstance(model, DebiasedModel) else model.metadata.get("versions", {})
    at_work = {**versions(), **scored_by}
    record = {**spec, "versions": at_work, "results": [as_json(sample.result()) for sample in samples]}
    write_text(output, dumps(with_version(record), separators=(",", ":")) + "\n")


def query_of(path: Path) -> Query:
    """The query in a file; read once for all cells of this process."""
    return _read_query(str(path), path.read_bytes() if path.is_file() else b"")


@lru_cache(maxsize=64)
def _read_query(path: str, content: bytes) -> Query:
    return Query.read(path)


def model_of(store: StoreOf, transform: Path | None = None) -> EmbeddingStore | DebiasedModel:
    """A store, under a transform, if any; opened once for all cells of this process."""
    record = store.path if store.path.is_file() else store.path / "model.json"
    model = _open_store(store, record.read_bytes() if record.is_file() else b"")
    if transform is None:
        return model
    return _debiased_model(model, transform, transform.stat().st_mtime_ns if transform.is_file() else 0)


# one object for all cells of a debiased model, so that what it caches is computed once
@lru_cache(maxsize=16)
def _debiased_model(model: EmbeddingStore, path: Path, time: int) -> DebiasedModel:
    return model.under(Transform.load(path))


@lru_cache(maxsize=16)
def _open_store(store: StoreOf, stamp: bytes) -> EmbeddingStore:
    """A store, opened once for all cells of this process; `stamp` changes when it is written again."""
    return store.open()
