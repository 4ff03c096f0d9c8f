"""Complete writing of a model's folder: files are made in a folder inside it, and moved out when all are complete."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError
from ..core.files import FULL, refuse_other_folder, scratch_folder, to_disk
from .store import MODEL

PARTIAL = ".partial"
LEFT_OVER = (PARTIAL, f"{PARTIAL}.lock")  # files that a killed writer leaves


def check_folder(folder: Path) -> None:
    """Raise BiasgridError if a model would be written into a folder that contains other things."""
    refuse_other_folder(folder, {MODEL, *LEFT_OVER}, "a store needs a folder of its own")


@contextmanager
def write_folder(folder: Path, activity: str) -> Iterator[Path]:
    """Yield an empty folder inside a model's folder, for the files that `finish_folder` moves out of it.

    Both folders are created. If the block ends before `finish_folder`, a former model in the folder stays
    unchanged.

    Parameters
    ----------
    folder
        The model's folder.
    activity
        What this process is doing, as a phrase for the message to another writer.

    Raises
    ------
    BiasgridError
        The folder is a file or contains other things, or another process writes to it.
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
                continue  # another writer failed and removed the empty folder in between
        try:
            yield scratch
        except OSError as error:
            # An error of writing does not name a file, and an error of copying names the copied one.
            if error.errno not in FULL:
                raise
            raise OSError(error.errno, error.strerror, str(folder)) from None


def finish_folder(scratch: Path, record: Mapping[str, Any]) -> None:
    """Write model.json, and move it and all other files of `write_folder`'s folder to the model's folder.

    Raise BiasgridError if an entry of the record is not UTF-8.
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
    # Remove the former model.json before any other file changes.
    (folder / MODEL).unlink(missing_ok=True)
    for path in (*files, scratch / MODEL):
        os.replace(path, folder / path.name)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # the folder contains a model, or another process is about to write one
        folder.rmdir()
