"""The table of frequency: against counts of the text itself."""

import json
import math
from pathlib import Path
from statistics import fmean, median, pvariance

import numpy as np
import pytest
import wordfreq
from conftest import write_text_model
from in_process import make_cells, make_inputs, make_tables

from biasgrid import BiasgridError, tables
from biasgrid.core import extras
from biasgrid.core.validation import to_record
from biasgrid.study.steps import frequency_step
from biasgrid.study.study import Study

PLAIN = "the cat sat on the mat and the dog sat on the cat and the cat and the dog ran . the end"
TEXT = PLAIN.split()
COUNTS = {word: TEXT.count(word) for word in TEXT}
SETS = {"A": ["cat", "dog"], "B": ["the", "Sat"], "C": ["ran", "mat", "horse"], "D": ["end"]}
TRAINED = {"type": "trained", "corpus": "made", "algorithm": "word2vec"}
TRAINED["params"] = {"min_count": 1, "vector_size": 4, "epochs": 1, "seed": 1}


def config(models, sets=SETS):
    query = {"targets": {k: sets[k] for k in "AB"}, "attributes": {k: sets[k] for k in "CD"}}
    return {
        "study": "small",
        "corpora": {"made": {"source": {"type": "file", "path": "corpus.txt"}}},
        "models": models,
        "words": {"preprocessors": [{}, {"lowercase": True}], "lost_vocabulary_threshold": 0.5},
        "criteria": {"First": {"queries": {"q1": query}}},
        "metrics": {"weat": {}, "rnd": {}},
        "figures": [],
    }


def models(**files):
    """A model that is trained here, and further files with what the config says of them."""
    entries = {
        name: {"label": name, "source": {"type": "file", "path": f"{name}.txt"}} | said
        for name, said in files.items()
    }
    return {"trained": {"label": "Trained", "source": TRAINED}} | entries


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text(PLAIN)
    for seed, name in enumerate(("ordered", "other")):
        write_text_model(Path(f"{name}.txt"), ["x", *COUNTS], 4, seed)
    study = Study.of(config(models(ordered={"sorted": True}, other={})))
    make_inputs(study)
    make_cells(study)
    make_tables(study, "frequency")
    return study


def rows(study):
    table = tables.read(study.paths.table_file("frequency"))
    return table.set_index(["model", "set"])


def of_text(of_set):
    """The numbers of a set by hand: counts, and ranks that words of one count share."""
    counts = [COUNTS[word.lower()] for word in SETS[of_set] if word.lower() in COUNTS]
    return counts, [1 + sum(other > count for other in COUNTS.values()) for count in counts]


@pytest.mark.parametrize("of_set", SETS)
def test_counts_are_those_of_the_text(study, of_set):
    row = rows(study).loc["trained", of_set]
    counts, ranks = of_text(of_set)
    assert row["source"] == "counts"
    assert row["words"] == len(counts)
    assert row["mean"] == pytest.approx(fmean(counts))
    assert row["variance"] == pytest.approx(pvariance(counts))
    assert row["mean_rank"] == pytest.approx(fmean(ranks))
    assert row["median_rank"] == pytest.approx(median(ranks))
    assert row["share"] == pytest.approx(sum(counts) / len(TEXT))


@pytest.mark.parametrize("of_set", SETS)
def test_of_a_sorted_model_ranks_are_known(study, of_set):
    row = rows(study).loc["ordered", of_set]
    ranks = [2 + list(COUNTS).index(word.lower()) for word in SETS[of_set] if word.lower() in COUNTS]
    assert row["source"] == "rank"
    assert (row["words"], row["mean_rank"], row["median_rank"]) == (len(ranks), fmean(ranks), median(ranks))
    assert row[["mean", "variance", "share"]].isna().all()


