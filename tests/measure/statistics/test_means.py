"""Intervals of a mean, of a ratio of means and of a share, against arithmetic by hand and in simulations."""

import math

import numpy as np
import pytest

from biasgrid.measure.statistics.means import mean_interval, ratio_interval, share_interval


def test_a_mean_by_hand():
    # s = 1, n = 3; Student's t with 2 degrees of freedom leaves 2.5 % above 4.303
    low, high = mean_interval(np.array([1.0, 2.0, 3.0]))
    assert [low, high] == pytest.approx([2 - 4.30265 / math.sqrt(3), 2 + 4.30265 / math.sqrt(3)], rel=1e-5)
    assert np.isnan(mean_interval(np.array([1.0]))).all()
    assert np.isnan(mean_interval(np.array([]))).all()


def test_the_ends_of_a_ratio_are_where_the_t_test_rejects():
    numerator, denominator = np.array([1.0, 1.4, 0.8, 1.1]), np.array([2.0, 2.5, 2.2])
    low, high = ratio_interval(numerator, denominator)
    ratio = numerator.mean() / denominator.mean()
    assert low < ratio < high
    a, b = numerator.var(ddof=1) / 4, denominator.var(ddof=1) / 3
    c = ratio**2 * b
    freedom = (a + c) ** 2 / (a**2 / 3 + c**2 / 2)
    from scipy.stats import t

    for end in (low, high):
        statistic = (numerator.mean() - end * denominator.mean()) / math.sqrt(a + end**2 * b)
        assert abs(statistic) == pytest.approx(t.ppf(0.975, freedom))


def test_a_denominator_that_is_known_divides_the_interval_of_the_mean():
    numerator = np.array([1.0, 2.0, 3.0])
    expected = [end / 4 for end in mean_interval(numerator)]
    assert ratio_interval(numerator, np.array([4.0]), exact=True) == pytest.approx(expected)
    assert np.isnan(ratio_interval(numerator, np.array([4.0]))).all()


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [([1.0], [1.0, 2.0]), ([1.0, 2.0], [0.0, 0.0]), ([1.0, 2.0], [0.1, 2.0]), ([], [])],
)
def test_there_is_no_interval_without_two_values_or_over_what_may_be_zero(numerator, denominator):
    assert np.isnan(ratio_interval(np.array(numerator), np.array(denominator))).all()


def test_values_that_are_all_alike():
    assert ratio_interval(np.ones(3), np.full(3, 2.0)) == (0.5, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(("sd", "ratio"), [(0.05, 1.0), (0.2, 0.3), (0.15, 0.0)])
def test_intervals_cover_the_ratio(sd, ratio):
    """19 times in 20, of five values each with unequal variances; 2,000 times, so that .015 is three errors."""
    draw = np.random.default_rng(1)
    covered = 0
    for _ in range(2000):
        low, high = ratio_interval(draw.normal(ratio, sd, 5), draw.normal(1, 0.1, 5))
        covered += low <= ratio <= high
    assert covered / 2000 == pytest.approx(0.95, abs=0.02)


def test_a_share_is_as_scipy_has_it():
    from scipy.stats import binomtest

    low, high = share_interval(np.array([0, 3, 25]), 25)
    expected = [binomtest(hits, 25).proportion_ci(method="wilson") for hits in (0, 3, 25)]
    assert [*low, *high] == pytest.approx(
        [*(x.low for x in expected), *(x.high for x in expected)], abs=1e-12
    )
