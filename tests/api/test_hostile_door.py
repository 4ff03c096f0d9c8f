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


# --- queries and results ------------------------------------------------------------------------------------------


def test_word_sets_are_added_like_lists(query):
    first, second = query.target_sets
    assert first + second == WORDS[:6]
    more = ["more"]
    assert first + more == [*WORDS[:3], "more"]
    assert more + first == ["more", *WORDS[:3]]
    with pytest.raises(TypeError):
        first + 3
    with pytest.raises(TypeError):
        "text" + first


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("weat", "is result.value"),
        ("effect_size", "weat_es"),
        ("p_value", "result.p_value"),
        ("x", "say result"),
    ],
)
def test_a_result_is_no_dictionary_as_wefes(model, query, key, message):
    with pytest.raises(bg.InputError, match=message):
        bg.metrics.weat(query, model)[key]


def test_a_result_is_no_sequence(model, query):
    with pytest.raises(TypeError):
        list(bg.metrics.weat(query, model))


def test_what_a_results_dict_holds_is_its_own(model, query):
    result = bg.metrics.weat(query, model)
    record = as_json(result)
    assert (record["found"], record["lost"]) == (result.found, result.lost)
    record["found"]["A"]["w0"].append("changed")
    record["lost"]["A"].append("changed")
    assert (result.found["A"]["w0"], result.lost["A"]) == (["w0"], [])


def test_a_query_where_a_debias_method_has_its_model(query):
    with pytest.raises(bg.InputError, match=r"a Query is no model$"):
        bg.debias.hard(query, definitional_pairs=[["he", "she"]])


@pytest.mark.parametrize("package", [bg.metrics, bg.debias])
def test_completion_offers_what_is_of_use(package):
    offered = {name for name in dir(package) if not name.startswith("_")}
    assert offered == {*package.REGISTRY, *package.__all__}
