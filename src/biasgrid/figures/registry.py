"""The list of all kinds of figures."""

from __future__ import annotations

from ..registry import Registry
from .figure import Figure

REGISTRY: Registry[Figure] = Registry(__package__, "FIGURES", "figure")
