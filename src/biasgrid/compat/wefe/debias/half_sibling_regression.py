"""Half-sibling regression under WEFE's name."""

from __future__ import annotations

from ..word_embedding_model import WordEmbeddingModel
from .base_debias import LibraryDebias, Words


class HalfSiblingRegression(LibraryDebias):
    """Half-sibling regression."""

    method = "hsr"

    def __init__(self, verbose: bool = False, criterion_name: str | None = None):
        super().__init__(None, verbose, criterion_name)

    def fit(
        self, model: WordEmbeddingModel, definitional_words: Words, alpha: float = 60
    ) -> HalfSiblingRegression:
        return self._fit(model, definitional_words=definitional_words, alpha=alpha)
