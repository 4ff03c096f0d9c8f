"""Check whether a debias method was fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sklearn.exceptions import NotFittedError

from ...core.errors import InputError


class NotFitted(InputError, NotFittedError):
    """An error: a method is used before `fit`. As in WEFE, it is also scikit-learn's NotFittedError."""


def check_is_fitted(
    estimator: Any,
    attributes: str | Iterable[str] | None = None,
    *,
    msg: str | None = None,
    all_or_any: Callable[[Iterable[bool]], bool] = all,
) -> None:
    """Raise NotFitted for a method that was not fitted, like scikit-learn's function of this name.

    Parameters
    ----------
    estimator
        The method.
    attributes
        Names that `fit` sets. None for any name that ends in "_".
    msg
        The message; %(name)s is replaced by the method's class.
    all_or_any
        `all`: each of the attributes must exist; `any`: one of them.
    """
    if attributes is None:
        is_fitted = any(name.endswith("_") and not name.startswith("__") for name in vars(estimator))
    else:
        names = [attributes] if isinstance(attributes, str) else attributes
        is_fitted = all_or_any([hasattr(estimator, name) for name in names])
    if not is_fitted:
        text = msg or "%(name)s: fit it before: .fit(model, ...)"
        raise NotFitted(text % {"name": type(estimator).__name__})
