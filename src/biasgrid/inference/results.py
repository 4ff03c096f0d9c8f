"""Inference for results that are measured without a study: p-value, interval and sensitivity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..measure import Result
from ..metrics.registry import Metric
from ..options import P_VALUES, check_interval
from ..query import Query
from ..words import WordOptions
from . import infer_query


def add_inference(
    results: Sequence[Result],
    metric: Metric,
    query: Query,
    model: Any,
    parameters: Mapping[str, Any],
    words: WordOptions,
    seed: int,
    parts: Mapping[str, Mapping[str, Any] | None],
    interval: str,
) -> list[Result]:
    """The results of `measure` for the same arguments, with their p-values, `ci_low`, `ci_high` and
    `inference`.

    `parts` are the options of each part of `infer_query` (None: not that part), whose draws come from `seed`;
    `interval`, "jackknife", "percentile" or "bca", is which one ci_low and ci_high are.
    """
    check_interval(interval)
    records, _ = infer_query(metric, query, model, parameters, words, seed, **parts, draw_seed=seed)
    return [_add_inference(result, record, interval) for result, record in zip(results, records, strict=True)]


def _add_inference(result: Result, record: Mapping[str, Any], interval: str) -> Result:
    low, high = record.get("bootstrap", {}).get(interval, (None, None))
    numbers = {name: record.get(test, {}).get("p_value") for name, test in P_VALUES.items()}
    numbers |= {"ci_low": low, "ci_high": high}
    parts = {name: part for name, part in record.items() if name not in ("query", "status", "value")}
    return replace(
        result,
        **{name: math.nan if number is None else number for name, number in numbers.items()},
        interval=interval if "bootstrap" in record else "",
        inference=parts,
    )
