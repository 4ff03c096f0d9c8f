"""Linear projection, INLP and LEACE: against their formulas written out, what they guarantee, and bad input."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from conftest import make_store
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy.linalg import null_space, sqrtm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import LinearSVC
from test_debias import word_set

from biasgrid import BiasgridError, EmbeddingStore, debias, load
from biasgrid.debias.training import find_training_words

pytestmark = pytest.mark.slow

PAIRS = [["a0", "b0"], ["a1", "b1"], ["a2", "b2"], ["a3", "b3"]]
WORDS = [f"{letter}{i}" for letter in "abcdefgh" for i in range(12)]
CLASSES = {letter: [word for word in WORDS if word[0] == letter] for letter in "abc"}
DIMENSIONS = 6
SEEDS = st.integers(0, 2**32 - 1)
HE_SHE = {"bias_representation": ["he", "she"]}

# a fit of each method that works on `small`
FITS = {
    "linear_projection": {"definitional_pairs": PAIRS},
    "inlp": {"classes": CLASSES, "n_iterations": 1},
    "leace": {"classes": CLASSES},
}


def random_store(folder, seed, dimensions=DIMENSIONS, scale=1.0) -> EmbeddingStore:
    """Words whose classes (first letters) have means of their own, about a mean that is not zero."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(8, dimensions)) + 1
    noise = rng.normal(size=(len(WORDS), dimensions)) * rng.uniform(0.2, 2, size=dimensions)
    x = (np.repeat(means, 12, axis=0) + noise) * scale
    return make_store(Path(folder), WORDS, x.astype(np.float32))


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> EmbeddingStore:
    return random_store(tmp_path_factory.mktemp("small"), 0)


def take(model, words):
    return model.take(words, model.rows(words))


def applied(model, transform, words):
    """The words' vectors under the transform, before a debiased model rounds them to float32."""
    return transform.apply(take(model, words), words)


def labelled(model, transform, classes):
    """Vectors of all words of the classes under the transform, and their classes."""
    words = [word for members in classes.values() for word in members]
    labels = np.repeat(np.arange(len(classes)), [len(members) for members in classes.values()])
    return applied(model, transform, words), labels


def exact_svm():
    return LinearSVC(dual=False, fit_intercept=False, tol=1e-10)


# linear projection


def directions(model):
    """Each direction by definition: (d,) of unit length, up to its sign."""
    first, second = (take(model, [pair[side] for pair in PAIRS]) for side in (0, 1))
    normal = exact_svm().fit(np.vstack([first, second]), [0] * 4 + [1] * 4)
    of = {
        "pca": np.linalg.svd(first - second)[2][0],
        "two_means": first.mean(axis=0) - second.mean(axis=0),
        "classifier": normal.coef_[0],
    }
    return {name: v / np.linalg.norm(v) for name, v in of.items()}


@given(SEEDS, st.sampled_from(["pca", "two_means", "classifier"]))
@settings(max_examples=12, deadline=None)
def test_linear_projection_is_the_papers_formula(seed, direction):
    with tempfile.TemporaryDirectory() as folder:
        model = random_store(folder, seed)
        transform = debias.linear_projection(
            model, definitional_pairs=PAIRS, direction=direction, ignore=["c0"]
        )
        v, x, ours = directions(model)[direction], take(model, WORDS), applied(model, transform, WORDS)
        left_alone = WORDS.index("c0")
        expected = x - np.outer(x @ v, v)
        expected[left_alone] = x[left_alone]
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9)
        assert (ours[left_alone] == x[left_alone]).all()
        neutralised = np.delete(ours, left_alone, axis=0)
        np.testing.assert_allclose(neutralised @ transform.left, 0, atol=1e-12)
        assert (np.linalg.norm(ours, axis=1) <= np.linalg.norm(x, axis=1) + 1e-12).all()


def test_linear_projection_with_normalize(small):
    transform = debias.linear_projection(small, definitional_pairs=PAIRS, normalize=True, ignore=["c0"])
    x = take(small, WORDS)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    v = np.linalg.svd(x[[0, 1, 2, 3]] - x[[12, 13, 14, 15]])[2][0]
    expected = x - np.outer(x @ v, v)
    expected[WORDS.index("c0")] = x[WORDS.index("c0")]
    np.testing.assert_allclose(applied(small, transform, WORDS), expected, rtol=0, atol=1e-12)


