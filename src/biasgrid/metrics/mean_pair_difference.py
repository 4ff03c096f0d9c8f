"""Mean paired difference: the mean difference in log-likelihood between the two sentences of a pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Lt

from . import sentences
from .registry import Detail, Metric, Score
from .sentences import Normalize, ScoreKind

LM_EVAL = "lm-eval"


def mean_pair_difference(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    score: ScoreKind = "sz",
    trim: Annotated[float, Ge(0), Lt(0.5)] = 0.0,
    variant: Literal["signed", "lm-eval"] = "signed",
    normalize: Normalize = None,
    scores: np.ndarray,
) -> Score:
    """Average log-likelihood differences of pairs. It compares the two sentences of each pair.

    With the scores s of the sentences, such as the stereotyping one of a pair and the other::

        mean over pairs of s(first) - s(second)

    Parameters
    ----------
    targets : list of array, (pairs, 1)
        The two sets of sentences; sentences at the same place in the sets are a pair.
    attributes : list
        Empty.
    score
        "sz": the log-likelihood of a causal model, the pseudo-log-likelihood of a masked one. "cp": for a masked
        model, only the tokens that both sentences of a pair have. "l2r": for a masked model, the
        pseudo-log-likelihood in which, with each token, the tokens of its word to the right are also masked
        (PLL-word-l2r, Kauf and Ivanova 2023). "sz" overestimates the probability of a word of several tokens, as
        they predict each other. "term": for a masked model, the mean probability of the masked tokens in which the
        two sentences differ.
    trim
        Count only pairs whose difference lies strictly between the quantiles `trim` and 1 - `trim` of all pairs.
        The thesis takes .01.
    variant
        "signed", or "lm-eval": the mean of absolute differences, as in lm-evaluation-harness (`likelihood_diff` of
        its task crows_pairs_english). The latter measures how unlike the sentences of a pair are, not which of them
        a model prefers.
    normalize
        "tokens": each score is divided by the number of its tokens. It is then the mean logarithm of a token's
        probability, which is minus the logarithm of the perplexity per token (for a masked model, of Salazar et
        al.'s pseudo-perplexity). None: scores are sums. A table of scores does not contain the number of a
        sentence's tokens.
    scores
        The sentences' scores, set after set.

    Returns
    -------
    Score
        Range (-inf, inf), no-bias value 0, in nats, with `normalize` per token; for "lm-eval" [0, inf). Positive:
        sentences of the first set are more probable. A pair with an unscored sentence is left out. NaN if
        no pair is left. `scalars`: kept, the number of pairs that count; standard_error of the mean; p_z and
        p_wilcoxon, two-sided p-values of the z-test and of the signed-rank test (Wilcoxon 1945) of a mean of 0. The
        thesis instead tests the two sets as unpaired: ks, p_ks (Kolmogorov-Smirnov, over all pairs). correlation
        (Pearson, between the two scores of a pair) shows why the unpaired test rarely rejects. `detail`:
        difference, a sentence's score minus its partner's.

    Notes
    -----
    **Blind spots.** It does not see in how many pairs the first sentence is preferred. A few pairs with a
    large difference and many with a small one may have the same mean. With "sz" a longer sentence is less probable
    whatever it says, unless `normalize` divides by its length. Quantiles that are cut off can contain what you
    look for.

    The probability of a sentence depends on its length and its words, which the two sentences of a pair share. The
    difference of a pair is free of both. Two sets that are compared as wholes differ by far less than the sentences
    within each set do.

    **Defaults.** All pairs count. The thesis cuts off one hundredth at either end (`trim: 0.01`), without giving a
    reason.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> scores = {"men are strong": -10.0, "women are strong": -12.0, "women cook": -8.0, "men cook": -8.5}
    >>> model = load(scores, kind="language_model", name="measured")
    >>> query = Query([["men are strong", "women cook"], ["women are strong", "men cook"]])
    >>> metrics.mean_pair_difference(query, model).value
    1.25
    """
    first, second = sentences.by_set(scores, targets)
    difference = _of_variant(first - second, variant)
    detail = {"difference": Detail("target", [first - second, second - first])}
    inner_differences = _trim(difference, trim)
    if np.isnan(scores).any() or not len(inner_differences):
        return Score(math.nan, detail=detail)
    # Import scipy here: the import is slow, and planning a study does not need it.
    from scipy.stats import norm, wilcoxon

    mean, error = float(inner_differences.mean()), math.nan
    if len(inner_differences) > 1:
        error = float(inner_differences.std(ddof=1)) / math.sqrt(len(inner_differences))
    correlation = math.nan
    if first.std() > 0 and second.std() > 0:
        correlation = float(np.corrcoef(first, second)[0, 1])
    ks, p_ks = sentences.ks_test(first, second)
    return Score(
        mean,
        scalars={
            "kept": float(len(inner_differences)),
            "standard_error": error,
            "p_z": float(2 * norm.sf(abs(mean) / error)) if error > 0 else math.nan,
            "p_wilcoxon": float(wilcoxon(inner_differences).pvalue) if inner_differences.any() else math.nan,
            "ks": ks,
            "p_ks": p_ks,
            "correlation": correlation,
        },
        detail=detail,
    )


def _of_variant(difference: np.ndarray, variant: str) -> np.ndarray:
    return np.abs(difference) if variant == LM_EVAL else difference


def _trim(difference: np.ndarray, trim: float) -> np.ndarray:
    """Return the differences strictly between the two quantiles; all of them if `trim` is 0."""
    if not trim:
        return difference
    low, high = np.quantile(difference, [trim, 1 - trim])
    return difference[(difference > low) & (difference < high)]


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    scores: np.ndarray,
    score: str = "sz",
    trim: float = 0.0,
    variant: str = "signed",
    normalize: Normalize = None,
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    # The sign of a pair's difference follows its sentence in the sample's first set.
    difference = _of_variant(scores - np.roll(scores, len(scores) // 2), variant)
    if np.isnan(difference).any():
        difference = np.full(len(difference), math.nan)

    def statistic(targets: list[np.ndarray], _: list[np.ndarray]) -> np.ndarray:
        weights = targets[0]
        if not trim:
            return weights @ difference / weights.sum(axis=1)
        means = np.full(len(weights), math.nan)
        for i, counts in enumerate(weights.astype(int)):
            if len(inner_differences := _trim(np.repeat(difference, counts), trim)):
                means[i] = inner_differences.mean()
        return means

    return statistic


def _under(*, variant: str, **_: Any) -> dict[str, Any]:
    if variant != LM_EVAL:
        return {}
    return {
        "range": (0.0, math.inf),
        "asks": "How unlike does a language model hold sentences of {T1} and their partners of {T2}?",
        "above": "sentences of a pair are not equally probable",
        "below": "",
        "no_test": "the absolute difference of a pair stays the same when its two sentences are exchanged",
    }


MEAN_PAIR_DIFFERENCE = Metric(
    name="mean_pair_difference",
    label="Mean paired difference",
    function=mean_pair_difference,
    needs="language_model",
    template=(2, 0),
    paired=True,
    range=(-math.inf, math.inf),
    neutral=0.0,
    resampled=_resampled,
    variant=_under,
    of_model=sentences.of_model,
    unscored=sentences.unscored,
    asks="By how much does a language model hold sentences of {T1} for more probable than their partners of "
    "{T2}?",
    above="sentences of {T1} are more probable",
    below="sentences of {T2} are more probable",
    item_note="one observation per subject",
    details={"difference": "log-likelihood of the sentence minus the log-likelihood of its partner"},
    reference="Maddalozzo. Methods and measures for bias detection in natural language processing. "
    "Politecnico di Torino 2023, section 4.2, table 4.7",
)
METRICS = (MEAN_PAIR_DIFFERENCE,)
