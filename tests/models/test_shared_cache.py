"""One folder of archives and stores for several projects: BIASGRID_EMBEDDINGS."""

import json
import shutil
import subprocess
import time
from unittest.mock import Mock

import forks
import pytest
from conftest import GRID_WORDS, Project, grid_config, make_read_only, printed, refusal, write_text_model
from loopback import answer, serve, serving
from refusals import refused

from biasgrid.evaluation.evaluate import check_archives
from biasgrid.models import build_store, sources
from biasgrid.models.building import store_of
from biasgrid.models.sources import fetching
from biasgrid.study.steps import evaluation_step
from biasgrid.study.study import Study


@pytest.fixture
def server(tmp_path):
    """A host of two models, one.txt and two.txt; `open` or not."""
    bodies = {
        f"/{name}.txt": write_text_model(tmp_path / f"{name}.txt", GRID_WORDS, seed=seed).read_bytes()
        for seed, name in enumerate(("one", "two", "other"))
    }

    def act(handler):
        time.sleep(0.3)  # so that projects meet here
        body = bodies.get(handler.path) if server.open else None
        (answer(404) if body is None else lambda h: serve(h, body))(handler)

    with serving(act) as server:
        server.open = True
        yield server


@pytest.fixture
def cache(tmp_path, monkeypatch, server):
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "the cache"))
    return tmp_path / "the cache"


def project(folder, server) -> Project:
    """A small study whose models come from the server, in a folder of its own."""
    folder.mkdir()
    made = Project(folder)
    config = grid_config() | {"metrics": {"weat": {}}}
    config["criteria"] = {"Second": config["criteria"]["Second"]}
    for name in config["models"]:
        config["models"][name]["source"] = {"type": "url", "url": f"{server.url}/{name}.txt"}
    made.configure(config)
    return made


