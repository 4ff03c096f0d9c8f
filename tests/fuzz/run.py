"""Damaged and hostile input for everything that reads what others wrote.

    python tests/fuzz/run.py [--inputs 20000] [--only readers] [--seed 0] [--workers 2] [--output results/fuzz]

Every other module of this folder has

    TARGETS: dict[str, Callable[[int, Path], None]]

`function(seed, folder)` makes one input out of the seed in the empty `folder` and tries it through a public door; it
raises `damage.Refused` where that refuses it (a BiasgridError, or exit code 2). A failure is anything else: another
exception, an output that differs from an independent parse (AssertionError), a process that ends, more than LONGEST
seconds, more than MOST bytes of memory beside what the process had before (a target that makes a larger result leaves
it out by making it smaller: inputs here are small).

Inputs are tried in processes of their own, each of which tries many. Each target gets the same number of inputs,
with the seeds from --seed on. A failure's folder is kept as <output>/<target>/<seed>, with failure.txt beside the
input; to try it again: --only <target> --seed <seed> --inputs 1. One line per target is printed; the exit code is 1
where an input failed. Linux only: memory is read from /proc.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from damage import Refused

FOLDER = Path(__file__).parent
ACCEPTED, REFUSED, FAILED = "accepted", "refused", "failed"
LONGEST = 10.0  # seconds
MOST = 1 << 30  # bytes
REUSED = 2000  # inputs that one process tries
# a store is synced to the disk, which takes longer than all else about a small one
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def targets() -> dict[str, Callable[[int, Path], None]]:
    """Every module's targets, as {"module.target": function}."""
    sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]
    names = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("run", "__init__"))
    modules = {name: importlib.import_module(name) for name in names}
    # a module without targets is one that others share
    return {
        f"{name}.{target}": function
        for name, module in modules.items()
        for target, function in getattr(module, "TARGETS", {}).items()
    }


@dataclass
class Outcome:
    counts: Counter = field(default_factory=Counter)
    seconds: float = 0.0
    peak: int = 0  # bytes, the most of any input
    failures: list[str] = field(default_factory=list)  # one line each


def run(
    chosen: list[str], inputs: int, seed: int, first: Worker, workers: int, output: Path
) -> dict[str, Outcome]:
    """Try `inputs` inputs of each target, by `workers` workers; what failed is kept in `output`."""
    found = {name: Outcome() for name in chosen}
    jobs = iter([(name, seed + i) for i in range(inputs) for name in chosen])
    lock = threading.Lock()

    def work(worker: Worker) -> None:
        try:
            while True:
                with lock:
                    job = next(jobs, None)
                if job is None:
                    return
                name, number = job
                result = worker.attempt(name, number)
                if result.get("slow"):  # the machine may have been busy: it counts when it happens again
                    shutil.rmtree(result["folder"], ignore_errors=True)
                    result = worker.attempt(name, number)
                folder = Path(result["folder"])
                if result["outcome"] == FAILED:
                    keep(folder, output / name / str(number), result["why"])
                shutil.rmtree(folder, ignore_errors=True)
                with lock:
                    outcome = found[name]
                    outcome.counts[result["outcome"]] += 1
                    outcome.seconds = max(outcome.seconds, result["seconds"])
                    outcome.peak = max(outcome.peak, result["peak"])
                    if result["outcome"] == FAILED:
                        line = (result["why"].strip().splitlines() or ["?"])[-1]
                        outcome.failures.append(f"{name} {number}: {line}")
        finally:
            worker.close()

    with ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(work, one) for one in [first, *(Worker() for _ in range(1, workers))]]:
            future.result()
    return found


def keep(folder: Path, place: Path, why: str) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(folder, place, symlinks=True)
    (place / "failure.txt").write_text(why, encoding="utf-8")


