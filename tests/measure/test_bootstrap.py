"""Bootstrap: intervals are scipy's, samples are of words and shared by all cells that have the set."""

import math

import numpy as np
import pytest
import scipy.stats
from conftest import make_store
from hypothesis import given, settings
from hypothesis import strategies as st
from resampled import Vectors
from scipy.stats._resampling import BootstrapResult
from test_resampling import near, sets_of, variants, vectors, w

from biasgrid import Query, metrics
from biasgrid.measure.bootstrap import draw_counts, intervals
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.models.words import WordOptions, find

pytestmark = pytest.mark.slow

LEVELS = (0.9, 0.95)


def by_scipy(data, statistic, distribution, level, method):
    """scipy's interval of the same distribution."""
    given = BootstrapResult(None, np.asarray(distribution), None)
    made = scipy.stats.bootstrap(
        data, statistic, n_resamples=0, bootstrap_result=given, confidence_level=level, method=method
    )
    return list(made.confidence_interval), made.standard_error


def without_each(data, statistic):
    """The statistic without each element in turn, an array a sample."""
    return [
        np.array(
            [statistic(*data[:i], np.delete(sample, place), *data[i + 1 :]) for place in range(len(sample))]
        )
        for i, sample in enumerate(data)
    ]


STATISTICS = {
    "mean": (1, np.mean),
    "variance": (1, np.var),
    "difference": (2, lambda x, y: np.mean(x) - np.mean(y)),
    "ratio": (3, lambda x, y, z: np.mean(x) * np.std(z) / (3 + np.mean(y) ** 2)),
}


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(list(STATISTICS)), st.integers(0, 2**32), st.sampled_from(LEVELS))
def test_intervals_are_scipys(name, seed, level):
    rng = np.random.default_rng(seed)
    samples, statistic = STATISTICS[name]
    data = tuple(rng.exponential(size=rng.integers(3, 12)) for _ in range(samples))
    distribution = [statistic(*(rng.choice(x, size=len(x)) for x in data)) for _ in range(199)]
    ours = intervals(np.array(distribution), statistic(*data), without_each(data, statistic), level)
    assert (ours["draws"], ours["undefined"]) == (199, 0)
    for kind, method in (("percentile", "percentile"), ("bca", "BCa")):
        expected, error = by_scipy(data, statistic, distribution, level, method)
        assert ours[kind] == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
    assert ours["standard_error"] == pytest.approx(error)
    assert ours["mean"] == pytest.approx(np.mean(distribution))


def test_bca_by_hand():
    """Efron & Tibshirani 1993, equations 14.10, 14.14 and 14.15, of 1000 values that are their ranks."""
    distribution, observed = np.arange(1, 1001.0), 450.5
    without = np.array([1.0, 2.0, 4.0, 9.0])
    z0 = scipy.stats.norm.ppf(0.45)
    away = without.mean() - without
    a = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    ends = []
    for tail in (0.025, 0.975):
        z = z0 + scipy.stats.norm.ppf(tail)
        ends.append(1 + 999 * scipy.stats.norm.cdf(z0 + z / (1 - a * z)))
    found = intervals(distribution, observed, [without], 0.95)
    assert found["bca"] == pytest.approx(ends)
    assert found["percentile"] == pytest.approx([1 + 999 * 0.025, 1 + 999 * 0.975])


def is_none(interval):
    return all(map(math.isnan, interval))


def test_undefined_samples():
    """Up to 5 % of them are left out; of more, there is nothing to be said."""
    rng = np.random.default_rng(0)
    values, without = rng.normal(size=100), [rng.normal(size=5)]
    values[[3, 20, 40, 60, 99]] = np.nan
    found, of_defined = (intervals(v, 0.1, without, 0.95) for v in (values, values[np.isfinite(values)]))
    assert (found.pop("draws"), found.pop("undefined")) == (100, 5)
    assert found == {k: v for k, v in of_defined.items() if k not in ("draws", "undefined")}
    values[7] = np.nan
    found = intervals(values, 0.1, without, 0.95)
    assert found["undefined"] == 6
    assert is_none([found["mean"], found["standard_error"]])
    assert is_none([*found["percentile"], *found["bca"]])


