"""What inference costs: permutation tests and bootstraps, against one matrix product and against loops, in one run.

    python benchmarks/inference.py [--model data/embeddings/word2vec-google-news-300-subset]

The model is a store that has WEAT's words (`make study` makes this one). Times are from word vectors to p-value or
intervals, without looking words up, with BLAS on one thread as in a cell of the grid; the best of several runs
counts, each of which draws anew. The loops call a metric's function once a partition or sample, which is how a
metric without `resampled` is tested.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from biasgrid import EmbeddingStore, Query, metrics
from biasgrid.measure.bootstrap import intervals
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.measure.metric_input import look_up
from biasgrid.measure.resampler import Resampler
from biasgrid.measure.significance.permutation import query_permutation_test
from biasgrid.metrics import Metric

ROOT = Path(__file__).resolve().parents[1]
SETS = json.loads((ROOT / "data" / "word_sets" / "weat.json").read_text(encoding="utf-8"))["sets"]
SMALL = ("male_terms", "female_terms", "career", "family")
LARGE = ("flowers", "insects", "pleasant_5", "unpleasant_5a")
DRAWS = 10_000  # of WEAT's test
SAMPLES = 1_000  # of every metric's
# metric, its parameters, how often its loop is timed
CASES = (
    ("weat", {}, 3),
    ("weat_es", {}, 3),
    ("rnd", {}, 3),
    ("rnd", {"distance": "cos"}, 3),
    ("mac", {}, 3),
    ("ect", {}, 3),
    ("ripa", {}, 3),
    ("ripa", {"relation": "mean"}, 3),
    # a classifier a partition; and the metric as it is, which averages over 100 splits
    ("rnsb", {"holdout": False}, 1),
    ("rnsb", {}, 1),
)
seeds = count(1)


def sampler(
    metric: Metric, names: tuple[str, ...], store: EmbeddingStore, parameters
) -> Callable[[], Resampler]:
    """The metric on WEAT's sets, made anew at each call: all that comes after the look-up."""
    attributes = 1 if metric.template[1] == 1 else 2
    query = Query([SETS[n] for n in names[:2]], [SETS[n] for n in names[2 : 2 + attributes]])
    (sample,) = look_up(MeasurementSpec(metric, parameters), query, store)
    if sample.status != "ok":
        raise SystemExit(f"{store.path}: {sample.status}")
    # a copy has no score yet
    return lambda: Resampler.of(replace(sample))


def best_of(runs: int, function: Callable[[], object]) -> float:
    """Milliseconds of the fastest run."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def exchanged(made: Callable[[], Resampler], draws: int, exact: int) -> None:
    query_permutation_test(made(), seed=next(seeds), draws=draws, exact=exact)


def drawn(made: Callable[[], Resampler]) -> None:
    sampled = made()
    samples = sampled.bootstrap(SAMPLES, next(seeds))
    intervals(samples, sampled.value, sampled.by_set, 0.95)


def enumeration(store: EmbeddingStore, runs: int) -> float:
    made = sampler(metrics.metric("weat"), SMALL, store, {})
    return best_of(runs, lambda: exchanged(made, 1, 20_000))


def against_a_product(store: EmbeddingStore) -> None:
    print(f"{'WEAT, 10,000 draws':28} {'test ms':>9} {'product ms':>11} {'ratio':>7}   (at most 3)")
    rng = np.random.default_rng(0)
    for names in (SMALL, LARGE):
        made = sampler(metrics.metric("weat"), names, store, {})
        sizes = [len(s.keys) for s in made().targets]
        weights = rng.integers(2, size=(DRAWS, sum(sizes))).astype(float)
        vectors = rng.normal(size=(sum(sizes), store.dimensions))
        product = best_of(20, lambda w=weights, v=vectors: w @ v)
        test = best_of(20, lambda m=made: exchanged(m, DRAWS, 0))
        print(f"{f'{sizes[0]} + {sizes[1]} words':28} {test:9.2f} {product:11.2f} {test / product:6.2f}x")


def against_loops(store: EmbeddingStore, what: str, run: Callable[[Callable[[], Resampler]], None]) -> None:
    print(f"\n{what:28} {'at once ms':>11} {'loop ms':>9} {'ratio':>7}")
    for name, parameters, runs in CASES:
        metric = metrics.metric(name).under(parameters)
        if metric.no_test and run is not drawn:
            print(f"{metric.label:28} has no test")
            continue
        made = sampler(metric, SMALL, store, parameters)
        naive = sampler(replace(metric, resampled=None), SMALL, store, parameters)
        at_once, loop = best_of(5, lambda m=made: run(m)), best_of(runs, lambda m=naive: run(m))
        label = " ".join(
            [metric.label, *(f"{key}: {json.dumps(value)}" for key, value in parameters.items())]
        )
        bound = "   (at least 10)" if name == "rnsb" and run is not drawn else ""
        print(f"{label:28} {at_once:11.2f} {loop:9.1f} {loop / at_once:6.0f}x{bound}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = ROOT / "data" / "embeddings" / "word2vec-google-news-300-subset"
    parser.add_argument("--model", type=Path, default=default, help="a store with WEAT's words")
    parser.add_argument("--cold", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    store = EmbeddingStore.open(arguments.model)
    with threadpool_limits(1), np.errstate(all="ignore"):
        # what every process pays once, whatever it computes
        exchanged(sampler(metrics.metric("weat"), LARGE, store, {}), 10, 0)
        if arguments.cold:
            return print(enumeration(store, 1))
        against_a_product(store)
        command = [sys.executable, __file__, "--model", arguments.model, "--cold"]
        cold = min(
            float(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout) for _ in range(5)
        )
        warm = enumeration(store, 20)
        print(
            f"\nWEAT, all 12,870 partitions of 8 + 8 words: {cold:.2f} ms, then {warm:.2f} ms   (at most 10)"
        )
        against_loops(store, "permutation test, 1,000", lambda made: exchanged(made, SAMPLES, 0))
        against_loops(store, "bootstrap, 1,000 samples", drawn)
    return None


if __name__ == "__main__":
    main()
