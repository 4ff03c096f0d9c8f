"""Causal models of Llama's shape: what a tiny one says against plain NumPy, and what is refused."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
import tiny_llama as tiny
from hypothesis import given, settings
from hypothesis import strategies as st

import biasgrid as bg
from biasgrid.cli import main
from biasgrid.embeddings.language.sentence import Sentence
from biasgrid.errors import BiasgridError

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

TEXTS = ["the nurse then", "the nurse", "x", "A 12th, the\nnurse's hat: naïve?", "  two  spaces", "日本 the"]


@pytest.fixture(scope="module")
def tensors():
    return tiny.weights()


@pytest.fixture(scope="module")
def model(tmp_path_factory, tensors):
    path = tiny.write(tmp_path_factory.mktemp("tiny") / "tiny.gguf", tensors)
    return bg.load(path, kind="language_model")


def fresh(model):
    """The same model, which remembers no score."""
    return type(model).open(model.path)


def test_log_likelihoods_are_those_of_plain_numpy(model, tensors):
    expected = [sum(tiny.log_probabilities(tensors, tiny.pieces(text))) for text in TEXTS]
    np.testing.assert_allclose(model.score(TEXTS), expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("shape", "said", "factors"),
    [
        ({"biases": True}, {}, None),
        ({"untied": True}, {"llama.rope.scaling.type": "none", "llama.expert_count": 0}, None),
        ({"seed": 1}, {"llama.rope.freq_base": None, "tokenizer.ggml.pre": "gpt-2"}, None),
        ({"seed": 2}, {}, [1, 2, 4, 32]),
    ],
)
def test_variants_that_a_file_declares(tmp_path, shape, said, factors):
    tensors = tiny.weights(**shape)
    more = {} if factors is None else {"rope_freqs.weight": np.array(factors, np.float32)}
    path = tiny.write(tmp_path / "m.gguf", tensors | more, said, quantised=False)
    text = "the nurse then"
    base = 10_000 if "llama.rope.freq_base" in said else tiny.BASE
    expected = sum(tiny.log_probabilities(tensors, tiny.pieces(text), factors, base))
    assert bg.load(path, kind="language_model").score([text])[0] == pytest.approx(expected, rel=1e-4)


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
    ends = {int(end) for end in model.network.pieces(text).spans[:, 1]}
    starts = {int(start) for start in model.network.pieces(text).spans[:, 0]}
    cuts = sorted({0, len(text)} | {cut for cut in cuts if cut in ends & starts})
    parts = model.score([Sentence(text, part) for part in pairwise(cuts)])
    assert (math.isnan(model.score([text])[0]) and not text) or parts.sum() == pytest.approx(
        model.score([text])[0]
    )


def test_a_score_depends_on_nothing_but_the_text(model):
    texts = [f"{text} {number}" for text in TEXTS for number in range(5)]
    alone = [fresh(model).score([text])[0] for text in texts]
    threads = torch.get_num_threads()
    try:
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            np.testing.assert_array_equal(fresh(model).score(texts[::-1]), alone[::-1])
            assert torch.get_num_threads() == count
    finally:
        torch.set_num_threads(threads)


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


@pytest.mark.slow
def test_filled_up_batches_as_for_a_gpu_say_the_same(model):
    texts = [f"{text} {number}" * 2 for text in TEXTS for number in range(7)]
    network = model.network
    batched = [
        scores.sum() for scores in network._score_batches([network.pieces(text).ids for text in texts])
    ]
    np.testing.assert_allclose(batched, model.score(texts), rtol=1e-5)


def test_what_follows(model, tensors):
    best = model.network.next_pieces("the nurs", best=3)
    expected = {
        token: math.exp(tiny.log_probabilities(tensors, ["the", "Ġnurs", token])[-1]) for token in tiny.TOKENS
    }
    first = sorted(expected, key=expected.get)[:-4:-1]
    assert list(best.values()) == pytest.approx([expected[token] for token in first], rel=1e-4)


def test_what_has_no_pieces_or_too_many_has_no_score(model):
    asked = [
        "",
        "n" * tiny.LONGEST,
        "n" * (tiny.LONGEST + 1),
        Sentence("the", (1, 1)),
        Sentence("the", (5, 9)),
    ]
    assert np.isnan(model.score(asked)).tolist() == [True, False, True, True, True]


def test_what_is_no_text(model):
    with pytest.raises(BiasgridError, match="is no Unicode text"):
        model.score(["\ud800"])
    with pytest.raises(BiasgridError, match="a list of texts is needed"):
        model.score("the nurse")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"tokenizer.ggml.model": "t5"}, "tokenizer.ggml.model: unknown value 't5'; allowed: gpt2, llama"),
        (
            {"tokenizer.ggml.pre": "qwen2"},
            "tokenizer.ggml.pre: unknown value 'qwen2'; allowed: gpt-2, smollm",
        ),
        ({"tokenizer.ggml.pre": None}, "tokenizer.ggml.pre: unknown value None"),
        ({"llama.rope.scaling.type": "yarn"}, "llama.rope.scaling.type: 'yarn' is not known"),
        ({"llama.expert_count": 8}, "llama.expert_count: 8 is not known"),
        ({"llama.attention.sliding_window": 4}, "llama.attention.sliding_window: 4 is not known"),
        ({"llama.attention.head_count": 3}, "do not fit together"),
        ({"llama.attention.head_count": 0}, "llama.attention.head_count: expected a number, not 0"),
        ({"llama.attention.head_count_kv": [2, 2]}, "head_count_kv: expected a number"),
        ({"llama.block_count": None}, "llama.block_count: expected a number, not None"),
        ({"llama.block_count": 10**8}, "too few for 100000000 layers"),
        ({"llama.rope.dimension_count": 9}, "rope.dimension_count: 9 of 8"),
        ({"general.alignment": 0}, "no whole GGUF file"),
    ],
)
def test_models_that_are_not_known_are_refused_when_they_are_opened(tmp_path, tensors, said, message):
    path = tiny.write(tmp_path / "m.gguf", tensors, said)
    with pytest.raises(BiasgridError) as error:
        bg.load(path, kind="language_model")
    assert message in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("change", "said", "message"),
    [
        ({"blk.0.attn_q_norm.weight": np.ones(8, np.float32)}, {}, "attn_q_norm.weight, which is not known"),
        ({"blk.1.ffn_up.weight": None}, {}, "has no tensor blk.1.ffn_up.weight"),
        ({"blk.1.ffn_up.weight": np.ones((32, 32), np.float32)}, {}, r"is (32, 32), and should be (64, 32)"),
        (
            {},
            {"tokenizer.ggml.bos_token_id": None},
            "its tokenizer is not whole: 'tokenizer.ggml.bos_token_id'",
        ),
        ({}, {"tokenizer.ggml.bos_token_id": 9999}, "there is no token 9999"),
        ({}, {"tokenizer.ggml.merges": ["q z"]}, "its tokenizer is not whole"),
        ({}, {"tokenizer.ggml.tokens": ["a"] * len(tiny.TOKENS)}, "a token occurs twice"),
        (
            {},
            {"tokenizer.ggml.tokens": tiny.TOKENS[:-1], "tokenizer.ggml.merges": ["h e"]},
            "should be (263, 32)",
        ),
    ],
)
def test_models_that_are_not_whole_are_refused_when_they_score(tmp_path, tensors, change, said, message):
    changed = {name: tensor for name, tensor in (tensors | change).items() if tensor is not None}
    model = bg.load(tiny.write(tmp_path / "m.gguf", changed, said), kind="language_model")
    with pytest.raises(BiasgridError) as error:
        model.score(["the"])
    assert message in str(error.value)


LETTERS = ["▁", *"aenrstu", "▁a", "an", "na", "nan", "anan", "st", "stu", "▁st", "ée", "▁▁"]


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
def of_sentence_pieces(tmp_path_factory):
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
@given(text=st.text(" aenrstué日", max_size=14))
def test_pieces_by_scores(of_sentence_pieces, text):
    tokenizer = of_sentence_pieces.network.pieces
    found = tokenizer(text)
    expected, end = [], -1
    for part in merged_one_by_one(text):
        tokens = [part] if part in LETTERS else [f"<0x{byte:02X}>" for byte in part.encode()]
        start, end = end, end + len(part)
        expected += [(token, (max(start, 0), max(end, 1))) for token in tokens]
    assert [tokenizer.tokens[number] for number in found.ids] == [token for token, _ in expected]
    assert found.spans.tolist() == [list(span) for _, span in expected]


def test_a_model_of_such_pieces_scores(of_sentence_pieces):
    parts = of_sentence_pieces.score([Sentence("nan é", (0, 3)), Sentence("nan é", (3, 5))])
    assert parts.sum() == pytest.approx(of_sentence_pieces.score(["nan é"])[0])
    assert of_sentence_pieces.network.next_pieces("nan", best=3).keys() <= {
        token.replace("▁", " ") for token in of_sentence_pieces.network.pieces.tokens
    }


def test_another_architecture(tmp_path, tensors):
    path = tiny.write(tmp_path / "m.gguf", tensors, architecture="qwen2")
    with pytest.raises(
        BiasgridError, match=r"general.architecture: unknown architecture 'qwen2'.* allowed: llama"
    ):
        bg.load(path, kind="language_model")


@pytest.mark.slow
def test_damaged_files_end_in_a_line(tmp_path, tensors):
    whole = tiny.write(tmp_path / "whole.gguf", tensors).read_bytes()
    path = tmp_path / "damaged.gguf"
    rng = np.random.default_rng(0)
    cut = [0, 3, 4, 11, 24, *rng.integers(24, len(whole) - 1, 30)]
    flipped = [(int(place), int(value)) for place, value in rng.integers((8, 0), (12_000, 256), (150, 2))]
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


def test_score_prints_a_list(tmp_path, tensors, capsys, monkeypatch):
    path = tiny.write(tmp_path / "tiny.gguf", tensors)
    (tmp_path / "s.txt").write_bytes("\ufeffthe nurse\r\n\n  \nthe naïve nurse then".encode())
    assert main(["score", "--model", str(path), "--sentences", str(tmp_path / "s.txt")]) == 0
    out, _ = lines(capsys)
    texts = ["the nurse", "the naïve nurse then"]
    expected = [sum(tiny.log_probabilities(tensors, tiny.pieces(text))) for text in texts]
    assert [entry["text"] for entry in json.loads(out)] == texts
    assert [entry["score"] for entry in json.loads(out)] == pytest.approx(expected, rel=1e-4)


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
def test_score_refuses_in_a_line(tmp_path, tensors, capsys, monkeypatch, model, content, message):
    tiny.write(tmp_path / "tiny.gguf", tensors)
    if content is not None:
        (tmp_path / "s.txt").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert main(["score", "--model", model, "--sentences", "s.txt"]) == 2
    out, err = lines(capsys)
    assert (out, len(err)) == ("", 1)
    assert message in err[0]


@pytest.mark.parametrize("package", ["tokenizers", "gguf", "torch"])
def test_a_missing_package_is_asked_for_in_a_line(tmp_path, tensors, capsys, monkeypatch, package):
    path = tiny.write(tmp_path / "tiny.gguf", tensors)
    (tmp_path / "s.txt").write_text("the")
    monkeypatch.setattr("biasgrid.extras.has", lambda name: name != package)
    assert main(["score", "--model", str(path), "--sentences", str(tmp_path / "s.txt")]) == 2
    _, err = lines(capsys)
    assert len(err) == 1
    assert f"needs {package}; install it: pip install 'biasgrid[" in err[0]


def test_transformers_says_the_same(tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    # its own tokenizer for such a file splits otherwise: the pieces are given
    path = tiny.write(tmp_path / "m.gguf", tiny.weights(3), {"tokenizer.ggml.pre": "gpt-2"}, quantised=False)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path, gguf_file=path.name, dtype=torch.float32
    )
    text = "the nurse then, the nurse"
    ids = torch.tensor([[0, *map(tiny.TOKENS.index, tiny.pieces(text))]])
    with torch.inference_mode():
        logs = theirs(ids).logits[0].double().log_softmax(-1)
    expected = logs[range(ids.shape[1] - 1), ids[0, 1:]].sum()
    assert bg.load(path, kind="language_model").score([text])[0] == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.network
@pytest.mark.slow
def test_smollm2_as_it_is_known():
    """Numbers of the project's specification, measured with other code."""
    model = bg.load("smollm2-135m")
    scores = model.score(
        [
            "Men are more intelligent than women.",
            "Women are more intelligent than men.",
            "Than intelligent women more are men.",
        ]
    )
    np.testing.assert_allclose(scores, [-34.52, -37.51, -59.52], atol=0.02)
    network = model.network
    assert network.next_pieces("The capital of France is")[" Paris"] == pytest.approx(0.75, abs=0.005)
    after = network.next_pieces("The nurse put down")
    assert (after[" her"], after[" his"]) == (pytest.approx(0.33, abs=0.005), pytest.approx(0.11, abs=0.005))
    # the probability of a word is that of its piece, given what comes before
    of_part = model.score([Sentence("The nurse put down her", (19, 22))])[0]
    assert math.exp(of_part) == pytest.approx(after[" her"], rel=1e-4)
