"""A model's folder is written whole: its files are made in a folder inside it, and moved out when all are there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import BiasgridError
from ..files import FULL, refuse_other_folder, scratch_folder, to_disk
from .store import MODEL

PARTIAL = ".partial"
LEFT_OVER = (PARTIAL, f"{PARTIAL}.lock")  # by a writer that was killed


def check_folder(folder: Path) -> None:
    """Raise BiasgridError for a folder that a model would be written into, between other things."""
    refuse_other_folder(folder, {MODEL, *LEFT_OVER}, "a store needs a folder of its own")


@contextmanager
def write_folder(folder: Path, activity: str) -> Iterator[Path]:
    """An empty folder inside a model's, which is made, for the files that `finish_folder` moves out of it. Where the
    block ends before that, a former model in the folder stays as it was.

    Parameters
    ----------
    folder
        The model's.
    activity
        What the message for another process that writes there says that this one is doing.

    Raises
    ------
    BiasgridError
        The folder is a file or has other things in it, or another process writes there.
    """
    check_folder(folder)
    with ExitStack() as stack:
        stack.callback(_remove_empty, folder)
        while True:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                raise BiasgridError(f"{folder}: is a file; a store is a folder") from None
            try:
                busy = f"{folder}: another process is {activity}"
                scratch = stack.enter_context(scratch_folder(folder / PARTIAL, busy))
                break
            except FileNotFoundError:
                continue  # another writer, which failed, removed the empty folder in between
        try:
            yield scratch
        except OSError as error:
            # an error of writing names no file, and one of copying the file that it copies
            if error.errno not in FULL:
                raise
            raise OSError(error.errno, error.strerror, str(folder)) from None


def finish_folder(scratch: Path, record: Mapping[str, Any]) -> None:
    """Write model.json, and move it and all other files of `write_folder`'s folder to the model's.

    Raises BiasgridError where an entry of the record is not UTF-8.
    """
    folder = scratch.parent
    try:
        text = json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True).encode()
    except UnicodeEncodeError as error:  # a path on the command line may have any bytes
        bad_text = error.object[error.start : error.end]
        raise BiasgridError(f"{folder}: {MODEL} cannot hold {bad_text!r}: names are UTF-8 text") from None
    files = sorted(path for path in scratch.iterdir() if not path.is_dir())
    with (scratch / MODEL).open("wb") as file:
        file.write(text + b"\n")
        to_disk(file)
    # a former model stops being one before the first of its files changes
    (folder / MODEL).unlink(missing_ok=True)
    for path in (*files, scratch / MODEL):
        os.replace(path, folder / path.name)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # a model is in it, or another process is about to write one
        folder.rmdir()
