"""Level and power of the test against random groups, on real vectors.

    python benchmarks/random_groups.py [--stores data/embeddings] [--groups 250] [--attributes 4] [--seed 1]
        [--tables draws ways pairs power caliskan] [--ways ...] [--models ...] [--metrics ...] [--normalize]

The stores are those of the embedded study's four models, which `make study` fetches (or the folder that
BIASGRID_EMBEDDINGS names). Every query has two groups of 8 words. Tables:

draws     level. The groups are a draw of the algorithm itself, in place of one of `BASES`: this checks the code, and
          p is uniform but for what a group's mean cosine changes. All metrics
ways      level. The groups are made in other ways, around words that are no seeds of the pool: a word and its nearest
          neighbours; a word and 7 of its 60 nearest at random; 8 words of a category of data/word_sets (the phenomena
          of config/phenomena.yaml), or twice 8 of one. The second group's first word is as near to the first group as
          a rank says that is drawn from 1 to all words, uniformly in its logarithm, so that some groups are siblings
          and some far apart. The attribute sets are two other topics, each around a random word
pairs     level of metrics of pairs, whose random groups have not the mean cosine of the two words of a pair in common
          with the query: a word and its nearest neighbours with the nearest word to each of these; and 8 of the
          pairs of a man's and a woman's word of Bolukbasi et al.
power     the attribute words of `nearest` are moved along the difference of the groups' means: those of one set by
          so much, those of the other by as much the other way, in units of their length
caliskan  the ten tests of Caliskan et al. (2017): the effect size, p of the permutation test, of random groups under
          `match: within` and `match: between`, standardised bias under the latter; for the effect size and
          WEAT's statistic

Level and power are shares of p <= .05 of the queries that have a test, `none` how many have none, with 999 draws at
most: what decides p <= .05 happens in the first 400. Of each two groups there are `--attributes` queries.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import yaml
from threadpoolctl import threadpool_limits

from biasgrid import EmbeddingStore, Query, metrics
from biasgrid.core.geometry import unit
from biasgrid.measure.candidate_words import Pool, make_pool
from biasgrid.measure.group_draws import BETWEEN, WITHIN, draws_of
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.measure.metric_input import look_up
from biasgrid.measure.permutation import DISTANCE
from biasgrid.measure.significance.random_groups import groups_test
from biasgrid.measure.statistics.scale import Scale
from biasgrid.models.words import WordOptions, WordVectors, find

sys.path.append(str(Path(__file__).resolve().parents[1]))  # validation is a package that no one installs

from validation.calibration.queries import Words

ROOT = Path(__file__).resolve().parents[1]

MODELS = (
    "word2vec-google-news-300-subset",
    "glove-6b-50d",
    "glove-840b-300d-filtered",
    "spacy-en-core-web-md-3.7.1",
)
ALL = tuple(name for name, metric in metrics.REGISTRY.items() if metric.needs == "vectors")
# those that take milliseconds, and are not another's by another name
CHEAP = (
    "weat",
    "weat_es",
    "rnd",
    "ect",
    "rnsb",
    "mac",
    "sc_weat",
    "semaxis",
    "same",
    "same_stereotype",
    "ripa",
)
OF_PAIRS = ("ripa", "indirect_bias")
NEAR = {"neighbours": 20, "vocabulary": 4000}
PARAMETERS = {"rnsb": {"holdout": False}, "gipe": NEAR, "proximity": NEAR, "pmn": NEAR}
SIZE, VOCABULARY, NEAREST, DRAWS, LEVEL = 8, 16_384, 60, 999, 0.05
SHIFTS = (0.0, 0.05, 0.1, 0.2, 0.4)
# of words that a study would look up
OPTIONS = WordOptions(preprocessors=({}, {"lowercase": True}))
BASES = (("male_names", "female_names"), ("male_terms", "female_terms"), ("math", "arts"))
BASES += (("flowers", "insects"), ("instruments", "weapons"))
Sets = list[list[str]]


class Model:
    """A store, the words that queries are made of, and which of these are no seeds of random groups."""

    def __init__(self, stores: Path, name: str, normalize: bool = False):
        self.name, self.store = name, EmbeddingStore.open(stores / name)
        self.options = replace(OPTIONS, normalize=normalize)
        self.pool: Pool = make_pool(self.store)
        self.source = Words(self.store, VOCABULARY)
        of_pool = {self.pool.entries[place] for place in self.pool.seeds}
        is_word = np.array([w.isalpha() and len(w) > 2 for w in self.source.words])
        self.is_word, self.is_start = (
            is_word,
            is_word & np.array([w not in of_pool for w in self.source.words]),
        )

    def topic(self, free: np.ndarray, rng: np.random.Generator, near: np.ndarray | None, among: int) -> Sets:
        """A word that is no seed, and `SIZE` - 1 of the `among` words nearest to it; none is free after that. `near`:
        a vector; the word is near to it by a rank at random."""
        starts = np.flatnonzero(free & self.is_start)
        if near is None:
            start = rng.choice(starts)
        else:
            order = starts[np.argsort(-(self.source.vectors[starts] @ near), kind="stable")]
            start = order[int(len(order) ** rng.random()) - 1]
        free[start] = False
        others = free.copy()
        nearest = self.source.nearest(self.source.vectors[start], others, among)
        places = [start, *rng.choice(nearest, SIZE - 1, replace=False)]
        free[places] = False
        return places

    def words(self, sets: Sequence[Sequence[int]]) -> Sets:
        return [self.source.words[list(places)].tolist() for places in sets]


Queries = Iterator[Query]


def around_words(model: Model, rng: np.random.Generator, attributes: int, among: int) -> Queries:
    """Queries of one pair of groups, each a word and some of its `among` nearest."""
    free = model.is_word.copy()
    first = model.topic(free, rng, None, among)
    second = model.topic(free, rng, unit(model.source.vectors[first].mean(axis=0)), among)
    for _ in range(attributes):
        others = free.copy()
        topics = [model.topic(others, rng, None, among) for _ in range(2)]
        yield Query(model.words([first, second]), model.words(topics))


def nearest(model: Model, rng: np.random.Generator, attributes: int) -> Queries:
    return around_words(model, rng, attributes, SIZE - 1)


def of_60(model: Model, rng: np.random.Generator, attributes: int) -> Queries:
    return around_words(model, rng, attributes, NEAREST)


def categories(model: Model, rng: np.random.Generator, attributes: int) -> Queries:
    known = [[word for word in words if model.store.rows([word])[0] >= 0] for words in phenomena().values()]
    known = [words for words in known if len(words) >= SIZE]
    large = [i for i, words in enumerate(known) if len(words) >= 2 * SIZE]
    # one of four queries divides a category
    if rng.random() < 0.25:
        of_groups = [rng.choice(large)]
        groups = rng.permutation(known[of_groups[0]])[: 2 * SIZE].reshape(2, SIZE).tolist()
    else:
        of_groups = rng.choice(len(known), 2, replace=False)
        groups = [rng.permutation(known[i])[:SIZE].tolist() for i in of_groups]
    yield from with_topics(model, rng, attributes, groups)


def phenomena() -> dict[str, list[str]]:
    """The sets of config/phenomena.yaml."""
    found = {}
    for name, entry in yaml.safe_load(
        (ROOT / "config" / "phenomena.yaml").read_text(encoding="utf-8")
    ).items():
        words = entry["words"]
        if isinstance(words, str):
            file, key = words.split(".")
            words = sets_of(file)[key]
        found[name] = [word for word in dict.fromkeys(words) if word not in entry.get("without", ())]
    return found


def draws(model: Model, rng: np.random.Generator, attributes: int) -> Queries:
    """Queries whose groups are a draw in place of one of `BASES`."""
    sources = []
    for names in BASES:
        keys = tuple(find(name, words_of(name), model.store, OPTIONS).keys for name in names)
        sources.append(draws_of(model.store, model.pool, keys, 7, BETWEEN))
    # of some there are too few
    sources = [source for source in sources if not isinstance(source, str)]
    source = sources[rng.integers(len(sources))]
    block = source.block(model.store, model.pool, int(rng.integers(4)))
    draw = rng.integers(len(block.numbers))
    groups = [[model.pool.entries[i] for i in places[draw]] for places in block.places]
    yield from with_topics(model, rng, attributes, groups)


def pairs_of_neighbours(model: Model, rng: np.random.Generator, attributes: int) -> Queries:
    """Queries of pairs: a word and its nearest neighbours, and the nearest word to each of these."""
    free = model.is_word.copy()
    first = model.topic(free, rng, None, SIZE - 1)
    second = [int(model.source.nearest(model.source.vectors[word], free, 1)[0]) for word in first]
    yield from with_topics(model, rng, attributes, model.words([first, second]))


def pairs_of_gender(model: Model, rng: np.random.Generator, attributes: int) -> Queries:
    """Queries of 8 pairs of a man's word and a woman's, of those that Bolukbasi et al. equalize."""
    known = {tuple(word.lower() for word in pair) for pair in sets_of("debiaswe")["equalize_pairs"]}
    known = sorted(pair for pair in known if (model.store.rows(pair) >= 0).all())
    pairs = rng.permutation(known)
    # no word in two pairs
    pairs = pairs[np.sort(np.unique(pairs[:, 0], return_index=True)[1])][:SIZE]
    yield from with_topics(model, rng, attributes, pairs.T.tolist())


def with_topics(model: Model, rng: np.random.Generator, attributes: int, groups: Sets) -> Queries:
    free = model.is_word & ~np.isin(model.source.words, [word for group in groups for word in group])
    for _ in range(attributes):
        others = free.copy()
        yield Query(groups, model.words([model.topic(others, rng, None, NEAREST) for _ in range(2)]))


@cache
def sets_of(file: str) -> dict[str, list]:
    """The sets of a file of data/word_sets."""
    return json.loads((ROOT / "data" / "word_sets" / f"{file}.json").read_text(encoding="utf-8"))["sets"]


def words_of(name: str) -> list[str]:
    return sets_of("weat")[name]


Way = Callable[[Model, np.random.Generator, int], Queries]
TABLES: dict[str, tuple[Way, ...]] = {
    "draws": (draws,),
    "ways": (nearest, of_60, categories),
    "pairs": (pairs_of_neighbours, pairs_of_gender),
}


METRICS_OF = {"draws": ALL, "ways": CHEAP, "pairs": OF_PAIRS}


def queries_of(model: Model, way: Way, given: argparse.Namespace) -> Queries:
    for number in range(given.groups):
        yield from way(model, np.random.default_rng([given.seed, number]), given.attributes)


def level(models: Sequence[Model], way: Way, names: Sequence[str], given: argparse.Namespace) -> None:
    """Print the table of a way: a row per metric, a column per model."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for model in models:
        for query in queries_of(model, way, given):
            for name in names:
                p_value, _ = p_of(model, name, query)
                found[name, model.name].append(p_value)
        print(model.name, way.__name__, "done", file=sys.stderr)
    print(
        f"\n{way.__name__}: share of p <= .05 (queries without a test), of {given.groups * given.attributes}\n"
    )
    print(f"| metric | {' | '.join(model.name for model in models)} | all |\n|{' --- |' * (len(models) + 2)}")
    for name in names:
        p_values = [np.array(found[name, model.name]) for model in models]
        p_values.append(np.concatenate(p_values))
        cells = [f"{rejected(p):.3f} ({np.isnan(p).sum()})" for p in p_values]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def p_of(
    model: Model,
    name: str,
    query: Query,
    change: Callable[[list[WordVectors], list[WordVectors]], list[WordVectors]] = lambda _, attributes: (
        attributes
    ),
    match: str = BETWEEN,
) -> tuple[float, float]:
    """p and standardised bias of a metric's test, NaN where there is none. `change` takes target and attribute sets
    to other attribute sets."""
    parameters = PARAMETERS.get(name, {})
    metric = metrics.metric(name).under(parameters)
    if not query.exactly(metric.template):
        query = Query([s.words for s in query.target_sets], [query.attribute_sets[0].words])
    (sample,) = look_up(MeasurementSpec(metric, parameters, model.options), query, model.store)
    test = groups_test(
        replace(sample, attributes=change(sample.targets, sample.attributes)),
        model.pool,
        **{"draws": DRAWS, "stop": 20, "alternative": DISTANCE, "match": match, "seed": 0},
    )
    return (
        (math.nan, math.nan)
        if isinstance(test, str)
        else (test.test.p_value, test.scale.read(test.test.observed).value)
    )


