"""The paper's full case study, rehearsed on stand-ins of its archives, from the download to the page.

    python benchmarks/rehearsal [--size small | full] [--folder results/rehearsal] [--cores 2] [--missing MODEL]

What is run is `snakemake --cores N --configfile config/config.yaml overlay.yaml` in a copy of this checkout; in the
overlay stand the archives' addresses on this machine and their checksums, and nothing else of the study changes.
Printed are the times of its phases, peak memory, disk, steps, how far the time left that it told was from the real
one, which published numbers it calls reproduced, and whether WEAT, its effect size and RND are right (`scores.py`).
Small: 25,000 rows per archive, minutes. Full: the real sizes, 7 GB of archives (minutes to write) and 17 GB of study.
`--missing MODEL`: the server answers 404 for its archive. The folder is emptied first, and stays.

Exit status: 0 where all scores are right and the study ended with 0 (with `--missing`: with 1), else 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import yaml
from archives import ARCHIVES, Written, write
from scores import check
from server import serving

from biasgrid import EmbeddingStore
from biasgrid.study.study import Study

ROOT = Path(__file__).resolve().parents[2]
SUBSET = "word2vec-google-news-300-subset"
SMALL = 25_000
# what a run needs of a checkout
PARTS = (
    "Snakefile",
    "environment.yml",
    "src",
    "workflow",
    "profiles",
    "config",
    "data/published",
    "data/word_sets",
)
# phase -> the files whose times tell it, below the copy; {} is the study's name
PHASES = {
    "downloads, checked": ("data/embeddings/raw/*/manifest.json",),
    "stores": ("data/embeddings/*/model.json",),
    "cells": ("results/{}/cells/**/*.json",),
    "inference": ("results/{}/pools/**/*", "results/{}/inference/**/*"),
    "debias, evaluations": ("results/{}/debias/**/*", "results/{}/evaluation/**/*"),
    "tables": ("results/{}/*.csv", "results/{}/*.npy"),
    "figures": ("results/{}/figures/*",),
    "page": ("results/{}/report.html",),
}
LEFT = re.compile(r"about (\d+) (s|min) left")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", choices=("small", "full"), default="small")
    parser.add_argument("--folder", type=Path, default=ROOT / "results" / "rehearsal")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--missing", default=(), nargs="+", metavar="MODEL", choices=tuple(ARCHIVES))
    parser.add_argument("--overlay", type=Path, help="one more config, as for a quick look")
    args = parser.parse_args()
    folder = args.folder.resolve()
    tree, served = folder / "checkout", folder / "archives"
    for path in (tree, served):
        shutil.rmtree(path, ignore_errors=True)
    for path in (tree, served):
        path.mkdir(parents=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(
                ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
        else:
            (tree / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / part, tree / part)

    study = Study.read(tree / "config" / "config.yaml", tree)
    written = write_archives(served, args.size, study)
    with serving(served, tuple(args.missing)) as server:
        models = {"models": models_at(f"http://127.0.0.1:{server.server_port}", study, written)}
        (tree / "overlay.yaml").write_text(yaml.safe_dump(models, sort_keys=False), encoding="utf-8")
        more = [str(args.overlay.resolve())] if args.overlay else []
        run = Run(
            ["--cores", str(args.cores), "--configfile", "config/config.yaml", "overlay.yaml", *more], tree
        )
    print_phases(tree, study.config.study, run, server.ended)
    print_run(folder, tree, run)
    wrong = print_scores(tree / "results" / study.config.study, study, written)
    print(f"\n{folder} has it all; remove it when you have looked")
    return int(run.status != int(bool(args.missing)) or wrong)


def write_archives(folder: Path, size: str, study: Study) -> dict[str, Written]:
    """The six archives, two at a time."""
    fetched = [
        sys.executable,
        "-m",
        "biasgrid",
        "fetch",
        "--model",
        SUBSET,
        "--config",
        "config/embedded.yaml",
    ]
    subprocess.run(fetched, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    store = EmbeddingStore.open(
        Path(os.environ.get("BIASGRID_EMBEDDINGS", ROOT / "data/embeddings")) / SUBSET
    )
    real = dict(zip(store.words(), np.asarray(store.array), strict=True))
    queries = study.queries.values()
    asked = [w for q in queries for part in (*q.target_sets, *q.attribute_sets) for w in part.words]
    start = time.time()
    with ProcessPoolExecutor(2) as pool:
        jobs = {}
        # the largest first
        for name, archive in sorted(ARCHIVES.items(), key=lambda item: -item[1].rows):
            rows = archive.rows if size == "full" else SMALL
            vectors, words = (real, [*real]) if archive.decimals is None else ({}, [*real, *asked])
            jobs[name] = pool.submit(write, folder / f"{name}.gz", name, rows, words, vectors)
        written = {name: job.result() for name, job in jobs.items()}
    print(f"archives written in {time.time() - start:.0f} s")
    for name, part in written.items():
        print(f"  {name}: {megabytes(part.bytes)}, unpacked {megabytes(part.unpacked)}")
    return written


def models_at(address: str, study: Study, written: Mapping[str, Written]) -> dict[str, dict]:
    """The study's models, at other addresses and with other checksums where they have one."""
    models = json.loads(json.dumps(dict(study.models)))
    for name, part in written.items():
        source = models[name]["source"]
        if source["type"] == "gensim-data":
            source["base"] = f"{address}/releases"
        else:
            source["url"] = f"{address}/s/{name}.gz?dl=1"
        source |= {"md5": part.md5} if "md5" in source else {}
        models[name]["download_mb"] = max(1, round(part.bytes / 1e6))
    return models


