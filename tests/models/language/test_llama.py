"""Causal models of Llama's shape: what a tiny one says against plain NumPy, and what is refused."""

import csv
import json
import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice, pairwise

import numpy as np
import pytest
import tiny_llama as tiny
from conftest import DATA, ROOT, printed, refusal
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

import biasgrid as bg
from biasgrid.cli import main
from biasgrid.core.errors import BiasgridError
from biasgrid.core.files import hash_file
from biasgrid.core.resources import PLACE
from biasgrid.models.language.sentence import Sentence

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")
pytestmark = pytest.mark.usefixtures("own_cache")

TEXTS = ["the nurse then", "the nurse", "x", "A 12th, the\nnurse's hat: naïve?", "  two  spaces", "日本 the"]


@pytest.fixture(scope="module")
def tensors():
    return tiny.weights()


@pytest.fixture(scope="module")
def model(tmp_path_factory, tensors, own_cache):
    path = tiny.write(tmp_path_factory.mktemp("tiny") / "tiny.gguf", tensors)
    return bg.load(path, kind="language_model")


def fresh(model):
    """The same model, which remembers no score."""
    return type(model).open(model.path)


def test_log_likelihoods_are_those_of_plain_numpy(model, tensors):
    expected = [sum(tiny.log_probabilities(tensors, tiny.pieces(text))) for text in TEXTS]
    fast = bg.language_model(model.path, fast=True)
    assert fast.metadata["fast"]
    for scored in (model, fast):
        np.testing.assert_allclose(scored.score(TEXTS), expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"untied": True}, {"llama.rope.scaling.type": "none", "llama.expert_count": 0}),
        ({"seed": 1}, {"llama.rope.freq_base": None, "tokenizer.ggml.pre": "gpt-2"}),
        ({"seed": 2}, {"tokenizer.ggml.eos_token_id": 0, "tokenizer.ggml.padding_token_id": 0}),
        # none for a beginning: the name is one that such a piece has
        ({"seed": 3}, {"tokenizer.ggml.bos_token_id": None}),
    ],
)
def test_variants_that_a_file_declares(tmp_path, shape, said):
    tensors = tiny.weights(**shape)
    path = tiny.write(tmp_path / "m.gguf", tensors, said, quantised=False)
    text = "the nurse then"
    base = 10_000 if "llama.rope.freq_base" in said else tiny.BASE
    expected = sum(tiny.log_probabilities(tensors, tiny.pieces(text), base))
    assert bg.load(path, kind="language_model").score([text])[0] == pytest.approx(expected, rel=1e-4)


def _with_biases(*parts):
    of_all = tiny.weights(seed=5, biases=True)
    return {
        name: tensor
        for name, tensor in of_all.items()
        if not name.endswith(".bias") or name.split(".")[2].startswith(parts)
    }


@pytest.mark.slow
@pytest.mark.parametrize("parts", [("attn",), ("ffn",), ("attn", "ffn")])
def test_biases_count(tmp_path, parts):
    tensors, text = _with_biases(*parts), "the nurse then, the nurse"
    path = tiny.write(tmp_path / "m.gguf", tensors, quantised=False)
    expected, without = (
        sum(tiny.log_probabilities(of, tiny.pieces(text))) for of in (tensors, _with_biases("none"))
    )
    assert bg.load(path, kind="language_model").score([text])[0] == pytest.approx(expected, abs=1e-3)
    assert abs(expected - without) > 0.01


def test_a_qwen2_has_biases_of_its_own(tmp_path):
    """Those of its queries, keys and values, which transformers looks for in any Qwen2."""
    tensors = _with_biases("attn_q", "attn_k", "attn_v")
    without = {name: np.zeros_like(t) if name.endswith("bias") else t for name, t in tensors.items()}
    said = {
        "qwen2.block_count": tiny.LAYERS,
        "qwen2.context_length": tiny.LONGEST,
        "qwen2.embedding_length": tiny.WIDTH,
        "qwen2.feed_forward_length": tiny.HIDDEN,
        "qwen2.attention.head_count": tiny.HEADS,
        "qwen2.attention.head_count_kv": tiny.GROUPS,
        "qwen2.attention.layer_norm_rms_epsilon": tiny.EPSILON,
    }
    found = []
    for number, of in enumerate((tensors, without)):
        path = tiny.write(tmp_path / f"{number}.gguf", of, said, architecture="qwen2", quantised=False)
        model = bg.load(path, kind="language_model")
        found.append(model.score(["the nurse then"])[0])
    weights = dict(model.network.pretrained.model.named_parameters())
    assert "model.layers.1.self_attn.v_proj.bias" in weights
    assert abs(found[0] - found[1]) > 0.01


