"""WEAT, the Word Embedding Association Test, and its effect size (Caliskan, Bryson, Narayanan, Science 2017)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..errors import BiasgridError, not_allowed
from ..geometry import cosines, effect_size_range, mean_of_rows, unit, weighted_mean, weighted_sum
from .registry import Detail, Metric, Score

FLAT = 1e-12  # identical words give rounding noise, not a spread


def weat(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    return_effect_size: bool = False,
    ddof: int = 0,
) -> Score:
    """The test statistic: sum over the first target set minus sum over the second of s(w, A, B).

    s(w, A, B) is the mean cosine of w with A minus that with B. Positive: the first target set is nearer to the
    first attribute set. Neutral value 0; its size grows with the number of words, so statistics of sets of
    different size do not compare. `return_effect_size` (WEFE's name) makes the effect size the value.
    Undefined (NaN) for a zero vector.
    """
    _check(ddof, return_effect_size)
    association = _associations(targets, attributes)
    statistic = float(association[0].sum() - association[1].sum())
    effect_size = _effect_size(association, ddof)
    return Score(
        effect_size if return_effect_size else statistic,
        scalars={"weat": statistic, "effect_size": effect_size},
        detail={"association": Detail("target", association)},
    )


def weat_es(targets: list[np.ndarray], attributes: list[np.ndarray], *, ddof: int = 0) -> Score:
    """The effect size d: difference of the two mean associations, divided by the standard deviation over all words.

    `ddof` 0 (WEFE's and the default) or 1 (which gives Caliskan's printed values). Range [-2, 2] with ddof 0 and sets
    of equal size, wider with sets of unequal size (`geometry.effect_size_range`); neutral value 0. Undefined (NaN)
    where all words have the same association.
    """
    return weat(targets, attributes, return_effect_size=True, ddof=ddof)


def _resampled(
    words: np.ndarray, attributes: np.ndarray, *, return_effect_size: bool = False, ddof: int = 0
) -> Callable:
    """Statistic or effect size of many samples: where only target words change, it is a product with one vector."""
    cosine = cosines(words, attributes)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        a, b = (mean_of_rows(weights, cosine.T) for weights in attribute_weights)
        association, (x, y) = a - b, targets
        if not return_effect_size:
            return weighted_sum(x, association) - weighted_sum(y, association)
        both = x + y
        variation = (association - weighted_mean(both, association)[:, None]) ** 2
        words_used = both.sum(axis=1)
        spread = np.sqrt(weighted_sum(both, variation) / (words_used - ddof))
        difference = weighted_mean(x, association) - weighted_mean(y, association)
        return np.where((spread > FLAT) & (words_used > ddof), difference / spread, np.nan)

    return statistic


def _es_resampled(words: np.ndarray, attributes: np.ndarray, *, ddof: int = 0) -> Callable:
    return _resampled(words, attributes, return_effect_size=True, ddof=ddof)


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    attributes: Sequence[np.ndarray],
    *,
    return_effect_size: bool = False,
    ddof: int = 0,
) -> np.ndarray:
    a, b = (unit(words).mean(axis=0) for words in attributes)
    x, y = ((unit(pool) @ (a - b))[group] for group in places)
    if not return_effect_size:
        return x.sum(axis=1) - y.sum(axis=1)
    both = np.concatenate([x, y], axis=1)
    spread = both.std(axis=1, ddof=ddof) if both.shape[1] > ddof else np.full(len(both), np.nan)
    return (x.mean(axis=1) - y.mean(axis=1)) / np.where(spread > FLAT, spread, np.nan)


def _es_redrawn(
    pool: np.ndarray, places: Sequence[np.ndarray], attributes: Sequence[np.ndarray], *, ddof: int = 0
) -> np.ndarray:
    return _redrawn(pool, places, attributes, return_effect_size=True, ddof=ddof)


def _es_sized(targets: Sequence[int], attributes: Sequence[int], *, ddof: int = 0) -> tuple[float, float]:
    return effect_size_range(*targets, ddof)


def _associations(targets: list[np.ndarray], attributes: list[np.ndarray]) -> list[np.ndarray]:
    a, b = attributes
    return [cosines(words, a).mean(axis=1) - cosines(words, b).mean(axis=1) for words in targets]


def _check(ddof: int, return_effect_size: bool = True) -> None:
    if type(ddof) is not int or ddof not in (0, 1):
        raise BiasgridError(not_allowed("ddof", ddof, "0, 1"))
    if type(return_effect_size) is not bool:
        raise BiasgridError(not_allowed("return_effect_size", return_effect_size, "true, false"))


def _effect_size(association: list[np.ndarray], ddof: int) -> float:
    both = np.concatenate(association)
    if len(both) <= ddof:
        return float("nan")
    spread = both.std(ddof=ddof)
    if not spread > FLAT:
        return float("nan")
    return float((association[0].mean() - association[1].mean()) / spread)


REFERENCE = (
    "Caliskan, Bryson, Narayanan. Semantics derived automatically from language corpora. Science 356, 2017"
)
METRICS = (
    Metric(
        name="weat",
        label="WEAT",
        function=weat,
        template=(2, 2),
        range=(-np.inf, np.inf),
        neutral=0.0,
        groups="attributes",
        reference=REFERENCE,
        resampled=_resampled,
        redrawn=_redrawn,
        check=_check,
    ),
    Metric(
        name="weat_es",
        label="WEAT-ES",
        function=weat_es,
        template=(2, 2),
        range=(-2.0, 2.0),
        neutral=0.0,
        groups="attributes",
        reference=REFERENCE,
        sized=_es_sized,
        resampled=_es_resampled,
        redrawn=_es_redrawn,
        check=_check,
    ),
)
