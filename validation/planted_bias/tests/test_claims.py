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

from validation.planted_bias import estimates
from validation.planted_bias.claims import CLAIMS, claims, figure_table, verdict
from validation.planted_bias.recovery import model_table
from validation.planted_bias.thresholds import near_0_by_chance

pytestmark = pytest.mark.slow

NEUTRAL = {"mac": 1.0}
KEYS = ("same", "same_skew", "same_stereotype", "weat", "weat_es", "direct_bias", "mac")
LENGTHS = dict.fromkeys(KEYS, 1.0) | {"mac": 2.0, "weat_es": 4.0, "weat": None}
TASK = ["reliability", "retest", "accuracy"]
NEARER = {"same": "first", "mac": "", "rnd": "second"}
PLANS = list(itertools.product((0.3, 0.5, 0.7), (0.1, 0.2)))
# as many as a correlation needs
MANY = list(itertools.product((0.3, 0.4, 0.5, 0.6, 0.7), (0.1, 0.15, 0.2, 0.25)))


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


@pytest.mark.parametrize("n", [3, 5, 12])
def test_a_mean_has_the_t_interval_of_its_plans_means(n):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, n, 4)) + rng.normal(size=(2, n, 1))
    plans = np.repeat(np.arange(n), 4)
    for statistic, values in ((estimates.difference, x - y), (estimates.distance, abs(x - y))):
        found = estimates.estimate(plans, [x.ravel(), y.ravel()], statistic)
        expected = stats.ttest_1samp(values.mean(axis=1), 0).confidence_interval()
        assert found == pytest.approx((values.mean(), *expected, 4 * n, n))
        wide = estimates.estimate(plans, [x.ravel(), y.ravel()], statistic, 0.99)
        expected = stats.ttest_1samp(values.mean(axis=1), 0).confidence_interval(0.99)
        assert wide[1:3] == pytest.approx(tuple(expected))


def test_plans_of_other_sizes_have_an_interval_of_the_mean_over_models():
    parts = [np.array(part) for part in ([1.0], [2.0, 4.0], [3.0, 3.0, 9.0], [0.0, 1.0])]
    plans = np.repeat(np.arange(4), [len(part) for part in parts])
    found = estimates.estimate(plans, [np.concatenate(parts)], estimates.mean)
    without = [np.concatenate(parts[:i] + parts[i + 1 :]).mean() for i in range(4)]
    whole = np.concatenate(parts).mean()
    half = stats.t.ppf(0.975, 3) * math.sqrt(3 / 4 * sum((mean - whole) ** 2 for mean in without))
    assert found == pytest.approx((whole, whole - half, whole + half, 8, 4))


def test_a_correlation_has_a_percentile_bootstrap():
    """Against one that draws plans by a loop of its own."""
    rng = np.random.default_rng(1)
    plans = np.repeat(np.arange(24), 3)
    x = rng.normal(size=72) + np.repeat(rng.normal(size=24), 3)
    y = x + rng.normal(size=72)
    value, low, high, models, found = estimates.estimate(plans, [x, y], estimates.pearson)
    drawn = []
    for _ in range(5000):
        there = np.concatenate([np.flatnonzero(plans == plan) for plan in rng.integers(0, 24, 24)])
        drawn.append(np.corrcoef(x[there], y[there])[0, 1])
    assert (value, models, found) == (pytest.approx(np.corrcoef(x, y)[0, 1]), 72, 24)
    assert [low, high] == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.08 * (high - low))
    for statistic in estimates.CORRELATIONS:
        columns = [x, y] if statistic is not estimates.r_squared_difference else [x, y, y**2]
        assert np.isfinite(estimates.estimate(plans, columns, statistic)[:3]).all()
        few = estimates.estimate(plans[:57], [column[:57] for column in columns], statistic)
        assert few.plans == 19
        assert np.isfinite(few.value)
        assert np.isnan([few.low, few.high]).all()


@pytest.mark.parametrize("sizes", [[3] * 3, [3] * 5, [3] * 6, [1, 1, 3, 3, 2, 3], [3] * 11])
def test_means_without_an_effect_have_a_verdict_in_one_of_20(sizes):
    """A percentile bootstrap over plans has one in 26 % of three plans, and in 16 % of five."""
    rng = np.random.default_rng(len(sizes))
    plans, draws = np.repeat(np.arange(len(sizes)), sizes), 2000
    wrong = 0
    for _ in range(draws):
        x = rng.normal(size=len(sizes))[plans] + 0.7 * rng.normal(size=len(plans))
        _, low, high, *_ = estimates.estimate(plans, [x], estimates.mean)
        wrong += verdict(">", 0, low, high) != "cannot be said"
    # three standard errors of .05 are .015
    assert 0.035 < wrong / draws < (0.065 if len(set(sizes)) == 1 else 0.08)


