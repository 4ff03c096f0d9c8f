"""Comparison of two models: different, alike, or cannot tell.

Models are compared by their standardised bias, or by their distances from the no-bias value (`tables.scales`). Each
pair is compared with its own variance only. A third model affects only the adjustment of the p-values.
docs/calibration.md shows the level and the power of both tests, and of the tests that were not chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .adjustment import holm

# Two models are alike if their standardised bias differs by at most this much: the config's default.
MARGIN = 0.5
LEVEL, POWER = 0.95, 0.8
# Fewer clusters contain too little information about other queries.
FEWEST_CLUSTERS = 5
FEW_CLUSTERS = "too few clusters"
DIFFERENT, ALIKE, CANNOT_TELL = "different", "alike", "cannot tell"
# Families of pairs: of the original models, and of one model's variants.
MODELS, STATES = "models", "states"
# Reason why two are not compared: models lack random groups, or the metric grows with the variants' lengths.
LENGTHS = "vector lengths differ"
# Scales: standardised bias, and distance from the no-bias value.
STANDARDIZED, RAW = "standardized", "raw"


class Claim(NamedTuple):
    """Difference of two models, with its intervals and its test.

    Attributes
    ----------
    difference
        Bias of the first model minus bias of the second: below 0, the first is less biased.
    error
        Standard error. For other queries, it includes the effect of the most influential clusters
        (`other_queries`).
    freedom
        Degrees of freedom of `error`.
    low, high
        Ends of the confidence interval.
    p
        Two-sided p-value of the hypothesis that the models do not differ; not adjusted.
    inner_low, inner_high
        Ends of the 90 % interval, which determines whether the models are alike: two one-sided tests at 5 %.
    """

    difference: np.ndarray
    error: np.ndarray
    freedom: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    inner_low: np.ndarray
    inner_high: np.ndarray


class Comparison(NamedTuple):
    """Comparison of two models.

    Attributes
    ----------
    these
        Result for these queries, and other words.
    other
        Result for other queries, and other words; NaN if `reason` is not empty.
    queries, clusters
        Numbers of queries and of clusters.
    reason
        Reason why other queries cannot be covered; empty if they can.
    """

    these: Claim
    other: Claim
    queries: int
    clusters: int
    reason: str


class Answer(NamedTuple):
    """Conclusion about one of several pairs.

    Attributes
    ----------
    p_adjusted
        The p-value, adjusted over the pairs.
    answer
        "different", "alike" or "cannot tell"; empty without a test.
    smallest_difference
        The smallest difference that the test would find with 80 % power.
    """

    p_adjusted: float
    answer: str
    smallest_difference: float


def compare_two(
    a: np.ndarray,
    b: np.ndarray,
    words_a: np.ndarray,
    words_b: np.ndarray,
    *,
    words: float = math.inf,
    clusters: Sequence[int] | np.ndarray | None = None,
    baseline_variance: float = 0.0,
    level: float = LEVEL,
) -> Comparison:
    """Compare the bias of two models on the same queries.

    Parameters
    ----------
    a, b
        Bias of each model, (queries,), on one scale.
    words_a, words_b
        Either the bias in resamples of the words, (queries, draws), the same words in the same draw for
        both models and all queries; or standard errors over words, (queries,), if no words are shared. A resample
        without a value is NaN; it is replaced by the mean of the others.
    words
        Number of words in a query's smallest set, on average: it corrects the resamples' variance and sets the
        degrees of freedom.
    clusters
        The cluster of each query, (queries,): queries that share sets are one cluster. None: all are independent.
    baseline_variance
        Variance of the mean difference because the random groups of the baselines were drawn. It is used for these
        queries; the differences between clusters already contain it.
    level
        Confidence level of the interval.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If the arrays do not fit together.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    words_a, words_b = np.asarray(words_a, dtype=float), np.asarray(words_b, dtype=float)
    ids = np.arange(len(a)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    if a.ndim != 1 or a.shape != b.shape or words_a.shape != words_b.shape:
        raise ValueError("the two models need scores, and errors, of the same queries")
    if words_a.ndim not in (1, 2) or len(words_a) != len(a) or len(ids) != len(a) or not len(a):
        raise ValueError("each query needs one score, one row of resamples or one error, and one cluster")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("each query needs a value of both models")
    total, shared = word_variances(words_a, words_b, ids, words)
    differences, count = a - b, int(ids.max()) + 1
    scale = np.abs([a, b]).max()
    these = these_queries(differences.mean(), total + baseline_variance, words, level, scale)
    if count < FEWEST_CLUSTERS:
        return Comparison(these, Claim(*[np.full((), math.nan)] * 8), len(a), count, FEW_CLUSTERS)
    other = other_queries(cluster_means(differences, ids), shared, words, level, scale)
    return Comparison(these, other, len(a), count, "")


def mean_of_one(
    values: np.ndarray,
    resamples: np.ndarray,
    *,
    words: float = math.inf,
    baseline_variance: float = 0.0,
    level: float = LEVEL,
) -> Claim:
    """Estimate the mean standardised bias of one model over queries, for these queries and other words.

    Parameters
    ----------
    values
        Standardised bias, (queries,).
    resamples, words, baseline_variance, level
        `words_a`, `words`, `baseline_variance` and `level`, as `compare_two` takes them.

    Returns
    -------
    Claim
        The result of `compare_two` for these queries, between the model and a model that has 0 everywhere.
    """
    nothing = np.zeros_like(resamples)
    return compare_two(
        values,
        np.zeros_like(values),
        resamples,
        nothing,
        words=words,
        baseline_variance=baseline_variance,
        level=level,
    ).these


def word_variances(
    words_a: np.ndarray, words_b: np.ndarray, clusters: np.ndarray, words: float
) -> tuple[float, float]:
    """Compute how much other words would change the difference of two models.

    Parameters
    ----------
    words_a, words_b
        As in `compare_two`.
    clusters
        The cluster of each query, from 0.
    words
        Number of words in a query's smallest set, on average.

    Returns
    -------
    tuple of float
        The variance of the mean over queries; and the part of the variance of the mean over clusters that comes from
        words that clusters share: the covariances of different clusters, at least 0.

    Notes
    -----
    The variance of a mean over resamples of n words is (n - 1) / n of the mean's variance, which is corrected.
    """
    queries = len(words_a)
    if words_a.ndim == 1:
        return float((words_a**2 + words_b**2).sum()) / queries**2, 0.0
    moves = words_a - words_b
    moves = moves - np.nanmean(moves, axis=1, keepdims=True)
    moves = np.where(np.isnan(moves), 0.0, moves)
    factor = 1 / (1 - 1 / max(words, 2.0))
    of_clusters = cluster_means(moves.T, clusters)
    count = of_clusters.shape[-1]
    own = of_clusters.var(axis=0, ddof=1).sum() / count**2
    shared = of_clusters.mean(axis=1).var(ddof=1) - own
    return factor * float(moves.mean(axis=0).var(ddof=1)), factor * max(float(shared), 0.0)


def cluster_means(values: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Return the means of the queries of each cluster, (..., clusters), from (..., queries)."""
    is_member = clusters[:, None] == np.arange(int(clusters.max()) + 1)
    means: np.ndarray = values @ (is_member / is_member.sum(axis=0))
    return means


def these_queries(
    difference: np.ndarray | float,
    variance: np.ndarray | float,
    words: float,
    level: float = LEVEL,
    scale: float = 1.0,
) -> Claim:
    """Test the difference of two models on the queries at hand, for other words.

    Parameters
    ----------
    difference
        Difference of the means over queries, of any shape.
    variance
        Its variance over words, of the same shape.
    words
        Number of words in a query's smallest set, on average, n.
    level
        Confidence level.
    scale
        Size of the values: rounding noise relative to it counts as 0.

    Returns
    -------
    Claim
        A t-test with n - 1 degrees of freedom, as if one set of n words made the whole variance. The normal
        distribution rejects too often if sets are small: in up to 18 % of simulated families. With 2 (n - 1) degrees
        of freedom, RIPA errs in up to 8 %.
    """
    difference = _without_rounding(np.asarray(difference, dtype=float), scale)
    error = _without_rounding(np.sqrt(variance), scale)
    freedom = max(words, 2.0) - 1
    ends = [_interval(difference, error, freedom, share) for share in (level, 0.9)]
    p = _p_values(difference, error, freedom)
    return Claim(difference, error, np.full(difference.shape, freedom), *ends[0], p, *ends[1])


def other_queries(
    differences: np.ndarray,
    shared: np.ndarray | float = 0.0,
    words: float = math.inf,
    level: float = LEVEL,
    scale: float = 1.0,
) -> Claim:
    """Test the difference of two models for other queries, from clusters of queries.

    Parameters
    ----------
    differences
        Mean difference of each cluster, (..., clusters), at least four clusters.
    shared
        Variance of the mean over clusters that comes from words that clusters share, (...,).
    words
        Number of words in a query's smallest set, on average, n.
    level
        Confidence level.
    scale
        Size of the values: rounding noise relative to it counts as 0.

    Returns
    -------
    Claim
        The one-sample t-test of the clusters' means, in which no single cluster may decide. The test is repeated
        without each cluster, p is the largest of all these p-values, and an interval spans all these intervals. All
        have k - 3 degrees of freedom, but not more than 2 (n - 1). `error` is half the interval in units of the
        t-distribution.

    Notes
    -----
    The t-test of cluster means keeps its level for normal clusters of unequal variance (Ibragimov and Müller 2010).
    Differences of models are skewed, however: a few queries are far from the rest. The t-test alone then rejects in
    more than 10 % of some simulated families. The degrees of freedom are the degrees of a mean without one cluster,
    minus one, which the simulation requires.

    References
    ----------
    Ibragimov and Müller. t-statistic based correlation and heterogeneity robust inference. JBES 28, 2010.
    """
    differences = _without_rounding(np.asarray(differences, dtype=float), scale)
    k = differences.shape[-1]
    mean = differences.mean(axis=-1)
    centred = differences - mean[..., None]
    squares = (centred**2).sum(axis=-1)
    # Compute mean and sum of squares without each cluster.
    means_without = mean[..., None] - centred / (k - 1)
    squares_without = np.maximum(squares[..., None] - centred**2 * k / (k - 1), 0.0)
    errors = np.sqrt(
        np.concatenate(
            [
                (squares / k / (k - 1) + shared)[..., None],
                squares_without / (k - 1) / (k - 2) + np.asarray(shared)[..., None],
            ],
            axis=-1,
        )
    )
    errors = _without_rounding(errors, scale)
    middles = np.concatenate([mean[..., None], means_without], axis=-1)
    freedom = _cluster_freedom(k, words)
    # A cluster whose removal changes the sign of the difference decides the sign: p is 1.
    p_values = _p_values(middles, errors, freedom)
    p = np.where(middles * mean[..., None] < 0, 1.0, p_values).max(axis=-1)
    ends = []
    for share in (level, 0.9):
        low, high = _interval(middles, errors, freedom, share)
        ends.append((low.min(axis=-1), high.max(axis=-1)))
    (low, high), inner = ends
    error = (high - low) / 2 / _quantile((1 + level) / 2, freedom)
    return Claim(mean, error, np.full(mean.shape, freedom), low, high, p, *inner)


def answers(claims: Sequence[Claim], margin: float | None = MARGIN, level: float = LEVEL) -> list[Answer]:
    """Conclude about the pairs of a family, each with its own claim.

    Parameters
    ----------
    claims
        One claim for each pair; a claim with a p-value of NaN is not part of the family.
    margin
        Two models are alike if they differ by at most this much; None: they are never called alike.
    level
        Two models differ if the adjusted p-value is at most 1 - level.

    Returns
    -------
    list of Answer
        With p-values adjusted by Holm's method, which needs no common variance. A difference that is significant and
        smaller than the margin is "different".
    """
    p_values = np.array([float(claim.p) for claim in claims])
    tested = ~np.isnan(p_values)
    p_values[tested] = holm(p_values[tested])
    pairs, found = int(tested.sum()), []
    for claim, p in zip(claims, p_values.tolist(), strict=True):
        if math.isnan(p):
            found.append(Answer(math.nan, "", math.nan))
            continue
        if p <= 1 - level + 1e-12:
            answer = DIFFERENT
        elif margin is not None and -margin <= claim.inner_low and claim.inner_high <= margin:
            answer = ALIKE
        else:
            answer = CANNOT_TELL
        found.append(Answer(p, answer, smallest_difference(claim, pairs, level)))
    return found


def smallest_difference(claim: Claim, pairs: int = 1, level: float = LEVEL) -> float:
    """Return the smallest difference that the test finds with 80 % power, if it is the first of `pairs` pairs."""
    return float(claim.error) * _reach(float(claim.freedom), pairs, level)


def words_needed(
    claim: Claim, words: float, margin: float = MARGIN, pairs: int = 1, level: float = LEVEL
) -> float:
    """Return how many words per set find a difference of `margin` on these queries with 80 % power.

    Parameters
    ----------
    claim
        Claim for these queries.
    words
        Number of words in a query's smallest set, on average.
    margin, level
        As in `answers`.
    pairs
        Number of pairs in the family.

    Returns
    -------
    float
        NaN if the number of words is not known.
    """
    if not math.isfinite(words) or math.isnan(claim.error):
        return math.nan

    def is_enough(n: int) -> bool:
        error = float(claim.error) * math.sqrt(max(words, 2.0) / n)
        return error * _reach(n - 1.0, pairs, level) <= margin

    return float(_first(is_enough, 2))


def queries_needed(
    claim: Claim,
    queries: int,
    clusters: int,
    words: float = math.inf,
    margin: float = MARGIN,
    pairs: int = 1,
    level: float = LEVEL,
) -> float:
    """Return the number of queries with which a difference of `margin` is found for other queries with 80 % power.

    Parameters
    ----------
    claim
        Claim for other queries.
    queries, clusters
        Numbers of queries and of clusters in the claim. New queries are assumed to share sets in the same way.
    words
        Number of words in a query's smallest set, on average.
    margin, level
        As in `answers`.
    pairs
        Number of pairs in the family.

    Returns
    -------
    float
        NaN if the claim has too few clusters.
    """
    if math.isnan(claim.error):
        return math.nan

    def is_enough(k: int) -> bool:
        return (
            float(claim.error) * math.sqrt(clusters / k) * _reach(_cluster_freedom(k, words), pairs, level)
            <= margin
        )

    return float(math.ceil(_first(is_enough, FEWEST_CLUSTERS) * queries / clusters))


def _without_rounding(values: np.ndarray, scale: float) -> np.ndarray:
    """Replace rounding noise of values of this size by 0."""
    return np.where(np.abs(values) <= 1e-12 * scale, 0.0, values)


def _cluster_freedom(clusters: int, words: float) -> float:
    """Return the degrees of freedom of a mean over clusters, of which any one may be left out."""
    return min(clusters - 3.0, 2 * (max(words, 2.0) - 1))


def _reach(freedom: float, pairs: int, level: float) -> float:
    """Return the difference, in standard errors, that is found with 80 % power."""
    return _quantile(1 - (1 - level) / 2 / pairs, freedom) + _quantile(POWER, freedom)


def _first(is_enough: Callable[[int], bool], start: int) -> int:
    """Return the smallest number from `start` on that is enough; larger numbers are enough if it is."""
    low, high = start - 1, start
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _quantile(share: float, freedom: float) -> float:
    # Import scipy late: studies without a bootstrap save the time.
    from scipy.special import stdtrit

    return float(stdtrit(min(freedom, 1e9), share))


def _p_values(difference: np.ndarray, error: np.ndarray, freedom: float) -> np.ndarray:
    """Compute two-sided p-values; without error, 0 for a difference and 1 for no difference."""
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(difference == 0, 0.0, np.abs(difference) / error)
    return 2 * stdtr(min(freedom, 1e9), -t)


def _interval(
    difference: np.ndarray, error: np.ndarray, freedom: float, level: float
) -> tuple[np.ndarray, np.ndarray]:
    reach = _quantile((1 + level) / 2, freedom) * error
    return difference - reach, difference + reach
