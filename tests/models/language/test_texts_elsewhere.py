"""Texts measured elsewhere: what a study asks of a model behind an API, and the answers it takes."""

import json
import math
import os
import re
import zlib
from pathlib import Path

import forks
import numpy as np
import pytest
from conftest import ROOT, biasgrid, printed, refusal
from fake_models import model_of
from in_process import make_inputs, make_measured
from refusals import refused

import biasgrid as bg
from biasgrid import BiasgridError
from biasgrid.models import build_store
from biasgrid.models.language import answers
from biasgrid.models.language.sentence import Sentence
from biasgrid.models.language.templates import PlacedWord
from biasgrid.study.study import Study
from biasgrid.study.texts import requests

SENTENCES = [["A man cooks.", "He is “strong”."], ["A woman cooks.", "She is “strong”."]]
WORDS = {"targets": {"M": ["he", "man"], "F": ["she", "woman"]}, "attributes": {"A": ["strong", "kind"]}}
FILE = "answers/far.jsonl"
STUDY = ("score", "--study", "study.json")
EXPORT = (*STUDY, "--export")


class Bigrams:
    """A language model of pairs of tokens: each has some probability after, and before, another."""

    def __init__(self, masked=False):
        self.masked = masked

    def score(self, sentences):
        return np.array([self._score(sentence) for sentence in sentences])

    def _score(self, sentence):
        tokens = [(m.start(), m.end()) for m in re.finditer(r"\w+|[^\w\s]", sentence.text)]
        start, end = sentence.part or (0, len(sentence.text))
        hidden = sentence.hidden or (0, 0)
        seen = [
            "[MASK]" if a < hidden[1] and b > hidden[0] else sentence.text[a:b].lower() for a, b in tokens
        ]
        total = 0.0
        for place, (a, b) in enumerate(tokens):
            if a < end and b > start and seen[place] not in sentence.beside.split():
                after = seen[place + 1 : place + 2] if self.masked else []
                total += (
                    -0.1 - zlib.crc32(repr((seen[max(place - 1, 0) : place + 1], after)).encode()) / 2**32
                )
        return total


def answer(request, network):
    """What who has the model writes: all that they know of the study is the request."""
    if request["kind"] == "continuation":
        text = request["prefix"] + request["text"]
        sentence = Sentence(text, part=(len(request["prefix"]), len(text)))
    else:
        part, hidden = request["options"].get("part"), request["hidden"]
        sentence = Sentence(
            request["text"], part and tuple(part), hidden and tuple(hidden), request["beside"]
        )
    return {"key": request["key"], "value": float(network.score([sentence])[0])}


def config(masked=None, **changes):
    source = {"type": "answers", "path": FILE} | ({} if masked is None else {"masked": masked})
    return {
        "study": "small",
        "models": {"far": {"label": "Far", "kind": "language_model", "source": source}},
        "criteria": {
            "Pairs": {
                "metrics": {"pll_preference": {}, "mean_pair_difference": {}},
                "queries": {"pairs": {"targets": dict(zip("MF", SENTENCES, strict=True))}},
            },
            "Words": {"metrics": {"lpbs": {}}, "queries": {"words": WORDS}},
        },
        "metrics": {"lpbs": {}},
        "figures": [],
    } | changes


def write(folder, record, name="study.json"):
    (folder / name).write_text(json.dumps(record), encoding="utf-8")


def write_lines(path, records):
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


def ask(*options):
    """The header and the requests that the command writes."""
    done = biasgrid(*EXPORT, *options)
    assert done.returncode == 0
    header, *asked = map(json.loads, done.stdout.splitlines())
    return header, asked


def imported(path="a.jsonl"):
    return printed(*STUDY, "--import", path)


def not_imported(*parts, path="a.jsonl"):
    return refusal(*STUDY, "--import", path, parts=parts)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, config())
    return tmp_path


def results(study, cell):
    (result,) = json.loads(study.paths.cell_file(study.grid.cells[cell]).read_text())["results"]
    return result


# the round trip


