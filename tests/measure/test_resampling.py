"""`Metric.resampled` of every metric: by definition the metric's function of the words that a sample has.

What follows from it - what is exchanged in a permutation test, the influence of single words, halves of the sets - is
held against scipy and against enumeration, with the metrics' functions alone.
"""

import tracemalloc
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
import scipy.stats
from conftest import make_store
from hypothesis import given, settings
from hypothesis import strategies as st
from resampled import Vectors, drawn, pooled
from sklearn.linear_model import LogisticRegression

from biasgrid import Query, load, metrics
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.metrics.registry import Metric, Score, one_by_one
from biasgrid.models.words import WordOptions, find

pytestmark = pytest.mark.slow

# a metric and parameters under which its function draws nothing
VARIANTS = [
    ("weat", {}),
    ("weat", {"return_effect_size": True, "ddof": 1}),
    ("weat", {"return_effect_size": True, "one_word": "keep"}),
    ("weat_es", {"ddof": 0}),
    ("weat_es", {"ddof": 1}),
    ("weat_es", {"ddof": 1, "one_word": "keep"}),
    ("rnd", {"distance": "norm"}),
    ("rnd", {"distance": "cos"}),
    ("mac", {}),
    ("mac", {"legacy_pooled": True}),
    ("ect", {}),
    ("ripa", {}),
    ("ripa", {"relation": "mean"}),
    ("rnsb", {"holdout": False}),
    ("same", {}),
    ("same", {"orientation": "wefe_benchmark"}),
    ("same_skew", {"contrast": "rest", "orientation": "wefe_benchmark"}),
    ("same_skew", {}),
    ("same_stereotype", {"contrast": "rest"}),
    ("same_stereotype", {"as_printed": True}),
    ("generalized_weat", {}),
    ("direct_bias", {}),
    ("direct_bias", {"direction": "pair", "c": 2}),
    ("direct_bias", {"direction": "mean"}),
    ("direct_bias", {"direction": "sum", "orientation": "wefe_benchmark"}),
    ("direct_bias", {"direction": "all_pairs"}),
    ("direct_bias", {"direction": "all_pairs", "orientation": "wefe_benchmark"}),
    ("sc_weat", {"ddof": 0, "orientation": "wefe_benchmark"}),
    ("sc_weat", {}),
    ("sc_weat", {"one_word": "keep"}),
    ("nas", {}),
    ("nas", {"one_word": "keep"}),
    ("semaxis", {"orientation": "wefe_benchmark"}),
    ("semaxis", {}),
    ("indirect_bias", {}),
    ("indirect_bias", {"direction": "pair"}),
    ("indirect_bias", {"direction": "mean"}),
    ("indirect_bias", {"direction": "sum"}),
    ("indirect_bias", {"direction": "all_pairs"}),
]
# what these need of a model comes not from vectors: tests/metrics/test_word_metrics.py
OF_MODELS = {"gipe", "proximity", "pmn"}
OF_VECTORS = {name: metric for name, metric in metrics.REGISTRY.items() if metric.needs == "vectors"}
# a metric that has no entry is here under its defaults
LISTED = {*OF_MODELS, *(name for name, _ in VARIANTS)}
VARIANTS += [(name, {}) for name, m in OF_VECTORS.items() if name not in LISTED and not m.of_model]
# of an exchange of words
TESTED = [
    (name, parameters)
    for name, parameters in VARIANTS
    if not metrics.REGISTRY[name].under(parameters).no_test
    and name not in ("direct_bias", "indirect_bias")
    # of four groups: tests/metrics/test_crossed_groups.py
    and metrics.REGISTRY[name].exchanged != "constituents"
]
variants = pytest.mark.parametrize(("name", "parameters"), VARIANTS)
with_a_test = pytest.mark.parametrize(("name", "parameters"), TESTED)


