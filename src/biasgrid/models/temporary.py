"""A temporary folder for files made from a user's file."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import DiskError


class Folder:
    """A temporary folder, removed with the last reference to it. Copies in other processes remove nothing."""

    def __init__(self) -> None:
        try:
            self.path = Path(tempfile.mkdtemp(prefix="biasgrid-"))
        except OSError as error:
            raise DiskError(
                f"{tempfile.gettempdir()}: {error.strerror} (set TMPDIR to use a different folder)"
            ) from None
        self.remove = weakref.finalize(self, _remove, self.path, os.getpid())


@contextmanager
def working_folder(hint: str = "") -> Iterator[Folder]:
    """Yield a temporary folder, and remove it if the block fails.

    Raise DiskError if it cannot be written; its message ends with the hint.
    """
    folder = Folder()
    try:
        yield folder
    except OSError as error:
        folder.remove()
        raise DiskError(f"{error.filename or folder.path}: {error.strerror or error}{hint}") from None
    except BaseException:
        folder.remove()
        raise


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


def reference(source: Path, target: Path) -> None:
    """Make a symbolic link to a file, or a copy if links are not allowed."""
    try:
        target.symlink_to(source.resolve())
    except OSError:  # Windows allows links to few users
        shutil.copyfile(source, target)
