"""Is the test of what models are ranked by calibrated? Random criteria on real vectors, in three designs.

    python benchmarks/aggregate_groups.py [--model data/embeddings/word2vec-google-news-300-subset] [--criteria 300]

A random criterion has groups that are no other than random groups: a word and words of its neighbourhood, and further
such groups near to it, which are made without the code of the test (`siblings`); and attribute sets of other topics.
Its aggregate is tested as a study tests it (`measure.aggregates`). Designs:

one pair           two groups, three queries that differ in the attribute sets
common first       groups A, B, C, D: queries A and B, A and C, A and D
each with each     groups A, B, C: queries A and B, A and C, B and C

share  criteria whose p-value is at most .05, with the 95 % interval that this number of criteria leaves it
none   criteria without a test: too few words start groups that are as coherent
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.stats import binomtest
from threadpoolctl import threadpool_limits

from biasgrid import EmbeddingStore, Query, metrics
from biasgrid.core.geometry import unit
from biasgrid.measure.aggregates import infer_aggregates
from biasgrid.measure.candidate_words import pool_of
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec

ROOT = Path(__file__).resolve().parents[1]
WORDS, NEIGHBOURS, TOPICS = 6, 30, 3
DESIGNS = {
    "one pair": [(0, 1), (0, 1), (0, 1)],
    "common first": [(0, 1), (0, 2), (0, 3)],
    "each with each": [(0, 1), (0, 2), (1, 2)],
}
METRICS = ("weat", "weat_es", "rnd", "mac")
OPTIONS = {"draws": 4999, "stop": 20, "alternative": "bias", "match": "between"}


class Criteria:
    """Random criteria of a model's words."""

    def __init__(self, model: EmbeddingStore, vocabulary: int = 12_000):
        entries, rows = model.vocabulary(vocabulary)
        plain = [i for i, entry in enumerate(entries) if entry.isalpha()]
        self.entries = np.array([entries[i] for i in plain], dtype=object)
        self.vectors = unit(model.take(list(self.entries), np.asarray(rows)[plain]))

    def topic(self, near: np.ndarray | None, free: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Words around a random word; one that is not far from the mean of a group, where there is one."""
        if near is None:
            seed = rng.choice(np.flatnonzero(free))
        else:
            order = np.argsort(-(self.vectors @ near))
            order = order[free[order]]
            seed = order[int(np.exp(rng.uniform(np.log(10), np.log(len(order) / 4))))]
        closeness = np.where(free, self.vectors @ self.vectors[seed], -np.inf)
        closeness[seed] = np.inf
        words = rng.permutation(np.argsort(-closeness)[1 : NEIGHBOURS + 1])[: WORDS - 1]
        words = np.array([seed, *words])
        free[words] = False
        return words

    def draw(self, pairs: list[tuple[int, int]], one: bool, rng: np.random.Generator) -> list[Query]:
        """The queries of a criterion; with `one`, of one attribute set."""
        free = np.ones(len(self.entries), dtype=bool)
        groups = [self.topic(None, free, rng)]
        for _ in range(max(max(pairs))):
            groups.append(self.topic(self.vectors[groups[0]].mean(axis=0), free, rng))
        queries = []
        for number, pair in enumerate(pairs):
            topics = [self.topic(None, free, rng) for _ in range(1 if one else 2)]
            sets = [
                [list(self.entries[words]) for words in side] for side in ([groups[i] for i in pair], topics)
            ]
            queries.append(Query(*sets, name=f"query {number}"))
        return queries


def p_value(name: str, queries: list[Query], model: EmbeddingStore, seed: int) -> float:
    """Of the criterion's aggregate; NaN where there is no test."""
    metric, inference = metrics.metric(name), {"random_groups": OPTIONS, "draw_seed": seed}
    cells = []
    for query in queries:
        results, _ = infer_query(
            MeasurementSpec(metric, inference={"random_groups": OPTIONS}, draw_seed=seed), query, model
        )
        record = {"criterion": "C", "function": name, "params": {}, "words": {}, "inference": inference}
        cells.append((record, query, results))
    (test,) = infer_aggregates(
        cells, model, pool_of(model), criteria=["C"], ranked=["C"], aggregation="abs_avg"
    )
    return test.get("p_value", np.nan)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--model", default=ROOT / "data" / "embeddings" / "word2vec-google-news-300-subset", type=Path
    )
    parser.add_argument("--criteria", default=300, type=int)
    parser.add_argument("--seed", default=11, type=int)
    given = parser.parse_args()
    model = EmbeddingStore.open(given.model)
    criteria = Criteria(model)
    print(f"{'design':16} {'metric':8} {'share':>6} {'95 % interval':>14} {'criteria':>9} {'none':>5}")
    for design, pairs in DESIGNS.items():
        p_values: dict[str, list[float]] = {name: [] for name in METRICS}
        for number in range(given.criteria):
            for name in METRICS:
                rng = np.random.default_rng([given.seed, number])
                queries = criteria.draw(pairs, metrics.metric(name).template[1] == 1, rng)
                p_values[name].append(p_value(name, queries, model, given.seed + number))
        for name, values in p_values.items():
            tested = np.array(values)[~np.isnan(values)]
            count = int(np.count_nonzero(tested <= 0.05))
            low, high = binomtest(count, len(tested)).proportion_ci(0.95, "exact")
            print(
                f"{design:16} {name:8} {count / len(tested):6.3f} {f'{low:.3f} to {high:.3f}':>14} "
                f"{len(tested):9} {len(values) - len(tested):5}",
                flush=True,
            )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