def test_every_metric_is_here():
    # those of corpora: tests/models/corpora
    of_model = {name for name, metric in OF_VECTORS.items() if metric.of_model}
    assert of_model >= OF_MODELS
    assert all(metrics.REGISTRY[name].resampled for name in LISTED)
    assert {name for name, _ in VARIANTS} | of_model == OF_VECTORS.keys()
    for name in of_model - OF_MODELS:
        assert OF_VECTORS[name].resampled, f"{name}: a metric with `of_model` has `resampled`, too"
    for name in OF_VECTORS.keys() - LISTED:
        says = f"{name}: it draws at random; VARIANTS needs parameters under which its function does not"
        assert not OF_VECTORS[name].seeded, says


def near(expected):
    """RNSB's solver leaves 1e-9 of a probability."""
    return pytest.approx(expected, rel=1e-9, abs=1e-8, nan_ok=True)


def number_of_sets(metric):
    """Of targets and of attributes."""
    return [{"n": 3, "k": 2}.get(n, n) for n in metric.template]


def by_function(metric, sets, counts, parameters):
    """The function's value of each sample, whose words are repeated as often as it has them."""
    targets, values = number_of_sets(metric)[0], []
    for sample in range(max(map(len, counts))):
        words = [
            np.repeat(vectors, c[sample % len(c)], axis=0) for vectors, c in zip(sets, counts, strict=True)
        ]
        with np.errstate(all="ignore"):
            values.append(metric.function(words[:targets], words[targets:], **parameters).value)
    return values


def both_paths(metric, sets, counts, parameters):
    """Values of the samples by the metric's own `resampled`, and one by one."""
    targets = number_of_sets(metric)[0]
    sides = [np.concatenate(sets[:targets]), np.concatenate(sets[targets:])]
    weights = [pooled(counts[:targets]), pooled(counts[targets:])]
    own = parameters if metric.resampled else {}
    with np.errstate(all="ignore"):
        return (
            (metric.resampled or partial(one_by_one, metric, parameters=parameters))(*sides, **own)(*weights),
            one_by_one(metric, *sides, parameters)(*weights),
        )


@variants
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_a_sample_has_the_value_of_its_words(name, parameters, data):
    """Sets of few different vectors: one repeated word, ties and sets without a spread are among the samples."""
    metric = metrics.REGISTRY[name].under(parameters)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    targets, attributes = number_of_sets(metric)
    sizes = [data.draw(st.integers(1, 5)) for _ in range(targets + attributes)]
    if metric.paired:
        sizes[1] = sizes[0]
    pool = rng.normal(size=(data.draw(st.sampled_from([2, 4, 40])), 6))
    sets = [pool[rng.integers(len(pool), size=size)] for size in sizes]
    if metric.paired:
        # of a pair of one word there is no relation
        sets[1] = rng.normal(size=sets[0].shape)
    samples = 4
    counts = [drawn(rng, size, samples) for size in sizes]
    # samples of one side alone, too: the other's words stay as they are
    alone = data.draw(st.sampled_from(["both", "targets", "attributes"]))
    kept = {"both": (), "targets": range(targets, len(sets)), "attributes": range(targets)}[alone]
    for i in kept:
        counts[i] = np.ones((1, sizes[i]), dtype=int)
    if metric.paired:
        counts[1] = counts[0]
    expected = by_function(metric, sets, counts, parameters)
    fast, slow = both_paths(metric, sets, counts, parameters)
    assert slow.shape == fast.shape == (samples,)
    assert fast.tolist() == near(expected)
    assert slow.tolist() == near(expected)


@pytest.mark.parametrize("holdout", [False, True])
def test_rnsb_of_samples_is_a_weighted_classifiers(holdout):
    """By scikit-learn: logistic regression, C = 1, whose intercept is a penalised weight. Where words are held out,
    each is trained on with weight 1 - test_size."""
    rng = np.random.default_rng(4)
    words, attributes = rng.normal(size=(5, 6)), rng.normal(size=(7, 6))
    counts = [rng.multinomial(5, np.full(5, 0.2), size=4)]
    counts += [rng.multinomial(n, np.full(n, 1 / n), size=4) for n in (3, 4)]
    options = {"holdout": holdout, "test_size": 0.3}
    values = metrics.metric("rnsb").resampled(words, attributes, **options)(
        pooled(counts[:1]), pooled(counts[1:])
    )

    def with_one(vectors):
        return np.hstack([vectors, np.ones((len(vectors), 1))])

    for value, of_words, *of_attributes in zip(values, *counts, strict=True):
        model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12, max_iter=10_000)
        weights = np.concatenate(of_attributes) * (0.7 if holdout else 1.0)
        model.fit(with_one(attributes), np.repeat([0, 1], [3, 4]), weights)
        negative = np.repeat(model.predict_proba(with_one(words))[:, 1], of_words)
        uniform = np.full(len(negative), 1 / len(negative))
        assert value == pytest.approx(scipy.stats.entropy(negative / negative.sum(), uniform), rel=1e-5)


