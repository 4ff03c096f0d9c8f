"""Any model through one door: what seven architectures of random weights say is what their raw logits and states say,
one text at a time; so are functions, objects and tables of vectors."""

# The traps of the specification of models of any kind, and where each is tested:
#  1 no tokenizer files                  test_language_folders.py, refused
#  2 a kind that the class does not say  test_the_kind_is_what_the_config_says; test_language_folders.py, random heads
#  3 a tokenizer that is replaced        test_the_saved_tokenizer_is_the_one_that_reads
#  4 to 7 padding, masks, positions      test_log_likelihoods_are_those_of_the_raw_logits, test_vectors_...: texts of
#                                        unlike lengths in one call against each alone, never filled up
#  8 two threads on a busy machine       test_bert.py and test_llama.py: the same bits on 1, 2, 5. Not how long it
#                                        takes: that depends on what else runs
#  9 bfloat16                            test_numbers_are_float32_unless_one_asks_otherwise
# 10 a name without network              test_hub.py
# 11 code of a model, terminal prompts   test_language_folders.py, refused
# 12 tokenizers that 4.x cannot read     not tested: the extra `language` asks for transformers 5
# 13 GGUF that refuses to be saved, bars test_llama.py: every test there opens a converted one; one reads the terminal
# 14 over-long texts                     test_texts_longer_than_a_model_takes
# 15 no pad token                        GPT-2, Llama and Qwen2 have none here
# 16 BOS                                 test_a_causal_models_text_begins_with_one_first_piece
# 17 a copied environment's pip          not tested: it is about installing, and in no code of ours

import pickle
import subprocess
import sys
import warnings
from types import SimpleNamespace

import architectures as made_by_hand
import numpy as np
import pytest
from architectures import ALL, CAUSAL, MASKED, POSITIONS, SIZE, made, saved, split
from conftest import ROOT
from refusals import refused

import biasgrid as bg
from biasgrid import BiasgridError, InputError, Query
from biasgrid.models import build_store
from biasgrid.models.language.encoder import Encoder
from biasgrid.models.language.opening import in_memory, open_pretrained
from biasgrid.models.language.sentence import Sentence
from biasgrid.models.language.templates import PlacedWord
from biasgrid.models.language.threads import one_thread

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from biasgrid.models.language.one_dnn import OneDnn  # noqa: E402

