"""A masked language model that is trained here: what it is trained on, what comes out, and what trains it again."""

import json
import random
from pathlib import Path

import architectures
import numpy as np
import pytest
from biasgrid_plugin_training.algorithms import bert as bert_training
from conftest import ROOT, biasgrid, grid_config
from hypothesis import example, given, settings
from hypothesis import strategies as st
from refusals import refused
from safetensors.numpy import load_file
from tiny_bert import CLS, LETTERS, MASK, PIECES, SEP, Reference, ids_of, weights_of, write_bert

from biasgrid.models import build_store
from biasgrid.models.algorithms import REGISTRY as ALGORITHMS
from biasgrid.models.corpus.text import Sentences
from biasgrid.models.language.masked import Masked
from biasgrid.models.language.model import LanguageModel
from biasgrid.models.language.opening import open_pretrained
from biasgrid.models.language.sentence import Sentence
from biasgrid.models.language.threads import one_thread
from biasgrid.study.study import Study

torch = pytest.importorskip("torch")

SMALL = {"epochs": 3, "batch_size": 8, "learning_rate": 0.01, "pieces": 12, "held_out": 10, "seed": 1}


def text(sentences: int = 120, seed: int = 0) -> list[str]:
    """Sentences of two of the letters each: a and b, c and d, e and f, or g and h."""
    draw = random.Random(seed)
    pairs = [LETTERS[place : place + 2] for place in range(0, len(LETTERS), 2)]
    return [" ".join(draw.choices(draw.choice(pairs), k=draw.randrange(7, 14))) for _ in range(sentences)]


def entry(corpus: Path, start: Path, **params):
    """A model's entry as `Study.models` has it."""
    made_of = {"name": "made", "source": {"type": "file", "path": str(corpus)}, "format": "tokens"}
    begun = {"name": "tiny", "source": {"type": "file", "path": str(start / "model.safetensors")}}
    source = {
        "type": "trained",
        "corpus": made_of,
        "algorithm": "bert",
        "start": begun,
        "params": SMALL | params,
    }
    return {"label": "made", "kind": "language_model", "source": source}


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory):
    return open_pretrained(write_bert(tmp_path_factory.mktemp("bert")), device="cpu")


@pytest.fixture
def start(tmp_path):
    # small weights, as a model has that is to learn
    weights = {name: weight / 5 for name, weight in weights_of(seed=3).items()}
    for name in weights:
        if "LayerNorm" in name:
            weights[name] = np.full_like(weights[name], name.endswith("weight"))
    return write_bert(tmp_path / "start", weights)


def trained(tmp_path, start, lines=None, name="m", stores="stores", **params) -> LanguageModel:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(text() if lines is None else lines) + "\n")
    return build_store(name, entry(corpus, start, **params), tmp_path / stores)


def weights_in(model: LanguageModel) -> bytes:
    return (model.path / "model.safetensors").read_bytes()


# what comes out


@pytest.mark.slow
def test_it_learns_which_letters_go_together(tmp_path, start):
    model = trained(tmp_path, start, epochs=16)
    facts = model.metadata
    assert (facts["held_out"], facts["format"], facts["masked"]) == (10, "transformers", True)
    assert facts["steps"] == round(16 * facts["sentences"] / 8)
    first, last = facts["loss"]
    assert last < first / 2
    # of eight letters a guess would have 8 and .125; who knows which two it is has 2 and .5
    assert 1.9 < facts["perplexity"] < 2.5
    assert facts["masked_accuracy"] > 0.4
    right, wrong = model.score([Sentence("a b b a b a", (4, 5)), Sentence("a b g a b a", (4, 5))])
    assert right > wrong + 2
    assert isinstance(LanguageModel.open(model.path).network, Masked)
    # the names of the files that it began with
    assert {name.split(".")[0] for name in load_file(model.path / "model.safetensors")} == {"bert", "cls"}


