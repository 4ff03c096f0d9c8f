"""Ctrl-C and SIGTERM: a run says at once that it stops, ends soon, leaves no process, and goes on where it was."""

import gzip
import http.server
import os
import signal
import subprocess
import sys
import time

import forks
import numpy as np
import psutil
import pytest
import yaml
from conftest import ROOT
from loopback import Handler, acting, sleep, started

SOON = 10  # seconds; on a quiet machine it is a fraction of one
WORDS = ["he", "she", "man", "woman", "career", "office", "science", "art", "family", "home"]
RUN = ("run", "study.yaml", "--cores")
LINES = ["biasgrid: stopping ...", "biasgrid: stopped; run the same command to go on"]

pytestmark = pytest.mark.slow


def zipped(rows: int) -> bytes:
    """A gzipped text model of so many words."""
    numbers = [f"{x:.5f}" for x in np.random.default_rng(3).normal(size=3000)]
    lines = [
        f"{WORDS[i] if i < len(WORDS) else f'w{i}'} {' '.join(numbers[i % 2700 : i % 2700 + 300])}"
        for i in range(rows)
    ]
    return gzip.compress("\n".join(lines).encode(), 1)


@pytest.fixture(scope="module")
def archive() -> bytes:
    """A gzipped text model whose conversion takes some seconds."""
    return zipped(30_000)


@pytest.fixture
def server():
    with started(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as made:
        made.seen, made.sent, made.plan = [], 0, []
        made.body = zipped(10_000)
        made.usual = acting(body=made.body)
        yield made


@pytest.fixture
def study(tmp_path):
    """A study of one model in a folder of its own: its config, to be edited, and what runs it."""
    query = {
        "targets": {"men": WORDS[:1], "women": WORDS[1:2]},
        "attributes": {"a": WORDS[4:7], "b": WORDS[7:]},
    }
    config = {
        "study": "small",
        "models": {"one": {"label": "One", "format": "text", "licence": "none"}},
        "criteria": {"A": {"queries": {"q": query}}},
        "metrics": {"weat": {}},
        "figures": [],
    }
    return Study(tmp_path, config)


class Study:
    def __init__(self, folder, config):
        self.folder, self.config = folder, config
        self.stores = folder / "embeddings"

    def start(self) -> subprocess.Popen:
        (self.folder / "study.yaml").write_text(yaml.safe_dump(self.config, sort_keys=False))
        return start(self.folder, *RUN, "2")

    def finish(self) -> str:
        run = forks.run((*RUN, "1"), self.folder, environment(self.folder), "biasgrid")
        assert run.returncode == 0, run.stderr
        assert (self.folder / "results" / "small" / "scores.csv").is_file()
        return run.stderr


def environment(folder) -> dict[str, str]:
    """Of a process, whose temporary files and models lie in this folder."""
    (folder / "tmp").mkdir(exist_ok=True)
    return os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "TMPDIR": str(folder / "tmp"),  # Snakemake leaves a folder there when it is stopped
        "BIASGRID_EMBEDDINGS": str(folder / "embeddings"),
        "COLUMNS": "80",
    }


