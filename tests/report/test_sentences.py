"""What the page says in sentences of which model is the least biased."""

from dataclasses import replace
from math import nan

import pandas as pd
import pytest
from tables_of_models import answered, only

from biasgrid.report.drivers import drivers
from biasgrid.report.names import Names, number
from biasgrid.report.sentences import (
    of_agreement,
    of_coverage,
    of_debias,
    of_drivers,
    of_lost,
    of_metric,
    of_single,
)
from biasgrid.verdicts.agreement import agreement

LABELS = {"weat": "WEAT", "rnsb": "RNSB", "a": "Alpha", "b": "Beta", "c": "Gamma", "hard": "hard debias"}
NAMES = Names(LABELS, "abc")


def test_a_decided_model_is_called_the_least_biased():
    answer = only({"a": 0.1, "b": 0.5, "c": 0.6}, {("a", "b"): 0.01, ("a", "c"): 0.002, ("b", "c"): 0.7})
    assert of_metric(answer, NAMES) == (
        "By WEAT, Alpha is the least biased model on Gender: it differs significantly from all others (adjusted p ≤ "
        "0.01)."
    )


def test_a_first_place_that_nothing_decides_is_no_answer():
    answer = only({"a": 0.1, "b": 0.5, "c": 0.6}, {("a", "b"): 0.3, ("a", "c"): 0.06})
    assert of_metric(answer, NAMES) == (
        "By WEAT, no model can be called the least biased on Gender: Alpha comes first, but does not differ "
        "significantly from any other (adjusted p ≥ 0.06); a difference had to exceed 0.2 to be decided (7 queries)."
    )


def test_what_the_first_model_differs_from_and_what_not():
    answer = only({"a": 0.1, "b": 0.3, "c": 0.6}, {("a", "c"): 0.01, ("a", "b"): 0.3, ("b", "c"): 0.2})
    assert of_metric(answer, NAMES) == (
        "By WEAT, Alpha comes first on Gender; it differs significantly from Gamma, but not from Beta; a difference "
        "had to exceed 0.2 to be decided (7 queries)."
    )


def test_a_rival_that_it_was_not_compared_with_stands_in_the_same_sentence():
    answer = only({"a": 0.1, "b": 0.5, "c": 0.05}, {("a", "b"): 0.01}, queries={"c": 3})
    assert answer.least_biased == "a"
    assert of_metric(answer, NAMES) == (
        "By WEAT, Alpha is the least biased model on Gender: it differs significantly from Beta (adjusted p ≤ 0.01); "
        "not compared with Gamma: 3 of 7 queries."
    )
    assert of_lost([answer], NAMES) == (
        "Models that lost queries, as too many words are lost: Gamma (not ranked: 3 of 7 queries)."
    )
    assert of_lost([only({"a": 0.1, "b": 0.5})], NAMES) == ""


def test_a_p_near_the_limit_and_few_queries_are_said():
    close = only({"a": 0.1, "b": 0.5}, {("a", "b"): 0.04}, draws=500)
    assert "borderline: another seed may say otherwise" in of_metric(close, NAMES)
    assert "for these queries" in of_metric(replace(close, queries=4), NAMES)


def test_without_values_or_others_or_a_bootstrap_nothing_is_decided():
    assert of_metric(only({"a": nan, "b": nan}), NAMES) == "By WEAT, no model has a value on Gender."
    assert "nothing to compare" in of_metric(only({"a": 0.1}), NAMES)
    assert "all 2 models have the same value" in of_metric(only({"a": 0.1, "b": 0.1}), NAMES)
    without = only({"a": 0.1, "b": 0.2}, bootstrap=False)
    assert "was not tested" in of_metric(without, NAMES)
    unranked = only({"a": 0.1, "b": 0.2}, queries={"a": 2, "b": 2})
    assert of_metric(unranked, NAMES) == (
        "By WEAT, no model is ranked on Gender: fewer than two models have values on enough queries."
    )


def test_debiased_states_beside_their_own_model():
    answer = only({"a": 0.4, "b": 0.5}, {("a", "b"): 0.4}, states=[("a", 0.01, 0.01), ("b", 9.0, 0.02)])
    assert of_debias(answer, NAMES) == [
        "By WEAT, Alpha under hard debias is significantly less biased on Gender than without.",
        "By WEAT, Beta under hard debias is significantly more biased on Gender than without.",
    ]


