"""The attempts of a download: each goes on where the one before ended, until all bytes are there."""

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

from ...errors import DiskError, NetworkError
from ...web_addresses import without_secrets
from . import Limits
from .connection import Patience, Retry, chunks, one_line, reach, request
from .progress import reporter
from .unfinished import SENDABLE, Note, begin, empty, resume_point

log = logging.getLogger(__name__)

NUMBER = r"\d{1,18}"  # of bytes or seconds in a header


def receive(
    url: str, part: Path, has_hash: bool, progress: bool, limits: Limits, rows: int | None = None
) -> bool:
    """Fill `part` until it is as long as the server says; return whether several responses may be in it.

    `rows`: a header and so many lines are enough; None: the whole file.
    """
    initial_size, note = resume_point(url, part, has_hash)
    if (
        initial_size and initial_size == note.total
    ):  # an earlier run was ended between the last byte and the landing
        return True
    failures, largest_size, is_reached, beginning = 0, initial_size, False, time.monotonic()
    while True:
        try:
            start = time.monotonic()
            if not is_reached:
                reach(url, limits.reach)
                is_reached = True
            return _attempt(url, part, has_hash, progress, limits, rows)
        except Retry as error:
            size = resume_point(url, part, has_hash)[0]
            # only new bytes count: a server that always starts anew, or sends next to nothing, must not hold this up
            if size - largest_size > limits.slowest * (time.monotonic() - start):
                failures = 0
            largest_size = max(largest_size, size)
            failures += 1
            # Nothing ever came from this host (the target of a redirect, say): say so soon.
            is_unknown = error.unreachable and largest_size == initial_size
            if is_unknown and (failures >= 3 or time.monotonic() - beginning > limits.reach):
                raise NetworkError(str(error)) from None
            if failures >= limits.attempts and not is_unknown:
                hint = f"; {size} bytes are kept, the next run goes on from there" if size else ""
                raise NetworkError(f"{url}: gave up after {failures} attempts: {error}{hint}") from None
            wait = min(max(limits.backoff * 2 ** (failures - 1), error.wait), limits.longest_wait)
            if not is_unknown:
                log.warning("%s; next attempt in %.3g s", without_secrets(f"{url}: {error}"), wait)
            time.sleep(wait)


def _attempt(url: str, part: Path, has_hash: bool, progress: bool, limits: Limits, rows: int | None) -> bool:
    """One request. Returns whether it continued an earlier one; Retry if `part` is not whole after it."""
    patience = Patience(limits)
    offset, note = resume_point(url, part, has_hash)
    # identity: a decoded body would match neither the announced length nor the hash
    headers = {"Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
        headers |= {"If-Range": note.validator} if note.validator else {}
    with request(url, headers, limits.stall, patience) as response:
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
        room = shutil.disk_usage(part.parent).free
        if status == 200 and part.exists():
            room += part.stat().st_size
        if total is not None and total > limits.announced:
            raise NetworkError(
                f"{url}: the server announces {total} bytes, and {limits.announced} are allowed"
            )
        if total is not None and rows is None and total - offset > room:
            raise DiskError(
                f"{url}: the server announces {total} bytes, and {part.parent} has room for {room}"
            )
        patience.wait_for_body()
        body = chunks(response, limits.stall)
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
                patience.count_bytes(len(chunk))
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
    """Count the ends of lines in what has come so far."""
    with part.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(partial(file.read, 1 << 20), b""))


def _body_length(url: str, response: requests.Response, has_hash: bool) -> int | None:
    """Length of a whole body (None: chunks mark its end, or a hash checks it)."""
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
    """Length of the whole file of which a 206 sends the rest; Retry if that is not the rest of our part."""
    match = re.fullmatch(
        rf"bytes ({NUMBER})-{NUMBER}/({NUMBER}|\*)", response.headers.get("Content-Range", ""), re.ASCII
    )
    total = note.total if not match or match[2] == "*" else int(match[2])
    # A 206 may leave the validator out (RFC 9110, 15.3.7); one that is there must be the one we asked for.
    kind = "ETag" if (note.validator or "").startswith('"') else "Last-Modified"
    is_changed = note.validator and response.headers.get(kind, note.validator) != note.validator
    if not match or int(match[1]) != offset or is_changed or (note.total and total != note.total):
        empty(part)
        raise Retry("the file changed between two parts of the download")
    return total


def _validator(response: requests.Response) -> str | None:
    """What If-Range can carry: a strong ETag, or else the date of the last change."""
    etag = response.headers.get("ETag")
    validator = etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")
    return validator if validator and re.fullmatch(SENDABLE, validator) else None


def _retry_after(response: requests.Response) -> float:
    """Seconds the server asks to wait, given as a number or a date; 0 where it asks for nothing."""
    try:
        return urllib3.Retry().get_retry_after(response.raw) or 0.0
    except (ValueError, TypeError, LookupError, OverflowError, urllib3.exceptions.HTTPError):
        return 0.0


def _refuse_page(url: str, part: Path, response: requests.Response, beginning: bytes) -> None:
    """Login, quota and error pages come with status 200 and are no model."""
    kind = response.headers.get("Content-Type", "").lower()
    page = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:9].lower().startswith((b"<html", b"<!doctype"))
    if (page or kind.startswith("text/html")) and Path(part.stem).suffix not in (".html", ".htm"):
        raise NetworkError(
            f"{url}: the server sends an HTML page where a file was expected: open it in a browser"
        )
