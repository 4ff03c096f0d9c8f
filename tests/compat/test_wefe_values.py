"""biasgrid.compat.wefe against WEFE 1.0.1 itself, run on the test model of its own wheel: values, results, and what
its models, queries and debias methods do."""

import json
from collections import Counter

import numpy as np
import pytest
from conftest import DATA, ROOT
from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode

import biasgrid as bg
from biasgrid.compat import wefe
from biasgrid.core import wefe_names
from biasgrid.core.errors import BiasgridError
from biasgrid.study.study import Study

VALUES = json.loads((DATA / "wefe_1.0.1_metrics.json").read_text())
DEBIAS = {
    entry["name"]: entry for entry in json.loads((DATA / "wefe_1.0.1_debias.json").read_text())["entries"]
}
T100 = json.loads((DATA / "wefe_1.0.1_debias.json").read_text())["T100"]
SAMPLE = VALUES["values"][::13]
# what WEFE's dictionaries have, in its order
KEYS = {
    "weat": ["effect_size", "p_value"],
    "rnd": ["distance_by_word"],
    "rnsb": ["negative_sentiment_probabilities", "negative_sentiment_distribution"],
    "mac": ["targets_eval"],
    "ect": [],
    "ripa": ["word_values"],
}


@pytest.fixture(scope="module")
def model(word2vec):
    return wefe.WordEmbeddingModel(word2vec, "test_w2v")


@pytest.fixture(scope="module")
def queries():
    config = {
        "study": "reference",
        "models": {"m": {"label": "m", "source": {"type": "file", "path": "x"}}},
        "metrics": {"mac": {}},
        "criteria": {"Reference": {"queries": VALUES["queries"]}},
    }
    study = Study.of(config, root=ROOT)
    return {key: wefe.Query.from_dict(query.to_dict()) for key, query in study.queries.items()}


@pytest.mark.filterwarnings("ignore:.*a word in two sets")
def test_fifty_values_of_wefe(model, queries):
    assert len(SAMPLE) >= 50
    assert set(Counter(metric for _, _, metric, *_ in SAMPLE)) == set(KEYS)
    for key, name, metric, options, value, *effect_size in SAMPLE:
        kind = getattr(wefe, metric.upper())
        parts = wefe.generate_subqueries_from_queries_list(kind, [queries[key]])
        (query,) = [part for part in parts if part.query_name == name]
        result = kind().run_query(query, model, **options)
        assert list(result) == ["query_name", "result", metric, *KEYS[metric]]
        for theirs, ours in zip(
            (value, *effect_size), (result["result"], result.get("effect_size")), strict=False
        ):
            expected = np.nan if theirs is None else theirs
            # WEFE's cosines and norms are float32
            assert ours == pytest.approx(expected, rel=1e-6, abs=1e-6, nan_ok=True), (key, metric, options)


def test_what_results_say_of_words(model):
    """As WEFE prints them for this query."""
    sets = wefe.load_weat()
    query = wefe.Query(
        [sets["male_terms"], sets["female_terms"]],
        [sets["career"]],
        ["Male terms", "Female terms"],
        ["Career"],
    )
    distances = wefe.RND().run_query(query, model)["distance_by_word"]
    assert list(distances) == [
        *("career", "professional", "salary", "management", "business", "office", "corporation", "executive")
    ]
    assert distances["career"] == pytest.approx(-0.2556827, abs=1e-6)
    values = wefe.RIPA().run_query(query, model)["word_values"]["executive"]
    assert values == pytest.approx({"mean": -0.112475276, "std": 0.114545174}, abs=1e-6)
    both = wefe.Query(query.target_sets, [sets["career"], sets["family"]], None, ["Career", "Family"])
    evaluations = wefe.MAC().run_query(both, model)["targets_eval"]["Male terms"]["male"]
    assert evaluations == pytest.approx(
        {"Career": 0.9468009045733663, "Family": 0.8735092834395994}, abs=1e-6
    )
    # WEFE's split of random_state 42
    result = wefe.RNSB().run_query(both, model, random_state=42)
    assert result["rnsb"] == pytest.approx(0.027435355942143913, rel=1e-6)
    assert list(result["negative_sentiment_probabilities"])[:3] == ["male", "man", "boy"]
    assert sum(result["negative_sentiment_distribution"].values()) == pytest.approx(1)
    lost = wefe.Query([["bla", "ble"], sets["female_terms"]], [sets["career"]])
    for metric, key, words in ((wefe.RND, "rnd", "distance_by_word"), (wefe.MAC, "mac", "targets_eval")):
        result = metric().run_query(lost, model)
        assert np.isnan(result[key])
        assert result[words] == {}


