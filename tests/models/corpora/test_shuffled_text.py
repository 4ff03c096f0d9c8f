"""What metrics find in shuffled text: both tables by arithmetic, the figure, what is refused."""

import copy
import json
import math

import numpy as np
import pytest
from biasgrid_plugin_training.tables.shuffled import SHUFFLED
from biasgrid_plugin_training.tables.shuffled_words import SHUFFLED_WORDS
from conftest import ROOT
from in_process import make_all
from refusals import refused
from scipy.stats import spearmanr, ttest_1samp
from test_corpus_study import GROUPS, write_letters

from biasgrid import BiasgridError, tables
from biasgrid.measure.statistics.means import mean_interval, ratio_interval
from biasgrid.study.study import Study

ORDERS = (1, 2, 3)
PARAMS = {
    "word2vec": {"vector_size": 4, "window": 3, "min_count": 1, "epochs": 1},
    "ppmi": {"vector_size": 4, "window": 3, "min_count": 1},
}
REAL, ORDERED = [f"real-{k}" for k in ORDERS], [f"other-{k}" for k in ORDERS]
WORDS = ["doctor", "nurse", "baker", "saw"]


def trained(corpus, algorithm, **params):
    source = {
        "type": "trained",
        "corpus": corpus,
        "algorithm": algorithm,
        "params": PARAMS[algorithm] | params,
    }
    return {"label": f"{algorithm} {corpus} {params}", "source": source}


def config():
    letters = {"label": "Letters", "kind": "corpus", "source": {"type": "file", "path": "letters.txt.gz"}}
    models = {"letters": letters, "ppmi": trained("letters", "ppmi")}
    for k in ORDERS:
        source = {"type": "shuffled", "corpus": "letters", "seed": k}
        models[f"shuffled-{k}"] = {"label": f"Shuffled {k}", "kind": "corpus", "source": source}
        models[f"real-{k}"] = trained("letters", "word2vec", seed=k)
        models[f"other-{k}"] = trained(f"shuffled-{k}", "word2vec", seed=k)
        models[f"ppmi-{k}"] = trained(f"shuffled-{k}", "ppmi")
    return {
        "study": "small",
        "models": models,
        "words": {"preprocessors": [{"lowercase": True}]},
        "criteria": {
            "First": {
                "ranked": False,
                "word_table": True,
                "queries": {
                    "work": {"targets": GROUPS, "attributes": {"Work": WORDS[:2], "Home": WORDS[2:]}},
                    "words": {"targets": GROUPS, "attributes": {"Words": WORDS}},
                },
            }
        },
        "metrics": {"rnd": {}, "mac": {}, "sc_weat": {}, "pmi": {"params": {"smoothing": 0.5}}},
        "shuffled": {
            "word2vec": {"real": REAL, "shuffled": ORDERED},
            "PPMI": {"real": ["ppmi"], "shuffled": [f"ppmi-{k}" for k in ORDERS]},
            "counts": {"real": ["letters"], "shuffled": ["shuffled-1"]},
        },
        "figures": ["shuffled"],
    }


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shuffled")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_letters(folder / "letters.txt.gz")
        yield make_all(Study.of(config()))


def values_of(study, row, models):
    scores = tables.read(study.paths.table_file("scores"))
    mine = scores[(scores["metric"] == row.metric) & (scores["query"] == row.query)]
    return mine.set_index("model")["value"][models].to_numpy()


@pytest.mark.slow
def test_the_table_by_arithmetic(study):
    table = tables.read(study.paths.table_file("shuffled"))
    assert set(table["corpus"]) == {"letters"}
    # RND and PMI have a sub-query per attribute set: 3; MAC has the query, SC-WEAT too
    assert table.groupby("training").size().to_dict() == {
        "word2vec": 3 + 2 + 2,
        "PPMI": 3 + 2 + 2,
        "counts": 3,
    }
    for row in table[table["training"] == "word2vec"].itertuples():
        assert row.neutral == (1 if row.metric == "mac" else 0)
        real, other = values_of(study, row, REAL), values_of(study, row, ORDERED)
        for text, values in (("real", real), ("shuffled", other)):
            distances = np.abs(values - row.neutral)
            found = {name: getattr(row, f"{text}_{name}") for name in ("models", "lost", "mean", "distance")}
            assert list(found.values()) == pytest.approx([3, 0, values.mean(), distances.mean()])
            ends = [getattr(row, f"{text}_{name}") for name in ("mean_low", "mean_high", "distance_high")]
            assert ends == pytest.approx([*mean_interval(values), mean_interval(distances)[1]])
        assert row.share == pytest.approx(
            np.abs(other - row.neutral).mean() / np.abs(real - row.neutral).mean()
        )
        low, high = ratio_interval(np.abs(other - row.neutral), np.abs(real - row.neutral))
        assert [row.share_low, row.share_high] == pytest.approx([np.maximum(0, low), high], nan_ok=True)
        assert row.p_value == pytest.approx(ttest_1samp(other, row.neutral).pvalue)
        assert row.p_value <= row.p_adjusted <= 1
    assert (table["share_low"].dropna() >= 0).all()


