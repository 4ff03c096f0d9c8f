"""Orders of models by planted bias: raw distances from no bias, and scales made from random groups.

    python -m validation.planted_bias.scale [--stores data/embeddings] [--output FILE]

Writes numbers/scale.csv, in about 15 minutes of one core. In each repetition, models get unlike amounts of bias, in
random order. Every query has two groups of 8 words that are near to each other, and two attribute sets of 8 words of
another topic. The amount is by how much the means of the two attribute sets differ along the difference of the means
of the groups. Any bias that was there before is taken out.

In six worlds, the models are copies of a real model, one of four at random, with 2,000 words. In each copy, half the
vector of another word is added to every word, as noise of training. Then all words are transformed alike. This
changes how the model represents words, but not which words it associates (`WORLDS`).

alike        no transformation: the models differ only in the planted bias and the noise
length       vectors are .5 to 2.8 times as long
anisotropy   a common vector is added to all words, or the first three principal components are stretched
dimension    20 to 100 % of the principal components are kept
all          a copy of each of these kinds, one with all of them, and one as it was
unit         the models of `all`, with all vectors at unit length

In three further worlds, models differ as real ones do:

models, lengths  the four real models. The amount is a share of the median length of the model's words
models, spreads  the same, but the amount is a share of the standard deviation of all words along the difference of
                 the groups. Which of the two is the same bias in two models is a matter of definition
text             five trainings of word2vec on sentences of the Brown corpus, into which nonce words were put: beside
                 male terms exp(bias) times as often as beside female terms, or the reverse. This bias is defined by
                 no geometry

Some metrics get both attribute sets, others the first alone (`OF_BOTH_SETS`). MAC and ECT measure something else than
what is planted. The table has a row for each world, metric and scale (`scales.SCALES`), and for the mean of all
metrics but these two:

tau                Kendall's correlation of the planted order of models with the order by the mean over queries
over_distance      tau less the tau of raw distances
over_standardized  tau less the tau of standardised bias
*_error            Monte Carlo error of each: the standard error of the mean over repetitions
repetitions        those in which all models have enough random groups
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from threadpoolctl import threadpool_limits

import biasgrid as bg
from biasgrid import EmbeddingStore, Query, metrics
from biasgrid.core.geometry import unit
from biasgrid.measure.candidate_words import Pool, pool_of
from biasgrid.measure.group_draws import BETWEEN
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.measure.metric_input import MetricInput, look_up
from biasgrid.measure.significance.random_groups import draws_in_place, end_of_scale, group_values
from biasgrid.models.corpus.text import Sentences

from .scales import SCALES

METRICS = (
    "weat",
    "weat_es",
    "rnd",
    "rnsb",
    "mac",
    "ect",
    "sc_weat",
    "semaxis",
    "same",
    "same_stereotype",
    "ripa",
)
PARAMETERS = {
    "rnsb": {"holdout": False},
    "ripa": {"relation": "mean"},
}
# Other metrics get one attribute set, because the mean of two sets near different groups would cancel.
OF_BOTH_SETS = ("weat", "weat_es", "rnsb", "same", "same_stereotype")
# These metrics do not measure the injected bias.
OF_ANOTHER_BIAS = ("mac", "ect")
# The name of the mean of all other metrics.
MEAN = "mean"
MODELS = (
    "glove-6b-50d",
    "word2vec-google-news-300-subset",
    "glove-840b-300d-filtered",
    "spacy-en-core-web-md-3.7.1",
)
SIZE, QUERIES, DRAWS, NEAREST, VOCABULARY = 8, 3, 499, 60, 2000
SEED, REPETITIONS, REPETITIONS_OF_TEXT = 1, 20, 6
# Length of the largest injected amount, as a share of the median length of words.
MOST = 0.4
# The same length in standard deviations of all words along the difference of the groups.
MOST_SPREADS = 2.0
# Share of another word's vector that is added to each word of a copy.
NOISE = 0.5
# Number of principal components that are stretched.
DOMINANT = 3


@dataclass(frozen=True)
class Geometry:
    """Transformation of the vectors of a copy.

    Parameters
    ----------
    share
        Share of the principal components to keep, largest first.
    stretch
        Factor of the first `DOMINANT` principal components.
    common
        Length of a vector that is added to all words; 1 is the words' median length.
    scale
        Factor of all vectors.
    unit
        Whether vectors are scaled to length 1 at the end.
    """

    share: float = 1.0
    stretch: float = 1.0
    common: float = 0.0
    scale: float = 1.0
    unit: bool = False

    def of(self, vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Transform vectors (words, dimensions)."""
        direction = unit(rng.normal(size=vectors.shape[1]))
        length = np.median(np.linalg.norm(vectors, axis=1))
        if self.share < 1 or self.stretch != 1:
            _, axes = np.linalg.eigh(np.cov(vectors.T))
            axes = axes[:, ::-1][:, : round(self.share * vectors.shape[1])]
            stretches = np.ones(axes.shape[1])
            stretches[:DOMINANT] = self.stretch
            vectors, direction = (vectors @ axes) * stretches, unit(direction @ axes)
        vectors = self.scale * (vectors + self.common * length * direction)
        return unit(vectors) if self.unit else vectors