def test_linear_projection_on_real_vectors(word2vec):
    words, rows = word2vec.vocabulary()
    for direction in ("pca", "two_means", "classifier"):
        transform = debias.linear_projection(
            word2vec, definitional_pairs=word_set("debiaswe.definitional_pairs"), direction=direction
        )
        after = transform.apply(word2vec.take(words, rows), words)
        assert np.abs(after @ transform.left).max() < 1e-12
        # he and she differ by less, doctor hardly changes
        both = take(word2vec, ["he", "she"]), applied(word2vec, transform, ["he", "she"])
        before, now = (np.linalg.norm(v[0] - v[1]) for v in both)
        assert now < 0.8 * before
        (old,), (new,) = take(word2vec, ["doctor"]), applied(word2vec, transform, ["doctor"])
        assert old @ new / np.linalg.norm(old) / np.linalg.norm(new) > 0.99


# INLP


def naive_inlp(x, labels, n_iterations):
    """Algorithm 1 with the projection onto the intersection of all nullspaces found so far."""
    normals, projected, p = [], x, np.eye(x.shape[1])
    for _ in range(n_iterations):
        normals.append(exact_svm().fit(projected, labels).coef_)
        basis = null_space(np.concatenate(normals), rcond=1e-9)
        p = basis @ basis.T
        projected = x @ p
    return p


@given(SEEDS, st.sampled_from([2, 3]), st.integers(1, 3))
@settings(max_examples=12, deadline=None)
def test_inlp_projects_onto_the_intersection_of_nullspaces(seed, n_classes, n_iterations):
    classes = dict(list(CLASSES.items())[:n_classes])
    with tempfile.TemporaryDirectory() as folder:
        model = random_store(folder, seed, dimensions=12)
        transform = debias.inlp(model, classes=classes, n_iterations=n_iterations, held_out=0, ignore=["h0"])
        x, labels = (
            take(model, [w for members in classes.values() for w in members]),
            np.repeat(range(n_classes), 12),
        )
        p = np.eye(12) - transform.left @ transform.right
        np.testing.assert_allclose(p, naive_inlp(x, labels, n_iterations), atol=1e-6)
        # an orthogonal projection, exactly, that takes out all directions and no more
        np.testing.assert_allclose(p, p.T, atol=1e-14)
        np.testing.assert_allclose(p @ p, p, atol=1e-13)
        assert np.linalg.matrix_rank(p, tol=1e-6) == 12 - transform.fitted_on["directions"]
        ours = applied(model, transform, WORDS)
        neutralised = [i for i, word in enumerate(WORDS) if word != "h0"]
        np.testing.assert_allclose(ours[neutralised] @ transform.left, 0, atol=1e-12)
        assert (ours[WORDS.index("h0")] == take(model, ["h0"])[0]).all()


def test_inlp_stops_at_chance_only_if_asked(small):
    """The paper's algorithm has a fixed number of iterations; a classifier at chance may end it before."""
    classes = {letter: CLASSES[letter] for letter in "ab"}

    def fitted_on(stop):
        return debias.inlp(
            small, classes=classes, n_iterations=5, held_out=0.5, stop_at_chance=stop
        ).fitted_on

    whole, stopped = fitted_on(False), fitted_on(True)
    assert len(whole["accuracies"]) == 5
    at_chance = [accuracy <= whole["chance"] for accuracy in whole["accuracies"]]
    assert 0 < at_chance.index(True) < 4
    assert stopped["accuracies"] == whole["accuracies"][: at_chance.index(True) + 1]


def test_inlp_guards_the_bias_on_real_vectors(word2vec):
    """As in the paper's experiment a classifier starts near certainty and ends near chance on words it has not seen
    (there 100 % and 49.3 %, on GloVe)."""
    transform = debias.inlp(word2vec, **HE_SHE, neutral=False, n_words=1000, stop_at_chance=True)
    accuracies = transform.fitted_on["accuracies"]
    assert transform.fitted_on["chance"] == 0.5
    assert transform.fitted_on["training_words"] == {"first": 1000, "second": 1000}
    assert transform.fitted_on["not_converged"] == 0
    assert accuracies[0] > 0.99
    assert np.mean(accuracies[-5:]) < 0.55
    assert accuracies[-1] <= 0.5 < min(accuracies[:-1])
    # the classifier that did not beat chance is not projected out
    assert transform.fitted_on["directions"] == len(accuracies) - 1 < 34
    words, rows = word2vec.vocabulary()
    assert np.abs(transform.apply(word2vec.take(words, rows), words) @ transform.left).max() < 1e-12


