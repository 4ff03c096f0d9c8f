"""The base class of WEFE's metrics, and of metrics that users write for WEFE."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .... import metrics
from ....core.errors import ArgumentTypeError, InputError, quote
from ....core.keywords import checked_keywords
from ....core.user_warnings import stacklevel
from ....core.wefe_names import FORMER_OPTIONS
from ....measure.caveats import lookalike_text
from ....measure.result import Result
from ....measure.value_warnings import LostWordsWarning, NoValueWarning
from ....models.preprocessing import AS_WRITTEN
from ..preprocessing import wefe_forms
from ..query import Query, check_query
from ..word_embedding_model import WordEmbeddingModel, check_model


class BaseMetric(ABC):
    """The base class of a user's metric, which `run_queries` runs like WEFE's.

    A subclass has the three attributes and `run_query`, which returns a dictionary with "query_name" and
    "result".

    Attributes
    ----------
    metric_template
        The numbers of target and attribute sets of a query, such as (2, 1); "n" for any number.
    metric_name, metric_short_name
        Its names. Tables have the short one.
    """

    metric_template: ClassVar[tuple[int | str, int | str]]
    metric_name: ClassVar[str]
    metric_short_name: ClassVar[str]

    @abstractmethod
    def run_query(self, query: Query, model: WordEmbeddingModel, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Measure a query in a model."""

    def _check_input(
        self,
        query: Query,
        model: WordEmbeddingModel,
        lost_vocabulary_threshold: Any = 0.2,
        warn_not_found_words: Any = False,
    ) -> None:
        """Check the arguments of `run_query`. WEFE 0.4 passes the first two, WEFE 1.0 all four.

        Raises
        ------
        ArgumentTypeError
            An argument is of the wrong type. It is a TypeError.
        InputError
            The number of the query's sets differs from the metric's template.
        """
        check_query(query)
        check_model(model)
        if isinstance(lost_vocabulary_threshold, bool) or not isinstance(
            lost_vocabulary_threshold, (int, float)
        ):
            raise ArgumentTypeError(
                f"lost_vocabulary_threshold: expected a number, not {quote(lost_vocabulary_threshold)}"
            )
        if not isinstance(warn_not_found_words, bool):
            raise ArgumentTypeError(
                f"warn_not_found_words: expected True or False, not {quote(warn_not_found_words)}"
            )
        if not query.exactly(self.metric_template):  # type: ignore[arg-type]
            raise InputError(
                f"{self.metric_short_name} has template {self.metric_template} and query {quote(query.name)} "
                f"{query.template}; run_queries(..., generate_subqueries=True) measures its sub-queries"
            )


class LibraryMetric(BaseMetric):
    """One of this library's metrics under WEFE's names."""

    metric_name = metric_short_name = ""

    def __init_subclass__(cls) -> None:
        if "run_query" in vars(cls):
            cls.run_query = checked_keywords(FORMER_OPTIONS)(cls.run_query)  # type: ignore[method-assign]
        if LibraryMetric in cls.__bases__:  # a user's subclass of WEAT remains WEAT, whatever its name
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
        check_query(query)
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
        """Return WEFE's dictionary, in which `result` is `value`, or else the metric's own value."""
        score = np.float64(result.value)
        head = {"query_name": result.query, "result": score if value is None else np.float64(value)}
        return {**head, self.metric_short_name.lower(): score, **details}


def of_words(result: Result, name: str) -> dict[str, Any]:
    """Return a metric's values by word, for all sets together."""
    return {
        word: value for by_word in result.detail.get(name, {}).values() for word, value in by_word.items()
    }
