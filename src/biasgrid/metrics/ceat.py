"""CEAT, the Contextualized Embedding Association Test: WEAT's effect size over contexts (Guo, Caliskan 2021).

Its random-effects model: DerSimonian, Laird. Meta-analysis in clinical trials. Controlled Clinical Trials 7, 1986.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import numpy as np

from ..core.geometry import effect_size_range, mean_cosines, mean_products, unit
from ..core.limits import limited
from . import one_word as of_one_word
from .one_word import OneWord
from .registry import Detail, Metric, Score
from .sets import FLAT, WeightedSet, Words, mean, std, whole_sets


@limited
def ceat(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    variance: Literal["effect_size", "associations"] = "effect_size",
    ddof: Literal[0, 1] = 1,
    one_word: OneWord = of_one_word.NAN,
) -> Score:
    """Combine WEAT's effect sizes over contexts. Contextualized Embedding Association Test (CEAT).

    In each context i the words have their own vectors, and so an effect size d_i, as in `weat_es`, with a variance
    V_i. A random-effects model (DerSimonian and Laird 1986) combines the effect sizes of the k contexts::

        w_i = 1 / V_i,    m = sum of w_i d_i / sum of w_i,    Q = sum of w_i (d_i - m)^2
        tau2 = max(0, (Q - (k - 1)) / (sum of w_i - sum of w_i^2 / sum of w_i))
        v_i = 1 / (V_i + tau2),    CEAT = sum of v_i d_i / sum of v_i,    standard error = 1 / sqrt(sum of v_i)

    Parameters
    ----------
    targets, attributes : list of array, (words, contexts, dimensions)
        Vectors of each set's words in the same contexts.
    variance
        Definition of V_i. "effect_size": the variance of an effect size of m and n words, (m + n) / (m n) + d^2 /
        (2 (m + n)), which is usual in meta-analyses. "associations": the variance of s(w) over the words of both
        target sets.
    ddof
        The standard deviation of an effect size divides by the number of words minus `ddof`, 0 or 1.
    one_word
        The value if each target set has one word. "nan": undefined. "keep": the combination of effect sizes whose
        absolute value is fixed by construction in every context.

    Returns
    -------
    Score
        Range [-2, 2], no-bias value 0; for sets of m and n words, the range is the same as in `weat_es`. Positive:
        the first target set is nearer to the first attribute set. Undefined (NaN) if the effect size of any context
        is undefined, and if each target set has one word (status "degenerate:one word").
        `scalars`: standard_error; p_random_effects, two-sided, of the value divided by its standard error; tau2,
        the variance between contexts; q, which is about k - 1 if contexts differ by chance alone; lowest and
        highest, the extreme effect sizes of single contexts. `detail`: association, s(w) of each target word in
        each context.

    Notes
    -----
    **Blind spots.** It has the blind spots of `weat_es`. Contexts also share their words, so their effect
    sizes are not independent, although the random-effects model assumes it. The standard error and
    p_random_effects are therefore too small, the more so the more contexts there are. The permutation test does
    not have this fault, because it exchanges words in all contexts at once.

    **Defaults.** The paper draws, 10,000 times, a new context from a corpus for each word. Here a context is a
    template, the same for all words, and each template is used once. The paper calls V_i the in-sample variance.
    Code that reproduces the paper takes "associations", which has the unit of a squared cosine and not of an effect
    size. That variance is so small that tau2 is nearly all of the total variance, and contexts weigh nearly alike.
    The default is the variance for which the random-effects model is made.

    Examples
    --------
    Two contexts; in the second, the words do not differ as much:

    >>> from biasgrid import Query, load, metrics
    >>> vectors = {"he": [[1, 0], [3, 1]], "him": [[3, 1], [2, 1]], "career": [[1, 0], [1, 0]]}
    >>> vectors |= {"she": [[0, 1], [1, 1]], "her": [[1, 3], [2, 1]], "family": [[0, 1], [0, 1]]}
    >>> model = load(vectors, kind="contextual_vectors")
    >>> query = Query([["he", "him"], ["she", "her"]], [["career"], ["family"]])
    >>> result = metrics.ceat(query, model)
    >>> round(result.value, 2), round(result.scalars["lowest"], 2), round(result.scalars["highest"], 2)
    (1.41, 1.18, 1.69)
    """
    if of_one_word.is_undefined(targets, one_word):
        return Score(math.nan)
    association = _associations(targets, attributes)
    all_associations = np.concatenate(association)
    # Compute the effect sizes of all contexts at once: contexts take the place of samples.
    x, y = whole_sets(map(len, targets))
    sizes, variances = (n[:, 0] for n in _effect_sizes(x, y, [all_associations.T], variance, ddof))
    value, error, tau2, q = (float(number) for number in combine_effect_sizes(sizes, variances))
    # Import scipy here: the import is slow, and planning a study does not need it.
    from scipy.stats import norm

    return Score(
        value,
        scalars={
            "standard_error": error,
            "p_random_effects": float(2 * norm.sf(abs(value / error))),
            "tau2": tau2,
            "q": q,
            "lowest": float(sizes.min()),
            "highest": float(sizes.max()),
        },
        detail={
            "association": Detail(
                "target",
                association,
                [f"context {place}" for place in range(1, all_associations.shape[1] + 1)],
            )
        },
    )


def combine_effect_sizes(sizes: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, ...]:
    """Combine effect sizes with the random-effects model of DerSimonian and Laird.

    Parameters
    ----------
    sizes, variances
        Effect sizes and their variances, (..., contexts).

    Returns
    -------
    tuple of array
        The combined effect size, its standard error, tau2 and Q, (...) each.
    """
    weights = 1 / variances
    total = weights.sum(axis=-1)
    mean = (weights * sizes).sum(axis=-1) / total
    q = (weights * (sizes - mean[..., None]) ** 2).sum(axis=-1)
    excess = q - (sizes.shape[-1] - 1)
    scale = total - (weights**2).sum(axis=-1) / total
    # With one context, the variance between contexts is 0.
    tau2 = np.maximum(excess, 0) / np.where(scale > 0, scale, 1) if sizes.shape[-1] > 1 else excess * 0
    weights = 1 / (variances + tau2[..., None])
    total = weights.sum(axis=-1)
    return (weights * sizes).sum(axis=-1) / total, 1 / np.sqrt(total), tau2, q


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    variance: str = "effect_size",
    ddof: int = 1,
    one_word: OneWord = of_one_word.NAN,
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    contexts = [
        mean_products(unit(attributes[:, place]), unit(words[:, place])) for place in range(words.shape[1])
    ]

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        x, y = map(WeightedSet, targets)
        means = [map(mean_to, attribute_weights) for mean_to in contexts]
        value = combine_effect_sizes(*_effect_sizes(x, y, [a - b for a, b in means], variance, ddof))[0]
        return np.where(of_one_word.undefined_samples(x, y, one_word), np.nan, value)

    return statistic


def _associations(targets: Sequence[np.ndarray], attributes: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return s(w) of each target word in each context, (words, contexts) for each set."""
    a, b = attributes
    return [
        np.stack(
            [
                mean_cosines(words[:, place], a[:, place]) - mean_cosines(words[:, place], b[:, place])
                for place in range(words.shape[1])
            ],
            axis=1,
        )
        for words in targets
    ]


