"""WEFE's metrics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from ... import metrics
from ...api.lost import LostWordsWarning, NoValueWarning
from ...callers import stacklevel
from ...errors import InputError, unknown_name
from ...preprocessing import AS_WRITTEN
from ...result import Result
from ...wefe_names import ALTERNATIVES
from .models import Query, WordEmbeddingModel


class BaseMetric:
    """One of this library's metrics by WEFE's names."""

    metric_name = metric_short_name = ""
    metric_template: tuple[Any, Any]

    def __init_subclass__(cls) -> None:
        metric = metrics.metric(cls.__name__)
        cls.metric_name, cls.metric_short_name = metric.label, cls.__name__
        cls.metric_template = metric.template

    def run_query(
        self,
        query: Query,
        model: WordEmbeddingModel,
        lost_vocabulary_threshold: float = 0.2,
        preprocessors: Sequence[Any] = AS_WRITTEN,
        strategy: str = "first",
        normalize: bool = False,
        warn_not_found_words: bool = False,
    ) -> dict[str, Any]:
        options = (lost_vocabulary_threshold, preprocessors, strategy, normalize, warn_not_found_words)
        return self._answer(self._measure(query, model, options))

    def _measure(
        self, query: Query, model: WordEmbeddingModel, options: tuple[Any, ...], **parameters: Any
    ) -> Result:
        names = ("lost_vocabulary_threshold", "preprocessors", "strategy", "normalize")
        look_up = dict(zip(names, options[:4], strict=True))
        function = getattr(metrics, self.metric_short_name.lower())
        with warnings.catch_warnings():
            for category in (LostWordsWarning, NoValueWarning):
                warnings.simplefilter("ignore", category)
            result: Result = function(query, model.model, **look_up, **parameters)
        if options[4] and result.words_lost:
            text = f"{query.name}: {model.name} lacks {result.lost}"
            warnings.warn(text, LostWordsWarning, stacklevel=stacklevel())
        return result

    def _answer(self, result: Result, value: float | None = None, **details: Any) -> dict[str, Any]:
        """WEFE's dictionary: `result` is `value`, or else the metric's own."""
        score = np.float64(result.value)
        head = {"query_name": result.query, "result": score if value is None else np.float64(value)}
        return {**head, self.metric_short_name.lower(): score, **details}


class WEAT(BaseMetric):
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


class RND(BaseMetric):
    """Relative Norm Distance."""

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
        distances = _of_words(result, "distance_by_word")
        return self._answer(result, distance_by_word=dict(sorted(distances.items(), key=itemgetter(1))))


class RNSB(BaseMetric):
    """Relative Negative Sentiment Bias. Without a `random_state` its splits are those of one seed."""

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
        if estimator is None:  # WEFE's own
            classifier = {"solver": "liblinear"}
        splits = {"n_iterations": n_iterations, "random_state": random_state, "holdout": holdout}
        result = self._measure(query, model, options, **splits, **classifier)
        if print_model_evaluation:
            accuracy = result.scalars.get("accuracy", "none: holdout is disabled")
            print(f"Classification Report: accuracy on the words left out of training: {accuracy}")
        names = ("negative_sentiment_probabilities", "negative_sentiment_distribution")
        return self._answer(result, None, **{name: _of_words(result, name) for name in names})


class MAC(BaseMetric):
    """Mean Average Cosine Similarity."""

    def _answer(self, result: Result, value: float | None = None, **details: Any) -> dict[str, Any]:
        return super()._answer(result, targets_eval=result.detail.get("targets_eval", {}))


class ECT(BaseMetric):
    """Embedding Coherence Test."""


class RIPA(BaseMetric):
    """Relational Inner Product Association."""

    def _measure(
        self, query: Query, model: WordEmbeddingModel, options: tuple[Any, ...], **parameters: Any
    ) -> Result:
        return super()._measure(query, model, options, relation="mean")

    def _answer(self, result: Result, value: float | None = None, **details: Any) -> dict[str, Any]:
        return super()._answer(result, word_values=_of_words(result, "word_values"))


def _of_words(result: Result, name: str) -> dict[str, Any]:
    """A metric's values by word, those of all sets together."""
    return {
        word: value for by_word in result.detail.get(name, {}).values() for word, value in by_word.items()
    }
