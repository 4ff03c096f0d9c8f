"""Download of one file, which appears at its destination when it is complete and has the required hashes."""

from __future__ import annotations

import logging
import os
import re
from itertools import islice
from pathlib import Path

from ...core.errors import BiasgridError, DiskError
from ...core.files import hash_file, hold_lock, refuse_link
from ...core.web_addresses import without_secrets
from . import LIMITS, WRONG_HASH, Limits, WrongHash
from .attempts import receive
from .unfinished import note_file

log = logging.getLogger(__name__)
HEADER = re.compile(rb"\d+[ \t]+\d+\s*")  # word2vec's header: rows and dimensions


def download(
    url: str,
    destination: Path | str,
    *,
    sha256: str | None = None,
    md5: str | None = None,
    rows: int | None = None,
    progress: bool = True,
    limits: Limits = LIMITS,
) -> str:
    """Download a file.

    It appears at `destination` only when it is complete and has the given hashes. Without a hash, only the
    length that the server announces is checked. Until then it grows as `<destination>.part`, described by
    `<destination>.part.json`; a later call, of this or another process, continues it. Of two calls at once
    for one destination, one waits. The call ends whatever the server does.

    Parameters
    ----------
    url
        An http or https address.
    destination
        The file to write.
    sha256, md5
        Hashes that the file must have, as hex digits.
    rows
        For vectors as text: keep this many rows from the beginning, without word2vec's header, and end the
        download after them. The hashes are of these rows. None: the whole file.
    progress
        Whether to show progress on standard error.
    limits
        Limits of retries, times and sizes.

    Returns
    -------
    str
        The file's sha256, 64 hex digits.

    Raises
    ------
    WrongHash
        The received bytes do not have the required hash; nothing is kept.
    BiasgridError
        The address is wrong or the host unreachable; the server refuses, sends an HTML page, sends more than
        fits on the disk, or fails too often; or the file cannot be written.
    """
    destination = replaceable(destination)
    refuse_link(part := Path(f"{destination}.part"))
    whole = part if rows is None else Path(f"{destination}.rows")
    hashes = {algorithm: digest for algorithm, digest in (("sha256", sha256), ("md5", md5)) if digest}

    def find_mismatch() -> str | None:
        for algorithm, expected in hashes.items():
            if (got := hash_file(whole, algorithm)) != expected:
                return f"{url}: expected {algorithm} {expected}, got {got}"
        return None

    def receive_rows() -> bool:
        is_resumed = receive(url, part, bool(hashes), progress, limits, rows)
        if rows is not None:
            _copy_rows(part, whole, rows)
        return is_resumed

    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with hold_lock(lock_file(destination)):
            is_resumed = receive_rows()
            if is_resumed and find_mismatch():
                # The parts may be of different files, as the server's file may have changed between them.
                again = "wrong hash after a resumed download, once more from the start"
                log.warning("%s: %s", without_secrets(url), again)
                part.unlink()
                receive_rows()
            if reason := find_mismatch():
                for file in {part, whole}:
                    file.unlink()
                note_file(part).unlink(missing_ok=True)
                raise WrongHash(f"{reason}; {WRONG_HASH}")
            digest = sha256 or hash_file(whole)
            with whole.open("rb") as content:
                os.fsync(content.fileno())
            os.replace(whole, destination)
            part.unlink(missing_ok=True)
            note_file(part).unlink(missing_ok=True)
    except OSError as error:
        raise DiskError(f"cannot write {error.filename or part}: {error.strerror or error}") from None
    return digest


def _copy_rows(part: Path, copy: Path, rows: int) -> None:
    """Copy the first rows of vectors as text, without word2vec's header, which gives the number of all rows."""
    refuse_link(copy)
    with part.open("rb") as source, copy.open("wb") as target:
        first = source.readline()
        target.writelines([] if HEADER.fullmatch(first) else [first])
        target.writelines(islice(source, rows - (not HEADER.fullmatch(first))))


def replaceable(destination: Path | str) -> Path:
    """Return the path of the destination. Raise BiasgridError for a link, a device or a folder."""
    destination = Path(destination)
    refuse_link(destination)
    if destination.exists() and not destination.is_file():
        raise BiasgridError(f"cannot write {destination}: it is there, and is no file")
    return destination


def lock_file(destination: Path) -> Path:
    return destination.with_name(f".{destination.name}.lock")
