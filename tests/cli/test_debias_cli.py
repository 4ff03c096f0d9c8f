"""`biasgrid debias` and measuring under its transform, as scripts use them."""

import json

import numpy as np
import pytest
from conftest import biasgrid, make_store, printed, refusal

from biasgrid import EmbeddingStore, Query, debias, metrics
from biasgrid.models.store_writer import StoreWriter

WORDS = [f"{letter}{i}" for letter in "abcd" for i in range(4)]
PAIRS = [["a0", "b0"], ["a1", "b1"], ["a2", "b2"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("debias")
    make_store(made, WORDS, np.random.default_rng(5).normal(size=(16, 6)))
    query = Query([WORDS[:4], WORDS[4:8]], [WORDS[8:12], WORDS[12:]], ["A", "B"], ["C", "D"])
    (made / "query.json").write_text(query.to_json())
    (made / "words.json").write_text(json.dumps({"definitional_pairs": PAIRS, "ignore": ["a3"]}))
    return made


def test_a_transform_is_fitted_written_and_measured_under(folder, tmp_path):
    output = tmp_path / "t.npz"
    record = printed(
        "debias", "--method", "hard", "--model", folder / "store", "--words", folder / "words.json",
        "--output", output, "--param", "n_components=2",
    )  # fmt: skip
    assert record["transform"] == str(output)
    assert record["method"] == "hard"
    assert record["fitted_on"]["found"]["definitional_pairs"] == PAIRS
    assert record["fitted_on"]["params"]["n_components"] == 2
    model = EmbeddingStore.open(folder / "store")
    transform = debias.hard(model, definitional_pairs=PAIRS, ignore=["a3"], n_components=2)
    query = Query.read(folder / "query.json")
    arguments = ("measure", "--metric", "weat", "--model", folder / "store", "--query", folder / "query.json")
    under = printed(*arguments, "--debias", output)
    assert under["debias"] == "hard"
    assert under["value"] == metrics.weat(query, model.under(transform)).value
    untouched = printed(*arguments)
    assert "debias" not in untouched
    assert untouched["value"] == metrics.weat(query, model).value != under["value"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.bin", "out.txt", "out.kv", "out"])
def test_a_debiased_model_as_a_file_measures_the_same(folder, tmp_path, name):
    printed(
        "debias", "--method", "HardDebias", "--model", folder / "store", "--words", folder / "words.json",
        "--output", tmp_path / "t.npz", "--materialize", tmp_path / name,
    )  # fmt: skip
    arguments = ("measure", "--metric", "weat", "--query", folder / "query.json", "--model")
    under = printed(*arguments, folder / "store", "--debias", tmp_path / "t.npz")
    trust = ["--trust-pickle"] if name.endswith(".kv") else []
    assert printed(*arguments, tmp_path / name, *trust)["value"] == under["value"]


def test_pairs_that_are_left_out_are_told(folder, tmp_path):
    words = tmp_path / "words.json"
    words.write_text(json.dumps({"definitional_pairs": [*PAIRS, ["a3", "none"]]}))
    arguments = ("--model", folder / "store", "--words", words, "--output", tmp_path / "t.npz")
    done = biasgrid("debias", "--method", "hard", *arguments)
    assert done.returncode == 0
    assert (
        "warning: definitional_pairs: left out, as made lacks a word of each: ['a3', 'none']" in done.stderr
    )


BAD = [
    ({}, ["--method", "soft"], "unknown debias method 'soft'"),
    ({}, [], "words.json: hard needs 'definitional_pairs'"),
    ([], [], "words.json: not a mapping of definitional_pairs, equalize_pairs, ignore, target to words"),
    (
        {"pairs": PAIRS},
        [],
        "words.json: unknown argument of words 'pairs' of hard; allowed: definitional_pairs",
    ),
    ({"definitional_pairs": "x"}, [], "words.json: definitional_pairs: must be a list of lists of words"),
    ({"definitional_pairs": PAIRS}, ["--param", "n_components=4"], "n_components: 4 is more than the 3 dim"),
    ({"definitional_pairs": PAIRS}, ["--seed", "-1"], "seed: -1 is not allowed; allowed: whole"),
    ({"definitional_pairs": PAIRS}, ["--materialize", "out.vec.zip"], "out.vec.zip"),
]


@pytest.mark.parametrize(("words", "arguments", "says"), BAD)
def test_bad_input_is_one_line_and_nothing_is_written(folder, tmp_path, words, arguments, says):
    (tmp_path / "words.json").write_text(json.dumps(words))
    method = [] if "--method" in arguments else ["--method", "hard"]
    refusal(
        "debias", *method, "--model", folder / "store", "--words", tmp_path / "words.json",
        "--output", tmp_path / "t.npz", *arguments, parts=[says],
    )  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["words.json"]


@pytest.mark.slow
def test_nothing_is_written_over_what_is_read(folder, tmp_path):
    model, words = tmp_path / "m.txt", tmp_path / "words.json"
    model.write_text("\n".join(f"{w} {i} {i * i} 1" for i, w in enumerate(WORDS, 1)) + "\n")
    words.write_text((folder / "words.json").read_text())
    before = (model.read_text(), words.read_text())
    arguments = ("debias", "--method", "hard", "--words", words)
    for of_model, output, more in (
        (model, model, []),
        (model, words, []),
        (folder / "store", folder / "store" / "model.json", []),
        (folder / "store", folder / "store", []),
        (model, tmp_path, []),
        (model, "", []),
        (model, tmp_path / "t.npz", ["--materialize", model]),
        (model, tmp_path / "t.bin", ["--materialize", tmp_path / "t.bin"]),
        (model, tmp_path / "t.npz", ["--materialize", tmp_path]),
    ):
        refusal(*arguments, "--model", of_model, "--output", output, *more)
    assert (model.read_text(), words.read_text()) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.txt", "words.json"]
    assert EmbeddingStore.open(folder / "store").name == "made"


def test_where_the_model_cannot_be_written_there_is_no_transform_either(folder, tmp_path):
    words = [*WORDS, "two words"]
    store = make_spaced_store(tmp_path / "s", words)
    refusal(
        "debias", "--method", "hard", "--model", store, "--words", folder / "words.json",
        "--output", tmp_path / "t.npz", "--materialize", tmp_path / "out.bin", parts=["'two words'"],
    )  # fmt: skip
    assert [p.name for p in tmp_path.iterdir()] == ["s"]


def make_spaced_store(folder, words):
    with StoreWriter(folder, "made") as writer:
        writer.add(words, np.random.default_rng(1).normal(size=(len(words), 6)))
        writer.finish({"name": "spaced", "vocab_prefix": ""})
    return folder
