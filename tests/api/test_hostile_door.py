"""What users do wrong, or do as in WEFE, at the Python door: each is answered, or works."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import biasgrid as bg
from biasgrid.result import as_json

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


# --- grids --------------------------------------------------------------------------------------------------------


def test_two_of_one_metric_have_labels_of_their_own(model, query):
    metrics = {"far": {"metric": "rnd"}, "askew": {"metric": "rnd", "distance": "cos"}, "rnd": {}}
    labels = grid_of(query, [model], metrics).study.labels
    assert [labels[key] for key in metrics] == ["far", "askew", "RND"]
    metrics["far"]["label"] = "Euclid"
    assert grid_of(query, [model], metrics).study.labels["far"] == "Euclid"


def test_wefes_options_of_a_metric_in_a_grid(model, query):
    with pytest.raises(bg.BiasgridError, match="calculate_p_value: say permutation=True"):
        grid_of(query, [model], [("weat", {"calculate_p_value": True})])


@pytest.mark.parametrize(
    ("debias", "message"),
    [({"hard": {"toi": None}}, "did you mean 'toy'"), ({3: print}, "3 cannot be a debias method's name")],
)
def test_debias_methods_of_no_model_and_without_a_name(model, query, debias, message):
    with pytest.raises(bg.BiasgridError, match=message):
        grid_of(query, [model], debias=debias)


def test_ids_of_queries_are_texts(model, query):
    with pytest.raises(bg.BiasgridError, match="3 cannot be a query's id"):
        bg.measure_grid(["weat"], {"gender": {3: query}}, [model], progress=False)


@pytest.mark.parametrize("given", [lambda *arrays: arrays[0], lambda *arrays: "1", lambda *arrays: None])
def test_own_functions_that_give_no_number(model, other, query, given):
    grid = grid_of(query, [model, other], ["rnd", "weat"])
    for ask, what in (
        (grid.aggregate, "aggregation"),
        (grid.rank, "aggregation"),
        (grid.correlate, "method"),
    ):
        with pytest.raises(bg.BiasgridError, match=f"{what}: <lambda> returned .* is no number"):
            ask(given)


def test_wefes_functions_of_a_data_frame_are_told_that_there_is_none(model, query):
    with pytest.raises(
        bg.BiasgridError, match=r"aggregation: <lambda> takes no array: .* no attribute 'abs'"
    ):
        grid_of(query, [model], ["weat"]).aggregate(lambda frame: -frame.abs().mean(1))


def test_own_functions_may_give_nan(model, other, query):
    grid = grid_of(query, [model, other], ["rnd", "weat"])
    assert grid.aggregate(lambda values: np.nan).isna().all(axis=None)
    assert grid.aggregate(lambda values: np.array(2.0)).eq(2).all(axis=None)
    assert np.isnan(grid.correlate(lambda a, b: np.nan).loc["rnd", "weat"])


@pytest.mark.parametrize("digits", [-1, "x", 1.5, None, True])
def test_digits_are_a_whole_number(model, query, digits):
    grid = grid_of(query, [model])
    for write in (grid.to_markdown, grid.to_latex):
        with pytest.raises(bg.BiasgridError, match=r"digits: .* is not allowed"):
            write("rnd", digits)


def test_a_bar_in_latex_is_a_bar(model, query):
    # in LaTeX's default font encoding, | is a dash
    assert r"a\textbar{}b & " in grid_of(query, {"a|b": model}).to_latex("rnd")


def test_a_figure_that_cannot_be_written(model, query, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(bg.DiskError, match="cannot write it"):
        grid_of(query, [model]).plot("rankings", path=tmp_path / "file" / "figure.png")


def test_numbers_of_numpy_are_numbers(model, query):
    given = {"seed": np.int64(3), "n_iterations": np.int32(2), "holdout": np.False_}
    plain = {"seed": 3, "n_iterations": 2, "holdout": False}
    assert bg.metrics.rnsb(query, model, **given) == bg.metrics.rnsb(query, model, **plain)
    grids = [bg.measure_grid(["rnsb"], [query], [model], seed=s, progress=False) for s in (np.int64(3), 3)]
    assert grids[0].scores.equals(grids[1].scores)
    pairs = [WORDS[:2], WORDS[2:4], WORDS[4:6]]
    fits = [bg.debias.hard(model, definitional_pairs=pairs, n_components=n) for n in (np.int64(1), 1)]
    assert fits[0].fitted_on == fits[1].fitted_on
