"""How far a score can be trusted, in words: from the interval, never from the coefficient alone."""

import math

import pytest

from biasgrid.verdicts.reliability import card, odds, of_interval, of_share, sentence, times_for_sign


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


def test_odds_in_words():
    assert [odds(share) for share in (0, 0.004, 0.01, 0.2, 0.48, 0.5, 0.7)] == [
        "fewer than 1 of 100 cases",
        "fewer than 1 of 100 cases",
        "1 of 100 cases",
        "1 of 5 cases",
        "1 of 2 cases",
        "1 of 2 cases",
        "7 of 10 cases",
    ]
    assert sentence("sign", 0.8, 8) == "Another list of 8 words would turn the sign in 1 of 5 cases."
    assert sentence("order", 0.9, 30).endswith("change the order of two models in 1 of 10 cases.")


def test_the_card_of_a_score():
    words = {"set": "Career", "coefficient": "alpha", "value": 0.8, "low": 0.6, "high": None, "omega": None}
    words |= {"words": 8, "items": 10, "note": ""}
    score, order = card({"bootstrap": {"same_side": 0.97, "z": -3.0}, "reliability": [words]})
    assert (score["question"], score["verdict"], score["times"]) == ("score", "holds", pytest.approx(0.5))
    assert (order["question"], order["verdict"], order["times"]) == ("words", "", pytest.approx(1))
    assert math.isnan(order["high"])
    (one_sided,) = card({"bootstrap": {"same_side": None, "z": None}})
    assert one_sided["note"] == "values lie on one side of the neutral value"
    assert one_sided["verdict"] == ""
    assert card({}) == []
