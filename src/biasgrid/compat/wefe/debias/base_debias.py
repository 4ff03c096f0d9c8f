"""The base of WEFE's debias methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import debias
from ....embeddings.model import Model
from ....embeddings.store import DebiasedModel
from ....errors import InputError
from ....preprocessing import AS_WRITTEN
from ..word_embedding_model import WordEmbeddingModel, untransformed

Words = Sequence[str]
COMPONENTS = 10  # of the principal component analyses of WEFE's debias methods


class BaseDebias:
    """One of this library's debias methods by WEFE's names."""

    method = ""
    moves = False  # whether what is fitted on one model can transform another one

    def __init__(
        self,
        pca_args: dict[str, Any] | None = None,
        verbose: bool = False,
        criterion_name: str | None = None,
        **parameters: Any,
    ):
        self.criterion_name = criterion_name
        self.n_components = (pca_args or {}).get("n_components", COMPONENTS)
        self._parameters = parameters
        self._arguments: dict[str, Any] | None = None

    def _fit(self, model: WordEmbeddingModel, **arguments: Any) -> Any:
        self._model, self._arguments = untransformed(model), arguments
        return self

    def fit_transform(
        self,
        model: WordEmbeddingModel,
        target: Words | None = None,
        ignore: Words | None = None,
        copy: bool = True,
        **fit_params: Any,
    ) -> WordEmbeddingModel:
        return self.fit(model, **fit_params).transform(model, target, ignore, copy)  # type: ignore[attr-defined]

    def transform(
        self,
        model: WordEmbeddingModel,
        target: Words | None = None,
        ignore: Words | None = None,
        copy: bool = True,
    ) -> WordEmbeddingModel:
        """The debiased model; `copy=False`: `model` itself, debiased."""
        if self._arguments is None:
            raise InputError(f"{type(self).__name__}: fit it before: .fit(model, ...)")
        arguments = {"target": target, "ignore": ignore, "preprocessors": AS_WRITTEN}
        arguments |= self._arguments | self._parameters
        options = {name: value for name, value in arguments.items() if value is not None}
        transform = getattr(debias, self.method)(self._model, **options)
        name = "_".join(filter(None, (model.name, self.criterion_name, "debiased")))
        subject = untransformed(model)
        same_size = subject.dimensions == transform.dimensions
        # `under` takes no transform of other vectors
        make = DebiasedModel if self.moves and same_size else Model.under
        debiased = make(subject, transform, name)
        if copy:
            return WordEmbeddingModel(debiased, name, model.vocab_prefix)
        model.name = name
        model.hold(debiased)
        return model
