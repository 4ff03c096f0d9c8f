"""What the page says in sentences of which model is the least biased."""

from collections import namedtuple
from math import nan

import pandas as pd
import pytest
from tables_of_models import answered, only

from biasgrid import metrics
from biasgrid.measure import significance
from biasgrid.measure.evidence import PHRASES, VERDICTS
from biasgrid.report.marks import legend, mark_of
from biasgrid.report.names import Names
from biasgrid.report.sentences import (
    of_agreement,
    of_correlations,
    of_coverage,
    of_debiasing,
    of_frequency,
    of_lost_queries,
    of_single,
    of_stability,
)
from biasgrid.tables.conclusions.agreement import agreement
from biasgrid.tables.conclusions.decisive_queries import decisive_queries
from biasgrid.tables.conclusions.least_biased import DebiasedState
from biasgrid.tables.shared import places_of

LABELS = {"weat": "WEAT", "rnsb": "RNSB", "a": "Alpha", "b": "Beta", "c": "Gamma", "hard": "hard debias"}
NAMES = Names(LABELS)


def test_a_model_that_lost_queries_says_how_many_it_has():
    answer = only({"a": 0.1, "b": 0.5, "c": 0.05}, {("a", "b"): 0.01}, queries={"c": 3})
    assert answer.least_biased == "a"
    (lost,) = answer.not_ranked
    assert of_lost_queries([lost]) == "not ranked: 3 of 7 queries"
    assert of_lost_queries(answer.models) == ""
    some = only({"a": 0.1, "b": 0.5}, queries={"a": 6}).models[0]
    assert of_lost_queries([some]) == "6 of 7 queries"
    assert of_lost_queries([some, only({"a": 0.1, "b": 0.5}, queries={"a": 5}).models[0], lost]) == (
        "5 to 6 of 7 queries; not ranked: 3 of 7 queries"
    )


def test_a_rival_without_comparison_is_named():
    def incomparable(answer):
        return [(rival.model, rival.reason, rival.queries, rival.queries_of) for rival in answer.incomparable]

    answer = only({"a": 0.1, "b": 0.5, "c": 0.05}, {("a", "b"): 0.01}, queries={"c": 3})
    assert incomparable(answer) == [("c", "too few shared queries", 3, 7)]
    assert incomparable(only({"a": 0.1, "b": 0.5})) == []
    assert incomparable(only({"a": 0.1, "b": 0.5}, why="no baseline")) == [("b", "no baseline", 7, 7)]


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
    assert "a clear difference in 1 of 3 pairs" in of_agreement(agreement(some), NAMES, 2)
    none = answered({"weat": {"a": 1, "b": 2}})
    assert of_agreement(agreement(none), NAMES, 2) == (
        "There is no overall order: of two metrics, none finds two models different."
    )


@pytest.mark.parametrize(
    ("queries", "models", "inference", "said"),
    [
        (
            7,
            5,
            {"bootstrap": {"draws": 500, "level": 0.95}},
            [
                "7 queries",
                "hold for these queries, with similar words (95 %",
                "not cover other training runs",
                "About one of 28 conclusions may be wrong by chance.",
            ],
        ),
        (
            1,
            5,
            {"bootstrap": {"draws": 500, "level": 0.9}},
            ["1 query and the words in it", "90 %", "About three of 28 conclusions"],
        ),
        (7, 3, {"bootstrap": {"draws": 500, "level": 0.95}}, ["With 3 models"]),
        (7, 5, {}, ["no bootstrap"]),
    ],
)
def test_each_statement_says_what_it_covers(queries, models, inference, said):
    text = " ".join(of_coverage(queries, models, inference, 28))
    assert all(part in text for part in said), text


def scores(values):
    """scores.csv of one metric on one criterion: {query: {model: value}}."""
    rows = [("Gender", query, "weat", m, "none", v) for query, of in values.items() for m, v in of.items()]
    return pd.DataFrame(rows, columns=["criterion", "query", "metric", "model", "debias", "value"])


def decisive(values, neutral=0.0):
    table = scores(values)
    places = places_of(table, ["Gender"])
    return decisive_queries(places, table["value"].to_numpy(), {"weat": neutral}).get(("Gender", "weat"))


