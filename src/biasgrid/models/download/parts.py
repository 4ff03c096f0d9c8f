"""Download of a file that is published in parts: each is downloaded, checked and appended to the previous ones."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from pydantic import BaseModel, TypeAdapter

from ...core.errors import BiasgridError, DiskError
from ...core.files import hash_file, hold_lock, refuse_link, to_disk, write_text
from ...core.web_addresses import public_address
from . import LIMITS, WRONG_HASH, Limits, WrongHash
from .file import download, lock_file, replaceable
from .unfinished import Size


class _Part(BaseModel):
    """A part that was appended, with its required hashes."""

    url: str
    sha256: str
    md5: str | None = None
    bytes: Size


RECORD = TypeAdapter(list[_Part])


def download_parts(
    urls: Sequence[str],
    destination: Path | str,
    *,
    pins: Sequence[Mapping[str, str]],
    file_pins: Mapping[str, str],
    on_download: Callable[[str, str], object] = lambda url, digest: None,
    progress: bool = True,
    limits: Limits = LIMITS,
) -> str:
    """Download a file that is published in parts, and join them in order.

    `download` writes each part to `<destination>.00`, `.01`, ...; it is then moved to the end of
    `<destination>.joined`, so that the disk holds one copy and at most one further part.
    `<destination>.joined.json` lists the joined parts, and a later call continues after them. The file
    appears at `destination` when all parts are joined and the whole file was read again and verified.

    Parameters
    ----------
    urls
        The parts' addresses, in order.
    destination
        The joined file.
    pins
        For each part, the hashes that it must have: {"sha256": hex digits}, {"md5": ...}, {} for none.
    file_pins
        The same for the joined file.
    on_download
        Called with a part's address and sha256 after its download.
    progress, limits
        See `download`.

    Returns
    -------
    str
        The joined file's sha256, 64 hex digits.

    Raises
    ------
    BiasgridError
        As in `download`; also if the joined file changed on the disk.
    """
    destination = replaceable(destination)
    joined_file, record = Path(f"{destination}.joined"), Path(f"{destination}.joined.json")
    refuse_link(joined_file)

    def drop() -> None:
        joined_file.unlink(missing_ok=True)
        record.unlink(missing_ok=True)

    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with hold_lock(lock_file(destination)):
            entries = _read_record(joined_file, record, urls, pins)
            for number, (url, pin) in enumerate(zip(urls, pins, strict=True)):
                part = Path(f"{destination}.{number:02}")
                if number >= len(entries):
                    digest = download(url, part, **pin, rows=None, progress=progress, limits=limits)
                    on_download(url, digest)
                    _append(part, joined_file, sum(entry.bytes for entry in entries))
                    facts = {**pin, "sha256": digest}
                    entries.append(_Part(url=public_address(url), bytes=part.stat().st_size, **facts))
                    write_text(record, RECORD.dump_json(entries).decode())
                part.unlink(missing_ok=True)
            with joined_file.open("rb") as file:
                for entry in entries:
                    if _hash_next(file, entry.bytes) != entry.sha256:
                        drop()
                        raise BiasgridError(
                            f"{joined_file}: changed on the disk since {entry.url} was downloaded; "
                            "nothing was kept"
                        )
            digest = hash_file(joined_file)
            for algorithm, expected in file_pins.items():
                if (got := hash_file(joined_file, algorithm)) != expected:
                    drop()
                    raise WrongHash(
                        f"{urls[0]} and its other parts, joined: expected {algorithm} {expected}, got {got}; "
                        f"{WRONG_HASH}"
                    )
            os.replace(joined_file, destination)
            record.unlink(missing_ok=True)
    except OSError as error:
        raise DiskError(f"cannot write {error.filename or joined_file}: {error.strerror or error}") from None
    return digest


def _read_record(
    joined_file: Path, record: Path, urls: Sequence[str], pins: Sequence[Mapping[str, str]]
) -> list[_Part]:
    """Return the parts that an earlier call has joined; none if the record is damaged."""
    try:
        parts = RECORD.validate_json(record.read_bytes())
        size = joined_file.stat().st_size
    except (FileNotFoundError, ValueError):
        return []
    matches = [
        public_address(part.url) == public_address(url) and pin.items() <= part.model_dump().items()
        for part, url, pin in zip(parts, urls, pins, strict=False)
    ]
    parts = parts[: [*matches, False].index(False)]
    return parts if sum(part.bytes for part in parts) <= size else []


def _append(part: Path, joined_file: Path, offset: int) -> None:
    """Append `part` to `joined_file` after `offset` bytes, replacing anything that a killed process left there."""
    with part.open("rb") as source, joined_file.open("ab") as file:
        file.truncate(offset)
        shutil.copyfileobj(source, file, 1 << 20)
        to_disk(file)


def _hash_next(file: IO[bytes], count: int) -> str:
    """Return the sha256 of the next `count` bytes."""
    digest = hashlib.sha256()
    while count and (block := file.read(min(count, 1 << 20))):
        digest.update(block)
        count -= len(block)
    return digest.hexdigest()
