"""Each name of Snakemake that `workflow.engine` rests on and that is no part of its language: what it does today.

One that fails says what a new version of Snakemake has changed. All run under the lowest version of pyproject.toml
and under the newest.
"""

import json
import os
import re
import textwrap

import forks
import pytest
from conftest import ROOT

pytestmark = pytest.mark.slow  # Snakemake is started
SNAKEFILE = """
import json, os, sys
from pathlib import Path
from biasgrid.workflow import engine

SAID = {}

def say(name, function):
    try:
        SAID[name] = function()
    except Exception as error:
        SAID[name] = f"{type(error).__name__}: {error}"
    Path("said.json").write_text(json.dumps(SAID))

PARSE

rule all:
    default_target: True
    input: "a.txt", "made/b.txt"

rule a:
    output: "a.txt"
    params: word="A_WORD"
    shell: "echo a >{output}"

rule b:
    input: "a.txt"
    threads: engine.processors(workflow, 3)
    output: update("made/{name}.txt")
    log: "logs/{name}.txt"
    group: "of_b"
    shell: "B_SHELL"

AFTER_RULES

onstart:
    START
onsuccess:
    SUCCESS
onerror:
    ERROR
"""


@pytest.fixture
def said(tmp_path):
    """A run of a workflow of two steps: what was asked of `engine` at a place in it, by name, and what it printed."""

    def run(*arguments, parse="", end="", start="", success="", error="", word="x", shell="echo b >{output}"):
        text = SNAKEFILE.replace("PARSE", textwrap.dedent(parse)).replace("AFTER_RULES", textwrap.dedent(end))
        for place, body in (("START", start), ("SUCCESS", success), ("ERROR", error)):
            text = text.replace(
                place, textwrap.indent(textwrap.dedent(body).strip() or "pass", "    ").strip()
            )
        text = text.replace("A_WORD", word).replace("B_SHELL", shell)
        (tmp_path / "Snakefile").write_text(text)
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        done = forks.run(["--cores", "2", *arguments], tmp_path, environment)
        answers = tmp_path / "said.json"
        return json.loads(answers.read_text()) if answers.exists() else {}, done

    return run


def test_what_is_known_before_the_plan(said):
    asked = """
        say("configs", lambda: engine.config_files(workflow))
        say("has config", lambda: engine.has_config(workflow))
        say("cores", lambda: engine.cores(workflow))
        say("more each try", lambda: callable(engine.each_try(workflow, 3)))
        say("is job", lambda: engine.is_job(workflow))
        say("plans", lambda: engine.only_plans(workflow))
        say("cache", lambda: engine.cache_folder(workflow).is_dir())
        say("rule", lambda: [workflow.remote_exec, Path(workflow.main_snakefile).name])
    """
    answers, _ = said("-n", parse=asked)
    assert answers == {
        "configs": [], "has config": False, "cores": 2, "more each try": False, "is job": False,
        "plans": True, "cache": True, "rule": [False, "Snakefile"],
    }  # fmt: skip


