"""A kind of figure is one file: discovered, planned without matplotlib, drawn from files and a spec, the same bytes
whatever was drawn before."""

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest
from conftest import ROOT, grid_config
from refusals import refused
from reruns import append, planned

from biasgrid import figures
from biasgrid.core import registry as registries
from biasgrid.figures import Drawing
from biasgrid.figures.frame import EXTENSIONS
from biasgrid.study.code import closure
from biasgrid.study.study import Study

sys.path.insert(0, str(ROOT / "docs"))
import pictures

CONFIGS = [
    "kinds",
    "bolukbasi",
    "caliskan",
    "debias",
    "embedded",
    "frequency",
    "same",
    "seed_lists",
    "sweeney",
    "thesis",
    "thesis4",
]
CONFIGS += ["trainings", "wefe_documentation"]
TOY = """
from biasgrid.figures import Drawing, Figure
from biasgrid.figures.frame import blank, styled


def _drawings(grid):
    yield Drawing({name!r}, {{"scores": grid.results / "scores.csv"}}, {{"title": grid.name}})


@styled
def _draw(inputs, spec):
    figure = blank(2, 1)
    figure.text(0.5, 0.5, f"{{spec['title']}}: {{len(inputs['scores'].read_text().splitlines()) - 1}} scores")
    return figure


FIGURES = (Figure({kind!r}, "How many scores there are.", _draw, drawings=_drawings),)
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Loads a toy kind of figure from a user's file; it is forgotten after the test."""
    monkeypatch.setattr(registries, "PLUGINS", {})
    for part in ("_entries", "_modules", "_read"):
        monkeypatch.setattr(figures.REGISTRY, part, copy.copy(getattr(figures.REGISTRY, part)))
    list(figures.REGISTRY)
    before = set(sys.modules)

    def load(file, **names):
        (tmp_path / f"{file}.py").write_text(TOY.format(**names))
        registries.load_plugins([tmp_path / f"{file}.py"])

    yield load
    for name in set(sys.modules) - before:
        if name.startswith("biasgrid_plugin_"):
            del sys.modules[name]


@pytest.mark.slow
def test_a_plan_imports_no_matplotlib_and_no_pandas():
    script = """if True:
        import sys
        from biasgrid.study.study import Study
        study = Study.read("config/embedded.yaml")
        assert study.figures
        print(*{name.partition(".")[0] for name in sys.modules})
    """
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"matplotlib", "seaborn", "pandas", "scipy"}.isdisjoint(done.stdout.split())


@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.slow
def test_what_figures_are_drawn_from_are_files_and_json():
    """Of the shipped studies, which have figures of nearly every kind."""
    kinds = set()
    for config in CONFIGS:
        study = Study.read(ROOT / "config" / f"{config}.yaml", ROOT)
        files = {
            *study.config.published,
            *study.config.computed,
            *(entry.ratings.file for entry in study.config.criteria.values() if entry.ratings),
        }
        kinds |= {"null"} if study.config.null_distributions else set()
        for name, drawing in study.figures.items():
            assert drawing.name == name
            kinds.add(drawing.kind)
            # what a process gets that reads it as text, sorted
            assert json.loads(json.dumps(drawing.spec, sort_keys=True, allow_nan=False)) == drawing.spec
            paths = [p for f in drawing.inputs.values() for p in (f if isinstance(f, list) else [f])]
            assert paths
            assert all(study.results in path.parents or str(path) in files for path in paths)
    # others are not listed in a config of config/: one of them has such a figure all the same
    for name in sorted(set(figures.REGISTRY) - kinds):
        example = figures.REGISTRY[name].example
        assert example, f"{name}: Figure.example says which figure of which study the gallery shows"
        study = Study.read(ROOT / "config" / f"{example.config}.yaml", ROOT)
        assert example.figure in {drawing.name for drawing in figures.REGISTRY[name].drawings_of(study)}
    assert kinds <= set(figures.REGISTRY)


@pytest.mark.slow
def test_every_kind_says_what_it_shows():
    for name, kind in figures.REGISTRY.items():
        assert kind.name == name
        assert kind.meaning.endswith(".")
        assert kind.meaning[0].isupper()
    drawn_by = {name: closure(figures.REGISTRY.module(name)) for name in figures.REGISTRY}
    # what reads the records of evaluations is code of a figure, too
    record = {name for name, code in drawn_by.items() if "biasgrid.evaluation.record" in code}
    assert {"professions", "word-map"} <= record
    assert "biasgrid.tables.words" in drawn_by["projections"]
    assert "biasgrid.figures.palette" in drawn_by["rankings"]
    # but not who plans it, and no other kind
    assert not any("biasgrid.study.study" in code for code in drawn_by.values())
    assert "biasgrid.figures.scores" not in drawn_by["rankings"]


def test_a_label_draws_the_figures_anew_and_what_none_shows_does_not(root):
    config = grid_config() | {"figures": ["rankings", "correlations", "scores"]}
    before = Study.of(config, root=root).figures

    def changed():
        after = Study.of(config, root=root).figures
        return {name for name in after if after[name].spec != before[name].spec}

    config["models"]["two"]["label"] = "Renamed"
    assert changed() >= {"rankings", "scores-first-weat", "scores-second-weat"}
    config["models"]["two"] |= {"label": "Model two", "note": "measured twice"}
    assert changed() == set()


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        (
            ["ranking"],
            "unknown kind of figure 'ranking'; did you mean 'rankings'?",
        ),
        (["word-map"], "unknown kind of figure 'word-map'"),
        (
            ["word-set-map"],
            "figure 'word-set-map' is gone: distances on its map meant little; 'projections' shows",
        ),
        (["null"], "unknown kind of figure 'null'"),
        (
            ["influence"],
            "figures: 'influence' needs inference with a bootstrap and sensitivity; leave it out",
        ),
    ],
)
def test_a_figure_that_a_study_cannot_have_is_one_line(root, listed, says):
    with refused(says):
        Study.of(grid_config() | {"figures": listed}, root=root)


