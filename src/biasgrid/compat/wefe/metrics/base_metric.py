"""The base of WEFE's metrics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import metrics
from ....api.lost import LostWordsWarning, NoValueWarning
from ....callers import stacklevel
from ....caveats import lookalike_text
from ....keywords import checked_keywords
from ....preprocessing import AS_WRITTEN
from ....result import Result
from ....wefe_names import FORMER_OPTIONS
from ..preprocessing import wefe_forms
from ..query import Query
from ..word_embedding_model import WordEmbeddingModel, check_model


class BaseMetric:
    """One of this library's metrics by WEFE's names."""

    metric_name = metric_short_name = ""
    metric_template: tuple[Any, Any]

    def __init_subclass__(cls) -> None:
        if "run_query" in vars(cls):
            cls.run_query = checked_keywords(FORMER_OPTIONS)(cls.run_query)  # type: ignore[method-assign]
        metric = metrics.metric(cls.__name__)
        cls.metric_name, cls.metric_short_name = metric.label, cls.__name__
        cls.metric_template = metric.template

    @checked_keywords(FORMER_OPTIONS)
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
        check_model(model)
        names = ("lost_vocabulary_threshold", "preprocessors", "strategy", "normalize")
        look_up = dict(zip(names, options[:4], strict=True))
        look_up["preprocessors"] = wefe_forms(look_up["preprocessors"])
        function = getattr(metrics, self.metric_short_name.lower())
        with warnings.catch_warnings():
            for category in (LostWordsWarning, NoValueWarning):
                warnings.simplefilter("ignore", category)
            result: Result = function(query, model.model, **look_up, **parameters)
        if options[4] and result.words_lost:
            alike = lookalike_text(result.why_lost)
            text = f"{query.name}: {model.name} lacks {result.lost}{f'. {alike}' if alike else ''}"
            warnings.warn(text, LostWordsWarning, stacklevel=stacklevel())
        return result

    def _answer(self, result: Result, value: float | None = None, **details: Any) -> dict[str, Any]:
        """WEFE's dictionary: `result` is `value`, or else the metric's own."""
        score = np.float64(result.value)
        head = {"query_name": result.query, "result": score if value is None else np.float64(value)}
        return {**head, self.metric_short_name.lower(): score, **details}


def of_words(result: Result, name: str) -> dict[str, Any]:
    """A metric's values by word, those of all sets together."""
    return {
        word: value for by_word in result.detail.get(name, {}).values() for word, value in by_word.items()
    }
