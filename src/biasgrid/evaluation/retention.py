"""Word similarity: what debiasing leaves of a model's use. Spearman's rho with ratings that people gave."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from ..embeddings.store import DebiasedModel, EmbeddingStore
from ..words import Preprocessor
from .benchmarks import look_up
from .facts import directions, fact


def measures(
    state: EmbeddingStore | DebiasedModel,
    benchmarks: Mapping[str, Sequence[tuple[str, str, float]]],
    preprocessors: Sequence[Preprocessor] = ({},),
    how: str = "preprocessors",
) -> list[dict[str, Any]]:
    """By benchmark: rho of the ratings and the cosines of the pairs whose words the model has, -1 to 1; `n` pairs.

    `how` words are looked up: see `benchmarks.look_up`; with "gensim" as gensim's `evaluate_word_pairs` over the
    whole vocabulary, which would need a KeyedVectors of it.
    """
    asked = [word for pairs in benchmarks.values() for *words, _ in pairs for word in words]
    found = look_up(state, asked, preprocessors, how) if asked else {}
    return [_rho(state, name, pairs, found) for name, pairs in benchmarks.items()]


def _rho(state, name, pairs, found) -> dict[str, Any]:
    covered = [(found.get(a), found.get(b), rating) for a, b, rating in pairs]
    covered = [pair for pair in covered if pair[0] and pair[1]]
    rho, n, undirected = math.nan, 0, 0
    if covered:
        sides = [zip(*[pair[side] for pair in covered], strict=True) for side in (0, 1)]
        (a, a_there), (b, b_there) = (
            directions(state.take(list(entries), np.array(rows))) for entries, rows in sides
        )
        there = a_there & b_there
        n, undirected = int(there.sum()), int((~there).sum())
        ratings = np.array([rating for *_, rating in covered])[there]
        cosines = np.einsum("ij,ij->i", a, b)[there]
        if n >= 2 and np.ptp(ratings) > 0 and np.ptp(cosines) > 0:
            rho = spearmanr(ratings, cosines).statistic
    why = "degenerate" if n >= 2 else "too_few_pairs"
    return fact("similarity", name, rho, n, undirected=undirected, why=why)
