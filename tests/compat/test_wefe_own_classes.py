"""What a WEFE user writes runs under biasgrid.compat.wefe as under WEFE 1.0.1: metrics, debias methods, changes of
vectors. Figures are plotly's where it is installed, and errors are of WEFE's classes."""

import sys
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors, Word2Vec
from gensim.test.utils import common_texts
from scipy.spatial import distance
from sklearn.exceptions import NotFittedError

import biasgrid as bg
from biasgrid import BiasgridError
from biasgrid.compat import wefe
from biasgrid.compat.wefe.debias.base_debias import BaseDebias
from biasgrid.compat.wefe.metrics.base_metric import BaseMetric
from biasgrid.compat.wefe.preprocessing import get_embeddings_from_query, get_embeddings_from_sets
from biasgrid.compat.wefe.query import Query
from biasgrid.compat.wefe.utils import check_is_fitted, load_weat_w2v, run_queries
from biasgrid.compat.wefe.word_embedding_model import WordEmbeddingModel


class MeanDistance(BaseMetric):
    """The metric of WEFE's guide: cosine distances of the attribute set's mean to the means of two target sets."""

    metric_template = (2, 1)
    metric_name = "Example Metric"
    metric_short_name = "EM"

    def run_query(self, query, model, lost_vocabulary_threshold=0.2, preprocessors=({},), **options):
        self._check_input(query, model)
        embeddings = get_embeddings_from_query(
            model=model,
            query=query,
            lost_vocabulary_threshold=lost_vocabulary_threshold,
            preprocessors=preprocessors,
            warn_not_found_words=options.get("warn_not_found_words", False),
        )
        if embeddings is None:
            return {"query_name": query.query_name, "result": np.nan, "em": np.nan}
        sets = [*embeddings[0].values(), *embeddings[1].values()]
        first, second, attributes = (np.mean(list(words.values()), axis=0) for words in sets)
        result = distance.cosine(first, attributes) - distance.cosine(second, attributes)
        return {"query_name": query.query_name, "result": result, "em": result}


class Neutralize(BaseDebias):
    """Takes the mean difference of pairs out of every vector, in the way of WEFE's guide to debias methods."""

    name = "Neutralize"

    def __init__(self, verbose=False):
        self.verbose = verbose

    def fit(self, model, definitional_pairs, **fit_params):
        self._check_sets_sizes(definitional_pairs, "definitional", 2)
        pairs = get_embeddings_from_sets(
            model=model,
            sets=definitional_pairs,
            sets_name="definitional",
            warn_lost_sets=self.verbose,
            normalize=True,
            verbose=self.verbose,
        )
        differences = [np.subtract(*pair.values()) for pair in pairs]
        direction = np.mean(differences, axis=0)
        self.bias_direction_ = direction / np.linalg.norm(direction)
        return self

    def transform(self, model, target=None, ignore=None, copy=True):
        self._check_transform_args(model=model, target=target, ignore=ignore, copy=copy)
        check_is_fitted(self, ["bias_direction_"])
        if copy:
            model = deepcopy(model)
        for word in target or model.vocab:
            vector = model[word]
            vector = vector - (vector @ self.bias_direction_) * self.bias_direction_
            model.update(word, vector.astype(model.wv.vectors.dtype))
        model.name = f"{model.name}_debiased"
        return model


@pytest.fixture(scope="module")
def model(word2vec):
    return WordEmbeddingModel(word2vec, "weat_w2v", "")


@pytest.fixture(scope="module")
def sets():
    return wefe.load_weat()


@pytest.fixture
def flowers(sets):
    names = ["Flowers", "Weapons"], ["Pleasant"]
    return Query([sets["flowers"], sets["weapons"]], [sets["pleasant_5"]], *names)


# metrics


def test_the_metric_of_wefes_guide_has_its_printed_value(model, flowers):
    result = MeanDistance().run_query(flowers, model)
    assert result["query_name"] == "Flowers and Weapons wrt Pleasant"
    # WEFE prints this; its vectors and means are float32
    assert result["em"] == pytest.approx(-0.10210171341896057, abs=1e-6)


