"""Distributions of scores: how far those of two sets of sentences are apart, and which shape they have."""

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

# distributions that the thesis fits, the one that it chooses, and bars of the histogram that ranks the fits
DISTRIBUTIONS = ("gamma", "lognorm", "skewnorm", "genextreme", "beta", "burr", "norm")
THESIS_DISTRIBUTION = "genextreme"
BARS = 100
PLACES = ("first", "second")
PARAMETERS = ("shape_1", "shape_2", "loc", "scale")
FEWEST = 20  # scores that a distribution of four parameters is fitted to


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
    """How far the distributions of the scores of two sets of sentences are apart, and which shape they have.

    The value is the Kolmogorov-Smirnov statistic, of which the thesis takes the p-value for a test of bias::

        D = max over x of |share of the first set's scores <= x - share of the second's|

    Parameters
    ----------
    targets : list of array, (pairs, 1)
        The two sets of sentences; those in one place are a pair.
    attributes : list
        None.
    score
        "sz": the log-likelihood of a causal model, the pseudo-log-likelihood of a masked one. "cp": of a masked model
        only the pieces that both sentences of a pair have. "term": of a masked model the probability of the term in
        which they differ.
    fits
        Whether seven distributions are fitted to either set, which takes a second, and bootstrapped. A set of less
        than 20 sentences has no fits.
    draws
        Samples of the parametric bootstrap; 0: none.
    scores
        The sentences' scores, set after set.
    seed
        Of the bootstrap.

    Returns
    -------
    Score
        Range [0, 1], neutral value 0. It has no sign. NaN where a sentence has no score. `scalars`: p_ks, of that
        statistic if the two sets were no pairs; correlation of the two scores of a pair (Pearson). With `fits`, for
        the "first" and the "second" set: first_shapiro and first_p_shapiro, of the test of normality (Shapiro & Wilk
        1965); of each distribution, such as the generalised extreme value distribution, first_genextreme_shape_1,
        _shape_2, _loc and _scale, its parameters by maximum likelihood as scipy has them; first_genextreme_sse, the
        sum of squared differences between its density and a histogram of 100 bars, and _rank by that, 1 the best; _ks
        and _p_ks, of the test against it as if the parameters had not been fitted; and, of genextreme, _p_bootstrap,
        which has samples of the fitted distribution fitted again, each, before its statistic is compared. `detail`:
        score, the sentence's.

    Notes
    -----
    **What it cannot see.** It does not see which sentence of a pair has which score: sets with the same scores in
    another order have the same value. For a single pair it is 1, whatever the scores, unless they are equal.

    p_ks is no test of bias: the two sentences of a pair share their words and their length, so that both sets have
    nearly one distribution, whichever sentence is preferred in each pair. Exchanging the sentences of pairs
    (`p_value`) takes that into account; `mean_pair_difference` asks the question itself.

    p_ks of a fit is too large: a distribution that was fitted to the very scores is nearer to them than the true one.
    p_bootstrap is the parametric bootstrap (Stute, Gonzalez Manteiga & Presedo Quindimil 1993).

    **Defaults.** No fits, as they are dear; the thesis's tables 4.3 and 4.4 need `fits: true`, and have no bootstrap.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> from biasgrid.registry import load_plugins
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
    """Which shape values (n,) have: see `score_distributions`."""
    # imported here: importing scipy is slow, and planning a study does not need it
    from scipy import stats

    normal = stats.shapiro(values)
    statistics = {"shapiro": float(normal.statistic), "p_shapiro": float(normal.pvalue)}
    heights, edges = np.histogram(values, BARS, density=True)
    centres = (edges[1:] + edges[:-1]) / 2
    squares = {}
    # a bad fit may overflow on the way; its sum of squares shows it
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
    """The share of samples of a distribution that are as far from what is fitted to them as the observed one."""
    from scipy.stats import kstest

    *shapes, loc, scale = parameters
    exceedances = 1  # the observed one
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
    # of equal scores the last one has the cumulative shares
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
    """A number of a fit in a cell's scalars: of the "first" or "second" set, a distribution. NaN if it has none."""
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
