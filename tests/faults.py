"""Faults by hand: whether the tests see what would give a user a wrong number, verdict or drawing.

    python tests/faults.py             # all of them, `make faults`: at most 20 minutes on two cores
    python tests/faults.py bars.py     # those of which a file's path, or the part, has this in it

faults.toml lists faults of one line, by part of the package. Each is put into a copy of the sources, and the tests
that it names run there; a fault that these do not catch is tried with the quick suite (`make test-quick`). What the
table counts as caught is caught by a test, not by an import that fails.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")
NEEDED = 0.95  # of all faults
LONGEST = 600  # seconds of a run of tests
COPIED = ("src", "plugins", "tests", "docs")  # docs names sources by their path; the rest is linked
NAMED = ("-m", "not network and not cluster and not notebooks and not rehearsal")
QUICK = ("-m", "not slow and not network")
PACKAGES = (
    "pytest",
    "hypothesis",
    "pandas",
    "scipy.stats",
    "sklearn.linear_model",
    "seaborn",
    "pydantic",
    "gensim.models",
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")  # a process of several threads is not forked
PASSED, FAILED, NO_TESTS, ENDED = 0, 1, 5, -1  # pytest's exit codes, and of a process that was ended


@dataclass(frozen=True)
class Fault:
    """A fault of one line: `old` stands once in the file, and a user would be told what `does` says.

    part    of the package, for the table
    file    below src/biasgrid
    tests   files of tests below tests/, or tests in them: those that should catch it
    """

    part: str
    file: str
    old: str
    new: str
    does: str
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.file}: {' '.join(self.old.split())[:60]}"

    def text_in(self, source: Path) -> str:
        """The file's text with the fault. Raises ValueError if the old text does not stand in it exactly once."""
        text = (source / "biasgrid" / self.file).read_text(encoding="utf-8")
        if (number := text.count(self.old)) != 1:
            raise ValueError(f"{self.file}: stands {number} times in it: {self.old!r}")
        return text.replace(self.old, self.new)


def read() -> list[Fault]:
    parts = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return [
        Fault(part, **entry | {"tests": tuple(entry["tests"])})
        for part, entries in parts.items()
        for entry in entries
    ]


class Copy:
    """A copy of the sources and tests, in which one fault is at a time, and a process that runs tests in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for path in ROOT.iterdir():
            if path.name in COPIED:
                shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__"))
            elif path.name not in (".git", "results"):
                (folder / path.name).symlink_to(path)
        # what processes leave that end without tidying up, and studies of sources with a fault, end with the copy
        temporary = folder / "tmp"
        temporary.mkdir()
        environment = {"PYTHONPATH": str(folder / "src"), "TMPDIR": str(temporary)} | dict.fromkeys(
            THREADS, "1"
        )
        self.server = subprocess.Popen(
            [sys.executable, folder / "tests" / "faults.py", "--serve"],
            cwd=folder,
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def put(self, file: str, text: str) -> None:
        """Write a file of the package. Compiled code of it goes: it may be of another text of its size and second."""
        path = self.folder / "src" / "biasgrid" / file
        path.write_text(text, encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()

    def run(self, *arguments: str) -> tuple[int, list[str]]:
        """pytest's exit code, and the tests that failed, or the lines that it printed last."""
        output = self.folder / "output.txt"
        request = [["-q", "--tb=no", "-p", "no:cacheprovider", *arguments], str(output)]
        print(json.dumps(request), file=self.server.stdin, flush=True)
        code = int(self.server.stdout.readline() or ENDED)
        lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
        failed = [line.partition(" ")[2] for line in lines if line.startswith(("FAILED ", "ERROR "))]
        return code, [test.partition(" - ")[0] for test in failed] or lines[-15:]

    def stop(self) -> None:
        """End its process with all that it has started."""
        for end in (self.server.stdin.close, lambda: os.killpg(self.server.pid, signal.SIGINT)):
            with suppress(OSError, subprocess.TimeoutExpired):
                end()
                self.server.wait(3)  # pytest tidies up
        with suppress(ProcessLookupError):
            os.killpg(self.server.pid, signal.SIGKILL)
        self.server.wait()


