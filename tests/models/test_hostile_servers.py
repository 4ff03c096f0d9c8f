"""Whatever a server answers, and whatever an interrupted download left: right bytes, or one line, within bounds of
time and memory."""

import gzip
import json
import os
import shutil
import ssl
import subprocess
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import forks
import pytest
from loopback import BODY, got, serve, serving, sha256
from refusals import refused

from biasgrid.core.errors import BiasgridError
from biasgrid.models.download import Limits, attempts, connection
from biasgrid.models.download.file import download, download_parts
from biasgrid.models.sources import fetch, verify

pytestmark = pytest.mark.slow

SHORT = Limits(attempts=2, backoff=0.01, longest_wait=0.02, stall=0.3, reach=2, answer=0.6)
# of an answer without end; a machine that is busy may keep a server silent for a while
ONCE = replace(SHORT, attempts=1, stall=0.8, answer=0.5)
OK = b"HTTP/1.1 200 OK\r\n"
PINNED = {"sha256": sha256(BODY)}


@pytest.fixture
def server():
    with serving() as server:
        yield server


def raw(content: bytes, then=None):
    """These bytes, whatever they are."""

    def act(handler):
        handler.wfile.write(content)
        if then:
            then(handler)

    return act


def endless(piece: bytes, pause: float = 0.0):
    """The same bytes again and again, as long as somebody reads them and the server is there."""

    def act(handler):
        while not handler.server.closing.wait(pause):
            handler.wfile.write(piece)

    return act


