"""How long figures take to draw and to write as .pdf, .svg and .png, by kind, beside another checkout, in one run.

    python benchmarks/figures.py [--against CHECKOUT] [--results results/embedded] [KIND ...]

Of each kind these are the figures of a finished study, all that its config lists; of other kinds the pictures of the
gallery. Each checkout draws in a process of its own, twice; the better run counts, in CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def measure(results: Path, kinds: list[str]) -> dict[str, float]:
    """CPU seconds of each kind's figures in the checkout that is imported."""
    import pictures

    from biasgrid.figures import draw_file
    from biasgrid.study.results.finished_study import find_study

    drawings = [*find_study(results).figures.values()]
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for picture in pictures.PICTURES.values():
            if picture.stem.startswith("gallery-") and picture.kind not in {d.kind for d in drawings}:
                drawings.append(picture.drawing_of(picture.read(), Path(folder, picture.stem)))
        for drawing in drawings:
            if kinds and drawing.kind not in kinds:
                continue
            took = []
            # a third time, first: it imports, and finds the fonts
            for _ in range(2 + (not seconds)):
                begin = time.process_time()
                draw_file(drawing.kind, drawing.inputs, drawing.spec, Path(folder, "figure"), drawing.order)
                took.append(time.process_time() - begin)
            seconds[drawing.kind] = seconds.get(drawing.kind, 0) + min(took)
    return seconds


def measure_in(checkout: Path, results: Path, kinds: list[str]) -> dict[str, float]:
    path = os.pathsep.join(str(checkout / folder) for folder in ("src", "docs"))
    command = [sys.executable, __file__, "--measure", "--results", str(results), *kinds]
    out = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    measured: dict[str, float] = json.loads(out.stdout)
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "embedded")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.results, args.kinds)))
        return
    here = measure_in(ROOT, args.results, args.kinds)
    there = measure_in(args.against.resolve(), args.results, args.kinds) if args.against else {}
    for kind, seconds in here.items():
        before = f"  {there[kind]:6.2f} s  {seconds / there[kind]:.2f}x" if kind in there else ""
        print(f"{kind:24}{seconds:6.2f} s{before}")
    both = [kind for kind in here if kind in there]
    if both:
        a, b = (sum(x[kind] for kind in both) for x in (here, there))
        print(f"{'together':24}{a:6.2f} s  {b:6.2f} s  {a / b:.2f}x")


if __name__ == "__main__":
    main()
