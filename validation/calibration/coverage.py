"""Coverage of a metric's intervals: how often they contain a known true value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from biasgrid.core.errors import BiasgridError
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.metrics.registry import Metric

from .populations import ALL_WORDS, ALL_WORDS_DRAWS, Population, as_query


def coverage(
    metric: Metric,
    population: Population,
    words: int,
    bias: float,
    params: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    repetitions: int,
    draws: int,
    level: float,
    truth: int,
) -> dict[str, Any]:
    """Count how often a metric's intervals contain each of two true values.

    Returns
    -------
    dict
        `expected` is the mean value of sets of `words` words over `truth` draws from the populations; `deviation` is
        the standard deviation. `all_words` is the value of the whole populations, with the weight of a set.
        `standard_error` is the mean standard error of the bootstrap. `intervals` has for each kind the number of
        intervals, how many contain each true value, how many are below and above `expected`, and their mean width.
    """
    values = []
    for _ in range(truth):
        sets = population.draw(metric, words, bias, rng)
        seed = {"seed": int(rng.integers(2**32))} if metric.seeded else {}
        values.append(metric.function(*sets, **params, **seed).value)
    if not np.isfinite(values).all():
        raise BiasgridError(
            f"{metric.name} has no value for some sets of {words} words; simulate larger ones"
        )
    true_values = {
        "expected": float(np.mean(values)),
        "all_words": _value_of_all_words(metric, population, words, bias, params, rng),
    }
    bootstraps = []
    for _ in range(repetitions):
        query, model = as_query(*population.draw(metric, words, bias, rng))
        seeds = rng.integers(2**32, size=2).tolist()
        (result,), _ = infer_query(
            MeasurementSpec(
                metric,
                params,
                seed=seeds[0],
                inference={"bootstrap": {"draws": draws, "level": level}},
                draw_seed=seeds[1],
            ),
            query,
            model,
        )
        if result["status"] == "ok":
            bootstraps.append(result["bootstrap"])
    intervals = {}
    for kind in [name for name, value in bootstraps[0].items() if isinstance(value, list)]:
        low, high = np.array([x[kind] for x in bootstraps if x[kind][0] is not None]).reshape(-1, 2).T
        intervals[kind] = {
            "intervals": len(low),
            **{name: int(((low <= value) & (value <= high)).sum()) for name, value in true_values.items()},
            "below": int((high < true_values["expected"]).sum()),
            "above": int((low > true_values["expected"]).sum()),
            "width": float((high - low).mean()) if len(low) else math.nan,
        }
    return true_values | {
        "deviation": float(np.std(values, ddof=1)),
        "standard_error": float(np.mean([x["standard_error"] for x in bootstraps if x["standard_error"]])),
        "intervals": intervals,
    }


def _value_of_all_words(
    metric: Metric,
    population: Population,
    words: int,
    bias: float,
    params: Mapping[str, Any],
    rng: np.random.Generator,
) -> float:
    """Compute the value of ALL_WORDS words per set whose weights sum to `words`, as the mean of several draws.

    Return NaN for a metric that does not accept weights.
    """
    if not metric.resampled:
        return math.nan
    values = []
    for _ in range(ALL_WORDS_DRAWS):
        sides = population.draw(metric, ALL_WORDS, bias, rng)
        weights = [
            [np.repeat(np.eye(len(side))[i], ALL_WORDS)[None] * words / ALL_WORDS for i in range(len(side))]
            for side in sides
        ]
        statistic = metric.resampled(*map(np.concatenate, sides), **params)
        values.append(statistic(*weights)[0])
    return float(np.mean(values))
