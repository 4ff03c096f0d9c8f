"""The attempts of a download: each continues the previous one, until all bytes have arrived."""

from __future__ import annotations

import logging
import math
import re
import shutil
import time
from functools import partial
from pathlib import Path

import requests
import urllib3

from ...core.errors import DiskError, NetworkError
from ...core.web_addresses import without_secrets
from . import Limits
from .connection import Retry, chunks, one_line, request
from .progress import reporter
from .unfinished import SENDABLE, Note, begin, empty, resume_point

log = logging.getLogger(__name__)

NUMBER = r"\d{1,18}"  # a number of bytes or seconds in a header


def receive(
    url: str, part: Path, has_hash: bool, progress: bool, limits: Limits, rows: int | None = None
) -> bool:
    """Fill `part` up to the length that the server announces; return whether it may come from several responses.

    With `rows`, a header and this many lines are enough; None means the whole file.
    """
    initial_size, note = resume_point(url, part, has_hash)
    # An earlier run was killed after the last byte, before the file was moved to its destination.
    if initial_size and initial_size == note.total:
        return True
    failures, largest_size, beginning = 0, initial_size, time.monotonic()
    while True:
        try:
            start = time.monotonic()
            return _attempt(url, part, has_hash, progress, limits, rows)
        except Retry as error:
            size = resume_point(url, part, has_hash)[0]
            # Only new bytes count as progress. Otherwise a server that always starts again, or sends almost nothing,
            # could make the download endless.
            if size - largest_size > limits.slowest * (time.monotonic() - start):
                failures = 0
            largest_size = max(largest_size, size)
            failures += 1
            # Give up early if nothing ever came from this host, such as the target of a redirect.
            is_unknown = error.unreachable and largest_size == initial_size
            if is_unknown and (failures >= 3 or time.monotonic() - beginning > limits.reach):
                raise NetworkError(str(error)) from None
            wait = min(max(limits.backoff * 2 ** (failures - 1), error.wait), limits.longest_wait)
            if not is_unknown:
                if failures >= limits.attempts:
                    hint = f"; {size} bytes are kept, the next run goes on from there" if size else ""
                    raise NetworkError(f"{url}: gave up after {failures} attempts: {error}{hint}") from None
                log.warning("%s; next attempt in %.3g s", without_secrets(f"{url}: {error}"), wait)
            time.sleep(wait)


def _attempt(url: str, part: Path, has_hash: bool, progress: bool, limits: Limits, rows: int | None) -> bool:
    """Make one request; return whether it continued an earlier one. Raise Retry if `part` is still
    incomplete."""
    offset, note = resume_point(url, part, has_hash)
    # Ask for an unencoded body, as a decoded one would match neither the announced length nor the hash.
    headers = {"Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
        headers |= {"If-Range": note.validator} if note.validator else {}
    with request(url, headers, limits) as response:
        status = response.status_code
        answer = f"the server answers {status} {one_line(response.reason or '')}".rstrip()
        if status in (408, 425, 429) or status >= 500:
            raise Retry(answer, wait=_retry_after(response))
        if status == 416 and offset:
            if response.headers.get("Content-Range") == f"bytes */{offset}" and note.total in (None, offset):
                return True  # the last byte had arrived already
            empty(part)
            raise Retry(f"{answer} to a resumed download")
        if status not in ((200, 206) if offset else (200,)):
            raise NetworkError(f"{url}: {answer}")
        if status == 206:
            total = _total_length(part, response, offset, note)
        else:
            offset, total = 0, _body_length(url, response, has_hash)

        limit = limits.largest if total is None else total
        former = part.stat().st_size if status == 200 and part.exists() else 0  # makes room
        room = shutil.disk_usage(part.parent).free + former
        if total is not None and total > limits.announced:
            raise NetworkError(
                f"{url}: the server announces {total} bytes, and {limits.announced} are allowed"
            )
        if total is not None and rows is None and total - offset > room:
            raise DiskError(
                f"{url}: the server announces {total} bytes, and {part.parent} has room for {room}"
            )
        body = chunks(response, limits)
        chunk = next(body, b"")
        _refuse_page(url, part, response, chunk if status == 200 else b"")
        if status == 200:
            begin(part, Note(url=url, validator=_validator(response), total=total))
        size, lines_left = offset, math.inf if rows is None else rows + 1 - _count_lines(part)
        with part.open("ab") as file, reporter(part.stem, offset, total, progress) as report:
            while chunk and size <= limit and lines_left > 0:
                file.write(chunk)
                size += len(chunk)
                lines_left -= 0 if rows is None else chunk.count(b"\n")
                report(len(chunk))
                chunk = next(body, b"")
        if lines_left <= 0:
            return status == 206
        if size > limit:
            empty(part)
            if total is None:
                raise NetworkError(
                    f"{url}: the server sends more than {limit} bytes and does not say how many; nothing was kept"
                )
            raise Retry(f"{size} bytes came where {total} were announced")
        if size == 0 or (total is not None and size < total):
            raise Retry(f"the body ends after {size} of {'?' if total is None else total} bytes")
        return status == 206


def _count_lines(part: Path) -> int:
    """Count the line ends received so far."""
    with part.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(partial(file.read, 1 << 20), b""))


