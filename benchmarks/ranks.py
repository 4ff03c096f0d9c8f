"""How well the intervals of ranks, and the order of two models, hold: real vectors, and a truth that is known.

    python benchmarks/ranks.py [--stores data/embeddings] [--words 8] [--worlds 100] [--seed 7]

The stores are those of three models that `make study` and `make bolukbasi` fetch (or the folder that
BIASGRID_EMBEDDINGS names). Each set of words is a population: the 150 words of all models that are nearest to a seed
set's centroid, and to no other's. A world draws `--words` words of each population, and six queries, as a study has
them; it measures and resamples them by the code of a study. The truth is what the models score on average over 1,500
such draws, and so which of them is less biased.

The units that are ranked are the three models, two of them with the gender direction taken away, and a twin of each,
in which the vectors of a population are dealt anew to its words: it has other scores in every world, and the same
truth. A further pair, WEAT only, has one truth, too, and unlike spreads: in `none` the words of both target
populations are shuffled, so that it has no bias, and what it scores is scatter; `some` has its bias, and a vector
that all words share makes its scores as small. Rows are for absolute values of resamples ("raw") and for what
`tables.rank_samples` makes of them, which takes none ("moved").

covers   intervals of a rank, of 95 %, that hold the true one (of ties the average)
equal    pairs of one truth: mean of the share, and how many are decided (below .025 or above .975)
unlike   the same of `none` and `some`: mean share in which `none` ranks as less biased
right    pairs whose share is in these bins (or 1 - share): the mean share, and how many are in the true order
against  pairs whose share says the opposite of the observed ranks
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

from biasgrid import EmbeddingStore, metrics
from biasgrid.core.geometry import unit
from biasgrid.debias import UNTOUCHED
from biasgrid.measure.results import KEYS
from biasgrid.tables.order import order as order_of
from biasgrid.tables.rank_intervals import rank_intervals
from biasgrid.tables.rank_samples import rank_samples
from biasgrid.tables.rankings import rankings as rankings_of

ROOT = Path(__file__).resolve().parents[1]
SETS = json.loads((ROOT / "data" / "word_sets" / "weat.json").read_text(encoding="utf-8"))["sets"]
MODELS = ("bolukbasi-w2v-gnews-small", "glove-6b-50d", "glove-840b-300d-filtered")
WITHOUT_GENDER = (MODELS[0], MODELS[2])
PAIRS = (("man", "woman"), ("father", "mother"), ("son", "daughter"), ("male", "female"), ("boy", "girl"))
TARGETS = ("male_terms", "female_terms")
ATTRIBUTES = ("career", "family", "math", "arts", "science", "pleasant_5", "unpleasant_5a")
ATTRIBUTES += ("flowers", "insects", "instruments", "weapons")
MEASURED = ("weat", "weat_es", "rnd", "ect", "mac")
POPULATION, QUERIES, RESAMPLES, TRUTH, LEVEL = 150, 6, 300, 1500, 0.95
BINS = (0.5, 0.6, 0.75, 0.9, 0.975, 1.01)
Vectors = list[np.ndarray]


def populations(stores: dict[str, EmbeddingStore]) -> list[list[str]]:
    """The words of each target and attribute population."""
    common = set.intersection(*(set(store.vocabulary(10**7)[0]) for store in stores.values()))
    words = sorted(word for word in common if word.isalpha() and word.islower() and len(word) > 2)
    vectors = unit(vectors_of(stores[MODELS[2]], words))
    places = {word: i for i, word in enumerate(words)}
    centroids = [
        vectors[[places[word] for word in SETS[name] if word in places]].mean(axis=0)
        for name in TARGETS + ATTRIBUTES
    ]
    near = vectors @ unit(np.array(centroids)).T
    own = near.argmax(axis=1)
    return [
        [words[i] for i in np.argsort(-near[:, j], kind="stable") if own[i] == j][:POPULATION]
        for j in range(len(centroids))
    ]


def vectors_of(store: EmbeddingStore, words: Sequence[str]) -> np.ndarray:
    return np.asarray(store.take(words, store.rows(words)), dtype=np.float64)


def units(stores: dict[str, EmbeddingStore], rng: np.random.Generator) -> dict[str, Vectors]:
    """Vectors of all populations, by what is ranked."""
    words = populations(stores)
    found = {}
    for name, store in stores.items():
        sets = [vectors_of(store, population) for population in words]
        found[name] = sets
        if name in WITHOUT_GENDER:
            first, second = (vectors_of(store, side) for side in zip(*PAIRS, strict=True))
            gender = np.linalg.svd(first - second, full_matrices=False)[2][0]
            found[f"{name} without gender"] = [s - np.outer(s @ gender, gender) for s in sets]
    twins = {f"{name} twin": [rng.permutation(s) for s in sets] for name, sets in found.items()}
    return found | twins


def pooled(weights: Sequence[np.ndarray]) -> Vectors:
    """Weights of each set over the words of all sets of its side."""
    ends = np.cumsum([w.shape[1] for w in weights])
    made = [np.zeros((len(w), ends[-1])) for w in weights]
    for pool, w, end in zip(made, weights, ends, strict=True):
        pool[:, end - w.shape[1] : end] = w
    return made


def measured(
    name: str, targets: Vectors, attributes: Vectors, weights: tuple[Vectors, Vectors]
) -> np.ndarray:
    statistic = metrics.metric(name).resampled(np.concatenate(targets), np.concatenate(attributes))
    return statistic(*map(pooled, weights))


def queries_of(name: str) -> list[tuple[int, ...]]:
    """Attribute populations of all queries of a metric: one or, of WEAT and MAC, two."""
    return list(combinations(range(len(ATTRIBUTES)), 1 if metrics.metric(name).template[1] == 1 else 2))


def truth(name: str, sets: Vectors, weights: Vectors) -> np.ndarray:
    """The mean distance from neutral over many draws of words, by query."""
    targets, attributes = sets[: len(TARGETS)], sets[len(TARGETS) :]
    of_targets, of_attributes = weights[: len(TARGETS)], weights[len(TARGETS) :]
    return np.array(
        [
            np.abs(
                measured(
                    name,
                    targets,
                    [attributes[i] for i in query],
                    (of_targets, [of_attributes[i] for i in query]),
                )
                - metrics.metric(name).neutral
            ).mean()
            for query in queries_of(name)
        ]
    )


def draws(words: int, size: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Weights (count, size) of so many words of a population, none twice."""
    return (rng.random((count, size)).argsort(axis=1).argsort(axis=1) < words).astype(float)


