"""Plugins that come with biasgrid: a config names them, and nothing of them is there before."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import finished_study
import forks
import made_thesis
import pytest
import yaml
from conftest import ROOT, grid_config, refusal_of, write_text_model
from refusals import refused
from shipped_study import joined

import biasgrid as bg
from biasgrid import debias, evaluation, figures, metrics, tables
from biasgrid.core import registry
from biasgrid.models import algorithms, kinds, readers, sources
from biasgrid.study import code
from biasgrid.study.config.load import read
from biasgrid.study.study import Study

PACKAGES = (metrics, debias, tables, figures, evaluation, readers, sources, kinds, algorithms)
REGISTRIES = [package.REGISTRY for package in PACKAGES]
CONFIGS = sorted(
    path.stem
    for path in (ROOT / "config").glob("*.yaml")
    if {"study", "models"} <= read(path).keys() and not path.stem.startswith("with_")
)
OVERLAYS = [
    ("embedded", "with_npm"),
    ("sweeney", "with_npm"),
    ("atlas", "atlas_npm"),
    ("debias", "with_glpp"),
    ("embedded", "with_psychometrics"),
]
# of these, a study has what it asks for by naming the plugin: this process has loaded all plugins
OPTIONAL = "psychometrics"


def python(code, program=None, **environment):
    """What a process prints that has loaded no plugin."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")} | environment
    done = subprocess.run(
        [program or forks.python(), "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def command(*arguments):
    """The `biasgrid` of a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    program = [forks.python(), "-m", "biasgrid", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, env=environment)


def test_the_file_of_an_entry_has_its_name_in_a_folder_of_its_kind():
    """So that a message can say in which plugin it is, without loading it."""
    for known in REGISTRIES:
        for name in known:
            path = known.file(name).relative_to(ROOT) if ROOT in known.file(name).parents else None
            if path and path.parts[0] == "plugins":
                assert known.plugin_of(name) == path.parts[1], f"{path}: has {name!r}"
            else:
                assert not known.plugin_of(name)


def needed(study):
    """The plugins that the parts of a study are in."""
    config = study.config
    fetched = study.sources.values()
    metric_names = {entry.metric or key for c in config.criteria for key, entry in study.metrics(c).items()}
    names = [
        (sources, {entry["source"]["type"] for entry in fetched}),
        (readers, {entry.get("format") for entry in fetched}),
        (algorithms, {entry["source"].get("algorithm") for entry in study.models.values()}),
        (metrics, metric_names),
        (debias, {entry.method for _, entry in study.debias.values()}),
        (figures, config.figures),
        (tables, study.tables),
    ]
    found = {package.REGISTRY.plugin_of(name) for package, of_kind in names for name in of_kind}
    return sorted(found - {"", *({OPTIONAL} - set(config.plugins or ()))})


@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.slow
@pytest.mark.parametrize("config", [*((name,) for name in CONFIGS), *OVERLAYS], ids="+".join)
def test_each_config_names_the_plugins_that_it_needs_and_no_others(config, tmp_path, monkeypatch):
    # in place of words that would be fetched
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "cache"))
    study = joined(*config, {"word_sets": str(made_thesis.write_seeds(tmp_path))})
    assert needed(study) == sorted(study.config.plugins or ())


OUT = """
import biasgrid as bg
from biasgrid import registry
from biasgrid.models import readers, sources

assert "npm" not in sources.REGISTRY and "wink-json" not in readers.REGISTRY
for call in (lambda: sources.check({"type": "npm"}), lambda: readers.REGISTRY.find("wink-json")):
    try:
        call()
    except bg.BiasgridError as error:
        print(error)
registry.load_plugins(["npm"])
registry.load_plugins(["npm"])
assert sources.REGISTRY["npm"].meaning and readers.REGISTRY.find("Wink JSON").name == "wink-json"
assert not sources.REGISTRY.is_shipped("npm")
"""


@pytest.mark.slow
def test_what_a_plugin_has_is_answered_with_how_to_load_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    where = (
        "is in the plugin 'npm', which comes with biasgrid; load it: in a config plugins: [npm], on the command line "
        "--plugins npm, in Python biasgrid.load_plugins(['npm'])"
    )
    assert python(OUT) == f"source: source type 'npm' {where}\nformat 'wink-json' {where}\n"
    config = yaml.safe_load((ROOT / "config" / "frequency.yaml").read_text())
    config["plugins"] = ["training"]
    Path("c.yaml").write_text(yaml.safe_dump(config))
    done = command("list", "models", "--study", "c.yaml")
    assert (done.returncode, done.stderr) == (
        2,
        f"biasgrid: c.yaml: models: brown: source: type: source type 'npm' {where}\n",
    )


def corpus_config(**more):
    letters = {"kind": "corpus", "source": {"type": "file", "path": "letters.txt"}}
    order = {"kind": "corpus", "source": {"type": "shuffled", "corpus": "letters"}}
    query = {"targets": {"A": ["a"], "B": ["b"]}, "attributes": {"C": ["c"]}}
    return {
        "study": "small",
        "models": {"letters": letters, "order": order} | more.pop("models", {}),
        "criteria": {"First": {"queries": {"one": query}}},
        "metrics": {"pmi": {}, "rnd": {}},
        **more,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"models": {"m": "glove"}}, "models: m: source: algorithm: training algorithm 'glove'"),
        ({"shuffled": {"counts": {"real": ["letters"], "shuffled": ["order"]}}}, "table 'shuffled'"),
        ({"figures": ["trainings"]}, "figures: 0: figure 'trainings'"),
    ],
)
def test_a_study_that_trains_without_the_plugin_is_told_which_one_to_name(tmp_path, monkeypatch, more, says):
    monkeypatch.chdir(tmp_path)
    if "models" in more:
        source = {"type": "trained", "corpus": "letters", "algorithm": more["models"]["m"]}
        more = {"models": {"m": {"source": source}}}
    Path("letters.txt").write_text("a b c\n")
    Path("c.yaml").write_text(yaml.safe_dump(corpus_config(**more)))
    where = (
        "is in the plugin 'training', which comes with biasgrid; load it: in a config plugins: [training], "
    )
    refusal_of(command("list", "models", "--study", "c.yaml"), f"biasgrid: c.yaml: {says} {where}")


@pytest.mark.slow
def test_a_misspelt_algorithm_is_told_where_algorithms_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = {"type": "trained", "corpus": "letters", "algorithm": "glov"}
    Path("c.yaml").write_text(yaml.safe_dump(corpus_config(models={"m": {"source": source}})))
    done = command("list", "models", "--study", "c.yaml")
    assert (done.returncode, done.stderr) == (
        2,
        "biasgrid: c.yaml: models: m: source: algorithm: unknown training algorithm 'glov'; allowed: those of a "
        "plugin, such as plugins: [training]\n",
    )


PSYCHOMETRICS = """
import biasgrid as bg
from biasgrid import registry

words = {name: [f"{name}{i}" for i in range(6)] for name in "abc"}
model = bg.load({w: [i, len(w), ord(w[0]) - 98] for ws in words.values() for i, w in enumerate(ws)}, name="m")
query = bg.Query([words["a"], words["b"]], [words["c"]])
options = {"bootstrap": {"draws": 5}, "reliability": True, "progress": False}
for call in (lambda grid: grid.frame("mtmm"), lambda grid: grid.plot("mtmm")):
    try:
        call(bg.measure_grid(["ripa"], [query], [model], **options))
    except bg.BiasgridError as error:
        print(str(error).partition(", which")[0])
registry.load_plugins(["psychometrics"])
print(len(bg.measure_grid(["ripa"], [query], [model], **options).frame("variance_parts")))
"""


@pytest.mark.slow
def test_tables_and_figures_of_a_plugin_are_there_once_it_is_loaded(tmp_path, monkeypatch):
    where = "is in the plugin 'psychometrics'"
    assert python(PSYCHOMETRICS).splitlines() == [f"table 'mtmm' {where}", f"figure 'mtmm' {where}", "4"]
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "config" / "embedded.yaml", ".")
    done = command("step", "table mtmm", "--study", "embedded.yaml")
    refusal_of(done, f"biasgrid: embedded.yaml: table 'mtmm' {where}, which comes with biasgrid; ")
    Path("embedded.yaml").write_text(Path("embedded.yaml").read_text() + "figures: [mtmm]\n")
    done = command("list", "models", "--study", "embedded.yaml")
    assert done.stderr.startswith(f"biasgrid: embedded.yaml: figures: 0: figure 'mtmm' {where}, ")


@pytest.mark.slow
def test_results_have_no_tables_of_a_plugin_that_another_study_loaded():
    assert {"mtmm", "variance_parts"} <= set(tables.REGISTRY)
    study = bg.open_study(finished_study.finished().folder / "results" / "small").study
    assert study.tables.keys().isdisjoint({"mtmm", "variance_parts"})


@pytest.mark.slow
def test_the_command_line_lists_and_loads_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listed = {entry["name"]: entry["description"] for entry in json.loads(command("list", "plugins").stdout)}
    assert listed.keys() == registry.shipped_plugins().keys()
    assert all(text.endswith(".") for text in listed.values())
    head = '{"size":2,"dimensions":2,"l2NormIndex":2,"wordIndex":3,"words":["a","b"],"vectors":{'
    Path("v.json").write_text(head + '"a":[1,2,3,0],"b":[3,4,5,1]}}')
    options = ("convert", "--input", "v.json", "--output", "store")
    refusal_of(command(*options), "is of no known format", "biasgrid list plugins")
    done = command(*options, "--plugins", "npm")
    assert json.loads(done.stdout)["format"] == "wink-json", done.stderr


@pytest.mark.slow
def test_a_command_with_the_name_of_a_plugin_loads_it():
    done = command("properties", "--metric", "mac")
    assert {row["metric"] for row in json.loads(done.stdout)} == {"mac"}, done.stderr
    says = "biasgrid: unknown command 'propertis'; did you mean 'properties'? allowed: init, "
    refusal_of(command("propertis"), says)


FORMER = """
import warnings

import biasgrid as bg

warnings.simplefilter("ignore")
print(bg.examine("gipe"), bg.properties.examine is bg.examine, bg.properties.Examination is bg.Examination)
"""


@pytest.mark.slow
def test_former_names_load_the_plugin_that_has_them():
    assert python(FORMER) == "<Examination of GIPE: 1 answers> True True\n"


@pytest.mark.slow
def test_a_model_that_comes_with_biasgrid_brings_its_plugin(tmp_path):
    code = """
import biasgrid as bg
from biasgrid.models import building, sources

def build_store(name, model, folder, shared):
    raise bg.BiasgridError(f"{name} from {sources.check(model['source']).name}")

building.build_store = build_store
try:
    bg.load("glove-6b-100d")
except bg.BiasgridError as error:
    print(error)
"""
    assert python(code, BIASGRID_EMBEDDINGS=str(tmp_path)) == "glove-6b-100d from npm\n"


GRID = """
import biasgrid as bg
from biasgrid.core.registry import load_plugins

scores = {"men are strong": -10.0, "women are strong": -12.0, "women cook": -8.0, "men cook": -8.5}
if __name__ == "__main__":
    load_plugins(["maddalozzo"])
    model = bg.load(scores, kind="language_model", name="measured")
    query = bg.Query([["men are strong", "women cook"], ["women are strong", "men cook"]])
    grids = [bg.measure_grid(["kl_div_s"], [query], [model], n_jobs=n, progress=False) for n in (1, 2)]
    print([bg.metrics.kl_div_s(query, model).value, *(grid.scores["value"][0] for grid in grids)])
"""


@pytest.mark.slow
def test_each_process_of_a_grid_has_them():
    # workers that are forks would have the plugins by themselves
    first, *others = json.loads(python(GRID, sys.executable).replace("np.float64(", "").replace(")", ""))
    assert others == [first, first]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a user's plugin of the name of one that comes with biasgrid."""
    monkeypatch.chdir(tmp_path)
    Path("npm").mkdir()
    Path("npm/mine_of_that_name.py").write_text("open('ran.txt', 'w').close()\n")
    write_text_model(Path("one.txt"), ["a"])
    Path("data/word_sets").mkdir(parents=True)
    Path("data/word_sets/toy.json").write_text('{"sets": {"e": ["e0", "e1"], "f": ["f0", "f1"]}}')
    return tmp_path


def test_a_users_folder_of_that_name_is_not_taken_silently(here):
    config = grid_config()
    with refused("x.yaml: plugins: 'npm' comes with biasgrid", "write './npm'", "or rename it"):
        Study.of(config | {"plugins": ["npm"]}, "x.yaml")
    assert not Path("ran.txt").exists()
    Study.of(config | {"plugins": ["./npm"]}, "x.yaml")
    assert Path("ran.txt").exists()


TOY = '''
from biasgrid.metrics import Metric, Score

from ..parts.{part} import zero


def toy(targets, attributes):
    """A toy."""
    from .. import late_{part}

    return Score(zero() + late_{part}.ONE)


METRICS = (Metric("{name}", "Toy", toy, template=(2, 1), range=(0.0, 1.0), neutral=0.0, reference="this test"),)
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A user's plugin that is a package: its files import each other."""
    monkeypatch.chdir(tmp_path)
    for folder in ("kit/kinds_of_mine", "kit/parts"):
        Path(folder).mkdir(parents=True)
    Path("kit/__init__.py").write_text('"""A kit."""\n')
    for part in ("one", "two"):
        Path(f"kit/parts/{part}.py").write_text("def zero():\n    return 0.0\n")
        Path(f"kit/late_{part}.py").write_text("ONE = 1.0\n")
        Path(f"kit/kinds_of_mine/{part}.py").write_text(TOY.format(part=part, name=f"toy_{part}"))
    registry.load_plugins(["kit"])
    return tmp_path / "kit"


def test_files_of_a_plugin_import_each_other(package):
    assert {"toy_one", "toy_two"} <= set(metrics.REGISTRY)
    assert metrics.REGISTRY["toy_one"].function([], []).value == 1
    assert metrics.REGISTRY.module("toy_one") == "biasgrid_plugin_kit.kinds_of_mine.one"


@pytest.mark.slow
@pytest.mark.parametrize("file", ["parts/one.py", "late_one.py", "kinds_of_mine/one.py"])
def test_an_edit_of_a_plugin_makes_stale_what_imports_it_and_nothing_else(package, file):
    def digests():
        for cached in (code.digest, code._closure, code._read, code._imports_of_package):
            cached.cache_clear()
        code._KNOWN.clear()
        return {name: code.digest(metrics.REGISTRY.module(name)) for name in ("toy_one", "toy_two", "weat")}

    before = digests()
    path = package / file
    path.write_text(path.read_text() + "# a comment\n")
    assert digests() == before
    path.write_text(path.read_text() + "X = 1\n")
    after = digests()
    assert {name for name in after if after[name] != before[name]} == {"toy_one"}


def test_a_package_that_fails_is_one_line(package):
    Path("broken").mkdir()
    Path("broken/__init__.py").write_text("")
    Path("broken/bad.py").write_text("from .nothing import x\n")
    with refused(
        "plugins: broken/bad.py: ModuleNotFoundError: No module named 'biasgrid_plugin_broken.nothing'"
    ):
        registry.load_plugins(["broken"])
    Path("other/kit").mkdir(parents=True)
    Path("other/kit/__init__.py").write_text("")
    with refused("other/kit/__init__.py: another plugin has this name"):
        registry.load_plugins(["other/kit"])
