"""A temporary folder for what is made of a user's file."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path

from ..errors import DiskError


class Folder:
    """A temporary folder, which goes with the last of those who hold it. Copies in other processes remove nothing."""

    def __init__(self) -> None:
        try:
            self.path = Path(tempfile.mkdtemp(prefix="biasgrid-"))
        except OSError as error:
            raise DiskError(
                f"{tempfile.gettempdir()}: {error.strerror} (TMPDIR names another folder)"
            ) from None
        self.remove = weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
