"""The archives at addresses of this machine, as GitHub and Dropbox serve them: redirects, ETag, ranges."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = PurePosixPath(urlsplit(self.path).path)
        file = self.server.folder / path.name
        if file.stem in self.server.missing or not file.is_file():
            return self._answer(404, {"Content-Length": "0"})
        if path.parts[1] != "files":
            return self._answer(302, {"Location": f"/files/{path.name}", "Content-Length": "0"})
        size, start, tag = file.stat().st_size, 0, f'"{file.stat().st_mtime_ns}"'
        headers = {"ETag": tag, "Accept-Ranges": "bytes"}
        asked = self.headers.get("Range")
        if asked and self.headers.get("If-Range") in (None, tag):
            start = int(asked.removeprefix("bytes=").partition("-")[0])
            if start >= size:
                return self._answer(416, {"Content-Range": f"bytes */{size}", "Content-Length": "0"})
            headers["Content-Range"] = f"bytes {start}-{size - 1}/{size}"
        self._answer(206 if start else 200, headers | {"Content-Length": str(size - start)})
        with file.open("rb") as content:
            content.seek(start)
            while block := content.read(1 << 20):
                self.wfile.write(block)
                self.server.sent += len(block)
        self.server.ended[file.stem] = time.time()

    def _answer(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    """`sent`: bytes so far; `ended`: when a file's last byte was sent, seconds since the epoch."""

    daemon_threads = True

    def __init__(self, folder: Path, missing: tuple[str, ...]):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder, self.missing, self.sent, self.ended = folder, missing, 0, {}

    def handle_error(self, request, client_address):
        """A client may vanish."""


@contextmanager
def serving(folder: Path, missing: tuple[str, ...] = ()) -> Iterator[Server]:
    """Files of a folder; of those called `missing` (without suffix) the answer is 404."""
    server = Server(folder, missing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
