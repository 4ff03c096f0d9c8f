"""Conversion of other formats into stores: `convert`."""

from __future__ import annotations

from .conversion import check_options, convert, detect, examine, suffixless
from .pins import check_sha256
from .reader import Reader
from .registry import REGISTRY

__all__ = [
    "REGISTRY",
    "Reader",
    "check_options",
    "check_sha256",
    "convert",
    "detect",
    "examine",
    "suffixless",
]
