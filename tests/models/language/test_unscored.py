"""Texts that a model cannot score are lost, and named; what is left of a benchmark is measured."""

import csv
import json
import warnings

import numpy as np
import pytest
from architectures import POSITIONS, made, saved, torch, transformers
from fake_models import measured, model_of
from in_process import make
from refusals import refused
from tokenizers import Tokenizer, models, pre_tokenizers

import biasgrid as bg
from biasgrid import Query, metrics
from biasgrid.measure.value_warnings import WARNED
from biasgrid.models.language.model import LanguageModel
from biasgrid.models.language.sentence import Sentence
from biasgrid.report import cells
from biasgrid.study.study import Study

FIRST = ["she is strong .", "he cooks .", "the nurse was here .", "a doctor is there ."]
SECOND = ["he is strong .", "she cooks .", "the doctor was here .", "a nurse is there ."]
THIRD = ["she is un .", "he un .", "the un was here .", "a un is there ."]
LONG = " ".join(["he"] * POSITIONS)
UNKNOWN = "has only tokens unknown to the model"
TOO_LONG = f"has {POSITIONS + 2} tokens, and the model takes {POSITIONS}"
DIFFERS = "differs from its partner in tokens unknown to the model: '中'"
# what a pair adds to the others, the options, and why each of its sentences is lost; None: it is not
CASES = {
    "too long": (LONG, "she is here .", {}, TOO_LONG, None),
    "only unknown": ("中文", "句子", {}, UNKNOWN, UNKNOWN),
    "nothing shared": ("she", "he", {"score": "cp"}, *["shares no token with its partner"] * 2),
    "only unknown shared": (
        "she 中",
        "he 中",
        {"score": "cp"},
        *["shares only tokens unknown to the model"] * 2,
    ),
    "differs in the unknown": (
        "the 中 is here .",
        "the 文 is here .",
        {},
        DIFFERS,
        DIFFERS.replace("中", "文"),
    ),
    "differs from the unknown": ("the 中 is here .", "the nurse is here .", {}, DIFFERS, None),
    "no token": ("\u00ad", "he is .", {}, "has no token", None),
}


def _edited(tmp_path):
    """A file of a study's scores, in which somebody changed a number."""
    record = {"name": "m", "format": "scores", "masked": True, "scores": [{"text": "a", "score": 3.5}]}
    (tmp_path / "scores.json").write_text(json.dumps(record))
    return LanguageModel.open(tmp_path / "scores.json").score(["a"])


class Losses:
    def score(self, sentences):
        return np.array([3.5 for _ in sentences])


@pytest.mark.parametrize(
    ("door", "where"),
    [
        (lambda _: bg.load({"a": -1.0, "b": 3.5}, kind="language_model"), "measured: score of 'b': "),
        (lambda _: bg.language_model({"b": np.float32(3.5)}, name="mine"), "mine: score of 'b': "),
        (lambda folder: measured(folder / "m", {"a": -1.0, "b": 3.5}).score(["a"]), "row 3: score: "),
        (lambda _: bg.language_model(lambda texts: [3.5] * len(texts)).score(["a"]), "'a': "),
        (lambda _: LanguageModel.of(Losses(), name="plugin", masked=True).score(["a"]), "plugin: 'a': "),
        (_edited, "scores.json: 'a': "),
    ],
)
def test_a_score_above_0_is_refused_at_every_door(tmp_path, door, where):
    with refused(f"{where}3.5 is above 0", "perplexities or losses?", "-n * log(perplexity)"):
        door(tmp_path)


@pytest.mark.parametrize("wrong", ["x", None, True, float("nan"), -float("inf"), [1.0]])
def test_a_mapping_has_numbers(wrong):
    with refused("mine: score of 'a': ", kind=bg.InputError):
        bg.load({"a": wrong}, kind="language_model", name="mine")


