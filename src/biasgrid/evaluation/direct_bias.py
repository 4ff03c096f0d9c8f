"""Direct bias of words, and the direction that it is measured along (Bolukbasi et al., NeurIPS 2016)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator

from ..core.errors import BiasgridError
from ..core.geometry import unit
from ..core.validation import Strict, field
from ..debias.lookup import FoundWords, find_sets, find_words, subspace
from ..models.preprocessing import Preprocessor
from ..models.store import DebiasedModel, EmbeddingStore
from .evaluation import Evaluation, Outcome
from .facts import direction_in, directions, fact
from .spec import List, Pairs, SomeWords, Spec, Words

# Number of draws of random pairs, whose components are compared with the definitional pairs' components.
DRAWS = 1000
# Limit the drawn numbers, and the products of pairs, that are in memory at a time.
BLOCK = 5_000_000


def _two(extremes: Mapping[str, Any]) -> Mapping[str, Any]:
    if len(extremes) not in (0, 2):
        raise BiasgridError("expected a mapping of two words, such as she and he, to lists of words")
    return extremes


class Direct(Strict):
    """Direct bias, Bolukbasi et al. 2016."""

    definitional_pairs: Pairs = field("pairs such as [she, he], two or more that the model has")
    words: SomeWords = field(
        "what the bias of is measured, in the paper professions, without those of `exclude`: the paper's set N is of "
        "neutral words"
    )
    exclude: Words = field("words that are not neutral by definition", ())
    c: float = field(
        "the strictness, from 0 (every word that is not exactly neutral counts fully) on",
        1.0,
        "exponent",
        ge=0,
    )
    extremes: Annotated[Mapping[str, SomeWords], AfterValidator(_two)] = field(
        "two words, such as she and he, on whose difference the words are projected, each with the words that are "
        "said to lie furthest towards it, most extreme first",
        {},
    )


class Components(Strict):
    """Entry "direct" of a record (`measure`)."""

    shares: list[float]
    random_shares: list[float]
    projections: Mapping[str, list[Annotated[tuple[str, float], List]]] | None = None


def measure(
    model: EmbeddingStore, state: EmbeddingStore | DebiasedModel, spec: Direct, options: Spec, seed: int
) -> Outcome:
    """Measure direct bias: the measures of group "direct", and the entry "direct" of an evaluation's record.

    The measures are:

    - direct_bias: the mean over the words of |cos(w, g)|^c, 0 (neutral) to 1, over `n` words (section 5.2).
    - direct_bias_all: the same including the excluded words, if there are any.
    - first_component_share: the share of the definitional pairs' variance along g, 0 to 1, over `n` pairs.
    - extreme_<end>: the share of the words named for an end of `extremes` that are among the same number of most
      extreme words, 0 to 1, over `n` words.
    - extreme_<end>_order: Spearman's rho between the order in which they are named and their projections; 1 means
      the same order.

    g is the first principal component of the definitional pairs, at unit length and centred pair by pair, in the
    original model. The words' vectors w come from `state`, like the pairs whose variance is divided. A word in the
    same row as an excluded one is also excluded. The most extreme words are chosen from the words without the
    excluded ones. Their unit vectors project furthest on the difference of the two ends' unit vectors, which has
    unit length and comes from the original model.

    The record has "shares", the shares of variance of all components of the pairs, largest first. "random_shares"
    are their means for the same number of random pairs (1,000 draws of differences of random direction, seeded).
    With extremes there are "projections", by end a list of [word, projection towards it], furthest first. Raises
    BiasgridError if the model lacks the pairs (`biasgrid.debias.lookup.find_sets`) or an end.
    """
    preprocessors = options.preprocessors
    pairs = find_sets(model, spec.definitional_pairs, "definitional_pairs", preprocessors)
    g = subspace([directions(v)[0] for v in pairs.vectors], 1, "definitional_pairs")[0]
    g = direction_in(state, g)
    lookup = find_words(model, spec.words, "words", preprocessors)
    excluded_rows = set(find_words(model, spec.exclude, "exclude", preprocessors).rows.tolist())
    is_kept = np.array([row not in excluded_rows for row in lookup.rows.tolist()], dtype=bool)
    vectors, has_direction = directions(state.take(lookup.words, lookup.rows))
    facts = [_bias("direct_bias", vectors[is_kept] @ g, has_direction[is_kept], spec.c)]
    if spec.exclude:
        facts.append(_bias("direct_bias_all", vectors @ g, has_direction, spec.c))
    keys = [word for pair in pairs.words for word in pair]
    in_state = directions(state.take(keys, model.rows(keys)))[0].reshape(len(pairs.words), 2, -1)
    # Both vectors of a pair are equally far from their mean: half their difference.
    variance = float(((differences := in_state[:, 0] - in_state[:, 1]) ** 2).sum())
    share = float(((differences @ g) ** 2).sum()) / variance if variance else math.nan
    n_pairs = int(differences.any(axis=1).sum())
    facts.append(fact("direct", "first_component_share", share, n_pairs))
    record: dict[str, Any] = {
        "shares": _shares(differences).tolist() if variance else [],
        "random_shares": _random_shares(*differences.shape, rng=np.random.default_rng(seed)),
    }
    if spec.extremes:
        extreme_facts, record["projections"] = _extremes(
            model, state, spec, lookup, vectors, is_kept & has_direction, preprocessors
        )
        facts += extreme_facts
    return Outcome(facts, {"direct": record})


def _bias(measure: str, cosines: np.ndarray, has_direction: np.ndarray, c: float) -> dict[str, Any]:
    n, no_direction = int(has_direction.sum()), int((~has_direction).sum())
    value = float((np.abs(cosines[has_direction]) ** c).mean()) if n else math.nan
    return fact("direct", measure, value, n, undirected=no_direction, why="too_few_words")


def _shares(differences: np.ndarray) -> np.ndarray:
    """Compute the components' shares of variance of pairs with these differences (..., pairs, d), largest first."""
    # Do not centre: a pair's mean is already the middle of its words, and not the mean of the differences.
    values = np.linalg.eigvalsh(differences @ differences.mT)[..., ::-1].clip(min=0)
    return values / values.sum(axis=-1, keepdims=True)


