"""Which model is the least biased, read off rankings.csv and pairs.csv."""

from math import isnan, nan

from tables_of_models import answered, only, tables

from biasgrid.tables.conclusions.agreement import agreement
from biasgrid.tables.conclusions.least_biased import answers


def different(answer):
    return {state.model: state.different for state in answer.models}


def test_a_model_that_differs_from_all_others_is_decided():
    answer = only({"a": 0.1, "b": 0.5, "c": 0.6}, {("a", "b"): 0.01, ("a", "c"): 0.002, ("b", "c"): 0.7})
    assert answer.least_biased == "a"
    assert (answer.undecided, answer.incomparable) == ((), ())
    assert answer.p_adjusted == 0.01
    assert isnan(answer.smallest_difference)
    assert different(answer) == {"a": ("b", "c"), "b": ("a",), "c": ("a",)}


def test_a_first_place_that_nothing_decides_is_no_answer():
    answer = only({"a": 0.1, "b": 0.5, "c": 0.6}, {("a", "b"): 0.3, ("a", "c"): 0.06}, smallest=0.7)
    assert answer.least_biased is None
    assert answer.undecided == ("b", "c")
    assert (answer.p_adjusted, answer.smallest_difference, answer.queries) == (0.3, 0.7, 7)
    assert different(answer) == {"a": (), "b": (), "c": ()}


def test_decided_is_not_transitive():
    answer = only({"a": 0.1, "b": 0.3, "c": 0.6}, {("a", "c"): 0.01, ("a", "b"): 0.3, ("b", "c"): 0.2})
    assert different(answer) == {"a": ("c",), "b": (), "c": ("a",)}
    assert answer.undecided == ("b",)


def test_the_limit_belongs_to_what_is_decided():
    assert only({"a": 0.1, "b": 0.5}, {("a", "b"): 0.05}).least_biased == "a"
    assert only({"a": 0.1, "b": 0.5}, {("a", "b"): 0.0501}).least_biased is None


def test_a_rival_that_cannot_be_compared_is_named():
    values, p_values = {"a": 0.1, "b": 0.5, "c": 0.05}, {("a", "b"): 0.01, ("a", "c"): 0.01}
    answer = only(values, p_values, queries={"c": 3})
    assert answer.least_biased == "a"
    assert [(rival.model, rival.queries, rival.queries_of) for rival in answer.incomparable] == [("c", 3, 7)]
    assert [(state.model, state.reason) for state in answer.not_ranked] == [("c", "too few queries")]


def test_a_tie_for_the_first_place_is_not_decided():
    answer = only({"a": 0.1, "b": 0.1, "c": 0.5}, {("a", "c"): 0.01, ("b", "c"): 0.01})
    assert answer.least_biased is None


def test_without_rivals_or_a_bootstrap_nothing_is_decided():
    assert only({"a": 0.1}).least_biased is None
    without = only({"a": 0.1, "b": 0.2}, bootstrap=False)
    assert not without.has_test
    assert without.least_biased is None
    assert different(without) == {"a": (), "b": ()}
    # nobody is ranked
    nobody = only({"a": 0.1, "b": 0.5}, queries={"a": 2})
    assert (nobody.models, nobody.least_biased, nobody.reason) == ((), None, "too few models")
    # a model without a value is no rival
    missing = only({"a": 0.1, "b": 0.5, "c": nan}, {("a", "b"): 0.01})
    assert missing.least_biased == "a"
    assert missing.incomparable == ()
    assert missing.models_with_value == ["a", "b"]


def test_a_model_that_is_not_ranked_is_still_a_rival():
    rankings, pairs = tables(
        {"weat": {"a": 0.1, "b": 0.5, "c": 0.05}}, {"weat": {("a", "b"): 0.01, ("a", "c"): 0.6}}
    )
    rankings.loc[rankings["model"] == "c", ["reason", "rank_shared"]] = "too few queries", nan
    (found,) = answers(rankings, pairs, ["weat"], 0.95)
    assert [state.model for state in found.models] == ["a", "b"]
    assert (found.least_biased, found.undecided) == (None, ("c",))


