"""Processes that run steps for a workflow: threads of one process would take turns in the interpreter."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .processes import RANDOM_GROUPS, end_with_starter, environment
from .registry import load_plugins


class Workers:
    """Processes that are started when they are needed, stay for the next step, and end with this one.

    Parameters
    ----------
    plugins
        Files and folders of a user that they load first.
    """

    def __init__(self, plugins: Iterable[Path | str] = ()):
        self._plugins = list(plugins)
        self._executor = None

    def open(self) -> None:
        """Make the folder in which the processes share the random groups that one of them drew; it ends with the
        run."""
        self._shared = tempfile.TemporaryDirectory(prefix="biasgrid-")

    def run(self, step: Any) -> Any:
        """Run a `plan.step.Step` in one of the processes."""
        # imported late: a run without such a step needs none
        from joblib.externals.loky import get_reusable_executor

        # arrays that come and go stay with the process: else the kernel makes and clears their pages again and again
        memory = {"MALLOC_MMAP_THRESHOLD_": str(2**30), "MALLOC_TRIM_THRESHOLD_": str(2**31 - 1)}
        executor = get_reusable_executor(
            max_workers=os.cpu_count(),
            timeout=None,
            initializer=_begin,
            initargs=(self._plugins,),
            env={**environment(), RANDOM_GROUPS: self._shared.name, **memory},
        )
        return executor.submit(step.run).result()


def _begin(plugins: list[Path | str]) -> None:
    # the parent is interrupted, and ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_starter()
    load_plugins(plugins)
