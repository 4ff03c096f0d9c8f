"""RNSB under WEFE's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....models.preprocessing import AS_WRITTEN
from ..query import Query
from ..word_embedding_model import WordEmbeddingModel
from .base_metric import LibraryMetric, of_words


class RNSB(LibraryMetric):
    """Relative Negative Sentiment Bias. Without a `random_state`, its splits always have the same seed."""

    def run_query(  # type: ignore[override]
        self,
        query: Query,
        model: WordEmbeddingModel,
        estimator: Any = None,
        estimator_params: dict[str, Any] | None = None,
        n_iterations: int = 1,
        random_state: int | None = None,
        holdout: bool = True,
        print_model_evaluation: bool = False,
        lost_vocabulary_threshold: float = 0.2,
        preprocessors: Sequence[Any] = AS_WRITTEN,
        strategy: str = "first",
        normalize: bool = False,
        warn_not_found_words: bool = False,
    ) -> dict[str, Any]:
        options = (lost_vocabulary_threshold, preprocessors, strategy, normalize, warn_not_found_words)
        classifier = {"estimator": estimator, "estimator_params": estimator_params}
        if estimator is None:  # WEFE's default
            classifier = {"solver": "liblinear"}
        splits = {"n_iterations": n_iterations, "random_state": random_state, "holdout": holdout}
        result = self._measure(query, model, options, **splits, **classifier)
        if print_model_evaluation:
            accuracy = result.scalars.get("accuracy", "none: holdout is disabled")
            print(f"Classification Report: accuracy on the words left out of training: {accuracy}")
        names = ("negative_sentiment_probabilities", "negative_sentiment_distribution")
        return self._answer(result, None, **{name: of_words(result, name) for name in names})
