"""Processes that run steps for a workflow: threads of one process would take turns in the interpreter."""

from __future__ import annotations

import math
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

# imported here: threads that import it at the same time may find it half initialised
from joblib.externals.loky import get_reusable_executor, process_executor

from ..callers import warn_in_a_line
from ..files import unfinished
from ..processes import RANDOM_GROUPS, collect_seldom, end_with_starter, environment
from ..registry import load_plugins
from ..termination import LONGEST, leaving

# of a run that was stopped: loky's last process removes what the others shared, which is no news to a user
sys.warnoptions.append("ignore::UserWarning:joblib.externals.loky.backend.resource_tracker")


class Workers:
    """Processes that are started when they are needed, stay for the next step, and end with this one.

    Parameters
    ----------
    plugins
        Files and folders of a user that they load first.
    count
        How many there are; None: one per core of the machine.
    """

    def __init__(self, plugins: Iterable[Path | str] = (), count: int | None = None):
        self._plugins, self._count = list(plugins), count
        self._lock = threading.Lock()  # steps of the workflow are threads
        self._shared: tempfile.TemporaryDirectory | None = None
        self._at_work: set[Future[Any]] = set()

    def _folder(self) -> str:
        """The folder in which the processes share the random groups that one of them drew; it ends with the run."""
        with self._lock:
            if self._shared is None:
                self._shared = tempfile.TemporaryDirectory(prefix="biasgrid-")
                unfinished.add(Path(self._shared.name))
            return self._shared.name

    def run(self, step: Any) -> Any:
        """Run a `plan.step.Step` in one of the processes."""
        result, messages = self.submit(step).result()
        for text in messages:
            warnings.warn(text, stacklevel=2)
        return result

    def submit(self, step: Any) -> Future[tuple[Any, list[str]]]:
        """A step that one of the processes runs: what it returns, and its warnings."""
        if leaving.is_set():
            time.sleep(LONGEST)  # the process has ended by then
        # arrays that come and go stay with the process: else the kernel makes and clears their pages again and again
        memory = {"MALLOC_MMAP_THRESHOLD_": str(2**30), "MALLOC_TRIM_THRESHOLD_": str(2**31 - 1)}
        executor = get_reusable_executor(
            max_workers=self._count,
            timeout=None,
            initializer=_begin,
            initargs=(self._plugins,),
            env={**environment(), RANDOM_GROUPS: self._folder(), **memory},
        )
        future = executor.submit(_run, step.now())
        with self._lock:
            self._at_work.add(future)
        return future

    def has_room(self) -> bool:
        """Whether no step waits for a process."""
        with self._lock:
            self._at_work = {future for future in self._at_work if not future.done()}
            return len(self._at_work) <= (self._count or os.cpu_count() or 1)


def _run(step: Any) -> tuple[Any, list[str]]:
    """What a step returns, and its warnings: the process that started this one shows them."""
    with warnings.catch_warnings(record=True) as records:
        result = step.run()
    return result, list(dict.fromkeys(str(warning.message) for warning in records))


def _begin(plugins: list[Path | str]) -> None:
    # the parent is interrupted, and ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_starter()
    collect_seldom()
    warn_in_a_line()
    # what a process keeps of memory after a large step (`memory` above) is no leak: loky would stop it, start another
    # one, and warn
    process_executor._MAX_MEMORY_LEAK_SIZE = math.inf
    load_plugins(plugins)
