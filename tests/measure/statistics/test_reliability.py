"""Reliability against printed examples: Shrout and Fleiss 1979, McGraw and Wong 1996, Brennan 2001."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from biasgrid.measure.statistics.internal_consistency import (
    all_splits,
    alpha,
    correlations,
    count_splits,
    random_split,
    spearman_brown,
    split_half,
    times_for,
)
from biasgrid.measure.statistics.intraclass import icc_agreement, icc_consistency
from biasgrid.measure.statistics.mean_squares import f_quantiles, mean_squares

SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)


def digits(text):
    return np.array([[int(digit) for digit in row] for row in text.split()], float)


BRENNAN_1 = digits(
    """101000000000 111001000000 111110000000 110110010000 111110100000
    111011100000 111111100000 111101111100 111111111110 111111111111"""
)
BRENNAN_3 = digits(
    "26752555 45676757 55465455 59865776 43564564 44476478 26652775 34456664 05455553 68766886"
)


def near(expected):
    return pytest.approx(expected, abs=6e-7)


def test_shrout_and_fleiss():
    assert mean_squares(SHROUT_FLEISS) == near((11.241667, 32.486111, 1.019444))
    assert icc_agreement(SHROUT_FLEISS) == near((0.289764, 0.018787, 0.761084))
    assert icc_consistency(SHROUT_FLEISS) == near((0.714841, 0.342465, 0.945858))
    assert alpha(SHROUT_FLEISS) == near((0.909316, 0.675675, 0.985892))


def test_raters_with_other_means_are_consistent_and_do_not_agree():
    pairs = np.array([[2, 4], [4, 6], [6, 8]], float)
    assert icc_consistency(pairs).value == near(1)
    assert icc_agreement(pairs).value == near(2 / 3)


def test_brennan_1():
    assert mean_squares(BRENNAN_1) == near((0.815741, 0.881061, 0.126852))
    assert alpha(BRENNAN_1) == near((0.844495, 0.650854, 0.954318))
    assert icc_consistency(BRENNAN_1).value == near(0.311558)
    assert icc_agreement(BRENNAN_1).value == near(0.221070)


def test_brennan_3_as_persons_by_items():
    # its items and occasions as columns of their own: their sums of squares add up
    expected = (62.2 / 9, (37.45 + 3.2 + 7.5) / 7, (56.3 + 12.05 + 25.25) / 63)
    assert mean_squares(BRENNAN_3) == pytest.approx(expected, rel=1e-12)


def test_the_feldt_interval_of_published_coefficients():
    for value, n, k, ends in ((0.83, 100, 20, (0.777648, 0.874804)), (0.85, 89, 7, (0.797065, 0.893167))):
        low, high = f_quantiles(n - 1, (n - 1) * (k - 1), 0.95)
        assert (1 - (1 - value) * high, 1 - (1 - value) * low) == near(ends)


def halves(table, splits):
    first = [table[:, half].sum(axis=1) for half, _ in splits]
    return np.array(first), np.array([table[:, rest].sum(axis=1) for _, rest in splits])


def covers(estimate, truth):
    return (estimate.low <= truth) & (estimate.high >= truth)


def equal_splits(k):
    return [
        (half, tuple(sorted({*range(k)} - {*half}))) for half in combinations(range(k), k // 2) if 0 in half
    ]


def test_splits():
    first, second = halves(SHROUT_FLEISS, equal_splits(4))
    stepped_up = spearman_brown(correlations(first, second))
    assert stepped_up == near((0.938036, 0.939719, 0.887164))
    first, second = halves(BRENNAN_1, equal_splits(12))
    assert len(first) == 462
    stepped_up = spearman_brown(correlations(first, second))
    assert (stepped_up.mean(), np.median(stepped_up)) == near((0.862375, 0.874904))
    assert (stepped_up.min(), stepped_up.max()) == near((0.625745, 0.977986))
    value, low, high, mc_error, correlation = split_half(first, second, 12, True)
    assert mc_error == 0
    assert correlation == pytest.approx(correlations(first, second).mean())
    assert value == pytest.approx(0.866370, abs=1e-6)
    assert (1 - low) / (1 - value) == pytest.approx((1 - 0.650854) / (1 - 0.844495), rel=2e-5)  # Feldt's
    assert (1 - high) / (1 - value) == pytest.approx((1 - 0.954318) / (1 - 0.844495), rel=2e-5)


def test_each_split_is_listed_once():
    assert [count_splits(sizes) for sizes in ([4], [5], [12], [4, 4], [2, 3, 1])] == [3, 15, 462, 18, 6]
    for sizes in ([4], [5], [4, 5], [2, 2, 3]):
        splits = all_splits(sizes)
        keys = {tuple((*map(tuple, halves),) for halves in split) for split in splits}
        swapped = {tuple(halves[::-1] for halves in key) for key in keys}
        assert len(keys) == len(splits) == count_splits(sizes)
        assert keys.isdisjoint(swapped)
        for split in splits:
            for size, (first, second) in zip(sizes, split, strict=True):
                assert len(first) == len(second) == size // 2
                assert len({*first, *second}) == 2 * (size // 2)


def test_a_random_split_has_each_list_in_halves():
    rngs = [np.random.default_rng(i) for i in (1, 2)]
    drawn = [random_split([4, 5], rngs) for _ in range(300)]
    assert all(len({*first, *second}) == 4 for split in drawn for first, second in split)
    assert len({tuple(tuple(half) for halves in split for half in halves) for split in drawn}) > 100


@pytest.mark.slow
def test_the_error_of_drawn_splits_is_how_much_their_value_varies():
    rng = np.random.default_rng(5)
    table = rng.normal(size=(20, 1)) + rng.normal(size=(20, 10))
    values, errors = [], []
    for _ in range(300):
        drawn = [random_split([10], [rng])[0] for _ in range(40)]
        value, *_, error, _ = split_half(*halves(table, drawn), 10, False)
        values.append(value)
        errors.append(error)
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)


def test_halves_that_do_not_correlate_have_no_reliability():
    rng = np.random.default_rng(7)
    first = rng.normal(size=(6, 12))
    value, low, high, mc_error, correlation = split_half(first, -first, 4, False)
    assert np.isnan([value, low, high, mc_error]).all()
    assert correlation == pytest.approx(-1)


def test_a_list_so_many_times_as_long():
    assert spearman_brown(0.5, 4) == pytest.approx(0.8)
    assert times_for(0.5, 0.8) == pytest.approx(4)
    assert np.isnan(times_for(-0.1))


# 95 % intervals of `words` subjects and `items` items: the share that holds the true value
@pytest.mark.slow
@pytest.mark.parametrize(("words", "items"), [(8, 8), (30, 8), (75, 20)])
def test_intervals_cover(words, items):
    rng = np.random.default_rng(11)
    truth = items / (items + 2)  # alpha of items with twice the subjects' variance
    subjects, noise = rng.normal(size=(1500, words, 1)), rng.normal(size=(1500, words, items)) * math.sqrt(2)
    table = subjects + noise
    estimate = alpha(table)
    assert 0.93 <= covers(estimate, truth).mean() <= 0.97
    consistency = icc_consistency(table)
    assert 0.93 <= covers(consistency, 1 / 3).mean() <= 0.97
    covered = 0
    for scores in table[:400]:
        orders = [rng.permutation(items) for _ in range(10)]
        first, second = halves(scores, [(order[: items // 2], order[items // 2 :]) for order in orders])
        covered += covers(split_half(first, second, items, False), truth)
    assert 0.9 <= covered / 400 <= 0.97  # .92 of 8 words, .94 of 30


def test_subjects_that_do_not_differ_have_no_reliability():
    table = np.tile(np.arange(4.0), (5, 1))
    assert np.isnan(alpha(table)).all()
    assert np.isnan(split_half(table * 0, table, 4, True)).all()
