"""Tests against random groups, on real vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from biasgrid import Query, debias, metrics
from biasgrid.errors import BiasgridError
from biasgrid.inference import infer_query, random_groups
from biasgrid.inference.pool import Pool, bands_of, pool_of
from biasgrid.inference.random_groups import NEAR, draw_groups
from biasgrid.processes import RANDOM_GROUPS
from biasgrid.words import WordOptions, find

MALE = ["he", "his", "him", "man", "men", "boy", "son", "father"]
FEMALE = ["she", "her", "hers", "woman", "women", "girl", "daughter", "mother"]
CAREER = ["executive", "management", "professional", "corporation", "salary", "office", "business", "career"]
FAMILY = ["home", "parents", "children", "family", "cousins", "marriage", "wedding", "relatives"]
QUERY = Query.of([MALE, FEMALE], [CAREER, FAMILY])


@pytest.fixture(scope="module")
def pool(word2vec) -> Pool:
    return pool_of(word2vec)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def mean_cosine(vectors):
    cosines = unit(vectors) @ unit(vectors).T
    return cosines[np.triu_indices(len(cosines), 1)].mean()


def drawn(pool, model, query=QUERY, draws=199, seed=0, **options):
    options = WordOptions(**options)
    groups = [find(s.name, s.words, model, options) for s in query.target_sets]
    return draw_groups(pool, model, groups, query, options, draws, seed)


@pytest.mark.parametrize("name", ["related", "of any kind"])
def test_random_groups_are_as_large_as_coherent_and_other_words(word2vec, pool, name):
    query = QUERY
    if name == "of any kind":
        words = word2vec.words()[::1500]
        query = Query.of([words[:4], words[4:8]], [CAREER, FAMILY])
    groups = drawn(pool, word2vec, query)
    for places, s, cosine in zip(groups.places, query.target_sets, groups.cosines, strict=True):
        assert places.shape == (199, len(s.words))
        rows = word2vec.rows(s.words)
        assert cosine == pytest.approx(mean_cosine(word2vec.take(s.words, rows)), abs=1e-6)
        for places_of_draw in places:
            assert abs(mean_cosine(groups.words.vectors[places_of_draw]) - cosine) <= NEAR + 1e-5
    # the words are the model's, with their vectors, and none of the query's
    keys = groups.words.keys
    assert np.array_equal(groups.words.vectors, word2vec.take(keys, word2vec.rows(keys)))
    of_query = {word for s in (*query.target_sets, *query.attribute_sets) for word in s.words}
    assert not of_query & set(keys)
    # no word is in both groups of a draw, or twice in one
    together = np.sort(np.concatenate(groups.places, axis=1), axis=1)
    assert (np.diff(together, axis=1) > 0).all()
    assert len(np.unique(groups.places[0], axis=0)) > 150


def test_bands_of_rows(word2vec, pool):
    """The words of random groups come from the bands of the query's."""
    rows = np.array([0, 1023, 1024, 4095, 4096, 16383, 10**6])
    assert bands_of(rows).tolist() == [0, 0, 1, 1, 2, 2, 4]
    words = [word for word in word2vec.words()[:1024] if word.isalpha()][:6]
    groups = drawn(pool, word2vec, Query.of([words[:3], words[3:]], [CAREER, FAMILY]))
    assert word2vec.rows(groups.words.keys).max() < 1024


def test_a_pool_is_what_was_saved(pool, tmp_path):
    pool.save(tmp_path / "pool.npz")
    read = Pool.load(tmp_path / "pool.npz")
    for name in ("rows", "bands", "seeds", "near"):
        assert np.array_equal(getattr(read, name), getattr(pool, name))
    assert read.entries == pool.entries
    pool.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "pool.npz").read_bytes()
    (tmp_path / "pool.npz").write_bytes(b"PK")
    with pytest.raises(BiasgridError, match=r"pool\.npz"):
        Pool.load(tmp_path / "pool.npz")


def test_neighbours_of_a_pool_are_the_nearest(word2vec, pool):
    vectors = unit(word2vec.take(pool.entries, pool.rows))
    for place, seed in enumerate(pool.seeds[:5]):
        for band in range(pool.near.shape[1]):
            members = np.flatnonzero((pool.bands == band) & (np.arange(len(pool.bands)) != seed))
            similar = vectors[members] @ vectors[seed]
            nearest = members[np.argsort(-similar)][:64]
            assert len(set(nearest) & set(pool.near[place, band, 0])) >= 63  # ties by rounding


PARAMETERS = {"rnsb": {"holdout": False}, "gipe": {"neighbours": 10, "vocabulary": 3000}}
PARAMETERS |= {name: PARAMETERS["gipe"] for name in ("proximity", "pmn")}


