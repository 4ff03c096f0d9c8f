"""Whatever file or folder a user points at, as a model."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import BiasgridError
from ..store import MODEL
from ..store_of import open_folder
from .conversion import convert, suffixless


@contextmanager
def open_model(
    path: Path | str, *, sha256: str | None = None, trust_pickle: bool = False, vocab_prefix: str = ""
) -> Iterator[Any]:
    """A model's folder as it is; anything else that `convert` takes as a temporary store, removed at exit.

    The temporary store lies where Python's tempfile puts it (TMPDIR) and takes 4 bytes per number.
    """
    path = Path(path)
    if (path / MODEL).exists():
        if sha256 is not None:
            raise BiasgridError(f"{path}: sha256 is for a file, and this is a store")
        if vocab_prefix:
            raise BiasgridError(
                f"{path}: vocab_prefix is for a file; a store has the one it was converted with"
            )
        yield open_folder(path)
        return
    with tempfile.TemporaryDirectory(prefix="biasgrid-") as folder:
        name = suffixless(path)
        options = {"sha256": sha256, "trust_pickle": trust_pickle, "vocab_prefix": vocab_prefix}
        yield convert(path, Path(folder) / "store", name=name, **options)
