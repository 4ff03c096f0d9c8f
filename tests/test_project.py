"""The project's own files: what must be in step with what."""

import ast
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


def test_the_citation_and_the_package_have_one_version():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == __version__
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


# no noun and no verb: a reader cannot tell what such a name holds
NO_NAMES = re.findall(
    r"\w+",
    """
added allowed answered any anything asked both called changed checked chosen collected compared compiled counted
covered decided defined done drawn each evaluated every few filled fitted followed found given gone held here
inferred joined judged kept known listed located locked made mapped matched measured met mine more moved much
named needed none nothing of ordered oriented other others ours own paired permuted planned ranked recovered
remembered replaced resolved said same sampled scored seen several shown some sorted stamped such taken tested
that theirs then there these this those told trained turned used wanted worded wrapped written
""",
)
# what users call so: constructors (Query.of), keys of configs and of JSON, fields of declarations, the public door
CONTRACTS = {
    "found": ["debias/transform.py", "measure.py", "report/cells.py", "words.py"],
    "fitted": ["debias/transform.py"],
    "allowed": ["embeddings/sources/source.py"],
    "paired": ["metrics/registry.py", "report/cells.py"],
    "ranked": [
        "config/criteria.py",
        "report/decisive_queries.py",
        "tables/rank_samples.py",
        "tables/rankings.py",
    ],
    "same": ["metrics/same.py"],
    "sorted": ["config/models.py", "evaluation/spec.py"],
    "trained": ["config/factory.py"],
}


def test_no_name_in_the_code_is_a_pronoun_or_a_participle():
    bad = []
    for path in sorted((ROOT / "src" / "biasgrid").rglob("*.py")):
        where = path.relative_to(ROOT / "src" / "biasgrid").as_posix()
        banned = {name for name in NO_NAMES if where not in CONTRACTS.get(name, ())}
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.FunctionDef(name=name):
                    bad += [(where, name)] * (name.strip("_") in banned - {"of"})
                case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    bad += [(where, name)] * (name.strip("_") in banned)
    assert bad == []
