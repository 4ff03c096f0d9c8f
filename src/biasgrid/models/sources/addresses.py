"""Download of a file from one address, or in parts from several, verified with pinned or first-seen checksums."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...core.errors import BiasgridError
from ...core.files import hash_file
from ...core.web_addresses import is_left_out
from ..download import Limits, WrongHash
from .first_seen import NO_CHECKSUM, FirstSeen
from .source import FILENAME


def fetch_file(
    urls: Sequence[str],
    folder: Path,
    filename: str,
    *,
    pins: Sequence[Mapping[str, str]],
    file_pins: Mapping[str, str],
    progress: bool,
    limits: Limits,
    rows: int | None = None,
    warning: str = NO_CHECKSUM,
) -> dict[str, str]:
    """Download a file, or its parts in order, to `folder`/`filename`; return its sha256 by its name.

    `pins` are the hashes pinned for each part, by algorithm, and `file_pins` the hashes of the whole file.
    Without any, the first downloaded file is expected from then on, and `warning` is logged; it is empty for
    an address whose content never changes. For `rows` see `download`.
    """
    is_name = all(re.fullmatch(FILENAME, part) for part in filename.split("/"))
    if not is_name or filename == "manifest.json":
        raise BiasgridError(f"source: {urls[0]} cannot be kept as {filename!r}: give a different filename")
    destination = folder / filename
    first_seen = None if file_pins or any(pins) else FirstSeen(folder)
    # Different numbers of rows of one address count as different files.
    seen_as = [url if rows is None else f"{url}#rows={rows}" for url in urls]
    if first_seen:
        pins = [{"sha256": digest} if (digest := first_seen.get(place)) else {} for place in seen_as]
    expected = file_pins or (pins[0] if len(urls) == 1 else {})
    # The file may be complete already: a fetch was interrupted before the manifest, or the manifest was deleted.
    if (
        expected
        and destination.is_file()
        and all(hash_file(destination, algorithm) == digest for algorithm, digest in expected.items())
    ):
        return {filename: hash_file(destination)}

    if left_out := next(filter(is_left_out, urls), None):
        raise BiasgridError(
            f"source: {left_out.partition('?')[0]}: this address lacks its query, which records leave out, as it may "
            "hold a secret: run the config in which the whole address stands"
        )
    # Imported late, as planning a study does not need an HTTP client.
    from ..download.file import download_parts

    try:
        digest, digests = download_parts(
            urls, destination, pins=pins, file_pins=file_pins, rows=rows, progress=progress, limits=limits
        )
    except WrongHash as error:
        if not first_seen:
            raise
        raise WrongHash(
            f"{error}; the expected one was recorded when this address was first used: if the new file is "
            f"right, delete {first_seen.path} or pin its sha256"
        ) from None
    if first_seen:
        for place, seen in zip(seen_as, digests, strict=True):
            first_seen.record(place, seen, warning)
    return {filename: digest}