def start(folder, *arguments) -> subprocess.Popen:
    """A command of biasgrid at work in a group of processes of its own, as a shell starts it. It gets SIGINT also
    where these tests ignore that, as under nohup."""
    return subprocess.Popen(
        [sys.executable, "-m", "biasgrid", *map(str, arguments)],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for(run, condition):
    for _ in range(1200):
        if found := condition():
            return found
        assert run.poll() is None, run.communicate()[1]
        time.sleep(0.05)
    raise AssertionError("it did not come so far")


def end(run, number, whole_group=False, again=None) -> str:
    """Send a signal, and again so many seconds later: the process ends soon, with all that it started.

    Return what it has said.
    """
    children = psutil.Process(run.pid).children(recursive=True)
    began = time.monotonic()
    for pause in (0, again):
        if pause is not None:
            time.sleep(pause)
            if run.poll() is None:
                (os.killpg if whole_group else os.kill)(run.pid, number)
    errors = run.communicate(timeout=60)[1]
    assert time.monotonic() - began < SOON
    assert run.returncode != 0
    assert not psutil.wait_procs(children, timeout=3)[1]
    return errors


def stopped(run, number, again=None):
    """Send a signal to a command: it ends soon, in two lines, and says by its code which signal it was."""
    errors = end(run, number, again=again)
    assert run.returncode == 128 + number
    assert errors.splitlines()[-2:] == LINES
    assert "Traceback" not in errors


def test_a_download_is_stopped_and_goes_on_from_its_bytes(study, server):
    study.config["models"]["one"]["source"] = {
        "type": "url",
        "url": f"http://127.0.0.1:{server.server_port}/one.txt.gz",
    }
    half = 1 << 20  # in whole blocks: less is not yet in the file
    server.plan.append(acting(body=server.body, upto=half, then=sleep))
    run = study.start()
    part = study.stores / "raw" / "one" / "one.txt.gz.part"
    wait_for(run, lambda: part.is_file() and part.stat().st_size == half)
    end(run, signal.SIGTERM, whole_group=True)
    # no checksum is pinned
    assert "biasgrid: warnings: 1, in logs/small/warnings.log" in study.finish()
    warning = (study.folder / "logs" / "small" / "warnings.log").read_text()
    assert "first seen with sha256" in warning
    # as long as the archive is the one that it is of
    (study.folder / "results" / "small" / "scores.csv").unlink()
    assert "biasgrid: warnings: 1, in logs/small/warnings.log" in study.finish()
    assert (study.folder / "logs" / "small" / "warnings.log").read_text() == warning
    assert [headers.get("Range") for _, headers in server.seen] == [None, f"bytes={half}-"]


@pytest.fixture
def converting(study, archive):
    """A run that converts a model, and the file that it writes meanwhile."""
    (study.folder / "one.txt.gz").write_bytes(archive)
    study.config["models"]["one"]["source"] = {"type": "file", "path": "one.txt.gz"}
    run = study.start()
    half_store = study.stores / "one" / ".partial" / "vectors.npy"
    wait_for(run, lambda: half_store.is_file() and half_store.stat().st_size > 1_000_000)
    return run, half_store


@pytest.mark.parametrize(
    ("number", "again"), [(signal.SIGINT, None), (signal.SIGINT, 0.05), (signal.SIGTERM, None)]
)
def test_a_conversion_is_stopped_by_a_signal_to_all_processes_also_by_two(study, converting, number, again):
    """As Ctrl-C in a terminal. Of the half store nothing is left, and what was finished is not made again."""
    run, half_store = converting
    query = study.folder / "results" / "small" / "queries" / "q.json"
    made = query.stat().st_mtime_ns
    end(run, number, whole_group=True, again=again)
    assert not half_store.exists()
    study.finish()
    assert query.stat().st_mtime_ns == made


def test_steps_end_with_a_killed_snakemake_and_the_next_run_completes(study, converting):
    run, half_store = converting
    end(run, signal.SIGKILL)
    study.finish()
    assert not half_store.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_snakemake_alone_lets_running_steps_finish_and_starts_no_other(study, converting, number):
    """As from docker or systemd, where one process gets the signal."""
    run, half_store = converting
    os.kill(run.pid, number)
    run.communicate(timeout=60)
    assert run.returncode != 0
    assert not half_store.exists()
    assert not (study.folder / "results" / "small" / "scores.csv").exists()
    study.finish()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_is_stopped(tmp_path, archive, number):
    (tmp_path / "one.txt.gz").write_bytes(archive)
    run = start(tmp_path, "convert", "--input", "one.txt.gz", "--output", "store")
    half_store = tmp_path / "store" / ".partial" / "vectors.npy"
    wait_for(run, lambda: half_store.is_file() and half_store.stat().st_size > 1_000_000)
    stopped(run, number, again=0.01)
    assert not (tmp_path / "store").exists()


def test_a_run_is_stopped_before_it_has_begun(study):
    """Snakemake is not yet there, or plans."""
    study.config["models"]["one"]["source"] = {"type": "file", "path": "missing.txt"}
    run = study.start()
    wait_for(run, lambda: "snakemake" in " ".join(psutil.Process(run.pid).cmdline()))
    end(run, signal.SIGINT, whole_group=True)
