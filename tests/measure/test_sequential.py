"""Monte Carlo tests that draw until they are decided."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from biasgrid.measure.permutation import permutation_test
from biasgrid.measure.sequential import FIRST, count_up, stretches


def by_definition(extreme, stop, draws):
    """The p-value, counted one by one."""
    count, place = 0, 0
    if sum(extreme[:FIRST]) >= stop:
        return (sum(extreme[:FIRST]) + 1) / (FIRST + 1), FIRST
    for is_extreme in extreme[:draws]:
        count, place = count + is_extreme, place + 1
        if count == stop:
            return stop / place, place
    return (count + 1) / (draws + 1), draws


@pytest.mark.parametrize("share", [0.001, 0.02, 0.1, 0.5])
@pytest.mark.parametrize("stop", [1, 5, 20])
def test_the_p_value_is_that_of_draws_counted_one_by_one(share, stop):
    extreme = np.random.default_rng(7).random(3000) < share
    found = count_up(extreme, stop, is_end=True)
    assert (found.p_value, found.draws) == pytest.approx(by_definition(extreme.tolist(), stop, 3000))
    # whatever else was drawn at the same time
    if found.draws < 3000:
        for more in (found.draws, found.draws + 1, 2999):
            assert count_up(extreme[: max(more, FIRST)], stop, is_end=False) == found
        assert count_up(extreme[: max(found.draws, FIRST) - 1], stop, is_end=False) is None


@pytest.mark.parametrize("draws", [50, 199, 999, 4999])
def test_p_values_are_at_most_what_they_can_be_with_just_this_probability(draws):
    """Under the null hypothesis, the score is one of the draws; P(p <= x) is x at every value x of p."""
    rng = np.random.default_rng(draws)
    p_values = []
    for _ in range(4000):
        score = rng.random()  # the share of draws that exceed it
        p_values.append(count_up(rng.random(draws) < score, 20, is_end=True).p_value)
    p_values = np.array(p_values)
    possible = [(k + 1) / (draws + 1) for k in range(3)] + [0.5]
    possible += [20 / 1000, 20 / 400, 0.105] if draws > 1000 else []
    for value in possible:
        count = np.count_nonzero(p_values <= value + 1e-12)
        low, high = binom.ppf([0.0005, 0.9995], len(p_values), value)
        assert low <= count <= high


def test_intervals_are_those_of_the_rule_that_ended_the_draws():
    early = np.zeros(FIRST, dtype=bool)
    early[:40] = True
    expected = binomtest(40, FIRST).proportion_ci(0.95, "exact")
    assert count_up(early, 20, is_end=False)[1:3] == pytest.approx([expected.low, expected.high])
    late = np.zeros(1000, dtype=bool)
    late[49::50] = True
    found = count_up(late, 20, is_end=False)
    assert found.p_value == 20 / 1000
    # with a share of `low`, the 20th would come so early in 2.5 % of cases; with one of `high`, so late
    assert 1 - binom.cdf(19, 1000, found.low) == pytest.approx(0.025, rel=1e-6)
    assert binom.cdf(19, 999, found.high) == pytest.approx(0.025, rel=1e-6)


def test_stretches_are_the_same_for_any_number_of_draws():
    assert stretches(50) == [0, 50]
    assert stretches(199) == [0, 199]
    assert stretches(2500) == [0, 199, 1000, 2000, 2500]
    assert stretches(9999)[:4] == stretches(99_999)[:4]


def test_each_tail_of_a_two_sided_test_is_stopped_by_itself():
    """The tail with many draws ends no test of the one with few."""
    values = np.linspace(0, 1, 24) ** 3

    def statistic(labels):
        return labels @ values

    options = {"sizes": [12, 12], "exact": 0, "draws": 6000, "seed": 3}
    greater = permutation_test(statistic, alternative="greater", stop=20, **options)
    less = permutation_test(statistic, alternative="less", stop=20, **options)
    both = permutation_test(statistic, alternative="two-sided", stop=20, **options)
    assert both.p_value == pytest.approx(min(1, 2 * min(greater.p_value, less.p_value)))
    assert both.draws == max(greater.draws, less.draws)
    every = permutation_test(statistic, alternative="two-sided", stop=None, **options)
    assert every.draws == 6000
    assert every.p_value == pytest.approx(both.p_value, abs=0.02)
