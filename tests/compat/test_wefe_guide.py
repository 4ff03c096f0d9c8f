"""A WEFE user's first hour: the code of WEFE 1.0.1's quick start and user guides, with the imports changed, and
WEFE's numbers. Numbers are those that the guides print for WEFE's test model; for the glove-twitter models, WEFE's on
the stand-ins of tests/api/wefe_documentation.py."""

import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import DATA, ROOT
from gensim.models import KeyedVectors
from matplotlib.text import Text

from biasgrid.compat.wefe import (
    MAC,
    RNSB,
    WEAT,
    HardDebias,
    MulticlassHardDebias,
    Query,
    WordEmbeddingModel,
    calculate_ranking_correlations,
    create_ranking,
    fetch_debias_multiclass,
    fetch_debiaswe,
    load_weat,
    plot_queries_results,
    plot_ranking,
    plot_ranking_correlations,
    run_queries,
)

sys.path.insert(0, str(ROOT / "tests" / "api"))
from wefe_documentation import twitter_models

WEFE = json.loads((DATA / "wefe_1.0.1_documentation.json").read_text())
CLOSE = {"rel": 1e-6, "abs": 1e-6}
LOWER = {"preprocessors": [{"lowercase": True}]}


@pytest.fixture(scope="module")
def model(word2vec):
    return WordEmbeddingModel(word2vec, "test_w2v")


@pytest.fixture(scope="module")
def models(word2vec, tmp_path_factory):
    """gensim's KeyedVectors in WEFE's models, as the guide has them."""
    wrapped = []
    for store in twitter_models(word2vec, tmp_path_factory.mktemp("twitter")):
        vectors = KeyedVectors(store.dimensions)
        vectors.add_vectors(list(store), store.vectors(list(store)))
        wrapped.append(WordEmbeddingModel(vectors, f"dim={store.dimensions}"))
    return wrapped


@pytest.fixture(scope="module")
def sets():
    return load_weat()


@pytest.fixture(scope="module")
def gender_queries(sets):
    terms = [sets["male_terms"], sets["female_terms"]], ["Male terms", "Female terms"]
    attributes = (("career", "family"), ["Career", "Family"]), (("science", "arts"), ["Science", "Arts"])
    attributes += ((("math", "arts_2"), ["Math", "Arts"]),)
    return [Query(terms[0], [sets[a], sets[b]], terms[1], names) for (a, b), names in attributes]


@pytest.fixture(scope="module")
def ethnicity_queries(sets):
    groups = ["European Names", "African Names"]
    pleasant = (5, ("pleasant_5", "unpleasant_5a"), ""), (7, ("pleasant_9", "unpleasant_9"), " 2")
    return [
        Query(
            [sets[f"european_american_names_{n}"], sets[f"african_american_names_{n}"]],
            [sets[name] for name in names],
            groups,
            [f"Pleasant{end}", f"Unpleasant{end}"],
        )
        for n, names, end in pleasant
    ]


def test_the_quick_start(models):
    target_sets = [["she", "woman", "girl"], ["he", "man", "boy"]]
    attribute_sets = [["poetry", "dance", "literature"], ["math", "physics", "chemistry"]]
    query = Query(target_sets, attribute_sets, ["Female Terms", "Male Terms"], ["Arts", "Science"])
    result = WEAT().run_query(query, models[0])
    assert list(result) == ["query_name", "result", "weat", "effect_size", "p_value"]
    assert result["query_name"] == "Female Terms and Male Terms wrt Arts and Science"
    assert result["result"] == result["weat"] == pytest.approx(WEFE["quick start"]["weat"], **CLOSE)
    assert result["effect_size"] == pytest.approx(WEFE["quick start"]["effect_size"], **CLOSE)
    assert np.isnan(result["p_value"])
    assert repr(query).startswith(
        "<Query: Female Terms and Male Terms wrt Arts and Science\n- Target sets: [['she',"
    )


def test_options_of_a_query(gender_queries, model):
    weat = WEAT()
    result = weat.run_query(gender_queries[0], model, return_effect_size=True)
    assert result["result"] == result["effect_size"] == pytest.approx(0.45076532408312986, abs=5e-7)
    assert result["weat"] == pytest.approx(0.4634388245467562, abs=5e-7)
    # the guide's .08 and WEFE's .1866 are draws with replacement: of all 12,870 permutations .1970 give more
    for side, p in {"right-sided": 0.1970, "left-sided": 0.8031}.items():
        tested = weat.run_query(gender_queries[0], model, calculate_p_value=True, p_value_test_type=side)
        assert tested["p_value"] == pytest.approx(p, abs=2e-4)


