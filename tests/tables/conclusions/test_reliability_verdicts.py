"""How far a score can be trusted, in words: from the interval, never from the coefficient alone."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from biasgrid.measure.reliability_in_words import (
    card,
    judged,
    of_another_list,
    of_interval,
    of_scores,
    of_share,
    of_sign,
    of_word_orders,
    sentence,
    times_for_sign,
    turned,
)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.91, 0.99, "excellent"),
        (0.9, 0.99, "excellent"),
        (0.85, 0.97, "good"),
        (0.71, 0.99, "acceptable"),
        # a coefficient of .9 or so, of few words
        (0.65, 0.97, "undecided"),
        (-1.2, 0.69, "poor"),
        (math.nan, math.nan, ""),
    ],
)
def test_the_whole_interval_must_be_above(low, high, verdict):
    assert of_interval(low, high) == verdict


def test_thresholds_are_the_configs():
    thresholds = {"acceptable": 0.5, "good": 0.6, "excellent": 0.99, "holds": 0.8}
    assert of_interval(0.65, 0.97, thresholds) == "good"
    assert of_share(0.85, thresholds) == "holds"
    assert of_share(0.85) == "may turn"
    assert of_share(math.nan) == ""


def test_lengths_for_a_sign():
    assert times_for_sign(math.sqrt(5)) == pytest.approx(1)
    assert times_for_sign(-3) == pytest.approx(0.5)
    assert math.isnan(times_for_sign(0.9))
    assert math.isnan(times_for_sign(math.nan))


def test_another_list_errs_as_much_as_this_one():
    """Of lists whose numbers are 2 standard errors from zero: how often another one has the same sign."""
    rng = np.random.default_rng(0)
    truth = rng.uniform(-10, 10, 1_000_000)
    first, second = (truth + rng.normal(size=len(truth)) for _ in range(2))
    at_two = np.abs(first - 2) < 0.1
    assert np.mean(second[at_two] > 0) == pytest.approx(of_another_list(2.0), abs=0.01)
    assert of_another_list(2.0) == pytest.approx(norm.cdf(2 / math.sqrt(2)))
    assert of_another_list(0.0) == 0.5
    assert of_another_list(-1.0) == pytest.approx(1 - of_another_list(1.0))


def test_shares_in_words():
    assert (
        sentence("sign", 0.8, 8) == "Another list of 8 words would give the same sign in about 80 % of cases."
    )
    assert sentence("order", 0.9, 30).endswith("would order two models alike in about 90 % of cases.")
    assert sentence("sign", 0.9999, 8).endswith("in more than 99 % of cases.")


def test_the_card_of_a_score():
    words = {"set": "Career", "coefficient": "alpha", "value": 0.8, "low": 0.6, "high": None}
    words |= {"words": 8, "items": 10, "note": ""}
    score, order = card({"bootstrap": {"z": -3.0}, "reliability": [words]}, 32)
    assert (score["question"], score["verdict"], score["times"]) == ("score", "holds", pytest.approx(0.5))
    assert (order["question"], order["verdict"], order["times"]) == ("words", "", pytest.approx(1))
    assert math.isnan(order["high"])
    assert (score["words"], score["says"]) == (
        32,
        "Another list of 32 words would give the same sign in about 98 % of cases.",
    )
    (one_sided,) = card({"bootstrap": {"z": None}}, 32)
    assert one_sided["note"] == "the metric's sign does not show a direction of bias"
    assert (one_sided["verdict"], one_sided["says"], order["says"]) == ("", "", "")
    assert card({}, 32) == []


@pytest.mark.parametrize(
    ("row", "who", "does"),
    [
        ({"low": 0.81}, "list of 16 items", "would order the words of Career alike (alpha .88 [.81, .96], good)"),
        ({"low": 0.1, "set": ""}, "list of 16 items",
         "may or may not order the words alike (alpha .88 [.10, .96], inconclusive)"),
        ({"low": -2, "high": 0.6}, "list of 16 items",
         "would not order the words of Career alike (alpha .88 [-2.00, .60], poor)"),
        ({"question": "metrics", "low": 0.7}, "metric (rnd)",
         "scores the words of Career alike (alpha .88 [.70, .96], acceptable)"),
        ({"question": "metrics", "low": 0.6, "high": 0.6}, "metric (rnd)", "does not score the words of Career alike "
         "(alpha .88 [.60, .60], poor)"),
        ({"question": "score", "coefficient": "order", "value": 0.9}, "list of 8 words",
         "would order two models alike in about 90 % of cases"),
    ],
)  # fmt: skip
def test_a_row_says_its_verdict(row, who, does):
    words = {"question": "words", "coefficient": "alpha", "set": "Career", "value": 0.88, "high": 0.96}
    assert (
        judged({**words, "beside": "rnd", "words": 8, "items": 16, **row})["says"] == f"Another {who} {does}."
    )


def test_a_score_is_judged_by_its_sign_or_else_by_the_order_of_models():
    rows = [
        ("weat", "score", "order", "", "holds", 0.99),
        ("weat", "score", "sign", "", "may turn", 0.8),
        ("weat", "words", "alpha", "", "poor", 0.2),
        ("weat", "words", "alpha", "Career", "good", 0.85),
        ("mac", "score", "sign", "", "holds", 1),
        ("ect", "score", "order", "", "may turn", 0.5),
        ("ect", "score", "sign", "", "", math.nan),
    ]
    table = pd.DataFrame(rows, columns=["metric", "question", "coefficient", "set", "verdict", "value"])
    table = table.assign(criterion="C", query="Q", model="M", debias="none")
    scores = of_scores(table)
    assert scores[["metric", "coefficient"]].to_numpy().tolist() == [
        ["weat", "sign"],
        ["mac", "sign"],
        ["ect", "order"],
    ]
    assert of_word_orders(table)["verdict"].tolist() == ["poor"]
    assert turned(scores[scores["metric"] == "weat"]) == "1 of 1 signs"
    assert turned(scores[scores["metric"] == "ect"]) == "1 of 1 orders"
    assert of_sign(table)[["metric", "verdict"]].to_numpy().tolist() == [
        ["weat", "may turn"],
        ["mac", "holds"],
    ]
