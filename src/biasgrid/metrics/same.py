"""SAME, its skew and its stereotype (Schroeder et al., Evaluating Metrics for Bias in Word Embeddings, 2021)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..core.geometry import FLAT, in_blocks, projections, unit, weighted_mean
from ..core.limits import limited
from ..models import directions
from . import orientation as roles
from .registry import Contrast, Detail, Metric, Role, Score

Vectors = Sequence[np.ndarray]


@limited
def same(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: roles.Orientation = roles.PAPER,
    legacy_l1: bool = False,
) -> Score:
    """Measure the strength of association with any group.

    With u(S) the mean of the unit vectors of a group S, groups A_0 ... A_n and words w::

        value = mean of the length of the projection of w / |w| on the span of u(A_1) - u(A_0) ... u(A_n) - u(A_0)

    For two groups it is the mean of `|cos(w, u(A_0) - u(A_1))|`.

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    orientation
        "paper": the target sets are the groups, and the value covers the words of all attribute sets.
        "wefe_benchmark": the attribute sets are the groups, and the value covers the words of the first target set
        (`biasgrid.metrics.orientation`).
    legacy_l1
        Follow the authors' code for more than two groups: components are added up, and all but the first are
        weighted by the length of the remainder after earlier differences. The value depends on the order of the
        groups and can exceed 1.

    Returns
    -------
    Score
        Range [0, 1], no-bias value 0, no sign: `detail` shows which group a word is closer to. Undefined (NaN) if
        all groups have the same mean, and for a zero vector. With more groups than dimensions, the value cannot be
        0. `detail`: bias of each word, signed (positive: towards the first group) for two groups; components, on
        the differences' Gram-Schmidt basis in the order of the groups. A part that two differences share is
        assigned to the earlier one: `direction_cosine_i_j` of `scalars` shows how large the shared part is.
        `contrasts`: SAME, skew and stereotype of each pair of groups, for all words and for each set of them. For
        more than two groups, also of each group against the union of the others.

    Notes
    -----
    **Blind spots.** It does not see which group the words are closer to. Words that are all closer to one
    group can have the same value as words of which each group has half. `same_skew` and `same_stereotype`
    distinguish the two cases. SAME is 0 only if every word is as close to one group as to the other.

    **Defaults.** The default follows section 4.1 of the paper: groups of protected words, and neutral words that
    are near to them or not. WEFE 1.0.1 does not have the metric. Its benchmark chapter has numbers of it, computed
    with EmbeddingBiasScores, for which the attribute sets are the groups: `orientation="wefe_benchmark"`.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "she": [-1, 0], "engineer": [3, 4]})
    >>> round(metrics.same(Query([["he"], ["she"]], [["engineer"]]), model).value, 3)
    0.6
    """
    groups, words = roles.groups_and_words(targets, attributes, orientation)
    differences = _differences(groups)
    basis, lengths = _gram_schmidt(differences)
    unit_words = [unit(w) for w in words]
    no_components = [np.full((len(w), len(differences)), np.nan) for w in words]
    components = [w @ basis.T for w in unit_words] if basis is not None else no_components
    if legacy_l1:
        sizes = [np.abs(c) @ np.array([1.0, *lengths[1:]]) for c in components]
    else:
        sizes = [np.linalg.norm(c, axis=1) for c in components]
    role: Role = "attribute" if orientation == roles.PAPER else "target"
    # A component runs from the first group to another.
    bias = [-c[:, 0] for c in components] if len(groups) == 2 else sizes
    axes = unit(differences)
    return Score(
        float(np.concatenate(roles.sets_of_value(sizes, orientation)).mean()),
        scalars={
            f"direction_cosine_{i + 1}_{j + 1}": float(axes[i] @ axes[j])
            for i, j in combinations(range(len(axes)), 2)
        },
        detail={
            "bias": Detail(role, bias),
            "components": Detail(role, components, [f"component {i + 1}" for i in range(len(differences))]),
        },
        contrasts=contrasts_of(groups, unit_words, orientation),
    )


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    orientation: roles.Orientation = roles.PAPER,
    legacy_l1: bool = False,
) -> Callable:
    biases = biases_of(words, attributes, orientation, "span")

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        (size,), weights = biases(targets, attribute_weights)
        return weighted_mean(weights, size)

    return statistic


def biases_of(words: np.ndarray, attributes: np.ndarray, orientation: str, contrast: str) -> Callable:
    """Return a function that computes b of every word from samples' weights.

    The function returns a list of one array (samples or 1, words) per contrast, and the words' weights. A sample's
    groups are weighted words: cosines with differences of groups come from the inner products of words, without
    computing vectors of samples. For "span" there is one contrast, the length of the projection.
    """
    pool, word_vectors = roles.groups_and_words(unit(words), unit(attributes), orientation)
    gram, products = pool @ pool.T, pool @ word_vectors.T

    def biases(targets: list[np.ndarray], attribute_weights: list[np.ndarray]):
        groups, word_weights = roles.groups_and_words(targets, attribute_weights, orientation)
        if contrast == "span":
            means = [weights / weights.sum(axis=1, keepdims=True) for weights in groups]
            differences = np.stack(np.broadcast_arrays(*(mean - means[0] for mean in means[1:])), axis=1)
            by_contrast = [projections(differences, gram, products)]
        else:
            by_contrast = []
            for first, second in _sides_of_weights(groups, contrast):
                difference = first / first.sum(axis=1, keepdims=True)
                difference = difference - second / second.sum(axis=1, keepdims=True)
                length = np.sqrt(np.maximum(np.vecdot(difference @ gram, difference), 0.0))
                by_contrast.append(difference @ products / np.where(length > FLAT, length, np.nan)[:, None])
        return by_contrast, sum(roles.sets_of_value(word_weights, orientation))

    return biases


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    words: Vectors,
    *,
    orientation: roles.Orientation = roles.PAPER,
    legacy_l1: bool = False,
) -> np.ndarray:
    return along_axes(
        directions.axes_of_draws(pool, places, directions.MEAN),
        words,
        orientation,
        lambda components: np.linalg.norm(components, axis=1).mean(axis=-1),
    )


def along_axes(
    axes: np.ndarray, words: Vectors, orientation: str, value: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Compute `value` (draws,) of the words' components (draws, axes, words) along axes (draws, axes, d)."""
    word_vectors = unit(np.concatenate(roles.sets_of_value(words, orientation)))
    return in_blocks(lambda part: value(part @ word_vectors.T), len(word_vectors) * axes.shape[1], axes)


