"""Prompts of a study for models behind an API or on another machine: sources of type `answers`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..measure import sentence_scores
from ..models.language import encoding
from ..models.language.answers import TextRequest, of_sentence, of_word
from ..models.language.formats import ANSWERS
from ..models.language.model import LanguageModel
from ..models.language.templates import Templates
from .steps import cells_by_sentences, sentence_scores_step
from .study import Study


def answer_files(study: Study) -> dict[str, Path]:
    """Return the file of answers of each language model and encoder with a source of type `answers`, by key."""
    sources = {name: entry["source"] for name, entry in study.sources.items()}
    return {
        name: Path(source["path"]).expanduser()
        for name, source in sources.items()
        if source["type"] == ANSWERS
    }


def requests(study: Study, name: str) -> dict[str, TextRequest]:
    """Return the requests of a study to a language model or an encoder, by the requests' keys."""
    of_name = _of_language_model(study, name) if name in study.models else _of_encoder(study, name)
    return {request["key"]: request for request in of_name}


def _of_language_model(study: Study, name: str) -> Iterator[TextRequest]:
    masked = study.models[name]["source"].get("masked", False)
    model = LanguageModel(Path(), name, {"name": name, "format": ANSWERS, "masked": masked})
    for (of_model, sentences), cells in cells_by_sentences(study).items():
        if of_model == name:
            asked = sentence_scores_step(study, name, sentences).spec["asked"]
            queries = [study.queries[query] for query in dict.fromkeys(cell.query for cell in cells)]
            sentences_asked, _ = sentence_scores.sentences_of(model, queries, asked)
            for sentence in filter(model.takes, sentences_asked):
                yield of_sentence(sentence, masked)


def _of_encoder(study: Study, name: str) -> Iterator[TextRequest]:
    for model in study.models.values():
        source = model["source"]
        if source["type"] == "encoded" and source["encoder"]["name"] == name:
            templates = Templates.of(source["templates"])
            for word in encoding.words_of(model):
                for placed in templates.placed(word):
                    yield of_word(placed, source["pool"], source["layer"])
