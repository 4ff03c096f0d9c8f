"""One large file over HTTP, in one piece or in parts: resumed, retried, verified, landed whole or not at all."""

from __future__ import annotations

import hashlib
import http.client
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
from contextlib import contextmanager, suppress
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
from biasgrid.files import locked, write_text

log = logging.getLogger(__name__)

CHUNK = 1 << 14  # bytes: the most that a lost connection loses
CONNECT = 3.0  # seconds for one address of a host; a host may have eight
NUMBER = r"\d{1,18}"  # of bytes or seconds in a header
LINE_EVERY = 30.0  # seconds between two progress lines where standard error is not a terminal


@dataclass(frozen=True)
class Limits:
    """How patient a download is; times in seconds."""

    attempts: int = 7  # failures in a row, without one new byte between them, after which it gives up
    backoff: float = 0.5  # before the second attempt; doubled for every further failure
    longest_wait: float = 60.0  # between two attempts, also where the server's Retry-After asks for more
    stall: float = 30.0  # without a byte, after which a connection counts as lost
    reach: float = 10.0  # without a connection, after which a host counts as unreachable
    answer: float = 60.0  # for all that comes before a body: handshakes, redirects, headers
    slowest: float = 1000.0  # bytes a second, on the average of `stall` seconds; less counts as nothing
    largest: int = 1 << 34  # bytes of a body whose length is not announced (16 GiB)


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
    goes on. Of two calls at once for one destination, one waits.

    Whatever the server does, the call ends: it gives up after `limits.attempts` in a row that each brought less
    than `limits.slowest` bytes a second.

    Raises:
        WrongHash: the bytes received are not those pinned; nothing is kept.
        BiasgridError: the address is wrong, the host unreachable, the server refuses, sends an HTML page, more
            than there is room for, or fails too often, or the file cannot be written.
    """
    destination = _replaceable(destination)
    part = Path(f"{destination}.part")
    pinned = {algorithm: digest for algorithm, digest in (("sha256", sha256), ("md5", md5)) if digest}

    def wrong() -> str | None:
        for algorithm, expected in pinned.items():
            if (got := hash_file(part, algorithm)) != expected:
                return f"{url}: expected {algorithm} {expected}, got {got}"
        return None

    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with locked(_lock_file(destination)):
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
    destination = _replaceable(destination)
    joined, record = Path(f"{destination}.joined"), Path(f"{destination}.joined.json")

    def drop() -> None:
        joined.unlink(missing_ok=True)
        record.unlink(missing_ok=True)

    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with locked(_lock_file(destination)):
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
    """What an earlier call has joined of these parts: address, size and hashes of each; none if that is damaged."""
    try:
        entries = json.loads(record.read_text(encoding="utf-8"))
        size = joined.stat().st_size
    except (FileNotFoundError, ValueError, RecursionError):
        return []
    if not isinstance(entries, list):
        return []
    there: list[dict] = []
    for entry, url, pin in zip(entries, urls, pins, strict=False):
        whole = (
            isinstance(entry, dict) and _is_size(entry.get("bytes")) and isinstance(entry.get("sha256"), str)
        )
        if not whole or entry.get("url") != url or not pin.items() <= entry.items():
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
            started = time.monotonic()
            return _attempt(url, part, pinned, progress, limits)
        except _Again as error:
            size = _resume_point(url, part, pinned)[0]
            # only new ground counts: a server that always starts anew, or sends next to nothing, must not keep us
            if size - furthest > limits.slowest * (time.monotonic() - started):
                failures = 0
            furthest = max(furthest, size)
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


def _attempt(url: str, part: Path, pinned: bool, progress: bool, limits: Limits) -> bool:
    """One request. Returns whether it continued an earlier one; _Again if `part` is not whole after it."""
    with _Patience(limits.answer) as patience:
        try:
            return _answered(url, part, pinned, progress, limits, patience)
        except (_Again, BiasgridError):
            if not patience.ended:
                raise
            what = f"under {limits.slowest:g} bytes a second" if patience.body else "no whole answer"
            within = limits.stall if patience.body else limits.answer
            raise _Again(f"{what} for {within:g} s") from None


def _answered(
    url: str, part: Path, pinned: bool, progress: bool, limits: Limits, patience: _Patience
) -> bool:
    stall = limits.stall
    offset, validator, expected = _resume_point(url, part, pinned)
    # identity: a decoded body would match neither the announced length nor the hash
    headers = {"Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
        if validator:
            headers["If-Range"] = validator
    with _request(url, headers, stall, patience) as response:
        status = response.status_code
        answer = f"the server answers {status} {_shown(response.reason or '')}".rstrip()
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

        limit = limits.largest if total is None else total
        room = shutil.disk_usage(part.parent).free + (0 if status == 206 else _size(part))
        if total is not None and total - (offset if status == 206 else 0) > room:
            raise BiasgridError(
                f"{url}: the server announces {total} bytes, and {part.parent} has room for {room}"
            )
        patience.wait_for_body(limits)
        chunks = _chunks(response, stall)
        chunk = next(chunks, b"")
        _refuse_page(url, part, response, chunk if status == 200 else b"")
        if status == 200:
            offset = 0
            _empty(part)  # before the sidecar: at no moment may it describe other bytes
            facts = {"url": url, "validator": _validator(response), "total": total}
            write_text(_sidecar(part), json.dumps(facts))
        size = offset
        with part.open("ab") as file, _progress(part.stem, offset, total, progress) as received:
            while chunk and size <= limit:
                file.write(chunk)
                size += len(chunk)
                received(len(chunk))
                patience.received(len(chunk))
                chunk = next(chunks, b"")
        if patience.ended:  # what looks like the end of a body may be ours
            raise _Again("ended")
        if total is None and size > limit:
            _empty(part)
            raise BiasgridError(
                f"{url}: the server sends more than {limit} bytes and does not say how many; nothing was kept"
            )
        size = part.stat().st_size
        if size == 0 or (total is not None and size < total):
            raise _Again(f"the body ends after {size} of {'?' if total is None else total} bytes")
        if total is not None and size > total:
            _empty(part)
            raise _Again(f"{size} bytes came where {total} were announced")
        return status == 206


class _Patience:
    """Ends an attempt's connections when too little comes: a socket's own timeout begins anew with every byte."""

    def __init__(self, seconds: float):
        self.ended = self.body = False
        self._due = time.monotonic() + seconds
        self._sockets: list[socket.socket] = []
        self._over = threading.Event()

    def __enter__(self) -> _Patience:
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._over.set()
        for connected in self._sockets:
            connected.close()

    def add(self, connected: socket.socket) -> None:
        """Watch a connection; what encrypts it later takes the object, so this keeps another of the same."""
        self._sockets.append(connected.dup())

    def wait_for_body(self, limits: Limits) -> None:
        """Wait, from now on, for `limits.slowest * limits.stall` bytes in each `limits.stall` seconds."""
        self.body, self._seconds, self._wanted = True, limits.stall, limits.slowest * limits.stall
        self.received(0, begin=True)

    def received(self, count: int, begin: bool = False) -> None:
        """So many bytes of the body came."""
        self._missing = self._wanted if begin else self._missing - count
        if begin or self._missing <= 0:
            self._missing, self._due = self._wanted, time.monotonic() + self._seconds

    def _watch(self) -> None:
        while not self._over.wait(max(self._due - time.monotonic(), 0.01)):
            if time.monotonic() >= self._due:
                self.ended = True
                for connected in tuple(self._sockets):
                    with suppress(OSError):
                        connected.shutdown(socket.SHUT_RDWR)


class _Response(http.client.HTTPResponse):
    def _read_next_chunk_size(self):
        size = super()._read_next_chunk_size()
        if size < 0:  # Python would read to the end, into memory
            raise http.client.HTTPException(f"a chunk of {size} bytes")
        return size


class _Adapter(requests.adapters.HTTPAdapter):
    """Connections under a `_Patience`."""

    def __init__(self, patience: _Patience):
        super().__init__()
        self._patience = patience

    def get_connection_with_tls_context(self, *args, **options):
        pool, patience = super().get_connection_with_tls_context(*args, **options), self._patience

        class Connection(type(pool).ConnectionCls):
            response_class = _Response

            def _new_conn(self):
                connected = super()._new_conn()
                patience.add(connected)
                return connected

        pool.ConnectionCls = Connection
        return pool

    def build_response(self, request, answer):
        response = super().build_response(request, answer)
        if response.is_redirect:  # requests would read its body to the end, unpacked, into memory
            response.raw.close()
        return response


def _request(url: str, headers: dict[str, str], stall: float, patience: _Patience) -> requests.Response:
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter(patience))
    try:
        return session.get(url, headers=headers, stream=True, timeout=(CONNECT, stall))
    except requests.exceptions.ReadTimeout:
        raise _Again(f"no answer for {stall:g} s") from None
    except (requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        if isinstance(reason, urllib3.exceptions.HTTPError):  # urllib3 gave up before a request was sent
            host = urlsplit(error.request.url if error.request else url).hostname
            raise _Again(f"cannot reach {host}: {_last_words(reason)}", connecting=True) from None
        raise _Again(f"connection lost before an answer: {_last_words(error)}") from None
    except requests.exceptions.RequestException as error:
        raise BiasgridError(f"{url}: {_last_words(error)}") from None
    except Exception as error:  # what these libraries raise for an answer that is not HTTP is listed nowhere
        raise BiasgridError(f"{url}: the server's answer cannot be read: {_last_words(error)}") from None


def _announced(url: str, response: requests.Response, pinned: bool) -> int | None:
    """Length of a whole body (None: it ends by chunk, or its hash must tell)."""
    length = re.fullmatch(NUMBER, response.headers.get("Content-Length", ""), re.ASCII)
    if length:
        return int(length[0])
    if not pinned and "chunked" not in response.headers.get("Transfer-Encoding", "").lower():
        raise BiasgridError(
            f"{url}: the server does not say how long the file is, so a broken download would not be "
            "noticed: pin its sha256"
        )
    return None


def _continued(part, response, offset: int, validator: str | None, expected: int | None) -> int | None:
    """Length of the whole file of which a 206 sends the rest; _Again if that is not the rest of our part."""
    found = re.fullmatch(
        rf"bytes ({NUMBER})-{NUMBER}/({NUMBER}|\*)", response.headers.get("Content-Range", ""), re.ASCII
    )
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
    except Exception as error:  # besides HTTPError and OSError what Python raises for a chunk that is none
        raise _Again(f"connection lost: {_last_words(error)}") from None


def _resume_point(url: str, part: Path, pinned: bool) -> tuple[int, str | None, int | None]:
    """How much of `part` can be built on, the server's validator for it, its whole length (None: unknown)."""
    try:
        facts = json.loads(_sidecar(part).read_text(encoding="utf-8"))
        size = part.stat().st_size
        there, validator, total = (facts[key] for key in ("url", "validator", "total"))
    except (FileNotFoundError, ValueError, LookupError, TypeError, RecursionError):  # not there, or damaged
        return 0, None, None
    # Without a validator the server's file may change unseen between two parts; only a pinned hash shows it.
    if there != url or not (pinned or validator):
        return 0, None, None
    if not (validator is None or _can_be_sent(validator)) or not (total is None or _is_size(total)):
        return 0, None, None
    return size, validator, total


