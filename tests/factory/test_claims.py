"""Verdicts on claims, from records of made-up numbers for which a claim holds, fails, or cannot be decided."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_records import SIX, WORDS, measured, record
from scipy import stats

from biasgrid.factory import estimates
from biasgrid.factory.claims import CLAIMS, COLUMNS, claims, figure_table, verdict
from biasgrid.factory.recovery import of_models

NEUTRAL = {"mac": 1.0}
KEYS = ("same", "same_skew", "same_stereotype", "weat", "weat_es", "direct_bias", "mac")
LENGTHS = dict.fromkeys(KEYS, 1.0) | {"mac": 2.0, "weat_es": 4.0, "weat": None}
NEARER = {"same": "first", "mac": "", "rnd": "second"}
PLANS = list(itertools.product((0.3, 0.5, 0.7), (0.1, 0.2)))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(5, 30), st.booleans())
def test_weights_are_how_often_a_model_is_there(seed, n, ties):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n))
    x = x.round() if ties else x
    weights = rng.integers(0, 4, n)
    weights[:3] = 1
    many_x, many_y = np.repeat(x, weights), np.repeat(y, weights)
    (mean,) = estimates.mean(weights[None], x)
    assert mean == pytest.approx(many_x.mean())
    if np.ptp(many_x) == 0:
        assert np.isnan(estimates.pearson(weights[None], x, y)[0])
        return
    assert estimates.pearson(weights[None], x, y)[0] == pytest.approx(np.corrcoef(many_x, many_y)[0, 1])
    expected = stats.spearmanr(many_x, many_y).statistic
    assert estimates.spearman(weights[None], x, y)[0] == pytest.approx(expected)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_replicates_are_drawn_together(seed, copies):
    """Models that repeat another of their plan say nothing new: the interval is that of one of each plan."""
    values = np.random.default_rng(seed).normal(size=7)
    plans = np.arange(7)
    alone = estimates.estimate(plans, [values], estimates.mean)
    repeated = estimates.estimate(np.tile(plans, copies), [np.tile(values, copies)], estimates.mean)
    assert repeated[:3] == pytest.approx(alone[:3])
    assert repeated[3:] == (7 * copies, 7)
    # as so many models of their own they would be surer
    apart = estimates.estimate(np.arange(7 * copies), [np.tile(values, copies)], estimates.mean)
    assert apart[2] - apart[1] < alone[2] - alone[1]


def test_an_interval_is_a_percentile_bootstrap():
    """Against one that draws plans by a loop of its own."""
    rng = np.random.default_rng(1)
    plans, values = np.repeat(np.arange(12), 3), rng.normal(size=36) + np.repeat(rng.normal(size=12), 3)
    value, low, high, models, found = estimates.estimate(plans, [values], estimates.mean)
    drawn = [np.mean([values[plans == plan] for plan in rng.integers(0, 12, 12)]) for _ in range(20_000)]
    width = high - low
    assert (value, models, found) == (pytest.approx(values.mean()), 36, 12)
    assert [low, high] == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.06 * width)


def test_models_without_a_number_and_few_plans():
    x, y = np.arange(6.0), np.array([1.0, np.nan, 3, 4, 5, 6])
    found = estimates.estimate(np.array([0, 0, 1, 1, 2, 2]), [x, y], estimates.difference)
    assert found[0] == -1
    assert found[3:] == (5, 3)
    value, low, high, models, plans = estimates.estimate(np.array([0, 0, 1]), [x[:3]], estimates.mean)
    assert (value, models, plans) == (1, 3, 2)
    assert np.isnan([low, high]).all()
    assert estimates.estimate(np.array([0]), [np.array([np.nan])], estimates.mean)[3:] == (0, 0)


@pytest.mark.parametrize(
    ("side", "threshold", "low", "high", "expected"),
    [
        (">", 0, 0.1, 0.2, "holds"),
        (">", 0, -0.1, 0.2, "cannot be said"),
        (">", 0, -0.2, -0.1, "does not hold"),
        # an end on the threshold decides nothing
        (">", 0, 0, 0.2, "cannot be said"),
        ("<", 0.1, 0.02, 0.05, "holds"),
        ("<", 0.1, 0.2, 0.5, "does not hold"),
        ("<", 0.1, math.nan, math.nan, "cannot be said"),
        ("", math.nan, 0.1, 0.2, ""),
    ],
)
def test_verdicts(side, threshold, low, high, expected):
    assert verdict(side, threshold, low, high) == expected


def made(seed=0, plans=PLANS, replicates=3, trainer="bert", **changes):
    """Claims about models of which, but for `changes` (metric -> scores of words, from their truth and a generator),
    SAME sees nearly all, Direct Bias some, and MAC nothing."""
    scores = {
        "same": lambda u, rng: 0.3 * (u - 0.5) + 0.01 * rng.normal(size=WORDS),
        "direct_bias": lambda u, rng: 0.3 * (u - 0.5) + 0.15 * rng.random() ** 2 * rng.normal(size=WORDS),
        "mac": lambda u, rng: 1 + 0.1 * rng.normal(size=WORDS),
        "rnd": lambda u, rng: 0.5 - u + 0.05 * rng.normal(size=WORDS),
    } | changes
    models = []
    for i, (mu, sigma) in enumerate(plans):
        share = np.random.default_rng([seed, i]).normal(mu, sigma, WORDS).clip(0, 1)
        for replicate in range(1, replicates + 1):
            rng = np.random.default_rng([seed, i, replicate])
            unmasking = (share + 0.02 * rng.normal(size=WORDS)).clip(0, 1)
            errors = (unmasking - 0.5 + 0.1 * rng.normal(size=WORDS)).clip(-1, 1)
            words = {metric: function(unmasking, rng) for metric, function in scores.items()}
            words["weat"] = 1.7 * words["same"]
            values = {
                "same": abs(words["same"]).mean(),
                "same_skew": words["same"].mean(),
                "same_stereotype": words["same"].std(),
                "direct_bias": rng.random(),
                "mac": rng.random(),
                "weat_es": rng.random(),
                "weat": rng.random(),
            }
            halves = dict.fromkeys(KEYS, 0.01) | {"weat_es": 0.8, "mac": 0.001, "weat": 3.0}
            metrics = {
                metric: measured(words.get(metric), values.get(metric, 0.0), halves.get(metric))
                for metric in [*KEYS, "rnd"]
            }
            # the more the directions differ, the less Direct Bias sees: its scores are noise
            angle = 5 + 20 * (1 - np.corrcoef(words["direct_bias"], unmasking)[0, 1] ** 2)
            example = {"words": SIX, "effect_sizes": [0.01, *np.linspace(0.2, 1.8, 9)], "same": 0.2}
            acting = {"behaviour": (unmasking, errors)} if trainer == "bert" else {}
            models.append(
                record(share, {"contextual": metrics, "input": metrics}, kind=["contextual", "input"], mu=mu,
                       sigma=sigma, replicate=replicate, trainer=trainer, angle=angle, example=example, **acting)
            )  # fmt: skip
    return claims(of_models(models, NEUTRAL, LENGTHS), NEARER)


@pytest.fixture(scope="module")
def found():
    return made()


def of(table, claim, against=None, vectors="contextual"):
    mine = table[(table["claim"] == claim) & table["vectors"].isin((vectors, "behaviour"))]
    (row,) = (mine if against is None else mine[mine["against"] == against]).itertuples()
    return row


def test_what_was_made_to_hold_holds(found):
    for claim in (
        *("gate", "gate_passed", "same_over_mac", "same_over_direct_bias", "same_over_direct_bias_signed"),
        *("mac_near_0", "weat_is_same", "unmasking_over_same", "effect_size_near_0", "angle_spearman"),
        *("same_stereotype_follows_sd", "weat_es_moves_most", "mac_moves_least", "errors_same", "errors_rnd"),
    ):
        assert of(found, claim, "planted" if claim in TWO else None).verdict == "holds", claim
    skew = of(found, "skew_follows_mean", "unmasking")
    assert skew.verdict == "holds"
    assert skew.paper == "R² .21"
    assert of(found, "skew_follows_mean", "planted").paper == ""
    # scores of one metric times a number: no difference, and so nothing to say
    assert of(found, "weat_differs_more_than_same").verdict == "cannot be said"
    assert of(found, "errors_unmasking").verdict == "holds"


# claims that are made of both truths
TWO = (
    *("same_over_mac", "same_over_direct_bias", "same_over_direct_bias_signed", "mac_near_0", "weat_is_same"),
    "same_stereotype_follows_sd",
)


def test_what_was_made_to_fail_fails():
    """SAME sees nothing, MAC, unsigned, nearly all, and RND has the wrong sign."""
    wrong = made(
        same=lambda u, rng: 0.1 * rng.normal(size=WORDS),
        mac=lambda u, rng: 1 + abs(u - 0.5) + 0.01 * rng.normal(size=WORDS),
        rnd=lambda u, rng: u - 0.5 + 0.05 * rng.normal(size=WORDS),
    )
    for claim in ("same_over_mac", "mac_near_0", "same_over_direct_bias_signed"):
        assert of(wrong, claim, "planted").verdict == "does not hold", claim
    assert of(wrong, "errors_rnd").verdict == "does not hold"
    assert of(wrong, "errors_same").verdict == "cannot be said"
    assert of(wrong, "unmasking_over_same").verdict == "holds"


def test_values_are_means_and_correlations_of_the_models(found):
    """R² of SAME and of what the model says, from records made again."""
    squares, values, means, said = [], [], [], []
    for i, (mu, sigma) in enumerate(PLANS):
        share = np.random.default_rng([0, i]).normal(mu, sigma, WORDS).clip(0, 1)
        for replicate in (1, 2, 3):
            rng = np.random.default_rng([0, i, replicate])
            unmasking = (share + 0.02 * rng.normal(size=WORDS)).clip(0, 1)
            errors = (unmasking - 0.5 + 0.1 * rng.normal(size=WORDS)).clip(-1, 1)
            same = 0.3 * (unmasking - 0.5) + 0.01 * rng.normal(size=WORDS)
            squares.append(np.corrcoef(unmasking, share)[0, 1] ** 2 - np.corrcoef(same, share)[0, 1] ** 2)
            said.append(np.corrcoef(same, errors)[0, 1] ** 2)
            values.append(same.mean())
            means.append(unmasking.mean())
    assert of(found, "unmasking_over_same").value == pytest.approx(np.mean(squares))
    assert of(found, "skew_follows_mean", "unmasking").value == pytest.approx(
        np.corrcoef(values, means)[0, 1]
    )
    row = of(found, "errors_same")
    assert row.value == pytest.approx(np.mean(said))
    assert 0 < row.ceiling < 0.5
    assert (row.models, row.plans) == (18, 6)


def test_numbers_beside_the_papers(found):
    # an effect size of .01 in all models; in those of one plan the words have too little bias to say so
    assert of(found, "effect_size_near_0").value == pytest.approx(15 / 18)
    assert of(found, "halves_weat_es").value == pytest.approx(0.2)
    assert of(found, "weat_es_moves_most").value == pytest.approx(0.2 - 0.01)
    assert of(found, "mac_moves_least").value == pytest.approx(0.0005 - 0.01)
    angles = [of(found, f"angle_{name}") for name in ("alike", "worse")]
    assert all(row.plans >= 3 for row in angles)
    assert of(found, "angle_difference").verdict == "holds"
    # too few plans in one of the groups, however many in all
    few = made(
        plans=[(0.5, 0.1), *((mu, 0.3) for mu in (0.3, 0.4, 0.5, 0.6))],
        direct_bias=lambda u, rng: u - 0.5 + (0.01 if u.std() > 0.15 else 0.5) * rng.normal(size=WORDS),
    )
    assert [of(few, f"angle_{name}").plans for name in ("alike", "worse", "difference")] == [4, 1, 5]
    assert of(few, "angle_difference").verdict == "cannot be said"
    assert {row.verdict for row in angles} == {""}
    assert of(found, "angle_difference").value == pytest.approx(angles[1].value - angles[0].value)


def test_comparability_needs_replicates_and_intervals_three_plans():
    alone = made(replicates=1)
    assert set(alone.loc[alone["experiment"] == "E5", "verdict"]) <= {"cannot be said", ""}
    assert (alone.loc[alone["experiment"] == "E5", "models"] == 0).all()
    few = made(plans=PLANS[:2])
    assert set(few["verdict"]) == {"cannot be said", ""}
    assert few["low"].isna().all()
    assert of(few, "same_over_mac", "planted").value > 0.5


def test_static_vectors_are_compared_with_what_was_planted(found):
    static = made(trainer="ppmi")
    assert set(static["against"]) == {"planted", ""}
    assert not set(static["experiment"]) & {"E2", "downstream"}
    assert of(static, "skew_follows_mean").paper == "R² .21"
    assert "unmasking_over_same" not in set(static["claim"])
    assert of(static, "same_over_mac").verdict == "holds"


def test_columns_are_what_they_declare(found):
    assert list(found) == COLUMNS
    for column in CLAIMS:
        values = found[column.name]
        if column.values:
            assert set(values) <= set(column.values), column.name
        if column.range:
            assert values.dropna().between(*column.range).all(), column.name
    assert not found.duplicated(["claim", "trainer", "vectors", "against"]).any()
    claimed = found[found["side"] != ""]
    assert claimed["threshold"].notna().all()
    known = claimed[claimed["low"].notna()]
    assert (known["low"] <= known["high"]).all()
    assert (found["text"].str.len() < 110).all()


def test_the_claims_of_a_figure_are_the_papers_comparisons(found):
    drawn = figure_table(found, "claims")
    pairs = drawn.groupby("experiment")["against"].unique().map(set)
    assert pairs["E6"] == {"unmasking"}
    assert set(drawn.loc[drawn["against"] == "unmasking", "claim"]) >= {"same_below_unmasking"}
    assert not drawn["claim"].str.startswith("errors_").any()
    assert not drawn.duplicated(["claim", "trainer", "vectors", "text"]).any()
    assert set(figure_table(found, "downstream")["claim"]) == {
        *("errors_same", "errors_mac", "errors_rnd", "errors_unmasking")
    }
    pd.testing.assert_frame_equal(found, made())
