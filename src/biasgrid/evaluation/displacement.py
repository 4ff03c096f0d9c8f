"""How far debiasing moves a model's words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..embeddings.store import DebiasedModel, EmbeddingStore
from .facts import directions, fact

CHANGED = 1e-6  # 1 - cosine, above what rounding to float32 leaves


def measures(model: EmbeddingStore, state: DebiasedModel, vocabulary: int) -> list[dict[str, Any]]:
    """Over the first `vocabulary` rows of the model: mean_cosine_distance, the mean of 1 - cos(before, after), 0 to
    2; and changed_share, the share of words whose direction changed (by more than 1e-6). `n` words."""
    words, rows = model.vocabulary(vocabulary)
    distances = []
    undirected = 0
    for start in range(0, len(rows), 8192):
        part = slice(start, start + 8192)
        before, there = directions(model.take(words[part], rows[part]))
        after, still = directions(state.take(words[part], rows[part]))
        both = there & still
        undirected += int((~both).sum())
        # |a - b|^2 / 2 of unit vectors: exact where they are the same
        distances.append(((before[both] - after[both]) ** 2).sum(axis=1) / 2)
    distance = np.concatenate(distances)
    n = len(distance)
    mean, changed = (distance.mean(), (distance > CHANGED).mean()) if n else (math.nan, math.nan)
    return [
        fact("displacement", name, value, n, undirected=undirected, why="too_few_words")
        for name, value in (("mean_cosine_distance", mean), ("changed_share", changed))
    ]
