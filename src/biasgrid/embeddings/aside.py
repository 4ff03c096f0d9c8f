"""A model's files are written to a folder inside the model's own, and moved out of it when they are complete."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..errors import BiasgridError
from ..files import hold_lock

PARTIAL = ".partial"


@contextmanager
def write_aside(folder: Path, activity: str) -> Iterator[Path]:
    """An empty folder inside a model's folder, which is made if it is missing, and locked; the end of the block
    removes it, and the model's if nothing was put there.

    Raises BiasgridError where another process has the lock; `activity` is what the message says that it is doing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stack.callback(_remove_empty, folder)
        try:
            stack.enter_context(hold_lock(folder / f"{PARTIAL}.lock", wait=False))
        except BlockingIOError:
            raise BiasgridError(f"{folder}: another process is {activity}") from None
        scratch = folder / PARTIAL
        shutil.rmtree(scratch, ignore_errors=True)  # of a process that was killed
        scratch.mkdir()
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        yield scratch


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # it has files
        folder.rmdir()