def test_a_classifier_and_its_evaluation(model, capsys):
    sets = wefe.load_weat()
    query = wefe.Query([sets["male_terms"], sets["female_terms"]], [sets["career"], sets["family"]])
    options = {"random_state": 1, "print_model_evaluation": True}
    naive = wefe.RNSB().run_query(query, model, estimator="GaussianNB", **options)
    assert naive["rnsb"] == bg.metrics.rnsb(query, model.model, estimator="GaussianNB", random_state=1).value
    assert "Classification Report" in capsys.readouterr().out
    # as in WEFE: all would be the same
    with pytest.raises(BiasgridError, match="n_iterations"):
        wefe.RNSB().run_query(query, model, n_iterations=3, random_state=42)


def fit(name, **init):
    """A debias method of WEFE's with an entry's words, and what its transform takes."""
    entry = DEBIAS[name]
    options = dict(entry["options"])
    for key, value in options.items():
        if value == "T100":
            options[key] = T100
        elif isinstance(value, str):
            collection, of = value.split(".")
            options[key] = bg.word_sets(collection)[of]
    transform = {key: options.pop(key) for key in ("target", "ignore") if key in options}
    if "n_components" in options:
        init["pca_args"] = {"n_components": options.pop("n_components")}
    return getattr(wefe, entry["method"])(**init), options, transform


@pytest.mark.parametrize(
    "name",
    [
        "HD_default_ignore_gender_specific",
        "HD_target",
        "MHD_religion",
        "MHD_ethnicity_k2",
        "HSR_default",
        "HSR_target",
    ],
)
def test_debias_methods(model, name):
    method, words, options = fit(name, criterion_name="gender")
    debiased = method.fit(model, **words).transform(model, **options)
    assert debiased.name == "test_w2v_gender_debiased"
    for word, numbers in DEBIAS[name]["probe"].items():
        np.testing.assert_allclose(debiased[word][:8], numbers[:8], atol=1e-5)
        assert np.linalg.norm(debiased[word]) == pytest.approx(numbers[8], abs=1e-5)


def test_the_two_other_methods_are_wefes_variants(word2vec):
    words = list(word2vec)[:60]
    small = wefe.WordEmbeddingModel((words, word2vec.vectors(words)), "small")
    pairs = [words[i : i + 2] for i in range(0, 8, 2)]
    for method, ours, options in (
        (
            wefe.DoubleHardDebias(n_words=5),
            bg.debias.double_hard,
            {"n_words": 5, "bias_representation": words[:2]},
        ),
        (
            wefe.RepulsionAttractionNeutralization(epochs=3),
            bg.debias.ran,
            {"epochs": 3, "weights": [0.33] * 3},
        ),
    ):
        of_fit = {key: options[key] for key in ("bias_representation",) if key in options}
        debiased = method.fit_transform(small, definitional_pairs=pairs, target=words[20:40], **of_fit)
        transform = ours(
            small.model, definitional_pairs=pairs, target=words[20:40], variant="wefe", **options
        )
        np.testing.assert_array_equal(
            debiased.model.vectors(words), small.model.under(transform).vectors(words)
        )


