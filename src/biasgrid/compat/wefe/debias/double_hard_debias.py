"""Double-hard debias in WEFE's variant, under WEFE's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.errors import ArgumentTypeError, quote
from ....debias.double_hard import most_biased
from ....models.preprocessing import AS_WRITTEN
from ..word_embedding_model import WordEmbeddingModel, untransformed
from .base_debias import LibraryDebias, Words


class DoubleHardDebias(LibraryDebias):
    """Double-hard debias in WEFE's variant. `incremental_pca=False` computes the principal components exactly."""

    name = "Double Hard Debias"
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
        if not isinstance(incremental_pca, bool):
            raise ArgumentTypeError(f"incremental_pca: expected True or False, not {quote(incremental_pca)}")
        numbers = {"n_words": n_words, "n_components": n_components, "incremental_pca": incremental_pca}
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

    def get_target_words(
        self,
        model: WordEmbeddingModel,
        target: Words | None,
        ignore: Words | None,
        n_words: int,
        bias_representation: Words,
    ) -> list[str]:
        """Return the most biased words of the whole vocabulary, whatever `target` is, as in WEFE.

        These are `n_words` nearest the second word of `bias_representation`, then `n_words` nearest the
        first.
        """
        self._check_transform_args(model, target, ignore)
        vectors: Any = untransformed(model)
        return most_biased(vectors, bias_representation, ignore or (), n_words, AS_WRITTEN)
