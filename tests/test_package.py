"""biasgrid as a package: what `import biasgrid` costs and hands out, resources, extras, and the wheel in an empty
environment."""

import importlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import yaml
from conftest import ROOT, biasgrid, make_store, printed, refusal, write_text_model
from packaging.requirements import Requirement

import biasgrid as bg
from biasgrid import EmbeddingStore, Query, cli, metrics
from biasgrid.core import extras, registry, resources
from biasgrid.core.errors import BiasgridError
from biasgrid.core.moved import IN_PLUGINS, MOVED, PLUGIN_MODULES, present_name
from biasgrid.study.config.study import StudyConfig
from biasgrid.study.study import Study

SOURCE = ROOT / "src" / "biasgrid"
OPTIONAL = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
HEAVY = ("pandas", "scipy", "sklearn", "pydantic", "gensim", "torch", "matplotlib", "snakemake", "numpy")
GENDER = {
    "male_terms": ["he", "man", "boy", "brother", "him", "his", "son", "male"],
    "female_terms": ["she", "woman", "girl", "sister", "her", "hers", "daughter", "female"],
}


def python(code: str, **settings) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, **settings
    )


# the door


def test_the_import_alone_loads_nothing_large():
    done = python(f"import sys, biasgrid; print([m for m in {HEAVY} if m in sys.modules])")
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_a_plan_loads_nothing_large_either():
    """A run that has nothing to do is a plan, and is to be over at once."""
    code = (
        "import sys\n"
        "from biasgrid.study.study import Study\n"
        "study = Study.read('config/embedded.yaml')\n"
        "study.grid, study.tables, study.figures\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    loaded = python(code, cwd=ROOT).stdout
    assert loaded == "['pydantic', 'numpy']\n"


@pytest.mark.parametrize("name", sorted(bg._PUBLIC))
def test_the_door_hands_out_what_it_names(name):
    module = importlib.import_module(f"biasgrid.{bg._PUBLIC[name] or name}")
    assert getattr(bg, name) is (getattr(module, name) if bg._PUBLIC[name] else module)


def test_the_door_is_what_dir_and_type_checkers_see():
    assert set(dir(bg)) == {*bg._PUBLIC, "__version__"} == set(bg.__all__)
    text = (SOURCE / "__init__.py").read_text()
    imported = re.findall(r"^    from \.(\S*) import (\w+) as \2$", text, re.M)
    assert {name: module for module, name in imported} == bg._PUBLIC
    with pytest.raises(
        AttributeError, match=r"^module 'biasgrid' has no attribute 'lod'; did you mean 'load'\?$"
    ):
        bg.lod  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVED)
def test_a_former_module_is_answered_with_its_present_name(name):
    assert importlib.import_module(f"biasgrid.{MOVED[name]}")
    assert present_name(f"biasgrid.{name}.inner") == f"biasgrid.{MOVED[name]}.inner"
    assert present_name("numpy") == present_name("biasgrid.metrics") == ""
    if "." not in name:
        with pytest.warns(FutureWarning, match=f"biasgrid.{name} is now biasgrid.{MOVED[name]}"):
            assert getattr(bg, name) is importlib.import_module(f"biasgrid.{MOVED[name]}")


@pytest.mark.parametrize(("name", "plugin"), IN_PLUGINS.items())
def test_a_former_name_is_answered_with_its_plugin(name, plugin):
    with pytest.warns(
        FutureWarning, match=f"^biasgrid.{name} is in the plugin '{plugin}': call biasgrid.load_plugins"
    ):
        found = getattr(bg, name)
    module = sys.modules[f"biasgrid_plugin_{plugin}"]
    assert found is (module if name == plugin else getattr(module, name))


@pytest.mark.parametrize("name", PLUGIN_MODULES)
def test_a_former_module_that_is_in_a_plugin_now_is_answered_with_its_name(name):
    assert importlib.import_module(PLUGIN_MODULES[name])
    assert present_name(name) == PLUGIN_MODULES[name]
    if name.startswith("biasgrid.models"):
        assert present_name(name.replace("biasgrid.models", "biasgrid.embeddings")) == PLUGIN_MODULES[name]


