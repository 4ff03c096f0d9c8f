"""Tests against random groups, on real vectors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from conftest import make_store

from biasgrid import Query, debias, measure_grid, metrics
from biasgrid.core.processes import RANDOM_GROUPS
from biasgrid.measure import group_draws
from biasgrid.measure.candidate_words import Pool, bands_of, pool_of
from biasgrid.measure.group_draws import BLOCK, NEAR_ON_AVERAGE, draws_of
from biasgrid.measure.infer import infer_query
from biasgrid.measure.matched_random_groups import NEAR, NEAR_BETWEEN, smallest
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.models.words import WordOptions, find

MALE = ["he", "his", "him", "man", "men", "boy", "son", "father"]
FEMALE = ["she", "her", "hers", "woman", "women", "girl", "daughter", "mother"]
CAREER = ["executive", "management", "professional", "corporation", "salary", "office", "business", "career"]
FAMILY = ["home", "parents", "children", "family", "cousins", "marriage", "wedding", "relatives"]
QUERY = Query([MALE, FEMALE], [CAREER, FAMILY])


@pytest.fixture(scope="module")
def pool(word2vec) -> Pool:
    return pool_of(word2vec)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def mean_cosine(vectors):
    cosines = unit(vectors) @ unit(vectors).T
    return cosines[np.triu_indices(len(cosines), 1)].mean()


def words_of(query, model, **options):
    """The vocabulary entries of the query's groups."""
    options = WordOptions(**options)
    return tuple(find(s.name, s.words, model, options).keys for s in query.target_sets)


