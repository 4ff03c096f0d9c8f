"""The base class of WEFE's debias methods, and of methods that users write for WEFE."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from .... import debias
from ....core.errors import ArgumentTypeError, InputError, quote
from ....models.model import Model
from ....models.preprocessing import AS_WRITTEN
from ....models.store import DebiasedModel
from ..fitted import check_is_fitted
from ..word_embedding_model import WordEmbeddingModel, check_model, untransformed

Words = Sequence[str]
COMPONENTS = 10  # principal components in WEFE's debias methods


class BaseDebias(ABC):
    """The base class of a user's debias method.

    `fit` computes the parameters of the method from a model and returns the method; `transform` returns the
    debiased model.

    Attributes
    ----------
    name
        The method's name in messages.
    """

    name = ""

    @abstractmethod
    def fit(self, model: WordEmbeddingModel, *args: Any, **fit_params: Any) -> BaseDebias:
        """Compute the parameters of the method from a model, and return the method."""

    @abstractmethod
    def transform(
        self,
        model: WordEmbeddingModel,
        target: Words | None = None,
        ignore: Words | None = None,
        copy: bool = True,
    ) -> WordEmbeddingModel:
        """Return the debiased model: with `copy=False`, `model` itself, debiased."""

    def fit_transform(
        self,
        model: WordEmbeddingModel,
        target: Words | None = None,
        ignore: Words | None = None,
        copy: bool = True,
        **fit_params: Any,
    ) -> WordEmbeddingModel:
        """Fit the method on a model, and return the debiased model."""
        return self.fit(model, **fit_params).transform(model, target=target, ignore=ignore, copy=copy)

    def _check_transform_args(
        self,
        model: WordEmbeddingModel,
        target: Words | None = None,
        ignore: Words | None = None,
        copy: bool = True,
    ) -> None:
        """Raise ArgumentTypeError, a TypeError, for an argument of `transform` that has the wrong type."""
        check_model(model)
        for argument, words in {"target": target, "ignore": ignore}.items():
            if words is not None and not isinstance(words, (list, tuple)):
                raise ArgumentTypeError(f"{argument}: expected a list of words or None, not {quote(words)}")
            for word in words or ():
                if not isinstance(word, str):
                    raise ArgumentTypeError(f"{argument}: {quote(word)} is not a word: words are texts")
        if not isinstance(copy, bool):
            raise ArgumentTypeError(f"copy: expected True or False, not {quote(copy)}")

    def _check_sets_sizes(self, sets: Sequence[Words], set_name: str, set_size: int | str) -> None:
        """Raise InputError for a set of another size than `set_size`, or, with "n", than the first set."""
        if len(sets) == 0:
            raise InputError(f"{self.name or type(self).__name__}: there is no {set_name} set")
        size = len(sets[0]) if set_size == "n" else set_size
        for place, words in enumerate(sets):
            if len(words) != size:
                raise InputError(
                    f"{self.name or type(self).__name__}: the {set_name} set at position {place}, {quote(words)}, "
                    f"has {len(words)} words; allowed: {size}"
                )


class LibraryDebias(BaseDebias):
    """One of this library's debias methods under WEFE's names."""

    method = ""
    moves = False  # whether a transform fitted on one model can transform another one

    def __init__(
        self,
        pca_args: dict[str, Any] | None = None,
        verbose: bool = False,
        criterion_name: str | None = None,
        **parameters: Any,
    ):
        if criterion_name is not None and not isinstance(criterion_name, str):
            raise InputError(f"criterion_name: expected a text or None, not {quote(criterion_name)}")
        self.criterion_name = criterion_name
        self.n_components = (pca_args or {}).get("n_components", COMPONENTS)
        self._parameters = parameters

    def _fit(self, model: WordEmbeddingModel, **arguments: Any) -> Any:
        self._model, self._arguments = untransformed(model), arguments
        return self

    def transform(
        self,
        model: WordEmbeddingModel,
        target: Words | None = None,
        ignore: Words | None = None,
        copy: bool = True,
    ) -> WordEmbeddingModel:
        self._check_transform_args(model, target, ignore, copy)
        check_is_fitted(self, ["_model", "_arguments"])
        arguments = {"target": target, "ignore": ignore, "preprocessors": AS_WRITTEN}
        arguments |= self._arguments | self._parameters
        options = {name: value for name, value in arguments.items() if value is not None}
        transform = getattr(debias, self.method)(self._model, **options)
        name = "_".join(filter(None, (model.name, self.criterion_name, "debiased")))
        subject = untransformed(model)
        same_size = subject.dimensions == transform.dimensions
        # `under` refuses a transform of other vectors.
        make = DebiasedModel if self.moves and same_size else Model.under
        debiased = make(subject, transform, name)
        if copy:
            return WordEmbeddingModel(debiased, name, model.vocab_prefix)
        model.name = name
        model.hold(debiased)
        return model
