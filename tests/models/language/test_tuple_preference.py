"""Tuples of versions of a sentence: how often the first is preferred, by hand."""

import itertools
import math

import numpy as np
import pytest
from fake_models import measured
from tiny_bert import Reference, ids_of, weights_of, write_bert

import biasgrid as bg
from biasgrid import LostWordsWarning, Query, metrics
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.metrics import metric

FIRST, SECOND, THIRD = ["a x", "a y", "a z"], ["b x", "b y", "b z"], ["c x", "c y", "c z"]
SCORES = dict(zip([*FIRST, *SECOND, *THIRD], [-1, -5, -2, -2, -4, -2, -3, -4.5, -1], strict=True))
TUPLES = Query([FIRST, SECOND, THIRD], [], ["First", "Second", "Third"])


@pytest.fixture
def model(tmp_path):
    return measured(tmp_path / "m", {text: float(score) for text, score in SCORES.items()})


def test_the_share_of_comparisons_that_the_first_version_wins(model):
    result = metrics.tuple_preference(TUPLES, model)
    # the first beats both others, none of them, and neither the one that ties nor the other
    assert result.value == pytest.approx(2 / 6)
    expected = {"tuples": 3, "comparisons": 6, "preferred": 2, "ties": 1, "first": 1 / 3}
    assert {name: result.scalars[name] for name in expected} == pytest.approx(expected)
    assert result.detail["share"]["Second"] == {"b x": 0.5, "b y": 1.0, "b z": 0.0}


def test_the_exact_p_value_is_that_of_all_ways_to_choose_the_first_versions(model):
    wins = [[2, 1, 0], [0, 2, 1], [0, 0, 2]]  # of each version, by tuple
    totals = np.array([sum(choice) for choice in itertools.product(*wins)])
    expected = min(1, 2 * min((totals <= 2).mean(), (totals >= 2).mean()))
    assert metrics.tuple_preference(TUPLES, model).scalars["p_exact"] == pytest.approx(expected)


def test_of_two_versions_it_is_the_preference_of_pairs(model):
    pairs = Query([FIRST, SECOND])
    result, of_pairs = metrics.tuple_preference(pairs, model), metrics.pll_preference(pairs, model)
    assert (result.value, result.scalars["ties"]) == (of_pairs.value, of_pairs.scalars["ties"])


def test_the_interval_is_that_of_tuples_and_the_test_is_named(model):
    asked = {"permutation": {"draws": 99}, "bootstrap": {"draws": 2000}}
    (found,), values = infer_query(
        MeasurementSpec(metric("tuple_preference"), inference=asked), TUPLES, model
    )
    assert found["permutation"] == {"reason": metric("tuple_preference").no_test}
    # a tuple's share is 1, 0 or 0, and of three drawn with replacement the mean is 0 in (2/3)^3 of cases
    assert set(np.round(3 * values[0], 6)) == {0, 1, 2, 3}
    assert np.mean(values[0] == 0) == pytest.approx((2 / 3) ** 3, abs=0.05)


@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
def test_shared_tokens_are_those_of_the_two_sentences_of_a_comparison(tmp_path):
    pytest.importorskip("torch")
    lm = bg.language_model(str(write_bert(tmp_path / "bert", weights_of(6))))
    texts = ["a b c", "a d c", "a b e"]
    reference, ids = Reference(weights_of(6)), [ids_of(text) for text in texts]
    expected = []
    for other in (1, 2):
        shared = [[place] for place in (1, 2, 3) if ids[0][place] == ids[other][place]]
        expected.append(reference.score(ids[0], shared) > reference.score(ids[other], shared))
    result = metrics.tuple_preference(Query([[text] for text in texts]), lm, score="cp")
    assert result.value == np.mean(expected)
    causal = bg.language_model(lambda texts: [-1.0] * len(texts))
    assert math.isnan(metrics.tuple_preference(Query([[text] for text in texts]), causal, score="cp").value)


def test_a_tuple_is_lost_with_any_of_its_versions(tmp_path):
    scores = {text: float(score) for text, score in SCORES.items() if text != "c y"}
    with pytest.warns(LostWordsWarning):
        result = metrics.tuple_preference(TUPLES, measured(tmp_path / "m", scores))
    assert (result.value, result.scalars["tuples"]) == (0.5, 2)
