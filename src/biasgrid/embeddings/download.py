"""One large file over HTTP, in one piece or in parts: resumed, retried, verified, landed whole or not at all."""

import hashlib
import json
import logging
import os
import queue
import re
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import requests
import urllib3
from requests.utils import get_environ_proxies, prepend_scheme_if_needed, select_proxy
from tqdm import tqdm

from biasgrid.errors import BiasgridError
from biasgrid.files import write_text

log = logging.getLogger(__name__)

CHUNK = 1 << 14  # bytes: the most that a lost connection loses
CONNECT = 3.0  # seconds for one address of a host; a host may have eight
LINE_EVERY = 30.0  # seconds between two progress lines where standard error is not a terminal


@dataclass(frozen=True)
class Limits:
    """How patient a download is; times in seconds."""

    attempts: int = 7  # failures in a row, without one new byte between them, after which it gives up
    backoff: float = 0.5  # before the second attempt; doubled for every further failure
    longest_wait: float = 60.0  # between two attempts, also where the server's Retry-After asks for more
    stall: float = 30.0  # without a byte, after which a connection counts as lost
    reach: float = 10.0  # without a connection, after which a host counts as unreachable


LIMITS = Limits()


class WrongHash(BiasgridError):
    """The whole file arrived, and it is not the one that was asked for."""


class _Again(Exception):
    """This attempt failed in a way that the next one may not."""

    def __init__(self, why: str, *, wait: float = 0.0, connecting: bool = False):
        super().__init__(why)
        self.wait = wait  # seconds that the server asked for
        self.connecting = connecting  # no connection stood


def download(
    url: str,
    destination: Path | str,
    *,
    sha256: str | None = None,
    md5: str | None = None,
    progress: bool = True,
    limits: Limits = LIMITS,
) -> str:
    """Download `url` to `destination` and return the file's sha256 (64 hex digits).

    The file appears at `destination` only when it is whole and has the hashes given (hex digests; without
    one, only the length that the server announces is checked). Until then it grows as `<destination>.part`,
    with `<destination>.part.json`, which says of what; from there a later call, of this process or another,
    goes on. Two calls at once for one destination need a lock: `sources.fetch` has one.

    Raises:
        WrongHash: the bytes received are not those pinned; nothing is kept.
        BiasgridError: the address is wrong, the host unreachable, the server refuses, sends an HTML page or
            fails too often, or the file cannot be written.
    """
    destination = Path(destination)
    part = Path(f"{destination}.part")
    pinned = {algorithm: digest for algorithm, digest in (("sha256", sha256), ("md5", md5)) if digest}

    def wrong() -> str | None:
        for algorithm, expected in pinned.items():
            if (got := hash_file(part, algorithm)) != expected:
                return f"{url}: expected {algorithm} {expected}, got {got}"
        return None

    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        resumed = _receive(url, part, bool(pinned), progress, limits)
        if resumed and wrong():
            # Pieces of two different files, perhaps: the server's file may have changed between them.
            log.warning("%s: wrong hash after a resumed download, once more from the start", url)
            part.unlink()
            _receive(url, part, bool(pinned), progress, limits)
        if reason := wrong():
            part.unlink()
            _sidecar(part).unlink(missing_ok=True)
            raise WrongHash(f"{reason}; nothing was kept")
        digest = sha256 or hash_file(part)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(part, destination)
        _sidecar(part).unlink(missing_ok=True)
    except OSError as error:
        raise BiasgridError(f"cannot write {error.filename or part}: {error.strerror or error}") from None
    return digest


