"""Coverage of the intervals of standardised bias: of a score, and of a model's mean over queries.

    python -m validation.calibration.standardized [--model glove-6b-50d] [--words 8] [--runs 400] [--level 0.95]

Words come from large pools of a real model. Two pools of target words lean to men and to women; six pairs of pools of
attribute words surround a topic each. A set is drawn from its pool, so that the true value is known. Bias has three
sizes:

zero   both target sets are drawn from both pools alike. MAC compares targets with attributes: there, the direction of
       the attributes is taken out of the target words
small  65 % of a target set come from its own pool, 35 % from the other. For MAC, 30 % of the direction stay
large  each target set comes from its own pool. For MAC, the words stay as they are

Six queries share their target words, as the queries on gender of the case study do. Each run draws all sets again. It
also draws the mean and standard deviation of the random groups, within their Monte Carlo error. Random groups are
those of one query of each kind.

Two true values are compared with each interval, on the scale of standardised bias:

expected    the mean distance from no bias of sets of so many words
population  the distance from no bias of 3,000 words a set

They differ because distances are absolute values: a few words are at some distance even without bias. RNSB of 3,000
words is another classifier, so the value of the population is not known unless it is 0.

Printed is the share of intervals that hold the true value, with its standard error, and their mean width.
"""

from __future__ import annotations

import argparse
import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from biasgrid import load
from biasgrid.core.errors import BiasgridError
from biasgrid.core.geometry import unit
from biasgrid.measure.candidate_words import pool_of
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.measure.statistics.scale import Scale
from biasgrid.measure.statistics.two_models import mean_of_one
from biasgrid.metrics import REGISTRY
from biasgrid.metrics.registry import Metric
from biasgrid.queries.query import Query

from .populations import SimulatedModel
from .queries import Words

ROOT = Path(__file__).resolve().parents[2]
METRICS: Mapping[str, Mapping[str, Any]] = {
    "weat": {},
    "rnd": {},
    "ect": {},
    "rnsb": {"holdout": False},
    "mac": {},
}
# Share of a target set from its own pool; for MAC, share of the attributes' direction that is kept.
SHARES = {"zero": (0.5, 0.0), "small": (0.65, 0.3), "large": (1.0, 1.0)}
VOCABULARY, TARGETS, ATTRIBUTES = 20_000, 300, 150
MEN = "he him his man men father son brother boy husband uncle king"
WOMEN = "she her hers woman women mother daughter sister girl wife aunt queen"
TOPICS = (
    ("business office salary career", "home family children marriage"),
    ("science physics chemistry experiment", "art poetry music dance"),
    ("strong powerful brave leader", "beautiful gentle pretty kind"),
    ("good happy wonderful love", "bad terrible awful hatred"),
    ("engineer carpenter mechanic driver", "nurse teacher secretary librarian"),
    ("football army war weapon", "cooking fashion garden clothes"),
)
POPULATION, DRAWS, GROUPS, LEVEL = 3000, 500, 1999, 0.95
SCORE = ("in scores.csv", "percentile", "t, words - 1")
MEAN = ("t, words - 1", "t, 2 (words - 1)", "normal", "percentile", "basic")


