"""Configs: what a study resolves to, plugins, included files, and the page that says what may be in them."""

import json
import runpy
import sys

import pytest
import yaml
from conftest import ROOT, grid_config
from loopback import refused
from test_registry import TOY, plugins  # noqa: F401  (a fixture)

from biasgrid.config import factory, simulation, study
from biasgrid.config.load import WordSets
from biasgrid.factory import Factory
from biasgrid.simulation import Simulation
from biasgrid.study import Study


def test_the_page_is_generated_from_the_models():
    page = runpy.run_path(ROOT / "docs" / "configuration.py")["page"]()
    assert page == (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8"), "make docs"


def models(model, done):
    """The model and those in it."""
    inner = runpy.run_path(ROOT / "docs" / "configuration.py")["_models"]
    if model not in done:
        done.append(model)
        for info in model.model_fields.values():
            for one in inner(info.annotation):
                models(one, done)
    return done


def test_every_key_has_a_description():
    for config in (study.StudyConfig, simulation.SimulationConfig, factory.FactoryConfig):
        for model in models(config, []):
            assert model.__doc__, model
            for name, info in model.model_fields.items():
                assert info.description, f"{model.__name__}.{name}"


def test_keys_are_as_they_are_given_and_defaults_come_after_them(root):
    config = grid_config()
    resolved = Study.of(config, root=root).config
    assert list(resolved)[: len(config)] == list(config)
    assert list(resolved)[len(config) :] == [
        "seed", "results", "word_sets", "words", "aggregation", "ranking", "correlations", "debias", "benchmarks",
        "corpora", "quality", "evaluation", "inference", "null_distributions", "published", "computed", "beside",
    ]  # fmt: skip
    assert resolved["ranking"] == {"by": "distance", "ties": "average"}
    assert resolved["inference"] == {"interval": "jackknife", "adjust": "holm"}
    assert list(resolved["models"]["one"]) == ["label", "source", "vocab_prefix", "licence", "note"]
    assert grid_config() == config


def test_numbers_stay_as_they_are_written(root):
    config = grid_config() | {"seed": 2020.0, "inference": {"bootstrap": {"draws": 50.0, "level": 0.9}}}
    config["metrics"]["rnsb"]["params"] = {"test_size": 0.25, "n_iterations": 5}
    resolved = Study.of(config, root=root).config
    assert json.dumps([resolved["seed"], resolved["inference"]["bootstrap"]]) == (
        '[2020, {"draws": 50, "level": 0.9}]'
    )
    assert json.dumps(resolved["metrics"]["rnsb"]["params"]) == '{"test_size": 0.25, "n_iterations": 5}'
    for wrong in ("2020", True, 2020.5):
        with refused("config: seed: ", "is not a whole number"):
            Study.of(grid_config() | {"seed": wrong}, root=root)


@pytest.fixture
def toy(root, plugins):  # noqa: F811
    (root / "mine").mkdir()
    (root / "mine" / "toy.py").write_text(TOY.format(name="toy"))
    return grid_config() | {"metrics": {"toy": {}}, "plugins": ["mine"]}


def test_a_studys_plugins_are_loaded_before_its_names_are_checked(root, toy):
    first = Study.of(toy, root=root)
    assert first.metric("First", "toy").label == "Toy"
    assert first.config["plugins"] == ["mine"]
    assert json.loads(first.to_json())["plugins"] == ["mine"]
    with refused("x.yaml: plugins: ", "absent: no such file or folder"):
        Study.of(toy | {"plugins": ["absent"]}, "x.yaml", root)
    with refused("x.yaml: plugins: 'mine' is not a list"):
        Study.of(toy | {"plugins": "mine"}, "x.yaml", root)
    assert "plugins" not in Study.of(grid_config() | {"plugins": []}, root=root).config


def test_simulations_and_benchmarks_have_plugins_too(root, toy):
    config = {"simulation": "s", "metrics": {"toy": {}}, "words": [8], "bias": [0], "plugins": ["mine"]}
    assert list(Simulation.of(config, root=root).cells) == ["toy/8/0"]
    config = {"factory": "f", "mu": [0.5], "sigma": [0.1], "trainers": {"ppmi": {}}, "plugins": ["mine"]}
    assert "toy" in Factory.of(config, root=root).config["metrics"]


def test_parts_may_be_in_files(root):
    config = grid_config()
    (root / "models.yaml").write_text(yaml.safe_dump({"one": config["models"]["one"]}, sort_keys=False))
    (root / "criteria.yaml").write_text(yaml.safe_dump(config["criteria"], sort_keys=False))
    whole = Study.of(config, root=root)
    config["models"] = ["models.yaml", {"two": config["models"]["two"]}]
    config["criteria"] = "criteria.yaml"
    assert Study.of(config, root=root).to_json() == whole.to_json()
    with refused("config: models: 'one' is defined twice"):
        Study.of(config | {"models": ["models.yaml", {"one": whole.config["models"]["one"]}]}, root=root)
    (root / "models.yaml").write_text("one: {lable: x}\n")
    with refused("models.yaml: one: unknown key 'lable'; did you mean 'label'?"):
        Study.of(config, root=root)
    with refused("config: models: 3 is not a mapping or a file's path"):
        Study.of(config | {"models": [3]}, root=root)


def test_names_that_would_be_no_names_of_files(root):
    for study_name in ("x" * 101, "", "a/b", "ä", ".a"):
        with refused("config: study: ", "allowed: letters, digits"):
            Study.of(grid_config() | {"study": study_name}, root=root)
    config = grid_config()
    config["criteria"]["c" * 101] = config["criteria"].pop("Second")
    with refused("config: criteria: ", "1 to 100 characters"):
        Study.of(config, root=root)


def test_word_sets_by_name(root):
    sets = WordSets(root / "data" / "word_sets")
    assert sets.names == ["toy"]
    assert sets.resolved({"a": ["toy.pairs", "toy.e"], "b": "no.set"}, "x") == {
        "a": [[["a", "b"]], ["e1", "e2"]],
        "b": "no.set",
    }
    with refused("x: toy.json: unknown word set 'g'; allowed: e, f, pairs"):
        sets.resolved(["toy.g"], "x")


@pytest.mark.slow
def test_a_config_is_read_without_a_drawing_library():
    import subprocess

    code = "import sys; from biasgrid.study import Study; Study.read('config/embedded.yaml'); "
    code += "assert not {'matplotlib', 'jsonschema', 'torch', 'sklearn'} & set(sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