def test_factors_of_positions_count(tmp_path):
    """Llama 3.1 and later have them in a tensor of their own."""
    tensors, factors = tiny.weights(seed=4), [16, 1, 2, 4]
    of_file = tensors | {"rope_freqs.weight": np.array(factors, np.float32)}
    path = tiny.write(tmp_path / "m.gguf", of_file, quantised=False)
    text = "the nurse then, the nurse"
    expected, without = (
        sum(tiny.log_probabilities(tensors, tiny.pieces(text), factors=of)) for of in (factors, None)
    )
    assert bg.load(path, kind="language_model").score([text])[0] == pytest.approx(expected, abs=1e-3)
    assert abs(expected - without) > 0.01


def test_a_part_is_scored_given_what_comes_before(model, tensors):
    text = "the nurse then"
    assert tiny.pieces(text) == ["the", "Ġnurs", "e", "Ġthe", "n"]
    of_each = tiny.log_probabilities(tensors, tiny.pieces(text))
    parts = {
        (4, 9): of_each[1:3],
        (4, 5): of_each[1:2],
        (3, 4): of_each[1:2],
        (8, 9): of_each[2:3],
        (0, 3): of_each[:1],
    }
    scores = model.score([Sentence(text, part) for part in parts])
    np.testing.assert_allclose(scores, [sum(expected) for expected in parts.values()], rtol=1e-4)


@settings(deadline=None, max_examples=40)
@given(text=st.text(st.characters(codec="utf-8"), max_size=12), cuts=st.lists(st.integers(0, 12)))
def test_parts_add_up_to_the_whole(model, text, cuts):
    # cut where pieces end: a piece in two parts would count twice
    offsets = model.network.pretrained.split(text).offsets
    starts, ends = set(offsets[:, 0].tolist()), set(offsets[:, 1].tolist())
    cuts = sorted({0, len(text)} | {cut for cut in cuts if cut in ends & starts})
    parts = model.score([Sentence(text, part) for part in pairwise(cuts)])
    assert (math.isnan(model.score([text])[0]) and not text) or parts.sum() == pytest.approx(
        model.score([text])[0]
    )


@pytest.mark.slow
def test_models_that_score_at_the_same_time_leave_torchs_threads_alone(model):
    threads = torch.get_num_threads()
    texts = [f"{text} {number}" for text in TEXTS for number in range(5)]
    try:
        torch.set_num_threads(3)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda one: one.score(texts), [fresh(model) for _ in range(8)]))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(threads)
    for scores in found:
        np.testing.assert_array_equal(scores, found[0])


def test_what_has_no_pieces_or_too_many_has_no_score(model):
    asked = [
        "",
        "n" * (tiny.LONGEST - 1),  # and the first piece
        "n" * tiny.LONGEST,
        Sentence("the", (1, 1)),
        Sentence("the", (5, 9)),
    ]
    assert np.isnan(model.score(asked)).tolist() == [True, False, True, True, True]


def test_what_is_no_text(model):
    with pytest.raises(BiasgridError, match="is no Unicode text"):
        model.score(["\ud800"])
    with pytest.raises(BiasgridError, match="a list of texts is needed"):
        model.score("the nurse")


def _tensors(**changes):
    changed = tiny.weights() | {name.replace("__", "."): tensor for name, tensor in changes.items()}
    return {name: tensor for name, tensor in changed.items() if tensor is not None}


