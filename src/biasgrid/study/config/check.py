"""Checks of a study's config beyond the type of each value, such as that names exist and labels are unique."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ... import debias, metrics
from ...core.errors import BiasgridError, join_names, quote, unknown_name
from ...core.extras import require
from ...core.files import slug
from ...core.registry import UnknownEntryError, is_pending
from ...core.resources import find_file
from ...core.validation import to_record
from ...debias import UNTOUCHED
from ...evaluation.spec import Spec, files_of
from ...measure import significance
from ...models.frequencies import WORDFREQ
from ...models.language.formats import SCORES
from ...models.language.model import TOKENS
from ...queries.query import Query
from ...tables.planned import QUALITY
from .common import one_language
from .made_of import check_corpora
from .metrics import Metric
from .models import Model
from .names import check_names
from .query_names import check_subquery_names
from .study import StudyConfig


def check(config: StudyConfig, queries: Mapping[str, Query], where: str) -> None:
    """Check a complete config of a study.

    Parameters
    ----------
    config, queries
        The results of `load.study`.
    where
        The beginning of messages.

    Raises
    ------
    BiasgridError
        One line that names the wrong key and the allowed values.
    """
    _check_names(config, where)
    _check_debias(config, where)
    _check_evaluations(config, where)
    _check_files(config, where)
    if config.frequencies == WORDFREQ:
        require("wordfreq", f"{where}: frequencies: wordfreq")
    check_corpora(config, where)
    check_names("model", config.beside, config.models, f"{where}: beside")
    for key, published in config.beside.items():
        names = {key, config.models[key].published_as or key}
        for name in names.intersection([published] if isinstance(published, str) else published):
            raise BiasgridError(
                f"{where}: beside: {key}: {quote(name)} are the model's own numbers, which are judged; "
                "name a model of other vectors"
            )
    _check_languages(config, where)
    for criterion, entry in config.criteria.items():
        criterion_queries = {key: queries[key] for key in entry.queries}
        for concept, lists in (entry.seed_lists or {}).items():
            _check_seed_lists(lists, entry.queries, queries, f"{where}: {criterion}: seed_lists: {concept}")
        _check_kinds(config, criterion, where)
        for key, metric in metrics_of(config, criterion).items():
            _check_metric(key, metric, criterion, criterion_queries, where)
            own = metric.inference
            for part in significance.REGISTRY if own and config.inference.parts else ():
                if getattr(own, part, None) is not None and part not in config.inference.parts:
                    raise BiasgridError(
                        f"{where}: metrics: {key}: inference: {part}: the study's inference has no {part}; add it or "
                        "leave this out"
                    )


def metrics_of(config: StudyConfig, criterion: str) -> dict[str, Metric]:
    """Return the metrics of a criterion by key: its own if it has any, or else the study's."""
    return config.criteria[criterion].metrics or config.metrics


def _check_kinds(config: StudyConfig, criterion: str, where: str) -> None:
    """Check that at least one of a criterion's metrics can be measured on at least one of its models."""
    entry, models = config.criteria[criterion], config.models
    keys = [key for key in entry.models or models if one_language(entry, models[key])]
    criterion_metrics = metrics_of(config, criterion)
    # `_check_metric` reports an unknown metric.
    if is_pending():
        return
    kinds = {models[key].of_kind.name for key in keys}
    needs = {
        m.needs
        for key, metric in criterion_metrics.items()
        if (m := metrics.REGISTRY.get(metric.metric or key))
    }
    if needs and not kinds & needs:
        raise BiasgridError(
            f"{where}: {criterion}: its metrics need models of kind {join_names(sorted(needs))}, and its models are "
            f"of kind {join_names(sorted(kinds))} (biasgrid list metrics)"
        )
    for key, metric in criterion_metrics.items():
        per_token = (metric.params or {}).get("normalize") == TOKENS
        if per_token and (tables := [model for model in keys if _is_table_of_scores(models[model])]):
            raise BiasgridError(
                f"{where}: {criterion}: metrics: {key}: normalize: {TOKENS}: {tables[0]} is a table of scores, which "
                "does not say how many tokens a sentence has; leave normalize out, or the model"
            )


