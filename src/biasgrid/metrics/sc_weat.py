"""SC-WEAT, the single-category WEAT, which has a score for every word (the WEFAT of Caliskan, Bryson,
Narayanan, Science 2017), and NAS, the name under which the R package sweater has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import orientation as roles
from ..errors import BiasgridError, not_allowed
from ..geometry import BLOCK, cosines, effect_size_range, mean_of_rows, weighted_mean
from .registry import Detail, Metric, Score

FLAT = 1e-12  # identical words give rounding noise, not a spread


def sc_weat(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: str = roles.PAPER,
    ddof: int = 1,
) -> Score:
    """How much nearer words are to the first group than to the second, each in standard deviations of its
    own: the mean over words w of d(w) = (mean_a cos(w, a) - mean_b cos(w, b)) / std over the words x of both
    groups of cos(w, x).

    Neutral value 0; positive: towards the first group. Words that lean opposite ways cancel. d(w) lies in
    [-2, 2] where the groups have as many words, and may lie further out where they have not
    (`geometry.effect_size_range`); it says how well the groups are told apart by a word, and not how far they
    lie apart: two groups of one word each give 1.41 or -1.41 (`ddof` 0: 2 or -2) for any word. Undefined (NaN)
    for a word that is as near to all words of both groups, and for a zero vector.

    ddof         1: of a sample, with which Caliskan et al.'s printed effect sizes of WEAT come out (they
                 print no divisor), and which PsychWordVec and sweater have; or 0
    orientation  which sets are the groups: see biasgrid.orientation

    Per word: d(w), and the difference of the means alone.
    """
    _check(orientation=orientation, ddof=ddof)
    (first, second), words = roles.groups_and_words(targets, attributes, orientation)
    difference, effect = [], []
    for vectors in words:
        a, b = cosines(vectors, first), cosines(vectors, second)
        both = np.concatenate([a, b], axis=1)
        spread = both.std(axis=1, ddof=ddof) if both.shape[1] > ddof else np.full(len(both), np.nan)
        difference.append(a.mean(axis=1) - b.mean(axis=1))
        effect.append(difference[-1] / np.where(spread > FLAT, spread, np.nan))
    role = "attribute" if orientation == roles.PAPER else "target"
    return Score(
        float(np.concatenate(roles.chosen(effect, orientation)).mean()),
        detail={"effect_size": Detail(role, effect), "difference": Detail(role, difference)},
    )


def nas(targets: list[np.ndarray], attributes: list[np.ndarray], *, orientation: str = roles.PAPER) -> Score:
    """The Normalised Association Score of the R package sweater: `sc_weat` with ddof 1, word for word.
    sweater gives the words' scores and no number for all of them; the value is their mean. Both names are
    here because papers have both: a ranking or correlation that has both metrics counts one twice.
    """
    return sc_weat(targets, attributes, orientation=orientation)


def _resampled(
    words: np.ndarray, attributes: np.ndarray, *, orientation: str = roles.PAPER, ddof: int = 1
) -> Callable:
    pool, others = roles.groups_and_words(words, attributes, orientation)
    cosine = cosines(pool, others)
    # centred, so that squares do not cancel; what is left of a flat word's variance is rounding
    cosine = cosine - cosine.mean(axis=0)
    squares = cosine**2
    flat = 1e-13 * squares.max(axis=0) + FLAT**2

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        (first, second), of_words = roles.groups_and_words(targets, attribute_weights, orientation)
        both = first + second
        count = both.sum(axis=1, keepdims=True)
        variance = mean_of_rows(both, squares) - mean_of_rows(both, cosine) ** 2
        divisor = np.where(count > ddof, count - ddof, np.nan)
        spread = np.sqrt(np.where(variance > flat, variance, np.nan) * count / divisor)
        effect = (mean_of_rows(first, cosine) - mean_of_rows(second, cosine)) / spread
        return weighted_mean(sum(roles.chosen(of_words, orientation)), effect)

    return statistic


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    words: Sequence[np.ndarray],
    *,
    orientation: str = roles.PAPER,
    ddof: int = 1,
) -> np.ndarray:
    cosine = cosines(np.concatenate(roles.chosen(words, orientation)), pool)
    both, size = np.concatenate(places, axis=1), places[0].shape[1]
    values = np.empty(len(both))
    block = max(1, BLOCK // (len(cosine) * both.shape[1]))
    for start in range(0, len(both), block):
        rows = slice(start, start + block)
        near = cosine[:, both[rows]]
        spread = near.std(axis=2, ddof=ddof) if both.shape[1] > ddof else np.full(near.shape[:2], np.nan)
        difference = near[:, :, :size].mean(axis=2) - near[:, :, size:].mean(axis=2)
        values[rows] = (difference / np.where(spread > FLAT, spread, np.nan)).mean(axis=0)
    return values


def _sized(
    targets: Sequence[int], attributes: Sequence[int], *, orientation: str = roles.PAPER, ddof: int = 1
) -> tuple[float, float]:
    groups, _ = roles.groups_and_words(targets, attributes, orientation)
    return effect_size_range(*groups, ddof)


def _check(*, orientation: str = roles.PAPER, ddof: int = 1) -> None:
    roles.check(orientation)
    if type(ddof) is not int or ddof not in (0, 1):
        raise BiasgridError(not_allowed("ddof", ddof, "0, 1"))


def _variant(*, orientation: str, ddof: int = 1) -> dict[str, Any]:
    return roles.oriented(orientation, (2, "n"))


REFERENCE = (
    "Caliskan, Bryson, Narayanan. Semantics derived automatically from language corpora. Science 356, 2017"
)
METRICS = (
    Metric(
        name="sc_weat",
        label="SC-WEAT",
        function=sc_weat,
        template=(2, "n"),
        range=(-2.0, 2.0),
        neutral=0.0,
        reference=f"{REFERENCE}, supplement (WEFAT); Toney, Caliskan. ValNorm. EMNLP 2021",
        sized=_sized,
        resampled=_resampled,
        redrawn=_redrawn,
        variant=_variant,
        word_bias="effect_size",
        check=_check,
    ),
    Metric(
        name="nas",
        label="NAS",
        function=nas,
        template=(2, "n"),
        range=(-2.0, 2.0),
        neutral=0.0,
        reference=f"{REFERENCE}; Chan. sweater. JOSS 7(72), 2022",
        sized=_sized,
        resampled=_resampled,
        redrawn=_redrawn,
        variant=_variant,
        word_bias="effect_size",
        check=_check,
    ),
)