def test_a_mean_that_is_the_attribute_word_is_no_distance_away():
    """Where rounding of products of long vectors is all that is left of a distance."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sets = [1000 * rng.normal(size=(n, 300)) for n in (3, 3)]
        sets.append(np.concatenate([sets[0], sets[1][:1]]))
        # each sample of the first set is one of its words, which is an attribute word
        counts = [3 * np.eye(3, dtype=int), np.ones((1, 3), dtype=int), np.ones((1, 4), dtype=int)]
        fast, _ = both_paths(metrics.metric("rnd"), sets, counts, {})
        assert fast.tolist() == pytest.approx(by_function(metrics.metric("rnd"), sets, counts, {}), abs=1e-8)


# through the public door


def w(*numbers):
    return [f"w{n}" for n in numbers]


def vectors(words, model):
    return find("words", words, model, WordOptions()).vectors


def inferred(metric, query, model, parameters=None, words=None, draw_seed=0, **parts):
    words = words or WordOptions()
    request = MeasurementSpec(metric, parameters or {}, words, inference=parts, draw_seed=draw_seed)
    (result,), samples = infer_query(request, query, model)
    assert result["status"] == "ok"
    return result if samples is None else (result, samples[0])


# target sets of unequal size and attribute sets: word numbers
TARGETS, ATTRIBUTES = ([1, 2, 3], [4, 5]), ([6, 7, 8], [9, 10, 11, 12])
PAIRS = ([1, 2, 3, 4], [5, 6, 7, 8])


def sets_of(metric):
    """Word numbers of target sets and attribute sets that a metric takes."""
    targets = PAIRS if metric.paired else TARGETS
    if metric.name == "rnsb":
        # its attribute words are dealt out
        return [[1, 2, 3, 4]], [[6, 7, 8], [9, 10]]
    if metric.template[0] == 4:
        targets = [*targets, [30, 31], [32, 33, 34]]
    if metric.template[1] == 1:
        return targets, [[20, 21, 22, 23, 24, 25, 26]]
    return targets, ATTRIBUTES


def by_scipy(metric, model, parameters, alternative):
    """scipy's exact permutation test of the metric's function of words, which are numbers to it."""
    targets, attributes = sets_of(metric)
    everything = vectors(w(*range(40)), model)

    def statistic(*samples):
        numbers = [s.astype(int) for s in samples]
        sides = [[everything[s] for s in side] for side in (targets, attributes)]
        sides[metric.exchanged == "attributes"] = [everything[s] for s in numbers]
        return metric.function(*sides, **parameters).value

    return scipy.stats.permutation_test(
        attributes if metric.exchanged == "attributes" else targets,
        statistic,
        permutation_type="samples" if metric.paired else "independent",
        n_resamples=np.inf,
        alternative=alternative,
    )


@with_a_test
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_p_values_are_scipys(random_model, name, parameters, alternative):
    metric, model = metrics.REGISTRY[name].under(parameters), random_model(11)
    targets, attributes = ([w(*s) for s in side] for side in sets_of(metric))
    query = Query(targets, attributes)
    wanted = {"alternative": alternative}
    test = inferred(metric, query, model, parameters, permutation=wanted)["permutation"]
    expected = by_scipy(metric, model, parameters, alternative)
    assert test["p_value"] == pytest.approx(expected.pvalue, abs=1e-12)
    assert test["observed"] == near(expected.statistic)
    assert (test["alternative"], test["method"]) == (alternative, "exact")
    assert test["partitions"] == len(expected.null_distribution)


ALTERNATIVE = {"ect": "less", "rnsb": "greater", "same": "greater", "same_stereotype": "greater"}


@with_a_test
def test_the_alternative_of_more_bias(random_model, name, parameters):
    """A smaller correlation, a larger divergence from uniform, a difference that is larger either way."""
    metric, model = metrics.REGISTRY[name].under(parameters), random_model(12)
    query = Query(*([w(*s) for s in side] for side in sets_of(metric)))
    test = inferred(metric, query, model, parameters, permutation={})["permutation"]
    of_its_range = "two-sided" if name in LISTED else metric.bias
    assert test["alternative"] == ALTERNATIVE.get(name, of_its_range)
    assert test["p_value"] == pytest.approx(by_scipy(metric, model, parameters, test["alternative"]).pvalue)


@with_a_test
def test_shared_words_stay(random_model, name, parameters):
    """A word of both sets stays in both; all ways to deal out the others, each measured by the function."""
    metric, model = metrics.REGISTRY[name].under(parameters), random_model(13)
    if metric.paired:
        return
    (first, second), others = ([1, 2, 3, 30], [4, 5, 30]), [w(6, 7, 8), w(9, 10, 11)]
    others = others[:1] if 1 in metric.template else others
    of_attributes = metric.exchanged == "attributes"

    def sides(one, other):
        exchanged = [w(*one), w(*other)]
        return (others, exchanged) if of_attributes else (exchanged, others)

    free = [1, 2, 3, 4, 5]
    values = []
    for chosen in combinations(free, 3):
        one, other = [*chosen, 30], [*(set(free) - set(chosen)), 30]
        values.append(
            metric.function(
                *([vectors(s, model) for s in side] for side in sides(one, other)), **parameters
            ).value
        )
    observed = values[0]
    test = inferred(
        metric, Query(*sides(first, second)), model, parameters, permutation={"alternative": "greater"}
    )["permutation"]
    assert test["partitions"] == 10
    assert test["p_value"] == pytest.approx(np.mean(np.array(values) >= observed - 1e-9))


@with_a_test
def test_lost_words_are_left_out_of_a_test(random_model, name, parameters):
    metric, model = metrics.REGISTRY[name].under(parameters), random_model(11)
    options = WordOptions(lost_vocabulary_threshold=0.5)
    sets = [[w(*s) for s in side] for side in sets_of(metric)]
    lossy = [[["gone", *s] for s in side] for side in sets]
    if metric.paired:
        # a pair that lost a word is no pair
        lossy[0] = [["gone", *sets[0][0], "w30"], ["w31", *sets[0][1], "lost"]]
    one, other = (
        inferred(metric, Query(*s), model, parameters, options, permutation={}) for s in (sets, lossy)
    )
    assert one["permutation"] == other["permutation"]


def test_no_partition_of_rnsb_beats_itself():
    """Its solver stops within 1e-9 of the minimum, elsewhere each time: an observed partition that is the most
    extreme has the p-value 1/70, not 0."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        words, attributes = rng.normal(size=(6, 10)), rng.normal(size=(8, 10))
        splits = [[*chosen, *sorted(set(range(8)) - set(chosen))] for chosen in combinations(range(8), 4)]
        counts = [np.array([[i in s[4 * k : 4 * k + 4] for i in range(8)] for s in splits]) for k in (0, 1)]
        statistic = metrics.metric("rnsb").resampled(words, attributes, holdout=False)
        with np.errstate(all="ignore"):
            values = statistic([np.ones((1, 6))], [c.astype(float) for c in counts])
        most = attributes[splits[int(values.argmax())]]
        p = p_of(metrics.metric("rnsb"), [words], [most[:4], most[4:]], {"holdout": False}, "greater")
        assert p == pytest.approx(1 / 70)


