"""PPMI with an SVD, held against the published definition (Levy, Goldberg, Dagan 2015), computed pair by pair."""

import math
from collections import Counter

import numpy as np
import pytest
from biasgrid_plugin_training.algorithms import glove, ppmi
from conftest import text
from refusals import refused
from test_glove import made, sentences
from test_training import trained

from biasgrid.models import build_store
from biasgrid.models.algorithms import REGISTRY as ALGORITHMS

TINY = [["a", "b", "c"], ["a", "b"], ["c", "c", "d"]]


def counted(of_sentences, window):
    """X_ij: each pair counts 1, whatever its distance."""
    words, _, _ = glove.vocabulary(of_sentences, 1)
    return words, glove.cooccurrences(of_sentences, words, window, distance_weights=False)


def published(of_sentences, window, alpha, shift):
    """PPMI by its definition: (word, context) -> value."""
    pairs = Counter()
    for tokens in of_sentences:
        for i, a in enumerate(tokens):
            for j, b in enumerate(tokens):
                if 0 < abs(i - j) <= window:
                    pairs[a, b] += 1
    total = pairs.total()
    of_word, of_context = Counter(), Counter()
    for (a, b), n in pairs.items():
        of_word[a] += n
        of_context[b] += n
    smoothed = sum(n**alpha for n in of_context.values())
    return {
        (a, b): max(
            0,
            math.log((n / total) / (of_word[a] / total * of_context[b] ** alpha / smoothed))
            - math.log(shift),
        )
        for (a, b), n in pairs.items()
    }


def test_by_hand():
    """Pairs of neighbours: a-b twice, b-c, c-c and c-d once, so that X has 10 in all, of which b has 3."""
    words, matrix = counted(TINY, 1)
    place = {word: i for i, word in enumerate(words)}
    assert matrix.sum() == 10
    assert matrix[place["c"], place["c"]] == 2  # each is beside the other
    found = ppmi.positive_pmi(matrix, alpha=1)
    # a is beside b 2 times of 10, a has 2 and b 3 of 10
    assert found[place["a"], place["b"]] == pytest.approx(math.log(0.2 / (0.2 * 0.3)))
    # b is beside c once of 10, c has 4 of 10: less than by chance
    assert math.log(0.1 / (0.3 * 0.4)) < 0
    assert found[place["b"], place["c"]] == 0
    assert found.nnz < matrix.nnz


@pytest.mark.parametrize(("alpha", "shift"), [(0.75, 1), (1, 1), (0, 1), (0.75, 1.5)])
@pytest.mark.parametrize("of_sentences", [TINY, sentences(900, 13)])
def test_it_is_the_published_value(of_sentences, alpha, shift):
    words, matrix = counted(of_sentences, 2)
    expected = published(of_sentences, 2, alpha, shift)
    assert any(expected.values())
    found = ppmi.positive_pmi(matrix, alpha=alpha, shift=shift).toarray()
    np.testing.assert_allclose(found, [[expected.get((a, b), 0) for b in words] for a in words], atol=1e-12)


def test_a_word_that_stands_alone_has_zeros():
    words, matrix = counted([["a", "b"], ["c"], ["a", "b", "d"]], 1)
    found = ppmi.positive_pmi(matrix).toarray()
    assert np.isfinite(found).all()
    assert not found[words.index("c")].any()


@pytest.mark.parametrize("eig", [0, 0.5, 1])
def test_vectors_are_those_of_numpys_svd(eig):
    _, matrix = counted(sentences(), 3)
    dense = ppmi.positive_pmi(matrix).toarray()
    own, values, _ = np.linalg.svd(dense)
    found = ppmi.vectors(ppmi.positive_pmi(matrix), 6, eig)
    # whichever sign NumPy's have
    np.testing.assert_allclose(np.abs(found), np.abs(own[:, :6] * values[:6] ** eig), atol=1e-8)
    assert (found[np.abs(found).argmax(axis=0), np.arange(6)] > 0).all()


def test_dimensions_that_a_corpus_does_not_have_are_zero():
    """Four words beside one each: the singular values are equal, and further words add none."""
    _, matrix = counted([["a", "b"], ["c", "d"], ["e"], ["f"], ["g"]], 1)
    for eig in (0, 0.5):
        found = ppmi.vectors(ppmi.positive_pmi(matrix), 5, eig)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found[:, 4], 0, atol=1e-7)
        np.testing.assert_allclose(found[4:], 0, atol=1e-7)
        assert np.linalg.norm(found[:4], axis=1) == pytest.approx(np.full(4, np.log(4 / 1) ** eig), abs=1e-7)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"min_count": 99999}, "letters: 0 words occur 99999 times (min_count): too few for 6 dim"),
        ({"shift": 1000000}, ("letters: no two words stand together more often", "(shift: 1000000)")),
    ],
)
def test_a_corpus_of_too_little_is_one_line(tmp_path, params, says):
    with refused(*([says] if isinstance(says, str) else says)):
        made(tmp_path / "store", "ppmi", **params)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"seed": 1},
            "ppmi has no parameter 'seed'; allowed are: alpha, eig, min_count, shift, vector_size, win",
        ),
        ({"shift": 0.5}, "shift: 0.5 is not allowed; allowed are numbers from 1"),
        ({"eig": 2}, "eig: 2 is not allowed; allowed are numbers from 0 to 1"),
        ({"alpha": -1}, "alpha: -1 is not allowed"),
    ],
)
def test_wrong_parameters_are_one_line(params, message):
    with refused(message):
        ALGORITHMS["ppmi"].check(params)


def test_a_model_of_a_study_is_trained(tmp_path):
    (tmp_path / "corpus.txt").write_text(text())
    model = trained(tmp_path / "corpus.txt", "ppmi")
    for name in ("epochs", "seed"):
        model["source"]["params"].pop(name, None)
    store = build_store("m", model, tmp_path / "stores")
    assert store.metadata["trained_by"] == "ppmi version 1"
    assert store.dimensions == 8
