"""Transforms, and the methods that map all words alike: against WEFE, the papers, and their invariants."""

import json
import math

import numpy as np
import pytest
from conftest import DATA, ROOT, make_store
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from biasgrid import BiasgridError, EmbeddingStore, Query, debias, load, metrics
from biasgrid.debias.transform import Transform
from biasgrid.measure.measure import measure
from biasgrid.measure.measurement_spec import MeasurementSpec, split_options
from biasgrid.study.code import closure
from biasgrid.study.study import Study

REFERENCE = json.loads((DATA / "wefe_1.0.1_debias.json").read_text())
ENTRIES = {entry["name"]: entry for entry in REFERENCE["entries"]}


def word_set(key):
    if key == "T100":
        return REFERENCE["T100"]
    stem, name = key.split(".")
    return json.loads((ROOT / "data" / "word_sets" / f"{stem}.json").read_text())["sets"][name]


def reference_queries():
    config = {
        "study": "reference",
        "models": {"m": {"label": "m", "source": {"type": "file", "path": "x"}}},
        "metrics": {"mac": {}},
        "criteria": {"Reference": {"queries": REFERENCE["queries"]}},
    }
    return Study.of(config, root=ROOT).queries


def fit_entry(model, name, **more):
    entry = ENTRIES[name]
    options = {k: word_set(v) if isinstance(v, str) else v for k, v in entry["options"].items()}
    return debias.method(entry["method"])(model, **options, **more)


def vectors(model, words):
    return model.take(words, model.rows(words))


def check_against_reference(model, name, transform, tolerance=1e-5):
    """Probe vectors, norms and metrics of WEFE's entry."""
    entry, debiased = ENTRIES[name], model.under(transform)
    words = list(entry["probe"])
    ours, probe = vectors(debiased, words), np.array(list(entry["probe"].values()))
    norms = np.linalg.norm(ours, axis=1)
    np.testing.assert_allclose(ours[:, :8], probe[:, :8], atol=tolerance)
    np.testing.assert_allclose(norms, probe[:, 8], atol=tolerance)
    original = vectors(model, words)
    cosines = np.einsum("ij,ij->i", ours, original) / norms / np.linalg.norm(original, axis=1)
    np.testing.assert_allclose(cosines, probe[:, 9], atol=tolerance)
    queries, computed, checked, wrong = reference_queries(), {}, 0, []
    for query, sub_query, metric, params, expected, *effect_size in entry["values"]:
        metric = metrics.metric(metric)
        key = (query, metric.name, json.dumps(params))
        if key not in computed:
            parameters, options = split_options(metric, params)
            if metric.name == "ripa":
                parameters["relation"] = "mean"
            results = measure(MeasurementSpec(metric, parameters, options), queries[query], debiased)
            computed[key] = {result.query: result for result in results}
        result = computed[key][sub_query]
        # WEFE's classifier stops at a tolerance of 1e-4
        relative = 2e-4 if metric.name == "rnsb" else 0
        pairs = [(expected, result.value)]
        if effect_size:
            pairs.append((effect_size[0], result.scalars.get("effect_size", math.nan)))
        for theirs, ours in pairs:
            checked += 1
            agree = (
                math.isnan(ours)
                if theirs is None
                else ours == pytest.approx(theirs, rel=relative, abs=tolerance)
            )
            if not agree:
                wrong.append((sub_query, metric.name, params, theirs, ours))
    assert not wrong, f"{len(wrong)} of {checked}: {wrong[:5]}"
    assert checked > 90


# published and reference values


@pytest.mark.parametrize(
    "name",
    [
        "HD_default_ignore_gender_specific",
        "HD_target",
        "MHD_religion",
        "MHD_gender_k1",
        "MHD_ethnicity_k2",
        "HSR_default",
        "HSR_target",
    ],
)
def test_every_value_of_wefe(word2vec, name):
    check_against_reference(word2vec, name, fit_entry(word2vec, name))


