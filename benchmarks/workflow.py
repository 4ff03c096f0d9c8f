"""Measure what re-runs cost: jobs, seconds, and as many `shell: touch` jobs of Snakemake alone, in one run.

All sides use profiles/default, which has the settings that cells need. Cells that compute nothing are planned, run,
and planned again with nothing to do: 700 and 7,000 of them. They are cells of the real workflow, with a metric that
returns 0. The embedded study is run from nothing, and after a deleted cell, a changed word and a changed line of a
metric; where its stores are not there, it is left out.

    python benchmarks/workflow.py [--cells 700] [--large 7000] [--rounds 3] [--against CHECKOUT]
"""

from __future__ import annotations

import argparse
import os
import re
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


EDITED = ("data/word_sets/multiclass.json", '"rancher"', '"farmer"')  # a word of one query
RE_RUNS = {
    "deleted": "a deleted cell",
    "word": "a changed word of a query",
    "metric": "a changed line of a metric",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=700)
    parser.add_argument("--large", type=int, default=7000, help="cells of the study that is planned; 0: none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--embeddings", type=Path, default=ROOT / "data" / "embeddings")
    parser.add_argument(
        "--against",
        type=Path,
        help="another checkout, measured beside this one; its stores are in its data/embeddings",
    )
    args = parser.parse_args()
    roots = {"": ROOT} | ({" (other)": args.against.resolve()} if args.against else {})
    with tempfile.TemporaryDirectory() as folder:
        taken: dict[str, list[tuple[float, float, int]]] = {}
        for round_number in range(args.rounds):
            for cells in filter(None, (args.cells, args.large)):
                measure_grid(Path(folder), roots, cells, taken, times_cells=cells == args.cells)
            if args.embeddings.is_dir():
                for side, root in roots.items():
                    embeddings = root / "data" / "embeddings" if side else args.embeddings
                    measure_edits(Path(folder) / f"study{side}", root, embeddings, side, round_number, taken)
            for name in RE_RUNS if args.embeddings.is_dir() else ():
                measure_floor(Path(folder) / "floor", name, taken)
    if not args.embeddings.is_dir():
        print(f"no re-runs of the embedded study: its stores are not there ({args.embeddings})")
    print(f"2 cores, median of {args.rounds} rounds; jobs, seconds, and CPU of Snakemake and its children")
    for name, rows in taken.items():
        wall, cpu, jobs = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{name:60} {jobs:6.0f} jobs {wall:8.2f} s wall {cpu:8.2f} s CPU")


def measure_grid(
    folder: Path,
    roots: dict[str, Path],
    cells: int,
    taken: dict[str, list[tuple[float, float, int]]],
    times_cells: bool,
) -> None:
    """Plan, run and run again a study whose cells compute nothing, and as many `touch` jobs."""
    for side in ("floor", *roots):
        made = folder / f"{cells}{side}"
        if not made.is_dir() and side == "floor":
            make_touch(made, cells)
        elif not made.is_dir():
            make_grid(roots[side], made, cells)
        name = f"{cells:,} {{}}{', floor' if side == 'floor' else side}"
        outputs = made / "out" if side == "floor" else made / "results" / "grid" / "cells"
        shutil.rmtree(outputs, ignore_errors=True)
        planned = snakemake(made, "--dry-run", "--quiet", "all")
        taken.setdefault(name.format("planned"), []).append(planned)
        if side != "floor":
            snakemake(made, "--until", "query", "store")  # the price measured is that of cells
        until = [] if side == "floor" else ["--until", "cell"]
        run = snakemake(made, *until)
        if times_cells:
            taken.setdefault(name.format("cells run"), []).append(run)
        snakemake(made)
        taken.setdefault(name.format("with nothing to do"), []).append(snakemake(made))


def measure_edits(
    folder: Path,
    root: Path,
    embeddings: Path,
    side: str,
    round_number: int,
    taken: dict[str, list[tuple[float, float, int]]],
) -> None:
    """Run the embedded study from nothing, after edits, and with nothing to do after each; its stores are there."""
    if not folder.is_dir():
        for name in ("src", "workflow", "profiles", "config"):
            shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(root / "data", folder / "data", ignore=shutil.ignore_patterns("embeddings"))
        (folder / "data" / "embeddings").symlink_to(embeddings.resolve())
        shutil.copy(root / "Snakefile", folder)
        taken.setdefault(f"from nothing{side}", []).append(run_embedded(folder))
    words, metric = folder / EDITED[0], folder / "src/biasgrid/metrics/weat.py"

    def edit(name: str) -> None:
        if name == "deleted":
            (folder / "results/embedded/cells/glove-6b-50d/none/weat/gender_1.json").unlink()
        elif name == "word":
            former, new = EDITED[1:] if round_number % 2 == 0 else EDITED[:0:-1]
            words.write_text(words.read_text().replace(former, new))
        else:
            metric.write_text(f"{metric.read_text()}\n_ROUND_{round_number} = {round_number}\n")

    for name, label in RE_RUNS.items():
        edit(name)
        taken.setdefault(f"{label}{side}", []).append(run_embedded(folder))
        again = run_embedded(folder)
        taken.setdefault(f"{label}, and nothing to do after it{side}", []).append(again)


def measure_floor(folder: Path, name: str, taken: dict[str, list[tuple[float, float, int]]]) -> None:
    """Run as many `touch` jobs as a re-run has, among as many as the study has."""
    if not folder.is_dir():
        make_touch(folder, 950)
        snakemake(folder)
    jobs = int(statistics.median(row[2] for row in taken[RE_RUNS[name]]))
    for number in range(jobs - 1):  # less the rule that asks for all of them
        (folder / "out" / f"{number}.txt").unlink()
    taken.setdefault(f"{RE_RUNS[name]}, floor", []).append(snakemake(folder))


def run_embedded(folder: Path) -> tuple[float, float, int]:
    """Run the embedded study."""
    return snakemake(folder, "--configfile", "config/embedded.yaml")


def make_touch(folder: Path, cells: int) -> None:
    shutil.copytree(ROOT / "profiles", folder / "profiles")
    # a time span of an hour leaves timers that Snakemake waits for; biasgrid cancels them (workflow/setup.py)
    profile = folder / "profiles/default/config.yaml"
    profile.write_text(profile.read_text().replace("1000000/1h", "1000000/1s"))
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
        "study": "grid",
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


def snakemake(folder: Path, *arguments: str) -> tuple[float, float, int]:
    """Run a folder's workflow. Return the seconds of wall clock and of CPU, and the number of jobs."""
    # modules are compiled once, as they are for whoever has biasgrid installed
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if (folder / "src").is_dir():
        environment["PYTHONPATH"] = str(folder / "src")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    log = max((folder / ".snakemake" / "log").glob("*.log"), default=None)
    jobs = re.search(r"^total +(\d+)$", log.read_text() if log else "", re.M)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall, cpu, int(jobs[1]) if jobs else 0


if __name__ == "__main__":
    main()
