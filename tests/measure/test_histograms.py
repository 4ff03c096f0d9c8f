"""Histograms of what tests compare a score with."""

import json
import math

import numpy as np
import pytest
from conftest import GRID_WORDS, write_text_model

from biasgrid import Query, load, metrics
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.measure.permutation import drawn_test, permutation_test


def test_an_exact_test_counts_every_permutation_once():
    """One of 41 words is in the first set, and the statistic is its place: 0 to 40, each once, in bars of width 1."""
    tested = permutation_test(lambda labels: np.argmin(labels, axis=1).astype(float), [1, 40])
    assert (tested.method, tested.partitions, tested.observed) == ("exact", 41, 0.0)
    assert tested.histogram == {
        "low": 0.0,
        "high": 40.0,
        "counts": [1] * 39 + [2],
    }  # the last bar has both its ends


@pytest.mark.parametrize(
    ("observed", "low", "high"), [(20.0, 0.0, 20.0), (-20.0, -20.0, 9.0), (4.5, 0.0, 9.0)]
)
def test_the_observed_value_lies_within(observed, low, high):
    found = drawn_test(np.arange(10.0), observed).histogram
    assert (found["low"], found["high"]) == (low, high)
    assert len(found["counts"]) == 40
    assert sum(found["counts"]) == 10
    # no bar beyond the drawn values
    width = (high - low) / 40
    edges = low + width * np.arange(40)
    beyond = (edges > 9) | (edges + width <= 0)
    assert not np.array(found["counts"])[beyond].any()


def test_undefined_values_are_in_no_bar():
    found = drawn_test(np.array([1.0, math.nan, 2.0, math.inf, 3.0]), 2.5).histogram
    assert (found["low"], found["high"], sum(found["counts"])) == (1.0, 3.0, 3)


@pytest.mark.parametrize(("values", "observed"), [([math.nan, math.inf], 1.0), ([1.0, 2.0], math.nan)])
def test_without_numbers_there_is_none(values, observed):
    assert drawn_test(np.array(values), observed).histogram is None


@pytest.mark.parametrize("spread", [0.0, 1e-16, 5e-324])
def test_values_that_differ_by_rounding_are_one_bar(spread):
    found = drawn_test(np.array([0.5, 0.5 + spread, 0.5]), 0.5).histogram
    assert found["counts"] == [3]


def test_a_range_beyond_floats_is_one_bar():
    with np.errstate(all="ignore"):
        assert drawn_test(np.array([-1e308, 1e308]), 1.0).histogram["counts"] == [2]


def test_the_histograms_of_a_score_are_those_of_its_null_distributions(tmp_path):
    """Of an exact permutation test and of one of random groups, to the value; and a file can hold them."""
    words = [f"{word}{i}" for word in GRID_WORDS for i in range(12)]
    model = load(write_text_model(tmp_path / "m.txt", words, seed=4))
    query = Query({"A": words[:4], "B": words[4:8]}, {"C": words[8:16], "D": words[16:24]})
    nulls = {}
    (result,), _ = infer_query(
        MeasurementSpec(
            metrics.REGISTRY["weat"], inference={"permutation": {}, "random_groups": {"draws": 99}}
        ),
        query,
        model,
        nulls=nulls,
    )
    for test, method in (("permutation", "exact"), ("random_groups", "drawn")):
        found, values = result[test], nulls[query.name][test]
        assert found["method"] == method
        ends = min(values.min(), found["observed"]), max(values.max(), found["observed"])
        assert (found["histogram"]["low"], found["histogram"]["high"]) == ends
        counts, _ = np.histogram(values, 40, ends)
        assert found["histogram"]["counts"] == counts.tolist()
        assert json.loads(json.dumps(found["histogram"])) == found["histogram"]
