"""The warnings of a run: kept in a file, counted at the end, and not between the lines of its progress."""

from __future__ import annotations

import json
import logging
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

from ..files import write_text

STEPS = ".warnings.json"  # beside a run's file: which step each warning is of


class WarningLog(logging.Handler):
    """Takes every warning of this process, and what the package logs, as one line each and once.

    Until a run begins, a warning is shown at once. From then on it is written to the run's file. What a step warned
    of, downloads that it tried again included, stays there as long as it is not run again: its results are the same.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.file: Path | None = None
        self._texts: dict[str, str] = {}  # text -> the log of the step that it is of; "": of no step
        self._thread = threading.local()  # steps are threads
        warnings.showwarning = lambda message, *_: self.note(str(message))
        log = logging.getLogger(__name__.partition(".")[0])
        log.addHandler(self)
        log.propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        """Take what the package logs, such as a download that is tried again."""
        self.note(record.getMessage())

    def begin_step(self, log: str) -> None:
        """Warnings of this thread are from now on those of the step that has this log."""
        self._thread.log = log

    def note(self, text: str, log: str | None = None) -> None:
        """Take a warning, by default of this thread's step: where in the code it came from says nothing to a user."""
        text = " ".join(text.split())
        self.acquire()
        try:
            if text in self._texts:
                return
            self._texts[text] = getattr(self._thread, "log", "") if log is None else log
            if self.file is None:
                print(f"biasgrid: warning: {text}", file=sys.stderr, flush=True)
            else:
                self._write(self.file)
        finally:
            self.release()

    def begin(self, file: Path, stays: Callable[[str], bool] = lambda log: False) -> None:
        """From now on, warnings are written to a file of this run; those that were shown before are in it, too, and
        those of former runs whose step's log `stays`."""
        self.file = file
        former_texts = {text: log for text, log in self._former(file).items() if log and stays(log)}
        self._texts |= {text: log for text, log in former_texts.items() if text not in self._texts}
        self._write(file)

    def _former(self, file: Path) -> dict[str, str]:
        try:
            texts = json.loads(file.with_name(STEPS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return texts if isinstance(texts, dict) else {}

    def _write(self, file: Path) -> None:
        write_text(file, "".join(f"{text}\n" for text in self._texts))
        write_text(file.with_name(STEPS), json.dumps(self._texts, ensure_ascii=False))
