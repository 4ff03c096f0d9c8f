"""Digests of files that a user can replace.

mv, cp -p, tar x and rsync -a keep a file's time, so a file that was replaced may be older than the results.
As git does, a file is read again where its size, modification time, inode or change time (ctime) *differs*
from what it was when it was read last.

What this cannot see is a change of the content that leaves all four as they were, such as a damaged disk.
"""

from __future__ import annotations

import atexit
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from .files import hash_file, write_text

TICK = 2.0  # seconds; a file that changed so shortly before may change again without another time
KEPT = 10_000  # files of a record, of which the oldest are forgotten

_known: dict[str, list] = {}  # absolute path -> size, times, inode, and the digest
_record: Path | None = None


def digest(path: Path | str) -> str:
    """Return the SHA-256 of a file. It is read only where its size, times or inode are not as before.

    Raises OSError where the file cannot be read.
    """
    place, state = os.path.abspath(path), _state(path)
    former = _known.get(place)
    if former is not None and former[:-1] == state:
        return str(former[-1])
    began = time.time()
    sha256 = hash_file(path)
    if _state(path) == state and abs(began - state[2] / 1e9) > TICK:
        _know(place, [*state, sha256])
    return sha256


def content(path: Path | str) -> str:
    """Return the `digest` of a file; an empty text for one that cannot be read, which its step reports."""
    try:
        return digest(path)
    except OSError:
        return ""


def is_known(path: Path | str) -> bool:
    """Return whether `digest` can say a file's digest without reading it."""
    former = _known.get(os.path.abspath(path))
    return former is not None and former[:-1] == _state(path)


def note(path: Path | str, sha256: str) -> None:
    """Note the digest of a file that this process has just written."""
    with suppress(OSError):
        _know(os.path.abspath(path), [*_state(path), sha256])


def remember(record: Path) -> None:
    """Take from a record what former processes have read, and write there what this one has read when it ends."""
    global _record
    if _record is None:
        atexit.register(save)
    _record = record
    with suppress(OSError, ValueError, AttributeError, RecursionError):
        entries = json.loads(record.read_text(encoding="utf-8")).items()
        _known.update({path: entry for path, entry in entries if isinstance(entry, list) and len(entry) == 5})


def save() -> None:
    """Write to the record what this process has read."""
    if _record is not None and _record.parent.is_dir():
        text = json.dumps(dict(list(_known.items())[-KEPT:]), separators=(",", ":")) + "\n"
        with suppress(OSError):
            if not _record.is_file() or _record.read_text(encoding="utf-8") != text:
                write_text(_record, text)


def _state(path: Path | str) -> list[int]:
    state = os.stat(path)
    return [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino]


def _know(place: str, entry: list) -> None:
    _known.pop(place, None)  # the newest stand last
    _known[place] = entry
