"""Messages for WEFE's names that differ here, with their replacements.

No value depends on them (`study.code.LEFT_OUT`). `biasgrid.compat.wefe` has the names themselves.
"""

from __future__ import annotations

from collections.abc import Mapping

COMPAT = "biasgrid.compat.wefe"
LOST = "missing words always warn, once per query and model, and result.lost has them"
IN_A_GRID = "a grid measures several queries: biasgrid.measure_grid(metrics, queries, models)"
FORMS = 'say preprocessors=[{}, {"lowercase": True}], one mapping per form of a word, tried in this order'
NEVER_CHANGED = "a model is never changed: change what it was loaded from, and load it again"

# Replacements of names in WEFE's modules, for `biasgrid.<name>`.
LINES = {
    "WordEmbeddingModel": 'biasgrid.load(keyed_vectors, name="w2v")',
    "WEAT": "biasgrid.metrics.weat(query, model)",
    "RND": "biasgrid.metrics.rnd(query, model)",
    "RNSB": "biasgrid.metrics.rnsb(query, model)",
    "MAC": "biasgrid.metrics.mac(query, model)",
    "ECT": "biasgrid.metrics.ect(query, model)",
    "RIPA": "biasgrid.metrics.ripa(query, model)",
    "run_queries": 'biasgrid.measure_grid(["weat"], queries, models).table("weat")',
    "create_ranking": "biasgrid.measure_grid(metrics, queries, models).rank()",
    "calculate_ranking_correlations": "biasgrid.measure_grid(metrics, queries, models).correlate()",
    "plot_queries_results": 'biasgrid.measure_grid(metrics, queries, models).plot("scores")',
    "plot_ranking": 'biasgrid.measure_grid(metrics, queries, models).plot("rankings")',
    "plot_ranking_correlations": 'biasgrid.measure_grid(metrics, queries, models).plot("correlations")',
    "HardDebias": "model.under(biasgrid.debias.hard(model, definitional_pairs=pairs, equalize_pairs=pairs))",
    "MulticlassHardDebias": "model.under(biasgrid.debias.multiclass_hard(model, definitional_sets=pairs))",
    "DoubleHardDebias": "model.under(biasgrid.debias.double_hard(model, definitional_pairs=pairs))",
    "HalfSiblingRegression": "model.under(biasgrid.debias.hsr(model, definitional_words=words))",
    "RepulsionAttractionNeutralization": "model.under(biasgrid.debias.ran(model, definitional_pairs=pairs))",
    "load_weat": 'biasgrid.word_sets("weat")',
    "fetch_eds": 'biasgrid.word_sets("eds")',
    "fetch_debiaswe": 'biasgrid.word_sets("debiaswe")',
    "fetch_debias_multiclass": 'biasgrid.word_sets("multiclass")',
    "fetch_gn_glove": 'biasgrid.word_sets("gn_glove")',
    "load_bingliu": 'biasgrid.word_sets("bingliu")',
    "load_test_model": 'biasgrid.load("word2vec-google-news-300-subset")',
}
# Present names of word sets that WEFE itself renamed or split.
WORD_SETS = {
    "unpleasant_5": "unpleasant_5a",
    "young_peoples_names": "young_people_names",
    "old_peoples_names": "old_people_names",
    "white_related_words": "white_biased_words",
    "black_related_words": "black_biased_words",
    "asian_related_words": "asian_biased_words",
    "race_definitional_sets": "ethnicity_definitional_sets",
}
# Attributes of WEFE's queries, of its and gensim's models, and of its debias methods.
QUERY = {
    "query_name": "WEFE's 'query_name' is 'name' here",
    "get_subqueries": "WEFE's 'get_subqueries' is 'subqueries(template)' here",
    "dict": "WEFE's 'dict' is 'to_dict()' here",
}
MODEL = {
    "wv": "model.vectors(words) and model.most_similar(...) do what it is mostly used for",
    "get": "say model[word] if word in model else default",
    "normalize": "say normalize=True in a measurement: a model is never changed",
    "update": NEVER_CHANGED,
    "batch_update": NEVER_CHANGED,
    "key_to_index": "say word in model, and list(model) for all words",
    "index_to_key": "say list(model)",
    "similarity": "say model.most_similar(...), or take the cosine of model[a] and model[b]",
}
TRANSFORM = {
    "fit": "it is fitted; fit another one: debias.hard(model, definitional_pairs=...)",
    "transform": "say model.under(transform): the debiased model",
    "fit_transform": "say model.under(debias.hard(model, definitional_pairs=...)): the debiased model",
}
# Methods of WEFE's classes, whose objects are called here.
METRIC_METHODS = {"run_query": "say metrics.{name}(query, model)"}
DEBIAS_METHODS = dict.fromkeys(
    ("fit", "transform", "fit_transform"), "say model.under(debias.{name}(model, ...)): the debiased model"
)
# Keys of the dictionaries that WEFE's metrics return, except the metric's value.
RESULT = {
    "query_name": "result.query",
    "p_value": "result.p_value",
    "effect_size": "metrics.weat_es(query, model).value",
    "distance_by_word": "result.detail",
    "distances_by_word": "result.detail",
    "clf_distributions": "result.detail",
    "negative_sentiment_distribution": "result.detail",
    "negative_sentiment_probabilities": "result.detail",
    "targets_eval": "result.detail",
    "word_values": "result.detail",
}
# Options of run_query of WEFE 1.0.1's metrics, of run_queries, and of WEFE before 1.0.
MEASURING = {
    "calculate_p_value": "say permutation=True",
    "p_value_test_type": "say permutation={'alternative': 'greater'} (WEFE's right-sided), 'less' or 'two-sided'",
    "p_value_method": "all permutations are enumerated where there are few, else drawn: permutation={'exact': 20000}",
    "p_value_iterations": "say permutation={'draws': 10000}",
    "p_value_verbose": "nothing is printed; result.inference['permutation'] has the number of permutations",
    "return_effect_size": "metrics.weat_es is WEAT's effect size",
    "warn_not_found_words": LOST,
    "print_model_evaluation": "nothing is printed; result.scalars has the accuracy on words left out of training",
    "verbose": "nothing is printed",
    "preprocessor_args": FORMS,
    "preprocessor_options": FORMS,
    "secondary_preprocessor_args": FORMS,
    "secondary_preprocessor_options": FORMS,
    "secondary_preprocessors": FORMS,
    "metric_params": f"give the metric's parameters by name here; {IN_A_GRID}",
    "queries_set_name": f"{IN_A_GRID}; queries may be a mapping of criterion to queries",
    "generate_subqueries": "take them: query.subqueries(template); a grid does it by itself",
    "aggregate_results": f"{IN_A_GRID}.aggregate()",
    "aggregation_function": f"{IN_A_GRID}.aggregate(function)",
    "return_only_aggregation": f"{IN_A_GRID}.aggregate()",
}
# Options of WEFE before 1.0, for `biasgrid.compat.wefe`.
FORMER_OPTIONS = {name: text for name, text in MEASURING.items() if text == FORMS} | {
    "word_embeddings_models": "say models=[...]"
}
# Options of WEFE 1.0.1's run_queries, for `measure_grid`.
RUN_QUERIES = MEASURING | {
    "metric": "say metrics=['weat', ...]: a grid measures several metrics",
    "word_embeddings_models": "say models=[...]",
    "models_names": "say models={name: model}",
    "metric_params": "give parameters with the metric: metrics=[('rnd', {'distance': 'cos'})]",
    "queries_set_name": "say queries={name: [query, ...]}, a mapping of criterion to queries",
    "generate_subqueries": "sub-queries of the metric's template are taken where a query has more sets",
    "aggregate_results": "say measure_grid(...).aggregate()",
    "aggregation_function": "say aggregation='abs_avg', or measure_grid(...).aggregate(function)",
    "return_only_aggregation": "say measure_grid(...).aggregate()",
    "return_effect_size": "add the metric 'weat_es', WEAT's effect size",
    "warn_not_found_words": "a warning counts the words that a model lacks; measure_grid(...).lost_words lists them",
    "print_model_evaluation": "nothing is printed; frame('scalars') has the accuracy on words left out of training",
}
# Values of WEFE's `p_value_test_type`.
ALTERNATIVES = {"right-sided": "greater", "left-sided": "less"}
# Options of WEFE's create_ranking and calculate_ranking_correlations, for `Grid.rank` and `Grid.correlate`.
RANKING = {
    "method": "say ties='first' (WEFE's default), 'average', 'min', 'max' or 'dense'",
    "ascending": "say by='value', WEFE's order: the smallest value first",
}
# Options of the constructors, fit and transform of WEFE 1.0.1's debias methods.
DEBIASING = {
    "pca_args": "say n_components=..., which hard and multiclass_hard have for the bias subspace",
    "verbose": "nothing is printed; transform.fitted_on says what was found, lost and done",
    "criterion_name": "name the debiased model: model.under(transform, name=...)",
    "incremental_pca": "double_hard has it; variant='wefe' has WEFE's incremental PCA",
    "copy": "the model stays as it is: model.under(transform) is the debiased one",
}


def no_attribute(owner: str, attribute: str, names: Mapping[str, str]) -> str:
    """Return a message's text for an attribute that does not exist, with the replacement of a name of WEFE's."""
    return f"{owner} has no attribute {attribute!r}" + (f"; {names[attribute]}" if attribute in names else "")


def of_module(module: str, name: str) -> str:
    """Return `no_attribute` for the package itself: the replacement, and the import of WEFE's own name."""
    answer = f"write {LINES[name]}; or keep WEFE's: from {COMPAT} import {name}" if name in LINES else ""
    return no_attribute(f"module {module!r}", name, {name: answer} if answer else {})
