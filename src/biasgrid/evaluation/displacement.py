"""Displacement of a model's words by debiasing."""

from __future__ import annotations

import math

import numpy as np

from ..models.store import DebiasedModel, EmbeddingStore
from .evaluation import Evaluation, Outcome
from .facts import directions, fact
from .spec import Spec

# Smallest 1 - cosine of a changed word; larger than rounding errors of float32.
CHANGED = 1e-6


def measure(
    model: EmbeddingStore, state: EmbeddingStore | DebiasedModel, spec: None, options: Spec, seed: int
) -> Outcome:
    """Measure how far a transform moves the first rows of the model (`options.vocabulary`).

    mean_cosine_distance is the mean of 1 - cos(before, after), 0 to 2; changed_share is the share of words whose
    direction changed (by more than 1e-6); `n` is the number of words. Vectors with fewer dimensions than before
    cannot be measured.
    """
    if state is model or state.dimensions != model.dimensions:
        return Outcome()
    words, rows = model.vocabulary(options.vocabulary)
    distances = []
    no_direction = 0
    for start in range(0, len(rows), 8192):
        part = slice(start, start + 8192)
        before, has_before = directions(model.take(words[part], rows[part]))
        after, has_after = directions(state.take(words[part], rows[part]))
        has_both = has_before & has_after
        no_direction += int((~has_both).sum())
        # Compute |a - b|^2 / 2 of unit vectors, which is exactly 0 for equal vectors.
        distances.append(((before[has_both] - after[has_both]) ** 2).sum(axis=1) / 2)
    distance = np.concatenate(distances)
    n = len(distance)
    mean, changed_share = (distance.mean(), (distance > CHANGED).mean()) if n else (math.nan, math.nan)
    facts = [
        fact("displacement", name, value, n, undirected=no_direction, why="too_few_words")
        for name, value in (("mean_cosine_distance", mean), ("changed_share", changed_share))
    ]
    return Outcome(facts)


EVALUATIONS = (
    Evaluation(
        "displacement",
        "How far debiasing moves a model's words. It is measured after every debias method.",
        None,
        measure,
        order=8,
    ),
)
