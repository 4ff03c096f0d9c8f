"""Mean standardised bias of a model: which queries count, and the interval."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from biasgrid.tables.model_pairs import StandardizedScores, compare_family, mean_of_state
from biasgrid.tables.shared import places_of

QUERIES, PARTS, DRAWS, WORDS = 6, 2, 300, 8
A, B = ("a", "none"), ("b", "none")


def two_models(seed=0):
    """Return the scores of two models on queries of two sub-queries each, their resamples, and the place."""
    rng = np.random.default_rng(seed)
    number = QUERIES * PARTS
    rows = [("Gender", f"q{row:02}", "rnd", model, "none", 0.0) for model in "ab" for row in range(number)]
    table = pd.DataFrame(rows, columns=["criterion", "query", "metric", "model", "debias", "value"])
    values = rng.normal(size=2 * number)
    # words that queries share move them together
    moves = rng.normal(size=(2 * number, DRAWS)) + np.repeat(rng.normal(size=(2, DRAWS)), number, axis=0)
    names = [[f"q{query * PARTS + part:02}" for part in range(PARTS)] for query in range(QUERIES)]
    (place, _) = places_of(table, ["Gender"], parts={"Gender": {"rnd": names}})
    return StandardizedScores(values, values[:, None] + moves, np.full(2 * number, 0.02)), moves, place


def mean_of(scores, place, state=A):
    return mean_of_state(place, state, scores, np.full(QUERIES * PARTS, float(WORDS)))


def test_the_mean_is_over_queries_and_its_interval_a_t_over_words():
    scores, moves, place = two_models()
    claim = mean_of(scores, place)
    number = QUERIES * PARTS
    assert float(claim.difference) == pytest.approx(scores.values[:number].mean())
    of_words = WORDS / (WORDS - 1) * moves[:number].mean(axis=0).var(ddof=1)
    # each of 12 baselines weighs 1 / 12
    error = math.sqrt(of_words + 0.02 / number)
    reach = t.ppf(0.975, WORDS - 1) * error
    mean = scores.values[:number].mean()
    assert (float(claim.low), float(claim.high)) == pytest.approx((mean - reach, mean + reach))
    half = mean_of_state(place, A, scores, np.full(QUERIES * PARTS, float(WORDS)), 0.5)
    reach = t.ppf(0.75, WORDS - 1) * error
    assert (float(half.low), float(half.high)) == pytest.approx((mean - reach, mean + reach))


def test_means_differ_as_pairs_of_models_do():
    scores, _, place = two_models(1)
    (row,) = compare_family(place, [(A, B)], scores, np.full(QUERIES * PARTS, float(WORDS)))
    difference = mean_of(scores, place).difference - mean_of(scores, place, B).difference
    assert row["difference"] == pytest.approx(float(difference), abs=1e-14)


def test_a_query_counts_if_all_its_sub_queries_have_a_baseline():
    scores, _, place = two_models(2)
    values = scores.values.copy()
    values[0] = math.nan
    claim = mean_of(StandardizedScores(values, scores.resamples, scores.baseline_variances), place)
    assert float(claim.difference) == pytest.approx(values[PARTS : QUERIES * PARTS].mean())


def test_few_baselines_are_no_mean():
    scores, _, place = two_models(3)
    values = scores.values.copy()
    values[: QUERIES * PARTS // 2] = math.nan
    half = StandardizedScores(values, scores.resamples, scores.baseline_variances)
    assert float(mean_of(half, place).difference) == pytest.approx(values[6:12].mean())
    values[6] = math.nan
    assert mean_of(StandardizedScores(values, scores.resamples, scores.baseline_variances), place) is None
    assert mean_of(half, place, B) is not None


def test_without_a_bootstrap_there_is_a_mean_and_no_interval():
    scores, _, place = two_models(4)
    number = len(scores.values)
    claim = mean_of(StandardizedScores(scores.values, np.full(number, math.nan), np.zeros(number)), place)
    assert float(claim.difference) == pytest.approx(scores.values[: number // 2].mean())
    assert math.isnan(claim.low)
    assert math.isnan(claim.high)