def _sidecar(part: Path) -> Path:
    return Path(f"{part}.json")


def _replaceable(destination: Path | str) -> Path:
    """Where the file is to be; a link is followed. Raises BiasgridError for a device or a folder."""
    destination = Path(destination)
    if destination.exists() and not destination.is_file():
        raise BiasgridError(f"cannot write {destination}: it is there, and is no file")
    return Path(os.path.realpath(destination)) if destination.is_symlink() else destination


def _lock_file(destination: Path) -> Path:
    return destination.with_name(f".{destination.name}.lock")


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value < 10**18


def _can_be_sent(validator: object) -> bool:
    return isinstance(validator, str) and bool(re.fullmatch(r"[!-~][ -~]{0,999}", validator))


def _empty(part: Path) -> None:
    with part.open("wb"):
        pass


def _validator(response: requests.Response) -> str | None:
    """What If-Range can carry: a strong ETag, or else the date of the last change."""
    etag = response.headers.get("ETag")
    validator = etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")
    return validator if _can_be_sent(validator) else None


def _retry_after(response: requests.Response) -> float:
    """Seconds the server asks to wait, given as a number or a date; 0 where it asks for nothing."""
    value = response.headers.get("Retry-After", "").strip()
    if re.fullmatch(NUMBER, value, re.ASCII):
        return float(value)
    try:
        then = parsedate_to_datetime(value)
        return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, LookupError, OverflowError):
        return 0.0


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
        except (OSError, ValueError) as error:  # ValueError: no such name can be written
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
    text = str(error)
    if isinstance(error, urllib3.exceptions.HTTPError):
        text = text.rpartition(": ")[2]
    return _shown(text) or type(error).__name__


def _shown(text: str) -> str:
    """What a server says, as a part of one line."""
    text = "".join(sign if sign.isprintable() else "?" for sign in " ".join(text[:1000].split()))
    return text if len(text) <= 200 else f"{text[:200]} ..."


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
