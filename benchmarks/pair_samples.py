"""Samples of models' scores whose truth is known, from real vectors, in the case study's design (for pairs.py).

A population is of groups and of queries. Its groups are the 100 words nearest to the mean of a word set (male terms,
Asian names, flowers, ...). Its queries share them: one pair of groups; or three pairs with one group in common, as
the case study's Ethnicity; or the three pairs of three groups, as its Religion. Each query has two attribute sets,
each of the 100 words nearest to a word drawn from all. A sample draws 9 queries, and their words; a metric of one
attribute set has two sub-queries per query, as in the case study.

The models are three that share 8,139 words, and one of them without its three largest components (all but the top,
Mu & Viswanath 2018). A twin of a model has the same vectors, and other words of the same populations: another
sample, the same truth. A model's truth is its mean distance from neutral over 400 other queries of the population.

Where queries share attribute sets, a sample has 18, and each attribute set is asked of all three pairs of groups. Its
truth for its own first 9 queries is the models' mean distance over 50 other draws of these queries' words.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from biasgrid import EmbeddingStore, metrics
from biasgrid.geometry import unit

ROOT = Path(__file__).resolve().parents[1]
MODELS = ("word2vec-google-news-300-subset", "glove-6b-50d", "glove-840b-300d-filtered")
MEASURED = ("weat", "weat_es", "rnd", "rnsb", "mac", "ect", "ripa")
GROUPS = {
    "weat": ("male_terms", "female_terms", "flowers", "insects", "instruments", "weapons"),
    "eds": (
        *("names_asian", "names_chinese", "names_hispanic", "names_russian"),
        *("words_christianity", "words_islam"),
    ),
}
# a criterion's queries: their pairs of groups, in turn, and how many words a group and an attribute set have: as in
# Gender, Ethnicity and Religion, and as in most queries of WEAT
DESIGNS = (((0, 1),), ((0, 1), (0, 2), (0, 3)), ((0, 1), (0, 2), (1, 2)))
WORDS = (((20, 8), (20, 10), (5, 5)), ((8, 8),) * 3)
POPULATION, QUERIES, RESAMPLES, TRUE_QUERIES = 100, 9, 200, 400
SHARED_QUERIES, TRUE_DRAWS = 18, 50

Sets = list[np.ndarray]  # the places of each set's words in the vocabulary


@dataclass(frozen=True)
class Population:
    """Groups, the pairs of them that queries have in turn, how many words a group and an attribute set have, and the
    truth of each model by metric."""

    number: int
    groups: Sets
    design: tuple[tuple[int, int], ...]
    words: tuple[int, int]
    truths: dict[str, np.ndarray]


@dataclass(frozen=True)
class Sample:
    """One metric's signed distances from neutral in one sample, of units: the models, then the twins.

    values     (units, rows); `resamples` of words (units, rows, RESAMPLES)
    queries    the query of each row
    means      each model's mean distance with other words of the same queries (models, rows of the first QUERIES);
               None where queries share no attribute set
    """

    values: np.ndarray
    resamples: np.ndarray
    queries: np.ndarray
    means: np.ndarray | None = None


class Vocabulary:
    """The words that all models have, with each model's vectors."""

    def __init__(self, stores: Path) -> None:
        opened = [EmbeddingStore.open(stores / name) for name in MODELS]
        common = set.intersection(*(set(store.vocabulary(10**7)[0]) for store in opened))
        self.words = sorted(w for w in common if w.isalpha() and w.islower() and len(w) > 2)
        self.vectors = [
            np.asarray(store.take(self.words, store.rows(self.words)), dtype=float) for store in opened
        ]
        centred = self.vectors[-1] - self.vectors[-1].mean(axis=0)
        largest = np.linalg.eigh(centred.T @ centred)[1][:, -3:]
        self.vectors.append(centred - centred @ largest @ largest.T)
        # half the time in single precision
        self.directions = unit(self.vectors[2]).astype(np.float32)

    def near(self, direction: np.ndarray) -> np.ndarray:
        """The places of the words of a population."""
        return np.argpartition(-(self.directions @ direction), POPULATION)[:POPULATION]

    def groups(self) -> list[np.ndarray]:
        place = {word: i for i, word in enumerate(self.words)}
        found = []
        for name, sets in GROUPS.items():
            words = json.loads((ROOT / f"data/word_sets/{name}.json").read_text(encoding="utf-8"))["sets"]
            rows = ([place[w.lower()] for w in words[key] if w.lower() in place] for key in sets)
            found += [self.near(self.directions[r].mean(axis=0)) for r in rows]
        return found


