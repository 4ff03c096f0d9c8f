"""Standardised bias: a score beside random groups of its model."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from biasgrid.measure.statistics.scale import Scale

# distances from 1: .2, .1, .3, .05
VALUES, NEUTRAL = np.array([0.8, 1.1, 1.3, 0.95]), 1.0
MEAN, SD = 0.1625, np.std([0.2, 0.1, 0.3, 0.05])


def test_a_score_is_so_many_standard_deviations_further_than_random_groups():
    scale = Scale.of(VALUES, np.arange(4), NEUTRAL)
    assert (scale.mean, scale.sd, scale.draws, scale.topics) == (pytest.approx(MEAN), pytest.approx(SD), 4, 4)
    for value in (0.75, 1.25):
        assert scale.read(value).value == pytest.approx((0.25 - MEAN) / SD)
    assert scale.read(1.0).value == pytest.approx(-MEAN / SD)


@pytest.mark.slow
def test_the_monte_carlo_error_is_that_of_new_random_groups():
    """Of independent random groups, and of ten times as many of which ten each are the same."""
    rng = np.random.default_rng(0)
    for repeats in (1, 10):
        topics = rng.normal(size=(4000, 200))
        values, seeds = np.repeat(topics, repeats, axis=1), np.repeat(np.arange(200), repeats)
        reads = [Scale.of(of_study, seeds, 0.0).read(2.5) for of_study in values]
        spread = np.std([read.value for read in reads])
        errors = np.array([read.error for read in reads])
        assert np.sqrt((errors**2).mean()) == pytest.approx(spread, rel=0.05)


def test_the_variances_are_the_jackknifes():
    rng = np.random.default_rng(1)
    values, seeds = rng.normal(size=60), rng.integers(12, size=60)
    scale = Scale.of(values, seeds, 0.2)
    distances = np.abs(values - 0.2)
    without = [(distances[seeds != s].mean(), distances[seeds != s].std()) for s in range(12)]
    covariance = np.cov(np.transpose(without), ddof=0) * 11
    assert scale.variances == pytest.approx((covariance[0, 0], covariance[0, 1], covariance[1, 1]))


def test_an_interval_over_no_bias_begins_at_no_distance():
    scale = Scale(1.0, MEAN, SD, (0.0, 0.0, 0.0), 4, 4)
    read = scale.read(1.25, 0.9, 1.6)
    assert (read.low, read.high) == pytest.approx(((0 - MEAN) / SD, (0.6 - MEAN) / SD))
    read = scale.read(0.75, 0.6, 0.9)
    assert (read.low, read.high) == pytest.approx(((0.1 - MEAN) / SD, (0.4 - MEAN) / SD))
    exact = Scale(1.0, MEAN, SD, (SD**2 / 100, 0.0, 0.0), 4, 4).read(0.75, 0.75, 0.75, 0.9)
    assert exact.high - exact.value == pytest.approx(norm.ppf(0.95) / 10) == exact.value - exact.low


def test_the_monte_carlo_error_moves_the_lowest_end_by_its_whole_size():
    """No distance is below 0, so the error of the end is all that is uncertain about it."""
    variances = (4e-4, 1e-4, 9e-4)
    read = Scale(1.0, MEAN, SD, variances, 4, 4).read(1.25, 0.9, 1.6, 0.9)
    floor = -MEAN / SD
    error = math.sqrt(4e-4 + 2 * floor * 1e-4 + floor**2 * 9e-4) / SD
    assert read.low == pytest.approx(floor - norm.ppf(0.95) * error)


def test_equal_random_groups_are_no_scale():
    assert all(map(math.isnan, Scale.of(np.full(9, 0.1), np.arange(9), 0.0).read(0.5, 0.4, 0.6)))
    assert math.isnan(Scale.of(VALUES, np.arange(4), NEUTRAL).read(0.75).low)


def test_a_scale_is_the_same_from_its_record():
    scale = Scale.of(VALUES, np.arange(4), NEUTRAL)
    assert Scale.of_record({"scale": scale.record}) == scale
    assert Scale.of_record({"reason": "no vectors"}) is None
