"""The kinds of models. Each is one file of this package, discovered automatically; `REGISTRY` maps names to kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.registry import Registry
from .kind import VECTORS, Kind

__all__ = ["REGISTRY", "VECTORS", "Kind", "are_models", "kind_of"]

REGISTRY: Registry[Kind] = Registry(__name__, "KINDS", "kind of model")


def kind_of(model: Mapping[str, Any]) -> Kind:
    """Return the kind of a model from its entry in a config, or from its model.json."""
    return REGISTRY[model.get("kind", VECTORS)]


def are_models(kind: str) -> bool:
    """Return whether models of this kind are instances of `Model` (`Kind.is_model`)."""
    return kind in REGISTRY and REGISTRY[kind].is_model
