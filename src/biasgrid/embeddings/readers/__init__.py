"""Foreign formats into stores: `convert`, and `open_model` for whatever a user points at."""

from __future__ import annotations

from .conversion import convert, detect, suffixless
from .opening import open_model
from .pins import check_sha256
from .reader import Reader
from .registry import REGISTRY

__all__ = ["REGISTRY", "Reader", "check_sha256", "convert", "detect", "open_model", "suffixless"]
