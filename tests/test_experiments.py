"""Each experiment of validation/ in its smallest form, from its config to its tables and figures.

`make validation-test` runs the experiments' own tests.
"""

import json

import forks
import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import ROOT, write_text_model

from biasgrid.core.processes import environment
from biasgrid.figures import frame
from validation import experiment
from validation.__main__ import main

SIMULATION = {
    "simulation": "small",
    "metrics": {"rnd": {}},
    "words": [4],
    "bias": [0],
    "null": {"repetitions": 4, "draws": 9},
    "coverage": {"repetitions": 2, "draws": 20, "truth": 5},
    "models": {"made": {"label": "Made", "source": {"type": "file", "path": "made.txt"}}},
    "calibration": {"kinds": {"random": 2}, "words": 4, "draws": 99, "metrics": {"weat": {}}},
}
FREQUENCY = {
    "simulation": "small",
    "plugins": ["training"],
    "models": {"text": {"label": "Text", "kind": "corpus", "source": {"type": "file", "path": "text.txt"}}},
    "frequency": {
        "corpus": "text",
        "corpora": 2,
        "trainings": {"counts": {"algorithm": "ppmi", "params": {"vector_size": 5}}},
        "unbiased": {"both": [2, 2]},
        **{"words": 4, "occurrences": 30, "spread": 1.5, "least": 8, "queries": 2, "draws": 99},
        "metrics": {"weat": {}},
    },
}
FACTORY = {
    "factory": "small",
    "mu": [0.3, 0.7],
    "sigma": [0.2],
    "replicates": 1,
    "occupations": "few.occupations",
    "trainers": {"ppmi": {"params": {"dimensions": 10}}},
    "metrics": {"rnsb": {"groups": "targets", "params": {"n_iterations": 1}}},
}
CONFIGS = {"simulation": SIMULATION, "frequency": FREQUENCY, "factory": FACTORY}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with what the configs name: a model, a text, 12 occupations."""
    monkeypatch.chdir(tmp_path)
    write_text_model(tmp_path / "made.txt", [f"w{i}" for i in range(400)])
    words = ["".join("abcdefghij"[int(digit)] for digit in f"{i:03d}") for i in range(400)]
    tokens = np.random.default_rng(1).permutation(
        [w for i, w in enumerate(words) for _ in range(2000 // (i + 5))]
    )
    lines = [" ".join(tokens[i : i + 12]) for i in range(0, len(tokens), 12)]
    (tmp_path / "text.txt").write_text("\n".join(lines))
    shipped = json.loads((ROOT / "data" / "word_sets" / "schroeder.json").read_text())["sets"]["occupations"]
    example = ["footballer", "bishop", "lawmaker", "hairdresser", "sociologist", "nurse"]
    few = list(dict.fromkeys([*example, *shipped]))[:12]
    (tmp_path / "data" / "word_sets").mkdir(parents=True)
    (tmp_path / "data" / "word_sets" / "few.json").write_text(json.dumps({"sets": {"occupations": few}}))
    for name, config in CONFIGS.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(config))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGS)
def test_an_experiment_runs_from_its_config_to_its_figures(folder, name, capsys, monkeypatch):
    # drawn and laid out; files of each kind are a matter of `save` (figures/test_figure_kinds.py)
    monkeypatch.setattr(frame, "_content", lambda figure, kind: b"drawn" * 99)
    study = experiment.of(CONFIGS[name], root=folder)
    stores = [f"store {model}" for model in study.models]
    kinds = [rule for rule in study.rules.values() if rule.name not in ("table", "figure")]
    # pools and vectors go before what reads them
    kinds.sort(key=lambda rule: rule.wanted)
    steps = [step.name for rule in kinds for step in rule.steps.values()]
    assert main(["step", f"{name}.yaml", *stores, *steps]) == 0
    capsys.readouterr()
    assert main(["step", f"{name}.yaml"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert {folder / file for file in files} == {
        folder / file for rule in ("table", "figure") for file in study.rules[rule].targets
    }
    for file in files:
        assert (folder / file).stat().st_size > 100, file
        if file.endswith(".csv"):
            assert len(pd.read_csv(folder / file)) > 0, file


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGS)
def test_snakemake_plans_every_step_of_it(folder, name):
    """Rules are made from the steps."""
    study = experiment.of(CONFIGS[name], root=folder)
    arguments = [
        "--snakefile",
        str(ROOT / "validation" / "experiment.smk"),
        "--configfile",
        f"{name}.yaml",
        "-n",
    ]
    done = forks.run(arguments, folder, environment(ROOT / "src"))
    assert done.returncode == 0, done.stderr
    planned = dict(line.split() for line in done.stdout.splitlines() if len(line.split()) == 2)
    assert {rule: planned.get(rule) for rule in study.rules} == {
        rule.name: str(len(rule.steps)) for rule in study.rules.values()
    }


def test_a_config_of_no_experiment_is_one_line(tmp_path, capsys):
    (tmp_path / "study.yaml").write_text("study: mine\n")
    assert main(["step", str(tmp_path / "study.yaml")]) == 2
    message = "is no config of an experiment: it has none of the keys simulation, factory"
    assert capsys.readouterr().err == f"biasgrid: {tmp_path}/study.yaml: {message}\n"