class Worker:
    """A process that tries one input after the other; it is replaced when it dies, hangs, or has tried REUSED."""

    def __init__(self):
        self.process, self.tried = None, 0
        self.targets: list[str] = []

    def attempt(self, name: str, seed: int) -> dict:
        if self.process is None or self.tried >= REUSED:
            self.close()
            self.start()
        self.tried += 1
        folder = tempfile.mkdtemp(prefix="fuzz-", dir=SCRATCH)
        result = {"folder": folder, "outcome": FAILED, "peak": 0}
        before, start = memory(self.process.pid), time.monotonic()
        self.process.stdin.write(f"{json.dumps([name, seed, folder])}\n")
        self.process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not selector.select(0.02):
                taken = memory(self.process.pid) - before
                if taken > MOST or time.monotonic() - start > longest():
                    slow = taken <= MOST
                    why = (
                        f"more than {time.monotonic() - start:.0f} s"
                        if slow
                        else f"{taken >> 20} MB of memory"
                    )
                    self.close()
                    return result | {
                        "why": why,
                        "slow": slow,
                        "seconds": time.monotonic() - start,
                        "peak": taken,
                    }
        line = self.process.stdout.readline()
        result["seconds"] = time.monotonic() - start
        if not line:
            code = self.process.wait()
            self.close()
            return result | {"why": f"the process ended with {code}"}
        result |= json.loads(line)
        if result["peak"] > MOST:
            result |= {"outcome": FAILED, "why": f"{result['peak'] >> 20} MB of memory"}
        return result

    def start(self) -> None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("BIASGRID_")}
        # what the process leaves when it is killed
        self.temporary = tempfile.TemporaryDirectory(prefix="fuzz-", dir=SCRATCH)
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what commands print
            env=environment | {"OMP_NUM_THREADS": "1", "TMPDIR": self.temporary.name},
            text=True,
        )
        self.tried = 0
        try:  # imports are not an input's time
            self.targets = json.loads(self.process.stdout.readline())
        except ValueError:
            raise RuntimeError(f"no worker: try {sys.executable} {__file__} --worker") from None

    def close(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.temporary.cleanup()
        self.process = None


def longest() -> float:
    """LONGEST, and more where other processes want the cores, too."""
    return LONGEST * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def worker() -> None:
    # what a target prints must not be taken for an answer
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    known = targets()
    print(json.dumps([*known]), file=answers, flush=True)
    for line in sys.stdin:
        name, seed, folder = json.loads(line)
        before = memory("self")
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the peak starts anew
        outcome, why = ACCEPTED, ""
        try:
            known[name](seed, Path(folder))
        except Refused:
            outcome = REFUSED
        except BaseException:
            outcome, why = FAILED, traceback.format_exc()
        answer = {"outcome": outcome, "why": why, "peak": memory("self", "VmHWM") - before}
        print(json.dumps(answer), file=answers, flush=True)


def memory(process: int | str, what: str = "VmRSS") -> int:
    """Bytes; 0 of a process that has ended."""
    try:
        with open(f"/proc/{process}/status", encoding="utf-8") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith(what)), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=20_000, help="of all targets together")
    parser.add_argument("--only", action="append", help="a module, or module.target; may be repeated")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--output", type=Path, default=Path("results/fuzz"))
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        worker()
        return 0
    # it has imported them
    first = Worker()
    first.start()
    chosen = [
        name
        for name in first.targets
        if not arguments.only or any(name == one or name.startswith(f"{one}.") for one in arguments.only)
    ]
    if not chosen:
        first.close()
        parser.error(f"no such target; there are {', '.join(first.targets)}")
    each = -(-arguments.inputs // len(chosen))
    found = run(chosen, each, arguments.seed, first, arguments.workers, arguments.output)
    width = max(map(len, found))
    print(f"{'target':{width}}    tried accepted  refused   failed  longest s  most MB")
    for name, outcome in found.items():
        counts = [outcome.counts.total(), *(outcome.counts[key] for key in (ACCEPTED, REFUSED, FAILED))]
        cells = " ".join(f"{count:8}" for count in counts)
        print(f"{name:{width}} {cells} {outcome.seconds:10.1f} {outcome.peak / 1e6:8.0f}")
    totals = sum((outcome.counts for outcome in found.values()), Counter())
    cells = " ".join(f"{n:8}" for n in [totals.total(), *(totals[k] for k in (ACCEPTED, REFUSED, FAILED))])
    print(f"{'all':{width}} {cells}")
    failures = [line for outcome in found.values() for line in outcome.failures]
    for line in failures[:40]:
        print(line)
    if failures:
        print(f"{len(failures)} failures, kept in {arguments.output}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
