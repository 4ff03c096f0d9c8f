"""One mechanism discovers what is one file each: in the package, in a user's folder, in an installed package."""

import os
import subprocess
import sys

import numpy as np
import pytest
from refusals import refused

import biasgrid as bg
from biasgrid import BiasgridError, metrics
from biasgrid.core import registry as registries
from biasgrid.core.errors import SHOWN, join_names, unknown_name

TOY = """
from biasgrid.metrics import Metric, Score


def toy(targets, attributes):
    return Score(0.0)


METRICS = (Metric({name!r}, "Toy", toy, template=(2, 2), range=(0.0, 1.0), neutral=0.0, reference="this test"),)
"""


@pytest.fixture
def plugins(monkeypatch):
    """The plugins of a test, forgotten after it."""
    monkeypatch.setattr(registries, "PLUGINS", {})
    list(metrics.REGISTRY)  # those of the package stay
    for name in ("_entries", "_modules", "_read"):
        monkeypatch.setattr(metrics.REGISTRY, name, getattr(metrics.REGISTRY, name).copy())
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("biasgrid_plugin_"):
            del sys.modules[name]


def test_a_file_of_a_users_folder_is_in_the_registry(tmp_path, plugins):
    (tmp_path / "toy.py").write_text(TOY.format(name="toy"))
    registries.load_plugins([tmp_path])
    assert metrics.metric("Toy").name == "toy"
    assert metrics.toy.metric is metrics.REGISTRY["toy"]
    assert "toy" in dir(metrics)
    assert metrics.REGISTRY.file("toy") == tmp_path / "toy.py"
    registries.load_plugins([tmp_path / "toy.py"])  # again: it is there


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("weat2.py", TOY.format(name="weat"), "another metric is named 'weat'"),
        (
            "broken.py",
            "import no_such_module",
            "broken.py: ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("my-toy.py", "", "a file's name must be a name in Python, such as my_metric.py"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_one_line(tmp_path, plugins, file, text, message):
    (tmp_path / file).write_text(text)

    with refused(message, file):
        registries.load_plugins([tmp_path])
        list(metrics.REGISTRY)


def test_unknown_names_are_answered_by_the_nearest_and_by_a_list_that_is_cut():
    assert (
        unknown_name("metric", "weta", ["weat", "rnd"])
        == "unknown metric 'weta'; did you mean 'weat'? allowed: weat, rnd"
    )
    assert unknown_name("metric", 7, []) == "unknown metric 7; allowed: none"
    long = join_names(range(10_000), "biasgrid list metrics")
    assert len(long) < SHOWN + 60
    assert long.endswith("more (biasgrid list metrics)")
    assert len(unknown_name("metric", "x" * 5000, ["y" * 5000] * 9)) < 600


@pytest.fixture
def session(plugins, monkeypatch):
    """The registry of metrics, which forgets what the test adds."""
    monkeypatch.setattr(metrics.REGISTRY, "_session_names", set())
    return metrics.REGISTRY


def own_metric(factor, name="own"):
    """A metric as a notebook's cell makes it."""

    def function(targets, attributes):
        return metrics.Score(factor * float(targets[0].mean() - targets[1].mean()))

    return metrics.Metric(name, "Own", function, (2, 1), (-np.inf, np.inf), 0.0, reference="this test")


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_metric_made_in_a_session_is_in_its_grids(session, n_jobs):
    words = {"a": [1.0, 2.0], "b": [3.0, 5.0], "c": [0.0, 1.0]}
    query = bg.Query([["a"], ["b"]], [["c"]])
    model = bg.load(words, name="tiny")
    for factor in (1, 2):  # the cell is edited and run again
        own = own_metric(factor)
        assert own(query, model).value == -2.5 * factor
        grid = bg.measure_grid([own, "rnd"], [query], [model], n_jobs=n_jobs, progress=False)
        assert grid.metrics == ["own", "rnd"]
        assert grid.table("own").iloc[0, 0] == -2.5 * factor
    assert bg.metrics.own(query, model).value == -5


def test_a_metric_of_a_session_and_one_of_a_file(session, tmp_path):
    """The later one counts; those of the package stay."""
    session.add(own_metric(1, "double"))
    (tmp_path / "moved.py").write_text(TOY.format(name="double"))
    registries.load_plugins([tmp_path / "moved.py"])
    assert session["double"].function.__module__ == "biasgrid_plugin_moved"
    assert not session.session_entries
    session.add(again := own_metric(2, "double"))
    assert session["double"] is again
    with pytest.raises(
        BiasgridError, match=r"^another metric is named 'weat' \(.*weat\.py\); give yours a different"
    ):
        session.add(own_metric(1, "weat"))
    session.add(session["weat"])


@pytest.mark.slow
def test_a_plugin_of_the_same_size_and_time_is_read_again(tmp_path):
    """Also what it imports: Python would take its cached bytecode for that of the new files."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for number in (1, 2):
        (folder / "numbers.py").write_text(f"A = {number}\n")
        (folder / "shown.py").write_text(f"from .numbers import A\n\nB = {number}\nprint(A, B)\n")
        for path in folder.glob("*.py"):
            os.utime(path, (1_577_836_800, 1_577_836_800))
        code = "from biasgrid.core.registry import load_plugins; load_plugins(['mine'])"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.stdout == f"{number} {number}\n", done.stderr