def download_parts(
    urls: Sequence[str],
    destination: Path | str,
    *,
    pins: Sequence[Mapping[str, str]],
    whole: Mapping[str, str],
    landed: Callable[[str, str], object] = lambda url, digest: None,
    progress: bool = True,
    limits: Limits = LIMITS,
) -> str:
    """Download a file that is published in parts, join them in order and return the whole file's sha256.

    Each part is downloaded as by `download`, to `<destination>.00`, `.01`, ..., and moved to the end of
    `<destination>.joined`, so that the disk holds one copy and one part at most. `<destination>.joined.json` says
    which parts that holds; a later call goes on after them. The file appears at `destination` when all its parts
    are there and it was read once more and checked.

    Args:
        pins: for each part, the hashes it must have ({"sha256": hex digits}, {"md5": ...}, {} for none).
        whole: the same for the joined file.
        landed: called with a part's address and sha256 when it is there.

    Raises: as `download`.
    """
    destination = Path(destination)
    joined, record = Path(f"{destination}.joined"), Path(f"{destination}.joined.json")

    def drop() -> None:
        joined.unlink(missing_ok=True)
        record.unlink(missing_ok=True)

    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        there = _joined(joined, record, urls, pins)
        for number, (url, pin) in enumerate(zip(urls, pins, strict=True)):
            part = Path(f"{destination}.{number:02}")
            if number >= len(there):
                digest = download(url, part, **pin, progress=progress, limits=limits)
                landed(url, digest)
                facts = {**pin, "url": url, "sha256": digest, "bytes": part.stat().st_size}
                _append(part, joined, sum(entry["bytes"] for entry in there))
                there.append(facts)
                write_text(record, json.dumps(there))
            part.unlink(missing_ok=True)
        with joined.open("rb") as file:
            for entry in there:
                if _hash_next(file, entry["bytes"]) != entry["sha256"]:
                    drop()
                    raise BiasgridError(
                        f"{joined}: changed on the disk since {entry['url']} was downloaded; nothing was kept"
                    )
        digest = hash_file(joined)
        for algorithm, expected in whole.items():
            if (got := hash_file(joined, algorithm)) != expected:
                drop()
                raise WrongHash(
                    f"{urls[0]} and its other parts, joined: expected {algorithm} {expected}, got {got}; "
                    "nothing was kept"
                )
        os.replace(joined, destination)
        record.unlink(missing_ok=True)
    except OSError as error:
        raise BiasgridError(f"cannot write {error.filename or joined}: {error.strerror or error}") from None
    return digest


def _joined(joined: Path, record: Path, urls: Sequence[str], pins: Sequence[Mapping[str, str]]) -> list[dict]:
    """What an earlier call has joined of these parts: address, size and hashes of each."""
    try:
        entries = json.loads(record.read_text(encoding="utf-8"))
        size = joined.stat().st_size
    except (FileNotFoundError, ValueError):
        return []
    there: list[dict] = []
    for entry, url, pin in zip(entries, urls, pins, strict=False):
        if entry["url"] != url or not pin.items() <= entry.items():
            break
        there.append(entry)
    return there if sum(entry["bytes"] for entry in there) <= size else []


def _append(part: Path, joined: Path, offset: int) -> None:
    """Put `part` into `joined` after `offset` bytes, in place of whatever a killed process left there."""
    with part.open("rb") as source, joined.open("ab") as file:
        file.truncate(offset)
        shutil.copyfileobj(source, file, 1 << 20)
        file.flush()
        os.fsync(file.fileno())


def _hash_next(file: IO[bytes], count: int) -> str:
    """sha256 of the next `count` bytes."""
    digest = hashlib.sha256()
    while count and (block := file.read(min(count, 1 << 20))):
        digest.update(block)
        count -= len(block)
    return digest.hexdigest()


