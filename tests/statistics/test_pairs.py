"""All pairs of units tested together, and the letters that show which are not told apart."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, studentized_range, t, ttest_rel

from biasgrid.statistics.pairs import Parts, compare_pairs, letters, step_down, studentise
from biasgrid.statistics.ranks import query_parts


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


@pytest.mark.slow
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


def parts(values, words=None):
    """Of units' values of queries of one row each, (units, queries), NaN where a unit has none; `words` of resamples,
    (units, queries, draws)."""
    values = np.asarray(values, dtype=float)
    mean = np.nanmean(values, axis=1)
    count = (~np.isnan(values)).sum(axis=1, keepdims=True)
    words = np.zeros((*values.shape, 2)) if words is None else words / count[..., None]
    return Parts(mean, (values - mean[:, None]) / count, words)


def all_pairs(units):
    first, second = np.array(list(combinations(range(len(units.value)), 2))).T
    return Parts(*(a[first] for a in units)), Parts(*(a[second] for a in units))


def test_one_pair_without_noise_of_words_is_a_paired_t_test():
    rng = np.random.default_rng(1)
    values = rng.normal([[0.0], [1.2]], size=(2, 7))
    pair = compare_pairs(*all_pairs(parts(values)), level=0.9)
    expected = ttest_rel(*values)
    assert pair.difference[0] == pytest.approx(values[0].mean() - values[1].mean())
    assert pair.p_adjusted[0] == pytest.approx(expected.pvalue, abs=0.01)
    interval = expected.confidence_interval(0.9)
    assert (pair.low[0], pair.high[0]) == pytest.approx((interval.low, interval.high), abs=0.05)


def test_for_these_queries_alone_only_words_count():
    rng = np.random.default_rng(2)
    words = rng.normal(size=(2, 3, 500))
    values = np.array([[1.0, 5.0, 9.0], [0.0, 4.0, 7.0]])
    first, second = all_pairs(parts(values, words))
    pair = compare_pairs(first, second, of_queries=False)
    error = (words[0] - words[1]).mean(axis=0).std(ddof=1)
    assert pair.p_adjusted[0] == pytest.approx(2 * norm.sf(4 / 3 / error), abs=0.01)
    # of three words, the variance of resamples is 2 / 3 of what it should be, and has 2 degrees of freedom
    few = compare_pairs(first, second, words=3, of_queries=False)
    assert few.p_adjusted[0] == pytest.approx(2 * t.sf(4 / 3 / (error * np.sqrt(1.5)), 2), abs=0.01)


def test_of_clusters_of_one_size_it_is_a_paired_t_test_of_their_means():
    rng = np.random.default_rng(4)
    values = rng.normal([[0.0], [1.0]], size=(2, 18)) + rng.normal(size=(2, 6)).repeat(3, axis=1)
    clusters = np.arange(18) // 3
    units = [query_parts(row, np.tile(row[:, None], 2), clusters, 6, 0.0, "avg", "value") for row in values]
    first, second = (Parts(*(np.asarray(a)[None] for a in unit)) for unit in units)
    pair = compare_pairs(first, second, sizes=3)
    expected = ttest_rel(*values.reshape(2, 6, 3).mean(axis=2))
    assert pair.difference[0] == pytest.approx(values[0].mean() - values[1].mean())
    assert pair.p_adjusted[0] == pytest.approx(expected.pvalue, abs=0.01)
    # one query to a cluster says nothing new
    alone = compare_pairs(first, second)
    assert all(np.array_equal(a, b) for a, b in zip(alone, pair, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(1, 2, 2, 1, 1), (5, 1, 1, 1, 1, 1)])
def test_a_mean_over_queries_of_unequal_clusters_has_its_variance_and_level(sizes):
    """Queries of a cluster are alike: their mean has the variance of clusters' values times the sum of squared
    shares, by hand. Were clusters of one size, it would be theirs over the number of clusters, which is less."""
    rng = np.random.default_rng(5)
    clusters, shares = np.arange(len(sizes)).repeat(sizes), np.array(sizes) / sum(sizes)
    variances, p_values = [], []
    for seed in range(600):
        units = []
        for row in rng.normal(size=(2, len(sizes))).repeat(sizes, axis=1):
            part = query_parts(row, np.tile(row[:, None], 2), clusters, len(sizes), 0.0, "avg", "value")
            units.append(Parts(*(np.asarray(a)[None] for a in part)))
        found = studentise(*units, sizes=np.array([sizes]), draws=199, seed=seed)
        variances.append(found.error[0] ** 2)
        p_values.append(step_down(found.t, found.null, 0.95)[0][0])
    assert np.mean(variances) == pytest.approx(2 * (shares**2).sum(), rel=0.1)
    # 600 p-values: two standard errors of .05 are .018
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=0.02)


@pytest.mark.slow
def test_noise_of_words_is_counted_once():
    """Queries have noise of words of their own and of words that they share; resamples of words say how large both
    are, up to the factor that words are few. The expected variance of a mean of 6 queries is by hand."""
    rng = np.random.default_rng(3)
    between, own, shared, count = 1.0, 2.0, 0.5, 6
    variances = []
    for _ in range(800):
        values = rng.normal(size=(2, count)) * np.sqrt(between + own) + rng.normal(size=(2, 1)) * np.sqrt(
            shared
        )
        words = rng.normal(size=(2, count, 200)) * np.sqrt(own) + rng.normal(size=(2, 1, 200)) * np.sqrt(
            shared
        )
        variances.append(studentise(*all_pairs(parts(values, words)), draws=1).error[0] ** 2)
    assert np.mean(variances) == pytest.approx(2 * ((between + own) / count + shared), rel=0.05)


@pytest.mark.slow
def test_the_largest_t_is_tukeys_range():
    """Of k units with one variance between queries, the largest t is a studentised range (Tukey 1953) over the square
    root of 2."""
    rng = np.random.default_rng(4)
    units = parts(rng.normal(size=(5, 200)) + rng.normal(size=200))
    null = studentise(*all_pairs(units), draws=9999).null
    reach = np.quantile(null.max(axis=1), 0.95)
    assert reach == pytest.approx(studentized_range.ppf(0.95, 5, 4 * 199) / np.sqrt(2), rel=0.03)


def test_all_pairs_have_the_mean_of_their_variances():
    values = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [2.0, 0.0, 4.0]])
    variances = [np.var(values[i] - values[j], ddof=1) / 3 for i, j in ((0, 1), (0, 2), (1, 2))]
    error = studentise(*all_pairs(parts(values)), draws=1).error
    assert error**2 == pytest.approx([np.mean(variances)] * 3)
    error = studentise(*all_pairs(parts(values)), own_share=1.0, draws=1).error
    assert error**2 == pytest.approx(variances)


def test_queries_are_a_sample_of_their_criterion_s():
    values = np.array([[1.0, 2.0, 4.0, 11.0, 15.0], np.zeros(5)])
    strata = np.array(["a", "a", "a", "b", "b"])
    error = studentise(*all_pairs(parts(values)), strata=strata, draws=1).error
    # a stratified mean: each stratum's share squared, times its variance over its size
    expected = 0.6**2 * np.var(values[0, :3], ddof=1) / 3 + 0.4**2 * np.var(values[0, 3:], ddof=1) / 2
    assert error[0] ** 2 == pytest.approx(expected)
    # one query says nothing of its criterion's variance: all are one sample
    alone = studentise(*all_pairs(parts(values)), strata=np.array(["a"] * 4 + ["b"]), draws=1).error
    assert alone[0] ** 2 == pytest.approx(np.var(values[0], ddof=1) / 5)


def test_pairs_rest_on_queries_of_their_own():
    rng = np.random.default_rng(5)
    values = rng.normal([[0.0], [0.5], [3.0]], size=(3, 8))
    first, second = parts(values[[0, 0, 1]]), parts(values[[1, 2, 2]])
    lacking = values.copy()
    lacking[:, 5:] = np.nan
    some = (
        parts(np.array([values[0], values[0], lacking[1]])),
        parts(np.array([values[1], values[2], lacking[2]])),
    )
    whole, part = studentise(first, second, own_share=1.0, draws=1), studentise(*some, own_share=1.0, draws=1)
    assert part.error[:2] == pytest.approx(whole.error[:2])
    assert part.error[2] == pytest.approx((values[1] - values[2])[:5].std(ddof=1) / np.sqrt(5))


def test_a_p_value_is_compared_with_the_pairs_that_are_not_decided_before():
    """By hand: nine draws of three pairs without a difference, and t of 3.5, 1.5 and 2.5."""
    null = np.array([[4, 1, 1], [1, 1, 3], [3, 1, 1], [1, 2, 1], [1, 1, 2], *[[1, 1, 1]] * 4], dtype=float)
    p, critical = step_down(np.array([3.5, 1.5, 2.5]), null, 0.7)
    # 4 alone is as large as 3.5; of the others, 3 alone as 2.5; of the last, 2 as 1.5
    assert p.tolist() == [0.2, 0.2, 0.2]
    # the seventh of the nine largest: of 4, 3, 3, 2, 2 and 1s; of 3, 2, 2 and 1s; of 2 and 1s
    assert critical.tolist() == [3.0, 1.0, 2.0]
    p, _ = step_down(np.array([1.5, 0.5, 2.5]), null, 0.7)
    # 4, 3, 3; of the first two 4, 3, 2; of the second alone all nine
    assert p.tolist() == [0.4, 1.0, 0.4]


def test_an_undecided_pair_had_to_exceed_half_its_interval():
    rng = np.random.default_rng(6)
    values = rng.normal([[0.0], [0.2], [4.0], [8.0]], size=(4, 9))
    before = compare_pairs(*all_pairs(parts(values)))
    assert (before.p_adjusted <= 0.05).tolist() == [False, True, True, True, True, True]
    needed = (before.high - before.low)[0] / 2
    for factor, is_decided in ((0.99, False), (1.01, True)):
        moved = values.copy()
        # the others keep their differences to the first, and all variances stay
        moved[1] += values[0].mean() - values[1].mean() - factor * needed
        after = compare_pairs(*all_pairs(parts(moved)))
        assert (after.p_adjusted[0] <= 0.05) == is_decided
        # what is decided has an interval on its side of 0
        assert (after.low[0] >= 0) == is_decided


@pytest.mark.slow
def test_no_two_equal_units_are_told_apart_more_often_than_promised():
    """Simulation: four equal units of six queries, with noise of the words that queries share."""
    rng, wrong = np.random.default_rng(7), 0
    for _ in range(400):
        values = rng.normal(size=(4, 6)) + rng.normal(size=(4, 1))
        words = np.broadcast_to(rng.normal(size=(4, 1, 200)), (4, 6, 200))
        null = studentise(*all_pairs(parts(values, words)), draws=499)
        wrong += bool((step_down(null.t, null.null, 0.95)[0] <= 0.05).any())
    # .05, and two standard errors of 400 simulations
    assert wrong / 400 <= 0.072


def test_units_without_a_value_are_left_out():
    rng = np.random.default_rng(8)
    values = rng.normal([[0.0], [0.0], [9.0]], size=(3, 6))
    units = parts(values)
    units.value[1] = np.nan
    pairs = compare_pairs(*all_pairs(units))
    assert np.isnan(pairs.p_adjusted).tolist() == [True, False, True]
    assert pairs.p_adjusted[1] < 0.05
    # nothing tells the variance between queries of one
    assert np.isnan(compare_pairs(*all_pairs(parts(values[:, :1]))).p_adjusted).all()
    none = Parts(np.empty(0), np.empty((0, 6)), np.empty((0, 6, 2)))
    assert len(compare_pairs(none, none).p_adjusted) == 0


def test_what_does_not_vary_is_equal_or_not():
    values = np.repeat([[1.0], [1.0 + 1e-15], [2.0]], 6, axis=1)
    pairs = compare_pairs(*all_pairs(parts(values)))
    assert pairs.p_adjusted.tolist() == [1.0, 1e-4, 1e-4]


def test_intervals_move_by_rounding_when_numbers_do():
    """Pairs are differences of fewer models: all but a few of the variances are 0, and their roots have no noise."""
    rng = np.random.default_rng(1)
    values, words = rng.normal(size=(6, 12)), rng.normal(size=(6, 12, 40)) / 3
    before = compare_pairs(*all_pairs(parts(values, words)), words=8)
    words *= 1 + 1e-15 * rng.normal(size=words.shape)
    after = compare_pairs(*all_pairs(parts(values, words)), words=8)
    assert after.low == pytest.approx(before.low, rel=1e-12)


def test_parts_of_an_aggregate():
    """By hand: queries 0 (two rows), 1 and 2 of the mean distance from 1."""
    scores, queries = np.array([1.5, 0.5, 3.0, 1.0]), np.array([0, 0, 1, 2])
    samples = np.array([[1.5, 1.7], [0.5, 1.1], [3.0, np.nan], [1.0, 1.4]])
    value, by_query, words = query_parts(scores, samples, queries, 4, 1.0)
    assert value == pytest.approx(0.75)
    # .5 + .5, 2 and 0 over 4 rows, less the mean for as many rows
    assert by_query == pytest.approx([(1 - 1.5) / 4, (2 - 0.75) / 4, -0.75 / 4, np.nan], nan_ok=True)
    # a resample on the other side of neutral is less than none: -.1 in place of .5
    assert words == pytest.approx(np.array([[0, (0.2 - 0.6) / 4], [0, 0], [0, 0.1], [0, 0]]))
    total = query_parts(scores, samples, queries, 4, 1.0, "abs_sum")
    assert [total.value, *total.queries[:3]] == pytest.approx([3.0, -0.5, 1.25, -0.75])
    own = query_parts(scores, samples, queries, 4, 1.0, lambda values: float(values.mean()))
    named = query_parts(scores, samples, queries, 4, 1.0, "avg")
    for ours, theirs in zip(own, named, strict=True):
        assert ours == pytest.approx(theirs, nan_ok=True)
