"""IBD, EIBD and FISE, of four crossed groups: by definition, against their own arithmetic."""

from itertools import combinations

import numpy as np
import pytest
from conftest import make_store

import biasgrid as bg
from biasgrid import Query, metrics
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.measure.significance.permutation import bands_of
from biasgrid.metrics.registry import one_by_one

NAMES = ("ibd", "eibd", "fise", "fise_share")
GROUPS = [["w1", "w2", "w3"], ["w4", "w5"], ["w6", "w7"], ["w8", "w9", "w10"]]
WORDS = [f"w{i}" for i in range(20, 29)]
QUERY = Query(GROUPS, [WORDS])


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def effect(word, first, second):
    x, y = ([cosine(word, v) for v in side] for side in (first, second))
    return (np.mean(x) - np.mean(y)) / np.std(x + y, ddof=1)


def detected(word, groups, t, emergent):
    """The papers' sets."""
    a, b, c, d = groups
    is_detected = any(effect(word, a, other) > t for other in (b, c, d))
    constituents = effect(word, a + b, c + d) > t or effect(word, a + c, b + d) > t
    return is_detected and not (emergent and constituents)


def vectors_of(model, query=QUERY):
    sides = (query.target_sets, query.attribute_sets)
    groups, ((*words,),) = (
        [[v for v in model.vectors(s.words).astype(float)] for s in side] for side in sides
    )
    return groups, words


@pytest.mark.parametrize(("name", "emergent"), [("ibd", False), ("eibd", True)])
def test_the_area_is_that_under_the_share_of_detected_words(random_model, name, emergent):
    found = metrics.metric(name)(QUERY, random_model(3))
    groups, words = vectors_of(random_model(3))
    grid = (np.arange(2000) + 0.5) / 1000
    effects = [
        (
            max(effect(w, groups[0], other) for other in groups[1:]),
            max(effect(w, groups[0] + groups[i], groups[3 - i] + groups[3]) for i in (1, 2)),
        )
        for w in words
    ]
    shares = [np.mean([m > t and not (emergent and c > t) for m, c in effects]) for t in grid]
    assert found.value > 0.05
    assert found.value == pytest.approx(np.mean(shares) * 2, abs=2e-3)
    for t in (0.25, 0.5, 1.5):
        by_hand = np.mean([detected(w, groups, t, emergent) for w in words])
        assert found.scalars[f"share_{t:g}"] == pytest.approx(by_hand)
    areas = found.detail["area"]["Attribute set 0"]
    assert found.value == pytest.approx(np.mean(list(areas.values())))
    assert metrics.metric(name).range[1] >= max(areas.values()) >= min(areas.values()) >= 0


def quadrant_shares(model, about_words, query):
    groups, words = vectors_of(model, query)
    a, b, c, d = groups

    def place(w):
        def t(*sides):
            return np.mean([cosine(w, v) for side in sides for v in side])

        return np.array([t(a, b) - t(c, d), t(a, c) - t(b, d)])

    at = np.array([place(w) for w in words])
    expected = [0.25] * 4
    if about_words:
        others = np.array([place(v) for v in model.vectors(model.words()).astype(float)])
        centre = np.median(others, axis=0)
        at, others = at - centre, others - centre
        expected = quadrants(others)
    return quadrants(at), expected


def quadrants(at):
    return [np.mean((a * at[:, 0] > 0) & (b * at[:, 1] > 0)) for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]


@pytest.mark.parametrize("more", [[], ["w11", "w12", "w13"]])
@pytest.mark.parametrize("centre", ["words", "origin"])
def test_fise_is_how_far_quadrants_are_from_the_models(random_model, centre, more):
    model = random_model(5)
    groups = [*GROUPS[:3], GROUPS[3] + more]
    query = Query(groups, [WORDS])
    found, expected = quadrant_shares(model, centre == "words", query)
    result = metrics.fise(query, model, centre=centre)
    assert result.value == pytest.approx(np.abs(np.subtract(found, expected)).sum() / 2)
    assert [c["values"]["share"] for c in result.contrasts] == pytest.approx(found)
    assert [c["values"]["expected_share"] for c in result.contrasts] == pytest.approx(list(expected))
    for turn in ([0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 1, 0]):
        turned = Query([groups[i] for i in turn], [WORDS])
        share = metrics.fise_share(turned, model, centre=centre).value
        assert share == pytest.approx(found[turn[0]] - expected[turn[0]])


