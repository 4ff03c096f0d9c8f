"""What a single call costs: a metric alone, and with all its inference, beside another checkout, in one run.

    python benchmarks/library.py [--against CHECKOUT] [--model data/embeddings/word2vec-google-news-300-subset]

The model is a store that has WEAT's words (`make study` makes this one), as it is and under hard debias. Each
checkout measures in processes of its own, in turn, with BLAS on one thread; the best of all runs counts, in CPU time.
What a process does once for a model (its random groups, its frequencies) is done before; so are the imports.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODEL = ROOT / "data" / "embeddings" / "word2vec-google-news-300-subset"
SETS = ("male_terms", "female_terms", "career", "family")
PAIRS = [["she", "he"], ["woman", "man"], ["her", "his"], ["mother", "father"], ["girl", "boy"]]
# a call -> the parts of inference that it asks for, runs in a round
PARTS = ("permutation", "random_groups", "frequency_bands", "control_words", "bootstrap", "sensitivity")
BY_WORDFREQ = ("frequency_bands", "control_words")
CALLS = {
    "plain": ((), 200),
    "permutation, bootstrap": (("permutation", "bootstrap"), 20),
    "all inference": (PARTS, 5),
}
METRICS = ("weat", "rnsb", "ect")


def measure(model: Path) -> dict[str, float]:
    """CPU milliseconds of each call, the best of its runs."""
    from threadpoolctl import threadpool_limits

    import biasgrid as bg

    sets = json.loads((ROOT / "data" / "word_sets" / "weat.json").read_text(encoding="utf-8"))["sets"]
    store = bg.load(model)
    hard = bg.debias.hard(store, definitional_pairs=PAIRS, equalize_pairs=[])
    best: dict[str, float] = {}
    with threadpool_limits(1):
        for name in METRICS:
            metric = getattr(bg.metrics, name)
            number = 1 if name == "ect" else 2
            query = bg.Query([sets[s] for s in SETS[:2]], [sets[s] for s in SETS[2 : 2 + number]])
            for state, of_state in (("", store), (", hard debias", store.under(hard))):
                for call, (parts, runs) in CALLS.items():
                    options = {
                        part: {"frequency": "wordfreq"} if part in BY_WORDFREQ else True for part in parts
                    }
                    for run in range(runs + 1):
                        start = time.process_time()
                        metric(query, of_state, **options)
                        seconds = time.process_time() - start
                        key = f"{name}, {call}{state}"
                        # the first makes what a model needs once
                        best[key] = min(best.get(key, seconds), seconds) if run > 1 else seconds
    return {key: 1000 * seconds for key, seconds in best.items()}


def measure_in(checkout: Path, model: Path) -> dict[str, float]:
    """`measure` by the code of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    command = [
        sys.executable,
        "-W",
        "ignore",
        str(Path(__file__).resolve()),
        "--measure",
        "--model",
        str(model),
    ]
    output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(output.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", type=Path, help="another checkout, measured beside this one")
    parser.add_argument("--model", type=Path, default=MODEL, help="a store with WEAT's words")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.model)))
        return
    sides = [ROOT, *filter(None, [given.against and given.against.resolve()])]
    rounds = [[measure_in(side, given.model) for side in sides] for _ in range(given.rounds)]
    for key in rounds[0][0]:
        this, *other = (min(of_round[side][key] for of_round in rounds) for side in range(len(sides)))
        before = "".join(f" {ms:9.2f} ms before {this / ms:6.2f}x" for ms in other)
        print(f"{key:45} {this:9.2f} ms{before}")


if __name__ == "__main__":
    main()