@pytest.mark.parametrize("observed", [-9.0, 9.0])
def test_all_samples_on_one_side(observed):
    values = np.random.default_rng(0).normal(size=99)
    with np.errstate(invalid="ignore"):
        found = intervals(values, observed, [np.arange(4.0)], 0.95)
    assert is_none(found["bca"])
    assert found["percentile"] == pytest.approx(np.quantile(values, [0.025, 0.975]))


@pytest.mark.parametrize("place", [0, 1])
def test_a_set_of_one_word_has_no_bca(place):
    """Its word cannot be left out: the acceleration is unknown, and not 0."""
    values = np.random.default_rng(0).normal(size=99)
    without = [np.arange(4.0), np.arange(3.0)]
    without[place] = np.full(1, np.nan)
    found = intervals(values, 0.1, without, 0.95)
    assert is_none(found["bca"])
    assert not is_none(found["percentile"])


def test_a_value_that_no_word_changes_has_no_interval():
    found = intervals(np.full(50, 2.0), 2.0, [np.full(4, 2.0)], 0.95)
    assert is_none([*found["percentile"], *found["bca"], *found["jackknife"]])
    assert found["reasons"]["jackknife"] == "leaving out any one word does not change the value"
    assert found["reasons"]["percentile"] == found["reasons"]["bca"] == "95 % of the resamples have one value"
    assert found["standard_error"] == 0
    # rounding is no length, whatever the value's size; a short interval is one
    for value, moved in ((1e6, 1e-10), (0.0, 1e-16)):
        found = intervals(value + moved * np.arange(50), value, [value + moved * np.arange(4)], 0.95)
        assert set(found["reasons"]) == {"percentile", "bca", "jackknife"}
    found = intervals(1e-9 * np.arange(50), 2e-8, [1e-9 * np.arange(4)], 0.95)
    assert found["reasons"] == {}


def angled(tmp_path, angles):
    """Words w0, w1, ... in the plane, at angles in degrees."""
    vectors = np.stack([np.cos(np.radians(angles)), np.sin(np.radians(angles))], axis=1)
    return make_store(tmp_path, [f"w{i}" for i in range(len(angles))], vectors)


@pytest.mark.parametrize("interval", ["jackknife", "percentile", "bca"])
def test_ect_of_words_in_one_order_has_no_interval(tmp_path, interval):
    """Both groups order the attributes alike, by a long way: no word left out, and none drawn twice, moves the
    correlation from 1, which says nothing of how sure it is."""
    query = Query([w(0, 1, 2), w(3, 4, 5)], [w(6, 7, 8, 9, 10)])
    alike = angled(tmp_path, [0, 1, 2, 3, 4, 5, 20, 35, 50, 65, 80])
    result = metrics.ect(query, alike, bootstrap={"draws": 200}, interval=interval)
    assert result.value == 1
    assert is_none([result.ci_low, result.ci_high])
    assert set(result.inference["bootstrap"]["reasons"]) == {"jackknife", "percentile", "bca"}
    # one attribute lies between the groups, nearer to the second
    (tmp_path / "unlike").mkdir()
    unlike = angled(tmp_path / "unlike", [0, 1, 2, 13, 14, 15, 20, 35, 50, 65, -5])
    result = metrics.ect(query, unlike, bootstrap={"draws": 200}, interval=interval)
    assert result.ci_low < result.ci_high
    assert result.inference["bootstrap"]["reasons"] == {}


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["weat", "weat_es", "ect", "mac", "rnd"]),
    st.lists(st.sampled_from(range(0, 180, 20)), min_size=14, max_size=14),
    st.integers(1, 4),
)
def test_an_interval_has_a_length_or_a_reason(name, angles, size):
    """Of words that lie on few angles, so that many of them change nothing."""
    vectors = {f"w{i}": np.array([np.cos(a), np.sin(a)]) for i, a in enumerate(np.radians(angles))}
    sets = [w(*range(3 * i, 3 * i + size)) for i in range(4)]
    metric = metrics.REGISTRY[name]
    query = Query(sets[:2], sets[2:] if metric.template[1] != 1 else sets[2:3])
    (result,), _ = infer_query(
        MeasurementSpec(metric, inference={"bootstrap": {"draws": 30}}), query, InMemory(vectors)
    )
    if result["status"] == "ok":
        made = result["bootstrap"]
        for kind in ("jackknife", "percentile", "bca"):
            low, high = made[kind]
            assert (low is None) == (high is None) == (kind in made["reasons"])
            assert low is None or low < high


