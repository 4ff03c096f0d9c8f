"""Are the tests calibrated on real vectors? Both tests of every metric on queries that are drawn from real models.

A query has two groups, its target sets, and two attribute sets; its kind says how they are drawn: such that there is
nothing to find, or such that there is something. See docs/simulation.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import binomtest
from threadpoolctl import threadpool_limits

from . import metrics
from .embeddings.store import EmbeddingStore
from .errors import BiasgridError
from .geometry import unit
from .inference import infer_query
from .inference.pool import Pool
from .query import Query

TESTS = ("permutation", "random_groups")
LEVELS = (0.05, 0.01)
COLUMNS = ["model", "kind", "metric", "test", "queries", "no_test", "lowest_p"]
COLUMNS += ["rejected_0.05", "low", "high", "low_of_all", "high_of_all", "rejected_0.01", "reason"]
# p-values that differ by less are equal
ROUNDING = 1e-13

Places = list[np.ndarray]


class Words:
    """The words that queries are drawn from: those of a model's first `vocabulary` rows that have a direction."""

    def __init__(self, model: EmbeddingStore, vocabulary: int):
        entries, rows = model.vocabulary(vocabulary)
        vectors = unit(model.take(entries, rows))
        there = np.isfinite(vectors).all(axis=1)
        prefix = len(model.vocab_prefix)
        self.words = np.array([entry[prefix:] for entry in entries], dtype=object)[there]
        self.vectors = vectors[there]

    def at_random(self, rng: np.random.Generator, free: np.ndarray, size: int) -> np.ndarray:
        """`size` of the words that are `free`; they are free no more."""
        chosen = rng.choice(np.flatnonzero(free), size, replace=False)
        free[chosen] = False
        return chosen

    def nearest(self, vector: np.ndarray, free: np.ndarray, size: int) -> np.ndarray:
        """The `size` words of those that are `free` whose cosine with a vector is largest; they are free no more."""
        closeness = np.where(free, self.vectors @ vector, -np.inf)
        chosen = np.argsort(-closeness, kind="stable")[:size]
        free[chosen] = False
        return chosen


def _random_groups(words: Words, rng: np.random.Generator, free: np.ndarray, size: int) -> Places:
    return [words.at_random(rng, free, size) for _ in range(2)]


def _coherent_groups(words: Words, rng: np.random.Generator, free: np.ndarray, size: int) -> Places:
    """Twice a random word and the words nearest to it."""
    groups = []
    for _ in range(2):
        seed = words.at_random(rng, free, 1)
        groups.append(np.concatenate([seed, words.nearest(words.vectors[seed[0]], free, size - 1)]))
    return groups


def _random_words(words, rng, free, size, groups) -> Places:
    return _random_groups(words, rng, free, size)


def _apart(words, rng, free, size, groups) -> Places:
    """The words nearest to the first group, and those nearest to the second."""
    return [words.nearest(words.vectors[group].mean(axis=0), free, size) for group in groups]


def _leaning(words, rng, free, size, groups) -> Places:
    """Both sets of words near the first group."""
    near = words.nearest(words.vectors[groups[0]].mean(axis=0), free, 2 * size)
    return np.split(rng.permutation(near), 2)


def _mixed(words, rng, free, size, groups) -> Places:
    """Half of either set from words near the first group, half from words near the second."""
    first, second = (rng.permutation(near) for near in _apart(words, rng, free, size, groups))
    half = size // 2
    return [np.concatenate([first[:half], second[half:]]), np.concatenate([first[half:], second[:half]])]


# kind -> how its groups are drawn, and then its attribute sets; nothing is to be found in the first two
KINDS: dict[str, tuple[Callable, Callable]] = {
    "random": (_random_groups, _random_words),
    "coherent": (_coherent_groups, _random_words),
    "apart": (_coherent_groups, _apart),
    "leaning": (_coherent_groups, _leaning),
    "mixed": (_coherent_groups, _mixed),
}
NOTHING = ("random", "coherent")