TEXTS = [
    "the nurse is unkindly.",
    "he",
    "A doctors and the nurse was strong .",
    "she cooks",
    "zé 日",
    "he is here and she is there.",
]
LONG = TEXTS[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("architectures")


@pytest.fixture(scope="module", params=list(ALL))
def name(request):
    return request.param


@pytest.fixture(scope="module", params=list(MASKED))
def masked_name(request):
    return request.param


@pytest.fixture(scope="module", params=list(CAUSAL))
def causal_name(request):
    return request.param


def near(expected):
    return pytest.approx(expected, abs=1e-4)


def inner(name, text):
    """The places of a text's pieces that are no special ones."""
    ids, _ = split(name, text)
    return list(range(1, len(ids) - (name in MASKED)))


def places(name, text, word):
    """The places of a word's pieces: those that have any of its characters."""
    start = text.index(word)
    _, spans = split(name, text)
    return [
        place
        for place in inner(name, text)
        if spans[place][0] < start + len(word) and spans[place][1] > start
    ]


def span(text, word):
    return text.index(word), text.index(word) + len(word)


def whole(name, text):
    ids, _ = split(name, text)
    if name in CAUSAL:
        return made_by_hand.causal_scores(name, ids).sum()
    return made_by_hand.masked_score(name, ids, [[place] for place in inner(name, text)])


# scores


@pytest.mark.slow
def test_log_likelihoods_are_those_of_the_raw_logits(folder, name):
    expected = [whole(name, text) for text in TEXTS]
    model = bg.language_model(saved(folder, name))
    assert model.masked == (name in MASKED)
    assert model.score(TEXTS) == near(expected)
    assert bg.language_model(*made(name)).score(TEXTS) == near(expected)
    assert bg.language_model(saved(folder, name), fast=True).score(TEXTS) == near(expected)


@pytest.mark.slow
def test_parts_are_scored_as_each_kind_can(folder, name):
    ids, _ = split(name, LONG)
    asked = ["doctors", "nurse", "strong"]
    found = bg.language_model(saved(folder, name)).score([Sentence(LONG, span(LONG, word)) for word in asked])
    of_words = [places(name, LONG, word) for word in asked]
    if name in MASKED:
        expected = [made_by_hand.masked_score(name, ids, [of_word]) for of_word in of_words]
    else:
        of_pieces = made_by_hand.causal_scores(name, ids)
        expected = [sum(of_pieces[place - 1] for place in of_word) for of_word in of_words]
    assert found == near(expected)


def test_a_masked_model_is_asked_what_it_does_not_see(folder, masked_name):
    model = bg.language_model(saved(folder, masked_name))
    ids, _ = split(masked_name, LONG)
    nurse, strong = (places(masked_name, LONG, word) for word in ("nurse", "strong"))
    other = "A doctors and the woman was strong ."
    others, _ = split(masked_name, other)
    (woman,) = places(masked_name, other, "woman")
    found = model.score(
        [
            Sentence(LONG, span(LONG, "nurse"), hidden=span(LONG, "strong")),
            Sentence(LONG, hidden=span(LONG, "strong")),
            Sentence(LONG, beside=other),
            Sentence(other, beside=LONG),
        ]
    )
    seen = [place for place in inner(masked_name, LONG) if place not in strong]
    expected = [
        made_by_hand.masked_score(masked_name, ids, [nurse], strong),
        made_by_hand.masked_score(masked_name, ids, [[place] for place in seen], strong),
        made_by_hand.masked_score(
            masked_name, ids, [[place] for place in inner(masked_name, LONG) if place not in nurse]
        ),
        made_by_hand.masked_score(
            masked_name, others, [[place] for place in inner(masked_name, other) if place != woman]
        ),
    ]
    assert found == near(expected)


def test_the_rest_of_a_word_is_masked_with_each_of_its_pieces(folder, masked_name):
    """PLL-word-l2r by hand: "unkindly" is un ##kind ##ly, and a later piece never predicts an earlier one."""
    text, tokenizer = "she is unkindly .", made(masked_name)[1]
    ids, _ = split(masked_name, text)
    assert tokenizer.convert_ids_to_tokens(ids)[1:-1] == ["she", "is", "un", "##kind", "##ly", "."]
    total = 0.0
    for place, hidden in ((1, []), (2, []), (3, [4, 5]), (4, [5]), (5, []), (6, [])):
        total += made_by_hand.masked_score(masked_name, ids, [[place]], hidden)
    model = bg.language_model(saved(folder, masked_name))
    asked = Sentence(text, l2r=True)
    assert model.score([asked]) == near([total])
    assert abs(total - whole(masked_name, text)) > 1e-3
    # words of one piece: as without
    plain = "she is here ."
    assert model.score([Sentence(plain, l2r=True)]) == near(model.score([plain]))
    assert Sentence.from_dict(asked.to_dict()) == asked
    assert "l2r" not in Sentence(text).to_dict()
    query = Query([[text, plain], [plain, text]])
    result = bg.metrics.mean_pair_difference(query, model, score="l2r")
    (of_plain,) = model.score([plain])
    assert result.detail["difference"]["Target set 0"][text] == near(total - of_plain)
    assert bg.metrics.pll_preference(query, model, score="l2r").value == 0.5


@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
def test_a_causal_model_is_not_asked_what_comes_after(folder, causal_name):
    model = bg.language_model(saved(folder, causal_name))
    asked = [Sentence(LONG, hidden=(0, 1)), Sentence(LONG, beside="he"), Sentence(LONG, l2r=True)]
    assert np.isnan(model.score(asked)).all()
    result = bg.metrics.pll_preference(Query([["he"], ["she"]]), model, score="l2r")
    assert (result.status, np.isnan(result.value)) == ("degenerate", True)


def test_a_causal_models_text_begins_with_one_first_piece(folder, causal_name):
    """BOS, or EOS where there is none; once, also where the tokenizer puts one there itself."""
    model, tokenizer = made(causal_name)
    first = {"GPT-2": "<|endoftext|>", "Llama": "<s>", "Qwen2": "<|endoftext|>"}[causal_name]
    network = bg.language_model(saved(folder, causal_name)).network
    pieces = network.pretrained.split("the nurse")
    assert network.pretrained.tokenizer.convert_ids_to_tokens(pieces.ids[:2]) == [first, "the"]
    assert pieces.inner.tolist() == [False, *[True] * (len(pieces.ids) - 1)]
    if causal_name == "Llama":
        from tokenizers import Tokenizer, processors

        adds = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        adds.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
        adding = transformers.PreTrainedTokenizerFast(
            tokenizer_object=adds, bos_token="<s>", eos_token="</s>"
        )
        assert adding("the")["input_ids"][0] == 0
        assert bg.language_model(model, adding).score(TEXTS) == near([whole(causal_name, t) for t in TEXTS])


@pytest.mark.slow
def test_texts_longer_than_a_model_takes(folder, name):
    """RoBERTa counts positions from its padding's number on: 40 take 38 pieces. Llama would take any."""
    longest = 38 if name == "RoBERTa" else POSITIONS
    word_count = longest - (2 if name in MASKED else 1)
    # a piece of byte pairs is " he", and the first is "he"
    fits, over = (" ".join(["he"] * count) for count in (word_count, word_count + 1))
    assert len(split(name, fits)[0]) == longest
    model = bg.language_model(saved(folder, name))
    assert np.isnan(model.score([over, fits, "he"])).tolist() == [True, False, False]
    assert model.score([fits]) == near([whole(name, fits)])
    with pytest.raises(InputError, match=rf"has \d+ pieces; allowed: up to {longest}"):
        bg.encode([f"{over} he he"], saved(folder, name))


def test_texts_without_pieces_have_no_score(folder, name):
    asked = ["", Sentence("the nurse", (1, 1)), Sentence("the nurse", (20, 22))]
    assert np.isnan(bg.language_model(saved(folder, name)).score(asked)).all()


@pytest.mark.slow
def test_a_score_depends_on_nothing_but_the_text(name):
    texts = [f"{text} {end}" for text in TEXTS for end in ("he", "she is", "a nurse was here .")]
    together = bg.language_model(*made(name)).score(texts)
    alone = [bg.language_model(*made(name)).score([text])[0] for text in texts[:4]]
    np.testing.assert_array_equal(together[:4], alone)
    np.testing.assert_array_equal(bg.language_model(*made(name)).score(texts[::-1])[::-1], together)
    assert bg.language_model(*made(name), fast=True).score(texts[::-1])[::-1] == near(together)


class Layers(TorchDispatchMode):
    """The linear layers that a thread computes, and how."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if (name := str(function).split(".")[1]) in ("linear", "addmm", "_linear_pointwise"):
            self.seen.append(name)
        return function(*args, **(kwargs or {}))


def test_linear_layers_are_those_of_one_dnn_where_scores_are_fast(folder, name):
    layers = {}
    for fast in (False, True):
        model = bg.language_model(saved(folder, name), fast=fast)
        with one_thread(), Layers() as found:
            model.score(TEXTS[:1])
        layers[fast] = found.seen
    assert len(layers[False]) >= 8
    assert "_linear_pointwise" not in layers[False]
    assert layers[True] == ["_linear_pointwise"] * len(layers[False])


def test_one_dnn_takes_what_it_can_multiply():
    generator = torch.Generator().manual_seed(0)
    states, weights, bias = (torch.randn(shape, generator=generator) for shape in ((2, 3, 8), (5, 8), (5,)))
    expected = states.double() @ weights.double().T
    linear = torch.nn.functional.linear
    wide = torch.cat([weights, weights], dim=1)
    with torch.inference_mode(), OneDnn(), Layers() as layers:
        for found, exact in (
            (linear(states, weights), expected),
            (linear(states, weights, bias), expected + bias),
            (torch.addmm(bias, states[0], weights.T), expected[0] + bias),
            # and what it does not take
            (linear(states, weights, bias=bias), expected + bias),
            (linear(states, wide[:, :8]), expected),
            (linear(states, weights, bias[:1]), expected + bias[:1]),
            (linear(states.double(), weights.double()), expected),
            (torch.addmm(2 * expected[0].float(), states[0], weights.T, beta=0.5), 2 * expected[0]),
        ):
            np.testing.assert_allclose(found.double(), exact, atol=1e-5)
    assert layers.seen == ["_linear_pointwise"] * 3 + ["linear"] * 4 + ["addmm"]


@pytest.mark.slow
@pytest.mark.parametrize("wide_name", ["BERT", "Llama"])
def test_nor_does_that_of_a_model_as_wide_as_real_ones(wide_name):
    """Of tiny models sums of any shape have the same bits: here they have them for the rows and lengths alone."""
    model, tokenizer = made(wide_name)
    wide = model.config.to_dict() | {"hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4}
    if wide_name == "Llama":
        wide |= {"num_key_value_heads": 4, "head_dim": 64}
    torch.manual_seed(0)
    model = type(model)(model.config.__class__(**wide))
    texts = [f"{text} {end}" for text in TEXTS for end in ("he", "she is", "a nurse was here .")]
    alone = [bg.language_model(model, tokenizer).score([text])[0] for text in texts]
    threads = torch.get_num_threads()
    try:
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            np.testing.assert_array_equal(bg.language_model(model, tokenizer).score(texts), alone)
            np.testing.assert_array_equal(bg.language_model(model, tokenizer).score(texts[::-1]), alone[::-1])
    finally:
        torch.set_num_threads(threads)
    # weights are 25 times as large as those of a real model, and so is what rounding changes
    assert bg.language_model(model, tokenizer, fast=True).score(texts) == pytest.approx(alone, rel=1e-5)
    vectors = bg.encode(texts, (model, tokenizer), pool="sentence")
    for text in texts[:5]:
        of_one = bg.encode([text], (model, tokenizer), pool="sentence")
        np.testing.assert_array_equal(vectors[text], of_one[text])


# vectors


@pytest.mark.parametrize("layer", [-1, 0, 1])
def test_vectors_are_those_of_the_raw_states(folder, name, layer):
    """Word, sentence, first and last piece, of texts of unlike lengths in one call."""
    words = ["nurse", "unkindly", "doctors"]
    templates = ["the {} is here and she is there.", "{}", "a {} ."]
    for pool in ("word", "sentence", "first", "last"):
        encoder = saved(folder, name) if pool == "word" else made(name)
        model = bg.encode(words, encoder, templates=templates, pool=pool, layer=layer)
        for word in words:
            rows = []
            for template in templates:
                text = template.format(word)
                tokens = made(name)[1](text)["input_ids"]  # no first piece where the tokenizer adds none
                states = made_by_hand.states(name, tokens, layer)
                of_word = [place - (name in CAUSAL) for place in places(name, text, word)]
                last = [inner(name, text)[-1] - (name in CAUSAL)]
                chosen = {"word": of_word, "sentence": range(len(tokens)), "first": [0], "last": last}[pool]
                rows.append(states[list(chosen)].mean(axis=0))
            np.testing.assert_allclose(model.vectors([word])[0], np.mean(rows, axis=0), atol=1e-5)


def test_in_memory_vectors_are_those_of_the_folder(folder, name):
    of_folder = bg.encode(["nurse", "he"], saved(folder, name), templates=["{} is here."])
    of_memory = bg.encode(["nurse", "he"], made(name), templates=["{} is here."])
    np.testing.assert_allclose(
        of_memory.vectors(["nurse", "he"]), of_folder.vectors(["nurse", "he"]), atol=1e-6
    )
    contexts = bg.encode(["nurse"], made(name), templates=["{} is here.", "a {}"], contexts=True)
    np.testing.assert_allclose(
        contexts.take(["nurse"], contexts.rows(["nurse"]))[0, 0], of_folder["nurse"], atol=1e-6
    )


def test_the_pooled_pieces_are_the_word(folder, name):
    """What is pooled decodes to the word, wherever it stands."""
    pretrained = open_pretrained(saved(folder, name))
    for template in ("{}", "the {} is here.", "is the {}?", "({})", "The {}, and he"):
        for word in ("nurse", "unkindly", "doctors", "naive"):
            text = template.format(word)
            pieces = pretrained.split(text, as_encoder=True)
            chosen = pieces.of(span(text, word))
            decoded = pretrained.tokenizer.decode([pieces.ids[place] for place in chosen])
            # byte pairs have the space, and what else stands close before a word is a piece of its own
            assert decoded.strip() == word, (text, decoded)


def test_a_word_without_characters_or_pieces_has_no_vector(folder):
    encoder = Encoder(open_pretrained(saved(folder, "BERT")))
    found = encoder.encode([PlacedWord("the nurse", 4, 4), PlacedWord("the nurse", 4, 9)])
    assert np.isnan(found).all(axis=1).tolist() == [True, False]
    assert encoder.encode([PlacedWord("", 0, 0)], "sentence").shape == (1, SIZE)


def test_an_encoder_has_vectors_and_no_scores(folder, masked_name):
    path = saved(folder, masked_name, "Model")
    tokens = made(masked_name)[1]("the nurse")["input_ids"]
    expected = made_by_hand.states(masked_name, tokens, end="Model").mean(axis=0)
    np.testing.assert_allclose(
        bg.encode(["the nurse"], path, pool="sentence")["the nurse"], expected, atol=1e-5
    )
    with pytest.raises(BiasgridError, match="it is an encoder, and no language model"):
        bg.language_model(path).score(["the nurse"])
    with pytest.raises(InputError, match="predicts no words: it is an encoder"):
        bg.language_model(*made(masked_name, "Model"))


# what opens them


def test_the_kind_is_what_the_config_says(folder):
    kinds = {name: open_pretrained(saved(folder, name)).kind for name in ("BERT", "GPT-2")}
    assert kinds == {"BERT": "masked", "GPT-2": "causal"}
    assert open_pretrained(saved(folder, "BERT", "Model")).kind == "encoder"


def test_the_saved_tokenizer_is_the_one_that_reads(tmp_path):
    """AutoTokenizer takes one of byte pairs for any Qwen2: of four words it makes one number."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["<unk>", "<end>", "the", "nurse", "is", "here"]
    tokenizer = Tokenizer(
        models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<end>", unk_token="<unk>"
    )
    config = made("Qwen2")[0].config.__class__(
        **made_by_hand.SHAPE | made_by_hand.LENGTH, vocab_size=len(words), num_key_value_heads=1
    )
    model = transformers.AutoModelForCausalLM.from_config(config)
    for part in (model, fast):
        part.save_pretrained(tmp_path)
    pieces = bg.language_model(tmp_path).network.pretrained.split("the nurse is here")
    assert pieces.ids == [1, 2, 3, 4, 5]


def test_numbers_are_float32_unless_one_asks_otherwise(folder):
    path = saved(folder, "BERT")
    model, half = bg.language_model(path), bg.language_model(path, dtype="bfloat16")
    assert model.network.pretrained.model.dtype == torch.float32
    assert half.network.pretrained.model.dtype == torch.bfloat16
    assert (model.metadata["dtype"], half.metadata["dtype"]) == ("float32", "bfloat16")
    assert 1e-3 < abs(half.score([LONG]) - model.score([LONG]))[0] < 5
    assert bg.encode(["he"], path, dtype="bfloat16").array.dtype == np.float32


@pytest.mark.slow
def test_a_model_in_memory_is_left_as_it_was(name):
    """Its output is whole, and its own."""
    model, tokenizer = made(name)
    ids = torch.tensor([split(name, LONG)[0]])
    with torch.inference_mode():
        before = model(input_ids=ids).logits
        for _ in range(2):
            bg.language_model(model, tokenizer).score(TEXTS)
            bg.encode(["he"], (model, tokenizer))
        assert not model.training
        assert torch.equal(model(input_ids=ids).logits, before)


def _state(model, tokenizer):
    backend = tokenizer.backend_tokenizer
    return {
        "modes": [module.training for module in model.modules()],
        "hooks": [len(module._forward_hooks) for module in model.modules()],
        "gradients": [weight.requires_grad for weight in model.parameters()],
        "torch": (torch.get_num_threads(), torch.is_grad_enabled(), torch.get_rng_state().tolist()),
        "tokenizer": (tokenizer.padding_side, backend.truncation, backend.padding),
    }


def test_a_model_in_training_stays_in_training(monkeypatch):
    """Module by module, as a user may have switched dropout off in some; on errors, too."""
    model, tokenizer = made.__wrapped__("BERT")
    expected = bg.language_model(model.eval(), tokenizer).score(TEXTS)
    model.config.hidden_dropout_prob = 0.5
    model = type(model)(model.config)
    model.load_state_dict(made("BERT")[0].state_dict())
    model.train()
    model.base_model.embeddings.eval()
    tokenizer.backend_tokenizer.enable_truncation(7)
    tokenizer.backend_tokenizer.enable_padding(length=9)
    before = _state(model, tokenizer)
    assert set(before["modes"]) == {True, False}
    lm = bg.language_model(model, tokenizer)
    assert _state(model, tokenizer) == before
    assert lm.score(TEXTS) == near(expected)
    assert _state(model, tokenizer) == before
    bg.encode(["he"], (model, tokenizer), templates="bleached")
    assert _state(model, tokenizer) == before
    monkeypatch.setattr(model, "forward", lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        lm.score(["she is strong"])
    assert _state(model, tokenizer) == before


@pytest.mark.parametrize("door", [lambda model: model, lambda model: model.encode])
def test_an_encoder_in_training_stays_in_training(door):
    class Encoder(torch.nn.Module):  # as sentence-transformers does
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.Dropout(0.5))

        def encode(self, texts):
            self.eval()
            return self.layers(torch.tensor([[float(len(text))] for text in texts]))

    encoder = Encoder().train()
    encoder.layers[0].eval()
    bg.encode(["he", "she"], door(encoder))
    assert [module.training for module in encoder.modules()] == [True, True, False, True]


def test_a_model_with_a_second_head(folder):
    """BERT's for pretraining has one for masked words, and one for the next sentence."""
    model, tokenizer = made("BERT")
    both = transformers.BertForPreTraining(model.config).eval()
    both.load_state_dict(model.state_dict(), strict=False)
    assert bg.language_model(both, tokenizer).score(TEXTS) == near([whole("BERT", text) for text in TEXTS])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"device": "gpu"}, "device: unknown value 'gpu'; allowed: auto, cpu, cuda"),
        ({"dtype": "float64"}, "dtype: unknown value 'float64'"),
        ({"revision": "main"}, "revision: is for a name on a hub"),
    ],
)
@pytest.mark.parametrize("door", [bg.language_model, lambda *args, **kw: bg.encode(["he"], *args, **kw)])
def test_options_that_are_not_allowed_are_one_line(folder, door, options, says):
    with refused(*says.split("; ")):
        door(saved(folder, "BERT"), **options)


