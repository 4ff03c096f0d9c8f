"""Ending a process by SIGTERM without leaving half of what it was writing."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def tidy_termination() -> Iterator[None]:
    """While it is held, SIGTERM ends this process as an interrupt does: what was written aside is removed first.

    Without it what a terminated process left is removed by the next that writes the same. Nothing is changed where
    the signal has another handler already, nor outside of the main thread, which alone can set one.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
