"""Double-hard debias as WEFE has it by WEFE's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....errors import InputError
from ..word_embedding_model import WordEmbeddingModel
from .base_debias import BaseDebias, Words


class DoubleHardDebias(BaseDebias):
    """Double-hard debias as WEFE has it, with an incremental principal component analysis."""

    method = "double_hard"

    def __init__(
        self,
        pca_args: dict[str, Any] | None = None,
        verbose: bool = False,
        criterion_name: str | None = None,
        incremental_pca: bool = True,
        n_words: int = 1000,
        n_components: int = 4,
    ):
        if not incremental_pca:
            raise InputError("incremental_pca: False is not allowed here; allowed: True, WEFE's default")
        numbers = {"n_words": n_words, "n_components": n_components}
        super().__init__(pca_args, verbose, criterion_name, variant="wefe", **numbers)

    def fit(
        self,
        model: WordEmbeddingModel,
        definitional_pairs: Sequence[Words],
        bias_representation: Words,
    ) -> DoubleHardDebias:
        return self._fit(
            model, definitional_pairs=definitional_pairs, bias_representation=bias_representation
        )
