"""Which model is called the least biased, and with which words."""

from itertools import combinations
from math import nan

import pandas as pd
import pytest

from biasgrid.report.answer import agreement, answers
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

NAMES = Names(
    {"weat": "WEAT", "rnsb": "RNSB", "a": "Alpha", "b": "Beta", "c": "Gamma", "hard": "hard debias"}
)


def tables(values, p_values, missing=None, states=()):
    """rankings.csv and pairs.csv of models by metric: {metric: {model: value}}, {metric: {(a, b): p}}."""
    rankings, pairs = [], []
    for metric, by_model in values.items():
        ranks = pd.Series(by_model).rank()
        for model, value in by_model.items():
            lost = (missing or {}).get(model, 0)
            rankings.append(("Gender", metric, model, "none", value, ranks[model], nan, nan, 7, lost))
        for a, b in combinations(by_model, 2):
            p = p_values.get(metric, {}).get((a, b), 1.0)
            pairs.append(("Gender", metric, "models", a, "none", b, "none", nan, nan, nan, p, 3))
        for model, value, rank, p in states:
            rankings.append(("Gender", metric, model, "hard", value, rank, nan, nan, 7, 0))
            pairs.append(("Gender", metric, "states", model, "hard", model, "none", nan, nan, nan, p, 1))
    columns = [
        "criterion",
        "metric",
        "model",
        "debias",
        "value",
        "rank",
        "rank_low",
        "rank_high",
        "cells",
        "cells_nan",
    ]
    of_pairs = [
        "criterion",
        "metric",
        "family",
        "model_a",
        "debias_a",
        "model_b",
        "debias_b",
        "difference",
        "low",
    ]
    of_pairs += ["high", "p_adjusted", "pairs"]
    return pd.DataFrame(rankings, columns=columns), pd.DataFrame(pairs, columns=of_pairs)


def answered(values, p_values=None, bootstrap=True, **more):
    rankings, pairs = tables(values, p_values or {}, **more)
    return answers(rankings, pairs if bootstrap else None, list(values), 0.95)


def only(values, p_values=None, **more):
    (answer,) = answered({"weat": values}, {"weat": p_values or {}}, **more)
    return answer


def letters_of(answer):
    return {state.model: state.letters for state in answer.models}


def test_a_model_that_differs_from_all_others_is_the_least_biased():
    answer = only({"a": 0.1, "b": 0.5, "c": 0.6}, {("a", "b"): 0.01, ("a", "c"): 0.002, ("b", "c"): 0.7})
    assert answer.is_decided
    assert letters_of(answer) == {"a": "a", "b": "b", "c": "b"}
    assert of_metric(answer, NAMES) == (
        "By WEAT, Alpha is the least biased model on Gender: it differs significantly from all others (adjusted p ≤ "
        "0.01)."
    )


def test_a_first_place_that_nothing_decides_is_no_answer():
    answer = only({"a": 0.1, "b": 0.5, "c": 0.6}, {("a", "b"): 0.3, ("a", "c"): 0.06})
    assert not answer.is_decided
    assert letters_of(answer) == {"a": "a", "b": "a", "c": "a"}
    assert of_metric(answer, NAMES) == (
        "By WEAT, no model can be called the least biased on Gender: Alpha comes first, but does not differ "
        "significantly from any other (adjusted p ≥ 0.06)."
    )


def test_decided_is_not_transitive():
    answer = only({"a": 0.1, "b": 0.3, "c": 0.6}, {("a", "c"): 0.01, ("a", "b"): 0.3, ("b", "c"): 0.2})
    assert letters_of(answer) == {"a": "a", "b": "ab", "c": "b"}
    assert of_metric(answer, NAMES) == (
        "By WEAT, Alpha comes first on Gender; it differs significantly from Gamma, but not from Beta."
    )


def test_models_that_lost_scores_are_named():
    answer = only({"a": 0.1, "b": 0.5}, {("a", "b"): 0.001}, missing={"a": 3})
    assert "Alpha (3 of 7 scores missing" in of_lost([answer], NAMES)
    # what all lack takes nothing from the comparison
    assert of_lost([only({"a": 0.1, "b": 0.5}, missing={"a": 3, "b": 3})], NAMES) == ""


