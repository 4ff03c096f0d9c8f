"""Metrics of sentence pairs and of StereoSet's items: by hand, against scipy, and what holds whatever the scores."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from biasgrid_plugin_maddalozzo.metrics.score_distributions import fit_distributions
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biasgrid import BiasgridError, Query, load
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.metrics import metric

OF_TWO = ("pll_preference", "mean_pair_difference", "kl_div_s", "score_distributions")
OF_THREE = ("stereoset_lms", "stereoset_ss", "stereoset_icat")
NUMBERS = st.floats(-300, 0).map(lambda x: round(x, 3))


def value(name, *sets, **parameters):
    return scored(name, *sets, **parameters).value


def scored(name, *sets, **parameters):
    """The metric's function on scores, one list per set."""
    targets = [np.ones((len(s), 1)) for s in sets]
    return metric(name).function(targets, [], scores=np.concatenate(sets).astype(float), **parameters)


def rows(sets, most=16):
    # of 9 to 13 pairs with ties, scipy's Wilcoxon test goes through all ways to turn them, which takes long
    return st.sampled_from([*range(2, 9), *range(14, most + 1)]).flatmap(
        lambda n: st.lists(st.lists(NUMBERS, min_size=n, max_size=n), min_size=sets, max_size=sets)
    )


@pytest.mark.slow
@given(rows(2))
@settings(deadline=None, max_examples=25)
def test_sets_in_the_other_order_mirror_the_value(sets):
    first, second = sets
    assert value("mean_pair_difference", second, first) == pytest.approx(
        -value("mean_pair_difference", first, second)
    )
    for name in ("kl_div_s", "score_distributions"):
        assert value(name, second, first) == pytest.approx(value(name, first, second), nan_ok=True)
    ties = np.mean(np.array(first) == np.array(second))
    there, back = (value("pll_preference", *pair) for pair in ((first, second), (second, first)))
    assert there + back == pytest.approx(1 - ties)


@pytest.mark.slow
@given(rows(2), st.integers(-50, 50))
@settings(deadline=None, max_examples=25)
def test_all_scores_may_be_shifted_alike(sets, by):
    for name in OF_TWO:
        # of whole numbers sums are exact
        whole = np.round(sets)
        assert value(name, *(whole + by)) == pytest.approx(value(name, *whole), abs=1e-9, nan_ok=True)


@pytest.mark.slow
@given(rows(2), st.floats(0.1, 200))
@settings(deadline=None, max_examples=25)
def test_kl_div_s_is_blind_to_a_shift_of_one_set(sets, by):
    """Equal variances give 50 however far the means are apart, where the mean difference is the shift."""
    first = np.array(sets[0])
    if first.std() < 0.1:
        return
    assert value("kl_div_s", first, first - by) == pytest.approx(50, abs=1e-6)
    assert value("mean_pair_difference", first, first - by) == pytest.approx(by)
    assert value("pll_preference", first, first - by) == 1


def test_kl_div_s_by_hand():
    # of variances 1 and 4 and one mean, KL is (1/4 - 1 + log 4) / 2 and (4 - 1 - log 4) / 2
    one, other = (0.25 - 1 + math.log(4)) / 2, (3 - math.log(4)) / 2
    assert value("kl_div_s", [-1, 1], [-2, 2]) == pytest.approx(100 * other / (one + other))
    # 71.7 in the specification
    assert value("kl_div_s", [-1, 1], [-2, 2]) == pytest.approx(71.7, abs=0.05)
    # 0/0 is the limit, and variances that differ by next to nothing come near it
    assert value("kl_div_s", [-3, 1], [1, -3]) == 50
    for off in (1e-3, 1e-5, 1e-7, 1e-9):
        assert value("kl_div_s", [-1, 1], [-1 - off, 1 + off]) == pytest.approx(50, abs=40 * off + 1e-6)
    assert math.isnan(value("kl_div_s", [-1, -1], [-2, 2]))