def _sides_of_weights(groups: Vectors, contrast: str) -> list[tuple[np.ndarray, np.ndarray]]:
    if contrast == "pair" or len(groups) == 2:
        return [(groups[0], groups[1])]
    total = sum(groups)
    return [(weights, total - weights) for weights in groups]


def rest_of(groups: Vectors, i: int) -> np.ndarray:
    return np.concatenate([group for j, group in enumerate(groups) if j != i])


def _differences(groups: Vectors) -> np.ndarray:
    """Compute the differences (groups - 1, d) of the groups' means of unit vectors from the first group's mean."""
    means = np.stack([unit(group).mean(axis=0) for group in groups])
    return means[1:] - means[0]


def axis_between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Compute the direction (d,) from the second group's mean to the first group's; NaN if both are the same."""
    difference = unit(first).mean(axis=0) - unit(second).mean(axis=0)
    length = np.linalg.norm(difference)
    return difference / (length if length > FLAT else np.nan)


def _gram_schmidt(differences: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """Compute an orthonormal basis of the span (groups - 1, d), and the lengths of the differences' remainders.

    The basis has a row of zeros for a difference in the span of earlier ones. It is None if all differences are
    zero, or not finite.
    """
    longest = np.linalg.norm(differences, axis=1).max(initial=0.0)
    if not longest > FLAT:
        return None, np.zeros(len(differences))
    basis, lengths = np.zeros_like(differences), np.zeros(len(differences))
    for i, difference in enumerate(differences):
        residual = difference
        for _ in range(2):  # twice, as rounding leaves a part after the first time
            residual = residual - basis[:i].T @ (basis[:i] @ residual)
        lengths[i] = np.linalg.norm(residual)
        if lengths[i] > FLAT * max(longest, 1.0):
            basis[i] = residual / lengths[i]
    return basis, lengths


def contrasts_of(groups: Vectors, words: Vectors, orientation: str) -> list[Contrast]:
    """Compute SAME, skew and stereotype of unit vectors `words` for each pair of groups."""
    pairs: list[Any] = [(i, j, (groups[i], groups[j])) for i, j in combinations(range(len(groups)), 2)]
    if len(groups) > 2:
        pairs += [(i, None, (group, rest_of(groups, i))) for i, group in enumerate(groups)]
    parts: list[Any] = [(None, np.concatenate(roles.sets_of_value(words, orientation)))]
    if len(words) > 1:
        parts += list(enumerate(words))
    contrasts = []
    for first, second, sides in pairs:
        axis = axis_between(*sides)
        for part, vectors in parts:
            b = vectors @ axis
            numbers = {"same": np.abs(b).mean(), "skew": b.mean(), "stereotype": b.std()}
            contrasts.append(Contrast(first, second, part, {name: float(x) for name, x in numbers.items()}))
    return contrasts


def _variant(*, orientation: str, legacy_l1: bool) -> dict[str, Any]:
    # Sums of components do not have an upper bound, and cannot be resampled fast.
    legacy = {"range": (0.0, np.inf), "resampled": None, "redrawn": None} if legacy_l1 else {}
    return roles.fields_of_orientation(orientation, ("k", "n")) | legacy


REFERENCE = "Schroeder et al. Evaluating Metrics for Bias in Word Embeddings. 2021"
SAME = Metric(
    name="same",
    label="SAME",
    function=same,
    asks="How much closer are the words of {W} to some of {G} than to others?",
    above="the words of {W} are closer to some of {G} than to others",
    details={
        "bias": "how much closer it is to a group; of two, positive to the first of {G}, negative to the second"
    },
    template=("k", "n"),
    range=(0.0, 1.0),
    neutral=0.0,
    reference=f"{REFERENCE}, section 4.1",
    resampled=_resampled,
    redrawn=_redrawn,
    variant=_variant,
    contrasts=True,
    word_bias="bias",
    by_item=roles.cosines_by_item,
)
METRICS = (SAME,)
