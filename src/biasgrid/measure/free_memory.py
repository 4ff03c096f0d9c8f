"""Free memory, for arrays whose size depends on a user's options."""

from __future__ import annotations

import re
from pathlib import Path

from ..core.errors import BiasgridError
from ..core.numbers import number

# Number of bytes below which memory is not checked.
UNCHECKED = 100_000_000


def check_memory(needed: int, what: str) -> None:
    """Check that arrays fit into the free memory before they are allocated.

    Parameters
    ----------
    needed
        Number of bytes.
    what
        Purpose of the memory, for the message: "bootstrap: 100,000,000 draws of 32 words".

    Raises
    ------
    BiasgridError
        If less is free; the message gives the required and the free memory.
    """
    if needed > UNCHECKED and needed > (free := free_memory()):
        raise BiasgridError(
            f"{what}: this needs {number(needed / 1e9, 2)} GB of memory, and {number(free / 1e9, 2)} GB are free; "
            "ask for fewer"
        )


def free_memory() -> float:
    """Return the number of bytes that this process may still allocate.

    It is the machine's free memory, within the limits of its control group (containers, jobs of a cluster) and of
    `ulimit -v`. Infinite if the system does not report it.
    """
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
