"""Download of one file, which appears at its destination when it is complete and has the required hashes."""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from ...core.errors import BiasgridError, DiskError
from ...core.files import hash_file, hold_lock, refuse_link
from ...core.web_addresses import without_secrets
from . import LIMITS, WRONG_HASH, Limits, WrongHash
from .attempts import receive
from .unfinished import drop

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
    pins = {algorithm: digest for algorithm, digest in (("sha256", sha256), ("md5", md5)) if digest}
    return download_parts([url], destination, file_pins=pins, rows=rows, progress=progress, limits=limits)[0]


def download_parts(
    urls: Sequence[str],
    destination: Path | str,
    *,
    pins: Sequence[Mapping[str, str]] | None = None,
    file_pins: Mapping[str, str],
    rows: int | None = None,
    progress: bool = True,
    limits: Limits = LIMITS,
) -> tuple[str, list[str]]:
    """Download a file that is published in parts, and join them in order.

    The parts are received as `<destination>.00.part`, `.01.part`, ..., and a later call continues with those that are
    missing. Then they are joined as `<destination>.joined`, and deleted when the file is at `destination`.

    Parameters
    ----------
    urls
        The parts' addresses, in order.
    destination
        The joined file.
    pins
        For each part, the hashes that it must have: {"sha256": hex digits}, {"md5": ...}, {} for none. None: none at
        all.
    file_pins
        The same for the joined file.
    rows, progress, limits
        See `download`. Only a file in one part has `rows`.

    Returns
    -------
    tuple
        The joined file's sha256, 64 hex digits, and a list of the sha256 of each part.

    Raises
    ------
    BiasgridError
        As in `download`.
    """
    destination = Path(destination)
    joined = Path(f"{destination}.joined")
    is_in_parts, pins = len(urls) > 1, pins or [{}] * len(urls)
    numbers = [f".{number:02}" for number in range(len(urls))] if is_in_parts else [""]
    parts = [Path(f"{destination}{number}.part") for number in numbers]
    for file in (destination, joined, *parts):
        refuse_link(file)
    if destination.exists() and not destination.is_file():
        raise BiasgridError(f"cannot write {destination}: it is there, and is no file")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with hold_lock(destination.with_name(f".{destination.name}.lock")):
            received = [
                _receive(url, part, pin if is_in_parts else {**pin, **file_pins}, rows, progress, limits)
                for url, part, pin in zip(urls, parts, pins, strict=True)
            ]
            whole, digest = received[0]
            if is_in_parts:
                whole, digest = joined, _join(parts, joined, urls[0], file_pins)
            with whole.open("rb") as content:
                os.fsync(content.fileno())
            os.replace(whole, destination)
            drop(*parts)
    except OSError as error:
        raise DiskError(f"cannot write {error.filename or destination}: {error.strerror or error}") from None
    return digest, [sha256 for _, sha256 in received]


def _receive(
    url: str, part: Path, pins: Mapping[str, str], rows: int | None, progress: bool, limits: Limits
) -> tuple[Path, str]:
    """Receive a file as `part`; return it, or its rows that are wanted, and the sha256."""
    for is_last in (False, True):
        is_resumed = receive(url, part, bool(pins), progress, limits, rows)
        file = part if rows is None else _copy_rows(part, rows)
        if not (mismatch := _mismatch(file, pins)):
            return file, pins.get("sha256") or hash_file(file)
        drop(part, file)
        if is_last or not is_resumed:
            break
        # The pieces may be of different files, as the server's file may have changed between them.
        log.warning("%s: wrong hash after a resumed download, once more from the start", without_secrets(url))
    raise WrongHash(f"{url}: {mismatch}")


def _mismatch(file: Path, pins: Mapping[str, str]) -> str:
    """Describe the first hash that a file should have and does not have; "" if there is none."""
    for algorithm, expected in pins.items():
        if (got := hash_file(file, algorithm)) != expected:
            return f"expected {algorithm} {expected}, got {got}; {WRONG_HASH}"
    return ""


def _join(parts: Sequence[Path], joined: Path, url: str, pins: Mapping[str, str]) -> str:
    """Join the parts in order; return the sha256 of the joined file. Without the right hash, nothing is kept."""
    with joined.open("wb") as file:
        for part in parts:
            with part.open("rb") as source:
                shutil.copyfileobj(source, file, 1 << 20)
    if mismatch := _mismatch(joined, pins):
        drop(joined, *parts)
        raise WrongHash(f"{url} and its other parts, joined: {mismatch}")
    return pins.get("sha256") or hash_file(joined)


def _copy_rows(part: Path, rows: int) -> Path:
    """Copy the first rows of vectors as text, without word2vec's header, which gives the number of all rows."""
    refuse_link(copy := part.with_suffix(".rows"))
    with part.open("rb") as source, copy.open("wb") as target:
        first = source.readline()
        target.writelines([] if HEADER.fullmatch(first) else [first])
        target.writelines(islice(source, rows - (not HEADER.fullmatch(first))))
    return copy