def _is_table_of_scores(model: Model) -> bool:
    """Return whether a model is a table of scores, according to its format or its existing file."""
    if model.format or not model.of_kind.scores:
        return model.format == SCORES
    if not isinstance(model.source, Mapping) or model.source["type"] != "file":
        return False
    try:
        return model.of_kind.check_file(find_file(Path(model.source["path"]).expanduser())) == SCORES
    except (BiasgridError, OSError):
        return False  # a dry run and the model's step report the problem with the file


def _check_seed_lists(
    lists: Mapping[str, str], query_ids: Iterable[str], queries: Mapping[str, Query], where: str
) -> None:
    """Check that word lists for one concept are in queries with the same question."""
    check_names("query", lists.values(), query_ids, where)
    first, *rest = lists
    for name in rest:
        if list(lists.values()).count(lists[name]) > 1:
            raise BiasgridError(f"{where}: {quote(lists[name])} occurs twice; every list needs its own query")
        if queries[lists[name]].template != queries[lists[first]].template:
            raise BiasgridError(
                f"{where}: {quote(lists[name])} has template {queries[lists[name]].template}, "
                f"{quote(lists[first])} {queries[lists[first]].template}; they must ask the same"
            )


def _check_languages(config: StudyConfig, where: str) -> None:
    """Check that models and criteria have counterparts in their language, and that a criterion's models match
    it."""
    models, criteria = config.models, config.criteria
    for criterion, entry in criteria.items():
        check_names("model", entry.models or [], models, f"{where}: {criterion}: models")
        for key in entry.models or []:
            if not one_language(entry, models[key]):
                languages = f"({models[key].language}) than the criterion ({entry.language})"
                raise BiasgridError(
                    f"{where}: {criterion}: models: {key} is in a different language {languages}"
                )
        if not any(one_language(entry, model) for model in models.values()):
            raise BiasgridError(f"{where}: {criterion}: language: no model is in {entry.language!r}")
    for key, model in models.items():
        if not any(one_language(entry, model) for entry in criteria.values()):
            raise BiasgridError(f"{where}: models: {key}: language: no criterion is in {model.language!r}")


def _check_names(config: StudyConfig, where: str) -> None:
    """Check that no two names share a file, a label or a column of a table."""
    models, criteria = config.models, config.criteria
    slugs = [slug(criterion) for criterion in criteria]
    for criterion in criteria:
        if slugs.count(slug(criterion)) > 1:
            raise BiasgridError(f"{where}: {criterion}: two criteria would share a figure's file name")
    names_in_use = {*models, "gensim", "raw"}
    for part in ("benchmarks", "corpora", "encoders"):
        for key in getattr(config, part) or ():
            if key in names_in_use:
                raise BiasgridError(f"{where}: {part}: {key}: this name is taken; give it a different name")
            names_in_use.add(key)
    labels = [model.label for model in models.values()]
    for key, model in models.items():
        if key == "raw":
            raise BiasgridError(
                f"{where}: models: 'raw' is the archives' folder; give the model a different name"
            )
        if labels.count(model.label) > 1:
            raise BiasgridError(f"{where}: models: {key}: another model has the label {quote(model.label)}")
    by_key: dict[str, Metric] = {}
    for criterion in (name for name, entry in criteria.items() if entry.ranked):
        for key, metric in metrics_of(config, criterion).items():
            if by_key.setdefault(key, metric) != metric:
                raise BiasgridError(
                    f"{where}: {criterion}: metrics: {key}: is a different metric, or has different parameters, in a "
                    "second ranked criterion; give them different names"
                )


