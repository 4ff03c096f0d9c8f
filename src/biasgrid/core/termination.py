"""Ending a process by Ctrl-C or SIGTERM: at once, in two lines, and without leaving half of what it was writing."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STOPPING = "biasgrid: stopping ..."
STOPPED = "biasgrid: stopped; run the same command to go on"
SIGNALS = (signal.SIGINT, signal.SIGTERM)
LONGEST = 1.5  # seconds from a signal to the end of the process, whatever it is doing


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
    """While a command is at work in it, Ctrl-C and SIGTERM end this process, by SystemExit in the main thread if that
    comes soon."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = {number: signal.getsignal(number) for number in SIGNALS}
    stopped = False

    def stop(number: int, frame: object) -> None:
        nonlocal stopped
        if not stopped:
            stopped = True
            sys.exit(128 + number)

    former_stop = answer_signals(lambda number: end_in(LONGEST, 128 + number), stop)
    try:
        yield
    except SystemExit:
        if stopped:
            _begun.wait(LONGEST)
            say(STOPPED)
        raise
    finally:
        _answer(former_stop)
        for number, handler in former.items():
            # a second signal would else end the process before it has tidied up
            signal.signal(number, signal.SIG_IGN if stopped else handler)


def answer_signals(
    stop: Callable[[int], object], handler: Callable[[int, object], object] = lambda number, frame: None
) -> Callable[[int], object] | None:
    """From now on the first SIGINT or SIGTERM of this process says at once that it stops; others change nothing.

    A thread does so: the main thread learns of a signal only when it next runs in the interpreter. A signal that is
    ignored already (nohup) stays ignored.

    Parameters
    ----------
    stop
        Function of the signal's number, called in that thread; what it starts gets neither signal.
    handler
        The main thread's.

    Returns
    -------
    Callable or None
        The former `stop`.
    """
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
    return _answer(stop)


def _answer(stop: Callable[[int], object] | None) -> Callable[[int], object] | None:
    """Have the watching thread call `stop`, None for nothing; returns the former one."""
    global _stop, _pipe
    former, _stop = _stop, stop
    if _pipe is None:
        _pipe = os.pipe()
        os.set_blocking(_pipe[1], False)
        threading.Thread(target=_watch, args=(_pipe[0],), daemon=True).start()
    signal.set_wakeup_fd(-1 if stop is None else _pipe[1], warn_on_full_buffer=False)
    return former


def _watch(pipe: int) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # processes inherit it
    while number := os.read(pipe, 1):
        if number[0] in SIGNALS and _stop is not None and not _begun.is_set():
            say(STOPPING)
            _begun.set()
            _stop(number[0])


_stop: Callable[[int], object] | None = None
_pipe: tuple[int, int] | None = None  # what the interpreter writes signals to, whichever thread gets them
_begun = threading.Event()  # it was said that this process stops


def end_in(seconds: float, code: int) -> None:
    """End this process after so many seconds if it has not ended by then."""
    timer = threading.Timer(seconds, _end, (code,))
    timer.daemon = True
    timer.start()


def say(line: str) -> None:
    """Write a line to standard error, past its buffer, which may be in use, and over the live line of a terminal."""
    live = "\r\x1b[K" if os.isatty(2) else ""
    os.write(2, f"{live}{line}\n".encode())


def _end(code: int) -> None:
    try:
        say(STOPPED)
    finally:
        os._exit(code)
