"""Translation of the arguments of `measure_grid` into a checked study in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from ... import metrics as registry
from ...core import wefe_names
from ...core.errors import BiasgridError, is_among, not_allowed, quote, unknown_name
from ...core.keywords import check_names
from ...core.printable import check_line
from ...core.validation import validate
from ...debias import UNTOUCHED, Transform
from ...measure import significance
from ...measure.aggregation import OVERALL, Aggregation, aggregator
from ...measure.options import check_interval
from ...measure.statistics.adjustment import METHODS as ADJUST
from ...measure.statistics.shared import COVERAGE
from ...models.kinds import VECTORS
from ...models.subwords import SubwordModel
from ...models.words import WordOptions
from ...queries.query import Query
from ..config.check import metrics_of
from ..config.criteria import Criterion
from ..config.criteria import Query as QueryEntry
from ..config.debias import Debias
from ..config.inference import Inference, OwnInference, inference_of_tests
from ..config.metrics import Metric, Words
from ..config.models import IN_MEMORY, Model, model_of_kinds
from ..config.query_names import check_subquery_names
from ..config.study import Ranking, ReliabilityCard, StudyConfig
from ..study import Study
from .evaluate_in_memory import evaluation_config

QUERIES = "queries"  # the criterion of queries that are given without one
LOOK_UP = tuple(option.name for option in fields(WordOptions))
TIES = ("average", "min", "max", "dense", "first")
BY = ("distance", "value")
NO_ENTRY = QueryEntry.model_construct()  # the config entry of a query that is given as an object


def study_of(
    metrics: Any,
    queries: Any,
    models: Mapping[str, Any],
    states: Iterable[tuple[str, str]],
    *,
    words: Mapping[str, Any],
    inference: Mapping[str, Any],
    evaluation: Any,
    reliability: Any,
    ranking: Mapping[str, Any],
    aggregation: Aggregation,
    seed: int,
) -> Study:
    """Return the study that the arguments of `measure_grid` describe, without any results."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise BiasgridError(not_allowed("seed", seed, "whole numbers from 0 on"))
    aggregator(aggregation)
    check_ranking(**ranking)
    states = tuple(states)
    criteria, by_id = _criteria(queries)
    evaluation = evaluation_config(evaluation, bool(states))
    config = StudyConfig.model_construct(
        study="grid",
        seed=seed,
        models={name: _model(name, model) for name, model in models.items()},
        words=_look_up(words),
        criteria=criteria,
        metrics=_metrics(metrics),
        aggregation=aggregation,
        ranking=Ranking.model_construct(**ranking),
        debias=_debias(states, list(criteria)),
        inference=_inference(**inference),
        reliability=_reliability(reliability),
        # The debias methods belong to the first criterion.
        evaluation={next(iter(criteria)): evaluation} if evaluation else {},
    )
    study = Study(config, by_id, memory={})
    _check_metrics(study)
    return study


def models_by_name(models: Any) -> dict[str, Any]:
    """Return the models of a list or a mapping by name.

    Raises BiasgridError if an entry is not a model, or if two models have the same name.
    """
    if isinstance(models, Mapping):
        entries = list(models.items())
    else:
        if hasattr(models, "rows") and hasattr(models, "take"):
            models = [models]
        if isinstance(models, (str, bytes)) or not isinstance(models, Iterable):
            raise BiasgridError(
                f"models: expected a list of models, not {quote(models)}; biasgrid.load(...) loads one"
            )
        entries = [(getattr(model, "name", None), model) for model in models]
    if not entries:
        raise BiasgridError("models: the list is empty; at least one model is needed")
    by_name: dict[str, Any] = {}
    for name, model in entries:
        if not all(hasattr(model, method) for method in ("rows", "take")):
            if isinstance(model, Transform):
                raise BiasgridError(
                    "models: a transform is no model; the model under it is model.under(transform)"
                )
            what = quote(model) if isinstance(model, str) else f"a {type(model).__name__}"
            raise BiasgridError(f"models: {what} is no model; load it first: biasgrid.load(...)")
        if not isinstance(name, str) or not name.strip():
            raise BiasgridError(
                "models: a model has no name; give the models as a mapping of names to models"
            )
        if name in by_name:
            raise BiasgridError(
                f"models: two models are named {quote(name)}; name them apart, with a mapping of names to models"
            )
        by_name[check_line(name, what="models: a model's name")] = model
    return by_name


