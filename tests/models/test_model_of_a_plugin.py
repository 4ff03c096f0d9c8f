"""A model that has what the ABC asks for, and nothing else, works wherever a model of ours does."""

import hashlib

import numpy as np
import pytest

from biasgrid import Query, debias, load, metrics
from biasgrid.models.model import Model

WORDS = [f"w{i}" for i in range(300)]
VECTORS = np.random.default_rng(5).normal(size=(300, 6)).astype(np.float32) + 0.3
PAIRS = [WORDS[i : i + 2] for i in range(0, 16, 2)]


class Toy(Model):
    """Vectors that are made when they are asked for: there is no array."""

    name, vocab_prefix, metadata = "toy", "", {"sorted": True}
    dimensions, row_count, fingerprint = 6, 300, hashlib.sha256(VECTORS.tobytes()).hexdigest()

    def rows(self, words):
        return np.array([int(word[1:]) if word in WORDS else -1 for word in words], dtype=np.int64)

    def read(self, rows):
        return VECTORS[rows].copy()

    def take(self, words, rows):
        return VECTORS[rows].astype(np.float64)

    def matrix(self, words, rows):
        return VECTORS[rows].copy()

    def words(self):
        return list(WORDS)

    def vocabulary(self, limit=None):
        return WORDS[:limit], np.arange(300)[:limit]

    def __len__(self):
        return 300


METHODS = {
    "inlp": {"classes": {"a": WORDS[:20], "b": WORDS[20:40]}, "n_iterations": 2},
    "ran": {"definitional_pairs": PAIRS, "target": WORDS[40:44], "n_neighbours": 5, "epochs": 5},
    "double_hard": {"definitional_pairs": PAIRS, "n_words": 20},
    "hard": {"definitional_pairs": PAIRS},
    "linear_projection": {"definitional_pairs": PAIRS},
}


@pytest.mark.parametrize("method", METHODS)
def test_debias_methods_fit_it_as_a_model_of_ours(method):
    ours = load(dict(zip(WORDS, VECTORS, strict=True)), name="toy")
    fit = debias.method(method)
    of_toy, of_ours = (model.under(fit(model, **METHODS[method])) for model in (Toy(), ours))
    np.testing.assert_allclose(of_toy.vectors(WORDS[:60]), of_ours.vectors(WORDS[:60]), atol=1e-6)


def test_its_methods_draw_from_all_its_words():
    toy, ours = Toy(), load(dict(zip(WORDS, VECTORS, strict=True)), name="toy")
    options = {"classes": None, "definitional_pairs": PAIRS, "n_words": 30, "n_iterations": 1}
    vectors = [model.under(debias.inlp(model, **options)).vectors(WORDS[:60]) for model in (toy, ours)]
    np.testing.assert_allclose(*vectors, atol=1e-6)
    incremental = {"definitional_pairs": PAIRS, "n_words": 20, "variant": "wefe"}
    vectors = [
        model.under(debias.double_hard(model, **incremental)).vectors(WORDS[:60]) for model in (toy, ours)
    ]
    np.testing.assert_allclose(*vectors, atol=1e-6)


@pytest.mark.slow
def test_inference_on_it():
    query = Query([WORDS[:8], WORDS[8:16]], [WORDS[16:24], WORDS[24:32]])
    ours = load(dict(zip(WORDS, VECTORS, strict=True)), name="toy")
    asked = {"permutation": {"draws": 99}, "random_groups": {"draws": 99}, "bootstrap": {"draws": 99}}
    results = [metrics.weat(query, model, **asked) for model in (Toy(), ours)]
    for name in ("value", "p_value", "p_groups", "ci_low", "ci_high"):
        numbers = [getattr(result, name) for result in results]
        assert np.isfinite(numbers).all()
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-12)
    assert np.isfinite(metrics.weat(query, Toy(), frequency_bands={"draws": 99}).p_bands)