def weights(counts: list[np.ndarray]) -> list[np.ndarray]:
    """Counts of each set's words (draws, words) as weights over the words of all sets of its side."""
    ends = np.cumsum([c.shape[1] for c in counts])
    pools = [np.zeros((len(c), ends[-1])) for c in counts]
    for pool, c, end in zip(pools, counts, ends, strict=True):
        pool[:, end - c.shape[1] : end] = c
    return pools


def measure(name: str, vectors: np.ndarray, sets: Sets, counts: list[np.ndarray]) -> np.ndarray:
    """A metric's signed distances from neutral with so many of each word: (rows, draws), a row per sub-query."""
    metric = metrics.metric(name)
    targets, *attributes = np.concatenate(sets[:2]), vectors[sets[2]], vectors[sets[3]]
    rows = [[0], [1]] if metric.template[1] == 1 else [[0, 1]]
    return np.array(
        [
            metric.resampled(vectors[targets], np.concatenate([attributes[i] for i in row]))(
                weights(counts[:2]), weights([counts[2 + i] for i in row])
            )
            - metric.neutral
            for row in rows
        ]
    )


def words_of(populations: Sets, words: int, rng: np.random.Generator) -> Sets:
    return [rng.choice(population, words, replace=False) for population in populations]


def attributes(vocabulary: Vocabulary, rng: np.random.Generator) -> Sets:
    """The populations of a query's two attribute sets."""
    seeds = rng.choice(len(vocabulary.words), 2, replace=False)
    return [vocabulary.near(vocabulary.directions[i]) for i in seeds]


