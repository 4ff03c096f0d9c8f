"""WEAT, the Word Embedding Association Test, and its effect size (Caliskan, Bryson, Narayanan, Science 2017)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from ..core.geometry import cosines, effect_size_range, mean_cosines, mean_products, unit
from ..core.limits import limited
from . import one_word as of_one_word
from .one_word import OneWord
from .registry import Detail, Metric, Score
from .sets import WeightedSet, Words, effect_size, whole_sets


@limited
def weat(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    return_effect_size: bool = False,
    ddof: Literal[0, 1] = 0,
    one_word: OneWord = of_one_word.NAN,
) -> Score:
    """Compare two target sets by association with attributes. Word Embedding Association Test (WEAT).

    With target sets X and Y and attribute sets A and B::

        s(w) = mean of cos(w, a) over a in A - mean of cos(w, b) over b in B
        WEAT = sum of s(x) over x in X - sum of s(y) over y in Y

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    return_effect_size
        Whether the value is the effect size, as in `weat_es`, instead of the statistic.
    ddof
        For the effect size: the standard deviation divides by the number of words minus `ddof`, 0 or 1.
    one_word
        The effect size if each target set has one word: "nan", undefined, or "keep", as in `weat_es`.

    Returns
    -------
    Score
        Range (-inf, inf), no-bias value 0. Positive: the first target set is nearer to the first attribute set. It
        grows with the number of words, so that statistics of sets of different size are not comparable. Undefined
        (NaN) for a zero vector. `scalars`: weat, effect_size. `detail`: association, s(w) of each target word.

    Notes
    -----
    **Blind spots.** It does not see what the two target sets have in common. If the words of both are
    closer to the same attribute set by the same amount, WEAT is 0, however large that amount is. It is a sum over
    words, so sets of unequal size can also cancel. One word with a large association cancels two with half of it.

    **Defaults.** The statistic and the effect size are the paper's, and WEFE 1.0.1 has both. The paper does not
    report the divisor of the standard deviation: `ddof` 0 is WEFE's, and 1 gives the effect sizes that the paper
    prints. The paper and WEFE test with one tail: `permutation={"alternative": "greater"}`. WEFE draws words with
    replacement there, which is not the paper's permutation test; no option reproduces it.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "she": [0, 1], "career": [1, 0], "family": [0, 1]})
    >>> query = Query([["he"], ["she"]], [["career"], ["family"]])
    >>> metrics.weat(query, model).value
    2.0
    """
    association = _associations(targets, attributes)
    of_all, (x, y) = np.concatenate(association)[None], whole_sets(map(len, targets))
    statistic, effect = (
        float(_value(of_all, x, y, return_effect_size=kind, ddof=ddof, one_word=one_word)[0])
        for kind in (False, True)
    )
    return Score(
        effect if return_effect_size else statistic,
        scalars={"weat": statistic, "effect_size": effect},
        detail={"association": Detail("target", association)},
    )


@limited
def weat_es(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    ddof: Literal[0, 1] = 0,
    one_word: OneWord = of_one_word.NAN,
) -> Score:
    """Standardise the differential association of WEAT. It is the effect size of WEAT.

    With target sets X and Y, attribute sets A and B, and s(w) as in `weat`::

        d = (mean of s(x) over x in X - mean of s(y) over y in Y) / standard deviation of s(w) over w in X and Y

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    ddof
        The standard deviation divides by the number of words minus `ddof`: 0, as in WEFE, or 1, which gives the
        printed values of Caliskan et al.
    one_word
        The value if each target set has one word, after missing words are left out. "nan": undefined. "keep": 2 or
        -2 (1.41 or -1.41 with `ddof` 1), as in WEFE.

    Returns
    -------
    Score
        Range [-2, 2], no-bias value 0; for sets of m and n words, the ends are ±(m + n) / sqrt(m n) with `ddof` 0,
        and sqrt((m + n - 1) / (m + n)) times that with 1. Positive: the first target set is nearer to the first
        attribute set. It is also large if a small difference has a small spread. Undefined (NaN) if all words have
        the same association, and if each target set has one word: status "degenerate:one word". `scalars` and
        `detail`: as in `weat`.

    Notes
    -----
    **Blind spots.** It does not see what the two target sets have in common; nor does `weat`. It does not
    see how far apart the sets are either. If the words of one set have the association .30 and the words of the
    other .29, it is 2, its maximum, because nothing else varies. Two sets of one word each always give 2 or -2,
    whatever the words. Use `weat` to see how far apart two words are.

    **Defaults.** The paper does not print a divisor. `ddof` 0 is WEFE's. With 1, 9 of the 10 effect sizes that the
    paper prints for word2vec are reproduced, and it is EmbeddingBiasScores' divisor. `sc_weat` has 1 by default: in
    a study with both, set one of them. The paper does not have sets of one word. WEFE assigns such sets a value of
    2 or -2: `one_word="keep"`.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [4, 3], "him": [1, 0], "she": [3, 4], "her": [0, 1], "career": [1, 0], "family": [0, 1]})
    >>> query = Query([["he", "him"], ["she", "her"]], [["career"], ["family"]])
    >>> round(metrics.weat_es(query, model).value, 3)
    1.664
    """
    return weat(targets, attributes, return_effect_size=True, ddof=ddof, one_word=one_word)


def _value(
    association: np.ndarray,
    x: Words,
    y: Words,
    *,
    return_effect_size: bool = False,
    ddof: int = 0,
    one_word: OneWord = of_one_word.NAN,
) -> np.ndarray:
    """Compute the value of samples (samples,) from s(w) of all words (samples or 1, words)."""
    if not return_effect_size:
        return x.sum(association) - y.sum(association)
    undefined = of_one_word.undefined_samples(x, y, one_word)
    return np.where(undefined, np.nan, effect_size(x, y, association, ddof))


def _resampled(words: np.ndarray, attributes: np.ndarray, **parameters: Any) -> Callable:
    """Return the statistic. If only target words change, it is a product with one vector."""
    mean_to = mean_products(unit(attributes), unit(words))

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        a, b = map(mean_to, attribute_weights)
        return _value(a - b, *map(WeightedSet, targets), **parameters)

    return statistic


def _redrawn(
    pool: np.ndarray, places: Sequence[np.ndarray], attributes: Sequence[np.ndarray], **parameters: Any
) -> np.ndarray:
    a, b = (unit(words).mean(axis=0) for words in attributes)
    association = (unit(pool) @ (a - b))[np.concatenate(places, axis=1)]
    return _value(association, *whole_sets(group.shape[1] for group in places), **parameters)


def _es_sized(
    targets: Sequence[int], attributes: Sequence[int], *, ddof: int = 0, **_: Any
) -> tuple[float, float]:
    return effect_size_range(*targets, ddof=ddof)


def _associations(targets: list[np.ndarray], attributes: list[np.ndarray]) -> list[np.ndarray]:
    a, b = attributes
    return [mean_cosines(words, a) - mean_cosines(words, b) for words in targets]


def _by_item(
    targets: list[np.ndarray], attributes: list[np.ndarray], **_: Any
) -> list[list[tuple[float, np.ndarray]]]:
    a, b = attributes
    return [[(1.0, cosines(words, a)), (-1.0, cosines(words, b))] for words in targets]


_SHARED: dict[str, Any] = {
    "above": "the words of {T1} are closer to {A1} than the words of {T2} are",
    "below": "the words of {T1} are closer to {A2} than the words of {T2} are",
    "details": {"association": "mean cosine with {A1} minus mean cosine with {A2}"},
    "nearer": "first",
    "template": (2, 2),
    "neutral": 0.0,
    "groups": "attributes",
    "by_item": _by_item,
    "reference": "Caliskan, Bryson, Narayanan. Semantics derived automatically from language corpora. "
    "Science 356, 2017",
}
WEAT = Metric(
    name="weat",
    label="WEAT",
    function=weat,
    asks="Are the words of {T1} more associated with {A1} than with {A2}, compared with the words of {T2}?",
    range=(-np.inf, np.inf),
    variant=lambda *, return_effect_size, **_: {"one_word": "targets" if return_effect_size else ""},
    resampled=_resampled,
    redrawn=_redrawn,
    **_SHARED,
)
WEAT_ES = Metric(
    name="weat_es",
    label="WEAT-ES",
    function=weat_es,
    asks="How well are the words of {T1} and of {T2} told apart by their associations with {A1} and {A2}?",
    range=(-2.0, 2.0),
    sized=_es_sized,
    one_word="targets",
    resampled=partial(_resampled, return_effect_size=True),
    redrawn=partial(_redrawn, return_effect_size=True),
    **_SHARED,
)
METRICS = (WEAT, WEAT_ES)
