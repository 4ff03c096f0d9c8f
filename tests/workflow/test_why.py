"""`biasgrid run CONFIG --why STEP`, and `biasgrid step`: a step by its name."""

import json
import re

import pytest
from conftest import ROOT, refusal_of
from finished_study import finished as finished_study
from reruns import append


def why(project, step):
    done = project.biasgrid("run", "config/config.yaml", "--why", step)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_word_is_named(finished):
    finished.word_sets.write_text(finished.word_sets.read_text().replace('"f5"', '"f6"'))
    before = finished.results()
    said = [why(finished, step) for step in ("cell one/none/weat/q2", "table scores", "report")]
    assert [lines[1:] for lines in said] == [["  query q2: set 'F': 'f6' came, 'f5' went"]] * 3
    assert said[0][0] == "cell one/none/weat/q2 is made again:"
    nothing = "cell one/none/weat/q1: nothing changed, it is not made again"
    assert why(finished, "cell one/none/weat/q1") == [nothing]
    assert finished.results() == before  # it makes nothing


def test_the_name_and_the_sets_of_a_query_are_named(finished):
    query = finished.config["criteria"]["First"]["queries"]["q1"]
    query |= {"name": "Renamed", "attributes": {"C": query["attributes"]["C"][::-1], "G": ["d0", "d1"]}}
    finished.configure(finished.config)
    _, change = why(finished, "query q1")
    name, sets, order, gone, come = change.split("; ")
    assert name == '  query q1: name: "A and B wrt C and D" -> "Renamed"'
    assert (sets, order) == ("sets: 'G' came, 'D' went", "set 'C': another order")
    assert re.fullmatch(r"set 'D': \[.* -> none", gone)
    assert come == """set 'G': none -> ["d0", "d1"]"""


def test_a_parameter_is_named(finished):
    config = finished.config
    config["metrics"]["rnd"] = {"params": {"distance": "cos"}}
    finished.configure(config | {"seed": config.get("seed", 0)})
    head, change = why(finished, "cell one/none/rnd/q1")
    assert head == "cell one/none/rnd/q1 is made again:"
    assert change == '  cell one/none/rnd/q1: params.distance: "norm" -> "cos"'
    assert change in why(finished, "table rankings")


def test_a_module_is_named(finished):
    append(finished.own_code("metrics/rnd.py"))
    changed = "  code changed: biasgrid.metrics.rnd"
    assert changed in why(finished, "figure rankings")
    assert why(finished, "cell one/none/weat/q1")[1:] == []


def test_a_missing_file_and_a_new_cell_are_named(finished):
    file = "results/small/cells/one/none/weat/q1.json"
    (finished.folder / file).unlink()
    assert why(finished, "cell one/none/weat/q1") == [
        "cell one/none/weat/q1 is made:",
        f"  {file} is not there",
    ]
    assert why(finished, "table scores")[1:] == [f"  {file} is not there"]


def test_a_study_is_answered_in_a_few_lines(finished):
    done = finished.biasgrid("run", "config/config.yaml", "--why")
    assert (done.returncode, done.stdout) == (0, "nothing changed, nothing is made again\n")
    finished.word_sets.write_text(finished.word_sets.read_text().replace('"f5"', '"f6"'))
    (finished.folder / "results/small/cells/one/none/weat/q1.json").unlink()
    done = finished.biasgrid("run", "config/config.yaml", "--why")
    head, *causes = done.stdout.splitlines()
    assert re.match(r"a run makes .*cell \d+.*table \d+.*report", head)
    of_word, of_file = sorted(causes, key=lambda line: "not there" in line)
    assert of_word.startswith("  query q2: set 'F': 'f6' came, 'f5' went: ")
    assert of_file.startswith("  results/small/cells/one/none/weat/q1.json is not there: cell, ")


def test_steps_whose_former_code_is_not_known_are_one_line(finished):
    append(finished.own_code("metrics/rnd.py"))
    (finished.folder / "logs/small/.modules.json").unlink()
    done = finished.biasgrid("run", "config/config.yaml", "--why")
    (of_cells,) = (line for line in done.stdout.splitlines() if line.startswith("  the code of the cell "))
    assert re.match(r"  the code of the cell steps changed: .*cell \d+", of_cells)


def test_a_new_study_is_answered_in_a_few_lines(project):
    done = project.biasgrid("run", "config/config.yaml", "--why")
    head, cause = done.stdout.splitlines()
    assert head.startswith("a run makes ")
    assert re.match(r"  \d+ files that are not there, as \S+: ", cause)


def test_a_dry_run_counts_the_steps_of_each_rule(finished):
    done = finished.biasgrid("run", "config/config.yaml", "--dry-run")
    assert done.stdout == "nothing would run: everything is up to date\n"
    (finished.folder / "results/small/cells/one/none/weat/q1.json").unlink()
    head, *rows, total, hint = finished.biasgrid("run", "config/config.yaml", "--dry-run").stdout.splitlines()
    assert head.split() == ["rule", "jobs", "MB", "minutes"]
    counts = {rule: int(jobs) for rule, jobs, *_ in map(str.split, rows)}
    assert counts["cell"] == 1
    assert total.split() == ["total", str(sum(counts.values()))]
    assert hint == "why: biasgrid run CONFIG --why"


def test_a_dry_run_on_a_cluster_counts_its_jobs(project):
    profile = ROOT / "profiles" / "generic"
    done = project.biasgrid("run", "config/config.yaml", "--profile", str(profile), "--dry-run")
    assert done.returncode == 0, done.stderr
    head, *rows, total, _ = done.stdout.splitlines()
    assert head.split() == ["rule", "jobs", "MB", "minutes"]
    jobs = {rule: counts for rule, *counts in map(str.split, rows)}
    assert jobs["cell"][0] == "24"
    assert [jobs[rule][0] for rule in ("store", "tables", "report")] == ["2", "1", "1"]
    assert all(len(jobs[rule]) == 3 for rule in ("store", "tables"))  # with memory and time
    assert int(total.split()[1]) == sum(int(counts[0]) for counts in jobs.values())


def test_an_unknown_step_is_one_line(finished):
    done = finished.biasgrid("run", "config/config.yaml", "--why", "table score")
    refusal_of(done, "biasgrid: --why: unknown step 'table score'; did you mean 'table scores'?")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["cell one/none/weat/q1", "table scores", "inference one/hard/mac", "pool one"]
)
def test_a_step_by_its_name_makes_its_files_anew(name, tmp_path):
    project = finished_study().copy(tmp_path / "copy")
    before = project.results()
    done = project.biasgrid("step", name, "--study", "config/config.yaml")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["steps"] == [name]
    assert record["files"]
    for file in record["files"]:
        assert (project.folder / file).is_file()
    assert project.results() == before
