"""Snakemake's logger plug-in of biasgrid (`logger: biasgrid` in profiles/default): what a run shows while it works.

On a terminal it is one live line: how many steps are done, and which are running. Elsewhere it is a line every half
minute. Failed steps, warnings and errors are shown as they come. A dry run, --verbose and --printshellcmds show
Snakemake's own messages; on a cluster, a dry run ends in a table of jobs by rule, with memory and time.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from logging import WARNING, LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from tqdm import tqdm

JOBS = "BIASGRID_JOBS"  # environment variable: a file for the jobs of a dry run (`biasgrid run --why`)
PAUSE = 30  # seconds between lines if there is no terminal
SHOWN = 3  # running steps that are named
BAR = "{n_fmt} of {total_fmt} steps |{bar:10}| {desc}"
# what profiles/default sets, of which Snakemake reminds after each failure
HIDDEN_MESSAGES = ("--keep-incomplete mode is set",)
SHOWN_MESSAGES = ("Nothing to be done", "Report created")


class LogHandler(LogHandlerBase):
    """Shows the progress of a run on standard error."""

    def __post_init__(self) -> None:
        settings = self.common_settings
        quiet = {str(what).rpartition(".")[2].lower() for what in settings.quiet or ()}
        self._is_silent = "all" in quiet and not settings.dryrun
        self._is_brief = settings.dryrun and ("rules" in quiet or JOBS in os.environ)
        self._is_plain = settings.dryrun or settings.verbose or settings.printshellcmds or settings.debug_dag
        self._bar: Any = None
        self._done = self._total = 0
        self._names: dict[int, str] = {}  # job id -> the rule and its wildcards
        self._running: dict[int, None] = {}  # job ids, in order
        self._jobs: list[Any] = []  # of a dry run
        self._said = time.monotonic()
        self._errors: list[str] = []  # that may be said in a better way
        self._failures: set[str] = set()
        self._is_explained = True  # a log says why a step failed
        self._is_done = False  # nothing is to be done

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = False
    needs_rulegraph = False

    def emit(self, record: LogRecord) -> None:
        """Show what a record of Snakemake's log says, or note it."""
        event = str(getattr(record, "event", "") or "")
        if event == "job_info":
            wildcards = "/".join(map(str, (record.wildcards or {}).values()))
            self._names[record.jobid] = f"{record.rule_name} {wildcards}".strip()
            if self._is_brief:
                self._jobs.append(record)
            else:
                self._show()
        if self._is_silent or self._is_brief:
            self._is_done |= record.getMessage().startswith(SHOWN_MESSAGES[0])
            if record.levelno >= WARNING or event == "error":
                self._print(self.format(record))
        elif self._is_plain:
            self._print(self.format(record))
        elif event == "run_info":
            self._total = int(record.stats.get("total", 0))
            if sys.stderr.isatty():
                self._bar = tqdm(
                    total=self._total, file=sys.stderr, bar_format=BAR, dynamic_ncols=True, leave=False
                )
        elif event == "job_started":
            self._running |= dict.fromkeys(record.jobs)
        elif event == "job_finished":
            self._running.pop(record.job_id, None)
        elif event == "progress":
            self._show(record.done)
        elif event == "job_error":
            self._fail(record)
        elif event == "error" and self._total:
            self._errors.append(self.format(record))
        elif record.getMessage().startswith(HIDDEN_MESSAGES):
            return
        elif event == "error" or record.levelno >= WARNING:
            self._print(self.format(record))
        elif record.getMessage().startswith(SHOWN_MESSAGES):
            self._print(record.getMessage())

    def _show(self, done: int | None = None) -> None:
        """Show how many steps are done, and which are running."""
        self._done = done or self._done
        names = [self._names[job] for job in self._running if job in self._names]
        running = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
        if self._bar is not None:
            self._bar.set_description_str(running, refresh=False)
            # at once: the next look may be minutes later
            self._bar.n = self._done
            self._bar.refresh()
            if done == self._total:
                self._bar.close()
        elif running and time.monotonic() - self._said > PAUSE:
            self._said = time.monotonic()
            self._print(f"biasgrid: {self._done:,} of {self._total:,} steps done; running: {running}")

    def _fail(self, record: LogRecord) -> None:
        """Say which step failed and why: the last line of its log."""
        from biasgrid.workflow.run import reason_in

        self._running.pop(record.jobid, None)
        name = self._names.get(record.jobid, record.rule_name)
        reasons = [reason for log in record.log or () if (reason := reason_in(Path(str(log))))]
        self._is_explained &= bool(reasons)
        line = f"biasgrid: {name} failed: {'; '.join(reasons) or 'its log is empty'}"
        if line not in self._failures:  # Snakemake 9.12 tells a failure twice
            self._print(line)
        self._failures.add(line)

    def _print(self, text: str) -> None:
        if not text:
            return
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            # as Snakemake's own messages: a dry run writes to standard output
            print(text, file=sys.stdout if self.common_settings.stdout else sys.stderr, flush=True)

    def close(self) -> None:
        """End the live line, and print what only the end of a run can say."""
        if self._bar is not None:
            self._bar.close()
        if self._errors and not (self._failures and self._is_explained):
            print("\n".join(self._errors), file=sys.stderr, flush=True)
        if self._is_brief and JOBS in os.environ:
            jobs = [
                [job.rule_name, str(job.reason), list(map(_path, job.output or ()))] for job in self._jobs
            ]
            Path(os.environ[JOBS]).write_text(json.dumps(jobs), encoding="utf-8")
        elif self._is_brief and (self._jobs or self._is_done):
            print("\n".join(job_table(self._jobs)), flush=True)
        self._errors, self._jobs, self._is_brief = [], [], False
        super().close()


def _path(output: object) -> str:
    """Return the path of an output, behind which Snakemake writes its flags, such as "(update)"."""
    return re.sub(r" \([a-z, ]+\)$", "", str(output))


def job_table(jobs: list[Any]) -> list[str]:
    """Return the jobs of a dry run as lines: by rule, with the most memory and time that a job asks for."""
    counts = Counter(job.rule_name for job in jobs if job.rule_name != "all")
    if not counts:
        return ["nothing would run: everything is up to date"]
    most: dict[str, list[int]] = {}
    for job in jobs:
        asked = [int(getattr(job.resources, name, 0) or 0) for name in ("mem_mb", "runtime")]
        most[job.rule_name] = list(map(max, asked, most.get(job.rule_name, [0, 0])))
    width = max(map(len, [*counts, "total"]))
    rows = [("rule", "jobs", "MB", "minutes")]
    rows += [
        (rule, f"{n:,}", *(f"{amount:,}" if amount else "" for amount in most[rule]))
        for rule, n in counts.items()
    ]
    rows.append(("total", f"{counts.total():,}", "", ""))
    lines = [f"{row[0]:{width}}  {row[1]:>6}  {row[2]:>7}  {row[3]:>7}".rstrip() for row in rows]
    return [*lines, "why: biasgrid run CONFIG --why"]
