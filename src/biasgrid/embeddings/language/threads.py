"""Torch on one thread: how a sum is rounded may depend on how many threads add it up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

# torch's setting is that of the whole process: of two callers at a time, one would undo what the other has set
_LOCK = threading.RLock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch adds up in one thread. Its setting afterwards is as before."""
    import torch

    with _LOCK:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def map_on_threads(function: Callable[[Any], Any], arguments: Iterable[Any]) -> list[Any]:
    """The function's value for each argument, each on one thread: as many at a time as torch may use threads."""
    import torch

    with _LOCK:
        workers = torch.get_num_threads()
        with one_thread():
            if workers == 1:
                return list(map(function, arguments))
            # a new thread may have a setting of its own
            with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                return list(pool.map(function, arguments))