def test_what_is_known_of_the_plan(said):
    asked = """
        say("jobs", lambda: [dict(wildcards) for wildcards in engine.jobs(workflow, "b")])
        say("outputs", lambda: sorted(engine.outputs(workflow)))
        say("to make", lambda: sorted(engine.outputs_to_make(workflow)))
        say("rule", lambda: [engine.has_rule_for(workflow, file) for file in ("made/c.txt", "c.txt")])
        say("all", lambda: engine.makes_all(workflow))
        say("asked", lambda: sorted(engine.asked_rules(workflow)))
        say("keeps", lambda: [engine.keeps(workflow, log) for log in ("logs/b.txt", "logs/gone.txt")])
        say("forced", lambda: engine.forced_logs(workflow, []))
        say("record", lambda: engine.has_record(workflow, "a.txt"))
    """
    answers, done = said(start=asked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert answers == {
        "jobs": [{"name": "b"}], "outputs": ["a.txt", "made/b.txt"], "to make": ["a.txt", "made/b.txt"],
        "rule": [True, False], "all": True, "asked": ["all"], "keeps": [False, False], "forced": [],
        "record": False,
    }  # fmt: skip
    answers, _ = said("--forcerun", "b", start=asked)
    assert answers["to make"] == ["made/b.txt"]
    assert answers["forced"] == ["logs/b.txt"]
    assert answers["record"]


def test_why_a_job_is_made(said):
    asked = """
        def tell():
            of = engine.reasons(workflow)
            say("reasons", lambda: {file: vars(reason) for file, reason in of.items()})
            say("params", lambda: workflow.persistence._serialize_param.__name__)
        engine.compare_params_as_text()
        engine.after_planning(workflow, tell)
    """
    answers, _ = said("-n", parse=asked)
    missing = {"rule": "a", "missing": ["a.txt"], "updated": [], "made": [], "before": [], "other": []}
    made = missing | {"rule": "b", "missing": ["made/b.txt"], "made": ["a.txt"]}
    assert answers["reasons"] == {"a.txt": missing, "made/b.txt": made}
    said()
    answers, _ = said("-n", parse=asked, word="y")
    assert answers["reasons"]["a.txt"] == missing | {"missing": [], "before": ["'x'"]}
    assert answers["params"] == "_serialize_param_builtin", "pandas is loaded to compare params"
    answers, _ = said("-n", "--forcerun", "b", parse=asked)
    assert answers["reasons"]["made/b.txt"]["other"] == ["it is forced"]


def test_files_are_made_again_that_the_plan_would_keep(said):
    said()
    answers, _ = said(
        parse="""
            engine.before_planning(workflow, lambda: [
                say("all", lambda: engine.asks_for_all(workflow)), engine.force(workflow, ["a.txt"]),
            ])
        """,
        start='say("to make", lambda: sorted(engine.outputs_to_make(workflow)))',
    )
    assert answers == {"all": True, "to make": ["a.txt", "made/b.txt"]}


def test_what_is_shown_is_taken_over(said):
    asked = 'say("progress", lambda: type(engine.show_progress(workflow)).__name__)'
    answers, done = said(parse=asked)
    assert answers == {"progress": "Progress"}
    assert "rule a:" not in done.stdout + done.stderr, "Snakemake's handler on the screen was not found"
    for option in ("--verbose", "--printshellcmds", "--dry-run", "--debug-dag"):
        answers, _ = said("--forceall", option, parse=asked)
        assert answers == {"progress": "NoneType"}, option
    answers, _ = said("--forceall", "--quiet", "all", parse=asked)
    assert answers == {"progress": "NoneType"}, "--quiet all"


def test_a_limit_that_limits_nothing_is_taken_off(said):
    asked = """
        limiter = lambda: getattr(workflow.scheduler.job_rate_limiter, "max_jobs", None)
        say("before", limiter)
        engine.start_at_once(workflow)
        say("after", limiter)
    """
    answers, _ = said("--max-jobs-per-timespan", "100000/1s", start=asked)
    assert answers == {"before": engine_limit(), "after": None}
    answers, _ = said("--forceall", "--max-jobs-per-timespan", "50/1s", start=asked)
    assert answers == {"before": 50, "after": 50}


def engine_limit():
    profile = (ROOT / "profiles" / "default" / "config.yaml").read_text()
    return int(re.search(r"^max-jobs-per-timespan: (\d+)/1s$", profile, re.M)[1])


def test_in_a_job_of_a_cluster_steps_are_threads_and_cores_are_counted(said):
    """As slurm-jobstep starts it: with a number of nodes, under which cores would not count."""
    asked = """
        engine.run_steps_here(workflow)
        engine.after_planning(workflow, lambda: [
            say("cores", lambda: workflow.scheduler.global_resources["_cores"]),
            say("here", lambda: [job.is_local for job in workflow.dag.jobs]),
        ])
    """
    answers, done = said(
        "--mode", "remote", "--jobs", "1", "--target-jobs", "a:", "--allowed-rules", "a", end=asked
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert answers == {"cores": 2, "here": [True]}


def test_a_job_that_is_submitted_asks_for_a_processor_for_each_step(said, tmp_path):
    submit = tmp_path / "submit"
    submit.write_text('#!/bin/sh\n"$1" >&2\necho 1\n')
    submit.chmod(0o755)
    asked = """
        say("threads", lambda: [job.threads for job in workflow.dag.jobs if job.rule.name == "b"])
        say("more each try", lambda: callable(engine.each_try(workflow, 3)))
    """
    submits = ["--executor", "cluster-generic", "--cluster-generic-submit-cmd", submit, "--jobs", "2"]
    submits += ["--seconds-between-status-checks", "1"]
    answers, done = said("--cores", "4", *map(str, submits), start=asked)
    assert answers == {"threads": [3], "more each try": True}, done.stdout + done.stderr
    answers, _ = said("--cores", "4", "--forceall", start=asked)
    assert answers == {"threads": [1], "more each try": False}


def test_a_rule_is_grouped_as_another_is(said):
    asked = """
        say("name", lambda: engine.same_group(workflow, "a", "b"))
        engine.after_planning(workflow, lambda: say("groups", lambda: [job.group for job in workflow.dag.jobs]))
    """
    answers, _ = said("-n", "--groups", "b=g", end=asked)
    assert answers == {"name": "a", "groups": [None, "g", "g"]}


def test_after_a_failure_what_was_to_be_updated_is_made_again(said, tmp_path):
    said()
    (tmp_path / "a.txt").write_text("changed")
    # as profiles/default has it
    _, done = said("--keep-incomplete", shell="false", error="engine.mark_unfinished(workflow)")
    assert done.returncode == 1
    assert (tmp_path / "made/b.txt").stat().st_mtime == 1
    _, done = said("-n")
    assert re.search(r"^b +1$", done.stdout + done.stderr, re.M)


def test_what_a_failed_job_left_of_an_updated_file_stays(said, tmp_path):
    said()
    (tmp_path / "a.txt").write_text("changed")
    text = SNAKEFILE.replace('shell: "B_SHELL"', BY_HAND)
    assert text != SNAKEFILE
    snakefile = tmp_path / "Snakefile"
    for place in ("PARSE", "AFTER_RULES", "START", "SUCCESS", "ERROR"):
        text = text.replace(place, "pass")
    snakefile.write_text(text.replace("A_WORD", "x"))
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = forks.run(["--cores", "1", "--keep-incomplete"], tmp_path, environment)
    assert done.returncode == 1
    assert "ValueError" in done.stderr
    assert (tmp_path / "made/b.txt").read_text() == "half\n"


BY_HAND = """run:
        Path(output[0]).write_text("half\\n")
        engine.keep_outputs(workflow, output)
        raise ValueError
"""