def test_inlp_holds_out_a_share_of_each_class(small):
    transform = debias.inlp(small, classes=CLASSES, n_iterations=1, held_out=0.3)
    (accuracy,) = transform.fitted_on["accuracies"]
    assert accuracy * 9 == pytest.approx(round(accuracy * 9))  # three of the twelve words of three classes
    nothing = debias.inlp(small, classes={"a": ["a0", "a1"], "b": ["b0", "b1"]}, n_iterations=1)
    assert (nothing.fitted_on["accuracies"], nothing.fitted_on["chance"]) == ([None], None)
    other = debias.inlp(small, classes=CLASSES, n_iterations=1, held_out=0.3, seed=1)
    assert (other.left != transform.left).any()


# LEACE


def naive_leace(x, labels, covariance=np.cov):
    """x - W^+ P W (x - mean) of the paper, from the matrix square root and pseudo-inverses: (P matrix, mean)."""
    mean, z = x.mean(axis=0), np.eye(labels.max() + 1)[labels]
    xx, xz = covariance(x.T), (x - mean).T @ (z - z.mean(axis=0)) / (len(x) - 1)
    root = np.real(sqrtm(xx))
    w = np.linalg.pinv(root, rcond=1e-7)
    whitened = w @ xz
    projection = whitened @ np.linalg.pinv(whitened, rcond=1e-7)
    return np.eye(x.shape[1]) - np.linalg.pinv(w, rcond=1e-7) @ projection @ w, mean


def shrunk_covariance(columns):
    """Equations 4 and 5 of Bodnar, Gupta and Parolya (2014) with the identity as target, by eigenvalues: each comes
    nearer to their mean."""
    n = columns.shape[1]
    values, vectors = np.linalg.eigh(np.cov(columns, bias=True))
    mean = values.mean()
    kept = 1 - values.sum() ** 2 / n / ((values - mean) ** 2).sum()
    return vectors @ np.diag([kept * value + (1 - kept) * mean for value in values]) @ vectors.T


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_shrinkage_of_leace_is_the_papers_formula(tmp_path, seed):
    model = random_store(tmp_path, seed)
    transform = debias.leace(model, classes=CLASSES, shrinkage=True)
    training = [word for members in CLASSES.values() for word in members]
    p, mean = naive_leace(take(model, training), np.repeat(range(len(CLASSES)), 12), shrunk_covariance)
    expected = (take(model, WORDS) - mean) @ p.T + mean
    np.testing.assert_allclose(applied(model, transform, WORDS), expected, rtol=0, atol=1e-9)


@given(SEEDS, st.sampled_from([2, 3]), st.sampled_from([1e-3, 1.0, 1e3]))
@settings(max_examples=12, deadline=None)
def test_leace_is_the_papers_formula(seed, n_classes, scale):
    classes = dict(list(CLASSES.items())[:n_classes])
    with tempfile.TemporaryDirectory() as folder:
        model = random_store(folder, seed, scale=scale)
        transform = debias.leace(model, classes=classes, ignore=["h0"])
        training = [w for members in classes.values() for w in members]
        p, mean = naive_leace(take(model, training), np.repeat(range(n_classes), 12))
        x, ours = take(model, WORDS), applied(model, transform, WORDS)
        expected = (x - mean) @ p.T + mean
        expected[WORDS.index("h0")] = x[WORDS.index("h0")]
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9 * scale)
        assert (ours[WORDS.index("h0")] == x[WORDS.index("h0")]).all()
        assert transform.left.shape == (DIMENSIONS, n_classes - 1)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize("shrinkage", [False, True])
@pytest.mark.parametrize("n_words", [20, 1000])
def test_leace_is_what_the_authors_library_makes_of_real_vectors(word2vec, n_words, shrinkage):
    """Also with fewer words than dimensions; without shrinkage, and with it where words outnumber dimensions."""
    import torch
    from concept_erasure import LeaceEraser

    training = find_training_words(
        word2vec,
        classes=None,
        **HE_SHE,
        definitional_pairs=None,
        ignore=(),
        n_words=n_words,
        neutral=True,
        seed=0,
    )
    x, labels = training.vectors, training.labels
    theirs = LeaceEraser.fit(
        torch.from_numpy(x),
        torch.from_numpy(np.eye(3)[labels]),
        shrinkage=shrinkage,
        constrain_cov_trace=False,
        svd_tol=1e-8,
    )
    ours = debias.leace(word2vec, **HE_SHE, n_words=n_words, shrinkage=shrinkage)
    np.testing.assert_allclose(
        ours.apply(x, [""] * len(x)), theirs(torch.from_numpy(x)).numpy(), rtol=0, atol=1e-12
    )