@pytest.mark.parametrize("option", [{"device": "cpu"}, {"dtype": "bfloat16"}, {"fast": True}])
def test_options_that_would_do_nothing_are_refused(tmp_path, option):
    """Each kind of what is no network, and of a model in memory what has been decided where it was opened."""
    (name,) = option
    table = tmp_path / "scores.csv"
    table.write_text("text,score\nhe,-1\n")
    build_store(
        "measured",
        {"kind": "language_model", "format": "scores", "source": {"type": "file", "path": str(table)}},
        tmp_path,
    )
    in_memory = made("BERT")

    def of_texts(source, **given):
        return bg.encode(["he"], source, **given)

    refused = {
        "a mapping": [(bg.language_model, {"he": -1.0})],
        "scores in a file": [(bg.language_model, tmp_path / "measured")],
        "a language model": [(bg.language_model, bg.language_model(*in_memory))],
        "a function": [(bg.language_model, short_is_good), (of_texts, letters)],
        "an object": [(bg.language_model, Object()), (of_texts, SentenceTransformer())],
    }
    if name != "fast":
        refused["a model in memory"] = [
            (lambda source, **given: bg.language_model(*source, **given), in_memory),
            (of_texts, in_memory),
        ]
    for what, doors in refused.items():
        for door, source in doors:
            door(source)
            with pytest.raises(InputError) as error:
                door(source, **option)
            expected = f"{name}: is not for {what}, but for a network that transformers reads; leave it out"
            assert str(error.value) == expected