def test_without_values_or_others_or_a_bootstrap_nothing_is_decided():
    assert of_metric(only({"a": nan, "b": nan}), NAMES) == "By WEAT, no model has a value on Gender."
    assert "nothing to compare" in of_metric(only({"a": 0.1}), NAMES)
    assert "all 2 models have the same value" in of_metric(only({"a": 0.1, "b": 0.1}), NAMES)
    without = only({"a": 0.1, "b": 0.2}, bootstrap=False)
    assert not without.has_test
    assert not without.is_decided
    assert letters_of(without) == {"a": "", "b": ""}
    assert "was not tested" in of_metric(without, NAMES)
    # a model without a value is told apart from none, and hinders none from being the least biased
    missing = only({"a": 0.1, "b": 0.5, "c": nan}, {("a", "b"): 0.01, ("a", "c"): nan, ("b", "c"): nan})
    assert missing.is_decided
    assert letters_of(missing) == {"a": "a", "b": "b", "c": ""}
    assert [state.model for state in missing.models] == ["a", "b", "c"]


def test_debiased_states_stand_beside_their_own_model_and_not_among_the_models():
    answer = only(
        {"a": 0.4, "b": 0.5}, {("a", "b"): 0.4}, states=[("a", 0.01, 0.5, 0.01), ("b", 0.6, 9.0, 0.02)]
    )
    assert [state.debias for state in answer.models] == ["none", "none"]
    assert [[(s.debias, s.letters) for s in group] for group in answer.states] == [
        [("hard", "a"), ("none", "b")],
        [("none", "a"), ("hard", "b")],
    ]
    assert of_debias(answer, NAMES) == [
        "By WEAT, Alpha under hard debias is significantly less biased on Gender than without.",
        "By WEAT, Beta under hard debias is significantly more biased on Gender than without.",
    ]


LOW = {
    ("a", "b"): 0.01,
    ("a", "c"): 0.01,
    ("b", "c"): 0.01,
    ("b", "a"): 0.01,
    ("c", "a"): 0.01,
    ("c", "b"): 0.01,
}


def test_there_is_an_overall_order_if_metrics_decide_all_pairs_alike():
    found = answered(
        {"weat": {"a": 1, "b": 2, "c": 3}, "rnsb": {"a": 1, "c": 2, "b": 3}},
        {"weat": LOW, "rnsb": {("a", "c"): 0.01}},
    )
    together = agreement(found)
    assert together.order == ("a", "b", "c")
    assert "the least biased first: Alpha, Beta, Gamma" in of_agreement(together, NAMES, 2)


def test_metrics_that_contradict_each_other_leave_no_order():
    together = agreement(
        answered({"weat": {"a": 1, "b": 2}, "rnsb": {"b": 1, "a": 2}}, {"weat": LOW, "rnsb": LOW})
    )
    assert together.order == ()
    assert of_agreement(together, NAMES, 2) == (
        "There is no overall order, since metrics contradict each other: Alpha is less biased than Beta by WEAT, and "
        "more biased by RNSB."
    )


def test_decisions_in_a_circle_and_too_few_leave_no_order():
    # a before b, b before c, c before a
    circle = answered(
        {"weat": {"a": 1, "b": 2, "c": 3}, "rnsb": {"c": 1, "a": 2, "b": 3}},
        {"weat": {("a", "b"): 0.01, ("b", "c"): 0.01}, "rnsb": {("c", "a"): 0.01}},
    )
    assert agreement(circle).order == ()
    some = agreement(answered({"weat": {"a": 1, "b": 2, "c": 3}}, {"weat": {("a", "c"): 0.01}}))
    assert (some.order, some.n_decided, some.pairs) == ((), 1, 3)
    assert "decide 1 of 3 pairs" in of_agreement(some, NAMES, 2)
    none = agreement(answered({"weat": {"a": 1, "b": 2}}))
    assert of_agreement(none, NAMES, 2) == "There is no overall order: no metric tells any two models apart."


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
            ["1 query and the words in it", "90 %", "with care"],
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