def test_a_former_name_stands_for_the_kind_that_shows_the_same_once_and_is_said(root):
    listed = ["rankings", "bars-by-query", "bars-by-model", "correlations"]
    with pytest.warns(UserWarning, match="is gone: 'scores' shows the same") as warned:
        study = Study.of(grid_config() | {"figures": listed}, root=root)
    assert [str(one.message).split()[1] for one in warned] == ["'bars-by-query'", "'bars-by-model'"]
    assert study.config.figures == ["rankings", "scores", "correlations"]
    with pytest.warns(UserWarning, match="'bars-by-query' is gone"):
        study = Study.of(grid_config() | {"figures": ["bars-by-query", "scores"]}, root=root)
    assert study.config.figures == ["scores"]
    assert set(figures.registry.FORMER.values()) <= set(figures.REGISTRY)
    assert figures.REGISTRY.keys().isdisjoint({*figures.registry.FORMER, *figures.registry.GONE})


def test_a_users_file_is_a_kind_of_figure(plugin, root, tmp_path, monkeypatch):
    monkeypatch.chdir(root)
    plugin("counted", kind="counted", name="counted")
    study = Study.of(grid_config() | {"figures": ["counted", "rankings"]}, root=root)
    assert list(study.figures) == ["counted", "rankings"]
    drawing = study.figures["counted"]
    assert drawing == Drawing(
        "counted",
        {"scores": study.results / "scores.csv"},
        {"title": "small"},
        "counted",
        order=figures.order_of(study.config),
    )
    study.results.mkdir(parents=True)
    drawing.inputs["scores"].write_text("value\n1\n2\n")
    files = figures.draw_file("counted", drawing.inputs, drawing.spec, tmp_path / "drawn")
    assert [Path(file).suffix for file in files] == [f".{extension}" for extension in EXTENSIONS]
    assert [text.get_text() for text in figures.draw(drawing).texts] == ["small: 2 scores"]
    module = figures.REGISTRY.module("counted")
    assert sys.modules[module].__file__ == str(tmp_path / "counted.py")
    assert module in closure(module)


def test_two_figures_of_one_name_are_refused(plugin, root):
    plugin("doubled", kind="doubled", name="rankings")
    with refused("figures: doubled: another figure is named 'rankings'"):
        Study.of(grid_config() | {"figures": ["rankings", "doubled"]}, root=root)


@pytest.mark.slow
def test_a_new_kind_of_figure_is_one_file(finished):
    module = finished.own_code("figures/toy.py")
    module.write_text(TOY.format(kind="toy", name="toy/scores"))
    finished.config["figures"] = ["toy"]
    finished.configure(finished.config)
    finished.run()
    drawn = finished.folder / "results/small/figures/toy"
    assert sorted(path.name for path in drawn.iterdir()) == ["scores.pdf", "scores.png", "scores.svg"]
    append(module)
    assert planned(finished) == {"figures": {"figures/toy/scores.pdf"}}


# of several makes: ranks, rows of dots, lines of words, cells, documents; of one, every format: bytes are a matter of
# `save`
SAVED = {"rankings": EXTENSIONS}
SAVED |= {kind: ["svg"] for kind in ("scores", "projections", "before-after", "sentiment")}
SAVE = """
from biasgrid import figures
from biasgrid.figures.frame import save

def saved(drawings, folder):
    for drawing, extensions in drawings:
        save(figures.draw(drawing), folder / drawing.kind, extensions)
"""


@pytest.mark.slow
def test_bytes_are_the_same_in_any_order_in_a_fresh_process_and_under_other_settings(tmp_path):
    """And settings and pyplot are left alone. What every kind draws under other settings: test_pictures.py."""
    entries = {entry.kind: entry for entry in pictures.PICTURES.values() if entry.kind in SAVED}
    drawings = [
        (entries[kind].drawing_of(entries[kind].read(), tmp_path / kind), extensions)
        for kind, extensions in SAVED.items()
    ]
    first, fresh = tmp_path / "first", tmp_path / "fresh"
    before = dict(matplotlib.rcParams)
    names: dict = {}
    exec(SAVE, names)
    names["saved"](drawings, first)
    assert dict(matplotlib.rcParams) == before
    assert plt.get_fignums() == []
    settings = {"font.size": 20, "savefig.bbox": "tight", "svg.fonttype": "none", "axes.facecolor": "red"}
    script = f"""
import matplotlib, pickle, sys
{SAVE}
settings, drawings, folder = pickle.load(sys.stdin.buffer)
matplotlib.rcParams.update(settings)
saved(drawings, folder)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=pickle.dumps((settings, drawings[::-1], fresh)),
        env=os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    files = [file.name for file in first.iterdir()]
    assert {Path(name).stem for name in files} == {*SAVED}
    assert not [name for name in files if (first / name).read_bytes() != (fresh / name).read_bytes()]
