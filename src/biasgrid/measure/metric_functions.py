"""Metrics as functions of a query and a model: `metrics.weat(query, model)`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from .. import metrics
from ..core import docstrings, wefe_names
from ..core.errors import InputError, not_allowed
from ..core.keywords import check_names
from ..core.wefe_answers import answer_methods
from ..metrics.registry import Metric
from ..models.checks import check_model, check_plain, check_query, plain
from ..models.kinds import REGISTRY as KINDS
from ..models.model import Model
from ..models.preprocessing import Preprocessor, default_forms
from ..queries.query import Query
from . import significance
from .measure import measure
from .measurement_spec import MeasurementSpec, check_kind, check_template, split_options
from .result import Result
from .value_warnings import warn_lost, warn_shared

# An optional part of inference: True uses the defaults, a mapping gives options.
Part = bool | Mapping[str, Any] | None
Interval = Literal["jackknife", "percentile", "bca"]
INTERVAL: Interval = "jackknife"


def measure_query(
    metric: Metric,
    query: Query,
    model: Model,
    *,
    preprocessors: Sequence[Preprocessor] | None = None,
    strategy: Literal["first", "all"] = "first",
    normalize: bool = False,
    lost_vocabulary_threshold: float = 0.2,
    seed: int = 0,
    bootstrap: Part = None,
    sensitivity: Part = None,
    reliability: Part = None,
    interval: Interval = INTERVAL,
    **parameters: Any,
) -> Result:
    """Measure a query of a metric's template on a model.

    Parameters
    ----------
    metric
        One of `metrics.REGISTRY`.
    query
        A query with the metric's template. Divide a larger query into sub-queries: `query.subqueries(template)`.
    model
        A model that `biasgrid.load` returned, or a debiased model: `model.under(transform)`.
    preprocessors
        Forms in which a word is looked up, tried in this order. Each is a mapping of options of `WordOptions`,
        such as `lowercase`, `uppercase`, `titlecase` and `strip_accents`, or a function of the word. `{}` is
        the word as written. Default: the word as written, then in lower case; for language models only as
        written.
    strategy
        "first": use the first form of a word that the model has; "all": use every form that it has.
    normalize
        Whether vectors are divided by their length.
    lost_vocabulary_threshold
        From 0 to 1: the value is NaN if the model lacks more than this share of a set's distinct words.
    seed
        An integer from 0, for inference and for metrics that draw at random.
    bootstrap
        Whether to draw bootstrap resamples of the words, which gives `ci_low` and `ci_high`, a 95 % confidence
        interval over words; or options: `draws`, `level`.
    sensitivity
        Whether to measure without each word and on random halves of the sets, which gives `influence` and `halves` in
        `inference`; or options: `halves`.
    reliability
        Whether to measure how reliably the words are ordered (docs/reliability.md), which is in `Result.reliability`;
        or options: `splits`.
    interval
        The kind of interval that `ci_low` and `ci_high` give.
    **parameters
        The metric's parameters, and tests by name (`measure.significance`): True, or the test's options.

    Returns
    -------
    Result
        `value` is NaN if the metric cannot be computed; `status` and `reason` give the cause. `evidence` names
        the significant tests, without adjustment for the number of tests that you make.

    Raises
    ------
    BiasgridError
        The query has another template; an argument is not a query or a model; an option is unknown, or its
        value is not allowed.
    """
    check_query(query)
    check_model(model)
    seed = plain(seed)
    asked = {test.name: parameters.pop(test.name, None) for test in significance.tests()}
    parts = {"bootstrap": bootstrap, "sensitivity": sensitivity, "reliability": reliability}
    inference = significance.complete({**asked, **parts})
    parameters = {name: plain(value) for name, value in parameters.items()}
    for name, choice in (("strategy", strategy), ("interval", interval)):
        if not isinstance(choice, str):
            raise InputError(not_allowed(name, choice, "a name, as text"))
    for name, value in parameters.items():
        if not _takes_anything(metric, name):
            check_plain(name, value)
    check_names(parameters, metric.parameters, wefe_names.MEASURING, f"metrics.{metric.name}")
    look_up: dict[str, Any] = {"strategy": strategy}
    if normalize is not False or "normalize" not in metric.parameters:
        look_up["normalize"] = normalize
    look_up["lost_vocabulary_threshold"] = lost_vocabulary_threshold
    if preprocessors is not None:
        look_up["preprocessors"] = preprocessors
    other_names = [*asked, *parts, "interval", "seed"]
    parameters, words = split_options(metric, parameters | look_up, other_names)
    check_template(metric, query, parameters)
    warn_shared(query)
    check_kind(metric, model)
    request = MeasurementSpec(metric, parameters, words, seed, inference, interval, draw_seed=seed)
    result = measure(request, query, model)[0]
    warn_lost(query, model, result)
    return result


def function_of(metric: Metric) -> Callable[..., Result]:
    """Return a metric as a function of a query and a model.

    Its signature and documentation contain the metric's parameters and the parameters that all metrics share.
    Its attribute `metric` is the metric.

    Parameters
    ----------
    metric
        One of `metrics.REGISTRY`, a plugin's metric, or a metric that this session defined.

    Returns
    -------
    function
        The function that is offered as `metrics.<name>`.
    """

    def function(query: Query, model: Model, **options: Any) -> Result:
        return measure_query(metric, query, model, **options)

    function.__name__ = function.__qualname__ = metric.name
    function.__module__ = metrics.__name__
    function.metric = metric  # type: ignore[attr-defined]
    function.__signature__ = signature = _signature(metric)  # type: ignore[attr-defined]
    function.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()} | {
        "return": Result
    }
    answer_methods(function, wefe_names.METRIC_METHODS)
    function.__doc__ = _docstring(metric, signature)
    return function


def _signature(metric: Metric) -> inspect.Signature:
    # Words and texts are looked up in different forms by default.
    forms = default_forms(KINDS[metric.needs])
    shared = [
        p.replace(default=forms) if p.name == "preprocessors" else p
        for p in docstrings.signature_of(measure_query).parameters.values()
    ]
    tests = [
        inspect.Parameter(test.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Part)
        for test in significance.tests()
    ]
    options = [p for p in shared if p.kind is p.KEYWORD_ONLY]
    first = [p.name for p in options].index("bootstrap")
    metric_parameters = docstrings.signature_of(metric.function).parameters
    return docstrings.merge_signatures(
        [p for p in shared if p.name in ("query", "model")],
        [metric_parameters[name] for name in metric.parameters],
        [*options[:first], *tests, *options[first:]],
        returns=Result,
    )


def _docstring(metric: Metric, signature: inspect.Signature) -> str:
    metric_sections, shared = docstrings.sections(metric.function), docstrings.sections(measure_query)
    tests = {test.name: _describe_test(test) for test in significance.tests()}
    texts = docstrings.parameters(measure_query) | tests | docstrings.parameters(metric.function)
    sets = [
        _describe_sets(need, role)
        for need, role in zip(metric.template, ("target", "attribute"), strict=True)
    ]
    texts["query"] = docstrings.wrap(f"Of {sets[0]} and {sets[1]}{_template_note(metric)}; {QUERY}", 108)
    returns = metric_sections.get("Returns", "").partition("\n")[2] or f"    {range_of(metric)}"
    parts = {
        "": metric_sections[""] or f"{metric.label}.",
        "Parameters": docstrings.parameter_section(signature, texts),
        "Returns": f"Result\n{returns}\n    {shared['Returns'].partition(chr(10))[2].strip()}",
        "Raises": shared["Raises"],
        "Notes": metric_sections.get("Notes", ""),
        "References": docstrings.wrap(metric.reference),
        "Examples": metric_sections.get("Examples", ""),
    }
    return docstrings.docstring(parts)


def _describe_test(test: significance.Test) -> str:
    options = ", ".join(f"`{name}`" for name in test.options.model_fields)
    return docstrings.wrap(
        f"Whether to make {test.help}, which gives `{test.column}`; or its options: {options}.", 108
    )


def range_of(metric: Metric) -> str:
    """Return the sentence on a metric's range and no-bias value for docstrings."""
    low, high = metric.range
    left, right = "(" if low == -math.inf else "[", ")" if high == math.inf else "]"
    return f"Range {left}{low:g}, {high:g}{right}, neutral value {metric.neutral:g}."


QUERY = "of a larger one take the sub-queries: `query.subqueries(template)`."


def _describe_sets(need: int | str, role: str) -> str:
    number = {"n": "any number of", "k": "two or more", 1: "one", 2: "two"}.get(need, str(need))
    return f"{number} {role} set{'' if need == 1 else 's'}"


def _template_note(metric: Metric) -> str:
    pairs = ", word i of one target set and word i of the others being a pair" if metric.paired else ""
    return (", as many of either" if metric.template == ("k", "k") else "") + pairs


def _takes_anything(metric: Metric, name: str) -> bool:
    parameter = docstrings.signature_of(metric.function).parameters.get(name)
    return parameter is None or parameter.annotation in (Any, parameter.empty)


def _replacement(metric: Metric, name: str) -> str:
    """Return the replacement of `metrics.WEAT` for a message."""
    return (
        f"say metrics.{metric.name}, a function: metrics.{metric.name}(query, model) is WEFE's "
        f"{name}().run_query(query, model)"
    )


metrics.Metric.measure = measure_query
metrics.REGISTRY.offer(function_of, _replacement)