def _body_length(url: str, response: requests.Response, has_hash: bool) -> int | None:
    """Return the length of a whole body; None if chunks mark its end, or a hash verifies it."""
    length = re.fullmatch(NUMBER, response.headers.get("Content-Length", ""), re.ASCII)
    if length:
        return int(length[0])
    if not has_hash and "chunked" not in response.headers.get("Transfer-Encoding", "").lower():
        raise NetworkError(
            f"{url}: the server does not say how long the file is, so a broken download would not be "
            "noticed: pin its sha256"
        )
    return None


def _total_length(part: Path, response: requests.Response, offset: int, note: Note) -> int | None:
    """Return the length of the whole file of which a 206 response sends the rest.

    Raise Retry if the response does not continue our part.
    """
    match = re.fullmatch(
        rf"bytes ({NUMBER})-{NUMBER}/({NUMBER}|\*)", response.headers.get("Content-Range", ""), re.ASCII
    )
    total = note.total if not match or match[2] == "*" else int(match[2])
    # A 206 may leave the validator out (RFC 9110, 15.3.7). If it has one, it must be the one that we sent.
    kind = "ETag" if (note.validator or "").startswith('"') else "Last-Modified"
    is_changed = note.validator and response.headers.get(kind, note.validator) != note.validator
    if not match or int(match[1]) != offset or is_changed or (note.total and total != note.total):
        empty(part)
        raise Retry("the file changed between two parts of the download")
    return total


def _validator(response: requests.Response) -> str | None:
    """Return the value for If-Range: a strong ETag, or else the date of the last change."""
    etag = response.headers.get("ETag")
    validator = etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")
    return validator if validator and re.fullmatch(SENDABLE, validator) else None


def _retry_after(response: requests.Response) -> float:
    """Return the seconds that the server asks us to wait, given as a number or a date; 0 if it does not."""
    try:
        return urllib3.Retry().get_retry_after(response.raw) or 0.0
    except (ValueError, TypeError, LookupError, OverflowError, urllib3.exceptions.HTTPError):
        return 0.0


def _refuse_page(url: str, part: Path, response: requests.Response, beginning: bytes) -> None:
    """Raise an error for login, quota and error pages, which come with status 200 but are not models."""
    kind = response.headers.get("Content-Type", "").lower()
    page = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:9].lower().startswith((b"<html", b"<!doctype"))
    if (page or kind.startswith("text/html")) and Path(part.stem).suffix not in (".html", ".htm"):
        raise NetworkError(
            f"{url}: the server sends an HTML page where a file was expected: open it in a browser"
        )
