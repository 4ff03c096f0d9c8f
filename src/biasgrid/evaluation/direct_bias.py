"""Direct bias (Bolukbasi et al., NeurIPS 2016, section 5.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..debias.lookup import check_pairs, find_sets, find_words, subspace
from ..embeddings.store import DebiasedModel, EmbeddingStore
from ..words import Preprocessor
from .facts import directions, fact
from .spec import Direct


def measures(
    model: EmbeddingStore,
    state: EmbeddingStore | DebiasedModel,
    spec: Direct,
    preprocessors: Sequence[Preprocessor] = ({},),
) -> list[dict[str, Any]]:
    """direct_bias: the mean over the words of |cos(w, g)|^c, 0 (neutral) to 1; `n` words.

    g is the first principal component of the definitional pairs, at unit length and centred pair by pair, in the
    model as it is; w are the words' vectors in `state`. A word that the model has in the row of an excluded one
    is excluded too. Raises BiasgridError where the model lacks the pairs (`biasgrid.debias.lookup.find_sets`).
    """
    check_pairs(spec.definitional_pairs, "definitional_pairs")
    pairs = find_sets(model, spec.definitional_pairs, "definitional_pairs", preprocessors)
    g = subspace([directions(v)[0] for v in pairs.vectors], 1, "definitional_pairs")[0]
    found = find_words(model, spec.words, "words", preprocessors)
    excluded = set(find_words(model, spec.exclude, "exclude", preprocessors).rows.tolist())
    kept = [i for i, row in enumerate(found.rows.tolist()) if row not in excluded]
    vectors, there = directions(state.take([found.words[i] for i in kept], found.rows[kept]))
    n, undirected = int(there.sum()), int((~there).sum())
    value = float((np.abs(vectors[there] @ g) ** spec.c).mean()) if n else math.nan
    return [fact("direct", "direct_bias", value, n, undirected=undirected, why="too_few_words")]
