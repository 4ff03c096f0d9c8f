"""Modules of higher folders that complete a lower one: they make a declared metric callable, for example.

The package's `__init__` registers them, so that lower folders need not import higher ones. A completion is
imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

COMPLETIONS: dict[str, Callable[[], Any]] = {}  # the functions that import completions, by module or package


def complete(module: str) -> Any:
    """Import the completion of a module, if there is one."""
    return COMPLETIONS[module]() if module in COMPLETIONS else None