def p_of(metric, targets, attributes, parameters, alternative, **options):
    """p-value of these vectors, through a model of vectors alone."""
    model = Vectors([*targets, *attributes])
    sets, start = [], 0
    for vectors in (*targets, *attributes):
        sets.append([str(start + i) for i in range(len(vectors))])
        start += len(vectors)
    query = Query(sets[: len(targets)], sets[len(targets) :])
    wanted = {"alternative": alternative} | options
    return inferred(metric, query, model, parameters, permutation=wanted)["permutation"]["p_value"]


DRAWN = {"exact": 0, "draws": 19}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        # the size of a difference of two groups is that of the exchanged groups: half the values of p
        *((name, {}) for name in dict(TESTED) if name not in ("same", "same_stereotype")),
        ("weat", DRAWN),
        ("ripa", DRAWN),
        ("rnsb", DRAWN),
    ],
)
def test_p_values_are_uniform_where_it_does_not_matter_which_set_a_word_is_in(name, options):
    """Vectors of one distribution. All values of p, 1/N to 1, are as likely: p less a uniform number on [0, 1/N) is
    uniform on (0, 1)."""
    metric, parameters = metrics.REGISTRY[name], dict(TESTED)[name]
    rng = np.random.default_rng(17)
    size = 7 if options else 3
    found = []
    for repeat in range(120):
        # of many attribute words, so that rank correlations hardly ever tie
        others = [5] if name == "rnsb" else [20] if metric.template[1] == 1 else [4, 4]
        sizes = [others, [size, size]] if name == "rnsb" else [[size, size], others]
        sides = [[rng.normal(size=(n, 7)) for n in side] for side in sizes]
        alternative = ("greater", "less")[repeat % 2]
        p = p_of(metric, *sides, parameters, alternative, **options)
        partitions = 20 if options or not metric.paired else 2**size
        assert p * partitions == pytest.approx(round(p * partitions))
        found.append(p - rng.random() / partitions)
    assert scipy.stats.kstest(found, "uniform").pvalue > 0.01