def population(vocabulary: Vocabulary, groups: Sets, number: int, seed: int) -> Population:
    rng = np.random.default_rng([seed, number])
    case = number % len(DESIGNS)
    design, words = DESIGNS[case], WORDS[number // len(DESIGNS) % len(WORDS)][case]
    own = [groups[i] for i in rng.choice(len(groups), 1 + max(map(max, design)), replace=False)]
    distances = {name: np.zeros((len(vocabulary.vectors), TRUE_QUERIES)) for name in MEASURED}
    once = [np.ones((1, size)) for size in (words[0], words[0], words[1], words[1])]
    for query in range(TRUE_QUERIES):
        pair = [own[g] for g in design[query % len(design)]]
        sets = words_of(pair, words[0], rng) + words_of(attributes(vocabulary, rng), words[1], rng)
        for name, values in distances.items():
            for model, vectors in enumerate(vocabulary.vectors):
                values[model, query] = np.abs(measure(name, vectors, sets, once)).mean()
    truths = {name: values.mean(axis=1) for name, values in distances.items()}
    return Population(number, own, design, words, truths)


def mean_distances(
    name: str, vocabulary: Vocabulary, populations: Sets, words: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """Each model's mean distance from neutral over draws of a query's words, (models, rows)."""
    sizes = (words[0], words[0], words[1], words[1])
    if name == "ripa":  # whose words are drawn in pairs
        once, distances = [np.ones((1, size)) for size in sizes], []
        for _ in range(TRUE_DRAWS):
            drawn = [rng.choice(p, n, replace=False) for p, n in zip(populations, sizes, strict=True)]
            distances.append([np.abs(measure(name, v, drawn, once)) for v in vocabulary.vectors])
        return np.mean(distances, axis=(0, 3))
    counts = [rng.permuted(np.tile(np.arange(POPULATION) < n, (TRUE_DRAWS, 1)), axis=1) * 1.0 for n in sizes]
    return np.array([np.abs(measure(name, v, populations, counts)).mean(axis=1) for v in vocabulary.vectors])


def twins(number: int) -> tuple[int, ...]:
    """The models that a population's twins are of: three of one model, and one of another."""
    return (number % 4,) * 3 + ((number + 1) % 4,)


def sample(
    vocabulary: Vocabulary, of: Population, number: int, seed: int, shared: bool = False
) -> dict[str, Sample]:
    """A sample of a population, by metric; `shared`: each attribute set is asked of all pairs of groups."""
    count = SHARED_QUERIES if shared else QUERIES
    other_words = np.random.default_rng([seed, of.number, 1 + number, 1])
    rng = np.random.default_rng([seed, of.number, 1 + number])
    # words of the models and of each twin; resamples are the same for all, as in a study
    groups = [words_of(of.groups, of.words[0], rng) for _ in range(1 + len(twins(of.number)))]
    again = [resample(of.words[0], rng) for _ in of.groups]
    again_pairs = {pair: resample(of.words[0], rng) for pair in of.design}
    units = [(vectors, 0) for vectors in vocabulary.vectors]
    units += [(vocabulary.vectors[model], 1 + i) for i, model in enumerate(twins(of.number))]
    found: dict[str, list[list[np.ndarray]]] = {name: [[] for _ in units] for name in MEASURED}
    means: dict[str, list[np.ndarray]] = {name: [] for name in MEASURED}
    for query in range(count):
        turn = query % len(of.design)
        pair = of.design[turn]
        if turn == 0 or not shared:
            populations = attributes(vocabulary, rng)
            of_attributes = [words_of(populations, of.words[1], rng) for _ in groups]
            attribute_counts = [resample(of.words[1], rng) for _ in populations]
        for name, by_unit in found.items():
            # RIPA's words are resampled in pairs, one of each group
            first, second = [again_pairs[pair]] * 2 if name == "ripa" else [again[g] for g in pair]
            for (vectors, own), rows in zip(units, by_unit, strict=True):
                sets = [groups[own][g] for g in pair] + of_attributes[own]
                rows.extend(measure(name, vectors, sets, [first, second, *attribute_counts]))
            if shared and query < QUERIES:
                sets = [of.groups[g] for g in pair] + populations
                means[name].append(mean_distances(name, vocabulary, sets, of.words, other_words))
    result = {}
    for name, by_unit in found.items():
        values = np.array(by_unit)
        queries = np.repeat(np.arange(count), values.shape[1] // count)
        result[name] = Sample(
            values[..., 0],
            values[..., 1:].astype(np.float32),
            queries,
            np.concatenate(means[name], axis=1) if shared else None,
        )
    return result


def resample(words: int, rng: np.random.Generator) -> np.ndarray:
    """How often each word is in each resample of a set, after the set as it is: (1 + RESAMPLES, words)."""
    counts = rng.multinomial(words, np.full(words, 1 / words), size=RESAMPLES)
    return np.concatenate([np.ones((1, words)), counts])


def samples(
    stores: Path, populations: int, each: int, seed: int, shared: bool = False, folder: Path | None = None
) -> Iterator[tuple[Population, dict[str, Sample]]]:
    """So many samples of each of so many populations; those of a folder, if they are there."""
    vocabulary = groups = None
    for number in range(populations):
        if shared and len(DESIGNS[number % len(DESIGNS)]) == 1:
            continue  # of one pair, nothing is shared with others
        path = folder / f"{seed}-{each}-{number}{'-shared' * shared}.pickle" if folder else None
        if path and path.exists():
            of, drawn = pickle.loads(path.read_bytes())
        else:
            vocabulary = vocabulary or Vocabulary(stores)
            groups = groups or vocabulary.groups()
            of = population(vocabulary, groups, number, seed)
            drawn = [sample(vocabulary, of, i, seed, shared) for i in range(each)]
        if path and not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pickle.dumps((of, drawn)))
        for by_metric in drawn:
            yield of, by_metric