def with_one_truth(sets: Vectors, weights: Vectors, rng: np.random.Generator) -> dict[str, Vectors]:
    """`none` and `some`: without and with bias, and of one expected WEAT."""
    ends = len(sets[0]), len(sets[0]) + len(sets[1])
    shuffled = rng.permutation(np.concatenate(sets[:2]))
    none = [shuffled[: ends[0]], shuffled[ends[0] :], *sets[2:]]
    target = truth("weat", none, weights).mean()

    def some(length: float) -> Vectors:
        # a dimension of its own, in which all words are alike
        return [np.column_stack([unit(s), np.full(len(s), length)]) for s in sets]

    length = brentq(lambda x: truth("weat", some(x), weights).mean() - target, 0, 20, rtol=1e-3)
    return {"none": none, "some": some(length)}


def world(
    name: str, of_units: dict[str, Vectors], words: int, key: str, rng: np.random.Generator
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Scores of one world, a row per unit and query; their resamples; and how often the row's query is in each."""
    sets = next(iter(of_units.values()))
    places = [rng.choice(len(s), words, replace=False) for s in sets]
    # words of a set are drawn alike for all units and queries, as in a study
    drawn = rng.integers(words, size=(len(sets), RESAMPLES, words))
    counts = [np.array([np.bincount(row, minlength=words) for row in rows], float) for rows in drawn]
    queries = queries_of(name)
    chosen = rng.choice(len(queries), QUERIES, replace=False)
    of_queries = rng.integers(QUERIES, size=(RESAMPLES, QUERIES))
    rows, samples, times = [], [], []
    for unit_name, sets in of_units.items():
        for i, query in enumerate(chosen):
            sides = [0, 1], [len(TARGETS) + j for j in queries[query]]
            vectors = [[sets[j][places[j]] for j in side] for side in sides]
            once = [[np.ones((1, words))] * len(side) for side in sides]
            again = [[counts[j] for j in side] for side in sides]
            (value,) = measured(name, *vectors, once)
            rows.append(("G", query, key, unit_name, UNTOUCHED, value))
            samples.append(measured(name, *vectors, again))
            times.append(np.count_nonzero(of_queries == i, axis=1))
    return pd.DataFrame(rows, columns=[*KEYS, "value"]), np.array(samples), np.array(times)


def raw(scores: pd.DataFrame, samples: np.ndarray, times: np.ndarray, neutral: float) -> np.ndarray:
    """What `tables.rank_samples` gives for one metric, of absolute values of resamples."""
    distances, weights = np.abs(samples - neutral), times.astype(float)
    by_unit = scores.groupby("model").indices
    ranks = [
        rankdata(
            [np.nansum(distances[i] * w[i], axis=0) / w[i].sum(axis=0) for _, i in sorted(by_unit.items())],
            axis=0,
        )
        for w in (np.ones_like(weights), weights, weights)
    ]
    return np.array(ranks, dtype=np.float32)


def simulate(
    name: str, of_units: dict[str, Vectors], true: dict[str, np.ndarray], words: int, worlds: int, seed: int
) -> pd.DataFrame:
    """A row per pair of units, world, kind of resamples and how they are ranked: the share, the truth, what was
    observed; and per unit, under model_b "", whether the interval of its rank holds."""
    rng, neutral, rows = np.random.default_rng(seed), metrics.metric(name).neutral, []
    for number in range(worlds):
        scores, samples, times = world(name, of_units, words, name, rng)
        options = {"ranked": ["G"], "neutral": {name: neutral}}
        rankings = rankings_of(scores, **options).query("criterion == 'G'").reset_index(drop=True)
        moved = rank_samples(scores, samples, times, **options)[1][:, : len(rankings)]
        queries = scores["query"].unique()
        observed = dict(zip(rankings["model"], rankings["value"], strict=True))
        for how, ranks in (("raw", raw(scores, samples, times, neutral)), ("moved", moved)):
            order = order_of(rankings, ranks)
            intervals = rank_intervals(rankings, ranks, LEVEL)
            for kind, places in (("words", queries), ("both", slice(None))):
                truth_of = {unit_name: values[places].mean() for unit_name, values in true.items()}
                ranked = pd.Series(truth_of).round(12).rank()
                key = name, number, how, kind
                for row in intervals[intervals["resampled"] == kind].itertuples():
                    rows.append((*key, row.model, "", row.low <= ranked[row.model] <= row.high, 0.0, 0.0))
                for a, b, share in order.loc[
                    order["resampled"] == kind, ["model_a", "model_b", "share_of_resamples"]
                ].itertuples(index=False):
                    rows.append((*key, a, b, share, truth_of[b] - truth_of[a], observed[b] - observed[a]))
    columns = ["metric", "world", "how", "kind", "model_a", "model_b", "share", "truth", "observed"]
    return pd.DataFrame(rows, columns=columns)


def summary(found: pd.DataFrame) -> dict[str, str]:
    """The numbers that are printed for the rows of one metric, kind and way to rank."""
    pairs = found[found["model_b"] != ""]
    share, sure = pairs["share"], pairs["share"].clip(lower=1 - pairs["share"])
    right = (share > 0.5) == (pairs["truth"] > 0)
    equal = pairs["truth"].abs() < 1e-9
    bins = pd.cut(sure[~equal], BINS, right=False)
    against = ((share - 0.5) * pairs["observed"] < 0).mean()
    decided = ((share < 0.025) | (share > 0.975))[equal].mean()
    calibrated = [
        f"{sure[part.index].mean():.2f}:{part.mean():.2f}"
        for _, part in right[~equal].groupby(bins, observed=True)
    ]
    return {
        "covers": f"{found.loc[found['model_b'] == '', 'share'].mean():.3f}",
        "equal": f"{share[equal].mean():.2f} {decided:.3f}",
        "against": f"{against:.3f}",
        "right": " ".join(calibrated),
    }


def arguments(description: str | None) -> argparse.Namespace:
    """The command line of a benchmark of these worlds."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stores", default=os.environ.get("BIASGRID_EMBEDDINGS", "data/embeddings"))
    parser.add_argument("--words", type=int, default=8)
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--metrics", nargs="+", default=list(MEASURED))
    return parser.parse_args()


def drawn(given: argparse.Namespace, rng: np.random.Generator) -> tuple[dict[str, Vectors], Vectors]:
    """The units' vectors, and the draws of words that the truth is a mean over."""
    of_units = units({name: EmbeddingStore.open(Path(given.stores) / name) for name in MODELS}, rng)
    return of_units, [draws(given.words, POPULATION, TRUTH, rng) for _ in TARGETS + ATTRIBUTES]


def truths(name: str, of_units: dict[str, Vectors], weights: Vectors) -> dict[str, np.ndarray]:
    """The truth of each unit under a metric, by query; a twin's is that of its original."""
    true = {key: truth(name, sets, weights) for key, sets in of_units.items() if not key.endswith(" twin")}
    return true | {f"{key} twin": values for key, values in true.items()}


def main() -> None:
    given = arguments(__doc__)
    rng = np.random.default_rng(given.seed)
    of_units, weights = drawn(given, rng)
    unlike = with_one_truth(of_units[MODELS[0]], weights, rng) if "weat" in given.metrics else {}
    print(f"{'metric':8} {'resampled':9} {'':5} covers  equal       against  right")
    for name in given.metrics:
        true = truths(name, of_units, weights)
        found = simulate(name, of_units, true, given.words, given.worlds, given.seed)
        for (kind, how), part in found.groupby(["kind", "how"], sort=False):
            says = summary(part)
            print(
                f"{name:8} {kind:9} {how:5} {says['covers']}   {says['equal']}  {says['against']}    {says['right']}"
            )
    if unlike:
        true = {key: truth("weat", sets, weights) for key, sets in unlike.items()}
        print("unlike:", {key: round(float(values.mean()), 4) for key, values in true.items()})
        found = simulate("weat", unlike, true, given.words, 3 * given.worlds, given.seed)
        for (kind, how), part in found[found["model_b"] != ""].groupby(["kind", "how"], sort=False):
            share = part["share"]
            decided = f"{(share < 0.025).mean():.3f} {(share > 0.975).mean():.3f}"
            print(
                f"unlike   {kind:9} {how:5} mean share {share.mean():.2f}, decided against and for none {decided}"
            )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
