"""`type: encoded`: what an encoder makes of the words that a study asks about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import model_validator

from ..embeddings.kinds import VECTORS, are_models
from ..embeddings.language.templates import Templates
from ..errors import BiasgridError
from ..extras import require
from ..options import Whole
from ..query import Query
from ..validation import Strict, field, to_record
from ..words import WordOptions, variant
from .common import Key, Text, one_language
from .metrics import look_up
from .names import check_names

if TYPE_CHECKING:
    from .study import StudyConfig

ENCODED = "encoded"
UNSAID = "not stated"  # the licence of what says none
# of an entry's lists, those that hold no words
NO_WORDS = ("preprocessors", "methods", "sides")


class Encoded(Strict):
    """The words of the study in the contexts of templates, as an encoder reads them."""

    type: Literal["encoded"] = field("the study's words, encoded")
    encoder: Key = field("the key of the encoder under `encoders`")
    templates: list[Text] | Text = field(
        "the sentences that each word is read in: a list of texts in which `{}` stands for the word, or the name of "
        "a file in data/templates; left out: the words as they are, such as those that are sentences",
        None,
    )
    pool: Literal["word", "sentence"] = field(
        "what becomes the word's vector, as a mean over the templates: `word`, the mean of the states of the word's "
        "own pieces; `sentence`, that of all pieces of the sentence",
        "word",
    )
    layer: Whole = field(
        "the layer whose states are taken: 0 for the embeddings of pieces, 1 for the first layer; negative from the "
        "end, -1 for the last",
        -1,
    )
    frequent: Whole = field(
        "so many of the most frequent words of the model's language (package wordfreq, by default English) beside "
        "those of the study: random groups and control words are drawn from them",
        0,
        "words",
        ge=0,
        le=100_000,
    )

    @model_validator(mode="after")
    def _read(self):
        Templates.of(self.templates)
        return self


def resolve_model(key: str, config: StudyConfig, queries: Mapping[str, Query]) -> dict[str, Any]:
    """What an encoded model of a checked config is made of: its source says all that its vectors are made of, the
    words by a digest; `encodes` lists them."""
    record, words = to_record(config.models[key]), sorted(set(_words(key, config, queries)))
    source, encoder = config.models[key].source, config.encoders[config.models[key].source.encoder]
    digest = hashlib.sha256(json.dumps(words).encode()).hexdigest()
    made_of = {
        "encoder": {"name": source.encoder, "source": encoder.source},
        "templates": Templates.of(source.templates).record(),
        "words": {"number": len(words), "sha256": digest},
    }
    licence = {"licence": encoder.licence} if record["licence"] == UNSAID else {}
    return {**record, **licence, "source": record["source"] | made_of, "sorted": False, "encodes": words}


def check_encoders(config: StudyConfig, where: str) -> None:
    """Check what encoded models need beyond their form.

    Raises
    ------
    BiasgridError
        One line that begins with `where`.
    """
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


def in_sentences(
    targets: Mapping[str, Sequence[str]], attributes: Mapping[str, Sequence[str]], templates: Any, where: str
) -> list[dict[str, list[str]]]:
    """The sets of a query's two sides with sentences in place of words: each word in each of its templates, word by
    word.

    Raises
    ------
    BiasgridError
        One line that begins with `where`.
    """
    if isinstance(templates, Mapping):
        check_names("set", templates, [*targets, *attributes], where)
        of_set = {name: Templates.of(texts, f"{where}: {name}") for name, texts in templates.items()}
    else:
        of_set = dict.fromkeys([*targets, *attributes], Templates.of(templates, where))
    as_they_are = Templates.of(None)
    return [
        {
            name: list(
                dict.fromkeys(
                    item.text for word in words for item in of_set.get(name, as_they_are).placed(word)
                )
            )
            for name, words in side.items()
        }
        for side in (targets, attributes)
    ]


def _words(key: str, config: StudyConfig, queries: Mapping[str, Query]) -> Iterator[str]:
    """The words of all that is measured on a model, fitted to it, or asked of it; each in the forms in which it is
    looked up."""
    model = config.models[key]
    for criterion, entry in config.criteria.items():
        if not one_language(entry, model):
            continue
        if are_models(model.kind or VECTORS):
            for debias in config.debias.get(criterion, {}).values():
                if key in (debias.models or [key]):
                    yield from _forms(_texts_in(debias.words), debias.params)
            evaluation = config.evaluation.get(criterion, {})
            yield from _forms(_texts_in(evaluation), evaluation)
        if key not in (entry.models or [key]):
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
            # with the metric's own options, as cells look words up, and without, as tables of frequencies do
            for own in (metric.words, None):
                yield from _forms(words, look_up(config.words, entry.words, own, model.words))


def _forms(words: Iterable[str], options: Mapping[str, Any]) -> Iterator[str]:
    """Words as they are looked up: the store has them all, so that it is the first form that is found."""
    look_up = {name: options[name] for name in ("preprocessors", "strategy") if name in options}
    word_options = WordOptions(**look_up)
    forms = word_options.preprocessors if word_options.strategy == "all" else word_options.preprocessors[:1]
    return (form for word in words for preprocessor in forms if (form := variant(word, preprocessor)))


def _texts_in(value: Any) -> list[str]:
    """The texts that are in lists, however deep."""
    if isinstance(value, Mapping):
        return [word for key, inner in value.items() if key not in NO_WORDS for word in _texts_in(inner)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        texts = [inner for inner in value if isinstance(inner, str)]
        return texts + [word for inner in value for word in _texts_in(inner)]
    return []
