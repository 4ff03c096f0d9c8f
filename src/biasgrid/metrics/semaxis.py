"""SemAxis (An, Kwak, Ahn, ACL 2018): position of words on an axis between two groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from ..core.geometry import FLAT, cosines, means_of_groups, unit, weighted_mean, weighted_products
from ..core.limits import limited
from ..models.words import WordVectors
from . import neighbours as neighbour_search
from . import orientation as roles
from .registry import Detail, Metric, Role, Score


@limited
def semaxis(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: roles.Orientation = roles.PAPER,
    neighbours: Annotated[int, Ge(0)] = 0,
    vocabulary: Annotated[int, Ge(2)] = neighbour_search.VOCABULARY,
) -> Score:
    """Locate words on the axis between two groups.

    With groups A and B and words w::

        value = mean of cos(w, mean(A) - mean(B)) over the words

    Vectors of the groups keep their length, so that long ones count for more in the axis. The look-up's `normalize`
    changes that; with it SemAxis is SAME's skew.

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    orientation
        "paper": the target sets are the groups, and the value covers the words of all attribute sets.
        "wefe_benchmark": the attribute sets are the groups, and the value covers the words of the first target set
        (`biasgrid.metrics.orientation`).
    neighbours
        Number of nearest neighbours (by cosine) of each word of the groups that are averaged with it, as the paper
        does for an axis between two words; 0 takes the words alone.
    vocabulary
        Number of first rows of the model in which neighbours are searched.

    Returns
    -------
    Score
        Range [-1, 1], no-bias value 0. Positive: towards the first group. Words on opposite sides cancel. Undefined
        (NaN) if the groups have the same mean, and for a word whose vector is zero. In a group, such a vector is
        one of length 0; with `neighbours`, the value is undefined. `detail`: score of each word.

    Notes
    -----
    **Blind spots.** Words that are closer to different groups cancel. The groups' vectors keep their
    length, so a few long ones decide where the axis points. A word that is closer to one group by its mean cosine
    can then have the score 0.

    **Defaults.** The paper scores one word at a time, on an axis between two words, each averaged with its nearest
    neighbours. Here groups of words define the axis, no neighbours are needed (`neighbours` 0), and the mean over
    words is the value. `neighbours` is sweater's `l`. WEFE 1.0.1 does not have the metric.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "she": [0, 1], "engineer": [1, 0]})
    >>> round(metrics.semaxis(Query([["he"], ["she"]], [["engineer"]]), model).value, 3)
    0.707
    """
    groups, words = roles.groups_and_words(targets, attributes, orientation)
    first, second = groups
    axis = first.mean(axis=0) - second.mean(axis=0)
    longest = np.linalg.norm(np.concatenate([first, second]), axis=1).max()
    axis = unit(axis) if np.linalg.norm(axis) > FLAT * longest else np.full_like(axis, np.nan)
    scores = [np.clip(unit(w) @ axis, -1.0, 1.0) for w in words]
    role: Role = "attribute" if orientation == roles.PAPER else "target"
    return Score(
        float(np.concatenate(roles.sets_of_value(scores, orientation)).mean()),
        detail={"score": Detail(role, scores)},
    )


def _semaxis_of_poles(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    poles: list[np.ndarray],
    orientation: roles.Orientation = roles.PAPER,
    neighbours: int = 0,
    vocabulary: int = neighbour_search.VOCABULARY,
) -> Score:
    """Compute `semaxis` with `poles` in place of the words of the groups, row by row."""
    _, words = roles.groups_and_words(targets, attributes, orientation)
    return semaxis(*roles.groups_and_words(poles, words, orientation), orientation=orientation)


def _poles(
    model: Any,
    targets: Sequence[WordVectors],
    attributes: Sequence[WordVectors],
    *,
    orientation: roles.Orientation = roles.PAPER,
    neighbours: int = 0,
    vocabulary: int = neighbour_search.VOCABULARY,
) -> dict[str, Any]:
    """Compute the means of the groups' words and their neighbours."""
    groups, _ = roles.groups_and_words(targets, attributes, orientation)
    keys = [key for group in groups for key in group.keys]
    places, entries, rows = neighbour_search.nearest(model, keys, neighbours, vocabulary)
    # Read each neighbour once, also if several words have it.
    distinct, inverse = np.unique(places, return_inverse=True)
    vectors = model.take([entries[place] for place in distinct], rows[distinct])
    group_vectors = np.concatenate([group.vectors for group in groups])
    if not np.array_equal(group_vectors, model.take(keys, model.rows(keys))):
        # The look-up has scaled the groups' words to unit length: scale their neighbours as well.
        vectors = unit(vectors)
    neighbour_sums = vectors[inverse.reshape(places.shape)].sum(axis=1) if places.size else 0.0
    poles = np.where(
        group_vectors.any(axis=1, keepdims=True),
        (group_vectors + neighbour_sums) / (1 + places.shape[1]),
        np.nan,
    )
    return {"poles": np.split(poles, np.cumsum([len(group.keys) for group in groups])[:-1])}


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    poles: list[np.ndarray] | None = None,
    orientation: roles.Orientation = roles.PAPER,
    **_: Any,
) -> Callable:
    pool, word_vectors = roles.groups_and_words(words, attributes, orientation)
    pool = np.concatenate(poles) if poles else pool
    to_pool, to_words = weighted_products(pool, pool), weighted_products(pool, unit(word_vectors))
    longest = np.linalg.norm(pool, axis=1).max()

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        groups, word_weights = roles.groups_and_words(targets, attribute_weights, orientation)
        first, second = groups
        axis = first / first.sum(axis=1, keepdims=True) - second / second.sum(axis=1, keepdims=True)
        length = np.sqrt(np.vecdot(to_pool(axis), axis).clip(min=0))
        scores = to_words(axis) / np.where(length > FLAT * longest, length, np.nan)[:, None]
        counts: Any = sum(roles.sets_of_value(word_weights, orientation))
        return weighted_mean(counts, np.clip(scores, -1.0, 1.0))

    return statistic


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    words: Sequence[np.ndarray],
    *,
    poles: list[np.ndarray] | None = None,
    orientation: roles.Orientation = roles.PAPER,
    **_: Any,
) -> np.ndarray:
    pool = np.concatenate(poles) if poles else pool
    first, second = (means_of_groups(pool, group) for group in places)
    longest = np.linalg.norm(pool, axis=1).max()
    axis = first - second
    axis[~(np.linalg.norm(axis, axis=1) > FLAT * longest)] = np.nan
    return cosines(axis, np.concatenate(roles.sets_of_value(words, orientation))).mean(axis=1)


