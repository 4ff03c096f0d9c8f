"""Folders of encoders that name code: none of it is run, whatever version of sentence-transformers is there."""

import json

import pytest
from refusals import refused
from tiny_bert import TOKENIZER, write_bert

from biasgrid.models.language.architectures import read_kind
from biasgrid.models.language.foreign_code import check_classes
from biasgrid.models.language.functions import open_sentence_transformer

MODULE = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
# as the library itself writes them: 5.2, 5.7 and 6.2
OWN = [
    "sentence_transformers.models.Transformer",
    "sentence_transformers.models.Pooling",
    "sentence_transformers.models.tokenizer.WhitespaceTokenizer",
    "sentence_transformers.base.modules.transformer.Transformer",
    "sentence_transformers.base.modules.router.Router",
    "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
    "sentence_transformers.sparse_encoder.models.SpladePooling",
]
FOREIGN = ["evil.Pooling", "os.system", "sentence_transformers.util.http_get", "mine--evil.Pooling", 7, None]


@pytest.fixture
def folder(tmp_path):
    folder = write_bert(tmp_path / "encoder", architectures=["BertModel"])
    (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    (folder / "1_Dense").mkdir()
    write(folder / "modules.json", [MODULE])
    for place in (folder, folder / "1_Dense"):
        (place / "evil.py").write_text(f"open({str(tmp_path / 'RAN')!r}, 'w')\nclass Pooling: pass\n")
    return folder


def write(path, content):
    path.write_text(json.dumps(content))


def is_refused(folder, *says):
    with refused("encoder/", *says):
        open_sentence_transformer(folder)
    assert not (folder.parent / "RAN").exists()


@pytest.mark.parametrize("name", FOREIGN)
def test_a_module_of_another_place_is_refused(folder, name):
    write(folder / "modules.json", [MODULE, MODULE | {"path": "1_Dense", "type": name}])
    is_refused(folder, "modules.json", repr(name), "not a module of sentence-transformers")


@pytest.mark.parametrize("name", FOREIGN)
def test_a_router_may_name_no_other_place_either(folder, name):
    write(folder / "1_Dense" / "router_config.json", {"types": {"a": OWN[1], "b": name}})
    is_refused(folder, "router_config.json", repr(name))


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", {"activation_function": "evil.Pooling"}),
        ("wordembedding_config.json", {"tokenizer_class": "evil.Pooling"}),
    ],
)
def test_a_module_may_name_no_class_of_another_place(folder, file, content):
    write(folder / "1_Dense" / file, content)
    is_refused(folder, file, "'evil.Pooling'")


@pytest.mark.parametrize("file", ["sentence_bert_config.json", "1_Dense/config.json"])
@pytest.mark.parametrize(
    "content", [{"trust_remote_code": True}, {"model_args": {"trust_remote_code": True}}]
)
def test_a_folder_may_not_ask_for_trust(folder, file, content):
    write(folder / file, content)
    is_refused(folder, file, "trust_remote_code")


@pytest.mark.parametrize("path", ["../other", "/tmp/other", 3])
def test_a_module_lies_in_its_folder(folder, path):
    write(folder / "modules.json", [MODULE | {"path": path}])
    is_refused(folder, repr(path), "is not a place in the model's folder")


def test_a_link_to_a_folder_is_refused(folder):
    (folder / "2_Dense").symlink_to(folder / "1_Dense")
    is_refused(folder, "2_Dense: is a link to a folder")


@pytest.mark.parametrize("content", [b"{", b"\xff", b'{"0": 1}', b"[1]", b"[" * 100_000])
def test_a_damaged_list_of_modules(folder, content):
    (folder / "modules.json").write_bytes(content)
    is_refused(folder, "modules.json")


def test_what_the_library_writes_is_taken(folder):
    write(folder / "modules.json", [MODULE | {"type": name} for name in OWN])
    write(folder / "1_Dense" / "config.json", {"activation_function": "torch.nn.modules.activation.Tanh"})
    write(folder / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer"})
    check_classes(folder)


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation", "experts_implementation"])
def test_a_config_may_not_name_code_on_a_hub(tmp_path, key):
    folder = write_bert(tmp_path / "model", **{key: "kernels-community/flash-attn"})
    with refused("config.json", "names code on a hub"):
        read_kind(folder)
