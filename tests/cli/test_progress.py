"""What a run shows while it works, and when it ends."""

import io
import logging
import os
import pty
import threading
import time

import pytest

from biasgrid.embeddings.language import blocks
from biasgrid.files import hash_file
from biasgrid.workflow import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def record(event=None, text="", level=logging.INFO, **values):
    return logging.makeLogRecord({"msg": text, "levelno": level, "event": event, **values})


def planned(shown, **stats):
    shown.handle(record("run_info", stats=stats | {"total": sum(stats.values())}))


def at_work(shown, job, rule, log=(), **wildcards):
    shown.handle(record("job_started", jobs=[job]))
    shown.handle(record("job_info", jobid=job, rule_name=rule, wildcards=wildcards, log=list(log)))


def done(shown, job, total):
    shown.handle(record("job_finished", job_id=job))
    shown.handle(record("progress", done=job + 1, total=total))


def run(shown, steps):
    """The events of a run of `steps` cells, one after the other."""
    planned(shown, cell=steps, table=1)
    for job in range(steps):
        at_work(shown, job, "cell", model="glove", metric="weat")
        done(shown, job, steps + 1)
    at_work(shown, steps, "table", table="scores")


@pytest.fixture
def quick(monkeypatch):
    for name, seconds in (("LOOK", 0.01), ("FIRST", 0.05), ("LEAST", 0.05)):
        monkeypatch.setattr(progress, name, seconds)


@pytest.fixture
def out():
    return io.StringIO()


@pytest.fixture
def shown(tmp_path, out):
    return progress.Progress(tmp_path, stream=out)


@pytest.mark.slow
def test_a_log_has_a_line_every_so_often_and_what_is_at_work(quick, monkeypatch, shown, out):
    monkeypatch.setattr(progress, "LEAST", 0.2)
    run(shown, 900)
    time.sleep(0.5)
    shown.finish()
    lines = out.getvalue().splitlines()
    assert 1 <= len(lines) <= 4
    assert lines[-1].startswith("900 of 901 steps, ")
    assert lines[-1].endswith("table scores")
    # a table takes less than this one has taken, so how long it still takes is not known
    assert "left" not in lines[-1]


def test_a_terminal_has_one_live_line_that_goes_at_the_end(tmp_path, quick, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    out = Terminal()
    shown = progress.Progress(tmp_path, stream=out)
    run(shown, 3)
    time.sleep(0.2)
    shown.finish()
    text = out.getvalue()
    assert "3 of 4 steps" in text
    assert "table scores" in text
    assert "\n" not in text
    assert not text.split("\r")[-1].strip()


def test_a_step_that_scores_texts_says_how_many_are_done(tmp_path, monkeypatch, capsys, shown):
    log = tmp_path / "log.txt"
    planned(shown, sentence_scores=1)
    at_work(shown, 0, "sentence_scores", [str(log)], model="lm")
    assert shown._state() == "sentence_scores lm"
    # as the step writes it
    monkeypatch.setattr(blocks, "BLOCK", 1200)
    monkeypatch.setattr(blocks, "SAID_EVERY", 0)
    saved = [len(block) for block in blocks.in_saved_blocks(list(range(3016)), "a: model", lambda: None)]
    assert saved == [1200, 1200, 616]
    log.write_text("biasgrid: warning: slow\n" * 100 + capsys.readouterr().err)
    assert shown._state() == "sentence_scores lm (2,400 of 3,016, about 0 s left)"
    log.write_text("biasgrid: warning: slow\n")
    assert shown._state() == "sentence_scores lm"
    shown.finish()


@pytest.mark.slow
def test_bytes_of_all_archives_are_counted_beside_how_many_come(tmp_path, quick, shown, out):
    """What is taken out of an archive is no download, and what is there stays counted."""
    for file, megabytes in (
        ("glove/.partial-1/archive/glove.whl", 3),
        ("glove/.partial-1/members/glove.txt", 9),
        ("spacy/vectors.part", 4),
    ):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_bytes(bytes(megabytes * 1_000_000))
    planned(shown, archive=2)
    at_work(shown, 0, "archive", name="glove")
    time.sleep(0.3)
    # how many come is known a little later
    assert "0 of 2 steps, 3 MB downloaded; archive glove\n" in out.getvalue()
    shown.to_download = 40
    done(shown, 0, 2)
    at_work(shown, 1, "archive", name="spacy")
    time.sleep(0.3)
    shown.finish()
    assert out.getvalue().endswith("1 of 2 steps, 7 of 40 MB downloaded; archive spacy\n")


@pytest.mark.parametrize("begun", [False, True])
def test_errors_are_shown_at_once_before_the_run_and_else_kept(shown, out, begun):
    if begun:
        run(shown, 1)
    shown.handle(record("error", "MissingInputException: no such file", logging.ERROR))
    assert ("no such file" in out.getvalue()) is not begun
    # nobody has told them: they are told at the end
    shown.close()
    assert out.getvalue().count("no such file") == 1


def test_a_warning_is_shown_and_an_interrupted_run_known(shown, out):
    run(shown, 1)
    shown.handle(record(None, "a warning", logging.WARNING))
    shown.handle(record(None, "Cannot restore raw/glove/manifest.json: no backup found.", logging.WARNING))
    shown.handle(record(None, "Exiting because a job execution failed. Look above", logging.ERROR))
    shown.handle(record(None, "Terminating processes on user request, this might take some time."))
    shown.finish()
    assert out.getvalue() == "a warning\n"
    assert shown.stopped


@pytest.mark.slow
def test_a_terminal_without_a_size_has_lines_as_a_log_has(tmp_path, quick):
    """As `script` makes it where it has no terminal itself."""
    reading, writing = pty.openpty()
    with open(writing, "w") as out:
        assert os.get_terminal_size(writing).columns == 0
        shown = progress.Progress(tmp_path, stream=out)
        run(shown, 3)
        time.sleep(0.3)
        shown.finish()
        text = os.read(reading, 10_000).decode()
    assert text.startswith("3 of 4 steps, ")
    assert text.endswith("table scores\r\n")


@pytest.mark.slow
def test_an_archive_that_is_checked_is_named_as_such(tmp_path, quick, shown, out):
    file = tmp_path / "glove" / "vectors.gz"
    file.parent.mkdir()
    os.mkfifo(file)  # hashed for as long as it is held open
    planned(shown, archive=1)
    at_work(shown, 0, "archive", name="glove")
    hashing = threading.Thread(target=hash_file, args=(file,))
    hashing.start()
    with file.open("wb"):
        time.sleep(0.3)
    hashing.join()
    time.sleep(0.2)
    shown.finish()
    assert "0 MB downloaded; checking glove\n" in out.getvalue()
    assert out.getvalue().endswith("; archive glove\n")