def test_groups_without_a_difference_have_a_verdict_in_at_most_one_of_20():
    rng = np.random.default_rng(5)
    plans, draws, wrong = np.repeat(np.arange(8), 3), 1500, 0
    first = (plans < 4).astype(float)
    for _ in range(draws):
        x = rng.normal(size=8)[plans] + 0.7 * rng.normal(size=24)
        groups = [first, 1 - first]
        _, low, high, *_ = estimates.estimate(plans, [x, *groups], estimates.gap, groups=groups)
        wrong += verdict(">", 0, low, high) != "cannot be said"
    assert 0.005 < wrong / draws < 0.065


@pytest.mark.slow
def test_correlations_without_an_effect_have_a_verdict_in_little_more_than_one_of_20():
    rng, draws, wrong = np.random.default_rng(6), 600, 0
    plans = np.repeat(np.arange(20), 3)
    for _ in range(draws):
        x, y = rng.normal(size=(2, 20))[:, plans] + 0.7 * rng.normal(size=(2, 60))
        _, low, high, *_ = estimates.estimate(plans, [x, y], estimates.pearson)
        wrong += verdict(">", 0, low, high) != "cannot be said"
    assert 0.02 < wrong / draws < 0.11


def test_a_share_that_all_plans_have_needs_six():
    for plans, known in ((3, False), (5, False), (6, True)):
        of = estimates.estimate(np.arange(plans), [np.ones(plans)], estimates.share)
        assert (of.value, np.isfinite(of.low)) == (1, known)
    # of numbers that are no share the same one in all plans is one that they have
    assert estimates.estimate(np.arange(3), [np.ones(3)], estimates.mean)[:3] == (1, 1, 1)
    assert estimates.estimate(np.arange(3), [np.array([0.0, 1, 1])], estimates.share)[1:3] == (0, 1)


@pytest.mark.parametrize("below", [False, True])
def test_against_each_needs_all_pairs_to_hold_and_one_to_fail(below):
    """Against t-tests of each pair."""
    rng = np.random.default_rng(7)
    sign = -1 if below else 1
    x = rng.normal(size=8)
    others = [x - sign * (shift + 0.5 * rng.normal(size=8)) for shift in (5, 2, 0.1)]
    tests = [stats.ttest_1samp(sign * (x - other), 0) for other in others]

    def against(which):
        found = estimates.against_each(
            np.arange(8), [x], [others[i] for i in which], estimates.difference, below
        )
        value, low, high = found[:3] if not below else (-found[0], -found[2], -found[1])
        assert found[3:] == (8, 8)
        assert value == pytest.approx(min(sign * (x - others[i]).mean() for i in which))
        assert low == pytest.approx(min(tests[i].confidence_interval(0.95).low for i in which))
        level = 1 - 0.05 / len(which)
        assert high == pytest.approx(min(tests[i].confidence_interval(level).high for i in which))
        return verdict("<" if below else ">", 0, *found[1:3])

    assert against([0]) == against([0, 1]) == "holds"
    assert against([0, 1, 2]) == "cannot be said"
    others.append(x + sign * (3 + 0.5 * rng.normal(size=8)))
    tests.append(stats.ttest_1samp(sign * (x - others[3]), 0))
    assert against([0, 1, 2, 3]) == "does not hold"


def test_against_each_of_correlations():
    """The nearest of those that are compared decides, and models that lack a number of any are left out."""
    rng = np.random.default_rng(8)
    truth = rng.normal(size=40)
    x, near, far = (truth + sd * rng.normal(size=40) for sd in (0.1, 1, 5))
    near[0] = np.nan
    found = estimates.against_each(np.arange(40), [truth, x], [far, near], estimates.r_squared_difference)
    r = {name: np.corrcoef(truth[1:], y[1:])[0, 1] ** 2 for name, y in (("x", x), ("near", near))}
    assert found.value == pytest.approx(r["x"] - r["near"])
    assert 0 < found.low < found.value < found.high
    assert found.models == 39


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
    return claims(model_table(models, NEUTRAL, LENGTHS), NEARER)


@pytest.fixture(scope="module")
def found():
    return made()


@pytest.fixture(scope="module")
def many():
    """Of enough plans for correlations, without replicates."""
    return made(plans=MANY, replicates=1)


def of(table, claim, against=None, vectors="contextual"):
    mine = table[(table["claim"] == claim) & table["vectors"].isin((vectors, "behaviour"))]
    (row,) = (mine if against is None else mine[mine["against"] == against]).itertuples()
    return row


