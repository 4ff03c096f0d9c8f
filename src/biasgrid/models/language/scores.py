"""Scores of sentences in a file, written by a study's step or measured elsewhere."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BiasgridError, quote
from .sentence import Sentence, check_log_likelihood

TABLE = "scores.csv"  # file of a model with measured scores
COLUMNS = (["text", "score"], ["text", "beside", "score"])


class Scored(NamedTuple):
    """The score of a sentence.

    Attributes
    ----------
    score
        The score, or NaN.
    why
        The reason why it is NaN.
    tokens
        The number of tokens over which it is a sum, if it is known.
    """

    score: float
    why: str = ""
    tokens: int | None = None


NONE = Scored(math.nan)


class Scores:
    """The scores in a file; a sentence that is not in it has the score NaN.

    Parameters
    ----------
    path
        A file with `entries`, or the folder of a model with a table of scores, scores.csv.
    metadata
        The model's metadata.

    Attributes
    ----------
    facts
        The other entries of the file, apart from the scores and `unknown`; {} for a table.

    Raises
    ------
    BiasgridError
        The file is not complete.
    """

    def __init__(self, path: Path, metadata: Mapping[str, Any] | None = None) -> None:
        self._is_table = path.is_dir()
        self._unknown: dict[str, list[str]] = {}
        self.facts: dict[str, Any] = {}
        if self._is_table:
            self._scored = {sentence: Scored(score) for sentence, score in read_table(path / TABLE).items()}
        else:
            self._scored, self._unknown, self.facts = _read(path)
        self.texts = frozenset(sentence.text for sentence in self._scored)

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """Return the score of each sentence (sentences,)."""
        return np.array([self._scored.get(sentence, NONE).score for sentence in sentences], dtype=np.float64)

    def why_unscored(self, sentence: Sentence) -> str:
        """Return why a sentence does not have a score; "" if this is not known."""
        if self._is_table and sentence not in self._scored:
            return f"the table has no score of it{' next to its partner' if sentence.beside else ''}"
        return self._scored.get(sentence, NONE).why

    def token_count(self, sentence: Sentence) -> int | None:
        """Return the number of tokens over which the score of a sentence is a sum; None if it is not known."""
        return self._scored.get(sentence, NONE).tokens

    def unknown(self, text: str) -> list[str]:
        """Return the parts of a text that the tokenizer does not know, in order."""
        return self._unknown.get(text, [])

    def items(self) -> Iterable[tuple[Sentence, Scored]]:
        """Return all sentences with their scores."""
        return self._scored.items()


def entries(scored: Mapping[Sentence, Scored]) -> list[dict[str, Any]]:
    """Return scores as entries of a file, in an order that depends only on the sentences."""
    rows = sorted(scored.items(), key=lambda entry: json.dumps(entry[0].to_dict()))
    return [
        {
            **sentence.to_dict(),
            "score": score if math.isfinite(score) else None,
            **({"tokens": tokens} if tokens is not None else {}),
            **({"why": why} if why else {}),
        }
        for sentence, (score, why, tokens) in rows
    ]


def _read(path: Path) -> tuple[dict[Sentence, Scored], dict[str, list[str]], dict[str, Any]]:
    """Return the scores in a file, the parts of texts that the tokenizer does not know, and the other entries."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        scored = {}
        for entry in record.pop("scores"):
            score = math.nan if entry["score"] is None else float(entry["score"])
            if entry["score"] is not None:
                check_log_likelihood(score, f"{path}: {quote(entry['text'])}", finite=True)
            scored[Sentence.from_dict(entry)] = Scored(score, str(entry.get("why", "")), entry.get("tokens"))
        unknown = {text: list(parts) for text, parts in record.pop("unknown", {}).items()}
        return scored, unknown, record
    except BiasgridError:
        raise
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BiasgridError(f"{path}: not a whole file of scores of sentences: {error!r:.200}") from None


def is_table(path: Path) -> bool:
    """Return whether the first row of a file is the header of a table of scores."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return sorted(next(csv.reader([file.readline(1000)]), [])) in [sorted(names) for names in COLUMNS]
    except (OSError, UnicodeDecodeError, csv.Error):
        return False


def read_table(path: Path) -> dict[Sentence, float]:
    """Read the scores in a CSV file with the columns text, score and, optionally, beside.

    If a row has a text in the column beside, only the tokens that both texts contain were scored.

    Raises
    ------
    BiasgridError
        One line with file and row: wrong columns, a score that is not a number or is above 0, or a repeated
        sentence.
    """
    scores: dict[Sentence, float] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if sorted(reader.fieldnames or []) not in [sorted(columns) for columns in COLUMNS]:
                choices = " or ".join(", ".join(columns) for columns in COLUMNS)
                raise BiasgridError(f"{path}: row 1: the columns of measured scores are {choices}")
            for number, row in enumerate(reader, 2):
                if None in row or None in row.values() or not row["text"]:
                    raise BiasgridError(
                        f"{path}: row {number}: must have a text and a score, and no more columns"
                    )
                sentence = Sentence(row["text"], beside=row.get("beside", ""))
                if sentence in scores:
                    raise BiasgridError(f"{path}: row {number}: has a sentence that a former row has")
                scores[sentence] = _number(row["score"], f"{path}: row {number}")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BiasgridError(f"{path}: cannot read the scores: {error}") from None
    if not scores:
        raise BiasgridError(f"{path}: has no scores")
    return scores


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BiasgridError(f"{where}: score: {text[:40]!r} is no number")
    return check_log_likelihood(value, f"{where}: score")
