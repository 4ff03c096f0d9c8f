"""What servers answer, and what an interrupted download left, damaged: through `download` and `fetch`.

The server listens on 127.0.0.1, in this process.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import socket
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from biasgrid.models.download import Limits
from biasgrid.models.download.file import download, download_parts
from biasgrid.models.sources import fetch, verify

from .damage import Refused, accepted, damaged

FAST = Limits(
    attempts=2, backoff=0.001, longest_wait=0.002, stall=0.15, reach=0.5, answer=0.3, largest=1 << 20
)
BODY = random.Random(1).randbytes(3000)
SHA256 = hashlib.sha256(BODY).hexdigest()
OPTIONS = {"progress": False, "limits": FAST}
ODD = ["", "-1", "-5", "+3", "0", "3000", "2999", "3001", "3_000", "²", "0x10", "1e3"]
ODD += ["9" * 18, "9" * 19, "9" * 5000]
LOCATIONS = [
    "",
    "/",
    "/x",
    "//",
    "http://[::1/",
    "http://[",
    "http://:0",
    "ftp://x/",
    "file:///etc/passwd",
    "%zz",
]
LOCATIONS += ["http://127.0.0.1:1/", "http://127.0.0.1:99999/", "http://a\x00b/", "http://\xff/", "\x00"]
LOCATIONS += [f"http://{'a' * 300}/"]
STATUS = [b"200 OK", b"200", b"206 Partial Content", b"416 No", b"301 Moved", b"302 \xff\x1b[2J"]
STATUS += [b"404 " + b"x" * 5000, b"429 Slow", b"503 Busy", b"304 Same", b"204 None", b"100 Continue"]
STATUS += [b"199 ?", b"999 ?", b"1000 ?", b"-1 ?"]


class Server:
    """Answers each request for /<key>... with the next of `answers[key]`, and with the last one from then on.

    An answer is pieces of bytes, and pauses (seconds) between them.
    """

    def __init__(self):
        self.answers: dict[str, list[list[bytes | float]]] = {}
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            connected = self.listening.accept()[0]
            threading.Thread(target=self.answer, args=[connected], daemon=True).start()

    def answer(self, connected: socket.socket) -> None:
        try:
            with connected:
                connected.settimeout(5)
                request = b""
                while b"\r\n\r\n" not in request:
                    if not (more := connected.recv(65536)):
                        return
                    request += more
                path, start = re.match(rb"GET /(\S*)", request), re.search(rb"Range: bytes=(\d+)-", request)
                answers = self.answers.get(path[1].decode().split("/")[0] if path else "", [])
                if not answers:
                    connected.sendall(right(int(start[1]) if start else 0))
                    return
                for piece in answers.pop(0) if len(answers) > 1 else answers[0]:
                    if isinstance(piece, float):
                        time.sleep(piece)
                    else:
                        connected.sendall(piece)
        except OSError:
            pass  # the client has gone


@cache
def server() -> Server:
    # a damaged address may be another machine's: this process reaches none
    look_up = socket.getaddrinfo

    def here(host, *arguments, **options):
        if host not in ("127.0.0.1", b"127.0.0.1"):
            raise socket.gaierror(socket.EAI_NONAME, "no such host")
        return look_up(host, *arguments, **options)

    socket.getaddrinfo = here
    return Server()


def right(start: int = 0, body: bytes = BODY) -> bytes:
    """What a good server answers."""
    status = f"206 Partial\r\nContent-Range: bytes {start}-{len(body) - 1}/{len(body)}" if start else "200 OK"
    return (
        f'HTTP/1.1 {status}\r\nContent-Length: {len(body) - start}\r\nETag: "one"\r\n\r\n'.encode()
        + body[start:]
    )


def answer(chance: random.Random) -> list[bytes | float]:
    """Some answer, mostly wrong."""
    version = chance.choice([b"1", b"1", b"1", b"0", b"9"])
    lines = [b"HTTP/1." + version + b" " + chance.choice(STATUS[:1] * 12 + STATUS)]
    body = chance.choice([BODY, BODY, BODY[:1000], BODY + b"more", b"", b"<html>"])
    framing = chance.randrange(4)
    if framing == 0:
        lines.append(b"Content-Length: %d" % len(body))
    elif framing == 1:
        lines.append(b"Transfer-Encoding: chunked")
        odd = [size.encode("latin-1") for size in ODD[:-1]]
        size = chance.choice([b"%x" % len(body)] * 3 + odd + [b"f" * 70000, b"-bb8"])
        body = size + b"\r\n" + body + chance.choice([b"\r\n0\r\n\r\n", b"\r\n0\r\n", b"\r\n-1\r\n", b""])
    ranges = [f"{a}-{b}/{c}" for a, b, c in [(0, 2999, 3000), (1000, 2999, 3000), ("²", 1, 2)]]
    ranges += [f"{odd}-{odd}/{odd}" for odd in ODD] + [f"*/{odd}" for odd in ODD]
    dates = ["Sat, 99 Foo 99999 25:61:61 +9999", "Fri, 31 Dec 9999 23:59:59 -2359", "nan", "inf"]
    headers = {
        "Content-Length": ODD,
        "Content-Range": [f"bytes {part}" for part in ranges],
        "Retry-After": ODD + dates,
        "Location": LOCATIONS,
        "ETag": ['"x"', 'W/"x"', "\x01", '"' + "y" * 5000, "", "\xff"],
        "Last-Modified": ["yesterday", "\x00", ""],
        "Content-Type": ["text/html", "\xff"],
        "Transfer-Encoding": ["chunked", "gzip, chunked", "chunked, chunked"],
        "Content-Encoding": ["gzip", "br"],
        "X" * chance.choice([1, 70000]): ["y"],
    }
    for name, values in headers.items():
        if chance.random() < 0.12:
            lines.append(f"{name}: {chance.choice(values)}".encode("latin-1"))
    if chance.random() < 0.05:
        lines += [b"A: b"] * 200
    content = b"\r\n".join(lines) + b"\r\n\r\n" + body
    if chance.random() < 0.4:
        content = damaged(content, chance)
    kind = chance.random()
    if kind < 0.02:  # headers or a body that drip
        content, pace = chance.choice([(content, 5), (b"HTTP/1.1 100 Continue\r\n\r\n" * 400, 25)])
        return [piece for i in range(0, 150 * pace, pace) for piece in (content[i : i + pace], 0.02)]
    if kind < 0.03:
        return [b"HTTP/1.1 100 Continue\r\n\r\n" * 100_000]
    return [content]


def is_accepted(call, *arguments, **options) -> bool:
    with suppress(Refused):
        accepted(call, *arguments, **options)
        return True
    return False


def refused_unless(taken: bool) -> None:
    if not taken:
        raise Refused


def answers(seed: int, folder: Path) -> None:
    """Wrong answers to a download; a part of it may be there already."""
    chance, there, pinned = random.Random(seed), folder / "a.bin", seed % 3 > 0
    script = [answer(chance) for _ in range(chance.choice([1, 1, 2, 3]))]
    (folder / "answers.txt").write_text("\n\n".join(map(repr, script)), encoding="utf-8")
    server().answers[f"{seed}"] = script
    url = f"{server().url}/{seed}/{chance.choice(['a', 'a', '%00', '%zz', '..'])}"
    if chance.random() < 0.3:
        Path(f"{there}.part").write_bytes(BODY[:1000])
        Path(f"{there}.part.json").write_text(json.dumps({"url": url, "validator": '"one"', "total": 3000}))
    taken = is_accepted(download, url, there, **OPTIONS, **({"sha256": SHA256} if pinned else {}))
    assert there.exists() == taken
    if taken:
        assert not pinned or there.read_bytes() == BODY
        assert [path.name for path in folder.iterdir() if path.name != "answers.txt"] == ["a.bin"]
    refused_unless(taken)


def addresses(seed: int, folder: Path) -> None:
    """Damaged addresses."""
    chance, there = random.Random(seed), server().url
    url = damaged(f"{there.replace('//', '//user:pw@')}/{seed}/a.bin?q#f".encode(), chance).decode("latin-1")
    if chance.random() < 0.3:
        odd = ["http://[::1/", "http://", "http:///a", f"{there}/\x00", f"{there}/a\nb", "", f"{there}0000/a"]
        url = chance.choice(odd)
    source = {"type": "url", "url": url, "sha256": SHA256}
    if chance.random() < 0.2:
        source = {"type": "gensim-data", "dataset": "d", "base": url, "md5": hashlib.md5(BODY).hexdigest()}
    refused_unless(is_accepted(fetch, "m", source, folder, **OPTIONS))


def resumed(seed: int, folder: Path) -> None:
    """A damaged note of what a part is of: the download succeeds all the same."""
    chance, there, url = random.Random(seed), folder / "a.bin", f"{server().url}/"
    note = json.dumps(
        {"url": url, "validator": chance.choice(['"one"', None]), "total": chance.choice([3000, None])}
    )
    Path(f"{there}.part").write_bytes(BODY[: chance.choice([0, 1000, 3000])])
    Path(f"{there}.part.json").write_bytes(damaged(note.encode(), chance))
    download(url, there, sha256=SHA256, **OPTIONS)
    assert there.read_bytes() == BODY
    assert len(list(folder.iterdir())) == 1, "something was left"


def joined(seed: int, folder: Path) -> None:
    """A damaged part of several, or a damaged note about it: the first or, where no hash of the part is known, the
    second download succeeds."""
    chance, there = random.Random(seed), folder / "a.bin"
    parts = [BODY[:1000], BODY[1000:]]
    urls = [f"{server().url}/{seed}-{number}" for number in range(2)]
    for number, part in enumerate(parts):
        server().answers[f"{seed}-{number}"] = [[right(body=part)]]
    pins = [{"sha256": hashlib.sha256(part).hexdigest()} if seed % 2 else {} for part in parts]
    note = {"url": urls[0], "validator": '"one"', "total": 1000}
    Path(f"{there}.00.part").write_bytes(damaged(parts[0], chance) if chance.random() < 0.3 else parts[0])
    Path(f"{there}.00.part.json").write_bytes(damaged(json.dumps(note).encode(), chance))
    options = {"pins": pins, "file_pins": {"sha256": SHA256}, **OPTIONS}
    taken = is_accepted(download_parts, urls, there, **options)
    if not taken:
        download_parts(urls, there, **options)
    assert there.read_bytes() == BODY
    assert len(list(folder.iterdir())) == 1, "something was left"
    refused_unless(taken)


def manifests(seed: int, folder: Path) -> None:
    """A damaged manifest: the archive is checked or refused, and fetched again."""
    chance = random.Random(seed)
    source = {"type": "url", "url": f"{server().url}/a.bin", "sha256": SHA256}
    fetch("m", source, folder, **OPTIONS)
    manifest = folder / "m" / "manifest.json"
    manifest.write_bytes(damaged(manifest.read_bytes(), chance))
    checked = is_accepted(verify, "m", folder)
    shared = bool(seed % 2)
    # another source is another archive's: in a shared folder it is not replaced
    again = is_accepted(fetch, "m", source, folder, shared=shared, **OPTIONS)
    assert shared or again
    assert not again or (folder / "m" / "a.bin").read_bytes() == BODY
    refused_unless(checked)


TARGETS = {f.__name__: f for f in (answers, addresses, resumed, joined, manifests)}