def _by_item(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    poles: list[np.ndarray] | None = None,
    orientation: roles.Orientation = roles.PAPER,
    **_: Any,
) -> list[list[tuple[float, np.ndarray]]]:
    """Return words' numbers by item, up to the axis' length, which is one factor for all words."""
    groups, words = roles.groups_and_words(targets, attributes, orientation)
    first, second = poles or groups
    return [[(1.0, unit(w) @ first.T), (-1.0, unit(w) @ second.T)] for w in words]


def _variant(*, orientation: str, neighbours: int, vocabulary: int) -> dict[str, Any]:
    overrides = {"function": _semaxis_of_poles, "of_model": _poles}
    return roles.fields_of_orientation(orientation, (2, "n")) | (overrides if neighbours else {})


SEMAXIS = Metric(
    name="semaxis",
    label="SemAxis",
    function=semaxis,
    asks="Where do the words of {W} lie on the axis from {G2} to {G1}?",
    above="the words of {W} lie towards {G1}",
    below="the words of {W} lie towards {G2}",
    details={"score": "cosine with the axis: positive lies towards {G1}, negative towards {G2}"},
    template=(2, "n"),
    range=(-1.0, 1.0),
    neutral=0.0,
    reference="An, Kwak, Ahn. SemAxis: a lightweight framework to characterize domain-specific word semantics "
    "beyond sentiment. ACL 2018, section 3",
    resampled=_resampled,
    redrawn=_redrawn,
    variant=_variant,
    word_bias="score",
    by_item=_by_item,
)
METRICS = (SEMAXIS,)