def test_real_text_without_a_seed_has_no_variance_and_one_order_has_no_interval(study):
    table = tables.read(study.paths.table_file("shuffled"))
    for row in table[table["training"] == "PPMI"].itertuples():
        (real,), other = values_of(study, row, ["ppmi"]), values_of(study, row, [f"ppmi-{k}" for k in ORDERS])
        assert math.isnan(row.real_mean_low)
        low, high = mean_interval(np.abs(other - row.neutral))
        expected = [max(0, low / abs(real - row.neutral)), high / abs(real - row.neutral)]
        assert [row.share_low, row.share_high] == pytest.approx(expected)
    one = table[table["training"] == "counts"]
    assert one["share"].notna().all()
    columns = [
        "share_low",
        "share_high",
        "shuffled_mean_low",
        "shuffled_distance_high",
        "p_value",
        "p_adjusted",
    ]
    assert one[columns].isna().all(axis=None)


def test_models_without_a_value_are_counted(study, tmp_path):
    path = tmp_path / "scores.csv"
    lines = study.paths.table_file("scores").read_text().splitlines(keepends=True)
    header = lines[0].split(",")
    scores = tables.read(study.paths.table_file("scores"))
    scores.loc[scores["model"].isin(ORDERED[1:]), "value"] = np.nan
    scores[[name.strip() for name in header]].to_csv(path, index=False, lineterminator="\n")
    made = SHUFFLED.frame({"scores": path}, SHUFFLED.spec_of(study))
    mine = made[made["training"] == "word2vec"]
    assert set(mine["shuffled_models"]) == {1}
    assert set(mine["shuffled_lost"]) == {2}
    assert mine["share_low"].isna().all()


def test_words_by_arithmetic(study):
    table = tables.read(study.paths.table_file("shuffled_words"))
    table = table[(table["metric"] == "sc_weat") & (table["query_id"] == "words")]
    words = tables.read(study.paths.table_file("words"))
    words = words[(words["detail"] == "effect_size") & (words["query"] == table["query"].iloc[0])]
    for text, models in (("real", REAL), ("shuffled", ORDERED)):
        (row,) = table[(table["training"] == "word2vec") & (table["text"] == text)].itertuples()
        found, rare = [], []
        for model in models:
            counts = json.loads(study.paths.frequency_file(model).read_text())["words"]
            mine = words[words["model"] == model].set_index("word")["value"]
            frequency = [counts[word]["count"] for word in mine.index]
            assert frequency == [counts[word]["count"] for word in mine.index]
            found.append(spearmanr(frequency, mine).statistic)
            rarest = sorted(zip(frequency, mine, strict=True))[:2]
            rare.append(np.mean([value for _, value in rarest]))
        assert row.correlation == pytest.approx(np.mean(found))
        assert [row.ci_low, row.ci_high] == pytest.approx(np.clip(mean_interval(np.array(found)), -1, 1))
        assert (row.models, row.words, row.ci_of) == (3, 4, "models")
        assert row.rising == (np.array(found) > 0).sum()
        assert row.rare == pytest.approx(np.mean(rare))
    (row,) = table[(table["training"] == "PPMI") & (table["text"] == "real")].itertuples()
    assert (row.models, row.ci_of) == (1, "words")
    # MAC and RND say of no word which group it is nearer to
    assert set(tables.read(study.paths.table_file("shuffled_words"))["metric"]) == {"sc_weat", "pmi"}


