"""`biasgrid fetch --pin`: checksums of what was downloaded without one, written into the config."""

from __future__ import annotations

import json
import os
import shutil

import pytest
import yaml
from conftest import GRID_WORDS, biasgrid, grid_config, write_text_model
from loopback import FAST, acting, serving, sha256

from biasgrid.models.sources import fetch, read_manifest
from biasgrid.study.config import pins

BODY = b"he 1 2\nshe 3 4\n"
DIGEST = sha256(BODY)


@pytest.fixture
def server():
    with serving(acting(body=BODY)) as server:
        yield server


# what stands in a file, and with the digests of `one` (and of `three`'s second file)
LAYOUTS = {
    "block": (
        "# models\none:\n  label: One\n  source:  # where from\n    type: url\n    url: U  # a mirror\n"
        "  format: text  # as it is\n",
        "# models\none:\n  label: One\n  source:  # where from\n    type: url\n    url: U  # a mirror\n"
        "    sha256: D\n"
        "  format: text  # as it is\n",
    ),
    "flow": (
        "one: {label: One, source: {type: url, url: 'U' }}  # one\n",
        "one: {label: One, source: {type: url, url: 'U', sha256: D }}  # one\n",
    ),
    "flow over lines": (
        "one:\n  label: One\n  source: {\n    type: url,\n    url: U, # a mirror\n  }\n",
        "one:\n  label: One\n  source: {\n    type: url,\n    url: U, sha256: D, # a mirror\n  }\n",
    ),
    "parts": (
        "one:\n  label: One\n  source:\n    filename: x\n    type: url\n    url:\n    - U\n    - U\n",
        "one:\n  label: One\n  source:\n    filename: x\n    type: url\n    sha256: D\n    url:\n    - U\n    - U\n",
    ),
    "no end of line": (
        "one:\n  label: One\n  source:\n    type: url\n    url: U",
        "one:\n  label: One\n  source:\n    type: url\n    url: U\n    sha256: D",
    ),
    "windows": (
        "one:\r\n  label: One\r\n  source:\r\n    type: url\r\n    url: U\r\n",
        "one:\r\n  label: One\r\n  source:\r\n    type: url\r\n    url: U\r\n    sha256: D\r\n",
    ),
    "hub": (
        "one:\n  label: One\n  source:\n    type: hub\n    base: U\n    repository: a/b\n    revision: main\n"
        "    files: {m.txt: null, n.txt: }  # two\n",
        "one:\n  label: One\n  source:\n    type: hub\n    base: U\n    repository: a/b\n    revision: main\n"
        "    files: {m.txt: D, n.txt: D }  # two\n",
    ),
    "an alias": (
        "other: &a\n  label: Other\n  source: &s {type: url, url: U}\none:\n  label: One\n  source: *s\n",
        "other: &a\n  label: Other\n  source: &s {type: url, url: U, sha256: D}\none:\n  label: One\n  source: *s\n",
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("place", ["in the config", "in a list", "in a file"])
def test_the_rest_of_the_file_stays_as_it_is(layout, place, server, tmp_path, monkeypatch):
    before, after = (
        text.replace("U", f"{server.url}/m.txt" if layout != "hub" else server.url)
        for text in LAYOUTS[layout]
    )
    after = after.replace("D", DIGEST if layout != "parts" else sha256(BODY * 2))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "study.yaml"
    heads = {"in the config": "models:\n", "in a list": "models:\n-\n", "in a file": ""}
    if place == "in a file":
        file.write_text("study: s\nmodels: [models.yaml]\n")
        file = tmp_path / "models.yaml"
    else:
        newline = "\r\n" if layout == "windows" else "\n"
        before, after = (
            heads[place].replace("\n", newline)
            + "".join("  " + line for line in text.splitlines(keepends=True))
            for text in (before, after)
        )
    file.write_bytes(before.encode())
    record = yaml.safe_load(before)
    models = record if place == "in a file" else record["models"]
    models = models[0] if place == "in a list" else models
    for name, model in models.items():
        fetch(name, model["source"], tmp_path / "raw", progress=False, limits=FAST)
    missing = pins.missing_pins(models, tmp_path / "raw")
    written = pins.write([tmp_path / "study.yaml"], missing)
    assert file.read_bytes().decode() == after
    assert set(written["pinned"]) == set(missing) == set(models)
    assert written["by_hand"] == {}


def test_what_comes_with_the_package_is_said_and_not_written(server, tmp_path, monkeypatch):
    shared = tmp_path / "share"
    (shared / "config" / "models").mkdir(parents=True)
    model = f"one:\n  label: One\n  source: {{type: url, url: {server.url}/m.txt}}\n"
    (shared / "config" / "models" / "shipped.yaml").write_text(model)
    monkeypatch.setattr(pins, "SHARED", shared)
    monkeypatch.setattr(pins, "resource", lambda path: shared / path)
    (tmp_path / "study.yaml").write_text("models: [one]\n")
    source = yaml.safe_load(model)["one"]["source"]
    fetch("one", source, tmp_path / "raw", progress=False, limits=FAST)
    written = pins.write(
        [tmp_path / "study.yaml"], pins.missing_pins({"one": {"source": source}}, tmp_path / "raw")
    )
    assert written["pinned"] == {}
    assert written["by_hand"]["one"].endswith(
        f"(copy the entry into your config) add source: sha256: {DIGEST}"
    )
    assert (shared / "config" / "models" / "shipped.yaml").read_text() == model


@pytest.fixture
def case_study(project, server):
    """A study whose two models are downloaded, one of them with a checksum."""
    bodies = {}
    config = grid_config() | {"metrics": {"weat": {}}}
    for number, (name, model) in enumerate(config["models"].items()):
        file = write_text_model(project.folder / f"{name}.txt", GRID_WORDS, seed=number)
        bodies[f"/{name}.txt"] = file.read_bytes()
        model["source"] = {"type": "url", "url": f"{server.url}/{name}.txt"}
    config["models"]["two"]["source"]["sha256"] = sha256(bodies["/two.txt"])
    project.configure(config)
    server.usual = lambda handler: acting(body=bodies[handler.path])(handler)
    server.bodies = bodies
    return project


def said(done) -> list[str]:
    return [line for line in done.stderr.splitlines() if "taken on trust" in line]


@pytest.mark.slow
def test_trust_is_said_and_pinned_where_downloads_are_shared(case_study, server, monkeypatch):
    raw = case_study.folder / "cache" / "raw"
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(raw.parent))
    assert len(said(case_study.run("stores"))) == 1
    assert read_manifest(raw / "one")["files"]["one.txt"]["first_seen"] is True
    monkeypatch.chdir(case_study.folder)
    assert json.loads(biasgrid("fetch", "--pin", "config/config.yaml").stdout)["pinned"] == {
        "one": "config/config.yaml"
    }
    server.seen.clear()
    assert said(case_study.run("stores")) == []
    assert server.seen == []


@pytest.mark.slow
def test_trust_is_said_at_the_end_of_each_run_until_it_is_pinned(case_study, server, monkeypatch):
    folder = case_study.folder
    raw = folder / "data" / "embeddings" / "raw"
    digest = sha256(server.bodies["/one.txt"])
    line = (
        "biasgrid: taken on trust, without a checksum in the config: one; pin what was downloaded: "
        "biasgrid fetch --pin config/config.yaml"
    )
    first = case_study.run()
    assert said(first) == [line]
    assert read_manifest(raw / "one")["files"]["one.txt"]["first_seen"] is True
    assert "first_seen" not in read_manifest(raw / "two")["files"]["two.txt"]
    # also of a run that makes something else
    (folder / "results" / "small" / "scores.csv").unlink()
    assert said(case_study.run()) == [line]
    results = case_study.results()
    # the command writes it
    monkeypatch.chdir(folder)
    done = biasgrid("fetch", "--pin", "config/config.yaml")
    assert json.loads(done.stdout) == {"pinned": {"one": "config/config.yaml"}, "by_hand": {}}
    assert yaml.safe_load((folder / "config" / "config.yaml").read_text())["models"]["one"]["source"] == {
        "type": "url",
        "url": f"{server.url}/one.txt",
        "sha256": digest,
    }
    # nothing is downloaded or measured again
    server.seen.clear()
    cells = {path: path.stat().st_mtime_ns for path in (folder / "results").rglob("cells/**/*.json")}
    pinned = case_study.run()
    assert said(pinned) == []
    assert server.seen == []
    assert {path: path.stat().st_mtime_ns for path in cells} == cells
    assert json.loads(biasgrid("fetch", "--pin", "config/config.yaml").stdout) == {
        "pinned": {},
        "by_hand": {},
    }
    after = case_study.results()
    assert {path for path in results if after[path] != results[path]} == {
        "small/checksums.sha256",
        "small/report.html",
        "small/study.json",
    }
    # a file in its place, of its size and an older time, does not pass for the download
    archive = raw / "one" / "one.txt"
    archive.write_bytes(server.bodies["/one.txt"][::-1])
    os.utime(archive, (1, 1))
    assert "verify failed: one: " in case_study.snakemake("--cores", "1", "verify").stderr
    archive.write_bytes(server.bodies["/one.txt"])
    assert case_study.results() == after
    # another pin of the file that is there does not pass
    config = folder / "config" / "config.yaml"
    config.write_text(config.read_text().replace(digest, "f" * 64))
    assert (
        f"expected sha256 {'f' * 64}, got {digest}" in case_study.snakemake("--cores", "1", "stores").stderr
    )
    config.write_text(config.read_text().replace("f" * 64, digest))
    # nor does another file at that address
    for place in (raw / "one", raw.parent / "one"):
        shutil.rmtree(place)
    server.bodies["/one.txt"] = server.bodies["/two.txt"]
    assert f"expected sha256 {digest}" in case_study.snakemake("--cores", "1", "stores").stderr


@pytest.mark.slow
def test_trust_is_said_of_a_run_that_failed(case_study):
    config = case_study.folder / "config" / "config.yaml"
    models = yaml.safe_load(config.read_text())["models"]
    config.write_text(config.read_text().replace(models["two"]["source"]["sha256"], "f" * 64))
    done = case_study.snakemake("--cores", "1", "stores")
    assert done.returncode == 1
    (line,) = said(done)
    assert line.endswith(
        "in the config: one; pin what was downloaded: biasgrid fetch --pin config/config.yaml"
    )