def test_without_a_baseline_models_are_not_compared():
    answer = only({"a": 0.1, "b": 0.5}, {("a", "b"): 0.01}, why="no baseline")
    assert answer.not_compared == "no baseline"
    assert answer.least_biased is None
    assert [(rival.model, rival.reason) for rival in answer.incomparable] == [("b", "no baseline")]
    assert only({"a": 0.1, "b": 0.5}).not_compared == ""


def test_debiased_states_stand_beside_their_own_model_and_not_among_the_models():
    answer = only({"a": 0.4, "b": 0.5}, {("a", "b"): 0.4}, states=[("a", 0.01, 0.01), ("b", 0.6, 0.2)])
    assert [state.debias for state in answer.models] == ["none", "none"]
    assert [(s.model, s.direction, s.p_adjusted) for s in answer.debiased] == [
        ("a", "less", 0.01),
        ("b", "", 0.2),
    ]
    worse = only({"a": 0.4, "b": 0.5}, states=[("a", 0.9, 0.01)])
    assert [s.direction for s in worse.debiased] == ["more"]
    (shorter,) = only({"a": 0.4}, states=[("a", 0.01, 0.01)], why="vector lengths differ").debiased
    assert (shorter.direction, shorter.reason) == ("", "vector lengths differ")


LOW = dict.fromkeys([("a", "b"), ("a", "c"), ("b", "c")], 0.01)


def test_there_is_an_overall_order_if_metrics_decide_all_pairs_alike():
    found = answered(
        {"weat": {"a": 1, "b": 2, "c": 3}, "rnsb": {"a": 1, "c": 2, "b": 3}},
        {"weat": LOW, "rnsb": {("a", "c"): 0.01}},
    )
    assert agreement(found).order == ("a", "b", "c")


def test_metrics_that_contradict_each_other_leave_no_order():
    together = agreement(
        answered({"weat": {"a": 1, "b": 2}, "rnsb": {"b": 1, "a": 2}}, {"weat": LOW, "rnsb": LOW})
    )
    assert together.order == ()
    assert together.against == (("a", "b", ("weat",), ("rnsb",)),)


def test_decisions_in_a_circle_and_too_few_leave_no_order():
    # a before b, b before c, c before a
    circle = answered(
        {"weat": {"a": 1, "b": 2, "c": 3}, "rnsb": {"c": 1, "a": 2, "b": 3}},
        {"weat": {("a", "b"): 0.01, ("b", "c"): 0.01}, "rnsb": {("c", "a"): 0.01}},
    )
    assert agreement(circle).order == ()
    some = agreement(answered({"weat": {"a": 1, "b": 2, "c": 3}}, {"weat": {("a", "c"): 0.01}}))
    assert (some.order, some.n_decided, some.pairs) == ((), 1, 3)


def test_on_the_standardised_scale_ranks_of_raw_values_do_not_decide():
    # b has the lower raw value; on the standardised scale, a is below both others
    rankings, pairs = tables({"weat": {"a": 0.5, "b": 0.1, "c": 0.9}}, {})
    for (model_a, model_b), difference, p in (
        (("a", "b"), -1.0, 0.01),
        (("a", "c"), -2.0, 0.001),
        (("b", "c"), -0.5, 0.5),
    ):
        row = (pairs["model_a"] == model_a) & (pairs["model_b"] == model_b)
        pairs.loc[row, ["difference", "p_adjusted"]] = difference, p
    (found,) = answers(rankings, pairs, ["weat"], 0.95)
    assert found.least_biased == "a"
    # without one of the differences there is no clear winner
    pairs.loc[0, "p_adjusted"] = 0.06
    (found,) = answers(rankings, pairs, ["weat"], 0.95)
    assert found.least_biased is None
    # a still is below both others
    assert [state.model for state in found.models] == ["a", "b", "c"]
    assert [state.rank for state in found.models] == [2, 1, 3]