OF_VECTORS = sorted(name for name, metric in metrics.REGISTRY.items() if metric.needs == "vectors")


@pytest.mark.parametrize("name", OF_VECTORS)
def test_every_metric_is_tested_against_its_value_of_the_random_groups(word2vec, pool, name):
    """What is counted is the metric's own function on each draw's words: a query of them measured by the door."""
    metric, parameters = metrics.metric(name), PARAMETERS.get(name, {})
    query = QUERY if QUERY.exactly(metric.template) else Query.of([MALE, FEMALE], [CAREER])
    nulls = {}
    asked = {"random_groups": {"draws": 99}, "draw_seed": 5}
    (result,), _ = infer_query(metric, query, word2vec, parameters, nulls=nulls, **asked)
    test, values = result["random_groups"], nulls[query.name]["random_groups"]
    assert (test["method"], test["draws"], test["alternative"]) == ("drawn", 99, metric.bias)
    assert test["observed"] == pytest.approx(result["value"], rel=1e-9)
    groups = drawn(pool, word2vec, query, draws=99, seed=5)
    for draw in (0, 41, 98):
        targets = [[groups.words.keys[i] for i in places[draw]] for places in groups.places]
        other = Query.of(targets, [s.words for s in query.attribute_sets])
        assert values[draw] == pytest.approx(metric(other, word2vec, **parameters).value, rel=1e-8, abs=1e-10)
    greater, less = np.sum(values >= result["value"] - 1e-12), np.sum(values <= result["value"] + 1e-12)
    share = {"greater": greater, "less": less, "two-sided": min(greater, less)}[metric.bias]
    sides = 2 if metric.bias == "two-sided" else 1
    assert test["p_value"] == pytest.approx(min(1, sides * (share + 1) / 100))
    assert (
        metric(query, word2vec, random_groups={"draws": 99}, seed=5, **parameters).p_groups == test["p_value"]
    )


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("direct_bias", {"k": 2}),
        ("direct_bias", {"direction": "pair"}),
        ("direct_bias", {"direction": "sum", "c": 2}),
        ("direct_bias", {"direction": "all_pairs"}),
        ("indirect_bias", {"direction": "all_pairs"}),
        ("direct_bias", {"direction": "mean", "orientation": "wefe_benchmark"}),
        ("direct_bias", {"legacy_centred": True}),
        ("indirect_bias", {"direction": "mean"}),
        ("ripa", {"relation": "mean"}),
        ("rnd", {"distance": "cos"}),
        ("same", {"orientation": "wefe_benchmark"}),
        ("same", {"legacy_l1": True}),
        ("same_skew", {"contrast": "rest"}),
        ("same_stereotype", {"as_printed": True}),
        ("sc_weat", {"orientation": "wefe_benchmark", "ddof": 0}),
        ("semaxis", {"neighbours": 3, "vocabulary": 2000}),
        ("mac", {"legacy_pooled": True}),
        ("weat", {"return_effect_size": True, "ddof": 1}),
        ("pmn", {"correlation": True, "neighbours": 10, "vocabulary": 3000}),
    ],
)
def test_parameters_hold_for_random_groups_too(word2vec, pool, name, parameters):
    metric = metrics.metric(name).under(parameters)
    query = QUERY if QUERY.exactly(metric.template) else Query.of([MALE, FEMALE], [CAREER])
    nulls = {}
    infer_query(metric, query, word2vec, parameters, random_groups={"draws": 99}, nulls=nulls)
    options = WordOptions()
    sides = query.target_sets, query.attribute_sets
    regrouped = sides[metric.regrouped == "attributes"]
    found = [find(s.name, s.words, word2vec, options) for s in regrouped]
    groups = draw_groups(pool, word2vec, found, query, options, 99, 0)
    for draw in (3, 77):
        chosen = [[groups.words.keys[i] for i in places[draw]] for places in groups.places]
        kept = [s.words for s in sides[metric.regrouped == "targets"]]
        other = Query.of(*((chosen, kept) if metric.regrouped == "targets" else (kept, chosen)))
        value = metrics.metric(name)(other, word2vec, **parameters).value
        assert nulls[query.name]["random_groups"][draw] == pytest.approx(value, rel=1e-8, abs=1e-10)


def test_three_groups(word2vec, pool):
    thirds = [MALE[:5], FEMALE[:5], ["child", "children", "kid", "kids", "baby"]]
    query = Query.of(thirds, [CAREER])
    for name in ("same", "direct_bias", "mac"):
        nulls = {}
        infer_query(metrics.metric(name), query, word2vec, random_groups={"draws": 99}, nulls=nulls)
        groups = drawn(pool, word2vec, query, draws=99)
        targets = [[groups.words.keys[i] for i in places[7]] for places in groups.places]
        value = metrics.metric(name)(Query.of(targets, [CAREER]), word2vec).value
        assert nulls[query.name]["random_groups"][7] == pytest.approx(value, rel=1e-9)


