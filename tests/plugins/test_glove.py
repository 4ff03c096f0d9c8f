"""GloVe, held against the published objective (Pennington et al. 2014, equations 8 and 9), computed pair by pair."""

import math
from collections import Counter

import numpy as np
import pytest
from biasgrid_plugin_training.algorithms import glove
from conftest import text
from hypothesis import given, settings
from hypothesis import strategies as st
from test_training import trained

from biasgrid import BiasgridError
from biasgrid.models import build_store
from biasgrid.models.algorithms import REGISTRY as ALGORITHMS

WINDOW = 3
SETTINGS = {"vector_size": 5, "epochs": 4, "learning_rate": 0.2, "x_max": 20, "alpha": 0.75, "seed": 1}


def sentences(tokens: int = 3000, length: int = 30) -> list[list[str]]:
    words = text(tokens).split()
    return [words[start : start + length] for start in range(0, len(words), length)]


def near(of_sentences, words, window) -> Counter:
    """X_ij by the definition: 1 over the distance of two tokens, both ways."""
    found = Counter()
    for sentence in of_sentences:
        tokens = [word for word in sentence if word in words]
        for i, a in enumerate(tokens):
            for j, b in enumerate(tokens):
                if 0 < abs(i - j) <= window:
                    found[a, b] += 1 / abs(i - j)
    return found


def published(own, context, matrix, x_max, alpha) -> float:
    """J with w, c and the biases b and d parted, one pair after the other."""
    w, b, c, d = own[:, :-2], own[:, -2], context[:, :-2], context[:, -1]
    total = 0.0
    for i, j in zip(*matrix.nonzero(), strict=True):
        x = matrix[i, j]
        f = (x / x_max) ** alpha if x < x_max else 1.0
        total += f * (float(w[i] @ c[j]) + b[i] + d[j] - math.log(x)) ** 2
    return total


@pytest.fixture(scope="module")
def matrix():
    words, _, _ = glove.vocabulary(sentences(), 5)
    return glove.cooccurrences(sentences(), words, WINDOW)


def test_words_are_counted():
    words, counts, tokens = glove.vocabulary([["b", "a", "c", "b"], ["a", "d", "b"]], 2)
    assert (words, counts.tolist(), tokens) == (["b", "a"], [3, 2], 7)


@pytest.mark.parametrize("tokens", [50, 1 << 22])  # in blocks, and at once
def test_cooccurrences_are_those_of_the_text(monkeypatch, tokens):
    monkeypatch.setattr(glove, "TOKENS", tokens)
    of_text = sentences(600, 13)
    words, _, _ = glove.vocabulary(of_text, 8)
    assert 3 < len(words) < len({word for sentence in of_text for word in sentence})
    found = glove.cooccurrences(iter(of_text), words, WINDOW).toarray()
    expected = near(of_text, set(words), WINDOW)
    np.testing.assert_allclose(found, [[expected[a, b] for b in words] for a in words])


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.floats(0.5, 40), st.floats(0, 1.5))
def test_the_objective_is_the_published_one(matrix, seed, x_max, alpha):
    own, context = glove.start(matrix.shape[0], 3, np.random.default_rng(seed))
    found = glove.objective(own, context, glove.Pairs.from_matrix(matrix, x_max, alpha))
    assert found == pytest.approx(published(own, context, matrix.toarray(), x_max, alpha))


def test_the_gradient_is_that_of_the_objective(matrix):
    """By finite differences; where there is a one, nothing changes."""
    draw = np.random.default_rng(0)
    pairs = glove.Pairs.from_matrix(matrix, 20, 0.75)
    both = glove.start(matrix.shape[0], 3, draw)
    found = glove.gradient(*both, pairs)
    assert not found[0][:, -1].any()
    assert not found[1][:, -2].any()
    for part, one in ((0, -1), (1, -2)):
        columns = [k for k in range(5) if k != one % 5]
        for i, k in zip(draw.integers(matrix.shape[0], size=12), 3 * columns, strict=True):
            ends = []
            for change in (1e-5, -1e-5):
                moved = [both[0].copy(), both[1].copy()]
                moved[part][i, k] += change
                ends.append(glove.objective(*moved, pairs))
            assert found[part][i, k] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5, abs=1e-6)


