"""Scores of sentences for metrics of language models: one file per model and query, or per file of sentences.

Scoring is the expensive part. Metrics are cheap functions of the scores: a metric without new sentences needs no
scoring.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BiasgridError
from ..core.files import write_text
from ..core.schema import dumps, with_version
from ..core.versions import versions
from ..models.language.blocks import computed_beside, in_saved_blocks
from ..models.language.formats import ANSWERS, SCORES
from ..models.language.model import KIND, MEASURED, LanguageModel
from ..models.language.scores import Scored, Scores, entries
from ..models.language.sentence import Sentence
from ..queries.query import Query
from .cell import model_of, query_of
from .measurement_spec import MeasurementSpec
from .metric_input import look_up

# Raise this number when scores change: all sentences are scored again. A code digest would do so after every edit.
SCORES_VERSION = 3
# Facts about a model's folder that are stored with its scores.
FACTS = ("masked", MEASURED, "answered_by", "perplexity", "masked_accuracy", "held_out", "licence")


class Recorder:
    """Recorder of the sentences that metrics request from a language model, with 0 as their scores.

    It also records the texts in which metrics look for tokens unknown to the tokenizer.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.sentences: dict[Sentence, None] = {}
        self.texts: dict[str, None] = {}

    def score(self, sentences: Sequence[Sentence], *, normalize: str | None = None) -> NDArray[np.float64]:
        self.sentences |= dict.fromkeys(sentences)
        return np.zeros(len(sentences))

    def why_unscored(self, sentences: Sequence[Sentence]) -> dict[Sentence, str]:
        # The reasons are known when the sentences are scored.
        return {}

    def unknown(self, texts: Sequence[str]) -> dict[str, list[str]]:
        self.texts |= dict.fromkeys(texts)
        return {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


def write(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> dict[str, int]:
    """Score the sentences that cells request from a language model, and write the file that they open in its place.

    Scores of the same model in the former file are kept: an edited query costs only its new sentences.

    Parameters
    ----------
    inputs
        "queries": their files; "model": the record of the model's folder; "store": a `StoreOf`.
    spec
        "model": its key. "sentences": the task's name. "asked": for each kind of cell the "query", its number among
        the files, the metric ("function"), its "params", and "words", see `WordOptions`.

    Returns
    -------
    dict
        Number of "sentences", and number of sentences "scored" now.
    """
    model: Any = model_of(inputs["store"])
    queries = list(map(query_of, inputs["queries"]))
    model_digest = hashlib.sha256(inputs["model"].read_bytes()).hexdigest()
    sentences, texts = sentences_of(model, queries, spec["asked"])
    facts = {
        "name": model.name,
        "kind": KIND,
        "format": SCORES,
        "model": spec["model"],
        "sentences": spec["sentences"],
        "made_of": model_digest,
        "version": SCORES_VERSION,
        **{fact: model.metadata[fact] for fact in FACTS if fact in model.metadata},
        # Record the versions of the scoring network here; cells record all others.
        "versions": {} if model.metadata["format"] in (ANSWERS, SCORES) else _of_network(),
    }
    # Read the scores of an earlier run that was stopped.
    partial_file = output.with_name(f".{output.name}.unfinished")
    former = [f for path in (output, partial_file) if (f := _read_former(path, model_digest))]
    former_scores = {sentence: scored for f in former for sentence, scored in f.items()}
    scores = {sentence: former_scores[sentence] for sentence in sentences if sentence in former_scores}
    missing = [sentence for sentence in sentences if sentence not in former_scores]
    if missing:
        facts["unknown"] = model.unknown(texts)
    else:
        # Without new requests, the network is not loaded.
        facts["unknown"] = {text: parts for f in former for text in texts if (parts := f.unknown(text))}
    # Sentences of similar length form a batch, and a block has whole batches.
    missing.sort(key=lambda sentence: len(sentence.text), reverse=True)
    of_former: dict[str, Any] = {}
    for f in former if scores else []:
        if isinstance(computed := f.facts.get("computed"), dict) and computed:
            of_former = computed_beside(of_former, computed)
    if of_former:
        facts["computed"] = of_former
    for block in in_saved_blocks(missing, model.name, lambda: _save(partial_file, facts, scores)):
        scores.update(_score(model, block))
        if hasattr(model.network, "computed"):
            facts["computed"] = computed_beside(of_former, model.network.computed)
    _save(output, facts, scores)
    partial_file.unlink(missing_ok=True)
    return {"sentences": len(scores), "scored": len(missing)}


def _of_network() -> dict[str, str]:
    names = ("torch", "transformers")
    return {name: number for name, number in versions(*names).items() if name in names}


def _score(model: LanguageModel, sentences: Sequence[Sentence]) -> dict[Sentence, Scored]:
    """Return the score of each sentence, with the number of its tokens if the model reports it."""
    scores = dict(zip(sentences, model.score(sentences).tolist(), strict=True))
    unscored = [sentence for sentence, score in scores.items() if not math.isfinite(score)]
    why = model.why_unscored(unscored) if unscored else {}
    count = getattr(model.network, "token_count", lambda sentence: None)
    return {
        sentence: Scored(score, why.get(sentence, ""), None if sentence in why else count(sentence))
        for sentence, score in scores.items()
    }


def _save(path: Path, facts: Mapping[str, Any], scores: Mapping[Sentence, Scored]) -> None:
    record = with_version({**facts, "scores": entries(scores)})
    write_text(path, dumps(record, separators=(",", ":")) + "\n")


def sentences_of(
    model: LanguageModel, queries: Sequence[Query], requests: Sequence[Mapping[str, Any]]
) -> tuple[list[Sentence], list[str]]:
    """Return the sentences that metrics request from a language model, once each, in the order of requests.

    Return also the texts in which metrics look for tokens unknown to the tokenizer.

    Parameters
    ----------
    requests
        "asked" of `write`.
    """
    recorder = Recorder(model)
    found: dict[str, None] = {}
    for entry in requests:
        for sample in look_up(MeasurementSpec.of_cell(entry), queries[entry["query"]], recorder):
            if sample.status == "ok":
                sample.ask_model(sample.targets, sample.attributes)
            found |= dict.fromkeys(key for s in sample.found.values() for key in s.keys)
    if model.metadata.get(MEASURED):
        # Otherwise, a reader of the file would also treat the partners of an unscored sentence as unscored.
        asked = {sentence.text for sentence in recorder.sentences}
        recorder.sentences |= dict.fromkeys(Sentence(text) for text in found if text not in asked)
    return list(recorder.sentences), list(recorder.texts)


def _read_former(path: Path, model_digest: str) -> Scores | None:
    """Return the scores of a former file; None if it is missing or incomplete, or of another model or version."""
    with suppress(BiasgridError):
        former = Scores(path)
        if (former.facts.get("made_of"), former.facts.get("version")) == (model_digest, SCORES_VERSION):
            return former
    return None
