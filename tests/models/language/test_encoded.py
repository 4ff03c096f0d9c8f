"""Encoded models: words in sentences become vectors, and a study asks of them all that it asks of others."""

import json
import pickle
import shutil

import numpy as np
import pytest
import yaml
from conftest import ROOT, files_in
from refusals import refused
from tiny_encoder import write_encoder

import biasgrid as bg
from biasgrid import BiasgridError, InputError
from biasgrid.models import build_store
from biasgrid.models.language import blocks, encoding
from biasgrid.models.language.encoder import Encoder
from biasgrid.models.language.opening import open_pretrained
from biasgrid.models.language.templates import Templates
from biasgrid.study.study import Study

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
TEMPLATES = ["a {} b.", "{} c."]
QUERY = {
    "targets": {"A": ["ab", "cde", "f"], "B": ["gh", "ij", "klm"]},
    "attributes": {"C": ["n", "op"], "D": ["qr", "st"]},
}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoder"))


def config(encoder, **source):
    return {
        "study": "small",
        "encoders": {"tiny": {"source": {"type": "file", "path": f"{encoder}/model.safetensors"}}},
        "models": {
            "words": {
                "label": "tiny",
                "source": {"type": "encoded", "encoder": "tiny", "templates": TEMPLATES} | source,
            }
        },
        "criteria": {"First": {"queries": {"q": QUERY}}},
        "metrics": {"weat": {}},
        "figures": [],
    }


# vectors


def test_vectors_are_means_over_pieces_and_templates(encoder):
    states = Encoder(open_pretrained(encoder)).states
    # [CLS] a c ##d ##e b . [SEP] and [CLS] c ##d ##e c . [SEP]: the places of the pieces, counted by hand
    first, second = (found.states for found in states(["a cde b.", "cde c."]))
    assert len(first) == 8
    assert len(second) == 7
    of_word = (first[2:5].mean(axis=0) + second[1:4].mean(axis=0)) / 2
    of_sentence = (first.mean(axis=0) + second.mean(axis=0)) / 2
    for pool, expected in (("word", of_word), ("sentence", of_sentence)):
        model = bg.encode(["cde", "x"], encoder, templates=TEMPLATES, pool=pool)
        np.testing.assert_allclose(model.vectors(["cde"])[0], expected, rtol=1e-6)
    # layer 0: embeddings of pieces and of places, and nothing of the neighbours but the order
    zero = [bg.encode(["cde"], encoder, templates=[text], layer=0)["cde"] for text in ("a {} b.", "z {} y.")]
    np.testing.assert_array_equal(*zero)
    assert (bg.encode(["cde"], encoder, templates=["a {} b."], layer=-3)["cde"] == zero[0]).all()
    assert (bg.encode(["cde"], encoder, templates=["a {} b."])["cde"] != zero[0]).all()


def test_a_text_is_read_as_it_is_without_templates(encoder):
    whole = Encoder(open_pretrained(encoder)).states(["a cde b."])[0].states
    model = bg.encode(["a cde b."], encoder, pool="sentence")
    np.testing.assert_allclose(model["a cde b."], whole.mean(axis=0), rtol=1e-6)


def test_bytes_depend_on_neither_threads_nor_order_nor_company(encoder):
    words = [word for sets in QUERY.values() for of_set in sets.values() for word in of_set]
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = bg.encode(words, encoder, templates=TEMPLATES)
        torch.set_num_threads(3)
        turned = bg.encode([*words[::-1], "x y z"], encoder, templates=TEMPLATES)
    finally:
        torch.set_num_threads(threads)
    assert one.vectors(words).tobytes() == turned.vectors(words).tobytes()


