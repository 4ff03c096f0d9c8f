"""Maddalozzo's thesis, chapter 3, in Spanish, on made files of the author's formats; numbers by hand."""

import itertools
import math

import made_thesis
import numpy as np
import pytest
import yaml
from conftest import ROOT
from in_process import make_all, make_measured, make_tables

from biasgrid import tables
from biasgrid.figures import draw
from biasgrid.study.study import Study

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*repeats"),
    pytest.mark.filterwarnings("ignore:.*both"),
    pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning"),
]
VECTORS, CORPUS = "maddalozzo-30d", "europarl-es"
FREQUENT = ["iglesia", "cristiano", "islam", "musulmán"]
SEEDS = made_thesis.seeds()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The study, run to its page, with few draws; its vectors by word, and its sentences."""
    folder = tmp_path_factory.mktemp("thesis_es")
    made_thesis.write_seeds(folder)
    vectors = made_thesis.write_vectors(folder / "emb_pr_es_30.vec")
    sentences = made_thesis.write_tokens(folder / "sentences_tokens.txt")
    config = made_thesis.config(
        folder,
        results=str(folder / "results"),
        embeddings=str(folder / "embeddings"),
        inference={
            "permutation": {"draws": 1000, "exact": 1000, "stop": "none"},
            "random_groups": {"draws": 40},
        },
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("BIASGRID_EMBEDDINGS", str(folder / "embeddings"))
        study = make_all(Study.of(config, root=ROOT))
        yield (
            study,
            dict(zip(made_thesis.words(), vectors.astype(np.float64).round(6), strict=True)),
            sentences,
        )


def scores(study, **place):
    table = tables.read(study.paths.table_file("scores"))
    for column, value in place.items():
        table = table[table[column] == value]
    return table


def has(sentences, words):
    return np.array([not sentence.isdisjoint(words) for sentence in sentences])


def pmi(sentences, first, second, words, odds=False):
    """log of the ratio of the shares (or odds) of sentences with the words among those of each group."""
    ratios = []
    for group in (first, second):
        of_group = has(sentences, group)
        together = (of_group & has(sentences, words)).sum()
        ratios.append(together / (of_group.sum() - odds * together))
    return math.log(ratios[0] / ratios[1])


def key(name):
    return name.replace("_", "-").replace(" ", "-")


@pytest.mark.parametrize(("metric", "odds"), [("pmi", False), ("pmi_odds", True)])
def test_pmi_of_30_phenomena(finished, metric, odds):
    study, _, sentences = finished
    neutral = set(SEEDS) - {"espacio_m", "espacio_f", "christianity words", "islam words", "islam"}
    neutral -= {"profesiones_male", "profesiones_female", "pleasant 6", "unpleasant 6"}
    found = scores(study, criterion="Gender of 30 phenomena", metric=metric, model=CORPUS)
    assert len(found) == len(neutral) == 30
    values = dict(zip(found["query_id"], found["value"], strict=True))
    for name in neutral:
        expected = pmi(sentences, SEEDS["espacio_m"], SEEDS["espacio_f"], SEEDS[name], odds)
        assert values[f"gender-of-30-phenomena_{key(name)}"] == pytest.approx(expected, abs=1e-9)
    phenomena = tables.read(study.paths.table_file("phenomena"))
    row = phenomena[
        (phenomena["criterion"] == "Gender of 30 phenomena") & (phenomena["metric"] == metric)
    ].iloc[0]
    all_values = found["value"].to_numpy()
    assert row["n"] == 30
    # table 3.3: the z-test on the mean
    z = all_values.mean() / (all_values.std(ddof=1) / math.sqrt(30))
    assert row["p_z"] == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), rel=1e-6)


def test_the_groups_own_words_may_be_a_phenomenon(finished):
    study, _, sentences = finished
    found = scores(study, criterion="Religion of 30 phenomena", metric="pmi", model=CORPUS)
    value = found.set_index("query_id")["value"]["religion-of-30-phenomena_christianity"]
    christian, islamic = has(sentences, SEEDS["christianity words"]), has(sentences, SEEDS["islam words"])
    assert value == pytest.approx(-math.log((christian & islamic).sum() / islamic.sum()), abs=1e-9)


def test_frequency_is_a_number_of_sentences_and_goes_with_pmi(finished):
    study, _, sentences = finished
    frequency = tables.read(study.paths.table_file("frequency"))
    of_corpus = frequency[frequency["model"] == CORPUS].set_index(["query_id", "set"])["mean"]
    pairs = []
    found = scores(study, criterion="Gender of 30 phenomena", metric="pmi", model=CORPUS)
    for query, name, value in zip(found["query_id"], found["query"], found["value"], strict=True):
        phenomenon = study.queries[query].attribute_sets[0]
        counts = [sum(word in s for s in sentences) for word in dict.fromkeys(phenomenon.words)]
        # of the words that the corpus has, as in the thesis: " cohete" is in no sentence
        mean = np.mean([count for count in counts if count])
        assert of_corpus[query, phenomenon.name] == pytest.approx(mean), name
        pairs.append((mean, value))
    # figure 3.7
    table = tables.read(study.paths.table_file("phenomenon_correlations"))
    row = table[
        (table["criterion"] == "Gender of 30 phenomena")
        & (table["metric"] == "pmi")
        & (table["quantity"] == "frequency")
        & (table["method"] == "pearson")
    ]
    assert row["correlation"].item() == pytest.approx(np.corrcoef(np.array(pairs).T)[0, 1], abs=1e-6)


def test_every_printed_number_stands_beside_the_studys(finished):
    study, _, sentences = finished
    table = tables.read(study.paths.table_file("comparison"))
    assert len(table) == 26
    assert table.loc[table["ours"].isna(), ["criterion", "metric", "quantity"]].to_numpy().tolist() == []
    frequency = table[table["quantity"].str.endswith("frequency_attributes")].set_index("quantity")["ours"]
    words = {"gender_rare": ["chico", "abuelo", "chica", "abuela"], "religion_frequent": FREQUENT}
    for query, of_query in words.items():
        mean = np.mean([sum(word in s for s in sentences) for word in of_query])
        assert frequency[f"{query}: frequency_attributes"] == pytest.approx(mean)


def unit(vectors, words):
    rows = np.array([vectors[word] for word in dict.fromkeys(words) if word in vectors])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("criterion", "query", "targets", "attributes"),
    [
        ("Gender", "math_arts", ("math 1", "arts 1"), ("espacio_m", "espacio_f")),
        ("Gender", "career_family", ("career words", "family words"), ("espacio_m", "espacio_f")),
        (
            "Religion",
            "instruments_weapons",
            ("instruments", "weapons"),
            ("christianity words", "islam words"),
        ),
        (
            "Gender by frequency",
            "gender_rare",
            ("career words", "family words"),
            ("chico abuelo", "chica abuela"),
        ),
        (
            "Religion by frequency",
            "religion_rare",
            ("instruments", "weapons"),
            ("mesías bautismo", "sultan allah"),
        ),
    ],
)
def test_effect_sizes_and_exact_p_values(finished, criterion, query, targets, attributes):
    study, vectors, _ = finished
    x, y, a, b = (unit(vectors, SEEDS.get(name) or name.split()) for name in (*targets, *attributes))
    s = np.concatenate([x, y]) @ a.T.mean(axis=1) - np.concatenate([x, y]) @ b.T.mean(axis=1)
    n = len(x)
    d = (s[:n].mean() - s[n:].mean()) / s.std()
    row = scores(study, criterion=criterion, query_id=query, metric="weat_es_upper").iloc[0]
    assert row["value"] == pytest.approx(d, abs=1e-5)
    # one-sided and exact, as in the thesis
    choices = [list(places) for places in itertools.combinations(range(len(s)), n)]
    if len(choices) <= 1000:
        differences = [s[places].mean() - np.delete(s, places).mean() for places in choices]
        p = np.mean(np.array(differences) >= s[:n].mean() - s[n:].mean() - 1e-9)
        assert row["p_value"] == pytest.approx(p, abs=1e-9)


def test_figures_of_the_appendix_are_drawn(finished):
    study, _, _ = finished
    maps = f"set-map-gender-{VECTORS}", f"set-map-religion-{VECTORS}"
    projections = [
        f"projections/{VECTORS}/none/direct_bias/direction_{name}" for name in ("math", "terrorism")
    ]
    for name in (*maps, *projections):
        assert draw(study.figures[name]).axes
    answers = tables.read(study.paths.table_file("analogies"))
    assert {"3cosavg", "lrcos"} <= set(answers["method"])
    assert set(answers["word"]) >= set(SEEDS["profesiones_neutras"])


def test_effect_sizes_of_single_words_are_2_whatever_the_words(tmp_path):
    """Table 3.2: only the sign depends on the vectors."""
    vectors = {
        word: np.random.default_rng(i).normal(size=5)
        for i, word in enumerate(
            ["door", "curtain", "masculine", "feminine", "girlish", "boyish", "woman", "man"]
        )
    }
    lines = [f"{word} {' '.join(map(str, vector))}" for word, vector in vectors.items()]
    (tmp_path / "made.txt").write_text("\n".join(lines))
    config = yaml.safe_load((ROOT / "config" / "thesis_singletons.yaml").read_text())
    source = {"type": "file", "path": str(tmp_path / "made.txt")}
    config |= {"models": {"made": {"label": "Made", "source": source}}, "results": str(tmp_path / "results")}
    study = make_measured(Study.of(config | {"embeddings": str(tmp_path / "embeddings")}, root=ROOT))
    make_tables(study, "scores")
    table = tables.read(study.paths.table_file("scores")).set_index(["metric", "query_id"])
    for query, first, second in (
        ("door_masculine", "masculine", "feminine"),
        ("door_girlish", "girlish", "boyish"),
        ("door_woman", "woman", "man"),
    ):
        door, curtain, a, b = (unit(vectors, [word])[0] for word in ("door", "curtain", first, second))
        statistic = door @ a - door @ b - (curtain @ a - curtain @ b)
        assert table.loc[("weat", query), "value"] == pytest.approx(statistic, abs=1e-6)
        assert table.loc[("weat_es", query), "value"] == pytest.approx(math.copysign(2, statistic))
