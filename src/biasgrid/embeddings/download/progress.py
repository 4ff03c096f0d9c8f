"""How far a download is: a bar on a terminal, lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

LINE_EVERY = 30.0  # seconds between two progress lines where standard error is not a terminal


@contextmanager
def reporter(label: str, done: int, total: int | None, wanted: bool) -> Iterator[Callable[[int], object]]:
    """A function to call with every number of bytes received: a bar on a terminal, lines in a log."""
    if not wanted:
        yield lambda count: None
    elif sys.stderr.isatty():
        with tqdm(desc=label, initial=done, total=total, unit="B", unit_scale=True, leave=False) as bar:
            yield bar.update
    else:
        spoken = time.monotonic()

        def received(count: int) -> None:
            nonlocal done, spoken
            done += count
            if time.monotonic() - spoken >= LINE_EVERY:
                spoken = time.monotonic()
                of = f" of {total / 1e6:.0f} MB ({done / total:.0%})" if total else " MB"
                print(f"{label}: {done / 1e6:.0f}{of}", file=sys.stderr, flush=True)

        yield received