def test_a_model_of_a_study_computes_as_its_record_says(folder, tmp_path, monkeypatch):
    source = {"type": "file", "path": str(saved(folder, "BERT") / "model.safetensors")}
    entry = {"kind": "language_model", "format": "transformers", "source": source}
    build_store("lm", entry | {"device": "cuda", "dtype": "bfloat16", "fast": True}, tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.warns(
        UserWarning, match="lm: was to compute on a GPU, and torch sees none here: it computes"
    ) as said:
        model = bg.language_model(tmp_path / "lm")
    assert len(said) == 1
    expected = {"device": "cpu", "dtype": "bfloat16", "fast": True}
    assert model.network.computed.items() >= expected.items()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = bg.language_model(tmp_path / "lm", device="cpu", dtype="float32", fast=False)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        assert bg.language_model(tmp_path / "lm").metadata["device"] == "cuda"
    assert other.network.computed.items() >= {"device": "cpu", "dtype": "float32", "fast": False}.items()


class Slow:
    """A tokenizer that does not say where its pieces are."""

    is_fast = False


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (lambda: (made("BERT")[0],), "BertForMaskedLM: a model in memory needs its tokenizer"),
        (lambda: (made("BERT")[0], Slow()), "does not say where its pieces are"),
        (lambda: (made("BERT")[0], made("GPT-2")[1]), "the tokenizer has 275 pieces, and the model 75"),
        (lambda: (torch.nn.Linear(2, 2), made("BERT")[1]), "'Linear' is no model of transformers"),
        (lambda: (_t5(), made("BERT")[1]), "T5ForConditionalGeneration predicts no words in a text"),
        (lambda: (_classifier(), made("BERT")[1]), "BertForSequenceClassification predicts no words"),
        (lambda: (7,), "7 is no language model; allowed: a folder"),
        (lambda: ([1.0],), "is no language model"),
    ],
)
def test_what_is_no_model_with_its_tokenizer(source, says):
    with refused(says):
        bg.language_model(*source())


