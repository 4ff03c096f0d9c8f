"""Skew and stereotype of SAME (Schroeder et al., Evaluating Metrics for Bias in Word Embeddings, 2021)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from ..core.geometry import unit
from ..core.limits import limited
from ..models import directions
from . import orientation as roles
from .registry import Detail, Metric, Role, Score
from .same import REFERENCE, Vectors, along_axes, axis_between, biases_of, contrasts_of, rest_of
from .sets import WeightedSet, Whole, Words, mean, std

ContrastKind = Literal["pair", "rest"]
# Function of a set of words and their biases, (samples or contrasts, words).
Moment = Callable[..., np.ndarray]


@limited
def same_skew(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: roles.Orientation = roles.PAPER,
    contrast: ContrastKind = "pair",
) -> Score:
    """Average words' association with one of two groups.

    With u(S) the mean of the unit vectors of a group S, groups A and B and words w::

        b(w) = cos(w, u(A) - u(B))
        value = mean of b(w) over the words

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    orientation
        "paper": the target sets are the groups, and the value covers the words of all attribute sets.
        "wefe_benchmark": the attribute sets are the groups, and the value covers the words of the first target set
        (`biasgrid.metrics.orientation`).
    contrast
        "pair": one group and another; with more than two groups, each pair in turn. "rest": each group against the
        union of all others' words; the value is taken from the group with the largest distance from 0.

    Returns
    -------
    Score
        Range [-1, 1], no-bias value 0. Positive: towards the first group. It is also 0 if some words are closer to
        one group and equally many to the other. Only together with the stereotype does it show that there is no
        bias. Undefined (NaN) if the groups have the same mean.

    Notes
    -----
    **Blind spots.** Words that are closer to different groups cancel; `same_stereotype` sees them.

    **Defaults.** The default follows section 4.2 of the paper; `contrast="rest"` compares each of more than two
    groups with all others. WEFE 1.0.1 does not have the metric. The numbers of its benchmark chapter, in which the
    attribute sets are the groups, are `orientation="wefe_benchmark"`.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "she": [-1, 0], "engineer": [3, 4], "nurse": [-3, 4]})
    >>> round(metrics.same_skew(Query([["he"], ["she"]], [["engineer", "nurse"]]), model).value, 3)
    0.0
    """
    return _moment(targets, attributes, orientation, contrast, mean)


@limited
def same_stereotype(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: roles.Orientation = roles.PAPER,
    contrast: ContrastKind = "pair",
    as_printed: bool = False,
) -> Score:
    """Measure the spread of the associations with two groups.

    With b(w) as in `same_skew`::

        value = standard deviation (ddof 0) of b(w) over the words

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    orientation
        "paper": the target sets are the groups, and the value covers the words of all attribute sets.
        "wefe_benchmark": the attribute sets are the groups, and the value covers the words of the first target set
        (`biasgrid.metrics.orientation`).
    contrast
        "pair": one group and another; with more than two groups, each pair in turn. "rest": each group against the
        union of all others' words; the value is taken from the group with the largest distance from 0.
    as_printed
        Use the paper's formula, which its prose contradicts: it also divides by the root of the number of words.

    Returns
    -------
    Score
        Range [0, 1], no-bias value 0, no sign: larger is more biased. It is also 0 if all words are equally close
        to one group. Undefined (NaN) if the groups have the same mean.

    Notes
    -----
    **Blind spots.** It does not see what all words have in common: if all of them are closer to one group
    by the same amount, it is 0. `same_skew` sees that.

    **Defaults.** The default is a standard deviation, as in the text of the paper's section 4.2 and in
    EmbeddingBiasScores. The formula printed there also divides by the root of the number of words:
    `as_printed=True`. WEFE 1.0.1 does not have the metric; its benchmark chapter uses
    `orientation="wefe_benchmark"`.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "she": [-1, 0], "engineer": [3, 4], "nurse": [-3, 4]})
    >>> round(metrics.same_stereotype(Query([["he"], ["she"]], [["engineer", "nurse"]]), model).value, 3)
    0.6
    """
    return _moment(targets, attributes, orientation, contrast, partial(_stereotype, as_printed=as_printed))


def _stereotype(words: Words, b: np.ndarray, *, as_printed: bool = False) -> np.ndarray:
    return std(words, b) / (np.sqrt(words.count) if as_printed else 1.0)


def _moment(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    orientation: str,
    contrast: str,
    moment: Moment,
) -> Score:
    groups, words = roles.groups_and_words(targets, attributes, orientation)
    unit_words = [unit(w) for w in words]
    sides = _sides(groups, contrast)
    biases = [np.stack([w @ axis_between(first, second) for first, second in sides]) for w in unit_words]
    b = np.concatenate(roles.sets_of_value(biases, orientation), axis=1)
    by_contrast = moment(Whole(0, b.shape[1]), b)
    # If a contrast is NaN, argmax returns its index.
    farthest = int(np.argmax(np.abs(by_contrast)))
    role: Role = "attribute" if orientation == roles.PAPER else "target"
    return Score(
        float(by_contrast[farthest]),
        detail={"bias": Detail(role, [b[farthest] for b in biases])},
        contrasts=contrasts_of(groups, unit_words, orientation),
    )


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    moment: Moment,
    orientation: roles.Orientation = roles.PAPER,
    contrast: ContrastKind = "pair",
    **parameters: Any,
) -> Callable:
    biases = biases_of(words, attributes, orientation, contrast)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        by_contrast, weights = biases(targets, attribute_weights)
        return _farthest_from_zero([moment(WeightedSet(weights), b, **parameters) for b in by_contrast])

    return statistic


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    words: Vectors,
    *,
    moment: Moment,
    orientation: roles.Orientation = roles.PAPER,
    contrast: ContrastKind = "pair",
    **parameters: Any,
) -> np.ndarray:
    def value(components: np.ndarray) -> np.ndarray:
        return moment(Whole(0, components.shape[-1]), components[:, 0], **parameters)

    if contrast == "pair" or len(places) == 2:
        sides = list(combinations(places, 2))
    else:
        sides = [
            (group, np.concatenate([*places[:i], *places[i + 1 :]], axis=1)) for i, group in enumerate(places)
        ]
    axes = (directions.axes_of_draws(pool, side, directions.MEAN) for side in sides)
    return _farthest_from_zero([along_axes(of_side, words, orientation, value) for of_side in axes])


def _farthest_from_zero(by_contrast: list[np.ndarray]) -> np.ndarray:
    values = np.stack(np.broadcast_arrays(*by_contrast))
    return np.take_along_axis(values, np.abs(values).argmax(axis=0)[None], axis=0)[0]


def _sides(groups: Vectors, contrast: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the words of the contrasted sides: one group and another, or one group and all others."""
    if contrast == "pair" or len(groups) == 2:
        return [(groups[0], groups[1])]
    return [(group, rest_of(groups, i)) for i, group in enumerate(groups)]


