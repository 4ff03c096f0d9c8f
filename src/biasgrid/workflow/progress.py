"""What a run shows while it works: one live line on a terminal, a line every so often in a log."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import IO, Any

from tqdm import tqdm

FIRST, LEAST = 10.0, 30.0  # seconds to a log's first line, and between lines at least
SHARE = 0.05  # of the run so far, between lines of a log where that is longer
LOOK = 0.5  # seconds between looks at a terminal's line
# how Snakemake comments on a step that failed; the run's report says what failed
ON_FAILURE = ("Cannot restore ", "Exiting because a job execution failed")
BAR = "{n_fmt} of {total_fmt} steps |{bar:10}| {desc}"


class Progress(logging.Handler):
    """Takes the place of Snakemake's messages on the screen; its log file, below .snakemake/log, has them all.

    Shown are how many steps are done, which are at work, what they have downloaded, and about how long the others
    will take. Warnings, and errors before the run has begun, are shown as Snakemake writes them; what fails later is
    told by `run.Run.report`, in a line each.

    Parameters
    ----------
    downloads
        The folder in which downloads grow.
    formatter
        Snakemake's own.
    """

    def __init__(
        self, downloads: Path, formatter: logging.Formatter | None = None, stream: IO[str] | None = None
    ):
        super().__init__(logging.INFO)
        self.setFormatter(formatter)
        self.name = "biasgrid"
        self._downloads, self._stream = downloads, stream or sys.stderr
        self._live = self._stream.isatty()
        self._bar: Any = None
        self._names: dict[int, tuple[str, str]] = {}  # of jobs: rule, and the rest of the name
        self._running: dict[int, float] = {}  # jobs -> when they were started
        self._seconds: Counter[str] = Counter()  # by rule, of finished jobs
        self._finished: Counter[str] = Counter()  # how many, by rule
        self._planned: Counter[str] = Counter()
        self._done = self._total = 0
        self._began = self._said = 0.0
        self._over = threading.Event()
        self.stopped = False  # the user interrupted the run
        self.errors: list[str] = []  # messages of steps that failed
        self._received: dict[str, float] = {}  # megabytes of archives so far
        self.to_download: int | None = None  # megabytes, where that is known
        self.when_nothing: Callable[[], object] = lambda: None  # what a run that has nothing to do ends with

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of an event of the run."""
        event = getattr(record, "event", None)
        handle = getattr(self, f"_{event}", None) if event else None
        if handle is not None:
            handle(record)
        elif event in ("job_error", "group_error", "error") and self._began:
            self.errors.append(self.format(record))
        elif "on user request" in record.getMessage():
            self.stopped = True
        elif self._over.is_set() or record.getMessage().startswith(ON_FAILURE):
            pass
        elif record.levelno >= logging.WARNING or event == "error":
            self._refuse_protected(self.format(record))
            self._print(self.format(record))
        elif record.getMessage().startswith(("Nothing to be done", "Report created")):
            self._print(self.format(record))
            if not record.getMessage().startswith("Report"):
                self.when_nothing()

    def _refuse_protected(self, text: str) -> None:
        """End the process, whose run has not begun, where files that it is to make may not be written."""
        if text.startswith("ProtectedOutputException") and not self._began:
            file = text.strip().rpartition("\n")[2].strip()
            self._print(
                f"biasgrid: {file}: may not be written, and is to be made again; another folder: `results` in the "
                "config"
            )
            os._exit(2)

    def _run_info(self, record: Any) -> None:
        self._planned = Counter(record.stats)
        self._total = self._planned.pop("total", 0)
        if self._began:
            return
        self._began = time.monotonic()
        if self._live:
            self._bar = tqdm(
                total=self._total, file=self._stream, bar_format=BAR, dynamic_ncols=True, leave=False
            )
        threading.Thread(target=self._watch, daemon=True).start()

    def _job_info(self, record: Any) -> None:
        wildcards = record.wildcards or {}
        self._names[record.jobid] = (record.rule_name, "/".join(map(str, wildcards.values())))

    def _job_started(self, record: Any) -> None:
        self._running |= dict.fromkeys(record.jobs, time.monotonic())

    def _job_finished(self, record: Any) -> None:
        rule = self._names.get(record.job_id, ("", ""))[0]
        now = time.monotonic()
        self._seconds[rule] += now - self._running.pop(record.job_id, now)
        self._finished[rule] += 1

    def _progress(self, record: Any) -> None:
        self._done, self._total = record.done, record.total

    def _watch(self) -> None:
        while not self._over.wait(LOOK):
            self.acquire()  # events come in other threads
            try:
                self._show()
            finally:
                self.release()

    def _show(self) -> None:
        if self._bar is not None:
            self._bar.n, self._bar.total = self._done, self._total
            self._bar.set_description_str(self._state())
            return
        now = time.monotonic()
        pause = max(LEAST, SHARE * (now - self._began)) if self._said else FIRST
        if now - (self._said or self._began) >= pause:
            self._said = now
            self._print(f"{self._done} of {self._total} steps, {self._state()}")

    def _state(self) -> str:
        """How long the rest may take, what was downloaded, and what is at work, the longest at work first."""
        at_work = [
            self._names[job] for job in sorted(self._running, key=self._running.get) if job in self._names
        ]
        names = [" ".join(filter(None, name)) for name in at_work]
        parts = [self._time_left()]
        if archives := [name for rule, name in at_work if rule == "archive"]:
            parts.append(self._download_state(archives))
        parts.append(", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else ""))
        return "; ".join(filter(None, parts))

    def _download_state(self, archives: Iterable[str]) -> str:
        """Of all archives of this run, those that are there included."""
        self._received |= {name: _megabytes(self._downloads / name) for name in archives}
        megabytes = sum(self._received.values())
        if self.to_download is None:
            return f"{megabytes:.0f} MB downloaded"
        return f"{min(megabytes, self.to_download):.0f} of {self.to_download} MB downloaded"

    def _time_left(self) -> str:
        """The time left, by mean times of each rule's steps so far; of a rule without a finished step, the median."""
        run_seconds = time.monotonic() - self._began
        means = {rule: self._seconds[rule] / count for rule, count in self._finished.items() if count}
        if run_seconds < FIRST or not means:
            return ""
        middle = median(means.values())
        rest = sum(
            means.get(rule, middle) * max(0, count - self._finished[rule])
            for rule, count in self._planned.items()
        )
        if not rest:  # the jobs of a group on a cluster say no start
            return ""
        # how many steps went side by side
        seconds = rest * run_seconds / max(sum(self._seconds.values()), run_seconds)
        return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {seconds:.0f} s left"

    def _print(self, text: str) -> None:
        if self._bar is not None:
            self._bar.clear()
        print(text, file=self._stream, flush=True)

    def say(self, text: str) -> None:
        """Print a line, above the live one."""
        self.acquire()
        try:
            self._print(text)
        finally:
            self.release()

    def show_errors(self) -> None:
        """Show the steps' errors as Snakemake writes them."""
        for text in dict.fromkeys(self.errors):
            self._print(text)

    def close(self) -> None:
        """End of the process: errors of a run that ended without a report are shown."""
        if not self._over.is_set():
            self.finish()
            self.show_errors()
        super().close()

    def finish(self) -> None:
        """End the live line; no further message is shown."""
        self._over.set()
        self.acquire()
        try:
            if self._bar is not None:
                self._bar.close()
                self._bar = None
        finally:
            self.release()


def _megabytes(folder: Path) -> float:
    """Megabytes of the archive that are downloaded so far, without the members taken out of it."""
    size = 0
    for file in folder.rglob("*"):
        if "members" not in file.parts:
            with contextlib.suppress(OSError):  # moved to its place meanwhile
                size += file.stat().st_size
    return size / 1e6