def test_a_word_without_pieces_is_lost(encoder):
    model = bg.encode(["ab", " "], encoder, templates=TEMPLATES)
    assert "ab" in model
    assert " " not in model


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"pool": "cls"}, "pool: unknown value 'cls'; did you mean"),
        ({"layer": 3}, "layer: 3 is not allowed; allowed: -3 to 2"),
        ({"layer": 1.5}, "layer"),
        ({"templates": ["no place"]}, "'no place' is no template"),
        ({"templates": ["{} and {}"]}, "'{} and {}' is no template"),
        (
            {"templates": "beached"},
            "'beached' is no file of data/templates; allowed: a list of templates",
        ),
        ({"words": "ab"}, "expected a list of words, or queries"),
        ({"words": []}, "at least one word"),
        ({"words": ["ab", 3]}, "3 is no word"),
        ({"words": ["ab " * 50]}, "allowed: up to 48"),
        ({"encoder": "minilm"}, "unknown encoder 'minilm'"),
    ],
)
def test_what_encode_refuses_is_one_line(encoder, options, says):
    options = {"words": ["ab"], "encoder": encoder} | options
    with refused(says.partition("; did")[0]):
        bg.encode(options.pop("words"), options.pop("encoder"), **options)


def test_queries_give_their_words(encoder):
    query = bg.Query(QUERY["targets"], QUERY["attributes"])
    model = bg.encode(query, encoder, templates=TEMPLATES)
    assert not any(bg.metrics.weat(query, model).lost.values())
    assert len(model.array) == 10


# templates


def test_seats_sentences_follow_the_part_of_speech():
    seat = Templates.of("seat")

    def sentences(word):
        return [item.text for item in seat.placed(word)]

    assert "The person's name is Amy." in sentences("Amy")
    assert "This is an aster." in sentences("aster")
    assert {"They are women.", "A woman is a person."} <= set(sentences("woman"))
    assert sentences("sad") == ["This is sad.", "That is sad.", "They are sad."]
    assert "He is here." in sentences("he")
    assert "The flies are there." in sentences("fly")
    for word in ("Amy", "aster", "woman", "fly"):
        for item in seat.placed(word):
            assert item.text[item.start : item.end].lower() in (word.lower(), "asters", "women", "flies")


def test_a_querys_words_become_sentences(root, encoder):
    study = config(encoder, templates=None, pool="sentence")
    del study["models"]["words"]["source"]["templates"]
    sets = {"A": ["a {} b.", "{} c."], "C": ["{}."]}
    study["criteria"]["First"]["queries"]["q"] = QUERY | {"templates": sets}
    query = Study.of(study, root=root).queries["q"]
    assert query.target_sets[0].words == ("a ab b.", "ab c.", "a cde b.", "cde c.", "a f b.", "f c.")
    assert query.target_sets[1].words == ("gh", "ij", "klm")
    assert query.attribute_sets[0].words == ("n.", "op.")
    again = Study.of(json.loads(Study.of(study, root=root).to_json()), root=root)
    assert again.queries["q"] == query
    assert again.models == Study.of(study, root=root).models


# studies


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"encoder": "other"}, "models: words: source: unknown encoder 'other'"),
        ({"templates": []}, "expected a list of templates"),
        ({"templates": ["{}", "x"]}, "'x' is no template"),
        ({"templates": "no-such"}, "'no-such' is no file of data/templates"),
        ({"pool": "mean"}, "pool"),
        ({"layer": "last"}, "layer"),
        ({"words": "x"}, "unknown key 'words'"),
        ({"format": "text"}, "format: is for files"),
        ({"kind": "corpus"}, "source: only vectors of words can be encoded, not corpus"),
        ({"kind": "language_model"}, "source: only vectors of words can be encoded, not language_model"),
        ({"sorted": True}, "sorted: the words of an encoded model are in no order"),
        ({"device": "gpu"}, "models: words: source: device: unknown value 'gpu'"),
        ({"fast": "yes"}, "models: words: source: fast"),
    ],
)
def test_a_wrong_config_is_one_line(root, encoder, change, says):
    study = config(encoder)
    entry = study["models"]["words"]
    entry |= {key: change.pop(key) for key in ("format", "kind", "sorted") if key in change}
    entry["source"] |= change
    with refused(says):
        Study.of(study, root=root)


