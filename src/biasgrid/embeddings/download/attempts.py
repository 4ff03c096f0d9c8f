"""The attempts of a download: each goes on where the one before ended, until all bytes are there."""

from __future__ import annotations

import logging
import re
import shutil
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

import requests

from ...errors import BiasgridError, DiskError, NetworkError
from . import Limits
from .connection import Patience, Retry, chunks, one_line, reach, request
from .progress import reporter
from .unfinished import begin, can_be_sent, empty, resume_point

log = logging.getLogger(__name__)

NUMBER = r"\d{1,18}"  # of bytes or seconds in a header


def receive(url: str, part: Path, has_hash: bool, progress: bool, limits: Limits) -> bool:
    """Fill `part` until it is as long as the server says; return whether several responses may be in it."""
    initial_size, _, total = resume_point(url, part, has_hash)
    if (
        initial_size and initial_size == total
    ):  # an earlier run was ended between the last byte and the landing
        return True
    reach(url, limits.reach)
    failures, largest_size, first_failure = 0, initial_size, None
    while True:
        try:
            start = time.monotonic()
            return _attempt(url, part, has_hash, progress, limits)
        except Retry as error:
            size = resume_point(url, part, has_hash)[0]
            # only new bytes count: a server that always starts anew, or sends next to nothing, must not hold this up
            if size - largest_size > limits.slowest * (time.monotonic() - start):
                failures = 0
            largest_size = max(largest_size, size)
            failures += 1
            first_failure = first_failure or time.monotonic()
            if error.unreachable and largest_size == initial_size:
                # Nothing ever came from this host (the target of a redirect, say): say so soon.
                if failures >= 3 or time.monotonic() - first_failure > limits.reach:
                    raise NetworkError(str(error)) from None
            elif failures >= limits.attempts:
                hint = f"; {size} bytes are kept, the next run goes on from there" if size else ""
                raise NetworkError(f"{url}: gave up after {failures} attempts: {error}{hint}") from None
            wait = min(max(limits.backoff * 2 ** (failures - 1), error.wait), limits.longest_wait)
            log.warning("%s: %s; next attempt in %.3g s", url, error, wait)
            time.sleep(wait)


def _attempt(url: str, part: Path, has_hash: bool, progress: bool, limits: Limits) -> bool:
    """One request. Returns whether it continued an earlier one; Retry if `part` is not whole after it."""
    with Patience(limits.answer) as patience:
        try:
            return _request_body(url, part, has_hash, progress, limits, patience)
        except (Retry, BiasgridError):
            if not patience.is_over:
                raise
            problem = f"under {limits.slowest:g} bytes a second" if patience.body else "no whole answer"
            seconds = limits.stall if patience.body else limits.answer
            raise Retry(f"{problem} for {seconds:g} s") from None


def _request_body(
    url: str, part: Path, has_hash: bool, progress: bool, limits: Limits, patience: Patience
) -> bool:
    stall = limits.stall
    offset, validator, expected = resume_point(url, part, has_hash)
    # identity: a decoded body would match neither the announced length nor the hash
    headers = {"Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
        if validator:
            headers["If-Range"] = validator
    with request(url, headers, stall, patience) as response:
        status = response.status_code
        answer = f"the server answers {status} {one_line(response.reason or '')}".rstrip()
        if status in (408, 425, 429) or status >= 500:
            raise Retry(answer, wait=_retry_after(response))
        if status == 416 and offset:
            if response.headers.get("Content-Range") == f"bytes */{offset}" and expected in (None, offset):
                return True  # the last byte had arrived already
            empty(part)
            raise Retry(f"{answer} to a resumed download")
        if status not in ((200, 206) if offset else (200,)):
            raise NetworkError(f"{url}: {answer}")
        if status == 206:
            total = _total_length(part, response, offset, validator, expected)
        else:
            total = _body_length(url, response, has_hash)

        limit = limits.largest if total is None else total
        room = shutil.disk_usage(part.parent).free + (
            part.stat().st_size if status == 200 and part.exists() else 0
        )
        if total is not None and total - (offset if status == 206 else 0) > room:
            raise DiskError(
                f"{url}: the server announces {total} bytes, and {part.parent} has room for {room}"
            )
        patience.wait_for_body(limits)
        body = chunks(response, stall)
        chunk = next(body, b"")
        _refuse_page(url, part, response, chunk if status == 200 else b"")
        if status == 200:
            offset = 0
            begin(part, url, _validator(response), total)
        size = offset
        with part.open("ab") as file, reporter(part.stem, offset, total, progress) as report:
            while chunk and size <= limit:
                file.write(chunk)
                size += len(chunk)
                report(len(chunk))
                patience.count_bytes(len(chunk))
                chunk = next(body, b"")
        if patience.is_over:  # the body may have ended because `Patience` closed the connection
            raise Retry("ended")
        if total is None and size > limit:
            empty(part)
            raise NetworkError(
                f"{url}: the server sends more than {limit} bytes and does not say how many; nothing was kept"
            )
        size = part.stat().st_size
        if size == 0 or (total is not None and size < total):
            raise Retry(f"the body ends after {size} of {'?' if total is None else total} bytes")
        if total is not None and size > total:
            empty(part)
            raise Retry(f"{size} bytes came where {total} were announced")
        return status == 206


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


def _total_length(part, response, offset: int, validator: str | None, expected: int | None) -> int | None:
    """Length of the whole file of which a 206 sends the rest; Retry if that is not the rest of our part."""
    match = re.fullmatch(
        rf"bytes ({NUMBER})-{NUMBER}/({NUMBER}|\*)", response.headers.get("Content-Range", ""), re.ASCII
    )
    total = expected if not match or match[2] == "*" else int(match[2])
    # A 206 may leave the validator out (RFC 9110, 15.3.7); one that is there must be the one we asked for.
    kind = "ETag" if (validator or "").startswith('"') else "Last-Modified"
    is_changed = validator and response.headers.get(kind, validator) != validator
    if not match or int(match[1]) != offset or is_changed or (expected and total != expected):
        empty(part)
        raise Retry("the file changed between two parts of the download")
    return total


def _validator(response: requests.Response) -> str | None:
    """What If-Range can carry: a strong ETag, or else the date of the last change."""
    etag = response.headers.get("ETag")
    validator = etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")
    return validator if can_be_sent(validator) else None


def _retry_after(response: requests.Response) -> float:
    """Seconds the server asks to wait, given as a number or a date; 0 where it asks for nothing."""
    value = response.headers.get("Retry-After", "").strip()
    if re.fullmatch(NUMBER, value, re.ASCII):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, LookupError, OverflowError):
        return 0.0


def _refuse_page(url: str, part: Path, response: requests.Response, beginning: bytes) -> None:
    """Login, quota and error pages come with status 200 and are no model."""
    kind = response.headers.get("Content-Type", "").lower()
    page = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:9].lower().startswith((b"<html", b"<!doctype"))
    if (page or kind.startswith("text/html")) and Path(part.stem).suffix not in (".html", ".htm"):
        raise NetworkError(
            f"{url}: the server sends an HTML page where a file was expected: open it in a browser"
        )
