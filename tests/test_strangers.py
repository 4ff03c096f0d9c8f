"""A study that somebody else packed: no command runs code that lies beside it."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import finished_study
import pytest
import yaml
from conftest import ROOT

from biasgrid.cli import commands
from biasgrid.study import checksums

pytestmark = pytest.mark.slow

CONFIG = {
    "study": "strange",
    "embeddings": "embeddings",
    "models": {"one": {"label": "one", "source": {"type": "file", "path": "one.txt"}}},
    "criteria": {
        "C": {
            "queries": {
                "q": {
                    "targets": {x.upper(): finished_study.words(x) for x in "ab"},
                    "attributes": {x.upper(): finished_study.words(x) for x in "cd"},
                }
            }
        }
    },
    "metrics": {"weat": {}},
    "inference": {"random_groups": {"draws": 20}},
    "figures": ["scores"],
}
REMOTE = {
    "type": "pypi",
    "package": "nobody-has-this",
    "version": "1.0",
    "sha256": "0" * 64,
    "members": {"a.txt": None},
}
CELL = ("--study", "config/config.yaml", "--cell", "one/none/weat/q1")
STUDY = CELL[:2]
QUERY = ("--metric", "weat", "--model", "one.txt", "--query", "query.json")
# command -> its arguments, in a folder with a finished study (results/small) and one that is to be run (strange.yaml)
LINES = {
    "init": [["mine", "--models", "one.txt"]],
    "run": [
        ["strange.yaml", "--dry-run"],
        ["strange.yaml", "--why", "table scores"],
        ["strange.yaml", "--cores", "2"],
        ["strange.yaml", "--cores", "1", "notebooks"],
        ["strange.yaml", "--profile", "profiles/slurm", "--dry-run"],
        ["template.yaml", "--config", "seed=3", "--dry-run"],
    ],
    "report": [["results/small", "--output", "page.html"]],
    "compare": [["results/small", "results/small"]],
    "verify": [["results/small"]],
    "list": [["metrics"], ["plugins"]],
    "publish": [["results/small", "published"]],
    "join": [["same", "results/small", "--into", "joined"]],
    "convert": [["--input", "one.txt", "--output", "converted"]],
    "fetch": [["--model", "remote", "--study", "remote.yaml"], ["--pin", "strange.yaml"]],
    "measure": [[*QUERY, "--random-groups", "draws=20"]],
    "debias": [
        ["--method", "hard", "--model", "one.txt", "--words", "pairs.json", "--output", "hard.npz"],
    ],
    "words analogy": [["--model", "one.txt", "--pairs", "a1:b1", "--word", "c1"]],
    "properties": [["--metric", "weat"]],
    "words project": [["--model", "one.txt", "--pairs", "a1:b1", "--words", "c1"]],
    "words report": [["--model", "one.txt", "--pairs", "a1:b1", "--word", "c1", "--figure", "word.png"]],
    "words specific": [["--model", "one.txt", "--seeds", "a1", "a2", "--folds", "2", "--all-entries"]],
    "words indirect": [
        ["--model", "one.txt", "--pairs", "a1:b1", "--ends", "c1", "d1", "--words", "c2", "d2"],
    ],
    "words compare": [["--models", "one.txt", "two.txt", "--pairs", "a1:b1", "--words", "c1", "c2"]],
    "words groups": [["--model", "one.txt", "--query", "query.json", "--neighbours", "2"]],
    "score": [
        ["--model", "sentence_scores.csv", "--sentences", "sentences.txt"],
        ["--study", "config/config.yaml", "--export"],
    ],
    "step": [
        [
            *STUDY,
            "table scores",
            "query q1",
            "cell one/none/weat/q1",
            "inference one/none/weat",
            "aggregates one/none/weat",
            "null one/none/weat/q1",
            "debias one/hard",
            "sentence scores table/file.pairs",
            "figure rankings",
            "store one",
        ],
        [*STUDY, "evaluation one/hard"],
    ],
}
# lines that are refused, or fail without a network, and what they say
REFUSED = {
    ("run", 3): "no notebooks here",
    ("run", 4): "profile 'profiles/slurm' lies in this folder",
    ("run", 5): "__use_yte__ is not allowed",
    ("fetch", 0): "nobody-has-this",
    ("verify", 0): "__init__.py",
    ("score", 1): "no model has answers in a file",
    ("step", 1): "unknown step",
}
# modules that Python, Snakemake, pip, Jupyter, or the run itself import
MODULES = (
    "snakemake",
    "pip",
    "numpy",
    "pandas",
    "yaml",
    "json",
    "pickle",
    "joblib",
    "threadpoolctl",
    "matplotlib",
    "pydantic",
    "sklearn",
    "yte",
    "configargparse",
    "sitecustomize",
    "usercustomize",
    "conftest",
    "biasgrid",
    "papermill",
    "nbconvert",
    "ipykernel_launcher",
    "snakemake_executor_plugin_evil",
    "snakemake_logger_plugin_evil",
    "evil",
    "jupyter_config",
    "jupyter_nbconvert_config",
    "ipython_config",
)


class _Evil:
    def __init__(self, code: str):
        self.code = code

    def __reduce__(self):
        return exec, (self.code,)


def plant(folder: Path, ran: Path) -> None:
    """Put code wherever a program may look for some; what runs leaves its name in the file `ran`."""

    def code(name: str) -> str:
        return f"open({str(ran)!r}, 'a').write({name!r} + '\\n')\n"

    def write(place: str, text: str) -> None:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text)

    for name in MODULES:
        write(f"{name}.py", code(f"{name}.py"))
    for place in (
        "src/biasgrid/__init__.py",
        "biasgrid/__init__.py",
        "src/yaml.py",
        "plugins/npm/__init__.py",
        "npm/__init__.py",
        "results/small/__init__.py",
        "results/small/json.py",
        "results/yaml.py",
        "embeddings/modeling.py",
        "data/embeddings/one/modeling.py",
        "config/__init__.py",
        ".ipython/profile_default/startup/00.py",
        "Snakefile",
        "workflow/Snakefile",
        "workflow/rules/common.smk",
        "workflow/rules/study.smk",
    ):
        write(place, code(place))
    for name in ("default", "slurm"):
        place = f"profiles/{name}/config.yaml"
        definition = {"__use_yte__": True, "__definitions__": [code(place)]}
        write(
            place, yaml.safe_dump(definition | {"default-resources": [f"mem_mb=exec({code(place)!r}) or 1"]})
        )
    write("evil.pth", f"import os; {code('evil.pth')}")
    write("planted-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    write("planted-1.0.dist-info/entry_points.txt", "[biasgrid.plugins]\nplanted = evil\n")
    write("matplotlibrc", "backend: module://evil\ntext.usetex: True\n")
    write("setup.cfg", "[options]\nsetup_requires = evil\n")
    write(".npmrc", f"node-options=--require {folder / 'evil.js'}\n")
    write("evil.js", f"require('fs').appendFileSync({str(ran)!r}, 'evil.js')\n")
    (folder / ".snakemake" / "iocache").mkdir(parents=True)
    for place in (".snakemake/iocache/latest.pkl", "results/small/random_groups.pkl"):
        (folder / place).write_bytes(pickle.dumps(_Evil(code(place))))
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [cell | {"source": code("notebook")}]
    write(
        "notebooks/evil.ipynb",
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
    )
    write(
        "template.yaml",
        yaml.safe_dump(
            CONFIG | {"__use_yte__": True, "__definitions__": [code("template")]}, sort_keys=False
        ),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strange") / "study"
    with finished_study.copied(folder) as study:
        Path("query.json").write_text(study.queries["q1"].to_json())
    (folder / "strange.yaml").write_text(yaml.safe_dump(CONFIG, sort_keys=False))
    models = CONFIG["models"] | {"remote": {"label": "R", "source": REMOTE}}
    (folder / "remote.yaml").write_text(yaml.safe_dump(CONFIG | {"models": models}, sort_keys=False))
    (folder / "pairs.json").write_text(json.dumps({"definitional_pairs": finished_study.PAIRS}))
    (folder / "sentences.txt").write_text((folder / "pairs.csv").read_text().splitlines()[1].split(",")[0])
    shutil.copytree(folder / "results" / "small", folder / "same")
    record = json.loads((folder / "same" / "study.json").read_text())
    (folder / "same" / "study.json").write_text(json.dumps(record | {"figures": ["rankings"]}))
    checksums.record_all(folder / "same")
    plant(folder, folder.parent / "ran")
    return folder


@pytest.fixture(scope="module")
def biasgrid(folder):
    """The command as pip installs it: a script that lies elsewhere."""
    script = folder.parent / "bin" / "command"
    script.parent.mkdir()
    script.write_text("import sys\nfrom biasgrid.cli import main\nsys.exit(main())\n")
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "PIP_NO_INDEX": "1",
    }
    for name in ("PYTHONSAFEPATH", "SNAKEMAKE_PROFILE", "BIASGRID_EMBEDDINGS"):
        environment.pop(name, None)

    def run(*arguments: str, start: tuple[str, ...] = (str(script),), **variables: str):
        return subprocess.run(
            [sys.executable, *start, *arguments],
            cwd=folder,
            env=environment | variables,
            capture_output=True,
            text=True,
        )

    return run


def ran(folder: Path) -> str:
    file = folder.parent / "ran"
    return file.read_text() if file.exists() else ""


def test_each_command_has_a_line():
    assert set(LINES) == set(commands().by_name)


@pytest.mark.parametrize("name", LINES)
def test_no_command_runs_code_of_the_working_folder(folder, biasgrid, name):
    (folder.parent / "ran").unlink(missing_ok=True)
    for number, arguments in enumerate(LINES[name]):
        done = biasgrid(*name.split(), *arguments)
        assert ran(folder) == "", arguments
        said = REFUSED.get((name, number), "")
        assert (done.returncode == 0) == (not said), done.stderr
        assert said in done.stdout + done.stderr


def test_a_profile_of_the_environment_is_not_taken_from_the_working_folder(folder, biasgrid):
    done = biasgrid("run", "strange.yaml", "--dry-run", SNAKEMAKE_PROFILE="profiles/default")
    assert "profile 'profiles/default' lies in this folder" in done.stderr
    assert ran(folder) == ""


def test_python_m_biasgrid_imports_nothing_of_the_working_folder(folder, biasgrid):
    (folder / "biasgrid.py").unlink(missing_ok=True)
    (folder / "biasgrid" / "__init__.py").unlink(missing_ok=True)
    (folder / "biasgrid").rmdir()
    done = biasgrid("measure", *QUERY, start=("-m", "biasgrid"))
    assert done.returncode == 0, done.stderr
    assert ran(folder) == ""


def test_the_markers_work(folder, tmp_path):
    """What Python runs of the folder leaves a line."""
    plant(tmp_path / "here", tmp_path / "ran")
    subprocess.run([sys.executable, "-c", "import evil, yaml"], cwd=tmp_path / "here", check=True)
    assert (tmp_path / "ran").read_text().split() == ["evil.py", "yaml.py"]
