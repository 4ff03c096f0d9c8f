"""SC-WEAT, the single-category WEAT, with a score for every word, and NAS, its name in the R package sweater.

SC-WEAT is the WEFAT of Caliskan, Bryson, Narayanan, Science 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ..core.geometry import cosines, effect_size_range, in_blocks, mean_of_rows, weighted_mean
from ..core.limits import limited
from . import one_word as of_one_word
from . import orientation as roles
from .one_word import OneWord
from .registry import Detail, Metric, Role, Score
from .sets import FLAT, WeightedSet, effect_size, mean, whole_sets


@limited
def sc_weat(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: roles.Orientation = roles.PAPER,
    ddof: Literal[0, 1] = 1,
    one_word: OneWord = of_one_word.NAN,
) -> Score:
    """Measure association with two groups as an effect size. Single-category WEAT, also called WEFAT.

    With groups A and B and words w::

        d(w) = (mean of cos(w, a) over a in A - mean of cos(w, b) over b in B)
               / standard deviation of cos(w, x) over x in A and B
        value = mean of d(w) over the words

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    orientation
        "paper": the target sets are the groups, and the value covers the words of all attribute sets.
        "wefe_benchmark": the attribute sets are the groups, and the value covers the words of the first target set
        (`biasgrid.metrics.orientation`).
    ddof
        The standard deviation divides by the number of words minus `ddof`. 1 reproduces the effect sizes of WEAT
        that Caliskan et al. print without a divisor, and is the divisor of PsychWordVec and sweater. Or 0.
    one_word
        The value if each group has one word. "nan": undefined. "keep": the mean of 1.41 and -1.41 (`ddof` 0: 2 and
        -2), which counts the words that are closer to either group.

    Returns
    -------
    Score
        Range [-2, 2], no-bias value 0; wider for groups of unequal size. Positive: towards the first group. Words
        with opposite associations cancel. It shows how well a word separates the groups, and not how far they are
        apart: two groups of one word each give 1.41 or -1.41 (`ddof` 0: 2 or -2) for any word. Undefined (NaN) for
        such groups (status "degenerate:one word"), for a word that is equally near to all words of both groups, and
        for a zero vector. `detail`: effect_size, d(w) of each word; difference, of the means alone.

    Notes
    -----
    **Blind spots.** Words that are closer to different groups cancel. Each word's difference is divided by
    the word's own spread, so the value can also be 0 although the words on average are closer to one group. And it
    does not see how far apart the groups are: a small difference with a small spread counts as much as a large
    one.

    **Defaults.** The paper's supplement (WEFAT) scores one word at a time and does not report the divisor of the
    standard deviation; the value here is the mean over words. `ddof` 1 follows PsychWordVec and sweater, 0 follows
    `weat_es` here. WEFE 1.0.1 does not have the metric.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "him": [3, 4], "she": [0, 1], "her": [4, 3], "engineer": [1, 0]})
    >>> query = Query([["he", "him"], ["she", "her"]], [["engineer"]])
    >>> round(metrics.sc_weat(query, model, ddof=0).value, 3)
    1.069
    """
    groups, words = roles.groups_and_words(targets, attributes, orientation)
    if of_one_word.is_undefined(groups, one_word):
        return Score(math.nan)
    x, y = whole_sets(map(len, groups))
    by_group = [cosines(vectors, np.concatenate(groups)) for vectors in words]
    effect = [effect_size(x, y, cosine, ddof) for cosine in by_group]
    difference = [mean(x, cosine) - mean(y, cosine) for cosine in by_group]
    role: Role = "attribute" if orientation == roles.PAPER else "target"
    return Score(
        float(np.concatenate(roles.sets_of_value(effect, orientation)).mean()),
        detail={"effect_size": Detail(role, effect), "difference": Detail(role, difference)},
    )


@limited
def nas(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: roles.Orientation = roles.PAPER,
    one_word: OneWord = of_one_word.NAN,
) -> Score:
    """Compute `sc_weat` with ddof 1, as in R's sweater. There it is the Normalised Association Score (NAS).

    sweater reports the words' scores and no number for all of them; the value is their mean. Both names exist
    because papers use both: a ranking or correlation with both metrics counts one twice.

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    orientation
        "paper": the target sets are the groups, and the value covers the words of all attribute sets.
        "wefe_benchmark": the attribute sets are the groups, and the value covers the words of the first target set
        (`biasgrid.metrics.orientation`).
    one_word
        As in `sc_weat`; "keep" follows sweater.

    Returns
    -------
    Score
        Range [-2, 2], no-bias value 0. Positive: towards the first group; otherwise as in `sc_weat`, also when it
        is NaN.

    Notes
    -----
    **Blind spots.** It has the blind spots of `sc_weat`: words that are closer to different groups cancel,
    and it does not show how far apart the groups are.

    **Defaults.** The default follows sweater, with `ddof` 1. sweater reports the words' scores and no number for
    all of them; here their mean is the value. WEFE 1.0.1 does not have the metric. Use either `nas` or `sc_weat` in
    a study.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "him": [3, 4], "she": [0, 1], "her": [4, 3], "engineer": [1, 0]})
    >>> query = Query([["he", "him"], ["she", "her"]], [["engineer"]])
    >>> round(metrics.nas(query, model).value, 3)
    0.926
    """
    return sc_weat(targets, attributes, orientation=orientation, one_word=one_word)


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    orientation: roles.Orientation = roles.PAPER,
    ddof: int = 1,
    one_word: OneWord = of_one_word.NAN,
    **_: Any,
) -> Callable:
    pool, word_vectors = roles.groups_and_words(words, attributes, orientation)
    cosine = cosines(pool, word_vectors)
    # Centre the cosines, so that squares do not cancel. The remaining variance of a flat word is rounding.
    cosine = cosine - cosine.mean(axis=0)
    squares = cosine**2
    flat = 1e-13 * squares.max(axis=0) + FLAT**2

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        groups, word_weights = roles.groups_and_words(targets, attribute_weights, orientation)
        first, second = groups
        all_weights = first + second
        count = all_weights.sum(axis=1, keepdims=True)
        variance = mean_of_rows(all_weights, squares) - mean_of_rows(all_weights, cosine) ** 2
        divisor = np.where(count > ddof, count - ddof, np.nan)
        spread = np.sqrt(np.where(variance > flat, variance, np.nan) * count / divisor)
        effect = (mean_of_rows(first, cosine) - mean_of_rows(second, cosine)) / spread
        counts: Any = sum(roles.sets_of_value(word_weights, orientation))
        value = weighted_mean(counts, effect)
        undefined = of_one_word.undefined_samples(WeightedSet(first), WeightedSet(second), one_word)
        return np.where(undefined, np.nan, value)

    return statistic


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    words: Sequence[np.ndarray],
    *,
    orientation: roles.Orientation = roles.PAPER,
    ddof: int = 1,
    **_: Any,
) -> np.ndarray:
    cosine = cosines(np.concatenate(roles.sets_of_value(words, orientation)), pool)
    x, y = whole_sets(group.shape[1] for group in places)
    all_places = np.concatenate(places, axis=1)
    return in_blocks(
        lambda part: effect_size(x, y, cosine[:, part], ddof).mean(axis=0),
        len(cosine) * all_places.shape[1],
        all_places,
    )


def _sized(
    targets: Sequence[int],
    attributes: Sequence[int],
    *,
    orientation: roles.Orientation = roles.PAPER,
    ddof: int = 1,
    **_: Any,
) -> tuple[float, float]:
    first, second = roles.groups_and_words(targets, attributes, orientation)[0]
    return effect_size_range(first, second, ddof=ddof)


def _variant(*, orientation: str, **_: Any) -> dict[str, Any]:
    fields = roles.fields_of_orientation(orientation, (2, "n"))
    return fields | {"one_word": fields.get("groups", "targets")}


REFERENCE = (
    "Caliskan, Bryson, Narayanan. Semantics derived automatically from language corpora. Science 356, 2017"
)
_SHARED: dict[str, Any] = {
    "asks": "Are the words of {W} more associated with {G1} or with {G2}?",
    "above": "the words of {W} are more associated with {G1}",
    "below": "the words of {W} are more associated with {G2}",
    "details": {"effect_size": "its own effect size: positive is nearer to {G1}, negative to {G2}"},
    "template": (2, "n"),
    "range": (-2.0, 2.0),
    "neutral": 0.0,
    "sized": _sized,
    "resampled": _resampled,
    "redrawn": _redrawn,
    "variant": _variant,
    "word_bias": "effect_size",
    "by_item": roles.cosines_by_item,
    "item_note": "of the numerator: the word's own standard deviation is no sum",
}
SC_WEAT = Metric(
    name="sc_weat",
    label="SC-WEAT",
    function=sc_weat,
    reference=f"{REFERENCE}, supplement (WEFAT); Toney, Caliskan. ValNorm. EMNLP 2021",
    **_SHARED,
)
NAS = Metric(
    name="nas",
    label="NAS",
    function=nas,
    reference=f"{REFERENCE}; Chan. sweater. JOSS 7(72), 2022",
    **_SHARED,
)
METRICS = (SC_WEAT, NAS)
