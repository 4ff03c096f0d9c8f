"""Files of a model hub, from a server on this machine."""

import logging

import pytest
from loopback import FAST, answer, serve, serving, sha256
from refusals import refused

from biasgrid.models.sources import check, fetch


@pytest.fixture
def hub():
    with serving(lambda handler: serve(handler, content(handler.path))) as server:
        yield server


def content(path: str) -> bytes:
    """What the hub has at a path."""
    return f"what is at {path}".encode()


def source(hub, files, **more):
    return {
        "type": "hub",
        "base": hub.url,
        "repository": "some/model",
        "revision": "0a1b",
        "files": files,
    } | more


AT = "/some/model/resolve/0a1b/"


def test_the_files_come_from_the_commit(hub, tmp_path, caplog):
    wanted = source(
        hub, {"model.safetensors": sha256(content(f"{AT}model.safetensors")), "sub/a b.json": None}
    )
    with caplog.at_level(logging.WARNING):
        folder = fetch("m", wanted, tmp_path, progress=False, limits=FAST)
    assert [path for path, _ in hub.seen] == [f"{AT}model.safetensors", f"{AT}sub/a%20b.json"]
    assert folder.is_dir()
    assert (folder / "model.safetensors").read_bytes() == content(f"{AT}model.safetensors")
    assert (folder / "a b.json").read_bytes() == content(f"{AT}sub/a%20b.json")
    assert "no checksum is pinned" in caplog.text
    # nothing is fetched again
    assert fetch("m", wanted, tmp_path, progress=False) == folder
    assert len(hub.seen) == 2


def test_one_file_is_what_is_converted(hub, tmp_path):
    path = fetch("m", source(hub, {"m.gguf": None}), tmp_path, progress=False, limits=FAST)
    assert path == tmp_path / "m" / "m.gguf"


def test_another_file_than_expected(hub, tmp_path):
    with refused("expected sha256 000"):
        fetch("m", source(hub, {"m.gguf": "0" * 64}), tmp_path, progress=False, limits=FAST)
    hub.usual = answer(404)
    with refused("m: ", "404"):
        fetch("m", source(hub, {"m.gguf": None}), tmp_path, progress=False, limits=FAST)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"repository": "model"}, "of the form owner/name"),
        ({"repository": "a/../b"}, "of the form owner/name"),
        ({"revision": "a/b"}, "a commit, a tag or a branch"),
        ({"files": {"*.json": None}}, "each file of a hub is named"),
        ({"files": {"../a": None}}, "must be the path of a file"),
        ({"files": ["a"]}, "must map paths"),
    ],
)
def test_what_a_hub_cannot_be_asked(hub, more, message):
    with refused("source: ", message):
        check(source(hub, {"a": None}) | more)
