"""Word similarity: a model's usefulness after debiasing, as Spearman's rho with human ratings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import BiasgridError
from ..core.validation import Line
from ..models.store import DebiasedModel, EmbeddingStore
from .benchmarks import lines, look_up
from .evaluation import Evaluation, Outcome
from .facts import directions, fact
from .spec import FilePath, Spec


def word_pairs(path: str) -> list[tuple[str, str, float]]:
    """Read pairs of words and their human ratings. Lines that begin with # are comments.

    Raises BiasgridError for another line and for a file without pairs.
    """
    pairs = []
    for number, line in lines(path):
        if line.startswith("#"):
            continue
        try:
            a, b, rating = line.split("\t")
            if not math.isfinite(float(rating)):
                raise ValueError
        except ValueError:
            raise BiasgridError(
                f"{path}: line {number}: {line!r} is not word, word and rating with tabs between"
            ) from None
        pairs.append((a, b, float(rating)))
    if not pairs:
        raise BiasgridError(f"{path}: has no word pairs")
    return pairs


def measure(
    model: EmbeddingStore,
    state: EmbeddingStore | DebiasedModel,
    spec: Mapping[str, str],
    options: Spec,
    seed: int,
) -> Outcome:
    """Measure the similarity benchmarks of a spec (`measures`)."""
    return Outcome(measures(state, {name: word_pairs(path) for name, path in spec.items()}, options))


def measures(
    state: EmbeddingStore | DebiasedModel,
    benchmarks: Mapping[str, Sequence[tuple[str, str, float]]],
    options: Spec,
) -> list[dict[str, Any]]:
    """Compute rho between ratings and cosines for each benchmark, over the pairs whose words the model has, -1 to
    1.

    `n` is the number of these pairs of the benchmark's `total`. With `options.items` the record also has the
    `ratings` and `cosines` of all pairs, None if a cosine is missing. `options.look_up` "gensim" reproduces
    gensim's `evaluate_word_pairs` over the whole vocabulary, which would need a KeyedVectors of it.
    """
    all_words = [word for pairs in benchmarks.values() for *words, _ in pairs for word in words]
    locations = look_up(state, all_words, options) if all_words else {}
    facts = []
    for name, pairs in benchmarks.items():
        ratings = np.array([rating for *_, rating in pairs])
        cosines, no_direction = _cosines(state, pairs, locations)
        has_cosine = ~np.isnan(cosines)
        n = int(has_cosine.sum())
        extras = {"total": len(pairs)}
        if options.items:
            json_cosines = np.where(has_cosine, cosines, None).tolist()  # type: ignore[call-overload]
            extras |= {"ratings": ratings.tolist(), "cosines": json_cosines}
        why = "degenerate" if n >= 2 else "too_few_pairs"
        value = rho(ratings[has_cosine], cosines[has_cosine])
        facts.append(fact("similarity", name, value, n, undirected=no_direction, why=why, **extras))
    return facts


def rho(ratings: np.ndarray, cosines: np.ndarray) -> float:
    """Compute Spearman's rho, ties averaged; NaN for fewer than two pairs, or if either side is constant."""
    if len(ratings) < 2 or np.ptp(ratings) == 0 or np.ptp(cosines) == 0:
        return math.nan
    # Import scipy late: the config's checks import this file and do not measure anything.
    from scipy.stats import spearmanr

    return float(spearmanr(ratings, cosines).statistic)


def _cosines(state, pairs, locations) -> tuple[np.ndarray, int]:
    """Compute the pairs' cosines, NaN if a word or its direction is missing, and count the pairs without a
    direction."""
    whole_pairs = [i for i, (a, b, _) in enumerate(pairs) if a in locations and b in locations]
    cosines = np.full(len(pairs), np.nan)
    if not whole_pairs:
        return cosines, 0
    sides = [zip(*[locations[pairs[i][side]] for i in whole_pairs], strict=True) for side in (0, 1)]
    (a, a_has_direction), (b, b_has_direction) = (
        directions(state.take(list(entries), np.array(rows))) for entries, rows in sides
    )
    has_cosine = a_has_direction & b_has_direction
    cosines[np.array(whole_pairs)[has_cosine]] = np.einsum("ij,ij->i", a, b)[has_cosine]
    return cosines, int((~has_cosine).sum())


EVALUATIONS = (
    Evaluation(
        "similarity",
        "Correlation with human ratings of word similarity. By benchmark, a file of word pairs (lines of word, "
        "word and rating with tabs between).",
        Mapping[Line, FilePath],
        measure,
        default={},
        imports=("scipy.stats",),
        order=5,
    ),
)
