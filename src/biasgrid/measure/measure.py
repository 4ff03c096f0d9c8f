"""Measurement of a metric on a query and a model: values and their inference from one look-up of words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..models.model import Model
from ..queries.query import Query
from .measurement_spec import MeasurementSpec
from .metric_input import look_up
from .result import Result


def measure(request: MeasurementSpec, query: Query, model: Model) -> list[Result]:
    """Measure each sub-query of the metric's template; return the results in WEFE's order.

    If the query itself has the template, it has one result.

    Parameters
    ----------
    request
        The metric with its parameters, and the requested parts of inference.
    query
        A query with enough sets for the metric's template.
    model
        A model of the type that the metric needs.

    Returns
    -------
    list of Result
        With p-values, interval, `inference` and `evidence` if the request has parts of inference.

    Raises
    ------
    BiasgridError
        The model has another type, or the query has too few sets.
    """
    samples = look_up(request, query, model)
    results = [sample.result() for sample in samples]
    if not request.inference:
        return results
    # The import of scipy.stats takes a second.
    from .evidence import LEVEL, evidence_of, tests_of
    from .infer import infer
    from .reliability_in_words import card

    records, _ = infer(samples)
    level = request.inference.get("bootstrap", {}).get("level", LEVEL)
    results = [
        replace(_add_inference(result, record, request.interval), reliability=card(record, result.words_used))
        for result, record in zip(results, records, strict=True)
    ]
    return [
        replace(
            result,
            evidence=evidence_of(result, request.metric, level),
            wording=replace(result.wording, tests=tests_of(request.metric)),
        )
        for result in results
    ]


def _add_inference(result: Result, record: Mapping[str, Any], interval: str) -> Result:
    ends = record.get("bootstrap", {}).get(interval, (None, None))
    low, high = (math.nan if end is None else end for end in ends)
    parts = {name: part for name, part in record.items() if name not in ("query", "status", "value")}
    return replace(
        result,
        ci_low=low,
        ci_high=high,
        interval=interval if "bootstrap" in record else "",
        inference=parts,
    )
