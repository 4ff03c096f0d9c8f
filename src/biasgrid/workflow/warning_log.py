"""The warnings of a run: kept in a file, counted at the end, and not between the lines of its progress."""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path


class WarningLog(logging.Handler):
    """Takes every warning of this process, and what the package logs, as one line each and once.

    Until a run begins, a warning is shown at once. From then on it is written to the run's file.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.file: Path | None = None
        self._texts: dict[str, None] = {}
        warnings.showwarning = lambda message, *_: self.note(str(message))
        log = logging.getLogger(__name__.partition(".")[0])
        log.addHandler(self)
        log.propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        """Take what the package logs, such as a download that is tried again."""
        self.note(record.getMessage())

    def note(self, text: str) -> None:
        """Take a warning: where in the code it came from says nothing to a user."""
        text = " ".join(text.split())
        self.acquire()  # steps are threads
        try:
            if text in self._texts:
                return
            self._texts[text] = None
            if self.file is None:
                print(f"biasgrid: warning: {text}", file=sys.stderr, flush=True)
            else:
                with self.file.open("a", encoding="utf-8") as file:
                    file.write(f"{text}\n")
        finally:
            self.release()

    def begin(self, file: Path) -> None:
        """From now on, warnings are written to a file of this run; those that were shown before are in it, too."""
        file.write_text("".join(f"{text}\n" for text in self._texts), encoding="utf-8")
        self.file = file