def network_of(name, masked):
    """What answers, and what the direct run asks: pairs of tokens, or random weights of an architecture."""
    if name == "pairs of tokens":
        return Bigrams(masked)
    pytest.importorskip("transformers")
    import architectures

    return bg.language_model(*architectures.made(name)).network


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "masked"),
    [
        ("pairs of tokens", False),
        ("pairs of tokens", True),
        ("Llama", False),
        ("GPT-2", False),
        ("BERT", True),
    ],
)
@pytest.mark.filterwarnings("ignore:far. .* pieces")
def test_answers_of_the_same_model_give_the_scores_of_the_direct_run(folder, name, masked):
    metrics = {"pll_preference": {"params": {"score": "cp"}}, "mean_pair_difference": {}}
    record = config(masked)
    if masked:
        record["criteria"]["Pairs"]["metrics"] = metrics
    write(folder, record)
    network = network_of(name, masked)
    header, asked = ask()
    assert (header["biasgrid_texts"], header["study"], header["count"]) == (1, "small", len(asked))
    assert len({request["key"] for request in asked}) == len(asked)
    assert {request["kind"] for request in asked} == {"log_likelihood"} | (
        {"continuation"} - {masked and "continuation"}
    )
    write_lines(folder / "answers.jsonl", [answer(request, network) for request in asked])
    assert imported("answers.jsonl") == {"answers": FILE, "texts": len(asked), "imported": len(asked)}
    study = make_measured(Study.read("study.json"))
    direct = model_of(network, masked)
    pairs, words = bg.Query(SENTENCES), bg.Query(*WORDS.values())
    for cell, expected in {
        "far/none/pll_preference/pairs": bg.metrics.pll_preference(
            pairs, direct, score="cp" if masked else "sz"
        ),
        "far/none/mean_pair_difference/pairs": bg.metrics.mean_pair_difference(pairs, direct),
        "far/none/lpbs/words": bg.metrics.lpbs(words, direct),
    }.items():
        found = results(study, cell)
        assert found["status"] == "ok"
        assert not any(found["lost"].values())
        assert found["value"] == pytest.approx(expected.value, abs=1e-9)
        assert math.isfinite(expected.value)
    # what torch is here says nothing of what scored them
    record = json.loads(study.paths.cell_file(study.grid.cells["far/none/lpbs/words"]).read_text())
    assert "torch" not in record["versions"]


@pytest.mark.parametrize("kind", [None, "contextual_vectors"])
def test_vectors_of_the_same_encoder_give_the_values_of_the_direct_run(folder, kind):
    rng = np.random.default_rng(1)
    templates = ["{} is here.", "This is {}."]
    query = {"targets": WORDS["targets"], "attributes": {"A": ["strong"], "B": ["kind"]}}
    model = {
        "label": "W",
        "source": {"type": "encoded", "encoder": "far", "templates": templates, "pool": "sentence"},
    }
    metric = {"ceat": {}} if kind else {"weat": {}}
    write(
        folder,
        config(
            encoders={"far": {"source": {"type": "answers", "path": FILE}}},
            models={"words": model | ({"kind": kind} if kind else {})},
            criteria={"Words": {"queries": {"q": query}}},
            metrics=metric,
        ),
    )
    _, asked = ask()
    assert {request["text"] for request in asked} >= {"he is here.", "This is kind."}
    assert {(r["kind"], str(r["options"])) for r in asked} == {("vector", "{}")}
    vectors = {request["text"]: rng.normal(size=5) for request in asked}
    write_lines(
        folder / "a.jsonl", [{"key": r["key"], "value": vectors[r["text"]].tolist()} for r in reversed(asked)]
    )
    imported()
    study = Study.read("study.json")
    store = build_store("words", study.models["words"], study.embeddings, stores=study.store_folder("words"))
    for word in ("he", "strong"):
        of_word = np.array([vectors[text.replace("{}", word)] for text in templates])
        expected = of_word[None] if kind else of_word.mean(axis=0)[None]
        np.testing.assert_array_equal(store.take([word], store.rows([word])), expected.astype(np.float32))