def test_a_model_whose_words_are_equally_frequent_does_not_count(study, tmp_path):
    """Spearman's correlation with a constant is not defined."""
    files = []
    for file in SHUFFLED_WORDS.inputs_of(study)["frequencies"]:
        record = json.loads(file.read_text())
        if record["model"] == REAL[0]:
            for entry in record["words"].values():
                entry["count"] = 7
        files.append(tmp_path / file.name)
        files[-1].write_text(json.dumps(record))
    inputs = {"words": study.paths.table_file("words"), "frequencies": files}
    table = SHUFFLED_WORDS.make(inputs, SHUFFLED_WORDS.spec_of(study))
    table = table[(table["metric"] == "sc_weat") & (table["query"] == study.queries["words"].name)]
    (row,) = table[(table["training"] == "word2vec") & (table["text"] == "real")].itertuples()
    words = tables.read(inputs["words"])
    words = words[(words["detail"] == "effect_size") & (words["query"] == row.query)]
    found = []
    for model in REAL[1:]:
        counts = json.loads(study.paths.frequency_file(model).read_text())["words"]
        mine = words[words["model"] == model]
        found.append(spearmanr([counts[word]["count"] for word in mine["word"]], mine["value"]).statistic)
    assert row.models == 2
    assert row.correlation == pytest.approx(np.mean(found))


@pytest.mark.slow
def test_a_study_has_a_figure_of_every_query(study):
    assert set(study.figures) == {"shuffled-first-work", "shuffled-first-words"}


def test_a_study_without_shuffled_text_has_neither(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plain = config()
    del plain["shuffled"]
    with pytest.raises(BiasgridError, match="'shuffled' needs shuffled"):
        Study.of(plain)
    study = Study.of(plain | {"figures": []})
    assert not {"shuffled", "shuffled_words"} & set(study.tables)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"real": ["rael-1"]}, "shuffled: word2vec: real: unknown model 'rael-1'; did you mean 'real-1'"),
        ({"real": ["other-1"]}, "word2vec: real: other-1 is of shuffled text"),
        (
            {"shuffled": ["real-1"]},
            "word2vec: shuffled: real-1 is of letters as it is, and not of a shuffled corpus",
        ),
        ({"real": ["file"]}, "word2vec: real: file is neither a corpus nor trained here on one"),
        (
            {"real": ["ppmi"]},
            "word2vec: other-1 and ppmi, which are of letters, must have the same algorithm and par",
        ),
        (
            {"real": ["wide"]},
            "word2vec: other-1 and wide, which are of letters, must have the same algorithm and par",
        ),
        (
            {"real": ["letters"]},
            "word2vec: other-1 and letters, which are of letters, must have the same algorithm",
        ),
        (
            {"real": [*REAL, "elsewhere"]},
            "word2vec: shuffled: no model is of others, but the other list has one",
        ),
        ({"real": []}, "shuffled: word2vec: real"),
        ({"real": ["real-1", "real-1"]}, "duplicate 'real-1'"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, monkeypatch, entry, says):
    monkeypatch.chdir(tmp_path)
    wrong = copy.deepcopy(config())
    wrong["shuffled"]["word2vec"] |= entry
    wrong["models"]["file"] = {"label": "File", "source": {"type": "file", "path": "one.txt"}}
    wrong["models"]["others"] = wrong["models"]["letters"] | {"label": "Others"}
    wrong["models"]["elsewhere"] = trained("others", "word2vec", seed=1)
    wrong["models"]["wide"] = trained("letters", "word2vec", seed=1, window=9)
    with refused(says):
        Study.of(wrong)


@pytest.mark.slow
def test_the_shipped_study_has_five_orders_of_brown_and_one_of_text8():
    study = Study.read(ROOT / "config" / "frequency.yaml", ROOT)
    assert {"shuffled", "shuffled_words"} <= set(study.tables)
    assert list(study.sources) == ["brown", "text8"]
    entries = study.config.shuffled
    assert set(entries) == {"skip-gram", "CBOW", "fastText", "GloVe", "PPMI", "counts"}
    named = {
        key for entry in entries.values() for part in ("real", "shuffled") for key in getattr(entry, part)
    }
    assert named == set(study.models)
    for name, entry in entries.items():
        seeds = 1 if name in ("PPMI", "counts") else 5
        for corpus, real, orders in (("brown", seeds, 5), ("text8", 1, 1)):
            of_corpus = {
                part: [k for k in getattr(entry, part) if k.startswith(corpus)]
                for part in ("real", "shuffled")
            }
            assert [len(keys) for keys in of_corpus.values()] == [real, orders]
