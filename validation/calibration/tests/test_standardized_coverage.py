"""Coverage of intervals of standardised bias, in a small form on made words."""

import numpy as np
import pytest
from scipy.stats import norm, t

from biasgrid.core.geometry import unit
from biasgrid.measure.statistics.scale import Scale
from biasgrid.metrics import REGISTRY
from validation.calibration.standardized import Kind, Pools, Truth, coverage, intervals_of_mean, rows


@pytest.fixture(scope="module")
def pools():
    """Words of two groups that differ in one direction, and two topics that lie in it."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(600, 20)) / np.sqrt(20)
    vectors[:200, 0] += np.repeat([0.6, -0.6], 100)
    vectors[200:, 0] += np.tile(np.repeat([0.5, -0.5], 100), 2)
    places = np.split(np.arange(600), 6)
    words = np.array([f"w{place}" for place in range(600)], dtype=object)
    return Pools(
        words, unit(vectors), (places[0], places[1]), [(places[2], places[3]), (places[4], places[5])]
    )


def truth(kind, number, rng):
    topics = range(len(kind.pools.topics))
    values = [np.abs(kind.values(topic, kind.size, number, rng) - kind.metric.neutral) for topic in topics]
    population = [abs(kind.population(topic, rng) - kind.metric.neutral) for topic in topics]
    scale = Scale(kind.metric.neutral, 0.3, 0.2, (1e-5, 0.0, 1e-5), 999, 999)
    return Truth([scale] * 2, np.array([v.mean() for v in values]), np.array(population))


def test_target_sets_come_from_both_pools_by_share(pools):
    rng = np.random.default_rng(1)
    drawn = [pools.draw_targets(8, 0.65, rng) for _ in range(500)]
    own = np.mean(
        [[np.isin(s, pool).mean() for s, pool in zip(d, pools.targets, strict=True)] for d in drawn]
    )
    assert own == pytest.approx(0.65, abs=0.03)
    assert all(len({*first, *second}) == 16 for first, second in drawn)


def test_without_bias_the_population_has_none(pools):
    rng = np.random.default_rng(2)
    for name in ("weat", "rnd", "mac"):
        metric = REGISTRY[name]
        of_bias = {
            bias: abs(Kind(pools, metric, {}, 8, bias).population(0, rng) - metric.neutral)
            for bias in ("zero", "small", "large")
        }
        assert of_bias["zero"] < 0.25 * of_bias["small"] < 0.25 * of_bias["large"]


def test_intervals_hold_the_mean_of_such_lists(pools):
    rng = np.random.default_rng(3)
    kind = Kind(pools, REGISTRY["rnd"], {}, 8, "large")
    found = list(rows(kind, truth(kind, 400, rng), 60, rng))
    chosen = [
        r for r in found if (r["of"], r["interval"]) in {("score", "in scores.csv"), ("mean", "t, words - 1")}
    ]
    assert [r["runs"] for r in chosen] == [60, 60]
    # 60 runs at 95 %: fewer than 86 % has a chance below 1 %
    assert all(r["covers"] > 0.86 for r in chosen)
    assert all(0 < r["width"] < 10 for r in chosen)


def test_intervals_of_a_mean():
    rng = np.random.default_rng(4)
    moves = rng.normal(size=(3, 400))
    values = np.array([1.0, 2.0, 3.0])
    found = intervals_of_mean(values, values[:, None] + moves, np.full(3, 0.03), 8)
    # 8 words vary by 8/7 of what resamples do, and baselines by .03 / 3
    error = np.sqrt(8 / 7 * moves.mean(axis=0).var(ddof=1) + 0.01)
    for name, width in {"t, words - 1": t.ppf(0.975, 7), "normal": norm.ppf(0.975)}.items():
        assert found[name] == pytest.approx((2 - width * error, 2 + width * error))
    low, high = found["percentile"]
    assert found["basic"] == pytest.approx((4 - high, 4 - low))


def test_coverage_counts_intervals_that_hold_the_truth():
    share, error, width = coverage([(0, 1), (0.5, 2), (2, 3), (0, 4)], 0.75)
    assert (share, width) == (0.75, 1.875)
    assert error == pytest.approx(np.sqrt(0.75 * 0.25 / 4))
    assert np.isnan(coverage([(0, 1)], np.nan)[0])
