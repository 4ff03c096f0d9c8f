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
    made = logging.makeLogRecord({"msg": text, "levelno": level, "event": event, **values})
    return made


def run(shown, steps):
    """The events of a run of `steps` cells, one after the other."""
    shown.handle(record("run_info", stats={"cell": steps, "table": 1, "total": steps + 1}))
    for job in range(steps):
        shown.handle(record("job_started", jobs=[job]))
        shown.handle(
            record("job_info", jobid=job, rule_name="cell", wildcards={"model": "glove", "metric": "weat"})
        )
        shown.handle(record("job_finished", job_id=job))
        shown.handle(record("progress", done=job + 1, total=steps + 1))
    shown.handle(record("job_started", jobs=[steps]))
    shown.handle(record("job_info", jobid=steps, rule_name="table", wildcards={"table": "scores"}))


def test_a_log_has_a_line_every_so_often_and_what_is_at_work(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "LOOK", 0.01)
    monkeypatch.setattr(progress, "FIRST", 0.05)
    monkeypatch.setattr(progress, "LEAST", 0.2)
    out = io.StringIO()
    shown = progress.Progress(tmp_path, stream=out)
    run(shown, 900)
    time.sleep(0.5)
    shown.finish()
    lines = out.getvalue().splitlines()
    assert 1 <= len(lines) <= 4
    assert lines[-1].startswith("900 of 901 steps, ")
    assert lines[-1].endswith("table scores")
    assert "left" in lines[-1]


def test_a_terminal_has_one_live_line_that_goes_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "LOOK", 0.01)
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


def test_a_step_that_scores_texts_says_how_many_are_done(tmp_path, monkeypatch, capsys):
    log, out = tmp_path / "log.txt", io.StringIO()
    shown = progress.Progress(tmp_path, stream=out)
    shown.handle(record("run_info", stats={"sentence_scores": 1, "total": 1}))
    shown.handle(record("job_started", jobs=[0]))
    shown.handle(
        record("job_info", jobid=0, rule_name="sentence_scores", wildcards={"model": "lm"}, log=[str(log)])
    )
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


def test_bytes_of_downloads_are_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "LOOK", 0.01)
    monkeypatch.setattr(progress, "FIRST", 0.05)
    (tmp_path / "glove").mkdir()
    (tmp_path / "glove" / "vectors.zip.part").write_bytes(bytes(3_000_000))
    out = io.StringIO()
    shown = progress.Progress(tmp_path, stream=out)
    shown.handle(record("run_info", stats={"archive": 1, "total": 1}))
    shown.handle(record("job_started", jobs=[0]))
    shown.handle(record("job_info", jobid=0, rule_name="archive", wildcards={"name": "glove"}))
    time.sleep(0.3)
    shown.finish()
    assert "0 of 1 steps, 3 MB downloaded; archive glove" in out.getvalue()


def test_bytes_of_all_archives_are_counted_beside_how_many_come(tmp_path, monkeypatch):
    """What is taken out of an archive is no download, and what is there stays counted."""
    monkeypatch.setattr(progress, "LOOK", 0.01)
    monkeypatch.setattr(progress, "FIRST", 0.05)
    monkeypatch.setattr(progress, "LEAST", 0.05)
    for file, megabytes in (
        ("glove/.partial-1/archive/glove.whl", 3),
        ("glove/.partial-1/members/glove.txt", 9),
        ("spacy/vectors.part", 4),
    ):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_bytes(bytes(megabytes * 1_000_000))
    out = io.StringIO()
    shown = progress.Progress(tmp_path, stream=out)
    shown.to_download = 40
    shown.handle(record("run_info", stats={"archive": 2, "total": 2}))
    for job, name in enumerate(("glove", "spacy")):
        shown.handle(record("job_started", jobs=[job]))
        shown.handle(record("job_info", jobid=job, rule_name="archive", wildcards={"name": name}))
        time.sleep(0.3)
        if name == "glove":
            shown.handle(record("job_finished", job_id=job))
            shown.handle(record("progress", done=1, total=2))
    shown.finish()
    assert "0 of 2 steps, 3 of 40 MB downloaded; archive glove\n" in out.getvalue()
    assert out.getvalue().endswith("1 of 2 steps, 7 of 40 MB downloaded; archive spacy\n")


@pytest.mark.parametrize("begun", [False, True])
def test_errors_are_shown_at_once_before_the_run_and_else_kept(tmp_path, begun):
    out = io.StringIO()
    shown = progress.Progress(tmp_path, stream=out)
    if begun:
        run(shown, 1)
    shown.handle(record("error", "MissingInputException: no such file", logging.ERROR))
    assert ("no such file" in out.getvalue()) is not begun
    # nobody has told them: they are told at the end
    shown.close()
    assert out.getvalue().count("no such file") == 1


def test_a_warning_is_shown_and_an_interrupted_run_known(tmp_path):
    out = io.StringIO()
    shown = progress.Progress(tmp_path, stream=out)
    run(shown, 1)
    shown.handle(record(None, "a warning", logging.WARNING))
    shown.handle(record(None, "Cannot restore raw/glove/manifest.json: no backup found.", logging.WARNING))
    shown.handle(record(None, "Exiting because a job execution failed. Look above", logging.ERROR))
    shown.handle(record(None, "Terminating processes on user request, this might take some time."))
    shown.finish()
    assert out.getvalue() == "a warning\n"
    assert shown.stopped


def test_a_terminal_without_a_size_has_lines_as_a_log_has(tmp_path, monkeypatch):
    """As `script` makes it where it has no terminal itself."""
    monkeypatch.setattr(progress, "LOOK", 0.01)
    monkeypatch.setattr(progress, "FIRST", 0.05)
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


def test_an_archive_that_is_checked_is_named_as_such(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "LOOK", 0.01)
    monkeypatch.setattr(progress, "FIRST", 0.05)
    monkeypatch.setattr(progress, "LEAST", 0.05)
    file = tmp_path / "glove" / "vectors.gz"
    file.parent.mkdir()
    os.mkfifo(file)  # hashed for as long as it is held open
    out = io.StringIO()
    shown = progress.Progress(tmp_path, stream=out)
    shown.handle(record("run_info", stats={"archive": 1, "total": 1}))
    shown.handle(record("job_started", jobs=[0]))
    shown.handle(record("job_info", jobid=0, rule_name="archive", wildcards={"name": "glove"}))
    hashing = threading.Thread(target=hash_file, args=(file,))
    hashing.start()
    with file.open("wb"):
        time.sleep(0.3)
    hashing.join()
    time.sleep(0.2)
    shown.finish()
    assert "0 MB downloaded; checking glove\n" in out.getvalue()
    assert out.getvalue().endswith("; archive glove\n")