SAID = [
    ({"tokenizer.ggml.model": "t5"}, "cannot open it: KeyError: 'scores'"),
    ({"tokenizer.ggml.model": "rwkv"}, "cannot open it: ValueError: Cannot build a tokenizer"),
    ({"tokenizer.ggml.pre": "olmo"}, "tokenizer.ggml.pre: 'olmo' is not known"),
    ({"tokenizer.ggml.pre": None}, "tokenizer.ggml.pre: None is not known"),
    ({"llama.rope.scaling.type": "yarn"}, "llama.rope.scaling.type: 'yarn' is not known"),
    ({"llama.attention.sliding_window": 4}, "llama.attention.sliding_window: 4 is not known"),
    ({"llama.attention.head_count": 3}, "is not a multiple of the number of attention heads"),
    ({"llama.attention.head_count": 0}, "cannot open it: ZeroDivisionError"),
    ({"llama.attention.head_count_kv": [2, 2]}, "num_key_value_heads"),
    ({"llama.block_count": 10**8}, "100000000 layers are more than any model has"),
    ({"llama.block_count": 3}, "has no weights model.layers.2."),
    ({"llama.block_count": 1}, "transformers does not read 9280 of its weights"),
    ({"llama.rope.dimension_count": 9}, "cannot open it: "),
    ({"general.alignment": 0}, "cannot open it: ValueError: Invalid alignment"),
    ({"tokenizer.ggml.bos_token_id": 9999}, "cannot open it: IndexError"),
    ({"tokenizer.ggml.merges": ["q z"]}, "cannot open it: Exception: Error while initializing BPE"),
    ({"tokenizer.ggml.tokens": ["a"] * len(tiny.TOKENS)}, "Error while initializing BPE"),
    (
        {"tokenizer.ggml.tokens": tiny.TOKENS[:-1], "tokenizer.ggml.merges": ["h e"]},
        "its weights do not fit config.json",
    ),
]
TENSORS = [
    (
        _tensors(blk__0__attn_norm__bias=np.ones(tiny.WIDTH, np.float32)),
        f"transformers does not read {tiny.WIDTH} of its weights, such as blk.0.attn_norm.bias",
    ),
    (
        _with_biases("attn_q", "attn_k", "attn_v"),
        "has no weights model.layers.0.self_attn.o_proj.bias",
    ),
    (_tensors(blk__0__attn_q_norm__weight=np.ones(8, np.float32)), "does not read 8 of its weights"),
    (_tensors(blk__1__ffn_up__weight=None), "has no weights model.layers.1.mlp.up_proj.weight"),
    (_tensors(blk__1__ffn_up__weight=np.ones((32, 32), np.float32)), "its weights do not fit"),
]
OTHER = ({"architecture": "nonsense"}, "GGUF model with architecture nonsense is not supported yet")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(({"said": said}, told) for said, told in SAID),
        *(({"tensors": of}, told) for of, told in TENSORS),
        OTHER,
    ],
    ids=[told for _, told in [*SAID, *TENSORS, OTHER]],
)
def test_what_transformers_does_not_know_or_would_leave_out_is_refused(tmp_path, tensors, change, message):
    path = tiny.write(tmp_path / "m.gguf", **{"tensors": tensors} | change)
    with refused(f"{path}: ", message):
        bg.load(path, kind="language_model")


def test_a_head_that_a_file_has_beside_the_same_embedding(tmp_path, tensors, model):
    again = tensors | {"output.weight": tensors["token_embd.weight"]}
    path = tiny.write(tmp_path / "m.gguf", again)
    np.testing.assert_allclose(
        bg.load(path, kind="language_model").score(TEXTS), model.score(TEXTS), rtol=1e-6
    )