def check_erased(x, labels):
    """No cross-covariance is left, and linear classifiers learn the classes' shares and nothing else.

    With classes of different size a classifier that knows nothing names the largest for every word: its balanced
    accuracy is 1 / classes.
    """
    z = np.eye(labels.max() + 1)[labels]
    centred = x - x.mean(axis=0)
    assert np.abs(centred.T @ (z - z.mean(axis=0))).max() / len(x) < 1e-8
    standard = centred / centred.std()
    logistic = LogisticRegression(C=1e3, tol=1e-10, max_iter=2000).fit(standard, labels)
    np.testing.assert_allclose(
        logistic.predict_proba(standard), np.tile(z.mean(axis=0), (len(x), 1)), atol=1e-4
    )
    for classifier in (logistic, LinearSVC(dual=False, tol=1e-8, max_iter=10000).fit(standard, labels)):
        predicted = classifier.predict(standard)
        assert balanced_accuracy_score(labels, predicted) == pytest.approx(1 / len(np.unique(labels)))


@given(SEEDS, st.sampled_from([4, 20, 40]), st.sampled_from([2, 3]), st.booleans())
@settings(max_examples=12, deadline=None)
def test_no_linear_classifier_beats_chance_after_leace(seed, dimensions, n_classes, shrinkage):
    """Also where there are fewer training words than dimensions, which any classifier could separate before."""
    classes = {"a": CLASSES["a"], "b": CLASSES["b"][:7], "c": CLASSES["c"][:6]}
    classes = dict(list(classes.items())[:n_classes])
    with tempfile.TemporaryDirectory() as folder:
        model = random_store(folder, seed, dimensions=dimensions)
        transform = debias.leace(model, classes=classes, shrinkage=shrinkage)
        check_erased(*labelled(model, transform, classes))


@pytest.mark.parametrize("shrinkage", [False, True])
def test_leace_erases_gender_from_real_vectors(word2vec, shrinkage):
    def known(words):
        return [word for word in words if word2vec.rows([word])[0] >= 0]

    specific = known(word_set("debiaswe.gender_specific"))
    professions = known([word for word, *_ in word_set("debiaswe.professions") if word not in specific])
    classes = {"professions": professions, "specific": specific[:150]}
    before = take(word2vec, classes["professions"] + classes["specific"])
    labels = np.repeat([0, 1], [len(words) for words in classes.values()])
    assert LogisticRegression(C=1e3, max_iter=2000).fit(before, labels).score(before, labels) > 0.99
    transform = debias.leace(word2vec, classes=classes, shrinkage=shrinkage)
    check_erased(*labelled(word2vec, transform, classes))
    assert transform.fitted_on["rank"] == 1


def test_leace_changes_the_training_words_less_than_other_erasers(word2vec):
    """The orthogonal projection that erases as well, and shrinkage, both move them farther."""
    training = find_training_words(
        word2vec,
        classes=None,
        **HE_SHE,
        definitional_pairs=None,
        ignore=(),
        n_words=1000,
        neutral=True,
        seed=0,
    )
    x, labels = training.vectors, training.labels

    def moved(after):
        return ((after - x) ** 2).sum(axis=1).mean()

    fit = {**HE_SHE, "n_words": 1000}
    ours, shrunk = (debias.leace(word2vec, **fit, shrinkage=s).apply(x, [""] * len(x)) for s in (False, True))
    for after in (ours, shrunk):
        np.testing.assert_allclose(
            np.diff([after[labels == k].mean(axis=0) for k in range(3)], axis=0), 0, atol=1e-10
        )
    means = np.array([x[labels == k].mean(axis=0) for k in range(3)])
    between = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)[2][:2]
    orthogonal = x - (x - x.mean(axis=0)) @ between.T @ between
    assert moved(ours) < moved(shrunk) < moved(orthogonal)


# training words


def cosines_with(model, words, direction):
    x = take(model, words)
    return x @ direction / np.linalg.norm(x, axis=1) / np.linalg.norm(direction)


