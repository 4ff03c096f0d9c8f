"""A map of the most biased words (Gonen & Goldberg 2019, figure 1)."""

from __future__ import annotations

import numpy as np
from sklearn.manifold import TSNE

from ..embeddings.store import DebiasedModel, EmbeddingStore
from .facts import directions
from .hidden_bias import BiasedWords
from .spec import Hidden

PERPLEXITY = 30.0


def word_map(
    state: EmbeddingStore | DebiasedModel, biased: BiasedWords, spec: Hidden, seed: int
) -> dict[str, list]:
    """t-SNE in two dimensions of the `map_words` most biased words of each side, at unit length.

    "words", the "side" of each, and its "xy"; distances mean something, directions and units do not. Words whose
    vectors are zero or not finite have no place; where fewer than eight are left, none has.
    """
    parts = [places[: spec.map_words] for places in biased.most]
    places = np.concatenate(parts)
    sides = np.repeat(spec.sides, [len(part) for part in parts])
    vectors, there = directions(state.take([biased.entries[i] for i in places], biased.rows[places]))
    vectors, places, sides = vectors[there], places[there], sides[there].tolist()
    if len(places) < 8:
        return {"words": [], "side": [], "xy": []}
    perplexity = min(PERPLEXITY, (len(places) - 1) / 3)
    tsne = TSNE(2, perplexity=perplexity, init="pca", random_state=seed)
    xy = tsne.fit_transform(vectors).astype(np.float64).round(3)
    return {"words": [biased.words[i] for i in places], "side": sides, "xy": xy.tolist()}