def drawn(pool, model, groups, draws=BLOCK, seed=0, match="between"):
    """Random groups in place of groups of words: of each draw, the words of each group; and what `draws_of` gives."""
    source = draws_of(model, pool, groups, seed, match)
    words = []
    for number in range(-(-draws // BLOCK)):
        block = source.block(model, pool, number)
        for n, *places in zip(block.numbers, *block.places, strict=True):
            if n < draws:
                words.append([[pool.entries[i] for i in group] for group in places])
    return words, source


def kept(draws, query):
    """Those without a word of the query, which a test takes."""
    of_query = {word for s in (*query.target_sets, *query.attribute_sets) for word in s.words}
    return [draw for draw in draws if not of_query.intersection(word for group in draw for word in group)]


def vectors_of(model, words):
    return unit(np.asarray(model.take(words, model.rows(words)), dtype=np.float64))


@pytest.mark.parametrize("name", ["related", "of any kind", "pairs of one word", "three"])
@pytest.mark.parametrize("match", ["between", "within"])
def test_random_groups_are_as_large_as_coherent_and_as_near_to_each_other(word2vec, pool, name, match):
    words = word2vec.words()[::1500]
    groups = {
        "related": (tuple(MALE), tuple(FEMALE)),
        "of any kind": (tuple(words[:4]), tuple(words[4:8])),
        "pairs of one word": (("he",), ("she",)),
        "three": (tuple(MALE[:5]), tuple(FEMALE[:5]), ("child", "children", "kid", "kids", "baby")),
    }[name]
    draws, source = drawn(pool, word2vec, groups, match=match)
    assert len(draws) > (0.1 if name == "pairs of one word" else 0.4) * BLOCK
    own = [vectors_of(word2vec, group) for group in groups]
    pairs = [(a, b) for a in range(len(groups)) for b in range(a + 1, len(groups))]
    wanted = [(own[a] @ own[b].T).mean() for a, b in pairs]
    assert source.between == pytest.approx(wanted, abs=1e-6)
    found = []
    for draw in draws:
        vectors = [vectors_of(word2vec, group) for group in draw]
        for group, of_query, random in zip(groups, own, vectors, strict=True):
            assert len(random) == len(group)
            if len(group) > 1:
                assert abs(mean_cosine(random) - mean_cosine(of_query)) <= NEAR + 1e-5
        found.append([(vectors[a] @ vectors[b].T).mean() for a, b in pairs])
        # no word is in a draw twice, and none is the query's
        together = [word for group in draw for word in group]
        assert len(set(together)) == len(together)
        assert not set(together) & {word for group in groups for word in group}
    errors = np.array(found) - wanted
    if match == "between":
        assert np.abs(errors).max() <= NEAR_BETWEEN + 1e-5
        assert np.abs(errors.mean(axis=0)).max() <= NEAR_ON_AVERAGE + 1e-5
    elif name == "related":  # most groups are further apart than the query's
        assert errors.mean() < -NEAR_BETWEEN
    # no draw is there twice
    keys = {tuple(tuple(sorted(group)) for group in draw) for draw in draws}
    assert len(keys) == len(draws)


def test_the_first_group_of_a_draw_depends_on_the_first_group_alone(word2vec, pool):
    """Rows of an aggregate that share their first group then move together."""
    sources = [
        draws_of(word2vec, pool, (tuple(MALE), second), 3, "between")
        for second in (tuple(FEMALE), tuple(CAREER))
    ]
    blocks = [source.block(word2vec, pool, 1) for source in sources]
    numbers = np.intersect1d(*(block.numbers for block in blocks))
    assert len(numbers) > 20
    first = [np.sort(block.places[0][np.isin(block.numbers, numbers)], axis=1) for block in blocks]
    assert np.array_equal(*first)


def test_bands_of_rows(word2vec, pool):
    """The words of random groups come from the bands of the query's."""
    rows = np.array([0, 1023, 1024, 4095, 4096, 16383, 10**6])
    assert bands_of(rows).tolist() == [0, 0, 1, 1, 2, 2, 4]
    words = [word for word in word2vec.words()[:1024] if word.isalpha()][:6]
    draws, _ = drawn(pool, word2vec, (tuple(words[:3]), tuple(words[3:])))
    assert word2vec.rows([word for draw in draws for group in draw for word in group]).max() < 1024


def test_a_pool_is_what_was_saved(pool, tmp_path):
    pool.save(tmp_path / "pool.npz")
    read = Pool.load(tmp_path / "pool.npz")
    for name in ("rows", "bands", "seeds", "near"):
        assert np.array_equal(getattr(read, name), getattr(pool, name))
    assert read.entries == pool.entries
    pool.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "pool.npz").read_bytes()


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


# four groups as near to each other are too rare in this model: tests/metrics/test_crossed_groups.py
OF_VECTORS = sorted(
    name for name, metric in metrics.REGISTRY.items() if metric.needs == "vectors" and metric.template[0] != 4
)


def check_values(model, pool, query, metric, parameters):
    nulls = {}
    asked = {"draws": 240, "stop": None}
    (result,), _ = infer_query(
        MeasurementSpec(metric, parameters, inference={"random_groups": asked}, draw_seed=5),
        query,
        model,
        nulls=nulls,
    )
    test, values = result["random_groups"], nulls[query.name]["random_groups"]
    assert (test["method"], test["alternative"], test["neutral"]) == ("drawn", "distance", metric.neutral)
    assert test["observed"] == pytest.approx(result["value"], rel=1e-9)
    draws = kept(drawn(pool, model, words_of(query, model), draws=240, seed=5)[0], query)
    assert test["draws"] == len(values) == len(draws) >= 99
    for draw in (0, 41, 98):
        other = Query(draws[draw], [s.words for s in query.attribute_sets])
        assert values[draw] == pytest.approx(metric(other, model, **parameters).value, rel=1e-8, abs=1e-10)
    distances = np.abs(values - metric.neutral)
    distance = abs(result["value"] - metric.neutral)
    count = np.sum(distances >= distance - 1e-12)
    assert test["p_value"] == pytest.approx(max((count + 1) / (len(draws) + 1), 1 / (test["seeds"] + 1)))
    again = metric(query, model, random_groups=asked, seed=5, **parameters)
    assert again.p_groups == test["p_value"]
    assert again.standardized == pytest.approx((distance - distances.mean()) / distances.std(), rel=1e-6)


@pytest.mark.parametrize("name", OF_VECTORS)
def test_every_metric_is_tested_against_its_value_of_the_random_groups(word2vec, pool, name):
    """What is counted is the metric's own function on each draw's words: a query of them measured by the door."""
    metric = metrics.metric(name)
    query = QUERY if QUERY.exactly(metric.template) else Query([MALE, FEMALE], [CAREER])
    check_values(word2vec, pool, query, metric, PARAMETERS.get(name, {}))


def random_store(folder, scale=1.0):
    """Return a model of random vectors, and four sets of its words."""
    words = [f"w{i}" for i in range(1200)]
    model = make_store(folder, words, scale * np.random.default_rng(2).normal(size=(1200, 6)))
    return model, [words[100 * i : 100 * i + 20 : 2] for i in range(1, 5)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["weat", "mac"])
def test_random_groups_have_no_word_of_the_query(tmp_path, name):
    """Of few of the model's words, which are not left out as a lexicon's are before groups are drawn."""
    model, sets = random_store(tmp_path)
    check_values(model, pool_of(model), Query(sets[:2], sets[2:]), metrics.metric(name), {})


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Models of vectors of ordinary length and of very short ones, by scale, each with its pool and sets."""
    stores = {scale: random_store(tmp_path_factory.mktemp("made"), scale) for scale in (1.0, 2.0**-30)}
    return {scale: (model, pool_of(model), sets) for scale, (model, sets) in stores.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_VECTORS)
def test_every_metric_is_tested_with_vectors_of_any_length(models, name):
    """Vectors are very short, unless the metric depends on their length: then its values would all be zero."""
    metric = metrics.metric(name)
    model, pool, sets = models[1.0 if metric.scaled else 2.0**-30]
    query = Query(sets[:2], sets[2:])
    query = query if query.exactly(metric.template) else Query(sets[:2], sets[2:3])
    check_values(model, pool, query, metric, PARAMETERS.get(name, {}))


@pytest.mark.slow
def test_the_lowest_p_value_is_what_the_draws_allow(models):
    """It counts the draws that succeeded. If the test ended early, all further draws might have succeeded."""
    model, _, sets = models[1.0]
    query = Query(sets[:2], sets[2:])
    whole, many, ended = (
        metrics.weat(query, model, random_groups=options).inference["random_groups"]
        for options in (
            {"draws": 99, "stop": "none"},
            {"draws": 2000, "stop": "none"},
            {"draws": 2000, "stop": 20},
        )
    )
    assert whole["draws"] == whole["seeds"] < 99
    assert whole["p_lowest"] == 1 / (whole["seeds"] + 1)
    assert ended["draws"] < 300
    assert 1 / (len(pool_of(model).seeds) + 1) < ended["p_lowest"] < 1 / (many["seeds"] + 1)


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
    query = QUERY if QUERY.exactly(metric.template) else Query([MALE, FEMALE], [CAREER])
    nulls = {}
    infer_query(
        MeasurementSpec(metric, parameters, inference={"random_groups": {"draws": 240}}),
        query,
        word2vec,
        nulls=nulls,
    )
    sides = query.target_sets, query.attribute_sets
    regrouped = sides[metric.regrouped == "attributes"]
    draws = kept(drawn(pool, word2vec, tuple(s.words for s in regrouped))[0], query)
    for draw in (3, 77):
        chosen, fixed = draws[draw], [s.words for s in sides[metric.regrouped == "targets"]]
        other = Query(*((chosen, fixed) if metric.regrouped == "targets" else (fixed, chosen)))
        value = metrics.metric(name)(other, word2vec, **parameters).value
        assert nulls[query.name]["random_groups"][draw] == pytest.approx(value, rel=1e-8, abs=1e-10)


def test_three_groups(word2vec, pool):
    thirds = [MALE[:5], FEMALE[:5], ["child", "children", "kid", "kids", "baby"]]
    query = Query(thirds, [CAREER])
    for name in ("same", "direct_bias", "mac"):
        nulls = {}
        infer_query(
            MeasurementSpec(metrics.metric(name), inference={"random_groups": {"draws": 999}}),
            query,
            word2vec,
            nulls=nulls,
        )
        draws = kept(drawn(pool, word2vec, words_of(query, word2vec))[0], query)
        value = metrics.metric(name)(Query(draws[7], [CAREER]), word2vec).value
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
    scales = [result["random_groups"].pop("scale") for result in (fast, again)]
    assert scales[0].pop("variances") == pytest.approx(scales[1].pop("variances"))
    assert scales[0] == pytest.approx(scales[1])
    for name in ("observed", "p_normal"):
        assert fast["random_groups"].pop(name) == pytest.approx(again["random_groups"].pop(name))
    assert again == fast


def test_pairs_that_share_a_word_do_so_in_random_groups(word2vec):
    nulls = {}
    with pytest.warns(UserWarning, match="repeats"):
        query = Query([["he", "he", "man"], ["she", "her", "woman"]], [CAREER])
    (result,), _ = infer_query(
        MeasurementSpec(metrics.metric("ripa"), inference={"random_groups": {"draws": 999}}),
        query,
        word2vec,
        nulls=nulls,
    )
    assert len(nulls[query.name]["random_groups"]) > 99
    assert result["random_groups"]["cosines"][0] == pytest.approx(
        mean_cosine(word2vec.take(["he", "man"], word2vec.rows(["he", "man"]))), abs=1e-6
    )


def test_no_test_has_its_reason(random_model, word2vec):
    small = random_model(0)
    query = Query([["w1", "w2"], ["w3", "w4"]], [["w5"], ["w6"]])
    result = metrics.weat(query, small, random_groups={"draws": 99})
    assert math.isnan(result.p_groups)
    reason = result.inference["random_groups"]["reason"]
    assert reason.startswith("too few coherent topics: only ")
    assert "words of the model have neighbours as near to each other" in reason
    assert result.no_baseline == "too few coherent topics"
    assert math.isnan(result.standardized)
    assert "random word groups: no baseline (too few coherent topics)" in repr(result)
    tests = {"permutation": {}, "random_groups": {"draws": 99}}
    with pytest.warns(UserWarning, match="too few words"):
        grid = measure_grid(["weat"], {"C": [query]}, [small], progress=False, **tests)
    assert grid.scores["no_baseline"].tolist() == ["too few coherent topics"]
    assert "1 score on C has no random-word baseline" in grid.summary().replace("\n  ", " ")
    with pytest.warns(UserWarning, match="too few words"):
        two = measure_grid(
            ["weat"],
            {"C": [query]},
            {"a": small, "b": random_model(1)},
            progress=False,
            bootstrap={"draws": 99},
            **tests,
        )
    said = " ".join(two.summary().split())
    assert "Models are not compared, because their scores have no random-word baseline." in said
    assert "2 scores on C have no random-word baseline: too few comparable word groups." in said
    assert "add random_groups" not in said
    assert metrics.weat(query, small).no_baseline == ""
    many = word2vec.words()[5000:5130]
    result = metrics.weat(Query([many[::2], many[1::2]], [CAREER, FAMILY]), word2vec, random_groups={})
    assert "more than 64 words" in result.inference["random_groups"]["reason"]


def test_a_reason_says_how_many_seeds_a_further_group_needs(word2vec):
    others, days = ["table", "house", "tree", "water"], ["Monday", "Tuesday", "Wednesday", "Thursday"]
    for groups, fewest in (([others, days], 30), ([days, others], 99)):
        result = metrics.weat(Query(groups, [CAREER, FAMILY]), word2vec, random_groups={"draws": 99})
        assert result.inference["random_groups"]["reason"].endswith(f"a test needs {fewest}")


def test_what_was_planted_is_found(word2vec, pool):
    """Words that are the nearest to the one group and to the other: as near as no random groups'."""
    seeds = ["river", "school"]
    words, rows = word2vec.vocabulary()
    vectors = unit(word2vec.matrix(words, rows))
    near = {}
    for seed in seeds:
        order = np.argsort(-(vectors @ vectors[words.index(seed)]))[:16]
        near[seed] = [words[i] for i in order]
    groups, of_groups = [near[s][::2] for s in seeds], [near[s][1::2] for s in seeds]
    query = Query(groups, of_groups)
    for name in ("weat", "generalized_weat", "weat_es"):
        result = metrics.metric(name)(
            query, word2vec, random_groups={"draws": 999}, permutation={"draws": 199}
        )
        assert result.p_groups <= 0.01
        assert result.p_value <= 0.01
    one = Query(groups, of_groups[:1])
    for name in ("rnd", "same", "semaxis", "sc_weat", "direct_bias", "same_skew", "ripa"):
        assert metrics.metric(name)(one, word2vec, random_groups={"draws": 999}).p_groups <= 0.05


@pytest.mark.parametrize("most", [1, 3, 8])
def test_the_smallest_numbers_of_rows_are_in_one_order_where_some_are_equal(most):
    """That of NumPy's argpartition, which draws had when it was what found them."""
    rng = np.random.default_rng(0)
    equal = rng.integers(0, 30, size=(200, 64)) / 32
    numbers = np.concatenate(
        [equal, rng.random((200, 64)), rng.permuted(np.tile(np.arange(64), (9, 1)), axis=1)]
    )
    numbers[rng.random(numbers.shape) < 0.1] = np.inf
    numbers = numbers.astype(np.float32)
    places = np.argpartition(numbers.astype(np.float64), most - 1, axis=1)[:, :most]
    in_order = np.argsort(np.take_along_axis(numbers.astype(np.float64), places, axis=1), axis=1)
    assert np.array_equal(smallest(numbers, most), np.take_along_axis(places, in_order, axis=1))


def test_processes_of_a_run_draw_once(word2vec, tmp_path, monkeypatch):
    """What one has drawn another reads; of another state of the model, and without a folder, each draws itself."""
    asked, draw = [], group_draws.GroupDraws._draw
    monkeypatch.setattr(group_draws.GroupDraws, "_draw", lambda *of: asked.append(of[1]) or draw(*of))

    def p_groups(model):
        group_draws.draws_of.cache_clear()
        return metrics.weat(QUERY, model, random_groups={"draws": 256}).p_groups

    alone = p_groups(word2vec)
    assert len(asked) == 1
    monkeypatch.setenv(RANDOM_GROUPS, str(tmp_path))
    assert [p_groups(word2vec) for _ in range(3)] == [alone] * 3
    assert len(asked) == 2
    debiased = word2vec.under(debias.hard(word2vec, definitional_pairs=[["she", "he"], ["woman", "man"]]))
    p_groups(debiased)
    assert asked[2:] == [debiased]
    # the folder went with those who shared it: `measure_grid` in several processes
    monkeypatch.setenv(RANDOM_GROUPS, str(tmp_path / "gone"))
    assert p_groups(word2vec) == alone
    assert not (tmp_path / "gone").exists()
    # and its name was taken by another user
    (tmp_path / "taken").mkdir()
    monkeypatch.setenv(RANDOM_GROUPS, str(tmp_path / "taken"))
    monkeypatch.setattr(group_draws.os, "geteuid", lambda: -1)
    assert p_groups(word2vec) == alone
    assert not [*(tmp_path / "taken").iterdir()]


def test_a_p_value_is_not_below_what_the_topics_allow(word2vec):
    """Draws around one seed are of one topic: a few hundred seeds cannot show a p-value of a thousandth."""
    words, rows = word2vec.vocabulary()
    vectors = unit(word2vec.matrix(words, rows))
    near = [
        [words[i] for i in np.argsort(-(vectors @ vectors[words.index(s)]))[:24]] for s in ("guitar", "boat")
    ]
    query = Query([group[::2] for group in near], [group[1::2] for group in near])
    test = metrics.weat(query, word2vec, random_groups={"draws": 2000}).inference["random_groups"]
    assert 99 <= test["seeds"] < test["draws"] / 2
    assert test["p_value"] == test["p_lowest"] == pytest.approx(1 / (test["seeds"] + 1))


SAME_ROLE = ("weat", "weat_es", "mac", "rnsb")  # metrics that compare the same groups with the same words


@pytest.mark.parametrize("seeds", [85, 90, 95, 100, 110])
def test_metrics_of_the_same_groups_and_words_have_a_test_together(word2vec, pool, seeds):
    """A score far from its random groups stops late, and has seen more topics: whether it has a test must not hang on
    that."""
    few = replace(
        pool, seeds=pool.seeds[:: len(pool.seeds) // seeds], near=pool.near[:: len(pool.seeds) // seeds]
    )
    requests = [
        MeasurementSpec(metrics.metric(name), inference={"random_groups": {"draws": 2000}})
        for name in SAME_ROLE
    ]
    records = [infer_query(request, QUERY, word2vec, pool=few)[0][0]["random_groups"] for request in requests]
    reasons = {record.get("reason") for record in records}
    assert len(reasons) == 1
    if reasons == {None}:
        assert len({record["draws"] for record in records}) > 1
        assert len({(record["scale"]["draws"], record["scale"]["topics"]) for record in records}) == 1


@pytest.mark.slow
def test_a_scale_has_999_random_groups_whenever_the_test_stops(models):
    model, _, sets = models[1.0]
    query = Query(sets[:2], sets[2:])
    tests = [
        metrics.weat(query, model, random_groups={"draws": 1999, "stop": stop}).inference["random_groups"]
        for stop in (5, "none")
    ]
    assert tests[0]["draws"] < 999 < tests[1]["draws"]
    assert tests[0]["scale"] == tests[1]["scale"]
    assert tests[0]["scale"]["draws"] == 999


def test_a_scale_does_not_hang_on_when_the_test_stops(word2vec, pool):
    """999 random groups, whether the test needs 199 or thousands."""
    scales = []
    for stop in (5, 20, None):
        inference = {"random_groups": {"draws": 1999, "stop": stop}}
        ((record,), _) = infer_query(
            MeasurementSpec(metrics.metric("rnsb"), inference=inference), QUERY, word2vec, pool=pool
        )
        scales.append((record["random_groups"]["draws"], record["random_groups"]["scale"]))
    assert len({draws for draws, _ in scales}) > 1
    assert scales[0][1] == scales[1][1] == scales[2][1]
    assert scales[0][1]["draws"] == 999


def test_words_of_lexicons_are_in_no_draw(word2vec):
    """Where a query compares its groups with thousands of words, most draws would have one of them, and be none."""
    lexicon = word2vec.words()[:6000:2]
    others = [word for word in lexicon if word not in {*MALE, *FEMALE}]
    query = Query([MALE, FEMALE], [others[::2], others[1::2]])
    test = metrics.weat(query, word2vec, random_groups={"draws": 999}).inference["random_groups"]
    assert test["p_value"] > 0
    groups = (tuple(MALE), tuple(FEMALE))
    rows = tuple(sorted(word2vec.rows(others).tolist()))
    sources = [
        draws_of(word2vec, pool_of(word2vec), groups, 0, "between", left_out) for left_out in ((), rows)
    ]
    blocks = [source.block(word2vec, pool_of(word2vec), 0) for source in sources]
    entries = pool_of(word2vec).entries
    assert not {entries[i] for places in blocks[1].places for i in np.unique(places)} & set(others)
    # draws of one number start from one seed, so that scores of one criterion move together
    shared = np.intersect1d(*(block.numbers for block in blocks))
    assert len(shared) > 20
    seeds = [block.seeds[np.isin(block.numbers, shared)] for block in blocks]
    assert np.array_equal(*seeds)
