"""Simulate comparisons of two models: how often the answers are wrong, and how often they are found.

    python -m validation.calibration.two_models --results results/embedded [--runs 2000] [--metrics weat mac]

Populations are made from a finished study (`Population`). A run has four models of one mean, of which all six pairs
are compared: how often any two are called different is the family error. Power, coverage and the answer "alike" come
from the same runs, with the first model moved.

The designs are the study's queries, which share sets ("shared"), the same queries with words of their own
("independent"), and the queries of each criterion. A study has fewer than 25 queries that three models have; larger
designs repeat them with other words. The four models have equal spreads, or spreads of 1, 2, 3 and 5. Errors and
effects are drawn from the real ones ("real"), or are normal with their covariances ("normal").

The tables are written to the folder `--to`:

two_models.csv          each test in each design
two_models_tests.csv    the summary of each test
two_models_again.csv    the designs in which a chosen test errs most, drawn again
two_models_queries.csv  the chosen tests by number of queries
two_models_neutral.csv  a model without bias
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit
from threadpoolctl import threadpool_limits

from biasgrid.measure.statistics.scale import Scale
from biasgrid.measure.statistics.two_models import (
    FEWEST_CLUSTERS,
    MARGIN,
    Claim,
    cluster_means,
    other_queries,
    smallest_difference,
    these_queries,
)

METRICS = ("weat", "weat_es", "mac", "rnsb", "rnd", "ripa", "ect")
MODELS = ("glove-6b-50d", "spacy-en-core-web-md-3.7.1", "word2vec-google-news-300-subset")
QUERIES = (5, 7, 12, 25, 50)
SPREADS = {"equal": (1, 1, 1, 1), "unlike": (1, 2, 3, 5)}
PAIRS = tuple(combinations(range(4), 2))
FIRST, SECOND = np.array(PAIRS).T
# Designs are drawn several times, with different queries in different orders.
PARTS = 4
# The share of a query's effect that comes from its cluster.
CLUSTER_SHARE = 0.5


@dataclass(frozen=True)
class Population:
    """Queries of a metric, whose words and effects are resampled.

    Attributes
    ----------
    metric
        The key of the metric.
    criteria
        The criterion of each query.
    sets
        The names of each query's sets: targets first, then attributes.
    words
        The effect of each word of a query and set on the standardised bias of each model: (words, models), centred.
    clusters
        The cluster of each query: queries that share attribute sets.
    effects
        The effect of each query on each model, (models, queries), centred. Effects are deviations of the real scores.
        They are scaled so that differences of models have the variance that the words do not explain.
    floor
        The standardised bias of a score that has exactly the no-bias value.
    error
        The standard error of a score over words (median).
    """

    metric: str
    criteria: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    words: tuple[tuple[np.ndarray, ...], ...]
    clusters: np.ndarray
    effects: np.ndarray
    floor: float
    error: float

    def of_criterion(self, criterion: str) -> Population:
        """Return the queries of a criterion."""
        places = [place for place, name in enumerate(self.criteria) if name == criterion]
        return replace(
            self,
            criteria=tuple(self.criteria[place] for place in places),
            sets=tuple(self.sets[place] for place in places),
            words=tuple(self.words[place] for place in places),
            clusters=np.unique(self.clusters[places], return_inverse=True)[1],
            effects=self.effects[:, places] - self.effects[:, places].mean(axis=1, keepdims=True),
        )


class MetricInput(NamedTuple):
    """Runs of a simulation.

    Attributes
    ----------
    scores
        Errors and effects, (runs, models, queries).
    errors
        Only the errors of words, (runs, models, queries).
    clusters
        The cluster of each query.
    variance
        Estimated variance over words of each pair's mean difference over queries, (runs, pairs).
    freedom
        Satterthwaite's degrees of freedom of the variance.
    shared
        Estimated variance of the mean over clusters from words that clusters share, (runs, pairs).
    of_clusters
        Estimated variance over words of each cluster's mean, (runs, pairs, clusters).
    words
        Words in a query's smallest set, on average.
    """

    scores: np.ndarray
    errors: np.ndarray
    clusters: np.ndarray
    variance: np.ndarray
    freedom: np.ndarray
    shared: np.ndarray
    of_clusters: np.ndarray
    words: float


Test = Callable[[MetricInput], Any]


def read_population(results: Path, metric: str, seed: int = 0) -> Population:
    """Make a population from a finished study's inference records.

    The records have each word's influence on a score, from which the error of other words follows, and the
    distribution of random groups, which sets the scale. The models are the three models of the study with most
    queries. A fourth model is a copy of the first, with its words and queries in random order.
    """
    rng = np.random.default_rng(seed)
    records = [_read_scores(results / "inference" / model / "none" / f"{metric}.json") for model in MODELS]
    names = [name for name in records[0] if all(name in record for record in records)]
    words: dict[str, set[str]] = {}
    for name in names:
        for label in records[0][name]["words"]:
            found = set.intersection(*(set(record[name]["words"].get(label, {})) for record in records))
            words[label] = words.get(label, found) & found
    lists = {label: sorted(found) for label, found in words.items()}
    deals = {label: rng.permutation(len(found)) for label, found in lists.items()}
    moves: list[tuple[np.ndarray, ...]] = []
    for name in names:
        of_query = []
        for label in records[0][name]["words"]:
            rows = [[record[name]["words"][label][word] for record in records] for word in lists[label]]
            of_set = np.array(rows)
            of_set = np.column_stack([of_set, of_set[deals[label], 0]])
            of_query.append(of_set - of_set.mean(axis=0))
        moves.append(tuple(of_query))
    scores = np.array([[record[name]["standardized"] for name in names] for record in records])
    effects = scores - scores.mean(axis=1, keepdims=True)
    pairs = list(combinations(range(len(MODELS)), 2))
    observed = np.mean([(scores[a] - scores[b]).var(ddof=1) for a, b in pairs])
    explained = np.mean(
        [
            sum((x[:, a] - x[:, b]).var(ddof=1) / len(x) for x in of_query)
            for of_query in moves
            for a, b in pairs
        ]
    )
    effects *= np.sqrt(max(1 - explained / observed, 0.05))
    sets = tuple(tuple(records[0][name]["words"]) for name in names)
    return Population(
        metric=metric,
        criteria=tuple(records[0][name]["criterion"] for name in names),
        sets=sets,
        words=tuple(moves),
        clusters=clusters_of([labels[2:] for labels in sets]),
        effects=np.vstack([effects, effects[0, rng.permutation(len(names))]]),
        floor=float(np.mean([record[name]["floor"] for record in records for name in names])),
        error=float(np.median([record[name]["error"] for record in records for name in names])),
    )


def _read_scores(path: Path) -> dict[str, dict[str, Any]]:
    """Return the scores of a record that have a baseline and a bootstrap, by the name of the query."""
    found: dict[str, dict[str, Any]] = {}
    for cell in json.loads(path.read_text())["cells"]:
        for result in cell["results"]:
            scale, bootstrap = Scale.of_record(result.get("random_groups")), result.get("bootstrap") or {}
            if scale is None or not scale.sd or not bootstrap.get("standard_error"):
                continue
            deviation, distance = scale.sd, result["value"] - scale.neutral
            side = -1.0 if distance < 0 else 1.0
            influence = result["influence"]
            found.setdefault(
                result["query"],
                {
                    "criterion": cell["criterion"],
                    "standardized": scale.read(result["value"]).value,
                    "floor": -scale.mean / deviation,
                    "error": bootstrap["standard_error"] / deviation,
                    "words": {
                        label: {
                            word: side * move / deviation * (len(of_set) - 1) for word, move in of_set.items()
                        }
                        for label, of_set in influence.items()
                    },
                },
            )
    return found


def made_population(queries: int = 8, words: int = 8, seed: int = 0) -> Population:
    """Make a population of normal words and effects, in clusters of two queries that share an attribute set."""
    rng = np.random.default_rng(seed)
    sets = tuple(("a", "b", f"c{query // 2}", f"d{query}") for query in range(queries))
    moves = tuple(tuple(rng.normal(size=(words, 4)) for _ in labels) for labels in sets)
    effects = rng.normal(size=(4, queries))
    return Population(
        metric="made",
        criteria=("made",) * queries,
        sets=sets,
        words=tuple(tuple(x - x.mean(axis=0) for x in of_query) for of_query in moves),
        clusters=clusters_of([labels[2:] for labels in sets]),
        effects=effects - effects.mean(axis=1, keepdims=True),
        floor=-1.3,
        error=0.7,
    )


def clusters_of(sets: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the cluster of each query. Queries that share a set, directly or through others, are in one cluster."""
    clusters = list(range(len(sets)))
    for a, b in combinations(range(len(sets)), 2):
        if set(sets[a]) & set(sets[b]):
            clusters = [clusters[a] if cluster == clusters[b] else cluster for cluster in clusters]
    return np.unique(clusters, return_inverse=True)[1]


