"""What a score is evidence for, by its definition: adjusted by hand, in families small enough for it."""

import math

import numpy as np
import pytest
from conftest import make_store

from biasgrid import Query, measure_grid, metrics
from biasgrid.measure import evidence
from biasgrid.measure.evidence import MARKS, MEANINGS, PHRASES, VERDICTS, phrase

NAN = math.nan
BH = "benjamini-hochberg"


def judged(method, possible=2, level=0.95, lowest=1e-4, names=None, **p_values):
    """The evidence of scores of one criterion."""
    number = len(next(iter(p_values.values())))
    tests = {
        name: evidence.Test(
            np.array(values, dtype=float),
            np.broadcast_to(lowest, number).astype(float),
            ["Gender"] * number,
            names or range(number),
        )
        for name, values in p_values.items()
    }
    return evidence.judge(tests, np.broadcast_to(possible, number), ["Gender"] * number, method, level)


def test_each_verdict_has_a_mark_and_a_meaning():
    assert set(MARKS) == set(MEANINGS) == set(VERDICTS)
    assert [MARKS[verdict] for verdict in VERDICTS] == ["full", "half", "half", "open", "", "dot"]


def test_each_verdict_has_a_phrase_that_claims_no_more_than_its_tests():
    assert set(PHRASES) == set(VERDICTS)
    assert [phrase(verdict) for verdict in VERDICTS] == [*map(PHRASES.get, VERDICTS)]
    assert [verdict for verdict in VERDICTS if "clear" in phrase(verdict)] == ["all"]
    # the other test was not made, so that it found nothing
    assert phrase("permutation", 2, 1) == "weak evidence: not compared with unrelated word groups"
    assert phrase("groups", 2, 1) == "weak evidence: not compared with shuffled words"
    assert phrase("none", 2, 1) == phrase("none", 1, 1) == "no evidence of bias in this test"
    # MAC has one test alone
    assert phrase("all", 1, 1) == "evidence of bias in the only test"


def test_by_holm():
    """Permutation: .001, .001, .03, .5 times 4, 3, 2, 1. Groups: .002, .01, .2, .6 likewise. Together the larger of
    both: .002, .2, .5, .6."""
    outcome = judged("holm", permutation=[0.001, 0.001, 0.03, 0.5], groups=[0.002, 0.2, 0.6, 0.01])
    assert outcome.verdict.tolist() == ["all", "permutation", "none", "groups"]
    assert outcome.p_value.tolist() == pytest.approx([0.002 * 4, 0.2 * 3, 1.0, 1.0])


def test_by_benjamini_hochberg_two_lists_are_not_their_intersection():
    """Permutation: .01 x 3 and .03 x 3/2 are below .05. Groups: .02 x 3/2 and, no larger, .01 x 3. So the first score
    is on both lists, but the larger of its p-values, .03, is one of .03, .9, .9: .09."""
    outcome = judged(BH, permutation=[0.03, 0.01, 0.9], groups=[0.02, 0.9, 0.01])
    # the smaller of .045 and .03
    assert outcome.verdict.tolist() == ["groups", "permutation", "groups"]
    assert outcome.p_value.tolist() == pytest.approx([0.09, 0.9, 0.9])


def test_what_is_out_of_reach():
    """Ten tests, .01 the smallest p-value of each: .01 x 10 by Holm; by Benjamini-Hochberg two at .01 are .05."""
    one, two = [0.01] + [0.6] * 9, [0.01] * 2 + [0.6] * 8
    for method, p_values, verdict in (
        ("holm", one, "out_of_reach"),
        (BH, one, "out_of_reach"),
        ("holm", two, "out_of_reach"),
        (BH, two, "all"),
    ):
        outcome = judged(method, possible=1, lowest=0.01, groups=p_values)
        assert outcome.verdict[0] == verdict
        # these could have been small, and were not
        assert set(outcome.verdict[2:]) == {"none"}
    # draws enough would do
    assert judged("holm", possible=1, lowest=0.004, groups=one).verdict[0] == "none"


@pytest.mark.parametrize("p", [0.1, 0.6])
def test_of_few_permutations_each_p_value_is_out_of_reach(p):
    assert judged("holm", lowest=0.1, possible=1, permutation=[p]).verdict.tolist() == ["out_of_reach"]


def test_a_test_that_was_not_made_is_not_one_that_the_metric_lacks():
    made = judged("holm", permutation=[1e-4], groups=[NAN])
    assert (made.verdict[0], math.isnan(made.p_value[0])) == ("permutation", True)
    assert judged("holm", permutation=[NAN], groups=[1e-4]).verdict[0] == "groups"
    # of a metric that has the one alone
    assert judged("holm", possible=1, permutation=[NAN], groups=[1e-4]).verdict[0] == "all"
    nothing = judged("holm", permutation=[NAN, 0.01], groups=[NAN, 0.01])
    assert nothing.verdict.tolist() == ["untested", "all"]
    # what is not tested is no member of a family
    assert nothing.p_value[1] == pytest.approx(0.01)


