"""Hard debias under WEFE's name."""

from __future__ import annotations

from collections.abc import Sequence

from ..word_embedding_model import WordEmbeddingModel
from .base_debias import LibraryDebias, Words


class HardDebias(LibraryDebias):
    """Hard debias. The bias subspace is always one direction, regardless of `pca_args`."""

    method, moves = "hard", True

    def fit(
        self,
        model: WordEmbeddingModel,
        definitional_pairs: Sequence[Words],
        equalize_pairs: Sequence[Words] | None = None,
    ) -> HardDebias:
        return self._fit(model, definitional_pairs=definitional_pairs, equalize_pairs=equalize_pairs)