def hash_file(path: Path | str, algorithm: str = "sha256") -> str:
    """Hex digest of a file's bytes; `algorithm` as in hashlib. Raises OSError."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()


def _receive(url: str, part: Path, pinned: bool, progress: bool, limits: Limits) -> bool:
    """Fill `part` until it is as long as the server says; return whether several responses may be in it."""
    begun, _, total = _resume_point(url, part, pinned)
    if begun and begun == total:  # an earlier run was ended between the last byte and the landing
        return True
    _reach(url, limits.reach)
    failures, furthest, first_failure = 0, begun, None
    while True:
        try:
            return _attempt(url, part, pinned, progress, limits.stall)
        except _Again as error:
            size = _resume_point(url, part, pinned)[0]
            if size > furthest:  # only new ground counts: a server that always starts anew must not keep us
                failures, furthest = 0, size
            failures += 1
            first_failure = first_failure or time.monotonic()
            if error.connecting and furthest == begun:
                # Nothing ever came from this host (the target of a redirect, say): say so soon.
                if failures >= 3 or time.monotonic() - first_failure > limits.reach:
                    raise BiasgridError(str(error)) from None
            elif failures >= limits.attempts:
                kept = f"; {size} bytes are kept, the next run goes on from there" if size else ""
                raise BiasgridError(f"{url}: gave up after {failures} attempts: {error}{kept}") from None
            wait = min(max(limits.backoff * 2 ** (failures - 1), error.wait), limits.longest_wait)
            log.warning("%s: %s; next attempt in %.3g s", url, error, wait)
            time.sleep(wait)


def _attempt(url: str, part: Path, pinned: bool, progress: bool, stall: float) -> bool:
    """One request. Returns whether it continued an earlier one; _Again if `part` is not whole after it."""
    offset, validator, expected = _resume_point(url, part, pinned)
    # identity: a decoded body would match neither the announced length nor the hash
    headers = {"Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
        if validator:
            headers["If-Range"] = validator
    with _request(url, headers, stall) as response:
        status = response.status_code
        answer = f"the server answers {status} {response.reason or ''}".rstrip()
        if status in (408, 425, 429) or status >= 500:
            raise _Again(answer, wait=_retry_after(response))
        if status == 416 and offset:
            if response.headers.get("Content-Range") == f"bytes */{offset}" and expected in (None, offset):
                return True  # the last byte had arrived already
            _empty(part)
            raise _Again(f"{answer} to a resumed download")
        if status not in ((200, 206) if offset else (200,)):
            raise BiasgridError(f"{url}: {answer}")
        if status == 206:
            total = _continued(part, response, offset, validator, expected)
        else:
            total = _announced(url, response, pinned)

        chunks = _chunks(response, stall)
        chunk = next(chunks, b"")
        _refuse_page(url, part, response, chunk if status == 200 else b"")
        if status == 200:
            offset = 0
            _empty(part)  # before the sidecar: at no moment may it describe other bytes
            facts = {"url": url, "validator": _validator(response), "total": total}
            _sidecar(part).write_text(json.dumps(facts), encoding="utf-8")
        with part.open("ab") as file, _progress(part.stem, offset, total, progress) as received:
            while chunk:
                file.write(chunk)
                received(len(chunk))
                chunk = next(chunks, b"")
        size = part.stat().st_size
        if size == 0 or (total is not None and size < total):
            raise _Again(f"the body ends after {size} of {'?' if total is None else total} bytes")
        if total is not None and size > total:
            _empty(part)
            raise _Again(f"{size} bytes came where {total} were announced")
        return status == 206


def _request(url: str, headers: dict[str, str], stall: float) -> requests.Response:
    try:
        return requests.get(url, headers=headers, stream=True, timeout=(CONNECT, stall))
    except requests.exceptions.ReadTimeout:
        raise _Again(f"no answer for {stall:g} s") from None
    except (requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        if isinstance(reason, urllib3.exceptions.HTTPError):  # urllib3 gave up before a request was sent
            host = urlsplit(error.request.url if error.request else url).hostname
            raise _Again(f"cannot reach {host}: {_last_words(reason)}", connecting=True) from None
        raise _Again(f"connection lost before an answer: {_last_words(error)}") from None
    except requests.exceptions.RequestException as error:
        raise BiasgridError(f"{url}: {error}") from None


def _announced(url: str, response: requests.Response, pinned: bool) -> int | None:
    """Length of a whole body (None: it ends by chunk, or its hash must tell)."""
    length = response.headers.get("Content-Length", "")
    if length.isdigit():
        return int(length)
    if not pinned and "chunked" not in response.headers.get("Transfer-Encoding", "").lower():
        raise BiasgridError(
            f"{url}: the server does not say how long the file is, so a broken download would not be "
            "noticed: pin its sha256"
        )
    return None


def _continued(part, response, offset: int, validator: str | None, expected: int | None) -> int | None:
    """Length of the whole file of which a 206 sends the rest; _Again if that is not the rest of our part."""
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
    total = expected if not found or found[2] == "*" else int(found[2])
    # A 206 may leave the validator out (RFC 9110, 15.3.7); one that is there must be the one we asked for.
    kind = "ETag" if (validator or "").startswith('"') else "Last-Modified"
    changed = validator and response.headers.get(kind, validator) != validator
    if not found or int(found[1]) != offset or changed or (expected and total != expected):
        _empty(part)
        raise _Again("the file changed between two parts of the download")
    return total


def _chunks(response: requests.Response, stall: float) -> Iterator[bytes]:
    """The body as sent, undecoded. A lost connection raises _Again, after all that came before it."""
    try:
        # not response.iter_content: it decodes a Content-Encoding that we did not ask for
        yield from iter(lambda: response.raw.read(CHUNK, decode_content=False), b"")
    except urllib3.exceptions.ReadTimeoutError:
        raise _Again(f"no data for {stall:g} s") from None
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise _Again(f"connection lost: {_last_words(error)}") from None


def _resume_point(url: str, part: Path, pinned: bool) -> tuple[int, str | None, int | None]:
    """How much of `part` can be built on, the server's validator for it, its whole length (None: unknown)."""
    try:
        facts = json.loads(_sidecar(part).read_text(encoding="utf-8"))
        size = part.stat().st_size
    except (FileNotFoundError, ValueError):
        return 0, None, None
    # Without a validator the server's file may change unseen between two parts; only a pinned hash shows it.
    if facts["url"] != url or not (pinned or facts["validator"]):
        return 0, None, None
    return size, facts["validator"], facts["total"]