def debiased_models(
    models: Mapping[str, Any], debias: Mapping[str, Any] | None
) -> dict[tuple[str, str], Any]:
    """Return the debiased models of `measure_grid`'s `debias`, by model and debias key."""
    if not isinstance(debias or {}, Mapping):
        raise BiasgridError(
            f"debias: expected a mapping of names to functions of a model, not {quote(debias)}"
        )
    debiased = {}
    for key, fit in (debias or {}).items():
        if not isinstance(key, str) or not key.strip():
            raise BiasgridError(f"debias: {quote(key)} cannot be a debias method's name; allowed: text")
        if key == UNTOUCHED or key in models:
            raise BiasgridError(
                f"debias: {quote(key)} stands for a model; give the debias method a different name"
            )
        for name in fit if isinstance(fit, Mapping) else ():
            if name not in models:
                raise BiasgridError(f"debias: {quote(key)}: {unknown_name('model', name, models)}")
        for name, model in models.items():
            if isinstance(fit, Mapping):
                transform = fit.get(name)
            elif callable(fit):
                transform = fit(model)
            else:
                raise BiasgridError(
                    f"debias: {quote(key)}: expected a function of a model, or a mapping of models' names to "
                    f"transforms, not {quote(fit)}"
                )
            if transform is None:
                continue
            if not isinstance(transform, Transform):
                raise BiasgridError(
                    f"debias: {quote(key)} gave {quote(transform)} for {name}, which is no transform"
                )
            debiased[name, key] = model.under(transform)
    return debiased


def kind_of(model: Any) -> str:
    """Return the type of a model (`models.kinds`)."""
    return getattr(model, "kind", VECTORS)


def _model(name: str, model: Any) -> Model:
    # A comparison with published numbers needs to know whether missing words have vectors of n-grams.
    makes_ngrams = isinstance(getattr(model, "model", model), SubwordModel)
    subwords: dict[str, Any] = {"subwords": True} if makes_ngrams else {}
    return model_of_kinds().model_construct(label=name, kind=kind_of(model), source=IN_MEMORY, **subwords)


def check_ranking(by: str, ties: str, coverage: float = COVERAGE) -> None:
    """Raise BiasgridError if options of a ranking are unknown or out of range."""
    if not is_among(by, BY):
        raise BiasgridError(f"by: {unknown_name('value', by, BY)}")
    if not is_among(ties, TIES):
        raise BiasgridError(f"ties: {unknown_name('value', ties, TIES)}")
    if isinstance(coverage, bool) or not isinstance(coverage, (int, float)) or not 0 < coverage <= 1:
        raise BiasgridError(not_allowed("coverage", coverage, "a share of the queries, above 0 and up to 1"))


def _inference(interval: str, adjust: str, **parts: Any) -> Inference:
    check_interval(interval)
    if adjust not in ADJUST:
        raise BiasgridError(f"adjust: {unknown_name('method', adjust, ADJUST)}")
    asked = {**significance.complete(parts), "interval": interval, "adjust": adjust}
    return validate(inference_of_tests(Inference), asked)


def _reliability(options: Any) -> ReliabilityCard | None:
    if options in (None, False):
        return None
    return validate(ReliabilityCard, {} if options is True else options, "reliability")


def _look_up(words: Mapping[str, Any]) -> Words:
    options = {name: value for name, value in words.items() if value is not None}
    WordOptions(**options)
    return Words.model_construct(**options)


def _criteria(queries: Any) -> tuple[dict[str, Criterion], dict[str, Query]]:
    """Return the criteria of a config, and the queries by id."""
    if isinstance(queries, Query):
        queries = [queries]
    by_criterion = queries if isinstance(queries, Mapping) else {QUERIES: queries}
    if not by_criterion:
        raise BiasgridError("queries: there are none; at least one query is needed")
    criteria: dict[str, Criterion] = {}
    by_id: dict[str, Query] = {}
    for criterion, part in by_criterion.items():
        where = f"queries: {criterion}" if isinstance(queries, Mapping) else "queries"
        if not isinstance(criterion, str) or not criterion.strip() or criterion == OVERALL:
            raise BiasgridError(
                f"queries: {quote(criterion)} cannot be a criterion's name; allowed: text other than {OVERALL!r}"
            )
        check_line(criterion, what="queries: a criterion's name")
        ids = _by_id(part, criterion, where, by_id)
        for key in ids:
            if key in by_id:
                raise BiasgridError(f"{where}: query id {quote(key)} occurs twice; ids are unique in a grid")
        by_id |= ids
        # The table of metrics' values per word costs nothing in memory.
        criteria[criterion] = Criterion.model_construct(queries=dict.fromkeys(ids, NO_ENTRY), word_table=True)
    return criteria, by_id


def _by_id(part: Any, criterion: str, where: str, former_queries: Mapping[str, Query]) -> dict[str, Query]:
    """Return the queries of a criterion by id: a mapping's keys, or else the queries' names."""
    if isinstance(part, Query):
        part = [part]
    if isinstance(part, str) or not isinstance(part, Iterable):
        raise BiasgridError(f"{where}: expected a list of queries, not {quote(part)}")
    queries = list(part.values() if isinstance(part, Mapping) else part)
    if not queries:
        raise BiasgridError(f"{where}: there are no queries; at least one is needed")
    for query in queries:
        if not isinstance(query, Query):
            raise BiasgridError(f"{where}: {quote(query)} is a {type(query).__name__}, not a Query")
    names = [query.name for query in queries]
    for name in names:
        if names.count(name) > 1:
            raise BiasgridError(
                f"{where}: two queries are named {quote(name)}; give them names of their own (name=)"
            )
    if isinstance(part, Mapping):
        for key in part:
            if not isinstance(key, str) or not key.strip():
                raise BiasgridError(f"{where}: {quote(key)} cannot be a query's id; allowed: text")
        return dict(part)
    return {f"{criterion}/{q.name}" if q.name in former_queries else q.name: q for q in queries}