def test_of_other_models_nothing_is_known(study):
    assert set(rows(study).index.get_level_values("model")) == {"trained", "ordered"}
    unknown = Study.of(config(models(other={}, ordered={"sorted": False})) | {"study": "unknown"})
    assert unknown.grid.models_with_frequencies == ["trained"]
    left = {key: to_record(entry) for key, entry in unknown.config.models.items() if key != "trained"}
    assert "frequency" not in Study.of(config(left)).tables


@pytest.mark.parametrize("of_set", SETS)
def test_log_frequencies_are_of_occurrences_per_million_or_of_ranks(study, of_set):
    words = [word.lower() for word in SETS[of_set] if word.lower() in COUNTS]
    of = {
        "trained": [math.log(COUNTS[word] / len(TEXT) * 1e6) for word in words],
        "ordered": [-math.log(2 + list(COUNTS).index(word)) for word in words],
    }
    for model, logs in of.items():
        row = rows(study).loc[model, of_set]
        expected = pytest.approx((len(logs), fmean(logs), pvariance(logs)))
        assert (row["known"], row["mean_log"], row["variance_log"]) == expected


def wordfreq_study(**said):
    """A study with the proxy; the words have a prefix, as in ConceptNet Numberbatch."""
    entries = models(other={"vocab_prefix": "/c/en/"} | said)
    return Study.of(
        config(entries, SETS | {"D": ["end", "qzxv"]}) | {"study": "proxy", "frequencies": "wordfreq"}
    )


@pytest.mark.slow
def test_of_models_without_counts_wordfreq_is_a_proxy(study):
    write_text_model(Path("other.txt"), [f"/c/en/{word}" for word in ["qzxv", *COUNTS]], 4)
    proxy = wordfreq_study()
    assert {m: proxy.frequency_source(m) for m in proxy.models} == {"trained": "counts", "other": "wordfreq"}
    make_inputs(proxy)
    make_tables(proxy, "frequency")
    assert rows(proxy).loc["trained", "A"]["source"] == "counts"
    row = rows(proxy).loc["other", "D"]
    assert (row["source"], row["words"], row["known"]) == ("wordfreq", 2, 1)  # it does not know qzxv
    assert row[["mean", "variance", "mean_rank", "median_rank", "share"]].isna().all()
    assert row["mean_log"] == pytest.approx(math.log(wordfreq.word_frequency("end", "en") * 1e6))
    record = json.loads(proxy.paths.frequency_file("other").read_text())["words"]["/c/en/qzxv"]
    assert record == {"count": None, "rank": None, "log_frequency": None}


@pytest.mark.slow
def test_wordfreq_is_asked_for_in_the_models_language(study):
    write_text_model(Path("other.txt"), [f"/c/en/{word}" for word in COUNTS], 4)
    french = wordfreq_study(language="fr-CA")
    make_inputs(french)
    make_tables(french, "frequency")
    expected = math.log(wordfreq.word_frequency("end", "fr") * 1e6)
    assert rows(french).loc["other", "D"]["mean_log"] == pytest.approx(expected)
    for language, why in (("tlh", "unknown language 'tlh'.*allowed: ar, bg"), ("ja", "language ja: .*MeCab")):
        step = frequency_step(wordfreq_study(language=language), "other")
        with pytest.raises(BiasgridError, match=f"^frequencies: wordfreq: {why}"):
            step.run()


