"""Connections to servers that may be slow, silent or unreachable, with bounded waiting times."""

from __future__ import annotations

import http.client
import queue
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3
from requests.utils import get_environ_proxies, prepend_scheme_if_needed, select_proxy

from ...core.errors import NetworkError
from . import Limits
from .hub_address import authorization

CHUNK = 1 << 14  # bytes: a lost connection loses at most this many
CONNECT = 3.0  # seconds for one address of a host; a host may have eight


class Retry(Exception):
    """An error: this attempt failed, but the next one may succeed."""

    def __init__(self, reason: str, *, wait: float = 0.0, unreachable: bool = False):
        super().__init__(reason)
        self.wait = wait  # seconds to wait, requested by the server
        self.unreachable = unreachable  # no connection was made


class Patience:
    """A time limit of an attempt that receives too little; a socket's own timeout restarts with every byte."""

    def __init__(self, limits: Limits):
        self._limits = limits
        self._reason, self._due = f"no whole answer for {limits.answer:g} s", time.monotonic() + limits.answer

    def wait_for_body(self) -> None:
        """Require, from now on, `slowest * stall` bytes in each `stall` seconds."""
        self._reason = f"under {self._limits.slowest:g} bytes a second for {self._limits.stall:g} s"
        self._missing_bytes = 0.0
        self.count_bytes(0)

    def count_bytes(self, count: int) -> None:
        """Count received bytes of the body."""
        self._missing_bytes -= count
        if self._missing_bytes <= 0:
            self._missing_bytes = self._limits.slowest * self._limits.stall
            self._due = time.monotonic() + self._limits.stall

    def check(self) -> None:
        """Raise Retry if the time is over; called before each read from a socket."""
        if time.monotonic() >= self._due:
            raise Retry(self._reason)


class _Response(http.client.HTTPResponse):
    def __init__(self, patience: Patience, *args: Any, **options: Any):
        super().__init__(*args, **options)
        read = self.fp.raw.readinto

        def read_in_time(buffer: memoryview) -> int | None:
            patience.check()
            return read(buffer)

        setattr(self.fp.raw, "readinto", read_in_time)  # noqa: B010

    def _read_next_chunk_size(self) -> int:
        size: int = super()._read_next_chunk_size()  # type: ignore[misc]
        if size < 0:  # Python would read the whole rest into memory
            raise http.client.HTTPException(f"a chunk of {size} bytes")
        return size


def request(url: str, headers: dict[str, str], stall: float, patience: Patience) -> requests.Response:
    """Send a GET request; return the response. Raise Retry or NetworkError if it fails."""

    class Adapter(requests.adapters.HTTPAdapter):
        def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
            pool = super().get_connection_with_tls_context(*args, **options)
            response_class = staticmethod(partial(_Response, patience))
            pool.ConnectionCls = type("Connection", (pool.ConnectionCls,), {"response_class": response_class})
            return pool

    session = requests.Session()
    session.mount("http://", Adapter())
    session.mount("https://", Adapter())
    # Close redirects, as their bodies would be decompressed and read into memory.
    session.hooks["response"] = [lambda answer, **_: answer.raw.close() if answer.is_redirect else None]
    try:
        return session.get(url, headers=headers | authorization(url), stream=True, timeout=(CONNECT, stall))
    except Retry:
        raise
    except requests.exceptions.ReadTimeout:
        raise Retry(f"no answer for {stall:g} s") from None
    except (requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        if isinstance(reason, urllib3.exceptions.HTTPError):  # urllib3 gave up before a request was sent
            host = urlsplit(str(error.request.url if error.request else url)).hostname
            raise Retry(f"cannot reach {host}: {reason_of(reason)}", unreachable=True) from None
        raise Retry(f"connection lost before an answer: {reason_of(error)}") from None
    except requests.exceptions.RequestException as error:
        raise NetworkError(f"{url}: {reason_of(error)}") from None
    except Exception as error:  # these libraries do not document their errors for a response that is not HTTP
        raise NetworkError(f"{url}: the server's answer cannot be read: {reason_of(error)}") from None


def chunks(response: requests.Response, stall: float) -> Iterator[bytes]:
    """Yield the body as sent, undecoded. Raise Retry if the connection is lost, after all received bytes."""
    try:
        # `response.iter_content` would decode a Content-Encoding that we did not request.
        yield from iter(lambda: response.raw.read(CHUNK, decode_content=False), b"")
    except Retry:
        raise
    except urllib3.exceptions.ReadTimeoutError:
        raise Retry(f"no data for {stall:g} s") from None
    except Exception as error:  # HTTPError, OSError, and Python's errors for a malformed chunk
        raise Retry(f"connection lost: {reason_of(error)}") from None


def reach(url: str, seconds: float) -> None:
    """Raise Retry unless the URL's host, or its proxy, accepts a connection within `seconds`.

    requests limits the wait for each address of a host, but not the wait for the look-up of its name. If
    packets are dropped, it would need minutes. The look-up cannot be interrupted, so it runs in a thread.
    """
    try:
        proxy = select_proxy(url, get_environ_proxies(url))
        parts = urlsplit(prepend_scheme_if_needed(proxy, "http") if proxy else url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 1080)
        if not parts.hostname or not url.startswith(("http://", "https://")):
            raise ValueError
    except ValueError:
        raise NetworkError(f"{url}: not an http or https address") from None
    answer: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()

    def connect() -> None:
        try:
            socket.create_connection((parts.hostname, port), CONNECT).close()
            answer.put(None)
        except (OSError, ValueError) as error:  # ValueError: the name cannot be encoded
            answer.put(error)

    threading.Thread(target=connect, daemon=True).start()
    try:
        error = answer.get(timeout=seconds)
    except queue.Empty:
        error = TimeoutError(f"no answer within {seconds:g} s")
    if error:
        raise Retry(f"cannot reach {parts.hostname}: {reason_of(error)}", unreachable=True)


def reason_of(error: BaseException) -> str:
    """Return the reason for an error, without the objects and addresses that urllib3 prints before it."""
    while error.args and isinstance(error.args[-1], BaseException):
        error = error.args[-1]
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = str(error)
    if isinstance(error, urllib3.exceptions.HTTPError):
        text = text.rpartition(": ")[2]
    return one_line(text) or type(error).__name__


def one_line(text: str) -> str:
    """Return a text from a server as a printable part of one line."""
    text = "".join(sign if sign.isprintable() else "?" for sign in " ".join(text[:1000].split()))
    return text if len(text) <= 200 else f"{text[:200]} ..."
