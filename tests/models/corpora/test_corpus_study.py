"""A study of a corpus, of vectors trained on it, and of others: what fits together is measured."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from in_process import make_all
from refusals import refused

import biasgrid as bg
from biasgrid.study.study import Study

GROUPS = {"He": ["he", "him"], "She": ["she", "her"]}
CONFIG = {
    "study": "small",
    "plugins": ["training"],
    "models": {
        "letters": {
            "label": "Letters",
            "kind": "corpus",
            "source": {"type": "file", "path": "letters.txt.gz"},
        },
        "windows": {
            "label": "Letters in windows",
            "kind": "corpus",
            "format": "text",
            "window": 4,
            "source": {"type": "file", "path": "letters.txt.gz"},
        },
        "trained": {
            "label": "Trained on the letters",
            "source": {
                "type": "trained",
                "corpus": "letters",
                "algorithm": "word2vec",
                "params": {"vector_size": 5, "min_count": 1, "epochs": 1, "seed": 1},
            },
        },
    },
    "criteria": {
        "First": {"queries": {"work": {"targets": GROUPS, "attributes": {"Work": ["doctor", "Nurse"]}}}}
    },
    "metrics": {"pmi": {}, "pair_frequency": {}, "rnd": {}},
    "inference": {"permutation": {}, "bootstrap": {"draws": 50}},
    "figures": [],
}


def write_letters(path, seed=0):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(300):
        group = rng.choice(["He", "him", "she", "her"])
        word = rng.choice(
            ["doctor", "nurse", "baker"], p=[0.4, 0.2, 0.4] if group in ("He", "him") else [0.2, 0.4, 0.4]
        )
        lines.append(f"{group} saw a {word}.")
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_letters(folder / "letters.txt.gz")
        make_all(Study.of(CONFIG))
        yield folder


def table(folder, name):
    return pd.read_csv(folder / "results" / "small" / f"{name}.csv")


def text_of(folder):
    return gzip.decompress((folder / "letters.txt.gz").read_bytes()).decode().splitlines()


@pytest.mark.slow
def test_metrics_meet_the_models_of_their_kind(finished):
    scores = table(finished, "scores")
    assert set(zip(scores["metric"], scores["model"], strict=True)) == {
        ("pmi", "letters"),
        ("pmi", "windows"),
        ("pair_frequency", "letters"),
        ("pair_frequency", "windows"),
        ("rnd", "trained"),
    }
    # vectors have "nurse" in lower case only, which is where "Nurse" is looked up, too
    assert set(scores["status"]) == {"ok"}


@pytest.mark.filterwarnings("ignore:.*cannot be small")
@pytest.mark.slow
def test_the_study_has_the_values_of_the_door(finished):
    corpus = bg.load(text_of(finished), kind="corpus")
    query = bg.Query(list(GROUPS.values()), [["doctor", "Nurse"]])
    scores = table(finished, "scores").set_index(["metric", "model"])
    for metric in (bg.metrics.pmi, bg.metrics.pair_frequency):
        result = metric(query, corpus, permutation=True)
        row = scores.loc[metric.metric.name, "letters"]
        assert (row["value"], row["p_value"]) == (result.value, pytest.approx(result.p_value))
        windows = metric(query, corpus, window=4).value
        assert scores.loc[(metric.metric.name, "windows"), "value"] == windows


@pytest.mark.slow
def test_tables_and_page_say_how_sure_a_value_is_over_sentences(finished):
    units = table(finished, "intervals").query("kind == 'units'").set_index(["metric", "model"])
    values = table(finished, "scores").set_index(["metric", "model"])["value"]
    assert {*units.index} == {*values.index} - {("rnd", "trained")}
    values = values[units.index]
    assert (units["low"] < values).all()
    assert (values < units["high"]).all()
    assert (units["standard_error"] > 0).all()
    page = (finished / "results" / "small" / "report.html").read_text()
    assert page.count("(over sentences or windows: ") == 4


@pytest.mark.slow
def test_the_frequencies_are_those_of_the_text(finished):
    words = " ".join(text_of(finished)).lower().replace(".", "").split()
    expected = np.mean([words.count("doctor"), words.count("nurse")])
    found = table(finished, "frequency").query("set == 'Work'").set_index("model")["mean"]
    assert found.to_dict() == {"letters": expected, "windows": expected, "trained": expected}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"letters": {"format": "lines"}}, "models: letters: format: unknown format 'lines'"),
        ({"letters": {"window": 1}}, "models: letters: window: "),
        (
            {"trained": {"window": 5}},
            "models: trained: window: is for models of kind corpus, and this model is vectors",
        ),
        (
            {"trained": {"kind": "corpus"}},
            "models: trained: source: word2vec trains vectors, and no corpus",
        ),
    ],
)
def test_what_a_corpus_cannot_have_gets_one_line(tmp_path, change, message):
    config = json.loads(json.dumps(CONFIG))
    for model, keys in change.items():
        config["models"][model] |= keys
    with refused(message):
        Study.of(config)