def test_queries_without_which_another_model_comes_first():
    # means of distances: .4 and .5; without q1, .5 and .1; without q2, .3 and .9
    assert decisive({"q1": {"a": 0.3, "b": 0.9}, "q2": {"a": 0.5, "b": 0.1}}) == (("q1", "b"),)
    assert decisive({"q1": {"a": 0.5, "b": -0.9}, "q2": {"a": 0.2, "b": 0.3}}) == ()
    assert decisive({"q1": {"a": nan, "b": nan}}) is None
    assert decisive({"q1": {"a": 0.3, "b": 0.9}}) == ()
    # distances from 1: .7 and .1, .5 and .9, on average .6 and .5; without q1 .5 and .9, without q2 .7 and .1
    assert decisive({"q1": {"a": 0.3, "b": 0.9}, "q2": {"a": 0.5, "b": 0.1}}, 1.0) == (("q1", "a"),)
    # on average .3 and .4, and never the other way
    assert decisive({"q1": {"a": 1.3, "b": 0.6}, "q2": {"a": 0.7, "b": 1.4}}, 1.0) == ()


def test_a_mark_is_filled_for_every_test_half_for_one_and_open_for_none():
    assert {verdict: mark_of(verdict) for verdict in VERDICTS} == {
        "all": "●",
        "permutation": "◐",
        "groups": "◐",
        "none": "○",
        "out_of_reach": "",
        "untested": "",
    }
    assert [mark for mark, _ in legend()] == ["●", "◐", "○"]
    assert legend()[0] == ("●", PHRASES["all"])


def test_few_models_do_not_show_whether_metrics_agree():
    Pair = namedtuple("Pair", "ci_low ci_high")
    pairs = {("a", "b"): Pair(0.2, 0.9), ("a", "c"): Pair(-0.2, 0.9), ("b", "c"): Pair(-0.9, -0.1)}
    criterion = {"name": "Gender", "pairs": pairs, "n": dict.fromkeys(pairs, 8)}
    assert of_correlations(criterion, 8) == (
        "Gender: 1 of 3 pairs of metrics clearly agree, 1 clearly disagree."
    )
    assert of_correlations(criterion, 9) == "Eight models are too few to say whether metrics agree."


def test_a_debias_method_lowers_bias_by_so_many_comparable_metrics():
    def state(direction, reason=""):
        return DebiasedState("a", "hard", reason, direction, 0.5, nan, 5, 5, nan)

    effects = {
        ("Gender", "weat"): state("less"),
        ("Gender", "mac"): state(""),
        ("Gender", "rnd"): state("", "vector lengths differ"),
        ("Religion", "weat"): state("more"),
        ("Overall", "weat"): state("less"),
    }
    assert of_debiasing(effects) == (
        "Significantly less bias: Gender, 1 of 2 metrics; Religion, 0 of 1 metric (significantly more: 1)."
    )
    assert of_debiasing({}) == ""


def test_stability_is_a_share_of_lists_and_a_reliability():
    Row = namedtuple("Row", "question coefficient value low high words items verdict")
    assert of_stability(Row("score", "sign", 0.54, nan, nan, 60, 0, "may turn")) == (
        "same sign in 54 % of lists of 60 words"
    )
    assert of_stability(Row("words", "split-half", 0.49, 0.23, 0.69, 60, 20, "poor")) == (
        "order of words: poor (split-half .49 [.23, .69], 20 items)"
    )


def test_where_tests_that_hold_frequency_disagree_with_marks():
    rows = [
        *(("all", 0.2, nan), ("permutation", 0.01, 0.3), ("groups", nan, 0.04)),
        *(("none", 0.9, 0.9), ("untested", nan, nan)),
    ]
    table = pd.DataFrame(rows, columns=["evidence", "p_bands_adjusted", "p_controls_adjusted"])
    assert of_frequency(table, 0.05) == (
        "Of 3 significant scores, some are not significant once word frequency is controlled for: 1 of 2 within "
        "bands of frequency and 1 of 2 against control words (adjusted p > 0.05; of the scores with such a test)."
    )
    assert of_frequency(table.drop(columns="evidence"), 0.05) == ""
    assert of_frequency(table.assign(p_bands_adjusted=nan, p_controls_adjusted=nan), 0.05) == ""


def test_where_there_is_one_model_nothing_is_compared():
    assert of_single(answered({"weat": {"a": 0.1, "b": 0.5}, "rnsb": {"a": 0.1}}), NAMES) == ""
    assert of_single([only({"a": 0.1, "b": nan})], NAMES) == (
        "No metric has more than one model (Alpha): there is nothing to compare."
    )
    assert of_single([only({"a": nan})], NAMES) == "No model has a value."


@pytest.mark.parametrize("name", ["weat", "rnsb"])
def test_a_question_names_the_sets_that_a_test_replaces(name):
    metric = metrics.metric(name)
    groups, words = ("target", "attribute") if metric.regrouped == "targets" else ("attribute", "target")
    questions = significance.questions(metric, significance.REGISTRY)
    assert f"in place of the {groups} sets?" in questions["random_groups"]
    assert f"in place of the words of the {words} sets?" in questions["control_words"]
    assert "which attribute set" in questions["permutation"] or name == "weat"
