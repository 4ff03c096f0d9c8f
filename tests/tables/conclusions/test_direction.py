"""On how many queries models differ in direction: only scores with evidence on both sides count."""

from math import nan

import pandas as pd
import pytest

from biasgrid.tables.conclusions.direction import directions, of_directions

FINDING = "two models biased in opposite directions"


def sentence(*scores, neutral=0.0, sides=("weat",)):
    """Return what is said of scores (query, model, value, interval, evidence)."""
    columns = ["query", "model", "value", "ci_low", "ci_high", "evidence"]
    table = pd.DataFrame([[q, m, v, *i, e] for q, m, v, i, e in scores], columns=columns)
    # a query's sub-queries, "q1" and "q1b", have its key
    table = table.assign(criterion="Gender", metric="weat", debias="none", status="ok")
    table["query_id"] = table["query"].str[:2]
    table.loc[table["model"] == "hard", ["model", "debias"]] = "c", "hard"
    return of_directions(directions(table, [("Gender", metric, neutral) for metric in sides]))


NONE = (nan, nan)
A = ("q1", "a", 0.5, NONE, "all")


@pytest.mark.parametrize(
    ("other", "is_opposed"),
    [
        # evidence by every test on the other side
        (("q1", "b", -0.5, NONE, "all"), True),
        # by one of two, or an interval
        (("q1", "b", -0.5, NONE, "groups"), False),
        (("q1", "b", -0.5, (-0.9, -0.1), "none"), False),
        # the sign alone is noise
        (("q1", "b", -0.5, (-0.9, 0.1), "none"), False),
        (("q1", "b", -0.5, NONE, "out_of_reach"), False),
        # the same side
        (("q1", "b", 0.4, NONE, "all"), False),
        # an interval that leaves its own score out is no evidence for the other side
        (("q1", "b", 0.1, (-0.9, -0.1), "none"), False),
    ],
)
def test_a_query_counts_with_evidence_on_both_sides(other, is_opposed):
    expected = f"On 1 of 1 query, a metric finds {FINDING}."
    assert sentence(A, other) == (expected if is_opposed else f"No metric finds {FINDING} on any of 1 query.")


def test_queries_are_counted_and_not_their_sub_queries_or_debiased_models():
    scores = [
        *(A, ("q1", "b", -0.5, NONE, "all"), ("q1b", "a", 1, NONE, "all"), ("q1b", "b", -1, NONE, "all")),
        *(("q2", "a", 1, NONE, "all"), ("q2", "b", 1, NONE, "all"), ("q2", "hard", -1, NONE, "all")),
        # of one model, without a value, without a test
        *(("q3", "a", 1, NONE, "all"), ("q3", "b", nan, NONE, "untested")),
        *(("q4", "a", 1, NONE, "untested"), ("q4", "b", -1, NONE, "untested")),
    ]
    assert sentence(*scores) == f"On 1 of 2 queries, a metric finds {FINDING}."
    # nothing is said where nothing has evidence, and of metrics whose values lie on one side
    assert sentence(*scores[-2:]) == ""
    assert sentence(*scores, sides=()) == ""


def test_sides_are_those_of_the_neutral_value():
    scores = ("q1", "a", 0.9, NONE, "all"), ("q1", "b", 1.2, NONE, "all")
    assert sentence(*scores, neutral=1.0) == f"On 1 of 1 query, a metric finds {FINDING}."
    assert sentence(*scores) == f"No metric finds {FINDING} on any of 1 query."
