"""Torch on one thread, because the rounding of a sum may depend on the number of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

# Torch's setting applies to the whole process, so two callers at a time would undo each other's setting.
_LOCK = threading.RLock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Make torch compute on one thread, and restore its setting afterwards."""
    import torch

    with _LOCK:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def map_on_threads(function: Callable[[Any], Any], arguments: Iterable[Any]) -> list[Any]:
    """Compute the function's value for each argument, one thread each, in parallel on torch's number of
    threads."""
    import torch

    with _LOCK:
        workers = torch.get_num_threads()
        with one_thread():
            if workers == 1:
                return list(map(function, arguments))
            # A new thread may have a different setting.
            with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                return list(pool.map(function, arguments))