def rejected(p_values: np.ndarray) -> float:
    """The share of p <= .05 of those that are there."""
    has_test = ~np.isnan(p_values)
    return float((p_values[has_test] <= LEVEL + 1e-12).mean()) if has_test.any() else math.nan


def power(models: Sequence[Model], names: Sequence[str], given: argparse.Namespace) -> None:
    """Print the table of power: a row per metric and shift, a column per model."""
    found: dict[tuple, list[float]] = defaultdict(list)
    for model in models:
        for query in queries_of(model, nearest, argparse.Namespace(**{**vars(given), "attributes": 1})):
            for name, shift, match in product(names, SHIFTS, (WITHIN, BETWEEN)):
                p_value, _ = p_of(model, name, query, partial(shift_attributes, shift=shift), match)
                found[name, shift, match, model.name].append(p_value)
        print(model.name, "power done", file=sys.stderr)
    print(f"\npower: share of p <= .05 under match: within, between, of {given.groups}\n")
    print(
        f"| metric | moved by | {' | '.join(model.name for model in models)} |\n|{' --- |' * (len(models) + 2)}"
    )
    for name, shift in product(names, SHIFTS):
        cells = [
            ", ".join(
                f"{rejected(np.array(found[name, shift, m, model.name])):.2f}" for m in (WITHIN, BETWEEN)
            )
            for model in models
        ]
        print(f"| {name} | {shift:g} | {' | '.join(cells)} |", flush=True)