# words left out, halves


@pytest.mark.filterwarnings("ignore:.*a word in two sets")
@variants
def test_influence_is_the_value_without_the_word(random_model, name, parameters):
    metric, model = metrics.REGISTRY[name].under(parameters), random_model(14)
    sides = [[w(*s) for s in side] for side in sets_of(metric)]
    query = Query(*sides)
    whole = metric(query, model, **parameters).value
    found = inferred(metric, query, model, parameters, sensitivity={})["influence"]
    sets = [*query.target_sets, *query.attribute_sets]
    if metric.paired:
        # a pair goes by its first word
        del sets[1]
    assert {s: list(changes) for s, changes in found.items()} == {s.name: list(s.words) for s in sets}
    for s in sets:
        for place, word in enumerate(s.words):
            left = [
                [
                    [x for i, x in enumerate(given) if i != place]
                    if given == list(s.words) or (metric.paired and side is sides[0])
                    else given
                    for given in side
                ]
                for side in sides
            ]
            if metric.paired and s.name != query.target_sets[0].name:
                left[0] = sides[0]
            without = metric(Query(*left), model, **parameters).value
            assert found[s.name][word] == near(without - whole)


def test_a_word_of_several_pairs_has_the_influence_of_each(random_model):
    """A pair goes by its first word, or by both where others have that, too."""
    model, pairs = random_model(14), [("w1", "w4"), ("w1", "w5"), ("w2", "w6")]
    attributes = [w(7, 8, 9)]
    with pytest.warns(UserWarning, match="repeats 'w1'"):
        query = Query([list(side) for side in zip(*pairs, strict=True)], attributes)
    mean = {"relation": "mean"}
    changes = inferred(metrics.metric("ripa"), query, model, mean, sensitivity={})["influence"][
        "Target set 0"
    ]
    assert list(changes) == ["w1, w4", "w1, w5", "w2"]
    whole = metrics.ripa(query, model, **mean).value
    for left_out, change in enumerate(changes.values()):
        (a, b), (c, d) = (pair for i, pair in enumerate(pairs) if i != left_out)
        relations = [vectors([x], model) - vectors([y], model) for x, y in ((a, b), (c, d))]
        products = [vectors(attributes[0], model) @ (r / np.linalg.norm(r)).T for r in relations]
        assert change == pytest.approx(np.mean(products) - whole)


