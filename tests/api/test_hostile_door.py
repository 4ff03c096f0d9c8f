"""What users do wrong, or do as in WEFE, at the Python door: each is answered, or works."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import biasgrid as bg
from biasgrid.measure.result import as_json

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


ANY, INPUT = bg.BiasgridError, bg.InputError
# what stands where a name, a path or words belong, most often by mistake
NO_NAMES = [np.zeros(3), [], {}, object(), 10**400]
NO_PATHS = ["", "a\0b", "\ud800"]
REFUSALS = [
    *(
        (call, ANY, "")
        for wrong in NO_NAMES
        for call in (
            lambda m, q, _, w=wrong: grid_of(q, [m]).rank(w),
            lambda m, q, _, w=wrong: grid_of(q, [m]).rank(by=w),
            lambda m, q, _, w=wrong: grid_of(q, [m]).rank(ties=w),
            lambda m, q, _, w=wrong: grid_of(q, [m]).table(w),
            lambda m, q, _, w=wrong: grid_of(q, [m]).aggregate(criterion=w),
            lambda m, q, _, w=wrong: grid_of(q, [m]).correlate(w),
            lambda m, q, _, w=wrong: grid_of(q, [m]).least_biased(debiased=w),
            lambda m, q, _, w=wrong: grid_of(q, [m]).without(w),
            lambda m, q, _, w=wrong: grid_of(q, [m]).plot(w),
            lambda m, q, _, w=wrong: grid_of(q, [m]).plot(width=w),
            lambda m, q, _, w=wrong: grid_of(q, [m]).plot(path=w),
            lambda m, q, _, w=wrong: grid_of(q, [m]).plot(criterion=w),
            lambda m, q, _, w=wrong: bg.metrics.weat(q, m, strategy=w),
            lambda m, q, _, w=wrong: bg.metrics.weat(q, m).p_lowest(w),
            lambda m, q, _, w=wrong: bg.word_sets(w),
            lambda m, q, _, w=wrong: bg.published(w),
            lambda m, q, _, w=wrong: bg.open_study(w),
            lambda m, q, _, w=wrong: q.fits(w),
            lambda m, q, _, w=wrong: q.exactly(w),
            lambda m, q, _, w=wrong: q.save(w),
            lambda m, q, _, w=wrong: m.save(w),
        )
    ),
    *(
        (call, ANY, "is not the path of a file or folder")
        for wrong in NO_PATHS
        for call in (
            lambda m, q, _, w=wrong: grid_of(q, [m]).compare(w),
            lambda m, q, _, w=wrong: grid_of(q, [m]).plot("rankings", path=w),
            lambda m, q, _, w=wrong: q.save(w),
            lambda m, q, _, w=wrong: m.save(w),
            lambda m, q, _, w=wrong: bg.open_study(w),
        )
    ),
    *((lambda m, q, _, w=wrong: m.vectors(w), ANY, "expected a list of words") for wrong in (None, 3, [[]])),
    (lambda m, q, _: bg.metrics.weat(q, m)["weat"], INPUT, "is result.value"),
    (lambda m, q, _: bg.metrics.weat(q, m)["effect_size"], INPUT, "weat_es"),
    (lambda m, q, _: bg.metrics.weat(q, m)["p_value"], INPUT, "result.p_value"),
    (lambda m, q, _: bg.metrics.weat(q, m)["x"], INPUT, "say result"),
    (lambda m, q, _: bg.debias.hard(q, definitional_pairs=[["he", "she"]]), INPUT, "a Query is no model"),
    (
        lambda m, q, _: grid_of(q, [m], [("weat", {"calculate_p_value": True})]),
        ANY,
        "calculate_p_value: say permutation=True",
    ),
    (lambda m, q, _: grid_of(q, [m], debias={"hard": {"toi": None}}), ANY, "did you mean 'toy'"),
    (lambda m, q, _: grid_of(q, [m], debias={3: print}), ANY, "3 cannot be a debias method's name"),
    (lambda m, q, _: bg.measure_grid("rnd", {"g": {3: q}}, m), ANY, "3 cannot be a query's id"),
    # a function of a data frame, as WEFE takes it
    (
        lambda m, q, _: grid_of(q, [m], ["weat"]).aggregate(lambda frame: -frame.abs().mean(1)),
        ANY,
        "aggregation: <lambda> takes no array: …no attribute 'abs'",
    ),
    *(
        (
            lambda m, q, _, digits=digits, name=name: getattr(grid_of(q, [m]), name)("rnd", digits),
            ANY,
            "digits: …is not allowed",
        )
        for digits in (-1, "x", 1.5, None, True)
        for name in ("to_markdown", "to_latex")
    ),
    (
        lambda m, q, at: grid_of(q, [m]).plot("rankings", path=at / "file" / "f.png"),
        bg.DiskError,
        "cannot write it",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "says"), REFUSALS)
def test_wrong_use_is_answered_in_one_sentence(model, query, tmp_path, call, kind, says):
    (tmp_path / "file").write_text("")
    with refused(*says.split("…"), kind=kind):
        call(model, query, tmp_path)


# --- models -------------------------------------------------------------------------------------------------------


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


def test_own_functions_may_give_nan(model, other, query):
    grid = grid_of(query, [model, other], ["rnd", "weat"])
    assert grid.aggregate(lambda values: np.nan).isna().all(axis=None)
    assert grid.aggregate(lambda values: np.array(2.0)).eq(2).all(axis=None)
    assert np.isnan(grid.correlate(lambda a, b: np.nan).loc["rnd", "weat"])


def test_a_bar_in_latex_is_a_bar(model, query):
    # in LaTeX's default font encoding, | is a dash
    assert r"a\textbar{}b & " in grid_of(query, {"a|b": model}).to_latex("rnd")


def test_numbers_of_numpy_are_numbers(model, query):
    given = {"seed": np.int64(3), "n_iterations": np.int32(2), "holdout": np.False_}
    plain = {"seed": 3, "n_iterations": 2, "holdout": False}
    assert bg.metrics.rnsb(query, model, **given) == bg.metrics.rnsb(query, model, **plain)
    grids = [bg.measure_grid(["rnsb"], [query], [model], seed=s, progress=False) for s in (np.int64(3), 3)]
    assert grids[0].scores.equals(grids[1].scores)
    pairs = [WORDS[:2], WORDS[2:4], WORDS[4:6]]
    fits = [bg.debias.hard(model, definitional_pairs=pairs, n_components=n) for n in (np.int64(1), 1)]
    assert fits[0].fitted_on == fits[1].fitted_on