def test_wordfreq_is_an_extra(study, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    message = r"config: frequencies: wordfreq needs wordfreq; install it: pip install 'wordfreq>=3\.1\.1'"
    with pytest.raises(BiasgridError, match=message):
        wordfreq_study()


def test_what_a_config_says_of_a_models_frequencies(study):
    said = models(
        binary={"format": "fasttext-bin"},
        vectors={"format": "gensim-kv"},
        text={"kind": "corpus"},
        ordered={"sorted": True},
        other={},
    )
    own = Study.of(config(said))
    expected = ["counts", "counts", None, "counts", "rank", None]
    assert [own.frequency_source(model) for model in own.models] == expected
    proxy = Study.of(config(said) | {"frequencies": "wordfreq"})
    expected = [source if source == "counts" else "wordfreq" for source in expected]
    assert [proxy.frequency_source(model) for model in proxy.models] == expected


def test_a_models_own_counts_come_before_the_proxy():
    from biasgrid.models.frequencies import Frequency

    assert Frequency.of(Corpus(), "wordfreq").source == "counts"


def test_a_models_file_has_each_word(study):
    record = json.loads(study.paths.frequency_file("trained").read_text())
    assert record["tokens"] == len(TEXT)
    entries = {word.lower() for words in SETS.values() for word in words} - {"horse"}
    assert {word: entry["count"] for word, entry in record["words"].items()} == {
        w: COUNTS[w] for w in entries
    }


def test_a_set_without_words_has_no_numbers(study):
    lacking = Study.of(config(models(), SETS | {"D": ["horse"]}))
    make_inputs(lacking)
    make_tables(lacking, "frequency")
    row = rows(lacking).loc["trained", "D"]
    assert row["words"] == 0
    assert row[["mean", "variance", "mean_rank", "median_rank", "share", "mean_log"]].isna().all()


def test_a_store_of_before_counts_is_known_by_rank(study):
    store = study.embeddings / "trained"
    record = json.loads((store / "model.json").read_text())
    del record["sha256"]["counts.npy"]
    (store / "model.json").write_text(json.dumps(record))
    make_tables(study, "frequency")
    row = rows(study).loc["trained", "B"]
    assert row["source"] == "rank"
    assert row["mean_rank"] >= 1


def test_the_step_depends_on_the_words_and_how_they_are_looked_up(study):
    """And on no metric."""
    before = frequency_step(study, "trained").depends_on
    changed = config(models(ordered={"sorted": True}, other={}))
    changed["metrics"] = {"weat_es": {}}
    assert frequency_step(Study.of(changed), "trained").depends_on == before
    changed["criteria"]["First"]["words"] = {"preprocessors": [{}]}
    assert frequency_step(Study.of(changed), "trained").depends_on != before
    # every form of a word counts, where metrics take every form
    changed["criteria"]["First"]["words"] = {"strategy": "all"}
    assert frequency_step(Study.of(changed), "trained").depends_on != before


def test_large_counts_are_exact(study):
    from biasgrid.models.frequencies import Frequency

    counts = np.array([3_000_000_000, 2_999_999_999, 7])
    known = Frequency(counts, 6_000_000_006)
    ranks = known.ranks(np.array([2, 1]))
    assert ranks.tolist() == [3, 2]
    assert known.of_set(np.array([0, 1]), ranks, np.array([1.0]))["mean"] == 2_999_999_999.5


def test_a_million_is_of_all_tokens_and_not_of_those_that_have_a_vector():
    from biasgrid.models.frequencies import Frequency

    known = Frequency(np.array([30, 10]), 1000)
    logs = known.logarithms(["the", "cat"], np.array([0, 1]))
    assert logs.tolist() == pytest.approx([math.log(30_000), math.log(10_000)])


class Corpus:
    """An open model of a kind that is no vectors: it folds words to lower case, and has counts and tokens."""

    vocab_prefix, name, metadata, tokens = "", "corpus", {}, len(TEXT)
    words = sorted(COUNTS, key=lambda word: -COUNTS[word])
    counts = np.array([COUNTS[word] for word in words])

    def rows(self, words):
        return np.array([self.words.index(w.lower()) if w.lower() in COUNTS else -1 for w in words])


def test_counts_of_other_kinds_of_models(study, monkeypatch):
    from biasgrid.measure import frequency

    monkeypatch.setattr(frequency, "model_of", lambda store: Corpus())
    made = rows(study).loc["trained"]
    frequency_step(study, "trained").run()
    assert json.loads(study.paths.frequency_file("trained").read_text())["source"] == "counts"
    tables.write(study.tables["frequency"], {"table": "frequency"}, study.paths.table_file("frequency"))
    assert rows(study).loc["trained"].drop(columns="model_label").equals(made.drop(columns="model_label"))
