"""Random words without a model, on which tests are compared (`families`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..metrics.registry import Metric
from ..models.words import WordVectors
from ..queries.query import Query
from .measurement_spec import MeasurementSpec
from .metric_input import MetricInput
from .resampler import Resampler

# Number of permutations (or groups) of a data set; words per set, which differ, as some tests are equal only for
# sets of one size; pairs per set; words from which a random group is drawn.
DRAWS = 64
SIZES, PAIRS, POOL = (4, 5, 3), 6, 9
DIMENSIONS = 6


def resampler_of(
    metric: Metric, params: Mapping[str, Any], template: tuple[int, int], normalize: bool, trial: int
) -> Resampler:
    """Build a metric on a random query of a template."""
    sizes = [[PAIRS] * template[0] if metric.paired else sizes_of(template[0], trial)]
    return Resampler.of(
        sample_of(metric, params, *random_sets([*sizes, sizes_of(template[1], trial)], normalize, trial))
    )


def random_sets(sizes: Sequence[Sequence[int]], normalize: bool, trial: int) -> list[list[WordVectors]]:
    """Generate sets of these sizes on either side, with random vectors of different lengths."""
    rng = np.random.default_rng([trial, *sizes[0], *sizes[1]])
    sides: list[list[WordVectors]] = []
    for side, of_side in enumerate(sizes):
        sides.append([])
        for i, size in enumerate(of_side):
            words = tuple(f"{side} {i} {word}" for word in range(size))
            vectors = 0.5 + rng.normal(size=(size, DIMENSIONS))
            vectors *= np.exp(rng.normal(size=(size, 1)) / 2)
            if normalize:
                vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            sides[-1].append(
                WordVectors(f"{side} {i}", words, words, np.arange(size), vectors, np.arange(size), {}, ())
            )
    return sides


def sample_of(
    metric: Metric, params: Mapping[str, Any], targets: list[WordVectors], attributes: list[WordVectors]
) -> MetricInput:
    """Build a metric on sets that do not belong to a model."""
    query = Query([s.words for s in targets], [s.words for s in attributes])
    return MetricInput(MeasurementSpec(metric, params), None, query, targets, attributes, "ok", query, {})


def sizes_of(sets: int, trial: int) -> list[int]:
    """Return the numbers of words of this number of sets."""
    return [SIZES[(trial + i) % len(SIZES)] for i in range(sets)]