class InMemory:
    """Vectors by word as a model."""

    vocab_prefix = ""

    def __init__(self, vectors):
        self.words, self.vectors = list(vectors), np.array(list(vectors.values()))

    def rows(self, words):
        return np.array([self.words.index(word) if word in self.words else -1 for word in words])

    def take(self, words, rows):
        return self.vectors[rows]


# what is drawn


def everywhere(words):
    return np.arange(len(words))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**32), st.data())
def test_a_sample_has_as_many_words_as_were_found(size, seed, data):
    words = w(*range(size))
    places = np.array(sorted(data.draw(st.sets(st.integers(0, size - 1), min_size=1))))
    counts = draw_counts(words, places, 40, seed)
    assert counts.shape == (40, len(places))
    assert (counts >= 0).all()
    assert (counts.sum(axis=1) == len(places)).all()


@pytest.mark.parametrize("places", [[0, 1, 2, 3], [0, 2, 3], [3, 1]])
def test_every_word_is_drawn_alike(places):
    """Counts of a word are binomial, n trials of chance 1/n, and counts of two words multinomial."""
    places, draws = np.array(sorted(places)), 20_000
    n = len(places)
    counts = draw_counts(w(0, 1, 2, 3), places, draws, 5)
    for of_word in counts.T:
        expected = scipy.stats.binom.pmf(np.arange(n + 1), n, 1 / n) * draws
        assert scipy.stats.chisquare(np.bincount(of_word, minlength=n + 1), expected).pvalue > 1e-3
    covariance = np.cov(counts.T)
    assert covariance == pytest.approx(np.eye(n) - 1 / n, abs=0.04)


def test_samples_are_of_the_set_and_the_seed_alone():
    words = w(0, 1, 2, 3, 4)
    whole = draw_counts(words, everywhere(words), 200, 1)
    others = [
        draw_counts(words, everywhere(words), 200, 2),
        draw_counts(w(5, 6, 7, 8, 9), everywhere(words), 200, 1),
        draw_counts(["w0,w1", *w(2, 3, 4, 5)], everywhere(words), 200, 1),
    ]
    assert all((other != whole).any(axis=1).sum() > 100 for other in others)
    # whatever was drawn in between
    assert (draw_counts(words, everywhere(words), 200, 1) == whole).all()
    # more draws begin with the same
    assert (draw_counts(words, everywhere(words), 300, 1)[:200] == whole).all()


def test_only_draws_of_words_that_a_model_lacks_are_its_own():
    """A model that has 9 of 10 words: no word that it has stands in its samples less often than in the whole set's,
    but for the one that makes them shorter."""
    words = w(*range(10))
    whole = draw_counts(words, everywhere(words), 500, 1)
    places = np.delete(everywhere(words), 4)
    lacking = draw_counts(words, places, 500, 1)
    fewer = np.maximum(whole[:, places] - lacking, 0).sum(axis=1)
    assert fewer.max() <= 1
    # samples that did not draw the word at all are the same but for that one
    untouched = whole[:, 4] == 0
    assert untouched.sum() > 100
    assert (np.abs(whole[untouched][:, places] - lacking[untouched]).sum(axis=1) == 1).all()
    # another model that lacks it has the same samples
    assert (draw_counts(words, places, 500, 1) == lacking).all()


