"""RNSB with another classifier: held against scikit-learn and against arithmetic of its own."""

import math

import numpy as np
import pytest
from conftest import printed
from refusals import refused
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, precision_recall_fscore_support
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from biasgrid import Query, metrics

GOOD, BAD = [f"w{i}" for i in range(10)], [f"w{i}" for i in range(10, 18)]
QUERY = Query([["w20", "w21", "w22"], ["w23", "w24"]], [GOOD, BAD])
TARGETS = [f"w{i}" for i in range(20, 25)]
LIBLINEAR = {"solver": "liblinear", "max_iter": 10_000}


def vectors(model, words):
    return model.take(words, model.rows(words))


def divergence(negative):
    p = negative / negative.sum()
    return float((p * np.log(p * len(p))).sum())


def gaussian(train, labels, x):
    """Naive Bayes by hand: the probability of the label -1, with scikit-learn's smoothing of variances."""
    logs = []
    for label in (1, -1):
        own = train[labels == label]
        variance = own.var(axis=0) + 1e-9 * train.var(axis=0).max()
        squares = (x - own.mean(axis=0)) ** 2 / variance
        prior = math.log(len(own) / len(train))
        logs.append(prior - (np.log(2 * math.pi * variance) + squares).sum(axis=1) / 2)
    return 1 / (1 + np.exp(logs[0] - logs[1]))


def test_naive_bayes_by_hand(random_model):
    model = random_model(0)
    words, labels = vectors(model, GOOD + BAD), np.repeat([1, -1], [10, 8])
    result = metrics.rnsb(QUERY, model, estimator=GaussianNB, holdout=False)
    negative = gaussian(words, labels, vectors(model, TARGETS))
    assert result.value == pytest.approx(divergence(negative), rel=1e-9)
    detail = result.detail["negative_sentiment_probabilities"]
    assert [p for part in detail.values() for p in part.values()] == pytest.approx(
        negative.tolist(), rel=1e-9
    )
    assert "accuracy" not in result.scalars


@pytest.mark.parametrize(("test_size", "random_state"), [(0.2, 5), (0.5, 1), (0.5, 2), (0.5, 3)])
def test_evaluation_on_words_left_out_is_scikit_learns(random_model, test_size, random_state):
    model = random_model(1)
    words, labels = vectors(model, GOOD + BAD), np.repeat([1, -1], [10, 8])
    split = {"test_size": test_size, "random_state": random_state}
    result = metrics.rnsb(QUERY, model, estimator=GaussianNB, **split)
    train, test = train_test_split(np.arange(18), stratify=labels, **split)
    told = np.where(gaussian(words[train], labels[train], words[test]) > 0.5, -1, 1)
    assert result.value == pytest.approx(
        divergence(gaussian(words[train], labels[train], vectors(model, TARGETS)))
    )
    expected = precision_recall_fscore_support(labels[test], told, pos_label=-1, average="binary")[:3]
    found = [result.scalars[name] for name in ("precision", "recall", "f1")]
    assert found == pytest.approx(expected)
    assert result.scalars["accuracy"] == accuracy_score(labels[test], told)


def test_wefes_classifier_as_an_estimator_is_the_solver_liblinear(random_model):
    """To the last bit: value, detail, and all scalars that both have."""
    for options in ({"holdout": False}, {"n_iterations": 7}, {"random_state": 3}):
        solver = metrics.rnsb(QUERY, random_model(0), solver="liblinear", **options)
        other = metrics.rnsb(
            QUERY, random_model(0), estimator=LogisticRegression, estimator_params=LIBLINEAR, **options
        )
        assert (solver.value, solver.detail) == (other.value, other.detail)
        assert solver.scalars.items() <= other.scalars.items()


@pytest.mark.slow
def test_a_class_an_object_and_a_name(random_model):
    model, given, params = random_model(2), KNeighborsClassifier(n_neighbors=3), {"n_neighbors": 3}
    by_object = metrics.rnsb(QUERY, model, estimator=given, n_iterations=2)
    assert not hasattr(given, "classes_")
    for other in (KNeighborsClassifier, "KNeighborsClassifier"):
        result = metrics.rnsb(QUERY, model, estimator=other, estimator_params=params, n_iterations=2)
        assert result.to_dict() == by_object.to_dict()
    # parameters of an object are changed in a copy
    changed = metrics.rnsb(QUERY, model, estimator=given, estimator_params={"n_neighbors": 7}, n_iterations=2)
    assert changed.value != by_object.value
    assert given.n_neighbors == 3
    for other in (make_pipeline(StandardScaler(), GaussianNB()), CalibratedClassifierCV(LinearSVC(), cv=2)):
        assert metrics.rnsb(QUERY, model, estimator=other, n_iterations=2).status == "ok"