def test_lost_words_and_preprocessors(ethnicity_queries, models):
    weat, query = WEAT(), ethnicity_queries[0]
    with pytest.warns(UserWarning, match=r"dim=25 lacks .*'Adam'"):
        lost = weat.run_query(query, models[0], warn_not_found_words=True)
    assert np.isnan(lost["weat"])
    steps = {
        "lower case, no accents": [{"lowercase": True, "strip_accents": True}],
        "as written, else lower case": [{}, {"lowercase": True, "strip_accents": True}],
        "in three steps": [{}, {"lowercase": True}, {"lowercase": True, "strip_accents": True}],
    }
    for name, preprocessors in steps.items():
        found = weat.run_query(query, models[0], preprocessors=preprocessors)
        assert found["weat"] == pytest.approx(WEFE["look-up"][name]["weat"], **CLOSE)
    variants = [{}, {"lowercase": True}, {"uppercase": True}]
    found = weat.run_query(query, models[0], preprocessors=variants, strategy="all")
    assert found["weat"] == pytest.approx(WEFE["look-up"]["every variant"]["weat"], **CLOSE)


def test_several_queries_and_their_aggregates(gender_queries, models):
    table = run_queries(WEAT, gender_queries, models, queries_set_name="Gender Queries")
    assert (table.index.name, table.columns.name) == ("model_name", "query_name")
    assert list(table.columns) == [query.query_name for query in gender_queries]
    np.testing.assert_allclose(table, np.array(WEFE["tables"]["as written"], float), 1e-6, 1e-6)
    endings = {
        "avg": "average",
        "abs_avg": "average of abs values",
        "sum": "sum",
        "abs_sum": "sum of abs values",
    }
    for how, ending in endings.items():
        options = {"metric_params": LOWER, "aggregate_results": True, "aggregation_function": how}
        both = run_queries(WEAT, gender_queries, models, queries_set_name="Gender Queries", **options)
        np.testing.assert_allclose(both.iloc[:, :-1], np.array(WEFE["tables"]["lower case"]), 1e-6, 1e-6)
        only = run_queries(WEAT, gender_queries, models, **options, return_only_aggregation=True)
        assert both.columns[-1] == f"WEAT: Gender Queries {ending} score"
        assert list(only.columns) == [f"WEAT: Unnamed queries set {ending} score"]
        np.testing.assert_allclose(only, np.array(WEFE["aggregates"][how]), 1e-6, 1e-6)
    # a function of the data frame, as WEFE's own tests have it
    options = {"metric_params": LOWER, "aggregate_results": True}
    own = run_queries(
        WEAT, gender_queries, models, aggregation_function=lambda df: -df.abs().mean(axis=1), **options
    )
    assert own.columns[-1] == "WEAT: Unnamed queries set custom aggregation score"
    np.testing.assert_allclose(own.iloc[:, [-1]], -np.array(WEFE["aggregates"]["abs_avg"]), 1e-6, 1e-6)


@pytest.fixture
def without_plotly(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)


@pytest.mark.usefixtures("without_plotly")
def test_rankings_correlations_and_figures(gender_queries, ethnicity_queries, models):
    for name, queries in (("Gender", gender_queries), ("Ethnicity", ethnicity_queries)):
        frames = [
            run_queries(
                metric,
                queries,
                models,
                metric_params=LOWER | parameters,
                aggregate_results=True,
                return_only_aggregation=True,
                queries_set_name=f"{name} Queries",
            )
            for metric, parameters in (
                (WEAT, {}),
                (WEAT, {"return_effect_size": True}),
                (RNSB, {"holdout": False}),
            )
        ]
        ranking = create_ranking(frames)
        head = f"{name} Queries average of abs values score"
        assert list(ranking.columns) == [f"WEAT: {head} (1)", f"WEAT: {head} (2)", f"RNSB: {head}"]
        expected = WEFE["rankings"][name]
        assert ranking.set_axis(list(expected), axis=1).to_dict() == expected
        if name == "Gender":
            for how in ("spearman", "kendall"):
                correlations = calculate_ranking_correlations(ranking, method=how)
                keys = list(expected)
                theirs = [[WEFE["correlations"][how][a][b] for b in keys] for a in keys]
                np.testing.assert_allclose(correlations, theirs, atol=1e-12)
    # of the last queries
    for figure in (
        plot_queries_results(run_queries(WEAT, queries, models, metric_params=LOWER)),
        plot_queries_results(frames[0], by="model"),
        plot_ranking(ranking),
        plot_ranking(ranking, use_metric_as_facet=True),
        plot_ranking_correlations(calculate_ranking_correlations(ranking)),
    ):
        assert any(axes.has_data() for axes in figure.axes)
        with pytest.warns(
            UserWarning, match=r"no window can be opened here; figure.savefig\('figure.png'\) writes"
        ):
            figure.show()