@pytest.mark.slow
def test_a_run_says_what_to_do_where_answers_are_missing(folder):
    study = Study.read("study.json")
    with pytest.raises(
        BiasgridError, match=r"^far: answers/far.jsonl is not there: biasgrid score --study CONFIG --export"
    ):
        make_measured(study)
    _, asked = ask()
    Path("answers").mkdir()
    write_lines(Path(FILE), [answer(request, Bigrams()) for request in asked])
    make_measured(study)
    written = Path(FILE).read_text()
    Path(FILE).write_text(re.sub(r'"value": -[\d.]+', '"value": [-1.0]', written, count=1))
    with pytest.raises(BiasgridError, match=r"far/answers.jsonl: has no answer to"):
        make_measured(Study.read("study.json"))
    Path(FILE).write_text(written)
    record = config()
    record["criteria"]["Pairs"]["queries"]["pairs"]["targets"]["M"] = ["A boy cooks.", "He is “strong”."]
    write(folder, record)
    with pytest.raises(
        BiasgridError,
        match=r"has no answer to 'A boy cooks.': biasgrid score --study CONFIG --export > texts",
    ):
        make_measured(Study.read("study.json"))
    # only what is new is asked, and the other answers are kept
    header, new = ask()
    assert [request["text"] for request in new] == ["A boy cooks."]
    write_lines(folder / "new.jsonl", [header, answer(new[0], Bigrams())])
    imported("new.jsonl")
    make_measured(Study.read("study.json"))
    assert ask()[0]["count"] == 0
    assert not any("A man cooks." in line for line in Path(FILE).read_text().splitlines())


def test_an_answer_that_is_given_again_replaces_the_former(folder):
    _, records = good()
    write_lines(folder / "a.jsonl", records)
    imported()
    before = answers.read(Path(FILE))
    write_lines(folder / "a.jsonl", [records[0] | {"value": -77.5}])
    imported()
    after = answers.read(Path(FILE))
    assert after[records[0]["key"]].value == -77.5
    assert after.keys() == before.keys()
    assert sum(after[key] != before[key] for key in after) == 1


@pytest.mark.slow
def test_a_run_measures_answers_and_runs_again_when_they_change(folder):
    def run():
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        arguments = ("run", "study.json", "--cores", "1")
        done = forks.run(arguments, Path.cwd(), environment, "biasgrid")
        return done.returncode, [line for line in done.stderr.splitlines() if line.startswith("biasgrid: ")]

    code, lines = run()
    assert code == 1
    assert {f"biasgrid: far: {FILE} is not there: {answers.HOW}"} <= set(lines)
    _, records = good()
    values = []
    for added in (0.0, -5.0):
        # the first sentence of a pair
        given = [records[0] | {"value": records[0]["value"] + added}, *records[1:]]
        write_lines(folder / "a.jsonl", given)
        imported()
        assert run()[0] == 0
        values.append(results(Study.read("study.json"), "far/none/mean_pair_difference/pairs")["value"])
    assert values[1] - values[0] == pytest.approx(-5.0 / len(SENTENCES[0]))


# requests


def test_the_space_belongs_to_the_text():
    request = answers.of_sentence(Sentence("He is  kind.", part=(7, 11)), masked=False)
    assert (request["kind"], request["prefix"], request["text"]) == ("continuation", "He is", "  kind")


def test_a_key_is_of_all_that_is_asked_and_of_nothing_else():
    word = PlacedWord("He is kind.", 6, 10)
    asked = [
        answers.of_sentence(Sentence("He is kind."), masked=False),
        answers.of_sentence(Sentence("He is kind."), masked=True),
        answers.of_sentence(Sentence("He is kind.", part=(6, 10)), masked=False),
        answers.of_sentence(Sentence("He is kind.", part=(6, 10)), masked=True),
        answers.of_sentence(Sentence("He is kind.", part=(6, 10), hidden=(0, 2)), masked=True),
        answers.of_sentence(Sentence("He is kind.", beside="She is kind."), masked=True),
        answers.of_word(word, "sentence", -1),
        answers.of_word(word, "sentence", 0),
        answers.of_word(word, "word", -1),
    ]
    assert len({request["key"] for request in asked}) == len(asked)
    assert all(
        list(request) == ["key", "kind", "text", "prefix", "beside", "hidden", "options"] for request in asked
    )
    assert list(map(answers.needs_pieces, asked)) == [
        False,
        False,
        False,
        True,
        True,
        True,
        False,
        True,
        True,
    ]
    # keys are in files of people: they stay as they are
    assert asked[0]["key"] == "f34180dfabfec2e7384a932bfc53a504af7b659b5497440d4b8122f932915554"