def test_the_seed_is_that_of_a_classifier_that_draws(random_model):
    def value(**options):
        forest = {"estimator": RandomForestClassifier, "estimator_params": {"n_estimators": 5}}
        return metrics.rnsb(QUERY, random_model(0), **forest, holdout=False, **options).value

    assert value(seed=1) == value(seed=1) != value(seed=2)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"estimator": LinearSVC}, "LinearSVC gives no probabilities .* CalibratedClassifierCV"),
        ({"estimator": LinearSVC()}, "LinearSVC gives no probabilities"),
        ({"estimator": LinearRegression}, "LinearRegression gives no probabilities"),
        ({"estimator": "GausianNB"}, "unknown classifier 'GausianNB'; did you mean 'GaussianNB'"),
        ({"estimator": "os.system"}, "unknown classifier 'os.system'"),
        ({"estimator": 7}, "estimator: 7 is not allowed"),
        ({"estimator": print}, "is not allowed; allowed: classifiers of scikit-learn"),
        ({"estimator": GaussianNB, "estimator_params": {"C": 1}}, "estimator_params: GaussianNB: "),
        ({"estimator": GaussianNB(), "estimator_params": {"C": 1}}, "estimator_params: GaussianNB: "),
        ({"estimator": GaussianNB, "estimator_params": [1]}, "estimator_params: [1] is not allowed"),
        (
            {"estimator_params": {"C": 1}},
            "estimator_params: needs an estimator, such as estimator='LogisticRegression'",
        ),
        ({"estimator": GaussianNB, "solver": "liblinear"}, "solver: 'liblinear' is not allowed"),
        (
            {"estimator": KNeighborsClassifier, "estimator_params": {"n_neighbors": 15}},
            "estimator: KNeighborsClassifier fails on 14 words of 9 dimensions: ",
        ),
        (
            {"estimator": LogisticRegression, "estimator_params": {"C": -1}},
            "estimator: LogisticRegression fails on 14 words",
        ),
    ],
)
def test_what_is_no_estimator_is_one_sentence(random_model, options, says):
    with refused(*says.split(" .* ")):
        metrics.rnsb(QUERY, random_model(0), **options)


@pytest.mark.filterwarnings("ignore:.*cannot be small")
@pytest.mark.slow
@pytest.mark.parametrize("groups", [False, {"draws": 19}])
def test_tests_and_intervals_of_the_same_classifier_are_the_same(groups, random_model, request):
    """The exact solver's many at once, and scikit-learn's classifier at its minimum, draw by draw."""
    query, model = QUERY, random_model(0)
    asked = {"permutation": {"draws": 60, "exact": 0}, "bootstrap": {"draws": 20}}
    if groups:  # of real words
        query = Query([["he", "him", "man"], ["she", "her", "woman"]], [["love", "peace"], ["war", "hate"]])
        model, asked = request.getfixturevalue("word2vec"), {"random_groups": groups}
    exact = metrics.rnsb(query, model, holdout=False, **asked)
    params = LIBLINEAR | {"tol": 1e-10}
    estimator = {"estimator": "LogisticRegression", "estimator_params": params}
    other = metrics.rnsb(query, model, holdout=False, **estimator, **asked)
    numbers = [[result.p_value, result.p_groups] for result in (exact, other)]
    np.testing.assert_array_equal(*numbers)
    assert np.isfinite(numbers[0][bool(groups)])
    assert other.value == pytest.approx(exact.value, rel=1e-6)
    ends = [(result.ci_low, result.ci_high) for result in (exact, other)]
    np.testing.assert_allclose(*ends, rtol=1e-4)


def test_an_estimator_on_the_command_line_is_named(random_model, tmp_path):
    model = random_model(0)
    (tmp_path / "query.json").write_text(QUERY.to_json())
    given = ("--param", "estimator=GaussianNB", "--param", "n_iterations=3")
    record = printed(
        *("measure", "--metric", "rnsb", "--model", model.path, "--query", tmp_path / "query.json", *given)
    )
    result = metrics.rnsb(QUERY, model, estimator="GaussianNB", n_iterations=3)
    assert record["value"] == result.value
    assert record["scalars"] == result.scalars
