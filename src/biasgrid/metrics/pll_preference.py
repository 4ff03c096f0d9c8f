"""PLL preference: share of sentence pairs in which a language model finds the first sentence more probable."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import sentences
from .registry import Detail, Metric, Score
from .sentences import Normalize, ScoreKind


def pll_preference(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    score: ScoreKind = "sz",
    normalize: Normalize = None,
    scores: np.ndarray,
) -> Score:
    """Compare the likelihoods of paired sentences. Count the pairs whose first sentence is likelier.

    With the scores s of the sentences, such as the stereotyping one of a pair and the other::

        preference = share of the pairs with s(first) > s(second)

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
        Range [0, 1], no-bias value .5. Below it the model prefers sentences of the second set, above it sentences
        of the first. A pair with an unscored sentence is left out. NaN for "cp" or "l2r" of a causal model.
        `scalars`: pairs, preferred, ties; p_normal, two-sided, of the z test with the share itself in its variance
        (the formula of the thesis); p_binomial, the exact test; p_untied, the exact test without ties; ci_low,
        ci_high, the share's 95 % interval (Wilson 1927). `detail`: difference, a sentence's score minus its
        partner's.

    Notes
    -----
    **Blind spots.** It does not see how much more probable a sentence is. A sentence may be more probable
    only because its words are frequent. "sz" prefers the shorter of two sentences, unless `normalize` divides by
    its length. Blodgett et al. (2021) find that many pairs of CrowS-Pairs and StereoSet do not measure what they
    are meant to measure.

    Ties count as not preferred, and thus for the second sentence, as in the thesis; `ties` is their number. They
    shift the value and p_binomial. The permutation test and p_untied leave them out.

    **Defaults.** "sz" is available for every model. CrowS-Pairs' own score is "cp", which only masked models have,
    as only they have "l2r".

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> scores = {"men are strong": -10.0, "women are strong": -12.0, "women cook": -8.0, "men cook": -8.5}
    >>> model = load(scores, kind="language_model", name="measured")
    >>> query = Query([["men are strong", "women cook"], ["women are strong", "men cook"]])
    >>> metrics.pll_preference(query, model).value
    1.0
    """
    first, second = sentences.by_set(scores, targets)
    detail = {"difference": Detail("target", [first - second, second - first])}
    if np.isnan(scores).any():
        return Score(math.nan, detail=detail)
    # Import scipy here: the import is slow, and planning a study does not need it.
    from scipy.stats import binomtest, norm

    pairs, preferences = len(first), int((first > second).sum())
    share, untied_pairs = preferences / pairs, int((first != second).sum())
    spread = math.sqrt(share * (1 - share) / pairs)
    exact = binomtest(preferences, pairs)
    low, high = exact.proportion_ci(method="wilson")
    return Score(
        share,
        scalars={
            "pairs": float(pairs),
            "preferred": float(preferences),
            "ties": float((first == second).sum()),
            "p_normal": float(2 * norm.sf(abs(share - 0.5) / spread)) if spread else math.nan,
            "p_binomial": float(exact.pvalue),
            "p_untied": float(binomtest(preferences, untied_pairs).pvalue) if untied_pairs else 1.0,
            "ci_low": float(low),
            "ci_high": float(high),
        },
        detail=detail,
    )


def _resampled(
    words: np.ndarray, attributes: np.ndarray, *, scores: np.ndarray, **_: Any
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    preferences = (scores > np.roll(scores, len(scores) // 2)).astype(np.float64)
    if np.isnan(scores).any():
        preferences[:] = math.nan
    # A pair counts if its sentence in the sample's first set is the more probable one.
    return lambda targets, _: targets[0] @ preferences / targets[0].sum(axis=1)


def _pairs_won(words: np.ndarray, attributes: np.ndarray, *, scores: np.ndarray, **_: Any) -> tuple[int, int]:
    first, second = np.split(scores, 2)
    return int((first > second).sum()), int((first != second).sum())


PLL_PREFERENCE = Metric(
    name="pll_preference",
    label="PLL preference",
    function=pll_preference,
    needs="language_model",
    template=(2, 0),
    paired=True,
    range=(0.0, 1.0),
    neutral=0.5,
    resampled=_resampled,
    pairs_won=_pairs_won,
    of_model=sentences.of_model,
    unscored=sentences.unscored,
    asks="Does a language model hold sentences of {T1} for more probable than their partners of {T2}?",
    above="the model prefers sentences of {T1}",
    below="the model prefers sentences of {T2}",
    item_note="one observation per subject",
    details={"difference": "log-likelihood of the sentence minus the log-likelihood of its partner"},
    reference="Nangia, Vania, Bhalerao, Bowman. CrowS-Pairs: a challenge dataset for measuring social biases in "
    "masked language models. EMNLP 2020 (cp); Salazar, Liang, Nguyen, Kirchhoff. Masked language model scoring. "
    "ACL 2020 (sz); Kauf, Ivanova. A better way to do masked language model scoring. ACL 2023 (l2r); Maddalozzo. "
    "Methods and measures for bias detection in natural language processing. Politecnico di Torino 2023, section "
    "4.2",
)
METRICS = (PLL_PREFERENCE,)