def test_a_score_of_0_is_one_of_a_certain_text():
    assert bg.load({"a": 0}, kind="language_model").score(["a"]) == [0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.mark.parametrize("name", ["pll_preference", "mean_pair_difference"])
@pytest.mark.parametrize("case", CASES)
def test_a_pair_that_cannot_be_scored_is_lost_and_the_others_are_measured(name, case):
    first, second, options, *whys = CASES[case]
    lm, measure = bg.language_model(*made("BERT")), getattr(metrics, name)
    names = ["More", "Less"]
    expected = measure(Query([FIRST, SECOND], [], names), lm, **options)
    WARNED.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = measure(Query([[*FIRST, first], [*SECOND, second]], [], names), lm, **options)
    assert (result.status, result.value) == ("ok", expected.value)
    assert result.scalars["pairs"] == 4
    assert result.scalars["pairs_lost"] == 1
    texts = {"More": first, "Less": second}
    lost = {n: [text] if why else [] for (n, text), why in zip(texts.items(), whys, strict=True)}
    assert result.lost == lost
    assert result.why_lost == {n: {texts[n]: why} for n, why in zip(texts, whys, strict=True) if why}
    (message,) = [str(w.message) for w in caught if w.category is bg.LostWordsWarning]
    assert f"{sum(map(bool, whys))} of 10 words are lost" in message
    assert whys[0] in message


def test_an_unknown_token_that_both_sentences_have_is_scored_and_named():
    lm = bg.language_model(*made("BERT"))
    query = Query([[*FIRST, "she has 中 ."], [*SECOND, "he has 中 ."]], [], ["More", "Less"])
    with pytest.warns(
        UserWarning, match="2 sentences are scored with tokens unknown to the model: 'she has 中 .'"
    ):
        result = metrics.pll_preference(query, lm)
    assert (result.scalars["pairs"], result.words_lost) == (5, 0)
    assert result.forms["More"] == {"she has 中 .": "with tokens unknown to the model: '中'"}


@pytest.mark.filterwarnings("ignore:.*repeats", "ignore::biasgrid.LostWordsWarning")
def test_a_sentence_with_two_partners_is_lost_with_one_of_them():
    lm = bg.language_model(*made("BERT"))
    query = Query([["he is strong .", "he is strong ."], ["she is strong .", "woman"]], [], ["More", "Less"])
    result = metrics.pll_preference(query, lm, score="cp")
    assert (result.status, result.scalars["pairs"]) == ("ok", 1)
    assert result.lost == {"More": ["he is strong ."], "Less": ["woman"]}


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
@pytest.mark.parametrize("name", ["stereoset_lms", "stereoset_ss", "stereoset_icat"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_item_of_stereoset_is_lost_with_any_of_its_sentences(name, place):
    lm, measure = bg.language_model(*made("BERT")), getattr(metrics, name)
    item = ["she is here .", "he is here .", "a un is here ."]
    item[place] = LONG
    sets = [[*texts, added] for texts, added in zip([FIRST, SECOND, THIRD], item, strict=True)]
    result = measure(Query(sets), lm, score="sz")
    assert result.value == measure(Query([FIRST, SECOND, THIRD]), lm, score="sz").value
    assert (result.scalars["items"], result.words_lost) == (4, 1)


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_where_no_pair_is_left_the_sets_are_named():
    lm = bg.language_model(*made("BERT"))
    result = metrics.pll_preference(Query([[LONG, "he"], ["she", LONG]], [], ["More", "Less"]), lm)
    assert (result.status, np.isnan(result.value)) == ("lost_words:More;Less", True)


def _causal():
    """A causal model whose tokenizer has an unknown token; the others' are byte-level."""
    words = ["<s>", "</s>", "<unk>", *["she", "he", "is", "strong", "kind", "and", "likes", "this", "."]]
    tokenizer = Tokenizer(models.WordLevel(dict(zip(words, range(99), strict=False)), unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.LlamaConfig(vocab_size=len(words), max_position_embeddings=24, **shape)
    return transformers.LlamaForCausalLM(config), fast


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
@pytest.mark.parametrize("model", [lambda: made("BERT"), _causal])
@pytest.mark.parametrize(
    ("name", "sets"),
    [
        ("lpbs", [[["he", "中"], ["she"]], [["strong", "kind", "文"]]]),
        ("lpbs_es", [[["he", "中", "is"], ["she", "likes"]], [["strong", "文"], ["kind"]]]),
        ("completion", [[["he", "中", "she"]], [["strong", "文"], ["kind"]]]),
    ],
)
def test_a_word_that_the_tokenizer_lacks_is_lost(model, name, sets):
    """Its score would be that of the unknown token, whatever the word."""
    lm, measure, templates = (
        bg.language_model(*model()),
        getattr(metrics, name),
        ["this {target} is {attribute} ."],
    )
    known = [[[word for word in of_set if word not in "中文"] for of_set in side] for side in sets]
    expected = measure(Query(*known), lm, templates=templates)
    result = measure(Query(*sets), lm, templates=templates)
    assert (result.status, result.value) == ("ok", expected.value)
    assert [words for words in result.lost.values() if words] == [["中"], ["文"]]
    whys = [why for of_set in result.why_lost.values() for why in of_set.values()]
    assert whys == [f"has tokens unknown to the model: {word!r}" for word in "中文"]


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_a_word_that_is_unknown_where_it_begins_a_sentence_is_lost():
    """Of "He" and "She" the tokenizer knows nothing, and of "he" and "she" all."""
    result = metrics.lpbs(Query([["he"], ["she"]], [["kind"]]), bg.language_model(*_causal()))
    assert result.status == "lost_words:Target set 0;Target set 1"
    assert result.why_lost["Target set 0"] == {"he": "has tokens unknown to the model: 'He'"}


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_where_a_set_has_only_unknown_words_there_is_no_value():
    result = metrics.lpbs(Query([["中", "文"], ["she"]], [["strong"]]), bg.language_model(*made("BERT")))
    assert (result.status, np.isnan(result.value)) == ("lost_words:Target set 0", True)


def test_byte_level_tokenizers_know_every_word():
    result = metrics.lpbs(Query([["he", "中"], ["she"]], [["strong"]]), bg.language_model(*made("GPT-2")))
    assert (result.status, result.words_lost) == ("ok", 0)


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
@pytest.mark.parametrize("side", [0, 1])
def test_a_phrase_that_is_too_long_is_lost(side):
    sets = [[["he", "man"], ["she"]], [["strong", "un"]]]
    sets[side][0].append(LONG)
    lm = bg.language_model(*made("BERT"))
    result = metrics.lpbs(Query(*sets), lm)
    assert result.value == metrics.lpbs(Query([["he", "man"], ["she"]], [["strong", "un"]]), lm).value
    assert [words for words in result.lost.values() if words] == [[LONG]]


@pytest.mark.parametrize("model", [lambda: made("BERT"), _causal])
def test_a_part_with_an_unknown_token_has_no_score(model):
    lm = bg.language_model(*model())
    asked = [Sentence("she is 中 .", part=(7, 8)), Sentence("中 is strong .", part=(5, 11)), Sentence("中")]
    assert np.isnan(lm.score(asked)).tolist() == [True, False, True]
    assert list(lm.why_unscored(asked).values()) == [UNKNOWN, UNKNOWN]


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_a_function_that_has_no_score_of_a_word_loses_the_word():
    class Network:
        def score(self, sentences):
            return np.array([np.nan if "bad" in s.text.lower() else -len(s.text) for s in sentences])

    result = metrics.lpbs(Query([["he", "bad"], ["she"]], [["strong", "kind"]]), model_of(Network()))
    assert (result.status, result.lost["Target set 0"]) == ("ok", ["bad"])


def test_an_encoder_has_no_vector_of_a_word_that_its_tokenizer_lacks(folder):
    for encoder in (made("BERT"), saved(folder, "BERT", "Model")):
        words = ["he", "中", "s中", "he 中 is", "中 文"]
        for pool in ("word", "sentence", "first", "last"):
            # in templates all of these are words; by themselves two are sentences, of which one has known words
            assert list(bg.encode(words, encoder, pool=pool, templates=["this is {} ."]).words()) == ["he"]
            assert list(bg.encode(words, encoder, pool=pool).words()) == ["he", "he 中 is"]


def test_an_encoder_of_another_library_is_asked_what_its_tokenizer_knows():
    class Object:
        tokenizer = made("BERT")[1]

        def encode(self, texts):
            return np.ones((len(texts), 2))

    assert list(bg.encode(["he", "中", "he 中"], Object()).words()) == ["he", "he 中"]


@pytest.mark.filterwarnings("ignore:.*scored with", "ignore::biasgrid.LostWordsWarning")
@pytest.mark.slow
def test_a_study_measures_what_is_left_and_names_what_is_lost(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [*zip(FIRST, SECOND, strict=True), (LONG, "she is here ."), ("she 中 is .", "he 中 is .")]
    with open("pairs.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("more", "less"), *rows])
    sets = {"More": "more", "Less": "less"}
    config = {
        "study": "lm",
        "models": {
            "m": {
                "label": "M",
                "kind": "language_model",
                "source": {"type": "file", "path": saved(folder, "BERT")},
            }
        },
        "criteria": {
            "Pairs": {
                "metrics": {"pll_preference": {}},
                "queries": {"q": {"file": "pairs.csv", "sets": sets}},
            },
            "Words": {
                "queries": {
                    "w": {"targets": {"M": ["he", "中"], "F": ["she"]}, "attributes": {"S": ["strong"]}}
                }
            },
            "Nothing": {
                "queries": {"n": {"targets": {"M": ["文"], "F": ["she"]}, "attributes": {"S": ["strong"]}}}
            },
        },
        "metrics": {"lpbs": {}},
        "figures": [],
    }
    config["models"]["m"]["source"]["path"] = str(saved(folder, "BERT") / "model.safetensors")
    made_study = make(Study.of(config))
    results = {
        cell.query: json.loads(made_study.paths.cell_file(cell).read_text())["results"][0]
        for cell in made_study.grid.cells.values()
    }
    direct = bg.language_model(saved(folder, "BERT"))
    assert results["q"]["value"] == metrics.pll_preference(Query([*zip(*rows, strict=True)]), direct).value
    assert results["q"]["why_lost"] == {"More": {LONG: TOO_LONG}}
    assert results["q"]["forms"]["More"] == {"she 中 is .": "with tokens unknown to the model: '中'"}
    assert results["w"]["value"] == pytest.approx(
        metrics.lpbs(Query([["he"], ["she"]], [["strong"]]), direct).value
    )
    assert results["w"]["lost"]["M"] == ["中"]
    with made_study.paths.table_file("lost_words").open(encoding="utf-8") as file:
        reasons = {row["word"]: row["reason"] for row in csv.DictReader(file)}
    unknown = "has tokens unknown to the model: "
    assert reasons == {LONG: TOO_LONG, "中": f"{unknown}'中'", "文": f"{unknown}'文'"}
    (record,) = [r for r in cells.read(cells.inputs(made_study), cells.spec(made_study)).records if r.reason]
    assert record.reason == f"there is no score of '文' ({unknown}'文')"
