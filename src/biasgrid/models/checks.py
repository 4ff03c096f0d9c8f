"""Checks of queries and models, whose messages explain how to make one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.errors import InputError, not_allowed, quote
from ..queries.query import Query
from .kinds import VECTORS, are_models


def plain(value: Any) -> Any:
    """Return a NumPy number or text as Python's own type, and anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def check_plain(name: str, value: Any) -> None:
    """Raise InputError if a parameter's value cannot be written as JSON, such as an array."""
    if not _is_plain(value):
        raise InputError(not_allowed(name, value, "text, numbers, true, false, lists and mappings of these"))


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(inner) for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (str, bool, int, float))


def check_query(query: Any) -> None:
    """Raise BiasgridError if an argument is not a query; the message explains how to make one."""
    if isinstance(query, Query):
        return
    if _is_model(query):
        raise InputError("the query comes first, then the model: metrics.weat(query, model)")
    if isinstance(query, (str, os.PathLike)):
        raise InputError(f"query: {quote(query)} is text; read a query file with Query.read(path)")
    if isinstance(query, dict):
        raise InputError("query: a mapping is no query; make one of it with Query.from_dict(mapping)")
    raise InputError(
        f"query: {_describe_type(query)} is no query; make one: Query(target_sets, attribute_sets, "
        "target_sets_names, attribute_sets_names)"
    )


def check_model(model: Any, attributes: tuple[str, ...] = ("rows", "take")) -> None:
    """Raise BiasgridError if an argument is not a model; the message explains how to make one.

    Parameters
    ----------
    model
        The argument for a model.
    attributes
        The attributes that the model must have; by default those for looking words up.
    """
    if hasattr(model, "fitted_on"):
        raise InputError(
            "model: a transform is no model; say model.under(transform), where model is what it was fitted on"
        )
    if isinstance(model, type):
        raise InputError(f"model: the class {model.__name__} is no model; load one: biasgrid.load(...)")
    if isinstance(model, (str, os.PathLike)):
        raise InputError(
            f"model: {quote(str(model))} is text; load the model: biasgrid.load({quote(str(model))})"
        )
    if isinstance(model, Query):
        # Debias methods take no query, so the hint is only for metrics.
        where = "" if "fingerprint" in attributes else "; the query comes first: metrics.weat(query, model)"
        raise InputError(f"model: a Query is no model{where}")
    if "fingerprint" in attributes and not are_models(getattr(model, "kind", VECTORS)):
        raise InputError(
            f"{model.name}: is a {model.kind}; a debias method changes vectors, of which it has none"
        )
    if not all(hasattr(model, name) for name in attributes) or _is_frame(model):
        raise InputError(f"model: {_describe_type(model)} is no model; load it: biasgrid.load(it)")


def _is_model(value: Any) -> bool:
    return hasattr(value, "rows") and hasattr(value, "take") and not isinstance(value, type)


def _is_frame(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] in ("pandas", "numpy", "gensim", "wefe")


def _describe_type(value: Any) -> str:
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return quote(value) if package == "builtins" else f"a {kind.__name__} of {package}"