def test_a_file_is_converted_once(tmp_path, tensors, own_cache, capfd, monkeypatch):
    """Its folder is named by the file's hash, whatever the file's name; nothing is said."""
    path = tiny.write(tmp_path / "m.gguf", tiny.weights(11))
    first = bg.language_model(path).score(TEXTS)
    assert capfd.readouterr() == ("", "")
    assert sorted(file.name for file in (own_cache / "converted" / hash_file(path)).iterdir()) == [
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    assert not list((own_cache / "converted").glob(".*"))

    def again(*_):
        raise AssertionError

    monkeypatch.setattr("biasgrid.models.language.building.convert", again)
    path.rename(tmp_path / "other.gguf")
    second = bg.language_model(tmp_path / "other.gguf")
    np.testing.assert_array_equal(second.score(TEXTS), first)
    assert second.metadata["converted_from"] == {
        "format": "gguf",
        "sha256": hash_file(tmp_path / "other.gguf"),
    }
    assert second.metadata["format"] == "transformers"


def test_a_file_is_read_once(tmp_path, monkeypatch):
    """By each of those who ask what is in it: a vocabulary takes seconds."""
    asked = {"reader": [], "names": []}

    class Reader(tiny.gguf.GGUFReader):
        def __init__(self, path):
            asked["reader"].append(path)
            super().__init__(path)

    def names(*of):
        asked["names"].append(of)
        return get_tensor_name_map(*of)

    get_tensor_name_map = tiny.gguf.get_tensor_name_map
    monkeypatch.setattr(tiny.gguf, "GGUFReader", Reader)
    monkeypatch.setattr(tiny.gguf, "get_tensor_name_map", names)
    bg.load(tiny.write(tmp_path / "m.gguf", tiny.weights(12)), kind="language_model")
    assert {name: len(of) for name, of in asked.items()} == {"reader": 1, "names": 1}
    # and gguf is as it was
    assert (tiny.gguf.GGUFReader, tiny.gguf.get_tensor_name_map) == (Reader, names)


LETTERS = ["▁", *"aenrstu", "▁a", "an", "na", "nan", "anan", "st", "stu", "▁st", "▁▁"]


def merged_one_by_one(text):
    """Neighbours that make a token, the first of the lowest number in `LETTERS`, are merged until none are left."""
    parts = ["▁", *text.replace(" ", "▁")] if text else []
    while pairs := [
        (LETTERS.index(a + b), place) for place, (a, b) in enumerate(pairwise(parts)) if a + b in LETTERS
    ]:
        _, place = min(pairs)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts


@pytest.fixture(scope="module")
def of_sentence_pieces(tmp_path_factory, own_cache):
    """A model with the kind of tokenizer that Llama 2 has."""
    tokens = ["<unk>", "<s>", *(f"<0x{byte:02X}>" for byte in range(256)), *LETTERS]
    rng = np.random.default_rng(0)
    tensors = tiny.weights() | {
        "token_embd.weight": rng.normal(size=(len(tokens), tiny.WIDTH)).astype(np.float32)
    }
    said = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.pre": None,
        "tokenizer.ggml.merges": None,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * 258 + [-float(rank) for rank in range(len(LETTERS))],
        "tokenizer.ggml.token_type": [2, 3, *[6] * 256, *[1] * len(LETTERS)],
        "tokenizer.ggml.bos_token_id": 1,
    }
    path = tmp_path_factory.mktemp("pieces") / "m.gguf"
    return bg.load(tiny.write(path, tensors, said, quantised=False), kind="language_model")


@settings(deadline=None, max_examples=200)
@given(text=st.text(" aenrstué日", max_size=14).filter(lambda text: text[:1] != " "))
def test_pieces_by_scores(of_sentence_pieces, text):
    pretrained = of_sentence_pieces.network.pretrained
    found = pretrained.split(text)
    expected, end = [], -1
    for part in merged_one_by_one(text):
        tokens = [part] if part in LETTERS else [f"<0x{byte:02X}>" for byte in part.encode()]
        start, end = end, end + len(part)
        expected += [(token, (max(start, 0), max(end, 1))) for token in tokens]
    assert pretrained.tokenizer.convert_ids_to_tokens(found.ids) == ["<s>", *(token for token, _ in expected)]
    assert found.offsets[1:].tolist() == [list(span) for _, span in expected]


def test_a_model_of_such_pieces_scores(of_sentence_pieces):
    parts = of_sentence_pieces.score([Sentence("nan é", (0, 3)), Sentence("nan é", (3, 5))])
    assert parts.sum() == pytest.approx(of_sentence_pieces.score(["nan é"])[0])


@pytest.mark.slow
def test_damaged_files_end_in_a_line(tmp_path, tensors):
    whole = tiny.write(tmp_path / "whole.gguf", tensors).read_bytes()
    path = tmp_path / "damaged.gguf"
    rng = np.random.default_rng(0)
    cut = [0, 3, 4, 11, 24, *rng.integers(24, len(whole) - 1, 8)]
    flipped = [(int(place), int(value)) for place, value in rng.integers((8, 0), (12_000, 256), (20, 2))]
    for content in (
        *(whole[:length] for length in cut),
        *(whole[:place] + bytes([value] * 8) + whole[place + 8 :] for place, value in flipped),
        b"GGML" + whole[4:],
        whole[:4] + b"\0\0\0\3" + whole[8:],
    ):
        path.write_bytes(content)
        # what was hit may say nothing that matters here, or something else that could be so
        with suppress(BiasgridError):
            assert bg.load(path, kind="language_model").score(["the"]).shape == (1,)


