"""All pairs of units tested together, and the letters that show which are not told apart."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import studentized_range

from biasgrid.statistics.pairs import compare_pairs, letters


def differing(count, pairs):
    matrix = np.zeros((count, count), dtype=bool)
    for i, j in pairs:
        matrix[i, j] = matrix[j, i] = True
    return matrix


@pytest.mark.parametrize(
    ("count", "pairs", "expected"),
    [
        (3, [], ["a", "a", "a"]),
        (3, [(0, 1), (0, 2), (1, 2)], ["a", "b", "c"]),
        # like its neighbours, which differ: not transitive
        (3, [(0, 2)], ["a", "ab", "b"]),
        (4, [(0, 2), (0, 3), (1, 3)], ["a", "ab", "bc", "c"]),
        (1, [], ["a"]),
        (0, [], []),
    ],
)
def test_units_that_do_not_differ_share_a_letter(count, pairs, expected):
    assert letters(differing(count, pairs)) == expected


@given(
    st.integers(2, 7).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.sampled_from(list(combinations(range(n), 2)))))
    )
)
def test_two_units_share_a_letter_if_and_only_if_they_do_not_differ(case):
    count, pairs = case
    given_letters = letters(differing(count, pairs))
    for i, j in combinations(range(count), 2):
        assert bool(set(given_letters[i]) & set(given_letters[j])) == ((i, j) not in pairs)
    # no letter is too many: none is held by units that all hold another one, too
    holders = {}
    for unit, text in enumerate(given_letters):
        for letter in text:
            holders.setdefault(letter, set()).add(unit)
    assert not any(a <= b for a in holders.values() for b in holders.values() if a is not b)


def test_more_groups_than_letters_are_numbered():
    # a chain: each unit is like its neighbours alone
    count = 40
    near = set(pairwise(range(count)))
    given_letters = letters(differing(count, [p for p in combinations(range(count), 2) if p not in near]))
    assert given_letters[0] == "a"
    assert given_letters[26] == "za1"
    assert given_letters[-1] == "m1"


def test_simultaneous_intervals_are_tukeys_for_independent_normal_units():
    """Of k independent units with the same standard error, the largest studentised difference is a studentised range
    (Tukey 1953), here over the square root of 2."""
    rng = np.random.default_rng(1)
    values = np.array([0.0, 0.1, 2.0, 2.2, 7.0])
    resampled = values[:, None] + rng.normal(size=(5, 200_000))
    pairs = compare_pairs(values, resampled, 0.95)
    reach = studentized_range.ppf(0.95, 5, np.inf)
    assert (pairs.high - pairs.difference) == pytest.approx(np.full(10, reach), rel=0.02)
    expected = studentized_range.sf(np.abs(pairs.difference), 5, np.inf)
    assert pairs.p_adjusted == pytest.approx(expected, abs=0.01)


def test_units_that_vary_together_are_told_apart_by_less():
    rng = np.random.default_rng(2)
    values, common = np.array([0.0, 1.0, 1.0]), rng.normal(size=500)
    alone = compare_pairs(values, values[:, None] + rng.normal(size=(3, 500)))
    together = compare_pairs(values, values[:, None] + common + 0.1 * rng.normal(size=(3, 500)))
    assert alone.p_adjusted[0] > 0.05
    assert together.p_adjusted[0] == pytest.approx(1 / 501)
    # no p-value is lower than draws allow
    assert together.p_adjusted.min() >= 1 / 501


def test_no_two_equal_units_are_told_apart_more_often_than_promised():
    """Simulation: five equal units, each the mean of 25 values; resampled by an ordinary bootstrap of the values."""
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(400):
        sample = rng.normal(size=(5, 25)) + rng.normal(size=25)
        drawn = rng.integers(25, size=(300, 25))
        pairs = compare_pairs(sample.mean(axis=1), sample[:, drawn].mean(axis=2))
        wrong += bool((pairs.p_adjusted <= 0.05).any())
    # .05, and what a bootstrap of 25 values and 400 simulations may add
    assert wrong / 400 <= 0.1


def test_units_without_a_value_and_resamples_without_one_are_left_out():
    rng = np.random.default_rng(4)
    values = np.array([0.0, np.nan, 9.0])
    resampled = values[:, None] + rng.normal(size=(3, 300))
    resampled[0, :100] = np.nan
    pairs = compare_pairs(values, resampled)
    assert np.isnan(pairs.p_adjusted).tolist() == [True, False, True]
    assert pairs.p_adjusted[1] < 0.05
    assert np.isnan(compare_pairs(np.full(3, np.nan), resampled).p_adjusted).all()
    assert len(compare_pairs(np.array([1.0]), resampled[:1]).p_adjusted) == 0


def test_what_does_not_vary_is_equal_or_not():
    values = np.array([1.0, 1.0, 2.0])
    pairs = compare_pairs(values, np.repeat(values[:, None], 99, axis=1))
    assert pairs.p_adjusted.tolist() == [1.0, 0.01, 0.01]