def test_training_words_are_the_extremes_and_neutral_ones(word2vec):
    words, _ = word2vec.vocabulary()
    he, she = take(word2vec, ["he", "she"])
    cosine = cosines_with(word2vec, words, he - she)
    options = {
        "classes": None,
        "definitional_pairs": None,
        "ignore": ["he", "Ann"],
        "n_words": 300,
        "neutral": True,
    }
    training = find_training_words(word2vec, **HE_SHE, **options, seed=0)
    assert training.names == ("first", "second", "neutral")
    assert np.bincount(training.labels).tolist() == [300] * 3
    known = {vector.tobytes(): place for place, vector in enumerate(take(word2vec, words))}
    places = np.array([known[vector.tobytes()] for vector in training.vectors])
    of_class = [places[training.labels == k] for k in range(3)]
    allowed = [p for p in np.argsort(-cosine) if words[p] not in ("he", "Ann")]
    assert set(of_class[0]) == set(allowed[:300])
    assert set(of_class[1]) == set(allowed[-300:])
    assert np.abs(cosine[of_class[2]]).max() < 0.03
    assert len(set(of_class[2])) == 300
    again, other = (find_training_words(word2vec, **HE_SHE, **options, seed=seed).vectors for seed in (0, 1))
    assert (again == training.vectors).all()
    assert (other[:600] == training.vectors[:600]).all()
    assert (other[600:] != training.vectors[600:]).any()
    # as many as the smallest class has, and no word in two
    most = find_training_words(word2vec, **HE_SHE, **options | {"n_words": 10**6}, seed=0)
    sizes = np.bincount(most.labels)
    counts = [(cosine >= 0.03).sum(), (cosine <= -0.03).sum(), (np.abs(cosine) < 0.03).sum()]
    assert len(set(sizes)) == 1
    assert min(counts) - 2 <= sizes[0] <= min(counts)


def test_definitional_pairs_point_from_the_second_words_to_the_first(small):
    options = {
        "classes": None,
        "bias_representation": None,
        "ignore": (),
        "n_words": 5,
        "neutral": False,
        "seed": 0,
    }
    one = find_training_words(small, definitional_pairs=PAIRS, **options)
    two = find_training_words(small, definitional_pairs=[pair[::-1] for pair in PAIRS], **options)
    assert (one.vectors[one.labels == 0] == two.vectors[two.labels == 1]).all()
    difference = np.mean([np.subtract(*take(small, pair)) for pair in PAIRS], axis=0)
    sides = [one.vectors[one.labels == k] @ difference for k in (0, 1)]
    assert sides[0].mean() > sides[1].mean()


# all of them


@pytest.mark.parametrize("method", FITS)
def test_ignored_words_stay_and_target_words_alone_change(small, method):
    fit = getattr(debias, method)
    everywhere = applied(small, fit(small, **FITS[method]), WORDS)
    x = take(small, WORDS)
    assert (everywhere != x).any(axis=1).all()
    ignored = np.isin(WORDS, ["a0", "d3"])
    ours = applied(small, fit(small, **FITS[method], ignore=["a0", "d3", "lost"]), WORDS)
    assert (ours[ignored] == x[ignored]).all()
    assert (ours[~ignored] == everywhere[~ignored]).all()
    ours = applied(small, fit(small, **FITS[method], target=["a0", "d3", "lost"]), WORDS)
    assert (ours[~ignored] == x[~ignored]).all()
    np.testing.assert_allclose(ours[ignored], everywhere[ignored], rtol=0, atol=1e-14)
    debiased = small.under(fit(small, **FITS[method], ignore=["a0", "d3"]))
    assert (take(debiased, ["a0", "d3"]) == take(small, ["a0", "d3"])).all()


@pytest.mark.parametrize("method", FITS)
def test_the_same_fit_gives_the_same_bytes(small, tmp_path, method):
    for name in ("one.npz", "two.npz"):
        getattr(debias, method)(small, **FITS[method]).save(tmp_path / name)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    loaded, fitted = (
        debias.Transform.load(tmp_path / "one.npz"),
        getattr(debias, method)(small, **FITS[method]),
    )
    assert (applied(small, loaded, WORDS) == applied(small, fitted, WORDS)).all()
    assert loaded.fitted_on == fitted.fitted_on


