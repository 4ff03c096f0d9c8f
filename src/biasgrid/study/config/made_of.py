"""The inputs of a study's models: a corpus, or the words that the study asks about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...core.errors import BiasgridError, InputError
from ...core.extras import require
from ...core.validation import to_record
from ...models.corpus.formats import DEFAULT
from ...models.kinds import REGISTRY as KINDS
from ...models.kinds import VECTORS, are_models
from ...models.language.formats import ANSWERS, SENTENCE_TRANSFORMERS
from ...models.language.opening import refuse_options
from ...models.language.templates import Templates
from ...models.preprocessing import variant
from ...models.words import WordOptions
from ...queries.query import Query
from .common import one_language
from .encoded import UNSAID, Encoded
from .metrics import look_up
from .models import ShuffledCorpus, Trained, is_text
from .names import check_names
from .study import StudyConfig

# Keys of an entry's lists that do not contain words.
NO_WORDS = ("preprocessors", "methods", "sides")
# Type of an encoder's source -> its allowed options of the computation; other types allow all.
OPTIONS: dict[str, tuple[str, ...]] = {ANSWERS: (), SENTENCE_TRANSFORMERS: ("device",)}


def resolve_model(key: str, config: StudyConfig, queries: Mapping[str, Query]) -> dict[str, Any]:
    """Return the entry of a model of a checked config, with all of its inputs, for `models.building`.

    If a model is made here from a corpus, its source includes the corpus' name and source, and the format of
    its sentences. If they are shuffled, it also includes the seed of their order. A shuffled corpus has the
    format and the window of its original. The source of an encoded model has a digest of its words, which are
    listed in `encodes`.
    """
    model, models = config.models[key], config.models
    source, record = model.source, to_record(model)
    if isinstance(source, Encoded):
        return _resolve_encoded(key, config, queries)
    if not isinstance(source, Trained | ShuffledCorpus):
        return record
    name = source.corpus
    corpus: dict[str, Any] = {}
    if name in models and isinstance(models[name].source, ShuffledCorpus):
        corpus["shuffle"] = models[name].source.seed
        name = models[name].source.corpus
    corpus_model = models.get(name)
    corpus |= {"name": name, "source": to_record((corpus_model or config.corpora[name]).source)}
    format_options = {}
    if corpus_model:
        options = {key: getattr(corpus_model, key) for key in ("format", *corpus_model.of_kind.keys)}
        format_options = {key: value for key, value in options.items() if value is not None}
    if isinstance(source, ShuffledCorpus):
        return {**record, **format_options, "source": {**record["source"], "corpus": corpus}}
    # Train on a running text as on any corpus, and on other texts by their sentences.
    if corpus_model and not ("window" in format_options and format_options.get("format") == "tokens"):
        corpus["format"] = format_options.get("format", DEFAULT)
    made_of: dict[str, Any] = {"corpus": corpus}
    if name := source.start:
        made_of["start"] = {"name": name, "source": config.encoders[name].source}
    return {**record, "source": {**record["source"], **made_of}}


def _resolve_encoded(key: str, config: StudyConfig, queries: Mapping[str, Query]) -> dict[str, Any]:
    record, words = to_record(config.models[key]), sorted(set(_words(key, config, queries)))
    source = config.models[key].source
    encoder = config.encoders[source.encoder]
    digest = hashlib.sha256(json.dumps(words).encode()).hexdigest()
    made_of = {
        "encoder": {"name": source.encoder, "source": encoder.source},
        "templates": Templates.of(source.templates).record(),
        "words": {"number": len(words), "sha256": digest},
    }
    licence = {"licence": encoder.licence} if record["licence"] == UNSAID else {}
    return {**record, **licence, "source": record["source"] | made_of, "sorted": False, "encodes": words}


def check_corpora(config: StudyConfig, where: str) -> None:
    """Check that the corpora and encoders of the models exist.

    Raises
    ------
    BiasgridError
        One line that begins with `where`.
    """
    texts = [key for key, model in config.models.items() if is_text(model)]
    in_order = [key for key in texts if not isinstance(config.models[key].source, ShuffledCorpus)]
    _check_encoders(config, where)
    for key, model in config.models.items():
        source, place = model.source, f"{where}: models: {key}: source"
        for part in ("encoder", "start"):
            if encoder := getattr(source, part, None):
                check_names("encoder", [encoder], config.encoders or {}, place)
        if isinstance(source, Encoded):
            _check_options(source, config.encoders[source.encoder].source["type"], place)
        elif isinstance(source, Trained):
            check_names("corpus", [source.corpus], [*config.corpora, *texts], place)
        elif isinstance(source, ShuffledCorpus):
            check_names("corpus", [source.corpus], in_order, place)


def _check_options(source: Encoded, encoder_type: str, where: str) -> None:
    allowed = OPTIONS.get(encoder_type, source.options)
    try:
        refuse_options(source.options, f"an encoder of type {encoder_type}", allowed)
    except InputError as error:
        raise BiasgridError(f"{where}: {error}") from None


def _check_encoders(config: StudyConfig, where: str) -> None:
    for key, model in config.models.items():
        source = model.source
        if not isinstance(source, Encoded):
            continue
        if source.frequent:
            require("wordfreq", f"{where}: models: {key}: source: frequent")
        if not are_models(model.kind or VECTORS):
            try:
                Templates.of(source.templates).contexts  # noqa: B018
            except BiasgridError as error:
                raise BiasgridError(f"{where}: models: {key}: source: {error}") from None


def _words(key: str, config: StudyConfig, queries: Mapping[str, Query]) -> Iterator[str]:
    """Yield the words measured or evaluated on a model, or used to debias it, in the forms that are looked
    up."""
    model = config.models[key]
    for criterion, entry in config.criteria.items():
        if not one_language(entry, model):
            continue
        if are_models(model.kind or VECTORS):
            for debias in config.debias.get(criterion, {}).values():
                if debias.models is None or key in debias.models:
                    yield from _forms(_texts_in(debias.words), debias.params)
            evaluation = config.evaluation.get(criterion, {})
            yield from _forms(_texts_in(evaluation), evaluation)
        if entry.models is not None and key not in entry.models:
            continue
        for name, metric in (entry.metrics or config.metrics).items():
            definition = metric.definition(name)
            if definition.needs != (model.kind or VECTORS):
                continue
            words = [
                word
                for query in map(queries.__getitem__, entry.queries)
                if query.fits(definition.template)
                for word_set in (*query.target_sets, *query.attribute_sets)
                for word in word_set.words
            ]
            # Scores look words up with the metric's own options, and tables of frequencies without.
            for own in (metric.words, None):
                places = (config.words, entry.words, own, model.words)
                yield from _forms(words, look_up(KINDS[definition.needs], *places))


def _forms(words: Iterable[str], options: Mapping[str, Any]) -> Iterator[str]:
    """Return words in the forms that are looked up; the store has them all, so the first form is always found."""
    word_options = WordOptions(**{k: options[k] for k in ("preprocessors", "strategy") if k in options})
    forms = word_options.preprocessors if word_options.strategy == "all" else word_options.preprocessors[:1]
    return (form for word in words for preprocessor in forms if (form := variant(word, preprocessor)))


def _texts_in(value: Any) -> list[str]:
    """Return the texts in lists, at any depth."""
    if isinstance(value, Mapping):
        return [word for key, inner in value.items() if key not in NO_WORDS for word in _texts_in(inner)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        texts = [inner for inner in value if isinstance(inner, str)]
        return texts + [word for inner in value for word in _texts_in(inner)]
    return []
