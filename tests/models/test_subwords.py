"""Vectors of n-grams in a study: a query's lost words against gensim's vectors of the same fastText file."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gensim.models import FastText
from gensim.models.fasttext import save_facebook_model
from in_process import make_all

from biasgrid import BiasgridError, EmbeddingStore, Query, debias, load, measure_grid, tables
from biasgrid.measure.candidate_words import make_pool
from biasgrid.models import build_store
from biasgrid.models.words import WordOptions, find
from biasgrid.study.study import Study
from biasgrid.tables import published as comparison
from biasgrid.tables.comparison import COMPARISON
from biasgrid.workflow.stores import store_step

WORDS = [f"{a}{b}{c}{d}" for a in "pkt" for b in "aou" for c in "mns" for d in "ie"]
A, B, C, D = (WORDS[i : i + 6] for i in (0, 6, 12, 18))
# made of n-grams; found in lower case; half a mean of n-grams; without n-grams of four characters, also of a part
LOST, UPPER, PHRASE, SHORT = "doctorish", WORDS[40].upper(), f"{WORDS[30]} unseenish", "x"
HALF = f"unseenish {SHORT}"
SETS = {"A": [UPPER, LOST, *A, HALF], "B": [PHRASE, *B], "C": ["naïveté", *C], "D": [SHORT, *D]}
ASKED = {"targets": {k: SETS[k] for k in "AB"}, "attributes": {k: SETS[k] for k in "CD"}}
PAIRS = {"definitional_pairs": [[LOST, B[0]], [A[1], B[1]]], "equalize_pairs": [["naïveté", LOST]]}


def config(**model):
    entry = {"label": "CC", "source": {"type": "file", "path": "cc.bin"}, "format": "fasttext-bin"}
    return {
        "study": "small",
        "models": {"cc": entry | model},
        "words": {"preprocessors": [{}, {"lowercase": True}, {"parts": "raw"}]},
        "criteria": {"First": {"word_table": True, "queries": {"q": ASKED}}},
        "metrics": {"weat_es": {"params": {"ddof": 1}}},
        "inference": {"permutation": {"draws": 99, "exact": 100}, "bootstrap": {"draws": 20}},
        "debias": {"First": {"hard": {"method": "hard", "label": "hard", "words": PAIRS}}},
        "figures": [],
    }


@pytest.fixture(scope="module")
def gensim(tmp_path_factory):
    """gensim's model of a fastText file, and a folder that has it as cc.bin."""
    rng = np.random.default_rng(0)
    sentences = [rng.choice(WORDS, 8).tolist() for _ in range(60)]
    model = FastText(sentences, vector_size=6, min_count=1, epochs=1, seed=1, workers=1, bucket=50, min_n=4)
    folder = tmp_path_factory.mktemp("fasttext")
    save_facebook_model(model, str(folder / "cc.bin"))
    return model.wv, folder


@pytest.fixture(scope="module")
def study(gensim):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(gensim[1])
        return make_all(Study.of(config(subwords=True)))


def by_hand(wv, sets):
    def unit(word):
        vector = np.mean([wv[part].astype(float) for part in word.split(" ")], axis=0)
        return vector / np.linalg.norm(vector)

    a, b, c, d = ([unit(word) for word in sets[k]] for k in "ABCD")
    s = [np.mean(c, axis=0) @ w - np.mean(d, axis=0) @ w for w in (*a, *b)]
    return (np.mean(s[: len(a)]) - np.mean(s[len(a) :])) / np.std(s, ddof=1)


def test_lost_words_of_a_study_have_the_vectors_of_their_n_grams(gensim, study, monkeypatch):
    monkeypatch.chdir(gensim[1])
    found = SETS | {"A": [UPPER.lower(), *SETS["A"][1:-1]], "D": D}
    scores = tables.read(study.paths.table_file("scores")).set_index("debias")
    assert scores.loc["none", "value"] == pytest.approx(by_hand(gensim[0], found), abs=1e-6)
    assert np.isfinite(scores[["value", "ci_low", "p_value"]].to_numpy()).all()
    lost = tables.read(study.paths.table_file("lost_words"))
    assert dict(lost[["word", "reason"]].itertuples(index=False)) == {
        SHORT: "not in the vocabulary, and too short for n-grams",
        HALF: f"parts missing: {SHORT}",
    }
    words = tables.read(study.paths.table_file("words"))
    forms = dict(words.loc[words["debias"] == "none", ["listed", "form"]].itertuples(index=False))
    assert {word: forms.pop(word) for word in (LOST, UPPER, PHRASE)} == {
        LOST: "n-grams",
        UPPER: "lower case",
        PHRASE: "mean of its parts (raw), n-grams",
    }
    assert set(forms.values()) == {"as listed"}
    frequency = tables.read(study.paths.table_file("frequency")).set_index("set")
    assert frequency["known"].to_dict() == {"A": 7, "B": 6, "C": 6, "D": 6}
    counts = [gensim[0].get_vecattr(word, "count") for word in (UPPER.lower(), *A)]
    assert frequency.loc["A", "mean"] == np.mean(counts)


