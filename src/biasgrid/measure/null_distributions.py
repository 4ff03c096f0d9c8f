"""Step that writes the null distributions of a cell's tests, and the values of its bootstrap resamples.

They are computed again from the cell's own seeds, so that they equal the distributions behind its inference file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import BiasgridError
from ..core.files import write_bytes
from ..core.in_memory import File, InMemory
from ..core.schema import dumps
from ..core.untrusted import read_npz
from ..queries.query import Query
from . import significance
from .candidate_words import stored_pool
from .cell import model_of
from .infer import infer_query
from .measurement_spec import MeasurementSpec
from .permutation import extreme_tails


@dataclass(frozen=True)
class Null:
    """Null distributions of a cell.

    Attributes
    ----------
    results
        Same as in the cell's inference file, without sensitivity.
    values
        Sub-query -> test -> the values with which it compares the score (draws,).
    extreme
        Sub-query -> test -> which of the values the p-value counts (draws,); for a two-sided test the smaller tail.
    samples
        Values of the bootstrap resamples (sub-queries, draws); None without a bootstrap.
    """

    results: list[dict[str, Any]]
    values: Mapping[str, Mapping[str, np.ndarray]]
    extreme: Mapping[str, Mapping[str, np.ndarray]]
    samples: np.ndarray | None

    @classmethod
    def of(
        cls,
        results: list[dict[str, Any]],
        values: Mapping[str, Mapping[str, np.ndarray]],
        samples: np.ndarray | None,
    ) -> Null:
        """Build the null distributions from the results of `infer_query` and its `nulls`.

        Raises BiasgridError with the reasons if no sub-query has a test.
        """
        if not values:
            raise BiasgridError(f"no test: {why_untested(results[0])}")
        extreme = {
            result["query"]: {
                test: _extreme(draws, result[test]) for test, draws in values[result["query"]].items()
            }
            for result in results
            if result["query"] in values
        }
        return cls(results, values, extreme, samples)

    def save(self, path: Path | str) -> None:
        """Write the numbers; the same numbers give the same bytes."""
        arrays: dict[str, Any] = {"results": np.frombuffer(dumps(self.results).encode(), np.uint8)}
        if self.samples is not None:
            arrays["samples"] = self.samples
        for i, result in enumerate(self.results):
            for test, values in self.values.get(result["query"], {}).items():
                arrays[f"values_{i}_{test}"] = values
                arrays[f"extreme_{i}_{test}"] = self.extreme[result["query"]][test]
        file = BytesIO()
        np.savez(file, **arrays)
        write_bytes(path, file.getvalue())

    @classmethod
    def load(cls, path: File) -> Null:
        """Read the file that `save` wrote. Raises BiasgridError for a file without null distributions."""
        if isinstance(path, InMemory):
            return path.content
        try:
            arrays = read_npz(path)
            results = json.loads(arrays["results"].tobytes())
            parts = {
                part: {
                    result["query"]: {
                        test: arrays[f"{part}_{i}_{test}"]
                        for test in significance.REGISTRY
                        if f"{part}_{i}_{test}" in arrays
                    }
                    for i, result in enumerate(results)
                }
                for part in ("values", "extreme")
            }
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise BiasgridError(f"{path}: no null distributions ({error}); make them again") from None
        return cls(results, samples=arrays.get("samples"), **parts)


def write_null(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path | str) -> Null:
    """Compute the null distributions of a cell, and write them.

    Parameters
    ----------
    inputs
        "query": the query's file. "store": a `StoreOf`. "transform": the fitted debias method of the model, if any.
        "pool": the words of random groups, if there is such a file.
    spec
        The spec of a cell (`cell.compute_cell`), and "inference", the options of each part (`infer_query`).
    output
        The output file (.npz).

    Raises
    ------
    BiasgridError
        If no sub-query has a test; the message gives the reasons.
    """
    tests = {
        part: spec["inference"][part]
        for part in spec["inference"]
        if part not in ("sensitivity", "reliability")
    }
    request = MeasurementSpec.of_cell(spec, tests)
    if reason := significance.reason_without(request.metric, spec["inference"]):
        raise BiasgridError(f"no test: {reason}")
    values: dict[str, dict[str, np.ndarray]] = {}
    results, samples = infer_query(
        request,
        Query.read(inputs["query"]),
        model_of(inputs["store"], inputs.get("transform")),
        nulls=values,
        pool=stored_pool(inputs["pool"]) if "pool" in inputs else None,
    )
    null = Null.of(results, values, samples)
    null.save(output)
    return null


def why_untested(result: Mapping[str, Any]) -> str:
    """Return the reason why a sub-query lacks tests, from its results."""
    if result["status"] != "ok":
        return f"{result['query']} has no value ({result['status'].replace('_', ' ')})"
    reasons = {
        test.label: result[test.name]["reason"]
        for test in significance.tests()
        if "reason" in result.get(test.name, {})
    }
    return "; ".join(f"{label}: {reason}" for label, reason in reasons.items())


def _extreme(values: np.ndarray, test: Mapping[str, Any]) -> np.ndarray:
    if test["p_value"] is None:
        return np.zeros(len(values), dtype=bool)
    tails = extreme_tails(values, test["observed"], test["alternative"], test.get("neutral"))
    return min(tails, key=np.count_nonzero)
