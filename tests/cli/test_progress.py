"""What a run shows while it works: Snakemake's logger plug-in that comes with biasgrid."""

import io
import json
import logging
import sys
from types import SimpleNamespace

import pytest

import snakemake_logger_plugin_biasgrid as plugin


class Terminal(io.StringIO):
    def isatty(self):
        return True


def record(event=None, text="", level=logging.INFO, **values):
    return logging.makeLogRecord({"msg": text, "levelno": level, "event": event, **values})


class Run:
    """A run of Snakemake as the plug-in learns of it."""

    def __init__(self, **settings):
        usual = {
            "quiet": None,
            "dryrun": False,
            "verbose": False,
            "printshellcmds": False,
            "debug_dag": False,
            "stdout": False,
        }
        self.handler = plugin.LogHandler(SimpleNamespace(**usual | settings), None)

    def say(self, *arguments, **values):
        self.handler.handle(record(*arguments, **values))

    def plan(self, total):
        self.say("run_info", stats={"total": total})

    def start(self, job, rule, log=(), **values):
        values.setdefault("wildcards", {})
        self.say("job_info", jobid=job, rule_name=rule, log=list(log), **values)
        self.say("job_started", jobs=[job])

    def finish(self, job, done, total):
        self.say("job_finished", job_id=job)
        self.say("progress", done=done, total=total)


def test_a_log_has_a_line_now_and_then_with_what_is_running(monkeypatch, capsys):
    run = Run()
    monkeypatch.setattr(plugin, "PAUSE", 0)
    run.plan(4)
    run.start(0, "cell", wildcards={"model": "glove", "query": "q1"})
    run.start(1, "tables")
    run.finish(0, 1, 4)
    assert capsys.readouterr().err.splitlines()[-1] == "biasgrid: 1 of 4 steps done; running: tables"
    monkeypatch.setattr(plugin, "PAUSE", 30)
    run.start(2, "figures")
    run.finish(1, 2, 4)
    assert capsys.readouterr().err == ""


def test_many_running_steps_are_counted(monkeypatch, capsys):
    monkeypatch.setattr(plugin, "PAUSE", 0)
    run = Run()
    run.plan(9)
    for job in range(5):
        run.start(job, "cell", wildcards={"query": f"q{job}"})
    run.say("progress", done=1, total=9)
    assert capsys.readouterr().err.splitlines()[-1].endswith("running: cell q0, cell q1, cell q2 and 2 more")


def test_a_terminal_has_one_live_line_that_goes_at_the_end(monkeypatch):
    out = Terminal()
    monkeypatch.setattr(sys, "stderr", out)
    run = Run()
    run.plan(2)
    run.start(0, "cell", wildcards={"query": "q1"})
    run.finish(0, 1, 2)
    assert "1 of 2 steps" in out.getvalue()
    assert "\n" not in out.getvalue()
    run.finish(1, 2, 2)
    run.handler.close()
    assert not out.getvalue().split("\r")[-1].strip()


def test_a_failed_step_is_named_with_the_last_line_of_its_log(tmp_path, capsys):
    log = tmp_path / "log.txt"
    log.write_text("Traceback\nbiasgrid: cannot read it\nbiasgrid: warning: late\n")
    run = Run()
    run.plan(1)
    run.start(0, "store", wildcards={"model": "one"})
    run.say("job_error", level=logging.ERROR, jobid=0, rule_name="store", log=[str(log)])
    # Snakemake's own account of it
    run.say("error", "Error in rule store", level=logging.ERROR)
    run.handler.close()
    assert capsys.readouterr().err == "biasgrid: store one failed: cannot read it\n"


@pytest.mark.parametrize("planned", [False, True])
def test_an_error_of_no_step_is_shown_once(capsys, planned):
    run = Run()
    if planned:
        run.plan(1)
    run.say("error", "MissingInputException: no such file", level=logging.ERROR)
    assert ("no such file" in capsys.readouterr().err) is not planned
    run.handler.close()
    assert ("no such file" in capsys.readouterr().err) is planned


def test_warnings_are_shown_and_what_snakemake_says_of_itself_is_not(capsys):
    run = Run()
    run.say(None, "Building DAG of jobs...")
    run.say(None, "a warning", logging.WARNING)
    run.say(
        None, "--keep-incomplete mode is set, so incomplete output files are not removed.", logging.WARNING
    )
    run.say(None, "Nothing to be done (all requested files are present and up to date).")
    assert capsys.readouterr().err.splitlines() == [
        "a warning",
        "Nothing to be done (all requested files are present and up to date).",
    ]


@pytest.mark.parametrize("option", ["dryrun", "verbose", "printshellcmds"])
def test_on_request_snakemakes_own_messages_are_shown(capsys, option):
    run = Run(**{option: True})
    run.say(None, "Building DAG of jobs...")
    assert capsys.readouterr().err == "Building DAG of jobs...\n"


def test_quiet_all_shows_errors_alone(capsys):
    run = Run(quiet=["all"])
    run.plan(1)
    run.start(0, "cell")
    run.finish(0, 1, 1)
    run.say("error", "it failed", level=logging.ERROR)
    assert capsys.readouterr().err == "it failed\n"


def resources(**values):
    return SimpleNamespace(**values)


def test_a_brief_dry_run_is_a_table_of_jobs_with_memory_and_time(capsys):
    run = Run(dryrun=True, quiet=["rules"])
    for job, (rule, memory) in enumerate([("store", 900), ("store", 2500), ("cell", None), ("all", None)]):
        asked = resources(mem_mb=memory, runtime=60) if memory else resources()
        run.say("job_info", jobid=job, rule_name=rule, wildcards={}, resources=asked)
    run.handler.close()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[:-1]] == [
        ["rule", "jobs", "MB", "minutes"],
        ["store", "2", "2,500", "60"],
        ["cell", "1"],
        ["total", "3"],
    ]
    assert lines[-1] == "why: biasgrid run CONFIG --why"


def test_a_brief_dry_run_without_jobs_says_so(capsys):
    run = Run(dryrun=True, quiet=["rules"])
    run.say("", "Nothing to be done (all requested files are present and up to date).")
    run.handler.close()
    assert capsys.readouterr().out == "nothing would run: everything is up to date\n"


def test_the_jobs_of_a_dry_run_are_written_for_why(tmp_path, monkeypatch, capsys):
    file = tmp_path / "jobs.json"
    monkeypatch.setenv(plugin.JOBS, str(file))
    run = Run(dryrun=True)
    run.say("job_info", jobid=0, rule_name="cell", wildcards={}, reason="Missing output", output=["a.json"])
    run.handler.close()
    assert json.loads(file.read_text()) == [["cell", "Missing output", ["a.json"]]]
    assert capsys.readouterr() == ("", "")
