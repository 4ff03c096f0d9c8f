"""The kinds of models. Each is one file of this package, discovered automatically: `REGISTRY` has them by name."""

from __future__ import annotations

from ...registry import Registry
from .kind import VECTORS, Kind

__all__ = ["REGISTRY", "VECTORS", "Kind"]

REGISTRY: Registry[Kind] = Registry(__name__, "KINDS", "kind of model")
