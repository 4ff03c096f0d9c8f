"""Studies of printed tables whose vectors only an open network has, on made archives of the same formats."""

import gzip
import hashlib
import math
import sys
from collections import Counter

import numpy as np
import pytest
from conftest import ROOT
from in_process import make
from scipy.stats import kendalltau, norm, rankdata, spearmanr

from biasgrid import tables
from biasgrid.core.configs import read_yaml
from biasgrid.models.shipped_sources import shipped_models
from biasgrid.models.sources import fetch
from biasgrid.study.study import Study
from biasgrid.tables import published

REHEARSAL = ROOT / "benchmarks" / "rehearsal"
sys.path.insert(0, str(REHEARSAL))
import server  # noqa: E402

sys.path.remove(str(REHEARSAL))
TWITTER = {"glove-twitter-25": 25, "glove-twitter-50": 50, "glove-twitter-100": 100}


def draw(words, dimensions, seed):
    vectors = np.random.default_rng(seed).normal(size=(len(words), dimensions)).round(4)
    return dict(zip(words, vectors, strict=True))


def write_text(path, vectors, prefix=""):
    """Write an archive of gensim-data: word2vec's text with its header, compressed by gzip."""
    rows = [f"{prefix}{word} {' '.join(map(str, vector))}\n" for word, vector in vectors.items()]
    dimensions = len(next(iter(vectors.values())))
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines([f"{len(rows)} {dimensions}\n", *rows])


def write_binary(path, vectors):
    """Write the same in word2vec's binary format."""
    with gzip.open(path, "wb") as file:
        file.write(f"{len(vectors)} {len(next(iter(vectors.values())))}\n".encode())
        for word, vector in vectors.items():
            file.write(word.encode() + b" " + vector.astype("<f4").tobytes())


def words_of(study):
    sides = [s for query in study.queries.values() for s in (*query.target_sets, *query.attribute_sets)]
    return list(dict.fromkeys(word for side in sides for word in side.words))


def comparison_of(config, folder):
    """Make a study, whose archives lie in a folder `served`, and return it with its comparison."""
    config |= {"results": str(folder / "results"), "embeddings": str(folder / "embeddings"), "figures": []}
    config["published"] = [str(ROOT / path) for path in config["published"]]
    with server.serving(folder / "served") as host:
        models = {}
        for name in config["models"]:
            entry = shipped_models()[name]
            archive = folder / "served" / f"{entry['source']['dataset']}.gz"
            place = {"base": f"http://127.0.0.1:{host.server_port}/releases"}
            place["md5"] = hashlib.md5(archive.read_bytes()).hexdigest()
            models[name] = entry | {"source": entry["source"] | place}
        study = Study.of(config | {"models": models}, root=ROOT)
        for name in models:
            fetch(name, study.models[name]["source"], study.embeddings / "raw", progress=False)
    make(study)
    assert (study.results / "report.html").is_file()
    return study, tables.read(study.paths.table_file("comparison"))


def weat(query, vectors, spell=str.lower):
    """Compute WEAT and its effect size by their definitions, on the words that are there in a spelling."""

    def rows(word_set):
        found = dict.fromkeys(word for word in map(spell, word_set.words) if word in vectors)
        matrix = np.array([vectors[word] for word in found])
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)

    a, b = map(rows, query.attribute_sets)
    first, second = ((x @ a.T).mean(1) - (x @ b.T).mean(1) for x in map(rows, query.target_sets))
    effect_size = (first.mean() - second.mean()) / np.concatenate([first, second]).std()
    return first.sum() - second.sum(), effect_size


def test_the_printed_means_and_ranks_of_the_user_guide_follow_from_what_it_prints():
    printed = published.read([ROOT / "data" / "published" / "wefe_user_guide.csv"])
    gender = printed[printed["criterion"] == "User guide, gender"].astype({"published": float})
    means = gender[gender["quantity"] == "abs_avg"].set_index(["metric", "model"])
    is_wrong = means["note"].str.startswith("error: ")
    values = gender[gender["quantity"] == "value"].groupby("model")["published"]
    of_values = values.agg(lambda part: part.abs().mean())
    kept, wrong = (means[rows].loc["weat", "published"] for rows in (~is_wrong, is_wrong))
    assert kept[[*TWITTER]].tolist() == pytest.approx(of_values[[*TWITTER]].tolist(), abs=1e-6)
    assert (wrong - of_values).abs().min() > 0.01
    ranks = gender[gender["quantity"] == "rank"].pivot(index="model", columns="metric", values="published")
    for metric, numbers in (("weat", kept), ("weat", wrong), ("rnsb", means["published"]["rnsb"])):
        assert ranks[metric].tolist() == numbers.rank().reindex(ranks.index).tolist()
    for quantity, function in (("correlation", spearmanr), ("correlation_kendall", kendalltau)):
        for row in gender[gender["quantity"] == quantity].itertuples():
            of_ranks = function(*(ranks[metric] for metric in row.metric.split("~"))).statistic
            assert row.published == pytest.approx(of_ranks, abs=0.5e-6)


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    """The study of WEFE's user guide, its comparison, and the vectors in its archives."""
    folder = tmp_path_factory.mktemp("guide")
    (folder / "served").mkdir()
    config = read_yaml(ROOT / "config" / "user_guide.yaml")
    # GloVe Twitter has words in lower case alone, and lacks a name
    words = {word.lower() for word in words_of(Study.of(config, root=ROOT))} - {"wardell"}
    vectors = {name: draw(sorted(words), dimensions, dimensions) for name, dimensions in TWITTER.items()}
    for name in TWITTER:
        write_text(folder / "served" / f"{name}.gz", vectors[name])
    study, table = comparison_of(config, folder)
    return study, table, vectors


