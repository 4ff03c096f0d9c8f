"""Damaged files of results: what reads them says which and the remedy, and a run makes them again."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import Project, biasgrid, checksums_of, grid_config, made_once, refusal

from biasgrid.cli import main

pytestmark = pytest.mark.slow

RESULTS = Path("results/small")
CELL = "cells/one/none/weat/q1.json"
CONFIG = grid_config() | {
    "figures": ["rankings"],
    "inference": {"permutation": {"draws": 30}, "random_groups": {"draws": 30}, "bootstrap": {"draws": 30}},
}
CONFIG["models"]["one"]["sorted"] = True  # so frequencies are known


@pytest.fixture(scope="session")
def whole(tmp_path_factory) -> Project:
    return made_once(tmp_path_factory, "undamaged", CONFIG)


@pytest.fixture
def project(whole, tmp_path, monkeypatch) -> Project:
    project = whole.copy(tmp_path / "project")
    monkeypatch.chdir(project.folder)
    return project


@pytest.fixture
def without_workflow(whole, tmp_path, monkeypatch) -> Path:
    """A copy of all but the workflow, which only a run needs."""
    folder = tmp_path / "project"
    shutil.copytree(whole.folder, folder, ignore=shutil.ignore_patterns("workflow", ".snakemake"))
    monkeypatch.chdir(folder)
    return folder


def edit(name, **changes):
    """Changes of a JSON file, or of the first result in it."""
    path = RESULTS / name
    record = json.loads(path.read_text())
    place = record.get("cells", [record])[0]
    for key, value in changes.items():
        (place["results"][0] if key in ("value", "scalars", "status", "detail") else place)[key] = value
    path.write_text(json.dumps(record).replace('"1e999"', "1e999"))


def verify():
    done = biasgrid("verify", RESULTS)
    return done.returncode, done.stderr.splitlines()


SHAPES = [
    (CELL, {"value": "x"}, "scores"),
    (CELL, {"value": [1]}, "scores"),
    (CELL, {"value": True}, "scores"),
    (CELL, {"value": "1e999"}, "scores"),
    (CELL, {"value": float("nan")}, "scores"),
    (CELL, {"value": None}, "scores"),
    (CELL, {"status": 1}, "scores"),
    (CELL, {"scalars": None}, "scalars"),
    (CELL, {"scalars": {"effect_size": "1e999"}}, "scalars"),
    (CELL, {"scalars": {"effect_size": "x"}}, "scalars"),
    (CELL, {"detail": [1]}, "scores"),
    (CELL, {"model": [1]}, "scores"),
    (CELL, {"model": [1]}, "scalars"),
    (CELL, {"results": []}, "scores"),
    (CELL, {"results": {}}, "scores"),
    (CELL, {"results": None}, "scores"),
    ("inference/one/none/weat.json", {"value": "1e999"}, "tests"),
    ("inference/one/none/weat.json", {"results": []}, "tests"),
    ("aggregates/one/none/weat.json", {"aggregates": [1]}, "aggregates"),
    ("aggregates/one/none/weat.json", {"aggregates": {}}, "aggregates"),
    ("frequency/one.json", {"sets": [{"words": 1}]}, "frequency"),
    ("frequency/one.json", {"words": []}, "covariates"),
]


@pytest.mark.parametrize(("name", "changes", "table"), SHAPES)
def test_a_file_of_another_shape_is_one_line_with_the_file_and_the_remedy(
    without_workflow, name, changes, table
):
    edit(name, **changes)
    line = refusal("step", f"table {table}", "--study", "config/config.yaml")
    assert line.startswith(f"biasgrid: table {table}: {RESULTS / name}: not a")
    assert line.endswith("; delete it and run the study again")


@pytest.mark.parametrize("content", ["", "{", "[1]", "null", '{"results": [1]}', "\0" * 99])
def test_a_page_of_damaged_results_is_one_line(without_workflow, content):
    for name in ("study.json", "models/one.json"):
        former = (RESULTS / name).read_text()
        (RESULTS / name).write_text(content)
        parts = [name, "delete it and run the study again"]
        refusal("report", RESULTS, "--output", "page.html", parts=parts)
        (RESULTS / name).write_text(former)


DAMAGE = {
    "cut off": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "empty": lambda content: b"",
    "other JSON": lambda content: b'{"results": [1]}',
    "edited": lambda content: content.translate(bytes.maketrans(b"123456789", b"234567891")),
}
# what is read when a run is planned
PLANNED_WITH = ["study.json", "models/one.json", "queries/q2.json"]
OTHERS = [
    CELL,
    "inference/two/none/rnd.json",
    "inference/one/none/weat.npy",
    "aggregates/one/none/weat.json",
    "frequency/one.json",
    "pools/two.npz",
    "rank_samples.npy",
    "scores.csv",
    "report.html",
    "figures/rankings.svg",
]


def test_verify_names_a_file_however_it_was_damaged(without_workflow):
    for name in PLANNED_WITH + OTHERS:
        path = RESULTS / name
        content = path.read_bytes()
        for how in DAMAGE.values():
            path.write_bytes(how(content))
            code, lines = verify()
            assert (code, lines[0]) == (1, f"biasgrid: {path}: differs")
        path.write_bytes(content)
    assert verify() == (0, [])


def test_a_run_makes_again_what_was_damaged_and_says_so(project, whole):
    """What a run is planned with in three ways, together in all; each of the others in two. The run counts them all:
    none is made again only because another one is."""
    ways = list(DAMAGE.values())
    for turn in range(3):
        kinds = dict(enumerate(PLANNED_WITH + OTHERS))
        names = {i: name for i, name in kinds.items() if name in PLANNED_WITH or (turn - i) % 3}
        for i, name in names.items():
            path = RESULTS / name
            path.write_bytes(ways[(turn + i) % 5](path.read_bytes()))
        done = project.run()
        (line,) = (line for line in done.stderr.splitlines() if "damaged" in line)
        said = re.fullmatch(
            r"biasgrid: (.+?)(?: and (\d+) more)? were damaged or .*; they are made again", line
        )
        named = said[1].split(", ")
        assert {*named} <= {str(RESULTS / name) for name in names.values()}
        assert len(named) + int(said[2] or 0) == len(names)
        assert project.results() == whole.results()
    assert "Nothing to be done" in project.run().stderr
    assert verify() == (0, [])


def test_a_dry_run_says_so_and_removes_nothing(project):
    (RESULTS / "pools/one.npz").write_bytes(b"")
    done = project.run("--dry-run")
    assert "results/small/pools/one.npz was damaged or changed by hand; it is made again" in done.stderr
    assert (RESULTS / "pools/one.npz").exists()


def test_what_no_step_makes_is_left_alone(project, whole):
    (RESULTS / "notes.txt").write_text("mine")
    project.run()
    (RESULTS / "notes.txt").write_text("mine, too")
    assert "damaged" not in project.run().stderr
    assert (RESULTS / "notes.txt").read_text() == "mine, too"
    assert verify()[1] == [
        f"biasgrid: {RESULTS}/notes.txt: is not recorded",
        "biasgrid: the run did not make such files: a rule of your own did, or delete them",
    ]


def test_checksums_are_those_of_sha256sum(project):
    assert project.results().items() >= checksums_of(project.results()).items()
    done = subprocess.run(["sha256sum", "--check", "--quiet", "checksums.sha256"], cwd=RESULTS, check=False)
    assert done.returncode == 0


def test_verify_finds_damage_that_keeps_the_time_and_a_run_mends_it(project, whole):
    assert verify() == (0, [])
    path = RESULTS / "pools" / "two.npz"
    stat, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    (RESULTS / CELL).unlink()
    code, lines = verify()
    assert code == 1
    assert lines[:2] == [f"biasgrid: {path}: differs", f"biasgrid: {RESULTS / CELL}: is missing"]
    assert "delete" in lines[2]
    assert "run the study again" in lines[2]
    path.unlink()
    project.run()
    assert project.results() == whole.results()
    assert verify() == (0, [])


def test_verify_names_the_first_twenty_and_counts_the_rest(without_workflow):
    files = sorted(RESULTS.rglob("*.json"))[:33]
    for file in files:
        file.write_bytes(b"")
    code, lines = verify()
    assert (code, len(lines)) == (1, 21)
    assert "and 13 more" in lines[-1]


OUTSIDE = b"%s  ../../one.txt\n" % (b"0" * 64)


@pytest.mark.parametrize("content", [b"", b"x", b"\xff", OUTSIDE, b"%s  /etc/passwd\n" % (b"0" * 64)])
def test_verify_says_that_checksums_are_damaged(without_workflow, content):
    (RESULTS / "checksums.sha256").write_bytes(content)
    refusal("verify", RESULTS, parts=["checksums.sha256: "])


@pytest.mark.parametrize("content", [b"\xff", OUTSIDE])
def test_checksums_that_are_damaged_are_made_again(project, whole, content):
    (RESULTS / "checksums.sha256").write_bytes(content)
    assert "checksums.sha256" in project.run().stderr
    assert project.results() == whole.results()
    assert (project.folder / "one.txt").exists()


def test_results_without_checksums_are_recorded_by_the_next_run(project, whole):
    (RESULTS / "checksums.sha256").unlink()
    shutil.rmtree("logs")
    refusal("verify", RESULTS, parts=["has no checksums"])
    project.run()
    assert project.results() == whole.results()


def test_a_step_that_is_run_by_hand_renews_its_record(project):
    labels = {"one": "Another label"}
    project.configure(
        CONFIG | {"models": {k: v | {"label": labels.get(k, k)} for k, v in CONFIG["models"].items()}}
    )
    former = (RESULTS / "scores.csv").read_bytes()
    assert main(["step", "table scores", "--study", "config/config.yaml"]) == 0
    assert (RESULTS / "scores.csv").read_bytes() != former
    assert verify() == (0, [])
    assert "damaged" not in project.run().stderr


def test_a_killed_run_leaves_nothing_that_looks_damaged(project, whole):
    """Killed early and late, while it makes other results: what it made is whole, whatever the record was."""
    for seed, files in ((1, 2), (2, 40)):
        project.configure(CONFIG | {"seed": seed})
        began = time.time_ns()
        run = project.start(stderr=subprocess.PIPE)
        while sum(made_after(path, began) for path in RESULTS.rglob("*")) < files:
            assert run.poll() is None
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGKILL)
        assert b"damaged" not in run.communicate()[1]
        assert not [line for line in verify()[1] if line.endswith(": differs")]
    done = project.run()
    assert "damaged" not in done.stderr
    assert verify() == (0, [])
    project.configure(CONFIG)
    assert "damaged" not in project.run().stderr
    assert project.results() == whole.results()


def made_after(path, moment) -> bool:
    """Whether this is a result, and younger."""
    try:
        return path.name[0] != "." and path.is_file() and path.stat().st_mtime_ns > moment
    except FileNotFoundError:
        return False