def test_hard_debias_without_equalize_pairs_differs_from_wefe_in_its_stale_norms_alone(word2vec):
    """WEFE's equalised words end with norms up to 1.05; the direction of every vector is the same."""
    entry = ENTRIES["HD_equalize_none"]
    debiased = word2vec.under(fit_entry(word2vec, "HD_equalize_none"))
    words = list(entry["probe"])
    probe = np.array(list(entry["probe"].values()))
    np.testing.assert_allclose(vectors(debiased, words)[:, :8], probe[:, :8] / probe[:, [8]], atol=1e-5)
    every, rows = debiased.vocabulary()
    np.testing.assert_allclose(np.linalg.norm(debiased.matrix(every, rows), axis=1), 1, atol=1e-6)
    assert entry["norm_max"] > 1.04


def test_multiclass_hard_debias_removes_no_more_dimensions_than_the_sets_span(word2vec):
    """WEFE removes ten of seven: its three arbitrary ones are why its entry is marked as a defect."""
    transform = fit_entry(word2vec, "MHD_gender")
    assert transform.fitted_on["subspace"] == 7
    with pytest.raises(BiasgridError, match="n_components: 10 is more than the 7 dimensions"):
        fit_entry(word2vec, "MHD_gender", n_components=10)


def test_the_user_guides_mitigation_numbers(word2vec):
    """docs/user_guide/mitigation_user_guide.rst of WEFE: .463 -> .047, .074 -> .055, and .08 with a target."""
    pairs, equalize = word_set("debiaswe.definitional_pairs"), word_set("debiaswe.equalize_pairs")
    career, family = word_set("weat.career"), word_set("weat.family")
    terms = Query([word_set("weat.male_terms"), word_set("weat.female_terms")], [career, family])
    names = Query(
        [word_set("weat.male_names"), word_set("weat.female_names")],
        [word_set("weat.pleasant_5"), word_set("weat.unpleasant_5a")],
    )
    options = {"normalize": True, "preprocessors": [{}, {"lowercase": True}]}

    def both(model):
        return [round(metrics.weat(query, model, **options).value, 3) for query in (terms, names)]

    assert both(word2vec) == [0.463, 0.074]
    fit = {"definitional_pairs": pairs, "equalize_pairs": equalize}
    ignoring = debias.hard(word2vec, **fit, ignore=word_set("debiaswe.gender_specific"))
    assert both(word2vec.under(ignoring)) == [0.047, 0.055]
    assert both(word2vec.under(debias.hard(word2vec, **fit, target=career + family))) == [0.047, 0.08]


# invariants, on random vectors and on real ones

WORDS = [f"w{i}" for i in range(40)]
PAIRS = [["w0", "w1"], ["w2", "w3"], ["w4", "w5"], ["w6", "w7"]]


SEEDS = st.integers(0, 7)


def check_hard(model, definitional, equalize, ignore, n_components, method="hard"):
    names = {
        "hard": ("definitional_pairs", "equalize_pairs"),
        "multiclass_hard": ("definitional_sets", "equalize_sets"),
    }
    words = dict(zip(names[method], (definitional, equalize), strict=True))
    transform = debias.method(method)(model, **words, ignore=ignore, n_components=n_components)
    debiased = model.under(transform)
    every, _ = model.vocabulary()
    overridden = set(transform.override_words)
    neutral = [
        w for w, mapped in zip(every, transform.maps(every), strict=True) if mapped and w not in overridden
    ]
    after = vectors(debiased, neutral)
    np.testing.assert_allclose(after @ transform.right.T, 0, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), 1, atol=1e-6)
    for words in equalize:
        if all(word in overridden for word in words):
            equalized = vectors(debiased, list(words))
            np.testing.assert_allclose(np.linalg.norm(equalized, axis=1), 1, atol=1e-6)
            distances = np.linalg.norm(after[:, None] - equalized, axis=2)
            np.testing.assert_allclose(distances - distances[:, :1], 0, atol=1e-6)
    left = [w for w in ignore if w not in overridden and w in model]
    original = vectors(model, left)
    unit = original / np.linalg.norm(original, axis=1, keepdims=True)
    assert np.array_equal(vectors(debiased, left), unit.astype(np.float32))