class Run:
    """A run of Snakemake to its end: exit status, seconds, lines with their seconds, peak memory of its processes.

    Memory is proportional set size, in which pages that processes share count once.
    """

    def __init__(self, arguments: list[str], tree: Path):
        environment = os.environ | {"PYTHONPATH": str(tree / "src"), "no_proxy": "127.0.0.1"}
        environment.pop("BIASGRID_EMBEDDINGS", None)
        self.start, self.lines, self.peak, self.peak_snakemake = time.time(), [], 0, 0
        command = [sys.executable, "-m", "snakemake", *arguments]
        print("\n$", " ".join(["snakemake", *arguments]), flush=True)
        process = subprocess.Popen(
            command, cwd=tree, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        threading.Thread(target=self._watch_memory, args=(psutil.Process(process.pid),), daemon=True).start()
        try:
            for line in process.stdout:
                self.lines.append((time.time() - self.start, line.rstrip("\n")))
                print(f"{self.lines[-1][0]:6.0f} s  {line}", end="", flush=True)
        except BaseException:
            process.terminate()
            raise
        before = cpu_of_children()
        self.status, self.seconds = process.wait(), time.time() - self.start
        self.cpu = cpu_of_children() - before

    def _watch_memory(self, snakemake: psutil.Process) -> None:
        while snakemake.is_running():
            sizes = []
            for process in (snakemake, *children(snakemake)):
                with contextlib.suppress(psutil.Error):
                    sizes.append(process.memory_full_info().pss)
            self.peak, self.peak_snakemake = (
                max(self.peak, sum(sizes)),
                max([self.peak_snakemake, *sizes[:1]]),
            )
            time.sleep(0.5)


def cpu_of_children() -> float:
    """CPU seconds of all processes that this one, or one of its children, has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def print_phases(tree: Path, name: str, run: Run, ended: Mapping[str, float]) -> None:
    """When the first and the last file of each phase was there, in seconds since the start."""
    print("\n| phase | files | first, s | last, s |\n| --- | --- | --- | --- |")
    times = {"downloads, bytes": list(ended.values())}
    for phase, patterns in PHASES.items():
        files = [file for pattern in patterns for file in tree.glob(pattern.format(name)) if file.is_file()]
        times[phase] = [file.stat().st_mtime for file in files]
    for phase, of_phase in times.items():
        ends = (
            (f"{end - run.start:.0f}" for end in (min(of_phase), max(of_phase))) if of_phase else ("-", "-")
        )
        print(f"| {phase} | {len(of_phase):,} | {' | '.join(ends)} |")


def print_run(folder: Path, tree: Path, run: Run) -> None:
    """Steps, memory, disk, and how far off the time left was."""
    log = max((tree / ".snakemake" / "log").glob("*.log"), key=lambda path: path.stat().st_mtime).read_text()
    steps = re.findall(r"^(\d+) of (\d+) steps", log, re.MULTILINE) or [("0", "0")]
    print(
        f"\nexit {run.status}, {run.seconds:.0f} s, {steps[-1][0]} of {steps[-1][1]} steps, CPU {run.cpu:.0f} s"
    )
    print(
        f"peak memory (PSS): {megabytes(run.peak)} in all processes, {megabytes(run.peak_snakemake)} in Snakemake"
    )
    embeddings = tree / "data" / "embeddings"
    sizes = {
        "archives served": folder / "archives",
        "downloads": embeddings / "raw",
        "results": tree / "results",
    }
    disk = {name: on_disk(path) for name, path in sizes.items()}
    disk["stores"] = on_disk(embeddings) - disk["downloads"]
    print("disk:", ", ".join(f"{name} {megabytes(size)}" for name, size in disk.items()))
    told = [(at, LEFT.search(line)) for at, line in run.lines]
    late = [
        (at, float(found[1]) * (60 if found[2] == "min" else 1))
        for at, found in told
        if found and at > run.seconds / 3 and run.seconds - at > 10
    ]
    if late:
        factor, at, left = max((max(t / (run.seconds - s), (run.seconds - s) / t), s, t) for s, t in late)
        print(
            f"time left, from a third of the way on: told {len(late)} times, off by at most a factor of {factor:.1f} "
            f"(at {at:.0f} s it said {left:.0f} s, and it was {run.seconds - at:.0f} s)"
        )


def print_scores(results: Path, study: Study, written: Mapping[str, Written]) -> bool:
    """Whether a score is wrong, or there is none."""
    if not (results / "scores.csv").is_file():
        print("scores: none")
        return True
    scores = pd.read_csv(results / "scores.csv", keep_default_na=False, na_values={"value": [""]})
    vectors = {model: part.vectors for model, part in written.items()}
    compared, worst, wrong = check(scores, study.queries, vectors)
    print(
        f"scores computed again: {compared:,} of WEAT, its effect size and RND; largest difference {worst:.2g}"
    )
    for place in wrong:
        print("  wrong:", *place)
    table = pd.read_csv(results / "comparison.csv", keep_default_na=False)
    of_model = table[table["verdict"] == "reproduced"].groupby("model").size()
    print(
        "published numbers reproduced:",
        ", ".join(f"{n} of {model}" for model, n in of_model.items()) or "none",
    )
    return bool(wrong) or not compared


def on_disk(folder: Path) -> int:
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())


def megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
