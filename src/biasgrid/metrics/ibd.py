"""IBD and EIBD, Intersectional Bias Detection and Emergent IBD, as areas under their curves.

Guo, Caliskan, AIES 2021.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from ..core.geometry import cosines, effect_size_range, in_blocks, weighted_mean
from ..core.limits import limited
from .registry import Detail, Metric, Score
from .sets import FLAT

# Thresholds at which scores report the curve.
THRESHOLDS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
# Compared groups, by number: the first with each other one, then the two constituents.
CONTRASTS = (((0,), (1,)), ((0,), (2,)), ((0,), (3,)), ((0, 1), (2, 3)), ((0, 2), (1, 3)))
COLUMNS = ["group 2", "group 3", "group 4", "groups 1 and 2", "groups 1 and 3"]


@limited
def ibd(targets: list[np.ndarray], attributes: list[np.ndarray], *, ddof: Literal[0, 1] = 1) -> Score:
    """Measure association with one of four crossed groups. Intersectional Bias Detection (IBD).

    The target sets are four crossed groups C11, C12, C21, C22, such as men and women of one race, then men and
    women of the other; the value describes the first. d(w, A, B) is the effect size of one word, as in `sc_weat`.
    The paper detects words that are associated with C11 rather than with any one other group, by a threshold t::

        detected(t) = the words w with d(w, C11, C) > t for any of C in C12, C21, C22
        IBD = area under the share of the words in detected(t), for t from 0 on
            = mean over w of max(0, the largest of d(w, C11, C))

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the four groups' words, and of the words of one attribute set.
    ddof
        The standard deviation of an effect size divides by the number of words minus `ddof`, 0 or 1.

    Returns
    -------
    Score
        Range [0, 2], no-bias value 0, no sign; for groups of unequal size, the upper end is the end of `sc_weat`.
        It is above 0 by chance alone, as the largest of three effect sizes mostly is. Read it together with its
        tests. Undefined (NaN) for a word that is equally near to all words of two groups, for four groups of one
        word each (status "degenerate:one word"), and for a zero vector. `scalars`: share_0.25, share_0.5 ...
        share_1.5, the curve: the share of the words that are detected at that t. `detail`: area, max(0, the largest
        effect size) of each word; thresholds, the lower and upper t between which it is detected; effect_size,
        against each other group, and of the unions of groups.

    Notes
    -----
    **Blind spots.** It does not see whether a word is associated with the group because of the intersection
    or because of one constituent; `eibd` leaves out the latter. It does not show that any single word is biased.
    The paper chooses t with a list of words that people named for the group. That list states no licence and does
    not come with biasgrid. Without such a list there is a curve, but there are no detected words.

    **Defaults.** The paper does not report the divisor of the standard deviation; `ddof` is the same as in
    `sc_weat`. The paper reports words at one t; the area is biasgrid's, so that no t need be chosen. The
    permutation test exchanges words between the first two groups, and between the other two. The difference between
    the two pairs, such as race, does not change. Name the sets in the order C11, C21, C12, C22 to exchange along
    the other constituent; an intersection is distinct both ways.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> vectors = {"ann": [3, 1], "amy": [3, 0], "bob": [2, 2], "tim": [2, 1]}
    >>> vectors |= {"eve": [1, 3], "zoe": [1, 2], "abe": [0, 3], "joe": [0, 1], "nurse": [4, 1]}
    >>> groups = [["ann", "amy"], ["bob", "tim"], ["eve", "zoe"], ["abe", "joe"]]
    >>> result = metrics.ibd(Query(groups, [["nurse"]]), load(vectors))
    >>> round(result.value, 2), result.scalars["share_1"]
    (1.73, 1.0)
    """
    return _score(targets, attributes, ddof, emergent=False)


@limited
def eibd(targets: list[np.ndarray], attributes: list[np.ndarray], *, ddof: Literal[0, 1] = 1) -> Score:
    """Measure association with a crossed group, not its parts. Emergent Intersectional Bias Detection (EIBD).

    The target sets are four crossed groups C11, C12, C21, C22, as in `ibd`; the value describes the first. Some of
    the words that `ibd` detects are also associated with a constituent of C11 by the same threshold t. Constituents
    are, for example, its race (C11 and C12 together) and its gender (C11 and C21 together). These words are left
    out::

        emergent(t) = the words w with d(w, C11, C) > t for any of C in C12, C21, C22,
                      d(w, C11 + C12, C21 + C22) <= t and d(w, C11 + C21, C12 + C22) <= t
        EIBD = area under the share of the words in emergent(t), for t from 0 on

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the four groups' words, and of the words of one attribute set.
    ddof
        The standard deviation of an effect size divides by the number of words minus `ddof`, 0 or 1.

    Returns
    -------
    Score
        Range [0, 2], no-bias value 0, no sign; as in `ibd`, it is above 0 by chance alone, and undefined (NaN) in
        the same cases. `scalars`: share_0.25 ... share_1.5, the curve. `detail`: area, the length of the range of t
        in which each word is emergent; thresholds, the lower and upper end of that range; effect_size.

    Notes
    -----
    **Blind spots.** It cannot distinguish the sum of two associations from one that only the intersection
    has. A word that is a little closer to a race and a little closer to a gender can be further from the opposite
    group than from either constituent. It does not see words that are associated with the intersection and more
    with a constituent. As with `ibd`, there are no detected words without a list of people's answers to choose t
    with.

    **Defaults.** As in `ibd`. The paper leaves out words that are associated with a constituent in every contrast
    of it; with two races and two genders there is one contrast each.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> vectors = {"ann": [3, 1], "amy": [3, 0], "bob": [2, 2], "tim": [2, 1]}
    >>> vectors |= {"eve": [1, 3], "zoe": [1, 2], "abe": [0, 3], "joe": [0, 1], "nurse": [4, 1]}
    >>> groups = [["ann", "amy"], ["bob", "tim"], ["eve", "zoe"], ["abe", "joe"]]
    >>> round(metrics.eibd(Query(groups, [["nurse"]]), load(vectors)).value, 2)
    0.06
    """
    return _score(targets, attributes, ddof, emergent=True)


def _score(targets: list[np.ndarray], attributes: list[np.ndarray], ddof: int, *, emergent: bool) -> Score:
    if all(len(group) == 1 for group in targets):
        return Score(math.nan)
    (words,) = attributes
    cosine = [cosines(group, words) for group in targets]
    centre = np.concatenate(cosine).mean(axis=0)
    sums = [(of_group - centre).sum(axis=0)[None] for of_group in cosine]
    squares = [((of_group - centre) ** 2).sum(axis=0)[None] for of_group in cosine]
    effects = _effects([np.full((1, 1), len(group)) for group in targets], sums, squares, ddof)[:, 0]
    start, end = _stretch(effects, emergent)
    area = end - start
    shares = {
        f"share_{t:g}": float(((start <= t) & (t < end)).mean()) if np.isfinite(area).all() else math.nan
        for t in THRESHOLDS
    }
    return Score(
        float(area.mean()),
        scalars=shares,
        detail={
            "area": Detail("attribute", [area]),
            "thresholds": Detail("attribute", [np.stack([start, end], axis=1)], ["from", "to"]),
            "effect_size": Detail("attribute", [effects.T], COLUMNS),
        },
    )


def _effects(
    counts: Sequence[np.ndarray], sums: Sequence[np.ndarray], squares: Sequence[np.ndarray], ddof: int
) -> np.ndarray:
    """Compute the effect sizes of `CONTRASTS`, (contrasts, samples, words).

    `counts` is the number of words in each group (samples, 1); `sums` and `squares` are sums of the words' cosines,
    and of squared cosines, with each group (samples, words). Cosines are centred, so that squares do not cancel.
    """
    effects = []
    for contrast in CONTRASTS:
        first, second = (
            [sum(of_group[i] for i in side) for of_group in (counts, sums, squares)] for side in contrast
        )
        (count, total, square) = (a + b for a, b in zip(first, second, strict=True))
        variance = square / count - (total / count) ** 2
        # The remaining variance of a flat word is rounding.
        flat = 1e-13 * square / count + FLAT**2
        divisor = np.where(count > ddof, count - ddof, np.nan)
        spread = np.sqrt(np.where(variance > flat, variance, np.nan) * count / divisor)
        effects.append((first[1] / first[0] - second[1] / second[0]) / spread)
    return np.stack(np.broadcast_arrays(*effects))


def _stretch(effects: np.ndarray, emergent: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper threshold between which a word is detected; equal if it is never detected."""
    start = np.maximum(effects[3:].max(axis=0), 0.0) if emergent else np.zeros(effects.shape[1:])
    return start, np.maximum(effects[:3].max(axis=0), start)