@pytest.mark.filterwarnings("ignore:ks_2samp")
@pytest.mark.slow
@given(rows(2, most=40))
@settings(deadline=None, max_examples=30)
def test_values_lie_in_their_range_and_agree_with_scipy(sets):
    first, second = map(np.array, sets)
    result = scored("score_distributions", first, second)
    expected = stats.ks_2samp(first, second)
    assert (result.value, result.scalars["p_ks"]) == pytest.approx((expected.statistic, expected.pvalue))
    found = scored("mean_pair_difference", first, second)
    spread = (first - second).std()
    if spread > 1e-3:
        assert found.scalars["p_z"] == pytest.approx(
            2 * stats.norm.sf(abs(found.value) / (spread / math.sqrt(len(first) - 1)))
        )
    kl = value("kl_div_s", first, second)
    assert math.isnan(kl) or 50 <= kl <= 100


def test_what_is_cut_off_lies_beyond_open_quantiles():
    difference = np.arange(101.0) ** 2
    zero = np.zeros(101)
    # the 1 % and the 99 % quantile are the second and the last but one
    assert value("mean_pair_difference", difference, zero, trim=0.01) == pytest.approx(
        difference[2:-2].mean()
    )
    assert scored("mean_pair_difference", difference, zero, trim=0.01).scalars["kept"] == 97
    assert math.isnan(value("mean_pair_difference", [1, 2], [0, 0], trim=0.4))


@pytest.mark.slow
def test_distributions_are_ranked_and_their_p_values_are_too_large():
    rng = np.random.default_rng(3)
    sample = stats.genextreme.rvs(0.6, -60, 40, size=400, random_state=rng)
    scalars = scored("score_distributions", sample, sample - 1, fits=True, draws=1, seed=1).scalars
    shape, loc, scale = (scalars[f"first_genextreme_{name}"] for name in ("shape_1", "loc", "scale"))
    assert (shape, loc, scale) == pytest.approx((0.6, -60, 40), rel=0.15)
    ranks = {
        name: scalars[f"first_{name}_rank"] for name in ("genextreme", "norm", "gamma", "lognorm", "burr")
    }
    assert min(ranks, key=ranks.get) == "genextreme"
    assert scalars["first_p_shapiro"] == pytest.approx(stats.shapiro(sample).pvalue)
    normal = stats.norm.fit(sample)
    assert scalars["first_norm_p_ks"] == pytest.approx(stats.kstest(sample, "norm", normal).pvalue)
    # the same shape, shifted
    assert scalars["second_genextreme_loc"] == pytest.approx(loc - 1, abs=0.05)
    # fits are asked for, as they are dear
    assert not any("norm" in name for name in scored("score_distributions", sample, sample - 1).scalars)


@pytest.mark.slow
def test_p_of_the_bootstrap_is_uniform_where_p_of_the_fit_is_not(monkeypatch):
    """Of samples of the distribution itself, p as if nothing were fitted is hardly ever small."""
    monkeypatch.setitem(fit_distributions.__globals__, "DISTRIBUTIONS", ("genextreme",))
    p_ks, bootstrapped = [], []
    for seed in range(5):
        sample = stats.genextreme.rvs(0.6, -60, 40, size=80, random_state=seed)
        found = fit_distributions(sample, 9, np.random.default_rng(seed))
        p_ks.append(found["genextreme_p_ks"])
        bootstrapped.append(found["genextreme_p_bootstrap"])
    assert min(p_ks) > 0.3
    assert np.mean(p_ks) > 0.75
    assert 0.25 < np.mean(bootstrapped) < 0.75


IDEAL = [[-2, -1, -2, -1], [-1, -2, -1, -2], [-9, -9, -9, -9]]


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        # the paper's axioms: ideal, fully biased either way, random
        (IDEAL, (100, 50, 100)),
        ([[-1] * 4, [-2] * 4, [-9] * 4], (100, 100, 0)),
        ([[-2] * 4, [-1] * 4, [-9] * 4], (100, 0, 0)),
        ([[-1, -3, -2, -2], [-3, -1, -3, -1], [-2, -2, -2.5, -1.5]], (50, 50, 50)),
    ],
)
def test_axioms_of_stereoset(sets, expected):
    assert tuple(value(name, *sets) for name in OF_THREE) == expected