@pytest.mark.slow  # it imports PyTorch
def test_a_step_is_adagrads(matrix, monkeypatch):
    """Of one batch, against PyTorch: its AdaGrad, and the derivatives of the objective by itself."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(glove, "BATCHES", 1)
    own, context = glove.fit(matrix, **SETTINGS)
    draw = np.random.default_rng(SETTINGS["seed"])
    draw.integers(1, size=matrix.nnz)
    w, c = (torch.tensor(part) for part in glove.start(matrix.shape[0], 5, draw))
    parts = [w[:, :-2].clone(), w[:, -2].clone(), c[:, :-2].clone(), c[:, -1].clone()]
    for part in parts:
        part.requires_grad_()
    x = torch.tensor(matrix.toarray())
    there = x > 0
    f = torch.clamp((x / SETTINGS["x_max"]) ** SETTINGS["alpha"], max=1)[there]
    optimizer = torch.optim.Adagrad(parts, lr=SETTINGS["learning_rate"], initial_accumulator_value=1, eps=0)
    for _ in range(SETTINGS["epochs"]):
        optimizer.zero_grad()
        product = parts[0] @ parts[2].T + parts[1][:, None] + parts[3]
        (f * (product[there] - torch.log(x[there])) ** 2).sum().backward()
        optimizer.step()
    expected = [part.detach().numpy() for part in parts]
    for found, of_torch in zip(
        (own[:, :-2], own[:, -2], context[:, :-2], context[:, -1]), expected, strict=True
    ):
        np.testing.assert_allclose(found, of_torch, rtol=1e-3, atol=1e-4)


def test_batches_are_all_pairs_once(matrix):
    pairs = glove.Pairs.from_matrix(matrix, 20, 0.75)
    parts = pairs.split(7, np.random.default_rng(0))
    both = glove.start(matrix.shape[0], 3, np.random.default_rng(1))
    assert sum(glove.objective(*both, part) for part in parts) == pytest.approx(glove.objective(*both, pairs))
    whole = glove.gradient(*both, pairs)
    for side in (0, 1):
        np.testing.assert_allclose(sum(glove.gradient(*both, part)[side] for part in parts), whole[side])


@pytest.mark.slow
def test_the_objective_falls(matrix):
    pairs = glove.Pairs.from_matrix(matrix, 20, 0.75)
    reached = [
        glove.objective(*glove.fit(matrix, **SETTINGS | {"epochs": epochs}), pairs)
        for epochs in (0, 1, 5, 20, 60)
    ]
    assert reached == sorted(reached, reverse=True)
    assert reached[-1] < reached[0] / 10


@pytest.mark.slow
def test_products_are_the_logs_of_cooccurrences_and_shuffled_ones_are_not(matrix):
    pairs = glove.Pairs.from_matrix(matrix, 20, 0.75)
    own, context = glove.fit(matrix, **SETTINGS | {"vector_size": 20, "epochs": 60})
    products = pairs.errors(own, context) + pairs.logs
    assert np.corrcoef(products, pairs.logs)[0, 1] > 0.9
    shuffled = np.random.default_rng(0).permutation(matrix.shape[0])
    by_chance = np.einsum("ij,ij->i", own[shuffled][pairs.rows], context[pairs.columns])
    assert np.corrcoef(by_chance, pairs.logs)[0, 1] < 0.3


USUAL = {
    "glove": {"vector_size": 6, "min_count": 2, "epochs": 15, "seed": 3, "x_max": 20},
    "ppmi": {"vector_size": 6, "min_count": 2, "window": 3},
}


def made(folder, algorithm="glove", **params):
    corpus = folder.parent / "letters"
    corpus.write_text("\n".join(map(" ".join, sentences(6000))) + "\n")
    model = trained(corpus, algorithm)
    model["source"]["corpus"]["format"] = "tokens"
    model["source"]["params"] = USUAL[algorithm] | params
    return build_store("m", model, folder)


@pytest.mark.parametrize(("algorithm", "params"), [("glove", {"vector_size": 10, "window": 5}), ("ppmi", {})])
def test_words_of_one_letter_are_nearer_to_each_other(tmp_path, algorithm, params):
    """The text has runs of words of one letter."""
    store = made(tmp_path / "store", algorithm, **params)
    vectors = store.array / np.linalg.norm(store.array, axis=1, keepdims=True)
    letters = np.array([word[0] for word in store.words()])
    alike = letters[:, None] == letters
    cosines = vectors @ vectors.T
    others = ~np.eye(len(letters), dtype=bool)
    assert cosines[alike & others].mean() > cosines[~alike].mean() + 0.3


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "other"), [("glove", {"seed": 4}), ("ppmi", {"alpha": 1})])
def test_a_store_is_the_same_each_time_and_another_by_another_parameter(tmp_path, algorithm, other):
    stores = [
        made(tmp_path / name, algorithm, **params) for name, params in (("a", {}), ("b", {}), ("c", other))
    ]
    files = [{file.name: file.read_bytes() for file in store.path.iterdir()} for store in stores]
    assert files[0] == files[1]
    assert files[0]["vectors.npy"] != files[2]["vectors.npy"]
    counts = Counter(word for sentence in sentences(6000) for word in sentence)
    assert dict(zip(stores[0].words(), stores[0].counts.tolist(), strict=True)) == counts
    assert stores[0].counts.tolist() == sorted(counts.values(), reverse=True)
    assert stores[0].metadata["tokens"] == 6000


def test_a_corpus_of_too_few_words_is_one_line(tmp_path):
    with pytest.raises(BiasgridError, match=r"letters: no word occurs 99999 times \(min_count\)"):
        made(tmp_path / "store", min_count=99999)


def test_what_a_model_depends_on_is_its_trainers_version():
    versions = {name: algorithm.version() for name, algorithm in ALGORITHMS.items()}
    assert versions["glove"] != versions["word2vec"] == versions["fasttext"]
    assert "gensim" not in versions["glove"]


def test_a_model_of_a_study_is_trained_and_then_taken_as_it_is(tmp_path):
    (tmp_path / "corpus.txt").write_text(text())
    model = trained(tmp_path / "corpus.txt", "glove", x_max=10)
    first = build_store("m", model, tmp_path / "stores")
    assert first.metadata["trained_by"] == ALGORITHMS["glove"].version()
    assert (first.dimensions, first.counts.sum()) == (8, 6000)
    written = (first.path / "model.json").stat().st_mtime_ns
    build_store("m", model, tmp_path / "stores", shared=True)
    assert (first.path / "model.json").stat().st_mtime_ns == written
