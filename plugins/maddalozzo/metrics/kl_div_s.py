"""KLDivS: the asymmetry of the divergence between normal distributions fitted to two sets of scores."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from biasgrid.metrics import sentences
from biasgrid.metrics.registry import Detail, Metric, Score
from biasgrid.metrics.sentences import ScoreKind

# If the ratio of variances is this near to 1, a series replaces the logarithm, which would lose all digits.
SMALL = 1e-3


def kl_div_s(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    score: ScoreKind = "sz",
    scores: np.ndarray,
) -> Score:
    """Measure the asymmetry of the Kullback-Leibler divergence between normal distributions of two sets of scores.

    Normal distributions m and n are fitted to the scores of the two sets (maximum likelihood)::

        p(m|n) = KL(m|n) / (KL(m|n) + KL(n|m))
        KLDivS = 100 max(p(m|n), p(n|m))

    Parameters
    ----------
    targets : list of array, (pairs, 1)
        The two sets of sentences; sentences at the same place in the sets are a pair.
    attributes : list
        Empty.
    score
        "sz": the log-likelihood of a causal model, the pseudo-log-likelihood of a masked one. "cp": for a masked
        model, only the tokens that both sentences of a pair have. "term": for a masked model, the probability of the
        term in which they differ.
    scores
        The sentences' scores, set after set.

    Returns
    -------
    Score
        Range [50, 100], no-bias value 50. It has no sign. It is also 50 if both sets have the same mean and
        variance. The formula is then 0/0, and 50 is the limit as the two distributions approach each other. NaN if a
        sentence is unscored, or if all scores of a set are equal. `scalars`: kl_first and kl_second, KL of the first
        set's distribution given the second's, and of the second's given the first's, in nats; mean_first,
        mean_second, sd_first and sd_second of the normal distributions. `detail`: score, the score of the sentence.

    Notes
    -----
    **Blind spots.** It does not see a shift: if both sets vary equally, both divergences are equal however
    far apart the means are, and KLDivS is 50. It measures the difference of the variances, but less so the further
    apart the means are. So 50 is not evidence of a model without bias. It assumes normal scores, but they are not
    normal (Shapiro-Wilk rejects normality for BETO's scores), and it treats pairs as two unrelated sets.

    Over several queries, such as bias types, the thesis prints the sum of KLDivS times the number of pairs over the
    number of types, which exceeds 100. A weighted mean divides by the number of all pairs instead: the column
    `weighted_mean` of pair_means.csv.

    **Defaults.** "sz" is available for every model; the thesis has both scores.

    Examples
    --------
    >>> from biasgrid import Query, load, load_plugins, metrics
    >>> load_plugins(["maddalozzo"])
    >>> scores = {"men are strong": -10.0, "women are strong": -12.0, "women cook": -8.0, "men cook": -8.5}
    >>> model = load(scores, kind="language_model", name="measured")
    >>> query = Query([["men are strong", "women cook"], ["women are strong", "men cook"]])
    >>> round(metrics.kl_div_s(query, model).value, 2)
    72.38
    """
    first, second = sentences.by_set(scores, targets)
    detail = {"score": Detail("target", [first, second])}
    if np.isnan(scores).any():
        return Score(math.nan, detail=detail)
    means, variances = (first.mean(), second.mean()), (first.var(), second.var())
    kl_first, kl_second = _divergences(*means, *variances)
    return Score(
        float(_share(kl_first, kl_second)),
        scalars={
            "kl_first": float(kl_first),
            "kl_second": float(kl_second),
            "mean_first": float(means[0]),
            "mean_second": float(means[1]),
            "sd_first": math.sqrt(variances[0]),
            "sd_second": math.sqrt(variances[1]),
        },
        detail=detail,
    )


def _divergences(
    first_mean: np.ndarray, second_mean: np.ndarray, first_variance: np.ndarray, second_variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute KL of the first normal distribution given the second, and of the second given the first."""
    shift = (first_mean - second_mean) ** 2
    with np.errstate(all="ignore"):
        return tuple(
            np.where((a > 0) & (b > 0), (_less_log(a / b - 1) + shift / b) / 2, math.nan)
            for a, b in (
                (np.asarray(first_variance), np.asarray(second_variance)),
                (np.asarray(second_variance), np.asarray(first_variance)),
            )
        )


def _less_log(x: np.ndarray) -> np.ndarray:
    """Compute x - log(1 + x)."""
    series = x**2 * (1 / 2 - x * (1 / 3 - x * (1 / 4 - x * (1 / 5 - x / 6))))
    return np.where(np.abs(x) < SMALL, series, x - np.log1p(x))


def _share(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    total = first + second
    with np.errstate(all="ignore"):
        return np.where(total == 0, 50.0, 100 * np.maximum(first, second) / total)


def _resampled(
    words: np.ndarray, attributes: np.ndarray, *, scores: np.ndarray, score: str = "sz"
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    centred = scores - scores.mean()

    def moments(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        total = weights.sum(axis=1)
        mean = weights @ centred / total
        variance = weights @ centred**2 / total - mean**2
        # Set a variance to 0 if it is only rounding error.
        return mean, np.where(variance > 1e-12 * (centred**2).mean(), variance, 0.0)

    def statistic(targets: list[np.ndarray], _: list[np.ndarray]) -> np.ndarray:
        (first_mean, first_variance), (second_mean, second_variance) = map(moments, targets)
        return _share(*_divergences(first_mean, second_mean, first_variance, second_variance))

    return statistic


METRICS = (
    Metric(
        name="kl_div_s",
        label="KLDivS",
        function=kl_div_s,
        needs="language_model",
        template=(2, 0),
        paired=True,
        range=(50.0, 100.0),
        neutral=50.0,
        resampled=_resampled,
        of_model=sentences.of_model,
        unscored=sentences.unscored,
        asks="How much more do the log-likelihoods of one of {T1} and {T2} vary than the other's?",
        above="the log-likelihoods of one set vary more than the other set's",
        details={"score": "log-likelihood of the sentence"},
        reference="Maddalozzo. Methods and measures for bias detection in natural language processing. "
        "Politecnico di Torino 2023, section 4.2, table 4.6",
    ),
)