def test_a_metric_without_a_fast_way_is_tested_too(word2vec):
    from dataclasses import replace

    slow = replace(metrics.metric("weat"), redrawn=None)
    fast = metrics.weat(QUERY, word2vec, random_groups={"draws": 99}).inference
    again = slow(QUERY, word2vec, random_groups={"draws": 99}).inference
    # the ends of the histogram agree but for rounding
    bars = [result["random_groups"].pop("histogram") for result in (fast, again)]
    assert bars[0].pop("counts") == bars[1].pop("counts")
    assert bars[0] == pytest.approx(bars[1])
    assert again == fast


def test_pairs_that_share_a_word_do_so_in_random_groups(word2vec):
    nulls = {}
    with pytest.warns(UserWarning, match="repeats"):
        query = Query.of([["he", "he", "man"], ["she", "her", "woman"]], [CAREER])
    (result,), _ = infer_query(
        metrics.metric("ripa"), query, word2vec, random_groups={"draws": 99}, nulls=nulls
    )
    assert len(nulls[query.name]["random_groups"]) == 99
    assert result["random_groups"]["cosines"][0] == pytest.approx(
        mean_cosine(word2vec.take(["he", "man"], word2vec.rows(["he", "man"]))), abs=1e-6
    )


def test_no_test_has_its_reason(random_model, word2vec):
    small = random_model(0)
    query = Query.of([["w1", "w2"], ["w3", "w4"]], [["w5"], ["w6"]])
    result = metrics.weat(query, small, random_groups={"draws": 99})
    assert math.isnan(result.p_groups)
    assert "random groups are as coherent as the query's" in result.inference["random_groups"]["reason"]
    many = word2vec.words()[5000:5130]
    result = metrics.weat(Query.of([many[::2], many[1::2]], [CAREER, FAMILY]), word2vec, random_groups={})
    assert "more than 64 words" in result.inference["random_groups"]["reason"]
    with pytest.raises(
        BiasgridError,
        match="random_groups: draws: 3 is not allowed: it should be greater than or equal to 19",
    ):
        metrics.weat(QUERY, word2vec, random_groups={"draws": 3})
    with pytest.raises(BiasgridError, match="random_groups: unknown key 'draw'"):
        metrics.weat(QUERY, word2vec, random_groups={"draw": 99})


def test_what_was_planted_is_found(word2vec, pool):
    """Words that are the nearest to the one group and to the other: as near as no random groups'."""
    seeds = ["guitar", "doctor"]
    words, rows = word2vec.vocabulary()
    vectors = unit(word2vec.matrix(words, rows))
    near = {}
    for seed in seeds:
        order = np.argsort(-(vectors @ vectors[words.index(seed)]))[:16]
        near[seed] = [words[i] for i in order]
    groups, of_groups = [near[s][::2] for s in seeds], [near[s][1::2] for s in seeds]
    query = Query.of(groups, of_groups)
    for name in ("weat", "generalized_weat", "weat_es"):
        result = metrics.metric(name)(
            query, word2vec, random_groups={"draws": 199}, permutation={"draws": 199}
        )
        assert result.p_groups <= 0.01
        assert result.p_value <= 0.01
    one = Query.of(groups, of_groups[:1])
    for name in ("rnd", "same", "semaxis", "sc_weat", "direct_bias", "same_skew", "ripa"):
        assert metrics.metric(name)(one, word2vec, random_groups={"draws": 199}).p_groups <= 0.05


def test_processes_of_a_run_draw_once(word2vec, tmp_path, monkeypatch):
    """What one has drawn another reads; of another state of the model, and without a folder, each draws itself."""
    asked, draw = [], random_groups._draw
    monkeypatch.setattr(random_groups, "_draw", lambda *of: asked.append(of[1]) or draw(*of))

    def p_groups(model):
        random_groups._draw_once.cache_clear()
        random_groups._look_up.cache_clear()
        return metrics.weat(QUERY, model, random_groups={"draws": 99}).p_groups

    alone = p_groups(word2vec)
    assert len(asked) == 1
    monkeypatch.setenv(RANDOM_GROUPS, str(tmp_path))
    assert [p_groups(word2vec) for _ in range(3)] == [alone] * 3
    assert len(asked) == 2
    debiased = word2vec.under(debias.hard(word2vec, definitional_pairs=[["she", "he"], ["woman", "man"]]))
    p_groups(debiased)
    assert asked[2:] == [debiased]