@pytest.mark.parametrize(
    "act",
    [
        # three that the HTTP library refuses, and what is read here
        raw(b"\x00\xff" * 5000),
        raw(OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n" + BODY),
        raw(OK + b"A: b\r\n" * 200 + b"\r\n"),
        raw(OK + b"Content-Length: 12x\r\n\r\n" + BODY),
        raw(OK + "Content-Length: ²\r\n\r\n".encode("latin-1") + BODY),
        raw(OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n" + BODY),
        raw(OK + b"Content-Length: -1\r\n\r\n" + BODY),
        raw(OK + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\n" + BODY),
        raw(b"HTTP/1.1 503 Busy\r\nRetry-After: " + b"9" * 5000 + b"\r\n\r\n"),
        raw("HTTP/1.1 503 Busy\r\nRetry-After: ²\r\n\r\n".encode("latin-1")),
        raw(b"HTTP/1.1 429 Slow\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 -2359\r\n\r\n"),
        raw(b"HTTP/1.1 429 Slow\r\nRetry-After: Sat, 99 Foo 99999999999999999999 25:61:61 +9999\r\n\r\n"),
        raw(b"HTTP/1.1 206 Part\r\nContent-Range: bytes 0-1/" + b"9" * 5000 + b"\r\n\r\n" + BODY),
        *(
            raw(b"HTTP/1.1 302 Found\r\nLocation: " + place + b"\r\n\r\n")
            for place in (b"http://[::1/", b"//", b"http://127.0.0.1:99999/")
        ),
        raw(b"HTTP/1.1 404 " + b"\x1b[2J" + b"x" * 9000 + b"\r\n\r\n"),
    ],
)
def test_an_answer_that_is_wrong_is_one_line(server, tmp_path, act):
    server.usual = act
    before = time.monotonic()
    with pytest.raises(BiasgridError) as error:
        download(server.url + "/a.bin", tmp_path / "a.bin", limits=SHORT)
    assert time.monotonic() - before < 20
    assert len(str(error.value)) < 500
    assert str(error.value).isprintable()
    assert not (tmp_path / "a.bin").exists()
    # nothing that is left is in the way
    server.usual = serve
    download(server.url + "/a.bin", tmp_path / "a.bin", **PINNED, limits=SHORT)
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.parametrize(
    "range_", ["bytes 100000-299999/" + "9" * 5000, "bytes ²-²/²", "bytes -5--1/-1", "x" * 5000]
)
def test_a_wrong_content_range_is_no_part_of_the_file(server, tmp_path, range_):
    server.plan = [lambda handler: serve(handler, upto=100_000)]
    head = f"HTTP/1.1 206 Part\r\nContent-Range: {range_}\r\n\r\n".encode("latin-1")
    server.plan += [raw(head + BODY[100_000:])]
    assert got(server, tmp_path, limits=replace(SHORT, attempts=3), **PINNED) == BODY


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (raw(OK + b"A: ", endless(b"b", 0.05)), "no whole answer for 0.5 s"),
        (
            raw(OK + b"Content-Length: 300000\r\n\r\n", endless(b"b", 0.05)),
            "under 1000 bytes a second for 0.8 s",
        ),
        # the length of a chunk that never begins
        (raw(OK + b"Transfer-Encoding: chunked\r\n\r\n1", endless(b"0", 0.05)), "no data for 0.8 s"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_without_end_ends(server, tmp_path, act, told):
    server.usual = act
    before = time.monotonic()
    with refused(told):
        download(server.url + "/a.bin", tmp_path / "a.bin", limits=ONCE)
    assert time.monotonic() - before < 8
    server.usual = serve
    assert got(server, tmp_path, limits=SHORT) == BODY


def test_a_redirect_is_not_read(server, tmp_path):
    """Its body is nobody's: one without end, and 20 MB that unpack to 20 GB."""
    head = b"HTTP/1.1 302 Found\r\nLocation: /b\r\n"
    bomb = gzip.compress(bytes(1 << 26)) * 20
    server.plan = [raw(head + b"\r\n", endless(b"b" * 65536))]
    server.plan += [raw(head + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb)]
    assert got(server, tmp_path, limits=replace(ONCE, stall=8, answer=8)) == BODY


def test_a_slow_download_that_goes_on_is_waited_for(server, tmp_path, monkeypatch):
    """Several times as long as a connection may be silent."""
    # of what comes more slowly than in this test, 16 KB come in the 30 s that a connection may be silent
    monkeypatch.setattr(connection, "CHUNK", 100)

    def slow(handler):
        handler.wfile.write(OK + b"Content-Length: 6000\r\n\r\n")
        for start in range(0, 6000, 400):
            handler.wfile.write(BODY[start : start + 400])
            time.sleep(0.08)

    server.plan = [slow]
    assert got(server, tmp_path, limits=replace(SHORT, stall=0.5, slowest=200)) == BODY[:6000]
    assert len(server.seen) == 1


@pytest.fixture
def encrypted(server, tmp_path_factory, monkeypatch):
    """The address of the server, which encrypts what it sends."""
    key, certificate = (tmp_path_factory.mktemp("tls") / name for name in ("key.pem", "certificate.pem"))
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    return f"https://localhost:{server.server_port}"


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl, to make a certificate")
def test_an_encrypted_answer_without_end_ends(server, encrypted, tmp_path):
    server.usual = raw(OK + b"Content-Length: 300000\r\n\r\n", endless(b"b", 0.05))
    before = time.monotonic()
    with refused("under 1000 bytes a second for 0.8 s"):
        download(encrypted, tmp_path / "a.bin", limits=ONCE)
    assert time.monotonic() - before < 8
    server.usual = serve
    download(encrypted, tmp_path / "a.bin", limits=SHORT)
    assert (tmp_path / "a.bin").read_bytes() == BODY


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl, to make a certificate")
def test_nothing_encrypted_is_kept_where_the_disk_is_slower_than_the_limit(
    server, encrypted, tmp_path, monkeypatch
):
    """A connection is ended while its bytes wait to be written, and the socket still has others."""

    @contextmanager
    def slow_disk(*arguments):
        yield lambda count: time.sleep(0.5)

    def in_pieces(handler):
        handler.wfile.write(OK + b'ETag: "one"\r\nContent-Length: 300000\r\n\r\n')
        for start in range(0, len(BODY), 10_000):
            handler.wfile.write(BODY[start : start + 10_000])
            time.sleep(0.01)

    monkeypatch.setattr(attempts, "reporter", slow_disk)
    server.usual = in_pieces
    with refused("bytes are kept"):
        download(encrypted, tmp_path / "a.bin", limits=replace(SHORT, attempts=1, answer=5))
    kept = (tmp_path / "a.bin.part").read_bytes()
    assert kept
    assert kept == BODY[: len(kept)]


def test_a_body_without_end_stops_at_a_limit(server, tmp_path):
    limits = Limits(attempts=2, largest=1 << 20)
    server.usual = raw(
        OK + b"Transfer-Encoding: chunked\r\n\r\n", endless(b"10000\r\n" + b"b" * 65536 + b"\r\n")
    )
    with refused("more than 1048576 bytes", "nothing was kept"):
        download(server.url, tmp_path / "a.bin", limits=limits)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 1000


def test_more_than_there_is_room_for_is_refused_before_it_comes(server, tmp_path):
    server.usual = raw(OK + b"Content-Length: 99999999999999999\r\n\r\n")
    with refused("announces 99999999999999999 bytes", "has room for"):
        download(server.url, tmp_path / "a.bin", limits=SHORT)


@pytest.mark.parametrize(
    "url", ["http://[::1/", "http://[::1/a.bin", "http://127.0.0.1/a%00b", "http://127.0.0.1/%0a"]
)
def test_an_address_that_is_none_is_one_line(tmp_path, url):
    with refused("m: "):
        fetch("m", {"type": "url", "url": url, "sha256": "0" * 64}, tmp_path, limits=SHORT)


DAMAGED = [
    b"{",
    b"null",
    b"[" * 100_000,
    b'{"url": 1}',
    b'[{"bytes": "x"}]',
]


@pytest.mark.parametrize(
    "record",
    [
        *DAMAGED,
        {"validator": 3},
        {"validator": "a\r\nb"},
        {"validator": "é"},
        {"total": "x"},
        {"total": -1},
        {"total": True},
    ],
)
def test_a_damaged_record_of_a_part_is_none(server, tmp_path, record):
    right = {"url": server.url, "validator": '"one"', "total": len(BODY)}
    content = json.dumps(right | record).encode() if isinstance(record, dict) else record
    (tmp_path / "a.bin.part").write_bytes(BODY[:1000])
    (tmp_path / "a.bin.part.json").write_bytes(content)
    assert got(server, tmp_path, limits=SHORT) == BODY
    assert os.listdir(tmp_path) == ["a.bin"]
    assert "Range" not in server.seen[0][1]


def test_a_validator_that_cannot_be_sent_back_is_not_kept(server, tmp_path):
    """Sent back it would be refused by the HTTP library, at every run."""
    server.plan = [raw(OK + b'ETag: "\x01"\r\nContent-Length: 300000\r\n\r\n' + BODY[:1000])]
    assert got(server, tmp_path, limits=SHORT, **PINNED) == BODY


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_record_of_one_of_several_parts_is_none(server, tmp_path, content):
    parts = {"/0": BODY[:100_000], "/1": BODY[100_000:]}
    server.usual = lambda handler: serve(handler, body=parts[handler.path])
    (tmp_path / "a.bin.00.part").write_bytes(BODY[:70_000])
    (tmp_path / "a.bin.00.part.json").write_bytes(content)
    (tmp_path / "a.bin.joined").write_bytes(BODY[:70_000])
    urls = [server.url + path for path in parts]
    download_parts(urls, tmp_path / "a.bin", pins=[{}, {}], file_pins=PINNED, limits=SHORT)
    assert (tmp_path / "a.bin").read_bytes() == BODY
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.parametrize(
    "content",
    [
        *DAMAGED,
        b'{"source": {}, "files": {}, "input": "."}',
        b'{"source": {"type": "file", "path": "x"}, "files": [], "input": "x"}',
        json.dumps(
            {
                "source": {"type": "url", "url": "http://x"},
                "files": {"../../mine": {"sha256": "0" * 64, "bytes": 1}},
                "input": "../../mine",
            }
        ).encode(),
    ],
)
def test_a_damaged_manifest_is_fetched_again(server, tmp_path, content):
    (tmp_path / "mine").write_text("kept")
    source = {"type": "url", "url": server.url + "/a.bin", **PINNED}
    raw_ = tmp_path / "raw"
    fetch("m", source, raw_, limits=SHORT)
    (raw_ / "m" / "manifest.json").write_bytes(content)
    with refused("m: not fetched", "manifest.json is missing or damaged"):
        verify("m", raw_)
    assert fetch("m", source, raw_, limits=SHORT, shared=True) == raw_ / "m" / "a.bin"
    verify("m", raw_)
    assert sorted(os.listdir(raw_ / "m")) == ["a.bin", "manifest.json"]
    assert (tmp_path / "mine").read_text() == "kept"
    # the file was there and right
    assert len(server.seen) == 1


def test_a_first_seen_checksum_that_is_damaged_is_not_forgotten(server, tmp_path):
    source = {"type": "url", "url": server.url + "/a.bin"}
    fetch("m", source, tmp_path, limits=SHORT)
    (tmp_path / "m" / "manifest.json").unlink()
    for content in DAMAGED:
        (tmp_path / "m.first-seen.json").write_bytes(content)
        with refused("m: ", "m.first-seen.json is damaged"):
            fetch("m", source, tmp_path, limits=SHORT)


CODE = (
    "import sys; from biasgrid.models.download.file import download; "
    "download(sys.argv[1], sys.argv[2], sha256=sys.argv[3], progress=False)"
)


def test_two_downloads_of_one_file_do_not_mix(server, tmp_path):
    """The first waits in the middle; the second waits for the first."""
    let_go = threading.Event()
    server.plan = [lambda handler: serve(handler, upto=100_000, then=lambda handler: let_go.wait(10))]
    command = [forks.python(), "-c", CODE, server.url, tmp_path / "a.bin", PINNED["sha256"]]
    both = [subprocess.Popen(command) for _ in range(2)]
    for _ in range(1000):
        if server.seen:
            break
        time.sleep(0.01)
    time.sleep(0.3)
    assert len(server.seen) == 1
    let_go.set()
    assert [process.wait() for process in both] == [0, 0]
    assert (tmp_path / "a.bin").read_bytes() == BODY
    assert os.listdir(tmp_path) == ["a.bin"]


def test_a_folder_in_the_place_of_a_file_is_refused_before_anything_is_asked(server, tmp_path):
    (tmp_path / "a.bin").mkdir()
    with refused("cannot write", "a.bin", "no file"):
        download(server.url, tmp_path / "a.bin", limits=SHORT)
    assert not server.seen