def test_a_users_metric_is_measured_ranked_and_drawn(model, flowers, sets, monkeypatch):
    four = Query([sets["flowers"], sets["weapons"]], [sets["pleasant_5"], sets["unpleasant_5a"]])
    table = run_queries(
        MeanDistance, [flowers, four], [model], generate_subqueries=True, aggregate_results=True
    )
    assert table.shape == (1, 4)
    assert table.columns[-1] == "EM: Unnamed queries set average of abs values score"
    assert table.iloc[0, -1] == pytest.approx(table.iloc[0, :3].abs().mean())
    ranking = wefe.create_ranking([table, table])
    assert ranking.to_numpy().tolist() == [[1.0, 1.0]]
    monkeypatch.setitem(sys.modules, "plotly", None)
    figure = wefe.plot_queries_results(table)
    assert any("EM" in part.get_text() for part in figure.findobj(lambda part: hasattr(part, "get_text")))


def test_a_metric_without_run_query_is_refused():
    class Unfinished(BaseMetric):
        metric_template, metric_name, metric_short_name = (2, 1), "Unfinished", "U"

    with pytest.raises(TypeError, match="run_query"):
        Unfinished()


def test_a_subclass_of_a_metric_of_wefe_is_that_metric(model, sets):
    class Strict(wefe.WEAT):
        def run_query(self, query, model, **options):
            return super().run_query(query, model, lost_vocabulary_threshold=0.0, **options)

    assert (Strict.metric_short_name, Strict.metric_template) == ("WEAT", (2, 2))
    query = Query([["he"], ["she"]], [["home", "zzz"], ["office"]])
    assert np.isnan(Strict().run_query(query, model)["weat"])


# debias methods


def test_a_users_debias_method_is_fitted_and_transforms():
    vectors = {
        "he": [2.0, 0.0, 1.0],
        "she": [-2.0, 0.0, 1.0],
        "nurse": [-1.0, 3.0, 0.0],
        "home": [0.5, 1.0, 2.0],
    }
    model = WordEmbeddingModel(vectors, "m")
    method = Neutralize()
    with pytest.raises(NotFittedError, match=r"^Neutralize: fit it before") as caught:
        method.transform(model)
    assert isinstance(caught.value, BiasgridError)
    debiased = method.fit(model, [["he", "she"]]).transform(model, target=["nurse", "home"])
    # the normalised pair differs in the first coordinate alone
    np.testing.assert_allclose(debiased["nurse"], [0, 3, 0], atol=1e-7)
    np.testing.assert_allclose(debiased["he"], [2, 0, 1])
    np.testing.assert_array_equal(model["nurse"], [-1, 3, 0])
    assert (model.name, debiased.name) == ("m", "m_debiased")
    query = Query([["he"], ["she"]], [["home"], ["nurse"]])
    assert wefe.WEAT().run_query(query, model)["weat"] > 0.1
    assert wefe.WEAT().run_query(query, debiased)["weat"] == pytest.approx(0, abs=1e-7)
    same = method.fit_transform(model, definitional_pairs=[["he", "she"]], copy=False)
    assert same is model
    assert model["nurse"].tolist() == [0, 3, 0]


def test_check_is_fitted_is_scikit_learns():
    for attributes, options in ((None, {}), ("a_", {}), (["a_", "b_"], {"all_or_any": any})):
        check_is_fitted(SimpleNamespace(a_=1), attributes, **options)


def test_the_most_biased_words_are_the_targets_of_double_hard_debias():
    """By hand: he is at (1, 0), she at (-1, 0); the cosines of a unit vector (x, y) with them differ by 2x."""
    angles = {"a": 170, "b": 150, "c": 91, "d": 60, "e": 20, "she": 180, "he": 0}
    model = WordEmbeddingModel({w: [np.cos(np.deg2rad(x)), np.sin(np.deg2rad(x))] for w, x in angles.items()})
    method = wefe.DoubleHardDebias()
    words = method.get_target_words(model, None, ["he", "she"], 2, ["he", "she"])
    assert words == ["a", "b", "d", "e"]
    assert method.get_target_words(model, ["c"], [], 1, ["he", "she"]) == ["she", "he"]