@dataclass(frozen=True)
class Pools:
    """Pools of a model's words from which sets are drawn, as indices of words.

    Parameters
    ----------
    words
        The model's words.
    vectors
        The vectors of the words.
    targets
        The pools of words about men, and about women.
    topics
        Pairs of pools of attribute words.
    """

    words: np.ndarray
    vectors: np.ndarray
    targets: tuple[np.ndarray, np.ndarray]
    topics: Sequence[tuple[np.ndarray, np.ndarray]]

    @classmethod
    def of(cls, words: Words) -> Pools:
        """Return the pools of a model."""
        place_of = {word: place for place, word in enumerate(words.words)}
        is_word = np.array([word.isalpha() and word.islower() for word in words.words])

        def centre(names: str) -> np.ndarray:
            places = [place_of[name] for name in names.split() if name in place_of]
            mean: np.ndarray = unit(words.vectors[places].mean(axis=0)[None])[0]
            return mean

        men, women = words.vectors @ centre(MEN), words.vectors @ centre(WOMEN)
        near = np.argsort(np.where(is_word, men + women, -np.inf))[-4 * TARGETS :]
        by_lean = near[np.argsort((men - women)[near])]
        free = is_word.copy()
        free[by_lean] = False
        topics = [tuple(words.nearest(centre(side), free, ATTRIBUTES) for side in topic) for topic in TOPICS]
        return cls(words.words, words.vectors, (by_lean[-TARGETS:], by_lean[:TARGETS]), topics)

    def draw_targets(self, size: int, share: float, rng: np.random.Generator) -> list[np.ndarray]:
        """Draw two sets of target words, with `share` of their words from the set's own pool."""
        men, women = (rng.permutation(pool) for pool in self.targets)
        own = rng.binomial(size, share, size=2)
        return [
            np.concatenate([men[: own[0]], women[: size - own[0]]]),
            np.concatenate([women[size : size + own[1]], men[size : 2 * size - own[1]]]),
        ]

    def draw_topic(self, topic: int, size: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Draw two sets of attribute words of a topic."""
        return [rng.permutation(pool)[:size] for pool in self.topics[topic]]


@dataclass(frozen=True)
class Truth:
    """True values of the scores of one kind, for each of the queries.

    Parameters
    ----------
    scales
        Scales of standardised bias, from random groups.
    expected
        Mean distances from no bias.
    population
        Distances of the whole populations, NaN if unknown.
    """

    scales: Sequence[Scale]
    expected: np.ndarray
    population: np.ndarray

    def standardized(self, distances: np.ndarray) -> np.ndarray:
        """Convert distances from no bias to standardised bias."""
        return np.array([(d - s.mean) / s.sd for d, s in zip(distances, self.scales, strict=True)])


@dataclass(frozen=True)
class Kind:
    """Queries of a metric on words of pools, with bias of one size."""

    pools: Pools
    metric: Metric
    params: Mapping[str, Any]
    size: int
    bias: str
    level: float = LEVEL

    def sides(self, targets: Sequence[np.ndarray], topic: Sequence[np.ndarray]) -> tuple[list, list]:
        """Return the sets of indices that the metric takes."""
        return list(targets), list(topic[:1] if self.metric.template[1] == 1 else topic)

    def draw_targets(self, size: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Draw target sets of `size` words."""
        share = 1.0 if self.metric.name == "mac" else SHARES[self.bias][0]
        return self.pools.draw_targets(size, share, rng)

    def vectors(self, topic: int, sides: tuple[list, list]) -> tuple[list, list]:
        """Return the vectors of sets; for MAC, without a share of the direction of the topic's pools."""
        targets, attributes = ([self.pools.vectors[s] for s in side] for side in sides)
        if self.metric.name == "mac":
            # Remove the directions of both attribute sets, because MAC is the mean distance from each of them.
            means = [self.pools.vectors[pool].mean(axis=0) for pool in self.pools.topics[topic]]
            basis = np.linalg.qr(np.transpose(means))[0]
            left = 1 - SHARES[self.bias][1]
            targets = [t - left * t @ basis @ basis.T for t in targets]
        return targets, attributes

    def values(self, topic: int, size: int, number: int, rng: np.random.Generator) -> np.ndarray:
        """Compute the values of `number` draws of sets of `size` words."""
        found = []
        for _ in range(number):
            sides = self.sides(self.draw_targets(size, rng), self.pools.draw_topic(topic, size, rng))
            found.append(self.metric.function(*self.vectors(topic, sides), **self.params).value)
        return np.array(found)

    def population(self, topic: int, rng: np.random.Generator) -> float:
        """Compute the value of the whole populations; NaN for a classifier, which depends on the number of words."""
        if self.metric.name == "rnsb":
            return 0.0 if self.bias == "zero" else math.nan
        share = 1.0 if self.metric.name == "mac" else SHARES[self.bias][0]
        men, women = self.pools.targets
        own = round(share * POPULATION)
        both = [(men, women), (women, men)]
        targets = [
            np.concatenate([np.resize(a, own), rng.permutation(np.resize(b, POPULATION - own))])
            for a, b in both
        ]
        sides = self.sides(targets, self.pools.topics[topic])
        value = float(self.metric.function(*self.vectors(topic, sides), **self.params).value)
        # Rescale WEAT, because it is a sum over target words.
        return value * self.size / POPULATION if self.metric.name == "weat" else value

    def scale(self, model: Any, topic: int, rng: np.random.Generator) -> Scale:
        """Draw the random groups of a query, and return their scale."""
        for _ in range(20):
            sides = self.sides(
                self.draw_targets(self.size, rng), self.pools.draw_topic(topic, self.size, rng)
            )
            query = Query(*([[*self.pools.words[s]] for s in side] for side in sides))
            options = {"draws": GROUPS, "stop": None, "alternative": "bias", "match": "between"}
            request = MeasurementSpec(
                self.metric,
                self.params,
                inference={"random_groups": options},
                draw_seed=int(rng.integers(2**31)),
            )
            (result,), _ = infer_query(request, query, model, pool=pool_of(model))
            if scale := Scale.of_record(result.get("random_groups")):
                return scale
        raise BiasgridError(f"{self.metric.name}: no random groups for 20 queries")

    def truth(self, model: Any, number: int, rng: np.random.Generator) -> Truth:
        """Compute the true values of the queries' scores from `number` draws of each."""
        topics, neutral = range(len(self.pools.topics)), self.metric.neutral
        expected = [np.abs(self.values(t, self.size, number, rng) - neutral).mean() for t in topics]
        population = [abs(self.population(t, rng) - neutral) for t in topics]
        return Truth([self.scale(model, t, rng) for t in topics], np.array(expected), np.array(population))

    def run(self, truth: Truth, rng: np.random.Generator) -> tuple[dict, dict] | None:
        """Compute the intervals of the first query's score, and of the mean over queries, by name.

        Return None if a query does not have a value.
        """
        targets, draw_seed = self.draw_targets(self.size, rng), int(rng.integers(2**31))
        scores, resamples, variances, of_first = [], [], [], {}
        for topic, scale in enumerate(truth.scales):
            sides = self.sides(targets, self.pools.draw_topic(topic, self.size, rng))
            names = [
                [[f"{'ta'[i]}{topic * i}_{j}_{k}" for k in range(self.size)] for j in range(len(side))]
                for i, side in enumerate(sides)
            ]
            vectors = np.concatenate([v for side in self.vectors(topic, sides) for v in side])
            model = SimulatedModel([w for side in names for of_set in side for w in of_set], vectors)
            request = MeasurementSpec(
                self.metric,
                self.params,
                inference={"bootstrap": {"draws": DRAWS, "level": self.level}},
                draw_seed=draw_seed,
            )
            (result,), samples = infer_query(request, Query(*names), model)
            if result["status"] != "ok" or samples is None:
                return None
            drawn = redrawn(scale, rng)
            read = drawn.read(result["value"])
            side = -1.0 if result["value"] < scale.neutral else 1.0
            scores.append(read.value)
            resamples.append(read.value + side * (samples[0] - result["value"]) / drawn.sd)
            variances.append(read.error**2)
            if not topic:
                ends = result["bootstrap"]
                of_first = {
                    name: drawn.read(result["value"], *(math.nan if e is None else e for e in ends[kind]))[
                        1:3
                    ]
                    for name, kind in zip(SCORE, ("jackknife", "percentile"), strict=False)
                }
        values, moves = np.array(scores), np.array(resamples)
        of_first[SCORE[2]] = ends_of(
            mean_of_one(
                values[:1], moves[:1], words=self.size, baseline_variance=variances[0], level=self.level
            )
        )
        return of_first, intervals_of_mean(values, moves, np.array(variances), self.size, self.level)


def redrawn(scale: Scale, rng: np.random.Generator) -> Scale:
    """Draw a scale that other random groups could give."""
    of_mean, together, of_sd = scale.variances
    mean, sd = rng.multivariate_normal([scale.mean, scale.sd], [[of_mean, together], [together, of_sd]])
    return replace(scale, mean=mean, sd=sd)


def ends_of(claim: Any) -> tuple[float, float]:
    """Return the ends of a claim's interval."""
    return float(claim.low), float(claim.high)


def intervals_of_mean(
    values: np.ndarray, resamples: np.ndarray, variances: np.ndarray, words: int, level: float = LEVEL
) -> dict[str, tuple[float, float]]:
    """Return the intervals of a mean over queries, by name.

    Parameters
    ----------
    values
        Standardised bias, (queries,).
    resamples
        Standardised bias in resamples of words, (queries, draws).
    variances
        Variance of each value from the draw of random groups, (queries,).
    words
        Number of words of a set.
    level
        Level of the intervals.
    """
    from scipy.stats import norm, t

    baseline = variances.sum() / len(values) ** 2
    claim = mean_of_one(values, resamples, words=words, baseline_variance=baseline, level=level)
    mean, error = float(claim.difference), float(claim.error)
    share = (1 + level) / 2
    again = np.nanmean(resamples, axis=0)
    low, high = np.nanquantile(again, [1 - share, share])
    reach = norm.ppf(share) * math.sqrt(baseline)
    below, above = math.hypot(mean - low, reach), math.hypot(high - mean, reach)
    widths = {MEAN[1]: t.ppf(share, 2 * (words - 1)), MEAN[2]: norm.ppf(share)}
    return {
        MEAN[0]: ends_of(claim),
        **{name: (mean - width * error, mean + width * error) for name, width in widths.items()},
        MEAN[3]: (mean - below if low <= mean else mean + low - mean, mean + above),
        MEAN[4]: (mean - above, mean + below),
    }


def coverage(ends: Sequence[tuple[float, float]], truth: float) -> tuple[float, float, float]:
    """Compute the share of intervals that contain the truth, its standard error, and the mean width.

    The share and its error are NaN if the truth is unknown.
    """
    low, high = np.transpose(ends)
    if math.isnan(truth):
        return math.nan, math.nan, float(np.nanmean(high - low))
    share = float(np.mean((low <= truth) & (truth <= high)))
    return share, math.sqrt(share * (1 - share) / len(low)), float(np.nanmean(high - low))


def rows(kind: Kind, truth: Truth, runs: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield how often each interval contains each true value, for a score and for the mean over queries."""
    found = [out for _ in range(runs) if (out := kind.run(truth, rng))]
    expected, population = (truth.standardized(d) for d in (truth.expected, truth.population))
    true_values: Mapping[str, Callable[[np.ndarray], float]] = {
        "score": lambda values: float(values[0]),
        "mean": lambda values: float(values.mean()),
    }
    for part, (name, true_value) in enumerate(true_values.items()):
        for interval in found[0][part]:
            ends = [out[part][interval] for out in found]
            share, error, width = coverage(ends, true_value(expected))
            of_all, error_of_all, _ = coverage(ends, true_value(population))
            yield {
                "metric": kind.metric.name,
                "words": kind.size,
                "bias": kind.bias,
                "of": name,
                "interval": interval,
                "runs": len(found),
                "expected": true_value(expected),
                "covers": share,
                "error": error,
                "population": true_value(population),
                "covers_population": of_all,
                "error_population": error_of_all,
                "width": width,
            }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="glove-6b-50d")
    parser.add_argument("--metrics", nargs="+", default=[*METRICS], choices=[*METRICS])
    parser.add_argument("--words", type=int, default=8)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--truth", type=int, default=2000)
    parser.add_argument("--level", type=float, default=LEVEL)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="a CSV file of all numbers")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    import pandas as pd

    folder = Path(os.environ.get("BIASGRID_EMBEDDINGS", ROOT / "data" / "embeddings"))
    model = load(folder / options.model)
    pools = Pools.of(Words(model, VOCABULARY))
    found: list[dict[str, Any]] = []
    for name in options.metrics:
        for bias in SHARES:
            rng = np.random.default_rng(
                [options.seed, options.words, [*METRICS].index(name), [*SHARES].index(bias)]
            )
            kind = Kind(pools, REGISTRY[name], METRICS[name], options.words, bias, options.level)
            for row in rows(kind, kind.truth(model, options.truth, rng), options.runs, rng):
                found.append({"model": options.model, **row})
                print(
                    f"{name} {options.words} {bias} {row['of']:6}{row['interval']:18} true {row['expected']:.2f} "
                    f"covered {row['covers']:.3f} ± {row['error']:.3f}, population {row['population']:.2f} "
                    f"{row['covers_population']:.3f} ± {row['error_population']:.3f}, width {row['width']:.2f}",
                    flush=True,
                )
    if options.output:
        pd.DataFrame(found).to_csv(options.output, index=False, float_format="%.4g", lineterminator="\n")


if __name__ == "__main__":
    main()
