"""Processes of a run: they end with the one that started them, however that ends, and seldom look for garbage."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from pathlib import Path

STARTED_BY = "BIASGRID_STARTED_BY"  # environment variable: the process that a new one is to end with
# of Python: the working folder, in which a stranger's study may lie, is not where modules are looked for
SAFE_PATH = {"PYTHONSAFEPATH": "1"}
# environment variable: a folder of this user's alone, in which the processes of a run share the random groups that
# one of them drew
RANDOM_GROUPS = "BIASGRID_RANDOM_GROUPS"
PAUSE = 0.1  # seconds between two looks
# of Python's search for garbage in cycles. The default, each 700 objects, takes twice as long as reading a study's
# cells does, and finds nothing: what JSON has are no cycles
BETWEEN_COLLECTIONS = 50_000, 20, 20


def environment(source: Path | None = None) -> dict[str, str]:
    """Return this process' environment for a process that is to end with it.

    That process imports nothing from the working folder. With `source`, the folder of the code that it is to run, its
    `python` is this one; what the user's own PYTHONPATH has (torch, say) comes after that folder.
    """
    code = {}
    if source is not None:
        first = {"PYTHONPATH": source, "PATH": Path(sys.executable).parent}
        for name, path in first.items():
            code[name] = os.pathsep.join([str(path), *filter(None, [os.environ.get(name)])])
    return os.environ | SAFE_PATH | {STARTED_BY: str(os.getpid())} | code


def collect_seldom() -> None:
    """Let this process look for garbage less often than Python's default: it reads or plans many thousand objects."""
    gc.set_threshold(*BETWEEN_COLLECTIONS)


def end_with_starter() -> None:
    """End this process as soon as the one that started it has ended, if that one said so (`environment`).

    A process that is killed cannot end those that it started, and they would go on writing beside the next run. The
    kernel's own means (PR_SET_PDEATHSIG) goes by the thread that started a process, and a workflow's threads come and
    go; so a thread looks whose child this process is.
    """
    starter = os.environ.pop(STARTED_BY, "")
    if not starter.isdecimal():
        return

    def watch() -> None:
        while True:
            if os.getppid() != int(starter):
                # at once: nothing that it is writing is in its place before it is whole
                os._exit(1)
            time.sleep(PAUSE)

    threading.Thread(target=watch, daemon=True).start()
