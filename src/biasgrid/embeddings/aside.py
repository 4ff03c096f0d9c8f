"""A model's files are written aside, and put into its folder when they are whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..errors import BiasgridError
from ..files import locked

PARTIAL = ".partial"


@contextmanager
def written_aside(folder: Path, doing: str) -> Iterator[Path]:
    """An empty folder in a model's folder, which is made if need be and locked; the end of the block removes it.

    Raises BiasgridError where another process is `doing` so.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(locked(folder / f"{PARTIAL}.lock", wait=False))
        except BlockingIOError:
            raise BiasgridError(f"{folder}: another process is {doing}") from None
        aside = folder / PARTIAL
        shutil.rmtree(aside, ignore_errors=True)  # of a process that was killed
        aside.mkdir()
        held.callback(shutil.rmtree, aside, ignore_errors=True)
        yield aside
