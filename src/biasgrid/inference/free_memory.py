"""Memory that there is, for arrays whose size a user's options decide."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import BiasgridError
from ..numbers import number

UNCHECKED = 100_000_000  # bytes that are not worth a look


def check_memory(needed: int, what: str) -> None:
    """Check that arrays fit into the memory that is free, before they are made.

    Parameters
    ----------
    needed
        Bytes.
    what
        What needs them, for the message: "bootstrap: 100,000,000 draws of 32 words".

    Raises
    ------
    BiasgridError
        Where less is free: how much is needed, and how much there is.
    """
    if needed > UNCHECKED and needed > (free := free_memory()):
        raise BiasgridError(
            f"{what}: this needs {number(needed / 1e9, 2)} GB of memory, and {number(free / 1e9, 2)} GB are free; "
            "ask for fewer"
        )


def free_memory() -> float:
    """Bytes that this process may still take: what the machine has free, within the limits of its control group
    (containers, jobs of a cluster) and of `ulimit -v`. Infinite where the system says nothing."""
    limit = _number("/proc/self/limits", r"Max address space +(\d+)")
    used = _number("/proc/self/status", r"VmSize:\s*(\d+)", 0) * 1024
    group = _number("/sys/fs/cgroup/memory.max", r"(\d+)") - _number(
        "/sys/fs/cgroup/memory.current", r"(\d+)", 0
    )
    return min(
        _number("/proc/meminfo", r"MemAvailable:\s*(\d+)") * 1024,
        group,
        max(limit - used, 0),
    )


def _number(file: str, pattern: str, default: float = float("inf")) -> float:
    try:
        found = re.search(pattern, Path(file).read_text(encoding="ascii"))
    except OSError:
        return default
    return float(found[1]) if found else default
