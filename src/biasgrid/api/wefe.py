"""WEFE's names that are called otherwise here, each with what to write in its place."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

from ..debias.registry import Method
from ..errors import InputError, unknown_name
from ..metrics.registry import Metric

P = ParamSpec("P")
R = TypeVar("R")
LOST = "lost words always warn, once per query and model, and result.lost has them"
IN_A_GRID = "a grid measures several queries: biasgrid.measure_grid(metrics, queries, models)"
FORMS = 'say preprocessors=[{}, {"lowercase": True}], one mapping per form of a word, tried in this order'
# of run_query of WEFE 1.0.1's metrics, of run_queries, and of WEFE before 1.0
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
# of WEFE 1.0.1's run_queries, for `measure_grid`
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
    "warn_not_found_words": "one warning counts the lost words, and measure_grid(...).lost_words has them",
    "print_model_evaluation": "nothing is printed; frame('scalars') has the accuracy on words left out of training",
}
# of its create_ranking and calculate_ranking_correlations, for `Grid.rank` and `Grid.correlate`
RANKING = {
    "method": "say ties='first' (WEFE's default), 'average', 'min', 'max' or 'dense'",
    "ascending": "say by='value', WEFE's order: the smallest value first",
}
# of the constructors, fit and transform of WEFE 1.0.1's debias methods
DEBIASING = {
    "pca_args": "say n_components=..., which hard and multiclass_hard have for the bias subspace",
    "verbose": "nothing is printed; transform.fitted_on says what was found, lost and done",
    "criterion_name": "name the debiased model: model.under(transform, name=...)",
    "incremental_pca": "say variant='wefe', which has WEFE's incremental PCA",
    "copy": "the model stays as it is: model.under(transform) is the debiased one",
}


def check_names(
    options: Iterable[str], parameters: Iterable[str], names: Mapping[str, str], function: str
) -> None:
    """Raises BiasgridError for a name of WEFE's that a function does not know, with what to say in its place."""
    parameters = set(parameters)
    for name in options:
        if name in names and name not in parameters:
            raise InputError(f"{function}: {name}: {names[name]}")


def answers(names: Mapping[str, str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: a function's unknown keywords are answered, WEFE's with what to say in their place."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = [name for name in inspect.signature(function).parameters if name != "self"]

        @functools.wraps(function)
        def answer(*args: P.args, **options: P.kwargs) -> R:
            check_names(options, parameters, names, function.__name__)
            for name in options:
                if name not in parameters:
                    raise InputError(unknown_name(f"{function.__name__} option", name, parameters))
            return function(*args, **options)

        return answer

    return decorate


def replacement_of_metric(metric: Metric, name: str) -> str:
    """What to write in place of `metrics.WEAT`."""
    return (
        f"say metrics.{metric.name}, a function: metrics.{metric.name}(query, model) is WEFE's "
        f"{name}().run_query(query, model)"
    )


def replacement_of_method(method: Method, name: str) -> str:
    """What to write in place of `debias.HardDebias`."""
    words = [f"{word}=..." for word in method.required_words]
    return (
        f"say debias.{method.name}, a function: model.under(debias.{method.name}({', '.join(['model', *words])})) is "
        f"WEFE's {name}().fit(...).transform(model)"
    )


def replacement(entry: Any, name: str) -> str:
    """What to write in place of an attribute that is another name of a metric or a debias method."""
    return (
        replacement_of_metric(entry, name)
        if isinstance(entry, Metric)
        else replacement_of_method(entry, name)
    )
