"""Agreement: does a language model prefer the same sentence of a pair when both are paraphrased?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt, Lt

from biasgrid.core.errors import BiasgridError, not_allowed
from biasgrid.metrics import sentences
from biasgrid.metrics.registry import Detail, Metric, Score
from biasgrid.metrics.sentences import ScoreKind

# The thesis chose this value by hand, so that most differences of its pairs are in the interval.
THESIS = 3.5


def agreement(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    score: ScoreKind = "sz",
    rule: Literal["interval", "sign"] = "interval",
    lower: float = -THESIS,
    upper: float = THESIS,
    robust: Annotated[float, Gt(0), Lt(1)] = 0.8,
    scores: np.ndarray,
) -> Score:
    """Return the share of sentence pairs for which a language model has the same bias in another version of the pair.

    The difference d = s(first) - s(second) of a pair determines its bias, which is -1, 0 or 1::

        rule interval: -1 where d < lower, 0 where lower <= d <= upper, 1 where d > upper
        rule sign: 1 where d > 0, -1 where not

        l1 = share of the pairs whose bias equals the bias of their other version

    Parameters
    ----------
    targets : list of array, (pairs, 1)
        Four sets of sentences: the two of a pair, and the two of its other version, such as a paraphrase. Sentences
        at the same place in the sets belong together.
    attributes : list
        Empty.
    score
        "sz": the log-likelihood of a causal model, the pseudo-log-likelihood of a masked one. "cp": for a masked
        model, only the tokens that both sentences of a pair have. "term": for a masked model, the probability of the
        term in which they differ.
    rule
        Rule that turns a difference into a bias: "interval" (the rule of the thesis) or "sign" (Kwon &
        Mihindukulasooriya 2022).
    lower, upper
        Ends of the interval, in nats. -3.5 and 3.5 were chosen by hand in the thesis.
    robust
        The share of pairs in the hypothesis of robustness.
    scores
        The sentences' scores, set after set.

    Returns
    -------
    Score
        l1. Range [0, 1], no-bias value 1: a model that has the same bias in both versions of each pair. It has no
        sign. A pair with an unscored sentence is left out; NaN if no pair is left. `scalars`: pairs, agreed.
        p_robust and p_robust_binomial are p-values of the hypothesis l1 = `robust` against less; if they are small,
        the model is not robust. p_robust is of the z-test with l1 itself in its variance, as printed in the thesis;
        p_robust_binomial is of the exact test. chance, the agreement of pairs in random order, and kappa =
        (l1 - chance) / (1 - chance) (Cohen 1960), NaN if chance is 1. inside, the share of pairs whose bias is 0 in
        the first version. p_difference, of the z-test that a pair and its other version have the same mean
        difference. p_ks, of the Kolmogorov-Smirnov test of the differences of both versions. `detail`: difference, a
        sentence's score minus its partner's.

    Notes
    -----
    **Blind spots.** It does not see bias: a model that prefers the stereotype in every version of every
    pair agrees as much as one that never does. Nor does it see whether a paraphrase means the same.

    l1 depends on the interval: all pairs are inside a wide interval and agree, whatever their versions say. kappa is
    0 if versions agree only as often as pairs in random order. The table agreement_widths.csv has both for a range
    of widths.

    **Defaults.** The interval and `robust` come from the thesis. The bounds may not suit a model whose scores have
    another scale: look at the distribution of the differences first.

    Examples
    --------
    >>> from biasgrid import Query, load, load_plugins, metrics
    >>> load_plugins(["maddalozzo"])
    >>> scores = {"men are strong": -10.0, "women are strong": -15.0, "strong men": -9.0, "strong women": -13.0}
    >>> scores |= {"men cook": -9.0, "women cook": -8.5, "cooking men": -9.5, "cooking women": -4.5}
    >>> model = load(scores, kind="language_model", name="measured")
    >>> pairs = [["men are strong", "men cook"], ["women are strong", "women cook"]]
    >>> versions = [["strong men", "cooking men"], ["strong women", "cooking women"]]
    >>> metrics.agreement(Query([*pairs, *versions]), model).value
    0.5
    """
    sets = sentences.by_set(scores, targets)
    differences = sets[::2] - sets[1::2]
    detail = detail_of(differences)
    if np.isnan(scores).any():
        return Score(math.nan, detail=detail)
    versions = biases(differences, rule, lower, upper)
    scalars = compare_biases(*versions, robust)
    return Score(
        scalars["agreed"] / scalars["pairs"],
        scalars={
            **scalars,
            "inside": float((versions[0] == 0).mean()),
            "p_difference": _p_z(differences[0] - differences[1]),
            "p_ks": sentences.ks_test(*differences)[1],
        },
        detail=detail,
    )


def biases(differences: np.ndarray, rule: str, lower: float, upper: float) -> np.ndarray:
    """Return the bias of each difference, -1, 0 or 1, in an array of the same shape."""
    if rule == "sign":
        return np.where(differences > 0, 1, -1)
    return (differences > upper).astype(int) - (differences < lower)


def compare_biases(first: np.ndarray, second: np.ndarray, robust: float = 0.8) -> dict[str, float]:
    """Count how often the biases (pairs,) of two versions agree; compare with chance, and test against `robust`."""
    from scipy.stats import binomtest, norm

    pairs, agreements = len(first), int((first == second).sum())
    share = agreements / pairs
    chance = float(sum((first == bias).mean() * (second == bias).mean() for bias in (-1, 0, 1)))
    error = math.sqrt(share * (1 - share) / pairs)
    return {
        "pairs": float(pairs),
        "agreed": float(agreements),
        "p_robust": float(norm.cdf((share - robust) / error)) if error else math.nan,
        "p_robust_binomial": float(binomtest(agreements, pairs, robust, "less").pvalue),
        "chance": chance,
        "kappa": (share - chance) / (1 - chance) if chance < 1 else math.nan,
    }


def _p_z(values: np.ndarray) -> float:
    from scipy.stats import norm

    spread = values.std(ddof=1) if len(values) > 1 else 0.0
    return float(2 * norm.sf(abs(values.mean()) / spread * math.sqrt(len(values)))) if spread else math.nan


def detail_of(differences: np.ndarray) -> dict[str, Detail]:
    return {"difference": Detail("target", [d for version in differences for d in (version, -version)])}


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    scores: np.ndarray,
    sets: int,
    rule: str = "interval",
    lower: float = -THESIS,
    upper: float = THESIS,
    **_: Any,
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    by_set = scores.reshape(sets, -1)
    versions = biases(by_set[::2] - by_set[1::2], rule, lower, upper)
    agreements = (versions[0] == versions[1:]).astype(np.float64)
    pair_values = agreements[0] - agreements[1] if len(agreements) == 2 else agreements[0]
    if np.isnan(scores).any():
        pair_values = np.full(len(pair_values), math.nan)

    def statistic(targets: list[np.ndarray], _: list[np.ndarray]) -> np.ndarray:
        weights = targets[0][:, : len(pair_values)]
        return weights @ pair_values / weights.sum(axis=1)

    return statistic


def resampled_of_sets(
    sets: int,
) -> Callable[..., Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]]:
    return lambda *args, **options: _resampled(*args, **options, sets=sets)


def _check(*, lower: float, upper: float, **_: object) -> None:
    for name, value in (("lower", lower), ("upper", upper)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise BiasgridError(not_allowed(name, value, "numbers"))
    if lower > upper:
        raise BiasgridError(not_allowed("lower", lower, f"numbers up to upper, {upper:g}"))


SHARED: dict[str, Any] = {
    "needs": "language_model",
    "paired": True,
    "of_model": sentences.of_model,
    "unscored": sentences.unscored,
    "check": _check,
    "details": {"difference": "log-likelihood of the sentence minus the log-likelihood of its partner"},
    "reference": "Maddalozzo. Methods and measures for bias detection in natural language processing. Politecnico "
    "di Torino 2023, section 4.3, tables 4.9 and 4.10; Kwon, Mihindukulasooriya. An empirical study on pseudo-log-"
    "likelihood bias measures for masked language models using paraphrased sentences. TrustNLP 2022 (sign)",
}
METRICS = (
    Metric(
        name="agreement",
        label="Agreement",
        function=agreement,
        template=(4, 0),
        range=(0.0, 1.0),
        neutral=1.0,
        resampled=resampled_of_sets(4),
        no_test="it says how alike a model answers two versions of a pair, whichever sentence is the first; p_robust "
        "and p_robust_binomial are its tests",
        asks="Does a language model prefer the same side of {T1} and {T2} as of {T3} and {T4}?",
        below="the model prefers another side of {T3} and {T4} than of {T1} and {T2}",
        **SHARED,
    ),
)
