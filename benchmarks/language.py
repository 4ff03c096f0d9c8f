"""What scoring sentences costs: the sentences of CrowS-Pairs on a causal model, beside another checkout, in one run.

    python benchmarks/language.py MODEL.gguf [--against CHECKOUT] [--sentences 300]

Each checkout scores in processes of its own, in turn, and this one with `fast`, too. CPU seconds of the scoring alone
count: the model is open, and has scored one sentence. It prints the ratios, and by how much scores differ.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAIRS = ROOT / "data" / "sentences" / "crows_pairs.csv"


def texts(number: int) -> list[str]:
    """The first sentences of CrowS-Pairs; all are 3,016."""
    with PAIRS.open(encoding="utf-8", newline="") as file:
        return [row[key] for row in csv.DictReader(file) for key in ("sent_more", "sent_less")][:number]


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measure(model_file: Path, number: int, fast: bool) -> dict[str, object]:
    """CPU seconds that the sentences take, and their scores."""
    import biasgrid as bg

    model = bg.language_model(model_file, fast=True) if fast else bg.load(model_file, kind="language_model")
    asked = texts(number)
    model.score([f"{asked[0]} "])
    start = cpu()
    scores = model.score(asked).tolist()
    return {"seconds": cpu() - start, "scores": scores}


def measure_in(checkout: Path, model_file: Path, number: int, fast: bool = False) -> dict[str, object]:
    """`measure` by the code of a checkout."""
    command = [
        sys.executable,
        str(Path(__file__).resolve()),
        str(model_file),
        "--sentences",
        str(number),
        "--measure",
    ]
    output = subprocess.run(
        [*command, *(["--fast"] if fast else [])],
        env={**os.environ, "PYTHONPATH": str(checkout / "src")},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(output.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("--against", type=Path, help="another checkout, such as one of the commit before")
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--fast", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    model_file = args.model.resolve()
    if args.measure:
        print(json.dumps(measure(model_file, args.sentences, args.fast)))
        return
    sides = {"former": (args.against, False)} if args.against else {}
    sides |= {"this": (ROOT, False), "this, fast": (ROOT, True)}
    found = {
        side: measure_in(checkout.resolve(), model_file, args.sentences, fast)
        for side, (checkout, fast) in sides.items()
    }
    first = next(iter(found.values()))
    for side, result in found.items():
        ratio = result["seconds"] / first["seconds"]
        difference = max(abs(a - b) for a, b in zip(result["scores"], first["scores"], strict=True))
        milliseconds = 1000 * result["seconds"] / args.sentences
        print(
            f"{side:12} {milliseconds:7.1f} CPU ms a sentence, {ratio:.2f}x, largest difference {difference:.1e}"
        )


if __name__ == "__main__":
    main()