# through the public door


def bootstrapped(metric, query, model, parameters=None, words=None, draws=60, seed=3, **options):
    parts = {"bootstrap": {"draws": draws, **options}}
    request = MeasurementSpec(
        metric, parameters or {}, words or WordOptions(), inference=parts, draw_seed=seed
    )
    (result,), samples = infer_query(request, query, model)
    assert result["status"] == "ok"
    return result, samples[0]


@variants
def test_samples_intervals_and_error_by_definition(random_model, name, parameters):
    """Each sample measured by the metric's function; BCa by scipy, that leaves each word out itself."""
    metric, model = metrics.REGISTRY[name].under(parameters), random_model(21)
    sides = sets_of(metric)
    query = Query(*([w(*s) for s in side] for side in sides))
    result, samples = bootstrapped(metric, query, model, parameters, draws=120, level=0.9)
    everything = vectors(w(*range(40)), model)
    sets = [np.array(s) for side in sides for s in side]

    def function(*numbers):
        numbers = [everything[n.astype(int)] for n in numbers]
        return metric.function(numbers[: len(sides[0])], numbers[len(sides[0]) :], **parameters).value

    counts = [draw_counts(w(*s), everywhere(s), 120, 3) for s in sets]
    if metric.paired:
        counts[1] = counts[0]
    expected = [
        function(*(np.repeat(s, c) for s, c in zip(sets, row, strict=True)))
        for row in zip(*counts, strict=True)
    ]
    assert samples.tolist() == near(expected)
    defined = samples[np.isfinite(samples)]
    found = result["bootstrap"]
    assert (found["draws"], found["undefined"]) == (120, 120 - len(defined))
    assert found["standard_error"] == pytest.approx(np.std(defined, ddof=1))
    for kind, method in (("percentile", "percentile"), ("bca", "BCa")):
        if metric.paired:
            # a pair is one observation: its number in the list
            data = np.arange(len(sets[0])), *sets[2:]

            def statistic(pairs, *others):
                rows = pairs.astype(int)
                return function(sets[0][rows], sets[1][rows], *others)

        else:
            data, statistic = sets, function
        expected, _ = by_scipy(tuple(data), statistic, defined, 0.9, method)
        assert found[kind] == pytest.approx(expected, rel=1e-5)


def test_rnsb_with_random_splits_is_moved_to_its_value(random_model):
    """Its samples have no random splits, and its value does: they are moved by what the two differ in."""
    query = Query([w(1, 2, 3, 4)], [w(5, 6, 7, 8, 9), w(10, 11, 12, 13, 14)])
    model = random_model(22)
    (one,), samples = infer_query(
        MeasurementSpec(metrics.metric("rnsb"), seed=1, inference={"bootstrap": {"draws": 30}}), query, model
    )
    (other,), others = infer_query(
        MeasurementSpec(metrics.metric("rnsb"), seed=2, inference={"bootstrap": {"draws": 30}}), query, model
    )
    assert one["value"] != other["value"]
    assert one["value"] == metrics.rnsb(query, model, seed=1).value
    # but not below 0, where the range ends
    inside = (samples > 0) & (others > 0)
    assert inside.mean() > 0.5
    assert samples.min() >= 0
    assert (samples - one["value"])[inside] == pytest.approx((others - other["value"])[inside])
    # a sample in which each word stands once would have the value: the samples lie around it
    assert samples.min() < one["value"] < samples.max()


