"""A connection to a server that may be slow, silent or gone: what it sends, or why nothing came, in bounded time."""

from __future__ import annotations

import http.client
import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import requests
import urllib3
from requests.utils import get_environ_proxies, prepend_scheme_if_needed, select_proxy

from ...errors import NetworkError
from . import Limits

CHUNK = 1 << 14  # bytes: the most that a lost connection loses
CONNECT = 3.0  # seconds for one address of a host; a host may have eight


class Retry(Exception):
    """This attempt failed in a way that the next one may not."""

    def __init__(self, reason: str, *, wait: float = 0.0, unreachable: bool = False):
        super().__init__(reason)
        self.wait = wait  # seconds that the server asked for
        self.unreachable = unreachable  # no connection was made


class Patience:
    """Ends an attempt's connections when too little comes: a socket's own timeout begins anew with every byte."""

    def __init__(self, seconds: float):
        self.is_over = self.body = False
        self._due = time.monotonic() + seconds
        self._sockets: list[socket.socket] = []
        self._over = threading.Event()

    def __enter__(self) -> Patience:
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._over.set()
        for connection in self._sockets:
            connection.close()

    def add(self, connection: socket.socket) -> None:
        """Watch a connection. TLS takes over the socket object later, so this keeps a duplicate."""
        self._sockets.append(connection.dup())

    def wait_for_body(self, limits: Limits) -> None:
        """Wait, from now on, for `limits.slowest * limits.stall` bytes in each `limits.stall` seconds."""
        self.body, self._seconds, self._quota = True, limits.stall, limits.slowest * limits.stall
        self.count_bytes(0, begin=True)

    def count_bytes(self, count: int, begin: bool = False) -> None:
        """Count bytes of the body that came."""
        self._missing_bytes = self._quota if begin else self._missing_bytes - count
        if begin or self._missing_bytes <= 0:
            self._missing_bytes, self._due = self._quota, time.monotonic() + self._seconds

    def _watch(self) -> None:
        while not self._over.wait(max(self._due - time.monotonic(), 0.01)):
            if time.monotonic() >= self._due:
                self.is_over = True
                for connection in tuple(self._sockets):
                    with suppress(OSError):
                        connection.shutdown(socket.SHUT_RDWR)


class _Response(http.client.HTTPResponse):
    def _read_next_chunk_size(self):
        size = super()._read_next_chunk_size()
        if size < 0:  # Python would read to the end, into memory
            raise http.client.HTTPException(f"a chunk of {size} bytes")
        return size


class _Adapter(requests.adapters.HTTPAdapter):
    """Connections under a `Patience`."""

    def __init__(self, patience: Patience):
        super().__init__()
        self._patience = patience

    def get_connection_with_tls_context(self, *args, **options):
        pool, patience = super().get_connection_with_tls_context(*args, **options), self._patience

        class Connection(type(pool).ConnectionCls):
            response_class = _Response

            def _new_conn(self):
                connection = super()._new_conn()
                patience.add(connection)
                return connection

        pool.ConnectionCls = Connection
        return pool

    def build_response(self, request, answer):
        response = super().build_response(request, answer)
        if response.is_redirect:  # requests would read its body to the end, unpacked, into memory
            response.raw.close()
        return response


def request(url: str, headers: dict[str, str], stall: float, patience: Patience) -> requests.Response:
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter(patience))
    try:
        return session.get(url, headers=headers, stream=True, timeout=(CONNECT, stall))
    except requests.exceptions.ReadTimeout:
        raise Retry(f"no answer for {stall:g} s") from None
    except (requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        if isinstance(reason, urllib3.exceptions.HTTPError):  # urllib3 gave up before a request was sent
            host = urlsplit(error.request.url if error.request else url).hostname
            raise Retry(f"cannot reach {host}: {reason_of(reason)}", unreachable=True) from None
        raise Retry(f"connection lost before an answer: {reason_of(error)}") from None
    except requests.exceptions.RequestException as error:
        raise NetworkError(f"{url}: {reason_of(error)}") from None
    except Exception as error:  # what these libraries raise for an answer that is not HTTP is listed nowhere
        raise NetworkError(f"{url}: the server's answer cannot be read: {reason_of(error)}") from None


def chunks(response: requests.Response, stall: float) -> Iterator[bytes]:
    """The body as sent, undecoded. A lost connection raises Retry, after all that came before it."""
    try:
        # not response.iter_content: it decodes a Content-Encoding that we did not ask for
        yield from iter(lambda: response.raw.read(CHUNK, decode_content=False), b"")
    except urllib3.exceptions.ReadTimeoutError:
        raise Retry(f"no data for {stall:g} s") from None
    except Exception as error:  # besides HTTPError and OSError what Python raises for a chunk that is none
        raise Retry(f"connection lost: {reason_of(error)}") from None


def reach(url: str, seconds: float) -> None:
    """Raise NetworkError unless the URL's host, or the proxy before it, takes a connection within `seconds`.

    requests bounds the wait for each address of a host and not at all that for the look-up of its name: where
    packets vanish it would need minutes to find out. The look-up cannot be interrupted, hence the thread.
    """
    try:
        proxy = select_proxy(url, get_environ_proxies(url))
        parts = urlsplit(prepend_scheme_if_needed(proxy, "http") if proxy else url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 1080)
    except ValueError:
        raise NetworkError(f"{url}: not an http or https address") from None
    if not parts.hostname or not url.startswith(("http://", "https://")):
        raise NetworkError(f"{url}: not an http or https address")
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
    raise NetworkError(f"cannot reach {parts.hostname}: {reason_of(error)}")


def reason_of(error: BaseException) -> str:
    """What went wrong, without the objects and addresses that urllib3 prints before it."""
    while error.args and isinstance(error.args[-1], BaseException):
        error = error.args[-1]
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = str(error)
    if isinstance(error, urllib3.exceptions.HTTPError):
        text = text.rpartition(": ")[2]
    return one_line(text) or type(error).__name__


def one_line(text: str) -> str:
    """What a server says, as a part of one line."""
    text = "".join(sign if sign.isprintable() else "?" for sign in " ".join(text[:1000].split()))
    return text if len(text) <= 200 else f"{text[:200]} ..."
