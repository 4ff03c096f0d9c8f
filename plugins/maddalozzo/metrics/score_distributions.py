"""Distributions of the scores of two sets of sentences: their distance and their shapes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from biasgrid.metrics import sentences
from biasgrid.metrics.registry import Detail, Metric, Score
from biasgrid.metrics.sentences import ScoreKind

# These are the distributions that the thesis fits, the one that it chooses, and the number of bars of the histogram
# by which fits are ranked.
DISTRIBUTIONS = ("gamma", "lognorm", "skewnorm", "genextreme", "beta", "burr", "norm")
THESIS_DISTRIBUTION = "genextreme"
BARS = 100
PLACES = ("first", "second")
PARAMETERS = ("shape_1", "shape_2", "loc", "scale")
# A distribution of four parameters needs at least this number of scores.
FEWEST = 20


def score_distributions(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    score: ScoreKind = "sz",
    fits: bool = False,
    draws: Annotated[int, Ge(0), Le(100_000)] = 199,
    scores: np.ndarray,
    seed: int = 0,
) -> Score:
    """Measure the distance between the score distributions of two sets of sentences, and describe their shapes.

    The value is the Kolmogorov-Smirnov statistic. The thesis uses its p-value as a test of bias::

        D = max over x of |share of the first set's scores <= x - share of the second's|

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
    fits
        Whether seven distributions are fitted to each set, which takes a second, and bootstrapped. Sets of fewer
        than 20 sentences are not fitted.
    draws
        Number of samples of the parametric bootstrap; 0 for no bootstrap.
    scores
        The sentences' scores, set after set.
    seed
        Seed of the bootstrap.

    Returns
    -------
    Score
        Range [0, 1], no-bias value 0. It has no sign. NaN if a sentence is unscored. `scalars`: p_ks, the
        p-value of the statistic if the two sets were not paired; correlation of the two scores of a pair (Pearson).
        With `fits`, there are further scalars for the "first" and the "second" set. first_shapiro and
        first_p_shapiro come from the test of normality (Shapiro & Wilk 1965). Each distribution, such as the
        generalised extreme value distribution, has first_genextreme_shape_1, _shape_2, _loc and _scale, its maximum
        likelihood parameters in the notation of scipy. first_genextreme_sse is the sum of squared differences between
        its density and a histogram of 100 bars; _rank is the rank by that sum, 1 for the best. _ks and _p_ks come
        from the test against the distribution as if the parameters had not been fitted. genextreme also has
        _p_bootstrap: the bootstrap fits each sample of the fitted distribution again before it compares the
        statistics. `detail`: score, the score of the sentence.

    Notes
    -----
    **Blind spots.** It does not see which sentence of a pair has which score: sets with the same scores in
    another order have the same value. For a single pair it is 1, whatever the scores, unless they are equal.

    p_ks is not a test of bias. The two sentences of a pair share their words and their length, so both sets have
    nearly the same distribution, whichever sentence is preferred in each pair. Exchanging the sentences of pairs
    (`p_value`) takes that into account; `mean_pair_difference` measures the preference directly.

    p_ks of a fit is too large, because the fitted distribution is nearer to the scores than the true distribution.
    p_bootstrap is the parametric bootstrap (Stute, Gonzalez Manteiga & Presedo Quindimil 1993).

    **Defaults.** There are no fits, because they take long. The thesis's tables 4.3 and 4.4 need `fits: true`; they
    do not contain a bootstrap.

    Examples
    --------
    >>> from biasgrid import Query, load, load_plugins, metrics
    >>> load_plugins(["maddalozzo"])
    >>> scores = {"men are strong": -10.0, "women are strong": -12.0, "women cook": -8.0, "men cook": -8.5}
    >>> model = load(scores, kind="language_model", name="measured")
    >>> query = Query([["men are strong", "women cook"], ["women are strong", "men cook"]])
    >>> metrics.score_distributions(query, model).value
    0.5
    """
    sets = sentences.by_set(scores, targets)
    detail = {"score": Detail("target", list(sets))}
    if np.isnan(scores).any():
        return Score(math.nan, detail=detail)
    distance, p_ks = sentences.ks_test(*sets)
    all_vary = (sets.std(axis=1) > 0).all()
    scalars = {
        "p_ks": p_ks,
        "correlation": float(np.corrcoef(*sets)[0, 1]) if all_vary else math.nan,
    }
    if fits and all_vary and sets.shape[1] >= FEWEST:
        for number, (place, values) in enumerate(zip(PLACES, sets, strict=True)):
            statistics = fit_distributions(values, draws, np.random.default_rng([seed, number]))
            scalars |= {f"{place}_{name}": number for name, number in statistics.items()}
    return Score(distance, scalars, detail)


def fit_distributions(values: np.ndarray, draws: int, rng: np.random.Generator) -> dict[str, float]:
    """Fit distributions to values (n,); for the statistics, see `score_distributions`."""
    # Import scipy late: the import is slow, and planning a study does not need it.
    from scipy import stats

    normal = stats.shapiro(values)
    statistics = {"shapiro": float(normal.statistic), "p_shapiro": float(normal.pvalue)}
    heights, edges = np.histogram(values, BARS, density=True)
    centres = (edges[1:] + edges[:-1]) / 2
    squares = {}
    # Ignore overflows during a bad fit, because its sum of squares shows them.
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in DISTRIBUTIONS:
            distribution = getattr(stats, name)
            parameters = distribution.fit(values)
            *shapes, loc, scale = map(float, parameters)
            statistics |= {f"{name}_shape_{i}": value for i, value in enumerate(shapes, 1)}
            statistics |= {f"{name}_loc": loc, f"{name}_scale": scale}
            squares[name] = float(((distribution.pdf(centres, *parameters) - heights) ** 2).sum())
            test = stats.kstest(values, distribution.cdf, args=parameters)
            statistics |= {
                f"{name}_sse": squares[name],
                f"{name}_ks": float(test.statistic),
                f"{name}_p_ks": float(test.pvalue),
            }
            if name == THESIS_DISTRIBUTION and draws:
                statistics[f"{name}_p_bootstrap"] = _bootstrap_p_value(
                    distribution, parameters, len(values), test.statistic, draws, rng
                )
    for rank, name in enumerate(sorted(squares, key=lambda name: (squares[name], name)), 1):
        statistics[f"{name}_rank"] = float(rank)
    return statistics


def _bootstrap_p_value(
    distribution: Any,
    parameters: tuple[float, ...],
    size: int,
    observed: float,
    draws: int,
    rng: np.random.Generator,
) -> float:
    """Return the share of samples whose distance from their own fit is at least the observed distance."""
    from scipy.stats import kstest

    *shapes, loc, scale = parameters
    # Count the observed sample itself.
    exceedances = 1
    for _ in range(draws):
        sample = distribution.rvs(*parameters, size=size, random_state=rng)
        refit = distribution.fit(sample, *shapes, loc=loc, scale=scale)
        exceedances += kstest(sample, distribution.cdf, args=refit).statistic >= observed
    return exceedances / (draws + 1)


def _resampled(
    words: np.ndarray, attributes: np.ndarray, *, scores: np.ndarray, **_: Any
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    order = np.argsort(scores, kind="stable")
    sorted_scores = scores[order]
    # Among equal scores, use the cumulative share at the last one.
    last = np.append(sorted_scores[1:] != sorted_scores[:-1], True)
    missing = bool(np.isnan(scores).any())

    def statistic(targets: list[np.ndarray], _: list[np.ndarray]) -> np.ndarray:
        shares = [
            weights[:, order].cumsum(axis=1)[:, last] / weights.sum(axis=1, keepdims=True)
            for weights in targets
        ]
        distance = np.abs(shares[0] - shares[1]).max(axis=1)
        return np.full(len(distance), math.nan) if missing else distance

    return statistic


def fit_of(scalars: Mapping[str, Any], place: str, name: str, quantity: str) -> float:
    """Return a quantity of a fit from a cell's scalars, for the "first" or "second" set; NaN if it is missing."""
    value = scalars.get(f"{place}_{name}_{quantity}")
    return math.nan if value is None else float(value)


METRICS = (
    Metric(
        name="score_distributions",
        label="Distance of score distributions",
        function=score_distributions,
        needs="language_model",
        template=(2, 0),
        paired=True,
        seeded=True,
        range=(0.0, 1.0),
        neutral=0.0,
        resampled=_resampled,
        of_model=sentences.of_model,
        unscored=sentences.unscored,
        asks="How unlike are the distributions of the log-likelihoods of {T1} and {T2}?",
        above="the log-likelihoods of the two sets are distributed otherwise",
        details={"score": "log-likelihood of the sentence"},
        reference="Maddalozzo. Methods and measures for bias detection in natural language processing. "
        "Politecnico di Torino 2023, tables 4.3 to 4.5",
    ),
)