def test_equal_tests_count_once():
    """Two names: .022, the larger of the equal tests', times 2. As three tests it would be .02 x 3."""
    p_values = [0.02, 0.022, 0.3]
    same = judged("holm", possible=1, names=["a", "a", "b"], groups=p_values)
    assert same.verdict.tolist() == ["all", "all", "none"]
    assert same.p_value.tolist() == pytest.approx([0.044, 0.044, 0.3])
    assert judged("holm", possible=1, groups=p_values).verdict.tolist() == ["none"] * 3


def test_the_level_is_the_studys():
    assert judged("holm", permutation=[0.08], groups=[0.08], level=0.95).verdict[0] == "none"
    assert judged("holm", permutation=[0.08], groups=[0.08], level=0.9).verdict[0] == "all"
    assert judged("holm", permutation=[0.05], groups=[0.05], level=0.95).verdict[0] == "all"


def test_which_tests_of_words_a_metric_has():
    assert evidence.tests_of(metrics.metric("weat")) == ("permutation", "groups")
    # no permutation test; one of labels; of pairs
    for name in ("mac", "rnsb", "ripa"):
        assert evidence.tests_of(metrics.metric(name)) == ("groups",)
    # of a language model, which has no vectors to draw groups from
    assert "groups" not in evidence.tests_of(metrics.metric("stereoset_ss"))


@pytest.fixture
def model(tmp_path):
    """Words of one side and of the other, and words that lean nowhere."""
    rng = np.random.default_rng(1)
    sides = {name: rng.normal(size=(6, 5)) * 0.1 for name in "abcdef"}
    for name, lean in (("a", 1), ("b", -1), ("c", 1), ("d", -1)):
        sides[name][:, 0] += lean
    sides["f"] = sides["e"]
    entries = [f"{name}{i}" for name in sides for i in range(6)]
    return make_store(tmp_path, entries, np.concatenate(list(sides.values())))


def query(*names, size=6):
    words = [[f"{name}{i}" for i in range(size)] for name in names]
    return Query(words[:2], words[2:], list(names[:2]).copy(), list(names[2:]).copy())


def test_a_table_of_scores_says_it_and_a_test_of_labels_does_not_count(model):
    queries = [query("a", "b", "c", "d"), query("e", "f", "c", "d")]
    grid = measure_grid(["weat", "rnsb"], queries, [model], permutation={"draws": 99}, progress=False)
    table = grid.scores.set_index(["metric", "query"])
    assert table.loc["rnsb", "p_value"].notna().all()
    assert set(table.loc["rnsb", "evidence"]) == {"untested"}
    assert set(table.loc["rnsb", "tests"]) == {1}
    weat = table.loc["weat"]
    assert set(weat["tests"]) == {2}
    # a and b lean apart with c and d, as no permutation does; Holm: twice the smaller p-value
    assert 2 * weat.loc["a and b wrt c and d", "p_value"] <= 0.05
    assert weat["evidence"].to_dict() == {"a and b wrt c and d": "permutation", "e and f wrt c and d": "none"}
    assert weat["p_evidence"].isna().all()


@pytest.mark.filterwarnings("ignore:.*cannot be small")
def test_a_single_result_is_not_adjusted_and_says_so(model):
    result = metrics.weat(query("a", "b", "c", "d"), model, permutation=True)
    assert result.evidence == "permutation"
    said = "weak evidence: not compared with unrelated word groups (p-values unadjusted)"
    assert said in repr(result)
    assert f">{said}</span>" in result._repr_html_()
    assert str(result).endswith(f"\nW{said[1:]}.")
    assert result.to_frame()["evidence"].item() == result.to_dict()["evidence"] == "permutation"
    assert metrics.weat(query("e", "f", "c", "d"), model, permutation=True).evidence == "none"
    # of two words a side there are 6 permutations
    few = metrics.weat(query("a", "b", "c", "d", size=2), model, permutation=True)
    assert few.evidence == "out_of_reach"
    assert "cannot tell: too few words or draws" in repr(few)
    plain = metrics.weat(query("a", "b", "c", "d"), model)
    assert plain.evidence == "untested"
    assert "evidence" not in repr(plain) + str(plain) + plain._repr_html_()
    assert str(plain).endswith("\nNot tested.")
    assert "evidence" not in plain.to_dict()
    labels = metrics.rnsb(query("a", "b", "c", "d"), model, permutation={"draws": 99})
    assert (labels.evidence, math.isnan(labels.p_value)) == ("untested", False)