def test_what_no_api_can_answer_is_written_and_said(folder):
    write(folder, config(masked=True))
    done = biasgrid(*EXPORT)
    assert "warning: far: 48 of 52 texts need single tokens of a text" in done.stderr
    asked = list(map(json.loads, done.stdout.splitlines()))[1:]
    assert len(asked) == 52
    assert sum(request["hidden"] is not None for request in asked) == 24


def test_one_of_several_models_is_named(folder):
    two = config()
    two["models"]["near"] = {
        **two["models"]["far"],
        "label": "Near",
        "source": {"type": "answers", "path": "near.jsonl"},
    }
    write(folder, two)
    refusal(*EXPORT, parts=["study.json: choose one of these models with --model: far, near"])
    refusal(*EXPORT, "--model", "neer", parts=["did you mean 'near'"])
    assert ask("--model", "near")[1] == ask("--model", "far")[1]
    write(
        folder,
        config(
            models={"t": {"label": "T", "kind": "language_model", "source": {"type": "file", "path": "t"}}}
        ),
    )
    refusal(*EXPORT, parts=["no model has answers in a file"])


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (
            {"kind": "vectors"},
            "source: answers are a language model's (kind: language_model, and no format), or an encoder's",
        ),
        ({"format": "scores"}, "(kind: language_model, and no format)"),
        ({"source": {"type": "answers"}}, "key 'path' is missing"),
        ({"source": {"type": "answers", "path": "a", "masked": "no"}}, "masked must be true or false"),
    ],
)
def test_what_a_config_may_say_of_answers(entry, says):
    record = config()
    record["models"]["far"] |= entry
    with refused(says):
        Study.of(record)


# answers that are refused


def good():
    header, asked = ask()
    return header, [answer(request, Bigrams()) for request in asked]


def without(record, key):
    return {name: value for name, value in record.items() if name != key}