def _check_debias(config: StudyConfig, where: str) -> None:
    models, criteria = config.models, config.criteria
    keys = [key for entries in config.debias.values() for key in entries]
    labels: dict[str, str] = {}
    for criterion, entries in config.debias.items():
        check_names("criterion", [criterion], criteria, f"{where}: debias")
        for key, entry in entries.items():
            place = f"{where}: debias: {criterion}: {key}"
            if key == UNTOUCHED or keys.count(key) > 1 or key in models:
                reason = "stands for the original model" if key == UNTOUCHED else "occurs twice"
                raise BiasgridError(f"{place}: this key {reason}; give it a different name")
            check_names("criterion", entry.criteria or [], criteria, f"{place}: criteria")
            check_names("model", entry.models or [], models, f"{place}: models")
            check_names("model", entry.published_as, entry.models or models, f"{place}: published_as")
            try:
                method = debias.method(entry.method)
                method.check_words(entry.words)
                method.check_parameters(entry.params)
            except BiasgridError as error:
                if isinstance(error, UnknownEntryError) and is_pending():
                    continue
                raise BiasgridError(f"{place}: {error}") from None
            label = entry.label or method.label
            if label in labels:
                raise BiasgridError(
                    f"{place}: {labels[label]} has the label {quote(label)} as well; change one of the labels"
                )
            labels[label] = key


def _check_evaluations(config: StudyConfig, where: str) -> None:
    quality = to_record(config.quality)
    check_names("criterion", config.evaluation, config.criteria, f"{where}: evaluation")
    for criterion in config.evaluation:
        if quality and slug(criterion) == QUALITY:
            raise BiasgridError(
                f"{where}: evaluation: {criterion}: this name is reserved for the evaluations of `quality`; name the "
                "criterion otherwise"
            )
    if quality and not quality["similarity"] and not quality["analogies"]:
        raise BiasgridError(f"{where}: quality: names no benchmark under similarity or analogies")
    for place, entry in _evaluation_entries(config, where):
        try:
            Spec.of(entry)
        except BiasgridError as error:
            raise BiasgridError(f"{place}: {error}") from None


def _check_files(config: StudyConfig, where: str) -> None:
    """Check that the files of benchmarks exist, as far as this is known before anything is fetched."""
    archives = config.benchmarks
    for place, entry in _evaluation_entries(config, where):
        for path in map(str, files_of(Spec.of(entry))):
            archive, colon, file = path.partition(":")
            if archive == "gensim" and colon and not _gensim_ships(file, f"{place}: {quote(path)}"):
                raise BiasgridError(f"{place}: {quote(path)}: gensim does not include this file")
            source = archives[archive].source if archive in archives else {}
            members = [Path(member).name for member in source.get("members", [])]
            if members and file not in members:
                raise BiasgridError(
                    f"{place}: {quote(path)}: {unknown_name(f'file of {archive}', file, members)}"
                )
            if colon and not source and archive != "gensim" and not find_file(path).exists():
                raise BiasgridError(
                    f"{place}: {quote(path)}: {unknown_name('archive', archive, ['gensim', *archives])}"
                )


def _gensim_ships(file: str, what: str) -> bool:
    require("gensim", what)
    # gensim is not imported, as that takes a second.
    return (Path(find_spec("gensim").origin).parent / "test" / "test_data" / file).is_file()  # type: ignore[union-attr, arg-type]


def _evaluation_entries(config: StudyConfig, where: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the evaluations, each with its place in the config."""
    for criterion, entry in config.evaluation.items():
        yield f"{where}: evaluation: {criterion}", entry
    if quality := to_record(config.quality):
        yield f"{where}: quality", quality


def _check_metric(
    key: str, entry: Metric, criterion: str, queries: Mapping[str, Query], config_name: str
) -> None:
    where = f"{config_name}: metrics: {key}"
    try:
        metric = entry.definition(key)
    except BiasgridError as error:
        if isinstance(error, UnknownEntryError) and is_pending():
            return
        raise BiasgridError(f"{where}: {error}") from None
    suitable_queries = {key: query for key, query in queries.items() if query.fits(metric.template)}
    if not suitable_queries:
        raise BiasgridError(
            f"{where}: no query of {quote(criterion)} has the template {metric.template} or sub-queries that have it"
        )
    check_subquery_names(suitable_queries, metric.template, f"{config_name}: {criterion}")
