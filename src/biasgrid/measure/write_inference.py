"""Task that writes the inference of a model's cells of one metric to a file."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..core.files import hold_lock, write_bytes, write_text
from ..core.schema import dumps, with_version
from ..core.untrusted import read_npy, read_npz
from ..core.versions import versions
from .candidate_words import stored_pool
from .cell import model_of, query_of
from .infer import infer_query
from .measurement_spec import MeasurementSpec
from .results import cells as cell_results


def infer_cells(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> list[dict[str, Any]]:
    """Write the inference of the cells of one model, debias method and metric, and their bootstrap resamples.

    Both files depend only on the cells' specs, inputs and files, which contain their values. A record in the file
    whose cell has the same spec and inputs is kept: an edited query costs only its own cell.

    Parameters
    ----------
    inputs
        "cells" and "queries": their files, in the order of the spec's cells. "model": the record of the model's
        store. "store": a `StoreOf`, or a list with one for each cell. "transform": the file of a fitted debias
        method, if any. "pool": the file of the words of random groups, if any.
    spec
        "cells": for each the spec of `cell.compute_cell`, and "inference": the parts of `infer_query`. "code": a
        digest of the running code. "again", if present: numbers of cells that are inferred again in any case.

    Returns
    -------
    list of dict
        The file's record of each cell.
    """
    samples_path = output.with_suffix(".npy")
    pool = stored_pool(inputs["pool"]) if "pool" in inputs else None
    stores = inputs["store"]
    entries = _read_entries(output, samples_path)
    cells = [
        (
            cell,
            cell_file,
            query,
            _digest(cell, spec["code"], [query, cell_file, inputs["model"]], inputs.get("transform")),
        )
        for cell, cell_file, query in zip(spec["cells"], inputs["cells"], inputs["queries"], strict=True)
    ]
    # Steps of a model's metrics share random groups. Each step has its own order, so that steps which run at the same
    # time draw different groups.
    order = list(range(len(cells)))
    random.Random(output.stem).shuffle(order)
    for number in order:
        cell, cell_file, query, digest = cells[number]
        if digest not in entries or number in spec.get("again", ()):
            results, values = infer_query(
                MeasurementSpec.of_cell(cell, cell["inference"]),
                query_of(query),
                model_of(stores[number] if isinstance(stores, list) else stores, inputs.get("transform")),
                values=_cell_values(cell_file),
                pool=pool,
            )
            entries[digest] = {**cell, "made_of": digest, "versions": versions(), "results": results}, values
    records, samples = map(list, zip(*(entries[digest] for *_, digest in cells), strict=True))
    output.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(output.with_name(f".{output.name}.lock")):
        # If the process is killed between the two writes, the next run finds no record that assigns the samples.
        output.unlink(missing_ok=True)
        if samples[0] is not None:
            file = BytesIO()
            np.save(file, np.concatenate(samples))
            write_bytes(samples_path, file.getvalue())
        write_text(output, dumps(with_version({"cells": records}), separators=(",", ":")) + "\n")
    return records


def _cell_values(cell: Path) -> list[float]:
    """Return the values in a cell's file, which are exact: its inference is about these values."""
    ((_, results),) = cell_results([cell])
    return [math.nan if result["value"] is None else result["value"] for result in results]


def _read_entries(path: Path, samples_path: Path) -> dict[str, tuple[dict[str, Any], np.ndarray | None]]:
    """Read the records and resamples of cells that were inferred before, by their digests."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))["cells"]
        has_samples = any("bootstrap" in record["inference"] for record in records)
        samples = read_npy(samples_path) if has_samples else None
        ends = np.cumsum([len(record["results"]) for record in records])
        if samples is not None and (
            samples.ndim != 2 or samples.dtype != np.float64 or len(samples) != ends[-1]
        ):
            return {}
        parts = np.split(samples, ends[:-1]) if samples is not None else [None] * len(records)
        return {record["made_of"]: (record, part) for record, part in zip(records, parts, strict=True)}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        # The file is missing, cut off or of another version: infer again.
        return {}


def _digest(cell: Mapping[str, Any], code: str, files: list[Path], transform: Path | None) -> str:
    """Return a digest of everything that a cell's inference depends on: spec, code, query, cell, model, transform."""
    hasher = hashlib.sha256(f"{json.dumps(cell, sort_keys=True)} {code}".encode())
    for file in files:
        hasher.update(hashlib.sha256(file.read_bytes() if file.is_file() else b"").digest())
    if transform is not None:
        # Hash its arrays: the archive around them differs between versions of Python.
        for array in read_npz(transform).values():
            hasher.update(array.tobytes())
    return hasher.hexdigest()
