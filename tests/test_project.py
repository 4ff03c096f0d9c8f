"""The project's own files: what must be in step with what."""

import json
import re
import tomllib
from importlib.metadata import requires

import pytest
import yaml
from conftest import ROOT, tracked
from packaging.requirements import Requirement

from biasgrid import __version__

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def pinned(name):
    """The versions in a lock, of what is installed on this machine's kind."""
    lines = re.findall(r"^[^ #][^\\#\n]*", (ROOT / name).read_text(), re.M)
    wanted = [one for one in map(Requirement, lines) if one.marker is None or one.marker.evaluate()]
    return {one.name: str(one.specifier).removeprefix("==") for one in wanted}


STUDY, TEST = pinned("requirements.lock"), pinned("requirements-test.lock")
NOTEBOOKS = pinned("requirements-notebooks.lock")
LOCK = STUDY | TEST | NOTEBOOKS | pinned("requirements-slurm.lock") | pinned("requirements-docs.lock")
# conda's names for what the Python index calls otherwise
CONDA = {"msgpack-python": "msgpack", "pytorch": "torch", "snakemake-minimal": "snakemake"}


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


@pytest.mark.slow
def test_the_locks_pin_what_is_needed_and_nothing_else():
    """requirements.lock what studies need; others what their extras add, less torch."""
    pytest.importorskip("torch")
    study, test = ({normal(name) for name in lock} for lock in (STUDY, TEST))
    language = {normal(name) for name in pinned("requirements-language.lock")}
    of_studies = needed("workflow", "figures", "gensim")
    build = {"pip", "hatchling", "packaging", "pathspec", "pluggy", "tomlkit", "trove-classifiers"}
    assert of_studies <= study <= of_studies | build
    assert needed("test") | study == test | study | {"torch"}
    assert needed("gguf") - study == language | {"torch"}
    assert study.isdisjoint(test)


def test_each_version_in_a_lock_has_its_checksums():
    """Only torch has none: a CPU build is another file of the same version."""
    for path in ROOT.glob("requirements*.lock"):
        found = re.findall(r"^(\S+)==.*((?:\n    --hash=sha256:[0-9a-f]{64}.*)*)", path.read_text(), re.M)
        assert [name for name, hashes in found if not hashes] == ["torch"] * (
            path.stem == "requirements-torch"
        )
    torch = Requirement(EXTRAS["debias"][0])
    assert torch.specifier.contains(pinned("requirements-torch.lock")["torch"])


def test_no_extra_asks_for_one_version():
    lines = [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
    ranges = [Requirement(line) for line in lines if not line.startswith("biasgrid[")]
    assert {str(one) for one in ranges if not re.match(r"^(<\d+,)?>=[\d.]+$", str(one.specifier))} == set()


def test_the_extra_all_is_all_of_a_users():
    (line,) = EXTRAS["all"]
    assert Requirement(line).extras == EXTRAS.keys() - {"all", "docs", "slurm", "test"}
    page = (ROOT / "docs" / "install.md").read_text()
    assert {name for name in EXTRAS.keys() - {"docs", "test"} if f"| `{name}` |" not in page} == set()


def test_the_lock_of_the_extra_for_slurm_pins_it():
    slurm = pinned("requirements-slurm.lock")
    wanted = dict(line.split(">=") for line in EXTRAS["slurm"])
    assert slurm.keys() == wanted.keys()
    assert slurm.keys().isdisjoint(STUDY)
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


def test_the_lock_of_language_models_agrees_with_the_tests():
    language = pinned("requirements-language.lock")
    assert {name: TEST[name] for name in language} == language


def conda(name):
    """Return an environment of conda: by the Python index's names, the versions, and builds where one is named."""
    dependencies = yaml.safe_load((ROOT / name).read_text())["dependencies"]
    lines = [line for line in dependencies if isinstance(line, str)]
    lines += [
        line.replace("==", "=") for more in dependencies if isinstance(more, dict) for line in more["pip"]
    ]
    found = dict(line.partition("=")[::2] for line in lines)
    assert len(found) == len(lines)
    return {normal(CONDA.get(name, name)): version for name, version in found.items()}


def direct(*extras):
    """Return the packages that these extras name, and those of the extras that they name."""
    wanted = [Requirement(line) for extra in extras for line in EXTRAS[extra]]
    own = {extra for one in wanted if one.name == "biasgrid" for extra in one.extras}
    found = {normal(one.name) for one in wanted} - {"biasgrid"}
    return found | (direct(*own) if own else set())


def test_environments_of_conda_have_what_a_run_and_what_development_needs_in_the_locks_versions():
    run, development = conda("environment.yml"), conda("environment-dev.yml")
    assert run.pop("python") == "3.11"
    assert run.pop("nodejs") == ""
    # the checkout itself, with which the one command ends
    assert run.pop(normal("--editable .")) == ""
    # a CPU build: others would bring CUDA
    version, _, build = run["torch"].partition("=")
    run["torch"] = version
    assert build == "cpu_*"
    locked = {
        normal(name): version for name, version in {**LOCK, **pinned("requirements-torch.lock")}.items()
    }
    assert run | development == {name: locked[name] for name in (run | development)}
    needs = direct(
        "workflow", "figures", "gensim", "arrow", "slurm", "language", "gguf", "frequency", "notebooks"
    )
    needs |= {normal(Requirement(line).name) for line in PROJECT["dependencies"]}
    assert run.keys() == needs | {"pip", "hatchling"}
    # on top of that; concept-erasure would bring the index' torch
    assert development.keys() == direct("test", "docs") - needs - {"concept-erasure"}


def test_every_rule_is_named_in_the_snakefile_or_below():
    """The target rules must stand in the top-level file itself."""
    text = (ROOT / "Snakefile").read_text()
    assert re.findall(r"^rule (\w+):", text, re.M) == ["all", "fetch", "verify", "stores"]


def test_citation_changelog_and_package_agree_on_version_and_date():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    newest = re.search(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest.groups() == (__version__, str(citation.get("date-released", "unreleased")))
    assert citation["version"] == __version__
    assert PROJECT["license"].startswith(citation["license"])


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
