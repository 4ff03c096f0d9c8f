"""What a run shows while it works: one live line on a terminal, a line every so often in a log."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tqdm import tqdm

from ..embeddings.language.blocks import AT_WORK, left_text
from ..embeddings.readers.files import being_read
from ..files import being_hashed
from .stores import size_of
from .time_left import Conversion, time_left

FIRST, LEAST = 10.0, 30.0  # seconds to a log's first line, and between lines at least
SHARE = 0.05  # of the run so far, between lines of a log where that is longer
LOOK = 0.5  # seconds between looks at a terminal's line
TAIL = 1000  # bytes at the end of a log, in which its last line is
# rules of processes that score or encode texts in blocks (`embeddings.language.blocks`)
IN_BLOCKS = {"sentence_scores", "train"}
RECENT = 60  # looks: the time whose bytes say how fast downloads are
OF_ARCHIVES = {"archive", "store"}  # rules whose time goes by the size of what they work on
# how Snakemake comments on a step that failed; the run's report says what failed
ON_FAILURE = ("Cannot restore ", "Restored previous ", "Exiting because a job execution failed")
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
        self._live = _has_lines(self._stream)
        self._bar: Any = None
        self._names: dict[int, tuple[str, str]] = {}  # of jobs: rule, and the rest of the name
        self._logs: dict[int, str] = {}  # of those that are processes and say how far they are
        self._running: dict[int, float] = {}  # jobs -> when they were started
        self._took: dict[tuple[str, str], float] = {}  # of finished jobs
        self._seconds: dict[str, Any] = Counter()  # by rule, of finished jobs
        self._finished: Counter[str] = Counter()  # how many, by rule
        # seconds in which other steps than those OF_ARCHIVES were at work, and until when they are counted
        self._busy = self._counted = 0.0
        self._planned: Counter[str] = Counter()
        self._done = self._total = 0
        self._began = self._said = 0.0
        self._over = threading.Event()
        self.stopped = False  # the user interrupted the run
        self.errors: list[str] = []  # messages of steps that failed
        self._received: dict[str, float] = {}  # megabytes of archives so far
        self._kept: dict[str, float] = {}  # those of them that were there before
        # seconds for which archives had been at work, and megabytes that had come by then; the last look
        self._recent: deque[tuple[float, float]] = deque([(0.0, 0.0)], maxlen=RECENT)
        self._looked = 0.0
        self.to_download: int | None = None  # megabytes, where that is known
        # models to be converted -> their archive, its megabytes
        self.archives: dict[str, tuple[str, float]] = {}
        self.cores = 1  # how many steps go side by side at most
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
        if record.rule_name in IN_BLOCKS and record.log:
            self._logs[record.jobid] = str(record.log[0])

    def _job_started(self, record: Any) -> None:
        self._count_busy()
        self._running |= dict.fromkeys(record.jobs, time.monotonic())

    def _job_finished(self, record: Any) -> None:
        self._count_busy()
        rule, name = self._names.get(record.job_id, ("", ""))
        now = time.monotonic()
        self._took[rule, name] = now - self._running.pop(record.job_id, now)
        self._seconds[rule] += self._took[rule, name]
        self._finished[rule] += 1

    def _count_busy(self) -> None:
        now = time.monotonic()
        if any(self._names.get(job, ("",))[0] not in OF_ARCHIVES for job in self._running):
            self._busy += now - self._counted
        self._counted = now

    def _progress(self, record: Any) -> None:
        self._done, self._total = record.done, record.total

    def _watch(self) -> None:
        while not self._over.wait(LOOK):
            self.acquire()  # events come in other threads
            try:
                self._receive()
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
            steps = f"{self._done} of {self._total} steps"
            self._print(", ".join(filter(None, (steps, self._state()))))

    def _receive(self) -> None:
        """Look at what archives have come so far."""
        at_work = (self._names.get(job, ("", "")) for job in self._running)
        names = [name for rule, name in at_work if rule == "archive"]
        for name in names:
            self._received[name] = size_of(self._downloads / name)
            self._kept.setdefault(name, self._received[name])
        now = time.monotonic()
        if names:  # downloads that wait for their turn are not slow
            came = sum(self._received.values()) - sum(self._kept.values())
            self._recent.append((self._recent[-1][0] + now - (self._looked or now), came))
        self._looked = now

    def _state(self) -> str:
        """How long the rest may take, what was downloaded, and what is at work, the longest at work first."""
        jobs = sorted(self._running.keys() & self._names.keys(), key=lambda job: self._running.get(job, 0.0))
        at_work = [self._names[job] for job in jobs]
        hashed = [
            path.removeprefix(f"{self._downloads}{os.sep}").split(os.sep)[0] for path in tuple(being_hashed)
        ]
        names = [
            f"checking {name}"
            if rule == "archive" and name in hashed
            else " ".join(filter(None, (rule, name, _texts_done(self._logs.get(job, "")))))
            for job, (rule, name) in zip(jobs, at_work, strict=True)
        ]
        parts = [self._time_left()]
        if any(rule == "archive" for rule, _ in at_work):
            parts.append(self._download_state())
        parts.append(", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else ""))
        return "; ".join(filter(None, parts))

    def _download_state(self) -> str:
        """Of all archives of this run, those that are there included."""
        megabytes = sum(self._received.values())
        if self.to_download is None:
            return f"{megabytes:.0f} MB downloaded"
        return f"{min(megabytes, self.to_download):.0f} of {self.to_download} MB downloaded"

    def _time_left(self) -> str:
        """How long the rest may take (`time_left`)."""
        downloads = self._planned["archive"] > self._finished["archive"]
        if time.monotonic() - self._began < FIRST or (downloads and self.to_download is None):
            return ""
        (began, former), (now, came) = self._recent[0], self._recent[-1]
        seconds = time_left(
            missing=max((self.to_download or 0) - sum(self._received.values()), 0) if downloads else 0,
            rate=(came - former) / (now - began) if now > began else 0,
            conversions=[self._conversion(model) for model in self.archives],
            **{
                name: {rule: value for rule, value in counts.items() if rule not in OF_ARCHIVES}
                for name, counts in (
                    ("planned", self._planned),
                    ("finished", self._finished),
                    ("seconds", self._seconds),
                )
            },
            busy=self._busy,
            cores=self.cores,
            running=self._running_seconds(),
        )
        if not seconds:  # also 0: the jobs of a group on a cluster say no start
            return ""
        return left_text(seconds)

    def _running_seconds(self) -> dict[str, list[float]]:
        """Return for how long each step is at work, by rule, except those of archives."""
        now, seconds = time.monotonic(), defaultdict(list)
        for job, began in self._running.items():
            if (rule := self._names.get(job, ("",))[0]) not in OF_ARCHIVES:
                seconds[rule].append(now - began)
        return seconds

    def _conversion(self, model: str) -> Conversion:
        archive, megabytes = self.archives[model]
        if ("store", model) in self._took:
            return Conversion(megabytes, self._took["store", model], 1.0)
        begins = [begin for job, begin in self._running.items() if self._names.get(job) == ("store", model)]
        if not begins:
            return Conversion(megabytes)
        share = None
        for path, file in tuple(being_read.items()):
            if path.startswith(f"{self._downloads / archive}{os.sep}"):
                with suppress(OSError, ValueError):  # closed meanwhile
                    share = file.tell() / os.stat(path).st_size
        return Conversion(megabytes, time.monotonic() - begins[0], share)

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


def _texts_done(log: str) -> str:
    """How many texts a step has scored or encoded, and how long the rest may take, as its log says."""
    with suppress(OSError), open(log, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
        last = file.read().decode(errors="replace").rstrip().rpartition("\n")[2]
        if last.startswith(AT_WORK):
            return f"({last.rpartition(': ')[2]})"
    return ""


def _has_lines(stream: IO[str]) -> bool:
    """Whether a stream is a terminal that a line can be written over in: not one without a size."""
    try:
        return stream.isatty() and os.get_terminal_size(stream.fileno()).columns > 0
    except OSError:
        return True