ALL = (
    Geometry(),
    Geometry(scale=2.8),
    Geometry(share=0.2),
    Geometry(common=1),
    Geometry(stretch=3),
    Geometry(share=0.3, common=0.5, stretch=2, scale=0.5),
)
WORLDS: dict[str, tuple[Geometry, ...]] = {
    "alike": (Geometry(),) * 6,
    "length": tuple(Geometry(scale=scale) for scale in (0.5, 0.7, 1, 1.4, 2, 2.8)),
    "anisotropy": (
        Geometry(),
        Geometry(common=0.5),
        Geometry(common=1),
        Geometry(stretch=2),
        Geometry(stretch=4),
        Geometry(common=0.5, stretch=2),
    ),
    "dimension": tuple(Geometry(share=share) for share in (1, 0.8, 0.6, 0.45, 0.3, 0.2)),
    "all": ALL,
    "unit": tuple(replace(geometry, unit=True) for geometry in ALL),
}


@dataclass(frozen=True)
class Words:
    """Words and their vectors, (words, dimensions)."""

    words: list[str]
    vectors: np.ndarray

    def topic(self, free: np.ndarray, rng: np.random.Generator, near: np.ndarray | None = None) -> np.ndarray:
        """Draw `SIZE` free words around a random one, and mark them as no longer free.

        With `near`, the random word is one of the `NEAREST` nearest to that vector.
        """
        directions = unit(self.vectors)
        places = np.flatnonzero(free)
        if near is not None:
            places = places[np.argsort(-(directions[places] @ unit(near)))][:NEAREST]
        start = rng.choice(places)
        free[start] = False
        others = np.flatnonzero(free)
        nearest = others[np.argsort(-(directions[others] @ directions[start]))][:NEAREST]
        chosen = np.concatenate([[start], rng.choice(nearest, SIZE - 1, replace=False)])
        free[chosen] = False
        return chosen

    def draw(self, rng: np.random.Generator) -> tuple[list[np.ndarray], list[list[np.ndarray]]]:
        """Draw two groups, and `QUERIES` pairs of attribute sets, as indices of words without repetition."""
        free = np.ones(len(self.words), dtype=bool)
        first = self.topic(free, rng)
        groups = [first, self.topic(free, rng, self.vectors[first].mean(axis=0))]
        pairs = []
        for _ in range(QUERIES):
            both = self.topic(free, rng)
            pairs.append([both, self.topic(free, rng, self.vectors[both].mean(axis=0))])
        return groups, pairs


def plant(
    vectors: np.ndarray, groups: list[np.ndarray], pairs: list[list[np.ndarray]], amount: float, unit_of: str
) -> np.ndarray:
    """Return vectors in which all pairs of attribute sets have exactly this amount of bias.

    The means of both groups get the same length. Then a vector that is equally near to both is so both by distances
    and by inner products.
    """
    means = [vectors[group].mean(axis=0) for group in groups]
    ratio = np.linalg.norm(means[0]) / np.linalg.norm(means[1])
    vectors, axis = vectors.copy(), unit(means[0] - ratio * means[1])
    vectors[groups[1]] *= ratio
    lengths = np.linalg.norm(vectors, axis=1)
    length = (vectors @ axis).std() if unit_of == "spreads" else np.median(lengths)
    for pair in pairs:
        for places, side in zip(pair, (0.5, -0.5), strict=True):
            vectors[places] += (side * amount * length - (vectors[places] @ axis).mean()) * axis
    return vectors


# The models of a repetition: the vectors by word, and the queries of each.
Models = list[tuple[dict[str, np.ndarray], list[Query]]]
# Function of the amounts, one per model, and a random generator that returns the models.
World = Callable[[np.ndarray, np.random.Generator], Models]


def copies(
    amounts: np.ndarray, rng: np.random.Generator, *, stores: Path, geometries: tuple[Geometry, ...]
) -> Models:
    """Return copies of one real model, one for each geometry."""
    base = real(stores)[rng.integers(len(MODELS))]
    groups, pairs = base.draw(rng)
    queries = as_queries(base, groups, pairs)
    made = []
    for geometry, amount in zip(geometries, amounts, strict=True):
        vectors = plant(base.vectors, groups, pairs, MOST * amount, "lengths")
        vectors += NOISE * (vectors - vectors.mean(axis=0))[rng.permutation(len(vectors))]
        vectors = geometry.of(vectors, rng).astype(np.float32)
        made.append((dict(zip(base.words, vectors, strict=True)), queries))
    return made


