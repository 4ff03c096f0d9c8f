"""The rule that executes notebooks: what it waits for, and that nothing else asks for it."""

import json

import pytest
from reruns import planned

from biasgrid.core import extras
from biasgrid.workflow import notebooks


def write(folder, name, source):
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None}
    notebook = {"cells": [cell | {"source": source}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.ipynb").write_text(json.dumps(notebook))


@pytest.mark.slow
def test_a_notebook_waits_for_the_study_that_it_opens(project):
    write(
        project.folder / "notebooks", "reads", 'import biasgrid as bg\ngrid = bg.open_study("results/small")'
    )
    write(
        project.folder / "notebooks", "alone", 'bg.open_study("mine/study.yaml")  # which it has run itself'
    )
    project.configure(project.config | {"figures": ["rankings"]})
    page = "results/notebooks/{}.html"
    assert set(planned(project, page.format("alone"))) == {"notebook"}
    with_study = planned(project, page.format("reads"))
    assert {"notebook", "tables", "figures", "cell", "study"} <= set(with_study)
    # neither the study nor its figures ask for them
    assert "notebook" not in planned(project)


def test_another_study_is_waited_for_where_it_is_there(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "notebooks", "reads", ["bg.open_study(\n", "    'results/other'\n)"])
    with pytest.raises(SystemExit):
        notebooks.studies("reads", "results/small", ["results/small/scores.csv"])
    assert capsys.readouterr().err.startswith(
        "biasgrid: notebooks/reads.ipynb reads the study results/other, which is not there: run that first"
    )
    (tmp_path / "results" / "other").mkdir(parents=True)
    (tmp_path / "results" / "other" / "study.json").write_text("{}")
    assert notebooks.studies("reads", "results/small", ["x.csv"]) == ["results/other/study.json"]
    assert notebooks.studies("reads", "results/other", ["x.csv"]) == ["x.csv"]


def test_what_is_missing_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        notebooks.pages("results/notebooks", notebooks.names(tmp_path))
    assert capsys.readouterr().err.startswith("biasgrid: no notebooks here")
    write(tmp_path / "notebooks", "a", "1")
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        notebooks.pages("results/notebooks", notebooks.names(tmp_path))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("biasgrid: executing notebooks needs papermill; install it: pip install ")
    assert "'papermill>=" in line
    monkeypatch.setattr(extras, "find_spec", lambda name: name)
    assert notebooks.pages("results/notebooks", notebooks.names(tmp_path)) == ["results/notebooks/a.html"]
