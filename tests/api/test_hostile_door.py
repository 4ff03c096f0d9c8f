"""What users do wrong, or do as in WEFE, at the Python door: each is answered, or works."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import biasgrid as bg
from biasgrid.measure import as_json

WORDS = [f"w{i}" for i in range(12)]
VECTORS = np.random.default_rng(5).normal(size=(12, 6))


@pytest.fixture(scope="module")
def model():
    return bg.load((WORDS, VECTORS), name="toy")


@pytest.fixture(scope="module")
def other():
    return bg.load((WORDS, VECTORS[::-1]), name="other")


@pytest.fixture(scope="module")
def query():
    return bg.Query({"A": WORDS[:3], "B": WORDS[3:6]}, {"X": WORDS[6:9], "Y": WORDS[9:]})


def grid_of(query, models, metrics=("rnd",), **options):
    return bg.measure_grid(metrics, [query], models, progress=False, **options)


# --- models -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "empty text"),
        ("a" * 5000, "no such file or folder"),
        ((None, VECTORS), "None is no list of words"),
        ((WORDS, VECTORS.astype(complex)), "complex numbers"),
        ({"a": np.array([1j])}, "complex numbers"),
    ],
)
def test_sources_that_are_none(source, message):
    with pytest.raises(bg.InputError, match=message) as caught:
        bg.load(source)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("dtype", ["Float64", object, "Int64"])
def test_a_frame_of_pandas_own_types(dtype):
    whole = pd.DataFrame(np.arange(8).reshape(4, 2), index=list("abcd"))
    frame = whole.astype(dtype)
    np.testing.assert_array_equal(bg.load(frame).vectors(list("abcd")), whole.to_numpy())


def test_a_warning_of_what_was_loaded_is_about_the_users_line():
    with pytest.warns(UserWarning, match="duplicate_words 1") as caught:
        bg.load((["a", "a"], [[1.0], [2.0]]))
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", ["wv", "get", "normalize", "update", "batch_update"])
def test_what_wefes_models_have_is_answered(model, name):
    with pytest.raises(AttributeError, match=f"MemoryModel has no attribute '{name}'; \\w+"):
        getattr(model, name)
    for of in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert not hasattr(of, "nonsense")


def test_most_similar_to_a_number(model):
    with pytest.raises(bg.InputError, match="most_similar: 3 is not allowed"):
        model.most_similar(3)


def test_a_debiased_models_name_is_a_text(model):
    pairs = [WORDS[:2], WORDS[2:4]]
    transform = bg.debias.hard(model, definitional_pairs=pairs)
    with pytest.raises(bg.InputError, match="name: expected a text, not 3"):
        model.under(transform, name=3)
