"""A metric on a query on a model: its values, and what is inferred of them, from one look-up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .embeddings.model import Model
from .options import P_VALUES
from .query import Query
from .request import Request
from .result import Result
from .sample import look_up


def measure(request: Request, query: Query, model: Model) -> list[Result]:
    """A result for each sub-query of the metric's template, in WEFE's order; one where the query has it itself.

    Parameters
    ----------
    request
        The metric under its parameters, and the parts of inference that are asked for.
    query
        Of so many sets that the metric's template fits, or larger.
    model
        Of the metric's kind.

    Returns
    -------
    list of Result
        With p-values, interval, `inference` and `evidence` where the request has parts of inference.

    Raises
    ------
    BiasgridError
        For a model of another kind and a query that has too few sets.
    """
    samples = look_up(request, query, model)
    results = [sample.result() for sample in samples]
    if not request.inference:
        return results
    # imported late: scipy.stats takes a second
    from .inference import infer
    from .verdicts.evidence import LEVEL, evidence_of

    records, _ = infer(samples)
    level = request.inference.get("bootstrap", {}).get("level", LEVEL)
    results = [
        _add_inference(result, record, request.interval)
        for result, record in zip(results, records, strict=True)
    ]
    return [replace(result, evidence=evidence_of(result, request.metric, level)) for result in results]


def _add_inference(result: Result, record: Mapping[str, Any], interval: str) -> Result:
    low, high = record.get("bootstrap", {}).get(interval, (None, None))
    numbers: dict[str, Any] = {name: record.get(test, {}).get("p_value") for name, test in P_VALUES.items()}
    numbers |= {"ci_low": low, "ci_high": high}
    numbers = {name: math.nan if number is None else number for name, number in numbers.items()}
    parts = {name: part for name, part in record.items() if name not in ("query", "status", "value")}
    return replace(
        result,
        **numbers,
        interval=interval if "bootstrap" in record else "",
        inference=parts,
    )