@pytest.mark.slow
@given(SEEDS, st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_hard_debias_neutralises_equalises_and_leaves_alone(random_model, seed, k):
    check_hard(random_model(seed), PAIRS, [["w0", "w1"], ["w8", "w9"]], ["w10", "w11", "w0"], k)


@pytest.mark.slow
@given(SEEDS, st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_multiclass_hard_debias_does_too(random_model, seed, k):
    sets = [["w0", "w1", "w2"], ["w3", "w4", "w5"]]
    # sets of three do not come to lie at one distance: their sides in the subspace differ in direction, not in length
    check_hard(random_model(seed), sets, [["w8", "w9"]], ["w10", "w11"], k, "multiclass_hard")


def test_hard_debias_equalizes_no_words_of_two_cases():
    """The model has no MOM: DAD and mom are no pair, whose vectors would go over those of dad and mom."""
    words = ["he", "she", "man", "woman", "dad", "mom", "DAD"]
    model = load((words, np.random.default_rng(0).normal(size=(len(words), 5))), name="made")
    pairs = [["he", "she"], ["man", "woman"], ["Dad", "Mom"]]
    transform = debias.hard(model, definitional_pairs=pairs)
    pairs = transform.fitted_on["found"]["equalize_pairs"]
    assert pairs == [["he", "she"], ["man", "woman"], ["dad", "mom"]]
    assert transform.fitted_on["lost"]["equalize_pairs"] == []


def test_hard_debias_on_real_vectors(word2vec):
    check_hard(
        word2vec,
        word_set("debiaswe.definitional_pairs"),
        word_set("debiaswe.equalize_pairs")[:5],
        word_set("debiaswe.gender_specific"),
        1,
    )


def test_a_model_of_unit_vectors_keeps_what_is_left_alone_to_the_last_bit(tmp_path):
    vectors_ = np.random.default_rng(5).normal(size=(40, 9)).astype(np.float32)
    vectors_ /= np.linalg.norm(vectors_, axis=1, keepdims=True)
    model = make_store(tmp_path, WORDS, vectors_)
    debiased = model.under(debias.hard(model, definitional_pairs=PAIRS, ignore=["w20", "w21"]))
    assert np.array_equal(vectors(debiased, ["w20", "w21"]), vectors(model, ["w20", "w21"]))


@pytest.mark.slow
@given(SEEDS, st.floats(1e-3, 1e4))
@settings(max_examples=25, deadline=None)
def test_half_sibling_regression_is_the_papers_regression_word_by_word(random_model, seed, alpha):
    """Yang & Feng 2020: ridge regression of a word's vector on the definitional words', the prediction taken away."""
    model = random_model(seed)
    definitional = WORDS[:12]
    debiased = model.under(debias.hsr(model, definitional_words=definitional, ignore=["w39"], alpha=alpha))
    columns = vectors(model, definitional).T
    for word in WORDS[12:39]:
        v = vectors(model, [word])[0]
        weights = np.linalg.solve(columns.T @ columns + alpha * np.eye(12), columns.T @ v)
        np.testing.assert_allclose(vectors(debiased, [word])[0], v - columns @ weights, atol=1e-6)
    alone = [*definitional, "w39"]
    assert np.array_equal(vectors(debiased, alone), vectors(model, alone))


def test_only_targets_change(random_model):
    model = random_model(0)
    for fit in (
        lambda: debias.hsr(model, definitional_words=WORDS[:9], target=["w30"]),
        lambda: debias.multiclass_hard(model, definitional_sets=PAIRS, target=["w30", "w0"]),
    ):
        transform = fit()
        assert transform.only == ("w30",)
        before = vectors(model, WORDS)
        if transform.normalize:
            before /= np.linalg.norm(before, axis=1, keepdims=True)
        changed = np.abs(vectors(model.under(transform), WORDS) - before).max(axis=1) > 1e-6
        assert [w for w, c in zip(WORDS, changed, strict=True) if c] == ["w30"]


# transforms as files


def fits(model):
    yield debias.hard(model, definitional_pairs=PAIRS, ignore=["w9"])
    yield debias.multiclass_hard(model, definitional_sets=PAIRS, equalize_sets=[["w1", "w2", "w3"]])
    yield debias.hsr(model, definitional_words=WORDS[:12], target=["w30", "w31"])


def test_fitting_twice_gives_the_same_bytes_and_loading_the_same_vectors(random_model, tmp_path):
    model = random_model(1)
    for place, (one, two) in enumerate(zip(fits(model), fits(model), strict=True)):
        one.save(tmp_path / f"{place}a.npz")
        two.save(tmp_path / f"{place}b.npz")
        assert (tmp_path / f"{place}a.npz").read_bytes() == (tmp_path / f"{place}b.npz").read_bytes()
        loaded = Transform.load(tmp_path / f"{place}a.npz")
        assert loaded.fitted_on == one.fitted_on
        assert np.array_equal(vectors(model.under(loaded), WORDS), vectors(model.under(one), WORDS))
        np.testing.assert_allclose(
            model.under(loaded).matrix(WORDS, model.rows(WORDS), block=7),
            vectors(model.under(one), WORDS),
            atol=1e-6,
        )
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"{i}{j}.npz" for i in range(3) for j in "ab"]


def test_a_transform_says_what_it_was_fitted_on(random_model):
    transform = debias.hard(
        random_model(0), definitional_pairs=[*PAIRS, ["w8", "none"]], ignore=["nothing", "w9"]
    )
    on = transform.fitted_on
    assert on["model"] == "made"
    assert on["found"]["definitional_pairs"] == PAIRS
    assert on["lost"]["definitional_pairs"] == [["w8", "none"]]
    assert on["lost"]["ignore"] == ["nothing"]
    assert on["params"]["n_components"] == 1
    assert transform.leave == ("w9",)


@pytest.mark.parametrize("scope", ["all", "only", "leave", "none"])
@pytest.mark.parametrize("form", ["low rank", "no direction", "dense", "shift", "unit"])
@pytest.mark.parametrize(("dtype", "precision"), [(np.float64, 1e-12), (np.float32, 1e-6)])
def test_a_transform_is_its_formula_word_by_word(form, scope, dtype, precision, monkeypatch):
    """Also for maps that no method of ours makes, such as a matrix that is not symmetric."""
    normal = np.random.default_rng(3).normal
    words, vectors = [f"w{i}" for i in range(6)], normal(size=(6, 4)).astype(np.float32)
    left, right, matrix, shift = normal(size=(4, 2)), normal(size=(2, 4)), normal(size=(4, 4)), normal(size=4)
    vectors[1] *= 1e-6
    vectors[2] = 0
    # its square is beyond the range of float32
    vectors[3] *= 1e-30
    parts = {
        "low rank": {"left": left, "right": right, "renormalize": True},
        "no direction": {"left": left[:, :0], "right": right[:0]},
        "dense": {"matrix": matrix, "normalize": True, "renormalize": True},
        "shift": {"left": left, "right": right, "shift": shift, "renormalize": True},
        "unit": {"normalize": True},
    }[form]
    named = {
        "all": {},
        "only": {"only": ("w0", "w2", "w4")},
        "leave": {"leave": ("w1", "w4")},
        "none": {"only": ()},
    }[scope]
    fitted = Transform(
        "t", {"dimensions": 4}, **parts, **named, override_words=("w4", "w5"), overrides=matrix[:2]
    )

    def unit(x):
        return x / np.linalg.norm(x) if x.any() else x

    def mapped(x):
        if "matrix" in parts:
            x = np.array([sum(x[i] * matrix[i, j] for i in range(4)) for j in range(4)])
        if "left" in parts:
            x = x - sum(x @ left[:, k] * right[k] for k in range(parts["left"].shape[1]))
        x = x + parts.get("shift", 0)
        return unit(x) if parts.get("renormalize") else x

    wanted = [unit(x) if parts.get("normalize") else x for x in vectors.astype(float)]
    is_mapped = {"all": "012345", "only": "024", "leave": "0235", "none": ""}[scope]
    wanted = [mapped(x) if str(i) in is_mapped else x for i, x in enumerate(wanted)]
    wanted[4:] = matrix[:2]
    # memory that is not written to has no right numbers by chance
    monkeypatch.setattr(np, "empty", lambda shape, dtype=float: np.full(shape, np.nan, dtype))
    found = fitted.apply(vectors.astype(dtype), words)
    monkeypatch.undo()
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, rtol=precision, atol=precision / 100)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x05\x06" + bytes(18)])
def test_a_file_that_is_no_transform_is_refused(tmp_path, content):
    path = tmp_path / "t.npz"
    path.write_bytes(content)
    with pytest.raises(BiasgridError, match="not a transform that biasgrid saved"):
        Transform.load(path)


