"""Scores of sentences in a file: as a step of a study wrote them, or as somebody measured them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BiasgridError
from .sentence import Sentence

SCORES = "scores.json"


class Scores:
    """The scores in a file. What it has no score of is NaN.

    Parameters
    ----------
    path
        A file that `entries` made, or the folder of a model with such a file, `scores.json`.
    metadata
        Of the model.

    Raises
    ------
    BiasgridError
        The file is not whole.
    """

    def __init__(self, path: Path, metadata: dict[str, Any] | None = None) -> None:
        path = path / SCORES if path.is_dir() else path
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            self._scores = {
                Sentence.from_dict(entry): math.nan if entry["score"] is None else float(entry["score"])
                for entry in record["scores"]
            }
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise BiasgridError(f"{path}: not a whole file of scores of sentences: {error!r:.200}") from None
        self.texts = frozenset(sentence.text for sentence in self._scores)

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """The score of each sentence (sentences,)."""
        return np.array([self._scores.get(sentence, math.nan) for sentence in sentences], dtype=np.float64)

    def items(self) -> Iterable[tuple[Sentence, float]]:
        """Every sentence and its score."""
        return self._scores.items()


def entries(scores: dict[Sentence, float]) -> list[dict[str, Any]]:
    """Scores as a file has them, in the order of the sentences."""
    return [
        {**sentence.to_dict(), "score": score if math.isfinite(score) else None}
        for sentence, score in sorted(scores.items(), key=lambda entry: json.dumps(entry[0].to_dict()))
    ]