def _metrics(metrics: Any) -> dict[str, Metric]:
    """Return the metrics of a config by key."""
    if isinstance(metrics, (str, registry.Metric)) or hasattr(metrics, "metric"):
        metrics = [metrics]
    entries = metrics.items() if isinstance(metrics, Mapping) else metrics
    if not isinstance(entries, Iterable):
        raise BiasgridError(f"metrics: expected a list of names, not {quote(metrics)}")
    by_key: dict[str, Metric] = {}
    for entry in entries:
        key, options = entry if isinstance(entry, (tuple, list)) and len(entry) == 2 else (entry, {})
        name_or_metric = getattr(key, "metric", key)  # `key` may be the metric's function
        if isinstance(name_or_metric, registry.Metric):
            registry.REGISTRY.add(name_or_metric)
        key = getattr(name_or_metric, "name", name_or_metric)
        if not isinstance(key, str) or not isinstance(options or {}, Mapping):
            raise BiasgridError(
                f"metrics: {quote(entry)}: expected a metric's name, or a name and a mapping of options"
            )
        name = dict(options or {}).pop("metric", key)
        metric = registry.metric(name)
        key = metric.name if key == name else key
        if key in by_key:
            raise BiasgridError(
                f"metrics: {quote(key)} occurs twice; give each a key: {{'first': {{'metric': {key!r}, ...}}, ...}}"
            )
        by_key[key] = _metric(metric, key, dict(options or {}))
    if not by_key:
        raise BiasgridError("metrics: there are none; at least one metric is needed")
    return by_key


def _metric(metric: registry.Metric, key: str, options: dict[str, Any]) -> Metric:
    """Return a metric's entry of a config from its options of all kinds."""
    options.pop("metric", None)
    entry: dict[str, Any] = {"metric": metric.name} if metric.name != key else {}
    if "label" in options:
        entry["label"] = check_line(str(options.pop("label")), what="metrics: a label")
    elif key != metric.name:  # figures need different labels for two entries of one metric
        entry["label"] = key
    words = {name: options.pop(name) for name in LOOK_UP if name in options and name not in metric.parameters}
    tests = {test: options.pop(test) for test in significance.REGISTRY if test in options}
    try:
        check_names(options, metric.parameters, wefe_names.MEASURING, key)
        metric.check_parameters(options, ["label", *LOOK_UP, *significance.REGISTRY])
        WordOptions(**words)
        for part, settings in tests.items():
            full = significance.complete_options(part, settings)
            tests[part] = {name: full[name] for name in settings}
    except BiasgridError as error:
        raise BiasgridError(f"metrics: {key}: {str(error).removeprefix(f'{key}: ')}") from None
    if words:
        entry["words"] = Words.model_construct(**words)
    if tests:
        entry["inference"] = validate(inference_of_tests(OwnInference), tests)
    return Metric.model_construct(**entry, params=options)


def _debias(states: Iterable[tuple[str, str]], criteria: list[str]) -> dict[str, dict[str, Debias]]:
    """Return the debias methods of a config, all of which are measured on all criteria."""
    models: dict[str, list[str]] = {}
    for model, key in states:
        models.setdefault(key, []).append(model)
    entries = {
        key: Debias.model_construct(method="", label=key, models=names, criteria=criteria, words={})
        for key, names in models.items()
    }
    return {criteria[0]: entries} if entries else {}


def _check_metrics(study: Study) -> None:
    """Raise BiasgridError if a metric cannot measure any query, or if two queries have the same name."""
    for criterion, entry in study.config.criteria.items():
        for key in metrics_of(study.config, criterion):
            template = study.metric(criterion, key).template
            queries = {key: study.queries[key] for key in entry.queries}
            suitable_queries = {key: query for key, query in queries.items() if query.fits(template)}
            check_subquery_names(suitable_queries, template, f"queries: {criterion}")
    for key, metric in study.config.metrics.items():
        for part in significance.REGISTRY if metric.inference else ():
            if getattr(metric.inference, part) and part not in study.config.inference.parts:
                raise BiasgridError(
                    f"metrics: {key}: {part}: the grid makes no {part}, so its options mean nothing; ask for it: "
                    f"{part}=True"
                )
        if not any(cell.metric == key for cell in study.grid.cells.values()):
            template = study.metric(next(iter(study.config.criteria)), key).template
            raise BiasgridError(
                f"metrics: {key}: no query has the template {template} or sub-queries that have it, or no model is "
                "of its kind"
            )