def test_the_words_are_those_that_are_asked(root, encoder):
    study = config(encoder) | {
        "words": {"preprocessors": [{"uppercase": True}, {}]},
        "debias": {
            "First": {"hd": {"method": "hard", "words": {"definitional_pairs": [["u", "v"], ["w", "x"]]}}}
        },
        "evaluation": {"First": {"hidden": {"pairs": [["y", "z"]], "sides": ["left", "right"]}}},
    }
    study["criteria"]["Second"] = {
        "models": ["words"],
        "ranked": False,
        "metrics": {"weat": {"words": {"strategy": "all"}}},
        "queries": {"r": {"targets": {"E": ["k"], "F": ["l"]}, "attributes": QUERY["attributes"]}},
    }
    study["criteria"]["Not here"] = {
        "models": ["other"],
        "queries": {"s": {"targets": {"E": ["m0"], "F": ["m1"]}, "attributes": QUERY["attributes"]}},
    }
    study["models"]["other"] = {"label": "other", "source": {"type": "file", "path": "x.txt"}}
    words = set(Study.of(study, root=root).models["words"]["encodes"])
    assert {"AB", "CDE", "N", "u", "v", "w", "x", "y", "z", "K", "k", "L", "n"} <= words
    # of `first` the store has the first form; sides are names; another model's words are not this one's
    assert not words & {"ab", "left", "m0", "M0"}


def test_frequent_words_stand_beside_those_of_the_study(root, encoder):
    study = config(encoder, frequent=30)
    entry = Study.of(study, root=root).models["words"]
    model = build_store("words", entry, root / "embeddings", False, root / "stores")
    assert model.words()[:10] == entry["encodes"]
    assert {"the", "of", "and"} <= set(model.words()[10:])
    # some of the study's may be among them
    assert 30 <= len(model) <= 40


def test_a_control_has_random_weights_of_its_seed(root, encoder):
    def vectors(name, **source):
        entry = Study.of(config(encoder, **source), root=root).models["words"]
        store = build_store(name, entry, root / "embeddings", False, root / "stores")
        return store.vectors(["ab", "op"])

    own, state = vectors("own"), torch.get_rng_state()
    control = vectors("control", random_weights=1)
    assert torch.equal(torch.get_rng_state(), state)
    assert own.shape == control.shape
    assert not np.allclose(own, control)
    assert vectors("again", random_weights=1).tobytes() == control.tobytes()
    assert vectors("other", random_weights=2).tobytes() != control.tobytes()


def test_an_encoder_of_static_vectors_has_the_mean_of_the_words(root, tmp_path):
    rows = {"a": [4.0, 0.0], "ab": [0.0, 2.0], "b": [2.0, 1.0], "A": [9.0, 9.0]}
    lines = (f"{word} {x} {y}\n" for word, (x, y) in rows.items())
    (tmp_path / "words.txt").write_text("4 2\n" + "".join(lines), encoding="utf-8")
    study = config(tmp_path, pool="sentence")
    study["encoders"]["tiny"]["source"]["path"] = str(tmp_path / "words.txt")

    def model(**source):
        study["models"]["words"]["source"] |= source
        entry = Study.of(study, root=root).models["words"]
        return build_store("words", entry, root / "embeddings", False, root / "stores")

    # of "a ab b." all three words are known, of "ab c." one; of other words none, whatever stands beside them
    found = model()
    np.testing.assert_allclose(found["ab"], [1.0, 1.5])
    assert found.words() == ["ab"]
    np.testing.assert_allclose(model(pool="word")["ab"], rows["ab"])
    with pytest.raises(InputError, match="pool is 'sentence' or 'word', and layer -1"):
        model(pool="first")
    with pytest.raises(InputError, match="random_weights: is not for a mean of static vectors"):
        model(pool="sentence", random_weights=1)


