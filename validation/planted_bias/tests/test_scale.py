"""Scales on which models are ordered: what is planted, how copies differ, and what the tables say of an order."""

import math
from statistics import NormalDist, fmean, median, pstdev

import numpy as np
import pandas as pd
import pytest

from biasgrid.core.geometry import unit
from biasgrid.measure.statistics.scale import Scale
from validation.calibration.few_topics import Null
from validation.planted_bias import baselines
from validation.planted_bias.scale import Geometry, Words, plant, summary
from validation.planted_bias.scales import SCALES


def test_the_planted_bias_is_all_that_there_is():
    rng = np.random.default_rng(1)
    words = Words([f"w{i}" for i in range(300)], rng.normal(size=(300, 10)) + 1)
    groups, pairs = words.draw(rng)
    assert len(set(np.concatenate([*groups, *(places for pair in pairs for places in pair)]))) == 8 * 8
    for unit_of in ("lengths", "spreads"):
        planted = plant(words.vectors, groups, pairs, 0.3, unit_of)
        means = [planted[group].mean(axis=0) for group in groups]
        axis = unit(means[0] - means[1])
        assert np.linalg.norm(means[0]) == pytest.approx(np.linalg.norm(means[1]))
        sides = [[(planted[places] @ axis).mean() for places in pair] for pair in pairs]
        assert sides == pytest.approx(np.tile([sides[0][0], -sides[0][0]], (3, 1)))
        assert sides[0][0] == pytest.approx(
            2 * plant(words.vectors, groups, pairs, 0.15, unit_of)[pairs[0][0]].dot(axis).mean()
        )
        left = np.setdiff1d(np.arange(300), np.concatenate([groups[1], *map(np.concatenate, pairs)]))
        assert np.array_equal(planted[left], words.vectors[left])


def test_a_copy_differs_in_its_geometry_alone():
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(200, 10)) * np.arange(1, 11)
    lengths = np.linalg.norm(vectors, axis=1)

    def copy(**geometry):
        return Geometry(**geometry).of(vectors, np.random.default_rng(3))

    def variances(of):
        return np.linalg.svd(of - of.mean(axis=0), compute_uv=False) ** 2 / len(of)

    assert np.array_equal(copy(), vectors)
    assert np.array_equal(copy(scale=2.5), 2.5 * vectors)
    assert copy(share=0.3).shape == (200, 3)
    assert variances(copy(share=0.3)) == pytest.approx(variances(vectors)[:3])
    stretched = np.sort(variances(vectors) * np.repeat([16, 1], [3, 7]))[::-1]
    assert variances(copy(stretch=4)) == pytest.approx(stretched)
    moved = copy(common=0.5) - vectors
    assert moved == pytest.approx(np.tile(moved[0], (200, 1)))
    assert np.linalg.norm(moved[0]) == pytest.approx(0.5 * median(lengths))
    assert copy(unit=True) == pytest.approx(vectors / lengths[:, None])


def test_scales_by_hand():
    # nine random groups; the last is far off
    baseline = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 18.0]
    read = {name: scale(np.array([5.0, 20.0, 0.0]), np.array(baseline)) for name, scale in SCALES.items()}
    assert read["distance"].tolist() == [5, 20, 0]
    assert read["standardized"] == pytest.approx([(x - 6) / pstdev(baseline) for x in (5, 20, 0)])
    # what scores.csv has
    of_scores = Scale.of(1 + np.array(baseline), np.arange(9), 1.0)
    assert read["standardized"] == pytest.approx([of_scores.read(1 - x).value for x in (5, 20, 0)])
    # in the middle, above all, below all: half a rank from the ends
    assert read["normal"] == pytest.approx([NormalDist().inv_cdf(p) for p in (0.5, 0.95, 0.05)])
    roots, logs = ([f(x) for x in baseline] for f in (math.sqrt, math.log))
    assert read["root"][1] == pytest.approx((math.sqrt(20) - fmean(roots)) / pstdev(roots))
    assert read["log"][1:] == pytest.approx([(math.log(x) - fmean(logs)) / pstdev(logs) for x in (20, 1)])
    # the median is 5, and the median distance from it 2
    assert read["robust"] == pytest.approx([0, 15 / 1.4826 / 2, -5 / 1.4826 / 2])
    assert read["ratio"] == pytest.approx([5 / 6, 20 / 6, 0])


