"""Four models of made words that differ in their geometry, and small studies of random criteria on them."""

from __future__ import annotations

from functools import cache

import numpy as np
from threadpoolctl import threadpool_limits

import biasgrid as bg
from biasgrid import Query
from validation.calibration.random_criteria import INDEPENDENT, draw_criteria, measure
from validation.planted_bias.scale import Geometry

METRICS = {"mac": {}, "weat": {}}
WORDS = [f"w{i}" for i in range(1200)]
GEOMETRIES = Geometry(), Geometry(scale=4), Geometry(share=0.2), Geometry(common=1)
# one dimension in which models are biased, by unlike amounts
LEANINGS = (0.0, 1.0, 2.0, 5.0)


def vectors(seed: int = 0) -> np.ndarray:
    """Return words in 60 topics, (words, dimensions)."""
    rng = np.random.default_rng(seed)
    topics, own = rng.normal(size=(60, 40)), rng.normal(size=(len(WORDS), 40))
    return topics.repeat(20, axis=0)[rng.permutation(len(WORDS))] + 2 * own


@cache
def models() -> dict[str, bg.EmbeddingStore]:
    """Return models of four geometries: none is biased more than another."""
    return {
        f"model{i}": bg.load(
            dict(zip(WORDS, GEOMETRIES[i].of(vectors(), np.random.default_rng(i)), strict=True)),
            name=f"model{i}",
        )
        for i in range(4)
    }


@cache
def random_study():
    """Return the study of four criteria of random words."""
    with threadpool_limits(1):
        criteria = draw_criteria(INDEPENDENT, WORDS, models(), number=4, pairs=6)
        (study,) = measure(criteria, models(), METRICS, groups=299, resamples=100)
    return study


@cache
def biased_study():
    """Return a study of seven queries in which models are biased by unlike amounts."""
    sets = np.arange(28 * 8).reshape(28, 8)
    queries = [
        Query(
            *([[WORDS[place] for place in sets[4 * i + j]] for j in pair] for pair in ((0, 1), (2, 3))),
            name=f"q{i}",
        )
        for i in range(7)
    ]
    biased = {}
    for i, amount in enumerate(LEANINGS):
        of_model = np.column_stack([vectors(), np.zeros(len(WORDS))])
        of_model[sets[0::2].ravel(), -1] = amount
        of_model[sets[1::2].ravel(), -1] = -amount
        biased[f"model{i}"] = bg.load(dict(zip(WORDS, of_model, strict=True)), name=f"model{i}")
    with threadpool_limits(1):
        (study,) = measure({"planted": queries}, biased, METRICS, groups=299, resamples=100)
    return study