WRONG = {
    "no JSON": (lambda r: "{", "no JSON"),
    "no object": (lambda r: "[1]", "no JSON object, but [1]"),
    "bytes": (lambda r: b"\xff", "no JSON"),
    "deep": (lambda r: "[" * 100_000, "no JSON"),
    "duplicate": (lambda r: '{"key": "a", "key": "b"}', "duplicate key 'key'"),
    "NaN": (lambda r: r | {"value": math.nan}, "NaN is not finite"),
    "Infinity": (lambda r: r | {"value": -math.inf}, "-Infinity is not finite"),
    "1e999": (lambda r: f'{{"key": "{r["key"]}", "value": -1e999}}', "value: not finite"),
    "digits": (lambda r: r | {"value": -(10**400)}, "value: not finite"),
    "no key": (lambda r: without(r, "key"), "has no key"),
    "unknown key": (lambda r: r | {"key": "0" * 64}, "unknown key"),
    "no value": (lambda r: without(r, "value"), "value: None is no number"),
    "text": (lambda r: r | {"value": "-1"}, "value: '-1' is no number"),
    "truth": (lambda r: r | {"value": False}, "value: False is no number"),
    "vector": (lambda r: r | {"value": [1.0]}, "value: [1.0] is no number"),
    "positive": (lambda r: r | {"value": 0.1}, "value: 0.1 is above 0"),
    "other request": (lambda r: r | {"text": "Hi."}, "text: 'Hi.', and the study asks"),
    "model": (lambda r: r | {"model": 3}, "model: 3 is no Unicode text"),
    "tokens": (lambda r: f'{{"key": "{r["key"]}", "value": -1, "tokens": [1e999]}}', "tokens: not finite"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_answer_is_one_line_with_its_number_and_nothing_is_written(folder, case):
    header, records = good()
    damage, says = WRONG[case]
    wrong = damage(records[2])
    text = wrong if isinstance(wrong, (str, bytes)) else json.dumps(wrong)
    lines = [json.dumps(r).encode() for r in (header, *records)]
    lines[3] = text if isinstance(text, bytes) else text.encode()
    (folder / "a.jsonl").write_bytes(b"\n".join(lines))
    not_imported("biasgrid: a.jsonl: line 4: ", says)
    assert not Path(FILE).exists()
    # nor is anything written over
    write_lines(folder / "good.jsonl", records)
    imported("good.jsonl")
    former = Path(FILE).read_bytes()
    not_imported()
    assert Path(FILE).read_bytes() == former
    assert [path.name for path in Path("answers").iterdir()] == ["far.jsonl"]


def test_each_key_has_one_answer(folder):
    header, records = good()
    write_lines(folder / "a.jsonl", [header, *records, records[0]])
    not_imported(f"line {len(records) + 2}: key {records[0]['key']}: a former line has")
    write_lines(folder / "a.jsonl", records[1:])
    not_imported(f"a.jsonl: missing key {records[0]['key']} (")
    (folder / "a.jsonl").write_text("")
    not_imported("missing key")
    not_imported("no.jsonl: No such file", path="no.jsonl")


def test_another_studys_header_is_refused(folder):
    header, records = good()
    write_lines(folder / "a.jsonl", [header | {"digest": "0" * 64}, *records])
    not_imported("a.jsonl: line 1: digest: another study's texts ('small')")
    write_lines(folder / "a.jsonl", [header | {"biasgrid_texts": 2}, *records])
    not_imported("line 1: biasgrid_texts: 2 is not allowed; allowed: 1")


def test_vectors_are_of_one_length(folder):
    encoder = {"far": {"source": {"type": "answers", "path": FILE}}}
    model = {"label": "W", "source": {"type": "encoded", "encoder": "far", "pool": "sentence"}}
    query = {"targets": {"A": ["a"], "B": ["b"]}, "attributes": {"C": ["c"], "D": ["d"]}}
    changes = {"encoders": encoder, "models": {"words": model}, "metrics": {"weat": {}}}
    write(folder, config(**changes, criteria={"C": {"queries": {"q": query}}}))
    _, asked = ask()
    assert [request["text"] for request in asked] == ["a", "b", "c", "d"]
    records = [{"key": request["key"], "value": [1.0, 2]} for request in asked]
    for value, says in (
        ([1.0], "value: has 1 numbers, and the first vector 2"),
        ([], "value: [] is no vector"),
        (-1.0, "value: -1.0 is no vector"),
        ([1, None], "value: [1, None] is no vector"),
        ([10**400, 1], "value: not finite"),
    ):
        write_lines(folder / "a.jsonl", [*records[:3], records[3] | {"value": value}])
        not_imported(f"a.jsonl: line 4: key {records[3]['key']}: {says}")
    write_lines(folder / "a.jsonl", records)
    imported()
    query["targets"]["A"] = ["e"]
    write(folder, config(**changes, criteria={"C": {"queries": {"q": query}}}))
    _, (new,) = ask()
    write_lines(folder / "a.jsonl", [{"key": new["key"], "value": [1.0]}])
    not_imported("its vectors have another length than those in answers/far.jsonl")


def test_names_of_other_tools_and_a_filled_in_request_are_taken(folder):
    header, asked = ask()
    records = [{"value": answer(request, Bigrams())["value"], "latency": 0.1} | request for request in asked]
    renamed = [
        {"id": r["key"], "context": r["prefix"], "continuation": r["text"], "value": r["value"]}
        for r in records
    ]
    written = []
    for lines in (records, renamed):
        write_lines(folder / "a.jsonl", [header, *lines[::-1]])
        imported()
        written.append(Path(FILE).read_bytes())
    assert written[0] == written[1]


def test_floats_come_back_to_the_last_bit_and_the_model_is_recorded(folder):
    _, records = good()
    records[0] |= {"value": -0.1 - 0.2, "model": "far-2026-01", "tokens": ["A", " man"]}
    records[1] |= {"value": -3}
    write_lines(folder / "a.jsonl", records)
    imported()
    kept = {line["key"]: line for line in map(json.loads, Path(FILE).read_text().splitlines())}
    assert kept[records[0]["key"]] == records[0]
    assert repr(kept[records[1]["key"]]["value"]) == "-3.0"
    study = Study.read("study.json")
    make_inputs(study)
    assert json.loads(study.paths.model_file("far").read_text())["answered_by"] == ["far-2026-01"]


def test_requests_do_not_depend_on_the_order_of_queries():
    study = Study.of(config())
    turned = Study.of(config(criteria=dict(reversed(config()["criteria"].items()))))
    assert requests(study, "far").keys() == requests(turned, "far").keys()
