"""The rows of the two first pictures: which marks, in which order, and what stands where there are none."""

from math import nan

import pandas as pd
import pytest
from tables_of_models import answered

from biasgrid.core.phrases import query_labels
from biasgrid.tables.conclusions.overview import (
    BASELINE,
    CANNOT_TELL,
    DISTANCE,
    MISSING_WORDS,
    bias_picture,
    models_picture,
    topic_label,
)

MODELS = ["one", "two"]


def row(query, model, value=1.0, standardized=nan, **more):
    place = {"criterion": "Gender", "query": query, "metric": "weat", "model": model, "debias": "none"}
    return place | {"value": value, "standardized": standardized, "evidence": "none", "tests": 2} | more


def picture(*rows, criteria=("Gender",), neutral=0.0):
    return bias_picture(pd.DataFrame(rows), "weat", criteria, MODELS, neutral)


def test_queries_with_most_bias_come_first_and_those_without_marks_last():
    made = picture(
        row("A wrt low", "one", standardized=-1),
        row("A wrt low", "two", standardized=2),
        row("A wrt none", "one"),
        row("A wrt lost", "one", value=nan),
        row("A wrt high", "two", standardized=3, evidence="all"),
        row("A wrt high", "one", standardized=1, debias="hard"),
        row("A wrt high", "one", standardized=9, metric="mac"),
    )
    (topic,) = made.topics
    assert made.axis == BASELINE
    assert (topic.name, topic.shared) == ("Gender", "A")
    assert [r.label for r in topic.rows] == ["high", "low", "none", "lost"]
    assert [[(m.model, m.value) for m in r.marks] for r in topic.rows] == [
        [("two", 3)],
        [("one", -1), ("two", 2)],
        [],
        [],
    ]
    assert [m.is_clear for m in made.marks] == [True, False, False]
    assert [r.missing for r in topic.rows[2:]] == ["no baseline", MISSING_WORDS]


def test_without_a_baseline_the_axis_is_the_distance_from_no_bias():
    made = picture(
        row("Q", "one", value=0.4, ci_low=0.3, ci_high=0.6),
        row("Q", "two", value=0.9, ci_low=0.4, ci_high=1.2),
        neutral={"Gender": 0.5},
    )
    assert made.axis == DISTANCE
    marks = [(round(m.value, 9), round(m.low, 9), round(m.high, 9)) for m in made.marks]
    # the interval is mirrored with the distance
    assert marks == [(0.1, -0.1, 0.2), (0.4, -0.1, 0.7)]


def test_topics_are_in_the_study_s_order_and_a_metric_without_values_has_no_picture():
    rows = [row("Q", "one", standardized=1) | {"criterion": name} for name in ("B", "A")]
    assert [topic.name for topic in picture(*rows, criteria=("A", "B")).topics] == ["A", "B"]
    assert picture(row("Q", "one", value=nan)) is None


@pytest.mark.parametrize(
    ("names", "shared", "labels"),
    [
        (["M and F wrt A and B", "M and F wrt C"], "M and F", ["A and B", "C"]),
        (["W and B wrt P", "W and H wrt P"], "W and ...", ["B: P", "H: P"]),
        (["C and I wrt P", "I and J wrt P"], "", ["C and I: P", "I and J: P"]),
        (["M and F wrt A"], "", ["M and F: A"]),
        (["a name", "another name"], "", ["a name", "another name"]),
        (["a name", "M wrt A"], "", ["a name", "M: A"]),
        ([], "", []),
    ],
)
def test_a_query_is_labelled_by_what_the_others_lack(names, shared, labels):
    assert query_labels(names) == (shared, dict(zip(names, labels, strict=True)))


VALUES = {"weat": {"one": 0.1, "two": 0.5, "three": 0.6}}
LOW = {"weat": {("one", "two"): 0.01, ("one", "three"): 0.01}}


@pytest.mark.parametrize(
    ("p_values", "more", "text", "clear"),
    [
        (LOW, {}, "Model 1 is clearly lowest", "one"),
        ({}, {}, CANNOT_TELL, None),
        ({"weat": {("two", "three"): 0.01}}, {}, "three is clearly above two", None),
        (
            {"weat": {("one", "three"): 0.01, ("two", "three"): 0.01}},
            {},
            "three is clearly above Model 1 and two",
            None,
        ),
        ({}, {"why": "no baseline"}, "not compared: no baseline", None),
        ({}, {"why": "no common zero"}, "not comparable across models", None),
        ({}, {"why": "too few shared queries"}, "not compared: too few shared queries", None),
        ({}, {"bootstrap": False}, "not compared: no bootstrap", None),
    ],
)
def test_a_cell_says_what_the_comparison_of_its_models_says(p_values, more, text, clear):
    (cell,) = models_picture(answered(VALUES, p_values, **more), None, "abs_avg", {"one": "Model 1"}, 0.5)
    assert (cell.text, cell.clear, cell.axis) == (text, clear, DISTANCE)
    assert {mark.model: mark.value for mark in cell.marks} == VALUES["weat"]


def test_models_are_drawn_on_the_common_scale_if_the_metric_has_it():
    places = [("weat", "one", 1.5), ("weat", "two", nan), ("weat", "three", 0.5)]
    aggregates = pd.DataFrame(
        {"criterion": "Gender", "metric": metric, "model": model, "debias": "none", "aggregation": "abs_avg"}
        | {"standardized": value, "standardized_low": value - 1, "standardized_high": value + 1}
        | {"standardized_half_low": value - 0.3, "standardized_half_high": value + 0.3}
        | {"evidence": "all", "tests": 2}
        for metric, model, value in places
    )
    (cell,) = models_picture(answered(VALUES), aggregates, "abs_avg", {}, 0.5)
    assert cell.axis == BASELINE
    assert {(m.model, m.value, m.low, m.high, m.half_low, m.half_high) for m in cell.marks} == {
        ("one", 1.5, 0.5, 2.5, 1.2, 1.8),
        ("three", 0.5, -0.5, 1.5, 0.2, 0.8),
    }
    # one model alone is not compared
    assert models_picture(answered({"weat": {"one": 0.1}}), aggregates, "abs_avg", {}, 0.5) == []


def test_all_topics_together_have_a_name():
    assert topic_label("Overall") == "All topics"
    assert topic_label("Gender") == "Gender"