@pytest.mark.slow
def test_two_trainings_give_the_same_bytes_whatever_the_threads(tmp_path, start):
    threads = torch.get_num_threads()
    files = []
    try:
        for number in (1, 3):
            torch.set_num_threads(number)
            torch.manual_seed(number)  # what torch itself would draw
            model = trained(tmp_path, start, stores=f"stores{number}")
            files.append({path.name: path.read_bytes() for path in model.path.iterdir() if path.is_file()})
    finally:
        torch.set_num_threads(threads)
    assert {"model.safetensors", "config.json", "tokenizer.json", "model.json"} <= files[0].keys()
    assert files[0] == files[1]
    assert weights_in(trained(tmp_path, start, seed=2)) != files[0]["model.safetensors"]


@pytest.mark.slow
def test_held_out_sentences_are_not_trained_on(tmp_path, start):
    """Others in their places change how well the model does, and not the model."""
    lines = text()
    assert len(set(lines)) == len(lines)
    model = trained(tmp_path, start, lines)
    for place in range(10):
        lines[place * 12] = "h g f e d c b a . a"
    other = trained(tmp_path, start, lines, stores="other")
    assert weights_in(other) == weights_in(model)
    assert other.metadata["perplexity"] > 2 * model.metadata["perplexity"]
    lines[1] = "h g f e d c b a . b"
    assert weights_in(trained(tmp_path, start, lines, stores="third")) != weights_in(model)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.lists(st.sampled_from(LETTERS), min_size=1, max_size=9), min_size=12, max_size=40),
    st.integers(1, 11),
)
@example([["a"] * 6, ["b"] * 6], 3)  # fewer sentences than are to be held out
def test_sentences_to_train_on_and_held_out(pretrained, sentences, held_out):
    trained_on, held = bert_training.split(sentences, pretrained, 8, held_out)
    long = [[CLS, *[PIECES.index(word) for word in words][:6], SEP] for words in sentences if len(words) >= 6]
    assert len(held) == min(held_out, len(long))
    assert all(ids in long for ids in held)
    # a sentence that is the same as a held-out one is not trained on
    assert trained_on == [ids for ids in long if ids not in held]


@pytest.mark.parametrize("all_masked", [False, True])
def test_which_pieces_are_predicted(pretrained, all_masked):
    sentences = [ids_of(" ".join("a" * length)) for length in (1, 2, 10, 20)] * 500
    batch = bert_training.mask_pieces(
        sentences, pretrained, 0.15, np.random.default_rng(0), all_masked=all_masked
    )
    ids, attended, places, labels = (part.numpy() for part in batch)
    lengths = np.array(list(map(len, sentences)))
    np.testing.assert_array_equal(attended.sum(axis=1), lengths)
    # 15 % of the pieces between [CLS] and [SEP], and one at least
    assert (places > 0).sum(axis=1).reshape(-1, 4).tolist() == [[1, 1, 2, 3]] * 500
    rows, columns = np.nonzero(places)
    targets = rows, places[rows, columns]
    assert (targets[1] < lengths[rows] - 1).all()
    # each place once
    assert len(set(zip(*map(np.ndarray.tolist, targets), strict=True))) == len(rows)
    a = PIECES.index("a")
    assert (labels[rows, columns] == a).all()
    seen = ids[targets]
    untouched = attended == 1
    untouched[targets] = False
    assert set(ids[untouched]) == {CLS, SEP, a}
    assert set(ids[attended == 0]) == {0}
    if all_masked:
        assert (seen == MASK).all()
    else:  # 80 % [MASK], 10 % any piece, 10 % as they are; of any piece 1 of 22 is [MASK], and one the piece itself
        shares = np.mean(seen == MASK), np.mean(seen == a)
        assert shares == pytest.approx((0.8 + 0.1 / 22, 0.1 + 0.1 / 22), abs=0.02)
    # no place is more likely than another
    of_ten = targets[1][np.isin(rows, np.arange(2, 2000, 4))]
    assert np.bincount(of_ten, minlength=11)[1:].min() > 60


