"""Whether p-values are reported whatever they are: the rule of today, and the one before it."""

import numpy as np
import pytest

from validation.calibration.few_topics import NOW, THEN, Null, aggregates, table

FEW = 90  # topics in the first draws; more in later ones


@pytest.fixture(scope="module")
def nulls():
    """Random groups of which 199 draws have too few topics, and 2,000 enough."""
    rng = np.random.default_rng(0)
    nulls = []
    for _ in range(20):
        topics = np.concatenate([rng.integers(FEW, size=300), rng.integers(140, size=1700)])
        nulls.append(Null("weat", rng.normal(size=2000), np.arange(2000), topics[:, None]))
    return nulls


def test_a_rule_that_looks_at_the_value_reports_small_p_values(nulls):
    rows = table(nulls, 4000, seed=1)
    number, share, error = rows[THEN]
    assert number < 1000
    assert share > 0.3
    number, share, error = rows[NOW]
    assert number == 4000
    assert abs(share - 0.05) < 4 * error


def test_means_over_queries_are_of_the_draws_that_all_have(nulls):
    other = nulls[0]._replace(numbers=np.arange(1000, 3000))
    (mean,) = aggregates([nulls[1], other])
    assert mean.numbers.tolist() == list(range(1000, 2000))
    assert mean.distances == pytest.approx((nulls[1].distances[1000:] + other.distances[:1000]) / 2)
    assert mean.topics.shape == (1000, 2)