def test_double_hard_debias_with_an_exact_pca():
    """The exact components are those of numpy's SVD; those of an incremental PCA in batches differ."""
    random = np.random.default_rng(0)
    words = [f"w{i}" for i in range(400)]
    vectors = (random.normal(size=(400, 30)) * np.linspace(2, 1, 30)).astype(np.float32)
    model = WordEmbeddingModel((words, vectors), "small")
    options = {"definitional_pairs": [["w0", "w1"], ["w2", "w3"]], "bias_representation": ["w0", "w1"]}
    method = wefe.DoubleHardDebias(incremental_pca=False, n_words=5, n_components=1)
    debiased = method.fit_transform(model, **options)
    mean = vectors.astype(float).mean(axis=0)
    component = np.linalg.svd(vectors - mean, full_matrices=False)[2][0]
    pairs = vectors[:4].astype(float)
    centred = pairs - pairs.reshape(2, 2, 30).mean(axis=1).repeat(2, axis=0)
    direction = np.linalg.svd(centred - centred.mean(axis=0))[2][0]
    changed = method.get_target_words(model, None, None, 5, ["w0", "w1"])
    assert len(changed) == 10
    for word in changed:
        vector = vectors[words.index(word)].astype(float)
        expected = vector - mean - (component @ vector) * component
        expected -= (expected @ direction) * direction
        np.testing.assert_allclose(debiased[word], expected, atol=1e-5)
    others = [word for word in words if word not in changed]
    np.testing.assert_array_equal(debiased.model.vectors(others), model.model.vectors(others))
    by_batches = wefe.DoubleHardDebias(n_words=5, n_components=1).fit_transform(model, **options)
    assert np.abs(by_batches[changed[0]] - debiased[changed[0]]).max() > 1e-3


# models


def keyed_vectors(dtype=np.float32):
    vectors = KeyedVectors(2, dtype=dtype)
    vectors.add_vectors(["he", "she", "home", "office"], np.array([[1, 0], [0, 1], [1, 2], [3, 1]], dtype))
    return vectors


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_changes_gensims_vectors_changes_what_is_measured(dtype):
    vectors = keyed_vectors(dtype)
    model = WordEmbeddingModel(vectors, "m")
    query = Query([["he"], ["she"]], [["home"], ["office"]])
    before = wefe.WEAT().run_query(query, model)["weat"]
    # cos(he, home) - cos(he, office) - (cos(she, home) - cos(she, office))
    assert before == pytest.approx(1 / 5**0.5 - 3 / 10**0.5 - (2 / 5**0.5 - 1 / 10**0.5))
    model.wv.vectors[0] = [0, 1]
    assert wefe.WEAT().run_query(query, model)["weat"] == pytest.approx(0)
    model.update("he", np.array([1, 0], dtype))
    assert vectors["he"].tolist() == [1, 0]
    assert wefe.WEAT().run_query(query, model)["weat"] == pytest.approx(before)
    other = deepcopy(model)
    other.wv.vectors[0] = [0, 1]
    assert wefe.WEAT().run_query(query, other)["weat"] == pytest.approx(0)
    assert wefe.WEAT().run_query(query, model)["weat"] == pytest.approx(before)
    vectors.add_vectors(["it"], np.array([[5, 5]], dtype))
    assert ("it" in model, len(model)) == (True, 5)
    model.normalize()
    np.testing.assert_allclose(vectors["home"], np.array([1, 2]) / 5**0.5, rtol=1e-6)
    assert model.wv.most_similar("home", topn=1)[0] == ("it", pytest.approx(3 / 10**0.5, abs=1e-6))


def test_the_models_example_in_wefes_documentation_runs():
    dummy = Word2Vec(common_texts, window=5, min_count=1, workers=1).wv
    model = WordEmbeddingModel(dummy, "Dummy model dim=10", vocab_prefix="/en/")
    assert (model.name, model.model_name, model.vocab_prefix) == (
        "Dummy model dim=10",
        "Dummy model dim=10",
        "/en/",
    )
    assert model.wv is dummy
    assert model.vocab is dummy.key_to_index
    assert load_weat_w2v().vector_size == 300


def test_flairs_vectors_become_gensims():
    weight = SimpleNamespace(numpy=lambda: np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]], dtype=np.float32))
    weight.detach = weight.cpu = lambda: weight
    flair = SimpleNamespace(
        vocab={"he": 0, "she": 1}, embedding=SimpleNamespace(weight=weight), embedding_length=2
    )
    vectors = wefe.flair_to_gensim(flair)
    assert isinstance(vectors, KeyedVectors)
    assert (vectors.index_to_key, vectors["she"].tolist()) == (["he", "she"], [3.0, 4.0])
    assert WordEmbeddingModel(vectors, "glove")["he"].tolist() == [1.0, 2.0]