def test_what_is_fitted_on_one_model_transforms_another(word2vec):
    """WEFE 1.0.1 gives these numbers; the other model has the same vectors in reverse, half as long again."""
    words = list(word2vec)
    vectors = word2vec.vectors(words)
    model = wefe.WordEmbeddingModel((words, vectors), "a")
    there = wefe.WordEmbeddingModel((words, vectors[:, ::-1] * np.float32(1.5)), "b")
    sets, pairs, multiclass = wefe.load_weat(), wefe.fetch_debiaswe(), wefe.fetch_debias_multiclass()
    query = wefe.Query([sets["male_terms"], sets["female_terms"]], [sets["career"], sets["family"]])
    hard = wefe.HardDebias(criterion_name="gender").fit(
        model, pairs["definitional_pairs"], pairs["equalize_pairs"]
    )
    several = wefe.MulticlassHardDebias(pca_args={"n_components": 2}).fit(
        model,
        multiclass["ethnicity_definitional_sets"],
        list(multiclass["ethnicity_analogy_templates"].values()),
    )
    for method, options, expected in (
        (hard, {"ignore": pairs["gender_specific"]}, 0.14608643628889695),
        (several, {}, 0.48763320327270776),
    ):
        result = wefe.WEAT().run_query(query, method.transform(there, **options), normalize=True)
        assert result["weat"] == pytest.approx(expected, abs=1e-6)
    with pytest.raises(BiasgridError, match="fit it on this model"):
        wefe.HalfSiblingRegression().fit(model, pairs["gender_specific"]).transform(there)
    with pytest.raises(BiasgridError, match="dimensions"):
        hard.transform(wefe.WordEmbeddingModel((words, vectors[:, :9])))
    # WEFE's number, too: in place, and under its new name
    place = wefe.HardDebias().fit(there, pairs["definitional_pairs"]).transform(there, copy=False)
    assert place is there
    assert place.name == "b_debiased"
    once = wefe.WEAT().run_query(query, place, normalize=True)["weat"]
    # a debiased model can be debiased again, as in WEFE; there is nothing left to take away
    again = wefe.HardDebias().fit(place, pairs["definitional_pairs"], []).transform(place)
    assert wefe.WEAT().run_query(query, again, normalize=True)["weat"] == pytest.approx(once, abs=1e-3)


def test_models_and_queries_do_what_wefes_do():
    vectors = {"he": [3.0, 4.0], "she": [0.0, 2.0], "en:it": [1.0, 0.0]}
    model, prefixed = (
        wefe.WordEmbeddingModel(vectors, "m"),
        wefe.WordEmbeddingModel(vectors, vocab_prefix="en:"),
    )
    assert repr(model) == "<WordEmbeddingModel named 'm' with 3 word embeddings of 2 dims>"
    assert repr(prefixed).endswith("of 2 dims and 'en:' as word prefix>")
    assert prefixed.name == "Unnamed model"
    assert ("he" in model, None in model, len(model)) == (True, False, 3)
    assert (model.get("zz"), model.get("zz", 3)) == (None, 3)
    assert model == wefe.WordEmbeddingModel(vectors, "m") != wefe.WordEmbeddingModel(vectors, "n")
    model.normalize()
    np.testing.assert_allclose(model["he"], [0.6, 0.8])
    model.update("he", np.array([1.0, 1.0], dtype=np.float32))
    model.batch_update(["she", "en:it"], np.eye(2, dtype=np.float32))
    np.testing.assert_allclose(model.model.vectors(["he", "she", "en:it"]), [[1, 1], [1, 0], [0, 1]])
    with pytest.raises(KeyError, match="zz"):
        model.update("zz", np.zeros(2, dtype=np.float32))
    query = wefe.Query([["he"], ["she"]], [["it"], ["he"]])
    assert query.query_name == "Target set 0 and Target set 1 wrt Attribute set 0 and Attribute set 1"
    assert query.dict()["target_sets"] == [["he"], ["she"]]
    assert [part.query_name for part in query.get_subqueries((2, 1))] == [
        *(f"Target set 0 and Target set 1 wrt Attribute set {i}" for i in (0, 1))
    ]
    assert wefe.RND.metric_template == (2, 1)
    assert model.vocab == {"he": 0, "she": 1, "en:it": 2}
    assert model.model_name == model.name == "m"
    lost, found = wefe.get_embeddings_from_set(prefixed, ["It", "zz"], [{"lowercase": True}], normalize=True)
    assert (lost, list(found)) == (["zz"], ["en:it"])
    np.testing.assert_array_equal(found["en:it"], [1, 0])
    assert wefe.preprocess_word("wömàn", {"uppercase": True, "strip_accents": True}, "en:") == "en:WOMAN"