def test_a_transform_belongs_to_its_vectors(random_model):
    transform = debias.hard(random_model(0), definitional_pairs=PAIRS)
    reopened = EmbeddingStore.open(random_model(0).path)
    assert reopened.under(transform).name == "made_hard_debiased"


# words


def test_pairs_are_looked_up_with_prefix_and_variants(tmp_path):
    from biasgrid.models import convert

    rng = np.random.default_rng(2)
    lines = [f"/c/en/{w} {' '.join(map(str, rng.normal(size=9)))}" for w in WORDS]
    (tmp_path / "m.txt").write_text("\n".join(lines) + "\n")
    model = convert(tmp_path / "m.txt", tmp_path / "s", name="prefixed", vocab_prefix="/c/en/")
    upper = [[word.upper() for word in pair] for pair in PAIRS]
    transform = debias.hard(
        model, definitional_pairs=upper, ignore=["W9"], preprocessors=[{}, {"lowercase": True}]
    )
    assert transform.leave == ("/c/en/w9",)
    assert transform.fitted_on["found"]["definitional_pairs"][0] == ["/c/en/w0", "/c/en/w1"]
    assert "/c/en/w0" in transform.override_words


def test_words_that_share_a_row_are_treated_each_by_its_own_name(tmp_path):
    from biasgrid.models.store_writer import StoreWriter

    base = np.random.default_rng(3).normal(size=(8, 5)).astype(np.float32)
    with StoreWriter(tmp_path / "s", "made") as writer:
        writer.add([*"abcdefgh", "twin"], base, np.array([*range(8), 6]))
        writer.finish({"name": "shared", "vocab_prefix": ""})
    model = EmbeddingStore.open(tmp_path / "s")
    pairs = [["a", "b"], ["c", "d"]]
    debiased = model.under(debias.hsr(model, definitional_words=list("abcd"), ignore=["twin"]))
    g, twin = vectors(debiased, ["g", "twin"])
    assert np.array_equal(twin, base[6].astype(float))
    assert np.abs(g - twin).max() > 1e-3
    equalized = debias.hard(model, definitional_pairs=pairs, equalize_pairs=[["g", "twin"]])
    # both words have one vector: there is no side for either to be on
    assert equalized.fitted_on["not_equalized"] == [["g", "twin"]]
    assert equalized.override_words == ()
    assert model.vocabulary()[0] == list("abcdefgh")
    assert model.vocabulary(3)[0] == list("abc")


