"""Random criteria in a small form, on models of made words."""

from itertools import chain, islice

import made_models
import numpy as np
import pandas as pd
import pytest

import biasgrid as bg
from biasgrid.study.views.frames import frame_of
from validation.calibration.random_criteria import (
    ATTRIBUTES,
    INDEPENDENT,
    OTHER,
    RAW,
    TARGETS,
    THESE,
    TOPICS,
    answers,
    draw_criteria,
    draw_pairs,
    least_biased,
    means,
    summarise,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study():
    return made_models.random_study()


def test_models_differ_by_raw_values_and_not_by_standardised_bias(study):
    table = summarise(answers([study], INDEPENDENT)).set_index(["place", "metric", "claim"])["different"]
    assert table["criterion", "mac", RAW] == 4
    assert table["criterion", "mac", THESE] == table["criterion", "mac", OTHER] == 0
    assert table["criterion", "weat", THESE] == table["criterion", "weat", OTHER] == 0


def test_scores_are_those_of_a_grid(study):
    queries = draw_criteria(INDEPENDENT, made_models.WORDS, made_models.models(), number=4, pairs=6)
    options = {
        "preprocessors": [{}],
        "random_groups": {"draws": 299, "stop": None},
        "bootstrap": {"draws": 100},
    }
    grid = bg.measure_grid(made_models.METRICS, queries, made_models.models(), progress=False, **options)
    pd.testing.assert_frame_equal(frame_of(study, "scores"), grid.frame("scores"), check_exact=True)
    pd.testing.assert_frame_equal(frame_of(study, "pairs"), grid.frame("pairs"), check_exact=True)


def test_a_topic_has_words_that_are_near_to_each_other():
    models = made_models.models()
    rng = np.random.default_rng(3)
    for words in chain(*islice(draw_pairs(TOPICS, made_models.WORDS, models, rng), 3)):
        cosines = np.zeros(len(made_models.WORDS))
        for model in models.values():
            vectors = np.asarray(model.take(made_models.WORDS, model.rows(made_models.WORDS)), dtype=float)
            of_seed = vectors[made_models.WORDS.index(words[0])]
            cosines += vectors @ of_seed / np.linalg.norm(vectors, axis=1) / np.linalg.norm(of_seed)
        nearest = [made_models.WORDS[place] for place in np.argsort(-cosines)[1:21]]
        assert len(set(words)) == 8
        assert set(words[1:]) <= set(nearest)


def test_queries_share_sets_as_they_should():
    criteria = draw_criteria(INDEPENDENT, made_models.WORDS, made_models.models(), number=2, pairs=5)
    for queries in criteria.values():
        for a in range(7):
            for b in range(a):
                first, second = queries[a], queries[b]
                same_targets = first.target_sets[0].words == second.target_sets[0].words
                same_attributes = first.attribute_sets[0].words == second.attribute_sets[0].words
                assert same_targets == (TARGETS[a] == TARGETS[b])
                assert same_attributes == (ATTRIBUTES[a] == ATTRIBUTES[b])
        for query in queries:
            sets = (*query.target_sets, *query.attribute_sets)
            assert len({word for of_set in sets for word in of_set.words}) == 4 * 8


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [((0.01, 0.04, 0.9), "a"), ((0.01, 0.06, 0.9), None), ((0.01, np.nan, 0.9), "a")],
)
def test_the_least_biased_is_below_every_model_it_compares_with(p_values, expected):
    pairs = pd.DataFrame({"model_a": ["a", "a", "b"], "model_b": ["b", "c", "c"]})
    pairs = pairs.assign(debias_a="none", debias_b="none", difference=[-1.0, -2.0, -1.0], p_adjusted=p_values)
    pairs["reason"] = ["", "no baseline" if np.isnan(p_values[1]) else "", ""]
    assert least_biased(pairs) == expected


def test_the_summary_counts_criteria():
    row = {"kind": "topics", "place": "criterion", "metric": "mac", "claim": RAW, "pairs": 6}
    rows = [
        row | {"different": True, "least_biased": "a"},
        row | {"different": True, "least_biased": "a"},
        row | {"different": True, "least_biased": "b"},
        row | {"different": False, "least_biased": ""},
        row | {"different": False, "least_biased": "", "pairs": 0},
    ]
    (counts,) = summarise(pd.DataFrame(rows)).to_dict("records")
    assert (counts["criteria"], counts["tested"], counts["different"], counts["least_biased"]) == (5, 4, 3, 3)
    assert counts["of"] == "a 2; b 1"


def test_means_take_queries_of_the_same_target_sets_together():
    row = {"kind": "topics", "metric": "mac", "model": "a", "batch": 0}
    scores = [
        row | {"query": "x and y wrt c", "standardized": 1.0},
        row | {"query": "x and y wrt d", "standardized": 3.0},
        row | {"query": "z and y wrt c", "standardized": 6.0},
        row | {"query": "x and y wrt c", "standardized": 7.0, "batch": 1},
    ]
    (found,) = means(pd.DataFrame(scores)).to_dict("records")
    # of 2, 6 and 7: mean 5, and a standard error of sqrt(7 / 3)
    assert (found["standardized"], found["targets"]) == (5.0, 3)
    assert found["standard_error"] == pytest.approx((7 / 3) ** 0.5)