def test_the_table_says_which_order_is_recovered():
    amounts = np.array([0.0, 0.5, 1.0])
    # raw distances are in the reverse order, and those of another scale in the right one but for once
    right = dict.fromkeys(SCALES, 1) | {"distance": -1}
    unlike = [(amounts, np.outer(amounts, list(right.values()))) for _ in range(4)]
    unlike[0][1][:, list(SCALES).index("log")] *= -1
    lost = [(amounts, np.full((3, len(SCALES)), math.nan))]
    of_metrics = {"weat": [*unlike, *lost], "rnd": [unlike[1]] * 5, "mac": [*unlike, *lost]}
    found = {(row["metric"], row["scale"]): row for row in summary(of_metrics)}
    rows = {scale: found["weat", scale] for scale in SCALES}
    assert {row["repetitions"] for row in rows.values()} == {4}
    assert [rows[name]["tau"] for name in ("distance", "standardized", "log")] == [-1, 1, 0.5]
    # taus of 1, 1, 1, -1: their standard deviation is 1
    assert rows["log"]["tau_error"] == pytest.approx(0.5)
    assert (rows["standardized"]["over_distance"], rows["standardized"]["over_distance_error"]) == (2, 0)
    assert (rows["log"]["over_standardized"], rows["log"]["over_standardized_error"]) == (-0.5, 0.5)
    # the mean of WEAT and RND: 1, 1, 1, 0 in the four repetitions that both have. MAC measures something else
    mean = found["mean", "log"]
    assert (mean["tau"], mean["tau_error"], mean["repetitions"]) == pytest.approx((0.75, 0.25, 4))


@pytest.fixture(scope="module")
def of_models():
    """Two models, of which the second has twice the distances and is skewed; three queries of normal distances."""
    rng = np.random.default_rng(4)
    found = {"a": {}, "b": {}}
    for query, observed in (("first", 4.0), ("second", 6.0), ("third", 20.0)):
        topics = rng.integers(1000, size=(3000, 1))
        draws = {"a": 5 + rng.normal(size=3000), "b": 2 * (4 + rng.exponential(size=3000))}
        for model, distances in draws.items():
            found[model][query] = Null("weat", distances, np.arange(3000), topics, query, observed)
    del found["b"]["third"]
    return found


def test_halves_have_no_topic_in_common(of_models):
    null = of_models["a"]["first"]
    first, second = baselines.halves(null)
    assert (len(first), len(second)) == (999, 999)
    topics = [set(null.topics[np.isin(null.distances, half), 0]) for half in (first, second)]
    assert not topics[0] & topics[1]


def test_the_table_of_baselines(of_models):
    rows = {row["scale"]: row for row in baselines.summary(of_models)}
    assert {(row["scores"], row["queries"]) for row in rows.values()} == {(5, 2)}
    # the third query of the first model alone
    assert {row["at_bound"] for row in rows.values()} == {0.2}
    assert rows["distance"]["mean_low"] == pytest.approx(5, abs=0.1)
    assert rows["distance"]["mean_high"] == pytest.approx(10, abs=0.2)
    assert rows["distance"]["error"] == 0
    exponential = [-math.log(1 - p) - 1 for p in (0.05, 0.95)]
    normal = NormalDist().inv_cdf(0.95)
    row = rows["standardized"]
    assert (row["q05_low"], row["q95_low"]) == pytest.approx((-normal, normal), abs=0.15)
    assert (row["q05_high"], row["q95_high"]) == pytest.approx(exponential, abs=0.25)
    assert (row["skew_low"], row["skew_high"]) == pytest.approx((0, 2), abs=0.4)
    row = rows["normal"]
    assert (row["q95_low"], row["q95_high"]) == pytest.approx((normal, normal), abs=0.15)


def test_monte_carlo_error_of_a_score():
    rng = np.random.default_rng(5)
    of_model = {
        f"query {i}": Null(
            "weat", 9 + rng.normal(size=2500), None, np.arange(2500)[:, None], "", 7 + i % 2 * 4
        )
        for i in range(150)
    }
    rows = {row["scale"]: row for row in baselines.summary({"model": of_model, "other": of_model})}
    # a mean and a standard deviation of 999 normal numbers, read two standard deviations from the mean
    assert rows["standardized"]["error"] == pytest.approx(math.sqrt((1 + 2**2 / 2) / 999), rel=0.15)


def test_pairs_of_models_in_another_order():
    index = pd.MultiIndex.from_product([["first", "second"], ["a", "b", "c"]], names=["query", "model"])
    first = pd.Series([1.0, 2.0, 3.0, 1.0, 2.0, 3.0], index)
    # of six pairs, a and b are turned round in the first query; c and b are equal in the second
    second = pd.Series([2.0, 1.0, 3.0, 1.0, 2.0, 2.0], index)
    assert baselines.reversed_pairs(first, second) == pytest.approx(1 / 6)
