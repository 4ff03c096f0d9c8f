"""RIPA under WEFE's name."""

from __future__ import annotations

from typing import Any

from ....measure.result import Result
from ..query import Query
from ..word_embedding_model import WordEmbeddingModel
from .base_metric import LibraryMetric, of_words


class RIPA(LibraryMetric):
    """Relational Inner Product Association."""

    def _measure(
        self, query: Query, model: WordEmbeddingModel, options: tuple[Any, ...], **parameters: Any
    ) -> Result:
        return super()._measure(query, model, options, relation="mean")

    def _answer(self, result: Result, value: float | None = None, **details: Any) -> dict[str, Any]:
        return super()._answer(result, word_values=of_words(result, "word_values"))