@variants
def test_halves_by_definition(random_model, name, parameters):
    """Sets of two and three words: half of each is one word, any of them as likely. Where a metric has no value of
    sets of one word each, there is no distance."""
    metric, model = metrics.REGISTRY[name].under(parameters), random_model(15)
    targets = [[1, 2], [3, 4, 5]] if not metric.paired else [[1, 2, 3], [4, 5, 6]]
    attributes = [[6, 7, 8], [9, 10]] if metric.template[1] != 1 else [[6, 7, 8, 9, 10]]
    if metric.template[0] == 4:
        targets += [[20, 21], [22, 23]]
    sides = [targets, attributes]
    vectors_of = [[vectors(w(*s), model) for s in side] for side in sides]
    whole = metric.function(*vectors_of, **parameters).value
    query = Query(*([w(*s) for s in side] for side in sides))
    found = inferred(metric, query, model, parameters, sensitivity={"halves": 3000}, draw_seed=4)["halves"]
    for i, side in enumerate(("targets", "attributes")):
        choices = [list(combinations(range(len(s)), len(s) // 2)) for s in sides[i]]
        ways = product(*choices)
        if metric.paired and side == "targets":
            ways = [(pair, pair) for pair in choices[0]]
        distances = []
        for way in ways:
            halved = list(vectors_of)
            halved[i] = [s[list(rows)] for s, rows in zip(vectors_of[i], way, strict=True)]
            distances.append(abs(metric.function(*halved, **parameters).value - whole))
        error = np.std(distances) / np.sqrt(3000)
        if np.isnan(distances).all():
            assert found[side] is None
        else:
            assert found[side] == pytest.approx(np.mean(distances), abs=5 * error + 1e-9)


def test_half_of_one_word_is_the_word(random_model):
    query = Query([w(1), w(2)], [w(3), w(4)])
    found = inferred(metrics.metric("weat"), query, random_model(0), sensitivity={"halves": 5})
    assert found["halves"] == {
        "targets": pytest.approx(0, abs=1e-12),
        "attributes": pytest.approx(0, abs=1e-12),
    }
    # and without its only word a set says nothing
    assert all(change is None for of_set in found["influence"].values() for change in of_set.values())


def test_forms_of_a_word_are_left_out_together(tmp_path):
    names = [*w(*range(10)), "W1", "W2", "W6"]
    table = np.random.default_rng(3).normal(size=(len(names), 6))
    model = make_store(tmp_path, names, table)
    forms = WordOptions(preprocessors=({}, {"uppercase": True}), strategy="all")
    query = Query([w(1, 2, 3), w(4, 5)], [w(6, 7), w(8, 9)])
    changes = inferred(metrics.metric("weat"), query, model, words=forms, sensitivity={})["influence"]
    options = {"preprocessors": forms.preprocessors, "strategy": "all"}
    whole = metrics.weat(query, model, **options).value
    without = metrics.weat(Query([w(1, 3), w(4, 5)], [w(6, 7), w(8, 9)]), model, **options).value
    assert changes["Target set 0"]["w2"] == pytest.approx(without - whole)
    assert list(changes["Target set 0"]) == w(1, 2, 3)


# a metric that says nothing of samples


def spread(targets, attributes, *, power=2):
    """How far the mean products of the target sets with all attribute words lie apart: any number of sets."""
    direction = np.mean([a.mean(axis=0) for a in attributes], axis=0)
    return Score(float((np.ptp([(words @ direction).mean() for words in targets])) ** power))


def pair_product(targets, attributes):
    """Of pairs whose order matters: weights fall along the list."""
    first, second = targets
    scale = 1 / (1 + np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1))
    return Score(float((scale * ((first - second) @ attributes[0].mean(axis=0))).mean()))


SPREAD = Metric("spread", "Spread", spread, ("n", "n"), (0.0, np.inf), 0.0, "none")
PAIR_PRODUCT = Metric(
    "pair_product", "Pair product", pair_product, (2, 1), (-np.inf, np.inf), 0.0, "none", paired=True
)


@pytest.mark.parametrize("sizes", [(3, 2, 2), (2, 3), (2, 2, 2)])
def test_a_metric_without_resampled_has_everything(random_model, sizes):
    model, numbers = random_model(16), iter(range(40))
    targets, attributes = ([[next(numbers) for _ in range(n)] for n in side] for side in (sizes, (2, 3, 2)))
    everything = vectors(w(*range(40)), model)
    query = Query([w(*s) for s in targets], [w(*s) for s in attributes])
    parameters = {"power": 1}
    result, samples = inferred(
        SPREAD, query, model, parameters, permutation={}, bootstrap={"draws": 50}, sensitivity={"halves": 4}
    )

    def statistic(*sets):
        sides = [everything[s.astype(int)] for s in sets], [everything[s] for s in attributes]
        return spread(*sides, **parameters).value

    expected = scipy.stats.permutation_test(
        targets, statistic, permutation_type="independent", n_resamples=np.inf, alternative="greater"
    )
    test = result["permutation"]
    assert test["p_value"] == pytest.approx(expected.pvalue)
    assert test["partitions"] == len(expected.null_distribution)
    assert result["value"] == pytest.approx(expected.statistic)
    assert len(np.unique(samples)) > 40
    assert result["bootstrap"]["percentile"] == pytest.approx(np.quantile(samples, [0.025, 0.975]))
    without = spread(
        [everything[targets[0][1:]], *(everything[s] for s in targets[1:])],
        [everything[s] for s in attributes],
        **parameters,
    ).value
    assert result["influence"]["Target set 0"]["w0"] == pytest.approx(without - result["value"])
    assert result["halves"]["targets"] > 0


def test_pairs_of_a_metric_without_resampled_keep_their_order(random_model):
    model = random_model(18)
    everything = vectors(w(*range(40)), model)
    result = inferred(
        PAIR_PRODUCT, Query([w(*s) for s in PAIRS], [w(20, 21)]), model, permutation={}, sensitivity={}
    )

    def statistic(first, second):
        return pair_product(
            [everything[s.astype(int)] for s in (first, second)], [everything[[20, 21]]]
        ).value

    expected = scipy.stats.permutation_test(
        PAIRS, statistic, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    assert result["permutation"]["p_value"] == pytest.approx(expected.pvalue)
    assert result["permutation"]["partitions"] == 16
    without = statistic(np.array(PAIRS[0][1:]), np.array(PAIRS[1][1:])) - result["value"]
    assert result["influence"]["Target set 0"]["w1"] == pytest.approx(without)


def test_one_target_set_has_nothing_to_exchange(random_model):
    model, query = random_model(0), Query([w(1, 2, 3)], [w(4, 5), w(6, 7)])
    assert inferred(SPREAD, query, model, permutation={})["permutation"] == {
        "reason": "there is one target set, and no other whose words it could exchange"
    }
    # RNSB's words of attributes are exchanged
    test = inferred(metrics.metric("rnsb"), query, model, {"holdout": False}, permutation={})["permutation"]
    assert test["partitions"] == 6


@pytest.mark.parametrize(
    ("name", "attribute_sets", "options"),
    [
        ("weat", 2, {"permutation": {"draws": 20}}),
        ("generalized_weat", 2, {"permutation": {"draws": 20}}),
        ("mac", 2, {"bootstrap": {"draws": 20}}),
        ("rnd", 1, {"permutation": {"draws": 20}}),
        ("ect", 1, {"permutation": {"draws": 20}}),
        ("semaxis", 1, {"permutation": {"draws": 20}}),
    ],
)
def test_memory_grows_with_the_words_and_not_with_their_pairs(name, attribute_sets, options):
    words, dimensions = 4000, 5
    vectors = np.random.default_rng(0).normal(size=((2 + attribute_sets) * words, dimensions))
    model = load({f"w{i}": vector for i, vector in enumerate(vectors)})
    sets = [[f"w{i}" for i in places] for places in np.split(np.arange(len(vectors)), 2 + attribute_sets)]
    tracemalloc.start()
    metrics.metric(name)(Query(sets[:2], sets[2:]), model, **options)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < words * words * 8 / 2
