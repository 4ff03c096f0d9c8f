"""Is ranking by standardised bias better than by distance: what is planted, and what the table says of it."""

import math

import numpy as np
import pytest

from biasgrid.geometry import unit
from validation.planted_bias.scale import GEOMETRIES, Words, plant, summary


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
    # a longer copy has the same cosines, one of fewer dimensions has fewer
    copies = [geometry.of(words.vectors, rng) for geometry in GEOMETRIES]
    assert np.allclose(copies[1], 4 * words.vectors)
    assert [copy.shape[1] for copy in copies] == [10, 10, 2, 10, 10, 3]


def test_the_table_says_which_order_is_recovered():
    amounts = np.array([0.0, 0.5, 1.0])
    rng = np.random.default_rng(2)
    unlike = [
        (amounts, np.stack([-amounts, amounts, amounts], axis=1) + rng.normal(size=(3, 3)) / 100)
        for _ in range(4)
    ]
    # of equal amounts, distance has one order in all repetitions
    alike = [
        (np.full(3, 0.5), np.stack([np.arange(3), np.arange(3), rng.permutation(3)], axis=1))
        for _ in range(4)
    ]
    lost = [(amounts, np.full((3, 3), math.nan))]
    row = summary([*unlike, *alike, *lost])
    assert (row["repetitions"], row["tau_distance"], row["tau_standardized"]) == (4, -1, 1)
    assert (row["gain_over_distance"], row["gain_over_unit_low"]) == (2, 0)
    assert (row["pairs_distance"], row["pairs_standardized"]) == (0, 1)
    assert row["w_distance"] == 1 > row["w_standardized"]
