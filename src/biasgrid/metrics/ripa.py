"""RIPA, the Relational Inner Product Association (Ethayarajh, Duvenaud, Hirst, ACL 2019, definition 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np

from ..core.geometry import FLAT, in_blocks, mean_products, unit, weighted_mean, weighted_sum
from ..core.limits import limited
from .registry import Detail, Metric, Score

COMPONENT: Final = "component"
MEAN: Final = "mean"


@limited
def ripa(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    relation: Literal["component", "mean"] = COMPONENT,
) -> Score:
    """Project words on word pairs' differences, with length. Relational Inner Product Association (RIPA).

    Row i of the two target sets is a pair (x_i, y_i). With the relation vector b of the pairs::

        RIPA = mean of w . b over the attribute words w

    Attribute vectors keep their length (the `normalize` option of the look-up changes that).

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    relation
        "component": b is the first principal component of the differences x_i - y_i, not centred and at their own
        length (their first right singular vector). It has unit length and the direction of the mean difference.
        Exchanging the two words of a pair does not change it, and a pair with the same word twice does not
        contribute. "mean": each pair has its own relation vector, its difference at unit length, and the value is
        also the mean over pairs (WEFE). For one pair the two are the same.

    Returns
    -------
    Score
        Range (-inf, inf), no-bias value 0. Positive: the words are closer to the first target set. Undefined (NaN)
        if no pair is left. "component" is undefined if the words of all pairs coincide, or if the component is not
        unique (the second one is as long). It is also undefined if the mean difference is orthogonal to it, as its
        direction is then not determined. "mean" is undefined if the words of one pair coincide. `detail`:
        inner_product of each word; with "mean", word_values, the mean and standard deviation (ddof 0) over the
        pairs. `scalars`: pairs, pairs_lost.

    Notes
    -----
    **Blind spots.** Words that are closer to different groups cancel. A pair whose words differ by a long
    vector counts for more in the relation vector, and long attribute vectors count for more in the mean. So length
    can look like bias. If the component is orthogonal to the difference of the groups' means, there is no value.

    **Defaults.** The default is definition 3 of the paper. WEFE 1.0.1 takes the mean over pairs, although its
    documentation describes the component: `relation="mean"`. The two can differ in sign. WEFE pairs words by place
    after missing words are removed. Here pairs are the pairs of the sets as given, and a pair with a missing word
    is left out; no option reproduces WEFE's pairs.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [3, 0], "she": [1, 0], "engineer": [2, 5]})
    >>> metrics.ripa(Query([["he"], ["she"]], [["engineer"]]), model).value
    2.0
    """
    first, second = targets
    (words,) = attributes
    if len(first) == 0:
        return Score(float("nan"))
    if relation == MEAN:
        products = words @ unit(first - second).T
        by_word = np.stack([products.mean(axis=1), products.std(axis=1)], axis=1)
        return Score(
            float(products.mean()),
            detail={"word_values": Detail("attribute", [by_word], columns=["mean", "std"])},
        )
    products = words @ _component(_differences(first, second))
    return Score(float(products.mean()), detail={"inner_product": Detail("attribute", [products])})


def _differences(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Compute the rows (pairs, d) of first - second; a difference that is rounding compared with its words is 0."""
    differences = first - second
    # Take the largest component, not the norm: for very short vectors a sum of squares underflows.
    size, words = (np.abs(rows).max(axis=1) for rows in (differences, np.hstack([first, second])))
    return np.where((size <= FLAT * words)[:, None], 0.0, differences)


def _component(differences: np.ndarray) -> np.ndarray:
    """Compute the relation vector (d,) of all pairs; NaN if it is undefined."""
    no_component = np.full(differences.shape[1], np.nan)
    if not np.isfinite(differences).all():
        return no_component
    lengths, components = np.linalg.svd(differences, full_matrices=False)[1:]
    coordinates = differences @ components[0]
    if not _is_defined(
        lengths[0], lengths[1] if len(lengths) > 1 else 0.0, coordinates.mean(), len(coordinates)
    ):
        return no_component
    return components[0] * np.sign(coordinates.mean())


def _is_defined(longest: Any, next_longest: Any, mean: Any, pairs: Any) -> Any:
    """Return whether the first component is unique and has a sign.

    Rounding would decide between two components of equal length, and decide the sign if the mean along the
    component is 0. The root mean square of the differences along it is longest / sqrt(pairs).
    """
    return (longest - next_longest > FLAT * longest) & (np.abs(mean) * np.sqrt(pairs) > FLAT * longest)