def _t5():
    config = transformers.T5Config(vocab_size=9, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    return transformers.T5ForConditionalGeneration(config)


def _classifier():
    return transformers.BertForSequenceClassification(made("BERT")[0].config)


# functions and objects


def short_is_good(texts):
    return [-2.0 * len(text.split()) for text in texts]


class Object:
    """One that scores whole texts, and continuations."""

    def __init__(self):
        self.asked = []

    def score(self, texts):
        return torch.tensor(short_is_good(texts), requires_grad=True)

    def score_continuations(self, pairs):
        self.asked += pairs
        return np.array([-len(text) for _, text in pairs])


@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
def test_a_function_scores_texts():
    model = bg.language_model(short_is_good)
    assert (model.name, model.masked, model.kind) == ("short_is_good", False, "language_model")
    assert bg.language_model(model) is model
    assert model.score(["a b", "c"]).tolist() == [-4.0, -2.0]
    query = Query([["a", "b c"], ["d e", "f"]])
    assert bg.metrics.pll_preference(query, model).value == 0.5
    assert np.isnan(bg.metrics.pll_preference(query, model, score="cp").value)
    (score,) = bg.measure_grid(metrics=["pll_preference"], queries=[query], models=[model]).scores["value"]
    assert score == 0.5


def test_a_function_is_given_texts_in_blocks_and_each_once():
    asked = []

    def noted(texts):
        asked.append(len(texts))
        return short_is_good(texts)

    model = bg.language_model(noted, name="m")
    texts = [f"a {number}" for number in range(600)]
    assert model.score([*texts, *texts]).tolist() == [-4.0] * 1200
    assert asked == [256, 256, 88]
    assert model.name == "m"


def test_an_object_scores_words_in_templates_as_continuations():
    scored = Object()
    model = bg.language_model(scored)
    assert model.name == "Object"
    assert model.score(["a b"]).tolist() == [-4.0]
    query = Query([["he"]], [["strong"], ["kind"]])
    result = bg.metrics.completion(query, model, templates=["{target} is {attribute}."])
    assert result.status == "ok"
    assert sorted(set(scored.asked)) == [
        ("He is", " kind"),
        ("He is", " strong"),
    ]


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda texts: -1.0, "expected 2 log-likelihoods, one of each text, not ()"),
        (lambda texts: [-1.0], "expected 2 log-likelihoods, one of each text, not (1,)"),
        (lambda texts: np.zeros((2, 2)), "not (2, 2)"),
        (lambda texts: [0.5, -1], "'a': 0.5 is above 0 .* perplexities or losses?"),
        (lambda texts: ["x", "y"], "expected log-likelihoods, not 'list'"),
        (lambda texts: None, "expected 2 log-likelihoods, one of each text, not ()"),
    ],
)
def test_what_a_function_may_not_return(function, says):
    with refused(*says.split(" .* "), kind=InputError):
        bg.language_model(function).score(["a", "b"])


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
def test_a_function_may_have_no_score_of_a_text():
    model = bg.language_model(lambda texts: [float("nan") if text == "a" else -1.0 for text in texts])
    assert np.isnan(model.score(["a", "b"])).tolist() == [True, False]
    result = bg.metrics.pll_preference(Query([["a", "b"], ["c", "d"]]), model)
    # its pair is lost, and the other one is measured
    assert (result.status, result.value, result.scalars["pairs"]) == ("ok", 0, 1)
    assert result.why_lost["Target set 0"] == {"a": "the model has no score of it"}