def test_definitional_words_of_a_set_that_is_not_whole_are_left_alone_too(random_model):
    sets = [["w0", "w1", "w2"], ["w3", "w4", "w5"], ["w6", "w7", "none"]]
    transform = debias.multiclass_hard(random_model(0), definitional_sets=sets)
    assert set(transform.leave) == {f"w{i}" for i in range(8)}


def test_equalize_pairs_that_differ_in_case_alone_are_equalised_as_they_can(tmp_path):
    words = ["us", "US", "Us", *WORDS]
    model = make_store(tmp_path, words, np.random.default_rng(1).normal(size=(43, 9)))
    transform = debias.hard(model, definitional_pairs=PAIRS, equalize_pairs=[["US", "us"], ["w8", "w9"]])
    assert transform.override_words == ("w8", "w9")


@pytest.mark.parametrize("alpha", [1e-12, 1e-300, 1e300])
def test_half_sibling_regression_is_exact_for_any_penalty(random_model, alpha):
    """Without penalty it is the projection onto what is orthogonal to the words; an infinite one changes nothing."""
    model = random_model(0)
    debiased = model.under(debias.hsr(model, definitional_words=["w0", "w1", "w2"], alpha=alpha))
    definitional, others = vectors(model, ["w0", "w1", "w2"]), vectors(model, WORDS[3:])
    basis = np.linalg.qr(definitional.T)[0]
    expected = others if alpha > 1 else others - others @ basis @ basis.T
    np.testing.assert_allclose(vectors(debiased, WORDS[3:]), expected, atol=1e-6)


