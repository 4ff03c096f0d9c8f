"""Task that measures one metric on one query on one model, and writes it to a file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..core.files import write_text
from ..core.schema import dumps, with_version
from ..core.versions import versions
from ..debias.transform import Transform
from ..models.store import DebiasedModel, EmbeddingStore
from ..models.store_of import StoreOf
from ..queries.query import Query
from .measurement_spec import MeasurementSpec
from .metric_input import look_up
from .result import as_json


def compute_cell(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Measure a cell and write its file.

    The bytes depend only on query, store, transform and spec, for the versions that the file records.

    Parameters
    ----------
    inputs
        "query": the query's file; "store": a `StoreOf`; "transform": the file of a fitted debias method, if any.
    spec
        Entries of the file before its results: the cell's place ("criterion", "query", "metric", "model",
        "debias"), the registered metric ("function"), its "params", the options of the look-up ("words"), and its
        "seed".
    """
    model = model_of(inputs["store"], inputs.get("transform"))
    samples = look_up(MeasurementSpec.of_cell(spec), query_of(inputs["query"]), model)
    # For a language model, which cannot be debiased, record the versions that scored its sentences.
    scored_by = {} if isinstance(model, DebiasedModel) else model.metadata.get("versions", {})
    at_work = {**versions(), **scored_by}
    record = {**spec, "versions": at_work, "results": [as_json(sample.result()) for sample in samples]}
    write_text(output, dumps(with_version(record), separators=(",", ":")) + "\n")


def query_of(path: Path) -> Query:
    """Read the query in a file, once for all cells of this process."""
    return _read_query(str(path), path.read_bytes() if path.is_file() else b"")


@lru_cache(maxsize=64)
def _read_query(path: str, content: bytes) -> Query:
    return Query.read(path)


def model_of(store: StoreOf, transform: Path | None = None) -> EmbeddingStore | DebiasedModel:
    """Open a store, debiased if there is a transform, once for all cells of this process."""
    record = store.path if store.path.is_file() else store.path / "model.json"
    model = _open_store(store, record.read_bytes() if record.is_file() else b"")
    if transform is None:
        return model
    return _debiased_model(model, transform, transform.stat().st_mtime_ns if transform.is_file() else 0)


# Share one object between all cells of a debiased model, so that its caches are computed once.
@lru_cache(maxsize=16)
def _debiased_model(model: EmbeddingStore, path: Path, time: int) -> DebiasedModel:
    return model.under(Transform.load(path))


@lru_cache(maxsize=16)
def _open_store(store: StoreOf, stamp: bytes) -> EmbeddingStore:
    """Open a store, once for all cells of this process; `stamp` changes when it is written again."""
    return store.open()