def test_an_edited_query_encodes_what_is_new(root, encoder, monkeypatch):
    asked = []
    encode = encoding.encode

    def noted(bert, words, *others):
        asked.append(list(words))
        return encode(bert, words, *others)

    monkeypatch.setattr(encoding, "encode", noted)
    study = config(encoder)
    stores = root / "stores"

    def made(name="words"):
        entry = Study.of(study, root=root).models[name]
        return build_store(name, entry, root / "embeddings", False, stores)

    first = made()
    assert made().fingerprint == first.fingerprint
    assert [len(words) for words in asked] == [10]
    whole = first.vectors(["ab", "op"]).tobytes()
    query = json.loads(json.dumps(QUERY))
    query["targets"]["A"] = ["ab", "cde", "uvw"]
    study["criteria"]["First"]["queries"]["q"] = query
    second = made()
    assert asked[1:] == [["uvw"]]
    assert "f" not in second
    assert second.vectors(["ab", "op"]).tobytes() == whole
    shutil.rmtree(stores)
    assert made().fingerprint == second.fingerprint
    # other templates are other vectors, all of them
    study["models"]["words"]["source"]["templates"] = TEMPLATES[:1]
    made()
    assert [len(words) for words in asked] == [10, 1, 10, 10]


@pytest.mark.parametrize("kind", [None, "contextual_vectors"])
def test_encoding_that_was_stopped_goes_on_where_it_was(root, encoder, monkeypatch, capsys, kind):
    study = config(encoder)
    if kind:
        study["models"]["words"]["kind"], study["metrics"] = kind, {"ceat": {}}
    entry = Study.of(study, root=root).models["words"]

    def make(stores):
        return build_store("words", entry, root / "embeddings", False, root / stores)

    undisturbed = make("undisturbed")
    monkeypatch.setattr(blocks, "BLOCK", 4)
    monkeypatch.setattr(blocks, "SAID_EVERY", 0)
    asked = []
    encode = Encoder.encode

    def counted(self, sentences, *others):
        asked.append([sentence.text for sentence in sentences])
        if len(asked) == 2:
            raise KeyboardInterrupt
        return encode(self, sentences, *others)

    monkeypatch.setattr(Encoder, "encode", counted)
    with pytest.raises(KeyboardInterrupt):
        make("stopped")
    assert "biasgrid: at work: words: 4 of 10, about " in capsys.readouterr().err
    made = make("stopped")
    # of 10 words in 2 templates each: 4 before it was stopped, and the other 6 afterwards
    assert [len(texts) for texts in asked] == [8, 8, 8, 4]
    assert asked[1] == asked[2]
    assert not {*asked[0]} & {*asked[2], *asked[3]}
    for file in ("model.json", "vectors.npy"):
        of_both = [(root / stores / "words" / file).read_bytes() for stores in ("undisturbed", "stopped")]
        assert of_both[0] == of_both[1]
    np.testing.assert_array_equal(made.rows(entry["encodes"]), undisturbed.rows(entry["encodes"]))
    assert sorted(path.name for path in (root / "stopped").iterdir()) == ["words"]
    # what was encoded of another recipe is of no use
    (root / "other").mkdir()
    shutil.copytree(root / "stopped" / "words", root / "other" / ".words.unfinished")
    study["models"]["words"]["source"]["layer"] = 1
    entry = Study.of(study, root=root).models["words"]
    make("other")
    assert [len(texts) for texts in asked[4:]] == [8, 8, 4]


