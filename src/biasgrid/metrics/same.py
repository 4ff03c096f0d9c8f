"""SAME, its skew and its stereotype (Schroeder et al., Evaluating Metrics for Bias in Word Embeddings, 2021)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from .. import directions
from .. import orientation as roles
from ..errors import BiasgridError, not_allowed, unknown
from ..geometry import BLOCK, FLAT, projections, unit, weighted_mean
from .registry import Contrast, Detail, Metric, Score

Vectors = Sequence[np.ndarray]


def same(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: str = roles.PAPER,
    legacy_l1: bool = False,
) -> Score:
    """How far words lie in the span of the differences of groups: the mean length of the projection of their unit
    vectors on it (section 4.1).

    A group is the mean of its words' unit vectors; the span is that of the differences of the other groups to the
    first one. Of two groups it is the mean of |cos(w, a - b)|. Range [0, 1], neutral value 0. Undefined (NaN) where
    all groups have the same mean, and for a zero vector. More groups than dimensions leave no room for 0.

    orientation  which sets are the groups: see biasgrid.orientation
    legacy_l1    what the authors' code does with more than two groups: components are added up, all but the first
                 weighted by the length of what earlier differences left of theirs. It depends on the order of the
                 groups and can exceed 1

    Per word: its bias, signed (positive: towards the first group) where there are two groups; its components, on
    the differences' Gram-Schmidt basis in the order of the groups, so that what two differences share is credited to
    the earlier one: `direction_cosine_i_j` says how much that is. Contrasts: SAME, skew and stereotype of each pair
    of groups and, where there are more than two, of each against the union of the others, for all words and for each
    set of them.
    """
    _check(orientation=orientation, legacy_l1=legacy_l1)
    groups, words = roles.groups_and_words(targets, attributes, orientation)
    differences = _differences(groups)
    basis, lengths = _gram_schmidt(differences)
    unit_words = [unit(w) for w in words]
    nothing = [np.full((len(w), len(differences)), np.nan) for w in words]
    components = [w @ basis.T for w in unit_words] if basis is not None else nothing
    if legacy_l1:
        sizes = [np.abs(c) @ np.array([1.0, *lengths[1:]]) for c in components]
    else:
        sizes = [np.linalg.norm(c, axis=1) for c in components]
    role = "attribute" if orientation == roles.PAPER else "target"
    # a component runs from the first group to another
    bias = [-c[:, 0] for c in components] if len(groups) == 2 else sizes
    axes = unit(differences)
    return Score(
        float(np.concatenate(roles.chosen(sizes, orientation)).mean()),
        scalars={
            f"direction_cosine_{i + 1}_{j + 1}": float(axes[i] @ axes[j])
            for i, j in combinations(range(len(axes)), 2)
        },
        detail={
            "bias": Detail(role, bias),
            "components": Detail(role, components, [f"component {i + 1}" for i in range(len(differences))]),
        },
        contrasts=_contrasts(groups, unit_words, orientation),
    )


def same_skew(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: str = roles.PAPER,
    contrast: str = "pair",
) -> Score:
    """How far words lean to one group on the whole: the mean of b(w) = cos(w, a - b) over words (section 4.2).

    Range [-1, 1], neutral value 0; positive: towards the first group. It is 0, too, where some words lean one way and
    as many the other: only with the stereotype does it show that there is no bias. Undefined (NaN) where the groups
    have the same mean.

    orientation  which sets are the groups: see biasgrid.orientation
    contrast     "pair": one group and another, of more than two each pair in turn. "rest": each group against the
                 union of all others' words; the value is that of the group with the largest distance from 0
    """
    return _moment(targets, attributes, orientation, contrast, lambda b: b.mean(axis=-1))


def same_stereotype(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: str = roles.PAPER,
    contrast: str = "pair",
    as_printed: bool = False,
) -> Score:
    """How much words differ in what group they lean to: the standard deviation (ddof 0) of b(w) (section 4.2).

    Range [0, 1], neutral value 0. It is 0, too, where all words lean alike. `orientation`, `contrast` and NaN: as of
    `same_skew`. `as_printed`: the paper's formula, which its prose contradicts, divides by the root of the number of
    words once more.
    """
    _check(as_printed=as_printed)
    return _moment(targets, attributes, orientation, contrast, lambda b: _spread(b, as_printed))


def _spread(b: np.ndarray, as_printed: bool) -> np.ndarray:
    return b.std(axis=-1) / (np.sqrt(b.shape[-1]) if as_printed else 1.0)


def _moment(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    orientation: str,
    contrast: str,
    moment: Callable[[np.ndarray], np.ndarray],
) -> Score:
    """Skew or stereotype: `moment` of the biases (contrasts, words)."""
    _check(orientation=orientation, contrast=contrast)
    groups, words = roles.groups_and_words(targets, attributes, orientation)
    unit_words = [unit(w) for w in words]
    sides = _sides(groups, contrast)
    biases = [np.stack([w @ _axis(first, second) for first, second in sides]) for w in unit_words]
    by_contrast = moment(np.concatenate(roles.chosen(biases, orientation), axis=1))
    most = int(np.argmax(np.abs(by_contrast)))  # NaN, if there is any
    role = "attribute" if orientation == roles.PAPER else "target"
    return Score(
        float(by_contrast[most]),
        detail={"bias": Detail(role, [b[most] for b in biases])},
        contrasts=_contrasts(groups, unit_words, orientation),
    )


def _resampled(
    words: np.ndarray, attributes: np.ndarray, *, orientation: str = roles.PAPER, legacy_l1: bool = False
) -> Callable:
    biases = _biases(words, attributes, orientation, "span")

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        (size,), weights = biases(targets, attribute_weights)
        return weighted_mean(weights, size)

    return statistic


def _skew_resampled(
    words: np.ndarray, attributes: np.ndarray, *, orientation: str = roles.PAPER, contrast: str = "pair"
) -> Callable:
    biases = _biases(words, attributes, orientation, contrast)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        by_contrast, weights = biases(targets, attribute_weights)
        return _most([weighted_mean(weights, b) for b in by_contrast])

    return statistic


def _stereotype_resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    orientation: str = roles.PAPER,
    contrast: str = "pair",
    as_printed: bool = False,
) -> Callable:
    biases = _biases(words, attributes, orientation, contrast)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        by_contrast, weights = biases(targets, attribute_weights)
        spreads = []
        for b in by_contrast:
            variation = (b - weighted_mean(weights, b)[:, None]) ** 2
            spreads.append(np.sqrt(weighted_mean(weights, variation)))
        return _most(spreads) / (np.sqrt(weights.sum(axis=1)) if as_printed else 1.0)

    return statistic


def _biases(words: np.ndarray, attributes: np.ndarray, orientation: str, contrast: str) -> Callable:
    """Weights of samples -> b of every word for each contrast, a list of arrays (samples or 1, words), and the words'
    weights.

    All that a sample's groups are is a weighting of words: cosines with differences of groups come from the cosines
    of words, without a vector of a sample. For "span" there is one contrast, the length of the projection.
    """
    pool, others = roles.groups_and_words(unit(words), unit(attributes), orientation)
    among, across = pool @ pool.T, pool @ others.T

    def biases(targets: list[np.ndarray], attribute_weights: list[np.ndarray]):
        groups, of_words = roles.groups_and_words(targets, attribute_weights, orientation)
        if contrast == "span":
            means = [weights / weights.sum(axis=1, keepdims=True) for weights in groups]
            differences = np.stack(np.broadcast_arrays(*(mean - means[0] for mean in means[1:])), axis=1)
            found = [projections(differences, among, across)]
        else:
            found = []
            for first, second in _sides_of_weights(groups, contrast):
                difference = first / first.sum(axis=1, keepdims=True)
                difference = difference - second / second.sum(axis=1, keepdims=True)
                length = np.sqrt(np.maximum(np.vecdot(difference @ among, difference), 0.0))
                found.append(difference @ across / np.where(length > FLAT, length, np.nan)[:, None])
        return found, sum(roles.chosen(of_words, orientation))

    return biases


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    words: Vectors,
    *,
    orientation: str = roles.PAPER,
    legacy_l1: bool = False,
) -> np.ndarray:
    return _of_axes(
        directions.redrawn(pool, places, directions.MEAN),
        words,
        orientation,
        lambda components: np.linalg.norm(components, axis=1).mean(axis=-1),
    )


def _skew_redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    words: Vectors,
    *,
    orientation: str = roles.PAPER,
    contrast: str = "pair",
) -> np.ndarray:
    return _moment_redrawn(pool, places, words, orientation, contrast, lambda b: b.mean(axis=-1))


def _stereotype_redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    words: Vectors,
    *,
    orientation: str = roles.PAPER,
    contrast: str = "pair",
    as_printed: bool = False,
) -> np.ndarray:
    return _moment_redrawn(pool, places, words, orientation, contrast, lambda b: _spread(b, as_printed))


def _moment_redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    words: Vectors,
    orientation: str,
    contrast: str,
    moment: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    if contrast == "pair" or len(places) == 2:
        sides = list(combinations(places, 2))
    else:
        sides = [
            (group, np.concatenate([*places[:i], *places[i + 1 :]], axis=1)) for i, group in enumerate(places)
        ]
    return _most(
        [
            _of_axes(
                directions.redrawn(pool, side, directions.MEAN),
                words,
                orientation,
                lambda components: moment(components[:, 0]),
            )
            for side in sides
        ]
    )


def _of_axes(
    axes: np.ndarray, words: Vectors, orientation: str, value: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """`value` (draws,) of the words' components (draws, axes, words) along axes (draws, axes, d)."""
    chosen = unit(np.concatenate(roles.chosen(words, orientation)))
    block = max(1, BLOCK // (len(chosen) * axes.shape[1]))
    return np.concatenate(
        [value(axes[start : start + block] @ chosen.T) for start in range(0, len(axes), block)]
    )


def _most(by_contrast: list[np.ndarray]) -> np.ndarray:
    values = np.stack(np.broadcast_arrays(*by_contrast))
    return np.take_along_axis(values, np.abs(values).argmax(axis=0)[None], axis=0)[0]


def _sides(groups: Vectors, contrast: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """What is contrasted: the words of one group and of another, or of one and of all others."""
    if contrast == "pair" or len(groups) == 2:
        return [(groups[0], groups[1])]
    return [(group, _others(groups, i)) for i, group in enumerate(groups)]


def _sides_of_weights(groups: Vectors, contrast: str) -> list[tuple[np.ndarray, np.ndarray]]:
    if contrast == "pair" or len(groups) == 2:
        return [(groups[0], groups[1])]
    total = sum(groups)
    return [(weights, total - weights) for weights in groups]


def _others(groups: Vectors, i: int) -> np.ndarray:
    return np.concatenate([group for j, group in enumerate(groups) if j != i])


def _differences(groups: Vectors) -> np.ndarray:
    """Differences (groups - 1, d) of the groups' means of unit vectors to the first group's."""
    means = np.stack([unit(group).mean(axis=0) for group in groups])
    return means[1:] - means[0]


def _axis(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The direction (d,) from one group to the other's opposite; NaN where they have the same mean."""
    difference = unit(first).mean(axis=0) - unit(second).mean(axis=0)
    length = np.linalg.norm(difference)
    return difference / (length if length > FLAT else np.nan)


def _gram_schmidt(differences: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """An orthonormal basis of the span (groups - 1, d), with a row of zeros for a difference that earlier ones span,
    and the lengths of what they leave of each; no basis where all differences are zero, or not finite."""
    longest = np.linalg.norm(differences, axis=1).max(initial=0.0)
    if not longest > FLAT:
        return None, np.zeros(len(differences))
    basis, lengths = np.zeros_like(differences), np.zeros(len(differences))
    for i, difference in enumerate(differences):
        residual = difference
        for _ in range(2):  # once more takes away what rounding has left
            residual = residual - basis[:i].T @ (basis[:i] @ residual)
        lengths[i] = np.linalg.norm(residual)
        if lengths[i] > FLAT * max(longest, 1.0):
            basis[i] = residual / lengths[i]
    return basis, lengths


def _contrasts(groups: Vectors, words: Vectors, orientation: str) -> list[Contrast]:
    """SAME, skew and stereotype, of unit vectors `words`."""
    pairs = [(i, j, (groups[i], groups[j])) for i, j in combinations(range(len(groups)), 2)]
    if len(groups) > 2:
        pairs += [(i, None, (group, _others(groups, i))) for i, group in enumerate(groups)]
    parts = [(None, np.concatenate(roles.chosen(words, orientation)))]
    if len(words) > 1:
        parts += list(enumerate(words))
    found = []
    for first, second, sides in pairs:
        axis = _axis(*sides)
        for part, vectors in parts:
            b = vectors @ axis
            numbers = {"same": np.abs(b).mean(), "skew": b.mean(), "stereotype": b.std()}
            found.append(Contrast(first, second, part, {name: float(x) for name, x in numbers.items()}))
    return found


def _check(
    *,
    orientation: str = roles.PAPER,
    contrast: str = "pair",
    legacy_l1: bool = False,
    as_printed: bool = False,
) -> None:
    roles.check(orientation)
    if contrast not in ("pair", "rest"):
        raise BiasgridError(f"contrast: {unknown('value', contrast, ('pair', 'rest'))}")
    for name, value in (("legacy_l1", legacy_l1), ("as_printed", as_printed)):
        if type(value) is not bool:
            raise BiasgridError(not_allowed(name, value, "true, false"))


def _variant(*, orientation: str, legacy_l1: bool) -> dict[str, Any]:
    # sums of components have no upper end, and no short cut
    legacy = {"range": (0.0, np.inf), "resampled": None, "redrawn": None} if legacy_l1 else {}
    return roles.oriented(orientation, ("k", "n")) | legacy


def _moment_variant(*, orientation: str, contrast: str, as_printed: bool = False) -> dict[str, Any]:
    return roles.oriented(orientation, (2 if contrast == "pair" else "k", "n"))


REFERENCE = "Schroeder et al. Evaluating Metrics for Bias in Word Embeddings. 2021"
METRICS = (
    Metric(
        name="same",
        label="SAME",
        function=same,
        template=("k", "n"),
        range=(0.0, 1.0),
        neutral=0.0,
        reference=f"{REFERENCE}, section 4.1",
        resampled=_resampled,
        redrawn=_redrawn,
        variant=_variant,
        contrasts=True,
        word_bias="bias",
        check=_check,
    ),
    Metric(
        name="same_skew",
        label="SAME skew",
        function=same_skew,
        template=(2, "n"),
        range=(-1.0, 1.0),
        neutral=0.0,
        reference=f"{REFERENCE}, section 4.2",
        resampled=_skew_resampled,
        redrawn=_skew_redrawn,
        variant=_moment_variant,
        contrasts=True,
        check=_check,
    ),
    Metric(
        name="same_stereotype",
        label="SAME stereotype",
        function=same_stereotype,
        template=(2, "n"),
        range=(0.0, 1.0),
        neutral=0.0,
        reference=f"{REFERENCE}, section 4.2",
        resampled=_stereotype_resampled,
        redrawn=_stereotype_redrawn,
        variant=_moment_variant,
        contrasts=True,
        check=_check,
    ),
)
