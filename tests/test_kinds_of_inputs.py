"""Files and folders of every kind: `init` writes a study that runs, and a dry run refuses what a run would."""

import csv
import json
import math
import random
import sys
from pathlib import Path

import pytest
from conftest import biasgrid, refusal, refusal_of, write_text_model
from in_process import make_some

from biasgrid.study import steps
from biasgrid.study.study import Study

sys.path.append(str(Path(__file__).parent / "models" / "language"))
HOME = ["he", "man", "boy", "father", "she", "woman", "girl", "mother"]
HOME += ["office", "business", "salary", "home", "kitchen", "children"]
INPUTS = [
    "vectors.txt",
    "vectors.kv",
    "store",
    "corpus.txt",
    "scores.csv",
    "encoder",
    "masked",
    "causal",
    "m.gguf",
]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with a small model of each kind, and what is none."""
    pytest.importorskip("torch")
    import architectures
    import tiny_encoder
    import tiny_llama

    folder = tmp_path_factory.mktemp("inputs")
    write_text_model(folder / "vectors.txt", HOME)
    keyed = pytest.importorskip("gensim.models").KeyedVectors.load_word2vec_format(folder / "vectors.txt")
    keyed.save(str(folder / "vectors.kv"))
    assert (
        biasgrid("convert", "--input", folder / "vectors.txt", "--output", folder / "store").returncode == 0
    )
    draw = random.Random(0)
    lines = [" ".join(draw.choices(HOME, k=8)) for _ in range(400)]
    (folder / "corpus.txt").write_text("\n".join(lines))
    with (folder / "scores.csv").open("w", newline="") as file:
        rows = [(f"{'He' if i % 2 else 'She'} is nurse {i // 2}.", -10 - i) for i in range(6)]
        csv.writer(file).writerows([("text", "score"), *rows])
    tiny_encoder.write_encoder(folder / "encoder")
    architectures.saved(folder, "BERT").rename(folder / "masked")
    architectures.saved(folder, "GPT-2").rename(folder / "causal")
    tiny_llama.write(folder / "m.gguf", tiny_llama.weights())
    (folder / "empty.txt").touch()
    (folder / "sentences.csv").write_text("sentence,score\nWomen cook.,-3\n")
    (folder / "study.yaml").write_text("study: mine\nmodels: [glove]\n")
    (folder / "broken.txt").write_text("he 1 2\nshe x y\n1 2 3 4\n")
    (folder / "pointer.gguf").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    )
    (folder / "hollow").mkdir()
    (folder / "hollow" / "config.json").write_text(
        '{"model_type": "bert", "architectures": ["BertForMaskedLM"]}'
    )
    (folder / "folder").mkdir()
    return folder


@pytest.fixture
def here(inputs, tmp_path, monkeypatch):
    for path in inputs.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "embeddings"))


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_what_init_writes_runs(here, name):
    done = biasgrid("init", "mine", "--models", name)
    assert done.returncode == 0, done.stderr
    (model,) = json.loads(done.stdout)["models"]
    study = Study.read("mine.yaml")
    make_inputs_of_all(study)
    query = "home" if "home" in study.queries else f"{model}-pairs"
    for of_model, sentences in steps.cells_by_sentences(study):
        if sentences == query:
            steps.sentence_scores_step(study, of_model, sentences).run()
    cells = [name for name in study.grid.cells if name.endswith(f"/{query}")]
    assert cells
    make_some(study, *cells)
    for cell in cells:
        (result, *_) = json.loads(study.paths.cell_file(study.grid.cells[cell]).read_text())["results"]
        assert math.isfinite(result["value"]), (cell, result)


def make_inputs_of_all(study):
    """Make what the steps read first, also of models that an encoder makes."""
    from biasgrid.workflow.plan import Plan

    for name, step in Plan(study).items():
        if name.startswith(("archive ", "store ", "query ")):
            step.run()


@pytest.mark.slow
def test_init_takes_several_kinds_at_once(here):
    done = biasgrid("init", "mine", "--models", "vectors.txt", "masked", "scores.csv", "encoder")
    assert done.returncode == 0, done.stderr
    study = Study.read("mine.yaml")
    measured = {(cell.model, cell.metric) for cell in study.grid.cells.values()}
    assert measured >= {
        ("vectors", "weat"),
        ("masked", "lpbs"),
        ("encoder", "weat"),
        ("scores", "pll_preference"),
    }
    assert {metric for model, metric in measured if model == "scores"} == {
        "pll_preference",
        "mean_pair_difference",
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("empty.txt", "empty.txt: is empty"),
        ("broken.txt", "broken.txt: is of no known format"),
        ("hollow", "hollow: has no model.safetensors"),
        ("folder", "folder: is neither a store (no model.json) nor of a format that is a folder"),
        ("sentences.csv", "a table of scores, a CSV file with the columns text, score"),
        ("study.yaml", "study.yaml: is of no known format"),
        ("pointer.gguf", "pointer.gguf: this is a Git LFS pointer"),
        ("vector.txt", "vector.txt: no such file, and no model of that name"),
    ],
)
def test_init_refuses_what_no_study_can_be_run_on(here, name, says):
    refusal("init", "mine", "--models", name, parts=[says])
    assert not Path("mine.yaml").exists()


def config(name, kind="vectors", **model):
    metric = {"vectors": "weat", "corpus": "pmi", "language_model": "lpbs"}[kind]
    source = {"type": "transformers" if Path(name).is_dir() and kind != "vectors" else "file", "path": name}
    query = {"targets": {"A": ["he"], "B": ["she"]}, "attributes": {"C": ["office"], "D": ["home"]}}
    return {
        "study": "mine",
        "models": {"mine": {"label": "Mine", "kind": kind, "source": source, **model}},
        "criteria": {"Gender": {"queries": {"q": query}}},
        "metrics": {metric: {}},
        "figures": [],
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("nothing.txt", "vectors", "nothing.txt is not there"),
        ("vector.txt", "vectors", "vector.txt is not there; did you mean 'vectors.txt'?"),
        ("nothing", "corpus", "nothing is not there"),
        ("nothing", "language_model", "nothing is not there"),
        ("folder", "vectors", "folder is not a file, and no store"),
        ("folder", "language_model", "folder has no config.json"),
        ("hollow", "language_model", "hollow has no weights as safetensors"),
        ("encoder", "language_model", "it is an encoder, and no language model"),
        ("empty.txt", "vectors", "empty.txt: is empty"),
        ("empty.txt", "corpus", "empty.txt: has no words"),
        ("empty.txt", "language_model", "empty.txt: no language model"),
        ("vectors.kv", "vectors", "vectors.kv: is a pickle, a format that can hold code: pin its sha256"),
        ("corpus.txt", "vectors", "corpus.txt: is of no known format"),
        ("scores.csv", "vectors", "scores.csv: is of no known format"),
        ("m.gguf", "vectors", "m.gguf"),
        ("m.gguf", "corpus", "m.gguf"),
        ("vectors.txt", "language_model", "vectors.txt: no language model"),
        ("pointer.gguf", "language_model", "pointer.gguf: this is a Git LFS pointer"),
        *((name, "language_model", "") for name in ("masked", "causal", "m.gguf", "scores.csv")),
        *((name, "vectors", "") for name in ("vectors.txt", "store")),
        ("corpus.txt", "corpus", ""),
    ],
)
def test_inputs_are_looked_at_before_any_work(here, name, kind, says):
    from biasgrid.workflow.inputs import problems

    study = Study.of(config(name, kind), "mine.yaml")
    lines = problems(study, list(study.sources), list(study.models))
    assert len(lines) == bool(says), lines
    assert all(says in line and "\n" not in line for line in lines), lines


def test_a_model_is_named_beside_a_file_of_the_same_name(tmp_path, monkeypatch):
    from biasgrid.workflow.inputs import problems

    monkeypatch.chdir(tmp_path)
    Path("mine.txt").touch()
    study = Study.of(config("mine.txt"), "mine.yaml")
    (line,) = problems(study, [], list(study.models))
    assert line.startswith("mine: mine.txt: is empty")


def test_a_missing_package_is_named_before_any_work(here, monkeypatch):
    from biasgrid.core import extras
    from biasgrid.workflow.inputs import problems

    study = Study.of(config("masked", "language_model"), "mine.yaml")
    monkeypatch.setattr(extras, "has", lambda package: package != "transformers")
    (line,) = problems(study, [], list(study.models))
    assert "mine, a language model, needs transformers; install it" in line


def test_a_dry_run_refuses_what_a_run_would(project):
    """And not what is there: the second model's file is."""
    (project.folder / "one.txt").unlink()
    refusal_of(project.biasgrid("run", "config/config.yaml", "--dry-run"), "one: one.txt is not there")
    assert not (project.folder / "results").exists()