def draw_query(kind: str, words: Words, size: int, rng: np.random.Generator) -> Query:
    """A query of two target sets, the groups, and two attribute sets, `size` words each; no word is in two sets."""
    of_groups, of_words = KINDS[kind]
    free = np.ones(len(words.words), dtype=bool)
    groups = of_groups(words, rng, free, size)
    sets = of_words(words, rng, free, size, groups)
    return Query.of(*([words.words[places].tolist() for places in side] for side in (groups, sets)))


def p_values(
    model: EmbeddingStore,
    pool: Pool,
    kind: str,
    entries: Mapping[str, Mapping[str, Any]],
    *,
    seed: int,
    words: int,
    vocabulary: int,
    queries: int,
    draws: int,
) -> dict[str, dict[str, dict[str, Any]]]:
    """Both tests of metrics on queries of a kind that are drawn from a model's first `vocabulary` rows.

    `entries` are metrics as a config has them: key -> `metric`, `params`. A metric that takes one attribute set is
    measured on the first. Returns metric -> test -> `p_values` (one for each query, None where there is no test),
    `lowest`, the lowest p-value that was possible, and `reasons`, why there was no test, by how often.
    Raises BiasgridError for a model that has too few words.
    """
    source = Words(model, vocabulary)
    if len(source.words) < 4 * words:
        raise BiasgridError(
            f"{model.name}: {len(source.words)} of its first {vocabulary} rows are words with a direction; a query "
            f"needs {4 * words}"
        )
    of_metrics = {key: metrics.metric(entry.get("metric", key)) for key, entry in entries.items()}
    found = {
        key: {test: {"p_values": [], "lowest": None, "reasons": {}} for test in TESTS} for key in entries
    }
    # BLAS of several threads rounds otherwise
    with threadpool_limits(1):
        for i in range(queries):
            rng = np.random.default_rng([seed, i])
            query = draw_query(kind, source, words, rng)
            seeds = rng.integers(2**32, size=2).tolist()
            for key, metric in of_metrics.items():
                (result, *_), _ = infer_query(
                    metric,
                    query,
                    model,
                    entries[key]["params"],
                    seed=seeds[0],
                    draw_seed=seeds[1],
                    # drawn, never enumerated
                    permutation={"draws": draws, "exact": 0},
                    random_groups={"draws": draws},
                    pool=pool,
                )
                for test in TESTS:
                    _note(found[key][test], result.get(test, {"reason": f"status: {result['status']}"}))
    return found


def _note(found: dict[str, Any], tested: Mapping[str, Any]) -> None:
    p_value = tested.get("p_value")
    found["p_values"].append(p_value)
    if p_value is None:
        reason = tested.get("reason", "the metric has no value for some permutations")
        found["reasons"][reason] = found["reasons"].get(reason, 0) + 1
    else:
        found["lowest"] = max(found["lowest"] or 0.0, tested["p_lowest"])


def shares(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple]:
    """Rows of the table, COLUMNS, from what `p_values` found (`found`) of each `model` and `kind`.

    Two intervals (Clopper & Pearson 1934) of the share of p <= .05: 95 % by itself, and of all rows at once (95 %,
    Bonferroni).
    """
    tested = [
        (record, metric, test)
        for record in records
        for metric, of_tests in record["found"].items()
        for test in of_tests
    ]
    rows = sum(any(p is not None for p in r["found"][m][test]["p_values"]) for r, m, test in tested)
    for record, metric, test in tested:
        of_test = record["found"][metric][test]
        values = np.array([p for p in of_test["p_values"] if p is not None])
        number, without = len(of_test["p_values"]), len(of_test["p_values"]) - len(values)
        reason = max(of_test["reasons"], key=of_test["reasons"].get, default=None)
        # a p-value of exactly the level, as (k + 1) / (n + 1) gives it, rejects
        count, few = (int((values <= level + ROUNDING).sum()) for level in LEVELS)
        ends = [math.nan] * 4
        if len(values):
            share = binomtest(count, len(values))
            ends = [*share.proportion_ci(0.95, "exact"), *share.proportion_ci(1 - 0.05 / rows, "exact")]
        rejected = [n / len(values) if len(values) else math.nan for n in (count, few)]
        lowest = math.nan if of_test["lowest"] is None else of_test["lowest"]
        yield (
            *(record["model"], record["kind"], metric, test, number, without, lowest),
            *(rejected[0], *ends, rejected[1], reason),
        )
