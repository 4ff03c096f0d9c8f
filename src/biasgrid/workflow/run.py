"""A run of the workflow: its lock, what it says when it begins and when it ends."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO

from ..core import schema
from ..core.errors import BiasgridError
from ..core.files import write_text
from ..core.processes import RANDOM_GROUPS
from ..models.language.blocks import AT_WORK
from ..study import code
from ..study.paths import Folders
from ..study.study import Study
from . import config_file, disk, explain_rerun, results_record, run_messages, run_summary, stores
from .plan import Plan
from .setup import input_files, logs_of, stop

WARNING = "biasgrid: warning: "  # begins a line in the log of a step
WARNINGS = "warnings.log"

_locks: list[IO[str]] = []  # open as long as this process runs


def begin(study: Folders, config_files: Sequence[str | Path], replaces: bool = False) -> None:
    """Take the lock of a study, and say what the run will download. Snakemake calls this when a run starts to work.

    End the process, with one line and exit code 2, if another run is at work, or if the disk is full.

    Parameters
    ----------
    study
        A study or an experiment.
    config_files
        Its config files.
    replaces
        Whether it may replace the results of another config file.
    """
    logs = logs_of(study)
    _lock(study.name, logs)
    config_file.record(study.results, os.path.relpath(config_files[0]), replaces)
    results_record.begin(study.results)
    _share_random_groups(logs)
    if not isinstance(study, Study):
        return
    explain_rerun.record(logs)
    code.remember(logs)
    try:
        stores.make_folder(study)
        downloads = [name for name in study.sources if not study.paths.source_file(name).is_file()]
        stores.check_extras(study, downloads)
        sizes = run_messages.download_sizes(study, downloads)
        say(run_messages.downloads(study, sizes), schema.notice(study.results))
        disk.check(study, parts := disk.to_write(study, sizes))
        if sizes:
            say(
                f"it takes about {run_messages.size_text(sum(parts.values()))} on the disk: {disk.described(parts)}"
            )
    except BiasgridError as error:
        stop(error)


def _lock(name: str, logs: Path) -> None:
    """Take the lock that one run of a study holds at a time; it ends with this process, however that ends.

    Snakemake's own lock outlives a killed run, so profiles/default turns it off.
    """
    logs.mkdir(parents=True, exist_ok=True)
    lock = (logs / results_record.LOCK).open("w")
    _locks.append(lock)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stop(f"another run of {name} is at work in this folder; wait for it, or stop it")
    except OSError as error:  # some file systems of clusters have no locks
        say(f"no lock ({logs / results_record.LOCK}: {error}): do not start a second run of {name}")


def _share_random_groups(logs: Path) -> None:
    """Let the steps of this run share the random groups that one of them draws: all metrics of a model need them.

    The folder ends with the run; that of a run that was killed is deleted now.
    """
    beginning = "random-groups-"
    for left_over in logs.glob(f"{beginning}*"):
        shutil.rmtree(left_over, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=beginning, dir=logs)).absolute()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[RANDOM_GROUPS] = str(folder)


def end(study: Folders, config_files: Sequence[str | Path]) -> None:
    """Record the results and say what a study says, after a run that succeeded.

    End the process with exit code 1 if something could not be downloaded.
    """
    logs, files = logs_of(study), list(map(os.path.relpath, config_files))
    results_record.end(study, logs, input_files)
    if not isinstance(study, Study):
        say(
            run_messages.on_trust(study, files),
            run_summary.tables_and_figures(study.results),
        )
        return
    absent, present = stores.absent_archives(study), study.present()
    if all(present.paths.table_file(name).is_file() for name in present.tables):
        for line in ("", *run_summary.conclusions(present), ""):
            print(line, file=sys.stderr, flush=True)
    say(
        "; ".join(
            filter(
                None, (_warning_line(logs, run_messages.caveats(present)), run_messages.lost_by_case(present))
            )
        ),
        run_messages.on_trust(study, files),
        *(run_messages.absence(study, absent) if absent else ()),
        run_summary.where(present),
    )
    if absent:  # as after a step that failed
        sys.exit(1)


def fail(study: Folders, config_files: Sequence[str | Path]) -> None:
    """Record the results that there are, and say what could not be downloaded, after a run that failed."""
    files = list(map(os.path.relpath, config_files))
    results_record.end(study, logs_of(study), input_files)
    absent = stores.absent_archives(study) if isinstance(study, Study) else {}
    say(
        _warning_line(logs_of(study)),
        run_messages.on_trust(study, files),
        *(run_messages.absence(study, absent) if absent else ()),
    )


def say(*lines: str | None) -> None:
    """Print lines about the run on standard error."""
    for line in filter(None, lines):
        print(f"biasgrid: {line}", file=sys.stderr, flush=True)


def _warning_line(logs: Path, limits: Iterable[str] = ()) -> str:
    """Write the warnings in the logs of steps, and the limits of the study, to one file. Return their number."""
    texts = dict.fromkeys(limits)
    for log in sorted(logs.rglob("*.txt")):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        texts |= dict.fromkeys(line.removeprefix(WARNING) for line in lines if line.startswith(WARNING))
    write_text(logs / WARNINGS, "".join(f"{text}\n" for text in texts))
    return f"warnings: {len(texts)}, in {logs / WARNINGS}" if texts else "warnings: none"


def reason_in(log: Path | str) -> str:
    """Return why a step failed: the last line of its log that is not a warning or a progress line."""
    try:
        lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    reasons = (line for line in reversed(lines) if line.strip() and not line.startswith((WARNING, AT_WORK)))
    return next(reasons, "").removeprefix("biasgrid: ")


def make(plan: Plan, name: str, log: str, notes: Path | str) -> None:
    """Make the step of a name in this thread. Its warnings, and why it failed, are written to its log.

    Parameters
    ----------
    plan
        The plan of the study.
    name
        The step's name, such as "cell glove-6b-50d/none/weat/career".
    log
        The step's log.
    notes
        The folder of the study's logs, in which `why` notes what the step was made of.
    """
    log_failure(log, plan[name].run)
    explain_rerun.note(Path(notes), name, plan[name].settings, plan[name].code)


def log_failure(log: str, function: Callable[..., object], *arguments: object) -> None:
    """Call a function in this thread. Its warnings, and why it failed, are written to a log."""
    Path(log).unlink(missing_ok=True)
    _thread.log = log
    try:
        function(*arguments)
    except Exception as error:
        write_text(log, f"{error if isinstance(error, BiasgridError) else repr(error)}\n")
        raise
    finally:
        _thread.log = None


def warn_in_logs() -> None:
    """From now on write a warning of a step that runs in a thread (`make`) to the step's log."""

    def show(message: Warning | str, *_: object) -> None:
        line = f"{WARNING}{' '.join(str(message).split())}\n"
        if log := getattr(_thread, "log", None):
            with Path(log).open("a", encoding="utf-8") as file:
                file.write(line)
        else:
            sys.stderr.write(line)

    warnings.showwarning = show  # type: ignore[assignment]


_thread = threading.local()
