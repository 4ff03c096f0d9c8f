"""Ending a process by Ctrl-C or SIGTERM: at once, in two lines, and without leaving half of what it was writing."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

STOPPING = "biasgrid: stopping ..."
STOPPED = "biasgrid: stopped; run the same command to go on"
SIGNALS = (signal.SIGINT, signal.SIGTERM)
LONGEST = 1.5  # seconds from a signal to the end of the process, whatever it is doing
# folders that this process writes aside: worth nothing without it
unfinished: set[Path] = set()


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


@contextmanager
def stoppable() -> Iterator[None]:
    """While a command is at work in it, Ctrl-C and SIGTERM end this process: `answer_signals`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = {number: signal.getsignal(number) for number in SIGNALS}
    stopped = False

    def stop(number: int) -> None:
        nonlocal stopped
        stopped = True
        end_in(LONGEST, 128 + number)
        sys.exit(128 + number)

    answer_signals(stop)
    try:
        yield
    except SystemExit:
        if stopped:
            say(STOPPED)
        raise
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def answer_signals(
    stop: Callable[[int], object], before: Callable[[], object] = lambda: None
) -> Callable[[int, object], None]:
    """From now on the first SIGINT or SIGTERM of this process says at once that it stops, and calls `stop`.

    Further ones are ignored, also by processes that are started from then on. A signal that is ignored already
    (nohup) stays ignored.

    Parameters
    ----------
    stop
        Function of the signal's number, called in the main thread.
    before
        What comes before the line.

    Returns
    -------
    Callable
        The handler.
    """

    def answer(number: int, frame: object) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        before()
        say(STOPPING)
        stop(number)

    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, answer)
    return answer


def end_in(seconds: float, code: int) -> None:
    """End this process after so many seconds if it has not ended by then."""
    timer = threading.Timer(seconds, _end, (code,))
    timer.daemon = True
    timer.start()


def leave(code: int) -> None:
    """End this process and those that it started: unfinished folders are removed, and threads are not waited for."""
    import psutil

    end_in(LONGEST, code)
    # loky's, which ends with this process, removes what the others share, and ignores signals
    children = [
        child
        for child in psutil.Process().children(recursive=True)
        if not any("resource_tracker" in word for word in _command(child))
    ]
    for child in children:
        try:
            child.terminate()
        except psutil.Error:
            continue
    psutil.wait_procs(children, timeout=LONGEST / 2)
    for folder in tuple(unfinished):
        shutil.rmtree(folder, ignore_errors=True)
    _end(code)


def say(line: str) -> None:
    """Write a line to standard error, past its buffer: that may be in use where the signal came."""
    os.write(2, f"{line}\n".encode())


def _command(process) -> list[str]:
    import psutil

    try:
        return process.cmdline()
    except psutil.Error:  # it has ended
        return []


def _end(code: int) -> None:
    try:
        say(STOPPED)
    finally:
        os._exit(code)