def shift_attributes(
    targets: list[WordVectors], attributes: list[WordVectors], *, shift: float
) -> list[WordVectors]:
    """The attribute sets, nearer to one of the groups each."""
    means = [unit(s.vectors).mean(axis=0) for s in targets]
    direction = unit(means[0] - means[1])
    lengths = [np.linalg.norm(s.vectors, axis=1, keepdims=True) for s in attributes]
    return [
        replace(s, vectors=s.vectors + sign * shift * length * direction)
        for s, length, sign in zip(attributes, lengths, (1, -1), strict=False)
    ]


def caliskan(models: Sequence[Model]) -> None:
    """Print the ten tests, a table for the effect size and one for WEAT's statistic, with as many draws as the
    defaults allow."""
    criteria = yaml.safe_load((ROOT / "config" / "queries" / "caliskan.yaml").read_text(encoding="utf-8"))
    for name in ("weat_es", "weat"):
        print(f"\n{name}: value (p of the permutation test): within, between, standardised bias\n")
        print(f"| test | {' | '.join(model.name for model in models)} |\n|{' --- |' * (len(models) + 1)}")
        for key, entry in criteria["Caliskan et al. 2017"]["queries"].items():
            sides = [
                {
                    k: words if isinstance(words, list) else words_of(words.split(".")[1])
                    for k, words in sets.items()
                }
                for sets in (entry["targets"], entry["attributes"])
            ]
            query = Query(*(list(side.values()) for side in sides))
            cells = [both_nulls(model, name, query) for model in models]
            title = ", ".join(" / ".join(side) for side in sides)
            print(f"| {key[5:]} {title} | {' | '.join(cells)} |", flush=True)