def models(amounts: np.ndarray, rng: np.random.Generator, *, stores: Path, unit_of: str) -> Models:
    """Return the four real models with injected bias; the words of queries are near to each other in one of them."""
    bases = real(stores)
    drawn_from = bases[rng.integers(len(bases))]
    groups, pairs = drawn_from.draw(rng)
    queries = as_queries(drawn_from, groups, pairs)
    most = MOST if unit_of == "lengths" else MOST_SPREADS
    return [
        (
            dict(zip(base.words, plant(base.vectors, groups, pairs, most * amount, unit_of), strict=True)),
            queries,
        )
        for base, amount in zip(bases, amounts, strict=True)
    ]


def as_queries(base: Words, groups: list[np.ndarray], pairs: list[list[np.ndarray]]) -> list[Query]:
    """Return a query for each pair of attribute sets."""

    def words(sets: list[np.ndarray]) -> list[list[str]]:
        return [[base.words[i] for i in places] for places in sets]

    return [Query(words(groups), words(pair)) for pair in pairs]


@cache
def real(stores: Path) -> list[Words]:
    """Read the four real models, with the first `VOCABULARY` words of GloVe 6B that all models have."""
    opened = [EmbeddingStore.open(stores / name) for name in MODELS]
    entries, _ = opened[0].vocabulary(10 * VOCABULARY)
    entries = [word for word in entries if word.isalpha() and len(word) > 2]
    rows = np.array([store.rows(entries) for store in opened])
    known = np.flatnonzero((rows >= 0).all(axis=0))[:VOCABULARY]
    words = [entries[i] for i in known]
    return [
        Words(words, np.asarray(store.matrix(words, of_store[known])))
        for store, of_store in zip(opened, rows, strict=True)
    ]


# Parameters of word2vec in each model of `text`.
TRAININGS = (
    {"vector_size": 50, "sg": 1, "epochs": 3, "window": 5},
    {"vector_size": 100, "sg": 1, "epochs": 4, "window": 5, "alpha": 0.05},
    {"vector_size": 20, "sg": 1, "epochs": 3, "window": 5},
    {"vector_size": 50, "sg": 0, "epochs": 5, "window": 5, "alpha": 0.05},
    {"vector_size": 50, "sg": 1, "epochs": 3, "window": 10, "negative": 15},
)
# Log ratio of the most biased words, and the expected number of sentences of each word.
MOST_LOG_RATIO, SENTENCES = 2.0, 150
# Share of the sentences without a term of either group that are used.
OTHERS = 0.2


def text(amounts: np.ndarray, rng: np.random.Generator, *, stores: Path) -> Models:
    """Train word2vec on real text with injected words; the groups are the male and female terms of WEAT."""
    from gensim.models import Word2Vec

    groups = [list(bg.word_sets("weat")[name]) for name in ("male_terms", "female_terms")]
    sentences = brown(stores)
    has = np.array([[not set(group).isdisjoint(sentence) for group in groups] for sentence in sentences])
    kept = np.flatnonzero(has.any(axis=1) | (rng.random(len(sentences)) < OTHERS))
    sentences, has = [sentences[i] for i in kept], has[kept]
    lean = has[:, 0].astype(float) - has[:, 1]
    words = [[[f"nonce{q}{side}{i}" for i in range(SIZE)] for side in "ab"] for q in range(QUERIES)]
    queries = [Query(groups, sets) for sets in words]
    trained = []
    for amount, parameters in zip(amounts, TRAININGS, strict=True):
        planted = [list(sentence) for sentence in sentences]
        for sets in words:
            for side, of_set in zip((0.5, -0.5), sets, strict=True):
                chances = np.exp(side * MOST_LOG_RATIO * amount * lean)
                chances *= SENTENCES / chances.sum()
                for word in of_set:
                    for place in np.flatnonzero(rng.random(len(chances)) < chances):
                        planted[place].insert(rng.integers(len(planted[place]) + 1), word)
        vectors = Word2Vec(
            planted, **parameters, min_count=5, seed=int(rng.integers(2**31)), workers=1, sorted_vocab=1
        ).wv
        trained.append(({word: vectors[word] for word in vectors.index_to_key}, queries))
    return trained


@cache
def brown(stores: Path) -> list[list[str]]:
    """Read the sentences of the Brown corpus."""
    return [list(map(str.lower, sentence)) for sentence in Sentences(stores / "raw" / "brown", "tagged")]


