"""RNSB: its solver against liblinear, its splits against scikit-learn, its value against the definition."""

import json
import math
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import entropy
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split

from biasgrid import BiasgridError, Query, metrics
from biasgrid.metrics.rnsb import draw_splits, probabilities, rnsb

pytestmark = pytest.mark.slow


def sets(*sizes, d=20, scale=1.0, apart=0.5, seed=0):
    """Word sets in space: two attribute sets that lie `apart`, and targets anywhere."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=d)
    centres = [apart, -apart] + [0.0] * (len(sizes) - 2)
    a, b, *targets = [
        scale * (rng.normal(size=(n, d)) + c * direction) for n, c in zip(sizes, centres, strict=True)
    ]
    return targets, [a, b]


def liblinear(targets, attributes, rows=slice(None)):
    """Probabilities of the second class when trained on these rows."""
    words, labels = np.concatenate(attributes), np.repeat([1, -1], [len(a) for a in attributes])
    classifier = LogisticRegression(solver="liblinear", tol=1e-10, max_iter=10_000).fit(
        words[rows], labels[rows]
    )
    assert list(classifier.classes_) == [-1, 1]
    return classifier.predict_proba(np.concatenate(targets))[:, 0]


def detail(score, name="negative_sentiment_probabilities"):
    return np.concatenate(score.detail[name].values)


def per_split(targets, attributes, n_iterations, seed=0, test_size=0.2):
    train = draw_splits([len(a) for a in attributes], test_size, n_iterations, np.random.default_rng(seed))
    return probabilities(np.concatenate(targets), attributes, train), train


# the solver


@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        ((8, 8, 8, 8), {"d": 300}),
        ((8, 8, 8, 8), {"d": 300, "scale": 0.003}),
        ((28, 25, 20, 20), {"d": 300, "scale": 0.17}),
        ((28, 25, 20, 20), {"d": 300, "scale": 1.2, "apart": 0.0}),
        ((24, 25, 7), {"d": 49, "apart": 0.1}),
        ((25, 25, 7), {"d": 49, "apart": 0.1}),
        ((300, 500, 10, 10, 10), {"d": 30, "apart": 0.05}),
        ((300, 500, 10, 10, 10), {"d": 30, "apart": 0.3, "scale": 4.0}),
        ((300, 500, 10), {"d": 30, "apart": 2.0, "scale": 4.0}),
        ((40, 5, 10), {"d": 1, "scale": 20.0}),
    ],
    ids=[
        "short",
        "tiny norms",
        "middle",
        "norm 20",
        "as many words as coordinates",
        "one word more",
        "many words",
        "many words, norm 20",
        "separable",
        "one dimension",
    ],
)
def test_every_probability_is_liblinears(sizes, options):
    targets, attributes = sets(*sizes, **options)
    (ours, _), train = per_split(targets, attributes, 12)
    for rows, probability in zip(train.T, ours.T, strict=True):
        np.testing.assert_allclose(probability, liblinear(targets, attributes, rows), atol=1e-6)
    score = rnsb(targets, attributes, holdout=False)
    np.testing.assert_allclose(detail(score), liblinear(targets, attributes), atol=1e-6)


def test_many_splits_in_blocks_are_each_the_same_as_alone():
    targets, attributes = sets(4000, 3000, 10, d=3)
    (together, _), train = per_split(targets, attributes, 200)
    for i in (0, 100, 199):
        alone, _ = probabilities(np.concatenate(targets), attributes, train[:, [i]])
        np.testing.assert_allclose(together[:, [i]], alone, atol=2e-9)


@pytest.mark.parametrize("x", [0.01, 1.0, 20.0, 1000.0])
def test_two_opposite_words_have_a_solution_in_one_unknown(x):
    # by symmetry there is no intercept, and the weight w is where w = 2 x sigmoid(-w x)
    w = brentq(lambda w: w * (1 + math.exp(w * x)) - 2 * x, 0, min(2 * x, 600 / x), xtol=1e-15, rtol=1e-14)
    score = rnsb([np.array([[x], [x / 2], [0], [-x]])], [np.array([[x]]), np.array([[-x]])], holdout=False)
    expected = [1 / (1 + math.exp(w * v)) for v in (x, x / 2, 0, -x)]
    np.testing.assert_allclose(detail(score), expected, atol=1e-9)


@pytest.mark.parametrize("length", [1e-30, 1e5])
def test_extreme_norms_are_solved(length):
    targets, attributes = sets(25, 20, 10, d=100, scale=length / 10, apart=0.0)
    (ours, correct), train = per_split(targets, attributes, 10)
    assert ((ours >= 0) & (ours <= 1)).all()
    if length > 1:  # more coordinates than words: they can be told apart, and long vectors make that cheap
        assert correct[train].all()
    else:
        counts = train[:25].sum(0), train[25:].sum(0)
        assert np.abs(ours - 0.5).max() < 0.2
        assert (counts[0] > counts[1]).all()
        assert (ours < 0.5).all()


def test_long_vectors_in_both_sets_are_solved():
    # nothing can tell them apart, so the penalty matters, next to squares of 1e10
    targets, (a, b) = sets(25, 20, 10, d=30, scale=1e5 / math.sqrt(30), apart=0.0)
    b[:8] = a[:8]
    there = detail(rnsb(targets, [a, b], holdout=False))
    np.testing.assert_allclose(there + detail(rnsb(targets, [b, a], holdout=False)), 1, atol=1e-6)
    assert math.isfinite(rnsb(targets, [a, b]).value)


def test_beyond_double_precision_is_undefined():
    targets, attributes = sets(5, 5, 5)
    assert math.isnan(rnsb([targets[0] * 1e7], attributes).value)
    assert math.isnan(rnsb(targets, [attributes[0] * 1e100, attributes[1]]).value)
    assert math.isnan(rnsb([targets[0] * np.nan], attributes, holdout=False).value)


# the splits


def scikit_learns_counts(sizes, test_size):
    labels = np.repeat([1, -1], sizes)
    splitter = StratifiedShuffleSplit(n_splits=25, test_size=test_size, random_state=0)
    return {
        (int((labels[train] == 1).sum()), int((labels[train] == -1).sum()))
        for train, _ in splitter.split(labels, labels)
    }


@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.33, 0.5, 0.9]))
@settings(max_examples=60, deadline=None)
def test_splits_have_scikit_learns_counts(n, m, test_size):
    train = draw_splits([n, m], test_size, 25, np.random.default_rng(0))
    try:
        expected = scikit_learns_counts([n, m], test_size)
    except ValueError:
        assert train is None
        return
    if any(0 in counts for counts in expected):
        assert train is None
        return
    assert train.shape == (n + m, 25)
    ours = set(zip(train[:n].sum(0).tolist(), train[n:].sum(0).tolist(), strict=True))
    assert ours == expected


def test_an_odd_word_goes_to_either_set():
    assert scikit_learns_counts([7, 7], 0.2) == {(5, 6), (6, 5)}
    train = draw_splits([7, 7], 0.2, 1000, np.random.default_rng(0))
    assert 400 < (train[:7].sum(0) == 6).sum() < 600


def test_every_word_is_left_out_as_often():
    train = draw_splits([10, 30], 0.2, 5000, np.random.default_rng(0))
    # a binomial with p = .2: five standard deviations
    assert np.abs((~train).mean(axis=1) - 0.2).max() < 5 * math.sqrt(0.2 * 0.8 / 5000)
    # and two words of a set independently of each other but for the fixed number: 2/10 * 1/9
    both = (~train[0] & ~train[1]).mean()
    assert abs(both - 2 / 90) < 5 * math.sqrt(2 / 90 / 5000)


def test_random_state_is_scikit_learns_split():
    targets, attributes = sets(25, 20, 10, 12)
    words, labels = np.concatenate(attributes), np.repeat([1, -1], [25, 20])
    for state, test_size in ((42, 0.2), (0, 0.33)):
        rows, left_out, y, y_out = train_test_split(
            words, labels, test_size=test_size, stratify=labels, shuffle=True, random_state=state
        )
        classifier = LogisticRegression(solver="liblinear", tol=1e-10).fit(rows, y)
        score = rnsb(targets, attributes, random_state=state, test_size=test_size)
        expected = classifier.predict_proba(np.concatenate(targets))[:, 0]
        np.testing.assert_allclose(detail(score), expected, atol=1e-6)
        assert score.value == pytest.approx(entropy(expected / expected.sum(), np.full(22, 1 / 22)), rel=1e-5)
        assert score.scalars["accuracy"] == pytest.approx(classifier.score(left_out, y_out))
        assert score.scalars["n_iterations"] == 1


# the metric


def test_the_value_is_the_mean_divergence_from_uniform():
    targets, attributes = sets(12, 15, 6, 4, 5)
    score = rnsb(targets, attributes, n_iterations=30, seed=5)
    (probability, correct), train = per_split(targets, attributes, 30, seed=5)
    divergences = [entropy(p / p.sum(), np.full(15, 1 / 15)) for p in probability.T]
    assert score.value == pytest.approx(np.mean(divergences), rel=1e-12)
    assert score.scalars["rnsb"] == score.value
    assert score.scalars["standard_deviation"] == pytest.approx(np.std(divergences, ddof=1))
    assert score.scalars["standard_error"] == pytest.approx(np.std(divergences, ddof=1) / math.sqrt(30))
    assert score.scalars["accuracy"] == pytest.approx(
        np.mean([c[~t].mean() for c, t in zip(correct.T, train.T, strict=True)])
    )
    np.testing.assert_allclose(detail(score), probability.mean(axis=1), rtol=1e-12)
    distribution = detail(score, "negative_sentiment_distribution")
    np.testing.assert_allclose(
        distribution, probability.mean(axis=1) / probability.mean(axis=1).sum(), rtol=1e-12
    )
    assert [len(v) for v in score.detail["negative_sentiment_probabilities"].values] == [6, 4, 5]


def test_without_holdout_it_is_one_fit_of_all_words():
    targets, attributes = sets(12, 15, 6, 4)
    score = rnsb(targets, attributes, holdout=False)
    p = liblinear(targets, attributes)
    assert score.value == pytest.approx(entropy(p / p.sum(), np.full(10, 0.1)), rel=1e-5)
    assert set(score.scalars) == {"rnsb", "n_iterations"}
    for options in ({"n_iterations": 7}, {"seed": 9}, {"random_state": 3}, {"test_size": 0.5}):
        assert rnsb(targets, attributes, holdout=False, **options).value == score.value


def test_seeds_are_reproduced_and_differ():
    targets, attributes = sets(12, 15, 6, 4)
    value = {seed: rnsb(targets, attributes, seed=seed).value for seed in range(4)}
    assert len(set(value.values())) == 4
    assert rnsb(targets, attributes, seed=2).value == value[2]
    # independent draws of one mean: they agree within what the standard error says
    error = rnsb(targets, attributes, seed=0).scalars["standard_error"]
    assert abs(value[0] - rnsb(targets, attributes, n_iterations=5000, seed=7).value) < 4 * error


def test_threads_do_not_disturb_each_other():
    jobs = [(sets(12 + i, 15, 6, 4, d=3 + 10 * i, seed=i), i) for i in range(6)] * 3

    def run(job):
        (targets, attributes), seed = job
        score = rnsb(targets, attributes, seed=seed)
        return score.value, detail(score).tobytes()

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(run, jobs)) == [run(job) for job in jobs]


@given(st.integers(0, 2**32 - 1), st.sampled_from([(5, 4, 3, 3), (12, 9, 4, 5)]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_rotating_the_space_changes_nothing(seed, sizes, holdout):
    targets, attributes = sets(*sizes, d=8, seed=seed)
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(8, 8)))
    score = rnsb(targets, attributes, holdout=holdout, n_iterations=5)
    turned = rnsb(
        [t @ turn for t in targets], [a @ turn for a in attributes], holdout=holdout, n_iterations=5
    )
    np.testing.assert_allclose(detail(turned), detail(score), atol=2e-9)
    assert turned.value == pytest.approx(score.value, rel=1e-6, abs=1e-9)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_order_and_grouping_of_words_do_not_matter_without_holdout(seed):
    targets, attributes = sets(9, 12, 5, 4, 3, d=6, seed=seed)
    rng = np.random.default_rng(seed)
    value = rnsb(targets, attributes, holdout=False).value
    shuffled = [[rng.permutation(s) for s in side] for side in (targets, attributes)]
    assert rnsb(*shuffled, holdout=False).value == pytest.approx(value, rel=1e-7, abs=1e-10)
    assert rnsb([np.concatenate(targets)], attributes, holdout=False).value == pytest.approx(value, rel=1e-12)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_exchanging_the_attribute_sets_gives_the_complement(seed):
    targets, (a, b) = sets(9, 12, 5, 4, d=6, seed=seed)
    there = detail(rnsb(targets, [a, b], holdout=False))
    back = detail(rnsb(targets, [b, a], holdout=False))
    np.testing.assert_allclose(there + back, 1, atol=2e-9)


def test_a_word_in_two_sets_counts_twice():
    (x, y), attributes = sets(9, 12, 5, 4)
    y[0] = x[0]
    p = liblinear([x, y], attributes)
    score = rnsb([x, y], attributes, holdout=False)
    assert score.value == pytest.approx(entropy(p / p.sum(), np.full(9, 1 / 9)), rel=1e-5)
    assert score.value != pytest.approx(rnsb([x, y[1:]], attributes, holdout=False).value, rel=1e-3)


def test_equal_targets_are_neutral():
    (x,), attributes = sets(9, 12, 1)
    assert rnsb([x, x, x], attributes).value == pytest.approx(0, abs=1e-12)
    # zero vectors have the probability that the intercept gives
    score = rnsb([np.zeros((3, 20))], attributes)
    assert 0 <= score.value < 1e-12
    assert 0 < detail(score)[0] < 1


# what cannot be


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 8), (8, 1), (2, 2)])
def test_sets_too_small_to_split_are_undefined(n, m):
    targets, attributes = sets(n, m, 3)
    assert math.isnan(rnsb(targets, attributes).value)
    assert math.isnan(rnsb(targets, attributes, random_state=1).value)
    assert math.isfinite(rnsb(targets, attributes, holdout=False).value)


def test_the_smallest_sets_that_can_be_split():
    targets, attributes = sets(3, 3, 3)
    assert math.isfinite(rnsb(targets, attributes).value)
    # two of 22 words stay, and the larger set takes both
    targets, attributes = sets(2, 20, 3)
    assert math.isnan(rnsb(targets, attributes, test_size=0.9).value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_iterations": 0}, "n_iterations: 0 is not allowed"),
        ({"n_iterations": 2.5}, "n_iterations: 2.5"),
        ({"n_iterations": True}, "n_iterations: True"),
        ({"holdout": "no"}, "holdout: 'no'"),
        ({"test_size": 0}, "test_size: 0"),
        ({"test_size": 1.0}, "test_size: 1.0"),
        ({"test_size": math.nan}, "test_size: nan"),
        ({"test_size": "big"}, "test_size: 'big'"),
        ({"random_state": -1}, "random_state: -1"),
        ({"random_state": "x"}, "random_state: 'x'"),
        ({"random_state": 1, "n_iterations": 100}, "n_iterations: 100 .* one split"),
    ],
)
def test_bad_parameters_are_named(options, says):
    targets, attributes = sets(5, 5, 5)
    with pytest.raises(BiasgridError, match=says):
        rnsb(targets, attributes, **options)


def test_samples_do_not_depend_on_which_query_came_first(monkeypatch):
    """Queries share the classifiers of large attribute sets; the longer target words, the more exact are they."""
    module = sys.modules["biasgrid.metrics.rnsb"]
    (words,), attributes = sets(600, 600, 8, d=50, apart=0.01)
    pooled = np.concatenate(attributes)
    first, second = np.repeat([[1.0, 0.0], [0.0, 1.0]], 600, axis=1)
    drawn = np.random.default_rng(1).multinomial(600, np.full(600, 1 / 600), size=8)
    weights = [np.hstack([drawn, np.zeros_like(drawn)]).astype(float), np.tile(second, (8, 1))]

    def samples(*queries):
        monkeypatch.setattr(module, "_CLASSIFIERS", type(module._CLASSIFIERS)())
        found = {}
        for scale in queries:
            statistic = metrics.metric("rnsb").resampled(scale * words, pooled)
            once, drawn = (statistic([np.ones((1, 8))], w) for w in ([first[None], second[None]], weights))
            found[scale] = once.tobytes(), drawn.tobytes()
        return found

    scales = [4.0**power for power in range(8)]
    assert samples(*scales) == samples(*reversed(scales))


def test_its_label_test_rejects_for_random_target_words(word2vec):
    """On real vectors it finds what its labels are, whatever the target words; and its record says what it is of."""
    lists = json.loads((ROOT / "data" / "word_sets" / "weat.json").read_text())["sets"]
    attributes = [lists["pleasant_5"], lists["unpleasant_5a"]]
    entries, _ = word2vec.vocabulary(20_000)
    words = sorted(set(entries) - {*attributes[0], *attributes[1]})
    rng, rejected = np.random.default_rng(5), 0
    for _ in range(15):
        drawn = rng.choice(words, 16, replace=False).tolist()
        query = Query([drawn[:8], drawn[8:]], attributes)
        result = metrics.rnsb(query, word2vec, holdout=False, permutation={"draws": 99})
        assert result.inference["permutation"]["test_of"] == "labels"
        rejected += result.p_value <= 0.05
    # of 15 tests at this level, chance gives four or more once in 180 times
    assert rejected >= 4
    assert [name for name, metric in metrics.REGISTRY.items() if metric.test_of == "labels"] == ["rnsb"]
