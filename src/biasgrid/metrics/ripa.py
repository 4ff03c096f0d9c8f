"""RIPA, the Relational Inner Product Association (Ethayarajh, Duvenaud, Hirst, ACL 2019, definition 3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..geometry import mean_of_rows, unit, weighted_sum
from .registry import Detail, Metric, Score


def ripa(targets: list[np.ndarray], attributes: list[np.ndarray]) -> Score:
    """Mean over attribute words and pairs of the word's inner product with the pair's relation vector.

    Row i of the two target sets is a pair; its relation vector is their difference at unit length. Positive:
    the attributes lean to the first target set. Attribute vectors keep their length (the `normalize` option
    of the look-up changes that). Neutral value 0. Undefined (NaN) where no pair is left or a pair's words
    coincide. Per word: mean and standard deviation (ddof 0) over the pairs.
    """
    first, second = targets
    (words,) = attributes
    if len(first) == 0:
        return Score(float("nan"))
    products = words @ unit(first - second).T
    by_word = np.stack([products.mean(axis=1), products.std(axis=1)], axis=1)
    return Score(
        float(products.mean()),
        detail={"word_values": Detail("attribute", [by_word], columns=["mean", "std"])},
    )


def _resampled(words: np.ndarray, attributes: np.ndarray) -> Callable:
    pairs = len(words) // 2
    products = attributes @ unit(words[:pairs] - words[pairs:]).T

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        # a pair whose words have changed places has the opposite relation vector
        first = targets[0]
        by_pair = mean_of_rows(attribute_weights[0], products)
        return weighted_sum(first[:, :pairs] - first[:, pairs:], by_pair) / first.sum(axis=1)

    return statistic


METRICS = (
    Metric(
        name="ripa",
        label="RIPA",
        function=ripa,
        template=(2, 1),
        range=(-np.inf, np.inf),
        neutral=0.0,
        paired=True,
        resampled=_resampled,
        reference="Ethayarajh, Duvenaud, Hirst. Understanding undesirable word embedding associations. ACL 2019",
    ),
)