def _area(effects: np.ndarray, emergent: bool) -> np.ndarray:
    start, end = _stretch(effects, emergent)
    return end - start


def _resampled(words: np.ndarray, attributes: np.ndarray, *, emergent: bool, ddof: int = 1) -> Callable:
    cosine = cosines(words, attributes)
    cosine = cosine - cosine.mean(axis=0)
    squared = cosine**2

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        counts = [weights.sum(axis=1, keepdims=True) for weights in targets]
        sums, squares = ([weights @ of_word for weights in targets] for of_word in (cosine, squared))
        areas = _area(_effects(counts, sums, squares, ddof), emergent)
        is_fixed = sum(counts)[:, 0] == len(counts)
        return np.where(is_fixed, np.nan, weighted_mean(attribute_weights[0], areas))

    return statistic


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    words: Sequence[np.ndarray],
    *,
    emergent: bool,
    ddof: int = 1,
) -> np.ndarray:
    cosine = cosines(pool, words[0])
    cosine = cosine - cosine.mean(axis=0)

    def value(*places: np.ndarray) -> np.ndarray:
        drawn = [cosine[of_group] for of_group in places]
        effects = _effects(
            [np.full((1, 1), of_group.shape[1]) for of_group in places],
            [of_group.sum(axis=1) for of_group in drawn],
            [(of_group**2).sum(axis=1) for of_group in drawn],
            ddof,
        )
        return _area(effects, emergent).mean(axis=1)

    return in_blocks(value, cosine.shape[1] * max(of_group.shape[1] for of_group in places), *places)


