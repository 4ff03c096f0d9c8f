"""Hard debias of several groups under WEFE's name."""

from __future__ import annotations

from collections.abc import Sequence

from ..word_embedding_model import WordEmbeddingModel
from .base_debias import COMPONENTS, LibraryDebias, Words


class MulticlassHardDebias(LibraryDebias):
    """Hard debias of several groups, with as many components as the sets span, at most WEFE's ten."""

    method, moves = "multiclass_hard", True

    def fit(
        self,
        model: WordEmbeddingModel,
        definitional_sets: Sequence[Words],
        equalize_sets: Sequence[Words],
    ) -> MulticlassHardDebias:
        number = None if self.n_components == COMPONENTS else self.n_components
        sets = {"definitional_sets": definitional_sets, "equalize_sets": equalize_sets}
        return self._fit(model, n_components=number, **sets)
