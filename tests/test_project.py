"""The project's own files: what must be in step with what."""

import os
import re
import subprocess
import sys
import tomllib

import pytest
import snakemake_process
import yaml
from conftest import ROOT

LOCK = dict(
    line.strip().split("==")
    for line in (ROOT / "requirements.lock").read_text().splitlines()
    if line.strip() and not line.startswith("#")
)
# conda's names for what the Python index calls otherwise
CONDA = {"msgpack-python": "msgpack", "snakemake-minimal": "snakemake"}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_lock_pins_every_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = project["dependencies"] + project["optional-dependencies"]["test"]
    names = {normal(re.match(r"[A-Za-z0-9_.-]+", line)[0]) for line in needed}
    assert names <= {normal(name) for name in LOCK}


def test_the_lock_of_the_extra_for_slurm_pins_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "requirements-slurm.lock").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    wanted = dict(line.split(">=") for line in project["optional-dependencies"]["slurm"])
    assert pinned.keys() == wanted.keys()
    assert pinned.keys().isdisjoint(LOCK)
    for name, least in wanted.items():
        assert tuple(map(int, pinned[name].split("."))) >= tuple(map(int, least.split(".")))


def test_environment_yml_has_the_locks_versions_of_all_dependencies():
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pinned = dict(line.split("=") for line in dependencies if isinstance(line, str))
    pinned |= dict(line.split("==") for line in dependencies[-1]["pip"])
    python = pinned.pop("python")
    assert python == "3.11"
    locked = {normal(name): version for name, version in LOCK.items()}
    ours = {normal(CONDA.get(name, name)): version for name, version in pinned.items()}
    assert ours == {name: locked[name] for name in ours}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = project["dependencies"] + project["optional-dependencies"]["test"]
    assert {normal(re.match(r"[A-Za-z0-9_.-]+", line)[0]) for line in needed} <= set(ours)


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
    assert re.findall(r"^rule (\w+):", text, re.M) == ["all", "fetch", "verify", "stores"]


def test_the_citation_and_the_package_have_one_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == version
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()