def _sized(targets: Sequence[int], attributes: Sequence[int], *, ddof: int = 1) -> tuple[float, float]:
    first, *others = targets
    return 0.0, max(effect_size_range(first, other, ddof=ddof)[1] for other in others)


REFERENCE = (
    "Guo, Caliskan. Detecting emergent intersectional biases: contextualized word embeddings contain a distribution "
    "of human-like biases. AIES 2021"
)
_SHARED: dict[str, Any] = {
    "reference": REFERENCE,
    "template": (4, 1),
    "range": (0.0, 2.0),
    "neutral": 0.0,
    "exchanged": "constituents",
    "sized": _sized,
    "one_word": "targets",
    "item_note": "a word's number is the largest of several, and no sum",
}
IBD = Metric(
    name="ibd",
    label="IBD",
    function=ibd,
    asks="How strongly do the words of {W} go with {G1} rather than with one of {G2}, {G3} and {G4}?",
    above="words of {W} go with {G1} rather than with another group; by chance alone some do",
    details={
        "area": "how far it goes with {G1} rather than with the group that it goes with least: 0, with none"
    },
    resampled=partial(_resampled, emergent=False),
    redrawn=partial(_redrawn, emergent=False),
    **_SHARED,
)
EIBD = Metric(
    name="eibd",
    label="EIBD",
    function=eibd,
    asks="How strongly do the words of {W} go with {G1}, and with neither what it shares with {G2} nor what it "
    "shares with {G3}, rather than with one of {G2}, {G3} and {G4}?",
    above="words of {W} go with {G1} more than with what it shares with {G2} or {G3}; by chance alone some do",
    details={"area": "how much further it goes with {G1} than with what {G1} shares with {G2} or {G3}"},
    resampled=partial(_resampled, emergent=True),
    redrawn=partial(_redrawn, emergent=True),
    **_SHARED,
)
METRICS = (IBD, EIBD)