def serve() -> None:
    """Run tests in forks of this process, which has imported the packages that they need: most of a start is imports.
    Nothing of biasgrid is imported before the fork."""
    for name in PACKAGES:
        importlib.import_module(name)
    for request in iter(sys.stdin.readline, ""):
        child = os.fork()
        if not child:
            arguments, output = json.loads(request)
            os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            os.dup2(1, 2)
            signal.alarm(LONGEST)
            code = sys.modules["pytest"].main(arguments)
            sys.stdout.flush()
            os._exit(code)
        status = None
        while status is None:
            with suppress(KeyboardInterrupt):
                status = os.waitpid(child, 0)[1]
        print(os.waitstatus_to_exitcode(status), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="?", default="", help="part of a fault's part or file")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-quick", action="store_true", help="do not try survivors with the quick suite")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        with suppress(KeyboardInterrupt):
            serve()
        return 0
    faults = [fault for fault in read() if arguments.only in f"{fault.part} {fault.file}"]
    if not faults:
        parser.error(f"no fault has {arguments.only!r} in its part or file")
    try:
        for fault in faults:
            fault.text_in(ROOT / "src")
    except ValueError as error:
        print(error)
        return 1
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start = time.monotonic()
    copies: list[Copy] = []
    with (
        tempfile.TemporaryDirectory(prefix="faults") as folder,
        ThreadPoolExecutor(arguments.workers) as pool,
    ):
        try:
            copies += (Copy(Path(folder) / str(number)) for number in range(arguments.workers))
            outcomes = try_all(faults, copies, pool, not arguments.no_quick)
        except KeyboardInterrupt:
            print("stopped")
            return 130
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for copy in copies:
                copy.stop()
    if outcomes is None:
        return 1
    table(faults, outcomes)
    minutes = (time.monotonic() - start) / 60
    caught = sum(bool(caught) for caught, _ in outcomes.values())
    print(f"{caught} of {len(faults)} faults are caught; {minutes:.1f} minutes")
    return 0 if caught >= NEEDED * len(faults) else 1


# what catches a fault: "named" tests, the "quick" suite or ""; and which test
Outcomes = dict[Fault, tuple[str, str]]


def try_all(
    faults: list[Fault], copies: list[Copy], pool: ThreadPoolExecutor, quick: bool
) -> Outcomes | None:
    """The outcome of each fault; None if tests that it needs fail without any fault."""
    tests = sorted({f"tests/{test}" for fault in faults for test in fault.tests})
    parts = [tests[number :: len(copies)] for number in range(len(copies))]
    runs = [pool.submit(copy.run, *NAMED, *part) for copy, part in zip(copies, parts, strict=True) if part]
    failures = [test for code, what in (run.result() for run in runs) if code != PASSED for test in what]
    if failures:
        print("Without any fault, these fail already:", *failures, sep="\n")
        return None
    print(f"{len(tests)} tests pass without a fault", flush=True)
    free: queue.Queue[Copy] = queue.Queue()
    for copy in copies:
        free.put(copy)

    def attempt(fault: Fault, kind: str, *arguments: str) -> tuple[str, str]:
        copy = free.get()
        original = (copy.folder / "src" / "biasgrid" / fault.file).read_text(encoding="utf-8")
        copy.put(fault.file, fault.text_in(copy.folder / "src"))
        code, what = copy.run("-x", *arguments)
        copy.put(fault.file, original)
        free.put(copy)
        return kind * (code == FAILED), " ".join(what) * (code not in (PASSED, NO_TESTS))

    runs = {
        fault: pool.submit(attempt, fault, "named", *NAMED, *(f"tests/{test}" for test in fault.tests))
        for fault in faults
    }
    outcomes = {}
    for fault, run in runs.items():
        outcomes[fault] = run.result()
        show(fault, *outcomes[fault])
    survivors = [fault for fault, (caught, what) in outcomes.items() if not caught and not what]
    if quick and survivors:
        print(f"The quick suite, on {len(survivors)} that survived:", flush=True)
        code, what = copies[0].run(*QUICK)  # what fails in a copy without any fault says nothing of one
        broken = [f"--deselect={test}" for test in what if code == FAILED]
        runs = {fault: pool.submit(attempt, fault, "quick", *QUICK, *broken) for fault in survivors}
        for fault, run in runs.items():
            outcomes[fault] = run.result()
            show(fault, *outcomes[fault])
    return outcomes


def show(fault: Fault, caught: str, what: str) -> None:
    if caught:
        print(f"caught    {fault.name}\n          by {what}", flush=True)
    else:
        print(f"SURVIVED  {fault.name}\n          {fault.does}{f' ({what})' if what else ''}", flush=True)


def table(faults: list[Fault], outcomes: Outcomes) -> None:
    print(f"\n{'part':12} {'faults':>6} {'caught':>6}  by the tests that it names")
    for part in dict.fromkeys(fault.part for fault in faults):
        kinds = [outcomes[fault][0] for fault in faults if fault.part == part]
        print(f"{part:12} {len(kinds):6} {sum(map(bool, kinds)):6} {kinds.count('named'):6}")


if __name__ == "__main__":
    sys.exit(main())