def letters(texts):
    """A vector of each text: its length, and how many a and e it has."""
    return np.array([[len(text), text.count("a"), text.count("e")] for text in texts], dtype=np.float32)


class SentenceTransformer:
    """The part of its protocol that matters: the first parameter has had several names."""

    def encode(self, inputs, prompt_name=None, batch_size=32, convert_to_tensor=False, **kwargs):
        assert isinstance(inputs, list)
        assert not kwargs
        return torch.tensor(letters(inputs), requires_grad=True)


class OfMteb:
    """An encoder as MTEB 2 calls it: batches of texts."""

    def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **kwargs):
        assert (task_metadata.name, task_metadata.type) == ("biasgrid", "STS")
        return np.concatenate([letters(batch["text"]) for batch in inputs])


@pytest.mark.parametrize("encoder", [letters, SentenceTransformer(), OfMteb(), lambda texts: letters(texts)])
def test_vectors_of_functions_and_objects(encoder):
    model = bg.encode(["he", "a bee"], encoder)
    assert model.vectors(["a bee", "he"]).tolist() == [[5, 1, 2], [2, 0, 1]]
    in_templates = bg.encode(["he"], encoder, templates=["{} is", "a {}"])
    assert in_templates["he"].tolist() == [4.5, 0.5, 1]
    assert bg.encode(["he"], encoder, templates=["{} is", "a {}"], contexts=True).contexts == 2
    query = Query([["he", "him"], ["she", "her"]], [["a", "aa"], ["e", "ee"]])
    assert np.isfinite(bg.metrics.weat(query, bg.encode(query, encoder)).value)