def both_nulls(model: Model, name: str, query: Query) -> str:
    """A metric's value, and its tests."""
    records = [
        infer_query(
            MeasurementSpec(
                metrics.metric(name),
                words=model.options,
                inference={"permutation": {}, "random_groups": {"match": match}},
            ),
            query,
            model.store,
            pool=model.pool,
        )[0][0]
        for match in (WITHIN, BETWEEN)
    ]
    if records[1]["status"] != "ok":
        return "lacks words"
    tests = [record["random_groups"] for record in records]
    numbers = [f"{test['p_value']:.2g}" if "p_value" in test else "none" for test in tests]
    scale = Scale.of_record(tests[1])
    numbers += [f"{scale.read(records[1]['value']).value:.2f}"] if scale else []
    return f"{records[1]['value']:.2f} ({records[1]['permutation']['p_value']:.2g}): {', '.join(numbers)}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--stores", type=Path, default=Path(os.environ.get("BIASGRID_EMBEDDINGS", "data/embeddings"))
    )
    parser.add_argument("--groups", type=int, default=250)
    parser.add_argument("--attributes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", nargs="+", default=[*TABLES, "power", "caliskan"])
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--normalize", action="store_true", help="vectors at unit length")
    parser.add_argument("--ways", nargs="+", help="of the tables of levels, these ways alone")
    parser.add_argument("--metrics", nargs="+", help="other metrics than the table's")
    given = parser.parse_args()
    models = [Model(given.stores, name, given.normalize) for name in given.models]
    for table in given.tables:
        if table == "power":
            power(models, given.metrics or ("weat", "weat_es", "rnd", "ripa"), given)
        elif table == "caliskan":
            caliskan(models)
        else:
            for way in (w for w in TABLES[table] if not given.ways or w.__name__ in given.ways):
                level(models, way, given.metrics or METRICS_OF[table], given)


if __name__ == "__main__":
    with threadpool_limits(1), np.errstate(all="ignore"):
        main()
