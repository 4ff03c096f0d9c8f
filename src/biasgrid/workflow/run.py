"""A run of a workflow: its lock, its workers, its results, and its failures."""

from __future__ import annotations

import fcntl
import gc
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError

from .. import digests
from ..embeddings.language.blocks import AT_WORK
from ..embeddings.sources import REGISTRY as SOURCES
from ..errors import BiasgridError
from ..files import write_text
from ..plan.paths import Folders
from ..plan.step import Step
from ..plan.steps import NO_MODEL
from ..plan.study import Study
from ..web_addresses import without_secrets
from . import conclusions, disk, engine, inputs, notices, stores, why
from .batches import Batch, log_of
from .made import Made
from .progress import Progress
from .recorded import Recorded
from .warning_log import WarningLog
from .workers import Workers

WARNING = "biasgrid: warning: "  # begins a line in the log of a step that is a process of its own


class Run:
    """A run of a workflow on one study or experiment.

    Parameters
    ----------
    name
        The study's name; logs, and the run's lock, lie in logs/<name>.
    results
        The folder of its results.
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
    warning_log
        Where warnings go, and the run's are written to logs/<name>/warnings.log.
    """

    def __init__(
        self,
        name: str,
        results: Path,
        plugins: Iterable[Path | str],
        cores: int | None,
        study: str = "",
        progress: Progress | None = None,
        warning_log: WarningLog | None = None,
    ):
        self.name, self.logs, self._progress = name, Path("logs") / name, progress
        self._lock_file, self._study = self.logs / ".lock", study
        self.study_file = self.logs / ".study.json"
        self._workers, self._made = Workers(plugins, cores), Made(self.logs)
        self._warning_log, self._warnings = warning_log, self.logs / "warnings.log"
        self._recorded = Recorded(results, self.logs, study)

    def plan(self, workflow: Any, inputs: Mapping[str, str] | None = None) -> None:
        """Have what is damaged of the results planned to be made again. `inputs` are the user's files that they are
        made from, and the digests of these."""
        self._recorded.inputs = dict(inputs or {})
        engine.before_planning(workflow, lambda: self._recorded.remove_damaged(workflow, self.say))

    def preview(self, workflow: Any, study: Study) -> None:
        """Have a dry run say how many steps there are of each rule, and end as the run would, where that is known
        before any work is done."""
        is_brief = engine.is_brief(workflow)

        def check() -> None:
            if is_brief:
                print("\n".join(plan_lines(*engine.planned_rules(workflow))), flush=True)
            names = [job.name for job in engine.jobs(workflow, "archive")]
            models = [job.model for job in engine.jobs(workflow, "store", "train")]
            if wrong := inputs.problems(study, names, models):
                engine.stop("\nbiasgrid: ".join(wrong))

        engine.after_planning(workflow, check, silent=is_brief)

    def explain(self, workflow: Any, study: Study, step: str) -> None:
        """Have a dry run say why it would make a step; without one, why it would make anything."""

        def say() -> None:
            reasons = why.Why(workflow, study, self.logs)
            print("\n".join(reasons.lines(step) if step else reasons.study_lines()), flush=True)

        engine.after_planning(workflow, say)

    def begin(self, workflow: Any, study: Folders | None = None) -> None:
        """Take the lock: one run of a study at a time. Ends the process where another run holds it.

        Of a study that fetches models, their folder is made, and it is said what is downloaded. A dry run does not
        come here (`onstart`).

        Snakemake's own lock outlives a killed run and has to be taken off by hand (the profile turns it off). This
        one ends with the process that holds it.
        """
        engine.stop_on_signals(workflow, self._progress)
        gc.freeze()  # the plan stays as long as the process
        gc.enable()
        self._lock_file.parent.mkdir(parents=True, exist_ok=True)
        digests.save()  # what the plan has read
        self._lock = self._lock_file.open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(
                f"biasgrid: another run of {self.name} is active here; wait for it or stop it",
                file=sys.stderr,
            )
            os._exit(2)
        except OSError as error:  # some file systems of clusters
            print(
                f"biasgrid: no lock ({self._lock_file}: {error}): do not start a second run of it",
                file=sys.stderr,
            )
        if self._study:
            write_text(self.study_file, self._study)
            why.record(self.logs)
        if self._warning_log is not None:
            self._warning_log.begin(self._warnings, partial(engine.keeps, workflow))
        engine.start_at_once(workflow)
        for log in engine.forced_logs(workflow, self._recorded.forced):
            self._made.forget(log)
        if study is not None:
            try:
                stores.make_folder(study)
                downloads = [job.name for job in engine.jobs(workflow, "archive")]
                stores.check_extras(study, downloads)
            except BiasgridError as error:
                self.end()
                engine.stop(error)
            sizes = notices.download_sizes(study, downloads)
            self.say(notices.downloads(study, sizes))
            stores.show_downloads = self._progress is None
            if self._progress is not None and None not in sizes.values():
                self._progress.to_download = sum(int(size or 0) for size in sizes.values())
            if isinstance(study, Study):
                self._expect_stores(workflow, study, sizes)
        self._recorded.begin(workflow)

    def _expect_stores(self, workflow: Any, study: Study, sizes: Mapping[str, int | None]) -> None:
        """Say what room the run takes, and end it where that is not there; note what is converted."""
        cells = engine.jobs(workflow, "cell", "cell_debiased", "cell_of_sentences")
        models = [job.model for job in engine.jobs(workflow, "store")]
        parts = disk.needed(study, sizes, models, len(cells), len(engine.jobs(workflow, "pool")))
        if sum(known := [size or 0 for size in sizes.values()]):
            total = ("" if all(known) else "at least ") + notices.size_text(sum(parts.values()))
            self.say(f"it takes {total} on the disk: {disk.described(parts)}")
        try:
            disk.check(study, parts)
        except BiasgridError as error:
            self.end()
            engine.stop(error)
        if self._progress is not None:
            for model in models:
                size = stores.archive_megabytes(study, model)
                self._progress.archives[model] = stores.archives(study, model)[0], size or 1.0

    def perform(self, step: Step, log: str, in_worker: bool = False) -> None:
        """Run a step of the plan, in this process or in one of the workers."""
        self.call(step.name, log, self._workers.run if in_worker else Step.run, step)

    def make(self, workflow: Any, batch: Batch) -> None:
        """Make those steps of a job that were made of something else, in the workers, each once the steps that it
        reads from are done. A step that fails costs itself and the steps that read from it.

        All outputs get the time of now: the engine runs a step again whose output is older than its input.
        """
        lost, waiting, reasons = set(batch.outputs), list(batch.steps), []
        running: dict[Future[Any], tuple[Step, str, str]] = {}
        while waiting or running:
            # one step at a time where other jobs have the workers: steps of a job wait for what one of them draws
            while not running or self._workers.has_room():
                step = next((step for step in waiting if lost.isdisjoint(step.files)), None)
                if step is None:
                    break
                waiting.remove(step)
                log, digest = log_of(step, self.logs), self._made.digest(step)
                if (warned := self._made.warnings(step, log, digest)) is None:
                    running[self._workers.submit(step)] = step, log, digest
                else:
                    self._warn(log, warned)
                    lost.difference_update(step.outputs)
            if not running:
                break  # what they read from failed
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                step, log, digest = running.pop(future)
                try:
                    _, warned = future.result()
                except Exception as error:
                    reasons.append(f"{step.name} failed: {_note_failure(log, error)}")
                    for file in step.outputs:
                        Path(file).unlink(missing_ok=True)
                else:
                    self._warn(log, warned)
                    self._made.note(step, log, digest, warned)
                    lost.difference_update(step.outputs)
        for file in set(batch.outputs) - lost:
            os.utime(file)
        if reasons:
            engine.keep_outputs(workflow, batch.outputs)
            raise WorkflowError("; ".join(reasons))

    def _warn(self, log: str, texts: Iterable[str]) -> None:
        """What the step of a log warns of."""
        if self._warning_log is not None:
            for text in texts:
                self._warning_log.note(text, log)

    def call(self, name: str, log: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function for a job; why it failed goes to the job's log and to the report at the end."""
        Path(log).unlink(missing_ok=True)  # of a former try
        if self._warning_log is not None:
            self._warning_log.begin_step(log)
        try:
            return function(*arguments)
        except Exception as error:
            raise WorkflowError(f"{name} failed: {_note_failure(log, error)}") from None

    def show(self, lines: Iterable[str]) -> None:
        """Print lines as they are, between what is shown of the run's progress."""
        for line in lines:
            if self._progress is not None:
                self._progress.say(line)
            else:
                print(line, file=sys.stderr, flush=True)

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

    def conclude(self, workflow: Any, study: Folders) -> None:
        """Say what came out, in a line each, of a run that made all there is or had nothing to make; of one that was
        asked for less, only what its warnings are."""
        self.end()
        self._recorded.end(workflow)
        engine.record_config_file(workflow, study.results, replaces=False)
        makes_all = engine.makes_all(workflow)
        # where archives are asked for, one that is missing counts, even if there is a store of it
        asked = study.sources if "fetch" in engine.asked_rules(workflow) else ()
        absent = stores.absent_archives(study, asked) if isinstance(study, Study) else {}
        if makes_all and not absent:
            self._recorded.end_of_all()
        planned, study = study, study.present() if isinstance(study, Study) else study
        if makes_all and isinstance(study, Study):
            self.show(["", *conclusions.noted(study, self.logs / ".conclusions.json"), ""])
        by_case = notices.lost_by_case(study) if isinstance(study, Study) else None
        # of a run that made something: else the last run's warnings have them
        if isinstance(study, Study) and self._warning_log is not None and self._warning_log.file is not None:
            for line in notices.caveats(study):
                self._warning_log.note(line)
        warnings = self._warning_line() or ("warnings: none" if makes_all else None)
        self.say("; ".join(filter(None, (warnings, by_case))))
        self.say(notices.on_trust(study, engine.config_files(workflow)))
        for line in notices.absence(planned, absent) if absent else ():
            self.say(line)
        if makes_all and isinstance(study, Study):
            self.say(conclusions.where(study))
        elif makes_all:
            self.say(conclusions.tables_and_figures(study.results))
        if absent:  # Snakemake ends as after a step that failed
            raise WorkflowError(f"not downloaded: {', '.join(absent)}")

    def _warning_line(self) -> str | None:
        """How many warnings there are of the last run that made something and of steps that it found done, and their
        file; None where there are none."""
        if self._warning_log is not None and self._warning_log.file is not None:
            for rule, name, text in self._logs():
                log = str(self.logs / rule / f"{name}.txt")
                for line in text.splitlines():
                    if line.startswith(WARNING):
                        self._warning_log.note(f"{rule} {name}: {line.removeprefix(WARNING)}", log)
        count = (
            len(self._warnings.read_text(encoding="utf-8").splitlines()) if self._warnings.is_file() else 0
        )
        return f"warnings: {count}, in {self._warnings}" if count else None

    def _logs(self) -> Iterator[tuple[str, str, str]]:
        """What is in the logs of this run's jobs: rule, the rest of the job's name, and the text."""
        began = self._lock_file.stat().st_mtime
        for log in sorted(self.logs.rglob("*.txt")):
            if log.stat().st_mtime >= began and (text := log.read_text(errors="replace").strip()):
                rule, _, name = log.relative_to(self.logs).as_posix().removesuffix(".txt").partition("/")
                yield rule, name, text

    def failures(self) -> Iterator[tuple[str, str, str]]:
        """What failed in this run, from the jobs' logs: rule, the rest of the job's name, and why."""
        for rule, name, text in self._logs():
            last = text.rpartition("\n")[2]
            if not last.startswith((WARNING, AT_WORK)):
                yield rule, name, last.removeprefix("biasgrid: ")

    def report(self, workflow: Any, study: Folders) -> None:
        """Say what failed, in a line each."""
        self.end()
        self.say(self._warning_line())
        if self._progress is not None and self._progress.stopped:
            engine.leave()
        self._recorded.end(workflow)
        self.say(notices.on_trust(study, engine.config_files(workflow)))
        # files of the user: nothing that a download would bring
        sources = {name: entry["source"] for name, entry in study.sources.items()}
        local = [name for name, source in sources.items() if SOURCES[source["type"]].in_place(source)]
        absent = stores.absent_archives(study) if isinstance(study, Study) else {}
        failures = [failure for failure in self.failures() if failure[2] != NO_MODEL]
        if self._progress is not None and not failures and not absent:
            # a step failed outside what `call` runs
            self._progress.show_errors()
        for rule, name, reason in failures:
            if rule == "archive" and name in local:
                print(f"biasgrid: {reason}", file=sys.stderr)
            elif rule == "archive":
                absent[name] = reason.removeprefix(f"{name}: ")
            else:
                print(f"biasgrid: {' '.join(filter(None, (rule, name)))} failed: {reason}", file=sys.stderr)
        for line in notices.absence(study, absent) if absent else ():
            print(f"biasgrid: {line}", file=sys.stderr)


def plan_lines(rules: Mapping[str, tuple[int, int]], jobs: int) -> list[str]:
    """Return a table of the steps by rule that a run would make, and of the jobs that it would submit.

    Parameters
    ----------
    rules
        As `engine.planned_rules` returns them.
    jobs
        How many jobs are submitted: one may have steps of several rules.
    """
    # the study's last rule, which makes nothing
    steps = {rule: counts for rule, counts in rules.items() if rule != "all"}
    if not steps:
        return ["nothing would run: everything is up to date"]
    width = max(map(len, [*steps, "total"]))
    rows = [("rule", "steps", "jobs to submit")]
    rows += [(rule, f"{n:,}", f"{m:,}" if m else "none, it runs here") for rule, (n, m) in steps.items()]
    rows += [("total", f"{sum(n for n, _ in steps.values()):,}", f"{jobs:,}")]
    columns = 3 if jobs else 2
    lines = ["  ".join([row[0].ljust(width), row[1].rjust(5), row[2]][:columns]) for row in rows]
    notes = ["one job may have steps of several rules"] if jobs else []
    return [*lines, *notes, "why: biasgrid run CONFIG --why"]


def _note_failure(log: str, error: Exception) -> str:
    """Write to a step's log why it failed; in short, where that was no wrong input."""
    if isinstance(error, BiasgridError):
        reason = text = str(error)
    else:
        reason, text = f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error))
    write_text(log, without_secrets(text))
    return reason
