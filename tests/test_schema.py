"""The version that files of results carry, and what is said of results of another."""

import json
from collections.abc import Iterator

import finished_study
import pytest
from refusals import refused

from biasgrid import BiasgridError
from biasgrid.core import schema
from biasgrid.evaluation.evaluate import evaluate
from biasgrid.evaluation.record import read_evaluation
from biasgrid.measure import results
from biasgrid.study.study import Study

pytestmark = pytest.mark.slow  # a study is run first


@pytest.fixture
def study(tmp_path) -> Iterator[Study]:
    with finished_study.copied(tmp_path) as study:
        yield study


def rewritten(path, **changes):
    """A file of results with another version, or none."""
    record = json.loads(path.read_text())
    del record["schema"]
    path.write_text(json.dumps(changes | record))


def kinds_of(study: Study):
    """A file of each kind that has a version, and what reads it."""
    cell = study.paths.cell_file(next(iter(study.grid.cells.values())))
    inference = study.paths.inference_file(next(iter(study.grid.inferences.values())))
    return {
        cell: lambda: [value for _, _, value in results.results([cell])],
        inference: lambda: [value for _, _, value in results.results([inference])],
        study.results / "study.json": lambda: Study.read(study.results / "study.json").config,
    }


def test_files_without_a_version_are_read_as_they_are(study):
    for path, read in kinds_of(study).items():
        assert json.loads(path.read_text())["schema"] == schema.SCHEMA
        before = read()
        rewritten(path)
        assert read() == before


@pytest.mark.parametrize("version", [schema.SCHEMA + 1, -1, "1", True, None, [1]])
def test_a_version_that_is_not_read_is_one_line(study, version):
    for path, read in kinds_of(study).items():
        rewritten(path, schema=version)
        parts = ("results of schema ", " does not read", "delete the file and run again")
        with refused(path.name, *parts):
            read()


def test_a_record_of_an_evaluation_has_one_too(tmp_path, random_model):
    path = tmp_path / "evaluation.json"
    record = evaluate(random_model(0), None, {}, 0)
    path.write_text(json.dumps(schema.with_version({"model": "m", "debias": "none", "seed": 0} | record)))
    assert read_evaluation(path)["model"] == "m"
    rewritten(path, schema=2)
    with pytest.raises(BiasgridError, match="results of schema 2"):
        read_evaluation(path)


def test_a_run_says_what_happens_to_results_of_another_version(study):
    assert schema.notice(study.results) is None
    assert schema.notice(study.results / "nothing") is None
    rewritten(study.results / "study.json")
    line = schema.notice(study.results)
    assert "schema 0, this biasgrid writes 1" in line
    assert "computed again" in line
    assert "kept" in line