def test_the_thesis_counts_items_by_their_sum():
    # exp(-1) + exp(-1) > exp(-.5), though neither alone is more probable
    result = scored("stereoset_lms", [-1.0], [-1.0], [-0.5])
    assert (result.value, result.scalars["lms_thesis"]) == (0, 100)


@given(rows(3))
@settings(deadline=None, max_examples=25)
def test_icat_is_made_of_lms_and_ss(sets):
    lms, ss, icat = (value(name, *sets) for name in OF_THREE)
    assert icat == pytest.approx(lms * min(ss, 100 - ss) / 50)
    assert scored("stereoset_lms", *sets).scalars["lms_thesis"] >= lms


@pytest.mark.slow
@given(rows(4), st.floats(0, 20))
@settings(deadline=None, max_examples=25)
def test_agreement_with_itself_is_whole_and_does_not_depend_on_the_order(sets, width):
    ends = {"lower": -width, "upper": width}
    same = [sets[0], sets[1], sets[0], sets[1]]
    for rule in ("sign", "interval"):
        assert value("agreement", *same, rule=rule, **ends) == 1
        there = scored("agreement", *sets, rule=rule, **ends)
        back = scored("agreement", *sets[2:], *sets[:2], rule=rule, **ends)
        assert (there.value, there.scalars["kappa"]) == pytest.approx(
            (back.value, back.scalars["kappa"]), nan_ok=True
        )
        # against itself as its own control
        assert value("agreement_above_control", *sets, *sets[2:], rule=rule, **ends) == 0


def test_agreement_by_hand():
    # differences 4, -4, 0, 1 and 4, 4, 3, -5: biases 1 -1 0 0 and 1 1 0 -1
    first, other = np.array([4.0, -4, 0, 1]), np.array([4.0, 4, 3, -5])
    zero = np.zeros(4)
    result = scored("agreement", first, zero, other, zero)
    assert result.value == 0.5
    # chance: 1/4 * 1/2 + 1/4 * 1/4 + 1/2 * 1/4
    assert result.scalars["chance"] == pytest.approx(5 / 16)
    assert result.scalars["kappa"] == pytest.approx((8 - 5) / 11)
    assert result.scalars["inside"] == 0.5
    # by sign a tie counts as the second: 1 -1 -1 1 and 1 1 1 -1
    assert value("agreement", first, zero, other, zero, rule="sign") == 0.25
    # both ends belong to the interval
    assert value("agreement", [3.5], [0.0], [-3.5], [0.0]) == 1
    assert value("agreement", [3.5], [0.0], [-3.5], [0.0], upper=3.49) == 0
    with pytest.raises(BiasgridError, match="unknown value 'signs'; did you mean 'sign'"):
        metric("agreement").under({"rule": "signs"})
    with pytest.raises(BiasgridError, match="lower: 4 is not allowed"):
        metric("agreement").under({"lower": 4})


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OF_TWO, *OF_THREE, "agreement", "agreement_above_control"])
def test_resampled_values_are_the_metrics_own(name):
    """A bootstrap's statistic of the pairs as they are, without a pair, and exchanged, is what the function gives."""
    of = metric(name)
    sets, rng = of.template[0], np.random.default_rng(5)
    scores = rng.normal(-20, 6, size=(sets, 7)).round(1)
    for parameters in ({}, {"trim": 0.1}) if name == "mean_pair_difference" else ({},):
        statistic = (
            of.resampled(
                np.ones((sets * 7, 1)),
                np.empty((0, 1)),
                scores=scores.ravel(),
                **{"score": "sz"} | parameters,
            )
            if "score" in of.parameters
            else of.resampled(np.ones((sets * 7, 1)), np.empty((0, 1)), scores=scores.ravel())
        )
        counts = rng.integers(0, 3, size=(5, 7)).astype(float)
        weights = [np.kron(np.eye(sets)[i], counts) for i in range(sets)]
        expected = [value(name, *np.repeat(scores, c.astype(int), axis=1), **parameters) for c in counts]
        assert statistic(weights, []).tolist() == pytest.approx(expected, nan_ok=True)
        if sets == 2:
            swaps = rng.integers(0, 2, size=(5, 7)).astype(float)
            weights = [np.hstack([1 - swaps, swaps]), np.hstack([swaps, 1 - swaps])]
            expected = [value(name, *np.where(swap, scores[::-1], scores), **parameters) for swap in swaps]
            assert statistic(weights, []).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("name", [*OF_TWO, *OF_THREE, "agreement", "agreement_above_control"])