def _moment_variant(*, orientation: str, contrast: str, as_printed: bool = False) -> dict[str, Any]:
    return roles.fields_of_orientation(orientation, (2 if contrast == "pair" else "k", "n"))


SAME_SKEW = Metric(
    name="same_skew",
    label="SAME skew",
    function=same_skew,
    asks="Are the words of {W} on the whole closer to one of {G}?",
    above="the words of {W} are on the whole closer to the first of {G}",
    below="the words of {W} are on the whole closer to the second of {G}",
    details={"bias": "how much closer it is to one group: positive to the first, negative to the second"},
    nearer="first",
    template=(2, "n"),
    range=(-1.0, 1.0),
    neutral=0.0,
    reference=f"{REFERENCE}, section 4.2",
    resampled=partial(_resampled, moment=mean),
    redrawn=partial(_redrawn, moment=mean),
    variant=_moment_variant,
    contrasts=True,
)
SAME_STEREOTYPE = Metric(
    name="same_stereotype",
    label="SAME stereotype",
    function=same_stereotype,
    asks="How much do the words of {W} differ in which of {G} they are closer to?",
    above="the words of {W} differ in which of {G} they are closer to",
    details={"bias": "how much closer it is to one group: positive to the first, negative to the second"},
    nearer="first",
    template=(2, "n"),
    range=(0.0, 1.0),
    neutral=0.0,
    reference=f"{REFERENCE}, section 4.2",
    resampled=partial(_resampled, moment=_stereotype),
    redrawn=partial(_redrawn, moment=_stereotype),
    variant=_moment_variant,
    contrasts=True,
)
METRICS = (SAME_SKEW, SAME_STEREOTYPE)
