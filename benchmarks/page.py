"""What the page of a study costs as studies grow: its size, the seconds and the memory that it takes.

The models of a finished study are multiplied: a copy of its results has each model several times, with all cells
and their inference, or without inference. Its tables are made first, as a run makes them; then `biasgrid report` is
timed. Copies of a model have the same numbers, which the page packs together: with other numbers it is larger.

    python benchmarks/page.py [--results results/embedded] [--times 8] [--plain] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from multiprocessing import Process
from pathlib import Path
from typing import Any

from biasgrid import tables
from biasgrid.study.results.finished_study import find_study
from biasgrid.study.steps import rank_samples_step, table_step
from biasgrid.tables.planned import Planned

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("results/embedded"))
    parser.add_argument("--times", type=int, default=8, help="how often each model is there")
    parser.add_argument("--plain", action="store_true", help="without inference")
    parser.add_argument("--keep", type=Path, help="the folder of the larger study, which is left there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or Path(temporary) / "larger"
        if not folder.exists():
            # in a process of its own: a child's most memory is at least its parent's
            maker = Process(target=multiply, args=(args.results, folder, args.times, args.plain))
            maker.start()
            maker.join()
            if maker.exitcode:
                sys.exit(1)
        begin = time.perf_counter()
        command = [sys.executable, "-m", "biasgrid", "report", str(folder.resolve())]
        child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
        if status:
            sys.exit(1)
        scores = len(tables.read(folder / "scores.csv"))
        size = (folder / "report.html").stat().st_size
        cpu = usage.ru_utime + usage.ru_stime
        print(
            f"{scores:,} scores: {size / 1e6:.1f} MB, {seconds:.1f} s ({cpu:.1f} s of CPU), "
            f"{usage.ru_maxrss / 1024:.0f} MB of memory"
        )


def multiply(results: Path, folder: Path, times: int, plain: bool) -> None:
    """A copy of a study's results with each model several times, and with its tables."""
    folder.mkdir(parents=True)
    config = json.loads((results / "study.json").read_text(encoding="utf-8"))
    models = config["models"]
    names = {model: [model, *(f"{model}-copy-{i}" for i in range(2, times + 1))] for model in models}
    config["models"] = {
        name: entry | {"label": f"{entry['label']}{name.removeprefix(model).replace('-', ' ')}"}
        for model, entry in models.items()
        for name in names[model]
    }
    _multiply_debias(config, names)
    config["study"], config["figures"], config["null_distributions"] = folder.name, [], []
    config["published"] = []
    if plain:
        config["inference"] = {}
    (folder / "study.json").write_text(json.dumps(config), encoding="utf-8")
    shutil.copytree(results / "queries", folder / "queries")
    kinds = ("cells",) if plain else ("cells", "inference", "aggregates")
    for model, copies in names.items():
        for copy in copies:
            _copy(results / "models" / f"{model}.json", folder / "models" / f"{copy}.json", model, copy)
            for kind in (*kinds, "evaluation", "frequency"):
                for path in (*(results / kind / model).rglob("*"), results / kind / f"{model}.json"):
                    if path.is_file():
                        place = str(path.relative_to(results)).replace(model, copy, 1)
                        _copy(path, folder / place, model, copy)
    study = find_study(folder)
    _make_tables(study)


def _multiply_debias(config: Any, names: dict[str, list[str]]) -> None:
    for of_criterion in config["debias"].values():
        for entry in of_criterion.values():
            if entry.get("models"):
                entry["models"] = [copy for model in entry["models"] for copy in names[model]]


def _copy(path: Path, place: Path, model: str, copy: str) -> None:
    """A file of a model as one of its copy."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".json":
        shutil.copy(path, place)
        return
    text = path.read_text(encoding="utf-8")
    place.write_text(re.sub(rf'"{re.escape(model)}(?=["/])', f'"{copy}', text), encoding="utf-8")


def _make_tables(study: Planned) -> None:
    """The tables that the page shows, in the order in which they need each other."""
    for name in (
        "scores",
        "scalars",
        "aggregates",
        "rankings",
        "rank_intervals",
        "pairs",
        "quality",
        "mitigation",
        "lost_words",
        "order",
        "reliability",
    ):
        if name in study.tables:
            table_step(study, name).run()
        if name == "scores" and study.config.inference.bootstrap:
            rank_samples_step(study).run()


if __name__ == "__main__":
    main()
