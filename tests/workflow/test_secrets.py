"""Passwords and queries of addresses: their server gets them, and nothing that is written or printed holds them."""

from pathlib import Path

import pytest
from conftest import grid_config, refusal
from loopback import FAST, acting, answer, serving
from refusals import refused

from biasgrid.core.errors import NetworkError
from biasgrid.core.web_addresses import public_address, without_secrets
from biasgrid.models.sources import check, fetch, read_manifest
from biasgrid.study.study import Study

SECRET = "S3CR3T"


@pytest.fixture
def server():
    with serving() as server:
        yield server


def of_url(url, **keys):
    return {"type": "url", "url": url, "filename": "one.txt", **keys}


def files_with_the_secret(folder, but=()):
    files = (path for path in folder.rglob("*") if path.is_file() and path not in but)
    return [str(path.relative_to(folder)) for path in files if SECRET.encode() in path.read_bytes()]


@pytest.mark.slow
def test_a_query_is_sent_and_nowhere_written_or_printed(project, server):
    vectors = (project.folder / "one.txt").read_bytes()
    server.usual = acting(body=vectors)
    models = grid_config()["models"] | {
        "one": {"label": "One", "source": of_url(f"{server.url}/one.txt?token={SECRET}")}
    }
    project.configure(grid_config() | {"models": models, "figures": []})
    config = project.folder / "config" / "config.yaml"
    done = project.biasgrid("run", "config/config.yaml", "--cores", "1", "--printshellcmds", "--verbose")
    assert done.returncode == 0, done.stderr
    assert server.seen[0][0] == f"/one.txt?token={SECRET}"
    assert SECRET not in done.stdout + done.stderr
    assert files_with_the_secret(project.folder, {config}) == []
    assert "one.txt?left-out-" in (project.folder / "results/small/models/one.json").read_text()
    assert "Nothing to be done" in project.run().stderr
    # another query is another address
    config.write_text(config.read_text().replace(SECRET, f"{SECRET}2"))
    server.usual = answer(404)
    again = project.snakemake("--cores", "1")
    assert again.returncode == 1
    assert SECRET not in again.stdout + again.stderr
    assert "the server answers 404" in again.stderr
    assert files_with_the_secret(project.folder, {config}) == []


def test_what_is_recorded_is_the_same_source_and_cannot_be_fetched(server, tmp_path):
    source = of_url(f"{server.url}/one.txt?token={SECRET}")
    path = fetch("m", source, tmp_path, progress=False, limits=FAST)
    assert files_with_the_secret(tmp_path) == []
    assert fetch("m", source, tmp_path, limits=FAST) == path
    assert len(server.seen) == 1
    recorded = read_manifest(path.parent)["source"]
    assert fetch("m", recorded, tmp_path, limits=FAST) == path
    with refused("this address lacks its query, which records leave out", "run the config"):
        fetch("m", recorded, tmp_path / "elsewhere", limits=FAST)
    fetch("m", of_url(f"{server.url}/one.txt?token=other"), tmp_path, progress=False, limits=FAST)
    assert [path for path, _ in server.seen] == [f"/one.txt?token={SECRET}", "/one.txt?token=other"]


def test_a_part_is_continued_although_its_note_lacks_the_query(server, tmp_path):
    def breaks_off(handler):
        acting(upto=1000, then=lambda handler: handler.connection.close())(handler)

    server.plan = [breaks_off]
    fetch("m", of_url(f"{server.url}/one.txt?token={SECRET}"), tmp_path, progress=False, limits=FAST)
    assert server.seen[1][1]["Range"] == "bytes=1000-"


@pytest.mark.parametrize("user", [f"me:{SECRET}", SECRET, f":{SECRET}"])
@pytest.mark.parametrize("key", ["url", "base"])
def test_an_address_holds_no_user(user, key):
    source = {"type": "url", "url": f"http://{user}@host/x.txt"}
    if key == "base":
        source = {"type": "hub", "repository": "a/b", "revision": "c", "files": {"x": None}}
        source["base"] = f"https://{user}@host"
    with refused(f"source: {key} must not hold a user name or a password", "~/.netrc", "NETRC") as error:
        check(source)
    assert SECRET not in str(error.value)
    config = grid_config()
    config["models"]["one"]["source"] = source
    with refused("config", "must not hold a user name or a password") as error:
        Study.of(config)
    assert SECRET not in str(error.value)


def test_a_password_is_read_from_the_file_that_netrc_names(server, tmp_path, monkeypatch):
    (tmp_path / "netrc").write_text(f"machine 127.0.0.1 login me password {SECRET}\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    fetch("m", of_url(f"{server.url}/one.txt"), tmp_path / "raw", progress=False, limits=FAST)
    assert server.seen[0][1]["Authorization"].startswith("Basic ")
    assert files_with_the_secret(tmp_path / "raw") == []


def test_messages_of_proxies_and_redirects_hold_no_secret(server, tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://me:{SECRET}@127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(NetworkError) as error:
        fetch("m", of_url(f"http://host.invalid/one.txt?token={SECRET}"), tmp_path, limits=FAST)
    assert SECRET not in str(error.value)
    monkeypatch.delenv("http_proxy")
    server.usual = answer(302, ("Location", f"http://me:{SECRET}@127.0.0.1:9/x?token={SECRET}"))
    with pytest.raises(NetworkError) as error:
        fetch("m", of_url(f"{server.url}/one.txt"), tmp_path, limits=FAST)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("https://a.b/c", "https://a.b/c"),
        ("https://a.b/c?dl=1", "https://a.b/c?dl=1"),
        ("https://a.b/c?download=1", "https://a.b/c?download=1"),
        ("https://a.b/@c/d", "https://a.b/@c/d"),
        ("data/@c?d", "data/@c?d"),
    ],
)
def test_an_address_without_secrets_stays(address, public):
    assert public_address(address) == public


@pytest.mark.parametrize(
    "address", ["http://u:S@h/c", "h://S@h", "https://h/c?t=S.", "https://h#S", "http://h?d='S'"]
)
def test_what_is_left_out_has_a_digest(address):
    public = public_address(address)
    assert "S" not in public
    assert public_address(public) == public
    assert public_address(f"{address}x") != public
    assert "S" not in without_secrets(f"m: {address}: the server answers 404")


def test_a_message_keeps_what_stands_around_an_address():
    text = "m: http://u:p@h/x?t=S: gave up; see 'https://a.b/c?d=e', (https://doi.org/10/x)."
    assert (
        without_secrets(text)
        == "m: http://h/x?...: gave up; see 'https://a.b/c?...', (https://doi.org/10/x)."
    )
    assert without_secrets("a: b? c: d@e") == "a: b? c: d@e"


def test_publish_refuses_a_page_with_a_password(finished, monkeypatch):
    from biasgrid.study import checksums

    monkeypatch.chdir(finished.folder)
    page = Path("results/small/report.html")
    page.write_text(f"{page.read_text()}<p>http://me:{SECRET}@host/x</p>")
    checksums.record_all(Path("results/small"))
    says = "results/small/report.html: has a password in an address"
    refusal("publish", "results/small", "published", parts=[says])
    assert not Path("published").exists()