def worlds(stores: Path) -> dict[str, tuple[World, int, int]]:
    """Return for each world the function that makes it, its number of models, and its number of repetitions."""
    of_copies = {
        name: (partial(copies, stores=stores, geometries=geometries), len(geometries), REPETITIONS)
        for name, geometries in WORLDS.items()
    }
    real_models = {
        f"models, {unit_of}": (partial(models, stores=stores, unit_of=unit_of), len(MODELS), REPETITIONS)
        for unit_of in ("lengths", "spreads")
    }
    of_text = partial(text, stores=stores), len(TRAININGS), REPETITIONS_OF_TEXT
    return {**of_copies, **real_models, "text": of_text}


def measure(vectors: dict[str, np.ndarray], queries: list[Query]) -> dict[str, np.ndarray]:
    """Compute the means over queries of each metric, one for each scale; NaN for too few random groups."""
    model = bg.load(vectors, name="model")
    pool = pool_of(model)
    numbers = {}
    for name in METRICS:
        sides = 2 if name in OF_BOTH_SETS else 1
        request = MeasurementSpec(metrics.metric(name), PARAMETERS.get(name, {}))
        read = [
            readings(sample, pool)
            for query in queries
            for sample in look_up(request, Query(query.target_sets, query.attribute_sets[:sides]), model)
        ]
        numbers[name] = np.mean(read, axis=0)
    return numbers


def readings(sample: MetricInput, pool: Pool) -> np.ndarray:
    """Compute a score on each scale; NaN for too few random groups."""
    draws = draws_in_place(sample, pool, SEED, BETWEEN)
    if isinstance(draws, str) or isinstance(end_of_scale(sample, pool, draws, DRAWS), str):
        return np.full(len(SCALES), math.nan)
    with np.errstate(all="ignore"):
        values = group_values(sample, pool, draws)(0, DRAWS)
    distances = np.abs(np.append(values.observed, values.values) - sample.request.metric.neutral)
    distances = distances[np.isfinite(distances)]
    return np.array([scale(distances[:1], distances[1:])[0] for scale in SCALES.values()])


def repeat(world: World, size: int, repetitions: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield (metric, injected amounts, numbers (models, scales)) of each repetition."""
    for number in range(repetitions):
        rng = np.random.default_rng([SEED, number, 1])
        amounts = rng.permutation(np.linspace(0, 1, size))
        measured = [measure(*model) for model in world(amounts, rng)]
        for name in METRICS:
            yield name, amounts, np.array([of_model[name] for of_model in measured])


def kendall(amounts: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Compute Kendall's correlation of each scale with the amounts; NaN if a model has too few random groups."""
    if not np.isfinite(numbers).all():
        return np.full(numbers.shape[1], math.nan)
    # Use 0 if all models are equal, because they do not have an order.
    return np.nan_to_num([stats.kendalltau(amounts, of_scale).statistic for of_scale in numbers.T])


def summary(repetitions: dict[str, list[tuple[np.ndarray, np.ndarray]]]) -> list[dict[str, Any]]:
    """Return the rows of a world in the table: for each metric and scale, and for the mean of metrics."""
    taus = {metric: np.array([kendall(*one) for one in found]) for metric, found in repetitions.items()}
    taus[MEAN] = np.mean([of_metric for m, of_metric in taus.items() if m not in OF_ANOTHER_BIAS], axis=0)
    scales = list(SCALES)
    rows: list[dict[str, Any]] = []
    for metric, of_metric in taus.items():
        whole = of_metric[np.isfinite(of_metric).all(axis=1)]
        for place, scale in enumerate(scales):
            row = {"metric": metric, "scale": scale, "repetitions": len(whole)}
            row |= with_error("tau", whole[:, place])
            for other in ("distance", "standardized"):
                row |= with_error(f"over_{other}", whole[:, place] - whole[:, scales.index(other)])
            rows.append(row)
    return rows


def with_error(name: str, values: np.ndarray) -> dict[str, float]:
    """Return a mean and its standard error."""
    return {name: values.mean(), f"{name}_error": values.std(ddof=1) / math.sqrt(len(values))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stores", type=Path, default=Path("data/embeddings"))
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "numbers" / "scale.csv")
    given = parser.parse_args()
    rows = []
    with threadpool_limits(1):
        for name, (world, size, repetitions) in worlds(given.stores).items():
            of_metrics = defaultdict(list)
            for metric, amounts, numbers in repeat(world, size, repetitions):
                of_metrics[metric].append((amounts, numbers))
            rows += [{"world": name, "models": size, **row} for row in summary(of_metrics)]
    pd.DataFrame(rows).to_csv(given.output, index=False, lineterminator="\n", float_format="%.3f")


if __name__ == "__main__":
    main()