def test_how_an_encoder_computes_is_said_and_recorded(root, encoder):
    study = config(encoder)

    def made(**options):
        study["models"]["words"]["source"] |= options
        entry = Study.of(study, root=root).models["words"]
        return build_store("words", entry, root / "embeddings", False, root / "stores")

    first = made()
    assert first.metadata["computed"] == {"device": "cpu", "dtype": "float32", "fast": False}
    assert not {"device", "dtype", "fast"} & first.metadata["source"].keys()
    fast = made(device="cpu", fast=True)
    assert fast.metadata["computed"] == {"device": "cpu", "dtype": "float32", "fast": True}
    assert {**fast.metadata["source"]}.items() >= {"device": "cpu", "fast": True}.items()
    words = [word for sets in QUERY.values() for of_set in sets.values() for word in of_set]
    np.testing.assert_allclose(fast.vectors(words), first.vectors(words), atol=1e-5)
    half = made(dtype="bfloat16")
    assert half.metadata["computed"]["dtype"] == "bfloat16"
    assert np.abs(half.vectors(words) - first.vectors(words)).max() > 1e-3
    # what is there already says how it was computed
    study["criteria"]["First"]["queries"]["q"] = QUERY | {"attributes": {"C": ["n"], "D": ["qr"]}}
    fewer = made()
    assert len(fewer) == 8
    assert fewer.metadata["computed"] == half.metadata["computed"]


def test_vectors_of_two_devices_say_both(root, encoder, monkeypatch):
    """Where `device` is left out it may be another one the next time; the former vectors are kept."""
    study = config(encoder)

    def made(device):
        monkeypatch.setattr(Encoder, "computed", {"device": device, "dtype": "float32"})
        entry = Study.of(study, root=root).models["words"]
        return build_store("words", entry, root / "embeddings", False, root / "stores").metadata["computed"]

    attributes = QUERY["attributes"]
    study["criteria"]["First"]["queries"]["q"] = QUERY | {"attributes": {"C": ["n"], "D": ["qr"]}}
    assert made("cpu") == {"device": "cpu", "dtype": "float32"}
    study["criteria"]["First"]["queries"]["q"] = QUERY | {"attributes": attributes}
    assert made("cuda") == {"device": "cpu, cuda", "dtype": "float32"}


@pytest.mark.parametrize(
    ("encoder_type", "options", "refused"),
    [
        ("answers", {"device": "cpu"}, "device"),
        ("answers", {"fast": True}, "fast"),
        ("sentence-transformers", {"device": "cpu", "dtype": "bfloat16"}, "dtype"),
        ("sentence-transformers", {"device": "cpu", "fast": True}, "fast"),
        ("sentence-transformers", {"device": "cpu"}, None),
        ("answers", {}, None),
    ],
)
def test_how_an_encoder_computes_is_said_where_it_means_something(root, encoder_type, options, refused):
    study = config("folder", pool="sentence", **options)
    study["encoders"]["tiny"]["source"] = {"type": encoder_type, "path": "there"}
    if refused is None:
        assert Study.of(study, root=root).models["words"]["source"].items() >= options.items()
        return
    with pytest.raises(BiasgridError) as error:
        Study.of(study, root=root)
    assert str(error.value).endswith(
        f"models: words: source: {refused}: is not for an encoder of type {encoder_type}, but for a network that "
        "transformers reads; leave it out"
    )


def test_a_study_of_encoded_words_and_sentences(project, encoder):
    study = config(encoder)
    study["models"]["sentences"] = {
        "label": "sentences",
        "source": {"type": "encoded", "encoder": "tiny", "pool": "sentence"},
    }
    study["criteria"]["First"] |= {"models": ["words"]}
    study["criteria"]["Sentences"] = {
        "models": ["sentences"],
        "queries": {"s": QUERY | {"templates": TEMPLATES}},
    }
    study["debias"] = {
        "First": {
            "hd": {
                "method": "hard",
                "models": ["words"],
                "words": {"definitional_pairs": [["ab", "gh"], ["cde", "ij"]]},
            }
        }
    }
    project.configure(study)
    project.run("--until", "cell")
    folder = project.folder / "results" / "small"
    query = bg.Query(QUERY["targets"], QUERY["attributes"])
    values = {
        name: json.loads(path.read_text())["results"][0]["value"]
        for name, path in files_in(folder / "cells").items()
    }
    assert set(values) == {"words/none/weat/q", "words/hd/weat/q", "sentences/none/weat/s"}
    expected = bg.metrics.weat(query, bg.encode(query, encoder, templates=TEMPLATES)).value
    assert values["words/none/weat/q"] == pytest.approx(expected, rel=1e-12)
    in_sentences = bg.Query.read(folder / "queries" / "s.json")
    assert len(in_sentences.target_sets[0].words) == 6
    expected = bg.metrics.weat(in_sentences, bg.encode(in_sentences, encoder, pool="sentence")).value
    assert values["sentences/none/weat/s"] == pytest.approx(expected, rel=1e-12)
    # stores are the study's own
    assert (folder / "encoded" / "words" / "model.json").is_file()
    assert not (project.folder / "data" / "embeddings" / "words").exists()


