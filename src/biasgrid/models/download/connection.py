"""Connections to servers that may be slow, silent or unreachable, with bounded waiting times."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import requests
import urllib3

from ...core.errors import NetworkError
from . import Limits
from .hub_address import authorization

CHUNK = 1 << 16  # bytes that are read at most at a time
CONNECT = 3.0  # seconds for one address of a host; a host may have eight


class Retry(Exception):
    """An error: this attempt failed, but the next one may succeed."""

    def __init__(self, reason: str, *, wait: float = 0.0, unreachable: bool = False):
        super().__init__(reason)
        self.wait = wait  # seconds to wait, requested by the server
        self.unreachable = unreachable  # no connection was made


def request(url: str, headers: dict[str, str], limits: Limits) -> requests.Response:
    """Send a GET request; return the response without its body. Raise Retry or NetworkError if it fails.

    requests limits neither the time of a name's look-up nor the time of headers that come byte by byte. So the
    request runs in a thread, which is left behind when its time is over.
    """
    session = requests.Session()
    # Close redirects, as their bodies would be decompressed and read into memory.
    session.hooks["response"] = [lambda answer, **_: answer.raw.close() if answer.is_redirect else None]
    headers = headers | authorization(url)
    answers: queue.SimpleQueue[requests.Response | Exception] = queue.SimpleQueue()

    def get() -> None:
        try:
            answers.put(session.get(url, headers=headers, stream=True, timeout=(CONNECT, limits.stall)))
        # These libraries do not document their errors for a response that is not HTTP.
        except Exception as error:
            answers.put(error)

    threading.Thread(target=get, daemon=True).start()
    try:
        answer = answers.get(timeout=limits.answer)
    except queue.Empty:
        raise Retry(f"no whole answer for {limits.answer:g} s") from None
    if isinstance(answer, Exception):
        raise _explained(url, answer) from None
    return answer


def _explained(url: str, error: Exception) -> Exception:
    """Return the error to raise for an error of a request."""
    problem = error.args[0] if error.args else None
    if isinstance(problem, urllib3.exceptions.MaxRetryError):  # no request was sent
        pool: Any = problem.pool
        is_of_proxy = isinstance(problem.reason, urllib3.exceptions.ProxyError)
        host = pool.proxy.host if is_of_proxy and pool.proxy else pool.host
        return Retry(f"cannot reach {host}: {reason_of(problem.reason or problem)}", unreachable=True)
    transient = requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError
    if isinstance(error, transient):
        return Retry(f"connection lost before an answer: {reason_of(error)}")
    if not isinstance(error, requests.RequestException):
        return NetworkError(f"{url}: the server's answer cannot be read: {reason_of(error)}")
    form = "not an http or https address: " if isinstance(error, ValueError) else ""
    return NetworkError(f"{url}: {form}{reason_of(error)}")


def chunks(response: requests.Response, limits: Limits) -> Iterator[bytes]:
    """Yield the body as sent, undecoded. Raise Retry if the connection is lost or too slow, after all received bytes.

    A socket's own timeout begins again with every byte. So a thread counts the bytes, and ends a connection that is
    too slow.
    """
    received, reason, has_ended = 0, "", threading.Event()
    silence = f"no data for {limits.stall:g} s"

    def watch() -> None:
        nonlocal reason
        former = 0
        while not has_ended.wait(limits.stall):
            if received - former < limits.slowest * limits.stall:
                slowness = f"under {limits.slowest:g} bytes a second for {limits.stall:g} s"
                reason = silence if received == former else slowness
                with suppress(OSError, RuntimeError, ValueError):  # it has just ended
                    response.raw.shutdown()
                return
            former = received

    threading.Thread(target=watch, daemon=True).start()
    try:
        # `response.iter_content` would decode a Content-Encoding that we did not request.
        while chunk := response.raw.read1(CHUNK, decode_content=False):
            if reason:  # what comes after a shutdown may be undeciphered
                break
            received += len(chunk)
            yield chunk
    except urllib3.exceptions.ReadTimeoutError:
        reason = reason or silence
    except Exception as error:  # HTTPError, OSError, and Python's errors for a malformed chunk
        reason = reason or f"connection lost: {reason_of(error)}"
    finally:
        has_ended.set()
    if reason:
        raise Retry(reason)


def reason_of(error: BaseException) -> str:
    """Return the reason for an error, without the objects and addresses that urllib3 prints before it."""
    while isinstance(inner := error.__cause__ or (error.args and error.args[-1]), BaseException):
        error = inner
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