def draw(
    population: Population,
    queries: int,
    runs: int,
    rng: np.random.Generator,
    spread: Sequence[float] = SPREADS["equal"],
    is_shared: bool = True,
    is_normal: bool = False,
) -> MetricInput:
    """Draw runs of a design with its queries, their words and their effects."""
    scale, available = np.array(spread, dtype=float), len(population.sets)
    order = np.concatenate([rng.permutation(available) for _ in range(-(-queries // available))])[:queries]
    block = np.arange(queries) // available
    clusters = population.clusters[order] + block * available if is_shared else np.arange(queries)
    clusters = np.unique(clusters, return_inverse=True)[1]
    count, sizes = int(clusters.max()) + 1, np.bincount(clusters)
    members: dict[tuple[str, int], list[tuple[int, np.ndarray]]] = {}
    for place, query in enumerate(order):
        for label, moves in zip(population.sets[query], population.words[query], strict=True):
            members.setdefault((label, block[place] if is_shared else place), []).append((place, moves))
    errors = np.zeros((runs, 4, queries))
    variance, squared, of_mean = (np.zeros((runs, len(PAIRS))) for _ in range(3))
    of_clusters = np.zeros((runs, len(PAIRS), count))
    for of_set in members.values():
        places = [place for place, _ in of_set]
        moves = np.stack([moves for _, moves in of_set], axis=2) * scale[:, None]
        size = len(moves)
        flat = moves.reshape(size, -1)
        if is_normal:
            drawn = rng.normal(size=(runs, size, size)) @ flat / np.sqrt(size)
        else:
            drawn = flat[rng.integers(size, size=(runs, size))]
        drawn = drawn.reshape(runs, size, 4, len(places))
        errors[:, :, places] += drawn.mean(axis=1)
        # Estimate the variance of the words' mean from the words that were drawn.
        differences = drawn[:, :, FIRST] - drawn[:, :, SECOND]
        told = (differences.sum(axis=3) / queries).var(axis=1, ddof=1) / size
        variance += told
        squared += told**2 / (size - 1)
        total = np.zeros((runs, size, len(PAIRS)))
        for cluster in np.unique(clusters[places]):
            part = differences[..., clusters[places] == cluster].sum(axis=3) / sizes[cluster]
            of_clusters[:, :, cluster] += part.var(axis=1, ddof=1) / size
            total += part / count
        of_mean += total.var(axis=1, ddof=1) / size
    effects = _effects(population, count, runs, rng, is_normal)[:, :, clusters]
    if is_shared:
        own = _effects(population, queries, runs, rng, is_normal)
        effects = np.sqrt(CLUSTER_SHARE) * effects + np.sqrt(1 - CLUSTER_SHARE) * own
    words = np.mean([min(map(len, population.words[query])) for query in order])
    return MetricInput(
        scores=errors + effects * scale[:, None],
        errors=errors,
        clusters=clusters,
        variance=variance,
        freedom=variance**2 / squared,
        shared=np.maximum(of_mean - of_clusters.sum(axis=2) / count**2, 0.0),
        of_clusters=of_clusters,
        words=float(words),
    )


def _effects(
    population: Population, count: int, runs: int, rng: np.random.Generator, is_normal: bool
) -> np.ndarray:
    """Draw effects, (runs, models, count)."""
    effects = population.effects
    if not is_normal:
        return effects[:, rng.integers(effects.shape[1], size=(runs, count))].transpose(1, 0, 2)
    root = np.linalg.cholesky(np.cov(effects, bias=True) + 1e-9 * np.eye(4))
    return root @ rng.normal(size=(runs, 4, count))


def _of_pairs(values: np.ndarray) -> np.ndarray:
    return values[:, FIRST] - values[:, SECOND]


def _outcome(difference: np.ndarray, variance: np.ndarray, freedom: Any) -> Claim:
    """Compute an ordinary t-test."""
    error, freedom = np.sqrt(variance), np.minimum(freedom, 1e9)
    outer, inner = (stdtrit(freedom, (1 + level) / 2) * error for level in (0.95, 0.9))
    with np.errstate(divide="ignore"):
        p = 2 * stdtr(freedom, -np.abs(difference) / error)
    return Claim(
        *(
            difference,
            error,
            np.broadcast_to(freedom, difference.shape),
            difference - outer,
            difference + outer,
            p,
        ),
        *(difference - inner, difference + inner),
    )


def _these(freedom: Callable[[MetricInput], Any]) -> Test:
    def test(sample: MetricInput) -> Claim:
        return _outcome(_of_pairs(sample.errors.mean(axis=2)), sample.variance, freedom(sample))

    return test


def chosen_for_these(sample: MetricInput) -> Any:
    """Apply the test of `biasgrid.measure.statistics.two_models` for these queries."""
    return these_queries(_of_pairs(sample.errors.mean(axis=2)), sample.variance, sample.words)


def chosen_for_other(sample: MetricInput) -> Any:
    """Apply the test of `biasgrid.measure.statistics.two_models` for other queries."""
    return other_queries(_means(sample), sample.shared, sample.words)


def _means(sample: MetricInput) -> np.ndarray:
    return cluster_means(_of_pairs(sample.scores), sample.clusters)


def by_queries(sample: MetricInput) -> Claim:
    """Apply a t-test that treats all queries as independent."""
    differences = _of_pairs(sample.scores)
    n = differences.shape[2]
    return _outcome(differences.mean(axis=2), differences.var(axis=2, ddof=1) / n, n - 1)


def by_clusters(sample: MetricInput) -> Claim:
    """Apply a t-test of cluster means, with the variance of shared words."""
    means = _means(sample)
    k = means.shape[2]
    return _outcome(means.mean(axis=2), means.var(axis=2, ddof=1) / k + sample.shared, k - 1)


def welch(sample: MetricInput) -> Claim:
    """Apply Welch's test, which treats the two models' cluster means as independent."""
    means = cluster_means(sample.scores, sample.clusters)
    k = means.shape[2]
    first, second = (means.var(axis=2, ddof=1)[:, side] / k for side in (FIRST, SECOND))
    freedom = (first + second) ** 2 * (k - 1) / (first**2 + second**2)
    return _outcome(_of_pairs(means).mean(axis=2), first + second + sample.shared, freedom)


def cr2(sample: MetricInput) -> Claim:
    """Apply the cluster-robust test of the mean over queries with Bell and McCaffrey's degrees of freedom."""
    differences = _of_pairs(sample.scores)
    n, sizes = differences.shape[2], np.bincount(sample.clusters)
    residuals = differences - differences.mean(axis=2, keepdims=True)
    factors = 1 / np.sqrt(1 - sizes / n)
    sums = cluster_means(residuals, sample.clusters) * sizes * factors
    covariances = np.outer(factors, factors) * (np.diag(sizes.astype(float)) - np.outer(sizes, sizes) / n)
    freedom = np.trace(covariances) ** 2 / (covariances**2).sum()
    return _outcome(differences.mean(axis=2), (sums**2).sum(axis=2) / n**2 + sample.shared, max(freedom, 1.0))


def shrunken(sample: MetricInput) -> Claim:
    """Apply a t-test whose variance combines the variances of clusters and of words, which count as 4 clusters."""
    means = _means(sample)
    k = means.shape[2]
    words = sample.of_clusters.sum(axis=2) / k**2
    variance = ((k - 1) * means.var(axis=2, ddof=1) / k + 4 * words) / (k + 3)
    return _outcome(means.mean(axis=2), variance + sample.shared, k + 3)


def _multilevel(sample: MetricInput, freedom: float) -> Claim:
    means = _means(sample)
    k = means.shape[2]
    between = np.maximum(means.var(axis=2, ddof=1) - sample.of_clusters.mean(axis=2), 0.0)
    words = sample.of_clusters.sum(axis=2) / k**2
    return _outcome(means.mean(axis=2), between / k + words + sample.shared, freedom)


def multilevel_z(sample: MetricInput) -> Claim:
    """Apply the normal-normal model: known errors of words, and a variance of clusters that is at least 0."""
    return _multilevel(sample, np.inf)


def multilevel_t(sample: MetricInput) -> Claim:
    """Apply the same model with k - 1 degrees of freedom."""
    return _multilevel(sample, len(np.unique(sample.clusters)) - 1)


def hall(sample: MetricInput) -> Claim:
    """Apply Hall's transformation of t, which corrects for skewness."""
    means, plain = _means(sample), by_clusters(sample)
    k = means.shape[2]
    deviation = means.std(axis=2)
    skewness = ((means - means.mean(axis=2, keepdims=True)) ** 3).mean(axis=2) / deviation**3
    t = plain.difference / plain.error / np.sqrt(k - 1)
    t = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6 / k
    return plain._replace(p=2 * stdtr(k - 1, -np.abs(t) * np.sqrt(k - 1)))


def sign_flips(sample: MetricInput) -> Claim:
    """Apply the permutation test of the clusters' signs, studentised because t orders the samples like the mean."""
    means, plain = _means(sample), by_clusters(sample)
    k = means.shape[2]
    if k <= 8:
        signs = 1 - 2 * (np.arange(2**k)[:, None] >> np.arange(k) & 1)
    else:
        signs = 1 - 2 * np.random.default_rng(0).integers(2, size=(256, k))
        signs[0] = 1
    observed = np.abs(means.sum(axis=2)) * (1 - 1e-9)
    as_large = np.zeros(observed.shape)
    for part in np.array_split(signs, 8):
        as_large += (np.abs(means @ part.T) >= observed[..., None]).sum(axis=2)
    return plain._replace(p=as_large / len(signs))


# The first test of each claim is the chosen one.
TESTS: Mapping[str, Mapping[str, Test]] = {
    "these queries": {
        "t, words - 1": chosen_for_these,
        "t, 2 (words - 1)": _these(lambda sample: 2 * (sample.words - 1)),
        "normal": _these(lambda sample: np.inf),
        "t, Satterthwaite over sets": _these(lambda sample: sample.freedom),
    },
    "other queries": {
        "t, also without each cluster": chosen_for_other,
        "t of clusters": by_clusters,
        "t of queries": by_queries,
        "Welch": welch,
        "CR2": cr2,
        "sign flips": sign_flips,
        "Hall": hall,
        "shrunken": shrunken,
        "multilevel, normal": multilevel_z,
        "multilevel, t": multilevel_t,
    },
}


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return p-values adjusted by Holm's method in each row."""
    order = np.argsort(p_values, axis=1)
    steps = np.arange(p_values.shape[1], 0, -1)
    adjusted = np.maximum.accumulate(np.take_along_axis(p_values, order, 1) * steps, axis=1).clip(max=1)
    found = np.empty_like(adjusted)
    np.put_along_axis(found, order, adjusted, axis=1)
    return found


def measure(samples: Sequence[MetricInput], test: Test) -> dict[str, float]:
    """Measure a test on samples of four models with one mean. For the power, the first model is shifted."""

    def outcome(shift: float) -> Any:
        moved = []
        for sample in samples:
            move = np.array([shift, 0, 0, 0])[:, None]
            moved.append(test(sample._replace(scores=sample.scores + move, errors=sample.errors + move)))
        return Claim(*(np.concatenate(arrays) for arrays in zip(*moved, strict=True)))

    plain, moved = outcome(0.0), {shift: outcome(shift) for shift in (MARGIN, 1, 2)}
    are_alike = _are_alike(moved[MARGIN])[:, :3]
    unit = Claim(*(np.ones(()) for _ in range(8)))._replace(freedom=np.median(plain.freedom))
    smallest = float(np.median(plain.error[:, 0])) * smallest_difference(unit)
    found = {
        "family_error": (holm(plain.p).min(axis=1) <= 0.05).mean(),
        "pair_error": (plain.p <= 0.05).mean(),
        "covers": ((plain.low <= 0) & (plain.high >= 0)).mean(),
        "alike_if_equal": _are_alike(plain).mean(),
        "alike_at_margin": are_alike.mean(),
        # Report the worst pair, because pairs differ if spreads do.
        "alike_at_margin_worst": are_alike.mean(axis=0).max(),
        **{f"power_{shift:g}": (holm(of.p)[:, :3] <= 0.05).mean() for shift, of in moved.items()},
        "power_at_smallest": (outcome(smallest).p[:, 0] <= 0.05).mean(),
    }
    return {name: float(value) for name, value in found.items()}


def _are_alike(outcome: Any) -> np.ndarray:
    return (outcome.inner_low >= -MARGIN) & (outcome.inner_high <= MARGIN)


def compare_tests(
    populations: Sequence[Population], runs: int, queries: Sequence[int] = QUERIES, seed: int = 1
) -> pd.DataFrame:
    """Measure all tests in all designs, with a row for each."""
    rows = []
    for population in populations:
        for design, n, source, is_shared in _designs(population, queries):
            for spread, scales in SPREADS.items():
                for errors in ("normal", "real"):
                    rng = np.random.default_rng([seed, len(rows)])
                    samples = _draw_parts(source, n, runs, rng, scales, is_shared, errors == "normal")
                    clusters = min(len(np.unique(sample.clusters)) for sample in samples)
                    place = {
                        "metric": population.metric,
                        "design": design,
                        "queries": n,
                        "clusters": clusters,
                        "spread": spread,
                        "errors": errors,
                    }
                    rows += [
                        place | {"claim": claim, "test": name} | measure(samples, test)
                        for claim, tests in TESTS.items()
                        if claim == "these queries" or clusters >= FEWEST_CLUSTERS
                        for name, test in tests.items()
                    ]
    return pd.DataFrame(rows)


def _draw_parts(
    population: Population, queries: int, runs: int, rng: np.random.Generator, *options: Any
) -> list[MetricInput]:
    return [draw(population, queries, runs // PARTS, rng, *options) for _ in range(PARTS)]


def confirm(
    found: pd.DataFrame, populations: Sequence[Population], runs: int, limit: float = 0.055, seed: int = 3
) -> pd.DataFrame:
    """Draw the designs again in which a chosen test errs most, because the largest of many estimates is too large.

    Parameters
    ----------
    found
        The result of `compare_tests`.
    populations
        The populations that were passed to `compare_tests`.
    runs
        Number of runs of each design, several times the number in `compare_tests`.
    limit
        A design is drawn again if the family error of a chosen test is above this value.

    Returns
    -------
    pandas.DataFrame
        The designs, with the family error in the new runs.
    """
    by_metric, rows = {population.metric: population for population in populations}, []
    for claim, tests in TESTS.items():
        name, test = next(iter(tests.items()))
        is_high = (found["claim"] == claim) & (found["test"] == name) & (found["family_error"] > limit)
        for place in found[is_high].to_dict("records"):
            population, n = by_metric[place["metric"]], place["queries"]
            designs = list(_designs(population, [n]))
            source, is_shared = next(design[2:] for design in designs if design[0] == place["design"])
            rng, is_normal = np.random.default_rng([seed, len(rows)]), place["errors"] == "normal"
            samples = _draw_parts(source, n, runs, rng, SPREADS[place["spread"]], is_shared, is_normal)
            p_values = np.concatenate([test(sample).p for sample in samples])
            error = (holm(p_values).min(axis=1) <= 0.05).mean()
            keys = ("claim", "metric", "design", "queries", "spread", "errors", "family_error")
            rows.append({key: place[key] for key in keys} | {"again": error, "runs": runs})
    return pd.DataFrame(rows)


def _designs(population: Population, queries: Sequence[int]) -> Iterator[tuple[str, int, Population, bool]]:
    for is_shared in (True, False):
        for n in queries:
            yield "shared" if is_shared else "independent", n, population, is_shared
    for criterion in dict.fromkeys(population.criteria):
        source = population.of_criterion(criterion)
        yield criterion, len(source.sets), source, True


def find_neutral(
    populations: Sequence[Population], runs: int, queries: Sequence[int] = (5, 7, 12, 25), seed: int = 2
) -> pd.DataFrame:
    """Measure how often a model without bias is found to be less biased than all of three rivals.

    Queries are independent, with sets of 8 words, and errors are normal. The scores of the rivals have a standard
    deviation of 1, like scores of random topics; the part that words do not explain is the effect of queries. The
    scores of the model are either exactly the no-bias value, with an error of 0, or absolute values of normal errors,
    as for words from a population without bias.
    """
    rows = []
    for population in populations:
        for n in queries:
            for rival_mean in (0.0, 0.5, 1.0):
                for neutral in ("exact", "sampled"):
                    rng = np.random.default_rng([seed, len(rows)])
                    sample = _neutral_sample(population, n, rival_mean, neutral == "exact", runs, rng)
                    place = {
                        "metric": population.metric,
                        "queries": n,
                        "rivals_mean": rival_mean,
                        "neutral": neutral,
                    }
                    for claim, tests in TESTS.items():
                        outcome = next(iter(tests.values()))(sample)
                        is_found = (holm(outcome.p)[:, :3] <= 0.05) & (outcome.difference[:, :3] < 0)
                        rows.append(place | {"claim": claim, "found": is_found.all(axis=1).mean()})
    return pd.DataFrame(rows)


def _neutral_sample(
    population: Population, queries: int, mean: float, is_exact: bool, runs: int, rng: np.random.Generator
) -> MetricInput:
    error = population.error
    effect = np.sqrt(max(1 - error**2, 0.0))
    words = 8
    scores = mean + rng.normal(size=(runs, 4, queries)) * error
    scores += rng.normal(size=(runs, 4, queries)) * effect
    freedom = 2 * (words - 1)
    variances = error**2 * rng.chisquare(freedom, size=(runs, 4, queries)) / freedom
    if is_exact:
        scores[:, 0], variances[:, 0] = population.floor, 0.0
    else:
        scores[:, 0] = population.floor + np.abs(rng.normal(size=(runs, queries)) * error)
    of_queries = variances[:, FIRST] + variances[:, SECOND]
    variance = of_queries.sum(axis=2) / queries**2
    return MetricInput(
        scores=scores,
        errors=scores,
        clusters=np.arange(queries),
        variance=variance,
        freedom=np.full(variance.shape, freedom),
        shared=np.zeros(variance.shape),
        of_clusters=of_queries,
        words=float(words),
    )


def summarise(found: pd.DataFrame, runs: int) -> pd.DataFrame:
    """Summarise the designs of each test: the worst level, and the mean power."""
    groups = found.groupby(["claim", "test"], sort=False)
    equal = found[found["spread"] == "equal"].groupby(["claim", "test"], sort=False)
    table = pd.DataFrame(
        {
            "family_error_largest": groups["family_error"].max(),
            "family_error_mean": groups["family_error"].mean(),
            "alike_at_margin_largest": groups["alike_at_margin_worst"].max(),
            "covers_smallest": groups["covers"].min(),
            **{f"power_{shift}": equal[f"power_{shift}"].mean() for shift in ("0.5", "1", "2")},
            "alike_if_equal": equal["alike_if_equal"].mean(),
        }
    )
    share = table["family_error_largest"]
    table.insert(1, "monte_carlo_error", np.sqrt(share * (1 - share) / runs))
    return table.round(4).reset_index()


def by_queries_of_chosen(found: pd.DataFrame) -> pd.DataFrame:
    """Summarise the chosen tests by number of queries, over designs of all metrics with equal spreads."""
    chosen = [next(iter(tests)) for tests in TESTS.values()]
    rows = found[found["test"].isin(chosen) & (found["spread"] == "equal")]
    rows = rows[rows["design"].isin(["shared", "independent"])]
    columns = ["family_error", "alike_if_equal", "power_0.5", "power_1", "power_2", "power_at_smallest"]
    return rows.groupby(["claim", "queries"], sort=False)[columns].mean().round(4).reset_index()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the simulation and write its tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=Path("results/embedded"), help="a finished study")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--metrics", nargs="+", default=METRICS)
    parser.add_argument("--to", type=Path, default=Path("results/calibration"), help="folder of the tables")
    given = parser.parse_args(arguments)
    with threadpool_limits(1):
        populations = [read_population(given.results, metric) for metric in given.metrics]
        found = compare_tests(populations, given.runs)
        again = confirm(found, populations, 10 * given.runs)
        neutral = find_neutral(populations, given.runs)
    given.to.mkdir(parents=True, exist_ok=True)
    found.round(4).to_csv(given.to / "two_models.csv", index=False)
    neutral.round(4).to_csv(given.to / "two_models_neutral.csv", index=False)
    again.round(4).to_csv(given.to / "two_models_again.csv", index=False)
    summarise(found, given.runs).to_csv(given.to / "two_models_tests.csv", index=False)
    by_queries_of_chosen(found).to_csv(given.to / "two_models_queries.csv", index=False)
    print(summarise(found, given.runs).to_string(index=False))
    print(again.to_string(index=False))
    print(
        neutral.pivot_table(index=["claim", "neutral", "queries", "rivals_mean"], columns="metric").round(2)
    )


if __name__ == "__main__":
    main()