def test_a_set_is_drawn_alike_in_every_query(random_model):
    """Sets that only one query has change nothing of the samples of the others: differences are of one draw."""
    model = random_model(23)
    sets = [w(1, 2, 3), w(4, 5, 6)], [w(7, 8, 9), w(10, 11)]
    _, samples = bootstrapped(metrics.metric("weat"), Query(*sets), model)
    # targets exchanged: the same draws, and the opposite sign
    _, opposite = bootstrapped(metrics.metric("weat"), Query(sets[0][::-1], sets[1]), model)
    assert samples == pytest.approx(-opposite)
    # two sub-queries that share all sets but one
    three = Query([*sets[0], w(12, 13)], sets[1])
    results, of_three = infer_query(
        MeasurementSpec(metrics.metric("weat"), inference={"bootstrap": {"draws": 60}}, draw_seed=3),
        three,
        model,
    )
    assert [r["status"] for r in results] == ["ok"] * 3
    assert of_three[0].tolist() == samples.tolist()
    _, elsewhere = bootstrapped(metrics.metric("weat"), Query(*sets), model, seed=4)
    assert elsewhere.tolist() != samples.tolist()


def test_sums_of_sub_queries_are_of_one_draw(random_model):
    """s(X, Y) + s(Y, Z) = s(X, Z), in every sample."""
    query = Query([w(1, 2, 3), w(4, 5), w(6, 7, 8, 9)], [w(10, 11, 12), w(13, 14)])
    _, (xy, xz, yz) = infer_query(
        MeasurementSpec(metrics.metric("weat"), inference={"bootstrap": {"draws": 40}}),
        query,
        random_model(24),
    )
    assert xy + yz == pytest.approx(xz)


def test_a_sub_query_without_a_value_has_samples_of_nan(random_model):
    query = Query([w(1, 2), w(3, 4), ["gone", "lost"]], [w(5, 6), w(7, 8)])
    results, samples = infer_query(
        MeasurementSpec(metrics.metric("weat"), inference={"bootstrap": {"draws": 5}}), query, random_model(0)
    )
    assert [r["status"] for r in results] == ["ok", *["lost_words:Target set 2"] * 2]
    assert np.isfinite(samples).all(axis=1).tolist() == [True, False, False]
    assert set(results[1]) == {"query", "status"}


def test_a_value_that_is_undefined_has_no_inference():
    model = Vectors([np.tile([1.0, 2.0], (4, 1)), np.eye(2), np.eye(2)])
    query = Query([["0", "1"], ["2", "3"]], [["4", "5"], ["6", "7"]])
    (result,), samples = infer_query(
        MeasurementSpec(
            metrics.metric("weat_es"),
            inference={"permutation": {}, "bootstrap": {"draws": 5}, "sensitivity": {}},
        ),
        query,
        model,
    )
    assert result == {"query": query.name, "status": "degenerate"}
    assert np.isnan(samples).all()


def test_a_set_of_one_word(random_model):
    query = Query([w(1), w(2, 3)], [w(4, 5), w(6, 7)])
    result, samples = bootstrapped(metrics.metric("weat"), query, random_model(0))
    assert result["bootstrap"]["bca"] == [None, None]
    assert result["bootstrap"]["percentile"] == pytest.approx(np.quantile(samples, [0.025, 0.975]))


def test_forms_of_a_word_are_drawn_together(tmp_path):
    """Words found in two forms, in one, and not at all: what is drawn are words, with all forms that they have."""
    names = [*w(*range(12)), "W1", "W2", "W6"]
    model = make_store(tmp_path, names, np.random.default_rng(3).normal(size=(len(names), 6)))
    forms = WordOptions(
        preprocessors=({}, {"uppercase": True}), strategy="all", lost_vocabulary_threshold=0.5
    )
    sets = [["w1", "gone", "w2", "w3"], w(4, 5)], [w(6, 7), w(8, 9, 10)]
    query = Query(*sets)
    result, samples = bootstrapped(metrics.metric("weat"), query, model, words=forms)
    rows = [
        [["w1", "W1"], ["w2", "W2"], ["w3"]],
        [["w4"], ["w5"]],
        [["w6", "W6"], ["w7"]],
        [["w8"], ["w9"], ["w10"]],
    ]
    places = [np.array([0, 2, 3]), np.arange(2), np.arange(2), np.arange(3)]
    counts = [draw_counts(s, p, 60, 3) for s, p in zip((*sets[0], *sets[1]), places, strict=True)]

    def of(words):
        return find("words", words, model, WordOptions()).vectors

    for sample, value in enumerate(samples):
        drawn = [
            np.concatenate([of(word) for word, n in zip(words, c[sample], strict=True) for _ in range(n)])
            for words, c in zip(rows, counts, strict=True)
        ]
        assert value == pytest.approx(metrics.metric("weat").function(drawn[:2], drawn[2:]).value)
    assert result["bootstrap"]["undefined"] == 0


