"""What a cell costs as studies grow: 700, 2,800 and 7,000 cells, by more models and more queries, in one run.

The real workflow with the case study's four metrics, on made models of 2,000 words in 50 dimensions, the sizes one
after the other in each round. Of each size: planning a run of everything (a dry run), the run of all cells, the rest
of the run (tables and figures), a run with nothing to do; and Snakemake's peak memory. Seconds per cell are compared
with those of the smallest size, and each step with that of another checkout or of Snakemake's other records.

    python benchmarks/scale.py [--rounds 3] [--cores 2] [--cells 700 2800 7000] [--against CHECKOUT] [--database]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import yaml

ROOT = Path(__file__).resolve().parents[1]
METRICS = {
    "weat": {},
    "weat_es": {},
    "rnd": {"params": {"distance": "norm"}},
    "rnsb": {"params": {"n_iterations": 100, "holdout": True, "test_size": 0.2}},
}
# cells -> models and queries
SHAPES = {700: (7, 25), 2800: (14, 50), 7000: (25, 70)}
STEPS = {
    "plan": "planning a run of everything",
    "cells": "running all cells",
    "rest": "tables and figures after them",
    "idle": "a run with nothing to do",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--cells", type=int, nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument(
        "--against", type=Path, help="another checkout, each of whose runs follows one of this"
    )
    parser.add_argument("--database", action="store_true", help="and with Snakemake's records in a database")
    args = parser.parse_args()
    sides: dict[str, tuple[Path, list[str]]] = {"this": (ROOT, [])}
    if args.against:
        sides["other"] = (args.against.resolve(), [])
    if args.database:
        sides["database"] = (ROOT, ["--persistence-backend", "db"])
    taken: dict[tuple[str, int, str], list[tuple[float, float, float]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for side, (root, options) in sides.items():
            for cells in args.cells:
                folder = Path(temporary) / side / str(cells)
                make_study(root, folder, *SHAPES[cells])
                # models, queries: there before the cells are timed
                snakemake(folder, args.cores, "stores", *options)
        for _ in range(args.rounds):
            for cells in args.cells:
                for side in sides:
                    clear(Path(temporary) / side / str(cells))
                for step, arguments in (
                    ("plan", ["--dry-run", "--quiet", "all"]),
                    ("cells", ["--until", "cell", "cell_debiased"]),
                    ("rest", []),
                    ("idle", []),
                ):
                    for side, (_, options) in sides.items():
                        folder = Path(temporary) / side / str(cells)
                        measured = snakemake(folder, args.cores, *arguments, *options)
                        taken.setdefault((side, cells, step), []).append(measured)
                for side in sides:
                    folder = Path(temporary) / side / str(cells)
                    done = len(list((folder / "results" / "scale" / "cells").rglob("*.json")))
                    assert done == cells, f"{side}: {done} of {cells} cells"
    middle = {key: [statistics.median(x) for x in zip(*rows, strict=True)] for key, rows in taken.items()}
    print(f"{args.cores} cores, median of {args.rounds} rounds; Snakemake's peak memory in MB")
    for side in sides:
        report(side, args.cells, middle)
    for side in list(sides)[1:]:
        print(f"this / {side}:")
        for step, label in STEPS.items():
            for place, unit in enumerate(("wall", "CPU")):
                ratios = (middle["this", n, step][place] / middle[side, n, step][place] for n in args.cells)
                print(f"{label if not place else '':32}{''.join(f'{r:18.2f}' for r in ratios)} x {unit}")


def report(side: str, sizes: list[int], middle: dict[tuple[str, int, str], list[float]]) -> None:
    """What each step of a side took, by number of cells."""
    print(f"{side:32}" + "".join(f"{cells:>12,} cells" for cells in sizes))
    for step, label in STEPS.items():
        # drawing a figure takes more memory than Snakemake does
        for place, unit in enumerate(("s", "s CPU", "MB")[: 2 if step == "rest" else 3]):
            values = "".join(f"{middle[side, cells, step][place]:18.2f}" for cells in sizes)
            print(f"{label if not place else '':32}{values} {unit}")
    for place, unit in enumerate(("wall", "CPU")):
        per_cell = [middle[side, cells, "cells"][place] / cells for cells in sizes]
        values = "".join(f"{1000 * seconds:18.2f}" for seconds in per_cell)
        print(f"{'a cell, ' + unit:32}{values} ms")
        growth = "".join(f"{seconds / per_cell[0]:18.2f}" for seconds in per_cell)
        print(f"{'growth per cell, ' + unit:32}{growth} x")


def clear(folder: Path) -> None:
    """Remove what a study's runs have made of its stores."""
    results = folder / "results" / "scale"
    for made in ("cells", "queries", "figures"):
        shutil.rmtree(results / made, ignore_errors=True)
    for table in results.glob("*.csv"):
        table.unlink()


def make_study(root: Path, folder: Path, models: int, queries: int) -> None:
    """A study of `models` models and `queries` queries, whose words are drawn at random, with a checkout's code."""
    for name in ("src", "workflow", "profiles"):
        shutil.copytree(
            root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
    shutil.copy(root / "Snakefile", folder)
    (folder / "config").mkdir()
    draw = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(2000)])
    for model in range(models):
        vectors = draw.normal(size=(len(words), 50))
        lines = [
            f"{word} {' '.join(f'{x:.4f}' for x in row)}\n" for word, row in zip(words, vectors, strict=True)
        ]
        (folder / f"m{model}.txt").write_text("".join(lines))
    config = {
        "study": "scale",
        "models": {
            f"m{i}": {"label": f"m{i}", "source": {"type": "file", "path": f"m{i}.txt"}}
            for i in range(models)
        },
        "criteria": {
            f"C{part}": {
                "queries": {
                    f"q{i}": dict(
                        zip(
                            ("targets", "attributes"),
                            (
                                {f"{side}{i}a": chosen[:8].tolist(), f"{side}{i}b": chosen[8:].tolist()}
                                for side, chosen in zip("TA", draw.choice(words, (2, 16), False), strict=True)
                            ),
                            strict=True,
                        )
                    )
                    for i in range(part, queries, 3)
                }
            }
            for part in range(3)
        },
        "metrics": METRICS,
    }
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))


def snakemake(folder: Path, cores: int, *arguments: str) -> tuple[float, float, float]:
    """Run the folder's workflow: seconds of wall clock, seconds of CPU with its children, peak memory in MB."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), *arguments]
    begin = time.perf_counter()
    with (folder / "log.txt").open("w") as log:
        child = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begin
    if status:
        sys.exit((folder / "log.txt").read_text())
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
