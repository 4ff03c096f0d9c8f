"""RAN debias in WEFE's variant, under WEFE's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..word_embedding_model import WordEmbeddingModel
from .base_debias import LibraryDebias, Words


class RepulsionAttractionNeutralization(LibraryDebias):
    """RAN debias in WEFE's variant."""

    method = "ran"

    def __init__(
        self,
        pca_args: dict[str, Any] | None = None,
        verbose: bool = False,
        criterion_name: str | None = None,
        epochs: int = 300,
        theta: float = 0.05,
        n_neighbours: int = 100,
        learning_rate: float = 0.01,
        weights: Sequence[float] = (0.33, 0.33, 0.33),
    ):
        numbers: dict[str, Any] = {"epochs": epochs, "theta": theta, "n_neighbours": n_neighbours}
        numbers |= {"learning_rate": learning_rate, "weights": list(weights)}
        super().__init__(pca_args, verbose, criterion_name, variant="wefe", **numbers)

    def fit(
        self, model: WordEmbeddingModel, definitional_pairs: Sequence[Words]
    ) -> RepulsionAttractionNeutralization:
        return self._fit(model, definitional_pairs=definitional_pairs)
