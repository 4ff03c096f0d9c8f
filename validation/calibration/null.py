"""p-values of a metric where its null hypothesis is true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from biasgrid.inference.permutation import Permutation
from biasgrid.inference.resampler import Resampler
from biasgrid.inference.significance.permutation import query_permutation_test
from biasgrid.metrics.registry import Metric
from biasgrid.request import Request
from biasgrid.sample import look_up

from .populations import Population, as_query, exchange_labels

# values that differ by less are equal, relative to the larger one or 1
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
    """p-values of a metric where its null hypothesis is true, one per repetition.

    Without bias, each is of new words. With a bias, they are of the same words, whose labels are permuted at random
    before each test. `p_values` are those that the test gives; `uniform` are uniformly distributed from 0 to 1 if the
    test is right: a p-value is a number of permutations, so it is moved by a random part of its distance to the next
    smaller one that would be possible.
    """
    fixed_sets = population.draw(metric, words, bias, rng)
    outcome: dict[str, list[float]] = {"p_values": [], "uniform": []}
    for _ in range(repetitions):
        sets = exchange_labels(metric, *fixed_sets, rng) if bias else population.draw(metric, words, 0, rng)
        query, model = as_query(*sets)
        seeds = rng.integers(2**32, size=2).tolist()
        resampler = Resampler.of(look_up(Request(metric, params, seed=seeds[0]), query, model)[0])
        test = query_permutation_test(resampler, seed=seeds[1], draws=draws, exact=exact)
        outcome["p_values"].append(test.p_value)
        outcome["uniform"].append(test.p_value - rng.random() * (test.p_value - _next_smaller(test)))
    return outcome


def _next_smaller(test: Permutation) -> float:
    """The largest p-value below a test's that it could have given with these permutations, or 0."""
    values = test.null_distribution
    tolerance = ROUNDING * max(1.0, np.abs(values).max(), abs(test.observed))
    more_extreme = {
        "greater": np.count_nonzero(values > test.observed + tolerance),
        "less": np.count_nonzero(values < test.observed - tolerance),
    }
    two_sided = test.alternative == "two-sided"
    count = 2 * min(more_extreme.values()) if two_sided else more_extreme[test.alternative]
    return count / (test.draws + (test.method != "exact"))
