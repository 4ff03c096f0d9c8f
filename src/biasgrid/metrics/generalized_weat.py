"""Generalised WEAT: WEAT of more than two groups (Swinger, De-Arteaga, Heffernan, Leiserson, Kalai, AIES 2019)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..core.geometry import mean_products, unit
from .registry import Metric, Score


def generalized_weat(targets: list[np.ndarray], attributes: list[np.ndarray]) -> Score:
    """Compute WEAT for k pairs of target and attribute sets.

    With u(S) the mean of the unit vectors of a set S, target sets X_1 ... X_k and attribute sets A_1 ...
    A_k::

        value = sum over i of (u(X_i) - mean of all u(X_j)) . (u(A_i) - mean of all u(A_j))

    All sets count alike, whatever their size. With two sets the value is half the difference of the mean
    associations; with m words each, WEAT's statistic divided by 2 m.

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.

    Returns
    -------
    Score
        Range (-inf, inf), no-bias value 0; for k sets on either side it lies between -k and k. Positive: target
        sets are nearer to the attribute sets at their own place in the query. Undefined (NaN) for a zero vector.
        `scalars`: part_1, part_2 ..., the contribution of each set to the sum.

    Notes
    -----
    **Blind spots.** It does not see what all target sets have in common. If all are closer to the same
    attribute set by the same amount, it is 0. Sets can also cancel: one that is near to its own attribute set
    makes up for one that is far from its own (`scalars` has the parts).

    **Defaults.** It does not have parameters: unit vectors and a sum over the sets, as in the paper. WEFE 1.0.1
    does not have the metric; EmbeddingBiasScores agrees.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "she": [0, 1], "career": [1, 0], "family": [0, 1]})
    >>> query = Query([["he"], ["she"]], [["career"], ["family"]])
    >>> metrics.generalized_weat(query, model).value
    1.0
    """
    x, a = (np.stack([unit(vectors).mean(axis=0) for vectors in side]) for side in (targets, attributes))
    parts = np.vecdot(x - x.mean(axis=0), a - a.mean(axis=0))
    return Score(float(parts.sum()), {f"part_{i}": float(part) for i, part in enumerate(parts, start=1)})


def _resampled(words: np.ndarray, attributes: np.ndarray) -> Callable:
    mean_to = mean_products(unit(attributes), unit(words))

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        attribute_means = [*map(mean_to, attribute_weights)]
        centre = sum(attribute_means) / len(attribute_means)
        # Deviations add up to 0, so that the mean of all u(X_j) needs no subtraction.
        deviations = (a - centre for a in attribute_means)
        return sum(
            np.vecdot(weights, associations) / weights.sum(axis=1)
            for weights, associations in zip(targets, deviations, strict=True)
        )

    return statistic


def _redrawn(pool: np.ndarray, places: Sequence[np.ndarray], attributes: Sequence[np.ndarray]) -> np.ndarray:
    a = np.stack([unit(words).mean(axis=0) for words in attributes])
    # The deviations add up to 0 (see `_resampled`).
    associations = unit(pool) @ (a - a.mean(axis=0)).T
    return sum(associations[group, i].mean(axis=1) for i, group in enumerate(places))


GENERALIZED_WEAT = Metric(
    name="generalized_weat",
    label="Generalised WEAT",
    function=generalized_weat,
    asks="Is each of {T} nearer to the one of {A} at its own place than the others are?",
    above="each of {T} is nearer to the one of {A} at its own place, summed up",
    below="each of {T} is farther from the one of {A} at its own place, summed up",
    template=("k", "k"),
    range=(-np.inf, np.inf),
    neutral=0.0,
    groups="attributes",
    resampled=_resampled,
    redrawn=_redrawn,
    reference="Swinger, De-Arteaga, Heffernan, Leiserson, Kalai. What are the biases in my word embedding? "
    "AIES 2019",
)
METRICS = (GENERALIZED_WEAT,)
