"""Shuffled corpora: models that are counted, and trained, on the tokens of another corpus in a random order."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from biasgrid_plugin_training.corpora import Shuffled
from biasgrid_plugin_training.vectors import Trained, make_store
from conftest import Project
from refusals import refused
from reruns import cells, planned
from test_corpus_study import CONFIG, GROUPS, table, write_letters

import biasgrid as bg
from biasgrid.models import build_store
from biasgrid.models.corpus.text import Sentences
from biasgrid.study.study import Study

PPMI = {"vector_size": 3, "window": 2, "min_count": 1}


def shuffled(seed, corpus="letters"):
    source = {"type": "shuffled", "corpus": corpus, "seed": seed}
    return {"label": f"{corpus}, shuffled ({seed})", "kind": "corpus", "source": source}


def of_corpus(corpus, algorithm="ppmi", params=PPMI):
    source = {"type": "trained", "corpus": corpus, "algorithm": algorithm, "params": params}
    return {"label": f"{algorithm} of {corpus}", "source": source}


def config():
    made = json.loads(json.dumps(CONFIG))
    made["models"] |= {
        "shuffled-1": shuffled(1),
        "shuffled-2": shuffled(2),
        "in-windows": shuffled(1, "windows"),
    }
    made["models"] |= {f"ppmi-{key}": of_corpus(key) for key in ("letters", "shuffled-1", "in-windows")}
    made["criteria"]["First"]["queries"]["work"]["attributes"] = {"Work": ["doctor"]}
    return made


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_letters(tmp_path / "letters.txt.gz")
    return Study.of(config())


def store(study, model):
    return build_store(model, study.models[model], study.embeddings)


def numbers(corpus):
    """The word at each place of a text."""
    found = np.empty(corpus.tokens, dtype=object)
    for row, word in enumerate(corpus.words()):
        found[corpus.places(row)] = word
    return found


def test_words_stay_as_frequent_and_sentences_as_long_and_what_is_together_changes(study):
    whole, first, second = (store(study, key) for key in ("letters", "shuffled-1", "shuffled-2"))
    for other in (first, second):
        assert dict(zip(other.words(), other.counts, strict=True)) == dict(
            zip(whole.words(), whole.counts, strict=True)
        )
        assert other.starts.tolist() == whole.starts.tolist()
    assert (numbers(first) != numbers(second)).any()

    # in the text men are doctors and women nurses, twice as often as not
    def value(corpus):
        return bg.metrics.pmi(bg.Query(list(GROUPS.values()), [["doctor"]]), corpus).value

    assert value(whole) > 0.4
    assert np.mean([abs(value(store(study, key))) for key in ("shuffled-1", "shuffled-2")]) < 0.4


def test_a_shuffled_corpus_has_the_format_and_the_window_of_the_corpus(study):
    for key, window in (("shuffled-1", None), ("in-windows", 4)):
        made = store(study, key)
        assert made.window == study.models[key].get("window") == window
        assert made.metadata["format"] == "text"
        assert made.metadata["source"] == study.models[key]["source"]


def test_the_corpus_that_is_counted_is_the_one_that_is_trained_on(study):
    trained_on = []

    def train(sentences, where, **params):
        trained_on.append(sentences)
        return Trained(["a"], np.ones((1, 2)), np.array([1]), {})

    model = study.models["ppmi-shuffled-1"]
    counted = store(study, "shuffled-1")
    make_store(train, Path("letters.txt.gz"), study.embeddings / "x", name="x", model=model, metadata={})
    (sentences,) = trained_on
    lengths = np.diff([*counted.starts, counted.tokens]).tolist()
    assert [len(sentence) for sentence in sentences] == lengths
    assert [word for sentence in sentences for word in sentence] == numbers(counted).tolist()


@pytest.mark.slow
def test_the_archive_is_that_of_the_corpus(study):
    for key in study.models:
        store(study, key)
    raw = study.embeddings / "raw"
    assert {path.name for path in raw.iterdir() if path.is_dir()} == {"letters", "windows"}
    assert set(study.sources) == {"letters", "windows"}
    # nothing is made again
    written = (study.embeddings / "ppmi-shuffled-1" / "model.json").stat().st_mtime_ns
    store(study, "ppmi-shuffled-1")
    assert (study.embeddings / "ppmi-shuffled-1" / "model.json").stat().st_mtime_ns == written


def test_what_other_models_are_made_of_says_nothing_of_shuffling(study):
    """So that stores which were made before are taken as they are."""
    for key in ("letters", "windows", "trained", "ppmi-letters"):
        assert "shuffl" not in json.dumps(study.models[key])
    assert study.models["trained"]["source"]["corpus"] == {
        "name": "letters",
        "source": CONFIG["models"]["letters"]["source"],
        "format": "text",
    }
    assert study.models["ppmi-shuffled-1"]["source"]["corpus"]["shuffle"] == 1
    assert study.models["ppmi-shuffled-1"]["source"]["corpus"]["name"] == "letters"


def test_each_loop_over_shuffled_sentences_gives_the_same(tmp_path):
    write_letters(tmp_path / "letters.txt.gz")
    sentences = Sentences(tmp_path / "letters.txt.gz")
    once = Shuffled(sentences, 3)
    assert list(once) == list(once) == list(Shuffled(sentences, 3)) != list(Shuffled(sentences, 4))
    assert Counter(w for s in once for w in s) == Counter(w for s in sentences for w in s)
    assert list(Shuffled([], 1)) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shuffled-1": shuffled(1, "leters")}, "models: shuffled-1: source: unknown corpus 'leters'; did you"),
        ({"shuffled-1": shuffled(1, "shuffled-2")}, "models: shuffled-1: source: unknown corpus 'shuffled-2'"),
        ({"shuffled-1": shuffled(1, "trained")}, "models: shuffled-1: source: unknown corpus 'trained'"),
        ({"shuffled-1": shuffled(-1)}, "models: shuffled-1: source: seed: "),
        ({"shuffled-1": shuffled("one")}, "models: shuffled-1: source: seed: 'one' is not a whole number"),
        ({"shuffled-1": shuffled(1) | {"window": 5}}, "models: shuffled-1: window: a shuffled corpus takes it from"),
        ({"shuffled-1": shuffled(1) | {"format": "text"}}, "models: shuffled-1: format: a shuffled corpus takes"),
        (
            {"shuffled-1": {"label": "x", "source": shuffled(1)["source"]}},
            "models: shuffled-1: source: only a corpus can be shuffled (kind: corpus), not vectors",
        ),
        ({"shuffled-1": shuffled(1) | {"source": {"type": "shufled"}}}, "type: unknown value 'shufled'; did you"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(changes, message):
    wrong = config()
    wrong["models"] |= changes
    with refused(message):
        Study.of(wrong)


@pytest.mark.slow
def test_a_study_of_shuffled_corpora_runs_and_then_has_nothing_to_do(tmp_path):
    project = Project(tmp_path / "shuffled")
    write_letters(project.folder / "letters.txt.gz")
    project.configure(config() | {"inference": {}})
    project.run()
    assert planned(project) == {}
    scores = table(project.folder, "scores").set_index(["metric", "model"])["value"]
    assert abs(scores["pmi", "letters"]) > abs(scores["pmi", "shuffled-1"])
    assert {"ppmi-letters", "ppmi-shuffled-1"} <= set(scores["rnd"].dropna().index)
    # another seed counts that corpus again, trains its model again, and nothing else
    changed = config() | {"inference": {}}
    changed["models"]["shuffled-1"]["source"]["seed"] = 5
    project.configure(changed)
    assert {cell.split("/")[0] for cell in cells(planned(project))} == {"shuffled-1", "ppmi-shuffled-1"}
    # and another text is counted, and trained on, everywhere
    write_letters(project.folder / "letters.txt.gz", seed=1)
    jobs = planned(project)
    assert jobs.keys() >= {"store", "train"}
    assert {cell.split("/")[0] for cell in cells(jobs)} == set(config()["models"])