def test_each_sentence_comes_once_in_an_epoch():
    sentences = [[number] * (number % 7 + 1) for number in range(1000)]
    found = bert_training.batches(sentences, 9, np.random.default_rng(0))
    for _ in range(2):
        epoch = [next(found) for _ in range(112)]
        assert sorted(ids[0] for batch in epoch for ids in batch) == list(range(1000))
        assert max(map(len, epoch)) == 9


def test_padding_changes_no_prediction(tmp_path):
    """Perplexity and accuracy, sentence by sentence, by arithmetic of its own."""
    weights = weights_of()
    pretrained = open_pretrained(write_bert(tmp_path, weights), device="cpu")
    held = [ids_of(line) for line in text(30)]
    chosen = bert_training.Settings(**SMALL)
    batch = bert_training.mask_pieces(
        held, pretrained, chosen.masked, np.random.default_rng(1), all_masked=True
    )
    reference, losses, hits = Reference(weights), [], []
    for number, ids in enumerate(held):
        said = reference.log_probabilities(batch.ids[number, : len(ids)].tolist())
        for place in batch.places[number][batch.places[number] > 0].tolist():
            losses.append(-said[place, ids[place]])
            hits.append(said[place].argmax() == ids[place])
    found = bert_training.quality(pretrained, held, chosen)
    assert found == (pytest.approx(np.exp(np.mean(losses)), rel=1e-4), pytest.approx(np.mean(hits)))


@pytest.mark.slow
@pytest.mark.parametrize("name", architectures.MASKED)
def test_any_masked_model_is_trained_and_saved_as_it_was_trained(tmp_path, name):
    start = architectures.saved(tmp_path, name)
    draw = random.Random(0)
    lines = [" ".join(draw.choices(architectures.WORDS[:12], k=draw.randrange(7, 14))) for _ in range(120)]
    model = trained(tmp_path, start, lines, epochs=2)
    first, last = model.metadata["loss"]
    assert last < first
    # what is read again does as well as what was trained did
    pretrained = open_pretrained(model.path, device="cpu")
    sentences = Sentences(tmp_path / "corpus.txt", "tokens")
    _, held_out = bert_training.split(sentences, pretrained, SMALL["pieces"], SMALL["held_out"])
    with one_thread():
        found = bert_training.quality(pretrained, held_out, bert_training.Settings(**SMALL))
    assert found == (model.metadata["perplexity"], model.metadata["masked_accuracy"])
    assert model.score([Sentence("the nurse is here")])[0] < 0