def test_of_an_error_nothing_is_changed():
    model, single = WordEmbeddingModel(keyed_vectors(), "m"), np.float32
    with pytest.raises(BiasgridError, match="no word 'zz'"):
        model.batch_update(["he", "zz"], np.ones((2, 2), single))
    assert model["he"].tolist() == [1, 0]
    model.batch_update([], [])


# figures


def test_figures_are_plotlys_where_it_is_installed():
    figures = pytest.importorskip("plotly.graph_objects")
    table = pd.DataFrame(
        {"A wrt B": [0.1, -0.2], "C wrt D": [0.3, np.nan]}, index=pd.Index(["m1", "m2"], name="model_name")
    )
    by_query = wefe.plot_queries_results(table)
    assert isinstance(by_query, figures.Figure)
    assert [(bar.name, list(bar.x)) for bar in by_query.data] == [
        ("m1", ["A wrt<br>B", "C wrt<br>D"]),
        ("m2", ["A wrt<br>B", "C wrt<br>D"]),
    ]
    assert list(by_query.data[0].y) == [0.1, 0.3]
    assert (by_query.layout.xaxis.title.text, by_query.layout.yaxis.title.text) == ("Query", "Bias measure")
    by_model = wefe.plot_queries_results(table, by="model")
    assert [(bar.name, list(bar.x), bar.y[0]) for bar in by_model.data] == [
        ("A wrt B", ["m1", "m2"], 0.1),
        ("C wrt D", ["m1", "m2"], 0.3),
    ]
    assert by_model.update_yaxes(title_text="WEAT").layout.yaxis.title.text == "WEAT"
    ranking = pd.DataFrame({"WEAT": [1.0, 2.0], "RND": [2.0, 1.0]}, index=["m1", "m2"])
    stacked = wefe.plot_ranking(ranking)
    assert (stacked.layout.barmode, len(stacked.data), list(stacked.data[1].x)) == ("stack", 2, [2.0, 1.0])
    facets = wefe.plot_ranking(ranking, use_metric_as_facet=True)
    assert [note.text for note in facets.layout.annotations] == ["WEAT", "RND"]
    assert [bar.xaxis for bar in facets.data] == ["x", "x2"]
    (heat_map,) = wefe.plot_ranking_correlations(wefe.calculate_ranking_correlations(ranking), title="t").data
    assert (heat_map.zmin, heat_map.z[0][1]) == (-1, pytest.approx(-1))


# word sets

GENDER = """Census year,Occupation,Male,Female
1950,clerk,.5,.5
1950,nurse,.1,.9
2015,nurse,.2,.8
1950,mason,.99,.01
"""
RACE = """Census year,Occupation,hispanic,asian,black,white
1950,clerk,.02,.01,.1,.87
1950,nurse,.03,.02,.05,.9
1950,mason,.02,.03,.2,.75
2015,nurse,.1,.2,.3,.4
"""
FILES = "occupation_percentages_gender_occ1950.csv", "occupation_percentages_race_occ1950.csv"


@pytest.fixture
def census(tmp_path):
    for name, text in zip(FILES, (GENDER, RACE), strict=True):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_occupations_of_a_census_that_the_user_has(census):
    sets = wefe.fetch_eds(occupations_year=1950, top_n_race_occupations=2, census_folder=census)
    shipped = wefe.fetch_eds()
    assert sets.keys() == shipped.keys()
    assert sets["male_occupations"] == ["clerk", "mason"]
    assert sets["female_occupations"] == ["nurse"]
    # the lowest shares, as WEFE has them; a tie in the file's order
    assert sets["occupations_white"] == ["mason", "clerk"]
    assert sets["occupations_black"] == ["nurse", "clerk"]
    assert sets["occupations_asian"] == ["clerk", "nurse"]
    assert sets["occupations_hispanic"] == ["clerk", "mason"]
    assert sets["names_asian"] == shipped["names_asian"]
    everyone = bg.word_sets(
        "eds", occupations_year=1950, top_n_race_occupations=500, census_folder=str(census)
    )
    assert len(everyone["occupations_white"]) == 3
    assert bg.word_sets("eds", census_folder=census)["occupations_white"] == ["nurse"]