def test_a_model_of_a_users_file_goes_with_it(tmp_path, tensors):
    path = tiny.write(tmp_path / "m.gguf", tensors)
    model = bg.load(str(path), kind="language_model", name="mine")
    assert (model.name, model.masked, model.kind, repr(model)) == (
        "mine",
        False,
        "language_model",
        "LanguageModel('mine': causal)",
    )
    folder = model.path
    assert bg.load(folder).name == "mine"
    assert bg.load(model, kind="language_model") is model
    del model
    assert not folder.exists()
    assert path.exists()


def lines(capsys):
    output = capsys.readouterr()
    return output.out, output.err.strip().splitlines()


def test_score_prints_a_list(tmp_path, tensors):
    path = tiny.write(tmp_path / "tiny.gguf", tensors)
    (tmp_path / "s.txt").write_bytes("\ufeffthe nurse\r\n\n  \nthe naïve nurse then".encode())
    scored = printed("score", "--model", path, "--sentences", tmp_path / "s.txt")
    texts = ["the nurse", "the naïve nurse then"]
    expected = [sum(tiny.log_probabilities(tensors, tiny.pieces(text))) for text in texts]
    assert [entry["text"] for entry in scored] == texts
    assert [entry["score"] for entry in scored] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("model", "content", "message"),
    [
        ("tiny.gguf", b" \n\n", "s.txt: has no sentence"),
        ("tiny.gguf", b"caf\xe9", "s.txt: not UTF-8: byte 3"),
        ("tiny.gguf", None, "s.txt: No such file or directory"),
        ("missing.gguf", b"the", "'missing.gguf': no such file or folder"),
        ("no-such-model", b"the", "unknown model 'no-such-model'"),
        ("glove-6b-50d", b"the", "glove-6b-50d: is no language model"),
        ("s.txt", b"the", "no language model: expected a .gguf file"),
    ],
)
def test_score_refuses_in_a_line(tmp_path, tensors, monkeypatch, model, content, message):
    tiny.write(tmp_path / "tiny.gguf", tensors)
    if content is not None:
        (tmp_path / "s.txt").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    refusal("score", "--model", model, "--sentences", "s.txt", parts=[message])


@pytest.mark.slow
@pytest.mark.parametrize("package", ["transformers", "gguf", "torch", "accelerate"])
def test_a_missing_package_is_asked_for_in_a_line(tmp_path, capsys, monkeypatch, package):
    """A file that was converted needs no reader any more."""
    path = tiny.write(tmp_path / "tiny.gguf", tiny.weights(20))
    (tmp_path / "s.txt").write_text("the")
    arguments = ["score", "--model", str(path), "--sentences", str(tmp_path / "s.txt")]
    monkeypatch.setenv(PLACE, str(tmp_path / "nothing is converted"))
    with monkeypatch.context() as without:
        without.setattr("biasgrid.core.extras.has", lambda name: name != package)
        assert main(arguments) == 2
        _, err = lines(capsys)
        assert len(err) == 1
        assert f"needs {package}; install it: pip install 'accelerate>=1.1' 'gguf>=" in err[0]
    assert main(arguments) == 0
    monkeypatch.setattr("biasgrid.core.extras.has", lambda name: name != package)
    assert main(arguments) == (0 if package in ("gguf", "accelerate") else 2)


@pytest.mark.network
@pytest.mark.slow
def test_smollm2_as_it_is_known(monkeypatch):
    """Numbers of the project's specification, measured with other code; and of our own network, which was."""
    monkeypatch.delenv(PLACE)
    model = bg.load("smollm2-135m")
    scores = model.score(
        [
            "Men are more intelligent than women.",
            "Women are more intelligent than men.",
            "Than intelligent women more are men.",
        ]
    )
    np.testing.assert_allclose(scores, [-34.52, -37.51, -59.52], atol=0.02)
    known = json.loads((DATA / "smollm2_log_likelihoods.json").read_text())["log_likelihoods"]
    with (ROOT / "data" / "sentences" / "crows_pairs.csv").open() as file:
        rows = list(islice(csv.DictReader(file), 22))
    texts = [row[column] for row in rows for column in ("sent_more", "sent_less")]
    np.testing.assert_allclose(model.score(texts), known, atol=1e-3, rtol=0)
    # the probability of a word is that of its piece, given what comes before
    texts = ["The nurse put down her", "The nurse put down his", "The capital of France is Paris"]
    last = [Sentence(text, (text.rindex(" ") + 1, len(text))) for text in texts]
    np.testing.assert_allclose(np.exp(model.score(last)), [0.33, 0.11, 0.75], atol=0.005)
