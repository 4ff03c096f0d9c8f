"""Whether p-values are reported whatever they are: the rule of today, and the one before it."""

from collections import Counter

import numpy as np
import pytest

from validation.calibration.few_topics import NOW, THEN, Null, aggregates, describe, table

FEW = 90  # topics in the first draws; more in later ones


@pytest.fixture(scope="module")
def nulls():
    """Random groups of which 199 draws have too few topics, and 2,000 enough."""
    rng = np.random.default_rng(0)
    nulls = []
    for _ in range(20):
        topics = np.concatenate([rng.integers(FEW, size=300), rng.integers(140, size=1700)])
        words = rng.integers(400, size=(2000, 8))
        nulls.append(Null("weat", rng.normal(size=2000), np.arange(2000), topics[:, None], words=words))
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


def test_random_groups_that_share_most_words_make_no_test(nulls):
    # 16 words a group of 8: like two groups without a word in common
    words = np.argsort(np.random.default_rng(2).random((2000, 16)), axis=1)[:, :8]
    alike = nulls[0]._replace(words=words)
    assert table([alike], 200, seed=1)[NOW][0] == 0
    assert describe([alike], NOW, 200, seed=1) == "of 1 with random groups, 0 p-values reported"
    assert list(aggregates([alike])) == []
    assert len(list(aggregates([alike], THEN))) == 1
    # a mean needs a test of half of its scores
    assert len(list(aggregates([alike, nulls[0]]))) == 1
    assert list(aggregates([alike, alike, nulls[0]])) == []
    assert list(aggregates([nulls[0]], scored=Counter(weat=3))) == []