def test_pairs_are_drawn_as_pairs(random_model):
    """With a word of a pair lost, the pair is: RIPA of samples of the pairs that are whole."""
    model = random_model(25)
    first, second, attributes = ["w1", "gone", "w2", "w3"], ["w4", "w5", "w6", "w7"], w(8, 9, 10)
    options = WordOptions(lost_vocabulary_threshold=0.5)
    _, samples = bootstrapped(
        metrics.metric("ripa"), Query([first, second], [attributes]), model, words=options
    )
    pairs = draw_counts(first, np.array([0, 2, 3]), 60, 3)
    words = draw_counts(attributes, np.arange(3), 60, 3)
    whole = [vectors(s, model) for s in (["w1", "w2", "w3"], ["w4", "w6", "w7"], attributes)]
    for value, c, d in zip(samples, pairs, words, strict=True):
        x, y, a = (np.repeat(v, n, axis=0) for v, n in zip(whole, (c, c, d), strict=True))
        assert value == pytest.approx(metrics.metric("ripa").function([x, y], [a]).value)


@pytest.mark.parametrize("size", [225, 250, 1030])
def test_samples_of_a_large_set_have_the_error_of_a_mean(tmp_path, size):
    """MAC with one target word is a mean over the attribute words, WEAT a sum over the target words."""
    words = [f"w{i}" for i in range(size + 4)]
    # cosines around .5: what words share must not count as what they differ in
    model = make_store(tmp_path, words, 0.7 + np.random.default_rng(size).normal(size=(len(words), 8)))
    few, many = words[:4], words[4:]
    (result,), samples = infer_query(
        MeasurementSpec(metrics.metric("mac"), inference={"bootstrap": {"draws": 2000}}),
        Query([few[:1]], [many]),
        model,
    )
    (target,), attributes = (find("words", s, model, WordOptions()).vectors for s in (few[:1], many))
    lengths = np.linalg.norm(attributes, axis=1) * np.linalg.norm(target)
    distances = 1 - attributes @ target / lengths
    # the error of 50 groups has itself one of a tenth
    assert samples.std() == pytest.approx(distances.std() / math.sqrt(size), rel=0.25)
    assert samples.mean() == pytest.approx(result["value"], abs=0.1 * samples.std())

    _, samples = infer_query(
        MeasurementSpec(metrics.metric("weat"), inference={"bootstrap": {"draws": 2000}}),
        Query([many, few[2:3]], [few[:1], few[1:2]]),
        model,
    )
    a, b = (find("words", [word], model, WordOptions()).vectors[0] for word in few[:2])
    lengths = np.linalg.norm(attributes, axis=1)
    association = attributes @ (a / np.linalg.norm(a) - b / np.linalg.norm(b)) / lengths
    assert samples.std() == pytest.approx(association.std() * math.sqrt(size), rel=0.25)


def test_samples_of_a_large_set_stay_in_the_range(tmp_path):
    words = [f"w{i}" for i in range(310)]
    model = make_store(tmp_path, words, np.random.default_rng(5).normal(size=(len(words), 6)))
    # the same words, but for one: an ECT just below 1
    query = Query([words[:9], words[1:9]], [words[9:]])
    (result,), samples = infer_query(
        MeasurementSpec(metrics.metric("ect"), inference={"bootstrap": {"draws": 300}}), query, model
    )
    assert 0.9 < result["value"] < 1
    assert samples.max() <= 1