def test_a_sentence_without_a_score_leaves_no_value(name):
    sets = metric(name).template[0]
    scores = np.full((sets, 3), -1.0)
    scores[0, 0] = math.nan
    assert math.isnan(value(name, *scores))


def test_inference_over_items_of_stereoset():
    """Exchanging stereotypes and anti-stereotypes tests ss; of lms it is no test."""
    rng = np.random.default_rng(2)
    texts = [[f"set {s}, item {i}" for i in range(40)] for s in range(3)]
    stereotypes = rng.normal(-10, 1, 40)
    scores = dict(zip(texts[0], stereotypes, strict=True))
    scores |= zip(texts[1], stereotypes - 1, strict=True)
    scores |= zip(texts[2], stereotypes - 5, strict=True)
    model = load(scores, kind="language_model", name="measured")
    query = Query(texts)
    (ss,), _ = infer_query(
        MeasurementSpec(metric("stereoset_ss"), inference={"permutation": {"draws": 999}}), query, model
    )
    assert (ss["value"], ss["permutation"]["p_value"]) == (100, pytest.approx(2 * 0.5**40))
    (lms,), _ = infer_query(
        MeasurementSpec(metric("stereoset_lms"), inference={"permutation": {"draws": 99}}), query, model
    )
    assert lms["permutation"] == {"reason": metric("stereoset_lms").no_test}


# scores that transformers gives to the first 50 pairs of CrowS-Pairs by SmolLM2-135M, one text at a time; of them
# lm-evaluation-harness (commit 4e7e0d47, crows_pairs_english) has pct_stereotype .56 and likelihood_diff 4.8467
SMOLLM2 = Path(__file__).parent / "smollm2_crows_pairs.csv"


def test_the_numbers_of_lm_evaluation_harness():
    with SMOLLM2.open(encoding="utf-8", newline="") as file:
        scores = np.array(
            [[float(row["sent_more"]), float(row["sent_less"])] for row in csv.DictReader(file)]
        )
    assert value("pll_preference", *scores.T) == 0.56
    assert value("mean_pair_difference", *scores.T, variant="lm-eval") == pytest.approx(4.8467, abs=5e-5)
    # a tie counts 0, as in the harness
    assert value("pll_preference", [-1, -2, -3], [-1, -1, -9]) == pytest.approx(1 / 3)


@pytest.mark.filterwarnings("ignore:.*cannot be small")
def test_an_absolute_difference_has_no_test_and_no_verdict():
    model = load({"a b": -2.0, "a c": -5.0, "b c": -4.0, "b d": -4.5}, kind="language_model", name="measured")
    query = Query([["a b", "b c"], ["a c", "b d"]])
    signed = metric("mean_pair_difference")(query, model, permutation=True)
    absolute = metric("mean_pair_difference")(
        query, model, permutation=True, bootstrap=True, variant="lm-eval"
    )
    assert (signed.value, absolute.value) == (1.75, 1.75)
    assert absolute.evidence == "untested"
    assert math.isnan(absolute.p_value)
    assert absolute.ci_low >= 0