@pytest.mark.slow
def test_a_running_text_is_cut_into_sentences(tmp_path, start):
    (tmp_path / "text").write_text(" ".join(text()))
    model = entry(tmp_path / "text", start, pieces=10)
    del model["source"]["corpus"]["format"]
    facts = build_store("m", model, tmp_path / "stores").metadata
    tokens = len(" ".join(text()).split())
    assert (facts["sentences"], facts["held_out"]) == (-(-tokens // 10) - 10, 10)


# what trains again, and what is refused


@pytest.mark.slow
def test_a_model_is_taken_while_it_was_made_of_the_same(tmp_path, start, monkeypatch):
    def made(**params):
        """Whether the model was made again."""
        trained(tmp_path, start, epochs=0.1, **params)
        written.append((tmp_path / "stores" / "m" / "model.json").stat().st_mtime_ns)
        return written[-1] != written[-2]

    written = [0]
    assert made()
    assert not made()
    assert made(seed=2)
    write_bert(start, weights_of(seed=4))
    assert made(seed=2)
    monkeypatch.setattr(bert_training, "VERSION", 99)
    assert made(seed=2)
    assert not made(seed=2)


@pytest.mark.parametrize(
    ("damage", "params", "says"),
    [
        (
            lambda start: write_bert(start, weights_of(head=False), architectures=["BertModel"]),
            {},
            "tiny: has no head for masked words",
        ),
        # the config says that it has one
        (
            lambda start: write_bert(start, weights_of(head=False)),
            {},
            "tiny: has no weights of its head for masked",
        ),
        (lambda start: (start / "config.json").unlink(), {}, "has no config.json"),
        (None, {"pieces": 25}, "pieces: 25 is not allowed; allowed: up to 24"),
        (None, {"held_out": 120}, "120 sentences of 6 words or more 120 are held out"),
    ],
)
def test_what_cannot_be_trained_is_one_line_and_no_model(tmp_path, start, damage, params, says):
    if damage:
        damage(start)
    with refused(*says.split(" .* ")):
        trained(tmp_path, start, **params)
    assert [path for path in (tmp_path / "stores").iterdir() if path.name[0] not in ".r"] == []


def config_with(source=None, **more):
    config = grid_config()
    config["corpora"] = {"made": {"source": {"type": "file", "path": "corpus.txt"}}}
    config["encoders"] = {"tiny": {"source": {"type": "file", "path": "start/model.safetensors"}}}
    given = {"type": "trained", "corpus": "made", "algorithm": "bert", "start": "tiny"} | (source or {})
    given = {key: value for key, value in given.items() if value is not None}
    config["models"]["lm"] = {"label": "LM", "kind": "language_model", "source": given} | more
    return config


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (config_with({"start": None}), "lm: source: key 'start' is missing (algorithm: bert)"),
        (config_with({"start": "other"}), "lm: source: unknown encoder 'other'; allowed: tiny"),
        (
            config_with({"algorithm": "glove"}, kind="vectors"),
            "key 'start' is not allowed (algorithm: glove)",
        ),
        (config_with(kind="vectors"), "lm: source: bert trains language_model, and no vectors"),
        (config_with({"algorithm": "glove", "start": None}), "glove trains vectors, and no language_model"),
        (config_with({"params": {"window": 2}}), "bert has no parameter 'window'; allowed are: batch_size"),
        (config_with({"params": {"epochs": 0}}), "epochs: 0 is not allowed"),
        (config_with({"params": {"masked": 1.0}}), "masked: 1.0 is not allowed"),
        (config_with(format="bert"), "lm: format: is for files"),
    ],
)
def test_a_wrong_config_is_one_line(root, config, says):
    with refused(says):
        Study.of(config, root=root)


def test_parameters_are_those_of_the_training():
    assert set(ALGORITHMS["bert"].parameters) == set(bert_training.Settings.__dataclass_fields__)


def test_a_study_fetches_the_corpus_and_the_weights(root):
    study = Study.of(config_with(), root=root)
    assert set(study.sources) == {"one", "two", "made", "tiny"}
    assert study.trained_models == ["lm"]
    # the resolved config can be read again
    assert Study.of(json.loads(study.to_json()), root=root).models == study.models


def test_the_shipped_model_is_named_by_its_file(tmp_path):
    config = grid_config() | {
        "encoders": str(ROOT / "config" / "encoders.yaml"),
        "models": ["brown", str(ROOT / "config" / "trained" / "bert.yaml")],
        "metrics": {"pmi": {}},
    }
    config["criteria"].pop("Second")
    config["criteria"]["First"]["queries"].pop("q2")
    study = Study.of(config, root=ROOT)
    source = study.models["bert-tiny-brown"]["source"]
    assert (source["corpus"]["format"], source["start"]["name"]) == ("tagged", "bert-tiny")
    assert set(source["params"]) == set(bert_training.Settings.__dataclass_fields__)


def test_a_study_trains_it(tmp_path, start, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "stores"))
    (tmp_path / "corpus.txt").write_text(" ".join(text()))
    config = config_with({"params": SMALL | {"epochs": 0.1}})
    config["criteria"]["First"]["queries"].pop("q2")
    config["criteria"].pop("Second")
    (tmp_path / "study.json").write_text(json.dumps(config))
    done = biasgrid("step", "store lm", "--study", "study.json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"] == ["results/small/models/lm.json"]
    store = tmp_path / "stores" / "lm"
    assert json.loads((store / "model.json").read_text())["perplexity"] > 1
    assert LanguageModel.open(store).score([Sentence("a b c")])[0] < 0