def test_a_store_with_n_grams_is_another_one(gensim, study, tmp_path, monkeypatch):
    monkeypatch.chdir(gensim[1])
    path = study.embeddings / "cc"
    record = json.loads(study.paths.model_file("cc").read_text())
    assert {"ngrams.npy", "ngrams.json"} < record["sha256"].keys()
    model = load(path)
    # what is drawn at random is of the vocabulary
    assert set(make_pool(model).entries) <= set(WORDS) == set(model.words())
    model.save(tmp_path / "saved")
    assert isinstance(load(tmp_path / "saved"), EmbeddingStore)
    without = Study.of(config())
    assert store_step(without, "cc").spec != store_step(study, "cc").spec
    store = build_store("cc", study.models["cc"], tmp_path)
    assert store.path == tmp_path / "cc"
    assert LOST in store
    for damage in (
        lambda: (store.path / "ngrams.npy").unlink(),
        lambda: (store.path / "ngrams.json").write_text("{"),
    ):
        damage()
        with pytest.raises(BiasgridError, match="n-grams"):
            load(store.path)
        assert LOST in build_store("cc", study.models["cc"], tmp_path)
    assert LOST not in build_store("cc", without.models["cc"], tmp_path)
    assert not (tmp_path / "cc" / "ngrams.npy").exists()
    Path("plain.txt").write_text("he 1 2\nshe 2 1\n")
    plain = {"source": {"type": "file", "path": "plain.txt"}, "format": "text"}
    with pytest.raises(BiasgridError, match="text has no n-grams"):
        build_store("plain", Study.of(config(subwords=True, **plain)).models["cc"], tmp_path)
    with pytest.raises(
        BiasgridError, match="subwords: is for models of kind vectors, and this model is corpus"
    ):
        Study.of(config(subwords=True, kind="corpus", format="text"))
    # of a form that leaves nothing of a word there are no n-grams
    forms = WordOptions([{"strip_accents": "ascii"}, {}])
    assert find("words", ["доктор"], model, forms).forms == {"доктор": "as listed, n-grams"}
    transform = debias.double_hard(model, definitional_pairs=[[LOST, B[0]], A[:2]], n_words=5, ignore=[LOST])
    assert np.isfinite(model.under(transform)[LOST]).all()
    with pytest.raises(BiasgridError, match="is the mean of its parts, and debias methods take words"):
        debias.hard(model, definitional_pairs=[[PHRASE, B[0]], A[:2]], preprocessors=[{"parts": "raw"}])


def test_numbers_with_n_grams_are_compared_with_models_that_have_them(gensim, study, monkeypatch):
    monkeypatch.chdir(gensim[1])
    value = tables.read(study.paths.table_file("scores")).set_index("debias").loc["none", "value"]
    row = ["paper", "1", "First", "q", "weat_es", "cc", "value", f"{value:.3f}", "3", "", "", ""]
    lines = [
        ",".join(line) for line in (comparison.published.PUBLISHED, [*row, "with n-grams: of lost words"])
    ]
    Path("published.csv").write_text("\n".join(lines) + "\n")

    def outcome(**model):
        compared = Study.of(config(**model) | {"published": ["published.csv"]})
        return COMPARISON.frame(COMPARISON.inputs_of(compared), COMPARISON.spec_of(compared)).loc[0]

    assert outcome(subwords=True)["verdict"] == "reproduced"
    other = outcome()
    assert (other["verdict"], other["note"]) == ("other vectors", "ours has no n-grams (subwords: true)")


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
@pytest.mark.slow
def test_numbers_without_n_grams_are_compared_where_no_word_is_made_of_them(gensim):
    sets = {"lost": [LOST, *A], "whole": A}
    queries = {
        key: Query([targets, B], [C, D], ["A", "B"], ["C", "D"], name=key) for key, targets in sets.items()
    }
    with_ngrams, without = (load(gensim[1] / "cc.bin", name="cc", subwords=made) for made in (True, False))
    grids = [
        measure_grid(
            ["weat"],
            {"First": queries, "Second": {"alone": queries["whole"]}},
            [model],
            lost_vocabulary_threshold=0.9,
            debias={"hard": lambda m: debias.hard(m, definitional_pairs=[A[:2], B[:2]], equalize_pairs=[])},
            progress=False,
        )
        for model in (with_ngrams, without)
    ]

    def verdicts(grid, note=""):
        scores, means = (
            table[table["debias"] == "none"] for table in (grid.scores, grid.frame("aggregates"))
        )
        rows = [(row.criterion, row.query_id, "value", row.value) for row in scores.itertuples()]
        means = means[means["aggregation"] == "avg"]
        rows += [(row.criterion, "", "avg", row.value) for row in means.itertuples()]
        published = [
            ["paper", "1", criterion, query, "weat", "cc", quantity, round(value, 6), 6, "", "", "", note]
            for criterion, query, quantity, value in rows
        ]
        table = grid.compare(pd.DataFrame(published, columns=comparison.published.PUBLISHED))
        return {f"{row.criterion} {row.quantity}": (row.verdict, row.note) for row in table.itertuples()}

    same = ("reproduced", "")
    note = "ours has words of n-grams, and the published note does not begin with 'with n-grams:'"
    found, other = verdicts(grids[0]), ("other vectors", note)
    of_whole = [found.pop(name) for name in ("First whole: value", "Second alone: value", "Second avg")]
    assert of_whole == [same] * 3
    assert found == dict.fromkeys(["First lost: value", "First avg", "Overall avg"], other)
    assert {verdict for verdict, _ in verdicts(grids[0], "with n-grams: of lost words").values()} == {
        "reproduced"
    }
    assert set(verdicts(grids[1]).values()) == {same}
    lacking = ("other vectors", "ours has no n-grams (subwords: true)")
    assert set(verdicts(grids[1], "with n-grams: of lost words").values()) == {lacking}
