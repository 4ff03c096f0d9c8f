"""The registry of all readers."""

from __future__ import annotations

from ...core.registry import Registry
from .reader import Reader

REGISTRY: Registry[Reader] = Registry(__package__, "READERS", "format", "formats")