def test_a_word_listed_twice_is_two_rows_of_the_regression(random_model):
    model = random_model(0)
    definitional = ["w0", "w1", "w0", "w0"]
    rows = vectors(model, definitional)
    debiased = model.under(debias.hsr(model, definitional_words=definitional, alpha=2))
    v = vectors(model, WORDS[2:])
    expected = v - v @ rows.T @ np.linalg.inv(rows @ rows.T + 2 * np.eye(4)) @ rows
    np.testing.assert_allclose(vectors(debiased, WORDS[2:]), expected, atol=1e-6)
    # but not two words that are found as one
    lower = {"preprocessors": [{"lowercase": True}], "alpha": 2}
    one = debias.hsr(model, definitional_words=["w0", "W0", "w1"], **lower)
    two = debias.hsr(model, definitional_words=["w0", "w1"], **lower)
    assert np.array_equal(one.matrix, two.matrix)


BROKEN = [
    {"left": None},
    {"right": None},
    {"right": np.ones((2, 9))},
    {"left": np.ones((9, 1), dtype=complex)},
    {"matrix": np.eye(9)},
    {"overrides": None},
    {"override_rows": np.array([0, 2])},
    {"override_rows": np.array([-1, 0])},
    {"override_rows": np.array([0.0, 1.0])},
    {"shift": np.ones(8)},
    {"normalize": "no"},
    {"leave": "abc"},
    {"leave": [1]},
    {"fitted_on": {"dimensions": 9, "model": "made"}},
    {"leave": None},
    {"override_words": None},
    {"only": "a"},
    {"leave": ["a", 3]},
    {"x" * 5000: 1},
    *({part: np.array(1.0)} for part in ("left", "right", "matrix", "shift", "overrides", "override_rows")),
    {"header": np.array([{"method": "hard"}], dtype=object)},
]


@pytest.mark.parametrize("change", BROKEN)
def test_a_transform_whose_parts_do_not_fit_is_refused(tmp_path, change):
    parts = {
        "left": np.ones((9, 1)),
        "right": np.ones((1, 9)),
        "overrides": np.ones((2, 9)),
        "override_rows": np.array([0, 1]),
        "shift": np.ones(9),
    }
    header = {"method": "hard", "normalize": True, "renormalize": True, "only": None, "leave": ["x"]}
    header["override_words"] = ["a", "b"]
    header["fitted_on"] = {"dimensions": 9, "model": "made", "fingerprint": "0"}

    def written(changed):
        of_header = {k: v for k, v in changed.items() if k not in {"matrix", "header", *parts}}
        text = np.frombuffer(json.dumps(header | of_header).encode(), dtype=np.uint8)
        arrays = {"header": text} | parts | {k: v for k, v in changed.items() if k not in of_header}
        np.savez(tmp_path / "t.npz", **{k: v for k, v in arrays.items() if v is not None})
        return tmp_path / "t.npz"

    assert Transform.load(written({})).leave == ("x",)
    with refused("t.npz", "not a transform that biasgrid saved"):
        Transform.load(written(change))