def test_one_order_by_all_metrics_or_why_there_is_none():
    low = {pair: 0.01 for pair in (("a", "b"), ("a", "c"), ("b", "c"))}
    metrics = answered({"weat": {"a": 1, "b": 2, "c": 3}, "rnsb": {"a": 1, "c": 2, "b": 3}}, {"weat": low})
    assert "the least biased first: Alpha, Beta, Gamma" in of_agreement(agreement(metrics), NAMES, 2)
    against = answered(
        {"weat": {"a": 1, "b": 2}, "rnsb": {"b": 1, "a": 2}}, {"weat": low, "rnsb": {("b", "a"): 0.01}}
    )
    assert of_agreement(agreement(against), NAMES, 2) == (
        "There is no overall order, since metrics contradict each other: Alpha is less biased than Beta by WEAT, and "
        "more biased by RNSB."
    )
    some = answered({"weat": {"a": 1, "b": 2, "c": 3}}, {"weat": {("a", "c"): 0.01}})
    assert "decide 1 of 3 pairs" in of_agreement(agreement(some), NAMES, 2)
    none = answered({"weat": {"a": 1, "b": 2}})
    assert of_agreement(agreement(none), NAMES, 2) == (
        "There is no overall order: no metric tells any two models apart."
    )


@pytest.mark.parametrize(
    ("queries", "models", "inference", "said"),
    [
        (
            7,
            5,
            {"bootstrap": {"draws": 500, "level": 0.95}},
            ["7 queries", "500 times", "not cover other training runs"],
        ),
        (
            1,
            5,
            {"bootstrap": {"draws": 500, "level": 0.9}},
            ["1 query and the words in it", "90 %", "words alone"],
        ),
        (7, 3, {"bootstrap": {"draws": 500, "level": 0.95}}, ["With 3 models"]),
        (7, 5, {}, ["no bootstrap"]),
    ],
)
def test_each_statement_says_what_it_covers(queries, models, inference, said):
    text = " ".join(of_coverage(queries, models, inference))
    assert all(part in text for part in said), text


def scores(values):
    """scores.csv of one metric on one criterion: {query: {model: value}}."""
    rows = [("Gender", query, "weat", m, "none", v) for query, of in values.items() for m, v in of.items()]
    return pd.DataFrame(rows, columns=["criterion", "query", "metric", "model", "debias", "value"])


def driven(values):
    found = drivers(scores(values), ["Gender"], {"weat": 0.0})
    return found.get(("Gender", "weat"))


def test_the_query_on_which_models_are_furthest_from_no_bias_is_named():
    found = driven({"q1": {"a": 0.1, "b": -0.9}, "q2": {"a": 0.2, "b": 0.3}, "q3": {"a": -0.1, "b": nan}})
    # means of distances: .13 and .6
    assert {found.query} <= {"q1", "q2"}
    assert (found.models, found.models_with_value, found.decisive_queries) == (1, 2, ())
    # each model is furthest on another query: that of the first model is named
    assert of_drivers(found, NAMES) == (
        "Alpha is furthest from no bias on “q2”; no single query decides which model comes first."
    )
    both = driven({"q1": {"a": 0.5, "b": -0.9}, "q2": {"a": 0.2, "b": 0.3}})
    assert (both.query, both.models, both.models_with_value) == ("q1", 2, 2)
    assert of_drivers(both, NAMES) == (
        "Alpha is furthest from no bias on “q1”, as are 2 of 2 models; no single query decides which model comes "
        "first."
    )


def test_queries_without_which_another_model_comes_first_are_named():
    # means of distances: .4 and .5; without q1, .5 and .1; without q2, .3 and .9
    found = driven({"q1": {"a": 0.3, "b": 0.9}, "q2": {"a": 0.5, "b": 0.1}})
    assert found.decisive_queries == (("q1", "b"),)
    assert "ithout “q1”, Beta comes first" in of_drivers(found, NAMES)


def test_what_drives_a_metric_without_values_or_of_one_query_is_not_said():
    assert driven({"q1": {"a": nan, "b": nan}}) is None
    assert of_drivers(None, NAMES) == ""
    assert of_drivers(driven({"q1": {"a": 0.3, "b": 0.9}}), NAMES) == ""


def test_where_there_is_one_model_nothing_is_compared():
    assert of_single(answered({"weat": {"a": 0.1, "b": 0.5}, "rnsb": {"a": 0.1}}), NAMES) == ""
    assert of_single([only({"a": 0.1, "b": nan})], NAMES) == (
        "No metric has more than one model (Alpha): there is nothing to compare."
    )
    assert of_single([only({"a": nan})], NAMES) == "No model has a value."


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (nan, ""),
        (-0.12345, "−0.123"),
        (1234.5, "1234"),
        (123456.0, "123456"),
        (7.56e-9, "7.56 × 10⁻⁹"),
        (-2.5e12, "−2.5 × 10¹²"),
    ],
)
def test_numbers_are_written_as_people_write_them(value, text):
    assert number(value) == text
