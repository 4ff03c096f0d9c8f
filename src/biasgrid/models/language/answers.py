"""Requests for models that run elsewhere, behind an API or on another machine, and their answers.

Both are JSON, one object per line. A request has a key, the sha256 of its other fields, so it is the same in
every study that needs it. An answer has that key and a value.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.configs import canonical, without_duplicates
from ...core.errors import BiasgridError, quote
from ...core.files import open_to_write
from .sentence import Sentence, check_log_likelihood, check_text
from .templates import PlacedWord

FILE = "answers.jsonl"  # in a language model's folder
HEADER, FORM = "biasgrid_texts", 1
VECTOR, LOG_LIKELIHOOD, CONTINUATION = "vector", "log_likelihood", "continuation"
# Names of fields in other tools.
OTHER_NAMES = {"key": "id", "prefix": "context", "text": "continuation"}
NOTES = ("tokens", "model")  # further fields that an answer may have and that are kept
HOW = (
    "biasgrid score --study CONFIG --export > texts.jsonl writes what the study asks, and "
    "biasgrid score --study CONFIG --import answers.jsonl puts the answers in place"
)

TextRequest = dict[str, Any]


class Answer(NamedTuple):
    """A log-likelihood, or a vector as float64 (dimensions,), and the `NOTES` on it."""

    value: float | NDArray[np.float64]
    notes: Mapping[str, Any]


# Requests.


def of_sentence(sentence: Sentence, masked: bool) -> TextRequest:
    """Return the request to a masked or a causal model for the score of a sentence."""
    if sentence.part and not masked:
        prefix, text = sentence.continuation
        return _request(CONTINUATION, text, prefix=prefix)
    options: dict[str, Any] = {"masked": True} if masked else {}
    if sentence.part:
        options["part"] = list(sentence.part)
    options |= {name: value for name in ("l2r", "in_turn", "after") if (value := getattr(sentence, name))}
    hidden = list(sentence.hidden) if sentence.hidden else None
    return _request(LOG_LIKELIHOOD, sentence.text, beside=sentence.beside, hidden=hidden, options=options)


def of_word(word: PlacedWord, pool: str, layer: int) -> TextRequest:
    """Return the request to an encoder for the vector of a word in its sentence, or of the sentence."""
    options: dict[str, Any] = {"layer": layer} if layer != -1 else {}
    if pool == "word":
        options["word"] = [word.start, word.end]
    return _request(VECTOR, word.text, options=options)


def _request(
    kind: str,
    text: str,
    prefix: str = "",
    beside: str = "",
    hidden: list[int] | None = None,
    options: Mapping[str, Any] | None = None,
) -> TextRequest:
    content: TextRequest = {
        "kind": kind,
        "text": text,
        "prefix": prefix,
        "beside": beside,
        "hidden": hidden,
    }
    content["options"] = options or {}
    return {"key": hashlib.sha256(canonical(content).encode()).hexdigest(), **content}


def needs_pieces(request: TextRequest) -> bool:
    """Return whether a request needs access to a model's tokens, which an API for texts does not give."""
    return bool(request["beside"] or request["hidden"] or request["options"].keys() - {"masked"})


def header(study: str, asked: Mapping[str, TextRequest], count: int) -> dict[str, Any]:
    """Return the first line of a file with `count` of the requests of a study, given by key."""
    return {HEADER: FORM, "study": study, "digest": _digest(asked), "count": count}


def _digest(asked: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(asked)).encode()).hexdigest()


# Answers.


def read(path: Path, asked: Mapping[str, TextRequest] | None = None) -> dict[str, Answer]:
    """Read the answers in a file, by key.

    Parameters
    ----------
    path
        The file; its first line may be the header of the requests.
    asked
        The requests that they answer, by key; None for answers that are in place.

    Raises
    ------
    BiasgridError
        One line with file, line and key. It reports invalid JSON, a missing or wrong value, an unknown or
        repeated key, a number that is not finite, or a positive log-likelihood. It also reports vectors of
        unequal lengths and another study's header.
    """
    answers: dict[str, Answer] = {}
    dimensions = 0
    for where, record in _records(path):
        if HEADER in record and not answers:
            _check_header(record, asked, where)
            continue
        key = _field(record, "key")
        if not isinstance(key, str):
            raise BiasgridError(f"{where}: has no key")
        where = f"{where}: key {key[:64]}"
        if key in answers:
            raise BiasgridError(f"{where}: a former line has this key")
        if asked is not None:
            if key not in asked:
                raise BiasgridError(f"{where}: unknown key: the study does not ask this")
            _check_request(record, asked[key], where)
        value = record.get("value")
        is_vector = asked[key]["kind"] == VECTOR if asked is not None else isinstance(value, list)
        answer = Answer(
            _vector(value, where) if is_vector else _likelihood(value, where), _notes(record, where)
        )
        if isinstance(answer.value, np.ndarray):
            dimensions = dimensions or len(answer.value)
            if len(answer.value) != dimensions:
                raise BiasgridError(
                    f"{where}: value: has {len(answer.value)} numbers, and the first vector {dimensions}"
                )
        answers[key] = answer
    return answers


def write(path: Path, answers: Mapping[str, Answer]) -> None:
    """Write answers to a file, completely or not at all, sorted by key."""
    with open_to_write(path) as file:
        for key in sorted(answers):
            value, notes = answers[key]
            number = value.tolist() if isinstance(value, np.ndarray) else value
            file.write(json.dumps({"key": key, "value": number, **notes}).encode() + b"\n")


