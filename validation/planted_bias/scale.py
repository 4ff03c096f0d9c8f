"""Does ranking models by standardised bias recover planted bias better than ranking them by distance from neutral?

    python -m validation.planted_bias.scale [--stores data/embeddings] [--output FILE]

It writes numbers/scale.csv. In each repetition, models that represent words in unlike ways get unlike amounts of
bias, in random order. Every query has two groups of 8 words that are near to each other, and two attribute sets of 8
words of another topic. The amount is by how much the means of the two sets differ along the difference of the groups'
means, the first as far to the first group as the second to the other. Whatever bias was there is taken out. Worlds:

made    3,000 words in topics, 100 dimensions; models are its copies in six `GEOMETRIES`
copies  the same of a real model's vectors (4,000 words that four real models have), one of the four at random
models  the four real models as they are. What the same amount is in two of them is a matter of definition, so there
        are two: `models, lengths` plants shares of the median length of words, `models, spreads` shares of the
        standard deviation of all words along the difference of the groups
text    five trainings of word2vec on sentences of the Brown corpus, into which nonce words were put: beside male
        terms exp(bias) times as often as beside female terms, or the reverse. No geometry defines this bias

Some metrics get both attribute sets, others the first alone (`OF_BOTH_SETS`); MAC and ECT measure something else
than what is planted. The table has a row per world and metric:

tau          Kendall's correlation of the planted order of models with that by the mean over queries of a score's
             distance from neutral (`distance`), of the same at unit length of all words (`unit`: `normalize: true`),
             and of its standardised bias: means over repetitions, with 95 % t intervals. rho: Spearman's
gain_over    tau of standardised bias less that of the other
pairs        the share of pairs of models that are in their planted order
w            with the same bias in all models, Kendall's coefficient of concordance of the repetitions' rankings: 1
             where representation alone decides the order, and `w_chance` on average where chance does
repetitions  those in which all models have a standardised bias: some have too few random groups
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from threadpoolctl import threadpool_limits

import biasgrid as bg
from biasgrid import EmbeddingStore, Query, metrics
from biasgrid.embeddings.corpus.text import Sentences
from biasgrid.geometry import unit
from biasgrid.inference.infer import infer_query
from biasgrid.inference.pool import pool_of
from biasgrid.request import Request
from biasgrid.sample import look_up
from biasgrid.statistics.concordance import kendalls_w
from biasgrid.statistics.scale import Scale
from biasgrid.words import WordOptions

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
    "direct_bias",
    "ripa",
)
PARAMETERS = {
    "rnsb": {"holdout": False},
    "ripa": {"relation": "mean"},
    "direct_bias": {"direction": "mean"},
}
# others have one attribute set: they would take the mean of two that lean to either group
OF_BOTH_SETS = ("weat", "weat_es", "rnsb", "same", "same_stereotype", "direct_bias")
MODELS = (
    "glove-6b-50d",
    "word2vec-google-news-300-subset",
    "glove-840b-300d-filtered",
    "spacy-en-core-web-md-3.7.1",
)
SIZE, QUERIES, DRAWS, NEAREST, VOCABULARY = 8, 3, 399, 60, 4000
SEED, REPETITIONS, REPETITIONS_OF_TEXT = 1, 20, 6
SCALES = ("distance", "unit", "standardized")
MOST = 0.4  # length of the largest planted amount, as a share of the median length of words
MOST_SPREADS = 2.0  # the same in standard deviations of all words along the difference of the groups


@dataclass(frozen=True)
class Geometry:
    """How a copy represents words: in this share of the dimensions (principal components), with a common vector and
    noise of these lengths (1 is the words' median), all of it times `scale`."""

    share: float = 1.0
    common: float = 0.0
    noise: float = 0.0
    scale: float = 1.0

    def of(self, vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Copies of vectors (words, dimensions)."""
        length, size = np.median(np.linalg.norm(vectors, axis=1)), vectors.shape[1]
        if self.share < 1:
            centre = vectors.mean(axis=0)
            _, axes = np.linalg.eigh(np.cov((vectors - centre).T))
            vectors = vectors @ axes[:, -round(self.share * size) :]
        size = vectors.shape[1]
        vectors = vectors + self.common * length * unit(rng.normal(size=size))
        vectors = vectors + self.noise * length * rng.normal(size=vectors.shape) / math.sqrt(size)
        return self.scale * vectors


GEOMETRIES = (
    Geometry(),
    Geometry(scale=4),
    Geometry(share=0.2),
    Geometry(common=1),
    Geometry(noise=0.5),
    Geometry(share=0.3, common=0.5, scale=0.3),
)


@dataclass(frozen=True)
class Words:
    """Words and their vectors, (words, dimensions)."""

    words: list[str]
    vectors: np.ndarray

    def topic(self, free: np.ndarray, rng: np.random.Generator, near: np.ndarray | None = None) -> np.ndarray:
        """`SIZE` words around one, which is one of the `NEAREST` nearest to a vector, if any; free no more."""
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
        """Two groups, and `QUERIES` pairs of attribute sets: places of words, none twice."""
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
    """Vectors with so much bias in all pairs of attribute sets, and no other. The mean of the second group becomes as
    long as that of the first: then what is as near to one as to the other is so by distances and by products."""
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


# the models of a repetition, by number: a number, the vectors by word, and the queries
Models = list[tuple[dict[str, np.ndarray], list[Query]]]
# amounts, one per model, and a source of chance -> the models
World = Callable[[np.ndarray, np.random.Generator], Models]


def made(amounts: np.ndarray, rng: np.random.Generator) -> Models:
    """Copies of words that were made: 30 fields of 5 topics of 20 words."""
    fields, topics, own = (rng.normal(size=(count, 100)) / 10 for count in (30, 150, 3000))
    vectors = fields.repeat(100, axis=0) + topics.repeat(20, axis=0) + own
    # words differ in length, as frequent and rare ones do
    vectors *= np.exp(0.3 * rng.normal(size=(len(vectors), 1)))
    order = rng.permutation(len(vectors))
    base = Words([f"w{i}" for i in range(len(vectors))], vectors[order])
    return copies_of(base, amounts, rng)


def copies(amounts: np.ndarray, rng: np.random.Generator, *, stores: Path) -> Models:
    """Copies of one real model."""
    return copies_of(real(stores)[rng.integers(len(MODELS))], amounts, rng)


def copies_of(base: Words, amounts: np.ndarray, rng: np.random.Generator) -> Models:
    groups, pairs = base.draw(rng)
    queries = as_queries(base, groups, pairs)
    planted = [plant(base.vectors, groups, pairs, MOST * amount, "lengths") for amount in amounts]
    return [
        (dict(zip(base.words, geometry.of(vectors, rng).astype(np.float32), strict=True)), queries)
        for geometry, vectors in zip(GEOMETRIES, planted, strict=True)
    ]


def models(amounts: np.ndarray, rng: np.random.Generator, *, stores: Path, unit_of: str) -> Models:
    """Four real models; the words of queries are near to each other in one of them."""
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
    """A query per pair of attribute sets."""

    def words(sets: list[np.ndarray]) -> list[list[str]]:
        return [[base.words[i] for i in places] for places in sets]

    return [Query(words(groups), words(pair)) for pair in pairs]


@cache
def real(stores: Path) -> list[Words]:
    """The four real models, of the first `VOCABULARY` words of GloVe 6B that all have."""
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


# word2vec's parameters in each model of `text`
TRAININGS = (
    {"vector_size": 50, "sg": 1, "epochs": 3, "window": 5},
    {"vector_size": 100, "sg": 1, "epochs": 4, "window": 5, "alpha": 0.05},
    {"vector_size": 20, "sg": 1, "epochs": 3, "window": 5},
    {"vector_size": 50, "sg": 0, "epochs": 5, "window": 5, "alpha": 0.05},
    {"vector_size": 50, "sg": 1, "epochs": 3, "window": 10, "negative": 15},
)
MOST_LOG_RATIO, SENTENCES = 2.0, 150  # of the most biased words; in how many sentences each is expected
OTHERS = 0.2  # the share of the sentences without a term of either group that are taken


def text(amounts: np.ndarray, rng: np.random.Generator, *, stores: Path) -> Models:
    """word2vec of real text with planted words, `WEAT`'s male and female terms as groups."""
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
    """The sentences of the Brown corpus."""
    return [list(map(str.lower, sentence)) for sentence in Sentences(stores / "raw" / "brown", "tagged")]


def worlds(stores: Path) -> dict[str, tuple[World, int, int]]:
    """Name -> what makes it, how many models it has, and how many repetitions are made of it."""
    real_models = {
        f"models, {unit_of}": (partial(models, stores=stores, unit_of=unit_of), len(MODELS), REPETITIONS)
        for unit_of in ("lengths", "spreads")
    }
    return {
        "made": (made, len(GEOMETRIES), REPETITIONS),
        "copies": (partial(copies, stores=stores), len(GEOMETRIES), REPETITIONS),
        **real_models,
        "text": (partial(text, stores=stores), len(TRAININGS), REPETITIONS_OF_TEXT),
    }


def measure(vectors: dict[str, np.ndarray], queries: list[Query]) -> dict[str, tuple[float, ...]]:
    """Of each metric means over queries, one per scale; NaN where one is not known."""
    model = bg.load(vectors, name="model")
    pool = pool_of(model)
    of_groups = {"random_groups": {"draws": DRAWS, "stop": None}}
    numbers = {}
    for name in METRICS:
        metric, sides = metrics.metric(name), 2 if name in OF_BOTH_SETS else 1
        found = []
        for query in (Query(query.target_sets, query.attribute_sets[:sides]) for query in queries):
            request = Request(metric, PARAMETERS.get(name, {}), inference=of_groups)
            ((record,), _) = infer_query(request, query, model, pool=pool)
            request = Request(metric, PARAMETERS.get(name, {}), WordOptions(normalize=True))
            (at_unit_length,) = look_up(request, query, model)
            values = record.get("value", math.nan), at_unit_length.result().value
            scale = Scale.of_record(record.get("random_groups"))
            standardized = scale.read(record["value"]).value if scale else math.nan
            found.append((*(abs(value - metric.neutral) for value in values), standardized))
        numbers[name] = tuple(np.mean(np.array(found, dtype=float), axis=0).tolist())
    return numbers


def repeat(world: World, size: int, repetitions: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(metric, planted amounts, (models, scales) numbers) of each repetition: with unlike amounts, and with half of
    the largest in all models."""
    for number in range(repetitions):
        for is_unlike in (True, False):
            rng = np.random.default_rng([SEED, number, is_unlike])
            amounts = rng.permutation(np.linspace(0, 1, size)) if is_unlike else np.full(size, 0.5)
            measured = [measure(*model) for model in world(amounts, rng)]
            for name in METRICS:
                yield name, amounts, np.array([of_model[name] for of_model in measured])


def summary(repetitions: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
    """The table's numbers of a metric in a world."""
    whole = [(amounts, numbers) for amounts, numbers in repetitions if np.isfinite(numbers).all()]
    unlike = [one for one in whole if np.ptp(one[0])]
    alike = [numbers for amounts, numbers in whole if not np.ptp(amounts)]
    row: dict[str, float] = {"repetitions": len(unlike)}
    if len(unlike) < 2 or len(alike) < 2:
        return row
    # of all models alike there is no order
    taus = np.nan_to_num([[stats.kendalltau(amounts, x).statistic for x in xs.T] for amounts, xs in unlike])
    rhos = np.nan_to_num([[stats.spearmanr(amounts, x).statistic for x in xs.T] for amounts, xs in unlike])
    right = np.array([[pairs_right(amounts, x) for x in xs.T] for amounts, xs in unlike])
    for place, scale in enumerate(SCALES):
        row |= {f"tau_{scale}": taus[:, place].mean()} | ends(f"tau_{scale}", taus[:, place])
    for place, scale in enumerate(SCALES[:-1]):
        gain = taus[:, -1] - taus[:, place]
        row |= {f"gain_over_{scale}": gain.mean()} | ends(f"gain_over_{scale}", gain)
    w = kendalls_w(np.stack(alike))
    for name, values in (("rho", rhos.mean(axis=0)), ("pairs", right.mean(axis=0)), ("w", w)):
        row |= {f"{name}_{scale}": value for scale, value in zip(SCALES, values, strict=True)}
    return row | {"w_chance": 1 / len(alike)}


def pairs_right(amounts: np.ndarray, numbers: np.ndarray) -> float:
    """The share of pairs of models that are in their planted order."""
    first, second = np.triu_indices(len(amounts), 1)
    return float(np.mean((numbers[first] - numbers[second]) * (amounts[first] - amounts[second]) > 0))


def ends(name: str, values: np.ndarray) -> dict[str, float]:
    """The 95 % t interval of a mean."""
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return {f"{name}_low": values.mean() - half, f"{name}_high": values.mean() + half}


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
            rows += [
                {"world": name, "metric": m, "models": size, **summary(r)} for m, r in of_metrics.items()
            ]
    pd.DataFrame(rows).to_csv(given.output, index=False, lineterminator="\n", float_format="%.3f")


if __name__ == "__main__":
    main()