@pytest.mark.parametrize("name", ["weat_es", "sc_weat"])
def test_the_range_of_an_effect_size_is_that_of_sets_of_their_sizes(tmp_path, name):
    """Three words against thirty can be 33 / sqrt(90) standard deviations apart, and are more than two here: neither
    samples nor the interval end at 2, where those of sets of one size do."""
    rng = np.random.default_rng(8)
    angles = np.radians(
        np.concatenate([rng.normal(0, 3, 3), rng.normal(90, 6, 250), rng.normal(-10, 8, 250)])
    )
    words = [f"w{i}" for i in range(len(angles))]
    model = make_store(tmp_path, words, np.stack([np.cos(angles), np.sin(angles)], axis=1))
    few, many, others = words[:3], words[3:253], words[253:]
    if name == "weat_es":
        query = Query([few, many], [others[:5], others[5:9] + many[:5]])
    else:
        query = Query([few, many[:30]], [others])
    (result,), samples = infer_query(
        MeasurementSpec(metrics.REGISTRY[name], inference={"bootstrap": {"draws": 300}}), query, model
    )
    sets = [find("words", s.words, model, WordOptions()).vectors for s in query.target_sets]
    first, second = (len(s) for s in sets)
    end = (first + second) / math.sqrt(first * second)
    assert 2 < abs(result["value"]) < end
    assert np.median(samples) == pytest.approx(result["value"], rel=0.1)
    low, high = result["bootstrap"]["jackknife"]
    assert (low + high) / 2 == pytest.approx(result["value"])
    assert -end <= samples.min() <= samples.max() <= end


def test_a_large_set_is_drawn_alike_for_models_that_lack_words(tmp_path):
    words = [f"w{i}" for i in range(500)]
    rows = np.random.default_rng(6).normal(size=(len(words), 8))
    kept = [i for i in range(500) if i < 5 or i % 47]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    whole = make_store(tmp_path / "a", words, rows)
    lacking = make_store(tmp_path / "b", [words[i] for i in kept], rows[kept])
    query = Query([words[:1]], [words[5:]])
    samples = [
        infer_query(
            MeasurementSpec(metrics.metric("mac"), inference={"bootstrap": {"draws": 400}}), query, m
        )[1][0]
        for m in (whole, lacking)
    ]
    # 10 of 495 words are another's
    assert np.corrcoef(samples)[0, 1] > 0.9


@pytest.mark.parametrize("sizes", [(3, 12), (8, 8)])
def test_the_jackknife_of_a_difference_of_means_is_welchs_interval(sizes):
    rng = np.random.default_rng(sum(sizes))
    x, y = rng.normal(size=sizes[0]), rng.normal(1, 3, size=sizes[1])
    without = without_each((x, y), lambda x, y: np.mean(x) - np.mean(y))
    ours = intervals(np.zeros(9), x.mean() - y.mean(), without, 0.9)["jackknife"]
    welch = scipy.stats.ttest_ind(x, y, equal_var=False).confidence_interval(0.9)
    assert ours == pytest.approx([welch.low, welch.high])


def test_the_jackknife_stays_in_the_range(random_model):
    query = Query([w(1, 2, 3), w(4, 5, 6)], [w(7, 8, 9), w(10, 11, 12)])
    result, samples = bootstrapped(metrics.metric("weat_es"), query, random_model(3))
    sets = [vectors(s, random_model(3)) for s in (w(1, 2, 3), w(4, 5, 6), w(7, 8, 9), w(10, 11, 12))]
    without = without_each(sets, lambda *s: 0.0)
    for i, words in enumerate(sets):
        for place in range(3):
            rest = [*sets[:i], np.delete(words, place, axis=0), *sets[i + 1 :]]
            without[i][place] = metrics.metric("weat_es").function(rest[:2], rest[2:]).value
    free = intervals(samples, result["value"], without, 0.95)["jackknife"]
    # of so few words it is longer than the range
    assert free[0] < -2 or free[1] > 2
    assert result["bootstrap"]["jackknife"] == pytest.approx(np.clip(free, -2, 2).tolist())