def test_the_centre_takes_away_what_all_words_have(tmp_path):
    """Where all words lean to one side, words at random fall into its quadrants, about 0; about the centre they do
    not: of vectors without bias, the mean of FISE is what chance makes of so few words."""
    rng = np.random.default_rng(0)
    names = [f"w{i}" for i in range(400)]
    table = rng.normal(size=(400, 20)) + 0.7
    table[1:6] += 0.7  # the first two groups have more of it than the others
    model = make_store(tmp_path, names, table)
    queries = [Query(GROUPS, [[f"w{i}" for i in range(20 + 30 * k, 50 + 30 * k)]]) for k in range(12)]
    about_words, about_0 = (
        np.mean([metrics.fise(q, model, centre=c).value for q in queries]) for c in ("words", "origin")
    )
    assert about_words < 0.2 < 0.35 < about_0


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_matter(random_model, tmp_path, name):
    """The length of vectors, a rotation, the order of the second and third group, and of words."""
    metric, model = metrics.metric(name), random_model(7)
    words = list(model.words())
    table = model.vectors(words).astype(float)
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(table.shape[1],) * 2))[0]
    longer = np.exp(np.random.default_rng(2).normal(size=(len(words), 1)))
    turned = make_store(tmp_path, words, table @ rotation * longer)
    value = metric(QUERY, model).value
    assert metric(QUERY, turned).value == pytest.approx(value, abs=1e-5)
    other = Query([GROUPS[0], GROUPS[2], GROUPS[1], GROUPS[3]], [WORDS[::-1]])
    assert metric(other, model).value == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_samples_and_random_groups_have_the_functions_values(name):
    metric, rng = metrics.metric(name), np.random.default_rng(4)
    targets, words, reference = rng.normal(size=(12, 6)), rng.normal(size=(7, 6)), rng.normal(size=(50, 6))
    of_model = {"reference": reference} if metric.of_model else {}
    drawn = [np.zeros((5, 12)) for _ in range(4)]
    for i in range(4):
        drawn[i][:, 3 * i : 3 * i + 3] = rng.multinomial(3, [1 / 3] * 3, size=5)
    counts = rng.multinomial(7, [1 / 7] * 7, size=5).astype(float)
    for weights in ([counts], [np.ones((1, 7))]):
        fast = metric.resampled(targets, words, **of_model)(drawn, weights)
        assert fast == pytest.approx(
            one_by_one(metric, targets, words, of_model)(drawn, weights), nan_ok=True
        )
    places = [np.stack([rng.permutation(12)[:3] for _ in range(4)]) for _ in range(4)]
    values = metric.redrawn(targets, places, [words], **of_model)
    for i, value in enumerate(values):
        groups = [targets[of_group[i]] for of_group in places]
        assert value == pytest.approx(metric.function(groups, [words], **of_model).value)


@pytest.mark.parametrize("name", NAMES)
def test_words_change_places_within_a_constituent(random_model, name):
    """The exact test, of every way to deal out the first two groups' words, and the other two's."""
    metric, model = metrics.metric(name), random_model(9)
    ((record,), _) = infer_query(
        MeasurementSpec(metric, inference={"permutation": {"alternative": "greater"}}), QUERY, model
    )
    sides = GROUPS[0] + GROUPS[1], GROUPS[2] + GROUPS[3]
    values = [
        metric(
            Query([[*a], sorted({*sides[0]} - {*a}), [*c], sorted({*sides[1]} - {*c})], [WORDS]), model
        ).value
        for a in combinations(sides[0], 3)
        for c in combinations(sides[1], 2)
    ]
    assert record["permutation"]["partitions"] == len(values) == 100
    share = np.mean(np.array(values) >= metric(QUERY, model).value - 1e-12)
    assert record["permutation"]["p_value"] == pytest.approx(share)


@pytest.mark.parametrize("name", NAMES)
def test_p_values_are_even_where_there_is_nothing_and_small_where_there_is(word2vec, name):
    """Real vectors. Of four groups of words at random, p <= .2 about one time in five; where the words are the first
    group's nearest neighbours, p <= .1 far more often than one time in ten."""
    rng, words = np.random.default_rng(11), [w for w in word2vec.words() if w.isalpha()][:3000]
    table = word2vec.vectors(words).astype(float)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    found, planted = [], []
    for _ in range(24):
        places = rng.permutation(len(words))[:40].reshape(4, 10)
        groups = [[words[i] for i in of_group[:6]] for of_group in places]
        near = [i for i in np.argsort(-(table @ table[places[0, :6]].mean(axis=0))) if i not in places[:, :6]]
        at_random = [words[i] for i in places[:, 6:].ravel()]
        for asked, p_values in ((at_random, found), ([words[i] for i in near[:16]], planted)):
            part = {"permutation": {"draws": 49, "exact": 0}}
            ((record,), _) = infer_query(
                MeasurementSpec(metrics.metric(name), inference=part), Query(groups, [asked]), word2vec
            )
            p_values.append(record["permutation"]["p_value"])
    # 24 of .2: 1 to 10 in 99 of 100 samples
    assert 1 <= sum(p <= 0.2 for p in found) <= 10
    assert sum(p <= 0.1 for p in planted) >= 8


def test_bands_of_frequency_are_within_constituents():
    of_words = np.array([0, 1, 0, 0, 1, 1])
    found = bands_of(metrics.metric("ibd"), [2, 1, 1, 2], of_words)
    assert found.tolist() == [0, 2, 0, 1, 3, 3]
    assert bands_of(metrics.metric("weat"), [3, 3], of_words) is of_words
    assert bands_of(metrics.metric("weat"), [3, 3]) is None


def test_the_names_that_ship_are_those_of_weat():
    crossed, weat = bg.word_sets("crossed"), bg.word_sets("weat")
    for people in ("african_american", "european_american"):
        men, women = crossed[f"{people}_men"], crossed[f"{people}_women"]
        assert [*men, *women] == weat[f"{people}_names_7"]
        assert len(men) == len(women) == 9