def _effect_sizes(
    x: Words, y: Words, contexts: Iterable[np.ndarray], variance: str, ddof: int
) -> list[np.ndarray]:
    """Compute the effect size of each context and its variance, (samples, contexts) each, from the words'
    associations."""
    m, n = np.reshape(x.count, (-1, 1)), np.reshape(y.count, (-1, 1))
    differences, spreads = [], []
    for association in contexts:
        differences.append(mean(x, association) - mean(y, association))
        spreads.append(std(x + y, association, ddof))
    spread = np.stack(spreads, axis=-1)
    spread = np.where(spread > FLAT, spread, np.nan)
    sizes = np.stack(differences, axis=-1) / spread
    if variance == "associations":
        return [sizes, spread**2]
    return [sizes, (m + n) / (m * n) + sizes**2 / (2 * (m + n))]


def _sized(
    targets: Sequence[int], attributes: Sequence[int], *, ddof: int = 1, **_: object
) -> tuple[float, float]:
    return effect_size_range(*targets, ddof=ddof)


CEAT = Metric(
    name="ceat",
    label="CEAT",
    function=ceat,
    needs="contextual_vectors",
    asks="How well are the words of {T1} and of {T2} told apart by their associations with {A1} and {A2}, "
    "over several contexts?",
    above="the words of {T1} are closer to {A1} than the words of {T2} are",
    below="the words of {T1} are closer to {A2} than the words of {T2} are",
    details={"association": "mean cosine with {A1} minus mean cosine with {A2}"},
    item_note="items are nested in words",
    scored_by=("association", "mean"),
    nearer="first",
    template=(2, 2),
    range=(-2.0, 2.0),
    neutral=0.0,
    groups="attributes",
    reference="Guo, Caliskan. Detecting emergent intersectional biases: contextualized word embeddings contain a "
    "distribution of human-like biases. AIES 2021",
    sized=_sized,
    one_word="targets",
    resampled=_resampled,
)
METRICS = (CEAT,)
