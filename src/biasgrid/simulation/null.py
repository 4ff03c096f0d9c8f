"""p-values of a metric where its null hypothesis is true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..inference import Permutation, Sampled, exchange_test
from ..measure import look_up, subquery
from ..metrics.registry import Metric
from ..words import WordOptions
from .populations import Population, as_query, exchanged

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
    """p-values of a metric where its null hypothesis is true, one a repetition.

    Without bias, each is of new words. With a bias, they are of the same words, whose labels are exchanged at random
    before each test. `p_values` are those that the test gives; `uniform` are uniformly distributed from 0 to 1 if the
    test is right: a p-value is a number of permutations, so it is moved by a random part of its distance to the next
    smaller one that would be possible.
    """
    fixed = population.draw(metric, words, bias, rng)
    found: dict[str, list[float]] = {"p_values": [], "uniform": []}
    for _ in range(repetitions):
        sets = exchanged(metric, *fixed, rng) if bias else population.draw(metric, words, 0, rng)
        query, model = as_query(*sets)
        found_sets = look_up(metric, query, model, WordOptions())
        looked_up = subquery(metric, query, found_sets, WordOptions())[:2]
        seeds = rng.integers(2**32, size=2).tolist()
        sampled = Sampled.of(metric, query, *looked_up, params, WordOptions(), seeds[0])
        tested = exchange_test(sampled, seed=seeds[1], draws=draws, exact=exact)
        found["p_values"].append(tested.p_value)
        found["uniform"].append(tested.p_value - rng.random() * (tested.p_value - _next_smaller(tested)))
    return found


def _next_smaller(tested: Permutation) -> float:
    """The largest p-value below a test's that it could have given with these permutations, or 0."""
    values = tested.null_distribution
    rounding = ROUNDING * max(1.0, np.abs(values).max(), abs(tested.observed))
    beyond = {
        "greater": np.count_nonzero(values > tested.observed + rounding),
        "less": np.count_nonzero(values < tested.observed - rounding),
    }
    two_sided = tested.alternative == "two-sided"
    count = 2 * min(beyond.values()) if two_sided else beyond[tested.alternative]
    return count / (tested.draws + (tested.method != "exact"))
