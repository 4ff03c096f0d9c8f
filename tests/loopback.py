"""A server on this machine that does what servers of large files do on bad days, and what its tests share."""

import hashlib
import http.server
import random
import socket
import struct
import threading
from contextlib import contextmanager

import pytest

from biasgrid.models.download import Limits
from biasgrid.models.download.file import download

BODY = random.Random(7).randbytes(300_000)
OTHER = random.Random(8).randbytes(300_000)
FAST = Limits(attempts=4, backoff=0.01, longest_wait=0.05, stall=0.4, reach=2)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.seen.append((self.path, self.headers))
        act = self.server.plan.pop(0) if self.server.plan else self.server.usual
        act(self)

    do_CONNECT = do_GET  # as a proxy

    def log_message(self, *args):
        pass


def serve(
    handler,
    body=BODY,
    *,
    etag='"one"',
    ranges=True,
    upto=None,
    then=None,
    length=True,
    headers=(),
    if_range=True,
):
    """Answer like a good server; `upto` bytes only where given, and `then` something nasty."""
    start, asked = 0, handler.headers.get("Range")
    condition = handler.headers.get("If-Range")
    if asked and ranges and (not if_range or condition in (None, etag)):
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(body):
            handler.send_response(416)
            handler.send_header("Content-Range", f"bytes */{len(body)}")
            handler.end_headers()
            return
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
    else:
        handler.send_response(200)
    if length:
        handler.send_header("Content-Length", str(len(body) - start))
    if etag:
        handler.send_header("ETag", etag)
    for key, value in headers:
        handler.send_header(key, value)
    handler.end_headers()
    sent = body[start:] if upto is None else body[start : max(upto, start)]
    handler.wfile.write(sent)
    handler.server.sent += len(sent)
    if then:
        handler.wfile.flush()
        then(handler)


def acting(**options):
    return lambda handler: serve(handler, **options)


def reset(handler):
    """Close the connection with RST instead of FIN."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def sleep(handler):
    handler.server.closing.wait(20)


def answer(status, *headers, body=b""):
    def act(handler):
        handler.send_response(status)
        for key, value in headers:
            handler.send_header(key, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return act


def hang_up(handler):
    """No answer at all."""
    handler.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def started(server):
    """The server in a thread of its own; `closing` is set when it ends."""
    server.handle_error = lambda *args: None  # clients of this server may vanish
    server.closing = threading.Event()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()


def got(server, folder, path="", limits=FAST, **pins):
    """What a download from the server into the folder ends with."""
    download(server.url + path, folder / "a.bin", limits=limits, **pins)
    return (folder / "a.bin").read_bytes()


PROXIES = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")


@contextmanager
def serving(usual=serve):
    """A server that no proxy stands before: `plan` holds what it does next, then `usual`."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in PROXIES:
            patch.delenv(variable, raising=False)
        with started(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
            server.url = f"http://127.0.0.1:{server.server_port}"
            server.plan, server.usual, server.seen, server.sent = [], usual, [], 0
            yield server


@contextmanager
def largest_file(size):
    """In it no file grows beyond so many bytes, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
