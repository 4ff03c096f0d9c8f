"""Progress of a download: a bar on a terminal, lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

LINE_EVERY = 30.0  # seconds between two progress lines if standard error is not a terminal


@contextmanager
def reporter(label: str, size: int, total: int | None, show: bool) -> Iterator[Callable[[int], object]]:
    """Yield a function to call with each number of received bytes; it shows a bar on a terminal, or log
    lines."""
    if not show:
        yield lambda count: None
    elif sys.stderr.isatty():
        with tqdm(desc=label, initial=size, total=total, unit="B", unit_scale=True, leave=False) as bar:
            yield bar.update
    else:
        last_report = time.monotonic()

        def report(count: int) -> None:
            nonlocal size, last_report
            size += count
            if time.monotonic() - last_report >= LINE_EVERY:
                last_report = time.monotonic()
                total_text = f" of {total / 1e6:.0f} MB ({size / total:.0%})" if total else " MB"
                print(f"{label}: {size / 1e6:.0f}{total_text}", file=sys.stderr, flush=True)

        yield report