@pytest.mark.usefixtures("without_plotly")
def test_figures_say_what_is_drawn(model, gender_queries):
    """MAC's no-bias value is 1, and a matrix of Kendall's coefficients is none of Spearman's."""
    table = run_queries(MAC, gender_queries, [model], aggregate_results=True)
    assert table.shape == (1, 4)
    figure = plot_queries_results(table)
    (axes,) = figure.axes
    assert any("MAC" in text.get_text() for text in figure.findobj(Text))
    assert {tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2} == {(1.0, 1.0)}
    ranking = create_ranking([table, table])
    for method, label in (("kendall", "Kendall"), ("spearman", "Spearman")):
        figure = plot_ranking_correlations(calculate_ranking_correlations(ranking, method=method))
        assert any(label in text.get_text() for text in figure.texts)


def test_the_mitigation_guide(gender_queries, sets, model, tmp_path):
    pairs, weat = fetch_debiaswe(), WEAT()
    hd = HardDebias(verbose=False, criterion_name="gender")
    hd.fit(model, definitional_pairs=pairs["definitional_pairs"], equalize_pairs=pairs["equalize_pairs"])
    names = Query(
        [sets["male_names"], sets["female_names"]],
        [sets["pleasant_5"], sets["unpleasant_5a"]],
        ["Male Names", "Female Names"],
        ["Pleasant", "Unpleasant"],
    )

    def absolute(query, of, **options):
        return round(abs(weat.run_query(query, of, normalize=True, **options)["weat"]), 3)

    both = {"preprocessors": [{}, {"lowercase": True}]}
    debiased = hd.transform(model, ignore=pairs["gender_specific"], copy=True)
    assert (model.name, debiased.name) == ("test_w2v", "test_w2v_gender_debiased")
    assert (absolute(gender_queries[0], debiased), absolute(gender_queries[0], model)) == (0.047, 0.463)
    assert (absolute(names, debiased, **both), absolute(names, model, **both)) == (0.055, 0.074)
    of_words = hd.transform(model, target=sets["career"] + sets["family"], copy=True)
    assert (absolute(gender_queries[0], of_words), absolute(names, of_words, **both)) == (0.047, 0.08)
    debiased.wv.save(str(tmp_path / "debiased.kv"))
    saved = WordEmbeddingModel(KeyedVectors.load(str(tmp_path / "debiased.kv")))
    assert weat.run_query(names, saved) == weat.run_query(names, debiased)

    multiclass = fetch_debias_multiclass()
    mhd = MulticlassHardDebias(pca_args={"n_components": 2}, verbose=False, criterion_name="ethnicity")
    mhd.fit(
        model=model,
        definitional_sets=multiclass["ethnicity_definitional_sets"],
        equalize_sets=list(multiclass["ethnicity_analogy_templates"].values()),
    )
    query = Query(
        [multiclass["white_terms"], multiclass["black_terms"]],
        [multiclass["white_biased_words"], multiclass["black_biased_words"]],
    )
    for name, of in (("before", model), ("after", mhd.transform(model, copy=True))):
        result = weat.run_query(query, of, normalize=True, **both)
        # debiasing is float32 in WEFE
        assert result["weat"] == pytest.approx(WEFE["multiclass"][name], abs=1e-5)


def test_import_biasgrid_imports_none_of_it():
    code = "import sys, biasgrid; print([name for name in sys.modules if 'wefe' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
