"""Comparisons of two models against scipy's tests and closed forms, and what third models may change."""

import math

import numpy as np
import pytest
from scipy import stats

from biasgrid.measure.statistics.two_models import (
    ALIKE,
    CANNOT_TELL,
    DIFFERENT,
    FEW_CLUSTERS,
    Claim,
    answers,
    compare_two,
    other_queries,
    queries_needed,
    smallest_difference,
    these_queries,
    words_needed,
)

NAN = Claim(*[np.full((), math.nan)] * 8)


def models(queries=8, draws=400, shift=0.0, seed=0):
    """Scores and resamples of two models."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, queries))
    words = rng.normal(size=(2, queries, draws))
    return a + shift, b, words[0] + (a + shift)[:, None], words[1] + b[:, None]


def test_these_queries_equal_a_t_test_of_resamples():
    a, b, words_a, words_b = models()
    these = compare_two(a, b, words_a, words_b, words=8).these
    # resamples of 8 words vary by 7/8 of the variance of a mean of 8 words
    error = np.std((words_a - words_b).mean(axis=0), ddof=1) * math.sqrt(8 / 7)
    assert these.difference == pytest.approx(a.mean() - b.mean(), abs=1e-12)
    assert these.error == pytest.approx(error, rel=1e-12)
    assert these.p == pytest.approx(2 * stats.t.sf(abs(a.mean() - b.mean()) / error, 7), rel=1e-10)
    low, high = stats.t.interval(0.95, 7, loc=a.mean() - b.mean(), scale=error)
    assert (these.low, these.high) == pytest.approx((low, high), rel=1e-10)


def test_standard_errors_add_up_as_of_independent_words():
    these = compare_two([1.0, 2.0], [0.0, 0.0], [0.3, 0.4], [0.0, 1.2]).these
    # sqrt(.09 + .16 + 1.44) / 2, and without a number of words the normal distribution
    assert these.error == pytest.approx(0.65)
    assert these.p == pytest.approx(math.erfc(1.5 / 0.65 / math.sqrt(2)), rel=1e-6)


def test_words_that_queries_share_make_the_error_larger():
    rng = np.random.default_rng(1)
    a, b, draws = rng.normal(size=6), rng.normal(size=6), 20_000
    shared = np.tile(rng.normal(size=draws), (6, 1))
    own = rng.normal(size=(6, draws))
    apart = compare_two(a, b, own, np.zeros((6, draws)))
    together = compare_two(a, b, shared, np.zeros((6, draws)))
    assert apart.these.error == pytest.approx(1 / math.sqrt(6), rel=0.03)
    assert together.these.error == pytest.approx(1, rel=0.03)
    # the variance of other queries has the shared words' covariance, 5/6 of it, and none for words of their own
    plain = other_queries(a - b)
    assert apart.other.high == pytest.approx(plain.high, rel=0.05)
    expected = math.sqrt((a - b).var(ddof=1) / 6 + 5 / 6)
    reach = stats.t.ppf(0.975, 3) * expected
    assert together.other.high >= np.mean(a - b) + reach * 0.97


def test_other_queries_span_the_t_tests_without_each_cluster():
    differences = np.random.default_rng(2).normal(1, 1, size=7)
    parts = [differences, *(np.delete(differences, i) for i in range(7))]
    claim = other_queries(differences)
    errors = [stats.sem(part) for part in parts]
    # seven clusters without one, and one less: 7 - 3 degrees of freedom
    p_values = [2 * stats.t.sf(abs(p.mean()) / e, 4) for p, e in zip(parts, errors, strict=True)]
    assert claim.p == pytest.approx(max(p_values), rel=1e-10)
    assert claim.p > stats.ttest_1samp(differences, 0).pvalue
    ends = [stats.t.interval(0.95, 4, loc=p.mean(), scale=e) for p, e in zip(parts, errors, strict=True)]
    assert claim.low == pytest.approx(min(low for low, _ in ends), rel=1e-10)
    assert claim.high == pytest.approx(max(high for _, high in ends), rel=1e-10)
    inner = [stats.t.interval(0.9, 4, loc=p.mean(), scale=e) for p, e in zip(parts, errors, strict=True)]
    assert claim.inner_high == pytest.approx(max(high for _, high in inner), rel=1e-10)


def test_interval_of_other_queries_excludes_zero_if_p_is_small():
    differences = np.random.default_rng(3).normal(0.8, 1, size=(500, 8))
    claim = other_queries(differences)
    excludes = (claim.low > 0) | (claim.high < 0)
    assert np.array_equal(excludes, claim.p < 0.05)
    assert 0 < excludes.mean() < 1


def test_one_cluster_cannot_decide():
    differences = np.array([0.1, -0.1, 0.2, -0.2, 0.05, 0.01, 9.0])
    assert other_queries(differences).p > 0.5
    # the sign changes without the first cluster
    assert other_queries(np.array([5.0, -1.0, -1.0, -1.0, -1.0])).p == 1


def test_clusters_are_averaged_before_the_test():
    a, b, words_a, words_b = models()
    clusters = [0, 0, 0, 1, 2, 3, 4, 4]
    found = compare_two(a, b, words_a, words_b, clusters=clusters)
    d = a - b
    means = np.array([d[:3].mean(), d[3], d[4], d[5], d[6:].mean()])
    assert found.clusters == 5
    assert found.other.difference == pytest.approx(means.mean(), abs=1e-12)
    assert found.these.difference == pytest.approx(d.mean(), abs=1e-12)


def test_too_few_clusters_are_named():
    found = compare_two(*models(), clusters=[0, 0, 1, 1, 2, 2, 3, 3])
    assert (found.clusters, found.reason) == (4, FEW_CLUSTERS)
    assert math.isnan(found.other.p)
    assert math.isnan(queries_needed(found.other, 8, 4))
    assert not math.isnan(found.these.p)


def test_swapping_the_models_changes_the_sign_alone():
    a, b, words_a, words_b = models(shift=0.7)
    one, two = compare_two(a, b, words_a, words_b, words=5), compare_two(b, a, words_b, words_a, words=5)
    for first, second in zip(one[:2], two[:2], strict=True):
        assert first.difference == pytest.approx(-second.difference, abs=1e-12)
        assert (first.low, first.p) == pytest.approx((-second.high, second.p), rel=1e-9)


def test_equal_models_without_error_are_alike():
    same = np.array([-1.3, 0.2, 1.1, 0.4, -0.3])
    resamples = np.random.default_rng(4).normal(size=(5, 100)) + same[:, None]
    found = compare_two(same, same, resamples, resamples, words=8)
    assert (found.these.p, found.other.p) == (1, 1)
    assert (found.these.low, found.these.high, found.other.high) == (0, 0, 0)
    assert [answer.answer for answer in answers([found.these])] == [ALIKE]


def test_exactly_neutral_scores_are_found():
    rng = np.random.default_rng(5)
    neutral, rival = np.full(12, -1.3), rng.normal(size=12)
    resamples = rival[:, None] + rng.normal(size=(12, 500))
    found = compare_two(neutral, rival, np.full((12, 500), -1.3), resamples, words=8)
    assert [answer.answer for answer in answers([found.these, found.other])] == [DIFFERENT, DIFFERENT]
    # two neutral models differ by nothing
    both = compare_two(neutral, neutral, np.full((12, 500), -1.3), np.full((12, 500), -1.3), words=8)
    assert (both.these.p, both.other.p) == (1, 1)


def test_third_models_change_the_adjustment_alone():
    a, b, words_a, words_b = models(shift=1.2)
    wild, wild_words = 50 * a, 50 * words_a
    pair = compare_two(a, b, words_a, words_b, words=8)
    others = [compare_two(wild, b, wild_words, words_b, words=8), compare_two(a, wild, words_a, wild_words)]
    alone = answers([pair.these])[0]
    together = answers([pair.these, *(other.these for other in others)])[0]
    assert alone.p_adjusted == pytest.approx(float(pair.these.p))
    assert together.p_adjusted <= 3 * alone.p_adjusted
    assert together.smallest_difference > alone.smallest_difference


def test_answers_adjust_by_holm_and_leave_out_pairs_without_test():
    claims = [
        Claim(*map(np.array, (d, 0.1, 30.0, d - 0.2, d + 0.2, p, d - 0.17, d + 0.17)))
        for d, p in ((1.0, 0.01), (0.3, 0.03), (0.4, 0.02))
    ]
    found = answers([claims[0], NAN, *claims[1:]])
    assert [answer.p_adjusted for answer in found] == pytest.approx([0.03, math.nan, 0.04, 0.04], nan_ok=True)
    assert [answer.answer for answer in found] == [DIFFERENT, "", DIFFERENT, DIFFERENT]
    found = answers(claims, level=0.99)
    assert [answer.answer for answer in found] == [CANNOT_TELL, ALIKE, CANNOT_TELL]
    assert answers(claims[1:2], margin=0.4, level=0.99)[0].answer == CANNOT_TELL


def test_ninety_percent_interval_within_the_margin_is_tost():
    a, b, words_a, words_b = models(queries=40)
    these = compare_two(a, b, words_a / 3, words_b / 3, words=8).these
    t = [(float(these.difference) + side * 0.5) / float(these.error) for side in (1, -1)]
    p_tost = max(stats.t.sf(t[0], 7), stats.t.cdf(t[1], 7))
    is_within = these.inner_low >= -0.5 and these.inner_high <= 0.5
    assert is_within == (p_tost <= 0.05)


def test_smallest_difference_has_eighty_percent_power():
    claim = these_queries(0.0, 0.09, words=math.inf)
    # 1.9600 + .8416 standard errors
    assert smallest_difference(claim) == pytest.approx(0.3 * 2.80159, abs=1e-4)
    difference = smallest_difference(these_queries(0.0, 0.09, words=8), pairs=6)
    limit = stats.t.ppf(1 - 0.05 / 12, 7)
    # the noncentral t-distribution has about .8 beyond the limit
    assert stats.nct.sf(limit, 7, difference / 0.3) == pytest.approx(0.8, abs=0.05)


def test_needed_numbers_see_the_margin():
    these = these_queries(0.2, 0.09, words=8)
    needed = words_needed(these, 8, margin=0.5)
    assert needed == int(needed)

    def seen(words):
        freedom = words - 1
        error = 0.3 * math.sqrt(8 / words)
        return error * (stats.t.ppf(0.975, freedom) + stats.t.ppf(0.8, freedom))

    assert seen(needed) <= 0.5 < seen(needed - 1)
    assert math.isnan(words_needed(these, math.inf))
    other = other_queries(np.random.default_rng(6).normal(size=6))
    few, many = (queries_needed(other, 12, 6, margin=margin) for margin in (2, 0.5))
    assert few < many
    assert many == pytest.approx(12 / 6 * float(other.error) ** 2 * 6 * (1.96 + 0.8416) ** 2 / 0.25, rel=0.1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"b": np.zeros(3)}, "same queries"),
        ({"words_b": np.zeros((8, 3))}, "same queries"),
        ({"clusters": [0, 1]}, "one cluster"),
        ({"b": np.full(8, math.nan)}, "value of both models"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, words):
    a, b, words_a, words_b = models()
    given = {"a": a, "b": b, "words_a": words_a, "words_b": words_b} | change
    with pytest.raises(ValueError, match=words):
        compare_two(**given)


def test_undefined_resamples_count_as_no_move():
    a, b, words_a, words_b = models()
    words_a[2, :50] = math.nan
    found = compare_two(a, b, words_a, words_b, words=8)
    assert np.isfinite(found.these[:6]).all()


def test_few_words_limit_the_degrees_of_freedom():
    differences = np.random.default_rng(7).normal(1, 1, size=30)
    assert (other_queries(differences).freedom, other_queries(differences, words=4).freedom) == (27, 6)
