"""Maps of words: t-SNE in two dimensions (van der Maaten & Hinton 2008)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.manifold import TSNE

from ..debias.lookup import find_words
from ..embeddings.store import DebiasedModel, EmbeddingStore
from ..words import Preprocessor
from .facts import directions
from .hidden_bias import BiasedWords
from .spec import Hidden, WordMap

PERPLEXITY = 30.0


def of_biased(
    state: EmbeddingStore | DebiasedModel, biased: BiasedWords, spec: Hidden, seed: int
) -> dict[str, list]:
    """The `map_words` most biased words of each side (Gonen & Goldberg 2019, figure 1); see `word_map`."""
    parts = [places[: spec.map_words] for places in biased.most]
    places = np.concatenate(parts)
    sides = np.repeat(spec.sides, [len(part) for part in parts]).tolist()
    names = [biased.words[i] for i in places]
    return word_map(state, names, [biased.entries[i] for i in places], biased.rows[places], sides, seed)


def of_sets(
    state: EmbeddingStore | DebiasedModel,
    spec: WordMap,
    seed: int,
    preprocessors: Sequence[Preprocessor] = ({},),
) -> dict[str, list]:
    """The words of sets, and those of some ranks of the model (`spec`); see `word_map`. Words that the model lacks
    are left out, and a word, or one that shares its vector, is on the map once."""
    sides: dict[int, tuple[str, str]] = {}
    model = state.model if isinstance(state, DebiasedModel) else state
    for side, words in spec.sets.items():
        found = find_words(model, words, side, preprocessors)
        for entry, row in zip(found.words, found.rows.tolist(), strict=True):
            sides.setdefault(row, (entry, side))
    if spec.ranks:
        first, last = spec.ranks
        entries, rows = state.vocabulary(last)
        for entry, row in zip(entries[first - 1 :], rows[first - 1 :].tolist(), strict=True):
            sides.setdefault(row, (entry, f"vocabulary, ranks {first} to {last}"))
    entries = [entry for entry, _ in sides.values()]
    names = [entry.removeprefix(state.vocab_prefix) for entry in entries]
    rows = np.array(list(sides), dtype=np.int64)
    return word_map(state, names, entries, rows, [side for _, side in sides.values()], seed)


def word_map(
    state: EmbeddingStore | DebiasedModel,
    names: Sequence[str],
    entries: Sequence[str],
    rows: np.ndarray,
    sides: Sequence[str],
    seed: int,
) -> dict[str, list]:
    """t-SNE in two dimensions of words at unit length: the `names` of vocabulary entries and their rows (n,).

    "words", the "side" of each, and its "xy"; distances mean something, directions and units do not. Words whose
    vectors are zero or not finite have no place; where fewer than eight are left, none has.
    """
    vectors, there = directions(state.take(entries, rows))
    kept = np.flatnonzero(there)
    if len(kept) < 8:
        return {"words": [], "side": [], "xy": []}
    perplexity = min(PERPLEXITY, (len(kept) - 1) / 3)
    tsne = TSNE(2, perplexity=perplexity, init="pca", random_state=seed)
    xy = tsne.fit_transform(vectors[kept]).astype(np.float64).round(3)
    return {"words": [names[i] for i in kept], "side": [sides[i] for i in kept], "xy": xy.tolist()}