def test_what_was_made_to_hold_holds(found, many):
    for claim in (
        *("gate", "gate_passed", "same_over_mac", "same_over_direct_bias", "same_over_direct_bias_signed"),
        *("mac_near_0", "weat_is_same", "unmasking_over_same", "same_below_unmasking"),
        *("unmasking_over_same_all", "same_below_unmasking_all", "weat_es_moves_most", "mac_moves_least"),
        *("errors_same", "errors_rnd"),
    ):
        for table in (found, many):
            assert of(table, claim, "planted" if claim in TWO else None).verdict == "holds", claim
    for claim in ("skew_follows_mean", "same_stereotype_follows_sd", "only_skew_follows_mean"):
        assert of(many, claim, "unmasking").verdict == "holds", claim
        assert of(found, claim, "unmasking").verdict == "cannot be said", claim
    assert of(many, "angle_spearman").verdict == "holds"
    skew = of(many, "skew_follows_mean", "unmasking")
    assert skew.paper == "R² .21"
    assert of(many, "skew_follows_mean", "planted").paper == ""
    # scores of one metric times a number: no difference, and so nothing to say
    assert of(found, "weat_differs_more_than_same").verdict == "cannot be said"
    assert of(found, "errors_unmasking").verdict == "holds"


# claims that are made of both truths
TWO = (
    *("same_over_mac", "same_over_direct_bias", "same_over_direct_bias_signed", "mac_near_0", "weat_is_same"),
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
    assert (row.reliability, row.accuracy) == pytest.approx((0.5, 0.8))
    assert 0.9 < row.retest < 1
    assert (row.models, row.plans) == (18, 6)


def test_numbers_beside_the_papers(found):
    # an effect size of .01 in all models; in those of one plan the words have too little bias
    row = of(found, "effect_size_near_0")
    assert (row.value, row.models, row.plans, row.verdict, row.side) == (1, 15, 5, "", "")
    chance = of(found, "effect_size_near_0_by_chance")
    assert (chance.models, chance.plans, chance.verdict, chance.side) == (0, 0, "", "")
    assert np.isnan(chance.low)
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


def test_the_example_by_chance():
    """Against WEAT's own effect size, of scores of other seeds."""
    rng, near = np.random.default_rng(99), 0
    for scores in rng.normal(size=(3000, 6)):
        sizes = [
            abs(scores[list(way)].mean() - np.delete(scores, list(way)).mean()) / scores.std()
            for way in itertools.combinations(range(6), 3)
        ]
        near += min(sizes) < 0.1
    # three standard errors of 3,000 draws
    assert near_0_by_chance() == pytest.approx(near / 3000, abs=3 * math.sqrt(0.25 / 3000))


def test_downstream_rows_are_there_without_replicates(found, many):
    rows = [table[table["claim"].str.startswith("errors_")] for table in (found, many)]
    keys = ["claim", "trainer", "vectors"]
    assert rows[0][keys].to_numpy().tolist() == rows[1][keys].to_numpy().tolist()
    assert rows[0]["retest"].notna().all()
    assert rows[1]["retest"].isna().all()
    assert rows[1][["reliability", "accuracy"]].notna().all(axis=None)
    assert found.loc[found["experiment"] != "downstream", TASK].isna().all(axis=None)


def test_what_the_gate_selects_on_is_there_of_all_models():
    """Models that say anything but what was planted: none is judged, and SAME follows it better than they say it."""
    rng = np.random.default_rng(0)
    models = []
    for plan, replicate in itertools.product(range(4), (1, 2)):
        share, says = rng.random((2, WORDS))
        same = share + 0.1 * rng.normal(size=WORDS)
        models.append(
            record(share, {"same": measured(same)}, kind="contextual", trainer="bert", mu=plan / 10,
                   replicate=replicate, behaviour=(says, says - 0.5))
        )  # fmt: skip
    table = claims(model_table(models, NEUTRAL, LENGTHS), NEARER)
    assert set(table["claim"]) == {
        "gate",
        "gate_passed",
        "unmasking_over_same_all",
        "same_below_unmasking_all",
    }
    row = of(table, "unmasking_over_same_all")
    assert (row.verdict, row.models, row.plans) == ("does not hold", 8, 4)
    assert of(table, "gate_passed").value == 0


def test_static_vectors_are_compared_with_what_was_planted(found):
    static = made(trainer="ppmi")
    assert set(static["against"]) == {"planted", ""}
    assert not set(static["experiment"]) & {"E2", "downstream"}
    assert of(static, "skew_follows_mean").paper == "R² .21"
    assert not static["claim"].str.contains("unmasking").any()
    assert of(static, "same_over_mac").verdict == "holds"


def test_columns_are_what_they_declare(found):
    assert list(found) == CLAIMS.names
    for column in CLAIMS.columns:
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
    assert (found["text"].str.len() < 120).all()


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
