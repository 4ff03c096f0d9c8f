"""WEFE's debias methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import debias
from ...embeddings.model import Model
from ...embeddings.store import DebiasedModel
from ...errors import InputError
from ...preprocessing import AS_WRITTEN
from .models import WordEmbeddingModel, untransformed

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


class HardDebias(BaseDebias):
    """Hard debias. The bias subspace is one direction, whatever `pca_args`."""

    method, moves = "hard", True

    def fit(
        self,
        model: WordEmbeddingModel,
        definitional_pairs: Sequence[Words],
        equalize_pairs: Sequence[Words] | None = None,
    ) -> HardDebias:
        return self._fit(model, definitional_pairs=definitional_pairs, equalize_pairs=equalize_pairs)


class MulticlassHardDebias(BaseDebias):
    """Hard debias of several groups, of as many components as the sets span, and no more than WEFE's ten."""

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


class DoubleHardDebias(BaseDebias):
    """Double-hard debias as WEFE has it, with an incremental principal component analysis."""

    method = "double_hard"

    def __init__(
        self,
        pca_args: dict[str, Any] | None = None,
        verbose: bool = False,
        criterion_name: str | None = None,
        incremental_pca: bool = True,
        n_words: int = 1000,
        n_components: int = 4,
    ):
        if not incremental_pca:
            raise InputError("incremental_pca: False is not allowed here; allowed: True, WEFE's default")
        numbers = {"n_words": n_words, "n_components": n_components}
        super().__init__(pca_args, verbose, criterion_name, variant="wefe", **numbers)

    def fit(
        self,
        model: WordEmbeddingModel,
        definitional_pairs: Sequence[Words],
        bias_representation: Words,
    ) -> DoubleHardDebias:
        return self._fit(
            model, definitional_pairs=definitional_pairs, bias_representation=bias_representation
        )


class HalfSiblingRegression(BaseDebias):
    """Half-sibling regression."""

    method = "hsr"

    def __init__(self, verbose: bool = False, criterion_name: str | None = None):
        super().__init__(None, verbose, criterion_name)

    def fit(
        self, model: WordEmbeddingModel, definitional_words: Words, alpha: float = 60
    ) -> HalfSiblingRegression:
        return self._fit(model, definitional_words=definitional_words, alpha=alpha)


class RepulsionAttractionNeutralization(BaseDebias):
    """RAN debias as WEFE has it."""

    method = "ran"

    def __init__(
        self,
        pca_args: dict[str, Any] | None = None,
        verbose: bool = False,
        criterion_name: str | None = None,
        epochs: int = 300,
        theta: float = 0.05,
        n_neighbours: int = 100,
        learning_rate: float = 0.01,
        weights: Sequence[float] = (0.33, 0.33, 0.33),
    ):
        numbers: dict[str, Any] = {"epochs": epochs, "theta": theta, "n_neighbours": n_neighbours}
        numbers |= {"learning_rate": learning_rate, "weights": list(weights)}
        super().__init__(pca_args, verbose, criterion_name, variant="wefe", **numbers)

    def fit(
        self, model: WordEmbeddingModel, definitional_pairs: Sequence[Words]
    ) -> RepulsionAttractionNeutralization:
        return self._fit(model, definitional_pairs=definitional_pairs)
