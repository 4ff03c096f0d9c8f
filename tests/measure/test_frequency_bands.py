"""Tests by frequency: permutations within bands of frequency, and control words."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest
from conftest import biasgrid, refusal
from hypothesis import given, settings
from hypothesis import strategies as st

import biasgrid as bg
from biasgrid import Query, metrics
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.measure.permutation import permutation_test, permutations_of
from biasgrid.measure.significance.frequency_bands import bands
from biasgrid.models.store_writer import StoreWriter
from biasgrid.models.words import WordOptions

ROWS = st.lists(st.floats(1, 1e6), min_size=1, max_size=30)


def counted(folder, counts, vectors, words=None):
    """A store of words that occur so often."""
    words = words or [
        f"word{'abcdefghij'[i % 10]}{chr(97 + i // 10 % 26)}{chr(97 + i // 260)}" for i in range(len(counts))
    ]
    with StoreWriter(folder, "made") as writer:
        writer.add(words, vectors, counts=np.asarray(counts, dtype=np.int64))
        writer.finish({"name": "made", "label": "made", "note": "", "format": "made", "vocab_prefix": ""})
    return bg.load(folder)


@pytest.fixture(scope="module")
def by_frequency(tmp_path_factory):
    """A model in which a vector says nothing of a word but how frequent it is (and noise): no word means anything."""
    rng = np.random.default_rng(0)
    counts = np.sort(np.exp(rng.uniform(np.log(5), np.log(50_000), 4000)).astype(int))[::-1]
    axis = np.zeros(20)
    axis[0] = 1
    vectors = 0.5 * np.log(counts / 500)[:, None] * axis + rng.normal(size=(4000, 20)) / 4
    return counted(tmp_path_factory.mktemp("by_frequency") / "store", counts, vectors.astype(np.float32))


def query_of(model, rng, shift):
    """Two sets of words of which the first is more frequent by a factor of e^shift, with bands in common; and a set
    of frequent words and one of rare words."""
    logs, words = np.log(model.counts), model.words()
    free = np.ones(len(logs), dtype=bool)

    def near(wanted):
        places = []
        for value in wanted:
            place = np.argmin(np.where(free, np.abs(logs - value - rng.normal() / 10), np.inf))
            free[place] = False
            places.append(words[place])
        return places

    x = near(np.linspace(5, 7, 8) + shift / 2)
    y = near(np.linspace(5, 7, 8) - shift / 2)
    return Query([x, y], [near(np.full(6, 10.0)), near(np.full(6, 2.5))])


def test_bands_by_hand():
    logs = np.log(np.array([25, 5, 100, 24, 60, 20]))
    # 100 to 25 are one band of width 4, 24 begins the next, which reaches to 6
    assert bands(logs, 4).tolist() == [0, 2, 0, 1, 0, 1]
    assert bands(logs, 1).tolist() == [2, 5, 0, 3, 1, 4]
    assert set(bands(logs, 100)) == {0}
    # words of unknown frequency are in no band with any other
    unknown = bands(np.array([1.0, np.nan, 1.0, np.nan]), 2).tolist()
    assert unknown[0] == unknown[2]
    assert len(set(unknown)) == 3


@settings(deadline=None)
@given(ROWS, st.floats(1, 50), st.floats(0.01, 100))
def test_words_of_a_band_are_about_as_frequent(counts, width, scale):
    logs = np.log(np.array(counts))
    found = bands(logs, width)
    for band in range(found.max() + 1):
        mine = logs[found == band]
        assert mine.max() - mine.min() <= np.log(width) * (1 + 1e-9) + 1e-12
        if band:
            # no two bands could be one
            assert logs[found == band - 1].max() - mine.max() > np.log(width) * (1 - 1e-9) - 1e-12
    assert np.array_equal(found, bands(logs, width))
    assert len(set(found)) == found.max() + 1


@pytest.mark.slow
@pytest.mark.parametrize("of_words", [[0, 0, 1, 2, 0, 1, 1, 2], [0, 1, 2, 3, 0, 1, 2, 3], [0] * 8])
def test_permutations_within_bands_are_those_of_a_plain_enumeration(of_words):
    values = np.random.default_rng(1).normal(size=8)
    own = np.repeat([0, 1], [4, 4])

    def statistic(labels):
        return np.array([values[of == 0].mean() - values[of == 1].mean() for of in labels])

    every = {
        tuple(own[list(order)])
        for order in itertools.permutations(range(8))
        if all(of_words[i] == of_words[place] for i, place in enumerate(order))
    }
    expected = np.mean([statistic([np.array(of)])[0] >= statistic([own])[0] - 1e-12 for of in every])
    tested = permutation_test(statistic, [4, 4], bands=of_words)
    assert tested.partitions == len(every) == permutations_of([4, 4], bands=of_words)
    assert tested.method == "exact"
    assert tested.p_value == pytest.approx(expected, abs=1e-12)
    drawn = permutation_test(statistic, [4, 4], bands=of_words, exact=0, draws=20_000)
    assert drawn.p_low - 0.01 <= expected <= drawn.p_high + 0.01


def test_pairs_change_places_only_within_a_band():
    values = np.array([3.0, 1.0, 2.0, 1.0, 0.0, 5.0])  # three pairs: 3 and 1, 1 and 0, 2 and 5

    def statistic(labels):
        return np.array([values[of == 0].sum() - values[of == 1].sum() for of in labels])

    tested = permutation_test(statistic, [3, 3], pairs=True, bands=[0, 1, 2, 0, 1, 3], exact=100)
    # the last pair stays: 3 - 1, 1 - 0 and 2 - 5 are one of four, 2 + 1 - 3 the highest
    assert tested.partitions == 4
    assert tested.p_value == pytest.approx(1 / 4)
    assert sorted(tested.null_distribution) == pytest.approx([-6, -4, -2, 0])


def test_pairs_of_a_metric_change_places_where_one_word_is_as_frequent_as_the_other(by_frequency):
    words = by_frequency.words()
    logs = np.log(by_frequency.counts)
    first = words[100:400:40]

    # partners are about half as frequent, or a tenth
    def partner(word, times):
        return words[int(np.argmin(np.abs(logs - logs[words.index(word)] + np.log(times))))]

    for times, permutations in ((2, 2**8), (10, 1)):
        query = Query([first, [partner(word, times) for word in first]], [words[1000:1004]])
        found = metrics.ripa(query, by_frequency, relation="mean", frequency_bands=True)
        assert found.inference["frequency_bands"]["partitions"] == permutations


@pytest.mark.filterwarnings("ignore:.*cannot be small")
@pytest.mark.slow
def test_where_frequency_is_all_that_differs_the_plain_test_rejects_and_the_banded_one_does_not(by_frequency):
    rng = np.random.default_rng(2)
    plain, banded, none, few = [], [], 0, {"draws": 199}
    for seed in range(40):
        query = query_of(by_frequency, rng, 2.0)
        found = metrics.weat(query, by_frequency, permutation=few, frequency_bands=few, seed=seed)
        plain.append(found.p_value)
        none += np.isnan(found.p_bands)
        banded.append(found.p_bands)
    assert np.mean(np.array(plain) < 0.05) > 0.8
    # of 40 tests at .05, 7 or more are rejected by chance once in a hundred cases
    assert np.count_nonzero(np.array(banded) < 0.05) <= 6
    assert none <= 10


def test_a_bias_beside_frequency_is_found_within_bands(by_frequency, tmp_path):
    rng = np.random.default_rng(3)
    query = query_of(by_frequency, rng, 1.0)
    x, y = (list(s.words) for s in query.target_sets)
    a, b = (list(s.words) for s in query.attribute_sets)
    vectors = by_frequency.array.copy()
    rows = by_frequency.rows
    vectors[rows(x + a), 1] += 1.5
    vectors[rows(y + b), 1] -= 1.5
    biased = counted(tmp_path / "biased", by_frequency.counts, vectors, by_frequency.words())
    assert metrics.weat(query, biased, frequency_bands=True).p_bands < 0.03


def test_few_permutations_are_no_test(by_frequency):
    words = by_frequency.words()
    # all of one set are more than four times as frequent as all of the other
    query = Query([words[:8], words[-8:]], [words[100:104], words[200:204]])
    found = metrics.weat(query, by_frequency, permutation={"draws": 99}, frequency_bands=True)
    assert not np.isnan(found.p_value)
    assert np.isnan(found.p_bands)
    reason = "there is only 1 permutation of the words within bands of frequency: a test needs 20"
    assert found.reasons == {"p_bands": reason}
    assert found.inference["frequency_bands"]["partitions"] == 1


def test_one_count_for_all_words_is_none(tmp_path):
    rng = np.random.default_rng(9)
    model = counted(tmp_path / "store", np.ones(300, dtype=int), rng.normal(size=(300, 5)).astype(np.float32))
    words = model.words()
    found = metrics.weat(
        Query([words[:8], words[8:16]], [words[16:20], words[20:24]]), model, frequency_bands=True
    )
    assert "the frequencies of the model's words are unknown" in found.reasons["p_bands"]


def test_what_is_not_known_is_said(random_model):
    model = random_model(0)
    words = model.words()
    query = Query([words[:4], words[4:8]], [words[8:12], words[12:16]])
    found = metrics.weat(query, model, frequency_bands=True, control_words=True)
    assert np.isnan([found.p_bands, found.p_controls]).all()
    assert found.reasons.keys() == {"p_bands", "p_controls"}
    assert all("words are unknown" in reason for reason in found.reasons.values())
    mac = metrics.mac(query, model, frequency_bands=True)
    assert mac.reasons["p_bands"].startswith("MAC is a mean over")


@pytest.mark.slow
def test_control_words_are_as_frequent_and_none_is_of_the_query(by_frequency):
    query = query_of(by_frequency, np.random.default_rng(4), 2.0)
    found = metrics.weat(query, by_frequency, control_words={"draws": 300})
    part = found.inference["control_words"]
    for name in ("mean_log_frequency", "variance_log_frequency"):
        assert part["matched"][name] == pytest.approx(part["own"][name], abs=0.1)
    per_million = np.log(by_frequency.counts * 1e6 / by_frequency.counts.sum())
    own = [per_million[by_frequency.rows(s.words)].mean() for s in query.attribute_sets]
    assert part["own"]["mean_log_frequency"] == pytest.approx(own)
    assert part["frequency"] == "counts"
    assert part["draws"] == 300


@pytest.mark.slow
def test_control_words_show_what_frequency_gives(by_frequency):
    """Attribute words of which one set is frequent and one rare: WEAT is far from 0, and control words say so."""
    rng = np.random.default_rng(5)
    inside, p_values = 0, []
    for seed in range(30):
        query = query_of(by_frequency, rng, 2.0)
        found = metrics.weat(query, by_frequency, control_words={"draws": 99}, seed=seed)
        low, _, high = found.inference["control_words"]["middle"]
        assert low > 0.2  # far from the no-bias value
        inside += low <= found.value <= high
        p_values.append(found.p_controls)
    assert inside >= 24
    # of 30 tests at .05, 6 or more are rejected by chance once in 500 cases
    assert np.count_nonzero(np.array(p_values) < 0.05) <= 5


def test_every_metric_of_vectors_has_control_words(word2vec):
    query = Query(
        [["he", "man", "boy", "father", "son"], ["she", "woman", "girl", "mother", "daughter"]],
        [["executive", "salary", "office", "business"], ["home", "parents", "children", "family"]],
    )
    (first, second), (words, _) = query.target_sets, query.attribute_sets
    crossed = Query([first[:2], first[2:], second[:2], second[2:]], [words])
    options = {"frequency": "wordfreq", "draws": 19}
    tested = 0
    for name in metrics.REGISTRY:
        metric = metrics.metric(name)
        if metric.needs != "vectors":
            continue
        sub = (crossed if metric.template[0] == 4 else query).subqueries(metric.template)[0]
        results, _ = infer_query(
            MeasurementSpec(metric, {}, WordOptions(), inference={"control_words": options}), sub, word2vec
        )
        assert 0.05 <= results[0]["control_words"]["p_value"] <= 1, name
        assert results[0]["control_words"]["frequency"] == "wordfreq"
        tested += 1
    assert tested > 15


@pytest.mark.slow
@pytest.mark.parametrize("name", ["weat", "mac", "rnd"])
def test_the_values_of_control_words_are_the_metric_of_their_neighbours_in_frequency(by_frequency, name):
    """Measured one by one, the metric gives the values that are compared with the score."""
    words, metric = by_frequency.words(), metrics.metric(name)
    query = Query([words[20:24], words[30:34]], [[words[300]], [words[600]]])
    query = query.subqueries(metric.template)[0]
    nulls: dict = {}
    ask = {"draws": 200, "nearest": 4}
    infer_query(
        MeasurementSpec(metric, {}, WordOptions(), inference={"control_words": ask}),
        query,
        by_frequency,
        nulls=nulls,
    )
    drawn = set(np.round(nulls[query.name]["control_words"], 9))

    def vectors(of):
        return by_frequency.take(of, by_frequency.rows(of))

    around = [[words[i + k] for k in range(-6, 7) if k] for i in (300, 600)][: len(query.attribute_sets)]
    possible = {
        round(metric.function([vectors(s.words) for s in query.target_sets], chosen).value, 9)
        for chosen in itertools.product(*([vectors([w]) for w in near] for near in around))
    }
    # of each word the four that are nearest in frequency, and no others
    assert drawn <= possible
    assert len(drawn) == 4 ** len(around)


def test_the_same_words_are_drawn_for_all_metrics_and_again(by_frequency):
    query = query_of(by_frequency, np.random.default_rng(7), 1.0)
    ask = {"control_words": {"draws": 99}, "frequency_bands": True}
    first, again = metrics.weat(query, by_frequency, **ask), metrics.weat(query, by_frequency, **ask)
    assert first.inference == again.inference
    other = metrics.weat(query, by_frequency, seed=1, **ask)
    assert other.inference["control_words"]["middle"] != first.inference["control_words"]["middle"]
    of_mac = metrics.mac(query, by_frequency, control_words={"draws": 99}).inference["control_words"]
    assert of_mac["matched"] == first.inference["control_words"]["matched"]


@pytest.mark.slow
def test_on_the_command_line(by_frequency, tmp_path):
    query = query_of(by_frequency, np.random.default_rng(8), 1.0)
    (tmp_path / "query.json").write_text(query.to_json())
    ask = ["measure", "--metric", "weat", "--model", by_frequency.path, "--query", tmp_path / "query.json"]
    done = biasgrid(*ask, "--frequency-bands", "width=8", "--control-words", "draws=99", "--json")
    record = json.loads(done.stdout)
    assert 0 < record["p_bands"] <= 1
    assert 0 < record["p_controls"] <= 1
    table = biasgrid(*ask, "--frequency-bands", "--control-words", "draws=99", "--table").stdout
    assert re.search(
        r"permutation test within bands of frequency, p = \.\d+; test against\s+control words, p = \.\d+",
        table,
    )
    refusal(*ask, "--frequency-bands", "width=0.5", parts=["width"])


@pytest.mark.filterwarnings("ignore:.*cannot be small")
def test_large_sets_find_enough_control_words(by_frequency):
    words = by_frequency.words()
    query = Query([words[:8], words[8:16]], [words[1000:1400], words[2000:2400]])
    found = metrics.weat(query, by_frequency, control_words={"draws": 19, "nearest": 10})
    part = found.inference["control_words"]
    assert part["matched"]["mean_log_frequency"] == pytest.approx(part["own"]["mean_log_frequency"], abs=0.5)
    too_many = Query([words[:8], words[8:16]], [words[100:1600], words[2000:3500]])
    reason = metrics.weat(too_many, by_frequency, control_words={"draws": 19}).reasons["p_controls"]
    assert "too few to draw from" in reason