@pytest.mark.slow
def test_the_values_of_the_user_guide_are_compared(guide):
    study, table, vectors = guide
    assert table["verdict"].eq("not asked").sum() == 1  # the chapter on loading, which an overlay adds
    values = table[table["quantity"].str.endswith(": value") & (table["metric"] == "weat")].dropna(
        subset="ours"
    )
    assert len(values) == 2 + 5 + 6 + 9
    for row in values.itertuples():
        key = row.quantity.partition(": ")[0]
        spell = str if key.endswith("as_written") else str.lower
        assert row.ours == pytest.approx(weat(study.queries[key], vectors[row.model], spell)[0], abs=1e-6)
    # however the names are looked up, the same words are found
    names = values[values["quantity"].str.startswith("guide_names_")]
    assert (len(names), names["ours"].nunique()) == (5, 1)
    # what is printed as missing is missing: words with capitals are not there
    missing = table[table["published"].isna()]
    assert missing["quantity"].value_counts().to_dict() == {
        "guide_science_arts_as_written: value": 3,
        "guide_names_5_as_written: value": 1,
    }
    assert set(missing["verdict"]) == {"reproduced"}
    assert (missing["ours"].isna()).all()


@pytest.mark.slow
def test_means_ranks_and_correlations_of_the_user_guide_are_compared(guide):
    study, table, vectors = guide
    ours = table.set_index(["criterion", "metric", "quantity", "model"])["ours"].sort_index()
    for criterion, keys in (
        ("User guide, gender", ["guide_career_family", "guide_science_arts", "guide_math_arts"]),
        ("User guide, ethnicity", ["guide_names_5", "guide_names_7"]),
    ):
        scores = [[weat(study.queries[key], vectors[name]) for key in keys] for name in TWITTER]
        weat_means = np.abs(scores).mean(axis=1)[:, 0]
        for name, mean in zip(TWITTER, weat_means, strict=True):
            assert np.allclose(ours[criterion, "weat", "abs_avg", name], mean, rtol=0, atol=1e-6)
        assert ours[criterion, "weat", "rank"][[*TWITTER]].tolist() == rankdata(weat_means).tolist()
    gender = ours["User guide, gender"]
    ranks = {metric: gender[metric, "rank"][[*TWITTER]].tolist() for metric in ("weat", "weat_es", "rnsb")}
    scores = [
        [
            weat(study.queries[key], vectors[name])[1]
            for key in study.config.criteria["User guide, gender"].queries
        ]
        for name in TWITTER
    ]
    assert ranks["weat_es"] == rankdata(np.abs(scores).mean(axis=1)).tolist()
    for pair in ("weat~weat_es", "weat~rnsb", "weat_es~rnsb"):
        first, second = (ranks[metric] for metric in pair.split("~"))
        assert gender[pair, "correlation", ""] == pytest.approx(spearmanr(first, second).statistic)
        assert gender[pair, "correlation_kendall", ""] == pytest.approx(kendalltau(first, second).statistic)
    # two means of gender contradict the guide's own values
    wrong = table[table["verdict"] == "published with an error"]
    assert sorted(wrong["published"]) == [0.210556, 0.225116, 0.292373]


@pytest.mark.slow
def test_the_rnsb_notebook_is_compared_on_its_four_models(tmp_path):
    (tmp_path / "served").mkdir()
    config = read_yaml(ROOT / "config" / "rnsb_notebook.yaml")
    vectors = draw(words_of(Study.of(config, root=ROOT)), 10, seed=1)
    served = tmp_path / "served"
    for name in ("glove-wiki-gigaword-300", "fasttext-wiki-news-subwords-300"):
        write_text(served / f"{name}.gz", vectors)
    write_text(served / "conceptnet-numberbatch-17-06-300.gz", vectors, prefix="/c/en/")
    write_binary(served / "word2vec-google-news-300.gz", vectors)
    study, table = comparison_of(config, tmp_path)
    assert table.groupby("model").size().to_dict() == dict.fromkeys(study.models, 15)
    assert set(table["verdict"]) <= {"reproduced", "differs"}
    # shares of the negative sentiment add up; vectors of every format are alike here, but for the random splits
    assert table.groupby("model")["ours"].sum().tolist() == pytest.approx([1] * 4)
    nationalities = table["quantity"].str.extract(r"distribution/(\w+)/")[0]
    assert table.groupby(nationalities)["ours"].agg(np.ptp).max() < 1e-3