def test_an_encoder_has_a_name():
    assert bg.encode(["he"], letters).name == "letters"
    assert bg.encode(["he"], SentenceTransformer()).name == "SentenceTransformer"
    assert bg.encode(["he"], letters, name="mine").name == "mine"


@pytest.mark.parametrize(
    ("encoder", "says"),
    [
        (lambda texts: letters(texts)[0], "expected an array (2, dimensions)"),
        (lambda texts: letters(texts)[:1], "one of each text, not (1, 3)"),
        (lambda texts: np.zeros((2, 0)), "not (2, 0)"),
        (lambda texts: np.full((2, 3), np.nan), "a vector has a number that is not finite"),
        (lambda texts: [[1.0], [1.0, 2.0]], "expected vectors, not 'list'"),
        (lambda texts: "vectors", "expected vectors, not 'str'"),
        (7, "encoder: expected a folder, a name, a pair"),
        ((), "encoder: expected a folder, a name, a pair"),
        (made_by_hand, "encoder: expected a folder, a name, a pair"),
        (SimpleNamespace(), "encoder: expected a folder, a name, a pair"),
        ("", "encoder: is an empty text"),
    ],
)
def test_what_is_no_encoder(encoder, says):
    with refused(*says.split(" .* "), kind=InputError):
        bg.encode(["he", "she"], encoder)


