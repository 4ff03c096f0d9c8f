"""What a cell costs: a cell that computes nothing against Snakemake's own `shell: touch` job, in one run.

Both sides run under this project's profile, which holds the engine's best settings. The cell side is the real
workflow - store, query, parameters, the metric's file and the shared modules as inputs - with a metric that returns
0. And the time of a run of the whole study with nothing to do.

    python benchmarks/engine.py [--cells 700] [--rounds 3] [--against CHECKOUT]
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
NOTHING = """\
from .registry import Metric, Score


def nothing(targets, attributes, *, number=0):
    return Score(0.0)


METRICS = (Metric("nothing", "Nothing", nothing, (2, 2), (0, 0), 0.0, "none"),)
"""
TOUCH = """\
rule all:
    input:
        expand("out/{{i}}.txt", i=range({cells})),


rule touch:
    output:
        "out/{{i}}.txt",
    shell:
        "touch {{output}}"
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=700)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--against", type=Path, help="another checkout, measured beside this one")
    args = parser.parse_args()
    roots = {"": ROOT} | ({" (other)": args.against.resolve()} if args.against else {})
    with tempfile.TemporaryDirectory() as folder:
        touch = Path(folder) / "touch"
        make_touch(touch, args.cells)
        grids = {side: Path(folder) / f"grid{side}" for side in roots}
        taken: dict[str, list[tuple[float, float]]] = {}
        for side, grid in grids.items():
            make_grid(roots[side], grid, args.cells)
            # once to the end: models and queries are there, and the price measured is that of cells
            snakemake(grid)
        for _ in range(args.rounds):
            for side, grid in grids.items():
                taken.setdefault(f"idle{side}", []).append(snakemake(grid))
        for _ in range(args.rounds):
            shutil.rmtree(touch / "out", ignore_errors=True)
            taken.setdefault("touch", []).append(snakemake(touch))
            for side, grid in grids.items():
                shutil.rmtree(grid / "results" / "engine" / "cells")
                taken.setdefault(f"cell{side}", []).append(snakemake(grid, "--until", "cell"))
    print(f"{args.cells} jobs, 2 cores, median of {args.rounds} rounds; CPU of Snakemake and its children")
    middle = {name: [statistics.median(x) for x in zip(*rows, strict=True)] for name, rows in taken.items()}
    labels = {"touch": "shell: touch, best settings"}
    for side in roots:
        labels[f"cell{side}"] = f"a cell that computes nothing{side}"
        labels[f"idle{side}"] = f"nothing to do, tables and figures included{side}"
    for name, label in labels.items():
        wall, cpu = middle[name]
        print(f"{label:52} {wall:7.2f} s wall {cpu:7.2f} s CPU {1000 * cpu / args.cells:7.2f} CPU ms/job")
    pairs = [("cell", "touch")]
    pairs += [("cell", "cell (other)"), ("idle", "idle (other)")] if args.against else []
    for one, other in pairs:
        wall, cpu = (c / t for c, t in zip(middle[one], middle[other], strict=True))
        print(f"{one} / {other}: {wall:.2f} (wall) {cpu:.2f} (CPU)")


def make_touch(folder: Path, cells: int) -> None:
    shutil.copytree(ROOT / "profiles", folder / "profiles")
    (folder / "Snakefile").write_text(TOUCH.format(cells=cells))


def make_grid(root: Path, folder: Path, cells: int) -> None:
    for name in ("src", "workflow", "profiles"):
        shutil.copytree(
            root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
    shutil.copy(root / "Snakefile", folder)
    (folder / "src/biasgrid/metrics/nothing.py").write_text(NOTHING)
    (folder / "config").mkdir()
    words = [f"w{i}" for i in range(32)]
    (folder / "model.txt").write_text("".join(f"{word} {i} 1 {i % 3}\n" for i, word in enumerate(words)))
    # a grid as the case study's: 7 models, 25 queries, the rest metrics
    models, queries = 7, 25
    source = {"type": "file", "path": "model.txt"}
    config = {
        "study": "engine",
        "models": {f"m{i}": {"label": f"m{i}", "source": source} for i in range(models)},
        "criteria": {
            "C": {
                "queries": {
                    f"q{i}": {
                        "targets": {"A": words[:8], "B": words[8:16]},
                        "attributes": {f"C{i}": words[16:24], "D": words[24:]},
                    }
                    for i in range(queries)
                }
            }
        },
        "metrics": {
            f"k{i}": {"metric": "nothing", "params": {"number": i}}
            for i in range(max(1, round(cells / models / queries)))
        },
    }
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))


def snakemake(folder: Path, *arguments: str) -> tuple[float, float]:
    """Run the folder's workflow: seconds of wall clock and of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
