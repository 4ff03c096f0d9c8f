"""Scores of sentences in a file: as a step of a study wrote them, or as somebody measured them."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BiasgridError
from .sentence import Sentence

TABLE = "scores.csv"  # of a model whose scores were measured
COLUMNS = (["text", "score"], ["text", "beside", "score"])


class Scores:
    """The scores in a file. What it has no score of is NaN.

    Parameters
    ----------
    path
        A file that holds `entries`, or the folder of a model with a table of scores, scores.csv.
    metadata
        Of the model.

    Raises
    ------
    BiasgridError
        The file is not whole.
    """

    def __init__(self, path: Path, metadata: Mapping[str, Any] | None = None) -> None:
        self._scores = read_table(path / TABLE) if path.is_dir() else _read(path)
        self.texts = frozenset(sentence.text for sentence in self._scores)

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """The score of each sentence (sentences,)."""
        return np.array([self._scores.get(sentence, math.nan) for sentence in sentences], dtype=np.float64)

    def items(self) -> Iterable[tuple[Sentence, float]]:
        """Every sentence and its score."""
        return self._scores.items()


def entries(scores: Mapping[Sentence, float]) -> list[dict[str, Any]]:
    """Scores as a file has them, in an order that only the sentences decide."""
    rows = ((json.dumps(sentence.to_dict()), sentence, score) for sentence, score in scores.items())
    return [
        {**sentence.to_dict(), "score": score if math.isfinite(score) else None}
        for _, sentence, score in sorted(rows, key=lambda entry: entry[0])
    ]


def _read(path: Path) -> dict[Sentence, float]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return {
            Sentence.from_dict(entry): math.nan if entry["score"] is None else float(entry["score"])
            for entry in record["scores"]
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BiasgridError(f"{path}: not a whole file of scores of sentences: {error!r:.200}") from None


def is_table(path: Path) -> bool:
    """Return whether the first row of a file is that of a table of scores."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return sorted(next(csv.reader([file.readline(1000)]), [])) in [sorted(names) for names in COLUMNS]
    except (OSError, UnicodeDecodeError, csv.Error):
        return False


def read_table(path: Path) -> dict[Sentence, float]:
    """The scores in a CSV file with the columns text, score and, if it has any of one sentence beside another (the
    pieces that both have), beside.

    Raises
    ------
    BiasgridError
        One line with file and row: other columns, a score that is no number, a sentence twice.
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
    return value