def test_a_vector_per_context(root, encoder):
    study = config(encoder) | {"metrics": {"ceat": {}}}
    study["models"]["words"]["kind"] = "contextual_vectors"
    entry = Study.of(study, root=root).models["words"]
    assert len(entry["encodes"]) == 10
    model = build_store("words", entry, root / "embeddings", False, root / "stores")
    # word by word what one template alone gives
    alone = [bg.encode(["ab", "op"], encoder, templates=[text]).vectors(["ab", "op"]) for text in TEMPLATES]
    np.testing.assert_array_equal(model.take(["ab", "op"], model.rows(["ab", "op"])), np.stack(alone, axis=1))
    assert model.rows(["ab", "zz"])[1] == -1
    assert model.path == root / "stores" / "words"
    assert pickle.loads(pickle.dumps(model)).contexts == len(TEMPLATES)
    query = bg.Query(QUERY["targets"], QUERY["attributes"])
    score = bg.metrics.ceat(query, model)
    in_memory = bg.encode(query, encoder, templates=TEMPLATES, contexts=True)
    assert bg.metrics.ceat(query, in_memory).value == score.value
    assert bg.load(root / "stores" / "words", kind="contextual_vectors").contexts == len(TEMPLATES)
    assert score.scalars["lowest"] <= score.value <= score.scalars["highest"]
    with pytest.raises(InputError, match="a debias method changes vectors of words"):
        model.under(None)
    study["models"]["words"]["source"]["templates"] = "seat"
    with pytest.raises(
        BiasgridError, match="models: words: source: templates: words of some parts of speech have 3"
    ):
        Study.of(study, root=root)


def test_the_shipped_study_of_seat():
    study = Study.read(ROOT / "config" / "seat.yaml", root=ROOT)
    assert len(study.grid.cells) == 3 * 10 + 10 + 10 + 3
    entry = yaml.safe_load((ROOT / "config" / "encoders.yaml").read_text())["all-minilm-l6-v2"]
    assert study.sources["all-minilm-l6-v2"]["source"] == entry["source"]
    # flowers: 25 nouns in 14 sentences each; names: 8 in 8 sentences
    sizes = {key: len(study.queries[key].target_sets[0].words) for key in ("seat_1", "seat_6")}
    assert sizes == {"seat_1": 25 * 14, "seat_6": 8 * 8}
    # the same words in both criteria
    for number in range(1, 11):
        assert (
            study.queries[f"weat_{number}"].target_sets_names
            == study.queries[f"seat_{number}"].target_sets_names
        )
    # May et al.'s variants: terms in place of names, names in place of terms
    queries = study.queries
    assert queries["seat_6b"].target_sets == queries["seat_7"].attribute_sets
    assert queries["seat_6b"].attribute_sets == queries["seat_6"].attribute_sets
    for key in ("seat_7", "seat_8"):
        assert queries[f"{key}b"].target_sets == queries[key].target_sets
        assert queries[f"{key}b"].attribute_sets == queries["seat_6"].target_sets
