"""Classifiers of scikit-learn, or with its interface, in place of RNSB's own classifier."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.errors import BiasgridError, not_allowed, quote, unknown_name

POSITIVE, NEGATIVE = 1, -1  # labels of the first and the second attribute set, WEFE's


def check_estimator(estimator: Any, params: Any) -> None:
    """Raise BiasgridError if an estimator is not a classifier with probabilities, or does not have the parameters."""
    if estimator is None:
        if params is not None:
            raise BiasgridError(
                "estimator_params: needs an estimator, such as estimator='LogisticRegression'"
            )
        return
    if params is not None and not (
        isinstance(params, Mapping) and all(isinstance(key, str) for key in params)
    ):
        raise BiasgridError(not_allowed("estimator_params", params, "a mapping of names to values"))
    classifier(estimator, params, None)


def classifier(estimator: Any, params: Mapping[str, Any] | None, random_state: int | None) -> Any:
    """Create a classifier that is not fitted.

    Parameters
    ----------
    estimator
        A class, an object, or the name of a class of scikit-learn.
    params
        Parameters by name. For an object, only the parameters to change.
    random_state
        The seed, if the classifier draws at random and its parameters do not set a seed.

    Returns
    -------
    object
        A copy if `estimator` is an object.

    Raises
    ------
    BiasgridError
        For an unknown name, unknown parameters, and a classifier without probabilities.
    """
    # Import scikit-learn here: the import takes longer than measuring a grid without it.
    from sklearn.base import clone

    if isinstance(estimator, str):
        estimator = _sklearn_classifier(estimator)
    name = estimator.__name__ if inspect.isclass(estimator) else type(estimator).__name__
    if not callable(getattr(estimator, "fit", None)):
        raise BiasgridError(
            not_allowed(
                "estimator", estimator, "classifiers of scikit-learn: a class, an object, or a class's name"
            )
        )
    try:
        if inspect.isclass(estimator):
            model: Any = estimator(**(params or {}))
        else:
            model = clone(estimator, safe=False)
            if params:
                model.set_params(**params)
        parameters = model.get_params() if hasattr(model, "get_params") else {}
    except Exception as error:
        raise BiasgridError(f"estimator_params: {name}: {' '.join(str(error).split())[:250]}") from None
    if not hasattr(model, "predict_proba"):
        raise BiasgridError(
            f"estimator: {name} gives no probabilities (it has no predict_proba), which RNSB needs; take another "
            "classifier, or an object that wraps it: CalibratedClassifierCV(LinearSVC())"
        )
    draws = [key for key in parameters if key.endswith("random_state") and parameters[key] is None]
    if draws and random_state is not None:
        model.set_params(**dict.fromkeys(draws, int(random_state) % 2**32))
    return model


def probabilities_of(
    estimator: Any,
    params: Mapping[str, Any] | None,
    random_state: int | None,
    targets: np.ndarray,
    attributes: list[np.ndarray],
    train: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit one classifier per split and predict the words' classes.

    Parameters
    ----------
    estimator, params, random_state
        The arguments of `classifier`.
    targets : array, (target words, dimensions)
    attributes : list of array, (words, dimensions)
        Words of the two classes.
    train : array of bool, (attribute words, splits)
        Words on which each split trains.

    Returns
    -------
    array, (target words, splits)
        Probabilities of the second class.
    array of bool, (attribute words, splits)
        True if an attribute word is assigned to its own class.

    Raises
    ------
    BiasgridError
        If the classifier cannot be fitted to these words.
    """
    words, labels = np.concatenate(attributes), labels_of(attributes)
    results = []
    for split in train.T:
        model = classifier(estimator, params, random_state)
        try:
            model.fit(words[split], labels[split])
            column = list(model.classes_).index(NEGATIVE)
            results.append(
                (np.asarray(model.predict_proba(targets))[:, column], model.predict(words) == labels)
            )
        except Exception as error:
            raise BiasgridError(
                f"estimator: {type(model).__name__} fails on {np.count_nonzero(split)} words of "
                f"{words.shape[1]} dimensions: {' '.join(str(error).split())[:200]}"
            ) from None
    negative, correct = (np.stack(parts, axis=1) for parts in zip(*results, strict=True))
    return negative.astype(np.float64), correct


def evaluation(correct: np.ndarray, held_out: np.ndarray, attributes: list[np.ndarray]) -> dict[str, float]:
    """Compute precision, recall and F1 (0 to 1) of the negative class on words left out, over all splits together.

    Parameters
    ----------
    correct, held_out : array of bool, (attribute words, splits)
        True if a word is assigned to its own class; true if it was left out of training.
    attributes : list of array, (words, dimensions)
        Words of the two classes.

    Returns
    -------
    dict
        precision, recall, f1; NaN if no word is, or is predicted to be, negative.
    """
    negative = (labels_of(attributes) == NEGATIVE)[:, None]
    hits = np.count_nonzero(held_out & negative & correct)
    predicted_negatives = hits + np.count_nonzero(held_out & ~negative & ~correct)
    actual_negatives = np.count_nonzero(held_out & negative)
    shares = {
        "precision": (hits, predicted_negatives),
        "recall": (hits, actual_negatives),
        "f1": (2 * hits, predicted_negatives + actual_negatives),
    }
    return {name: float(part / whole) if whole else float("nan") for name, (part, whole) in shares.items()}


def labels_of(attributes: list[np.ndarray]) -> np.ndarray:
    """Return the labels (words,) of the words of both sets."""
    return np.repeat([POSITIVE, NEGATIVE], [len(words) for words in attributes])


@lru_cache
def _sklearn_classifier(name: str) -> type:
    from sklearn.utils import all_estimators

    classifiers = dict(all_estimators("classifier"))
    if name not in classifiers:
        allowed_names = [
            class_name for class_name, estimator in classifiers.items() if hasattr(estimator, "predict_proba")
        ]
        raise BiasgridError(
            f"estimator: {unknown_name('classifier', quote(name).strip(chr(39)), allowed_names)}"
        )
    return classifiers[name]
