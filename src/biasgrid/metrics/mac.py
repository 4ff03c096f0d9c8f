"""MAC, the Mean Average Cosine distance (Manzini, Lim, Black, Tsvetkov, NAACL 2019, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.geometry import cosines, mean_cosines, mean_products, unit, weighted_mean
from ..core.limits import limited
from .registry import Detail, Metric, Score


@limited
def mac(targets: list[np.ndarray], attributes: list[np.ndarray], *, legacy_pooled: bool = False) -> Score:
    """Average the cosine distances of targets to attributes. Mean Average Cosine distance (MAC).

    With the words t of all target sets and the attribute sets A_1 ... A_n::

        MAC = mean over t and i of (1 - mean of cos(t, a) over a in A_i)

    The words of all target sets count alike; so do the attribute sets, whatever their size.

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    legacy_pooled
        Weight all attribute words alike, and so a set by its size, as in EmbeddingBiasScores. This makes a
        difference for sets of different size.

    Returns
    -------
    Score
        Range [0, 2], no-bias value 1 (orthogonal): nearer to 1 is less biased. Below 1: target words are on average
        near to attribute words; above 1: they point away from them. Undefined (NaN) for a zero vector. `detail`:
        targets_eval, the distance of each target word to each attribute set.

    Notes
    -----
    **Blind spots.** It does not see which target set is near to which attribute set, because it is one mean
    over all. It is neutral for any word between two opposite attribute sets, however much closer the word is to
    one of them. And it is not neutral for a word in the middle between two attribute sets that are near to each
    other.

    **Defaults.** The default follows the paper and WEFE 1.0.1: all words and all attribute sets count alike.
    `legacy_pooled=True` follows EmbeddingBiasScores: all attribute words count alike.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "she": [0, 1], "career": [1, 0]})
    >>> metrics.mac(Query([["he", "she"]], [["career"]]), model).value
    0.5
    """
    by_word = [np.stack([1.0 - mean_cosines(words, a) for a in attributes], axis=1) for words in targets]
    weights = [len(a) if legacy_pooled else 1 for a in attributes]
    value = np.average(np.concatenate(by_word), axis=1, weights=weights).mean()
    return Score(float(value), detail={"targets_eval": Detail("target", by_word)})


def _resampled(words: np.ndarray, attributes: np.ndarray, *, legacy_pooled: bool = False) -> Callable:
    mean_to = mean_products(unit(attributes), unit(words))

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        counts: Any = sum(targets)
        sets: Any = [sum(attribute_weights)] if legacy_pooled else attribute_weights
        by_word: Any = sum(map(mean_to, sets))
        return weighted_mean(counts, 1.0 - by_word / len(sets))

    return statistic


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    attributes: Sequence[np.ndarray],
    *,
    legacy_pooled: bool = False,
) -> np.ndarray:
    by_word = [1.0 - mean_cosines(pool, words) for words in attributes]
    weights = [len(words) if legacy_pooled else 1 for words in attributes]
    return np.average(by_word, axis=0, weights=weights)[np.concatenate(places, axis=1)].mean(axis=1)


def _by_item(
    targets: list[np.ndarray], attributes: list[np.ndarray], *, legacy_pooled: bool = False
) -> list[list[tuple[float, np.ndarray]]]:
    sizes = [len(a) if legacy_pooled else 1 for a in attributes]
    return [
        [(size / sum(sizes), 1.0 - cosines(words, a)) for size, a in zip(sizes, attributes, strict=True)]
        for words in targets
    ]


MAC = Metric(
    name="mac",
    label="MAC",
    function=mac,
    asks="How near are the words of {T} to the words of {A} on average?",
    has_directions=False,
    compares_models=False,
    above="the words of {T} point away from the words of {A}",
    below="the words of {T} are near to the words of {A}",
    details={
        "targets_eval": "mean cosine distance to the words of each of {A}; 1 is orthogonal, less is nearer"
    },
    scored_by=("targets_eval", "mean"),
    by_item=_by_item,
    item_note="measures nearness, not a difference",
    template=("n", "n"),
    range=(0.0, 2.0),
    neutral=1.0,
    groups="attributes",
    resampled=_resampled,
    redrawn=_redrawn,
    no_test="MAC is a mean over the words of all target sets, so it does not change when words change sets",
    reference="Manzini, Lim, Black, Tsvetkov. Black is to criminal as Caucasian is to police. NAACL 2019",
)
METRICS = (MAC,)
