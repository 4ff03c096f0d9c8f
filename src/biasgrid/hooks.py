"""What stands above a module and completes it, such as the function of a metric's declaration. The door says what, so
that no module names what is above it; it is imported when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

COMPLETIONS: dict[str, Callable[[], Any]] = {}  # module or package -> what imports its completion


def complete(module: str) -> Any:
    """Import what completes a module, if anything does."""
    return COMPLETIONS[module]() if module in COMPLETIONS else None