def test_metrics_can_be_called_whoever_imported_them_first(tmp_path):
    make_store(tmp_path, ["a", "b", "c", "d"], np.eye(4))
    code = (
        "import biasgrid.measure.measure, biasgrid.metrics\n"
        "from biasgrid import EmbeddingStore, Query, metrics\n"
        "query = Query([['a'], ['b']], [['c'], ['d']], ['A', 'B'], ['C', 'D'])\n"
        "print(metrics.weat(query, EmbeddingStore.open('store')).value)"
    )
    assert python(code, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(SOURCE.parent)}).stdout == "0.0\n"


@pytest.mark.slow
def test_the_door_needs_no_module_that_other_systems_lack(tmp_path):
    """Windows has none of these modules, macOS no affinity; what Python itself imports where it can is let pass."""
    write_text_model(tmp_path / "model.txt", ["a", "b", "c", "d"])
    code = (
        "import os, sys\n"
        "for name in ('fcntl', 'grp', 'pwd', 'resource', 'termios', 'pty', 'syslog'): sys.modules[name] = None\n"
        "for name in ('sched_getaffinity', 'getuid', 'geteuid', 'fork', 'getloadavg', 'nice'):\n"
        "    if hasattr(os, name): delattr(os, name)\n"
        "import biasgrid as bg\n"
        "query = bg.Query([['a'], ['b']], [['c'], ['d']], ['A', 'B'], ['C', 'D'])\n"
        "model = bg.load('model.txt')\n"
        "transform = bg.debias.hard(model, definitional_pairs=[['a', 'b'], ['c', 'd']])\n"
        "model.under(transform).save('debiased')\n"
        "models = [model, bg.load('debiased')]\n"
        "values = [bg.metrics.weat(query, m, permutation=True).value for m in models]\n"
        "grid = bg.measure_grid(['weat'], [query], models, progress=False)\n"
        "print(sorted(grid.scores['value']) == sorted(values))"
    )
    assert python(code, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(SOURCE.parent)}).stdout == "True\n"


# resources and extras


def test_resources_of_a_checkout_are_its_folders():
    for name in ("Snakefile", "workflow/rules", "config/embedded.yaml", "data/word_sets", "profiles/default"):
        assert resources.resource(name) == ROOT / name
        assert resources.resource(name).exists()


@pytest.mark.slow
def test_resources_are_found_from_anywhere_and_the_users_own_go_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    embedded = Study.read(resources.resource("config/embedded.yaml"))
    assert embedded.to_json() == Study.read(ROOT / "config" / "embedded.yaml", root=ROOT).to_json()
    assert (
        resources.find_file("config/queries/case_study.yaml")
        == ROOT / "config" / "queries" / "case_study.yaml"
    )
    # missing in both places: named as it was given
    assert resources.find_file("config/none.yaml") == Path("config/none.yaml")
    config = yaml.safe_load((ROOT / "config" / "embedded.yaml").read_text())
    own = tmp_path / "data" / "word_sets" / "weat.json"
    own.parent.mkdir(parents=True)
    own.write_text('{"sets": {"career": ["job"], "family": ["home"]}}')
    config["criteria"] = {
        "Gender": {
            "queries": {
                "q": {
                    "targets": {"A": "eds.male_terms", "B": "eds.female_terms"},
                    "attributes": {"C": "weat.career", "D": "weat.family"},
                }
            }
        }
    }
    config |= {"debias": {}, "published": []}
    query = Study.of(config).queries["q"]
    assert [s.words for s in query.attribute_sets] == [("job",), ("home",)]
    assert len(query.target_sets[0].words) > 2


@pytest.mark.slow
def test_published_numbers_and_ratings_are_inputs_by_their_place(tmp_path, monkeypatch):
    from biasgrid.study import steps

    monkeypatch.chdir(tmp_path)
    study = Study.read(resources.resource("config/same.yaml"))
    files = [file for name in study.tables for file in steps.table_step(study, name).files]
    assert any(file.startswith(str(ROOT / "data" / "ratings")) for file in files)
    assert not [file for file in files if file.startswith("data/")]


def test_every_extra_that_a_message_names_has_its_package():
    for package, names in extras.EXTRAS.items():
        project = package.replace("_", "-")
        assert any(re.match(rf"{project}\b", line) for name in names.split(",") for line in OPTIONAL[name]), (
            package
        )


