"""`biasgrid run CONFIG --why STEP`, and `biasgrid step`: a step by its name."""

import json

import pytest
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
    assert [lines[1:] for lines in said] == [["  query q2, set 'F': 'f6' came, 'f5' went"]] * 3
    assert said[0][0] == "cell one/none/weat/q2 is made again:"
    nothing = "cell one/none/weat/q1: nothing changed, it is not made again"
    assert why(finished, "cell one/none/weat/q1") == [nothing]
    assert finished.results() == before  # it makes nothing


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


def test_an_unknown_step_is_one_line(finished):
    done = finished.biasgrid("run", "config/config.yaml", "--why", "table score")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("biasgrid: --why: unknown step 'table score'; did you mean 'table scores'?")


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
    assert record["step"] == name
    assert record["files"]
    for file in record["files"]:
        assert (project.folder / file).is_file()
    assert project.results() == before
