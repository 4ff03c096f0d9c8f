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
    items: bool = False,
) -> list[dict[str, Any]]:
    """By benchmark: rho of the ratings and the cosines of the pairs whose words the model has, -1 to 1; `n` pairs of
    the benchmark's `total`. With `items` also the `ratings` and `cosines` of all pairs, None where there is none.

    `how` words are looked up: see `benchmarks.look_up`; with "gensim" as gensim's `evaluate_word_pairs` over the
    whole vocabulary, which would need a KeyedVectors of it.
    """
    asked = [word for pairs in benchmarks.values() for *words, _ in pairs for word in words]
    found = look_up(state, asked, preprocessors, how) if asked else {}
    facts = []
    for name, pairs in benchmarks.items():
        ratings = np.array([rating for *_, rating in pairs])
        cosines, undirected = _cosines(state, pairs, found)
        there = ~np.isnan(cosines)
        n = int(there.sum())
        more = {"total": len(pairs)}
        if items:
            known = np.where(there, cosines, None).tolist()
            more |= {"ratings": ratings.tolist(), "cosines": known}
        why = "degenerate" if n >= 2 else "too_few_pairs"
        value = rho(ratings[there], cosines[there])
        facts.append(fact("similarity", name, value, n, undirected=undirected, why=why, **more))
    return facts


def rho(ratings: np.ndarray, cosines: np.ndarray) -> float:
    """Spearman's rho, ties averaged; NaN of fewer than two pairs, or where either side is constant."""
    if len(ratings) < 2 or np.ptp(ratings) == 0 or np.ptp(cosines) == 0:
        return math.nan
    return float(spearmanr(ratings, cosines).statistic)


def _cosines(state, pairs, found) -> tuple[np.ndarray, int]:
    """The pairs' cosines, NaN where the model lacks a word or its vector has no direction, and how many have none."""
    covered = [i for i, (a, b, _) in enumerate(pairs) if a in found and b in found]
    cosines = np.full(len(pairs), np.nan)
    if not covered:
        return cosines, 0
    sides = [zip(*[found[pairs[i][side]] for i in covered], strict=True) for side in (0, 1)]
    (a, a_there), (b, b_there) = (
        directions(state.take(list(entries), np.array(rows))) for entries, rows in sides
    )
    there = a_there & b_there
    cosines[np.array(covered)[there]] = np.einsum("ij,ij->i", a, b)[there]
    return cosines, int((~there).sum())
