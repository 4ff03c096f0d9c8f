"""Values of random groups that a test of aggregates keeps from its former run."""

import json
import shutil
from contextlib import chdir

import pytest
from conftest import write_text_model
from in_process import make_cells, make_inputs

from biasgrid.measure import aggregates
from biasgrid.study.steps import aggregates_step
from biasgrid.study.study import Study


def words(letter: str) -> list[str]:
    return [f"{letter}{i}" for i in range(6)]


def study_of(third: str) -> Study:
    """Three queries, of which the last one's attributes begin with this word."""
    attributes = [words("e"), words("d"), [third, *words("d")[1:]]]
    queries = {
        f"q{number}": {
            "targets": {"A": words("a"), "B": words("b")},
            "attributes": {"C": words("c"), f"D{number}": last},
        }
        for number, last in enumerate(attributes, 1)
    }
    return Study.of(
        {
            "study": "small",
            "seed": 3,
            "models": {"one": {"label": "One", "source": {"type": "file", "path": "one.txt"}}},
            "criteria": {"Zeal": {"queries": queries}},
            "metrics": {"weat": {}, "weat_es": {}},
            "inference": {"random_groups": {"draws": 600}},
        }
    )


def make(study: Study) -> dict[str, bytes]:
    """Run the steps; the files of the tests of aggregates, by name."""
    make_inputs(study)
    make_cells(study)
    return aggregates_of(study)


def make_aggregates(study: Study) -> dict[str, bytes]:
    """As `make`, where all but the tests of aggregates is there."""
    for name in study.grid.aggregate_criteria:
        aggregates_step(study, study.grid.inference_groups[name]).run()
    return aggregates_of(study)


def aggregates_of(study: Study) -> dict[str, bytes]:
    files = sorted(study.results.glob("aggregates/one/none/*"))
    return {file.name: file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the study, run, and its model."""
    folder = tmp_path_factory.mktemp("made")
    vocabulary = [word for letter in "abcde" for word in words(letter)] + [f"x{i}" for i in range(200)]
    write_text_model(folder / "one.txt", vocabulary, 8, seed=1)
    with chdir(folder):
        make(study_of("e5"))
    return folder


@pytest.fixture
def measured(made, tmp_path, monkeypatch):
    """The names of queries of which values are measured; the working folder is a copy of the study's."""
    names = []
    group_values = aggregates.group_values

    def noted(sample, *arguments):
        first = sample.whole.attribute_sets[1].words[0]
        names.append((sample.request.metric.name, sample.whole.name, first))
        return group_values(sample, *arguments)

    monkeypatch.setattr(aggregates, "group_values", noted)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return names


@pytest.mark.slow
def test_an_edited_query_costs_its_own_values(measured, tmp_path, monkeypatch):
    before = aggregates_of(study_of("e5"))
    assert set(before) == {"weat.json", "weat.npz", "weat_es.json", "weat_es.npz"}
    assert make(study_of("e5")) == before
    assert measured == []
    edited = make(study_of("e4"))
    assert sorted((metric, first) for metric, _, first in measured) == [("weat", "e4"), ("weat_es", "e4")]
    assert edited != before
    # as a study that had never been run before, to the last byte
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "one.txt").write_bytes((tmp_path / "one.txt").read_bytes())
    monkeypatch.chdir(tmp_path / "new")
    measured.clear()
    assert make(study_of("e4")) == edited
    assert len(measured) == 6
    # in fact tested, and not only left out
    tests = json.loads(edited["weat.json"])["aggregates"]
    assert [test["scores_in_test"] for test in tests] == [3, 3]
    assert all(0 < test["p_value"] <= 1 for test in tests)


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["empty", "cut", "noise", "swapped"])
def test_damaged_values_are_measured_again(measured, damage):
    study = study_of("e5")
    before = aggregates_of(study)
    file = study.results / "aggregates/one/none/weat.npz"
    content = before["weat.npz"]
    file.write_bytes(
        {
            "empty": b"",
            "cut": content[: len(content) // 2],
            "noise": bytes(len(content)),
            # another metric's values are no values of this one
            "swapped": before["weat_es.npz"],
        }[damage]
    )
    assert make_aggregates(study) == before
    assert len(measured) == 3


@pytest.mark.slow
def test_a_damaged_pool_is_made_again(measured, tmp_path):
    study = study_of("e5")
    before = aggregates_of(study)
    step = aggregates_step(study, study.grid.inference_groups["one/none/weat"])
    pool, output = tmp_path / "pool.npz", tmp_path / "weat.json"
    pool.write_bytes(b"PK")
    aggregates.write_aggregates(step.inputs | {"pool": pool}, step.spec, output)
    assert output.read_bytes() == before["weat.json"]
