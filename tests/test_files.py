"""Files that several processes write at a time, that are killed while they write, and outputs that are no files."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import forks
import numpy as np
import pytest
from conftest import GRID_WORDS, make_store, refusal, write_text_model
from refusals import refused

from biasgrid import EmbeddingStore
from biasgrid.core import files, processes
from biasgrid.core.errors import BiasgridError
from biasgrid.core.files import (
    hold_lock,
    open_to_write,
    refuse_links,
    refuse_other_folder,
    replace_file,
    write_bytes,
    write_text,
)
from biasgrid.debias.transform import Transform, fitted
from biasgrid.models import convert
from biasgrid.models.saving import materialize

WRITE = """
import sys
from biasgrid.core.files import write_bytes
for _ in range(100):
    write_bytes(sys.argv[1], sys.argv[2].encode() * 300_000)
"""


@pytest.mark.slow
def test_writers_of_one_file_never_show_half_of_it(tmp_path):
    path = tmp_path / "out.json"
    write_bytes(path, b"z" * 300_000)
    writers = [subprocess.Popen([forks.python(), "-c", WRITE, path, letter]) for letter in "abc"]
    reads, seen = 0, set()
    while any(writer.poll() is None for writer in writers):
        content = path.read_bytes()
        assert len(content) == 300_000
        assert content == content[:1] * 300_000
        reads, seen = reads + 1, seen | {content[:1]}
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert reads > 20
    assert len(seen) > 2  # of three writers and what was there before
    assert os.listdir(tmp_path) == ["out.json"]


STORE = """
import sys, time
from biasgrid.models import convert
from biasgrid.core.errors import BiasgridError
made = 0
while made < 8:
    try:
        convert(sys.argv[1], sys.argv[2], name="one")
        made += 1
    except BiasgridError as error:
        assert str(error).endswith("another process is writing this store"), error
    time.sleep(0.01)
"""


@pytest.mark.slow
def test_of_two_writers_of_one_store_one_is_refused_and_readers_see_a_whole_one(tmp_path):
    """Files of two stores with the same shape would pass for one."""
    sources = [tmp_path / f"{value}.txt" for value in (1, 2)]
    for value, source in enumerate(sources, 1):
        source.write_text("".join(f"{value}w{i} {value} {value}\n" for i in range(50)))
    output = tmp_path / "store"
    writers = [subprocess.Popen([forks.python(), "-c", STORE, source, output]) for source in sources]
    whole = 0
    while any(writer.poll() is None for writer in writers):
        try:
            store = EmbeddingStore.open(output)
        except BiasgridError:
            continue
        words = store.words()
        assert len(words) == 50
        assert {word[0] for word in words} == {str(int(store.array[0, 0]))}
        assert (store.array == store.array[0, 0]).all()
        whole += 1
    assert [writer.wait() for writer in writers] == [0, 0]
    assert whole > 5
    assert sorted(os.listdir(output)) == ["model.json", "vectors.npy", "vocabulary.sqlite"]


KILLED = """
import os, signal, sys
from biasgrid.core.files import replace_file
with replace_file(sys.argv[1]) as part:
    part.write_bytes(b"half")
    part.with_name(part.name + ".more").write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_goes_with_the_next_and_a_living_ones_stays(tmp_path):
    path = tmp_path / "a.json"
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", KILLED, path]).returncode == -signal.SIGKILL
    other = tmp_path / ".a.json.mine"
    other.write_text("kept")
    with replace_file(path) as part:
        part.write_text("living")
        write_text(path, "next")
        assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([part.name, "a.json", other.name])
        assert path.read_text() == "next"
    assert path.read_text() == "living"
    assert sorted(os.listdir(tmp_path)) == sorted(["a.json", other.name])


def test_an_error_leaves_what_was_there(tmp_path):
    write_text(tmp_path / "a", "former")

    def pieces():
        yield b"half"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), open_to_write(tmp_path / "a") as file:
        file.writelines(pieces())
    assert (tmp_path / "a").read_text() == "former"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "a.b.partial", ".hidden"])