def _sidecar(part: Path) -> Path:
    return Path(f"{part}.json")


def _empty(part: Path) -> None:
    with part.open("wb"):
        pass


def _validator(response: requests.Response) -> str | None:
    """What If-Range can carry: a strong ETag, or else the date of the last change."""
    etag = response.headers.get("ETag")
    return etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")


def _retry_after(response: requests.Response) -> float:
    """Seconds the server asks to wait, given as a number or a date; 0 where it asks for nothing."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdigit():
        return float(value)
    try:
        then = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _refuse_page(url: str, part: Path, response: requests.Response, beginning: bytes) -> None:
    """Login, quota and error pages come with status 200 and are no model."""
    kind = response.headers.get("Content-Type", "").lower()
    page = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:9].lower().startswith((b"<html", b"<!doctype"))
    if (page or kind.startswith("text/html")) and Path(part.stem).suffix not in (".html", ".htm"):
        raise BiasgridError(
            f"{url}: the server sends an HTML page where a file was expected: open it in a browser"
        )


def _reach(url: str, seconds: float) -> None:
    """Raise BiasgridError unless the URL's host, or the proxy before it, takes a connection within `seconds`.

    requests bounds the wait for each address of a host and not at all that for the look-up of its name: where
    packets vanish it would need minutes to find out. The look-up cannot be interrupted, hence the thread.
    """
    try:
        proxy = select_proxy(url, get_environ_proxies(url))
        parts = urlsplit(prepend_scheme_if_needed(proxy, "http") if proxy else url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 1080)
    except ValueError:
        raise BiasgridError(f"{url}: not an http or https address") from None
    if not parts.hostname or not url.startswith(("http://", "https://")):
        raise BiasgridError(f"{url}: not an http or https address")
    answer: queue.SimpleQueue[OSError | None] = queue.SimpleQueue()

    def connect() -> None:
        try:
            socket.create_connection((parts.hostname, port), CONNECT).close()
            answer.put(None)
        except (OSError, UnicodeError) as error:  # UnicodeError: no such name can be written
            answer.put(error)

    deadline = time.monotonic() + seconds
    for pause in (seconds / 10, seconds / 5, 0):
        threading.Thread(target=connect, daemon=True).start()
        try:
            error = answer.get(timeout=max(deadline - time.monotonic(), 0.01))
        except queue.Empty:
            error = TimeoutError(f"no answer within {seconds:g} s")
        if error is None:
            return
        if time.monotonic() + pause >= deadline:
            break
        time.sleep(pause)
    raise BiasgridError(f"cannot reach {parts.hostname}: {_last_words(error)}")


def _last_words(error: BaseException) -> str:
    """What went wrong, without the objects and addresses that urllib3 prints before it."""
    while error.args and isinstance(error.args[-1], BaseException):
        error = error.args[-1]
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = " ".join(str(error).split())
    if isinstance(error, urllib3.exceptions.HTTPError):
        text = text.rpartition(": ")[2]
    return text or type(error).__name__


@contextmanager
def _progress(label: str, done: int, total: int | None, wanted: bool) -> Iterator[Callable[[int], object]]:
    """A function to call with every number of bytes received: a bar on a terminal, lines in a log."""
    if not wanted:
        yield lambda count: None
    elif sys.stderr.isatty():
        with tqdm(desc=label, initial=done, total=total, unit="B", unit_scale=True, leave=False) as bar:
            yield bar.update
    else:
        spoken = time.monotonic()

        def received(count: int) -> None:
            nonlocal done, spoken
            done += count
            if time.monotonic() - spoken >= LINE_EVERY:
                spoken = time.monotonic()
                of = f" of {total / 1e6:.0f} MB ({done / total:.0%})" if total else " MB"
                print(f"{label}: {done / 1e6:.0f}{of}", file=sys.stderr, flush=True)

        yield received