def snapshot(folder) -> dict:
    """Every file below by name, with its time and content."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".lock")
    }


@pytest.mark.slow
def test_two_projects_at_the_same_time_and_a_third_after_them(tmp_path, cache, server):
    projects = [project(tmp_path / name, server) for name in ("a", "b")]
    a, b = projects
    with subprocess.Popen(
        [forks.python(), *a.command("--cores", "1")[1:]], cwd=a.folder, env=a.environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as running:  # fmt: skip
        while not server.seen and running.poll() is None:
            time.sleep(0.01)
        b.run()
        output, _ = running.communicate(timeout=120)
    assert running.returncode == 0, output
    first, second = (p.results() for p in projects)
    assert first == second
    assert len([path for path in first if path.startswith("small/cells/")]) == 2
    assert [path for path, _ in server.seen].count("/one.txt") == 1
    assert not list(tmp_path.glob("[ab]/data/embeddings"))
    for content in first.values():
        assert b"the cache" not in content

    # the third finds all there, without network, and makes nothing anew
    before = snapshot(cache)
    assert {path.partition("/")[0] for path in before} >= {"raw", "one", "two"}
    server.open = False
    third = project(tmp_path / "c", server)
    third.run()
    assert third.results() == first
    assert snapshot(cache) == before

    # a store that somebody deleted is made again, of the archive that is there
    shutil.rmtree(cache / "two")
    third.run("stores")
    assert {path: content for path, (_, content) in snapshot(cache).items()} == {
        path: content for path, (_, content) in before.items()
    }
    # what is made of it is made again, and is the same
    third.run()
    assert third.results() == first
    idle(third)

    # another model of the same name is refused, and what was there is as it was; also where it was the project's own
    before = snapshot(cache)
    server.open = True
    for other in (project(tmp_path / "d", server), third):
        other.config["models"]["two"]["source"]["url"] = f"{server.url}/other.txt"
        other.configure(other.config)
        done = other.snakemake("--cores", "1", "stores")
        assert done.returncode == 1
        assert "Traceback" not in done.stdout + done.stderr
        lines = [line for line in done.stderr.splitlines() if line.startswith("biasgrid: ")]
        held = "raw/two, which studies share, holds a different model of this name"
        assert any(held in line and f"{server.url}/two.txt" in line for line in lines)
        assert snapshot(cache) == before


def idle(p: Project) -> None:
    done = p.snakemake("--cores", "1", "--dry-run")
    assert "Nothing to be done" in done.stdout + done.stderr, done.stdout + done.stderr


def test_a_store_of_another_make_is_refused_where_studies_share(tmp_path):
    """Two projects with a file of the same name, or another idea of one file."""
    cache = tmp_path / "cache"
    path = write_text_model(tmp_path / "m.txt", GRID_WORDS, seed=1)
    model = {"source": {"type": "file", "path": str(path)}}
    store = build_store("m", model, cache, shared=True)
    before = snapshot(store.path)
    write_text_model(path, GRID_WORDS, seed=2)
    with refused("m: ", "which studies share, holds a different model of this name (its archive is "):
        build_store("m", model, cache, shared=True)
    write_text_model(path, GRID_WORDS, seed=1)
    with refused("(its converted_as is null)", "rename one of them, or delete that folder"):
        build_store("m", {**model, "format": "text"}, cache, shared=True)
    # what another project says of the licence makes no other vectors, and is not written into what both share
    build_store("m", {**model, "licence": "CC0"}, cache, shared=True)
    assert snapshot(store.path) == before
    # a project's own folder follows the project
    made = {file: (store.path / file).stat().st_mtime_ns for file in ("vectors.npy", "vocabulary.sqlite")}
    assert build_store("m", {**model, "licence": "CC0"}, cache).metadata["licence"] == "CC0"
    assert made == {file: (store.path / file).stat().st_mtime_ns for file in made}
    write_text_model(path, GRID_WORDS, seed=2)
    build_store("m", model, cache)
    assert snapshot(store.path) != before


@pytest.mark.slow
def test_a_file_that_is_not_to_be_kept_goes_when_its_store_is_made(tmp_path, server, monkeypatch):
    source = {"type": "url", "url": f"{server.url}/one.txt", "keep": False}
    raw = tmp_path / "raw" / "one"
    made = build_store("one", {"source": source}, tmp_path)
    assert [path.name for path in raw.iterdir()] == ["manifest.json"]
    sha256 = json.loads((raw / "manifest.json").read_text())["files"]["one.txt"]["sha256"]
    assert made.metadata["archive"] == {"one.txt": sha256}
    sources.verify("one", tmp_path / "raw")
    # neither a checksum that is added nor a second thought calls for another download; another file's does
    for same in (source, source | {"sha256": sha256}):
        assert build_store("one", {"source": same}, tmp_path).fingerprint == made.fingerprint
    assert len(server.seen) == 1
    with refused("one.txt", "expected sha256"):
        build_store("one", {"source": source | {"sha256": "0" * 64}}, tmp_path)
    shutil.rmtree(tmp_path / "one")
    kept = build_store("one", {"source": source | {"keep": True}}, tmp_path)
    assert kept.fingerprint == made.fingerprint
    assert (raw / "one.txt").is_file()
    # as after a kill before it went; and the store follows what is said of it
    model = {"source": source, "licence": "CC0"}
    with monkeypatch.context() as patch:  # in a folder that is read-only it stays
        patch.setattr(fetching, "_lock", Mock(side_effect=PermissionError))
        assert build_store("one", model, tmp_path).metadata["licence"] == "CC0"
    assert (raw / "one.txt").is_file()
    build_store("one", model, tmp_path)
    assert [path.name for path in raw.iterdir()] == ["manifest.json"]


def test_a_store_that_was_made_otherwise_is_not_opened_for_a_study(tmp_path):
    path = write_text_model(tmp_path / "m.txt", GRID_WORDS, seed=1)
    model = {"source": {"type": "file", "path": str(path)}, "format": "text"}
    build_store("m", model, tmp_path / "cache")
    assert store_of(tmp_path / "cache", "m", model).open().name == "m"
    for other in (
        {"format": "word2vec-binary"},
        {"vocab_prefix": "/c/"},
        {"source": {"type": "file", "path": "n.txt"}},
    ):
        with refused("made from a different source than the study's m, or otherwise"):
            store_of(tmp_path / "cache", "m", model | other).open()


@pytest.mark.slow
def test_the_command_line_shares_too(tmp_path, cache, server, monkeypatch):
    made = project(tmp_path / "a", server)

    monkeypatch.chdir(made.folder)
    command = ("fetch", "--model", "one", "--study", "config/config.yaml")
    assert printed(*command)["store"] == str(cache / "one")
    made.config["models"]["one"]["source"]["url"] = f"{server.url}/other.txt"
    made.configure(made.config)
    refusal(*command, parts=["which studies share, holds a different model of this name"])


def test_a_cache_that_holds_everything_may_be_read_only(read_only_folder):
    path = write_text_model(read_only_folder / "m.txt", GRID_WORDS, seed=1)
    model = {"source": {"type": "file", "path": str(path)}}
    made = build_store("m", model, read_only_folder, shared=True)
    # an archive without its store
    build_store("n", model, read_only_folder, shared=True)
    shutil.rmtree(read_only_folder / "n")
    for file in read_only_folder.rglob("*"):
        file.chmod(0o555 if file.is_dir() else 0o444)
    make_read_only(read_only_folder)
    assert build_store("m", model, read_only_folder, shared=True).words() == made.words()
    assert store_of(read_only_folder, "m", model).open().words() == made.words()
    with refused("n: ", str(read_only_folder), "Permission denied"):
        build_store("n", model, read_only_folder, shared=True)
    with refused("third: ", str(read_only_folder), "Permission denied"):
        build_store("third", model, read_only_folder, shared=True)


def evaluated(study):
    (evaluation,) = (e for e in study.grid.quality.values() if e.model == "one")
    return evaluation_step(study, evaluation).inputs


def test_an_archive_of_benchmarks_that_another_study_has_under_the_name(tmp_path, monkeypatch, root):
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "cache"))
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\t1\n")
    config = grid_config()
    config["benchmarks"] = {"pairs": {"source": {"type": "file", "path": str(path)}}}
    config["quality"] = {"similarity": {"p": "pairs:pairs.tsv"}}
    study = Study.of(config, root=root)
    sources.fetch("pairs", config["benchmarks"]["pairs"]["source"], tmp_path / "cache" / "raw", shared=True)
    inputs = evaluated(study)
    assert inputs["benchmarks"] == {"pairs:pairs.tsv": str(tmp_path / "cache/raw/pairs/pairs.tsv")}
    check_archives(inputs["archives"])
    config["benchmarks"]["pairs"]["source"]["path"] = "another.tsv"
    with refused("raw/pairs holds a different archive of this name", "pairs.tsv"):
        check_archives(evaluated(Study.of(config, root=root))["archives"])
