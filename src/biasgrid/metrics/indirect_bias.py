"""Indirect bias (Bolukbasi, Chang, Zou, Saligrama, Kalai, NeurIPS 2016, section 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.geometry import in_blocks, unit
from ..core.limits import limited
from ..models import directions
from .direct_bias import NO_TEST
from .registry import Detail, Metric, Score


@limited
def indirect_bias(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    direction: directions.Direction = directions.PCA,
) -> Score:
    """Compute the share of similarity that is due to bias. This is the part along the groups' direction.

    With the groups' direction g, unit vectors w of the first attribute set and v of the second, and w' and v',
    these vectors without their part along g::

        beta(w, v) = (w . v - cos(w', v')) / (w . v)
        value = mean of beta(w, v) over all w and v

    It is the share of the inner product that disappears when both words lose that part: .67 for softball and
    receptionist in the paper.

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    direction
        Direction in which the groups, the target sets, differ. "pca": the first principal component of pairs (word
        i of both sets is one); "all_pairs": the component of every pair; "pair": the difference of the first pair;
        "mean": the difference of the groups' means; "sum": the difference of the groups' means at unit length.

    Returns
    -------
    Score
        Range (-inf, inf), no-bias value 0 (no part of it). Positive: part of the similarity is due to the
        direction, at most 1 if both products are positive. Negative: the words are nearer without it. The value is
        not bounded near w . v = 0, and is not informative for sets of words that have nothing in common. Undefined
        (NaN) for orthogonal words, a word that lies on g, a zero vector, and groups that do not differ. `detail`:
        beta, for each word the mean with the words of the other set.

    Notes
    -----
    **Blind spots.** It does not show whether a word is closer to one group at all. Two words that are
    closer to the same group and point the same way have 0. They would be as similar without the groups' direction.
    Positive and negative values of pairs of words cancel. A pair of nearly orthogonal words can outweigh all
    others.

    **Defaults.** The default follows section 5.3 of the paper, with the direction of its section 5.1. The paper has
    a value for one pair of words; here it is the mean over all pairs. WEFE 1.0.1 does not have the metric.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0, 0], "she": [-1, 0, 0], "softball": [1, 1, 0], "receptionist": [1, 0, 1]})
    >>> query = Query([["he"], ["she"]], [["softball"], ["receptionist"]])
    >>> round(metrics.indirect_bias(query, model).value, 3)
    1.0
    """
    g = directions.axes(targets, direction)[0]
    first, second = (unit(words) for words in attributes)
    beta = betas(first @ second.T, (first @ g)[:, None], second @ g)
    return Score(
        float(beta.mean()) if beta.size else float("nan"),
        detail={"beta": Detail("attribute", [beta.mean(axis=1), beta.mean(axis=0)])},
    )


def betas(products: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute beta (m, n) of m unit vectors with n others.

    `products` are their inner products (m, n), and p (m, 1) and q (n,) their cosines with the direction.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        remainders = (products - p * q) / np.sqrt((1 - p**2) * (1 - q**2))
        beta = (products - remainders) / products
    return np.where(np.isfinite(beta), beta, np.nan)


def _resampled(
    words: np.ndarray, attributes: np.ndarray, *, direction: directions.Direction = directions.PCA
) -> Callable:
    project = directions.cosines_with_axes(words, direction)
    word_vectors = unit(attributes)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        (cosines,) = project(targets, [word_vectors])
        return _mean(cosines[:, 0], word_vectors, *attribute_weights)

    return statistic


def _mean(cosines: np.ndarray, word_vectors: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Compute the value (samples,) from the words' cosines with each sample's direction, (samples or 1, words).

    `first` and `second` are how often each word occurs in the two attribute sets.

    beta = 1 - 1/(a b) + p q/(a b) / (w v), with a, b the lengths of w', v': sums over both sets are products.
    """
    first_rows, second_rows = (np.flatnonzero(weights.any(axis=0)) for weights in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1 / (word_vectors[first_rows] @ word_vectors[second_rows].T)
        a = first[:, first_rows] / np.sqrt(1 - cosines[:, first_rows] ** 2)
        b = second[:, second_rows] / np.sqrt(1 - cosines[:, second_rows] ** 2)
        shared = np.vecdot((a * cosines[:, first_rows]) @ inverse, b * cosines[:, second_rows])
        pairs = first.sum(axis=1) * second.sum(axis=1)
        value = 1 + (shared - a.sum(axis=1) * b.sum(axis=1)) / pairs
    return np.where(np.isfinite(value), value, np.nan)


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    attributes: Sequence[np.ndarray],
    *,
    direction: directions.Direction = directions.PCA,
) -> np.ndarray:
    return _values_along(directions.axes_of_draws(pool, places, direction)[:, 0], attributes)


def _values_along(axes: np.ndarray, attributes: Sequence[np.ndarray]) -> np.ndarray:
    """Compute the value (draws,) along each of the axes (draws, d)."""
    word_vectors = unit(np.concatenate(attributes))
    rows = np.arange(len(word_vectors))
    first = (rows < len(attributes[0]))[None].astype(float)
    return in_blocks(
        lambda part: _mean(part @ word_vectors.T, word_vectors, first, 1 - first),
        sum(word_vectors.shape),
        axes,
    )


def _variant(*, direction: str) -> dict[str, Any]:
    return {"paired": direction in directions.PAIRED}


INDIRECT_BIAS = Metric(
    name="indirect_bias",
    label="Indirect Bias",
    function=indirect_bias,
    asks="How much of the similarity of {A1} with {A2} is due to the direction in which {T1} and {T2} differ?",
    has_directions=False,
    above="part of the similarity of {A1} with {A2} is due to the direction in which {T1} and {T2} differ",
    below="{A1} and {A2} are more similar without the direction in which {T1} and {T2} differ",
    details={"beta": "share of its similarity with the words of the other set that is due to the direction"},
    template=(2, 2),
    range=(-np.inf, np.inf),
    neutral=0.0,
    paired=True,
    resampled=_resampled,
    redrawn=_redrawn,
    no_test=NO_TEST,
    variant=_variant,
    reference="Bolukbasi, Chang, Zou, Saligrama, Kalai. Man is to computer programmer as woman is to homemaker? "
    "NeurIPS 2016, section 5.3",
)
METRICS = (INDIRECT_BIAS,)