# vectors of words


def test_a_layer_of_embeddings_with_its_words():
    layer = torch.nn.Embedding(3, 4)
    array = layer.weight.detach().numpy()
    for source in (layer, layer.weight, layer.to(torch.float64), array):
        model = bg.load(source, words=["he", "she", "it"], name="mine")
        assert model.name == "mine"
        np.testing.assert_array_equal(model.vectors(["she", "he"]), array[[1, 0]])
    for source, words, says in (
        (layer, ["he"], "words: has 1 words, and Embedding 3 rows"),
        (layer, "he", "words: expected a list of words, not 'he'"),
        (layer, 3, "words: expected a list of words, not 3"),
        (torch.nn.Linear(2, 2).bias, ["a", "b"], "is for a torch.nn.Embedding, or an array"),
        ({"he": [1.0]}, ["he"], "is for a torch.nn.Embedding, or an array"),
        (array, None, "an array has no words: give load"),
    ):
        with refused(says, kind=InputError):
            bg.load(source, words=words)


# without language models


WITHOUT_A_NETWORK = [
    "import biasgrid",
    "biasgrid.language_model(lambda t: [-1.0] * len(t)).score(['a'])",
    "import numpy; biasgrid.encode(['a', 'b'], lambda t: numpy.ones((len(t), 2)))",
    "from biasgrid.cli import main; main(['list', 'metrics'])",
    "main(['list', 'kinds'])",
    "from biasgrid.study.study import Study; Study.read('config/crows_pairs.yaml')",
    "biasgrid.load({'a': -1.0}, kind='language_model').score(['a'])",
]
LIBRARIES = """
import sys
print('LIBRARIES', *{name.partition('.')[0] for name in sys.modules} & {'torch', 'transformers', 'tokenizers',
    'safetensors', 'gguf', 'sentence_transformers', 'huggingface_hub'})
"""


@pytest.mark.slow
def test_without_a_network_no_library_of_networks_is_imported():
    """One process for all, which says after each what it has imported."""
    code = "".join(step + LIBRARIES for step in WITHOUT_A_NETWORK)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported = [line for line in done.stdout.splitlines() if line.startswith("LIBRARIES")]
    assert imported == ["LIBRARIES"] * len(WITHOUT_A_NETWORK)


def test_in_memory_and_folder_say_what_they_are(folder):
    pretrained = in_memory(*made("BERT"), where="here")
    assert (pretrained.kind, pretrained.positions, pretrained.layers) == ("masked", POSITIONS, 2)
    assert repr(bg.language_model(saved(folder, "GPT-2"))) == "LanguageModel('GPT-2': causal)"
    assert repr(bg.language_model(*made("BERT"), name="mine")) == "LanguageModel('mine': masked)"


@pytest.mark.parametrize("name", ["Llama", "BERT"])
def test_a_model_in_memory_is_given_twice_and_goes_to_another_process(name):
    # not the one that other tests have asked for states, as transformers' own hooks for these cannot be pickled
    model, tokenizer = made.__wrapped__(name)
    first, second = (bg.language_model(model, tokenizer) for _ in range(2))
    copy = pickle.loads(pickle.dumps(second))
    text = ["he is kind ."]
    assert first.score(text)[0] == second.score(text)[0] == copy.score(text)[0]
    assert np.isfinite(copy.score(text)[0])
