"""WEAT of thousands of words: time and memory, against the mean of all cosines, in one run.

    python benchmarks/many_words.py [--words 20000] [--draws 1000]

The words stand in four sets of equal size, with random vectors of 300 numbers. Each side is a process of its own,
whose CPU time and memory are printed; the memory is the peak beyond the model's. Ratios say how much the other side
takes of ours.

value        the score by `metrics.weat`
cosines      the definition written out with NumPy: a matrix of all cosines, and its means
permutation  the score with a permutation test
bootstrap    the score with a bootstrap interval
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

DIMENSIONS = 300
SIDES = ("value", "cosines", "permutation", "bootstrap")


def peak_mb() -> float:
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3


def weat_of_all_cosines(sets: list[np.ndarray]) -> float:
    x, y, a, b = (s / np.linalg.norm(s, axis=1, keepdims=True) for s in (s.astype(float) for s in sets))
    to_a, to_b = ([(words @ attributes.T).mean(axis=1) for words in (x, y)] for attributes in (a, b))
    return float((to_a[0] - to_b[0]).sum() - (to_a[1] - to_b[1]).sum())


def measure(side: str, words: int, draws: int) -> dict[str, float]:
    import biasgrid as bg

    vectors = np.random.default_rng(1).standard_normal((words, DIMENSIONS), dtype=np.float32)
    names = [f"w{i}" for i in range(words)]
    model = bg.load(dict(zip(names, vectors, strict=True)))
    x, y, a, b = (list(part) for part in np.array_split(names, 4))
    bg.metrics.weat(bg.Query([x[:2], y[:2]], [a[:2], b[:2]]), model)  # what a process does once
    options = {} if side == "value" else {side: {"draws": draws}}
    before, start = peak_mb(), time.process_time()
    if side == "cosines":
        value = weat_of_all_cosines(np.array_split(vectors, 4))
    else:
        value = bg.metrics.weat(bg.Query([x, y], [a, b]), model, **options).value
    return {"seconds": time.process_time() - start, "memory": peak_mb() - before, "value": value}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)  # a process that measures one side
    given = parser.parse_args()
    if given.side:
        print(json.dumps(measure(given.side, given.words, given.draws)))
        return
    print(f"{given.words:,} words      CPU s    peak MB  takes of ours (time, memory)")
    first: dict = {}
    for side in SIDES:
        command = [sys.executable, __file__, "--side", side]
        command += ["--words", str(given.words), "--draws", str(given.draws)]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        first = first or found
        if not np.isclose(found["value"], first["value"], rtol=1e-9):
            raise SystemExit(f"{side}: {found['value']}, not {first['value']}")
        ratio = f"{found['seconds'] / first['seconds']:.1f}x  {found['memory'] / first['memory']:.1f}x"
        print(f"{side:<15} {found['seconds']:7.2f} {found['memory']:10.0f}  {ratio}", flush=True)


if __name__ == "__main__":
    main()
