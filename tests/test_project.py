"""The project's own files: what must be in step with what."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires

import pytest
import snakemake_process
import yaml
from conftest import ROOT
from packaging.requirements import Requirement

from biasgrid import __version__

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def pinned(name):
    lines = (ROOT / name).read_text().splitlines()
    return dict(line.strip().split("==") for line in lines if line.strip() and not line.startswith("#"))


STUDY, TEST = pinned("requirements.lock"), pinned("requirements-test.lock")
NOTEBOOKS = pinned("requirements-notebooks.lock")
LOCK = STUDY | TEST | NOTEBOOKS
# conda's names for what the Python index calls otherwise
CONDA = {"msgpack-python": "msgpack", "snakemake-minimal": "snakemake"}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(*extras):
    """The packages that biasgrid needs with these extras, as they are installed here, and those that these need."""
    done, ahead = set(), [Requirement(line) for line in PROJECT["dependencies"]]
    ahead += [Requirement(f"biasgrid[{','.join(extras)}]")]
    while ahead:
        one = ahead.pop()
        if (one.name, *one.extras) in done:
            continue
        done.add((one.name, *one.extras))
        if one.name == "biasgrid":
            ahead += [Requirement(line) for extra in one.extras for line in EXTRAS[extra]]
            continue
        for other in map(Requirement, requires(one.name) or ()):
            marker = other.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in one.extras or {""}):
                ahead.append(other)
    return {normal(name) for name, *_ in done} - {"biasgrid"}


def test_the_locks_pin_what_is_needed_and_nothing_else():
    """requirements.lock what studies need, and no torch; requirements-test.lock what the tests add."""
    study, test = ({normal(name) for name in lock} for lock in (STUDY, TEST))
    of_studies = needed("workflow", "figures", "gensim")
    build = {"pip", "hatchling", "packaging", "pathspec", "pluggy", "tomlkit", "trove-classifiers"}
    assert of_studies <= study <= of_studies | build
    assert needed("test") | study == test | study
    assert study.isdisjoint(test)
    assert "torch" in test


def test_the_extra_all_is_all_of_a_users():
    (line,) = EXTRAS["all"]
    assert Requirement(line).extras == EXTRAS.keys() - {"all", "docs", "slurm", "test"}
    page = (ROOT / "docs" / "install.md").read_text()
    assert {name for name in EXTRAS.keys() - {"docs", "test"} if f"| `{name}` |" not in page} == set()


def test_the_lock_of_the_extra_for_slurm_pins_it():
    slurm = pinned("requirements-slurm.lock")
    wanted = dict(line.split(">=") for line in EXTRAS["slurm"])
    assert slurm.keys() == wanted.keys()
    assert slurm.keys().isdisjoint(LOCK)
    for name, least in wanted.items():
        assert tuple(map(int, slurm[name].split("."))) >= tuple(map(int, least.split(".")))


def test_the_lock_of_the_notebooks_pins_them_and_agrees_with_the_others():
    """Of what the tests do not install, the direct dependencies."""
    notebooks = {normal(name): version for name, version in NOTEBOOKS.items()}
    wanted = [Requirement(line) for line in EXTRAS["notebooks"] if not line.startswith("biasgrid")]
    assert {one.name for one in wanted} <= notebooks.keys()
    assert all(one.specifier.contains(notebooks[one.name]) for one in wanted)
    assert notebooks.keys().isdisjoint(map(normal, STUDY))
    test = {normal(name): version for name, version in TEST.items()}
    shared = notebooks.keys() & test
    assert {"ipykernel", "nbclient"} <= shared
    assert {name: test[name] for name in shared} == {name: notebooks[name] for name in shared}


def test_the_lock_of_language_models_pins_what_the_extra_names_and_agrees_with_the_tests():
    language, test = (
        pinned("requirements-language.lock"),
        {normal(name): version for name, version in TEST.items()},
    )
    wanted = {one.name: one.specifier for one in map(Requirement, EXTRAS["language"])}
    assert language.keys() == wanted.keys()
    assert all(wanted[name].contains(version) for name, version in language.items())
    assert {name: test[name] for name in language} == language


def test_environment_yml_has_the_locks_versions_of_all_dependencies():
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    listed = dict(line.split("=") for line in dependencies if isinstance(line, str))
    listed |= dict(line.split("==") for line in dependencies[-1]["pip"])
    python = listed.pop("python")
    assert python == "3.11"
    locked = {normal(name): version for name, version in LOCK.items()}
    ours = {normal(CONDA.get(name, name)): version for name, version in listed.items()}
    assert ours == {name: locked[name] for name in ours}
    extras = ("workflow", "figures", "gensim", "arrow", "debias", "notebooks", "test")
    direct = map(
        Requirement, [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    )
    assert {normal(one.name) for one in direct} - {"biasgrid"} <= set(ours)


def run(*command):
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)


def test_code_is_linted_and_formatted():
    for command in (("ruff", "check", "."), ("ruff", "format", "--check", ".")):
        done = run(*command)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_workflow_is_linted_and_formatted():
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = snakemake_process.run(("--lint",), ROOT, environment)
    assert done.returncode == 0, done.stdout + done.stderr
    done = run("snakefmt", "--check", "Snakefile", "workflow")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_rule_is_named_in_the_snakefile_or_below():
    """The target rules must stand in the top-level file itself."""
    text = (ROOT / "Snakefile").read_text()
    assert re.findall(r"^rule (\w+):", text, re.M) == ["all", "fetch", "verify", "stores", "notebooks"]


def test_citation_changelog_and_package_agree_on_version_and_date():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    newest = re.search(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest.groups() == (__version__, str(citation.get("date-released", "unreleased")))
    assert citation["version"] == __version__
    assert PROJECT["license"].startswith(citation["license"])


def tracked(*paths):
    """What git tracks below these paths; skipped where there is no repository, as in a source distribution."""
    done = subprocess.run(["git", "ls-files", *paths], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("no git repository")
    return done.stdout.splitlines()


def test_every_data_file_has_a_licence_and_the_package_states_each():
    text = (ROOT / "data" / "LICENSES.md").read_text()
    rows = re.findall(r"^\| `(\S+)` \| (\S+) \| (.+) \|$", text, re.M)
    files = [path.removeprefix("data/") for path in tracked("data")]
    assert [file for file, *_ in rows] == [file for file in files if not re.search(r"\.md$|LICENSE", file)]
    for file, licence, statement in rows:
        assert licence in PROJECT["license"].split(" AND "), file
        if file.startswith(("word_sets/", "templates/")):
            assert statement.startswith(json.loads((ROOT / "data" / file).read_text())["licence"]), file
    assert set(PROJECT["license"].split(" AND ")) == {licence for _, licence, _ in rows}
    assert all((ROOT / file).is_file() for file in PROJECT["license-files"])


def test_no_lock_of_a_run_is_tracked():
    assert not [path for path in tracked() if path.endswith((".biasgrid.lock", "/.lock"))]
    assert ".biasgrid.lock" in (ROOT / ".gitignore").read_text().splitlines()