def _random_shares(pairs: int, dimensions: int, *, rng: np.random.Generator) -> list[float]:
    # Limit the draws at a time.
    block = max(1, BLOCK // (pairs * (pairs + dimensions)))
    sizes = (min(block, DRAWS - start) for start in range(0, DRAWS, block))
    draws = (unit(rng.normal(size=(size, pairs, dimensions))) for size in sizes)
    return np.concatenate(list(map(_shares, draws))).mean(axis=0).tolist()


def _extremes(
    model: EmbeddingStore,
    state: EmbeddingStore | DebiasedModel,
    spec: Direct,
    lookup: FoundWords,
    vectors: np.ndarray,
    candidates: np.ndarray,
    preprocessors: Sequence[Preprocessor],
) -> tuple[list[dict[str, Any]], dict[str, list]]:
    """Compute the measures of the extremes, and the projections of the words that are `candidates`: bool (words,)."""
    # Import scipy late: scipy.stats takes long.
    from scipy.stats import spearmanr

    ends = list(spec.extremes)
    found_vectors = find_sets(model, [ends], "extremes", preprocessors, strict=False).vectors
    if not found_vectors:
        raise BiasgridError(
            f"extremes: {model.name} lacks {ends[0]!r} or {ends[1]!r}, the ends of the direction"
        )
    first, second = directions(found_vectors[0])[0]
    (axis,), (has_axis,) = directions((first - second)[None])
    if not has_axis:
        raise BiasgridError(f"extremes: {ends} have the same direction in {model.name}")
    axis = direction_in(state, axis)
    facts, projections = [], {}
    for end, sign in zip(ends, (1, -1), strict=True):
        projection = sign * vectors @ axis
        order = [i for i in np.argsort(-projection, kind="stable").tolist() if candidates[i]]
        projections[end] = [[lookup.words[i], float(projection[i])] for i in order]
        end_words = find_words(model, spec.extremes[end], f"extremes: {end}", preprocessors)
        n = len(end_words.words)
        extreme_words = {lookup.words[i] for i in order[:n]}
        share = float(np.mean([word in extreme_words for word in end_words.words])) if n else math.nan
        facts.append(fact("direct", f"extreme_{end}", share, n, why="too_few_words"))
        end_projections = sign * directions(state.take(end_words.words, end_words.rows))[0] @ axis
        rho = (
            float(spearmanr(-np.arange(n), end_projections).statistic)
            if n > 1 and np.ptp(end_projections) > 0
            else math.nan
        )
        facts.append(fact("direct", f"extreme_{end}_order", rho, n, why="too_few_words"))
    return facts, projections


EVALUATIONS = (
    Evaluation(
        "direct",
        "Direct bias of words along the direction of definitional pairs (Bolukbasi et al. 2016).",
        Direct,
        measure,
        entries={"direct": Components},
        imports=("scipy.stats",),
        order=4,
    ),
)
