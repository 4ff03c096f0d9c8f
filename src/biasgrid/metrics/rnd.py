"""RND, the Relative Norm Distance (Garg, Schiebinger, Jurafsky, Zou, PNAS 2018)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ..core.geometry import (
    cosines,
    distances,
    in_blocks,
    means_of_groups,
    unit,
    weighted_mean,
    weighted_products,
)
from ..core.limits import limited
from .registry import Detail, Metric, Score


@limited
def rnd(
    targets: list[np.ndarray], attributes: list[np.ndarray], *, distance: Literal["norm", "cos"] = "norm"
) -> Score:
    """Compare words' distances to the means of two groups. Relative Norm Distance (RND).

    With the means m_1 and m_2 of the two target sets' vectors::

        RND = mean of |w - m_1| - |w - m_2| over the attribute words w

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    distance
        "norm": the Euclidean distance. "cos": the cosine similarity in its place, as in the paper and WEFE, which
        reverses the sign.

    Returns
    -------
    Score
        Range (-inf, inf), no-bias value 0. Positive: the words are nearer to the second target set; with "cos", to
        the first. "norm" depends on the length of vectors; "cos" is undefined (NaN) for a zero vector. `detail`:
        distance_by_word, the difference of each word.

    Notes
    -----
    **Blind spots.** Words that are closer to different groups cancel: two words that are closer to one
    group can outweigh one that is far closer to the other. It does not distinguish bias from length: a group whose
    mean vector is long is far from most words. So its values are not comparable between models whose vectors
    differ in length.

    **Defaults.** The default follows WEFE: the mean over words, with vectors at their own length. The paper takes
    vectors at unit length and adds up: `normalize=True`, times the number of words. `distance="cos"` is WEFE's
    `cos`, with its sign.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "she": [0, 1], "engineer": [1, 0]})
    >>> metrics.rnd(Query([["he"], ["she"]], [["engineer"]]), model, distance="cos").value
    1.0
    """
    first, second = (words.mean(axis=0) for words in targets)
    (words,) = attributes
    if distance == "norm":
        by_word = np.linalg.norm(words - first, axis=1) - np.linalg.norm(words - second, axis=1)
    else:
        to_means = cosines(words, np.stack([first, second]))
        by_word = to_means[:, 0] - to_means[:, 1]
    return Score(float(by_word.mean()), detail={"distance_by_word": Detail("attribute", [by_word])})


def _resampled(
    words: np.ndarray, attributes: np.ndarray, *, distance: Literal["norm", "cos"] = "norm"
) -> Callable:
    """Return the statistic, computed from the words' inner products alone, without samples' mean vectors."""
    to_words, to_attributes = weighted_products(words, words), weighted_products(words, attributes)
    squares = (attributes**2).sum(axis=1)

    def to_mean(weights: np.ndarray) -> np.ndarray:
        share = weights / weights.sum(axis=1, keepdims=True)
        length = np.vecdot(to_words(share), share)[:, None]
        product = to_attributes(share)
        if distance == "cos":
            return np.clip(product / np.sqrt(length * squares), -1.0, 1.0)
        # Compute squared distances in place: arrays of many samples and words are slow to allocate.
        product *= -2
        product += length
        product += squares
        if product.min() < 1e-12 * squares.min():
            # The mean is the word itself: the distance is rounding.
            product[product < 1e-14 * (length + squares)] = 0.0
        return np.sqrt(product, out=product)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        first, second = map(to_mean, targets)
        return weighted_mean(attribute_weights[0], first - second)

    return statistic


def _redrawn_words(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    attributes: Sequence[np.ndarray],
    *,
    distance: Literal["norm", "cos"] = "norm",
) -> list[np.ndarray]:
    (words,) = attributes
    measure = distances if distance == "norm" else cosines
    to_first, to_second = (measure(means_of_groups(pool, group), words) for group in places)
    return [to_first - to_second]


def _redrawn(
    pool: np.ndarray, places: Sequence[np.ndarray], attributes: Sequence[np.ndarray], **parameters: Any
) -> np.ndarray:
    def value(*places: np.ndarray) -> np.ndarray:
        (by_word,) = _redrawn_words(pool, places, attributes, **parameters)
        return by_word.mean(axis=1)

    return in_blocks(value, len(attributes[0]), *places)


def _by_item(
    targets: list[np.ndarray], attributes: list[np.ndarray], **_: Any
) -> list[list[tuple[float, np.ndarray]]]:
    """Return cosines with a group's mean as means over its words, up to the mean's length."""
    weights = [
        sign / np.linalg.norm(group.mean(axis=0)) for sign, group in zip((1, -1), targets, strict=True)
    ]
    return [
        [(float(weight), unit(words) @ group.T) for weight, group in zip(weights, targets, strict=True)]
        for words in attributes
    ]


def _variant(*, distance: str) -> dict[str, Any]:
    if distance != "cos":
        return {}
    per_word = "cosine with mean of {T1} minus cosine with mean of {T2}: positive is nearer to {T1}"
    details = {"distance_by_word": per_word}
    return {"above": NEARER_TO_FIRST, "below": NEARER_TO_SECOND, "details": details, "nearer": "first"} | {
        "scaled": False,
        "by_item": _by_item,
    }


NEARER_TO_FIRST = "the words of {A} are nearer to {T1}"
NEARER_TO_SECOND = "the words of {A} are nearer to {T2}"
RND = Metric(
    name="rnd",
    label="RND",
    function=rnd,
    asks="Are the words of {A} nearer to the mean of {T1} or to the mean of {T2}?",
    above=NEARER_TO_SECOND,
    below=NEARER_TO_FIRST,
    details={
        "distance_by_word": "distance to mean of {T1} minus distance to mean of {T2}: "
        "positive is nearer to {T2}"
    },
    nearer="second",
    template=(2, 1),
    range=(-np.inf, np.inf),
    neutral=0.0,
    resampled=_resampled,
    redrawn=_redrawn,
    redrawn_words=_redrawn_words,
    scaled=True,
    variant=_variant,
    reference="Garg, Schiebinger, Jurafsky, Zou. Word embeddings quantify 100 years of gender and ethnic "
    "stereotypes. PNAS 115, 2018",
)
METRICS = (RND,)