def test_any_name_that_a_file_can_have(tmp_path, name):
    write_text(tmp_path / "new" / name, "1")
    write_text(tmp_path / "new" / name, "2")
    assert (tmp_path / "new" / name).read_text() == "2"
    assert os.listdir(tmp_path / "new") == [name]


# --- outputs that are no regular files ---


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    return make_store(folder, GRID_WORDS, np.random.default_rng(0).normal(size=(len(GRID_WORDS), 6)))


@pytest.fixture
def transform(model):
    return Transform("twice", fitted(model, {}, {}, {}), matrix=2 * np.eye(6))


def device(path: Path, minor: int) -> Path:
    """A device of its own, so that no test can harm /dev; where that is not allowed, a link to it."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        path.open("wb").close()
    except PermissionError:
        path.unlink(missing_ok=True)
        path.symlink_to({3: "/dev/null", 7: "/dev/full"}[minor])
    return path


def test_a_device_is_written_to_and_not_replaced(tmp_path, transform):
    null, full = device(tmp_path / "null", 3), device(tmp_path / "full", 7)
    transform.save(null)
    with pytest.raises(OSError, match="No space left on device") as error:
        transform.save(full)
    assert (error.value.errno, error.value.filename) == (errno.ENOSPC, str(full))
    assert stat.S_ISCHR(null.stat().st_mode)
    assert stat.S_ISCHR(full.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["full", "null"]


def test_the_command_line_names_a_full_device(tmp_path, model):
    words = tmp_path / "words.json"
    words.write_text('{"definitional_pairs": [["a0", "b0"], ["a1", "b1"]]}')
    full = device(tmp_path / "full", 7)
    place = ("--model", model.path, "--words", words, "--output", full)
    refusal("debias", "--method", "hard", *place, parts=[f"biasgrid: {full}: No space left on device"])
    assert stat.S_ISCHR(full.stat().st_mode)


@pytest.mark.parametrize("suffix", [".bin", ".txt", ".txt.gz"])
def test_a_pipe_is_written_to_if_something_reads_it(tmp_path, model, transform, suffix):
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)
    with refused(f"{pipe}: is a pipe that nothing reads"):
        materialize(model, transform, pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    for _ in range(200):  # it opens the pipe in its own time
        try:
            materialize(model, transform, pipe)
        except BiasgridError:
            time.sleep(0.01)
        else:
            break
    reader.join(10)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    materialize(model, transform, tmp_path / f"file{suffix}")
    assert received == [(tmp_path / f"file{suffix}").read_bytes()]


@pytest.mark.slow
def test_what_can_be_neither_written_to_nor_replaced_is_refused(tmp_path, model, transform):
    with refused(f"{tmp_path}: is a folder"):
        write_text(tmp_path, "x")
    os.mkfifo(tmp_path / "pipe.kv")
    with refused("pipe.kv: is a pipe; an output must be a file here"):
        materialize(model, transform, tmp_path / "pipe.kv")
    null = device(tmp_path / "null", 3)
    with refused("null: is a device, and no folder; a store needs a folder of its own"):
        convert(write_text_model(tmp_path / "m.txt", ["a", "b"]), null, name="m")
    assert stat.S_ISCHR(null.stat().st_mode)


@pytest.mark.parametrize("exists", [True, False])
def test_no_file_is_written_through_a_link(tmp_path, model, transform, exists):
    real = tmp_path / "real"
    if exists:
        real.write_text("mine")
    for name in ("t.npz", "m.bin", "m.kv", "t.txt", "page"):
        (tmp_path / name).symlink_to("real")
    with refused("t.npz: is a link to real; what is written here must stay here: remove the link"):
        transform.save(tmp_path / "t.npz")
    for write in (
        lambda: materialize(model, transform, tmp_path / "m.bin"),
        lambda: materialize(model, transform, tmp_path / "m.kv"),
        lambda: write_text(tmp_path / "t.txt", "x"),
        lambda: hold_lock(tmp_path / "page").__enter__(),
    ):
        with refused("is a link to real"):
            write()
    assert real.exists() == exists
    assert not exists or real.read_text() == "mine"


def test_a_folder_is_written_to_unless_a_link_in_it_leads_out(tmp_path):
    (tmp_path / "disk" / "inner").mkdir(parents=True)
    (tmp_path / "results").symlink_to("disk")  # the user's own: results lie on another disk
    refuse_links(tmp_path / "results")
    refuse_links(tmp_path / "none")
    (tmp_path / "disk" / "inner" / "figures").symlink_to("/etc")
    with refused("results/inner/figures: is a link to /etc"):
        refuse_links(tmp_path / "results")
    refuse_links(tmp_path / "results", but=("inner",))


def test_a_folder_of_other_things_is_not_written_over(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".hidden").touch()
    refuse_other_folder(tmp_path / "a", {"mine"}, "choose another")
    for name in "wxyz":
        (tmp_path / "a" / name).touch()
    with refused("a: has other things in it (w, x, y and 1 more); choose another"):
        refuse_other_folder(tmp_path / "a", {"mine"}, "choose another")
    with refused("a/w: is a file, and no folder; choose another"):
        refuse_other_folder(tmp_path / "a" / "w", {"mine"}, "choose another")
    (tmp_path / "a" / "mine").touch()
    refuse_other_folder(tmp_path / "a", {"mine"}, "choose another")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs Linux's /proc")
def test_an_open_file_is_not_replaced_by_its_number(tmp_path):
    with (tmp_path / "a").open("w") as file, refused("open"):
        write_text(f"/proc/self/fd/{file.fileno()}", "x")


# --- processes that end with the one that started them ---

STARTER = """
import subprocess, sys, time
from biasgrid.core.processes import environment
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], env=environment(), stdin=subprocess.PIPE)
print(child.pid, flush=True)
time.sleep(60)
"""
BUSY = """
from biasgrid.core.processes import end_with_starter
end_with_starter()
print("busy", flush=True)
while True:
    sum(range(1000))