BAD = [
    (
        {"definitional_pairs": [["w0", "w1"], ["x", "y"], ["w2", "w3"]]},
        "definitional_pairs: made has no word of",
    ),
    ({"definitional_pairs": [["w0", "w1"]]}, "1 whole sets, and at least two"),
    (
        {"definitional_pairs": [["w0", "w1"], ["w2", "x"]]},
        "1 whole sets .* of ['w2', 'x'] words are missing",
    ),
    ({"definitional_pairs": []}, "0 whole sets"),
    ({"definitional_pairs": [["w0", "w1", "w2"], ["w3", "w4"]]}, "is not a pair"),
    ({"definitional_pairs": [["w0", "w0"], ["w3", "w4"]]}, "is not a pair of two words"),
    ({"definitional_pairs": [["w0", "w1"], ["w1", "w0"]]}, "1 whole sets, and at least two different"),
    ({"definitional_pairs": PAIRS, "preprocessors": 3}, "preprocessors: expected a list"),
    (
        {"definitional_pairs": PAIRS, "n_components": 10**30},
        "n_components: .* is not allowed; allowed: numbers up to",
    ),
    ({"definitional_pairs": PAIRS, "ignore": ["\ud800"]}, "ignore: holds a word that is not valid Unicode"),
    ({"definitional_pairs": PAIRS, "seed": 2**32}, "seed: 4294967296 is not allowed"),
    ({"definitional_pairs": "w0"}, "definitional_pairs: must be a list of lists of words"),
    ({"definitional_pairs": ["w0", "w1"]}, "definitional_pairs: must be a list of lists of words"),
    ({"definitional_pairs": [["w0", 1], ["w2", "w3"]]}, "must be a list of lists"),
    ({}, "hard needs 'definitional_pairs'"),
    ({"definitional_pairs": PAIRS, "n_components": 5}, "n_components: 5 is more than the 4 dimensions"),
    (
        {"definitional_pairs": [["w0", "w1"], ["w1", "w2"], ["w0", "w2"]], "n_components": 3},
        "n_components: 3 is more than the 2 dimensions",
    ),
    ({"definitional_pairs": PAIRS, "n_components": 0}, "n_components: 0 is not allowed"),
    ({"definitional_pairs": PAIRS, "target": ["w9"], "ignore": ["w9"]}, "target and ignore: 'w9' in both"),
    ({"definitional_pairs": PAIRS, "target": ["x"]}, "target: made has none of its 1 words"),
    ({"definitional_pairs": PAIRS, "equalize_pairs": [["w0"]]}, "equalize_pairs: .* is not a pair"),
    ({"definitional_pairs": PAIRS, "alpha": 60}, "option 'alpha'"),
    ({"definitional_pairs": PAIRS, "preprocessors": [{"lower": True}]}, "preprocessors: unknown option"),
]


@pytest.mark.parametrize(("options", "says"), BAD)
def test_bad_input_is_one_clear_line(random_model, options, says):
    with refused(*says.split(" .* ")):
        debias.hard(random_model(0), **options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"target": ["w0"]}, "target and definitional_words: 'w0'"),
        ({"definitional_words": ["x"]}, "has none of the 1 words"),
        *(({"alpha": alpha}, "alpha: ") for alpha in (0, -1, math.nan, math.inf, "60", True)),
    ],
)
def test_what_half_sibling_regression_refuses(random_model, options, says):
    with refused(says):
        debias.hsr(random_model(0), **{"definitional_words": ["w0"]} | options)


def test_a_vector_that_is_not_finite_is_named(random_model):
    class Broken:
        """A store whose file was damaged after it was made."""

        def __init__(self, model):
            self.model = model

        def __getattr__(self, name):
            return getattr(self.model, name)

        def take(self, words, rows):
            taken = self.model.take(words, rows)
            taken[[word == "w3" for word in words]] = np.nan
            return taken

    with pytest.raises(BiasgridError, match="definitional_pairs: the vector of 'w3' in made is not finite"):
        debias.hard(Broken(random_model(0)), definitional_pairs=PAIRS)


def source_files(method):
    """The names of the files that a method's transforms depend on."""
    return [module.rpartition(".")[2] + ".py" for module in closure(debias.REGISTRY.module(method))]


def test_the_registry_is_complete():
    assert set(debias.REGISTRY) >= {
        *("hard", "multiclass_hard", "double_hard", "ran", "hsr", "linear_projection", "inlp", "leace"),
        "glpp",
    }
    for method in debias.REGISTRY.values():
        assert method.reference
        files = source_files(method.name)
        assert {"registry.py", "transform.py", "lookup.py"} < set(files)
        assert set(method.required_words) <= set(method.words)
    assert debias.method("HardDebias") is debias.method("Hard") is debias.REGISTRY["hard"]
    assert debias.method("half-sibling regression") is debias.REGISTRY["hsr"]
    files = source_files("linear_projection")
    assert {"linear_projection.py", "inlp.py", "training.py"} <= set(files)
    assert "hard.py" not in files
