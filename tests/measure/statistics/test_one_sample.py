"""Tests of a mean against independent implementations, and whether they hold their level."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from biasgrid.measure.statistics.one_sample import DRAWS, sign_flips, t_test, z_test

VALUES = st.lists(st.floats(-5, 5).map(lambda x: round(x, 3)), min_size=2, max_size=9)


@pytest.mark.slow
@given(VALUES, st.integers(-1000, 1000).map(lambda x: x / 1000))
def test_t_and_exact_sign_flips_are_scipys(values, mean):
    values = np.array(values)
    if np.ptp(values) > 1e-6:
        assert t_test(values, mean) == pytest.approx(stats.ttest_1samp(values, mean).pvalue, abs=1e-12)
    # scipy doubles the smaller tail, which is the same where no flip leaves the mean as it is
    flipped = stats.permutation_test(
        (values - mean,),
        lambda x, axis: abs(x.sum(axis=axis)),
        permutation_type="samples",
        alternative="greater",
        n_resamples=600,
    )
    assert sign_flips(values, mean) == pytest.approx(flipped.pvalue)


def test_the_z_test_is_the_thesiss_arithmetic():
    # mean 2, sd 2 / sqrt(2): z = (2 - 1) / (sqrt(2) / sqrt(2))
    z, p_value = z_test(np.array([1.0, 3.0]), 1.0)
    assert z == pytest.approx(1)
    assert p_value == pytest.approx(0.31731, abs=1e-5)
    assert all(map(math.isnan, z_test(np.array([1.0]), 0.0)))
    assert all(map(math.isnan, z_test(np.array([1.0, 1.0]), 0.0)))


def test_the_z_test_rejects_any_values_that_are_above_the_mean():
    # 30 values of Direct Bias of pure noise, in 30 dimensions
    rng = np.random.default_rng(0)
    words = rng.normal(size=(30, 20, 30))
    noise = np.abs(words[..., 0] / np.linalg.norm(words, axis=2)).mean(axis=1)
    assert noise.mean() == pytest.approx(math.sqrt(2 / (math.pi * 30)), rel=0.05)
    assert z_test(noise, 0)[1] < 1e-85


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 10, 30])
def test_sign_flips_hold_their_level(n):
    rng = np.random.default_rng(n)
    p_values = np.array([sign_flips(rng.standard_t(3, size=n), 0, seed) for seed in range(400)])
    for level in (0.05, 0.2):
        assert np.count_nonzero(p_values <= level) <= stats.binom.ppf(0.999, 400, level)
    assert p_values.min() >= (2 / 2**n if n <= 10 else 1 / (DRAWS + 1))


def test_sign_flips_of_equal_values_are_one_in_two_to_the_n_minus_one():
    assert sign_flips(np.full(8, 0.1), 0) == 2 / 2**8
    assert sign_flips(np.zeros(8), 0) == 1
    assert math.isnan(sign_flips(np.array([]), 0))
