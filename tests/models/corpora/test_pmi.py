"""PMI bias and pair frequency against arithmetic, published formulas and planted truth."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy import stats
from scipy.sparse import csr_array

import biasgrid as bg
from biasgrid.models.corpus.cooccurrence import Cooccurrence

METRIC = bg.metrics.metric("pmi").function
QUERY = bg.Query([["he", "him"], ["she", "her"]], [["doctor", "nurse"]])
pytestmark = pytest.mark.filterwarnings(
    "ignore::biasgrid.LostWordsWarning", "ignore::biasgrid.NoValueWarning"
)


def pmi(text, query=QUERY, **options):
    return bg.metrics.pmi(query, text, **options)


def pair_frequency(text, query=QUERY, **options):
    return bg.metrics.pair_frequency(query, text, **options)


def test_a_word_that_the_text_lacks_occurs_no_time():
    text = corpus(["he doctor"] * 3 + ["he sat", "she doctor", "she sat"])
    few = bg.Query([["he", "him", "his"], ["she"]], [["doctor", "nurse", "surgeon", "lawyer"]])
    assert pmi(text, few).value == pytest.approx(math.log((3 / 4) / (1 / 2)))
    assert pmi(text, few).lost["Attribute set 0"] == ["nurse", "surgeon", "lawyer"]
    none = bg.Query([["he"], ["she"]], [["nurse"]])
    assert pmi(text, none).status == "lost_words:Attribute set 0"


def corpus(lines, **options):
    return bg.load(lines, kind="corpus", **options)


def of_counts(first, first_words, second, second_words, both=0):
    """A text with so many sentences of the first group, of these with the words, and of the second; in `both` more
    the words stand beside both groups."""
    return corpus(
        ["he doctor"] * first_words
        + ["he sat"] * (first - first_words)
        + ["she nurse"] * second_words
        + ["she sat"] * (second - second_words)
        + ["he she doctor"] * both
        + ["a doctor"] * 3
    )


def test_the_value_is_the_printed_formula():
    # specs: 30 of 100 against 10 of 100 is log 3 as shares, log((30 / 70) / (10 / 90)) as odds
    text = of_counts(100, 30, 100, 10)
    assert pmi(text).value == pytest.approx(1.0986, abs=5e-5)
    assert pmi(text, estimator="odds_ratio").value == pytest.approx(1.3499, abs=5e-5)
    result = pmi(text, smoothing=0.5)
    assert result.value == pytest.approx(math.log((30.5 / 101) / (10.5 / 101)))
    assert result.scalars["units"] == 203
    names = ["units_first", "units_first_words", "units_second", "units_second_words"]
    assert [result.scalars[name] for name in names] == [100, 30, 100, 10]


def test_a_sentence_counts_once_whatever_words_it_has():
    text = corpus(["he him doctor doctor nurse", "he sat", "she doctor", "her sat", "she sat", "her sat"])
    assert pmi(text).value == pytest.approx(math.log((1 / 2) / (1 / 4)))


def test_each_words_own_value_is_that_of_a_query_of_it():
    text = corpus(["he doctor", "he nurse", "he doctor", "him sat", "she nurse", "she nurse", "her doctor"])
    by_word = pmi(text).detail["pmi_by_word"]["Attribute set 0"]
    for word in ("doctor", "nurse"):
        alone = bg.metrics.pmi(bg.Query([["he", "him"], ["she", "her"]], [[word]]), text).value
        assert by_word[word] == pytest.approx(alone)


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 30), st.integers(0, 30))
def test_the_interval_is_katz_and_woolfs_where_no_sentence_has_both_groups(
    with_first, with_second, more, others
):
    assume(more > 0 and others > 0)
    n1, n2 = with_first + more, with_second + others
    text = of_counts(n1, with_first, n2, with_second)
    # Katz et al. 1978
    katz = math.sqrt(1 / with_first - 1 / n1 + 1 / with_second - 1 / n2)
    result = pmi(text)
    assert result.scalars["standard_error"] == pytest.approx(katz)
    assert result.scalars["ci_high"] - result.value == pytest.approx(stats.norm.ppf(0.975) * katz)
    # Woolf 1955, as SciPy has it
    result = pmi(text, estimator="odds_ratio")
    table = stats.contingency.odds_ratio([[with_first, more], [with_second, others]], kind="sample")
    ends = np.log(table.confidence_interval(0.95))
    assert [result.scalars["ci_low"], result.scalars["ci_high"]] == pytest.approx(ends.tolist())


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(0, 5))
def test_groups_and_estimators_mirror_each_other(a, b, c, d, both):
    text = of_counts(a + b, a, c + d, c, both)
    turned = bg.Query([["she", "her"], ["he", "him"]], [["doctor", "nurse"]])
    for options in ({}, {"estimator": "odds_ratio"}, {"smoothing": 0.5}):
        result, mirrored = (pmi(text, query, **options) for query in (QUERY, turned))
        assert result.value == pytest.approx(-mirrored.value)
        assert result.scalars["standard_error"] == pytest.approx(mirrored.scalars["standard_error"])
    share, other = (pair_frequency(text, query) for query in (QUERY, turned))
    assert share.value + other.value == pytest.approx(1)
    assert share.scalars["p_binomial"] == pytest.approx(other.scalars["p_binomial"])


def test_words_that_no_sentence_has_beside_a_group_have_no_value():
    text = of_counts(10, 3, 10, 0)
    result = pmi(text)
    assert result.status == "degenerate"
    assert math.isnan(result.scalars["standard_error"])
    smoothed = pmi(text, smoothing=0.5)
    assert smoothed.value == pytest.approx(math.log(3.5 / 0.5))
    assert math.isfinite(smoothed.scalars["standard_error"])
    assert pair_frequency(text).value == 1


def test_pair_frequency_has_the_binomial_test_of_scipy():
    for first, second in ((30, 10), (10, 30), (7, 7), (1, 0), (123, 100)):
        result = pair_frequency(of_counts(200, first, 200, second))
        assert result.value == pytest.approx(first / (first + second))
        assert result.scalars["p_binomial"] == pytest.approx(
            stats.binomtest(first, first + second, 0.5).pvalue
        )


@pytest.mark.filterwarnings("ignore:.*cannot be small")
def test_the_permutation_test_deals_the_groups_words_out():
    lines = {"he": "doctor", "him": "doctor", "she": "nurse sat", "her": "sat"}
    text = corpus([f"{word} {rest}" for word, rest in lines.items() for _ in range(5)] + ["her doctor"] * 2)
    query = bg.Query([["he", "him"], ["she", "her"]], [["doctor"]])
    result = bg.metrics.pmi(query, text, permutation=True)
    # the six ways to deal four words out, by hand: log of (n_1x / n_1) / (n_2x / n_2)
    units, with_words = {"he": 5, "him": 5, "she": 5, "her": 7}, {"he": 5, "him": 5, "she": 0, "her": 2}
    values = []
    for first in (
        ("he", "him"),
        ("he", "she"),
        ("he", "her"),
        ("him", "she"),
        ("him", "her"),
        ("she", "her"),
    ):
        second = [word for word in units if word not in first]
        shares = [
            sum(with_words[w] for w in group) / sum(units[w] for w in group) for group in (first, second)
        ]
        values.append(math.log(shares[0] / shares[1]) if shares[1] else math.inf)
    extreme = (
        sum(value >= values[0] - 1e-12 for value in values),
        sum(value <= values[0] + 1e-12 for value in values),
    )
    assert result.value == pytest.approx(values[0])
    assert result.p_value == pytest.approx(min(2 * min(extreme) / 6, 1))
    assert result.inference["permutation"]["method"] == "exact"


def test_an_infinite_permutation_is_more_extreme_and_makes_no_test_impossible():
    # dealt out otherwise, one group stands beside the words alone: the logarithm of nothing
    text = corpus(["he doctor"] * 4 + ["him doctor", "him sat", "she sat", "her sat", "her doctor"])
    query = bg.Query([["he", "him"], ["she", "her"]], [["doctor"]])
    result = bg.metrics.pmi(query, text, permutation=True)
    assert 0 < result.p_value <= 1


def test_the_bootstrap_over_sentences_agrees_with_the_delta_method():
    text = of_counts(400, 120, 300, 45, both=30)
    for metric in (pmi, pair_frequency):
        result = metric(text, bootstrap={"draws": 4000})
        of_units = result.inference["bootstrap"]["units"]
        assert of_units["standard_error"] == pytest.approx(result.scalars["standard_error"], rel=0.06)
        ends = [result.scalars["ci_low"], result.scalars["ci_high"]]
        assert of_units["percentile"] == pytest.approx(ends, abs=0.25 * result.scalars["standard_error"])


def test_influence_is_the_change_without_each_word():
    text = corpus(
        ["he doctor"] * 5 + ["him doctor"] * 2 + ["him sat"] * 9 + ["she nurse"] * 3 + ["her sat"] * 6
    )
    result = pmi(text, sensitivity=True)
    without = bg.metrics.pmi(bg.Query([["he"], ["she", "her"]], [["doctor", "nurse"]]), text).value
    influence = result.inference["influence"]["Target set 0"]["him"]
    assert influence == pytest.approx(without - result.value)


@pytest.mark.slow
def test_what_was_planted_is_in_the_interval_as_often_as_it_says():
    # sentences of either group have the words with a known probability; of he, she and doctor, these are all kinds
    kinds = csr_array(np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]], dtype=np.float32))
    one = np.ones((1, 1))
    rng = np.random.default_rng(8)
    inside, worlds = {"risk_ratio": 0, "odds_ratio": 0}, 400
    for _ in range(worlds):
        shares = rng.uniform(0.1, 0.4, 2)
        first, second = rng.binomial(150, shares)
        sentences = np.array([first, 150 - first, second, 150 - second])
        text = Cooccurrence(kinds, sentences, 300)
        for estimator, odds in (("risk_ratio", shares), ("odds_ratio", shares / (1 - shares))):
            ends = METRIC([one, one], [one], cooccurrence=text, estimator=estimator).scalars
            inside[estimator] += ends["ci_low"] <= math.log(odds[0] / odds[1]) <= ends["ci_high"]
    # 95 %, by the binomial distribution within three standard errors
    for count in inside.values():
        assert abs(count / worlds - 0.95) < 3 * math.sqrt(0.95 * 0.05 / worlds)


@pytest.mark.parametrize(
    ("option", "value"),
    [("estimator", "odds"), *(("smoothing", value) for value in (-1, math.nan, math.inf, "a", True))],
)
def test_options_that_are_not_allowed_get_one_line(option, value):
    with refused(f"{option}: ", repr(value)):
        pmi(of_counts(10, 3, 10, 2), **{option: value})
