"""docs/wefe-names.csv names all that WEFE 1.0.1 has. What it and docs/migration.md name of biasgrid is there."""

import inspect
import re

import pandas as pd
import pytest
from conftest import ROOT

import biasgrid as bg
from biasgrid.measure.significance import columns

NAMES = pd.read_csv(ROOT / "docs/wefe-names.csv", keep_default_na=False)
OURS = "\n".join(NAMES["biasgrid"])
PAGE = (ROOT / "docs/migration.md").read_text(encoding="utf-8") + OURS
# the public classes, functions and data sets of WEFE 1.0.1's modules, methods, and arguments of the functions
WEFE = """
WordEmbeddingModel wv name vocab_prefix get normalize update batch_update
Query target_sets attribute_sets target_sets_names attribute_sets_names dict get_subqueries template
BaseMetric ExampleMetric WEAT RND RNSB MAC ECT RIPA run_query
return_effect_size calculate_p_value p_value_test_type p_value_method p_value_iterations p_value_verbose
lost_vocabulary_threshold preprocessors strategy normalize warn_not_found_words distance
estimator estimator_params n_iterations random_state holdout print_model_evaluation
BaseDebias fit transform fit_transform copy target ignore criterion_name verbose pca_args
HardDebias MulticlassHardDebias DoubleHardDebias HalfSiblingRegression RepulsionAttractionNeutralization
definitional_pairs equalize_pairs definitional_sets equalize_sets bias_representation definitional_words alpha
incremental_pca n_words n_components epochs theta n_neighbours learning_rate weights get_target_words
load_weat fetch_eds fetch_debiaswe load_bingliu fetch_debias_multiclass fetch_gn_glove
occupations_year top_n_race_occupations n_retries
run_queries queries_set_name metric_params generate_subqueries aggregate_results aggregation_function
return_only_aggregation generate_subqueries_from_queries_list create_ranking method ascending
calculate_ranking_correlations plot_queries_results plot_ranking use_metric_as_facet plot_ranking_correlations
plotly matplotlib show
load_test_model flair_to_gensim print_doc_table save_doc_image check_is_fitted
preprocess_word get_embeddings_from_set get_embeddings_from_query get_embeddings_from_tuples discard_incomplete_sets
"""


def test_what_wefe_has_is_on_the_page():
    text = "\n".join(NAMES["wefe"] + NAMES["biasgrid"])
    assert [name for name in WEFE.split() if not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\bbg\.([\w.]+)", PAGE))))
def test_what_the_page_names_is_there(name):
    thing = bg
    for part in name.split("."):
        thing = getattr(thing, part)


@pytest.mark.parametrize(
    ("owner", "calls"),
    [("Grid", r"\bgrid\.(\w+)"), ("Query", r"\bquery\.(\w+)"), ("Result", r"\bresult\.(\w+)")],
)
def test_attributes_that_the_page_names_are_there(owner, calls):
    there = {*dir(getattr(bg, owner)), *getattr(bg, owner).__dataclass_fields__}
    there |= {*columns()} if owner == "Result" else set()  # what a result answers for each test
    assert set(re.findall(calls, OURS)) <= there


def test_models_have_what_the_page_names():
    model = bg.load({"he": [1.0, 0.0], "she": [0.0, 1.0]})
    assert set(re.findall(r"\bmodel\.(\w+)", OURS)) <= set(dir(model))


def test_keywords_that_the_page_names_are_arguments():
    for function, text in re.findall(r"\bbg\.((?:metrics|debias)\.\w+)\(([^()`]*)\)", PAGE):
        thing = bg
        for part in function.split("."):
            thing = getattr(thing, part)
        assert set(re.findall(r"(\w+)=", text)) <= set(inspect.signature(thing).parameters)