# words of two groups and of five phenomena, as Maddalozzo's criteria have them
GROUPS = {"Masculine": ["el", "hombre"], "Feminine": ["ella", "mujer"]}
PHENOMENA = {f"Set {i}": {"words": [f"w{i}a", f"w{i}b"], "reason": "made"} for i in range(5)}


def thesis_study(folder, sentences, vectors):
    """Make a study of Maddalozzo's criteria on a text and vectors, in the formats of the author's files."""
    (folder / "text.txt").write_text("\n".join(" ".join(words) for words in sentences) + "\n")
    rows = [f"{word} {' '.join(map(str, vector))}" for word, vector in vectors.items()]
    (folder / "emb.vec").write_text("\n".join([f"{len(rows)} 30", *rows]) + "\n")
    career = {"Career": ["w0a", "w0b", "w1a"], "Family": ["w2a", "w2b", "w3a"]}
    config = {
        "study": "thesis",
        "seed": 42,
        "models": {
            "europarl-es": {
                "label": "Text",
                "kind": "corpus",
                "source": {"type": "file", "path": str(folder / "text.txt")},
            },
            "maddalozzo-30d": {
                "label": "30d",
                "source": {"type": "file", "path": str(folder / "emb.vec")},
                "format": "text",
            },
        },
        "criteria": {
            "Gender of 30 phenomena": {
                "ranked": False,
                "phenomena": {"groups": GROUPS, "sets": PHENOMENA},
                "metrics": {"pmi": {}, "direct_bias": {"params": {"direction": "sum"}}},
            },
            "Gender by frequency": {
                "ranked": False,
                "subsamples": {"words": 2},
                "metrics": {"weat_es": {}, "pmi": {}},
                "queries": {
                    "gender_frequent": {
                        "targets": career,
                        "attributes": {"el": ["el"], "ella": ["ella", "mujer"]},
                    }
                },
            },
        },
        "metrics": {"weat": {}},
        "published": [str(ROOT / "data" / "published" / "maddalozzo_chapter3.csv")],
        "results": str(folder / "results"),
        "embeddings": str(folder / "embeddings"),
        "figures": [],
    }
    study = Study.of(config, root=ROOT)
    for name in study.models:
        fetch(name, study.models[name]["source"], study.embeddings / "raw", progress=False)
    make(study)
    table = tables.read(study.paths.table_file("comparison"))
    return study, table[table["verdict"] != "not asked"].set_index(["metric", "quantity", "model"])


@pytest.mark.slow
def test_the_numbers_of_the_thesis_are_compared_on_files_of_its_formats(tmp_path):
    rng = np.random.default_rng(3)
    neutral = [word for entry in PHENOMENA.values() for word in entry["words"]]
    groups = [word for words in GROUPS.values() for word in words]
    sentences = [
        [str(rng.choice(groups)), *map(str, rng.choice(neutral, size=2, replace=False))] for _ in range(400)
    ]
    study, table = thesis_study(tmp_path, sentences, draw([*groups, *neutral], 30, seed=4))
    counts = Counter(word for words in sentences for word in words)
    first, second = map(set, GROUPS.values())

    def pmi(words):
        of_first, of_second = (
            [bool({*s} & {*words}) for s in sentences if {*s} & group] for group in (first, second)
        )
        return math.log(np.mean(of_first) / np.mean(of_second))

    values = [pmi(entry["words"]) for entry in PHENOMENA.values()]
    z = np.mean(values) / (np.std(values, ddof=1) / math.sqrt(len(values)))
    p_z = table.loc[("pmi", "p_z", "europarl-es")]
    assert p_z["ours"] == pytest.approx(2 * norm.sf(abs(z)), rel=1e-9)
    assert p_z["verdict"] == "differs"
    # a mean of absolute cosines is above 0 for any vectors: the printed 0 is no surprise
    assert table.loc[("direct_bias", "p_z", "maddalozzo-30d"), "ours"] < 0.01
    means = [np.mean([counts[word] for word in entry["words"]]) for entry in PHENOMENA.values()]
    correlation = table.loc[("pmi", "frequency_pearson", "europarl-es")]
    assert correlation["ours"] == pytest.approx(np.corrcoef(values, means)[0, 1], rel=1e-9)
    frequency = table.loc[("", "gender_frequent: frequency_attributes", "europarl-es")]
    assert frequency["ours"] == pytest.approx(np.mean([counts[word] for word in ("el", "ella", "mujer")]))
    assert frequency["published"] == 19970.75

    # printed for words that were drawn: shown beside ours, and beside a distribution over such draws
    effect_size = table.loc[("weat_es", "gender_frequent: value", "maddalozzo-30d")]
    assert effect_size["verdict"] == "other queries"
    assert effect_size["note"].startswith("words drawn: ")
    assert (effect_size["published"], np.isfinite(effect_size["ours"])) == (1.241, True)
    draws = tables.read(study.paths.table_file("subsamples")).set_index("query_id").loc["gender_frequent"]
    assert draws["low"] < draws["high"]
