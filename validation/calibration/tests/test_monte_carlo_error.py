"""The reported Monte Carlo error against that of baselines that are drawn again."""

import numpy as np
import pytest

from validation.calibration.few_topics import Null
from validation.calibration.monte_carlo_error import ratios, read_again

SEEDS, SCORES = 40, 6


def draw(seed, shared):
    """Distances of random groups around 400 words; a part of each draw's is the same for all words."""
    rng = np.random.default_rng(seed)
    for score in range(SCORES):
        topics = rng.integers(400, size=1000)
        values = 3 + rng.normal(size=400)[topics] + 0.1 * rng.normal(size=1000) + shared * rng.normal()
        words = rng.integers(3000, size=(1000, 8))
        yield Null("weat", values, np.arange(1000), topics[:, None], f"query {score}", 4.0, words)


@pytest.mark.parametrize(("shared", "expected"), [(0.0, 1.0), (0.1, 2.2)])
def test_what_all_words_share_makes_the_error_too_small(shared, expected):
    table = read_again(list(draw(seed, shared)) for seed in range(SEEDS))
    assert len(table) == SEEDS * SCORES
    found = ratios(table).loc["weat"]
    assert found["scores"] == SCORES
    assert found["ratio"] == pytest.approx(expected, rel=0.25)


def test_scores_without_a_test_are_left_out():
    few = [null._replace(topics=null.topics % 50) for null in draw(0, 0.0)]
    assert read_again([few]).empty
