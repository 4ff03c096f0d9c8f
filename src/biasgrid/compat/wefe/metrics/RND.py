"""RND under WEFE's name."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from ....models.preprocessing import AS_WRITTEN
from ..query import Query
from ..word_embedding_model import WordEmbeddingModel
from .base_metric import LibraryMetric, of_words


class RND(LibraryMetric):
    """Relative Norm Distance.

    With `distance="norm"`, a positive value means that the attribute words are nearer to the second target
    set. With "cos", which subtracts cosine similarities as in WEFE, it means that they are nearer to the
    first.
    """

    def run_query(  # type: ignore[override]
        self,
        query: Query,
        model: WordEmbeddingModel,
        distance: str = "norm",
        lost_vocabulary_threshold: float = 0.2,
        preprocessors: Sequence[Any] = AS_WRITTEN,
        strategy: str = "first",
        normalize: bool = False,
        warn_not_found_words: bool = False,
    ) -> dict[str, Any]:
        options = (lost_vocabulary_threshold, preprocessors, strategy, normalize, warn_not_found_words)
        result = self._measure(query, model, options, distance=distance)
        distances = of_words(result, "distance_by_word")
        return self._answer(result, distance_by_word=dict(sorted(distances.items(), key=itemgetter(1))))
