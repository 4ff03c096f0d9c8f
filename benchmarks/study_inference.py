"""What the inference of the embedded study costs, beside another checkout, in one run.

    python benchmarks/study_inference.py --against CHECKOUT [--models glove-6b-50d ...]

Both checkouts have run the study (`make study`). Each side infers all cells anew, model by model, in one process that
runs nothing else, by its own code and its own config/embedded.yaml: CPU seconds by metric, and their ratio. The tests
of what models are ranked by (`measure.aggregates`), which older checkouts lack, are counted apart. Random groups
are drawn once for all metrics of a model, as in a run of the study: the first metric pays for them.
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


def measure(models: list[str]) -> dict[str, float]:
    """CPU seconds by step of the study in this folder."""
    from dataclasses import replace

    from threadpoolctl import threadpool_limits

    from biasgrid.core.processes import RANDOM_GROUPS
    from biasgrid.study import steps
    from biasgrid.study.study import Study

    study = Study.read("config/embedded.yaml")
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        os.environ[RANDOM_GROUPS] = folder
        for name, group in study.grid.inference_groups.items():
            if group[0].cell.model not in models:
                continue
            made = {"inference": steps.inference_step(study, group)}
            if name in getattr(study, "aggregate_criteria", {}):
                made["aggregates"] = steps.aggregates_step(study, group)
            for kind, step in made.items():
                start = time.process_time()
                replace(step, output=Path(folder, f"{kind}.json")).run()
                # what a step keeps of its former output would be no work
                for path in Path(folder).glob(f"{kind}.*"):
                    path.unlink()
                key = f"{kind} {group[0].cell.metric}"
                seconds[key] = seconds.get(key, 0.0) + time.process_time() - start
    return seconds


def measure_in(checkout: Path, models: list[str]) -> dict[str, float]:
    """`measure` by the code of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), "--measure", "--models", *models]
    output = subprocess.run(
        command, cwd=checkout, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(output.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", type=Path, help="another checkout that has run the study")
    parser.add_argument("--models", nargs="+", default=["glove-6b-50d", "word2vec-google-news-300-subset"])
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.models)))
        return
    if given.against is None:
        parser.error("--against: which other checkout?")
    this, other = (measure_in(checkout.resolve(), given.models) for checkout in (ROOT, given.against))
    for key, seconds in this.items():
        before = f"{other[key]:7.1f} s  {seconds / other[key]:5.2f}x" if key in other else ""
        print(f"{key:20} {seconds:7.1f} s  {before}")
    ours, theirs = (
        sum(s for key, s in side.items() if key.startswith("inference")) for side in (this, other)
    )
    print(f"{'inference':20} {ours:7.1f} s  {theirs:7.1f} s  {ours / theirs:5.2f}x")
    print(f"{'aggregates':20} {sum(this.values()) - ours:7.1f} s")


if __name__ == "__main__":
    main()
