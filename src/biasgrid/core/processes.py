"""Processes of a run, which end with the process that started them, however that ends."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

STARTED_BY = "BIASGRID_STARTED_BY"  # environment variable: the process that a new one is to end with
# of Python: the working folder, in which a stranger's study may lie, is not where modules are looked for
SAFE_PATH = {"PYTHONSAFEPATH": "1"}
# environment variable: a folder of this user's alone, in which the processes of a run share the random groups that
# one of them drew
RANDOM_GROUPS = "BIASGRID_RANDOM_GROUPS"
PAUSE = 0.2  # seconds between two looks


def environment(*sources: Path) -> dict[str, str]:
    """Return this process' environment for a process that is to end with it.

    That process imports nothing from the working folder. With `sources`, the folders of the code that it is to run,
    its `python` and `biasgrid` are those of this Python; the user's own PYTHONPATH comes after the folders.
    """
    code = {}
    if sources:
        first = {"PYTHONPATH": sources, "PATH": [Path(sys.executable).parent]}
        for name, folders in first.items():
            former = os.environ.get(name, "").split(os.pathsep)
            code[name] = os.pathsep.join(dict.fromkeys([*map(str, folders), *filter(None, former)]))
    return os.environ | SAFE_PATH | {STARTED_BY: str(os.getpid())} | code


def end_with_starter() -> None:
    """End this process as soon as the process that started it has ended, if that asked for it (`environment`).

    A process that is killed cannot end those that it started, and they would go on writing while the next run writes.
    The kernel's own means (PR_SET_PDEATHSIG) reports the end of the direct parent, which is a shell here.
    """
    starter = os.environ.pop(STARTED_BY, "")
    if not starter.isdecimal():
        return
    import psutil

    def watch() -> None:
        while _is_alive(starting):
            time.sleep(PAUSE)
        # at once: what it is writing is not in its place before it is whole
        os._exit(1)

    try:
        starting = psutil.Process(int(starter))
    except psutil.NoSuchProcess:
        os._exit(1)
    threading.Thread(target=watch, daemon=True).start()


def _is_alive(process: psutil.Process) -> bool:
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