def _resampled(
    words: np.ndarray, attributes: np.ndarray, *, relation: Literal["component", "mean"] = COMPONENT
) -> Callable:
    pairs = len(words) // 2
    if relation == COMPONENT:
        return _components(_differences(words[:pairs], words[pairs:]), attributes)
    mean_to = mean_products(attributes, unit(words[:pairs] - words[pairs:]))

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        # A pair whose words have changed places has the opposite relation vector.
        first = targets[0]
        by_pair = mean_to(attribute_weights[0])
        return weighted_sum(first[:, :pairs] - first[:, pairs:], by_pair) / first.sum(axis=1)

    return statistic


def _components(differences: np.ndarray, attributes: np.ndarray) -> Callable:
    """Return the statistic of `_resampled` for relation "component".

    The right singular vector of weighted rows comes from the eigenvector of the rows' products: for ten pairs a
    matrix of ten by ten, whatever the dimensions.
    """
    pairs = len(differences)
    # The component is the same at any scale, and squares at this scale neither overflow nor vanish.
    differences = differences / (np.abs(differences).max() or 1.0)
    gram, products = differences @ differences.T, differences @ attributes.T

    def to_component(counts: np.ndarray, mean: np.ndarray) -> np.ndarray:
        root = np.sqrt(counts)
        squares, vectors = np.linalg.eigh(root[:, :, None] * gram * root[:, None, :])
        lengths = np.sqrt(squares[:, -2:].clip(min=0))
        longest, next_longest = lengths[:, -1], lengths[:, 0] if pairs > 1 else 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            component = vectors[:, :, -1] * root / longest[:, None]
            mean_coordinates = np.vecdot(mean @ gram, component)
            is_defined = _is_defined(longest, next_longest, mean_coordinates, counts.sum(axis=1))
            return np.where(is_defined, np.sign(mean_coordinates), np.nan)[:, None] * component

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        first = targets[0]
        # A pair has one word in each set of the sample, in either order.
        counts = first[:, :pairs] + first[:, pairs:]
        mean = (first[:, :pairs] - first[:, pairs:]) / counts.sum(axis=1, keepdims=True)
        coefficients = in_blocks(to_component, gram.size, counts, mean)
        return weighted_mean(attribute_weights[0], coefficients @ products)

    return statistic


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    attributes: Sequence[np.ndarray],
    *,
    relation: Literal["component", "mean"] = COMPONENT,
) -> np.ndarray:
    mean, pairs = attributes[0].mean(axis=0), places[0].shape[1]

    def value(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        differences = pool[first] - pool[second]
        if relation == MEAN:
            return (unit(differences) @ mean).mean(axis=1)
        # Compute the component as in `_components`.
        squares, vectors = np.linalg.eigh(differences @ differences.swapaxes(1, 2))
        longest = np.sqrt(squares[:, -1].clip(min=0))
        next_longest = np.sqrt(squares[:, -2].clip(min=0)) if pairs > 1 else 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            component = np.vecdot(vectors[:, :, -1, None], differences, axis=1) / longest[:, None]  # type: ignore[call-overload]
            mean_coordinates = np.vecdot(differences.mean(axis=1), component)
            is_defined = _is_defined(longest, next_longest, mean_coordinates, pairs)
            return np.where(is_defined, np.sign(mean_coordinates), np.nan) * (component @ mean)

    return in_blocks(value, pairs * max(pairs, pool.shape[1]), *places)


def _variant(*, relation: str) -> Mapping[str, Any]:
    if relation != MEAN:
        return {}
    return {"no_test": "", "scored_by": ("word_values", "first"), "by_item": _by_pair}


def _by_pair(
    targets: list[np.ndarray], attributes: list[np.ndarray], **_: Any
) -> list[list[tuple[float, np.ndarray]]]:
    first, second = targets
    return [[(1.0, words @ unit(first - second).T)] for words in attributes]


RIPA = Metric(
    name="ripa",
    label="RIPA",
    function=ripa,
    asks="How far do the words of {A} lie along what the two words of a pair of {T1} and {T2} differ in?",
    above="the words of {A} are closer to {T1}",
    below="the words of {A} are closer to {T2}",
    details={
        "inner_product": "inner product with the relation vector: positive is closer to {T1}, negative to {T2}",
        "word_values": "mean of these products: positive is closer to {T1}, negative to {T2}",
    },
    nearer="first",
    template=(2, 1),
    range=(-np.inf, np.inf),
    neutral=0.0,
    paired=True,
    resampled=_resampled,
    redrawn=_redrawn,
    no_test="the relation vector does not change when the two words of a pair change places",
    scaled=True,
    variant=_variant,
    reference="Ethayarajh, Duvenaud, Hirst. Understanding undesirable word embedding associations. ACL 2019",
)
METRICS = (RIPA,)
