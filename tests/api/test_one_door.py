"""`load` and `--model` take a path, a name and an open model by one rule, whatever the kind of model."""

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import biasgrid

from biasgrid import InputError, Query, load
from biasgrid.models.kinds import REGISTRY

METRICS = {"vectors": "rnd", "corpus": "pmi", "contextual_vectors": "ceat", "language_model": "lpbs"}
SENTENCES = {"he is a boss": -2.0, "she is a boss": -3.0}
IN_MEMORY = {
    "vectors": {"he": [1.0, 0.0], "she": [0.0, 1.0]},
    "corpus": ["he is a boss", "she is a boss"],
    "contextual_vectors": (["he", "she"], np.ones((2, 3, 4))),
    "language_model": SENTENCES,
}
NOUNS = {
    "corpus": "corpus",
    "contextual_vectors": "model of words in contexts",
    "language_model": "language model",
}
kinds = pytest.mark.parametrize("kind", IN_MEMORY)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache with the folder of a corpus and one of vectors; the working folder has a query."""
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    load(IN_MEMORY["vectors"], name="points").save(tmp_path / "cache" / "points")
    text = load(IN_MEMORY["corpus"], kind="corpus", name="text")
    text.path.rename(tmp_path / "cache" / "text")
    Path("query.json").write_text(Query([["he"], ["she"]], [["boss"], ["a"]]).to_json())
    return tmp_path / "cache"


def refusals(source: object, kind: str | None, **options: str | bool) -> list[str]:
    """What `load` says of a source, and for a text `biasgrid measure` with a metric of the kind."""
    with pytest.raises(InputError) as raised:
        load(source, kind=kind, **options)
    said = [str(raised.value)]
    if isinstance(source, str):
        given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        done = biasgrid(
            "measure", "--metric", METRICS[kind], "--query", "query.json", f"--model={source}", *given
        )
        assert (done.returncode, done.stdout) == (2, "")
        said.append(done.stderr.strip().removeprefix("biasgrid: "))
    return said


def test_every_kind_is_here():
    assert set(IN_MEMORY) == set(METRICS) == set(REGISTRY)


@kinds
def test_what_is_not_there_is_said_alike(cache, kind):
    assert set(refusals("sub/nowhere.bin", kind)) == {"sub/nowhere.bin: no such file or folder"}
    assert refusals(Path("nowhere"), kind) == ["nowhere: no such file or folder"]
    (said,) = set(refusals("nowhere.bin", kind, sha256="00"))
    assert said.startswith("'nowhere.bin': no such file or folder, and unknown model 'nowhere.bin'")
    with pytest.raises(
        InputError, match=r"^the source is an empty text; expected a file, a folder, or a mod"
    ):
        load("", kind=kind)


@kinds
def test_options_of_a_file_are_refused_where_there_is_none(cache, kind):
    name = "text" if kind == "corpus" else "points"
    for option, value in {"sha256": "00", "vocab_prefix": "/c/en/"}.items():
        for source, what in ((name, "a model that is loaded by its name"), (f"cache/{name}", "a store")):
            said = refusals(source, kind, **{option: value})
            assert set(said) == {f"{option}: is not for {what}; leave it out"}
    refused = "is for files, and this model is in memory: leave it out"
    if kind != "contextual_vectors":
        assert refusals(IN_MEMORY[kind], kind, sha256="00") == [f"sha256 {refused}"]
    assert refusals(load(IN_MEMORY[kind], kind=kind), kind, format="text") == [f"format {refused}"]
    (said,) = refusals(load(IN_MEMORY[kind], kind=kind, name="it"), kind, name="other")
    assert said == "it: is a biasgrid model already: name, vocab_prefix and subwords are for others"


@pytest.mark.parametrize("kind", NOUNS)
def test_another_kinds_folder_name_and_model_are_refused(cache, kind):
    name, own = ("points", "vectors") if kind == "corpus" else ("text", "corpus")
    for source in (name, f"cache/{name}"):
        assert set(refusals(source, kind)) == {f"{source}: is no {NOUNS[kind]}; it is of kind {own}"}
    model = load(IN_MEMORY[own], kind=own)
    assert refusals(model, kind) == [f"{model!r}: is no {NOUNS[kind]}; it is of kind {own}"]
    # before it is fetched
    shipped = "brown" if kind == "language_model" else "smollm2-135m"
    assert load(IN_MEMORY[kind], kind=kind).kind == kind
    (said,) = set(refusals(shipped, kind))
    assert said.startswith(f"{shipped}: is no {NOUNS[kind]}; it is of kind ")


@pytest.mark.parametrize("kind", NOUNS)
def test_an_option_of_vectors_is_for_vectors(cache, kind):
    Path("file.txt").write_text("he is a boss\n")
    assert set(refusals("file.txt", kind, vocab_prefix="x")) == {
        f"vocab_prefix: is not for a {NOUNS[kind]}; leave it out"
    }
    with pytest.raises(InputError, match=f"^trust_pickle: is not for a {NOUNS[kind]}; leave it out$"):
        load("file.txt", kind=kind, trust_pickle=True)


@kinds
def test_a_model_is_of_the_kind_that_it_is(cache, kind):
    model = load(IN_MEMORY[kind], kind=kind)
    assert load(model) is load(model, kind=kind) is model
    if kind in ("vectors", "corpus"):
        name = {"vectors": "points", "corpus": "text"}[kind]
        for source in (name, cache / name, str(cache / name)):
            for asked in (None, kind):
                assert (load(source, kind=asked).kind, load(source, kind=asked).name) == (kind, name)
            assert load(source, name="other").name == "other"


@kinds
def test_what_is_of_no_kind_is_refused_with_what_is_allowed(kind):
    with pytest.raises(InputError, match=r"3.*; allowed: "):
        load(3, kind=kind)


def test_a_file_is_read_as_the_metric_needs_it(cache):
    """A text is a corpus, and no language model or vectors."""
    Path("letters.txt").write_text("he is a boss\nshe is a boss\nhe\n")
    measure = ("measure", "--query", "query.json", "--model", "letters.txt", "--metric")
    assert (
        json.loads(biasgrid(*measure, "pmi", "--param", "smoothing=0.5").stdout)["subqueries"][0]["value"]
        is not None
    )
    assert "letters.txt: no language model: expected a .gguf file" in biasgrid(*measure, "lpbs").stderr
    assert "letters.txt: is of no known format" in biasgrid(*measure, "rnd").stderr
