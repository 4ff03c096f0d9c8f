"""P-values of all tests of metrics on vectors of shuffled corpora."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from threadpoolctl import threadpool_limits

from biasgrid import metrics
from biasgrid.core.errors import BiasgridError
from biasgrid.core.files import write_text
from biasgrid.core.schema import as_finite, dumps
from biasgrid.measure.candidate_words import make_pool
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.models.store import EmbeddingStore
from biasgrid.models.store_writer import StoreWriter
from biasgrid.queries.query import Query

from .calibration import add_p_value

PLAIN, BANDS, CONTROLS = "permutation", "frequency_bands", "control_words"


def run(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the p-values of all tests on the vectors of one corpus.

    Parameters
    ----------
    inputs
        "vectors": the output of `frequency_vectors.vectors`.
    spec
        "training", "corpora" and "number", which the file repeats; "metrics", a list of [key, entry]; "draws".
    """
    arrays = _read(inputs["vectors"])
    # Use one BLAS thread, because several threads round differently.
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        with StoreWriter(Path(folder) / "model", inputs["vectors"]) as writer:
            writer.add(arrays["words"].tolist(), arrays["vectors"], counts=arrays["counts"])
            facts = {"name": spec["training"], "format": "trained", "vocab_prefix": "", "sorted": True}
            writer.finish(facts | {"tokens": int(arrays["tokens"])})
        outcomes = p_values(EmbeddingStore.open(Path(folder) / "model"), arrays, spec)
    record = {key: spec[key] for key in ("training", "corpora", "number")}
    write_text(output, dumps(as_finite(record | {"found": outcomes})) + "\n")


def _read(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, SyntaxError, OverflowError) as error:
        raise BiasgridError(
            f"{path}: no vectors of a shuffled corpus ({error}); delete it, and run again"
        ) from None


def p_values(
    model: EmbeddingStore, arrays: Mapping[str, np.ndarray], spec: Mapping[str, Any]
) -> dict[str, Any]:
    """Run all tests: kind -> metric -> test -> `p_values` and `reasons`.

    `p_values` has a p-value for each query, None without a test. `reasons` counts the reasons for missing tests. The
    name of a frequency-stratified test includes the width of its bands: frequency_bands:4.
    """
    pool = make_pool(model)
    outcomes: dict[str, Any] = {}
    for kind in (name.removeprefix("query/") for name in arrays if name.startswith("query/")):
        outcomes[kind] = {key: {} for key, _ in spec["metrics"]}
        for number, words in enumerate(arrays[f"query/{kind}"].tolist()):
            for key, entry in spec["metrics"]:
                metric = metrics.metric(entry.get("metric", key))
                # Use only the first attribute set, for which the bias is injected, if one attribute set is enough.
                attributes = words[2:] if metric.template[1] in (2, "k") else words[2:3]
                query = Query(words[:2], attributes)
                for test, test_record in _tests(metric, query, model, pool, entry, spec["draws"], number):
                    outcome = outcomes[kind][key].setdefault(test, {"p_values": [], "reasons": {}})
                    add_p_value(outcome, test_record)
    return outcomes


def _tests(
    metric: Any,
    query: Query,
    model: EmbeddingStore,
    pool: Any,
    entry: Mapping[str, Any],
    draws: int,
    seed: int,
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each test by its name, which includes the width of frequency bands."""
    # Enumerate all permutations if there are at most 300 of them; there are at least 20.
    options = {"draws": draws, "exact": 300}
    first, *widths = entry["widths"]
    (result, *_), _ = infer_query(
        MeasurementSpec(
            metric,
            entry["params"],
            seed=seed,
            inference={
                "permutation": options,
                "frequency_bands": options | {"width": first},
                "control_words": {"draws": draws},
            },
            draw_seed=seed,
        ),
        query,
        model,
        pool=pool,
    )
    for test in (PLAIN, CONTROLS):
        yield test, result.get(test, {"reason": f"status: {result['status']}"})
    yield f"{BANDS}:{first:g}", result.get(BANDS, {"reason": f"status: {result['status']}"})
    for width in widths:
        bands = options | {"width": width}
        (result, *_), _ = infer_query(
            MeasurementSpec(
                metric, entry["params"], seed=seed, inference={"frequency_bands": bands}, draw_seed=seed
            ),
            query,
            model,
        )
        yield f"{BANDS}:{width:g}", result.get(BANDS, {"reason": f"status: {result['status']}"})