"""


def ended(process: int) -> bool:
    """Whether it has, or is left over only because nobody asked how it ended."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return status.rpartition(")")[2].split()[0] == "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
def test_a_process_at_work_ends_with_its_starter(tmp_path):
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, BUSY], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    lines = {starter.stdout.readline().strip(), starter.stdout.readline().strip()}
    child = int((lines - {"busy"}).pop())
    assert not ended(child)
    starter.kill()
    for _ in range(500):
        if ended(child):
            break
        time.sleep(0.01)
    assert ended(child)
    # the pipe's other end was the child's, too: it is closed, and nothing was said
    assert starter.communicate()[1] == ""


def test_a_store_where_no_folder_can_be_made_is_refused(tmp_path, monkeypatch):
    source = write_text_model(tmp_path / "m.txt", ["a", "b"])
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(FileNotFoundError):
        convert(source, Path("store"), name="m")


def test_a_process_of_a_step_has_the_users_own_python_path_after_the_code(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/mine:/other")
    assert processes.environment(Path("/code"))["PYTHONPATH"] == "/code:/mine:/other"
    monkeypatch.delenv("PYTHONPATH")
    assert processes.environment(Path("/code"))["PYTHONPATH"] == "/code"


@pytest.mark.parametrize(
    ("number", "writes"), [(errno.ENOLCK, True), (errno.EOPNOTSUPP, True), (errno.EACCES, False)]
)
def test_where_there_are_no_locks_files_are_written_without(tmp_path, monkeypatch, number, writes):
    def refuse(file, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files.fcntl, "flock", refuse)
    with nullcontext() if writes else pytest.raises(OSError, match=os.strerror(number)):
        write_text(tmp_path / "file", "text")
    assert (tmp_path / "file").is_file() == writes
