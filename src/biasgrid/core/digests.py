"""SHA-256 of files, each read once by a process as long as it does not change.

mv, cp -p, tar x and rsync -a keep a file's time, so a replaced file may be older than the former one. As in git, a
file is read again if its size, modification time, inode or change time (ctime) differs from the last reading.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from .files import hash_file

TICK = 2.0  # seconds; a file that changed so shortly before may change again without another time

_known: dict[str, list] = {}  # absolute path -> size, times, inode, and the digest


def digest(path: Path | str) -> str:
    """Return the SHA-256 of a file, which is read only if its size, times or inode have changed.

    Raises OSError if the file cannot be read.
    """
    absolute, state = os.path.abspath(path), _state(path)
    former = _known.get(absolute)
    if former is not None and former[:-1] == state:
        return str(former[-1])
    began = time.time()
    sha256 = hash_file(path)
    if _state(path) == state and abs(began - state[2] / 1e9) > TICK:
        _known[absolute] = [*state, sha256]
    return sha256


def note(path: Path | str, sha256: str) -> None:
    """Note the digest of a file that this process has just written."""
    with suppress(OSError):
        _known[os.path.abspath(path)] = [*_state(path), sha256]


def _state(path: Path | str) -> list[int]:
    state = os.stat(path)
    return [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino]