def test_word_sets_are_wefes():
    assert len(wefe.load_weat()) == 31
    assert len(wefe.fetch_eds(2015, 5)["occupations_white"]) == 5
    assert len(wefe.fetch_gn_glove(n_retries=1)) == len(wefe.load_bingliu()) == 2


def test_sub_queries_are_generated_if_asked(model):
    query = wefe.Query([["he"], ["she"]], [["home"], ["office"]])
    assert wefe.run_queries(wefe.RND, [query], [model], generate_subqueries=True).shape == (1, 2)


# WEFE 1.0.1's modules, and what each defines
MODULES = {
    "query": "Query",
    "word_embedding_model": "WordEmbeddingModel",
    "metrics": "BaseMetric ECT MAC RIPA RND RNSB WEAT",
    **{f"metrics.{name}": name for name in ["ECT", "MAC", "RIPA", "RND", "RNSB", "WEAT"]},
    "metrics.base_metric": "BaseMetric",
    "datasets": "load_weat load_bingliu fetch_eds fetch_debiaswe fetch_debias_multiclass fetch_gn_glove",
    "datasets.datasets": "load_weat load_bingliu fetch_eds fetch_debiaswe fetch_debias_multiclass fetch_gn_glove",
    "debias.base_debias": "BaseDebias",
    "debias.hard_debias": "HardDebias",
    "debias.multiclass_hard_debias": "MulticlassHardDebias",
    "debias.double_hard_debias": "DoubleHardDebias",
    "debias.half_sibling_regression": "HalfSiblingRegression",
    "debias.repulsion_attraction_neutralization": "RepulsionAttractionNeutralization",
    "preprocessing": "preprocess_word get_embeddings_from_set get_embeddings_from_sets get_embeddings_from_tuples "
    "get_embeddings_from_query",
    "utils": "run_queries generate_subqueries_from_queries_list create_ranking calculate_ranking_correlations "
    "plot_queries_results plot_ranking plot_ranking_correlations load_test_model flair_to_gensim check_is_fitted "
    "load_weat_w2v",
}


@pytest.mark.parametrize(("module", "names"), MODULES.items())
def test_wefes_import_lines_work(module, names):
    for name in names.split():
        found = {}
        exec(f"from biasgrid.compat.wefe.{module} import {name}", found)
        assert callable(found[name])
        assert found[name] is getattr(wefe, name, found[name])


def test_words_are_looked_up_in_wefes_forms():
    """WEFE calls scikit-learn's function and str.title, whose results differ from this library's forms."""
    for word in ("여자", "パパ", "women's", "mère"):
        assert wefe.preprocess_word(word, {"strip_accents": True}) == strip_accents_unicode(word)
        assert wefe.preprocess_word(word, {"strip_accents": "ascii"}) == strip_accents_ascii(word)
        assert wefe.preprocess_word(word, {"titlecase": True}, "/c/en/") == f"/c/en/{word.title()}"
        both = {"titlecase": True, "strip_accents": "unicode"}
        assert wefe.preprocess_word(word, both) == strip_accents_unicode(word.title())
    assert wefe.preprocess_word("A b", {"preprocessor": str.lower}) == "a b"
    words = ["ハハ", "Women'S", "a", "b", "c"]
    small = wefe.WordEmbeddingModel(dict(zip(words, np.eye(5)[:, :4] + 0.1, strict=True)))
    forms = [{}, {"strip_accents": True}, {"titlecase": True}]
    lost, found = wefe.get_embeddings_from_set(small, ["パパ", "women's", "x"], preprocessors=forms)
    assert (lost, list(found)) == (["x"], ["ハハ", "Women'S"])
    query = wefe.Query([["パパ"], ["women's"]], [["a"], ["b", "c"]])
    result = wefe.WEAT().run_query(query, small, preprocessors=forms)
    same = wefe.WEAT().run_query(wefe.Query([["ハハ"], ["Women'S"]], [["a"], ["b", "c"]]), small)
    assert result["weat"] == same["weat"]


