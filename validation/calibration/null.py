"""P-values of a metric under a true null hypothesis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.measure.metric_input import look_up
from biasgrid.measure.permutation import Permutation
from biasgrid.measure.resampler import Resampler
from biasgrid.measure.significance.permutation import query_permutation_test
from biasgrid.metrics.registry import Metric

from .populations import Population, as_query, exchange_labels

# Values whose difference, relative to the larger one or 1, is smaller than this are equal.
ROUNDING = 1e-13


def under_null(
    metric: Metric,
    population: Population,
    words: int,
    bias: float,
    params: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    repetitions: int,
    draws: int,
    exact: int,
) -> dict[str, list[float]]:
    """Compute p-values of a metric under a true null hypothesis, one per repetition.

    Without bias, each repetition has new words. With a bias, all repetitions have the same words, whose labels are
    permuted at random before each test. `p_values` has the p-values of the test. `uniform` has values that are
    uniformly distributed from 0 to 1 if the test is calibrated. P-values are discrete, so each is moved by a random
    part of its distance to the next smaller possible p-value.
    """
    fixed_sets = population.draw(metric, words, bias, rng)
    outcome: dict[str, list[float]] = {"p_values": [], "uniform": []}
    for _ in range(repetitions):
        sets = exchange_labels(metric, *fixed_sets, rng) if bias else population.draw(metric, words, 0, rng)
        query, model = as_query(*sets)
        seeds = rng.integers(2**32, size=2).tolist()
        resampler = Resampler.of(look_up(MeasurementSpec(metric, params, seed=seeds[0]), query, model)[0])
        test = query_permutation_test(resampler, seed=seeds[1], draws=draws, exact=exact)
        outcome["p_values"].append(test.p_value)
        outcome["uniform"].append(test.p_value - rng.random() * (test.p_value - _next_smaller(test)))
    return outcome


def _next_smaller(test: Permutation) -> float:
    """Return the next smaller p-value that the test could have with these permutations, or 0."""
    values = test.null_distribution
    tolerance = ROUNDING * max(1.0, np.abs(values).max(), abs(test.observed))
    more_extreme = {
        "greater": np.count_nonzero(values > test.observed + tolerance),
        "less": np.count_nonzero(values < test.observed - tolerance),
    }
    two_sided = test.alternative == "two-sided"
    count = 2 * min(more_extreme.values()) if two_sided else more_extreme[test.alternative]
    return count / (test.draws + (test.method != "exact"))
