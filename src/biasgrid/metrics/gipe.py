"""Bias in neighbourhoods: proximity, GIPE and PMN.

Proximity and GIPE: Kumar, Bhotia, Kumar, Chakraborty, TACL 2020. PMN, the percentage of male neighbours: Gonen,
Goldberg, NAACL 2019.

All three metrics take the nearest neighbours of words in the measured model variant, and compare these neighbours
with the groups' direction in the original model. A debias method can take words off the direction and leave them
with the same neighbours. Such a method has hidden the bias and not removed it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Lt

from ..core.geometry import in_blocks, weighted_mean
from ..core.limits import Count, limited
from ..models import directions
from . import neighbours as neighbour_search
from .direct_bias import NO_TEST
from .neighbourhood import (
    CORRELATION_FIELDS,
    NEIGHBOURS,
    SENTENCES,
    THRESHOLD,
    UNTOUCHED,
    BiasOf,
    Neighbourhood,
    axis_cosines,
    by_set,
    correlations,
    find_neighbourhood,
    illicit_marks,
    leaning_marks,
    marked_shares,
    word_weights,
)
from .registry import Detail, Metric, Score

# Limit marks of neighbours in memory to 4 MB at a time; their arrays of float64 are computed word by word.
BLOCK = 2**22


@limited
def gipe(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    neighbourhood: Neighbourhood,
    direction: directions.Direction = directions.PCA,
    threshold: Annotated[float, Ge(0), Lt(1)] = THRESHOLD,
    neighbours: Count = NEIGHBOURS,
    vocabulary: Annotated[int, Ge(2)] = neighbour_search.VOCABULARY,
    bias_of: BiasOf = UNTOUCHED,
    legacy_weights: bool = False,
) -> Score:
    """Weigh the share of neighbours close because of bias. Gender-based Illicit Proximity Estimate (GIPE).

    Words count for more if they are such neighbours of other words. Draw a graph with an edge from each word to
    each of its neighbours. An edge is illicit if the neighbour is near because of the groups' direction. eta(w) is
    the word's `proximity`, the share of its edges that are illicit::

        gamma(w) = 1 + share of the edges to w that are illicit (1 without such edges)
        GIPE = sum of gamma(w) eta(w) over the words / sum of gamma(w)

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    neighbourhood : Neighbourhood
        The words and their nearest neighbours in the model.
    direction
        Direction in which the groups, the target sets, differ. "pca": the first principal component of pairs (word
        i of both sets is one); "all_pairs": the component of every pair; "pair": the difference of the first pair;
        "mean": the difference of the groups' means; "sum": the difference of the groups' means at unit length.
    threshold
        The paper's theta_s, from 0 on, below 1; the paper uses .03, .05 and .07.
    neighbours
        Number of nearest neighbours, by cosine, in the measured model variant.
    vocabulary
        Number of first rows of the model in which neighbours are searched.
    bias_of
        "untouched": direction and beta come from the model before debiasing, as in the paper (after hard debiasing,
        beta would be 0 whatever the neighbours). "measured": they come from the measured model variant.
    legacy_weights
        Follow the authors' code and FEE: words that are not neighbours of any other word do not count at all. NaN
        if all words are such words.

    Returns
    -------
    Score
        Range [0, 1], no-bias value 0, no sign: larger is more biased. Undefined (NaN) for a zero
        vector, groups that do not differ, and a model of one word. `scalars`: proximity, neighbours. `detail`:
        proximity, eta(w), and weight, gamma(w), of each word.

    Notes
    -----
    **Blind spots.** It misses bias between words that are still neighbours after the groups' direction is
    removed. If two words point the same way, no part of their similarity comes from the direction. It does not see
    which group a word is closer to. It looks for neighbours in the first `vocabulary` rows only.

    **Defaults.** The defaults follow the paper: 100 neighbours, one of its three thresholds, direction and beta of
    the model before debiasing. `legacy_weights=True` follows the authors' code and FEE. `bias_of="measured"`
    follows FEE if FEE gets one model. WEFE 1.0.1 does not have the metric.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, -3, 0], "she": [-1, -3, 0], "engineer": [3, 1, 0], "boss": [3, 0, 1]})
    >>> metrics.gipe(Query([["he"], ["she"]], [["engineer"]]), model, neighbours=1).value
    1.0
    """
    word_cosines, node_cosines = axis_cosines(neighbourhood, direction)
    illicit = illicit_marks(neighbourhood, word_cosines, node_cosines, threshold)
    eta = marked_shares(word_cosines, illicit)
    ones = np.ones((1, len(neighbourhood.words)))
    weights = word_weights(neighbourhood, illicit, ones, legacy_weights)
    with np.errstate(invalid="ignore"):
        value = weighted_mean(weights, eta)[0]
    return Score(
        float(value),
        scalars={"proximity": float(eta.mean()), "neighbours": float(neighbourhood.places.shape[1])},
        detail={
            "proximity": Detail("attribute", by_set(eta[0], attributes)),
            "weight": Detail("attribute", by_set(weights[0], attributes)),
        },
    )


@limited
def proximity(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    neighbourhood: Neighbourhood,
    direction: directions.Direction = directions.PCA,
    threshold: Annotated[float, Ge(0), Lt(1)] = THRESHOLD,
    neighbours: Count = NEIGHBOURS,
    vocabulary: Annotated[int, Ge(2)] = neighbour_search.VOCABULARY,
    bias_of: BiasOf = UNTOUCHED,
    legacy_itself: bool = False,
) -> Score:
    """Compute the share of neighbours close because of bias. The paper calls it proximity bias.

    With the share beta(w, v) of the similarity of w and v that lies along the groups' direction
    (`indirect_bias`)::

        eta(w) = share of the nearest neighbours v of w with beta(w, v) > threshold
        value = mean of eta(w) over the words

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    neighbourhood : Neighbourhood
        The words and their nearest neighbours in the model.
    direction
        Direction in which the groups, the target sets, differ. "pca": the first principal component of pairs (word
        i of both sets is one); "all_pairs": the component of every pair; "pair": the difference of the first pair;
        "mean": the difference of the groups' means; "sum": the difference of the groups' means at unit length.
    threshold
        The paper's theta_s, from 0 on, below 1; the paper uses .03, .05 and .07.
    neighbours
        Number of nearest neighbours, by cosine, in the measured model variant.
    vocabulary
        Number of first rows of the model in which neighbours are searched.
    bias_of
        "untouched": direction and beta come from the model before debiasing, as in the paper (after hard debiasing,
        beta would be 0 whatever the neighbours). "measured": they come from the measured model variant.
    legacy_itself
        Count a word among its own neighbours, in place of the last one, as FEE does.

    Returns
    -------
    Score
        Range [0, 1], no-bias value 0, no sign: larger is more biased. Undefined (NaN) for a zero
        vector, groups that do not differ, and a model of one word. `scalars`: neighbours. `detail`:
        proximity, eta(w) of each word.

    Notes
    -----
    **Blind spots.** It misses bias between words that are still neighbours after the groups' direction is
    removed. If two words point the same way, no part of their similarity comes from the direction. It does not see
    which group a word is closer to. It looks for neighbours in the first `vocabulary` rows only.

    **Defaults.** The defaults follow the paper: 100 neighbours, one of its three thresholds, direction and beta of
    the model before debiasing. `legacy_itself=True` and `bias_of="measured"` follow FEE. WEFE 1.0.1 does not have
    the metric.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, -3, 0], "she": [-1, -3, 0], "engineer": [3, 1, 0], "boss": [3, 0, 1]})
    >>> metrics.proximity(Query([["he"], ["she"]], [["engineer"]]), model, neighbours=1).value
    1.0
    """
    word_cosines, node_cosines = axis_cosines(neighbourhood, direction)
    eta = marked_shares(word_cosines, illicit_marks(neighbourhood, word_cosines, node_cosines, threshold))
    return Score(
        float(eta.mean()),
        scalars={"neighbours": float(neighbourhood.places.shape[1])},
        detail={"proximity": Detail("attribute", by_set(eta[0], attributes))},
    )


@limited
def pmn(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    neighbourhood: Neighbourhood,
    direction: directions.Direction = directions.PCA,
    neighbours: Count = NEIGHBOURS,
    vocabulary: Annotated[int, Ge(2)] = neighbour_search.VOCABULARY,
    bias_of: BiasOf = UNTOUCHED,
    correlation: bool = False,
    legacy_itself: bool = False,
) -> Score:
    """Compute the share of neighbours nearer the first group. For genders: percent male neighbours (PMN).

    With the groups' direction g, which points to the first group::

        value = mean over the words of the share of their nearest neighbours v with cos(v, g) > 0

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    neighbourhood : Neighbourhood
        The words and their nearest neighbours in the model.
    direction
        Direction in which the groups, the target sets, differ. "pca": the first principal component of pairs (word
        i of both sets is one); "all_pairs": the component of every pair; "pair": the difference of the first pair;
        "mean": the difference of the groups' means; "sum": the difference of the groups' means at unit length.
    neighbours
        Number of nearest neighbours, by cosine, in the measured model variant.
    vocabulary
        Number of first rows of the model in which neighbours are searched.
    bias_of
        "untouched": direction and beta come from the model before debiasing, as in the paper (after hard debiasing,
        beta would be 0 whatever the neighbours). "measured": they come from the measured model variant, as in FEE.
    correlation
        Return Gonen & Goldberg's statistic: Pearson's r, over the words, of their own cosine with g and their
        share, in [-1, 1] and neutral at 0; NaN for fewer than three words.
    legacy_itself
        Count a word among its own neighbours, in place of the last one, as FEE does.

    Returns
    -------
    Score
        Range [0, 1], no-bias value 0.5. Above it, most neighbours are closer to the first group; below it, to the
        second. Words with opposite biases cancel; `correlation` distinguishes them. Undefined (NaN) for a zero
        vector, groups that do not differ, and a model of one word. `scalars`: share, correlation, neighbours.
        `detail`: share of each word, and bias, its own cosine with g.

    Notes
    -----
    **Blind spots.** Words that are closer to different groups cancel. Suppose all neighbours of one word
    are closer to the first group, and all neighbours of another to the second. Their mean share is one half, the
    no-bias value. `correlation=True` distinguishes them from words without bias. It does not see how much closer
    neighbours are to a group, only on which side of the direction they are.

    **Defaults.** 100 neighbours and the bias before debiasing follow the paper. The paper's direction is he minus
    she: `direction="pair"`, with these words first. The paper reports the words' shares and their correlation with
    the words' own bias: `correlation=True`. `bias_of="measured"` and `legacy_itself=True` follow FEE. WEFE 1.0.1
    does not have the metric.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, -3, 0], "she": [-1, -3, 0], "engineer": [3, 1, 0], "boss": [3, 0, 1]})
    >>> metrics.pmn(Query([["he"], ["she"]], [["engineer"]]), model, neighbours=1).value
    1.0
    """
    word_cosines, node_cosines = axis_cosines(neighbourhood, direction)
    share = marked_shares(word_cosines, leaning_marks(neighbourhood, node_cosines))
    values = {
        "share": float(share.mean()),
        "correlation": float(correlations(word_cosines, share, np.ones_like(word_cosines))[0]),
    }
    return Score(
        values["correlation" if correlation else "share"],
        scalars=values | {"neighbours": float(neighbourhood.places.shape[1])},
        detail={
            "share": Detail("attribute", by_set(share[0], attributes)),
            "bias": Detail("attribute", by_set(word_cosines[0], attributes)),
        },
    )


def _values(
    name: str,
    neighbourhood: Neighbourhood,
    *,
    threshold: float = THRESHOLD,
    correlation: bool = False,
    legacy_weights: bool = False,
    **_: Any,
) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """Return a function that computes the metric's values (samples,).

    Its first two arguments are the cosines of words and of nodes with the samples' directions (samples or 1, words
    or nodes). The third is how often each word occurs in a sample (samples or 1, m).
    """

    def value(p: np.ndarray, q: np.ndarray, weights: np.ndarray) -> np.ndarray:
        marks = (
            leaning_marks(neighbourhood, q)
            if name == "pmn"
            else illicit_marks(neighbourhood, p, q, threshold)
        )
        shares = marked_shares(p, marks)
        if correlation:
            return correlations(p, shares, weights)
        if name == "gipe":
            weights = weights * word_weights(neighbourhood, marks, weights, legacy_weights)
        with np.errstate(invalid="ignore"):
            return weighted_mean(weights, shares)

    return lambda *arrays: in_blocks(value, neighbourhood.places.size, *arrays, size=BLOCK)


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    name: str,
    neighbourhood: Neighbourhood,
    direction: directions.Direction = directions.PCA,
    **parameters: Any,
) -> Callable:
    """Return `Metric.resampled`. Neighbours belong to the model and are not resampled."""
    project = directions.cosines_with_axes(neighbourhood.groups, direction)
    values = _values(name, neighbourhood, **parameters)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        word_cosines, node_cosines = (
            cosines[:, 0] for cosines in project(targets, [neighbourhood.words, neighbourhood.nodes])
        )
        counts: Any = sum(attribute_weights)
        return values(word_cosines, node_cosines, counts)

    return statistic


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    attributes: Sequence[np.ndarray],
    *,
    name: str,
    neighbourhood: Neighbourhood,
    direction: directions.Direction = directions.PCA,
    **parameters: Any,
) -> np.ndarray:
    """Compute the values with the directions of random groups; the words and their neighbours do not change."""
    axes = directions.axes_of_draws(neighbourhood.groups, places, direction)[:, 0]
    return _values_along(name, neighbourhood, axes, parameters)


def _values_along(
    name: str, neighbourhood: Neighbourhood, axes: np.ndarray, parameters: dict[str, Any]
) -> np.ndarray:
    """Compute the value (draws,) along each of the axes (draws, d)."""
    values, ones = _values(name, neighbourhood, **parameters), np.ones((1, len(neighbourhood.words)))
    return in_blocks(
        lambda part: values(part @ neighbourhood.words.T, part @ neighbourhood.nodes.T, ones),
        sum(neighbourhood.nodes.shape),
        axes,
        size=BLOCK,
    )


def _variant(*, direction: str, correlation: bool = False, **_: Any) -> dict[str, Any]:
    overrides = {"range": (-1.0, 1.0), "neutral": 0.0, **CORRELATION_FIELDS} if correlation else {}
    return {"paired": direction in directions.PAIRED} | overrides


RAN = "Kumar, Bhotia, Kumar, Chakraborty. Nurse is closer to woman than surgeon? TACL 8, 2020"


def _declared(function: Callable[..., Score], label: str, neutral: float, reference: str) -> Metric:
    return Metric(
        name=function.__name__,
        label=label,
        function=function,
        **SENTENCES[function.__name__],
        template=(2, "n"),
        range=(0.0, 1.0),
        neutral=neutral,
        reference=reference,
        paired=True,
        resampled=partial(_resampled, name=function.__name__),
        redrawn=partial(_redrawn, name=function.__name__),
        no_test=NO_TEST,
        of_model=find_neighbourhood,
        variant=_variant,
    )


GIPE = _declared(gipe, "GIPE", 0.0, RAN)
PROXIMITY = _declared(proximity, "Proximity", 0.0, RAN)
PMN = _declared(pmn, "PMN", 0.5, "Gonen, Goldberg. Lipstick on a pig. NAACL 2019, section 4")
METRICS = (GIPE, PROXIMITY, PMN)