BOTH = ("inlp", "leace")
LEARNING = [
    ({"classes": {"a": CLASSES["a"]}}, "classes: 1 given, and at least two are needed"),
    ({"classes": {"a": ["a0", "a1"], "b": ["b0", "a1"]}}, "'a1' is in 'a' and in 'b'"),
    ({"classes": {"a": ["a0", "a1"], "b": ["b0", "x", "b0"]}}, "made has 1 of the 3 words of 'b'"),
    ({"classes": None}, "training words: nothing given; allowed: one of"),
    ({"definitional_pairs": PAIRS}, "classes and definitional_pairs given; allowed: one of"),
    ({"target": ["a0", "a1"], "ignore": ["a1"]}, "'a1' in both"),
    ({"target": ["lost"]}, "target: made has none of its 1 words"),
    ({"n_words": 0}, "n_words: 0 is not allowed"),
    ({"n_words": float("nan")}, "n_words: nan is not allowed"),
    ({"neutral": 1}, "neutral: 1 is not allowed"),
    ({"classes": None, "bias_representation": ["a0", "b0", "c0"]}, "are not two different words"),
    ({"classes": None, "bias_representation": ["a0", "lost"]}, "made does not have 'lost'"),
    ({"classes": None, "definitional_pairs": [["a0", "b0", "c0"]]}, "is not a pair"),
    ({"classes": None, "definitional_pairs": PAIRS, "n_words": 1}, "has 1 words in made, and at least two"),
    (
        {"classes": None, "definitional_pairs": PAIRS, "ignore": WORDS},
        "has 0 words in made, and at least two",
    ),
    ({"seed": 1.0}, "seed: 1.0 is not allowed"),
]
WRONG = [(method, *wrong) for method in BOTH for wrong in LEARNING] + [
    (
        "linear_projection",
        {"direction": "PCA"},
        "direction: unknown value 'PCA'",
    ),
    ("linear_projection", {"normalize": "no"}, "normalize: 'no' is not allowed"),
    ("linear_projection", {"definitional_pairs": [["a0", "b0", "c0"]]}, "is not a pair"),
    ("linear_projection", {"definitional_pairs": [["a0", "b0"], ["x", "y"]]}, "has no word of"),
    ("linear_projection", {"target": ["a0"], "ignore": ["a0"]}, "'a0' in both"),
    ("linear_projection", {"seeds": 1}, "option 'seeds'"),
    ("inlp", {"n_iterations": 0}, "n_iterations: 0 is not allowed"),
    ("inlp", {"n_iterations": 3}, "after 2 iterations nothing is left of the 6 dimensions"),
    ("inlp", {"held_out": float("nan")}, "held_out: nan is not allowed"),
    ("inlp", {"held_out": 1}, "held_out: 1 is not allowed"),
    ("inlp", {"stop_at_chance": None}, "stop_at_chance: None is not allowed"),
    ("inlp", {"stop_at_chance": True, "held_out": 0}, "no word is held out"),
    ("leace", {"shrinkage": 0.5}, "shrinkage: 0.5 is not allowed"),
]


@pytest.mark.parametrize(("method", "options", "message"), WRONG)
def test_what_cannot_be_fitted(small, method, options, message):
    with refused(*message.split(" .* ")):
        getattr(debias, method)(small, **{**FITS[method], **options})


def test_classes_with_one_mean_leave_vectors_as_they_are():
    """LEACE finds no direction to remove."""
    words = {"he": [1, 1, 0], "man": [1, -1, 0], "she": [1, 1, 2], "woman": [1, -1, -2]}
    model = load(words | {f"w{i}": [i, 2, 5] for i in range(200)})
    transform = debias.leace(model, classes={"male": ["he", "man"], "female": ["she", "woman"]})
    assert transform.left.shape == (3, 0)
    debiased = model.under(transform)
    names = [f"w{i}" for i in range(200)]
    assert debiased.take(names, debiased.rows(names)).tolist() == [[i, 2, 5] for i in range(200)]


def test_vectors_that_show_no_direction(tmp_path):
    x = np.ones((len(WORDS), 3))
    x[:4] += np.arange(4)[:, None]
    x[12:16] += np.arange(4)[::-1, None]  # the sides have the same words' vectors in another order
    model = make_store(tmp_path, WORDS, x)
    with pytest.raises(BiasgridError, match="direction two_means finds no difference between their sides"):
        debias.linear_projection(model, definitional_pairs=PAIRS, direction="two_means")


def test_a_word_without_a_direction_is_on_no_side(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(len(WORDS), 4))
    x[40:] = 0
    model = make_store(tmp_path, WORDS, x)
    transform = debias.leace(model, bias_representation=["a0", "b0"], neutral=False)
    sizes = transform.fitted_on["training_words"]
    assert sizes["first"] == sizes["second"] <= 20