@pytest.mark.slow
def test_a_missing_package_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    folder = write_text_model(tmp_path / "a.txt", ["a", "b", "c"]).parent
    store = bg.EmbeddingStore
    model = make_store(folder, ["a", "b", "c"], np.eye(3))
    assert isinstance(model, store)
    from biasgrid.figures.frame import style
    from biasgrid.models.saving import materialize

    transform = bg.debias.linear_projection(model, definitional_pairs=[["a", "b"], ["a", "c"]])
    cases = (
        ("figures", lambda: style().__enter__()),
        ("gensim", lambda: materialize(model, transform, tmp_path / "x.kv")),
        ("arrow", lambda: materialize(model, transform, tmp_path / "x.txt")),
        ("debias", lambda: bg.debias.ran(model, definitional_pairs=[["a", "b"]], variant="wefe")),
    )
    for extra, call in cases:
        with pytest.raises(BiasgridError, match=r"needs \w+; install it: pip install '[^[]+'$") as caught:
            call()
        command = shlex.split(str(caught.value).rpartition(": ")[2])
        assert {*map(Requirement, command[2:])} == {*map(Requirement, OPTIONAL[extra])}


def test_a_checkout_that_is_not_installed_names_its_extra(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", missing)
    assert extras.install_command("language") == "pip install '.[language]'"


def test_no_text_installs_biasgrid_from_an_index():
    """It is in no index: docs name an extra of the folder, and one that there is."""
    kinds = ("*.md", "*.ipynb", "*.py", "*.smk", "*.y*ml", "Makefile")
    found = subprocess.run(["git", "ls-files", *kinds], cwd=ROOT, capture_output=True, text=True, check=True)
    named = set()
    for name in found.stdout.splitlines():
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(r"pip install [^\n`]*\bbiasgrid(\[|[ '\"`]|$)", text, re.M), name
        named.update(*(one.split(",") for one in re.findall(r"pip install (?:-e )?'\.\[([\w,-]+)\]'", text)))
    assert {"language", "workflow", "figures"} <= named <= OPTIONAL.keys()


def test_a_model_that_needs_a_missing_package_is_not_fetched(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "none"))
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(BiasgridError, match=r"^glove-6b-50d, a Parquet file, needs pyarrow; install it: pip"):
        bg.load("glove-6b-50d")
    assert not capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore:.*blank_lines")
def test_text_is_read_the_same_without_arrow(tmp_path, monkeypatch):
    """Words of any kind, numbers in all notations, line ends of all kinds."""
    numbers = ["1", "-0.1", "+3.25e-7", "1E5", ".5", "7.", "7.038531e-26", "123456789.123456789"]
    words = ["one", "1", "ü", "a\tb", "NA", "null", '"', "#", "x,y"]
    lines = [f"{word} " + " ".join(numbers[i:] + numbers[:i]) for i, word in enumerate(words)]
    for text in ("\n".join(lines) + "\n", "\r\n".join(lines), " \n".join(lines) + " \n\n"):
        (tmp_path / "model.txt").write_bytes(text.encode())
        with monkeypatch.context() as without:
            expected = bg_open(tmp_path / "model.txt")
            without.setattr(extras, "find_spec", lambda name: None)
            assert bg_open(tmp_path / "model.txt") == expected
    assert [word for word, _ in expected] == words


def bg_open(path: Path) -> list[tuple[str, bytes]]:
    model = bg.load(path)
    words = list(model.words())
    return [(word, row.tobytes()) for word, row in zip(words, model.vectors(words), strict=True)]


# init and run


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_init_writes_a_study_that_has_every_key(here):
    record = printed("init", "my-study")
    assert record["config"] == "my-study.yaml"
    text = (here / "my-study.yaml").read_text()
    assert all(re.search(rf"^(# )?{key}:", text, re.M) for key in StudyConfig.model_fields)
    study = Study.read("my-study.yaml")
    assert (study.name, list(study.models)) == ("my-study", record["models"])
    assert len(study.models) == 2
    assert study.figures
    # what is behind a "# " may be taken in
    part = r"(?m)^# (?:debias|evaluation|quality|benchmarks|published|embeddings):.*\n(?:#   .*\n)*"
    taken = re.sub(part, lambda found: re.sub("(?m)^# ", "", found[0]), text)
    assert Study.of(yaml.safe_load(taken)).grid.fits


def test_a_small_model_has_all_words_of_the_study_that_init_writes(here, word2vec):
    printed("init", "my-study")
    for query in Study.read("my-study.yaml").queries.values():
        words = {word for given in (*query.target_sets, *query.attribute_sets) for word in given.words}
        assert not [word for word in words if word not in word2vec], query.name


