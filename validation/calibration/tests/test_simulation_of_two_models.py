"""A small form of the simulation of two models: levels hold, and known effects are found."""

import math

import numpy as np
import pytest
from scipy import stats

from biasgrid.measure.statistics.two_models import compare_two
from validation.calibration.two_models import (
    FIRST,
    SECOND,
    TESTS,
    chosen_for_these,
    clusters_of,
    compare_tests,
    draw,
    find_neutral,
    holm,
    made_population,
    measure,
    summarise,
)

RUNS = 800
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def population():
    return made_population()


def samples(population, **options):
    rng = np.random.default_rng(3)
    return [draw(population, 12, RUNS, rng, **options)]


def test_chosen_tests_hold_their_level_and_find_differences(population):
    for claim, tests in TESTS.items():
        for is_shared in (True, False):
            numbers = measure(samples(population, is_shared=is_shared), next(iter(tests.values())))
            # a limit of 6 %, and three Monte Carlo errors
            assert numbers["family_error"] <= 0.06 + 3 * math.sqrt(0.06 * 0.94 / RUNS), claim
            assert numbers["alike_at_margin"] <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / RUNS), claim
            assert numbers["covers"] >= 0.93
            assert numbers["power_0.5"] < numbers["power_1"] < numbers["power_2"]


def test_power_at_the_smallest_difference_is_eighty_percent(population):
    numbers = measure(samples(population, is_normal=True), chosen_for_these)
    assert numbers["power_at_smallest"] == pytest.approx(0.8, abs=0.06)


def test_words_vary_as_their_contributions_say(population):
    sample = samples(population)[0]
    differences = sample.errors.mean(axis=2)[:, FIRST] - sample.errors.mean(axis=2)[:, SECOND]
    assert differences.var(axis=0) == pytest.approx(sample.variance.mean(axis=0), rel=0.2)


def test_simulated_test_equals_the_comparison_of_one_pair(population):
    # standard errors of independent words: the same p-value as that of one pair by itself
    sample = samples(population, is_shared=False)[0]
    outcome = chosen_for_these(sample)
    error = math.sqrt(sample.variance[0, 0] * 12)
    scores = sample.errors[0]
    one = compare_two(scores[0], scores[1], np.full(12, error), np.zeros(12), words=sample.words)
    assert one.these.p == pytest.approx(outcome.p[0, 0], rel=1e-9)


def test_holm_multiplies_by_the_tests_left():
    p = np.array([[0.01, 0.04, 0.03], [0.5, 0.2, 0.9]])
    assert holm(p).tolist() == [pytest.approx([0.03, 0.06, 0.06]), pytest.approx([1, 0.6, 1])]


def test_clusters_join_through_others():
    assert clusters_of([["a"], ["b"], ["a", "c"], ["c"], ["d"]]).tolist() == [0, 1, 0, 0, 2]


def test_t_of_queries_equals_scipy(population):
    sample = samples(population, is_shared=False)[0]
    outcome = TESTS["other queries"]["t of queries"](sample)
    expected = stats.ttest_rel(sample.scores[:, 0], sample.scores[:, 1], axis=1).pvalue
    assert outcome.p[:, 0] == pytest.approx(expected, rel=1e-9)


def test_tables_have_all_tests_and_designs(population):
    found = compare_tests([population], 40, queries=(12,))
    assert set(found["design"]) == {"shared", "independent", "made"}
    table = summarise(found, 40)
    assert len(table) == sum(map(len, TESTS.values()))
    neutral = find_neutral([population], 40, queries=(12,))
    exact = neutral[neutral["neutral"] == "exact"].set_index(["claim", "rivals_mean"])["found"]
    assert exact["these queries", 1.0] >= exact["these queries", 0.0] >= 0.5
