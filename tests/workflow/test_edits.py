"""Edits of every kind: exactly which jobs run, by rule. A run then makes those, and nothing is to do afterwards."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import GRID_WORDS, Project, grid_config, made_once, write_text_model
from reruns import append, made, planned

pytestmark = pytest.mark.slow

OLD = 1_577_836_800  # a time of 2020, before any run
METRICS = ("weat", "rnd")
FIRST, QUERIES = ("q1", "q2"), ("q1", "q2", "q3")
PAIRS = [[f"a{i}", f"b{i}"] for i in range(4)]


def config() -> dict:
    """A study of two models, three queries and two metrics, with inference, and a debias method for one topic."""
    hard = {"method": "hard", "words": {"definitional_pairs": PAIRS}, "models": ["one"]}
    return grid_config() | {
        "metrics": {"weat": {}, "rnd": {"params": {"distance": "norm"}}},
        "inference": {"permutation": {"draws": 30}, "random_groups": {"draws": 30}},
        "debias": {"First": {"hard": hard}},
        "figures": ["rankings"],
    }


@pytest.fixture(scope="session")
def whole(tmp_path_factory) -> Project:
    return made_once(tmp_path_factory, "edits", config())


@pytest.fixture
def project(whole, tmp_path) -> Project:
    return whole.copy(tmp_path / "project")


def cells(states=("one/none", "two/none", "one/hard"), metrics=METRICS, queries=QUERIES) -> set[str]:
    """Return the names of cells; queries of the second topic have no debias method."""
    return {
        f"{state}/{metric}/{query}"
        for state in states
        for metric in metrics
        for query in queries
        if query in FIRST or state.endswith("/none")
    }


def groups(states=("one/none", "two/none", "one/hard"), metrics=METRICS) -> set[str]:
    """Return the names of steps of inference: all queries of a metric on a model."""
    return {f"{state}/{metric}" for state in states for metric in metrics}


def measured(of_cells: set[str], of_groups: set[str]) -> dict[str, set[str]]:
    """Return the jobs of cells and of what is made of them."""
    return {"cell": of_cells, "inference": of_groups, **FOLLOWS}


# made of everything: one job makes all tables, and one all figures
FIGURES = {"figures": {"rankings"}, "report": {"report"}}
FOLLOWS: dict[str, set[str]] = {"tables": set(), **FIGURES}


def change_word(project: Project) -> None:
    project.word_sets.write_text(project.word_sets.read_text().replace('"f5"', '"f6"'))


def configure(edit: Callable[[dict], object]) -> Callable[[Project], None]:
    def edit_config(project: Project) -> None:
        edit(project.config)
        project.configure(project.config)

    return edit_config


def replace_vectors(time: int | None = None) -> Callable[[Project], None]:
    """Replace a model's file by another one, of the present or of this time."""

    def replace(project: Project) -> None:
        write_text_model(project.folder / "new.txt", GRID_WORDS, seed=9)
        if time:
            os.utime(project.folder / "new.txt", (time, time))
        (project.folder / "new.txt").replace(project.folder / "two.txt")

    return replace


def delete(name: str) -> Callable[[Project], None]:
    return lambda project: (project.folder / "results" / "small" / name).unlink()


def edit_code(module: str) -> Callable[[Project], None]:
    return lambda project: append(project.own_code(f"{module}.py"))


def edit_result(project: Project) -> None:
    cell = project.folder / "results/small/cells/two/none/rnd/q3.json"
    record = json.loads(cell.read_text())
    record["results"][0]["value"] = 99.5
    cell.write_text(json.dumps(record))


def new_model(config: dict) -> None:
    config["models"]["three"] = {"label": "Three", "source": {"type": "file", "path": "two.txt"}}


STUDY = {"study": {"study"}}
OF_TWO = ("two/none",)
# the edit, and by rule the jobs that run
EDITS: dict[str, tuple[Callable[[Project], None], dict[str, set[str]]]] = {
    "nothing": (lambda project: None, {}),
    "a word": (change_word, {"query": {"q2"}} | measured(cells(queries=["q2"]), groups())),
    "a metric's parameter": (
        configure(lambda c: c["metrics"]["rnd"]["params"].update(distance="cos")),
        STUDY | measured(cells(metrics=["rnd"]), groups(metrics=["rnd"])),
    ),
    "a line of a metric's code": (
        edit_code("metrics/rnd"),
        measured(cells(metrics=["rnd"]), groups(metrics=["rnd"])),
    ),
    "a debias parameter": (
        configure(lambda c: c["debias"]["First"]["hard"]["words"]["definitional_pairs"].pop()),
        STUDY
        | {"debias": {"one/hard"}}
        | measured(cells(["one/hard"]), groups(["one/hard"])),
    ),
    "a model's file, newer": (
        replace_vectors(),
        {"archive": {"two"}, "store": {"two"}, "pool": {"two"}} | measured(cells(OF_TWO), groups(OF_TWO)),
    ),
    "a model's file, older": (
        replace_vectors(OLD),
        {"archive": {"two"}, "store": {"two"}, "pool": {"two"}} | measured(cells(OF_TWO), groups(OF_TWO)),
    ),
    "a deleted cell": (
        delete("cells/two/none/rnd/q1.json"),
        measured({"two/none/rnd/q1"}, {"two/none/rnd"}),
    ),
    "a cell edited by hand": (edit_result, measured({"two/none/rnd/q3"}, {"two/none/rnd"})),
    "a deleted table": (delete("rankings.csv"), FOLLOWS),
    "a deleted page": (delete("report.html"), {"report": {"report"}}),
    "a new model": (
        configure(new_model),
        STUDY
        | {"archive": {"three"}, "store": {"three"}, "pool": {"three"}}
        | measured(cells(["three/none"]), groups(["three/none"])),
    ),
    "a removed query": (
        configure(lambda c: c["criteria"]["First"]["queries"].pop("q2")),
        STUDY | {"inference": groups(), **FOLLOWS},
    ),
    "a figure's code": (edit_code("figures/rankings"), {"figures": {"rankings"}}),
    "a model's label": (
        configure(lambda c: c["models"]["two"].update(label="Renamed")),
        STUDY | FOLLOWS,
    ),
}  # fmt: skip


def names(jobs: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the names of jobs, without folder and suffix; which tables there are is another test's."""
    found = {}
    for rule, paths in jobs.items():
        deep = rule in ("cell", "inference", "debias")
        found[rule] = {
            str(Path(path).with_suffix("")).partition("/")[2] if deep else Path(path).stem for path in paths
        }
    if "tables" in found:
        assert {"scores", "rankings", "tests"} <= found["tables"]
        found["tables"] = set()
    return found


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_runs_exactly_what_depends_on_it(project, edit):
    change, expected = EDITS[edit]
    change(project)
    assert names(planned(project)) == expected
    ran = made(project)
    # as the plan says: each step notes what it was made of
    kinds = {"cell": "cell", "inference": "inference", "aggregates": "inference", "store": "store"}
    for kind, rule in kinds.items():
        in_run = {name.partition("/")[2] for name in ran if name.partition("/")[0] == kind}
        assert in_run == expected.get(rule, set()), kind
    assert planned(project) == {}