def test_init_never_overwrites(here):
    (here / "mine.yaml").write_text("mine")
    done = biasgrid("init", "mine")
    assert (done.returncode, done.stderr) == (
        2,
        "biasgrid: mine.yaml: exists already; give a different name, or edit it\n",
    )
    assert (here / "mine.yaml").read_text() == "mine"


def test_init_takes_files_and_names_of_models(here):
    write_text_model(here / "my vectors.txt", ["a", "b"])
    printed("init", "sub/a.yaml", "--models", "glove-6b-50d", "my vectors.txt")
    models = Study.read("sub/a.yaml").models
    assert list(models) == ["glove-6b-50d", "my-vectors"]
    assert models["my-vectors"]["source"] == {"type": "file", "path": "my vectors.txt"}
    for arguments, message in (
        (("b", "--models", "glove-6b-50"), "unknown model 'glove-6b-50'; did you mean 'glove-6b-50d'?"),
        (("b", "--models", "glove-6b-50d", "glove-6b-50d"), "models: 'glove-6b-50d' is defined twice"),
        (("a b",), "init: 'a b' is not a valid key; allowed: letters, digits"),
        ((".",), "init: '' is not a valid key"),
    ):
        done = biasgrid("init", *arguments)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_run_is_snakemake_with_the_packaged_workflow(here, monkeypatch):
    ran = []
    monkeypatch.setattr(os, "execve", lambda program, command, environment: ran.append(command))
    # signals wait until Snakemake is there, and it is not
    monkeypatch.setattr(signal, "pthread_sigmask", lambda how, signals: None)
    printed("init", "mine")
    biasgrid("run", "mine.yaml", "--cores", "3", "--dry-run", "--until", "scores")
    biasgrid("run", "config/embedded.yaml")
    first, second = ran
    assert first[:3] == [sys.executable, "-m", "snakemake"]
    assert first[first.index("--configfile") + 1] == "mine.yaml"
    assert first[-5:] == ["--cores", "3", "--dry-run", "--until", "scores"]
    assert str(ROOT / "Snakefile") in first
    assert second[second.index("--configfile") + 1] == str(ROOT / "config" / "embedded.yaml")
    # Snakemake adds these to the config, so that it is checked by the workflow alone
    (here / "part.yaml").write_text("study: part\n")
    biasgrid("run", "part.yaml", "--config", "models=models.yaml")
    assert ran.pop()[-2:] == ["--config", "models=models.yaml"]
    biasgrid("run", "mine.yaml", "--profile", "none")
    assert ran.pop()[-2:] == ["--profile", "none"]
    # what is wrong is said in one line, before Snakemake starts
    texts = {
        "other.yaml": "a: 1\n",
        "results.yaml": (here / "mine.yaml").read_text().replace("results: results", "results: [a]"),
        "metric.yaml": "metrics: {weet: {}}\n",
        "seed.yaml": "seed: x\n",
    }
    for name, text in texts.items():
        (here / name).write_text(text)
    (here / "cluster").mkdir()
    (here / "cluster" / "config.yaml").write_text("executor: none\n")
    for arguments, message in (
        (["none.yaml"], "none.yaml: cannot read it: No such file or directory"),
        (
            ["other.yaml"],
            "other.yaml: key 'study' is missing; a config that changes another one is named after it",
        ),
        (["part.yaml"], "part.yaml: key 'models' is missing"),
        (["results.yaml"], "results.yaml: results: ['a'] is not text"),
        (["mine.yaml", "seed.yaml"], "seed.yaml: seed: 'x' is not a whole number"),
        (
            ["mine.yaml", "metric.yaml"],
            "mine.yaml, metric.yaml: metrics: weet: unknown metric 'weet'; did you",
        ),
        (["mine.yaml", "--cores", "0"], "argument --cores: '0' is not a whole number from 1, nor 'all'"),
        (
            ["mine.yaml", "--nonsense"],
            "run: unknown option '--nonsense'; ",
        ),
        (
            ["mine.yaml", "--profile", "cluster"],
            "profile 'cluster' lies in this folder, and a profile is code: if you trust it, write './cluster'",
        ),
        (
            ["mine.yaml", "--profile", "./cluster"],
            "jobs by none need snakemake-executor-plugin-none; install it: pip install snakemake-exec",
        ),
        (["mine.yaml", "--trust-io-cache"], "run: --trust-io-cache is not allowed: it runs code that is in"),
        (["mine.yaml", "--jobs", "x"], "run: Error parsing number of jobs (--jobs, -j): must be integer"),
    ):
        done = biasgrid("run", *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert message in done.stderr
    assert len(ran) == 2
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    done = biasgrid("run", "mine.yaml")
    assert done.returncode == 2
    assert "biasgrid run needs snakemake; install it: pip install 'matplotlib>=3.11' 'pyarrow" in done.stderr


@pytest.mark.slow
def test_configs_that_come_with_biasgrid_are_found_by_every_command(here):
    file = "results/embedded/queries/gender_1.json"
    assert printed("step", "query gender_1", "--study", "config/embedded.yaml")["files"] == [file]
    assert json.loads(Path(file).read_text())["name"] == "Male terms and Female terms wrt Career and Family"
    assert {"glove-6b-50d", "glove-twitter-25"} <= {entry["name"] for entry in printed("list", "models")}
    done = biasgrid("fetch", "--study", "config/embedded.yaml", "--model", "none")
    assert "unknown model 'none'" in done.stderr
    # the user's own go first
    (here / "config").mkdir()
    (here / "config" / "embedded.yaml").write_text("study: own\n")
    done = biasgrid("step", "query gender_1", "--study", "config/embedded.yaml")
    assert done.stderr == "biasgrid: config/embedded.yaml: key 'models' is missing\n"


TERMINATED = """
import os, signal
import biasgrid
from biasgrid.cli import main
from biasgrid.models import building
from biasgrid.models.store_writer import StoreWriter

def build_store(name, model, folder, shared):
    with StoreWriter(folder / name, name) as writer:
        writer.finish({})

building.build_store = build_store
StoreWriter.finish = lambda *_: os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "call", ["main(['convert', '--input', 'v.txt', '--output', 'store'])", "biasgrid.load('glove-6b-50d')"]
)
def test_a_terminated_process_leaves_no_half_store(here, call):
    write_text_model(here / "v.txt", ["a", "b"])
    environment = os.environ | {"BIASGRID_EMBEDDINGS": "."}
    done = subprocess.run([sys.executable, "-c", TERMINATED + call], env=environment, capture_output=True)
    assert done.returncode == 143, done.stderr
    assert [path.name for path in here.rglob("*")] == ["v.txt"]


def test_other_commands_take_no_other_options():
    done = biasgrid("init", "x", "--nothing")
    assert (done.returncode, "unknown option '--nothing'; " in done.stderr) == (2, True)


# help and what is printed


@pytest.mark.slow
def test_help_fits_a_terminal_and_has_an_example(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = biasgrid("--help").stdout
    shown = re.findall(r"^    (\w+)(?: |$)", text, re.M)
    # every command is listed; those of plugins, which are loaded by their names, have an example
    names = list(cli.commands().by_name)
    of_plugins = set(names) & registry.shipped_plugins().keys()
    assert sorted(shown) == sorted({name.split()[0] for name in names} - of_plugins)
    assert all(f"  biasgrid {name} " in text for name in of_plugins)
    for command in ["", "words", *names]:
        text = biasgrid(*command.split(), "--help").stdout
        assert max(map(len, text.splitlines())) <= 80, command
        # a command with commands of its own has their examples
        assert command == "words" or re.search(rf"^  biasgrid {command}", text, re.M), command


@pytest.mark.parametrize("name", cli.FORMER)
def test_former_command_is_answered_with_what_takes_its_place(name):
    line = refusal(name, "--study", "study.yaml")
    assert line == f"biasgrid: {name} has a new name: {cli.FORMER[name]}"
    # the new command exists
    assert cli.commands().find(cli.FORMER[name].split()[1:])[1]


@pytest.mark.slow
def test_who_reads_only_the_beginning_is_no_error():
    command = f"set -o pipefail; {sys.executable} -m biasgrid list word-sets | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[\n", "")


def test_the_version_is_the_packages():
    done = biasgrid("--version")
    assert (done.returncode, done.stdout) == (0, f"biasgrid {bg.__version__}\n")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_measure_prints_a_table_on_a_terminal_and_json_elsewhere(here, monkeypatch):
    words = [f"{letter}{i}" for letter in "abcd" for i in range(4)]
    make_store(here, words, np.random.default_rng(1).normal(size=(16, 5)))
    sets = [words[:4], words[4:8]], [words[8:12], [*words[12:], "lost"]]
    query = Query(*sets, ["A", "B"], ["C", "D"])
    (here / "query.json").write_text(query.to_json())
    options = ["measure", "--metric", "weat", "--model", "store", "--query", "query.json"]
    options += ["--permutation", "--bootstrap", "draws=50"]
    result = metrics.weat(query, EmbeddingStore.open(here / "store"), permutation={}, bootstrap={"draws": 50})
    plain = biasgrid(*options).stdout
    assert json.loads(plain)["value"] == result.value
    assert biasgrid(*options, "--json").stdout == plain
    title, _, row, *sentences = biasgrid(*options, "--table").stdout.splitlines()
    assert title == "WEAT of made: no bias is 0, any number is possible"
    assert row == "A and B wrt C and D  -0.446"
    numbers = -0.4460887, 46 / 70, -2.9787593, 2.0865819
    assert (result.value, result.p_value, result.ci_low, result.ci_high) == pytest.approx(numbers)
    text = " ".join(line.strip() for line in sentences)
    assert "95 % interval over words: [-2.98, 2.09]." in text
    assert "Tests: permutation test, p = .66." in text
    assert "No evidence of bias in this test. This does not prove that there is no bias." in text
    assert sentences[-1] == "  Missing words (1): lost."
    assert biasgrid(*options, "--table", "--json").returncode == 2
    query = Query(*sets[:1], [words[8:12], [f"none {i}" for i in range(40)]], ["A", "B"], ["C", "D"])
    (here / "query.json").write_text(query.to_json())
    lines = biasgrid(*options[:7], "--table").stdout.splitlines()
    assert lines[2] == "A and B wrt C and D  no value"
    assert lines[3].startswith("  No value: too many words are lost: D lacks 40 of 40 words")
    assert max(map(len, lines)) <= 80
    sub = biasgrid("measure", "--metric", "rnd", *options[3:7], "--table").stdout.splitlines()
    assert [line[:11] for line in sub if line.startswith("A")] == ["A and B wrt"] * 2


# the wheel


def link_packages(environment: Path, extra: str = "") -> list[Path]:
    """Link what biasgrid, as it is installed in another environment, says that it needs, and what that needs.

    The packages are those of this environment, whose versions the locks pin: nothing is fetched. Returns their files.
    """
    (site,) = environment.glob("lib/python*/site-packages")
    (installed,) = metadata.distributions(name="biasgrid", path=[str(site)])
    done, ahead, files = set(), [Requirement(f"biasgrid[{extra}]")], []
    while ahead:
        one = ahead.pop()
        if (one.name, *one.extras) in done:
            continue
        done.add((one.name, *one.extras))
        package = installed if one.name == "biasgrid" else metadata.distribution(one.name)
        assert package.version in one.specifier
        ahead += [
            other
            for other in map(Requirement, package.requires or ())
            if not other.marker or any(other.marker.evaluate({"extra": name}) for name in one.extras or {""})
        ]
        own = [file for file in package.files if file.parts[0] not in ("..", "__pycache__")]
        files += [Path(package.locate_file(file)) for file in own]
        for name in {file.parts[0] for file in own}:
            if not (site / name).exists():
                (site / name).symlink_to(package.locate_file(name))
    return files


@pytest.mark.slow
def test_the_wheel_in_an_empty_environment(tmp_path):
    """It is built; installed without extras it measures, with two it writes a study and draws its figures."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(tmp_path, *pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    tracked = subprocess.run(
        ["git", "ls-files", "config", "data", "plugins", "profiles", "workflow"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout.split()
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"biasgrid/share/{path}" for path in (*tracked, "Snakefile", "environment.yml")} <= names
    assert {"biasgrid/py.typed", "biasgrid/cli/study.template.yaml"} <= names
    assert not [name for name in names if "embeddings/raw" in name or name.endswith((".pyc", ".pyi"))]

    venv.create(tmp_path / "venv")
    program = tmp_path / "venv" / "bin"
    run(tmp_path, *pip, "--python", program / "python", "install", "-q", "--no-deps", "--no-compile", wheel)
    files = {(s.st_ino, s.st_blocks) for path in link_packages(tmp_path / "venv") for s in [path.stat()]}
    assert sum(blocks for _, blocks in files) * 512 < 450e6

    here = tmp_path / "here"
    here.mkdir()
    sets = json.loads((ROOT / "data" / "word_sets" / "weat.json").read_text())["sets"]
    needed = {name: sets[name] for name in ("career", "family", "science", "arts", *GENDER)}
    words = sorted({word for words in needed.values() for word in words})
    for seed, name in enumerate(("one", "two")):
        write_text_model(here / f"{name}.txt", words, seed=seed)
    code = (
        "import biasgrid as bg\n"
        "sets = bg.word_sets('weat')\n"
        "query = bg.Query([sets['male_terms'], sets['female_terms']], [sets['career'], sets['family']])\n"
        "models = [bg.load('one.txt'), bg.load('two.txt')]\n"
        "grid = bg.measure_grid(['weat'], [query], models, progress=False, n_jobs=2)\n"
        "value = bg.metrics.weat(query, models[0]).value\n"
        "assert grid.scores['value'][0] == value\n"
        "try: grid.plot('scores')\n"
        'except bg.BiasgridError as error: assert "pip install \'matplotlib>=" in str(error)\n'
        "print(repr(value))\n"
        "from biasgrid.cli import main\n"
        "assert main(['run', 'x.yaml']) == 2\n"
        "for about in (['plugins'], ['formats', '--plugins', 'npm']):\n"
        "    print('and')\n"
        "    assert main(['list', *about]) == 0\n"
    )
    value, plugins, formats = run(here, program / "python", "-c", code).stdout.split("\nand\n")
    assert "npm" in {entry["name"] for entry in json.loads(plugins)}
    assert "wink-json" in {entry["name"] for entry in json.loads(formats)}

    link_packages(tmp_path / "venv", "workflow,figures")
    run(here, program / "biasgrid", "init", "mine", "--models", "one.txt", "two.txt")
    # the other metrics that `init` writes: test_kinds_of_inputs.py
    config = yaml.safe_load((here / "mine.yaml").read_text()) | {
        "metrics": {"weat": {}},
        "figures": ["rankings"],
    }
    (here / "mine.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    study = ("run", "mine.yaml")
    run(here, program / "biasgrid", *study, "--cores", "1")
    results = here / "results" / "mine"
    assert (results / "figures" / "rankings.png").stat().st_size > 10_000
    cell = json.loads((results / "cells" / "one" / "none" / "weat" / "career.json").read_text())
    assert repr(cell["results"][0]["value"]) == value
    # nothing is left to do
    code = (
        "import biasgrid as bg\n"
        "from biasgrid.cli import main\n"
        "print(repr(float(bg.open_study('results/mine').table('weat').iloc[0, 0])), flush=True)\n"
        f"main({[*study, '--dry-run']})\n"
    )
    done = run(here, program / "python", "-c", code)
    assert done.stdout.startswith(f"{value}\n")
    assert "nothing would run: everything is up to date" in done.stdout


def run(folder: Path, *command: object) -> subprocess.CompletedProcess[str]:
    """A command that must succeed, outside of the checkout and of this environment's paths."""
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "BIASGRID"))
    }
    done = subprocess.run(
        list(map(str, command)), cwd=folder, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.slow
@pytest.mark.network
def test_pip_installs_a_checkout_in_an_empty_environment(tmp_path):
    """pip builds the package with hatchling alone, installs its dependencies, and the package works."""
    venv.create(tmp_path / "venv")
    program = tmp_path / "venv" / "bin"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", program / "python"]
    run(tmp_path, *pip, "install", "-q", "--no-compile", ROOT)

    # WEAT by hand: the mean cosines of `he` with a and b are 1 and 0, those of `she` 0 and 1
    (tmp_path / "made.txt").write_text("he 1 0\nshe 0 1\na 1 0\nb 0 1\n")
    code = (
        "import biasgrid as bg\n"
        "query = bg.Query([['he'], ['she']], [['a'], ['b']])\n"
        "print(bg.__file__, bg.metrics.weat(query, bg.load('made.txt')).value)"
    )
    where, value = run(tmp_path, program / "python", "-c", code).stdout.split()
    assert Path(where).is_relative_to(tmp_path)
    assert value == "2.0"
    done = run(tmp_path, program / "biasgrid", "--version")
    assert done.stdout == f"biasgrid {bg.__version__}\n"
    run(tmp_path, program / "biasgrid", "init", "mine", "--models", "made.txt")
    assert StudyConfig.model_validate(yaml.safe_load((tmp_path / "mine.yaml").read_text())).study == "mine"
