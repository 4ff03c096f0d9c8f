"""The kinds of models. Each is one file of this package, discovered automatically: `REGISTRY` has them by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...registry import Registry
from .kind import VECTORS, Kind

__all__ = ["REGISTRY", "VECTORS", "Kind", "are_models", "kind_of"]

REGISTRY: Registry[Kind] = Registry(__name__, "KINDS", "kind of model")


def kind_of(model: Mapping[str, Any]) -> Kind:
    """The kind of a model, of what its entry in a config, or its model.json, says."""
    return REGISTRY[model.get("kind", VECTORS)]


def are_models(kind: str) -> bool:
    """Whether what is of a kind of this name is a `Model` (`Kind.is_model`)."""
    return kind in REGISTRY and REGISTRY[kind].is_model
