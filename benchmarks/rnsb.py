"""RNSB with 100 iterations: biasgrid against WEFE 1.0.1, on the same vectors and words, in one run.

    python benchmarks/rnsb.py [--model test_model.kv] [--iterations 100]

Only the metric is timed, not loading; the best of several runs counts, biasgrid's with BLAS on one thread, as
in a cell of the grid. The last column is the largest difference of any probability from scikit-learn's
LogisticRegression(solver="liblinear", tol=1e-10) trained on the same splits.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
TARGETS = ("weat.male_terms", "weat.female_terms")
# label, attribute sets, runs of WEFE and of biasgrid to take the best of, splits to compare with liblinear
CASES = (
    ("short", ("weat.career", "weat.family"), 3, 20, 100),
    ("middle", ("eds.adjectives_intelligence", "eds.adjectives_sensitive"), 3, 20, 100),
    ("Bing Liu", ("bingliu.positive_words", "bingliu.negative_words"), 1, 5, 5),
)


def word_set(key: str) -> list[str]:
    stem, name = key.split(".")
    path = HERE.parent / "data" / "word_sets" / f"{stem}.json"
    return list(dict.fromkeys(json.loads(path.read_text(encoding="utf-8"))["sets"][name]))


def best_of(runs: int, function) -> float:
    """Seconds of the fastest run."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def wefe_side(model: str | None, iterations: int, folder: Path) -> None:
    """Runs in WEFE's environment: times it and leaves the vectors of each case's words for the other side."""
    import wefe
    from gensim.models import KeyedVectors
    from wefe.metrics import RNSB
    from wefe.query import Query
    from wefe.word_embedding_model import WordEmbeddingModel

    vectors = KeyedVectors.load(
        model or str(Path(wefe.__file__).parent / "datasets" / "data" / "test_model.kv")
    )
    model = WordEmbeddingModel(vectors, "model")
    seconds = {}
    for label, attributes, runs, *_ in CASES:
        sets = [[w for w in word_set(key) if w in vectors] for key in TARGETS + attributes]
        query = Query(sets[:2], sets[2:])
        seconds[label] = best_of(runs, lambda q=query: RNSB().run_query(q, model, n_iterations=iterations))
        np.savez(folder / label, *[vectors[words] for words in sets])
    (folder / "seconds.json").write_text(json.dumps(seconds))


def largest_difference(targets: list[np.ndarray], attributes: list[np.ndarray], splits: int) -> float:
    """From liblinear, over all target words and this many splits."""
    from sklearn.linear_model import LogisticRegression

    from biasgrid.metrics.rnsb import draw_splits, probabilities

    train = draw_splits([len(a) for a in attributes], 0.2, splits, np.random.default_rng(0))
    targets = np.concatenate(targets)
    ours, _ = probabilities(targets, attributes, train)
    words, labels = np.concatenate(attributes), np.repeat([1, -1], [len(a) for a in attributes])
    differences = []
    for rows, probability in zip(train.T, ours.T, strict=True):
        classifier = LogisticRegression(solver="liblinear", tol=1e-10, max_iter=10_000).fit(
            words[rows], labels[rows]
        )
        differences.append(np.abs(classifier.predict_proba(targets)[:, 0] - probability).max())
    return max(differences)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", help="a gensim .kv file; by default the one that WEFE comes with")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--wefe-side", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.wefe_side:
        return wefe_side(arguments.model, arguments.iterations, arguments.wefe_side)

    from threadpoolctl import threadpool_limits
    from wefe_environment import python

    from biasgrid.metrics.rnsb import rnsb

    with tempfile.TemporaryDirectory() as name, threadpool_limits(1):
        folder = Path(name)
        subprocess.run([python(), __file__, *sys.argv[1:], "--wefe-side", folder], check=True)
        theirs = json.loads((folder / "seconds.json").read_text())
        print(
            f"{'list':10} {'words':>12} {'WEFE s':>9} {'biasgrid s':>11} {'ratio':>7} {'max difference':>15}"
        )
        for label, _, _, runs, splits in CASES:
            with np.load(folder / f"{label}.npz") as stored:
                sets = [stored[key].astype(float) for key in stored.files]
            targets, attributes = sets[:2], sets[2:]
            ours = best_of(
                runs, lambda t=targets, a=attributes: rnsb(t, a, n_iterations=arguments.iterations)
            )
            words = " + ".join(str(len(a)) for a in attributes)
            difference = largest_difference(targets, attributes, splits)
            ratio = f"{theirs[label] / ours:.0f}x"
            print(f"{label:10} {words:>12} {theirs[label]:9.3f} {ours:11.4f} {ratio:>7} {difference:15.1e}")
    return None


if __name__ == "__main__":
    main()