def test_vectors_of_tuples_and_queries():
    small = wefe.WordEmbeddingModel({"he": [3.0, 4.0], "she": [0.0, 2.0], "king": [1.0, 0.0]}, "small")
    pairs = [["he", "she"], ["king", "queen"]]
    with pytest.warns(bg.LostWordsWarning, match="pairs: small lacks \\['queen'\\]"):
        (pair,) = wefe.get_embeddings_from_tuples(small, pairs, "pairs", normalize=True)
    assert {word: vector.round(6).tolist() for word, vector in pair.items()} == {
        "he": pytest.approx([0.6, 0.8]),
        "she": [0.0, 1.0],
    }
    both = wefe.get_embeddings_from_tuples(small, pairs, warn_lost_sets=False, discard_incomplete_sets=False)
    assert list(map(list, both)) == [["he", "she"], ["king"]]
    query = wefe.Query([["he"], ["she", "queen"]], [["king"]], ["A", "B"], ["C"])
    assert wefe.get_embeddings_from_query(small, query) is None
    with pytest.warns(bg.LostWordsWarning, match="small lacks {'B': \\['queen'\\]}"):
        targets, attributes = wefe.get_embeddings_from_query(small, query, 0.5, warn_not_found_words=True)
    assert {name: list(words) for name, words in targets.items()} == {"A": ["he"], "B": ["she"]}
    assert attributes["C"]["king"].tolist() == [1.0, 0.0]


def test_a_vocabulary_prefix_need_not_stand_before_any_word():
    vectors = {"/en/he": [1.0, 0.0], "/en/she": [0.0, 1.0], "/en/work": [1.0, 2.0], "/en/home": [2.0, 1.0]}
    query = wefe.Query([["he"], ["she"]], [["work"], ["home"]])
    prefixed = wefe.WordEmbeddingModel(vectors, "v", vocab_prefix="/en/")
    bare = wefe.WordEmbeddingModel({word[4:]: vector for word, vector in vectors.items()}, "v")
    assert wefe.WEAT().run_query(query, prefixed)["weat"] == wefe.WEAT().run_query(query, bare)["weat"]
    assert wefe.WordEmbeddingModel(bg.load(vectors), "v", "/en/").model.vocab_prefix == "/en/"
    # WEFE's own example: no word has the prefix, so none is found
    example = wefe.WordEmbeddingModel({word[4:]: vector for word, vector in vectors.items()}, "v", "/en/")
    assert (example.vocab_prefix, "he" in example) == ("/en/", True)
    assert np.isnan(wefe.WEAT().run_query(query, example)["weat"])


@pytest.mark.parametrize(("old", "new"), wefe_names.WORD_SETS.items())
def test_word_sets_are_found_by_their_former_names(old, new):
    (sets,) = (
        sets
        for sets in (wefe.load_weat(), wefe.fetch_debias_multiclass(), wefe.fetch_debiaswe())
        if new in sets
    )
    with pytest.warns(UserWarning, match=f"'{old}' is called '{new}'"):
        assert sets[old] == sets[new]
    with pytest.raises(KeyError, match="unknown word set 'pleasant_55'"):
        wefe.load_weat()["pleasant_55"]


def test_every_name_that_is_answered_is_here():
    assert set(wefe_names.LINES) <= set(wefe.__all__)
