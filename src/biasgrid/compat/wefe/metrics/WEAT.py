"""WEAT under WEFE's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.errors import InputError, unknown_name
from ....core.wefe_names import ALTERNATIVES
from ....models.preprocessing import AS_WRITTEN
from ..query import Query
from ..word_embedding_model import WordEmbeddingModel
from .base_metric import LibraryMetric


class WEAT(LibraryMetric):
    """Word Embedding Association Test."""

    def run_query(  # type: ignore[override]
        self,
        query: Query,
        model: WordEmbeddingModel,
        return_effect_size: bool = False,
        calculate_p_value: bool = False,
        p_value_test_type: str = "right-sided",
        p_value_method: str = "approximate",
        p_value_iterations: int = 10000,
        p_value_verbose: bool = False,
        lost_vocabulary_threshold: float = 0.2,
        preprocessors: Sequence[Any] = AS_WRITTEN,
        strategy: str = "first",
        normalize: bool = False,
        warn_not_found_words: bool = False,
    ) -> dict[str, Any]:
        options = (lost_vocabulary_threshold, preprocessors, strategy, normalize, warn_not_found_words)
        test: Any = None
        if calculate_p_value:
            sides = ALTERNATIVES | {"two-sided": "two-sided"}
            if p_value_test_type not in sides:
                raise InputError(unknown_name("p_value_test_type", p_value_test_type, sides))
            test = {"alternative": sides[p_value_test_type], "draws": p_value_iterations, "stop": None}
        result = self._measure(query, model, options, permutation=test)
        effect_size = np.float64(result.scalars.get("effect_size", np.nan))
        value = effect_size if return_effect_size else None
        return self._answer(result, value, effect_size=effect_size, p_value=result.p_value)