def put_in_place(path: Path, former: Path, asked: Mapping[str, TextRequest]) -> int:
    """Write the answers in a file to their place, `former`, together with existing answers to the other requests.

    Return the number of answers in the file.

    Raises
    ------
    BiasgridError
        See `read`; also if a request does not have an answer. Nothing is written then.
    """
    new = read(path, asked)
    known = (read(former) if former.is_file() else {}) | new
    if missing := [key for key in asked if key not in known]:
        raise BiasgridError(
            f"{path}: missing key {missing[0]} ({quote(asked[missing[0]]['text'])}); of {len(asked)} texts "
            f"{len(missing)} have no answer"
        )
    answers = {key: known[key] for key in asked}
    lengths = {len(answer.value) for answer in answers.values() if isinstance(answer.value, np.ndarray)}
    if len(lengths) > 1:
        raise BiasgridError(
            f"{path}: value: its vectors have another length than those in {former}, which they complete: delete "
            "that file to ask all texts again"
        )
    write(former, answers)
    return len(new)


class Answers:
    """The answers in a file, or in the folder of a language model, as scores of sentences or as vectors.

    Raises
    ------
    BiasgridError
        The file is not complete.
    """

    def __init__(self, path: Path, metadata: Mapping[str, Any]) -> None:
        self.path = path / FILE if path.is_dir() else path
        self.masked = bool(metadata.get("masked"))
        self._answers = read(self.path)

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """Return the score of each sentence (sentences,). Raise BiasgridError if an answer is missing."""
        return np.array(self._values([of_sentence(s, self.masked) for s in sentences]), dtype=np.float64)

    def encode(self, sentences: Sequence[PlacedWord], pool: str, layer: int) -> NDArray[np.float64]:
        """Return the vector of each word in its sentence (sentences, dimensions). Raise errors like `score`."""
        return np.array(self._values([of_word(word, pool, layer) for word in sentences]), dtype=np.float64)

    def _values(self, requests: Sequence[TextRequest]) -> list[float | NDArray[np.float64]]:
        values = []
        for request in requests:
            answer = self._answers.get(request["key"])
            # A file that was not imported may have a number in place of a vector.
            if answer is None or isinstance(answer.value, np.ndarray) != (request["kind"] == VECTOR):
                raise BiasgridError(f"{self.path}: has no answer to {quote(request['text'])}: {HOW}")
            values.append(answer.value)
        return values


def answered_by(path: Path) -> list[str]:
    """Return the models that the answers in a file name. Raise BiasgridError for an empty or incomplete file."""
    answers = read(path)
    if not answers:
        raise BiasgridError(f"{path}: has no answers")
    return sorted({answer.notes["model"] for answer in answers.values() if "model" in answer.notes})


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the position and the contents of each line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            where = f"{path}: line {number}"
            if not line.strip():
                continue
            try:
                record = json.loads(
                    line.decode("utf-8-sig" if number == 1 else "utf-8"),
                    object_pairs_hook=without_duplicates,
                    parse_constant=_refuse_constant,
                )
            except (ValueError, RecursionError) as error:
                raise BiasgridError(f"{where}: no JSON: {error!s:.100}") from None
            if not isinstance(record, dict):
                raise BiasgridError(f"{where}: no JSON object, but {quote(record)}")
            yield where, record


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not finite")


def _field(record: Mapping[str, Any], name: str) -> Any:
    return record.get(name, record.get(OTHER_NAMES.get(name, name)))


def _check_header(record: Mapping[str, Any], asked: Mapping[str, TextRequest] | None, where: str) -> None:
    if record[HEADER] != FORM:
        raise BiasgridError(f"{where}: {HEADER}: {quote(record[HEADER])} is not allowed; allowed: {FORM}")
    if asked is not None and record.get("digest") != _digest(asked):
        raise BiasgridError(
            f"{where}: digest: another study's texts ({quote(record.get('study'))}), or this one asks others now: "
            "write them again"
        )


def _check_request(record: Mapping[str, Any], request: TextRequest, where: str) -> None:
    """Check that fields of an answer that repeat its request are equal to the request's."""
    for name in request.keys() - {"key"}:
        given = _field(record, name)
        if given is not None and given != request[name]:
            raise BiasgridError(f"{where}: {name}: {quote(given)}, and the study asks {quote(request[name])}")


def _vector(value: Any, where: str) -> NDArray[np.float64]:
    if not isinstance(value, list) or not value or not all(map(_is_number, value)):
        raise BiasgridError(f"{where}: value: {quote(value)} is no vector: a list of numbers")
    try:
        vector = np.array(value, dtype=np.float64)
    except OverflowError:
        vector = np.array([math.inf])
    if not np.isfinite(vector).all():
        raise BiasgridError(f"{where}: value: not finite")
    return vector


def _likelihood(value: Any, where: str) -> float:
    if not _is_number(value):
        raise BiasgridError(f"{where}: value: {quote(value)} is no number")
    if isinstance(value, float) and not math.isfinite(value):
        raise BiasgridError(f"{where}: value: not finite")
    try:
        return check_log_likelihood(float(value), f"{where}: value")
    except OverflowError:
        raise BiasgridError(f"{where}: value: not finite") from None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _notes(record: Mapping[str, Any], where: str) -> dict[str, Any]:
    notes = {name: record[name] for name in NOTES if record.get(name) is not None}
    if "model" in notes:
        check_text(notes["model"], f"{where}: model: ")
    try:
        json.dumps(notes, allow_nan=False)
    except (ValueError, RecursionError):
        raise BiasgridError(f"{where}: tokens: not finite") from None
    return notes
